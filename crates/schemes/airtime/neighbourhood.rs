//! The links that neighbours announce: their own, and those that they have heard of.

use alloc::collections::BTreeMap;
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
    until: Time,
}

/// The announcements of neighbours that hold.
#[derive(Debug, Clone)]
pub struct Neighbourhood {
    words: BTreeMap<NodeId, Announced>,
    /// The neighbours in the table, for its end.
    known: LinkValues<()>,
    lifetime: Span,
}

impl Neighbourhood {
    /// No announcement yet; each holds for `lifetime`.
    #[must_use]
    pub const fn new(lifetime: Span) -> Self {
        Self { words: BTreeMap::new(), known: LinkValues::new(MOST_NEIGHBOURS), lifetime }
    }

    /// Takes an announcement, by the node that has sent its frame: one in another name is ignored. Returns the links looked at.
    pub fn take(&mut self, from: NodeId, said: &Announcement, now: Time) -> u64 {
        if said.node() != from.0 {
            return 0;
        }
        self.known.set(from, (), |_| false);
        let word = Announced {
            own: said.own().to_vec(),
            heard: said.heard().to_vec(),
            until: now.saturating_add(self.lifetime),
        };
        let links = (word.own.len() + word.heard.len()) as u64;
        self.words.insert(from, word);
        let known = &self.known;
        self.words.retain(|neighbour, word| now < word.until && known.get(*neighbour).is_some());
        1 + links
    }

    /// Forgets announcements that hold no longer.
    pub fn expire(&mut self, now: Time) {
        self.words.retain(|_, word| now < word.until);
    }

    /// The links with an end at a neighbour, as it has announced them: those over which it sends first, then those over which it receives.
    /// One may come twice.
    pub fn at_neighbours(&self) -> impl Iterator<Item = Link> {
        let sent = self.words.values().flat_map(|word| word.own.iter().copied());
        let received = self
            .words
            .iter()
            .flat_map(|(neighbour, word)| word.heard.iter().filter(|link| link.to == neighbour.0).copied());
        sent.chain(received)
    }

    /// The link from a neighbour to another node, as the neighbour has announced it.
    #[must_use]
    pub fn link(&self, from: NodeId, to: NodeId) -> Option<Link> {
        self.words.get(&from)?.own.iter().find(|link| link.to == to.0).copied()
    }

    /// The links that a neighbour has heard of from its own neighbours.
    pub fn heard_by(&self, neighbour: NodeId) -> impl Iterator<Item = Link> {
        self.words.get(&neighbour).into_iter().flat_map(|word| word.heard.iter().copied())
    }
}
