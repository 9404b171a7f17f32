//! The stamp (§III-E): each node lowers the allocation in a data packet's header to its own.
//!
//! The node's agent tells the shares of flows; a flow that it has not named yet has `unknown`, for less than a sample. Acknowledgements
//! carry the stamp of what they acknowledge and are not stamped. What the agent has told is here as long as it thinks so: there is room for
//! as many flows as it stores, and only those are forgotten that it has forgotten as well.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::header::{NO_LIMIT, STAMP, stamp, stated};
use crate::places::{
    Backlog, FlowId, Header, HeaderKind, Hop, HopContext, PacketClass, Passage, Setting, Timer,
};

/// A rate in bytes/s, as headers have it; what they have no room for is no limit.
pub(super) fn bytes_per_second(rate: Rate) -> u32 {
    u32::try_from(rate.0 / 8).unwrap_or(NO_LIMIT).min(NO_LIMIT)
}

/// The least number of flows at which forgotten ones are looked for.
const CROWDED: usize = 64;

/// The share of a flow.
#[derive(Debug, Clone, Copy)]
struct Share {
    flow: FlowId,
    /// Bytes/s.
    rate: u32,
    /// When it was set, or the flow had a packet.
    used: Time,
    /// The rate that the flow's source states, bytes/s.
    stated: Option<u32>,
}

/// The hop of a radio.
#[derive(Debug, Clone)]
pub struct Stamper {
    /// Sorted by flow.
    shares: Vec<Share>,
    most: usize,
    /// Time without packets and settings after which the agent has forgotten a flow.
    expiry: Span,
    /// Number of flows at which the forgotten ones are looked for.
    crowded: usize,
    unknown: u32,
    stamped: u64,
    unknown_stamped: u64,
}

impl Stamper {
    /// A hop for at most `most` flows; the one that was used longest ago gives way. `expiry`: the time of no use after which the agent has
    /// forgotten a flow, and tells it anew when it returns.
    #[must_use]
    pub fn new(most: usize, unknown: Rate, expiry: Span) -> Self {
        let (most, unknown) = (most.max(1), bytes_per_second(unknown));
        Self { shares: Vec::new(), most, expiry, crowded: CROWDED, unknown, stamped: 0, unknown_stamped: 0 }
    }

    /// Forgets flows that the agent has forgotten, if there are many.
    fn forget(&mut self, now: Time) {
        if self.shares.len() >= self.crowded {
            self.shares.retain(|share| now.since(share.used) < self.expiry);
            self.crowded = CROWDED.max(2 * self.shares.len());
        }
    }
}

impl Hop for Stamper {
    fn header(&self) -> &'static HeaderKind {
        &STAMP
    }

    fn on_start(&mut self, _: &mut HopContext<'_>) {}

    /// The agent has the shares; the queue has no part in them.
    fn wants_one_queue(&self) -> bool {
        false
    }

    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        let Some(header) = header.filter(|_| passage.class == PacketClass::Data) else { return };
        self.stamped += 1;
        let rate = match self.shares.binary_search_by_key(&passage.flow, |share| share.flow) {
            Ok(at) => {
                let share = &mut self.shares[at];
                (share.stated, share.used) = (Some(stated(header)), now);
                share.rate
            }
            Err(_) => {
                self.unknown_stamped += 1;
                self.unknown
            }
        };
        stamp(header, passage.flow, rate);
    }

    fn apply(&mut self, setting: Setting, now: Time) {
        let Setting::FlowRate { flow, rate } = setting else { return };
        self.forget(now);
        let rate = bytes_per_second(rate);
        let share = Share { flow, rate, used: now, stated: None };
        match self.shares.binary_search_by_key(&flow, |share| share.flow) {
            Ok(at) => (self.shares[at].rate, self.shares[at].used) = (rate, now),
            Err(mut at) => {
                if self.shares.len() >= self.most {
                    let oldest = (0..self.shares.len()).min_by_key(|&i| self.shares[i].used);
                    let Some(oldest) = oldest else { return };
                    self.shares.remove(oldest);
                    at -= usize::from(oldest < at);
                }
                self.shares.insert(at, share);
            }
        }
    }

    fn stated_rate(&self, flow: FlowId) -> Option<Rate> {
        let at = self.shares.binary_search_by_key(&flow, |share| share.flow).ok()?;
        self.shares[at].stated.map(|bytes| Rate(8 * u64::from(bytes)))
    }

    fn on_timer(&mut self, _: Timer, _: Backlog, _: &mut HopContext<'_>) {}

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        vec![("stamped", self.stamped as f64), ("stamped_unknown", self.unknown_stamped as f64)]
    }
}
