//! Links, and the rules by which they are in conflict: what §III-B leaves open, and the limits of the tables.

use airfair_optimum::Limits;
use airfair_units::Span;

use crate::places::NodeId;
use crate::words;

/// A directed link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
}

impl Link {
    /// A link from one node to another.
    #[must_use]
    pub const fn new(from: NodeId, to: NodeId) -> Self {
        Self { from, to }
    }

    /// A number of its own for each link, in their order.
    #[must_use]
    pub const fn rank(self) -> u64 {
        (self.from.0 as u64) << 32 | self.to.0 as u64
    }

    pub(super) const fn ends(self) -> [NodeId; 2] {
        [self.from, self.to]
    }

    /// Do the links have a node in common?
    #[must_use]
    pub fn shares_a_node(self, other: Self) -> bool {
        self.ends().iter().any(|end| other.ends().contains(end))
    }
}

words! {
    /// Which links are in conflict.
    pub enum Conflict {
        /// An end of one interferes with an end of the other: RTS/CTS.
        Ends = "ends",
        /// The sender of one interferes with the receiver of the other.
        Receivers = "receivers",
    }
}

words! {
    /// Which links are vertices of the conflict graph.
    pub enum Vertices {
        /// Those that carry flows.
        Used = "used",
        /// Those and all usable ones.
        Usable = "usable",
    }
}

words! {
    /// How near to the receiver of a link a node has to be to inhibit it.
    pub enum Reach {
        /// In communication range (III-B).
        Communication = "communication",
        /// In interference range.
        Interference = "interference",
    }
}

words! {
    /// Which end of an inhibitor is hidden from the sender of the inhibited link.
    pub enum Hider {
        /// The sender.
        Sender = "sender",
        /// The sender or the receiver.
        Either = "either",
    }
}

/// Delivery ratio from which a link is usable: section III-B infers that from the ratio, without a number.
pub(super) const USABLE: f64 = 0.5;

/// The parameters of the controller's picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Part of HELLOs or probes from which two nodes interfere.
    pub interferes: f64,
    /// True if both of them have to hear the other; false: one of them.
    pub mutual: bool,
    /// Which links are in conflict.
    pub conflict: Conflict,
    /// Which links are vertices.
    pub vertices: Vertices,
    /// How near an inhibitor has to be.
    pub reach: Reach,
    /// Which end of an inhibitor is hidden.
    pub hider: Hider,
    /// Time for which a link stays in the graph after its last use.
    pub keep: Span,
    /// Time after which a node that has not reported any more is forgotten.
    pub expiry: Span,
    /// Most nodes; the one that reported longest ago gives way.
    pub nodes: usize,
    /// Most neighbours of a node.
    pub neighbours: usize,
    /// Most links in the graph; more are left out until others go.
    pub links: usize,
    /// Most cliques that are listed.
    pub cliques: usize,
    /// Most members of all cliques together.
    pub members: usize,
}

/// Pairs of links that an update may check for a conflict for each member that it may list.
const CHECKS_PER_MEMBER: u64 = 50;
/// Words of sets of links at which the search for cliques may look for each member that it may list.
const WORK_PER_MEMBER: u64 = 1000;

impl Rules {
    pub(super) fn limits(&self) -> Limits {
        let work = WORK_PER_MEMBER.saturating_mul(self.members as u64);
        Limits { cliques: self.cliques, members: self.members, work }
    }

    /// Most pairs of links that a round looks at: for conflicts, once more where the graph is made anew, and for hidden links of cliques.
    pub(in crate::c3l) fn most_pairs(&self) -> u64 {
        CHECKS_PER_MEMBER.saturating_mul(self.members as u64)
    }

    /// A bound of [`round_work`](super::super::round::Rounds::round_work), whatever nodes report: conflicts are checked twice at most,
    /// cliques are changed, searched for and covered once each, and hidden links are asked for twice, each with what the last link costs
    /// beyond its limit; with them the tables. The steps of the allocation, which looks at all members for each clique that fills up or
    /// link that gets its share, are not in the bound: the pairs of a route's hop and a clique are bounded instead.
    #[must_use]
    pub fn most_work(&self) -> u64 {
        let (members, links) = (self.members as u64 + self.links as u64, self.links as u64);
        let each = 4 * self.most_pairs() + 3 * self.limits().work;
        each.saturating_add(10 * members).saturating_add(self.nodes as u64).saturating_add(4 * links)
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            interferes: 0.1,
            mutual: false,
            conflict: Conflict::Ends,
            vertices: Vertices::Used,
            reach: Reach::Communication,
            hider: Hider::Either,
            keep: Span::from_secs(120),
            expiry: Span::from_secs(30),
            nodes: 8192,
            neighbours: 255,
            links: 16_384,
            cliques: airfair_optimum::DEFAULT_LIMIT,
            members: 200_000,
        }
    }
}
