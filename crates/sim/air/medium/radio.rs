//! The state of a station that the inner loops touch: times instead of states, in cache lines by who touches them.

use airfair_schemes::places::Airtime;
use airfair_units::Span;

use super::frame::{NO_NUMBER, NONE};
use super::phy::Timing;
use crate::event::Order;
use crate::ids::FrameIx;

/// A time that never comes.
pub(crate) const NEVER: u64 = u64::MAX;

/// No back-off runs: a time that lies before every other.
pub(crate) const NO_DEADLINE: u64 = 0;

/// Bits of [`Radio::flags`]. The MAC sets `IMMEDIATE`, `CONTENDING` and `AWAIT_END`; a frame that is sensed turns `IMMEDIATE` into `DRAW`,
/// which the MAC clears. The others are the medium's, or are set when the world is.
pub(crate) mod flag {
    /// An own transmission is on the air.
    pub(crate) const TRANSMITTING: u8 = 1;
    /// Waiting for immediate access: if the medium gets busy before, a back-off is due.
    pub(crate) const IMMEDIATE: u8 = 2;
    /// The medium got busy while waiting for immediate access: the back-off is drawn when the event comes.
    pub(crate) const DRAW: u8 = 4;
    /// A NAV set by an RTS lasts longer if a reception follows.
    pub(crate) const NAV_PENDING: u8 = 8;
    /// There is something to send: the access event is armed.
    pub(crate) const CONTENDING: u8 = 16;
    /// The time-out has passed while a reception went on: its end decides.
    pub(crate) const AWAIT_END: u8 = 32;
    /// Frames for others are handed up too.
    pub(crate) const OVERHEARS: u8 = 64;
    /// Every reception is recorded, of frames for others too.
    pub(crate) const MONITORS: u8 = 128;
}

/// The state that the passes read and write at every hearer: one cache line. The back-off (`deadline`, `count_from`, `slots`) is among it
/// because a frame that is sensed freezes it ([`Radio::freeze`]), as does a NAV that turns out to last. The MAC draws it, starts it
/// ([`Station::count_from`]) and ends it.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Radio {
    /// The medium is physically busy until here, own transmissions included.
    pub busy_until: u64,
    /// It is reserved until here.
    pub nav_until: u64,
    /// The back-off ends here, [`NO_DEADLINE`] if none runs.
    pub deadline: u64,
    /// Slots are counted from here.
    pub count_from: u64,
    /// How long it has been: transmitting, receiving or sensing energy.
    pub busy: u64,
    /// An EIFS runs from here, 0 if none.
    pub eifs_from: u64,
    /// Under a lock: the largest sum of the other signals' powers (or the strongest of them) since it began, aW.
    pub worst: u64,
    /// The locked frame, or [`NONE`].
    pub lock: FrameIx,
    /// Slots left to count at `count_from`.
    pub slots: u16,
    pub flags: u8,
    /// Which of the air's kinds it is.
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

    /// A signal arrives that is seen at slot boundaries from `seen` on; counting goes on at `resume` at the earliest.
    ///
    /// The slot boundaries before `seen` have been counted: the station saw an idle medium there (ENGINE rule: it decides
    /// from the channel as it was one turnaround plus CCA time before). If the last of them lies before `seen`, the station
    /// is committed and will transmit.
    #[inline]
    pub(crate) fn freeze(&mut self, seen: u64, resume: u64, slot: u64) {
        if self.deadline < seen {
            return;
        }
        if self.count_from < seen {
            self.slots -= ((seen - self.count_from - 1) / slot) as u16;
        }
        if self.flags & flag::IMMEDIATE != 0 {
            self.flags ^= flag::IMMEDIATE | flag::DRAW;
        }
        self.count_from = self.count_from.max(resume);
        self.deadline = self.count_from + u64::from(self.slots) * slot;
    }

    /// A signal from `start` to `end` makes the medium busy. `IDLE_TIMES`: keep `busy_from` and `idle_from`. Returns whether it is
    /// busy for longer now.
    #[inline(always)]
    pub(crate) fn make_busy<const IDLE_TIMES: bool>(
        &mut self,
        clock: &mut Clock,
        slow: &mut Slow,
        start: u64,
        end: u64,
    ) -> bool {
        if end <= self.busy_until {
            return false;
        }
        if IDLE_TIMES && start > self.busy_until {
            slow.idle_from = self.busy_until;
            slow.busy_from = start;
        }
        let from = start.max(self.busy_until);
        self.busy += end - from;
        if self.nav_until > from {
            clock.nav -= end.min(self.nav_until) - from;
        }
        self.busy_until = end;
        true
    }

    /// Time in each state from the start to `now`. `transmit` is [`Counted::transmit`].
    pub(crate) fn airtime(&self, clock: &Clock, slow: &Slow, transmit: u64, now: u64) -> Airtime {
        let known = |total: u64, until: u64| total - until.saturating_sub(now).min(total);
        // The last interval of a union may lie ahead altogether: never less than what it contains.
        let transmit = known(transmit, slow.transmit_until);
        let receive = known(clock.receive, clock.receive_until).max(transmit);
        let busy = known(self.busy, self.busy_until).max(receive);
        let nav = clock.nav - self.nav_until.saturating_sub(self.busy_until.max(now)).min(clock.nav);
        Airtime {
            transmit: Span(transmit),
            receive: Span(receive - transmit),
            busy: Span(busy - receive),
            nav: Span(nav),
            idle: Span(now.saturating_sub(busy + nav)),
        }
    }
}

/// The state that a pass touches at a hearer that can decode, and the time of the access event: one cache line.
///
/// Radio time: transmit, transmit-or-receive and busy-at-all are lengths of unions that grow at their ends; what of the NAV
/// lies outside of them is counted ahead and taken back where the medium gets busy after all. The five always add up to the run
/// in nanoseconds, since a state's time is a difference of two lengths; signals that are handled in another order than they
/// arrive, and a query at a moment between a frame's start and its arrival, may put up to 4 us (a band) into a neighbouring state.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Clock {
    /// Reserved by NAV and not busy.
    pub nav: u64,
    pub receive_until: u64,
    /// Transmitting or receiving.
    pub receive: u64,
    /// From here the locked frame has made the time of reception longer.
    pub receive_from: u64,
    /// When the locked frame arrived.
    pub lock_start: u64,
    /// Power of the locked frame.
    pub lock_power: u64,
    /// Time of the pending access event, [`NEVER`] if none.
    pub armed_at: u64,
    /// Number of the frame that made the interference worst.
    pub worst_by: u32,
    /// The station's rank among events of equal time.
    pub rank: u32,
}

impl Default for Clock {
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

/// Adds `[start, end)` to a union that is known up to `until`.
#[inline]
pub(crate) fn extend(until: &mut u64, total: &mut u64, start: u64, end: u64) {
    if end > *until {
        *total += end - start.max(*until);
        *until = end;
    }
}

impl Clock {
    /// The NAV is set until `until`, from a moment at which the medium is busy or that is `from`.
    #[inline]
    pub(crate) fn reserve(&mut self, busy_until: u64, nav_until: &mut u64, from: u64, until: u64) {
        if until <= *nav_until {
            return;
        }
        self.nav += until.saturating_sub(from.max(*nav_until).max(busy_until));
        *nav_until = until;
    }
}

/// State that only some runs keep up at every hearer ([`super::Needs`]), or that is rarely touched: one cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct Slow {
    /// Power of all signals on the air here, aW.
    pub power_sum: u64,
    /// The medium has been busy since, and was idle before from `idle_from` on.
    pub busy_from: u64,
    pub idle_from: u64,
    /// An own frame is on the air until here.
    pub transmit_until: u64,
    /// The NAV's end if a reception follows the RTS, and the latest moment for that to start.
    pub nav_full: u64,
    pub nav_check: u64,
    /// Per-chunk error model: since when the SINR is what it is, and the logarithm of success so far.
    pub chunk_from: u64,
    pub log_success: f64,
}

/// A station as a hearer: all that the frames of others touch.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Station {
    pub radio: Radio,
    pub clock: Clock,
    pub slow: Slow,
}

impl Station {
    /// The place of its events among those of equal time.
    #[inline(always)]
    pub(crate) fn order(&self, class: u8) -> Order {
        Order::new(class, self.clock.rank)
    }

    /// From when on slots may be counted if nothing more happens: DIFS after medium and NAV, EIFS after a failed reception.
    #[inline(always)]
    pub(crate) fn resume_at(&self, timing: &Timing) -> u64 {
        let resume = self.radio.busy_until.max(self.radio.nav_until) + timing.difs;
        match self.radio.eifs_from {
            0 => resume,
            from => resume.max(from + timing.eifs),
        }
    }

    /// Slots are counted from `from` on.
    #[inline(always)]
    pub(crate) fn count_from(&mut self, from: u64, slot: u64) {
        self.radio.count_from = from;
        self.radio.deadline = from + u64::from(self.radio.slots) * slot;
    }
}

/// Counters of a station as a transmitter and as a receiver. They stand in an array apart, so that the state of hearers lies close
/// together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counted {
    /// Time spent transmitting.
    pub transmit: u64,
    /// Time of received frames that were for this station.
    pub receive: u64,
    /// Frames sent and frames for this station that were received, by [`crate::record::FrameKind::ALL`].
    pub sent: [u64; 5],
    pub received: [u64; 5],
    /// Frames for this station that were lost, by [`crate::record::Loss::NAMES`].
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
        assert_eq!(size_of::<Clock>(), 64);
        assert_eq!(size_of::<Slow>(), 64);
        assert_eq!(size_of::<Station>(), 192);
    }

    const SLOT: u64 = 20_000;
    const LOOK: u64 = 15_000;

    fn counting(from: u64, slots: u16) -> Radio {
        Radio { deadline: from + u64::from(slots) * SLOT, count_from: from, slots, ..Radio::default() }
    }

    /// By hand: counting from 0, ten slots. A signal arrives at 41 us, is seen from 56 us on: boundaries at 20 and 40 us
    /// were idle, 60 us was not. Eight slots are left; they are counted from the resumption.
    #[test]
    fn a_frozen_back_off_resumes_where_it_was() {
        let mut r = counting(0, 10);
        r.freeze(41_000 + LOOK, 1_000_000, SLOT);
        assert_eq!((r.slots, r.count_from, r.deadline), (8, 1_000_000, 1_160_000));
        // More energy before counting has begun again only moves the start.
        r.freeze(500_000 + LOOK, 1_200_000, SLOT);
        assert_eq!((r.slots, r.count_from, r.deadline), (8, 1_200_000, 1_360_000));
    }

    /// A signal that arrives less than the sensing delay before the last boundary is not seen: both transmit.
    #[test]
    fn a_signal_in_the_last_moment_is_not_seen() {
        let mut r = counting(0, 2);
        r.freeze(40_000 - LOOK + 1 + LOOK, 1_000_000, SLOT);
        assert_eq!(r.deadline, 40_000, "committed");
        let mut r = counting(0, 2);
        r.freeze(40_000 - LOOK + LOOK, 1_000_000, SLOT);
        assert_eq!((r.slots, r.deadline), (1, 1_020_000), "seen exactly at the boundary");
    }

    #[test]
    fn losing_immediate_access_asks_for_a_back_off() {
        let mut r = counting(50_000, 0);
        r.set(flag::IMMEDIATE);
        r.freeze(30_000, 300_000, SLOT);
        assert!(r.has(flag::DRAW) && !r.has(flag::IMMEDIATE));
        assert_eq!(r.deadline, 300_000);
    }

    proptest! {
        /// Whatever overlaps, the five states add up to the run, and each equals a count over a timeline.
        #[test]
        fn states_add_up(intervals in proptest::collection::vec((0u8..4, 0u64..50, 1u64..40), 0..30), now in 1u64..1000) {
            let mut clock = Clock::default();
            let (mut slow, mut transmit, mut radio) = (Slow::default(), 0, Radio::default());
            let mut line = vec![4u8; 3000];
            let mut at = 0;
            for (what, gap, length) in intervals {
                at += gap;
                let (start, end) = (at, at + length);
                match what {
                    0 => {
                        extend(&mut slow.transmit_until, &mut transmit, start, end);
                        extend(&mut clock.receive_until, &mut clock.receive, start, end);
                        radio.make_busy::<true>(&mut clock, &mut slow, start, end);
                    }
                    1 => {
                        extend(&mut clock.receive_until, &mut clock.receive, start, end);
                        radio.make_busy::<true>(&mut clock, &mut slow, start, end);
                    }
                    2 => _ = radio.make_busy::<true>(&mut clock, &mut slow, start, end),
                    _ => clock.reserve(radio.busy_until, &mut radio.nav_until, start, end),
                }
                for state in &mut line[start as usize..end as usize] {
                    *state = (*state).min(what);
                }
            }
            // Intervals that start after `now` are not part of the question.
            prop_assume!(at <= now);
            let airtime = radio.airtime(&clock, &slow, transmit, now);
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
