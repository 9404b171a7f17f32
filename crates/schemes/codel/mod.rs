//! CoDel: drops or marks at the head of a queue whose packets have waited longer than a target for a whole interval.
//!
//! RFC 8289 (Nichols, Jacobson, McGregor, Iyengar, "Controlled Delay Active Queue Management", 2018), section 5. It fills
//! one place, the AQM, and stands beside drop-tail, whose limit still holds; FQ-CoDel runs the same machine per flow.
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | TARGET | `target` | time | 5 ms |
//! | INTERVAL | `interval` | time | 100 ms |
//! | MAXPACKET | `mtu` | bytes | 1500 |
//! | first_above_time | the time at which the wait has been above the target for an interval | time | none |
//! | drop_next | the time of the next drop | time | |
//! | count, lastcount | drops since dropping began; count at that time | packets | 0 |
//!
//! As each packet is about to leave:
//! - a packet passes if it waited less than the target or leaves at most an MTU behind: then dropping ends;
//! - if no packet has passed so for an interval, dropping begins with this packet, and the next ones are dropped at
//!   `drop_next <- drop_next + interval/sqrt(count)`;
//! - if dropping begins again within 16 intervals of `drop_next`, it continues at the rate at which it ended:
//!   `count <- count - lastcount` if that is more than 1, else 1.
//!
//! Deviations: none in the law. The RFC's routine dequeues packet after packet until it has one to deliver; here the
//! law is called for each packet in turn, and the RFC's step for the packet after a dropped one is taken in the call for that packet. With
//! `ecn` (off by default; as in Linux) a mark takes the place of a drop and the marked packet is the one
//! delivered; a packet that cannot be marked is dropped. interval/sqrt(count) is exact, rounded down to a nanosecond.

use airfair_units::{Bytes, Span, Time};

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{Aqm, AqmContext, DropReason, MarkReason, Packet, QueueView, Verdict};

/// A packet dropped, or marked, because the queue stood too long.
pub const CODEL: &str = "codel";

/// Number of intervals within which dropping that begins again continues at its old rate (RFC 8289 section 5.5).
const MEMORY_INTERVALS: u64 = 16;

params! {
    /// The parameters of CoDel.
    pub(crate) struct CoDelParameters {
        /// wait that a standing queue may cause; at least the time of a packet or two on the link (RFC 8289 section 4.3)
        paper target: Span = Span::from_millis(5), in Span::from_micros(1)..=Span::from_secs(10);
        /// how long the wait must stay above the target; the order of a worst-case round-trip time (RFC 8289 section 4.2)
        paper interval: Span = Span::from_millis(100), in Span::from_micros(1)..=Span::from_secs(100);
        /// a queue with at most this many bytes left is never dropped from (MAXPACKET)
        operator mtu: Bytes = Bytes(1500), in Bytes(0)..=Bytes(1 << 20);
        /// marks instead of dropping where the packet can be marked
        operator ecn: bool = false;
    }
}

impl CoDelParameters {
    /// The same parameters, if they fit together.
    pub(crate) fn checked(self) -> Result<Self, ParamError> {
        if self.interval < self.target {
            return Err(ParamError::above("target", "interval"));
        }
        Ok(self)
    }
}

/// CoDel's state at one first-in first-out queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    first_above: Option<Time>,
    dropping: bool,
    /// The last packet was dropped: drop_next advances when the next packet shows that the queue still stands.
    after_drop: bool,
    drop_next: Time,
    count: u32,
    last_count: u32,
}

impl State {
    /// The verdict on a packet that is about to leave `bytes_left` behind. After a drop the next packet is judged at once.
    pub(crate) fn decide(
        &mut self,
        settings: &CoDelParameters,
        packet: &Packet,
        bytes_left: u64,
        now: Time,
    ) -> Verdict {
        if !self.stands(settings, packet, bytes_left, now) {
            self.dropping = false;
            return Verdict::Pass;
        }
        if self.dropping {
            if self.after_drop {
                self.advance(settings);
            }
            if now < self.drop_next {
                return Verdict::Pass;
            }
            self.count = self.count.saturating_add(1);
            let verdict = settings.verdict(packet);
            self.after_drop = matches!(verdict, Verdict::Drop(_));
            if !self.after_drop {
                self.advance(settings);
            }
            verdict
        } else {
            self.dropping = true;
            let delta = self.count.saturating_sub(self.last_count);
            let memory = settings.interval * MEMORY_INTERVALS;
            let recent = now < self.drop_next.saturating_add(memory);
            self.count = if recent { delta.max(1) } else { 1 };
            self.last_count = self.count;
            self.drop_next = now;
            self.advance(settings);
            settings.verdict(packet)
        }
    }

    /// True if the queue has stood above the target for an interval: the RFC's ok_to_drop.
    fn stands(&mut self, settings: &CoDelParameters, packet: &Packet, bytes_left: u64, now: Time) -> bool {
        if now.since(packet.enqueued) < settings.target || bytes_left <= settings.mtu.get() {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now.saturating_add(settings.interval));
                false
            }
            Some(at) => now >= at,
        }
    }

    /// The control law: the next drop is due interval/sqrt(count) after the last one was.
    fn advance(&mut self, settings: &CoDelParameters) {
        self.after_drop = false;
        self.drop_next = self.drop_next.saturating_add(control_law(settings.interval, self.count));
    }
}

impl CoDelParameters {
    /// A mark where `ecn` is set and the packet can be marked, else a drop.
    const fn verdict(&self, packet: &Packet) -> Verdict {
        if self.ecn {
            Verdict::Mark(MarkReason(CODEL)).for_ecn(packet.ecn)
        } else {
            Verdict::Drop(DropReason(CODEL))
        }
    }
}

/// interval/sqrt(count), rounded down to a nanosecond: the root of interval^2/count.
fn control_law(interval: Span, count: u32) -> Span {
    let square = u128::from(interval.as_nanos()).pow(2) / u128::from(count.max(1));
    Span(square.isqrt() as u64)
}

/// CoDel at one queue.
#[derive(Debug, Clone)]
pub struct CoDel {
    settings: CoDelParameters,
    state: State,
}

impl CoDel {
    /// CoDel with these parameters, not dropping.
    ///
    /// # Errors
    /// A parameter out of its range, or an interval below the target.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Ok(Self { settings: CoDelParameters::read(params)?.checked()?, state: State::default() })
    }
}

impl Aqm for CoDel {
    #[inline]
    fn on_enqueue(&mut self, _packet: &Packet, _queue: &QueueView, _context: &mut AqmContext<'_>) -> Verdict {
        Verdict::Pass
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &Packet, queue: &QueueView, context: &mut AqmContext<'_>) -> Verdict {
        let bytes_left = queue.bytes.saturating_sub(u64::from(packet.bytes));
        self.state.decide(&self.settings, packet, bytes_left, context.now)
    }
}
