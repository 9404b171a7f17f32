//! The state of a station for `explain`; not called otherwise.

use super::access::State;
use super::{MacKind, Msdu, StationMac};
use crate::air::medium::radio::Station;

/// The event that a station waits for, apart from the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// For the medium, or for something to send.
    Access,
    /// For a CTS that it has asked for.
    Cts,
    /// For the ACK of its data frame.
    Ack,
    /// A SIFS, to send its data frame.
    ToSend,
    /// A SIFS, to send a CTS or an ACK.
    ToAnswer,
}

/// The state that determines a station's time until its next event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub waits: Waits,
    /// The packet that it is sending, or contends for.
    pub head: Option<Msdu>,
    pub nav_until: u64,
    /// The end of the frame that started an EIFS, 0 if none runs, and the end of the EIFS.
    pub eifs_from: u64,
    pub eifs_until: u64,
    /// Slots are counted from here.
    pub count_from: u64,
}

impl StationMac {
    /// The station now.
    pub(crate) fn view(&self, station: &Station, kind: &MacKind) -> View {
        let contention = self.contention();
        let waits = match contention.state {
            _ if self.exchange.answers() => Waits::ToAnswer,
            State::Idle | State::Contend => Waits::Access,
            State::WaitCts => Waits::Cts,
            State::WaitAck => Waits::Ack,
            State::SendData => Waits::ToSend,
        };
        let eifs_from = station.radio.eifs_from;
        View {
            waits,
            head: contention.held.front().copied(),
            nav_until: station.radio.nav_until,
            eifs_from,
            eifs_until: if eifs_from == 0 { 0 } else { eifs_from + kind.timing.eifs },
            count_from: station.radio.count_from,
        }
    }
}
