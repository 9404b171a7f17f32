//! A station's side of DCF (802.11-2016 clause 10.3): access, RTS/CTS, acknowledgement, retries, duplicates.

use std::collections::VecDeque;

use airfair_units::random::Stream;
use airfair_wire::ieee80211::{Ack, Cts, Rts};

use super::frame::{BROADCAST, Frame, FrameKind, Loss, NO_PACKET, NONE};
use super::radio::{NEVER, NO_DEADLINE, Own, Station, flag};
use super::{Air, Handed, Kind, Mode, Outcome, Upper, class};
use crate::engine::Agenda;
use crate::event::What;
use crate::ids::StationIx;
use crate::measure::trace::Record;
use crate::spec::{AfterTimeout, Protection};

/// What a station is doing with the packet in its hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing to send. A back-off after the last packet may still run.
    Idle,
    /// Waiting for the back-off to end.
    Contend,
    /// RTS sent, waiting for the CTS.
    WaitCts,
    /// The data frame follows in a SIFS or is on the air.
    SendData,
    /// Waiting for the ACK.
    WaitAck,
}

/// A frame that is due a SIFS after the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reply {
    kind: FrameKind,
    to: u32,
    nav_us: u32,
    mode: Mode,
}

/// The MAC of a station, in the order in which its parts share cache lines.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Mac {
    pub state: State,
    /// The data frame has been on the air before.
    sent_before: bool,
    sequence: u16,
    /// Which time-out counts.
    generation: u32,
    reply: Option<Reply>,
    /// When the time-out is due, if its event waits for the response's end ([`Air::sent`]), else [`NEVER`].
    deferred_timeout: u64,
    /// Packets taken from the queue; the first is being sent.
    pub held: VecDeque<Handed>,
    cw: u32,
    short_retries: u32,
    long_retries: u32,
    random: Stream,
}

impl Mac {
    pub(crate) fn new(cw_min: u32, random: Stream) -> Self {
        Self {
            state: State::Idle,
            held: VecDeque::new(),
            reply: None,
            random,
            cw: cw_min,
            short_retries: 0,
            long_retries: 0,
            sent_before: false,
            sequence: 0,
            generation: 0,
            deferred_timeout: NEVER,
        }
    }

    /// Reads what lies in its first cache line, and nothing of it.
    #[inline(always)]
    pub(crate) fn fetch(&self) -> u64 {
        u64::from(self.generation)
    }

    /// The same of the packet in its hands.
    #[inline(always)]
    pub(crate) fn fetch_held(&self) -> u64 {
        self.held.front().map_or(0, |packet| packet.packet)
    }

    /// A CTS or ACK is due.
    pub(crate) fn answers(&self) -> bool {
        self.reply.is_some()
    }

    fn draw(&mut self) -> u16 {
        self.random.below(self.cw + 1) as u16
    }

    /// The response has come: its time-out counts no more.
    fn answered(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.deferred_timeout = NEVER;
    }

    /// Takes packets from the queue up to what the MAC may hold.
    fn fill<U: Upper>(&mut self, id: u32, kind: &Kind, now: u64, upper: &mut U) {
        while self.held.len() < kind.mac_queue as usize {
            match upper.pull(id, now) {
                Some(packet) => self.held.push_back(packet),
                None => break,
            }
        }
    }

    /// For the next packet.
    fn start_anew(&mut self, cw_min: u32) {
        self.cw = cw_min;
        self.short_retries = 0;
        self.long_retries = 0;
        self.sent_before = false;
        self.state = State::Idle;
    }
}

/// Whole microseconds of a duration field, rounded up.
fn duration_us(ns: u64) -> u32 {
    ns.div_ceil(1000).min(32767) as u32
}

impl Station {
    /// From when on slots may be counted if nothing more happens: DIFS after medium and NAV, EIFS after a failed reception.
    #[inline(always)]
    fn resume_at(&self, kind: &Kind) -> u64 {
        let resume = self.radio.busy_until.max(self.radio.nav_until) + kind.difs;
        match self.radio.eifs_from {
            0 => resume,
            from => resume.max(from + kind.eifs),
        }
    }

    /// Slots are counted from `from` on.
    #[inline(always)]
    fn count_from(&mut self, from: u64, kind: &Kind) {
        self.radio.count_from = from;
        self.radio.deadline = from + u64::from(self.radio.slots) * kind.slot;
    }

    /// Draws a back-off and starts to count as soon as the medium allows.
    fn back_off(&mut self, mac: &mut Mac, kind: &Kind, now: u64) {
        self.radio.slots = mac.draw();
        self.count_from(self.resume_at(kind).max(now), kind);
    }

    /// Makes sure that an access event comes no later than the deadline.
    #[inline(always)]
    fn arm(&mut self, id: u32, agenda: &mut Agenda) {
        let deadline = self.radio.deadline;
        if deadline < self.clock.armed_at {
            self.clock.armed_at = deadline;
            agenda.push(deadline, self.order(class::ACCESS), What::Access(StationIx(id)));
        }
    }

    /// A reception has ended: counting starts anew.
    #[inline]
    pub(crate) fn recount(&mut self, id: u32, kind: &Kind, agenda: &mut Agenda) {
        let contending = self.radio.has(flag::CONTENDING);
        if !contending && self.radio.deadline <= agenda.now {
            // A back-off after the last packet has run out meanwhile.
            self.radio.deadline = NO_DEADLINE;
            return;
        }
        self.count_from(self.resume_at(kind), kind);
        if contending {
            self.arm(id, agenda);
        }
    }

    /// When the access event is due that was set for `time`: at the deadline, which may have moved since.
    #[inline(always)]
    pub(crate) fn access_due(&mut self, time: u64) -> u64 {
        let Self { radio, clock, .. } = self;
        if clock.armed_at != time || radio.flags & (flag::CONTENDING | flag::DRAW) != flag::CONTENDING {
            return time;
        }
        clock.armed_at = radio.deadline.max(time);
        clock.armed_at
    }

    /// A reply is due; `None` is the own data frame.
    #[inline(always)]
    fn reply_after_sifs(
        &self,
        mac: &mut Mac,
        id: u32,
        kind: &Kind,
        reply: Option<Reply>,
        end: u64,
        agenda: &mut Agenda,
    ) {
        mac.reply = reply;
        agenda.push(end + kind.sifs, self.order(class::REPLY), What::Reply(StationIx(id)));
    }

    fn await_response(&self, mac: &Mac, id: u32, at: u64, agenda: &mut Agenda) {
        agenda.push(
            at,
            self.order(class::TIMEOUT),
            What::Timeout { station: StationIx(id), generation: mac.generation },
        );
    }

    /// Whether a CTS that is due is withheld because the carrier (or an EIFS that is kept as a NAV) is busy.
    fn carrier_withholds(&self, kind: &Kind, now: u64) -> bool {
        let eifs = self.radio.eifs_from;
        kind.cts_needs_idle_carrier && (self.radio.busy_until > now || self.radio.nav_until > now)
            || kind.eifs_as_nav && eifs != 0 && eifs + kind.eifs - kind.difs > now
    }
}

impl Air {
    /// A station as a hearer, with the constants of its kind.
    #[inline(always)]
    pub(crate) fn hears(&mut self, id: u32) -> (&mut Station, &Kind) {
        let station = &mut self.stations[id as usize];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        (station, kind)
    }

    /// A station with its MAC and the constants of its kind.
    #[inline(always)]
    fn at(&mut self, id: u32) -> (&mut Station, &mut Mac, &Kind) {
        let station = &mut self.stations[id as usize];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        (station, &mut self.own[id as usize].mac, kind)
    }

    /// The response that the station awaits will not come: its time-out will.
    pub(crate) fn response_lost(&mut self, id: u32, agenda: &mut Agenda) {
        let (station, mac, _) = self.at(id);
        let at = std::mem::replace(&mut mac.deferred_timeout, NEVER);
        if at != NEVER {
            station.await_response(mac, id, at.max(agenda.now), agenda);
        }
    }

    /// The upper layer may have a packet for this station.
    pub fn kick<U: Upper>(&mut self, id: u32, agenda: &mut Agenda, upper: &mut U) {
        let now = agenda.now;
        let (station, mac, kind) = self.at(id);
        mac.fill(id, kind, now, upper);
        if mac.state != State::Idle || mac.held.is_empty() {
            return;
        }
        mac.state = State::Contend;
        let resume = station.resume_at(kind);
        station.radio.set(flag::CONTENDING);
        // A back-off after the last packet still runs: it goes on.
        if station.radio.deadline == NO_DEADLINE || station.radio.deadline < now {
            let Station { radio, slow, .. } = station;
            let seen = slow.busy_from + kind.sensing_delay;
            let from = resume.max(now);
            if kind.immediate_access && radio.nav_until <= now && (radio.busy_until <= now || seen > now) {
                radio.slots = 0;
                radio.set(flag::IMMEDIATE);
                if radio.busy_until > now {
                    // A signal is there, but too short for the station to know: it goes by the idle time before.
                    let after_eifs = if radio.eifs_from == 0 { 0 } else { radio.eifs_from + kind.eifs };
                    radio.count_from =
                        (slow.idle_from.max(radio.nav_until) + kind.difs).max(after_eifs).max(now);
                    radio.deadline = radio.count_from;
                    radio.freeze(seen, radio.busy_until + kind.difs, kind.slot);
                } else {
                    radio.count_from = from;
                    radio.deadline = from;
                }
            } else {
                radio.slots = mac.draw();
                station.count_from(from, kind);
            }
        }
        station.arm(id, agenda);
    }

    /// An access event whose time has come ([`Station::access_due`]): the back-off has ended, unless it has yet to be drawn.
    #[inline]
    pub(crate) fn access(&mut self, id: u32, agenda: &mut Agenda) {
        let (station, mac, kind) = self.at(id);
        if station.clock.armed_at != agenda.now {
            return;
        }
        station.clock.armed_at = NEVER;
        if !station.radio.has(flag::CONTENDING) || station.radio.deadline == NO_DEADLINE {
            return;
        }
        if station.radio.has(flag::DRAW) {
            station.radio.clear(flag::DRAW);
            station.radio.slots = mac.draw();
            station.count_from(station.radio.count_from, kind);
            if station.radio.deadline > agenda.now {
                station.arm(id, agenda);
                return;
            }
        }
        station.radio.deadline = NO_DEADLINE;
        station.radio.clear(flag::CONTENDING | flag::IMMEDIATE);
        self.send_first(id, agenda);
    }

    /// The station has won access: RTS, CTS to itself, data or broadcast. It has one caller, in the loop of events.
    #[inline(always)]
    fn send_first(&mut self, id: u32, agenda: &mut Agenda) {
        let (_, mac, kind) = self.at(id);
        let Some(&packet) = mac.held.front() else { return };
        if packet.to == BROADCAST {
            self.send_data(id, agenda);
            return;
        }
        let bytes = packet.bytes + kind.overhead;
        let data = kind.duration(kind.data_mode, bytes);
        let mode = kind.control_mode;
        let ack = kind.ack_ns;
        if kind.uses_rts(bytes) {
            let nav_us = duration_us(3 * kind.sifs + kind.cts_ns + data + ack);
            mac.state = State::WaitCts;
            self.send_control(id, FrameKind::Rts, packet.to, nav_us, mode, agenda);
        } else if kind.protection == Protection::CtsToSelf {
            let nav_us = duration_us(2 * kind.sifs + data + ack);
            mac.state = State::SendData;
            self.send_control(id, FrameKind::Cts, id, nav_us, mode, agenda);
        } else {
            self.send_data(id, agenda);
        }
    }

    fn send_control(
        &mut self,
        station: u32,
        what: FrameKind,
        to: u32,
        nav_us: u32,
        mode: Mode,
        agenda: &mut Agenda,
    ) {
        let kind = &self.kinds[usize::from(self.stations[station as usize].radio.kind)];
        let (bytes, duration) = match what {
            FrameKind::Rts => (Rts::wire_len(), kind.rts_ns),
            FrameKind::Cts => (Cts::wire_len(), kind.cts_in(mode)),
            _ => (Ack::wire_len(), kind.ack_in(mode)),
        };
        let bytes = bytes as u32;
        let number = self.frames.count;
        let frame = Frame {
            start: agenda.now,
            end: agenda.now + duration,
            number,
            sender: station,
            receiver: to,
            packet: NO_PACKET,
            bytes,
            nav_us,
            sequence: 0,
            retry: false,
            watchers: flag::AWAIT_END | flag::MONITORS,
            kind: what,
            mode,
            passes_left: 0,
            met: false,
            loss: Loss::OutOfReach,
        };
        self.transmit(&frame, agenda);
    }

    fn send_data(&mut self, station: u32, agenda: &mut Agenda) {
        let number = self.frames.count;
        let (_, mac, kind) = self.at(station);
        let Some(&packet) = mac.held.front() else { return };
        let broadcast = packet.to == BROADCAST;
        let mode = if broadcast { kind.broadcast_mode } else { kind.data_mode };
        let bytes = packet.bytes + kind.overhead;
        let retry = std::mem::replace(&mut mac.sent_before, true);
        if !retry {
            mac.sequence = (mac.sequence + 1) & 0x0fff;
        }
        mac.state = State::WaitAck;
        let frame = Frame {
            start: agenda.now,
            end: agenda.now + kind.duration(mode, bytes),
            number,
            sender: station,
            receiver: packet.to,
            packet: packet.packet,
            bytes,
            nav_us: if broadcast { 0 } else { duration_us(kind.sifs + kind.ack_ns) },
            sequence: mac.sequence,
            retry,
            watchers: flag::AWAIT_END | flag::MONITORS | if packet.overhear { flag::OVERHEARS } else { 0 },
            kind: if broadcast { FrameKind::Broadcast } else { FrameKind::Data },
            mode,
            passes_left: 0,
            met: false,
            loss: Loss::OutOfReach,
        };
        self.transmit(&frame, agenda);
    }

    /// The station's own frame has left.
    #[inline]
    pub(crate) fn sent<U: Upper>(&mut self, frame: &Frame, agenda: &mut Agenda, upper: &mut U) {
        let id = frame.sender;
        match frame.kind {
            FrameKind::Rts | FrameKind::Data => {
                // If the whole response is awaited and the answer is under way, its end comes before the time-out: the
                // event is needed only if the answer is withheld or lost.
                let reply = self.own[frame.receiver as usize].mac.reply;
                let (station, mac, kind) = self.at(id);
                let rts = frame.kind == FrameKind::Rts;
                let at = agenda.now + if rts { kind.cts_timeout } else { kind.ack_timeout };
                if reply.is_some_and(|r| r.to == id) && !kind.awaits_end {
                    mac.deferred_timeout = at;
                } else {
                    station.await_response(mac, id, at, agenda);
                }
            }
            FrameKind::Broadcast => self.packet_done(id, Outcome::Broadcast, agenda, upper),
            FrameKind::Cts if frame.receiver == id => {
                let (station, mac, kind) = self.at(id);
                station.reply_after_sifs(mac, id, kind, None, agenda.now, agenda);
            }
            FrameKind::Cts | FrameKind::Ack => {}
        }
    }

    /// A SIFS has passed.
    #[inline]
    pub(crate) fn reply(&mut self, id: u32, agenda: &mut Agenda) {
        let (station, mac, kind) = self.at(id);
        match mac.reply.take() {
            Some(reply) if reply.kind == FrameKind::Cts && station.carrier_withholds(kind, agenda.now) => {
                let nav_until = station.radio.busy_until.max(station.radio.nav_until);
                self.cts_withheld(id, reply.to, nav_until, agenda.now);
                self.response_lost(reply.to, agenda);
            }
            Some(reply) => self.send_control(id, reply.kind, reply.to, reply.nav_us, reply.mode, agenda),
            None => self.send_data(id, agenda),
        }
    }

    fn cts_withheld(&mut self, at: u32, to: u32, nav_until: u64, now: u64) {
        self.own[at as usize].counters.cts_withheld += 1;
        if self.recorder.is_some() {
            self.record(now, Record::CtsWithheld { at, to, nav_until });
        }
    }

    /// A frame for this station, or a broadcast, was received.
    pub(crate) fn receive<U: Upper>(
        &mut self,
        entry: u32,
        id: u32,
        frame: &Frame,
        end: u64,
        agenda: &mut Agenda,
        upper: &mut U,
    ) {
        let from = frame.sender;
        let (mut station, mut mac, mut kind) = self.at(id);
        let expected = match frame.kind {
            FrameKind::Cts => mac.state == State::WaitCts,
            FrameKind::Ack => mac.state == State::WaitAck,
            _ => false,
        } && mac.held.front().is_some_and(|p| p.to == from);
        // Another frame came while the response was due: the attempt has failed (10.3.2.8), then the frame counts.
        if station.radio.has(flag::AWAIT_END) && !expected {
            self.no_response(id, agenda, upper);
            (station, mac, kind) = self.at(id);
        }
        match frame.kind {
            FrameKind::Rts => {
                if kind.cts_needs_idle_nav && station.radio.nav_until > end {
                    let nav_until = station.radio.nav_until;
                    self.cts_withheld(id, from, nav_until, end);
                    return;
                }
                let used = kind.sifs + kind.cts_in(frame.mode);
                let nav_us = frame.nav_us.saturating_sub(duration_us(used));
                let reply = Reply { kind: FrameKind::Cts, to: from, nav_us, mode: frame.mode };
                station.reply_after_sifs(mac, id, kind, Some(reply), end, agenda);
            }
            FrameKind::Cts if expected => {
                mac.answered();
                mac.short_retries = 0;
                mac.state = State::SendData;
                station.radio.clear(flag::AWAIT_END);
                station.reply_after_sifs(mac, id, kind, None, end, agenda);
            }
            FrameKind::Ack if expected => {
                mac.answered();
                station.radio.clear(flag::AWAIT_END);
                self.packet_done(id, Outcome::Delivered, agenda, upper);
            }
            FrameKind::Data => {
                let mode = kind.ack_to[frame.mode as usize];
                let reply = Reply { kind: FrameKind::Ack, to: from, nav_us: 0, mode };
                station.reply_after_sifs(mac, id, kind, Some(reply), end, agenda);
                let seen = u32::from(frame.sequence) + 1;
                if frame.retry && self.last_sequence[entry as usize] == seen {
                    self.own[id as usize].counters.duplicates += 1;
                } else {
                    self.last_sequence[entry as usize] = seen;
                    upper.received(id, frame.packet, from, end);
                }
            }
            FrameKind::Broadcast => upper.received(id, frame.packet, from, end),
            // A CTS or ACK that nobody waits for any more.
            FrameKind::Cts | FrameKind::Ack => {}
        }
    }

    /// CTS or ACK did not start in time.
    pub(crate) fn timeout<U: Upper>(&mut self, id: u32, generation: u32, agenda: &mut Agenda, upper: &mut U) {
        let Self { stations, own, kinds, frames, .. } = self;
        let Own { mac, .. } = &own[id as usize];
        if mac.generation != generation || !matches!(mac.state, State::WaitCts | State::WaitAck) {
            return;
        }
        let Station { radio, clock, .. } = &mut stations[id as usize];
        if kinds[usize::from(radio.kind)].awaits_end && radio.lock != NONE {
            let header = kinds[usize::from(radio.kind)].phy_start(frames.get(radio.lock).mode);
            if clock.lock_start + header <= agenda.now {
                radio.set(flag::AWAIT_END);
                return;
            }
        }
        self.no_response(id, agenda, upper);
    }

    /// The attempt has failed: count it, widen the window, back off, or give the packet up.
    pub(crate) fn no_response<U: Upper>(&mut self, id: u32, agenda: &mut Agenda, upper: &mut U) {
        let now = agenda.now;
        let (Station { radio, .. }, mac, kind) = self.at(id);
        radio.clear(flag::AWAIT_END);
        let Some(&packet) = mac.held.front() else { return };
        mac.generation = mac.generation.wrapping_add(1);
        let after_rts = kind.uses_rts(packet.bytes + kind.overhead);
        let no_cts = mac.state == State::WaitCts;
        let (attempts, limit) = if no_cts || !after_rts {
            mac.short_retries += 1;
            (mac.short_retries, kind.short_retry_limit)
        } else {
            mac.long_retries += 1;
            (mac.long_retries, kind.long_retry_limit)
        };
        let given_up = attempts >= limit;
        mac.cw = (2 * mac.cw + 1).min(kind.cw_max);
        let cw = mac.cw;
        let lag = match kind.after_timeout {
            AfterTimeout::Difs => kind.difs,
            AfterTimeout::Immediate => 0,
        };
        let counters = &mut self.own[id as usize].counters;
        if no_cts {
            counters.no_cts += 1
        } else {
            counters.no_ack += 1
        }
        counters.given_up += u64::from(given_up);
        if self.recorder.is_some() {
            self.record(
                now,
                Record::NoResponse { at: id, to: packet.to, cts: no_cts, attempts, cw, given_up },
            );
        }
        if given_up {
            self.packet_done(id, Outcome::RetryLimit, agenda, upper);
        } else {
            let (station, mac, kind) = self.at(id);
            mac.state = State::Contend;
            station.back_off(mac, kind, now);
            station.radio.set(flag::CONTENDING);
        }
        let (station, kind) = self.hears(id);
        if lag > 0 {
            station.count_from(station.radio.count_from.max(now + lag), kind);
        }
        if station.radio.has(flag::CONTENDING) {
            station.arm(id, agenda);
        }
    }

    /// The MAC is done with its first packet; the next one follows after a back-off (post-backoff, 10.3.4.3).
    fn packet_done<U: Upper>(&mut self, id: u32, outcome: Outcome, agenda: &mut Agenda, upper: &mut U) {
        let now = agenda.now;
        let (station, mac, kind) = self.at(id);
        let Some(packet) = mac.held.pop_front() else { return };
        mac.start_anew(kind.cw_min);
        upper.finished(id, packet, outcome, now);
        station.back_off(mac, kind, now);
        mac.fill(id, kind, now, upper);
        if !mac.held.is_empty() {
            mac.state = State::Contend;
            station.radio.set(flag::CONTENDING);
            station.arm(id, agenda);
        }
        if self.recorder.is_some() && outcome == Outcome::RetryLimit {
            self.record(now, Record::GivenUp { at: id, packet: packet.packet });
        }
    }
}
