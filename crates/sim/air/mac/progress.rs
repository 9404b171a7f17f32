//! State of a station in the present frame exchange, its own or another station's: the response that is due or awaited, the TXOP.

use airfair_units::Time;

use super::{MacKind, NEVER};
use crate::air::medium::frame::BROADCAST;
use crate::air::medium::radio::Station;
use crate::engine::Agenda;
use crate::event::{EventKind, class};
use crate::ids::StationIx;
use crate::modes::Mode;
use crate::record::FrameKind;
use crate::spec::TxopEnd;

/// A frame without data: it is sent at once, or due a SIFS after the frame that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ControlFrame {
    pub kind: FrameKind,
    pub to: StationIx,
    pub nav_us: u32,
    pub mode: Mode,
    /// See `Frame::judged`.
    pub judged: Option<Mode>,
}

/// State of a station in the present frame exchange, its own or another station's.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Exchange {
    /// The category that sends or has sent last.
    category: u8,
    /// Mode of the last data frame to one neighbour.
    pub data_mode: Mode,
    /// Generation of the valid time-out; events of earlier generations are ignored.
    pub generation: u32,
    pub reply: Option<ControlFrame>,
    /// Due time of the time-out if its event is deferred to the end of the response (`Mac::sent`), else [`NEVER`].
    pub deferred_timeout: u64,
    /// Limit of the TXOP that the category has, ns; 0 without one.
    txop_until: u64,
    /// End of what duration fields of the TXOP have reserved beyond a response, ns; 0 if nothing.
    reserved_until: u64,
    /// End of the last awaited response at this station or of the wait for it; a DIFS before the count that followed the latter, ns.
    pub response_end: u64,
    /// True once a packet of the TXOP has been sent with success.
    holds_txop: bool,
}

impl Exchange {
    /// No exchange, at a station with this nominal mode.
    pub(super) fn none(nominal: Mode) -> Self {
        Self {
            category: 0,
            data_mode: nominal,
            generation: 0,
            reply: None,
            deferred_timeout: NEVER,
            txop_until: 0,
            reserved_until: 0,
            response_end: 0,
            holds_txop: false,
        }
    }

    /// Duration of the CF-End that may follow the last data frame, ns.
    pub(super) fn cf_end_ns(&self, kind: &MacKind) -> u64 {
        kind.cf_end_ns(self.data_mode)
    }

    /// The category that sends or has sent last.
    #[inline(always)]
    pub(super) fn category(&self) -> usize {
        self.category.into()
    }

    /// Limit of the present TXOP, ns; 0 without one.
    pub(super) fn txop_until(&self) -> u64 {
        self.txop_until
    }

    /// A category has won access; its TXOP, if it has one, ends at `txop_until`.
    pub(super) fn begin(&mut self, category: usize, txop_until: u64) {
        (self.category, self.txop_until) = (category as u8, txop_until);
        (self.reserved_until, self.holds_txop) = (0, false);
    }

    /// End of the last awaited response at this station or of the wait for it; a DIFS before the count that followed the latter, ns.
    pub(super) fn response_end(&self) -> u64 {
        self.response_end
    }

    /// End of what duration fields of the TXOP have reserved beyond a response, ns; 0 if nothing.
    pub(super) fn reserved_until(&self) -> u64 {
        self.reserved_until
    }

    /// A packet of the TXOP has been sent with success.
    pub(super) fn hold_txop(&mut self) {
        self.holds_txop = true;
    }

    /// True once a packet of the TXOP has been sent with success.
    pub(super) fn holds_txop(&self) -> bool {
        self.holds_txop
    }

    /// A CF-End has released what was reserved.
    pub(super) fn release(&mut self) {
        self.reserved_until = 0;
    }

    /// Schedules the CF-End that ends a TXOP, or the next data frame of the TXOP, a SIFS after `end`.
    pub(super) fn continue_txop(
        &mut self,
        station: &Station,
        id: StationIx,
        kind: &MacKind,
        (ends, end): (bool, u64),
        agenda: &mut Agenda,
    ) {
        let (mode, judged) = (kind.modes[self.data_mode].control_mode, kind.judged(self.data_mode));
        let cf_end = ControlFrame { kind: FrameKind::CfEnd, to: BROADCAST, nav_us: 0, mode, judged };
        self.reply_after_sifs(station, id, kind, ends.then_some(cf_end), end, agenda);
    }

    /// Time that a frame which ends at `end` reserves: `response`, or the rest of the TXOP if that is reserved, ns.
    pub(super) fn reserves(&mut self, kind: &MacKind, response: u64, end: u64) -> u64 {
        if kind.txop_end == TxopEnd::Silent {
            return response;
        }
        self.reserved_until = self.txop_until;
        response.max(self.txop_until.saturating_sub(end))
    }

    /// True if a CTS or an ACK is due.
    pub(super) fn owes_response(&self) -> bool {
        self.reply.is_some()
    }

    /// Reads the first cache line, to prefetch it; the value has no meaning.
    #[inline(always)]
    pub(super) fn prefetch(&self) -> u64 {
        u64::from(self.generation)
    }

    /// Cancels the time-out: the response has arrived.
    pub(super) fn answered(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.deferred_timeout = NEVER;
    }

    /// Schedules a frame a SIFS from now; `None`: the station's own data frame.
    #[inline(always)]
    pub(super) fn reply_after_sifs(
        &mut self,
        station: &Station,
        id: StationIx,
        kind: &MacKind,
        reply: Option<ControlFrame>,
        end: u64,
        agenda: &mut Agenda,
    ) {
        self.reply = reply;
        agenda.push(Time(end + kind.timing.sifs), station.order(class::REPLY), EventKind::Reply(id));
    }

    pub(super) fn await_response(&self, station: &Station, id: StationIx, at: u64, agenda: &mut Agenda) {
        let kind = EventKind::Timeout { station: id, generation: self.generation };
        agenda.push(Time(at), station.order(class::TIMEOUT), kind);
    }
}
