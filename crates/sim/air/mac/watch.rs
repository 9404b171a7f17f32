//! State of a station's MAC for observers; unused otherwise.

use super::access::State;
use super::{MacKind, Msdu, StationMac};
use crate::air::medium::radio::Station;

/// The event for which a station's MAC waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MacWait {
    /// Access to the medium, or a packet to send.
    Access,
    /// The CTS that answers its RTS.
    Cts,
    /// The ACK of its data frame.
    Ack,
    /// The SIFS before its data frame.
    SifsBeforeData,
    /// The SIFS before its CTS or ACK.
    SifsBeforeResponse,
}

/// Slots of a back-off that are counted while the medium stays idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Countdown {
    /// Start of the count, and its end, ns; both may have passed.
    pub from: u64,
    pub until: u64,
    pub slots: u16,
}

impl Countdown {
    /// True if `next` is the rest of this countdown: another category has joined the count, which moves its start to a later slot
    /// boundary, and no end.
    pub(crate) fn goes_on_in(self, next: Self) -> bool {
        self.until == next.until && self.from <= next.from
    }
}

/// The state that determines how a station spends its time until its next event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StationView {
    pub waits: MacWait,
    /// The category that exchanges frames, if one does; the DCF has only category 0.
    pub sends: Option<u8>,
    pub nav_until: u64,
    /// Start and end of the last EIFS, ns; it may have passed. 0 after a good frame.
    pub eifs_from: u64,
    pub eifs_until: u64,
    /// Start of the slot count, ns; with categories that of the shortest AIFS.
    pub count_from: u64,
}

/// State of an access category of a station, or of a station of the DCF.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CategoryView {
    /// The packet that is being sent, or for which the category contends.
    pub head: Option<Msdu>,
    /// The back-off that is set.
    pub countdown: Option<Countdown>,
}

impl StationMac {
    /// The station's state now.
    pub(crate) fn view(&self, station: &Station, kind: &MacKind) -> StationView {
        let waits = match self.sending().state {
            _ if self.exchange.owes_response() => MacWait::SifsBeforeResponse,
            State::Idle | State::Contend => MacWait::Access,
            State::WaitCts => MacWait::Cts,
            State::WaitAck => MacWait::Ack,
            State::SendData | State::Txop => MacWait::SifsBeforeData,
        };
        let eifs_from = station.radio.eifs_from;
        StationView {
            waits,
            sends: self.is_exchanging().then_some(self.exchange.category() as u8),
            nav_until: station.radio.nav_until,
            eifs_from,
            eifs_until: if eifs_from == 0 { 0 } else { eifs_from + kind.timing.eifs },
            count_from: station.radio.count_from,
        }
    }

    /// The state of a category now.
    pub(crate) fn category_view(&self, station: &Station, kind: &MacKind, category: usize) -> CategoryView {
        let countdown = station.countdown(category, kind.timing.slot);
        CategoryView {
            head: self.category(category).held.front().copied(),
            countdown: countdown.map(|(from, until, slots)| Countdown { from, until, slots }),
        }
    }
}
