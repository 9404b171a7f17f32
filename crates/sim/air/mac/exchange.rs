//! Exchange of a packet after access is won (802.11-2016 10.3.2): RTS, CTS, data, ACK, time-outs, duplicates.

use airfair_units::Time;
use airfair_wire::ieee80211::{Ack, CfEnd, Cts, Rts};

use super::access::{State, arm, recount};
use super::progress::ControlFrame;
use super::rate::{Ending, Pair, Rates};
use super::{Indication, Mac, MacKind, ModeKind, Msdu, NEVER, Outcome, StationMac};
use crate::air::medium::frame::{BROADCAST, Frame, Mpdu, NO_CATEGORY, NONE, Verdicts};
use crate::air::medium::hearers::Hearer;
use crate::air::medium::radio::{NO_DEADLINE, Station, flag};
use crate::air::medium::{Medium, Reception};
use crate::engine::Agenda;
use crate::ids::StationIx;
use crate::record::{FrameKind, Loss, Record};
use crate::spec::{AfterTimeout, Protection};

/// Largest value of a duration field, us.
const MOST_DURATION_US: u32 = 32_767;

/// Duration field value: `ns` in whole microseconds, rounded up.
fn duration_us(ns: u64) -> u32 {
    // Limited first, so that the division has 32 bits.
    let ns = ns.min(u64::from(MOST_DURATION_US) * 1000) as u32;
    ns.div_ceil(1000)
}

/// True if a due CTS is withheld because the carrier is busy, or an EIFS that is kept as a NAV runs.
fn carrier_withholds(station: &Station, kind: &MacKind, now: u64) -> bool {
    let (radio, timing) = (&station.radio, &kind.timing);
    let eifs = radio.eifs_from;
    kind.cts_needs_idle_carrier && (radio.busy_until > now || radio.nav_until > now)
        || timing.eifs_as_nav && eifs != 0 && eifs + timing.eifs - timing.difs > now
}

/// Records a CTS or ACK that has come after its time-out.
#[cold]
fn record_late(medium: &mut Medium, at: StationIx, frame: &Frame, end: u64) {
    if medium.records.are_enabled() {
        let (cts, from, number) = (frame.kind == FrameKind::Cts, frame.sender, frame.number);
        medium.records.push(Time(end), Record::LateResponse { at, from, cts, number });
    }
}

/// Reports the end of an attempt to the law of rates, and a new usual mode of the pair to the layer above.
#[inline(always)]
fn attempt_ended(rates: &mut Rates, indications: &mut Vec<Indication>, pair: Pair, ending: Ending) {
    if rates.ended(pair, ending) {
        indications.push(Indication::LinkMode { station: pair.from, to: pair.to });
    }
}

impl Mac {
    /// The awaited response has been lost: schedules the deferred time-out.
    pub(crate) fn on_response_lost(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) {
        let (station, StationMac { exchange, .. }, _) = self.at(medium, id);
        let at = std::mem::replace(&mut exchange.deferred_timeout, NEVER);
        if at != NEVER {
            exchange.await_response(station, id, at.max(agenda.now.0), agenda);
        }
    }

    /// Handles the end of a station's back-off. If access is won ([`Mac::wins_access`]), sends the first frame of the exchange.
    #[inline]
    pub(crate) fn access(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) {
        if self.wins_access(medium, id, agenda) {
            self.send_first(medium, id, agenda);
        }
    }

    /// Sends the first frame after access is won: RTS, CTS to itself, data or broadcast. Called from one place in the event loop.
    #[inline(always)]
    fn send_first(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) {
        let Self { stations, kinds, rates, .. } = self;
        let kind = &kinds[usize::from(medium.stations[id].radio.kind)];
        let mac = &mut stations[id];
        let Some(&packet) = mac.sending().held.front() else { return };
        if packet.to == BROADCAST {
            self.send_data(medium, id, agenda);
            return;
        }
        let now = agenda.now.0;
        let data_mode = rates.of_attempt(mac.sending_mut(), &packet, id, kind, now);
        let bytes = packet.bytes + kind.overhead;
        let (mode_kind, sifs) = (&kind.modes[data_mode], kind.timing.sifs);
        let (mode, judged) = (mode_kind.control_mode, kind.judged(data_mode));
        if kind.uses_rts_after(mac.sending().attempt, data_mode, bytes) {
            let control = &kind.modes[mode];
            let needed = 3 * sifs + control.cts_ns + kind.duration(data_mode, bytes) + mode_kind.answer_ns;
            let nav_us = duration_us(mac.exchange.reserves(kind, needed, now + control.rts_ns));
            mac.sending_mut().state = State::WaitCts;
            let rts = ControlFrame { kind: FrameKind::Rts, to: packet.to, nav_us, mode, judged };
            self.send_control(medium, id, rts, agenda);
        } else if mode_kind.protection == Protection::CtsToSelf {
            let needed = 2 * sifs + kind.duration(data_mode, bytes) + mode_kind.answer_ns;
            let nav_us = duration_us(mac.exchange.reserves(kind, needed, now + kind.modes[mode].cts_ns));
            mac.sending_mut().state = State::SendData;
            let cts = ControlFrame { kind: FrameKind::Cts, to: id, nav_us, mode, judged };
            self.send_control(medium, id, cts, agenda);
        } else {
            self.send_data(medium, id, agenda);
        }
    }

    #[inline(always)]
    fn send_control(
        &mut self,
        medium: &mut Medium,
        station: StationIx,
        control: ControlFrame,
        agenda: &mut Agenda,
    ) {
        let ControlFrame { kind: frame_kind, to, nav_us, mode, judged } = control;
        let kind = &self.kinds[usize::from(medium.stations[station].radio.kind)];
        let durations = &kind.modes[mode];
        let (bytes, duration) = match frame_kind {
            FrameKind::Rts => (Rts::wire_len(), durations.rts_ns),
            FrameKind::Cts => (Cts::wire_len(), durations.cts_ns),
            FrameKind::CfEnd => (CfEnd::wire_len(), durations.cf_end_ns),
            _ => (Ack::wire_len(), durations.ack_ns),
        };
        let frame = Frame {
            start: agenda.now.0,
            end: agenda.now.0 + duration,
            mpdus: [Mpdu::NONE],
            number: medium.frames.count,
            sender: station,
            receiver: to,
            bytes: bytes as u32,
            nav_us,
            watchers: flag::AWAIT_END | flag::MONITORS,
            kind: frame_kind,
            mode,
            judged,
            passes_left: 1,
            receiver_found: false,
            power_offset: 0,
            loss: Loss::OutOfReach,
        };
        medium.transmit(&frame, agenda);
    }

    fn send_data(&mut self, medium: &mut Medium, station: StationIx, agenda: &mut Agenda) {
        let number = medium.frames.count;
        let Self { stations, kinds, rates, .. } = self;
        let Station { radio, .. } = &medium.stations[station];
        let (mac, kind) = (&mut stations[station], &kinds[usize::from(radio.kind)]);
        let has_categories = radio.has_categories();
        let Some(&packet) = mac.sending().held.front() else { return };
        let broadcast = packet.to == BROADCAST;
        if broadcast && packet.is_to_be_made() {
            self.indications.push(Indication::Access { station });
            return;
        }
        let mode = rates.of_attempt(mac.sending_mut(), &packet, station, kind, agenda.now.0);
        let bytes = packet.bytes + kind.overhead;
        let end = agenda.now.0 + kind.duration(mode, bytes);
        // A broadcast reserves the medium only where frames before it have done so: it has no response that could fail to come.
        let reserved = match broadcast {
            true => mac.exchange.reserved_until().saturating_sub(end),
            false => mac.exchange.reserves(kind, kind.timing.sifs + kind.modes[mode].answer_ns, end),
        };
        let judged = if broadcast { None } else { kind.judged(mode) };
        if !broadcast {
            mac.exchange.data_mode = mode;
        }
        let contention = mac.sending_mut();
        let retry = std::mem::replace(&mut contention.sent_before, true);
        contention.state = State::WaitAck;
        if !retry {
            contention.sequence = (contention.sequence + 1) & 0x0fff;
        }
        contention.counters.sent += 1;
        let sequence = contention.sequence;
        let category = if has_categories { packet.category } else { NO_CATEGORY };
        let frame = Frame {
            start: agenda.now.0,
            end,
            mpdus: [Mpdu { packet: packet.packet, copy: packet.copy, sequence, retry, category }],
            number,
            sender: station,
            receiver: packet.to,
            bytes,
            nav_us: duration_us(reserved),
            watchers: flag::AWAIT_END | flag::MONITORS | if packet.overhear { flag::OVERHEARS } else { 0 },
            kind: if broadcast { FrameKind::Broadcast } else { FrameKind::Data },
            mode,
            judged,
            passes_left: 1,
            receiver_found: false,
            power_offset: packet.power_offset,
            loss: Loss::OutOfReach,
        };
        medium.transmit(&frame, agenda);
    }

    /// Sends a broadcast that was made for a station which has just won access ([`Indication::Access`]).
    pub(crate) fn send_made(
        &mut self,
        medium: &mut Medium,
        station: StationIx,
        made: Msdu,
        agenda: &mut Agenda,
    ) {
        if let Some(place) = self.stations[station].sending_mut().held.front_mut() {
            *place = Msdu { category: place.category, ..made };
        }
        self.send_data(medium, station, agenda);
    }

    /// A station that has just won access has nothing to send any more: its MAC is as after a packet, with a post-backoff, but counts none.
    pub(crate) fn send_nothing(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) {
        let (station, mac, kind) = self.at(medium, id);
        let cw_min = kind.category(mac.exchange.category()).cw_min;
        let contention = mac.sending_mut();
        contention.held.pop_front();
        contention.reset_window(cw_min);
        if station.radio.has_categories() {
            mac.end_exchange(station, id, kind, agenda);
        } else {
            contention.back_off(station, kind, agenda.now.0);
        }
    }

    /// Handles the end of the station's own transmission.
    #[inline]
    pub(crate) fn sent(&mut self, medium: &mut Medium, frame: &Frame, agenda: &mut Agenda) {
        let id = frame.sender;
        match frame.kind {
            FrameKind::Rts | FrameKind::Data => {
                // If the sender waits for the whole response and the response is due, it ends before the time-out: the event is needed only
                // if the response is withheld or lost.
                let Self { stations, kinds, .. } = self;
                let reply = stations[frame.receiver].exchange.reply;
                let station = &medium.stations[id];
                let kind = &kinds[usize::from(station.radio.kind)];
                let times = &kind.modes[frame.mode];
                let wait = if frame.kind == FrameKind::Rts { times.cts_wait } else { times.answer_wait };
                // A signal's way to the receiver and back, where each link counts with its own distance.
                let way = if kind.wait.each_link { medium.way_there_and_back(id, frame.receiver) } else { 0 };
                let at = agenda.now.0 + way + wait;
                let exchange = &mut stations[id].exchange;
                if reply.is_some_and(|r| r.to == id) && !kind.wait.to_its_end {
                    exchange.deferred_timeout = at;
                } else {
                    exchange.await_response(station, id, at, agenda);
                }
            }
            FrameKind::Broadcast => self.packet_done(medium, id, Outcome::Broadcast, agenda),
            FrameKind::Cts if frame.receiver == id => {
                let (station, StationMac { exchange, .. }, kind) = self.at(medium, id);
                exchange.reply_after_sifs(station, id, kind, None, agenda.now.0, agenda);
            }
            FrameKind::CfEnd => {
                let (station, mac, kind) = self.at(medium, id);
                mac.exchange.release();
                mac.end_exchange(station, id, kind, agenda);
            }
            FrameKind::Cts | FrameKind::Ack => {}
        }
    }

    /// Sends the response or the data frame that was due a SIFS after the last frame.
    #[inline]
    pub(crate) fn reply(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) {
        let (station, StationMac { exchange, .. }, kind) = self.at(medium, id);
        match exchange.reply.take() {
            Some(reply) if reply.kind == FrameKind::Cts && carrier_withholds(station, kind, agenda.now.0) => {
                let nav_until = station.radio.busy_until.max(station.radio.nav_until);
                self.cts_withheld(medium, id, reply.to, nav_until, agenda.now.0);
                self.on_response_lost(medium, reply.to, agenda);
            }
            Some(control) => self.send_control(medium, id, control, agenda),
            None => self.send_data(medium, id, agenda),
        }
    }

    fn cts_withheld(&mut self, medium: &mut Medium, at: StationIx, to: StationIx, nav_until: u64, now: u64) {
        self.stations[at].counters.cts_withheld += 1;
        if medium.records.are_enabled() {
            let nav_until = Time(nav_until);
            medium.records.push(Time(now), Record::CtsWithheld { at, to, nav_until });
        }
    }

    /// Handles the end of a frame at a hearer (`entry` of the sender's list) that is no mere bystander.
    #[inline(always)]
    pub(crate) fn frame_ended(
        &mut self,
        medium: &mut Medium,
        (entry, hearer): (u32, Hearer),
        frame: &Frame,
        reception: Reception,
        agenda: &mut Agenda,
    ) {
        let id = hearer.id;
        let end = frame.end + u64::from(hearer.delay);
        let (loss, awaited) = match reception {
            Reception::Received(good) => {
                self.receive(medium, entry, id, (frame, good), end, agenda);
                return;
            }
            Reception::Missed => {
                if frame.is_response() {
                    self.on_response_lost(medium, id, agenda);
                }
                return;
            }
            Reception::Other => (None, frame.watchers),
            Reception::Failed(loss) => {
                if frame.is_response() && frame.receiver == id {
                    self.on_response_lost(medium, id, agenda);
                }
                (Some(loss), flag::AWAIT_END | flag::MONITORS)
            }
        };
        if medium.stations[id].radio.flags & awaited != 0 {
            self.end_of_foreign_frame(medium, frame, loss, (entry, id, end), agenda);
        } else {
            self.recount(medium, id, agenda);
        }
    }

    /// Computes from when slots are counted after a reception, if a back-off is pending.
    #[inline(always)]
    fn recount(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) {
        let station = &mut medium.stations[id];
        if station.radio.deadline != NO_DEADLINE {
            recount(station, id, &self.kinds[usize::from(station.radio.kind)], agenda);
        }
    }

    /// Handles the end of another station's frame, good or with errors, at a station that awaits the end of a reception, overhears, or
    /// monitors.
    #[cold]
    #[inline(never)]
    fn end_of_foreign_frame(
        &mut self,
        medium: &mut Medium,
        frame: &Frame,
        loss: Option<Loss>,
        (entry, id, end): (u32, StationIx, u64),
        agenda: &mut Agenda,
    ) {
        let radio = medium.stations[id].radio;
        self.recount(medium, id, agenda);
        // Receptions by the addressed station are recorded elsewhere.
        if radio.has(flag::MONITORS) && !frame.is_for(id) {
            medium.record_overheard(frame, entry, loss, end);
        }
        if radio.has(flag::AWAIT_END) {
            self.no_response(medium, id, agenda);
        }
        if radio.flags & frame.watchers & flag::OVERHEARS != 0
            && loss.is_none()
            && !medium.loses_overheard(id, frame)
        {
            for mpdu in &frame.mpdus {
                let (copy, from, at) = (mpdu.copy, frame.sender, Time(end));
                self.indications.push(Indication::Overheard { station: id, copy, from, at });
            }
        }
    }

    /// Handles a good frame that is addressed to this station or broadcast.
    #[inline(always)]
    fn receive(
        &mut self,
        medium: &mut Medium,
        entry: u32,
        id: StationIx,
        (frame, good): (&Frame, Verdicts),
        end: u64,
        agenda: &mut Agenda,
    ) {
        let from = frame.sender;
        let (mut station, mut mac, mut kind) = self.at(medium, id);
        if frame.kind == FrameKind::CfEnd {
            station.reset_nav(end);
        }
        if station.radio.deadline != NO_DEADLINE {
            recount(station, id, kind, agenda);
        }
        let contention = mac.sending();
        let expected = match frame.kind {
            FrameKind::Cts => contention.state == State::WaitCts,
            FrameKind::Ack => contention.state == State::WaitAck,
            _ => false,
        } && contention.held.front().is_some_and(|p| p.to == from);
        // A reception other than the response has started in time: the attempt has failed (10.3.2.8); then the frame is processed.
        if station.radio.has(flag::AWAIT_END) && !expected {
            self.no_response(medium, id, agenda);
            (station, mac, kind) = self.at(medium, id);
        }
        match frame.kind {
            FrameKind::Rts => {
                if kind.cts_needs_idle_nav && station.radio.nav_until > end {
                    let nav_until = station.radio.nav_until;
                    self.cts_withheld(medium, id, from, nav_until, end);
                    return;
                }
                let ModeKind { cts_ns, .. } = kind.modes[frame.mode];
                let nav_us = frame.nav_us.saturating_sub(duration_us(kind.timing.sifs + cts_ns));
                let Frame { mode, judged, .. } = *frame;
                let reply = ControlFrame { kind: FrameKind::Cts, to: from, nav_us, mode, judged };
                mac.exchange.reply_after_sifs(station, id, kind, Some(reply), end, agenda);
            }
            FrameKind::Cts if expected => {
                mac.exchange.answered();
                let contention = mac.sending_mut();
                contention.short_retries = 0;
                contention.state = State::SendData;
                station.radio.clear(flag::AWAIT_END);
                mac.exchange.reply_after_sifs(station, id, kind, None, end, agenda);
            }
            FrameKind::Ack if expected => {
                mac.exchange.answered();
                mac.exchange.response_end = end;
                station.radio.clear(flag::AWAIT_END);
                let pair = Pair { from: id, to: from, nominal: kind.nominal_mode };
                let ending = Ending { sent: 1, acknowledged: 1, now: Time(end) };
                attempt_ended(&mut self.rates, &mut self.indications, pair, ending);
                self.packet_done(medium, id, Outcome::Delivered, agenda);
            }
            FrameKind::Data => {
                let ModeKind { ack_mode: mode, answer_ns, .. } = kind.modes[frame.mode];
                let nav_us = match kind.tids {
                    Some(_) => frame.nav_us.saturating_sub(duration_us(kind.timing.sifs + answer_ns)),
                    None => 0,
                };
                let judged = frame.judged;
                let reply = ControlFrame { kind: FrameKind::Ack, to: from, nav_us, mode, judged };
                mac.exchange.reply_after_sifs(station, id, kind, Some(reply), end, agenda);
                self.receive_once(medium, entry, id, (frame, good), end);
            }
            FrameKind::Broadcast => {
                for &Mpdu { copy, .. } in good.of(&frame.mpdus) {
                    self.indications.push(Indication::Received { station: id, copy, from, at: Time(end) });
                }
            }
            FrameKind::Cts | FrameKind::Ack => record_late(medium, id, frame, end),
            FrameKind::CfEnd => {}
        }
    }

    /// Indicates the packets of a data frame to the layer above, unless they are duplicates.
    #[inline(always)]
    fn receive_once(
        &mut self,
        medium: &mut Medium,
        entry: u32,
        id: StationIx,
        (frame, good): (&Frame, Verdicts),
        end: u64,
    ) {
        // Last sequence number received from this sender, plus one.
        let last = &mut medium.hearers.last_sequence[entry as usize];
        for &Mpdu { copy, sequence, retry, category, .. } in good.of(&frame.mpdus) {
            let seen = u32::from(sequence) + 1;
            let before = if category == NO_CATEGORY {
                std::mem::replace(last, seen)
            } else {
                self.stations[id].replace_sequence(frame.sender, category, seen)
            };
            if retry && before == seen {
                self.stations[id].counters.duplicates += 1;
            } else {
                let (from, at) = (frame.sender, Time(end));
                self.indications.push(Indication::Received { station: id, copy, from, at });
            }
        }
    }

    /// Handles the time-out of a CTS or ACK that did not start in time.
    pub(crate) fn timeout(
        &mut self,
        medium: &mut Medium,
        id: StationIx,
        generation: u32,
        agenda: &mut Agenda,
    ) {
        let Medium { stations, frames, .. } = medium;
        let mac = &self.stations[id];
        if mac.exchange.generation != generation
            || !matches!(mac.sending().state, State::WaitCts | State::WaitAck)
        {
            return;
        }
        let Station { radio, rx, .. } = &mut stations[id];
        let kind = &self.kinds[usize::from(radio.kind)];
        if kind.wait.to_its_end && radio.lock != NONE {
            let header = kind.format.header(frames.get(radio.lock).mode);
            if rx.lock_start + header <= agenda.now.0 {
                radio.set(flag::AWAIT_END);
                return;
            }
        }
        self.no_response(medium, id, agenda);
    }

    /// Handles a failed attempt: counts it, widens the window, and backs off or gives the packet up.
    fn no_response(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) {
        let now = agenda.now.0;
        let Self { stations, kinds, rates, indications, .. } = self;
        let Medium { stations: hearers, records, .. } = &mut *medium;
        let (station, mac) = (&mut hearers[id], &mut stations[id]);
        let kind = &kinds[usize::from(station.radio.kind)];
        station.radio.clear(flag::AWAIT_END);
        let category = mac.exchange.category();
        let contention = mac.sending_mut();
        let Some(&packet) = contention.held.front() else { return };
        let mode = contention.mode.unwrap_or(kind.nominal_mode);
        let after_rts = kind.uses_rts_after(contention.attempt, mode, packet.bytes + kind.overhead);
        let no_cts = contention.state == State::WaitCts;
        let (attempts, limit) = if no_cts || !after_rts {
            contention.short_retries += 1;
            (contention.short_retries, kind.short_retry_limit)
        } else {
            contention.long_retries += 1;
            (contention.long_retries, kind.long_retry_limit)
        };
        let given_up = attempts >= limit;
        contention.attempt_over();
        let pair = Pair { from: id, to: packet.to, nominal: kind.nominal_mode };
        let ending = Ending { sent: u32::from(!no_cts), acknowledged: 0, now: Time(now) };
        attempt_ended(rates, indications, pair, ending);
        // The packet whose ACK is missing is sent again at once, within its TXOP.
        let recovers =
            !given_up && station.radio.has_categories() && mac.can_recover(station, id, kind, rates, now);
        let contention = mac.sending_mut();
        if !recovers {
            contention.cw = (2 * contention.cw + 1).min(kind.category(category).cw_max);
        }
        contention.counters.no_response += 1;
        let cw = contention.cw;
        let lag = match kind.after_timeout {
            AfterTimeout::Difs => kind.timing.difs,
            AfterTimeout::Immediate => 0,
        };
        mac.exchange.generation = mac.exchange.generation.wrapping_add(1);
        if no_cts {
            mac.counters.no_cts += 1
        } else {
            mac.counters.no_ack += 1
        }
        mac.counters.given_up += u64::from(given_up);
        if records.are_enabled() {
            let (at, to) = (id, packet.to);
            records.push(Time(now), Record::NoResponse { at, to, cts: no_cts, attempts, cw, given_up });
        }
        if recovers {
            mac.recover(station, id, kind, agenda);
            return;
        }
        if given_up {
            self.packet_done(medium, id, Outcome::RetryLimit, agenda);
        } else if station.radio.has_categories() {
            mac.end_exchange(station, id, kind, agenda);
        } else {
            mac.first.state = State::Contend;
            mac.first.back_off(station, kind, now);
            station.radio.set(flag::CONTENDING);
        }
        let (station, mac, kind) = self.at(medium, id);
        mac.exchange.response_end = (now + lag).saturating_sub(kind.timing.difs);
        if lag > 0 {
            station.start_count(station.radio.count_from.max(now + lag), kind.timing.slot);
        }
        if station.radio.has(flag::CONTENDING) {
            arm(station, id, agenda);
        }
    }

    /// The MAC has finished its first packet. A post-backoff follows (10.3.4.3), after which the next packet may be sent.
    fn packet_done(&mut self, medium: &mut Medium, id: StationIx, outcome: Outcome, agenda: &mut Agenda) {
        let now = agenda.now.0;
        let (station, mac, kind) = self.at(medium, id);
        let cw_min = kind.category(mac.exchange.category()).cw_min;
        let contention = mac.sending_mut();
        let Some(msdu) = contention.held.pop_front() else { return };
        contention.reset_window(cw_min);
        if station.radio.has_categories() {
            mac.category_done(station, id, kind, outcome, agenda);
        } else {
            contention.back_off(station, kind, now);
        }
        self.indications.push(Indication::Finished { station: id, msdu, outcome });
        if medium.records.are_enabled() && outcome == Outcome::RetryLimit {
            medium.records.push(Time(now), Record::GivenUp { at: id, packet: msdu.packet });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 802.11-2016 9.2.4.2 and 10.3.2.4: whole microseconds, rounded up, in 15 bits.
    #[test]
    fn durations_are_whole_microseconds_rounded_up() {
        let rows = [(0, 0), (1, 1), (999, 1), (1_000, 1), (1_001, 2), (304_000, 304), (304_500, 305)];
        let largest = [(32_766_000, 32_766), (32_766_001, 32_767), (32_767_001, 32_767), (u64::MAX, 32_767)];
        for (ns, us) in rows.into_iter().chain(largest) {
            assert_eq!(duration_us(ns), us, "{ns} ns");
        }
    }
}
