//! The medium: one pass over the hearers when a frame starts, one when it ends.
//!
//! Durations are known at the start, so the first pass writes when the medium will be idle again at each hearer and moves
//! its back-off; nothing happens when the medium gets idle. The second pass takes the power away and judges the receptions.

use airfair_units::math;

use super::frame::{BROADCAST, Frame, FrameKind, Frames, Loss, NONE, Signal};
use super::hearers::{Band, Hearer};
use super::kind::{Kind, exceeds};
use super::radio::{NO_DEADLINE, Station, extend, flag};
use super::{Air, Needs, StationCounters, Upper, class, error, kinds};
use crate::engine::Agenda;
use crate::measure::trace::Record;
use crate::spec::ErrorModel;

impl Air {
    /// Puts a frame on the air now.
    pub(super) fn transmit(&mut self, frame: &Frame, agenda: &mut Agenda) {
        let sender = frame.sender;
        let s = sender as usize;
        let bands = self.hearers.bands_of(sender);
        let (start, end) = (frame.start, frame.end);
        let at = self.frames.add(frame, 1 + bands.len() as u32);
        self.counters[s].sent[frame.kind as usize] += 1;

        let station = &mut self.stations[s];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        // Half duplex: a reception that goes on is lost.
        if station.radio.lock != NONE {
            // A frame that has not arrived yet finds the station transmitting.
            let ahead = station.radio.lock_start >= start;
            let loss = if ahead { Loss::Transmitting } else { Loss::LockAborted };
            drop_lock(station, sender, start, loss, &mut self.frames);
        }
        let Station { radio, clock, slow } = station;
        radio.set(flag::TRANSMITTING);
        extend(&mut clock.transmit_until, &mut slow.transmit, start, end);
        extend(&mut clock.receive_until, &mut clock.receive, start, end);
        clock.make_busy::<true>(&mut radio.busy_until, radio.nav_until, start, end);
        radio.freeze(start, end + kind.difs, kind.slot);

        if self.recorder.is_some() {
            let view = self.view(self.frames.get(at));
            self.record(start, Record::Start { frame: view });
        }
        agenda.push(end, self.order(class::FRAME_END, sender), kinds::FRAME_END, sender, at, 0);
        for band in bands {
            let offset = u64::from(self.hearers.bands[band].offset);
            if offset == 0 {
                self.band_start(at, band);
            } else {
                let order = self.order(class::BAND_START, sender);
                agenda.push(start + offset, order, kinds::BAND_START, sender, at, band as u32);
                let order = self.order(class::BAND_END, sender);
                agenda.push(end + offset, order, kinds::BAND_END, sender, at, band as u32);
            }
        }
    }

    /// The pass at a frame's start over one band of hearers: decodable ones, those that sense, those for whom it is noise.
    pub(super) fn band_start(&mut self, at: u32, band: usize) {
        let Self { stations, hearers, kinds, frames, counters, per_chunk, .. } = self;
        let Needs { sums, idle_times } = self.needs;
        let band = hearers.bands[band];
        let pass = StartPass {
            at,
            frame: frames.get(at).signal(),
            list: &hearers.list,
            band,
            per_chunk: *per_chunk,
        };
        // Mostly there is one kind of radio: then it is not looked up for every hearer. Nor is anything kept up that no
        // rule of the run asks for.
        match (kinds.as_slice(), sums, idle_times) {
            ([one], true, true) => pass.run::<true, true>(stations, frames, counters, |_| one),
            ([one], true, false) => pass.run::<true, false>(stations, frames, counters, |_| one),
            ([one], false, true) => pass.run::<false, true>(stations, frames, counters, |_| one),
            ([one], false, false) => pass.run::<false, false>(stations, frames, counters, |_| one),
            (many, ..) => {
                pass.run::<true, true>(stations, frames, counters, |s| &many[usize::from(s.radio.kind)]);
            }
        }
    }

    /// The sender's last bit has left.
    pub(super) fn frame_end<U: Upper>(&mut self, at: u32, agenda: &mut Agenda, upper: &mut U) {
        let frame = *self.frames.get(at);
        self.stations[frame.sender as usize].radio.clear(flag::TRANSMITTING);
        let bands = self.hearers.bands_of(frame.sender);
        if bands.start < bands.end && self.hearers.bands[bands.start].offset == 0 {
            self.band_end(at, bands.start, agenda, upper);
        }
        self.sent(&frame, agenda, upper);
        self.pass_done(at, false);
    }

    /// The pass at a frame's end over one band of hearers.
    pub(super) fn band_end<U: Upper>(&mut self, at: u32, band: usize, agenda: &mut Agenda, upper: &mut U) {
        let band = self.hearers.bands[band];
        let frame = *self.frames.get(at);
        // First all powers, then all receptions: what one station does upon a reception must not meet old power sums.
        if self.per_chunk {
            let Self { stations, hearers, kinds, frames, .. } = self;
            for hearer in &hearers.list[band.first as usize..band.end as usize] {
                let station = &mut stations[hearer.id as usize];
                let kind = &kinds[usize::from(station.radio.kind)];
                close_chunk(station, frames, kind, frame.end + u64::from(hearer.delay));
            }
        }
        if self.needs.sums {
            for hearer in &self.hearers.list[band.first as usize..band.end as usize] {
                self.stations[hearer.id as usize].radio.power_sum -= hearer.power;
            }
        }
        let mut met = false;
        let mut entry = band.first;
        while entry < band.decodable_end {
            // Bystanders that receive a frame well need nobody's help; the others are called one by one.
            let Self { stations, hearers, kinds, .. } = self;
            let left = &hearers.list[entry as usize..band.decodable_end as usize];
            let Some(skip) = left.iter().position(|h| !bystander(h, at, &frame, stations, kinds)) else {
                break;
            };
            let hearer = left[skip];
            entry += skip as u32;
            let mine = frame.receiver == hearer.id;
            met |= mine;
            if self.stations[hearer.id as usize].radio.lock == at {
                self.judge(entry, &hearer, &frame, agenda, upper);
            } else if mine {
                self.lost(&frame, hearer.id, self.frames.get(at).loss);
            }
            entry += 1;
        }
        self.pass_done(at, met);
    }

    /// One of the passes at a frame's end is done; `met`: its receiver was among the decodable hearers of the band.
    #[inline(always)]
    fn pass_done(&mut self, at: u32, met: bool) {
        let frame = self.frames.get_mut(at);
        frame.met |= met;
        frame.passes_left -= 1;
        if frame.passes_left == 0 {
            self.last_pass_done(at);
        }
    }

    #[inline]
    fn last_pass_done(&mut self, at: u32) {
        let frame = self.frames.get(at);
        if !frame.met && frame.receiver != BROADCAST && frame.receiver != frame.sender {
            let frame = *frame;
            self.lost(&frame, frame.receiver, Loss::OutOfReach);
        }
        self.frames.free(at);
    }

    #[cold]
    #[inline(never)]
    fn lost(&mut self, frame: &Frame, station: u32, loss: Loss) {
        self.counters[station as usize].lost[loss.index()] += 1;
        if self.recorder.is_some() {
            let view = self.view(frame);
            self.record(frame.end, Record::Lost { frame: view, at: station, loss });
        }
    }

    /// The locked frame has ended: was it received?
    #[inline]
    fn judge<U: Upper>(
        &mut self,
        entry: u32,
        hearer: &Hearer,
        frame: &Frame,
        agenda: &mut Agenda,
        upper: &mut U,
    ) {
        let h = hearer.id as usize;
        let end = frame.end + u64::from(hearer.delay);
        let loss = self.verdict(hearer, frame);
        let station = &mut self.stations[h];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        station.radio.lock = NONE;
        let own = frame.receiver == hearer.id;
        if let Some(loss) = loss {
            if own || frame.receiver == BROADCAST {
                self.lost(frame, hearer.id, loss);
            }
            self.reception_failed(hearer.id, end, agenda, upper);
            return;
        }
        // A good frame ends an EIFS that has begun before it ended.
        if station.clock.eifs_from <= end && !kind.eifs_as_nav {
            station.clock.eifs_from = 0;
        }
        if own || frame.receiver == BROADCAST {
            self.counters[h].received[frame.kind as usize] += 1;
            station.slow.receive_own += frame.end - frame.start;
            let counting = station.radio.deadline != NO_DEADLINE;
            if self.recorder.is_some() {
                let view = self.view(frame);
                self.record(end, Record::Received { frame: view, at: hearer.id });
            }
            if counting {
                self.recount(hearer.id, agenda);
            }
            self.receive(entry, hearer.id, frame, end, agenda, upper);
            return;
        }
        reserve(station, kind, frame, end);
        let flags = station.radio.flags;
        if station.radio.deadline != NO_DEADLINE {
            self.recount(hearer.id, agenda);
        }
        if flags & (flag::AWAIT_END | flag::OVERHEARS) != 0 {
            if flags & flag::AWAIT_END != 0 {
                self.no_response(hearer.id, agenda, upper);
            }
            if flags & flag::OVERHEARS != 0 && frame.kind == FrameKind::Data {
                upper.overheard(hearer.id, frame.packet, frame.sender, end);
            }
        }
    }

    /// Why a locked frame fails, or none if it is received.
    #[inline]
    fn verdict(&mut self, hearer: &Hearer, frame: &Frame) -> Option<Loss> {
        let h = hearer.id as usize;
        let station = &self.stations[h];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        let by = Some(station.slow.worst_by).filter(|&n| n != NONE);
        let log_success = match kind.error_model {
            ErrorModel::Threshold => {
                let weak = hearer.power < kind.sensitivity;
                let loss = if weak { Loss::TooWeak } else { Loss::Interference(by) };
                return (!received(station, kind, hearer)).then_some(loss);
            }
            ErrorModel::PerChunk => station.slow.log_success,
            ErrorModel::WorstSinr => {
                let noise = interference(station, kind, hearer) + kind.noise;
                error::log_success(
                    frame.mode,
                    hearer.power as f64 / noise as f64,
                    f64::from(frame.bytes) * 8.0,
                )
            }
        };
        let alone = interference(station, kind, hearer) == 0;
        let received = self.reception[h].uniform() < math::exp(log_success);
        (!received).then_some(if alone { Loss::Noise } else { Loss::Interference(by) })
    }

    /// A reception that began has failed: EIFS.
    fn reception_failed<U: Upper>(&mut self, station: u32, end: u64, agenda: &mut Agenda, upper: &mut U) {
        let st = &mut self.stations[station as usize];
        if self.kinds[usize::from(st.radio.kind)].has_eifs {
            st.clock.eifs_from = st.clock.eifs_from.max(end);
        }
        let waits = st.radio.has(flag::AWAIT_END);
        if st.radio.deadline != NO_DEADLINE {
            self.recount(station, agenda);
        }
        if waits {
            self.no_response(station, agenda, upper);
        }
    }
}

/// The pass over a band's hearers at a frame's start.
struct StartPass<'a> {
    at: u32,
    frame: Signal,
    list: &'a [Hearer],
    band: Band,
    per_chunk: bool,
}

impl StartPass<'_> {
    #[inline(always)]
    fn run<'k, const SUMS: bool, const IDLE_TIMES: bool>(
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
            add_power::<SUMS>(station, kind, hearer, frame.number);
            make_busy::<IDLE_TIMES>(station, kind, hearer, frame, false);
            let locked = if station.radio.lock == NONE {
                may_lock(station, kind, hearer, start, idle)
            } else {
                contest(station, kind, hearer, at, frame, frames)
            };
            match locked {
                Ok(()) => {
                    if lock(station, kind, hearer, at, frame) {
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
fn lock(station: &mut Station, kind: &Kind, hearer: &Hearer, at: u32, frame: &Signal) -> bool {
    let Station { radio, clock, slow } = station;
    let start = frame.start + u64::from(hearer.delay);
    let end = frame.end + u64::from(hearer.delay);
    radio.lock = at;
    radio.lock_start = start;
    // What was there before counts by its sum, also where later signals are compared one by one.
    radio.worst = match (kind.strongest, kind.lock_on_energy) {
        (true, true) => 0,
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
    }
    in_time
}

/// A reception ends before its frame does.
fn drop_lock(station: &mut Station, id: u32, now: u64, loss: Loss, frames: &mut Frames) {
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
fn interference(station: &Station, kind: &Kind, hearer: &Hearer) -> u64 {
    let worst = station.radio.worst;
    if kind.strongest { worst } else { worst - hearer.power }
}

/// Whether the locked frame is received under [`ErrorModel::Threshold`].
#[inline(always)]
fn received(station: &Station, kind: &Kind, hearer: &Hearer) -> bool {
    hearer.power >= kind.sensitivity
        && exceeds(hearer.power, kind.capture, interference(station, kind, hearer) + kind.noise)
}

/// The end of a frame at a hearer that has nothing to do with it: true if that is all there was to do.
#[inline(always)]
fn bystander(hearer: &Hearer, at: u32, frame: &Frame, stations: &mut [Station], kinds: &[Kind]) -> bool {
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
fn reserve(station: &mut Station, kind: &Kind, frame: &Frame, end: u64) {
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
fn close_chunk(station: &mut Station, frames: &Frames, kind: &Kind, now: u64) {
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
