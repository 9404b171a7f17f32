//! The header of data frames [IEEE 802.11-2016 clause 9.3.2.1].

use super::fields::{FrameControl, FrameKind, NavDuration, SequenceControl};
use super::qos::QosControl;
use crate::address::MacAddr;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Addresses by the To DS and From DS bits [clause 9.3.2.1, Table 9-26]. An A-MSDU carries the BSSID in place of its end points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addresses {
    /// Neither bit: station to station, as in an IBSS and between ad hoc nodes.
    Direct {
        /// Address 1: receiver and destination.
        destination: MacAddr,
        /// Address 2: transmitter and source.
        source: MacAddr,
        /// Address 3: the BSSID of the cell.
        bssid: MacAddr,
    },
    /// To DS: station to access point.
    ToDs {
        /// Address 1: receiver.
        bssid: MacAddr,
        /// Address 2: transmitter and source.
        source: MacAddr,
        /// Address 3.
        destination: MacAddr,
    },
    /// From DS: access point to station.
    FromDs {
        /// Address 1: receiver and destination.
        destination: MacAddr,
        /// Address 2: transmitter.
        bssid: MacAddr,
        /// Address 3.
        source: MacAddr,
    },
    /// Both bits: one hop between relays, four addresses.
    Relay {
        /// Address 1: this hop's receiver.
        receiver: MacAddr,
        /// Address 2: this hop's transmitter.
        transmitter: MacAddr,
        /// Address 3.
        destination: MacAddr,
        /// Address 4.
        source: MacAddr,
    },
}

impl Addresses {
    /// Length on the wire: 18 bytes, or 24 for [`Self::Relay`].
    pub const fn wire_len(&self) -> usize {
        match self {
            Self::Relay { .. } => 4 * MacAddr::wire_len(),
            _ => 3 * MacAddr::wire_len(),
        }
    }

    /// RA: the receiver of this transmission, which acknowledges it.
    pub const fn receiver(&self) -> MacAddr {
        match *self {
            Self::Direct { destination, .. } | Self::FromDs { destination, .. } => destination,
            Self::ToDs { bssid, .. } => bssid,
            Self::Relay { receiver, .. } => receiver,
        }
    }

    /// TA: the transmitter of this transmission.
    pub const fn transmitter(&self) -> MacAddr {
        match *self {
            Self::Direct { source, .. } | Self::ToDs { source, .. } => source,
            Self::FromDs { bssid, .. } => bssid,
            Self::Relay { transmitter, .. } => transmitter,
        }
    }

    /// DA: the final destination of the body.
    pub const fn destination(&self) -> MacAddr {
        match *self {
            Self::Direct { destination, .. }
            | Self::ToDs { destination, .. }
            | Self::FromDs { destination, .. }
            | Self::Relay { destination, .. } => destination,
        }
    }

    /// SA: the original source of the body.
    pub const fn source(&self) -> MacAddr {
        match *self {
            Self::Direct { source, .. }
            | Self::ToDs { source, .. }
            | Self::FromDs { source, .. }
            | Self::Relay { source, .. } => source,
        }
    }

    /// The To DS and From DS bits.
    const fn ds_bits(&self) -> (bool, bool) {
        match self {
            Self::Direct { .. } => (false, false),
            Self::ToDs { .. } => (true, false),
            Self::FromDs { .. } => (false, true),
            Self::Relay { .. } => (true, true),
        }
    }

    /// Address 3.
    const fn third(&self) -> MacAddr {
        match *self {
            Self::Direct { bssid, .. } => bssid,
            Self::FromDs { source, .. } => source,
            Self::ToDs { destination, .. } | Self::Relay { destination, .. } => destination,
        }
    }
}

/// The header of a data frame before its body: 24 bytes, and 6 for a fourth address, 2 for QoS, 4 for HT control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DataHeader {
    /// Null function: the frame has no body and only its flags matter.
    pub null: bool,
    /// Another fragment of this MSDU follows.
    pub more_fragments: bool,
    /// A retransmission [clause 9.2.4.1.6].
    pub retry: bool,
    /// The station will save power after this exchange.
    pub power_management: bool,
    /// More frames are buffered for a station that saves power.
    pub more_data: bool,
    /// The body is encrypted.
    pub protected: bool,
    /// Duration of the rest of the exchange after this frame, microseconds.
    pub duration: NavDuration,
    /// Addresses and the DS bits.
    pub addresses: Addresses,
    /// Sequence and fragment number of the MSDU.
    pub sequence: SequenceControl,
    /// Present in QoS frames.
    pub qos: Option<QosControl>,
}

impl DataHeader {
    /// A frame with a body, no flag set and no QoS.
    pub const fn new(addresses: Addresses, duration: NavDuration, sequence: SequenceControl) -> Self {
        Self {
            null: false,
            more_fragments: false,
            retry: false,
            power_management: false,
            more_data: false,
            protected: false,
            duration,
            addresses,
            sequence,
            qos: None,
        }
    }

    /// Length on the wire with three addresses and without QoS: 24 bytes.
    pub const fn base_len() -> usize {
        FrameControl::wire_len()
            + NavDuration::wire_len()
            + 3 * MacAddr::wire_len()
            + SequenceControl::wire_len()
    }

    /// Length on the wire, bytes: from 24 to 36.
    pub const fn wire_len(&self) -> usize {
        let qos = match self.qos {
            None => 0,
            Some(qos) => qos.wire_len_with_ht_control(),
        };
        Self::base_len() - 3 * MacAddr::wire_len() + self.addresses.wire_len() + qos
    }

    const fn kind(&self) -> FrameKind {
        match (self.qos, self.null) {
            (None, false) => FrameKind::Data,
            (None, true) => FrameKind::Null,
            (Some(_), false) => FrameKind::QosData,
            (Some(_), true) => FrameKind::QosNull,
        }
    }

    /// Writes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (to_ds, from_ds) = self.addresses.ds_bits();
        let control = FrameControl {
            kind: self.kind(),
            to_ds,
            from_ds,
            more_fragments: self.more_fragments,
            retry: self.retry,
            power_management: self.power_management,
            more_data: self.more_data,
            protected: self.protected,
            htc_or_order: self.qos.is_some_and(|qos| qos.ht_control.is_some()),
        };
        let mut writer = Writer::new(Header::Data, buffer, self.wire_len())?
            .put(control.to_bytes())
            .put(self.duration.to_bytes())
            .put(self.addresses.receiver().0)
            .put(self.addresses.transmitter().0)
            .put(self.addresses.third().0)
            .put(self.sequence.to_bytes());
        if let Addresses::Relay { source, .. } = self.addresses {
            writer = writer.put(source.0);
        }
        if let Some(qos) = self.qos {
            writer = writer.put(qos.to_bytes());
            if let Some(ht_control) = qos.ht_control {
                writer.put(ht_control.to_le_bytes());
            }
        }
        Ok(self.wire_len())
    }

    /// Reads the header; returns the body (the FCS must have been removed).
    ///
    /// # Errors
    /// Too few bytes, another kind of frame, strict ordering without QoS (obsolete), a duration beyond 15
    /// bits.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Data, bytes);
        reader.need(Self::base_len())?;
        let start = reader.clone();
        let control = FrameControl::read(&mut reader)?;
        let (has_qos, null) = match control.kind {
            FrameKind::Data => (false, false),
            FrameKind::Null => (false, true),
            FrameKind::QosData => (true, false),
            FrameKind::QosNull => (true, true),
            FrameKind::Rts | FrameKind::Cts | FrameKind::Ack | FrameKind::CfEnd => {
                let found = bytes.get(..1).unwrap_or_default();
                return Err(start.fail(Expected::value("type", "data", found)));
            }
        };
        if control.htc_or_order && !has_qos {
            let found = bytes.get(1..2).unwrap_or_default();
            return Err(start.fail(Expected::value("flags", "no strict order outside QoS", found)));
        }
        let duration = NavDuration::read(&mut reader)?;
        let (first, second, third) = (reader.mac()?, reader.mac()?, reader.mac()?);
        let sequence = SequenceControl::read(&mut reader)?;
        let addresses = match (control.to_ds, control.from_ds) {
            (false, false) => Addresses::Direct { destination: first, source: second, bssid: third },
            (true, false) => Addresses::ToDs { bssid: first, source: second, destination: third },
            (false, true) => Addresses::FromDs { destination: first, bssid: second, source: third },
            (true, true) => Addresses::Relay {
                receiver: first,
                transmitter: second,
                destination: third,
                source: reader.mac()?,
            },
        };
        let qos = if has_qos { Some(QosControl::read(&mut reader, control.htc_or_order)?) } else { None };
        let header = Self {
            null,
            more_fragments: control.more_fragments,
            retry: control.retry,
            power_management: control.power_management,
            more_data: control.more_data,
            protected: control.protected,
            duration,
            addresses,
            sequence,
            qos,
        };
        Ok((header, reader.rest()))
    }
}
