//! A station's side of DCF (802.11-2016 clause 10.3): access, RTS/CTS, acknowledgement, retries, duplicates.

use std::collections::VecDeque;

use airfair_units::random::Stream;
use airfair_wire::ieee80211::{Ack, Cts, Rts};

use super::frame::{BROADCAST, Frame, FrameKind, Loss, NO_PACKET, NONE};
use super::radio::{NEVER, NO_DEADLINE, Station, flag};
use super::{Air, Handed, Mode, Outcome, Upper, class, kinds};
use crate::engine::Agenda;
use crate::measure::trace::Record;
use crate::spec::{AfterTimeout, Protection};

/// What a station is doing with the packet in its hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
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
pub(super) struct Reply {
    kind: FrameKind,
    to: u32,
    nav_us: u32,
    mode: Mode,
}

/// The MAC of a station.
#[derive(Debug)]
pub(super) struct Mac {
    pub state: State,
    /// Packets taken from the queue; the first is being sent.
    pub held: VecDeque<Handed>,
    reply: Option<Reply>,
    random: Stream,
    cw: u32,
    short_retries: u32,
    long_retries: u32,
    /// The data frame has been on the air before.
    sent_before: bool,
    sequence: u16,
    /// Which time-out counts.
    generation: u32,
    /// When it is due, if its event waits for the response's end ([`Air::sent`]).
    deferred_timeout: Option<u64>,
}

impl Mac {
    pub(super) fn new(cw_min: u32, random: Stream) -> Self {
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
            deferred_timeout: None,
        }
    }

    fn draw(&mut self) -> u16 {
        self.random.below(self.cw + 1) as u16
    }
}

/// Whole microseconds of a duration field, rounded up.
fn duration_us(ns: u64) -> u32 {
    ns.div_ceil(1000).min(32767) as u32
}

impl Air {
    /// The upper layer may have a packet for this station.
    pub fn kick<U: Upper>(&mut self, station: u32, agenda: &mut Agenda, upper: &mut U) {
        let s = station as usize;
        self.fill(station, agenda.now, upper);
        if self.macs[s].state != State::Idle || self.macs[s].held.is_empty() {
            return;
        }
        let now = agenda.now;
        self.macs[s].state = State::Contend;
        let resume = self.resume_at(s);
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
        let (slot, difs, immediate) = (kind.slot, kind.difs, kind.immediate_access);
        let (sensing_delay, eifs) = (kind.sensing_delay, kind.eifs);
        let Station { radio, clock, .. } = &mut self.stations[s];
        radio.set(flag::CONTENDING);
        // A back-off after the last packet still runs: it goes on.
        if radio.deadline == NO_DEADLINE || radio.deadline < now {
            let seen = clock.busy_from + sensing_delay;
            radio.count_from = resume.max(now);
            if immediate && radio.nav_until <= now && (radio.busy_until <= now || seen > now) {
                radio.slots = 0;
                radio.set(flag::IMMEDIATE);
                let mut unseen = None;
                if radio.busy_until > now {
                    // A signal is there, but too short for the station to know: it goes by the idle time before.
                    unseen = Some(radio.busy_until + difs);
                    let after_eifs = if clock.eifs_from == 0 { 0 } else { clock.eifs_from + eifs };
                    radio.count_from = (clock.idle_from.max(radio.nav_until) + difs).max(after_eifs).max(now);
                }
                radio.deadline = radio.count_from;
                if let Some(resume) = unseen {
                    radio.freeze(seen, resume, slot);
                }
            } else {
                radio.slots = self.macs[s].draw();
                radio.deadline = radio.count_from + u64::from(radio.slots) * slot;
            }
        }
        self.arm(station, agenda);
    }

    /// Takes packets from the queue up to what the MAC may hold.
    fn fill<U: Upper>(&mut self, station: u32, now: u64, upper: &mut U) {
        let s = station as usize;
        let room = self.kinds[usize::from(self.stations[s].radio.kind)].mac_queue as usize;
        while self.macs[s].held.len() < room {
            match upper.pull(station, now) {
                Some(packet) => self.macs[s].held.push_back(packet),
                None => break,
            }
        }
    }

    /// From when on slots may be counted if nothing more happens: DIFS after medium and NAV, EIFS after a failed reception.
    fn resume_at(&self, s: usize) -> u64 {
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
        let radio = &self.stations[s].radio;
        let resume = radio.busy_until.max(radio.nav_until) + kind.difs;
        match self.stations[s].clock.eifs_from {
            0 => resume,
            from => resume.max(from + kind.eifs),
        }
    }

    /// A reception has ended: counting starts anew.
    #[inline]
    pub(super) fn recount(&mut self, station: u32, agenda: &mut Agenda) {
        let s = station as usize;
        let resume = self.resume_at(s);
        let slot = self.kinds[usize::from(self.stations[s].radio.kind)].slot;
        let radio = &mut self.stations[s].radio;
        if !radio.has(flag::CONTENDING) && radio.deadline <= agenda.now {
            // A back-off after the last packet has run out meanwhile.
            radio.deadline = NO_DEADLINE;
            return;
        }
        radio.count_from = resume;
        radio.deadline = resume + u64::from(radio.slots) * slot;
        if radio.has(flag::CONTENDING) && radio.deadline < self.stations[s].slow.armed_at {
            self.arm(station, agenda);
        }
    }

    /// Makes sure that an access event comes no later than the deadline.
    fn arm(&mut self, station: u32, agenda: &mut Agenda) {
        let s = station as usize;
        let deadline = self.stations[s].radio.deadline;
        if deadline < self.stations[s].slow.armed_at {
            self.stations[s].slow.armed_at = deadline;
            agenda.push(deadline, self.order(class::ACCESS, station), kinds::ACCESS, station, 0, 0);
        }
    }

    /// An access event: the back-off has ended, or it has been moved and the event follows.
    pub(super) fn access(&mut self, station: u32, agenda: &mut Agenda) {
        let s = station as usize;
        if self.stations[s].slow.armed_at != agenda.now {
            return;
        }
        self.stations[s].slow.armed_at = NEVER;
        let radio = &mut self.stations[s].radio;
        let slot = self.kinds[usize::from(radio.kind)].slot;
        if !radio.has(flag::CONTENDING) || radio.deadline == NO_DEADLINE {
            return;
        }
        if radio.has(flag::DRAW) {
            radio.clear(flag::DRAW);
            radio.slots = self.macs[s].draw();
            radio.deadline = radio.count_from + u64::from(radio.slots) * slot;
        }
        if radio.deadline > agenda.now {
            self.arm(station, agenda);
            return;
        }
        radio.deadline = NO_DEADLINE;
        radio.clear(flag::CONTENDING | flag::IMMEDIATE);
        self.send_first(station, agenda);
    }

    /// The station has won access: RTS, CTS to itself, data or broadcast.
    fn send_first(&mut self, station: u32, agenda: &mut Agenda) {
        let s = station as usize;
        let Some(&packet) = self.macs[s].held.front() else { return };
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
        if packet.to == BROADCAST {
            self.send_data(station, agenda);
            return;
        }
        let bytes = packet.bytes + kind.overhead;
        let data = kind.duration(kind.data_mode, bytes);
        let mode = kind.control_mode;
        let ack = kind.ack_ns;
        if kind.uses_rts(bytes) {
            let nav_us = duration_us(3 * kind.sifs + kind.cts_ns + data + ack);
            self.macs[s].state = State::WaitCts;
            self.send_control(station, FrameKind::Rts, packet.to, nav_us, mode, agenda);
        } else if kind.protection == Protection::CtsToSelf {
            let nav_us = duration_us(2 * kind.sifs + data + ack);
            self.macs[s].state = State::SendData;
            self.send_control(station, FrameKind::Cts, station, nav_us, mode, agenda);
        } else {
            self.send_data(station, agenda);
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
        let frame = Frame {
            start: agenda.now,
            end: agenda.now + duration,
            number: 0,
            sender: station,
            receiver: to,
            packet: NO_PACKET,
            bytes,
            nav_us,
            sequence: 0,
            retry: false,
            kind: what,
            mode,
            passes_left: 0,
            met: false,
            loss: Loss::OutOfReach,
        };
        self.transmit(&frame, agenda);
    }

    fn send_data(&mut self, station: u32, agenda: &mut Agenda) {
        let s = station as usize;
        let mac = &mut self.macs[s];
        let Some(&packet) = mac.held.front() else { return };
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
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
            number: 0,
            sender: station,
            receiver: packet.to,
            packet: packet.packet,
            bytes,
            nav_us: if broadcast { 0 } else { duration_us(kind.sifs + kind.ack_ns) },
            sequence: mac.sequence,
            retry,
            kind: if broadcast { FrameKind::Broadcast } else { FrameKind::Data },
            mode,
            passes_left: 0,
            met: false,
            loss: Loss::OutOfReach,
        };
        self.transmit(&frame, agenda);
    }

    /// The station's own frame has left.
    pub(super) fn sent<U: Upper>(&mut self, frame: &Frame, agenda: &mut Agenda, upper: &mut U) {
        let station = frame.sender;
        let s = station as usize;
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
        match frame.kind {
            FrameKind::Rts | FrameKind::Data => {
                let rts = frame.kind == FrameKind::Rts;
                let at = agenda.now + if rts { kind.cts_timeout } else { kind.ack_timeout };
                // If the whole response is awaited and the answer is under way, its end comes before the time-out: the
                // event is needed only if the answer is withheld or lost.
                let answered = self.macs[frame.receiver as usize].reply.is_some_and(|r| r.to == station);
                if answered && !kind.awaits_end {
                    self.macs[s].deferred_timeout = Some(at);
                } else {
                    self.await_response(station, at, agenda);
                }
            }
            FrameKind::Broadcast => self.packet_done(station, Outcome::Broadcast, agenda, upper),
            FrameKind::Cts if frame.receiver == station => {
                self.reply_after_sifs(station, None, agenda.now, agenda)
            }
            FrameKind::Cts | FrameKind::Ack => {}
        }
    }

    fn await_response(&mut self, station: u32, at: u64, agenda: &mut Agenda) {
        let generation = self.macs[station as usize].generation;
        agenda.push(at, self.order(class::TIMEOUT, station), kinds::TIMEOUT, station, generation, 0);
    }

    /// The response that a station awaits will not come: its time-out will.
    pub(super) fn response_lost(&mut self, station: u32, agenda: &mut Agenda) {
        if let Some(at) = self.macs[station as usize].deferred_timeout.take() {
            self.await_response(station, at.max(agenda.now), agenda);
        }
    }

    /// A reply is due; `None` is the own data frame.
    fn reply_after_sifs(&mut self, station: u32, reply: Option<Reply>, end: u64, agenda: &mut Agenda) {
        let s = station as usize;
        self.macs[s].reply = reply;
        let at = end + self.kinds[usize::from(self.stations[s].radio.kind)].sifs;
        agenda.push(at, self.order(class::REPLY, station), kinds::REPLY, station, 0, 0);
    }

    /// A SIFS has passed.
    pub(super) fn reply(&mut self, station: u32, agenda: &mut Agenda) {
        let s = station as usize;
        match self.macs[s].reply.take() {
            Some(reply) if reply.kind == FrameKind::Cts && self.carrier_withholds(s, agenda.now) => {
                self.counters[s].cts_withheld += 1;
                self.response_lost(reply.to, agenda);
                if self.recorder.is_some() {
                    let until = self.stations[s].radio.busy_until.max(self.stations[s].radio.nav_until);
                    self.record(
                        agenda.now,
                        Record::CtsWithheld { at: station, to: reply.to, nav_until: until },
                    );
                }
            }
            Some(reply) => self.send_control(station, reply.kind, reply.to, reply.nav_us, reply.mode, agenda),
            None => self.send_data(station, agenda),
        }
    }

    /// Whether a CTS that is due is withheld because the carrier (or an EIFS that is kept as a NAV) is busy.
    fn carrier_withholds(&self, s: usize, now: u64) -> bool {
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
        let radio = &self.stations[s].radio;
        let eifs = self.stations[s].clock.eifs_from;
        kind.cts_needs_idle_carrier && (radio.busy_until > now || radio.nav_until > now)
            || kind.eifs_as_nav && eifs != 0 && eifs + kind.eifs - kind.difs > now
    }

    /// A frame for this station, or a broadcast, was received.
    pub(super) fn receive<U: Upper>(
        &mut self,
        entry: u32,
        station: u32,
        frame: &Frame,
        end: u64,
        agenda: &mut Agenda,
        upper: &mut U,
    ) {
        let s = station as usize;
        let from = frame.sender;
        let state = self.macs[s].state;
        let peer = self.macs[s].held.front().map_or(NONE, |p| p.to);
        let expected = from == peer
            && match frame.kind {
                FrameKind::Cts => state == State::WaitCts,
                FrameKind::Ack => state == State::WaitAck,
                _ => false,
            };
        // Another frame came while the response was due: the attempt has failed (10.3.2.8), then the frame counts.
        if self.stations[s].radio.has(flag::AWAIT_END) && !expected {
            self.no_response(station, agenda, upper);
        }
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
        match frame.kind {
            FrameKind::Rts => {
                if kind.cts_needs_idle_nav && self.stations[s].radio.nav_until > end {
                    self.counters[s].cts_withheld += 1;
                    if self.recorder.is_some() {
                        self.record(
                            end,
                            Record::CtsWithheld {
                                at: station,
                                to: from,
                                nav_until: self.stations[s].radio.nav_until,
                            },
                        );
                    }
                    return;
                }
                let used = kind.sifs + kind.cts_in(frame.mode);
                let nav_us = frame.nav_us.saturating_sub(duration_us(used));
                let reply = Reply { kind: FrameKind::Cts, to: from, nav_us, mode: frame.mode };
                self.reply_after_sifs(station, Some(reply), end, agenda);
            }
            FrameKind::Cts if expected => {
                let mac = &mut self.macs[s];
                mac.generation = mac.generation.wrapping_add(1);
                mac.deferred_timeout = None;
                mac.short_retries = 0;
                mac.state = State::SendData;
                self.stations[s].radio.clear(flag::AWAIT_END);
                self.reply_after_sifs(station, None, end, agenda);
            }
            FrameKind::Ack if expected => {
                let mac = &mut self.macs[s];
                mac.generation = mac.generation.wrapping_add(1);
                mac.deferred_timeout = None;
                self.stations[s].radio.clear(flag::AWAIT_END);
                self.packet_done(station, Outcome::Delivered, agenda, upper);
            }
            FrameKind::Data => {
                let mode = kind.ack_to[frame.mode as usize];
                self.reply_after_sifs(
                    station,
                    Some(Reply { kind: FrameKind::Ack, to: from, nav_us: 0, mode }),
                    end,
                    agenda,
                );
                let seen = u32::from(frame.sequence) + 1;
                if frame.retry && self.last_sequence[entry as usize] == seen {
                    self.counters[s].duplicates += 1;
                } else {
                    self.last_sequence[entry as usize] = seen;
                    upper.received(station, frame.packet, from, end);
                }
            }
            FrameKind::Broadcast => upper.received(station, frame.packet, from, end),
            // A CTS or ACK that nobody waits for any more.
            FrameKind::Cts | FrameKind::Ack => {}
        }
    }

    /// CTS or ACK did not start in time.
    pub(super) fn timeout<U: Upper>(
        &mut self,
        station: u32,
        generation: u32,
        agenda: &mut Agenda,
        upper: &mut U,
    ) {
        let s = station as usize;
        let mac = &self.macs[s];
        if mac.generation != generation || !matches!(mac.state, State::WaitCts | State::WaitAck) {
            return;
        }
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
        let radio = &mut self.stations[s].radio;
        if kind.awaits_end && radio.lock != NONE {
            let header = kind.phy_start(self.frames.get(radio.lock).mode);
            if radio.lock_start + header <= agenda.now {
                radio.set(flag::AWAIT_END);
                return;
            }
        }
        self.no_response(station, agenda, upper);
    }

    /// The attempt has failed: count it, widen the window, back off, or give the packet up.
    pub(super) fn no_response<U: Upper>(&mut self, station: u32, agenda: &mut Agenda, upper: &mut U) {
        let s = station as usize;
        self.stations[s].radio.clear(flag::AWAIT_END);
        let kind = &self.kinds[usize::from(self.stations[s].radio.kind)];
        let mac = &mut self.macs[s];
        let Some(&packet) = mac.held.front() else { return };
        mac.generation = mac.generation.wrapping_add(1);
        let after_rts = kind.uses_rts(packet.bytes + kind.overhead);
        let no_cts = mac.state == State::WaitCts;
        let given_up = if no_cts || !after_rts {
            mac.short_retries += 1;
            mac.short_retries >= kind.short_retry_limit
        } else {
            mac.long_retries += 1;
            mac.long_retries >= kind.long_retry_limit
        };
        let attempts = if no_cts || !after_rts { mac.short_retries } else { mac.long_retries };
        mac.cw = (2 * mac.cw + 1).min(kind.cw_max);
        let counters = &mut self.counters[s];
        if no_cts {
            counters.no_cts += 1
        } else {
            counters.no_ack += 1
        }
        let lag = match kind.after_timeout {
            AfterTimeout::Difs => kind.difs,
            AfterTimeout::Immediate => 0,
        };
        if self.recorder.is_some() {
            let cw = self.macs[s].cw;
            self.record(
                agenda.now,
                Record::NoResponse { at: station, to: packet.to, cts: no_cts, attempts, cw, given_up },
            );
        }
        if given_up {
            self.counters[s].given_up += 1;
            self.packet_done(station, Outcome::RetryLimit, agenda, upper);
        } else {
            self.macs[s].state = State::Contend;
            self.back_off(station, agenda.now);
            self.stations[s].radio.set(flag::CONTENDING);
        }
        if lag > 0 {
            let slot = self.kinds[usize::from(self.stations[s].radio.kind)].slot;
            let radio = &mut self.stations[s].radio;
            radio.count_from = radio.count_from.max(agenda.now + lag);
            radio.deadline = radio.count_from + u64::from(radio.slots) * slot;
        }
        if self.stations[s].radio.has(flag::CONTENDING) {
            self.arm(station, agenda);
        }
    }

    /// Draws a back-off and starts to count as soon as the medium allows.
    fn back_off(&mut self, station: u32, now: u64) {
        let s = station as usize;
        let resume = self.resume_at(s).max(now);
        let slot = self.kinds[usize::from(self.stations[s].radio.kind)].slot;
        let radio = &mut self.stations[s].radio;
        radio.slots = self.macs[s].draw();
        radio.count_from = resume;
        radio.deadline = resume + u64::from(radio.slots) * slot;
    }

    /// The MAC is done with its first packet; the next one follows after a back-off (post-backoff, 10.3.4.3).
    fn packet_done<U: Upper>(&mut self, station: u32, outcome: Outcome, agenda: &mut Agenda, upper: &mut U) {
        let s = station as usize;
        let cw_min = self.kinds[usize::from(self.stations[s].radio.kind)].cw_min;
        let mac = &mut self.macs[s];
        let Some(packet) = mac.held.pop_front() else { return };
        mac.cw = cw_min;
        mac.short_retries = 0;
        mac.long_retries = 0;
        mac.sent_before = false;
        mac.state = State::Idle;
        if self.recorder.is_some() && outcome == Outcome::RetryLimit {
            self.record(agenda.now, Record::GivenUp { at: station, packet: packet.packet });
        }
        upper.finished(station, packet, outcome, agenda.now);
        self.back_off(station, agenda.now);
        self.fill(station, agenda.now, upper);
        if !self.macs[s].held.is_empty() {
            self.macs[s].state = State::Contend;
            self.stations[s].radio.set(flag::CONTENDING);
            self.arm(station, agenda);
        }
    }
}
