//! Access to the medium by the DCF (802.11-2016 10.3.4): contention, back-off, retries. Stations with access categories: `edca`.
//!
//! The numbers of a back-off (slots left, start of the count, its end) are stored in the station's
//! [`Radio`](crate::air::medium::radio::Radio), since every frame that the station senses freezes them. This file draws and sets them.

use std::collections::VecDeque;

use airfair_units::Time;
use airfair_units::random::Stream;

use super::edca::Reports;
use super::{Mac, MacKind, Msdu};
use crate::air::medium::Medium;
use crate::air::medium::radio::{NEVER, NO_DEADLINE, Station, flag};
use crate::engine::Agenda;
use crate::event::{EventKind, class};
use crate::ids::StationIx;
use crate::measure::summary::CategoryCounters;
use crate::modes::Mode;

/// State of the first packet of a category; the DCF has one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing to send; a post-backoff may still be counting.
    Idle,
    /// Waiting for the back-off to end.
    Contend,
    /// RTS sent, waiting for the CTS.
    WaitCts,
    /// The data frame is due after a SIFS, or is on the air.
    SendData,
    /// Waiting for the ACK.
    WaitAck,
    /// The last packet of a TXOP is finished; the next one, if there is one, continues the TXOP.
    Txop,
}

/// Contention state of one access category of a station.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Contention {
    /// Packets dequeued from the interface, in order; the first one is being sent.
    pub held: VecDeque<Msdu>,
    /// Capacity of `held`, packets.
    capacity: u32,
    pub state: State,
    /// The first packet has been transmitted at least once (sets the retry bit).
    pub sent_before: bool,
    /// Mode of the data frame of the present attempt, once the law of rates has chosen it.
    pub mode: Option<Mode>,
    pub cw: u32,
    pub short_retries: u32,
    pub long_retries: u32,
    /// Sequence number of the last packet.
    pub sequence: u16,
    /// Attempts at the first packet that have ended.
    pub attempt: u16,
    pub(super) random: Stream,
    pub counters: CategoryCounters,
}

impl Contention {
    pub(super) fn new(kind: &MacKind, category: usize, random: Stream) -> Self {
        Self {
            // Sized for the packets that a MAC holds, one in most scenarios: a list that grows by itself starts with four.
            held: VecDeque::with_capacity(kind.mac_queue.min(4) as usize),
            capacity: kind.mac_queue,
            state: State::Idle,
            sent_before: false,
            mode: None,
            cw: kind.category(category).cw_min,
            short_retries: 0,
            long_retries: 0,
            sequence: 0,
            attempt: 0,
            random,
            counters: CategoryCounters::default(),
        }
    }

    /// Draws a number of slots.
    pub(super) fn draw(&mut self) -> u16 {
        self.random.below(self.cw + 1) as u16
    }

    /// Resets retries and contention window for the next packet.
    pub(super) fn reset_window(&mut self, cw_min: u32) {
        self.cw = cw_min;
        self.short_retries = 0;
        self.long_retries = 0;
        self.sent_before = false;
        self.mode = None;
        self.attempt = 0;
        self.state = State::Idle;
    }

    /// An attempt at the first packet has ended without a response: the next one has a mode of its own.
    pub(super) fn attempt_over(&mut self) {
        self.mode = None;
        self.attempt = self.attempt.saturating_add(1);
    }

    /// Draws a back-off. Slots are counted from the earliest moment at which the medium allows it.
    pub(super) fn back_off(&mut self, station: &mut Station, kind: &MacKind, now: u64) {
        station.radio.slots = self.draw();
        station.start_count(station.resume_at(&kind.timing).max(now), kind.timing.slot);
    }
}

/// Puts an access event on the agenda unless one is pending no later than the deadline.
#[inline(always)]
pub(super) fn arm(station: &mut Station, id: StationIx, agenda: &mut Agenda) {
    let deadline = station.radio.deadline;
    if deadline < station.rx.armed_at {
        station.rx.armed_at = deadline;
        agenda.push(Time(deadline), station.order(class::ACCESS), EventKind::Access(id));
    }
}

/// A reception has ended: computes from when the remaining slots are counted.
#[inline]
pub(super) fn recount(station: &mut Station, id: StationIx, kind: &MacKind, agenda: &mut Agenda) {
    let contending = station.radio.has(flag::CONTENDING);
    if !contending && station.radio.deadline <= agenda.now.0 {
        // A post-backoff has ended in the meantime.
        station.radio.deadline = NO_DEADLINE;
        return;
    }
    station.start_count(station.resume_at(&kind.timing), kind.timing.slot);
    if contending {
        arm(station, id, agenda);
    }
}

/// Due time of a station's access event that was pushed for `time`: the deadline, which may have moved since.
#[inline(always)]
pub(crate) fn access_due(station: &mut Station, time: u64) -> u64 {
    let Station { radio, rx, .. } = station;
    let draw_due = radio.flags & flag::CATEGORIES == flag::DRAW_DUE;
    if rx.armed_at != time || draw_due || !radio.has(flag::CONTENDING) {
        return time;
    }
    rx.armed_at = radio.deadline.max(time);
    rx.armed_at
}

impl Mac {
    /// Number of further packets that the MAC of a station of the DCF can hold.
    #[inline]
    pub(crate) fn free_places(&self, id: StationIx) -> usize {
        let contention = &self.stations[id].first;
        (contention.capacity as usize).saturating_sub(contention.held.len())
    }

    /// Number of further packets of a category that the MAC of a station can hold.
    pub(crate) fn free_places_of(&self, id: StationIx, category: u8) -> usize {
        let contention = self.stations[id].category(category.into());
        (contention.capacity as usize).saturating_sub(contention.held.len())
    }

    /// Adds a packet to those that a station has to send.
    #[inline]
    pub(crate) fn hand_down(&mut self, id: StationIx, msdu: Msdu) {
        self.stations[id].category_mut(msdu.category.into()).held.push_back(msdu);
    }

    /// Starts contention for the medium at an idle station that holds a packet.
    pub(crate) fn contend(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) {
        let now = agenda.now.0;
        if medium.stations[id].radio.has_categories() {
            let Self { stations, kinds, rates, .. } = self;
            let station = &mut medium.stations[id];
            let kind = &kinds[usize::from(station.radio.kind)];
            stations[id].contend_categories(station, id, (kind, rates), agenda);
            return;
        }
        let contention = &mut self.stations[id].first;
        if contention.state != State::Idle || contention.held.is_empty() {
            return;
        }
        let station = &mut medium.stations[id];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        contention.state = State::Contend;
        station.radio.set(flag::CONTENDING);
        // The post-backoff is still counting and decides when to transmit.
        if station.radio.deadline == NO_DEADLINE || station.radio.deadline < now {
            let timing = &kind.timing;
            let (resume, before_signal) = (station.resume_at(timing), station.resume_before_signal(timing));
            let Station { radio, optional, backoffs, .. } = station;
            let seen = optional.busy_from + timing.sensing_delay;
            let from = resume.max(now);
            if kind.immediate_access && radio.nav_until <= now && (radio.busy_until <= now || seen > now) {
                radio.slots = 0;
                radio.set(flag::AWAITS_IMMEDIATE);
                if radio.busy_until > now {
                    // A signal is present, but too recent to be sensed: the station decides by the idle time before it.
                    radio.count_from = before_signal.max(now);
                    radio.deadline = radio.count_from;
                    radio.freeze(backoffs, seen, radio.busy_until + timing.difs, timing.slot);
                } else {
                    radio.count_from = from;
                    radio.deadline = from;
                }
            } else {
                radio.slots = contention.draw();
                station.start_count(from, timing.slot);
            }
        }
        arm(station, id, agenda);
    }

    /// Handles an access event that is due ([`access_due`]). Returns true if the back-off has ended and the station has won access; false
    /// if the back-off still had to be drawn.
    #[inline(always)]
    pub(crate) fn wins_access(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) -> bool {
        if medium.stations[id].rx.armed_at != agenda.now.0 {
            return false;
        }
        let (station, mac, kind) = self.at(medium, id);
        station.rx.armed_at = NEVER;
        if !station.radio.has(flag::CONTENDING) || station.radio.deadline == NO_DEADLINE {
            return false;
        }
        if station.radio.has(flag::DRAW_DUE) {
            if station.radio.has_categories() {
                return self.category_wins(medium, id, agenda);
            }
            station.radio.clear(flag::DRAW_DUE);
            station.radio.slots = mac.first.draw();
            station.start_count(station.radio.count_from, kind.timing.slot);
            if station.radio.deadline > agenda.now.0 {
                arm(station, id, agenda);
                return false;
            }
        }
        station.radio.deadline = NO_DEADLINE;
        station.radio.clear(flag::CONTENDING | flag::AWAITS_IMMEDIATE);
        true
    }

    /// [`Mac::wins_access`] at a station with access categories.
    #[inline(never)]
    fn category_wins(&mut self, medium: &mut Medium, id: StationIx, agenda: &mut Agenda) -> bool {
        let Self { kinds, stations, indications, .. } = self;
        let Medium { stations: hearers, records, .. } = medium;
        let station = &mut hearers[id];
        let kind = &kinds[usize::from(station.radio.kind)];
        let reports = &mut Reports { indications, records };
        stations[id].category_wins(station, id, kind, reports, agenda)
    }
}
