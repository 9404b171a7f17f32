//! State of a station that the inner loops touch: times instead of states, in cache lines by access.

use airfair_schemes::places::Airtime;
use airfair_units::Span;

use super::backoffs::Backoffs;
use super::frame::{NO_NUMBER, NONE};
use super::phy::Timing;
use crate::event::Order;
use crate::ids::FrameIx;
use crate::record::FrameKind;

/// A time that is never reached.
pub(crate) const NEVER: u64 = u64::MAX;

/// Deadline without a back-off: earlier than every time.
pub(crate) const NO_DEADLINE: u64 = 0;

/// Bits of [`Radio::flags`]. The MAC sets `AWAITS_IMMEDIATE`, `CONTENDING` and `AWAIT_END`; a sensed frame turns `AWAITS_IMMEDIATE` into
/// `DRAW_DUE`, which the MAC clears. The others are the medium's, or are set when the world is created.
pub(crate) mod flag {
    /// The station is transmitting.
    pub(crate) const TRANSMITTING: u8 = 1;
    /// Waiting for immediate access: a back-off is due if the medium becomes busy before.
    pub(crate) const AWAITS_IMMEDIATE: u8 = 2;
    /// The medium became busy while the station waited for immediate access: the access event draws a back-off.
    pub(crate) const DRAW_DUE: u8 = 4;
    /// The NAV was set by an RTS and is extended if a reception follows.
    pub(crate) const NAV_PENDING: u8 = 8;
    /// The station has a packet to send: its access event is pending.
    pub(crate) const CONTENDING: u8 = 16;
    /// The time-out has passed during a reception: the end of that reception decides.
    pub(crate) const AWAIT_END: u8 = 32;
    /// Agents' messages for other stations are indicated to the layer above too.
    pub(crate) const OVERHEARS: u8 = 64;
    /// Every reception is recorded, also of frames for other stations.
    pub(crate) const MONITORS: u8 = 128;
    /// Both bits, which exclude each other at a station of the DCF, mark a station with access categories from the start of the run: its
    /// back-offs are in [`Backoffs`](super::Backoffs).
    pub(crate) const CATEGORIES: u8 = AWAITS_IMMEDIATE | DRAW_DUE;
}

/// State that the passes read and write at every hearer: one cache line. The back-off (`deadline`, `count_from`, `slots`) is part of it
/// because a sensed frame freezes it ([`Radio::freeze`]), as does a NAV that becomes final. The MAC draws it, starts it
/// ([`Station::start_count`]) and ends it.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Radio {
    /// The medium is physically busy until then, ns; own transmissions included.
    pub busy_until: u64,
    /// NAV: the medium is reserved until then, ns.
    pub nav_until: u64,
    /// End of the back-off, ns; [`NO_DEADLINE`] if none is counting.
    pub deadline: u64,
    /// Start of the slot count, ns.
    pub count_from: u64,
    /// Total time spent transmitting, receiving or sensing energy, ns.
    pub busy: u64,
    /// Start of the last EIFS (end of the frame that caused it), ns; the EIFS may have passed. 0 after a good frame.
    pub eifs_from: u64,
    /// Under a lock: the largest sum of the other signals' powers (or the strongest of them) since the lock, aW.
    pub worst: u64,
    /// The locked frame, or [`NONE`].
    pub lock: FrameIx,
    /// Slots left to count from `count_from`.
    pub slots: u16,
    pub flags: u8,
    /// Index of the kind of radio.
    pub kind: u8,
}

impl Default for Radio {
    fn default() -> Self {
        Self {
            busy_until: 0,
            nav_until: 0,
            deadline: NO_DEADLINE,
            count_from: 0,
            busy: 0,
            eifs_from: 0,
            worst: 0,
            lock: NONE,
            slots: 0,
            flags: 0,
            kind: 0,
        }
    }
}

impl Radio {
    #[inline]
    pub(crate) fn has(&self, bit: u8) -> bool {
        self.flags & bit != 0
    }
    #[inline]
    pub(crate) fn set(&mut self, bit: u8) {
        self.flags |= bit;
    }
    #[inline]
    pub(crate) fn clear(&mut self, bit: u8) {
        self.flags &= !bit;
    }

    /// True at a station with access categories.
    #[inline]
    pub(crate) fn has_categories(&self) -> bool {
        self.flags & flag::CATEGORIES == flag::CATEGORIES
    }

    /// The last slot boundary before `seen`, counted from the start of the count; none if the count starts later.
    pub(crate) fn boundaries_before(&self, seen: u64, slot: u64) -> Option<u64> {
        (self.count_from < seen).then(|| (seen - self.count_from - 1) / slot)
    }

    /// Freezes the back-off for a signal that is sensed at slot boundaries from `seen` on; slots are counted again from `resume` at the
    /// earliest. A station that waits for immediate access is marked to draw a back-off ([`flag::DRAW_DUE`]); if no back-off is counting,
    /// nothing changes.
    ///
    /// Slot boundaries before `seen` have been counted: the station sensed an idle medium there (it decides by the state of the channel one
    /// turnaround plus CCA time before). If the last slot ends before `seen`, the station is committed and will transmit.
    #[inline]
    pub(crate) fn freeze(&mut self, backoffs: &mut Backoffs, seen: u64, resume: u64, slot: u64) {
        if self.deadline < seen {
            return;
        }
        if self.flags & flag::AWAITS_IMMEDIATE != 0 {
            self.interrupt(backoffs, seen, slot);
        } else if self.count_from < seen {
            self.slots -= ((seen - self.count_from - 1) / slot) as u16;
        }
        self.count_from = self.count_from.max(resume);
        self.deadline = self.count_from + u64::from(self.slots) * slot;
    }

    /// [`Radio::freeze`] at a station that waits for immediate access, whose count has no slots, or that has access categories.
    #[cold]
    #[inline(never)]
    fn interrupt(&mut self, backoffs: &mut Backoffs, seen: u64, slot: u64) {
        if self.has_categories() {
            backoffs.freeze(self.boundaries_before(seen, slot));
            self.slots = backoffs.next().unwrap_or(0);
        } else {
            self.flags ^= flag::CATEGORIES;
        }
    }

    /// Makes the medium busy for a signal from `start` to `end`. `IDLE_TIMES`: maintain `busy_from` and `idle_from`. Returns true if the
    /// busy time has become longer.
    #[inline(always)]
    pub(crate) fn make_busy<const IDLE_TIMES: bool>(
        &mut self,
        rx: &mut RxState,
        optional: &mut OptionalState,
        start: u64,
        end: u64,
    ) -> bool {
        if end <= self.busy_until {
            return false;
        }
        if IDLE_TIMES && start > self.busy_until {
            optional.idle_from = self.busy_until;
            optional.busy_from = start;
        }
        let from = start.max(self.busy_until);
        self.busy += end - from;
        if self.nav_until > from {
            rx.nav -= end.min(self.nav_until) - from;
        }
        self.busy_until = end;
        true
    }

    /// Time in each state from the start to `now`. `transmit` is [`TransceiverCounters::transmit`].
    pub(crate) fn airtime(&self, rx: &RxState, optional: &OptionalState, transmit: u64, now: u64) -> Airtime {
        let known = |total: u64, until: u64| total - until.saturating_sub(now).min(total);
        // The last interval of a union may lie entirely after `now`: a union is never shorter than one that it contains.
        let transmit = known(transmit, optional.transmit_until);
        let receive = known(rx.receive, rx.receive_until).max(transmit);
        let busy = known(self.busy, self.busy_until).max(receive);
        let nav = rx.nav - self.nav_until.saturating_sub(self.busy_until.max(now)).min(rx.nav);
        Airtime {
            transmit: Span(transmit),
            receive: Span(receive - transmit),
            busy: Span(busy - receive),
            nav: Span(nav),
            idle: Span(now.saturating_sub(busy + nav)),
        }
    }
}

/// State that a pass touches at a hearer that can decode, and the time of the access event: one cache line.
///
/// Radio time: transmit, transmit-or-receive and busy-at-all are lengths of unions that grow at their ends; the part of the NAV outside of
/// them is counted in advance and subtracted where the medium becomes busy after all. The five always add up to the run in nanoseconds,
/// since a state's time is a difference of two lengths. Signals that are handled in another order than they arrive, and a query between a
/// frame's start and its arrival, may count up to 4 us (a band) in a neighbouring state.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct RxState {
    /// Total time reserved by the NAV and not busy, ns.
    pub nav: u64,
    pub receive_until: u64,
    /// Total time of transmitting or receiving, ns.
    pub receive: u64,
    /// Start of the time that the locked frame has added to the time of reception, ns.
    pub receive_from: u64,
    /// Arrival of the locked frame, ns.
    pub lock_start: u64,
    /// Power of the locked frame, aW.
    pub lock_power: u64,
    /// Time of the pending access event, [`NEVER`] if none.
    pub armed_at: u64,
    /// Number of the frame that caused the strongest interference.
    pub worst_by: u32,
    /// Rank of the station among events of equal time.
    pub rank: u32,
}

impl Default for RxState {
    fn default() -> Self {
        Self {
            nav: 0,
            receive_until: 0,
            receive: 0,
            receive_from: 0,
            lock_start: 0,
            lock_power: 0,
            armed_at: NEVER,
            worst_by: NO_NUMBER,
            rank: 0,
        }
    }
}

/// Adds `[start, end)` to a union that is complete up to `until`.
#[inline]
pub(crate) fn extend(until: &mut u64, total: &mut u64, start: u64, end: u64) {
    if end > *until {
        *total += end - start.max(*until);
        *until = end;
    }
}

impl RxState {
    /// Extends the NAV to `until`; an earlier `until` changes nothing. To be called at `from`, or while the medium is busy.
    #[inline]
    pub(crate) fn reserve(&mut self, busy_until: u64, nav_until: &mut u64, from: u64, until: u64) {
        if until <= *nav_until {
            return;
        }
        self.nav += until.saturating_sub(from.max(*nav_until).max(busy_until));
        *nav_until = until;
    }
}

/// State that only some runs maintain at every hearer ([`super::Needs`]), or that is rarely touched: one cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct OptionalState {
    /// Sum of the powers of all signals on the air here, aW.
    pub power_sum: u64,
    /// Start of the present busy period, and start of the idle period before it, ns.
    pub busy_from: u64,
    pub idle_from: u64,
    /// End of the own transmission, ns.
    pub transmit_until: u64,
    /// End of the NAV if a reception follows the RTS, and the latest start of that reception, ns.
    pub nav_full: u64,
    pub nav_check: u64,
    /// Per-chunk error model: start of the present chunk, ns, and the logarithm of the probability of success up to it.
    pub chunk_from: u64,
    pub log_success: f64,
}

/// A station as a hearer: the state that frames of others touch.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Station {
    pub radio: Radio,
    pub rx: RxState,
    pub optional: OptionalState,
    pub backoffs: Backoffs,
}

impl Station {
    /// Key of the station's events among those of equal time.
    #[inline(always)]
    pub(crate) fn order(&self, class: u8) -> Order {
        Order::new(class, self.rx.rank)
    }

    /// Earliest start of the slot count if the medium stays idle: DIFS after busy medium and NAV, EIFS after a failed reception.
    #[inline(always)]
    pub(crate) fn resume_at(&self, timing: &Timing) -> u64 {
        let resume = self.radio.busy_until.max(self.radio.nav_until) + timing.difs;
        match self.radio.eifs_from {
            0 => resume,
            from => resume.max(from + timing.eifs),
        }
    }

    /// Ends the NAV (CF-End, 802.11-2016 10.22.2.8): the time that it was counted in advance is returned.
    pub(crate) fn reset_nav(&mut self, at: u64) {
        let Self { radio, rx, .. } = self;
        if radio.nav_until > at {
            rx.nav -= radio.nav_until.saturating_sub(radio.busy_until.max(at)).min(rx.nav);
            radio.nav_until = at;
            radio.clear(flag::NAV_PENDING);
        }
    }

    /// [`Station::resume_at`] as before the present signal, which the station does not sense yet.
    pub(crate) fn resume_before_signal(&self, timing: &Timing) -> u64 {
        let resume = self.optional.idle_from.max(self.radio.nav_until) + timing.difs;
        match self.radio.eifs_from {
            0 => resume,
            from => resume.max(from + timing.eifs),
        }
    }

    /// Start and end of the slot count of a category, ns, and its slots; none if its back-off is not set, or frozen for an exchange.
    pub(crate) fn countdown(&self, category: usize, slot: u64) -> Option<(u64, u64, u16)> {
        let Radio { deadline, count_from, slots, .. } = self.radio;
        if deadline == NO_DEADLINE {
            return None;
        }
        if !self.radio.has_categories() {
            return Some((count_from, deadline, slots));
        }
        let (wait, slots) = self.backoffs.left(category)?;
        let from = count_from + u64::from(wait) * slot;
        Some((from, from + u64::from(slots) * slot, slots))
    }

    /// Starts the slot count at `from`.
    #[inline(always)]
    pub(crate) fn start_count(&mut self, from: u64, slot: u64) {
        self.radio.count_from = from;
        self.radio.deadline = from + u64::from(self.radio.slots) * slot;
    }
}

/// Counters of a station as a transmitter and receiver. The counters are stored in a separate array, so that the state of hearers is
/// compact.
#[derive(Debug, Clone, Default)]
pub(crate) struct TransceiverCounters {
    /// Time spent transmitting, ns.
    pub transmit: u64,
    /// Time of received frames that were addressed to this station, ns.
    pub receive: u64,
    /// Frames sent, and frames received that were addressed to this station, by [`crate::record::FrameKind::ALL`].
    pub sent: [u64; FrameKind::ALL.len()],
    pub received: [u64; FrameKind::ALL.len()],
    /// Lost frames that were addressed to this station, by [`crate::record::Loss::NAMES`].
    pub lost: [u64; 9],
    /// Receptions that confirmed a NAV which an RTS had set provisionally.
    pub nav_extended: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hot_state_fits_its_cache_lines() {
        assert_eq!(size_of::<Radio>(), 64);
        assert_eq!(size_of::<RxState>(), 64);
        assert_eq!(size_of::<OptionalState>(), 64);
        assert_eq!(size_of::<Backoffs>(), 64);
        assert_eq!(size_of::<Station>(), 256);
    }

    const SLOT: u64 = 20_000;
    const LOOK: u64 = 15_000;

    fn counting(from: u64, slots: u16) -> Radio {
        Radio { deadline: from + u64::from(slots) * SLOT, count_from: from, slots, ..Radio::default() }
    }

    /// By hand: ten slots from 0. A signal arrives at 41 us and is sensed from 56 us on: the boundaries at 20 and 40 us were idle, that at
    /// 60 us was not. Eight slots are left; they are counted from the resumption.
    #[test]
    fn a_frozen_back_off_resumes_where_it_was() {
        let mut r = counting(0, 10);
        r.freeze(&mut Backoffs::default(), 41_000 + LOOK, 1_000_000, SLOT);
        assert_eq!((r.slots, r.count_from, r.deadline), (8, 1_000_000, 1_160_000));
        // Further energy before the count has resumed only moves its start.
        r.freeze(&mut Backoffs::default(), 500_000 + LOOK, 1_200_000, SLOT);
        assert_eq!((r.slots, r.count_from, r.deadline), (8, 1_200_000, 1_360_000));
    }

    /// A signal that arrives less than the sensing delay before the last boundary is not sensed: both stations transmit.
    #[test]
    fn a_signal_within_the_sensing_delay_is_not_sensed() {
        let mut r = counting(0, 2);
        r.freeze(&mut Backoffs::default(), 40_000 - LOOK + 1 + LOOK, 1_000_000, SLOT);
        assert_eq!(r.deadline, 40_000, "committed");
        let mut r = counting(0, 2);
        r.freeze(&mut Backoffs::default(), 40_000 - LOOK + LOOK, 1_000_000, SLOT);
        assert_eq!((r.slots, r.deadline), (1, 1_020_000), "sensed exactly at the boundary");
    }

    #[test]
    fn losing_immediate_access_requires_a_back_off() {
        let mut r = counting(50_000, 0);
        r.set(flag::AWAITS_IMMEDIATE);
        r.freeze(&mut Backoffs::default(), 30_000, 300_000, SLOT);
        assert!(r.has(flag::DRAW_DUE) && !r.has(flag::AWAITS_IMMEDIATE));
        assert_eq!(r.deadline, 300_000);
    }

    proptest! {
        /// For any overlaps the five states add up to the run, and each equals a count over a timeline.
        #[test]
        fn states_add_up(intervals in proptest::collection::vec((0u8..4, 0u64..50, 1u64..40), 0..30), now in 1u64..1000) {
            let mut rx = RxState::default();
            let (mut optional, mut transmit, mut radio) = (OptionalState::default(), 0, Radio::default());
            let mut line = vec![4u8; 3000];
            let mut at = 0;
            for (what, gap, length) in intervals {
                at += gap;
                let (start, end) = (at, at + length);
                match what {
                    0 => {
                        extend(&mut optional.transmit_until, &mut transmit, start, end);
                        extend(&mut rx.receive_until, &mut rx.receive, start, end);
                        radio.make_busy::<true>(&mut rx, &mut optional, start, end);
                    }
                    1 => {
                        extend(&mut rx.receive_until, &mut rx.receive, start, end);
                        radio.make_busy::<true>(&mut rx, &mut optional, start, end);
                    }
                    2 => _ = radio.make_busy::<true>(&mut rx, &mut optional, start, end),
                    _ => rx.reserve(radio.busy_until, &mut radio.nav_until, start, end),
                }
                for state in &mut line[start as usize..end as usize] {
                    *state = (*state).min(what);
                }
            }
            // Intervals that start after `now` do not count.
            prop_assume!(at <= now);
            let airtime = radio.airtime(&rx, &optional, transmit, now);
            let count = |s: u8| line[..now as usize].iter().filter(|&&x| x == s).count() as u64;
            prop_assert_eq!(airtime.transmit.0, count(0));
            prop_assert_eq!(airtime.receive.0, count(1));
            prop_assert_eq!(airtime.busy.0, count(2));
            prop_assert_eq!(airtime.nav.0, count(3));
            prop_assert_eq!(airtime.idle.0, count(4));
            let sum = airtime.transmit.0 + airtime.receive.0 + airtime.busy.0 + airtime.nav.0 + airtime.idle.0;
            prop_assert_eq!(sum, now);
        }
    }
}
