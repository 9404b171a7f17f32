//! One hearer's side of a frame: power, carrier sense, lock, interference, NAV. No function here knows other stations.

use super::StationCounters;
use super::error;
use super::frame::{BROADCAST, Frame, FrameKind, Frames, Loss, NONE, Signal};
use super::hearers::{Band, Hearer};
use super::kind::{Kind, exceeds};
use super::radio::{Station, extend, flag};
use crate::spec::ErrorModel;

/// The pass over a band's hearers at a frame's start.
pub(super) struct StartPass<'a> {
    pub at: u32,
    pub frame: Signal,
    pub list: &'a [Hearer],
    pub band: Band,
    pub per_chunk: bool,
}

impl StartPass<'_> {
    #[inline(always)]
    pub(super) fn run<'k, const SUMS: bool, const IDLE_TIMES: bool>(
        &self,
        stations: &mut [Station],
        frames: &mut Frames,
        counters: &mut [StationCounters],
        kind_of: impl Fn(&Station) -> &'k Kind,
    ) {
        let (at, frame, band) = (self.at, &self.frame, &self.band);
        let list = &self.list[band.first as usize..band.end as usize];
        let (decodable, rest) = list.split_at((band.decodable_end - band.first) as usize);
        let (sensed, noise) = rest.split_at((band.sensed_end - band.decodable_end) as usize);
        if self.per_chunk {
            for hearer in list {
                let station = &mut stations[hearer.id as usize];
                let kind = kind_of(station);
                close_chunk(station, frames, kind, frame.start + u64::from(hearer.delay));
            }
        }
        for hearer in decodable {
            let station = &mut stations[hearer.id as usize];
            let kind = kind_of(station);
            let start = frame.start + u64::from(hearer.delay);
            let idle = station.radio.busy_until <= start;
            let worst_so_far = station.radio.worst;
            add_power::<SUMS>(station, kind, hearer, frame.number);
            make_busy::<IDLE_TIMES>(station, kind, hearer, frame, false);
            // What a frame that takes the receiver away from another has against it, where signals are compared one by one.
            let mut before = 0;
            let locked = if station.radio.lock == NONE {
                may_lock(station, kind, hearer, start, idle)
            } else {
                before = worst_so_far.max(station.slow.lock_power);
                contest(station, kind, hearer, at, frame, frames)
            };
            match locked {
                Ok(()) => {
                    if lock(station, kind, hearer, at, frame, before) {
                        counters[hearer.id as usize].nav_extended += 1;
                    }
                }
                Err(loss) if frame.receiver == hearer.id => frames.get_mut(at).loss = loss,
                Err(_) => {}
            }
        }
        for hearer in sensed {
            let station = &mut stations[hearer.id as usize];
            let kind = kind_of(station);
            add_power::<SUMS>(station, kind, hearer, frame.number);
            make_busy::<IDLE_TIMES>(station, kind, hearer, frame, kind.eifs_on_energy);
        }
        for hearer in noise {
            let station = &mut stations[hearer.id as usize];
            let kind = kind_of(station);
            add_power::<SUMS>(station, kind, hearer, frame.number);
        }
    }
}

/// A signal's power joins the sum; under a lock it is interference.
#[inline(always)]
fn add_power<const SUMS: bool>(station: &mut Station, kind: &Kind, hearer: &Hearer, number: u32) {
    let radio = &mut station.radio;
    if SUMS {
        radio.power_sum += hearer.power;
    }
    if radio.lock != NONE {
        let level = if kind.strongest { hearer.power } else { radio.power_sum };
        if level > radio.worst {
            radio.worst = level;
            station.slow.worst_by = number;
        }
    }
}

/// A signal makes the medium busy and freezes the back-off, as if it will be received; if it is not, the pass at its end
/// adds the EIFS, unless energy alone starts one (`eifs`).
#[inline(always)]
fn make_busy<const IDLE_TIMES: bool>(
    station: &mut Station,
    kind: &Kind,
    hearer: &Hearer,
    frame: &Signal,
    eifs: bool,
) {
    let Station { radio, clock, .. } = station;
    let start = frame.start + u64::from(hearer.delay);
    let end = frame.end + u64::from(hearer.delay);
    clock.make_busy::<IDLE_TIMES>(&mut radio.busy_until, radio.nav_until, start, end);
    let mut resume = end + kind.difs;
    if eifs {
        clock.eifs_from = clock.eifs_from.max(end);
        resume = end + kind.eifs;
    }
    radio.freeze(start + kind.sensing_delay, resume, kind.slot);
}

/// A preamble reaches a receiver that is not locked: does it lock?
#[inline(always)]
fn may_lock(station: &Station, kind: &Kind, hearer: &Hearer, start: u64, idle: bool) -> Result<(), Loss> {
    let radio = &station.radio;
    if radio.has(flag::TRANSMITTING) && station.clock.transmit_until > start {
        return Err(Loss::Transmitting);
    }
    if kind.lock_on_energy {
        return if idle { Ok(()) } else { Err(Loss::PreambleDrowned) };
    }
    let others = radio.power_sum - hearer.power + kind.noise;
    if exceeds(hearer.power, kind.lock_sinr, others) { Ok(()) } else { Err(Loss::PreambleDrowned) }
}

/// A preamble reaches a receiver that is locked on another frame: does it take the receiver away?
///
/// While the locked preamble is still listened to, the stronger one wins; two that arrive in the same moment are told apart by
/// power alone, so it does not matter which one was handled first. Later only `relock` takes over.
#[inline]
fn contest(
    station: &mut Station,
    kind: &Kind,
    hearer: &Hearer,
    at: u32,
    frame: &Signal,
    frames: &mut Frames,
) -> Result<(), Loss> {
    let start = frame.start + u64::from(hearer.delay);
    let Station { radio, slow, .. } = station;
    let listening = start < radio.lock_start + kind.preamble_detection;
    let earlier = kind.preamble_detection == 0 && start < radio.lock_start;
    let wins = if listening {
        hearer.power > slow.lock_power
    } else {
        earlier || kind.relock.is_some_and(|ratio| exceeds(hearer.power, ratio, slow.lock_power))
    };
    let clear = earlier
        || kind.lock_on_energy
        || exceeds(hearer.power, kind.lock_sinr, radio.power_sum - hearer.power + kind.noise);
    if wins && clear {
        drop_lock(station, hearer.id, start, Loss::LockTaken(frame.number), frames);
        return Ok(());
    }
    let drowned = listening
        && !kind.lock_on_energy
        && !exceeds(slow.lock_power, kind.lock_sinr, radio.power_sum - slow.lock_power + kind.noise);
    if drowned {
        // Neither stands out: nothing was received, so no EIFS follows.
        drop_lock(station, hearer.id, start, Loss::PreambleDrowned, frames);
        return Err(Loss::PreambleDrowned);
    }
    debug_assert_ne!(radio.lock, at);
    Err(Loss::LockedOn(frames.get(radio.lock).number))
}

/// The receiver locks. Returns whether that made a NAV last that an RTS had set.
#[inline(always)]
fn lock(station: &mut Station, kind: &Kind, hearer: &Hearer, at: u32, frame: &Signal, before: u64) -> bool {
    let Station { radio, clock, slow } = station;
    let start = frame.start + u64::from(hearer.delay);
    let end = frame.end + u64::from(hearer.delay);
    radio.lock = at;
    radio.lock_start = start;
    // What was there before counts by its sum, also where later signals are compared one by one.
    radio.worst = match (kind.strongest, kind.lock_on_energy) {
        (true, true) => before,
        (true, false) => radio.power_sum - hearer.power,
        (false, _) => radio.power_sum,
    };
    slow.lock_power = hearer.power;
    slow.lock_end = end;
    slow.worst_by = NONE;
    slow.chunk_from = start;
    slow.log_success = 0.0;
    slow.receive_from = start.max(clock.receive_until);
    extend(&mut clock.receive_until, &mut clock.receive, start, end);
    if !radio.has(flag::NAV_PENDING) {
        return false;
    }
    // A reception follows the RTS in time: the NAV holds for the whole exchange (802.11-2016 10.3.2.4). The pass at this
    // frame's end counts from it.
    radio.clear(flag::NAV_PENDING);
    let in_time = start + kind.phy_start(frame.mode) <= slow.nav_check && slow.nav_full > radio.nav_until;
    if in_time {
        clock.reserve(radio.busy_until, &mut radio.nav_until, start, slow.nav_full);
        // Also if this reception is lost before its end: a back-off that this signal has frozen waits for the NAV.
        let resume = slow.nav_full + kind.difs;
        if radio.deadline >= start + kind.sensing_delay && radio.count_from < resume {
            radio.count_from = resume;
            radio.deadline = resume + u64::from(radio.slots) * kind.slot;
        }
    }
    in_time
}

/// A reception ends before its frame does.
pub(super) fn drop_lock(station: &mut Station, id: u32, now: u64, loss: Loss, frames: &mut Frames) {
    let Station { radio, clock, slow } = station;
    let locked = frames.get_mut(radio.lock);
    if locked.receiver == id {
        locked.loss = loss;
    }
    radio.lock = NONE;
    // From now on the rest of that frame is energy, not reception.
    let end = slow.lock_end;
    let from = now.max(slow.receive_from);
    if clock.receive_until == end && end > from {
        clock.receive -= end - from;
        clock.receive_until = from;
    }
}

/// Interference that the locked frame met at its worst.
#[inline(always)]
pub(super) fn interference(station: &Station, kind: &Kind, hearer: &Hearer) -> u64 {
    let worst = station.radio.worst;
    if kind.strongest { worst } else { worst - hearer.power }
}

/// Whether the locked frame is received under [`ErrorModel::Threshold`].
#[inline(always)]
pub(super) fn received(station: &Station, kind: &Kind, hearer: &Hearer) -> bool {
    hearer.power >= kind.sensitivity
        && exceeds(hearer.power, kind.capture, interference(station, kind, hearer) + kind.noise)
}

/// The end of a frame at a hearer that has nothing to do with it: true if that is all there was to do.
#[inline(always)]
pub(super) fn bystander(
    hearer: &Hearer,
    at: u32,
    frame: &Frame,
    stations: &mut [Station],
    kinds: &[Kind],
) -> bool {
    let station = &mut stations[hearer.id as usize];
    if frame.receiver == hearer.id {
        return false;
    }
    if station.radio.lock != at {
        return true;
    }
    let kind = &kinds[usize::from(station.radio.kind)];
    let simple = kind.error_model == ErrorModel::Threshold
        && frame.receiver != BROADCAST
        && station.radio.flags & (flag::AWAIT_END | flag::OVERHEARS) == 0
        && (station.clock.eifs_from == 0
            || kind.eifs_as_nav
            || station.clock.eifs_from + kind.eifs <= frame.end + kind.difs)
        && received(station, kind, hearer);
    if !simple {
        return false;
    }
    station.radio.lock = NONE;
    let end = frame.end + u64::from(hearer.delay);
    reserve(station, kind, frame, end);
    // The pass at the start has counted on DIFS after this frame; only its duration field can make it later.
    let Station { radio, .. } = station;
    let resume = radio.nav_until + kind.difs;
    if radio.deadline > end && radio.count_from < resume {
        radio.count_from = resume;
        radio.deadline = resume + u64::from(radio.slots) * kind.slot;
    }
    true
}

/// A frame for another station was received: its duration field reserves the medium.
#[inline(always)]
pub(super) fn reserve(station: &mut Station, kind: &Kind, frame: &Frame, end: u64) {
    let Station { radio, clock, slow } = station;
    let full = end + u64::from(frame.nav_us) * 1000;
    if full <= radio.nav_until {
        return;
    }
    let mut until = full;
    if frame.kind == FrameKind::Rts && kind.nav_reset {
        let check = end + kind.nav_reset_after;
        if check < full {
            slow.nav_full = full;
            slow.nav_check = check;
            radio.set(flag::NAV_PENDING);
            until = check;
        }
    } else {
        radio.clear(flag::NAV_PENDING);
    }
    clock.reserve(radio.busy_until, &mut radio.nav_until, end, until);
}

/// Per-chunk error model: the SINR of the locked frame changes at `now`, or it ends.
pub(super) fn close_chunk(station: &mut Station, frames: &Frames, kind: &Kind, now: u64) {
    let Station { radio, slow, .. } = station;
    if radio.lock == NONE {
        return;
    }
    let frame = frames.get(radio.lock);
    let until = now.min(slow.lock_end);
    if until <= slow.chunk_from {
        return;
    }
    let noise = radio.power_sum - slow.lock_power + kind.noise;
    let sinr = slow.lock_power as f64 / noise as f64;
    let share = (until - slow.chunk_from) as f64 / (frame.end - frame.start) as f64;
    slow.log_success += error::log_success(frame.mode, sinr, f64::from(frame.bytes) * 8.0 * share);
    slow.chunk_from = until;
}
