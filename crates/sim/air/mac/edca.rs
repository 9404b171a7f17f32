//! Access to the medium by categories (EDCA, 802.11-2016 10.22.2): a back-off for each, internal collisions, TXOPs.
//!
//! While a category exchanges frames, the back-offs of the others are frozen; they wait for their AIFS again when the exchange is over, at
//! the end of the time-out if no response came. A category that joins a count which has begun is aligned to its slots.

use airfair_units::Time;

use super::access::{State, arm};
use super::rate::Rates;
use super::{Indication, MacKind, Outcome, StationMac};
use crate::air::medium::frame::BROADCAST;
use crate::air::medium::radio::{NO_DEADLINE, Station, flag};
use crate::engine::Agenda;
use crate::ids::StationIx;
use crate::record::{Record, Records};
use crate::spec::TxopEnd;

/// The last sequence number, plus one, that a station has received from another one in a category.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastSequence {
    from: StationIx,
    category: u8,
    seen: u32,
}

/// The lists in which the MAC reports.
pub(super) struct Reports<'a> {
    pub indications: &'a mut Vec<Indication>,
    pub records: &'a mut Records,
}

impl StationMac {
    /// Notes a sequence number plus one, received from a station in a category. Returns the last one; 0 before the first.
    pub(super) fn replace_sequence(&mut self, from: StationIx, category: u8, seen: u32) -> u32 {
        match self.received.binary_search_by_key(&(from, category), |last| (last.from, last.category)) {
            Ok(at) => std::mem::replace(&mut self.received[at].seen, seen),
            Err(at) => {
                self.received.insert(at, LastSequence { from, category, seen });
                0
            }
        }
    }

    /// True while a category exchanges frames.
    pub(super) fn is_exchanging(&self) -> bool {
        !matches!(self.sending().state, State::Idle | State::Contend)
    }

    /// Continues or ends a TXOP, and starts contention for the categories that hold a packet.
    #[inline(never)]
    pub(super) fn contend_categories(
        &mut self,
        station: &mut Station,
        id: StationIx,
        (kind, rates): (&MacKind, &mut Rates),
        agenda: &mut Agenda,
    ) {
        if self.sending().state == State::Txop {
            self.continue_txop(station, id, (kind, rates), agenda);
        }
        let now = agenda.now.0;
        let waits = |mac: &Self, category: usize| {
            let contention = mac.category(category);
            contention.state == State::Idle && !contention.held.is_empty()
        };
        let exchanging = self.is_exchanging();
        let mut settled = exchanging;
        for category in 0..kind.category_count {
            if !waits(self, category) {
                continue;
            }
            if !std::mem::replace(&mut settled, true) {
                settle(station, kind.timing.slot, now);
            }
            self.category_mut(category).state = State::Contend;
            if station.backoffs.is_active(category) {
                station.backoffs.contend(category);
            } else if exchanging {
                let slots = self.category_mut(category).draw();
                station.backoffs.set(category, slots, true);
            } else {
                self.join(station, category, kind, now);
            }
        }
        if settled && !exchanging {
            count(station, id, kind, agenda);
        }
    }

    /// Adds a category to the back-offs of a station that exchanges no frames.
    fn join(&mut self, station: &mut Station, category: usize, kind: &MacKind, now: u64) {
        let timing = &kind.timing;
        let slot = timing.slot;
        let resume = [station.resume_at(timing), station.resume_before_signal(timing)];
        let Station { radio, optional, backoffs, .. } = station;
        let alone = backoffs.is_empty();
        // A signal is present, but too recent to be sensed: the station decides by the idle time before it.
        let seen = optional.busy_from + timing.sensing_delay;
        let unsensed = alone && radio.busy_until > now && seen > now;
        let immediate =
            kind.immediate_access && radio.nav_until <= now && (radio.busy_until <= now || unsensed);
        // After a time-out the AIFS follows that, not the last busy medium (10.22.2.4).
        let resume =
            resume[usize::from(immediate && unsensed)].max(self.exchange.response_end() + timing.difs);
        let aifs_end = resume + backoffs.offset(category) * slot;
        if alone {
            radio.count_from = resume.max(now + aifs_end.saturating_sub(now) % slot);
        }
        // The first boundary of the count at which the AIFS is over.
        let wait = aifs_end.max(now).saturating_sub(radio.count_from).div_ceil(slot);
        let wait = u16::try_from(wait).unwrap_or(u16::MAX);
        let contention = self.category_mut(category);
        if !immediate {
            backoffs.join(category, (wait, contention.draw()), true);
            return;
        }
        let reserve = contention.random.clone().below(contention.cw + 1) as u16;
        backoffs.join_immediately(category, wait, reserve);
        if unsensed {
            radio.deadline = radio.count_from + u64::from(wait) * slot;
            radio.freeze(backoffs, seen, radio.busy_until + timing.difs, slot);
        }
    }

    /// Handles an access event: the category of highest priority whose back-off has ended wins; the others whose back-off has ended back
    /// off as after a collision (10.22.2.2). Returns true if a category has won.
    pub(super) fn category_wins(
        &mut self,
        station: &mut Station,
        id: StationIx,
        kind: &MacKind,
        reports: &mut Reports<'_>,
        agenda: &mut Agenda,
    ) -> bool {
        let now = agenda.now.0;
        if station.radio.deadline > now {
            arm(station, id, agenda);
            return false;
        }
        let (Some(boundary), Some(winner)) = (station.backoffs.next(), station.backoffs.first()) else {
            return false;
        };
        let losers = station.backoffs.collides_with(winner);
        // Their reserves are not used.
        losers.clone().chain([winner]).for_each(|category| station.backoffs.forget(category));
        station.backoffs.freeze(Some(boundary.into()));
        self.consume_reserve(station, winner);
        station.radio.deadline = NO_DEADLINE;
        station.radio.clear(flag::CONTENDING);
        let txop = kind.category(winner).txop;
        self.exchange.begin(winner, if txop == 0 { 0 } else { now + txop });
        for category in losers {
            self.consume_reserve(station, category);
            self.internal_collision(station, id, kind, (category, winner), reports, Time(now));
        }
        true
    }

    /// Draws the number that a category has used as its reserve, so that the next draw differs.
    fn consume_reserve(&mut self, station: &mut Station, category: usize) {
        if station.backoffs.take_interrupted(category) {
            self.category_mut(category).draw();
        }
    }

    fn internal_collision(
        &mut self,
        station: &mut Station,
        id: StationIx,
        kind: &MacKind,
        (category, winner): (usize, usize),
        reports: &mut Reports<'_>,
        now: Time,
    ) {
        let limits = kind.category(category);
        let contention = self.category_mut(category);
        // Broadcasts are sent once, whatever precedes: only attempts at packets that are acknowledged have a limit (10.22.2.11.1).
        let has_limit = contention.held.front().is_some_and(|packet| packet.to != BROADCAST);
        contention.short_retries += u32::from(has_limit);
        contention.counters.internal_collisions += 1;
        contention.cw = (2 * contention.cw + 1).min(limits.cw_max);
        let (attempts, cw) = (contention.short_retries, contention.cw);
        let given_up = has_limit && attempts >= kind.short_retry_limit;
        let msdu = if given_up { contention.held.pop_front() } else { None };
        if given_up {
            contention.reset_window(limits.cw_min);
            contention.counters.given_up += 1;
        }
        let slots = contention.draw();
        station.backoffs.set(category, slots, !given_up);
        self.counters.given_up += u64::from(given_up);
        if reports.records.are_enabled() {
            let (category, winner) = (category as u8, winner as u8);
            let record = Record::InternalCollision { at: id, category, winner, attempts, cw, given_up };
            reports.records.push(now, record);
        }
        if let Some(msdu) = msdu {
            reports.indications.push(Indication::Finished {
                station: id,
                msdu,
                outcome: Outcome::InternalCollisions,
            });
            if reports.records.are_enabled() {
                reports.records.push(now, Record::GivenUp { at: id, packet: msdu.packet });
            }
        }
    }

    /// The category that sends has finished a packet. A TXOP that has not reached its limit stays open until the layer above has passed the
    /// next packet ([`StationMac::contend_categories`]).
    pub(super) fn category_done(
        &mut self,
        station: &mut Station,
        id: StationIx,
        kind: &MacKind,
        outcome: Outcome,
        agenda: &mut Agenda,
    ) {
        let until = self.exchange.txop_until();
        let contention = self.sending_mut();
        if outcome == Outcome::RetryLimit {
            contention.counters.given_up += 1;
        } else {
            contention.counters.finished += 1;
            if until > agenda.now.0 {
                contention.state = State::Txop;
                self.exchange.hold_txop();
                return;
            }
        }
        self.end_exchange(station, id, kind, agenda);
    }

    /// Time of the data frame of the attempt that the category which sends begins or has begun, its ACK if there is one, and a SIFS before
    /// each, ns. None without a packet.
    fn needed(&mut self, id: StationIx, kind: &MacKind, rates: &mut Rates, now: u64) -> Option<u64> {
        let sifs = kind.timing.sifs;
        let contention = self.sending_mut();
        let &packet = contention.held.front()?;
        let mode = rates.of_attempt(contention, &packet, id, kind, now);
        let answer = if packet.to == BROADCAST { 0 } else { sifs + kind.modes[mode].answer_ns };
        Some(sifs + kind.duration(mode, packet.bytes + kind.overhead) + answer)
    }

    /// Sends the next packet of a TXOP if its exchange ends before the limit; ends the TXOP otherwise (10.22.2.7).
    fn continue_txop(
        &mut self,
        station: &mut Station,
        id: StationIx,
        (kind, rates): (&MacKind, &mut Rates),
        agenda: &mut Agenda,
    ) {
        let (sifs, until) = (kind.timing.sifs, self.exchange.txop_until());
        // The end of the response at this station: what else is on the air is not waited for.
        let idle = self.exchange.response_end().max(agenda.now.0);
        let needed = self.needed(id, kind, rates, agenda.now.0);
        let fits = |needed: u64| idle + needed <= until;
        let ends = !needed.is_some_and(fits);
        if ends && !(self.exchange.reserved_until() > 0 && fits(sifs + self.exchange.cf_end_ns(kind))) {
            self.end_exchange(station, id, kind, agenda);
            return;
        }
        self.sending_mut().state = State::SendData;
        self.exchange.continue_txop(station, id, kind, (ends, idle), agenda);
    }

    /// True if a frame of a TXOP whose ACK is missing can be sent again within the TXOP: the medium has been idle for a PIFS and the
    /// exchange ends before the limit (10.22.2.7).
    pub(super) fn can_recover(
        &mut self,
        station: &Station,
        id: StationIx,
        kind: &MacKind,
        rates: &mut Rates,
        now: u64,
    ) -> bool {
        let timing = &kind.timing;
        self.exchange.holds_txop()
            && kind.txop_end != TxopEnd::Silent
            && station.radio.busy_until + timing.sifs + timing.slot <= now
            && self
                .needed(id, kind, rates, now)
                .is_some_and(|needed| now + needed <= self.exchange.txop_until())
    }

    /// Sends the frame whose ACK is missing again, a SIFS after the time-out.
    pub(super) fn recover(&mut self, station: &Station, id: StationIx, kind: &MacKind, agenda: &mut Agenda) {
        self.sending_mut().state = State::SendData;
        self.exchange.continue_txop(station, id, kind, (false, agenda.now.0), agenda);
    }

    /// The exchange of the category that sends is over: draws its back-off and counts those of all categories again.
    ///
    /// The time that the TXOP has reserved beyond its last frame is awaited by the station itself too (its TXNAV, 10.22.2.2) once a packet
    /// of the TXOP was sent with success.
    pub(super) fn end_exchange(
        &mut self,
        station: &mut Station,
        id: StationIx,
        kind: &MacKind,
        agenda: &mut Agenda,
    ) {
        let category = self.exchange.category();
        let contention = self.sending_mut();
        let contends = !contention.held.is_empty();
        contention.state = if contends { State::Contend } else { State::Idle };
        let slots = contention.draw();
        station.backoffs.set(category, slots, contends);
        if kind.txop_end == TxopEnd::CfEnd && self.exchange.holds_txop() {
            let (Station { radio, rx, .. }, now) = (&mut *station, agenda.now.0);
            rx.reserve(radio.busy_until, &mut radio.nav_until, now, self.exchange.reserved_until());
        }
        station.radio.count_from = station.resume_at(&kind.timing).max(agenda.now.0);
        count(station, id, kind, agenda);
    }
}

/// Passes the slot boundaries before `now`, so that categories can join the count.
fn settle(station: &mut Station, slot: u64, now: u64) {
    let Station { radio, backoffs, .. } = station;
    let moved = backoffs.pass(radio.boundaries_before(now, slot));
    radio.count_from += moved * slot;
}

/// Sets a station's deadline from its back-offs.
fn count(station: &mut Station, id: StationIx, kind: &MacKind, agenda: &mut Agenda) {
    let Some(slots) = station.backoffs.next() else {
        station.radio.deadline = NO_DEADLINE;
        return;
    };
    station.radio.slots = slots;
    station.start_count(station.radio.count_from, kind.timing.slot);
    if station.backoffs.contends() {
        station.radio.set(flag::CONTENDING);
        arm(station, id, agenda);
    }
}
