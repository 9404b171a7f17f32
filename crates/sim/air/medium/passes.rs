//! The passes over the hearers of a frame: one at its start, one at its end.
//!
//! Durations are known at the start, so the first pass stores at each hearer when the medium will be idle again, and moves the back-off;
//! the medium's becoming idle is no event. The second pass subtracts the power and judges the receptions.

use airfair_units::{Attowatts, Span, Time};

use super::error::Event;
use super::frame::{BROADCAST, Frame, NO_NUMBER, NONE, Verdicts};
use super::hearers::{Band, Hearer};
use super::hearing::{FrameEnd, StartPass, close_chunks, drop_lock};
use super::phy::PhyKind;
use super::radio::{Station, extend, flag};
use super::{Medium, Needs};
use crate::engine::Agenda;
use crate::event::{EventKind, Order, class};
use crate::ids::{FrameIx, StationIx};
use crate::record::{FrameKind, Loss, Record, Signal};
use crate::spec::ErrorModel;

/// State of a pass at a frame's end over one band of hearers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndPass {
    end: FrameEnd,
    entry: u32,
    decodable_end: u32,
    /// The frame's receiver was among the hearers.
    pub receiver_found: bool,
}

/// Outcome of a frame at a hearer that is no mere bystander.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reception {
    /// The frame is addressed to the station, which has received these of its packets.
    Received(Verdicts),
    /// The frame is addressed to another station; its duration field has set the NAV.
    Other,
    /// The station was locked on the frame and could not decode it.
    Failed(Loss),
    /// The frame is addressed to the station, which was not locked on it.
    Missed,
}

impl EndPass {
    /// The next entry of the sender's list whose hearer is no mere bystander. Bystanders that receive the frame without error are completed
    /// here; the others are handled one by one.
    #[inline(always)]
    fn next<'a>(
        &mut self,
        list: &[Hearer],
        stations: &mut [Station],
        kind: impl Copy + Fn(&Station) -> &'a PhyKind,
    ) -> Option<u32> {
        while let Some(&hearer) = list.get(self.entry as usize) {
            let entry = self.entry;
            self.entry += 1;
            if !self.end.end_at_bystander(hearer, stations, kind, 0) {
                self.receiver_found |= self.end.receiver == hearer.id;
                return Some(entry);
            }
        }
        None
    }
}

impl Medium {
    /// Starts the transmission of a frame now.
    pub(crate) fn transmit(&mut self, frame: &Frame, agenda: &mut Agenda) {
        if frame.power_offset == 0 {
            self.send(frame, agenda);
        } else {
            self.send_with_offset(frame, agenda);
        }
    }

    /// [`Medium::transmit`] for a frame with another power than its radio's own: by the scaled copy of its sender's list.
    #[cold]
    #[inline(never)]
    fn send_with_offset(&mut self, frame: &Frame, agenda: &mut Agenda) {
        self.renew_powers(frame);
        let fixed = self.varying.is_none() && self.movement.is_none();
        let Self { offset_lists, hearers, stations, kinds, .. } = self;
        let copy = offset_lists.prepare(frame, fixed, hearers, stations, kinds);
        let own = self.hearers.replace_bands(frame.sender, copy);
        self.send(frame, agenda);
        self.hearers.replace_bands(frame.sender, own);
    }

    /// Where gains vary, the powers of a frame that starts now.
    #[inline(always)]
    fn renew_powers(&mut self, frame: &Frame) {
        let sender = frame.sender;
        if let Some(varying) = self.varying.as_mut().filter(|v| v.is_stale(sender, frame.start)) {
            varying.refresh(sender, frame.start, &mut self.hearers, &self.stations, &self.kinds);
        }
    }

    #[inline(always)]
    fn send(&mut self, frame: &Frame, agenda: &mut Agenda) {
        self.renew_powers(frame);
        let sender = frame.sender;
        let bands = self.hearers.bands_of(sender);
        let (start, end) = (frame.start, frame.end);
        let at = self.frames.add(frame);
        let counted = &mut self.counted[sender];
        counted.sent[frame.kind as usize] += 1;

        let station = &mut self.stations[sender];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        // Half duplex: a reception in progress is lost.
        if station.radio.lock != NONE {
            // The station is already transmitting when a frame arrives that is still on its way.
            let ahead = station.rx.lock_start >= start;
            let loss = if ahead { Loss::Transmitting } else { Loss::LockAborted };
            drop_lock(station, sender, start, loss, &mut self.frames);
        }
        let Station { radio, rx, optional, backoffs } = station;
        let rank = rx.rank;
        radio.set(flag::TRANSMITTING);
        extend(&mut optional.transmit_until, &mut counted.transmit, start, end);
        extend(&mut rx.receive_until, &mut rx.receive, start, end);
        radio.make_busy::<true>(rx, optional, start, end);
        radio.freeze(backoffs, start, end + kind.timing.difs, kind.timing.slot);

        if self.records.are_enabled() {
            let view = self.frames.get(at).view();
            self.records.push(Time(start), Record::Start { frame: view });
        }
        let frame_end = EventKind::FrameEnd { sender, frame: at };
        agenda.push(Time(end), Order::new(class::FRAME_END, rank), frame_end);
        for band in bands {
            if self.hearers.bands[band].offset == 0 {
                self.start_at_band(at, frame, band);
            } else {
                self.reach_later(at, frame, band, agenda);
            }
        }
    }

    /// Schedules the start and end of a frame at a band of distant hearers.
    #[inline(never)]
    fn reach_later(&mut self, at: FrameIx, frame: &Frame, band: usize, agenda: &mut Agenda) {
        self.frames.get_mut(at).passes_left += 1;
        let (sender, offset) = (frame.sender, u64::from(self.hearers.bands[band].offset));
        let (station, number) = (&self.stations[sender], band as u32);
        let start = EventKind::BandStart { sender, frame: at, band: number };
        agenda.push(Time(frame.start + offset), station.order(class::BAND_START), start);
        let end = EventKind::BandEnd { sender, frame: at, band: number };
        agenda.push(Time(frame.end + offset), station.order(class::BAND_END), end);
    }

    /// The pass at a frame's start over one band: decodable hearers, those that sense, those for which it is noise.
    pub(crate) fn band_start(&mut self, at: FrameIx, band: usize) {
        let frame = *self.frames.get(at);
        self.start_at_band(at, &frame, band);
    }

    #[inline(always)]
    fn start_at_band(&mut self, at: FrameIx, frame: &Frame, band: usize) {
        let Needs { sums, idle_times } = self.needs;
        let pass = StartPass { at, frame };
        // Mostly there is one kind of radio, whose constants are then not looked up for every hearer. State that no rule of the run needs
        // is not maintained.
        match (self.kinds.len() == 1, sums, idle_times) {
            (true, true, true) => pass.run::<true, true, true>(self, band),
            (true, true, false) => pass.run::<true, true, false>(self, band),
            (true, false, true) => pass.run::<true, false, true>(self, band),
            (true, false, false) => pass.run::<true, false, false>(self, band),
            (false, true, _) => pass.run::<false, true, true>(self, band),
            (false, false, _) => pass.run::<false, false, true>(self, band),
        }
    }

    /// Begins the pass at a frame's end over one band of hearers.
    #[inline(always)]
    pub(crate) fn end_pass(&mut self, at: FrameIx, frame: &Frame, band: usize) -> EndPass {
        let band = self.hearers.bands[band];
        if self.needs.sums {
            self.remove_power(&band, frame.end);
        }
        EndPass {
            end: FrameEnd::new(at, frame),
            entry: band.first,
            decodable_end: band.decodable_end,
            receiver_found: false,
        }
    }

    /// Continues the pass to the next hearer, an entry of the sender's list, that is no mere bystander.
    #[inline(always)]
    pub(crate) fn next_hearer(&mut self, pass: &mut EndPass) -> Option<u32> {
        let Self { stations, hearers, kinds, .. } = self;
        let list = hearers.list.get(..pass.decodable_end as usize)?;
        let stations = stations.as_mut_slice();
        // Mostly there is one kind of radio, whose constants are then not looked up for every hearer.
        match kinds.as_slice() {
            [kind] => pass.next(list, stations, |_| kind),
            kinds => pass.next(list, stations, |station| &kinds[usize::from(station.radio.kind)]),
        }
    }

    /// [`Medium::next_hearer`] for a frame that is judged by another mode than its sender's nominal one.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_hearer_of(&mut self, frame: &Frame, pass: &mut EndPass) -> Option<(u32, Hearer)> {
        while pass.entry < pass.decodable_end {
            let entry = pass.entry;
            pass.entry += 1;
            let (hearer, more) = (self.hearer_of(frame, entry), self.nav_reset_more(frame));
            let Self { stations, kinds, .. } = &mut *self;
            let kind = |station: &Station| &kinds[usize::from(station.radio.kind)];
            if !pass.end.end_at_bystander(hearer, stations.as_mut_slice(), kind, more) {
                pass.receiver_found |= pass.end.receiver == hearer.id;
                return Some((entry, hearer));
            }
        }
        None
    }

    /// An entry of the list of a frame's sender, with the bound of this frame.
    #[cold]
    #[inline(never)]
    fn hearer_of(&self, frame: &Frame, entry: u32) -> Hearer {
        let hearer = self.hearers.list[entry as usize];
        let mode = frame.judged.unwrap_or(self.kind(frame.sender).nominal_mode);
        Hearer { bound: self.kind(hearer.id).interference_bound(hearer.power, mode), ..hearer }
    }

    /// [`super::phy::PhyKind::nav_reset_more`] of an RTS; of no meaning for other frames.
    #[cold]
    #[inline(never)]
    fn nav_reset_more(&self, frame: &Frame) -> i64 {
        self.kind(frame.sender).nav_reset_more(frame.mode)
    }

    /// Ends a signal. All powers are subtracted before receptions are judged, so that a station's reaction to a reception does not see
    /// stale sums.
    #[inline(never)]
    fn remove_power(&mut self, band: &Band, end: u64) {
        let Self { stations, hearers, kinds, frames, successes, per_chunk, .. } = self;
        let list = &hearers.list[band.first as usize..band.end as usize];
        let stations = stations.as_mut_slice();
        if *per_chunk {
            close_chunks(list, stations, frames, kinds, successes, end);
        }
        for hearer in list {
            stations[hearer.id.ix()].optional.power_sum -= hearer.power;
        }
    }

    /// Completes one of the passes at a frame's end; `receiver_found`: its receiver was among the decodable hearers. Returns the receiver
    /// if that was the last pass and the receiver was in none.
    #[inline(always)]
    pub(crate) fn pass_done(&mut self, at: FrameIx, receiver_found: bool) -> Option<StationIx> {
        let frame = self.frames.get_mut(at);
        frame.receiver_found |= receiver_found;
        frame.passes_left -= 1;
        if frame.passes_left > 0 {
            return None;
        }
        let receiver = frame.receiver;
        let missed = !frame.receiver_found && receiver != BROADCAST && receiver != frame.sender;
        if missed {
            let frame = *frame;
            self.lost(&frame, receiver, None, Loss::OutOfReach);
        }
        self.frames.free(at);
        missed.then_some(receiver)
    }

    /// Counts and records a loss. `entry`: the place of the station in the lists of hearers, if it was not searched for.
    #[cold]
    #[inline(never)]
    fn lost(&mut self, frame: &Frame, station: StationIx, entry: Option<u32>, loss: Loss) {
        self.counted[station].lost[loss.index()] += 1;
        if self.records.are_enabled() {
            let bands = self.bands_of(frame.sender, frame.power_offset);
            let hearer = entry.map_or_else(
                || self.hearers.find_in(bands, station),
                |entry| Some(self.hearers.list[entry as usize]),
            );
            let signal =
                hearer.map_or(Signal::default(), |hearer| self.signal(hearer, loss.ends_with_the_frame()));
            self.records
                .push(Time(frame.end), Record::Lost { frame: frame.view(), at: station, loss, signal });
        }
    }

    /// Outcome of a frame at a hearer that [`Medium::next_hearer`] has returned as `entry`. `OTHER`: the frame is judged by another mode
    /// than its sender's nominal one.
    #[inline(always)]
    pub(crate) fn judge<const OTHER: bool>(
        &mut self,
        at: FrameIx,
        (entry, hearer): (u32, Hearer),
        frame: &Frame,
    ) -> Reception {
        let h = hearer.id;
        if self.stations[h].radio.lock != at {
            // The receiver was not locked on the frame.
            self.lost(frame, h, Some(entry), self.frames.get(at).loss);
            return Reception::Missed;
        }
        let end = frame.end + u64::from(hearer.delay);
        // Without more interference than the bound it is received.
        if self.stations[h].radio.worst >= hearer.bound
            && let Some(loss) = self.judge_by_error_model(hearer, frame)
        {
            self.failed((entry, hearer), frame, loss, end);
            return Reception::Failed(loss);
        }
        let station = &mut self.stations[h];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        station.radio.lock = NONE;
        // A good frame ends an EIFS that has begun before it ended.
        if station.radio.eifs_from <= end && !kind.timing.eifs_as_nav {
            station.radio.eifs_from = 0;
        }
        let own = frame.receiver == hearer.id;
        if own || frame.receiver == BROADCAST {
            let counted = &mut self.counted[h];
            counted.received[frame.kind as usize] += 1;
            counted.receive += u64::from(own) * (frame.end - frame.start);
            if self.records.are_enabled() {
                self.record_received(frame, entry, end);
            }
            return Reception::Received(Verdicts::ALL);
        }
        if OTHER {
            let more = self.nav_reset_more(frame);
            let station = &mut self.stations[h];
            let kind = &self.kinds[usize::from(station.radio.kind)];
            FrameEnd::new(at, frame).reserve(station, kind, end, more);
        } else {
            FrameEnd::new(at, frame).reserve(station, kind, end, 0);
        }
        Reception::Other
    }

    /// A receiver that was locked on a frame could not decode it.
    #[inline(never)]
    fn failed(&mut self, (entry, hearer): (u32, Hearer), frame: &Frame, loss: Loss, end: u64) {
        let station = &mut self.stations[hearer.id];
        station.radio.lock = NONE;
        if self.kinds[usize::from(station.radio.kind)].timing.has_eifs {
            station.radio.eifs_from = station.radio.eifs_from.max(end);
        }
        if frame.is_for(hearer.id) {
            self.lost(frame, hearer.id, Some(entry), loss);
        }
    }

    /// The reason why a locked frame is lost, or none if it is received: interference exceeds the bound, or a draw decides.
    #[inline(never)]
    fn judge_by_error_model(&mut self, hearer: Hearer, frame: &Frame) -> Option<Loss> {
        let station = &self.stations[hearer.id];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        let interference = station.radio.worst;
        let by = Some(station.rx.worst_by).filter(|&n| n != NO_NUMBER);
        let log_success = match kind.error_model {
            ErrorModel::Threshold => {
                let mode = frame.judged.unwrap_or(self.kind(frame.sender).nominal_mode);
                // Without `frame_loss` only interference, or too little power, leads here.
                if kind.frame_loss == 0.0 || interference >= kind.threshold_bound(hearer.power, mode) {
                    let weak = hearer.power < kind.sensitivity[mode];
                    let drowned = kind.threshold_bound(hearer.power, mode) == 0;
                    return Some(match (weak, drowned) {
                        (true, _) => Loss::TooWeak,
                        (false, true) => Loss::Noise,
                        (false, false) => Loss::Interference(by),
                    });
                }
                return self.lost_by_frame_loss(hearer, frame).then_some(Loss::Noise);
            }
            ErrorModel::PerChunk => station.optional.log_success,
            ErrorModel::WorstSinr => {
                let sinr = hearer.power as f64 / (interference + kind.noise) as f64;
                f64::from(frame.bytes) * 8.0 * self.successes.ln_bit_right(frame.mode, sinr)
            }
        };
        // Without interference only noise is left; why a bystander has not received a frame is recorded nowhere.
        let has_cause = interference > 0 && frame.is_for(hearer.id);
        let by_noise = || {
            if !has_cause {
                return f64::NEG_INFINITY;
            }
            let snr = hearer.power as f64 / kind.noise as f64;
            f64::from(frame.bytes) * 8.0 * self.successes.ln_bit_right(frame.mode, snr)
        };
        match self.reception[hearer.id].happens(log_success, by_noise) {
            Event::Happens => {
                let lost = kind.frame_loss > 0.0 && self.lost_by_frame_loss(hearer, frame);
                lost.then_some(Loss::Noise)
            }
            Event::HappensOtherwise => Some(Loss::Interference(by)),
            Event::Never => Some(Loss::Noise),
        }
    }

    /// True if `frame_loss` prevents a station from overhearing a good frame for another one.
    pub(crate) fn loses_overheard(&mut self, station: StationIx, frame: &Frame) -> bool {
        let loss = self.kinds[usize::from(self.stations[station].radio.kind)].frame_loss;
        let meant = frame.receiver == station || frame.receiver == BROADCAST;
        !meant && loss > 0.0 && self.reception[station].uniform() < loss
    }

    /// True if a good data frame for this station, or a broadcast, is lost by `frame_loss`.
    fn lost_by_frame_loss(&mut self, hearer: Hearer, frame: &Frame) -> bool {
        let meant = frame.receiver == hearer.id || frame.receiver == BROADCAST;
        let loss = self.kinds[usize::from(self.stations[hearer.id].radio.kind)].frame_loss;
        meant
            && matches!(frame.kind, FrameKind::Data | FrameKind::Broadcast)
            && loss > 0.0
            && self.reception[hearer.id].uniform() < loss
    }

    #[cold]
    #[inline(never)]
    fn record_received(&mut self, frame: &Frame, entry: u32, end: u64) {
        let hearer = self.hearers.list[entry as usize];
        let signal = self.signal(hearer, true);
        self.records.push(Time(end), Record::Received { frame: frame.view(), at: hearer.id, signal });
    }

    /// Records that a monitoring station has received, or lost, a frame for another station.
    /// `entry`: the place of the station in the lists of hearers.
    pub(crate) fn record_overheard(&mut self, frame: &Frame, entry: u32, loss: Option<Loss>, end: u64) {
        let hearer = self.hearers.list[entry as usize];
        let signal = self.signal(hearer, true);
        self.records.push(Time(end), Record::Overheard { frame: frame.view(), at: hearer.id, signal, loss });
    }

    /// Power, interference and delay of a frame at a hearer; `judged`: the receiver was locked on the frame to its end.
    #[cold]
    #[inline(never)]
    fn signal(&self, hearer: Hearer, judged: bool) -> Signal {
        let interference = judged.then(|| Attowatts(self.stations[hearer.id].radio.worst));
        Signal { power: Attowatts(hearer.power), interference, delay: Span(hearer.delay.into()) }
    }

    /// After the pass at a frame's end over a band of distant hearers: its sender's list may have been replaced meanwhile. Then the
    /// sequence number that the receiver has stored is passed on to the lists that follow.
    pub(crate) fn carry_last_sequence(&mut self, frame: &Frame, band: usize) {
        let Frame { sender, receiver, kind, power_offset, .. } = *frame;
        if kind != FrameKind::Data || power_offset != 0 || self.hearers.bands_of(sender).contains(&band) {
            return;
        }
        let Band { first, decodable_end, .. } = self.hearers.bands[band];
        let mut entries = first as usize..decodable_end as usize;
        if let Some(at) = entries.find(|&at| self.hearers.list[at].id == receiver) {
            let sequence = self.hearers.last_sequence[at];
            let Self { hearers, regions, varying, .. } = self;
            let regions = varying.as_mut().map_or(regions, |varying| varying.regions_mut());
            regions.set_last_sequence(hearers, (sender, receiver), sequence);
        }
    }
}
