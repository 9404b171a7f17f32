//! Hearers' processing of a frame: power, carrier sense, lock, interference, NAV. Nothing that happens at one hearer depends on another.

use std::ops::Range;

use super::Medium;
use super::error::{LN_LEAST, SuccessCache};
use super::frame::{BROADCAST, Frame, Frames, NO_NUMBER, NONE};
use super::hearers::{Band, Hearer};
use super::phy::{PhyKind, exceeds};
use super::radio::{Station, TransceiverCounters, extend, flag};
use crate::ids::{FrameIx, StationIx, Table};
use crate::record::{FrameKind, Loss};

/// The pass over a band's hearers at a frame's start. Each of its three parts is a separate function, so that its loop runs in registers.
#[derive(Clone, Copy)]
pub(crate) struct StartPass<'a> {
    pub at: FrameIx,
    pub frame: &'a Frame,
}

/// Times of a signal without the hearer's delay: its start and end, when it is sensed, when slots are counted again after it, ns.
#[derive(Clone, Copy)]
struct Times {
    start: u64,
    end: u64,
    seen: u64,
    resume: u64,
    slot: u64,
}

impl Times {
    /// `eifs`: energy without a preamble starts an EIFS.
    #[inline(always)]
    fn new(frame: &Frame, kind: &PhyKind, eifs: bool) -> Self {
        Self {
            start: frame.start,
            end: frame.end,
            seen: frame.start + kind.timing.sensing_delay,
            resume: frame.end + if eifs { kind.timing.eifs } else { kind.timing.difs },
            slot: kind.timing.slot,
        }
    }
}

impl StartPass<'_> {
    /// `ONE`: all stations are of one kind, whose constants are loaded once. `SUMS`, `IDLE_TIMES`: optional state that is maintained
    /// ([`super::Needs`]).
    #[inline(always)]
    pub(crate) fn run<const ONE: bool, const SUMS: bool, const IDLE_TIMES: bool>(
        self,
        medium: &mut Medium,
        band: usize,
    ) {
        let Band { first, decodable_end, sensed_end, end, .. } = medium.hearers.bands[band];
        // Only the per-chunk model needs this, and that model needs sums.
        if SUMS && medium.per_chunk {
            let Medium { hearers, stations, frames, kinds, successes, .. } = medium;
            let all = hearers.entries(first..end);
            close_chunks(all, stations.as_mut_slice(), frames, kinds, successes, self.frame.start);
        }
        if first < decodable_end {
            self.decode::<ONE, SUMS, IDLE_TIMES>(medium, first..decodable_end);
        }
        if decodable_end < sensed_end {
            if ONE && !medium.kinds[0].timing.eifs_on_energy {
                self.sense::<ONE, SUMS, IDLE_TIMES, false>(medium, decodable_end..sensed_end);
            } else {
                self.sense::<ONE, SUMS, IDLE_TIMES, true>(medium, decodable_end..sensed_end);
            }
        }
        if sensed_end < end {
            self.add_noise::<SUMS>(medium, sensed_end..end);
        }
    }

    /// Hearers that can decode the frame: their receivers may lock on it.
    #[inline(never)]
    fn decode<const ONE: bool, const SUMS: bool, const IDLE_TIMES: bool>(
        self,
        medium: &mut Medium,
        entries: Range<u32>,
    ) {
        let Self { at, frame } = self;
        let Medium { hearers, stations, kinds, frames, counted, .. } = medium;
        let stations = stations.as_mut_slice();
        let first = &kinds[0];
        let shared = Times::new(frame, first, false);
        let mut missed = None;
        for entry in hearers.entries(entries) {
            let hearer = *entry;
            let station = &mut stations[hearer.id.ix()];
            let kind = if ONE { first } else { &kinds[usize::from(station.radio.kind)] };
            let times = if ONE { shared } else { Times::new(frame, kind, false) };
            if station.radio.lock == NONE {
                if SUMS {
                    station.optional.power_sum += hearer.power;
                }
                let start = times.start + u64::from(hearer.delay);
                let idle = station.radio.busy_until <= start;
                make_busy::<IDLE_TIMES, false>(station, hearer, times);
                if detects(station, kind, hearer.power, start, idle) {
                    self.lock::<SUMS>(station, kind, hearer, times, 0, counted);
                } else if frame.receiver == hearer.id {
                    missed = Some(refusal(station, kind, hearer.power, start));
                }
            } else {
                // Interference against a frame that takes over the lock, where signals are compared one by one.
                let before = station.radio.worst.max(station.rx.lock_power);
                add_power::<SUMS>(station, kind.strongest, hearer, frame.number);
                make_busy::<IDLE_TIMES, false>(station, hearer, times);
                let refused =
                    self.contend_for_lock::<SUMS>(station, kind, entry, times, before, frames, counted);
                if frame.receiver == hearer.id {
                    missed = refused;
                }
            }
        }
        if let Some(loss) = missed {
            frames.get_mut(at).loss = loss;
        }
    }

    /// Hearers that sense the frame as energy.
    #[inline(never)]
    fn sense<const ONE: bool, const SUMS: bool, const IDLE_TIMES: bool, const EIFS: bool>(
        self,
        medium: &mut Medium,
        entries: Range<u32>,
    ) {
        let Self { frame, .. } = self;
        let Medium { hearers, stations, kinds, .. } = medium;
        let stations = stations.as_mut_slice();
        let first = &kinds[0];
        let (shared, strongest) = (Times::new(frame, first, EIFS), first.strongest);
        for &hearer in hearers.entries(entries) {
            let station = &mut stations[hearer.id.ix()];
            if ONE {
                add_power::<SUMS>(station, strongest, hearer, frame.number);
                make_busy::<IDLE_TIMES, EIFS>(station, hearer, shared);
            } else {
                let kind = &kinds[usize::from(station.radio.kind)];
                add_power::<SUMS>(station, kind.strongest, hearer, frame.number);
                if kind.timing.eifs_on_energy {
                    make_busy::<IDLE_TIMES, true>(station, hearer, Times::new(frame, kind, true));
                } else {
                    make_busy::<IDLE_TIMES, false>(station, hearer, Times::new(frame, kind, false));
                }
            }
        }
    }

    /// Hearers that do not sense the frame; its power is noise.
    #[inline(never)]
    fn add_noise<const SUMS: bool>(self, medium: &mut Medium, entries: Range<u32>) {
        let Medium { hearers, stations, kinds, .. } = medium;
        for &hearer in hearers.entries(entries) {
            let station = &mut stations[hearer.id];
            let kind = &kinds[usize::from(station.radio.kind)];
            add_power::<SUMS>(station, kind.strongest, hearer, self.frame.number);
        }
    }

    /// A preamble reaches a receiver that is locked on another frame: decides which frame keeps the lock.
    ///
    /// While the preamble of the locked frame is being detected, the stronger one wins; two that arrive at the same moment are compared by
    /// power alone, so the order in which they are handled does not matter. After the detection only `relock` can move the lock.
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "all of it is one hearer's side of one frame")]
    fn contend_for_lock<const SUMS: bool>(
        self,
        station: &mut Station,
        kind: &PhyKind,
        hearer: &Hearer,
        times: Times,
        before: u64,
        frames: &mut Frames,
        counted: &mut Table<StationIx, TransceiverCounters>,
    ) -> Option<Loss> {
        let frame = self.frame;
        let start = times.start + u64::from(hearer.delay);
        let Station { radio, rx, optional, .. } = station;
        let listening = start < rx.lock_start + kind.preamble_detection;
        let earlier = kind.preamble_detection == 0 && start < rx.lock_start;
        let wins = if listening {
            hearer.power > rx.lock_power
        } else {
            earlier || kind.relock.is_some_and(|ratio| exceeds(hearer.power, ratio, rx.lock_power))
        };
        let clear = earlier
            || kind.lock_on_energy
            || exceeds(hearer.power, kind.lock_sinr, optional.power_sum - hearer.power + kind.noise);
        if wins && clear {
            drop_lock(station, hearer.id, start, Loss::LockTaken(frame.number), frames);
            self.lock::<SUMS>(station, kind, *hearer, times, before, counted);
            return None;
        }
        let drowned = listening
            && !kind.lock_on_energy
            && !exceeds(rx.lock_power, kind.lock_sinr, optional.power_sum - rx.lock_power + kind.noise);
        if drowned {
            // Neither stands out from the other: nothing was received, so no EIFS follows.
            drop_lock(station, hearer.id, start, Loss::PreambleDrowned, frames);
            return Some(undetected(kind, hearer.power));
        }
        debug_assert_ne!(radio.lock, self.at);
        Some(Loss::LockedOn(frames.get(radio.lock).number))
    }

    /// Locks the receiver on a frame; `before` is the interference that is already present.
    #[inline(always)]
    fn lock<const SUMS: bool>(
        self,
        station: &mut Station,
        kind: &PhyKind,
        hearer: Hearer,
        times: Times,
        before: u64,
        counted: &mut Table<StationIx, TransceiverCounters>,
    ) {
        let Station { radio, rx, optional, .. } = station;
        let start = times.start + u64::from(hearer.delay);
        let end = times.end + u64::from(hearer.delay);
        radio.lock = self.at;
        rx.lock_start = start;
        // Earlier signals count by their sum, also where later signals are compared one by one.
        let strongest = !SUMS || kind.strongest && kind.lock_on_energy;
        radio.worst = if strongest { before } else { optional.power_sum - hearer.power };
        rx.lock_power = hearer.power;
        rx.worst_by = NO_NUMBER;
        if SUMS {
            // Only the per-chunk model reads these.
            optional.chunk_from = start;
            optional.log_success = 0.0;
        }
        rx.receive_from = start.max(rx.receive_until);
        extend(&mut rx.receive_until, &mut rx.receive, start, end);
        if radio.has(flag::NAV_PENDING) {
            confirm_nav(station, kind, self.frame, start, (counted, hearer.id));
        }
    }
}

/// Adds a signal's power to the sum; under a lock it is interference.
#[inline(always)]
fn add_power<const SUMS: bool>(station: &mut Station, strongest: bool, hearer: Hearer, number: u32) {
    let Station { radio, rx, optional, .. } = station;
    if SUMS {
        optional.power_sum += hearer.power;
    }
    if radio.lock != NONE {
        let level = if strongest { hearer.power } else { optional.power_sum - rx.lock_power };
        if level > radio.worst {
            radio.worst = level;
            rx.worst_by = number;
        }
    }
}

/// Makes the medium busy for a signal and freezes the back-off as for a frame that will be received. If it is not received, the pass at its
/// end adds the EIFS, unless energy alone starts one.
#[inline(always)]
fn make_busy<const IDLE_TIMES: bool, const EIFS: bool>(station: &mut Station, hearer: Hearer, times: Times) {
    let Station { radio, rx, optional, backoffs } = station;
    let delay = u64::from(hearer.delay);
    let (start, end) = (times.start + delay, times.end + delay);
    let longer = radio.make_busy::<IDLE_TIMES>(rx, optional, start, end);
    if EIFS {
        // No EIFS begins after the medium has become idle.
        radio.eifs_from = if longer { end } else { radio.eifs_from.max(end) };
    }
    radio.freeze(backoffs, times.seen + delay, times.resume + delay, times.slot);
}

/// True if a station is transmitting when a signal arrives.
#[inline(always)]
fn transmits(station: &Station, start: u64) -> bool {
    station.radio.has(flag::TRANSMITTING) && station.optional.transmit_until > start
}

/// True if a receiver that is not locked detects a preamble, and locks on its frame.
#[inline(always)]
fn detects(station: &Station, kind: &PhyKind, power: u64, start: u64, idle: bool) -> bool {
    let clear = if kind.lock_on_energy {
        idle
    } else {
        exceeds(power, kind.lock_sinr, station.optional.power_sum - power + kind.noise)
    };
    clear && !transmits(station, start)
}

/// The reason why a receiver that is not locked does not lock on a frame.
#[cold]
fn refusal(station: &Station, kind: &PhyKind, power: u64, start: u64) -> Loss {
    if transmits(station, start) { Loss::Transmitting } else { undetected(kind, power) }
}

/// The reason why a preamble is not detected: noise, if it would not stand out from noise alone.
#[cold]
fn undetected(kind: &PhyKind, power: u64) -> Loss {
    let stands_out = kind.lock_on_energy || exceeds(power, kind.lock_sinr, kind.noise);
    if stands_out { Loss::PreambleDrowned } else { Loss::PreambleInNoise }
}

/// A reception has started under a NAV that was set by an RTS: if that was in time the NAV is final, and counted.
#[cold]
#[inline(never)]
fn confirm_nav(
    station: &mut Station,
    kind: &PhyKind,
    frame: &Frame,
    start: u64,
    (counted, id): (&mut Table<StationIx, TransceiverCounters>, StationIx),
) {
    let Station { radio, rx, optional, .. } = station;
    // A reception follows the RTS in time: the NAV covers the whole exchange (802.11-2016 10.3.2.4). The pass at this frame's end counts
    // slots from it.
    radio.clear(flag::NAV_PENDING);
    let in_time =
        start + kind.format.header(frame.mode) <= optional.nav_check && optional.nav_full > radio.nav_until;
    if in_time {
        rx.reserve(radio.busy_until, &mut radio.nav_until, start, optional.nav_full);
        // Also if this reception is lost before its end: a back-off that this signal has frozen waits for the NAV.
        let resume = optional.nav_full + kind.timing.difs;
        if radio.deadline >= start + kind.timing.sensing_delay && radio.count_from < resume {
            radio.count_from = resume;
            radio.deadline = resume + u64::from(radio.slots) * kind.timing.slot;
        }
        counted[id].nav_extended += 1;
    }
}

/// Ends a reception before its frame ends.
pub(crate) fn drop_lock(station: &mut Station, id: StationIx, now: u64, loss: Loss, frames: &mut Frames) {
    let Station { radio, rx, .. } = station;
    let locked = frames.get_mut(radio.lock);
    if locked.receiver == id {
        locked.loss = loss;
    }
    radio.lock = NONE;
    // The rest of that frame is energy, not reception.
    let end = rx.lock_start + locked.duration();
    let from = now.max(rx.receive_from);
    if rx.receive_until == end && end > from {
        rx.receive -= end - from;
        rx.receive_until = from;
    }
}

/// The properties of a frame that the pass at its end needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameEnd {
    at: FrameIx,
    pub receiver: StationIx,
    end: u64,
    /// Duration field, ns.
    nav: u64,
    rts: bool,
    /// See [`Frame::watchers`].
    watchers: u8,
}

impl FrameEnd {
    #[inline(always)]
    pub(crate) fn new(at: FrameIx, frame: &Frame) -> Self {
        Self {
            at,
            receiver: frame.receiver,
            end: frame.end,
            nav: u64::from(frame.nav_us) * 1000,
            rts: frame.kind == FrameKind::Rts,
            watchers: frame.watchers,
        }
    }

    /// Handles the end of the frame at a bystander. Returns false if the hearer is none, and needs [`super::Medium::judge`]. `kind`: the
    /// constants of a station; `nav_reset_more`: see [`PhyKind::nav_reset_more`].
    #[inline(always)]
    pub(crate) fn end_at_bystander<'a>(
        self,
        hearer: Hearer,
        stations: &mut [Station],
        kind: impl Fn(&Station) -> &'a PhyKind,
        nav_reset_more: i64,
    ) -> bool {
        let station = &mut stations[hearer.id.ix()];
        if self.receiver == hearer.id {
            return false;
        }
        if station.radio.lock != self.at {
            return true;
        }
        let kind = kind(station);
        let simple = station.radio.worst < hearer.bound
            && self.receiver != BROADCAST
            && station.radio.flags & self.watchers == 0
            && (station.radio.eifs_from == 0
                || kind.timing.eifs_as_nav
                || station.radio.eifs_from + kind.timing.eifs <= self.end + kind.timing.difs);
        if !simple {
            return false;
        }
        station.radio.lock = NONE;
        let end = self.end + u64::from(hearer.delay);
        self.reserve(station, kind, end, nav_reset_more);
        // The pass at the start has scheduled the count for a DIFS after this frame; only the duration field can move it later.
        let Station { radio, .. } = station;
        let resume = radio.nav_until + kind.timing.difs;
        if radio.deadline > end && radio.count_from < resume {
            radio.count_from = resume;
            radio.deadline = resume + u64::from(radio.slots) * kind.timing.slot;
        }
        true
    }

    /// A frame for another station was received: sets the NAV by its duration field.
    #[inline(always)]
    pub(crate) fn reserve(self, station: &mut Station, kind: &PhyKind, end: u64, nav_reset_more: i64) {
        let Station { radio, rx, optional, .. } = station;
        let full = end + self.nav;
        if full <= radio.nav_until {
            return;
        }
        if self.rts && kind.nav_reset {
            let check = end + kind.nav_reset_after.saturating_add_signed(nav_reset_more);
            if check < full {
                optional.nav_full = full;
                optional.nav_check = check;
                radio.set(flag::NAV_PENDING);
            }
            rx.reserve(radio.busy_until, &mut radio.nav_until, end, check.min(full));
        } else {
            radio.clear(flag::NAV_PENDING);
            rx.reserve(radio.busy_until, &mut radio.nav_until, end, full);
        }
    }
}

/// Per-chunk error model: a signal starts or ends at its sender at `at`, which changes the SINR of other frames.
#[inline(never)]
pub(crate) fn close_chunks(
    list: &[Hearer],
    stations: &mut [Station],
    frames: &Frames,
    kinds: &[PhyKind],
    successes: &mut SuccessCache,
    at: u64,
) {
    for hearer in list {
        let station = &mut stations[hearer.id.ix()];
        close_chunk(station, frames, kinds, successes, at + u64::from(hearer.delay));
    }
}

/// Closes a chunk of the locked frame: its SINR changes at `now`, or the frame ends.
#[inline]
fn close_chunk(
    station: &mut Station,
    frames: &Frames,
    kinds: &[PhyKind],
    successes: &mut SuccessCache,
    now: u64,
) {
    let Station { radio, rx, optional, .. } = station;
    if radio.lock == NONE {
        return;
    }
    let frame = frames.get(radio.lock);
    let until = now.min(rx.lock_start + frame.duration());
    // A frame that is lost for certain stays so, whatever its other chunks are.
    if until <= optional.chunk_from || optional.log_success < LN_LEAST {
        return;
    }
    let noise = optional.power_sum - rx.lock_power + kinds[usize::from(radio.kind)].noise;
    let sinr = rx.lock_power as f64 / noise as f64;
    let ln_bit_right = successes.ln_bit_right(frame.mode, sinr);
    // In most chunks the error probability is zero.
    if ln_bit_right < 0.0 {
        let share = (until - optional.chunk_from) as f64 / frame.duration() as f64;
        optional.log_success += f64::from(frame.bytes) * 8.0 * share * ln_bit_right;
    }
    optional.chunk_from = until;
}
