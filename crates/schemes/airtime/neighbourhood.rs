//! The links that neighbours announce: their own, and those that they have heard of.

use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::airtime::{Announcement, Link};

use crate::link_values::LinkValues;
use crate::places::NodeId;

/// Most neighbours of which announcements are kept.
const MOST_NEIGHBOURS: usize = 64;

/// The last announcement of a neighbour.
#[derive(Debug, Clone, Default)]
struct Announced {
    own: Vec<Link>,
    heard: Vec<Link>,
    far: Vec<Link>,
    until: Time,
}

/// The announcements of neighbours that hold.
#[derive(Debug, Clone)]
pub struct Neighbourhood {
    announced: LinkValues<Announced>,
    lifetime: Span,
}

impl Neighbourhood {
    /// No announcement yet; each holds for `lifetime`.
    #[must_use]
    pub const fn new(lifetime: Span) -> Self {
        Self { announced: LinkValues::new(MOST_NEIGHBOURS), lifetime }
    }

    /// Takes an announcement, by the node that has sent its frame: one in another name is ignored. Returns the links looked at.
    pub fn take(&mut self, from: NodeId, said: Announcement, now: Time) -> u64 {
        if said.node() != from.0 {
            return 0;
        }
        let [own, heard, far] = said.into_links();
        let links = (own.len() + heard.len() + far.len()) as u64;
        let until = now.saturating_add(self.lifetime);
        self.announced.set(from, Announced { own, heard, far, until }, |_| false);
        1 + links
    }

    /// Forgets announcements that hold no longer.
    pub fn expire(&mut self, now: Time) {
        self.announced.retain(|announced| now < announced.until);
    }

    /// The links with an end at a neighbour, as it has announced them: those over which it sends first, then those over which it receives.
    /// One may come twice.
    pub fn at_neighbours(&self) -> impl Iterator<Item = Link> {
        let sent = self.announced.iter().flat_map(|announced| announced.own.iter().copied());
        let received = self.announced.entries().flat_map(|(neighbour, announced)| {
            announced.heard.iter().filter(move |link| link.to == neighbour.0).copied()
        });
        sent.chain(received)
    }

    /// The link from a neighbour to another node, as the neighbour has announced it.
    #[must_use]
    pub fn link(&self, from: NodeId, to: NodeId) -> Option<Link> {
        self.announced.get(from)?.own.iter().find(|link| link.to == to.0).copied()
    }

    /// The spoiled ones of the links with an end at a neighbour of a neighbour. One may come twice.
    pub fn spoiled(&self) -> impl Iterator<Item = Link> {
        self.announced.iter().flat_map(|announced| &announced.heard).filter(|link| link.spoiled).copied()
    }

    /// The spoiled links of which a neighbour has heard, other than those that have an end at its own neighbours.
    pub fn far_from(&self, neighbour: NodeId) -> impl Iterator<Item = Link> {
        self.announced.get(neighbour).into_iter().flat_map(|announced| announced.far.iter().copied())
    }

    /// The links that a neighbour has heard of from its own neighbours.
    pub fn heard_by(&self, neighbour: NodeId) -> impl Iterator<Item = Link> {
        self.announced.get(neighbour).into_iter().flat_map(|announced| announced.heard.iter().copied())
    }
}
