//! Delivery ratios that nodes measure themselves, so that each has those of the network.
//!
//! Source: De Couto, Aguayo, Bicket, Morris, "A High-Throughput Path Metric for Multi-Hop Wireless Routing", MobiCom 2003. Each node
//! broadcasts a probe once an interval and counts those of its neighbours. Readings:
//! - A probe is as long as data and sent at their rate, as it is the delivery of such packets that MORE and ExOR compute with; the paper's
//!   are short ones at 1 Mbit/s.
//! - Of a neighbour's last `window` sequence numbers those heard count, as in `c3l::discovery`, which counts them: one that is late by half
//!   an interval is lost.
//! - What a node has counted is a list, with a version, that all nodes get. Lists travel in probes, which would be filled up anyway, so
//!   that flooding takes no air of its own and cannot become a storm. A probe has its sender's own list, then those of other nodes that are
//!   new to the sender, then others again, those first that it has sent the longest time ago, until it is full: what is lost at a hop comes
//!   again. A list passes one hop in an interval at most. ExOR floods measured losses in packets of their own and does not say how.
//! - A node makes a new list each half window, and at least three while one is valid.
//! - A list carries its age, rounded up at each hop, and ends everywhere when it is `expiry` old. A node that has vanished is out of use
//!   before that, when its neighbours list it no more.
//! - A link counts if both its ends list each other. A node can call the links to itself from its neighbours better than they are; that all
//!   the network hears it is believed by nobody, nor that anybody hears it.
//! - A node that hears a later version of its own list than it has made (it has started anew, or a list is forged) continues after it.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::probe::{Heard, List, Probe};

use super::losses::Losses;
use crate::c3l::discovery::{self, Broadcast, Discovery, ratio};
use crate::places::NodeId;

/// The unit of an age, ns.
const AGE_NS: u64 = 10_000_000;

/// The most neighbours that a node counts; the one that was heard longest ago gives way.
const MOST_NEIGHBOURS: usize = 128;

/// The constants of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbesConfig {
    /// Time between two probes.
    pub interval: Span,
    /// Probes over which a ratio is taken, 1 to 64.
    pub window: u32,
    /// Length of a probe, without headers of UDP and IP, bytes.
    pub bytes: usize,
    /// Age at which a list ends.
    pub expiry: Span,
    /// The most other nodes whose lists are stored.
    pub nodes: usize,
}

impl ProbesConfig {
    /// Probes from one list of a node to its next.
    fn period(&self) -> u16 {
        let valid = self.expiry.as_nanos() / self.interval.as_nanos().max(1) / 3;
        (valid.min(u64::from(self.window.div_ceil(2))) as u16).max(1)
    }

    /// The most neighbours of a list that fits into a probe.
    const fn fit(&self) -> usize {
        let room = self.bytes.saturating_sub(Probe::empty_len() + List::len_with(0));
        let fit = room / Heard::wire_len();
        if fit < List::MOST { fit } else { List::MOST }
    }
}

/// The list of a node.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    node: u32,
    version: u16,
    ends: Time,
    /// In the order of their numbers.
    heard: Vec<Heard>,
    /// This version stood in no probe of the node.
    is_new: bool,
    /// Number of probes that the node had sent when a version last stood in one.
    sent: u64,
}

impl Known {
    fn hears(&self, node: u32) -> bool {
        let at = self.heard.binary_search_by_key(&node, |heard| heard.node);
        at.is_ok_and(|at| self.heard[at].ratio > 0)
    }
}

/// Counts of probes that a node has sent and heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Probes.
    pub sent: u64,
    /// Bytes of lists in them.
    pub list_bytes: u64,
    /// Messages that began as a probe and were none, and lists for which there was no place.
    pub refused: u64,
}

/// Probes, counts and lists at a node.
#[derive(Debug, Clone)]
pub struct Probes {
    config: ProbesConfig,
    me: u32,
    counted: Discovery,
    sequence: u16,
    /// Lists, the node's own among them, in the order of their nodes.
    known: Vec<Known>,
    version: u16,
    counts: Counts,
}

/// True if a version comes after another; numbers go round.
const fn later(version: u16, than: u16) -> bool {
    version.wrapping_sub(than).cast_signed() > 0
}

impl Probes {
    /// A node that has heard nothing.
    #[must_use]
    pub fn new(me: NodeId, config: ProbesConfig) -> Self {
        let ProbesConfig { window, interval, .. } = config;
        // A step of 0: each list has what was counted last.
        let counted = discovery::DiscoveryConfig { window, interval, most: MOST_NEIGHBOURS, step: 0.0 };
        Self {
            config,
            me: me.0,
            counted: Discovery::new(counted),
            sequence: 0,
            known: Vec::new(),
            version: 0,
            counts: Counts::default(),
        }
    }

    /// The next probe, with the lists that it has room for.
    pub fn probe(&mut self, now: Time) -> Vec<u8> {
        self.counts.sent += 1;
        if self.counts.sent.is_multiple_of(self.config.period().into()) {
            self.make_list(now);
        }
        self.forget(now);
        let lists = self.lists(now);
        let probe = Probe::new(self.sequence, lists);
        self.sequence = self.sequence.wrapping_add(1);
        self.counts.list_bytes += (probe.wire_len() - Probe::empty_len()) as u64;
        let mut bytes = vec![0; self.config.bytes.max(probe.wire_len())];
        // The buffer is long enough.
        let _ = probe.encode(&mut bytes);
        bytes
    }

    /// The node's own list, anew; of more neighbours than it has room for those of which most arrives.
    fn make_list(&mut self, now: Time) {
        self.counted.refresh(now);
        let counted = self.counted.list().iter();
        let mut heard: Vec<Heard> =
            counted.map(|neighbour| Heard { node: neighbour.node.0, ratio: neighbour.hellos }).collect();
        // Stable: those that are as good by their numbers.
        heard.sort_by_key(|heard| u8::MAX - heard.ratio);
        heard.truncate(self.config.fit());
        heard.sort_by_key(|heard| heard.node);
        self.version = self.version.wrapping_add(1);
        let (node, version) = (self.me, self.version);
        let ends = now.saturating_add(self.config.expiry);
        self.store(Known { node, version, ends, heard, is_new: true, sent: 0 });
    }

    fn find(&self, node: u32) -> Result<usize, usize> {
        self.known.binary_search_by_key(&node, |known| known.node)
    }

    fn store(&mut self, new: Known) {
        match self.find(new.node) {
            Ok(at) => self.known[at] = new,
            Err(at) => self.known.insert(at, new),
        }
    }

    fn forget(&mut self, now: Time) {
        self.known.retain(|known| now < known.ends);
    }

    /// The lists of the next probe.
    fn lists(&mut self, now: Time) -> Vec<List> {
        let me = self.me;
        let mut known: Vec<&mut Known> = self.known.iter_mut().collect();
        // Nodes are in the order of their numbers.
        known.sort_by_key(|known| (known.node != me, !known.is_new, known.sent));
        let mut room = self.config.bytes.saturating_sub(Probe::empty_len());
        let mut lists = Vec::new();
        for known in known {
            let length = List::len_with(known.heard.len());
            if length <= room && lists.len() < Probe::MOST {
                room -= length;
                (known.is_new, known.sent) = (false, self.counts.sent);
                let age = self.config.expiry.as_nanos().saturating_sub(known.ends.since(now).as_nanos());
                let age = u16::try_from(age.div_ceil(AGE_NS)).unwrap_or(u16::MAX);
                lists.push(List::new(known.node, known.version, age, known.heard.iter().copied()));
            }
        }
        lists
    }

    /// A message has arrived from a neighbour. True if it began as a probe.
    pub fn hear(&mut self, from: NodeId, bytes: &[u8], now: Time) -> bool {
        if !bytes.first().is_some_and(|&first| Probe::is_one(first)) {
            return false;
        }
        let Ok((probe, _)) = Probe::decode(bytes) else {
            self.counts.refused += 1;
            return true;
        };
        if from.0 != self.me {
            self.counted.hear(from, Broadcast::Hello, probe.sequence, now);
            probe.lists().iter().for_each(|list| self.learn(list, now));
        }
        true
    }

    fn learn(&mut self, list: &List, now: Time) {
        let List { node, version, age, .. } = *list;
        if node == self.me {
            if later(version, self.version) {
                self.version = version;
            }
            return;
        }
        let left = self.config.expiry.as_nanos().saturating_sub(u64::from(age) * AGE_NS);
        if left == 0 {
            return;
        }
        let others = self.known.len() - usize::from(self.find(self.me).is_ok());
        let sent = match self.find(node) {
            Ok(at) if later(version, self.known[at].version) => self.known[at].sent,
            Ok(_) => return,
            Err(_) if others < self.config.nodes => 0,
            Err(_) => {
                self.counts.refused += 1;
                return;
            }
        };
        let mut heard = list.heard().to_vec();
        heard.sort_by_key(|heard| heard.node);
        heard.dedup_by_key(|heard| heard.node);
        let ends = now.saturating_add(Span(left));
        self.store(Known { node, version, ends, heard, is_new: true, sent });
    }

    /// The losses between nodes by all lists that have not ended.
    #[must_use]
    pub fn losses(&self, now: Time) -> Losses {
        let alive = |known: &&Known| now < known.ends;
        let mut losses = Losses::new(self.known.iter().filter(alive).map(|known| NodeId(known.node)));
        for known in self.known.iter().filter(alive) {
            for heard in &known.heard {
                let other = self.find(heard.node).ok().map(|at| &self.known[at]).filter(alive);
                if other.is_some_and(|other| other.hears(known.node)) {
                    losses.set_delivery(NodeId(heard.node), NodeId(known.node), ratio(heard.ratio));
                }
            }
        }
        losses
    }

    /// Number of nodes whose lists are stored, the own included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.known.len()
    }

    /// True if no list is stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Number of neighbours that are counted.
    #[must_use]
    pub const fn neighbours(&self) -> usize {
        self.counted.len()
    }

    /// Counts of probes that were sent and heard.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }
}
