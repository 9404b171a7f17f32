//! The medium: one pass over the hearers when a frame starts, one when it ends.
//!
//! Durations are known at the start, so the first pass writes when the medium will be idle again at each hearer and moves
//! its back-off; nothing happens when the medium gets idle. The second pass takes the power away and judges the receptions.

use airfair_units::math;

use super::frame::{BROADCAST, Frame, FrameKind, Loss, NONE};
use super::hearers::Hearer;
use super::kind::exceeds;
use super::radio::{NEVER, extend, flag};
use super::{Air, Upper, class, error, kinds};
use crate::engine::Agenda;
use crate::measure::trace::Record;
use crate::spec::ErrorModel;

/// How loud a hearer finds a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Decodable,
    Sensed,
    Noise,
}

impl Air {
    /// Puts a frame on the air now.
    pub(super) fn transmit(&mut self, mut frame: Frame, agenda: &mut Agenda) {
        let sender = frame.sender;
        let s = sender as usize;
        let bands = self.hearers.bands_of(sender);
        frame.passes_left = 1 + bands.len() as u8;
        frame.number = self.frames.count;
        frame.loss = Loss::OutOfReach;
        let (start, end) = (frame.start, frame.end);
        let at = self.frames.add(frame);
        self.counters[s].sent[frame.kind as usize] += 1;

        // Half duplex: a reception that goes on is lost.
        if self.radios[s].lock != NONE {
            self.drop_lock(s, start, Loss::LockAborted);
        }
        let kind = &self.kinds[self.kind_of[s] as usize];
        let (slot, difs) = (kind.slot, kind.difs);
        let radio = &mut self.radios[s];
        let clock = &mut self.clocks[s];
        radio.set(flag::TRANSMITTING);
        extend(&mut clock.transmit_until, &mut clock.transmit, start, end);
        extend(&mut clock.receive_until, &mut clock.receive, start, end);
        clock.busy(&mut radio.busy_until, start, end);
        radio.freeze(start, end + difs, slot);

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

    /// The pass at a frame's start over one band of hearers.
    pub(super) fn band_start(&mut self, at: u32, band: usize) {
        let band = self.hearers.bands[band];
        let frame = *self.frames.get(at);
        for entry in band.first..band.decodable_end {
            self.arrive(Heard::Decodable, entry, at, &frame);
        }
        for entry in band.decodable_end..band.sensed_end {
            self.arrive(Heard::Sensed, entry, at, &frame);
        }
        for entry in band.sensed_end..band.end {
            self.arrive(Heard::Noise, entry, at, &frame);
        }
    }

    /// A frame's first bit reaches a hearer.
    #[inline(always)]
    fn arrive(&mut self, heard: Heard, entry: u32, at: u32, frame: &Frame) {
        let hearer = self.hearers.list[entry as usize];
        let h = hearer.id as usize;
        let start = frame.start + u64::from(hearer.delay);
        let end = frame.end + u64::from(hearer.delay);
        if self.per_chunk {
            self.close_chunk(h, start);
        }
        let radio = &mut self.radios[h];
        let kind = &self.kinds[self.kind_of[h] as usize];
        radio.power_sum += hearer.power;
        if radio.lock != NONE {
            let level = if kind.strongest { hearer.power } else { radio.power_sum };
            if level > radio.worst {
                radio.worst = level;
                self.slows[h].worst_by = frame.number;
            }
        }
        if heard == Heard::Noise {
            return;
        }
        self.clocks[h].busy(&mut radio.busy_until, start, end);
        // As if the frame will be received; if it is not, the pass at its end adds the EIFS.
        let resume = if heard == Heard::Sensed && kind.eifs_on_energy {
            let slow = &mut self.slows[h];
            slow.eifs_from = slow.eifs_from.max(end);
            end + kind.eifs
        } else {
            end + kind.difs
        };
        radio.freeze(start + kind.sensing_delay, resume, kind.slot);
        if heard == Heard::Decodable || kind.lock_on_energy {
            self.try_lock(heard, &hearer, at, frame, start, end);
        }
    }

    /// A preamble reaches a receiver: does it lock?
    #[inline]
    fn try_lock(&mut self, heard: Heard, hearer: &Hearer, at: u32, frame: &Frame, start: u64, end: u64) {
        let h = hearer.id as usize;
        let radio = &mut self.radios[h];
        let kind = &self.kinds[self.kind_of[h] as usize];
        let slow = &mut self.slows[h];
        let mine = frame.receiver == hearer.id;
        if radio.flags & flag::TRANSMITTING != 0 && self.clocks[h].transmit_until > start {
            if mine {
                self.frames.get_mut(at).loss = Loss::Transmitting;
            }
            return;
        }
        // What is on the air here beside this frame.
        let others = if kind.lock_on_energy { 0 } else { radio.power_sum - hearer.power };
        let clear = exceeds(hearer.power, kind.lock_sinr, others + kind.noise);
        if radio.lock != NONE {
            // While the preamble is still listened to, the stronger one wins; two that arrive in the same moment are told
            // apart by power alone, so it does not matter which one was handled first. Later only `relock` takes over.
            let listening = start < radio.lock_start + kind.preamble_detection;
            let earlier = kind.preamble_detection == 0 && start < radio.lock_start;
            let wins = if listening {
                hearer.power > slow.lock_power
            } else {
                earlier
                    || heard == Heard::Decodable
                        && kind.relock.is_some_and(|ratio| exceeds(hearer.power, ratio, slow.lock_power))
            };
            if !wins || !(clear || earlier || kind.lock_on_energy) {
                let number = self.frames.get(radio.lock).number;
                let drowned = listening
                    && !kind.lock_on_energy
                    && !exceeds(slow.lock_power, kind.lock_sinr, radio.power_sum - slow.lock_power + kind.noise);
                if mine {
                    self.frames.get_mut(at).loss =
                        if drowned { Loss::PreambleDrowned } else { Loss::LockedOn(number) };
                }
                if drowned {
                    // Neither stands out: nothing was received, so no EIFS follows.
                    self.drop_lock(h, start, Loss::PreambleDrowned);
                }
                return;
            }
            self.drop_lock(h, start, Loss::LockTaken(frame.number));
        } else if !clear && !kind.lock_on_energy {
            if mine {
                self.frames.get_mut(at).loss = Loss::PreambleDrowned;
            }
            return;
        }
        let kind = &self.kinds[self.kind_of[h] as usize];
        let slow = &mut self.slows[h];
        let radio = &mut self.radios[h];
        radio.lock = at;
        radio.lock_start = start;
        radio.worst = if kind.strongest { 0 } else { radio.power_sum };
        slow.lock_power = hearer.power;
        slow.lock_end = end;
        slow.worst_by = NONE;
        slow.chunk_from = start;
        slow.log_success = 0.0;
        if heard == Heard::Decodable {
            let clock = &mut self.clocks[h];
            extend(&mut clock.receive_until, &mut clock.receive, start, end);
            // A reception follows the RTS in time: the NAV holds for the whole exchange (802.11-2016 10.3.2.4).
            if radio.flags & flag::NAV_PENDING != 0 {
                radio.clear(flag::NAV_PENDING);
                if start + kind.phy_start(frame.mode) <= slow.nav_check && slow.nav_full > radio.nav_until {
                    radio.nav_until = slow.nav_full;
                    self.counters[h].nav_extended += 1;
                    extend(&mut clock.nav_until, &mut clock.nav, start, slow.nav_full);
                    // The frame itself keeps the medium busy until `end`; the pass at its end counts from the NAV.
                }
            }
        }
    }

    /// A reception ends before its frame does.
    fn drop_lock(&mut self, s: usize, now: u64, loss: Loss) {
        let radio = &mut self.radios[s];
        let locked = self.frames.get_mut(radio.lock);
        if locked.receiver == s as u32 {
            locked.loss = loss;
        }
        radio.lock = NONE;
        let clock = &mut self.clocks[s];
        let end = self.slows[s].lock_end;
        // From now on the rest of that frame is energy, not reception.
        let from = now.max(radio.lock_start);
        if clock.receive_until == end && end > from {
            clock.receive -= end - from;
            clock.receive_until = from;
        }
    }

    /// The sender's last bit has left.
    pub(super) fn frame_end<U: Upper>(&mut self, at: u32, agenda: &mut Agenda, upper: &mut U) {
        let frame = *self.frames.get(at);
        self.radios[frame.sender as usize].clear(flag::TRANSMITTING);
        let bands = self.hearers.bands_of(frame.sender);
        if bands.start < bands.end && self.hearers.bands[bands.start].offset == 0 {
            self.band_end(at, bands.start, agenda, upper);
        } else {
            self.note_unheard(at, &bands);
        }
        self.sent(&frame, agenda, upper);
        self.frames.pass_done(at);
    }

    /// Nobody near heard the frame; if its receiver is in no band at all, this is where its loss is noted.
    fn note_unheard(&mut self, at: u32, bands: &std::ops::Range<usize>) {
        let frame = self.frames.get(at);
        if frame.receiver != BROADCAST && bands.is_empty() {
            let receiver = frame.receiver as usize;
            self.counters[receiver].lost[Loss::OutOfReach.index()] += 1;
        }
    }

    /// The pass at a frame's end over one band of hearers.
    pub(super) fn band_end<U: Upper>(&mut self, at: u32, band: usize, agenda: &mut Agenda, upper: &mut U) {
        let band = self.hearers.bands[band];
        let frame = *self.frames.get(at);
        // First all powers, then all receptions: what one station does upon a reception must not meet old power sums.
        for entry in band.first..band.end {
            let hearer = self.hearers.list[entry as usize];
            let h = hearer.id as usize;
            if self.per_chunk {
                self.close_chunk(h, frame.end + u64::from(hearer.delay));
            }
            self.radios[h].power_sum -= hearer.power;
        }
        for entry in band.first..band.decodable_end {
            let hearer = self.hearers.list[entry as usize];
            if self.radios[hearer.id as usize].lock == at {
                self.judge(entry, &hearer, &frame, agenda, upper);
            } else if frame.receiver == hearer.id {
                self.lost(&frame, hearer.id, self.frames.get(at).loss);
            }
        }
        for entry in band.decodable_end..band.sensed_end {
            let hearer = self.hearers.list[entry as usize];
            // Under `LockOn::Energy` a signal that cannot be decoded has occupied the receiver.
            if self.radios[hearer.id as usize].lock == at {
                self.release(hearer.id);
                self.reception_failed(hearer.id, frame.end + u64::from(hearer.delay), agenda, upper);
            }
            if frame.receiver == hearer.id {
                self.lost(&frame, hearer.id, Loss::OutOfReach);
            }
        }
        for entry in band.sensed_end..band.end {
            if self.hearers.list[entry as usize].id == frame.receiver {
                self.lost(&frame, frame.receiver, Loss::OutOfReach);
            }
        }
        self.frames.pass_done(at);
    }

    fn release(&mut self, station: u32) {
        let radio = &mut self.radios[station as usize];
        radio.lock = NONE;
        radio.worst = 0;
    }

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
        self.release(hearer.id);
        let own = frame.receiver == hearer.id;
        if let Some(loss) = loss {
            if own || frame.receiver == BROADCAST {
                self.lost(frame, hearer.id, loss);
            }
            self.reception_failed(hearer.id, end, agenda, upper);
            return;
        }
        // A good frame ends an EIFS that has begun before it ended.
        let slow = &mut self.slows[h];
        if slow.eifs_from <= end && !self.kinds[self.kind_of[h] as usize].eifs_as_nav {
            slow.eifs_from = 0;
        }
        if own || frame.receiver == BROADCAST {
            self.counters[h].received[frame.kind as usize] += 1;
            self.clocks[h].receive_own += frame.end - frame.start;
            if self.recorder.is_some() {
                let view = self.view(frame);
                self.record(end, Record::Received { frame: view, at: hearer.id });
            }
            if self.radios[h].deadline != NEVER {
                self.recount(hearer.id, agenda);
            }
            self.receive(entry, hearer.id, frame, end, agenda, upper);
        } else {
            self.reserve(hearer.id, frame, end);
            if self.radios[h].deadline != NEVER {
                self.recount(hearer.id, agenda);
            }
            if self.radios[h].flags & (flag::AWAIT_END | flag::OVERHEARS) != 0 {
                if self.radios[h].has(flag::AWAIT_END) {
                    self.no_response(hearer.id, agenda, upper);
                }
                if self.radios[h].has(flag::OVERHEARS) && frame.kind == FrameKind::Data {
                    upper.overheard(hearer.id, frame.packet, frame.sender, end);
                }
            }
        }
    }

    /// Why a locked frame fails, or none if it is received.
    #[inline]
    fn verdict(&mut self, hearer: &Hearer, frame: &Frame) -> Option<Loss> {
        let h = hearer.id as usize;
        let kind = &self.kinds[self.kind_of[h] as usize];
        let worst = self.radios[h].worst;
        let interference = if kind.strongest { worst } else { worst - hearer.power };
        let by = self.slows[h].worst_by;
        match kind.error_model {
            ErrorModel::Threshold => {
                if hearer.power < kind.sensitivity {
                    return Some(Loss::TooWeak);
                }
                if !exceeds(hearer.power, kind.capture, interference + kind.noise) {
                    return Some(Loss::Interference(by));
                }
                None
            }
            ErrorModel::WorstSinr | ErrorModel::PerChunk => {
                let log_success = if kind.error_model == ErrorModel::PerChunk {
                    self.slows[h].log_success
                } else {
                    let sinr = hearer.power as f64 / (interference + kind.noise) as f64;
                    error::log_success(frame.mode, sinr, f64::from(frame.bytes) * 8.0)
                };
                let received = self.reception[h].uniform() < math::exp(log_success);
                (!received).then_some(if by == NONE { Loss::Noise } else { Loss::Interference(by) })
            }
        }
    }

    /// Per-chunk error model: the SINR of the locked frame changes at `now`, or it ends.
    fn close_chunk(&mut self, h: usize, now: u64) {
        let radio = &self.radios[h];
        if radio.lock == NONE {
            return;
        }
        let frame = self.frames.get(radio.lock);
        let slow = &mut self.slows[h];
        let until = now.min(slow.lock_end);
        if until <= slow.chunk_from {
            return;
        }
        let kind = &self.kinds[self.kind_of[h] as usize];
        let noise = radio.power_sum - slow.lock_power + kind.noise;
        let sinr = slow.lock_power as f64 / noise as f64;
        let share = (until - slow.chunk_from) as f64 / (frame.end - frame.start) as f64;
        slow.log_success += error::log_success(frame.mode, sinr, f64::from(frame.bytes) * 8.0 * share);
        slow.chunk_from = until;
    }

    /// A reception that began has failed: EIFS.
    fn reception_failed<U: Upper>(&mut self, station: u32, end: u64, agenda: &mut Agenda, upper: &mut U) {
        let s = station as usize;
        if self.kinds[self.kind_of[s] as usize].has_eifs {
            let slow = &mut self.slows[s];
            slow.eifs_from = slow.eifs_from.max(end);
        }
        if self.radios[s].deadline != NEVER {
            self.recount(station, agenda);
        }
        if self.radios[s].has(flag::AWAIT_END) {
            self.no_response(station, agenda, upper);
        }
    }

    /// A frame for another station was received: its duration field reserves the medium.
    #[inline]
    fn reserve(&mut self, station: u32, frame: &Frame, end: u64) {
        let s = station as usize;
        let full = end + u64::from(frame.nav_us) * 1000;
        let radio = &mut self.radios[s];
        if full <= radio.nav_until {
            return;
        }
        let kind = &self.kinds[self.kind_of[s] as usize];
        let mut until = full;
        if frame.kind == FrameKind::Rts && kind.nav_reset {
            let check = end + 2 * kind.sifs + kind.cts(frame.mode) + kind.phy_start(frame.mode) + 2 * kind.slot;
            if check < full {
                let slow = &mut self.slows[s];
                slow.nav_full = full;
                slow.nav_check = check;
                radio.set(flag::NAV_PENDING);
                until = check;
            }
        } else {
            radio.clear(flag::NAV_PENDING);
        }
        if until > radio.nav_until {
            radio.nav_until = until;
            let clock = &mut self.clocks[s];
            extend(&mut clock.nav_until, &mut clock.nav, end, until);
        }
    }
}
