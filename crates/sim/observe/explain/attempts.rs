//! Frames without a response, and the reasons at their receivers.

use std::collections::{BTreeMap, VecDeque};

use super::station::{Holder, ObservedStation};
use super::view::Owner;
use crate::record::{FrameKind, FrameView, Loss};

/// Missing response to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingResponse {
    /// The response to an RTS.
    Cts,
    /// The response to a data frame.
    Ack,
}

impl MissingResponse {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cts => "CTS",
            Self::Ack => "ACK",
        }
    }
}

/// Reason of a missing response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureCause {
    /// Another frame interfered with the frame at its receiver.
    Collision,
    /// The receiver was receiving another frame.
    Receiving,
    /// The receiver was transmitting itself.
    Transmitting,
    /// The NAV was set at the receiver, which therefore sent no CTS.
    Reserved,
    /// The medium was busy at the receiver, which therefore sent no CTS.
    Sensing,
    /// The frame was too weak at the receiver.
    TooWeak,
    /// Noise, that no other frame needed to interfere.
    Noise,
    /// The response was sent, and another frame interfered with it.
    AnswerCollided,
    /// The response was sent, and lost for another reason.
    AnswerLost,
    /// The response was sent and received, after the time-out.
    AnswerLate,
    /// The frame was received, and no response was sent in time.
    NotAnswered,
}

impl FailureCause {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Collision => "collision",
            Self::Receiving => "receiver-receiving",
            Self::Transmitting => "receiver-transmitting",
            Self::Reserved => "receiver-nav",
            Self::Sensing => "receiver-sensing",
            Self::TooWeak => "too-weak",
            Self::Noise => "noise",
            Self::AnswerCollided => "answer-collided",
            Self::AnswerLost => "answer-lost",
            Self::AnswerLate => "answer-late",
            Self::NotAnswered => "not-answered",
        }
    }
}

/// State of an exchange.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    /// Number of its last frame.
    frame: u32,
    /// True if that is an RTS.
    rts: bool,
    /// Reason of its loss, and the interfering transmitter.
    loss_cause: Option<(FailureCause, Option<Holder>)>,
    /// Number of the response that the receiver has begun to send.
    response: Option<u32>,
}

/// A counted frame without a response in time, whose reason may still turn out to be another.
#[derive(Debug)]
struct Unanswered {
    missing: MissingResponse,
    /// Number of the frame.
    frame: u32,
    /// Number of the response that the receiver has begun to send.
    response: Option<u32>,
    /// The reason that is counted.
    cause: (FailureCause, Option<Holder>),
}

/// Most frames without a response in time that are remembered: a signal takes 2 ms over the longest link and back, attempts at least 80 us.
const MOST_UNANSWERED: usize = 32;

/// Counters of frames with the flow's packets on one hop.
#[derive(Debug, Default)]
pub(super) struct AttemptCounts {
    pub exchanges: u64,
    pub rts: u64,
    pub data: u64,
    pub no_cts: u64,
    pub no_ack: u64,
    pub given_up: u64,
    pub causes: BTreeMap<(MissingResponse, FailureCause, Option<Holder>), u64>,
    exchange: Option<Exchange>,
    /// Number of the last frame that the receiver has received: the one that it answers.
    received: Option<u32>,
    /// Frames that were, or whose responses were, still on their way when the time was over, the oldest first.
    unanswered: VecDeque<Unanswered>,
}

impl AttemptCounts {
    /// Handles the start of an RTS or data frame for the flow.
    pub fn on_start(&mut self, frame: &FrameView, counts: bool) {
        let rts = frame.kind == FrameKind::Rts;
        let continues = !rts && self.exchange.is_some_and(|exchange| exchange.rts);
        let one = u64::from(counts);
        self.exchanges += if continues { 0 } else { one };
        *(if rts { &mut self.rts } else { &mut self.data }) += one;
        self.exchange = Some(Exchange { frame: frame.number, rts, loss_cause: None, response: None });
    }

    /// Handles the reception of an RTS or data frame at the receiver.
    pub fn on_received(&mut self, number: u32) {
        self.received = Some(number);
    }

    /// Handles the start of a response to the frame that was received last.
    pub fn on_response(&mut self, number: u32) {
        let answers = self.received;
        if let Some(exchange) = self.exchange.as_mut().filter(|exchange| Some(exchange.frame) == answers) {
            exchange.response = Some(number);
        } else if let Some(at) = self.unanswered.iter().position(|late| Some(late.frame) == answers) {
            self.unanswered[at].response = Some(number);
            self.recount(at, FailureCause::AnswerLate, None);
        }
    }

    /// Handles the loss of a frame at its receiver `station`. `response`: set for a response, with true if it had come after the time-out
    /// anyway, whatever its loss.
    pub fn on_lost(
        &mut self,
        frame: &FrameView,
        loss: Loss,
        station: &ObservedStation,
        response: Option<bool>,
    ) {
        let is_response = response.is_some();
        let (why, by) = match (loss_cause(frame, loss, station), response) {
            (_, Some(true)) => (FailureCause::AnswerLate, None),
            ((why, by), Some(false)) => (answer_loss(why), by),
            (cause, None) => cause,
        };
        let is_it = |frame_or_response: (u32, Option<u32>)| match is_response {
            true => frame_or_response.1 == Some(frame.number),
            false => frame_or_response.0 == frame.number,
        };
        if let Some(at) = self.unanswered.iter().position(|late| is_it((late.frame, late.response))) {
            self.recount(at, why, by);
            self.unanswered.remove(at);
        } else if let Some(exchange) =
            self.exchange.as_mut().filter(|exchange| is_it((exchange.frame, exchange.response)))
        {
            exchange.loss_cause = Some((why, by));
        }
    }

    /// Handles a response that has arrived after the time-out.
    pub fn on_late(&mut self, number: u32) {
        if let Some(at) = self.unanswered.iter().position(|late| late.response == Some(number)) {
            self.recount(at, FailureCause::AnswerLate, None);
            self.unanswered.remove(at);
        }
    }

    /// Handles a withheld response: the medium is reserved at the receiver, or busy.
    pub fn on_withheld(&mut self, reserved: bool, by: Option<Holder>) {
        let why = if reserved { FailureCause::Reserved } else { FailureCause::Sensing };
        let answers = self.received;
        if let Some(exchange) = self.exchange.as_mut().filter(|exchange| Some(exchange.frame) == answers) {
            exchange.loss_cause = Some((why, by));
        } else if let Some(at) = self.unanswered.iter().position(|late| Some(late.frame) == answers) {
            self.recount(at, why, by);
            self.unanswered.remove(at);
        }
    }

    /// Handles a missing response.
    pub fn on_no_response(&mut self, cts: bool, given_up: bool, counts: bool) {
        let Some(exchange) = self.exchange.take() else { return };
        if !counts {
            return;
        }
        *(if cts { &mut self.no_cts } else { &mut self.no_ack }) += 1;
        self.given_up += u64::from(given_up);
        let missing = if cts { MissingResponse::Cts } else { MissingResponse::Ack };
        let cause = exchange.loss_cause.unwrap_or(match exchange.response {
            Some(_) => (FailureCause::AnswerLate, None),
            None => (FailureCause::NotAnswered, None),
        });
        *self.causes.entry((missing, cause.0, whichever_direction(cause.1))).or_default() += 1;
        if exchange.loss_cause.is_none() {
            if self.unanswered.len() == MOST_UNANSWERED {
                self.unanswered.pop_front();
            }
            let Exchange { frame, response, .. } = exchange;
            self.unanswered.push_back(Unanswered { missing, frame, response, cause });
        }
    }

    /// Counts another reason of a missing response.
    fn recount(&mut self, at: usize, why: FailureCause, by: Option<Holder>) {
        let Unanswered { missing, cause, .. } = &mut self.unanswered[at];
        let (missing, before) = (*missing, std::mem::replace(cause, (why, by)));
        let key = |(why, by): (FailureCause, Option<Holder>)| (missing, why, whichever_direction(by));
        if let Some(count) = self.causes.get_mut(&key(before)) {
            *count -= 1;
            if *count == 0 {
                self.causes.remove(&key(before));
            }
            *self.causes.entry(key((why, by))).or_default() += 1;
        }
    }
}

/// The direction of the flow's packet that the interfering frame served does not matter.
fn whichever_direction(by: Option<Holder>) -> Option<Holder> {
    by.map(|by| match by.owner {
        Owner::Flow(flow, _) => Holder { owner: Owner::Flow(flow, true), ..by },
        Owner::Other => by,
    })
}

/// Reason of a missing response whose loss has this reason.
fn answer_loss(why: FailureCause) -> FailureCause {
    if why == FailureCause::Collision { FailureCause::AnswerCollided } else { FailureCause::AnswerLost }
}

/// Reason of a frame's loss at a station, and the interfering transmitter.
fn loss_cause(frame: &FrameView, loss: Loss, station: &ObservedStation) -> (FailureCause, Option<Holder>) {
    match loss {
        Loss::OutOfReach | Loss::TooWeak => (FailureCause::TooWeak, None),
        Loss::Transmitting | Loss::LockAborted => (FailureCause::Transmitting, Some(station.served)),
        Loss::LockedOn(number) => (FailureCause::Receiving, station.sender_of(number)),
        Loss::LockTaken(number) | Loss::Interference(Some(number)) => {
            (FailureCause::Collision, station.sender_of(number))
        }
        Loss::PreambleDrowned | Loss::Interference(None) => {
            (FailureCause::Collision, station.strongest_beside(frame))
        }
        Loss::Noise | Loss::PreambleInNoise => (FailureCause::Noise, None),
    }
}
