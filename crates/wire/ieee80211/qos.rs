//! Quality of service in data frames [IEEE 802.11-2016 clause 9.2.4.5].

use crate::cursor::Reader;
use crate::error::DecodeError;

/// The HT Control field's length, bytes [clause 9.2.4.6].
const HT_CONTROL_LEN: usize = 4;

bounded! {
    /// Traffic identifier: user priorities 0 to 7, traffic streams 8 to 15 [clause 9.2.4.5.2].
    Tid(u8) <= 15
}

/// How the receiver of a QoS frame acknowledges it [clause 9.2.4.5.4].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AckPolicy {
    /// 0: with an Ack after a SIFS; inside an aggregate with a block acknowledgement.
    #[default]
    Normal,
    /// 1: no acknowledgement.
    NoAck,
    /// 2: by the frame that follows (no explicit acknowledgement, or PSMP).
    NoExplicit,
    /// 3: by a block acknowledgement on request.
    Block,
}

/// The QoS Control field, 2 bytes [clause 9.2.4.5], and the HT Control field that may follow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QosControl {
    /// Bits 0-3: the traffic's priority.
    pub tid: Tid,
    /// Bit 4: end of service period (from an access point) or queue size follows (from a station).
    pub eosp: bool,
    /// Bits 5-6: acknowledgement policy.
    pub ack_policy: AckPolicy,
    /// Bit 7: the body is an A-MSDU.
    pub amsdu: bool,
    /// Bits 8-15: TXOP limit, TXOP duration, queue size or mesh control, depending on the sender [Table 9-6].
    pub upper: u8,
    /// The HT Control field as a number; its presence is the +HTC bit [clause 9.2.4.6].
    pub ht_control: Option<u32>,
}

impl QosControl {
    /// Length on the wire of the QoS Control field alone: 2 bytes.
    pub const fn wire_len() -> usize {
        2
    }

    /// Length on the wire with the HT Control field, where there is one: 2 or 6 bytes.
    pub const fn wire_len_with_ht_control(&self) -> usize {
        Self::wire_len() + if self.ht_control.is_some() { HT_CONTROL_LEN } else { 0 }
    }

    pub(super) const fn to_bytes(self) -> [u8; 2] {
        let policy = match self.ack_policy {
            AckPolicy::Normal => 0,
            AckPolicy::NoAck => 1,
            AckPolicy::NoExplicit => 2,
            AckPolicy::Block => 3,
        };
        [self.tid.get() | (self.eosp as u8) << 4 | policy << 5 | (self.amsdu as u8) << 7, self.upper]
    }

    pub(super) fn read(reader: &mut Reader<'_>, has_ht_control: bool) -> Result<Self, DecodeError> {
        let [low, upper] = reader.array()?;
        Ok(Self {
            tid: Tid::saturating(low & 0x0f),
            eosp: low & 0x10 != 0,
            ack_policy: match low >> 5 & 0b11 {
                0 => AckPolicy::Normal,
                1 => AckPolicy::NoAck,
                2 => AckPolicy::NoExplicit,
                _ => AckPolicy::Block,
            },
            amsdu: low & 0x80 != 0,
            upper,
            ht_control: if has_ht_control { Some(u32::from_le_bytes(reader.array()?)) } else { None },
        })
    }
}
