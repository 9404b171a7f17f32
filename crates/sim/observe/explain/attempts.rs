//! Frames without a response, and the reasons at their receivers.

use std::collections::BTreeMap;

use super::station::{Holder, Station};
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
    /// Missing response that was on the air when its time was over, and the frame's number: the reason of its loss is known at its end.
    late: Option<(MissingResponse, u32)>,
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

    /// Handles the start of a response to the last frame.
    pub fn on_response(&mut self, number: u32) {
        if let Some(exchange) = &mut self.exchange {
            exchange.response = Some(number);
        }
    }

    /// Handles the loss of a frame at its receiver `station`.
    pub fn on_lost(&mut self, frame: &FrameView, loss: Loss, station: &Station, is_response: bool) {
        let (why, by) = loss_cause(frame, loss, station);
        if let Some((missing, _)) = self.late.take_if(|late| late.1 == frame.number) {
            self.recount(missing, answer_loss(why), by);
            return;
        }
        let Some(exchange) = &mut self.exchange else { return };
        if frame.number == exchange.frame {
            exchange.loss_cause = Some((why, by));
        } else if is_response {
            exchange.loss_cause = Some((answer_loss(why), by));
        }
    }

    /// Handles a withheld response: the medium is reserved at the receiver, or busy.
    pub fn on_withheld(&mut self, reserved: bool, by: Option<Holder>) {
        if let Some(exchange) = &mut self.exchange {
            exchange.loss_cause =
                Some((if reserved { FailureCause::Reserved } else { FailureCause::Sensing }, by));
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
        let (why, by) = match (exchange.loss_cause, exchange.response) {
            (Some(cause), _) => cause,
            (None, Some(number)) => {
                self.late = Some((missing, number));
                (FailureCause::AnswerLost, None)
            }
            (None, None) => (FailureCause::NotAnswered, None),
        };
        *self.causes.entry((missing, why, whichever_direction(by))).or_default() += 1;
    }

    /// The reason why a response was lost that was counted as lost before its end.
    fn recount(&mut self, missing: MissingResponse, why: FailureCause, by: Option<Holder>) {
        let unknown = (missing, FailureCause::AnswerLost, None);
        if let Some(count) = self.causes.get_mut(&unknown) {
            *count -= 1;
            if *count == 0 {
                self.causes.remove(&unknown);
            }
            *self.causes.entry((missing, why, whichever_direction(by))).or_default() += 1;
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
fn loss_cause(frame: &FrameView, loss: Loss, station: &Station) -> (FailureCause, Option<Holder>) {
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
