//! The flows whose source is the node: packets that wait for the next batch, and when a batch begins.
//!
//! Readings:
//! - The number of a batch is that of its first packet, so that a destination knows the numbers of the packets in it.
//! - A batch of as many packets as it may have begins at once. Fewer are a batch if the first of them has waited for `flush`: the papers'
//!   sources always have more to send.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Flow;

/// A flow whose source is the node; `L` is the list of its forwarders.
#[derive(Debug, Clone)]
pub(crate) struct Source<L> {
    pub flow: Flow,
    /// None if no forwarders lead to the destination.
    pub list: Option<L>,
    /// Packets that wait for the next batch: size, and time of arrival.
    waiting: VecDeque<(u32, Time)>,
    /// Number of the first of them.
    first: u32,
}

/// A batch that is due.
#[derive(Debug)]
pub(crate) struct Due<'a, L> {
    pub flow: Flow,
    pub list: &'a L,
    /// Number of its first packet.
    pub first: u32,
    /// Sizes of its packets, as IP packets, bytes.
    pub sizes: Vec<u32>,
}

/// A carrier of the batches of a node's own flows.
pub(crate) trait Carrier<L> {
    /// A batch of the flow is under way.
    fn is_busy(&self, flow: &Flow) -> bool;

    /// Begins a batch; false if that cannot be.
    fn begin(&mut self, due: &Due<'_, L>, now: Time) -> bool;
}

/// The flows, in the order of their numbers.
#[derive(Debug, Clone)]
pub(crate) struct Sources<L> {
    /// Packets of a batch.
    batch: u8,
    flush: Span,
    sources: Vec<Source<L>>,
}

impl<L> Sources<L> {
    /// No flows; batches of so many packets.
    pub const fn new(batch: u8, flush: Span) -> Self {
        Self { batch, flush, sources: Vec::new() }
    }

    fn place(&self, flow: &Flow) -> Result<usize, usize> {
        self.sources.binary_search_by_key(flow, |source| source.flow)
    }

    /// True if the node is no flow's source.
    pub const fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Number of packets of a flow for which there is room: a batch waits beside the one that is under way.
    pub fn room(&self, flow: &Flow) -> u32 {
        let waiting = self.place(flow).map_or(0, |at| self.sources[at].waiting.len());
        u32::from(self.batch).saturating_sub(waiting as u32)
    }

    /// Adds a packet of a flow, with its number and size; `list` gives the list of a flow that is new.
    pub fn add(
        &mut self,
        flow: Flow,
        (number, bytes): (u32, u32),
        now: Time,
        list: impl FnOnce() -> Option<L>,
    ) {
        let at = match self.place(&flow) {
            Ok(at) => at,
            Err(at) => {
                let new = Source { flow, list: list(), waiting: VecDeque::new(), first: number };
                self.sources.insert(at, new);
                at
            }
        };
        self.sources[at].waiting.push_back((bytes, now));
    }

    /// Makes the lists of all flows anew, and tells those that have changed. A flow may have none any more.
    pub fn renew(&mut self, mut list: impl FnMut(&Flow) -> Option<L>, mut changed: impl FnMut(&Flow, &L))
    where
        L: PartialEq,
    {
        for source in &mut self.sources {
            let new = list(&source.flow);
            if let Some(new) = new.as_ref().filter(|_| new != source.list) {
                changed(&source.flow, new);
            }
            source.list = new;
        }
    }

    /// Begins the next batches where that is due. Returns when the first of those that are not full will be.
    pub fn begin(&mut self, carrier: &mut impl Carrier<L>, now: Time) -> Option<Time> {
        let mut next: Option<Time> = None;
        for source in &mut self.sources {
            let Some(&(_, since)) = source.waiting.front() else { continue };
            let Some(list) = &source.list else { continue };
            if carrier.is_busy(&source.flow) {
                continue;
            }
            let full = since.saturating_add(self.flush);
            if source.waiting.len() < usize::from(self.batch) && now < full {
                next = Some(next.map_or(full, |next| next.min(full)));
                continue;
            }
            let count = source.waiting.len().min(usize::from(self.batch));
            let sizes = source.waiting.iter().take(count).map(|&(bytes, _)| bytes).collect();
            let due = Due { flow: source.flow, list, first: source.first, sizes };
            if carrier.begin(&due, now) {
                source.waiting.drain(..count);
                source.first = source.first.wrapping_add(count as u32);
            }
        }
        next
    }
}
