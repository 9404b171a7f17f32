//! The medium: one pass over the hearers when a frame starts, one when it ends.
//!
//! Durations are known at the start, so the first pass writes when the medium will be idle again at each hearer and moves
//! its back-off; nothing happens when the medium gets idle. The second pass takes the power away and judges the receptions.

use std::hint::black_box;

use super::frame::{BROADCAST, Frame, FrameKind, Loss, NONE};
use super::hearers::{Band, Hearer};
use super::hearing::{EndPass, StartPass, close_chunks, drop_lock};
use super::radio::{NO_DEADLINE, Station, extend, flag};
use super::{Air, Needs, Upper, class};
use crate::engine::Agenda;
use crate::event::{Event, Order, What};
use crate::ids::{FrameIx, StationIx};
use crate::measure::trace::{Record, Signal};
use crate::spec::ErrorModel;

/// So many stations find room in the processor's nearest caches; with more of them [`Air::fetch_for`] is worth its while.
pub(crate) const FIT_INTO_THE_CACHE: usize = 1000;

/// For so many hearers of a frame, of those that can decode and of the others, a pass finds in the cache what it needs; by then the
/// processor is far ahead by itself.
const FETCHED: u32 = 64;

/// The station whose event it is, of those that are of one.
#[inline(always)]
fn station_of(event: &Event) -> Option<StationIx> {
    match event.what {
        What::FrameEnd { sender, .. } | What::BandStart { sender, .. } | What::BandEnd { sender, .. } => {
            Some(sender)
        }
        What::Reply(station) | What::Access(station) | What::Timeout { station, .. } => Some(station),
        _ => None,
    }
}

impl Air {
    /// Brings what events need into the cache, whose turn comes soon. In a large network they are of stations far from one another,
    /// what each needs comes from farther away, and the events themselves, whose branches hang on what they read, would wait for one
    /// line after the other. Here nothing hangs on anything: each round asks for all that the one before has found.
    #[inline(never)]
    pub(crate) fn fetch_for(&self, events: &[Event]) {
        let mut read = 0;
        for event in events {
            if let Some(station) = station_of(event).and_then(|station| self.stations.get(station.ix())) {
                read ^= station.radio.deadline ^ station.clock.armed_at;
            }
        }
        for event in events {
            let Some((sender, list, _)) = self.pass_of(event) else { continue };
            read ^= self.own[sender.ix()].fetch_to_send();
            for line in list.chunks(64 / size_of::<Hearer>()) {
                read ^= line[0].power;
            }
            // The receiver answers, or goes on with what it sends.
            if let Some((frame, receiver)) = self.received_by(event) {
                read ^= self.own[receiver].fetch_to_receive();
                if frame.kind == FrameKind::Data {
                    let band = self.hearers.bands[self.hearers.bands_of(sender.0).start];
                    read ^= u64::from(self.last_sequence[band.first as usize]);
                }
            }
        }
        for event in events {
            let Some((sender, list, decodable)) = self.pass_of(event) else { continue };
            let (decodable, others) = list.split_at(decodable);
            for hearer in decodable {
                let Station { radio, clock, .. } = &self.stations[hearer.id as usize];
                read ^= radio.busy_until ^ clock.receive_until;
            }
            for hearer in others {
                read ^= self.stations[hearer.id as usize].radio.busy_until;
            }
            let sends = self.received_by(event).map_or(sender.ix(), |(_, receiver)| receiver);
            read ^= self.own[sends].mac.fetch_held();
        }
        black_box(read);
    }

    /// The frame that ends with an event, and the station that it is for.
    #[inline(always)]
    fn received_by(&self, event: &Event) -> Option<(&Frame, usize)> {
        let What::FrameEnd { frame, .. } = event.what else { return None };
        let frame = self.frames.get(frame.0);
        Some((frame, frame.receiver as usize)).filter(|&(_, receiver)| receiver < self.own.len())
    }

    /// The hearers to which an event leads, [`FETCHED`] at most: who sends, where they are in the list, and how many of them can decode.
    #[inline(always)]
    fn pass_of(&self, event: &Event) -> Option<(StationIx, &[Hearer], usize)> {
        let first_band = |sender: StationIx| self.hearers.bands_of(sender.0).start;
        let (sender, band, starts) = match event.what {
            What::Reply(sender) => (sender, first_band(sender), true),
            What::Access(sender) if self.stations[sender.ix()].radio.deadline <= event.time => {
                (sender, first_band(sender), true)
            }
            What::FrameEnd { sender, .. } => (sender, first_band(sender), false),
            What::BandStart { sender, band, .. } => (sender, band as usize, true),
            What::BandEnd { sender, band, .. } => (sender, band as usize, false),
            _ => return None,
        };
        let Band { first, decodable_end, end, .. } = *self.hearers.bands.get(band)?;
        let decodable = (decodable_end - first).min(FETCHED);
        let count = if starts { (end - first).min(FETCHED) } else { decodable };
        Some((sender, &self.hearers.list[first as usize..(first + count) as usize], decodable as usize))
    }

    /// Puts a frame on the air now.
    pub(crate) fn transmit(&mut self, frame: &Frame, agenda: &mut Agenda) {
        let sender = frame.sender;
        let s = sender as usize;
        let bands = self.hearers.bands_of(sender);
        let (start, end) = (frame.start, frame.end);
        let at = self.frames.add(frame, 1 + bands.len() as u32);
        let own = &mut self.own[s];
        own.counters.sent[frame.kind as usize] += 1;

        let station = &mut self.stations[s];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        // Half duplex: a reception that goes on is lost.
        if station.radio.lock != NONE {
            // A frame that has not arrived yet finds the station transmitting.
            let ahead = station.clock.lock_start >= start;
            let loss = if ahead { Loss::Transmitting } else { Loss::LockAborted };
            drop_lock(station, sender, start, loss, &mut self.frames);
        }
        let Station { radio, clock, slow } = station;
        radio.set(flag::TRANSMITTING);
        extend(&mut slow.transmit_until, &mut own.transmit, start, end);
        extend(&mut clock.receive_until, &mut clock.receive, start, end);
        radio.make_busy::<true>(clock, slow, start, end);
        radio.freeze(start, end + kind.difs, kind.slot);

        if self.recorder.is_some() {
            let view = self.view(self.frames.get(at));
            self.record(start, Record::Start { frame: view });
        }
        let rank = self.stations[s].clock.rank;
        agenda.push(
            end,
            Order::new(class::FRAME_END, rank),
            What::FrameEnd { sender: StationIx(sender), frame: FrameIx(at) },
        );
        for band in bands {
            let offset = u64::from(self.hearers.bands[band].offset);
            if offset == 0 {
                self.start_at_band(at, frame, band);
            } else {
                let order = Order::new(class::BAND_START, rank);
                agenda.push(
                    start + offset,
                    order,
                    What::BandStart { sender: StationIx(sender), frame: FrameIx(at), band: band as u32 },
                );
                let order = Order::new(class::BAND_END, rank);
                agenda.push(
                    end + offset,
                    order,
                    What::BandEnd { sender: StationIx(sender), frame: FrameIx(at), band: band as u32 },
                );
            }
        }
    }

    /// The pass at a frame's start over one band of hearers: decodable ones, those that sense, those for whom it is noise.
    pub(crate) fn band_start(&mut self, at: u32, band: usize) {
        let frame = *self.frames.get(at);
        self.start_at_band(at, &frame, band);
    }

    #[inline(always)]
    fn start_at_band(&mut self, at: u32, frame: &Frame, band: usize) {
        let Self { stations, hearers, kinds, frames, own, successes, per_chunk, .. } = self;
        let Needs { sums, idle_times } = self.needs;
        let band = &hearers.bands[band];
        let list = &hearers.list;
        let pass = StartPass { at, frame, kinds, per_chunk: *per_chunk };
        // Mostly there is one kind of radio: then it is not looked up for every hearer. Nor is anything kept up that no
        // rule of the run asks for.
        match (kinds.len() == 1, sums, idle_times) {
            (true, true, true) => pass.run::<true, true, true>(band, list, stations, frames, own, successes),
            (true, true, false) => {
                pass.run::<true, true, false>(band, list, stations, frames, own, successes)
            }
            (true, false, true) => {
                pass.run::<true, false, true>(band, list, stations, frames, own, successes)
            }
            (true, false, false) => {
                pass.run::<true, false, false>(band, list, stations, frames, own, successes)
            }
            (false, true, _) => pass.run::<false, true, true>(band, list, stations, frames, own, successes),
            (false, false, _) => pass.run::<false, false, true>(band, list, stations, frames, own, successes),
        }
    }

    /// The sender's last bit has left.
    pub(crate) fn frame_end<U: Upper>(&mut self, at: u32, agenda: &mut Agenda, upper: &mut U) {
        let frame = *self.frames.get(at);
        self.stations[frame.sender as usize].radio.clear(flag::TRANSMITTING);
        let bands = self.hearers.bands_of(frame.sender);
        if bands.start < bands.end && self.hearers.bands[bands.start].offset == 0 {
            self.end_at_band(at, &frame, bands.start, agenda, upper);
        }
        self.sent(&frame, agenda, upper);
        self.pass_done(at, false, agenda);
    }

    /// The pass at a frame's end over one band of hearers.
    pub(crate) fn band_end<U: Upper>(&mut self, at: u32, band: usize, agenda: &mut Agenda, upper: &mut U) {
        let frame = *self.frames.get(at);
        self.end_at_band(at, &frame, band, agenda, upper);
    }

    fn end_at_band<U: Upper>(
        &mut self,
        at: u32,
        frame: &Frame,
        band: usize,
        agenda: &mut Agenda,
        upper: &mut U,
    ) {
        let band = self.hearers.bands[band];
        if self.needs.sums {
            self.remove_power(&band, frame.end);
        }
        let pass = EndPass::new(at, frame);
        let mut met = false;
        let mut entry = band.first;
        while entry < band.decodable_end {
            let Self { stations, hearers, kinds, .. } = self;
            // Bystanders that receive a frame well need nobody's help; the others are called one by one.
            let (stations, kinds) = (stations.as_mut_slice(), kinds.as_slice());
            let left = &hearers.list[entry as usize..band.decodable_end as usize];
            let Some(skip) = left.iter().position(|&h| !pass.bystander(h, stations, kinds)) else {
                break;
            };
            let hearer = left[skip];
            entry += skip as u32;
            let mine = frame.receiver == hearer.id;
            met |= mine;
            if stations[hearer.id as usize].radio.lock == at {
                self.judge(at, entry, hearer, frame, agenda, upper);
            } else if mine {
                self.lost(frame, hearer.id, self.frames.get(at).loss, agenda);
            }
            entry += 1;
        }
        self.pass_done(at, met, agenda);
    }

    /// A signal ends. First all powers are taken away, then receptions are judged: what one station does upon a reception must
    /// not meet old sums.
    #[inline(never)]
    fn remove_power(&mut self, band: &Band, end: u64) {
        let Self { stations, hearers, kinds, frames, successes, per_chunk, .. } = self;
        let list = &hearers.list[band.first as usize..band.end as usize];
        if *per_chunk {
            close_chunks(list, stations, frames, kinds, successes, end);
        }
        for hearer in list {
            stations[hearer.id as usize].slow.power_sum -= hearer.power;
        }
    }

    /// One of the passes at a frame's end is done; `met`: its receiver was among the decodable hearers of the band.
    #[inline(always)]
    fn pass_done(&mut self, at: u32, met: bool, agenda: &mut Agenda) {
        let frame = self.frames.get_mut(at);
        frame.met |= met;
        frame.passes_left -= 1;
        if frame.passes_left == 0 {
            self.last_pass_done(at, agenda);
        }
    }

    #[inline]
    fn last_pass_done(&mut self, at: u32, agenda: &mut Agenda) {
        let frame = self.frames.get(at);
        if !frame.met && frame.receiver != BROADCAST && frame.receiver != frame.sender {
            let frame = *frame;
            self.lost(&frame, frame.receiver, Loss::OutOfReach, agenda);
        }
        self.frames.free(at);
    }

    #[cold]
    #[inline(never)]
    fn lost(&mut self, frame: &Frame, station: u32, loss: Loss, agenda: &mut Agenda) {
        if matches!(frame.kind, FrameKind::Cts | FrameKind::Ack) {
            self.response_lost(station, agenda);
        }
        self.own[station as usize].counters.lost[loss.index()] += 1;
        if self.recorder.is_some() {
            let view = self.view(frame);
            let signal = self.signal(frame, station, loss.ends_with_the_frame());
            self.record(frame.end, Record::Lost { frame: view, at: station, loss, signal });
        }
    }

    /// The locked frame has ended: was it received?
    #[inline(never)]
    fn judge<U: Upper>(
        &mut self,
        at: u32,
        entry: u32,
        hearer: Hearer,
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
                self.lost(frame, hearer.id, loss, agenda);
            }
            self.reception_failed(hearer.id, frame, loss, end, agenda, upper);
            return;
        }
        // A good frame ends an EIFS that has begun before it ended.
        if station.radio.eifs_from <= end && !kind.eifs_as_nav {
            station.radio.eifs_from = 0;
        }
        if own || frame.receiver == BROADCAST {
            let receiver = &mut self.own[h];
            receiver.counters.received[frame.kind as usize] += 1;
            receiver.received += u64::from(own) * (frame.end - frame.start);
            if station.radio.deadline != NO_DEADLINE {
                station.recount(hearer.id, kind, agenda);
            }
            if self.recorder.is_some() {
                self.tell_received(frame, hearer.id, end);
            }
            self.receive(entry, hearer.id, frame, end, agenda, upper);
            return;
        }
        EndPass::new(at, frame).reserve(station, kind, end);
        if station.radio.flags & frame.watchers != 0 {
            self.end_is_awaited(frame, None, hearer.id, end, agenda, upper);
        } else if station.radio.deadline != NO_DEADLINE {
            station.recount(hearer.id, kind, agenda);
        }
    }

    /// A frame for another station, good or with errors, has ended at one that has waited for that, or looks at all.
    #[cold]
    #[inline(never)]
    fn end_is_awaited<U: Upper>(
        &mut self,
        frame: &Frame,
        loss: Option<Loss>,
        id: u32,
        end: u64,
        agenda: &mut Agenda,
        upper: &mut U,
    ) {
        let (station, kind) = self.hears(id);
        let radio = station.radio;
        if radio.deadline != NO_DEADLINE {
            station.recount(id, kind, agenda);
        }
        // Receptions for the station itself are recorded anyway.
        if radio.has(flag::MONITORS) && frame.receiver != id && frame.receiver != BROADCAST {
            let view = self.view(frame);
            let signal = self.signal(frame, id, true);
            self.record(end, Record::Overheard { frame: view, at: id, signal, loss });
        }
        if radio.has(flag::AWAIT_END) {
            self.no_response(id, agenda, upper);
        }
        if radio.flags & frame.watchers & flag::OVERHEARS != 0 && loss.is_none() && !self.misses(id, frame) {
            upper.overheard(id, frame.packet, frame.sender, end);
        }
    }

    /// Why a locked frame fails, or none if it is received.
    #[inline(always)]
    fn verdict(&mut self, hearer: Hearer, frame: &Frame) -> Option<Loss> {
        if self.stations[hearer.id as usize].radio.worst < hearer.bound {
            return None;
        }
        self.doubt(hearer, frame)
    }

    /// The same where interference is too strong, or a draw decides.
    #[inline(never)]
    fn doubt(&mut self, hearer: Hearer, frame: &Frame) -> Option<Loss> {
        let station = &self.stations[hearer.id as usize];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        let interference = station.radio.worst;
        let by = Some(station.clock.worst_by).filter(|&n| n != NONE);
        let log_success = match kind.error_model {
            ErrorModel::Threshold => {
                let mode = self.kind(frame.sender).data_mode;
                // Without `frame_loss` nothing but interference, or too little power, leads here.
                if kind.frame_loss == 0.0 || interference >= kind.threshold_bound(hearer.power, mode) {
                    let weak = hearer.power < kind.sensitivity[mode as usize];
                    return Some(if weak { Loss::TooWeak } else { Loss::Interference(by) });
                }
                return self.lost_by_chance(hearer, frame).then_some(Loss::Noise);
            }
            ErrorModel::PerChunk => station.slow.log_success,
            ErrorModel::WorstSinr => {
                let sinr = hearer.power as f64 / (interference + kind.noise) as f64;
                f64::from(frame.bytes) * 8.0 * self.successes.ln_bit_right(frame.mode, sinr)
            }
        };
        if self.reception[hearer.id as usize].happens(log_success) {
            let lost = kind.frame_loss > 0.0 && self.lost_by_chance(hearer, frame);
            return lost.then_some(Loss::Noise);
        }
        Some(if interference == 0 { Loss::Noise } else { Loss::Interference(by) })
    }

    /// Whether `frame_loss` keeps a station from overhearing a good frame for another.
    fn misses(&mut self, station: u32, frame: &Frame) -> bool {
        let loss = self.kinds[usize::from(self.stations[station as usize].radio.kind)].frame_loss;
        let meant = frame.receiver == station || frame.receiver == BROADCAST;
        !meant && loss > 0.0 && self.reception[station as usize].uniform() < loss
    }

    /// Whether a good data frame for this station, or for all, falls to `frame_loss`.
    fn lost_by_chance(&mut self, hearer: Hearer, frame: &Frame) -> bool {
        let meant = frame.receiver == hearer.id || frame.receiver == BROADCAST;
        let loss = self.kinds[usize::from(self.stations[hearer.id as usize].radio.kind)].frame_loss;
        meant
            && matches!(frame.kind, FrameKind::Data | FrameKind::Broadcast)
            && loss > 0.0
            && self.reception[hearer.id as usize].uniform() < loss
    }

    /// A reception that began has failed: EIFS.
    fn reception_failed<U: Upper>(
        &mut self,
        id: u32,
        frame: &Frame,
        loss: Loss,
        end: u64,
        agenda: &mut Agenda,
        upper: &mut U,
    ) {
        let (station, kind) = self.hears(id);
        if kind.has_eifs {
            station.radio.eifs_from = station.radio.eifs_from.max(end);
        }
        if station.radio.flags & (flag::AWAIT_END | flag::MONITORS) != 0 {
            self.end_is_awaited(frame, Some(loss), id, end, agenda, upper);
        } else if station.radio.deadline != NO_DEADLINE {
            station.recount(id, kind, agenda);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_received(&mut self, frame: &Frame, id: u32, end: u64) {
        let view = self.view(frame);
        let signal = self.signal(frame, id, true);
        self.record(end, Record::Received { frame: view, at: id, signal });
    }

    /// How a frame has reached a station; `judged`: it was locked on it until just now.
    #[cold]
    #[inline(never)]
    fn signal(&self, frame: &Frame, station: u32, judged: bool) -> Signal {
        let Some(hearer) = self.hearers.find(frame.sender, station) else { return Signal::default() };
        let interference = judged.then(|| self.stations[station as usize].radio.worst);
        Signal { power: hearer.power, interference, delay: hearer.delay }
    }
}
