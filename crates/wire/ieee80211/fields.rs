//! The fields that frames share [IEEE 802.11-2016 clause 9.2.4].

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

bounded! {
    /// How long the medium stays reserved after this frame, microseconds, 15 bits [clauses 9.2.4.2 and
    /// 9.2.5]. The field's other uses (PS-Poll, contention-free period) are not represented.
    NavDuration(u16) <= 32_767
}

bounded! {
    /// Counts MSDUs and management frames modulo 4096 [clause 9.2.4.4.2].
    SequenceNumber(u16) <= 4095
}

bounded! {
    /// Counts the fragments of one MSDU from 0 [clause 9.2.4.4.3].
    FragmentNumber(u8) <= 15
}

/// The Sequence Control field: 2 bytes [clause 9.2.4.4].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SequenceControl {
    /// The same in every fragment and retransmission of an MSDU.
    pub number: SequenceNumber,
    /// Number of the fragment.
    pub fragment: FragmentNumber,
}

impl SequenceControl {
    /// Length on the wire: 2 bytes.
    pub const fn wire_len() -> usize {
        2
    }

    pub(super) const fn to_bytes(self) -> [u8; 2] {
        (self.number.get() << 4 | self.fragment.get() as u16).to_le_bytes()
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let field = reader.u16_le()?;
        let [low, _] = field.to_le_bytes();
        let number = SequenceNumber::saturating(field >> 4);
        Ok(Self { number, fragment: FragmentNumber::saturating(low & 0x0f) })
    }
}

impl NavDuration {
    /// Length on the wire: 2 bytes.
    pub const fn wire_len() -> usize {
        2
    }

    pub(super) const fn to_bytes(self) -> [u8; 2] {
        self.get().to_le_bytes()
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.clone();
        let value = reader.u16_le()?;
        let wanted = "a duration of at most 32767 us";
        Self::new(value).ok_or_else(|| at.fail(Expected::value("Duration/ID", wanted, &value.to_be_bytes())))
    }
}

/// Type and subtype [clause 9.2.4.1.3, Table 9-1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// RTS: control, 1011.
    Rts,
    /// CTS: control, 1100.
    Cts,
    /// Ack: control, 1101.
    Ack,
    /// CF-End: control, 1110.
    CfEnd,
    /// Data with a body: 0000.
    Data,
    /// Data, 0100: no frame body.
    Null,
    /// QoS data with a body: 1000.
    QosData,
    /// Data, 1100: no frame body.
    QosNull,
}

impl FrameKind {
    /// The first byte of the frame: subtype, type, protocol version 0.
    const fn first_byte(self) -> u8 {
        match self {
            Self::Rts => 0xb4,
            Self::Cts => 0xc4,
            Self::Ack => 0xd4,
            Self::CfEnd => 0xe4,
            Self::Data => 0x08,
            Self::Null => 0x48,
            Self::QosData => 0x88,
            Self::QosNull => 0xc8,
        }
    }

    const fn from_first_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0xb4 => Self::Rts,
            0xc4 => Self::Cts,
            0xd4 => Self::Ack,
            0xe4 => Self::CfEnd,
            0x08 => Self::Data,
            0x48 => Self::Null,
            0x88 => Self::QosData,
            0xc8 => Self::QosNull,
            _ => return None,
        })
    }
}

/// The Frame Control field: 2 bytes [clause 9.2.4.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameControl {
    /// Type and subtype.
    pub kind: FrameKind,
    /// Towards the distribution system; with `from_ds`, a frame of four addresses.
    pub to_ds: bool,
    /// From the distribution system.
    pub from_ds: bool,
    /// Another fragment of this MSDU follows.
    pub more_fragments: bool,
    /// True for a retransmission.
    pub retry: bool,
    /// The station will save power after this exchange.
    pub power_management: bool,
    /// More frames are buffered for a station that saves power.
    pub more_data: bool,
    /// The body is encrypted.
    pub protected: bool,
    /// +HTC in a QoS frame: an HT Control field is present. Strict order in others (obsolete).
    pub htc_or_order: bool,
}

impl FrameControl {
    /// A frame of this kind with no flag set, as a control frame is sent.
    pub const fn new(kind: FrameKind) -> Self {
        Self {
            kind,
            to_ds: false,
            from_ds: false,
            more_fragments: false,
            retry: false,
            power_management: false,
            more_data: false,
            protected: false,
            htc_or_order: false,
        }
    }

    /// Length on the wire: 2 bytes.
    pub const fn wire_len() -> usize {
        2
    }

    pub(super) const fn to_bytes(self) -> [u8; 2] {
        let flags = self.to_ds as u8
            | (self.from_ds as u8) << 1
            | (self.more_fragments as u8) << 2
            | (self.retry as u8) << 3
            | (self.power_management as u8) << 4
            | (self.more_data as u8) << 5
            | (self.protected as u8) << 6
            | (self.htc_or_order as u8) << 7;
        [self.kind.first_byte(), flags]
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.clone();
        let [first, flags] = reader.array()?;
        let Some(kind) = FrameKind::from_first_byte(first) else {
            let wanted = "RTS, CTS, Ack, data, null, QoS data or QoS null";
            return Err(at.fail(Expected::value("version, type and subtype", wanted, &[first])));
        };
        let flag = |bit: u8| flags >> bit & 1 == 1;
        Ok(Self {
            kind,
            to_ds: flag(0),
            from_ds: flag(1),
            more_fragments: flag(2),
            retry: flag(3),
            power_management: flag(4),
            more_data: flag(5),
            protected: flag(6),
            htc_or_order: flag(7),
        })
    }

    /// Writes the field to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::FrameControl, buffer, Self::wire_len())?.put(self.to_bytes());
        Ok(Self::wire_len())
    }

    /// Reads the field, from which the kind of the frame follows; returns the bytes that follow.
    ///
    /// # Errors
    /// Fewer than two bytes, or a kind of frame that this crate does not represent.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::FrameControl, bytes);
        let field = Self::read(&mut reader)?;
        Ok((field, reader.rest()))
    }
}
