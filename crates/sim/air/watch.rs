//! A station as one that explains a run sees it. Nothing here is called unless somebody explains.

use super::Air;
use super::Handed;
use super::mac::State;
use super::medium::hearers::Hearer;

/// What a station waits for, apart from the medium.
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

/// What decides over a station's time until something happens to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub waits: Waits,
    /// The packet that it is sending, or contends for.
    pub head: Option<Handed>,
    pub nav_until: u64,
    /// The end of the frame that started an EIFS, 0 if none runs, and the end of the EIFS.
    pub eifs_from: u64,
    pub eifs_until: u64,
    /// Slots are counted from here.
    pub count_from: u64,
}

/// How a transmitter's signal arrives at a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Propagation delay, ns.
    pub delay: u32,
    /// Received power, aW.
    pub power: u64,
    /// It makes the medium busy.
    pub sensed: bool,
}

impl Air {
    pub(crate) fn looks(&self, station: u32) -> View {
        let s = &self.stations[station as usize];
        let kind = self.kind(station);
        let mac = &self.own[station as usize].mac;
        let waits = match mac.state {
            _ if mac.answers() => Waits::ToAnswer,
            State::Idle | State::Contend => Waits::Access,
            State::WaitCts => Waits::Cts,
            State::WaitAck => Waits::Ack,
            State::SendData => Waits::ToSend,
        };
        let eifs_from = s.radio.eifs_from;
        View {
            waits,
            head: mac.held.front().copied(),
            nav_until: s.radio.nav_until,
            eifs_from,
            eifs_until: if eifs_from == 0 { 0 } else { eifs_from + kind.eifs },
            count_from: s.radio.count_from,
        }
    }

    /// How every station's signal arrives at this one, by the number of the sender.
    pub(crate) fn heard_at(&self, station: u32) -> Vec<Option<Heard>> {
        let energy_detect = self.kind(station).energy_detect;
        let preamble_detect = self.kind(station).preamble_detect;
        let heard = |Hearer { delay, power, .. }| Heard {
            delay,
            power,
            sensed: power >= preamble_detect.min(energy_detect),
        };
        (0..self.len() as u32).map(|from| self.hearers.find(from, station).map(heard)).collect()
    }
}
