//! Radiotap: a radio's information about a frame, before each frame in captures [radiotap.org, "Radiotap"].
//!
//! Version 0, one presence word, fields in the order of their bits, each aligned to its size from the header's start, low byte
//! first.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Version, padding, length and the presence word, bytes.
const BASE: usize = 8;
/// Presence bit: another presence word follows.
const EXTENDED: u32 = 1 << 31;

/// Alignment and size of the fields of bits 0 to 17, bytes [radiotap.org, "Defined fields"].
const FIELDS: [(usize, usize); 18] = [
    (8, 8), // TSFT
    (1, 1), // flags
    (1, 1), // rate
    (2, 4), // channel
    (1, 2), // FHSS
    (1, 1), // antenna signal, dBm
    (1, 1), // antenna noise, dBm
    (2, 2), // lock quality
    (2, 2), // TX attenuation
    (2, 2), // TX attenuation, dB
    (1, 1), // TX power, dBm
    (1, 1), // antenna
    (1, 1), // antenna signal, dB
    (1, 1), // antenna noise, dB
    (2, 2), // RX flags
    (2, 2), // TX flags
    (1, 1), // RTS retries
    (1, 1), // data retries
];

const TSFT: usize = 0;
const FLAGS: usize = 1;
const RATE: usize = 2;
const CHANNEL: usize = 3;
const SIGNAL: usize = 5;
const NOISE: usize = 6;
const TX_POWER: usize = 10;
const TX_FLAGS: usize = 15;
const DATA_RETRIES: usize = 17;

/// The flags field; other bits are ignored on reception and sent as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// 0x02: sent with a short preamble.
    pub short_preamble: bool,
    /// 0x10: the frame ends with its FCS.
    pub fcs: bool,
    /// 0x40: the frame failed its FCS.
    pub bad_fcs: bool,
}

impl Flags {
    const fn bits(self) -> u8 {
        (self.short_preamble as u8) << 1 | (self.fcs as u8) << 4 | (self.bad_fcs as u8) << 6
    }

    const fn from_bits(bits: u8) -> Self {
        Self { short_preamble: bits & 0x02 != 0, fcs: bits & 0x10 != 0, bad_fcs: bits & 0x40 != 0 }
    }
}

/// The TX flags field, of frames that this station has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TxFlags {
    /// 0x02: preceded by a CTS to itself.
    pub cts_to_self: bool,
    /// 0x04: preceded by RTS and CTS.
    pub rts_cts: bool,
    /// 0x08: no acknowledgement is expected.
    pub no_ack: bool,
}

impl TxFlags {
    const fn bits(self) -> u16 {
        (self.cts_to_self as u16) << 1 | (self.rts_cts as u16) << 2 | (self.no_ack as u16) << 3
    }

    const fn from_bits(bits: u16) -> Self {
        Self { cts_to_self: bits & 0x02 != 0, rts_cts: bits & 0x04 != 0, no_ack: bits & 0x08 != 0 }
    }
}

/// The channel field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Centre frequency, MHz.
    pub mhz: u16,
    /// Band and modulation: a sum of the constants below.
    pub flags: u16,
}

impl Channel {
    /// DSSS and CCK.
    pub const CCK: u16 = 0x0020;
    /// OFDM.
    pub const OFDM: u16 = 0x0040;
    /// 2.4 GHz.
    pub const GHZ_2: u16 = 0x0080;
    /// 5 GHz.
    pub const GHZ_5: u16 = 0x0100;
}

/// A radiotap header. A field that is `None` is omitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Radiotap {
    /// The station's clock when the first bit of the MPDU arrived, microseconds.
    pub tsft: Option<u64>,
    /// Flags field: preamble and FCS.
    pub flags: Option<Flags>,
    /// Rate, units of 500 kbit/s.
    pub rate: Option<u8>,
    /// Frequency and band.
    pub channel: Option<Channel>,
    /// Power at the antenna, dBm.
    pub signal_dbm: Option<i8>,
    /// Noise at the antenna, dBm.
    pub noise_dbm: Option<i8>,
    /// Transmit power, dBm.
    pub tx_power_dbm: Option<i8>,
    /// TX flags of a frame that the station has sent.
    pub tx_flags: Option<TxFlags>,
    /// Number of earlier transmissions of this data frame.
    pub data_retries: Option<u8>,
}

/// Start of a field after `at` bytes.
const fn aligned(at: usize, alignment: usize) -> usize {
    at.next_multiple_of(alignment)
}

impl Radiotap {
    const fn present(&self) -> u32 {
        (self.tsft.is_some() as u32) << TSFT
            | (self.flags.is_some() as u32) << FLAGS
            | (self.rate.is_some() as u32) << RATE
            | (self.channel.is_some() as u32) << CHANNEL
            | (self.signal_dbm.is_some() as u32) << SIGNAL
            | (self.noise_dbm.is_some() as u32) << NOISE
            | (self.tx_power_dbm.is_some() as u32) << TX_POWER
            | (self.tx_flags.is_some() as u32) << TX_FLAGS
            | (self.data_retries.is_some() as u32) << DATA_RETRIES
    }

    /// Length on the wire, bytes: 8 to 29.
    pub fn wire_len(&self) -> usize {
        let present = self.present();
        let fields = FIELDS.iter().enumerate().filter(|(bit, _)| present >> bit & 1 == 1);
        fields.fold(BASE, |at, (_, &(alignment, size))| aligned(at, alignment) + size)
    }

    /// The bytes of the field of a bit, of which the first `size` are used.
    fn field(&self, bit: usize) -> [u8; 8] {
        let short = |bytes: [u8; 2]| [bytes[0], bytes[1], 0, 0, 0, 0, 0, 0];
        let byte = |byte: u8| short([byte, 0]);
        let level = |dbm: Option<i8>| byte(dbm.unwrap_or(0).to_le_bytes()[0]);
        match bit {
            TSFT => self.tsft.unwrap_or(0).to_le_bytes(),
            FLAGS => byte(self.flags.unwrap_or_default().bits()),
            RATE => byte(self.rate.unwrap_or(0)),
            CHANNEL => {
                let Channel { mhz, flags } = self.channel.unwrap_or_default();
                let ([a, b], [c, d]) = (mhz.to_le_bytes(), flags.to_le_bytes());
                [a, b, c, d, 0, 0, 0, 0]
            }
            SIGNAL => level(self.signal_dbm),
            NOISE => level(self.noise_dbm),
            TX_POWER => level(self.tx_power_dbm),
            TX_FLAGS => short(self.tx_flags.unwrap_or_default().bits().to_le_bytes()),
            _ => byte(self.data_retries.unwrap_or(0)),
        }
    }

    /// Writes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let len = self.wire_len();
        let present = self.present();
        #[allow(clippy::cast_possible_truncation, reason = "29 bytes at most")]
        let field_len = len as u16;
        let mut writer = Writer::new(Header::Radiotap, buffer, len)?
            .put([0, 0])
            .put(field_len.to_le_bytes())
            .put(present.to_le_bytes());
        let mut at = BASE;
        for (bit, &(alignment, size)) in FIELDS.iter().enumerate().filter(|(bit, _)| present >> bit & 1 == 1)
        {
            while at < aligned(at, alignment) {
                writer = writer.put([0]);
                at += 1;
            }
            for &byte in self.field(bit).iter().take(size) {
                writer = writer.put([byte]);
            }
            at += size;
        }
        Ok(len)
    }

    /// Decodes the header; returns the bytes that follow, the frame. Fields that are not represented here are skipped.
    ///
    /// # Errors
    /// Too few bytes, another version than 0, fields beyond the header's length.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Radiotap, bytes);
        reader.need(BASE)?;
        let start = reader.clone();
        let [version, _] = reader.array()?;
        if version != 0 {
            return Err(start.fail(Expected::value("version", "0", &[version])));
        }
        let at_len = reader.clone();
        let len = reader.u16_le()?;
        if usize::from(len) < BASE {
            return Err(at_len.fail(Expected::value("length", "at least 8", &len.to_be_bytes())));
        }
        start.need(usize::from(len))?;
        let (header, rest) = bytes.split_at_checked(usize::from(len)).unwrap_or_default();
        let mut reader = Reader::new(Header::Radiotap, header);
        reader.skip(4)?;
        let present = u32::from_le_bytes(reader.array()?);
        let mut word = present;
        let mut at = BASE;
        while word & EXTENDED != 0 {
            word = u32::from_le_bytes(reader.array()?);
            at += 4;
        }
        let mut found = Self::default();
        for (bit, &(alignment, size)) in FIELDS.iter().enumerate().filter(|(bit, _)| present >> bit & 1 == 1)
        {
            reader.skip(aligned(at, alignment) - at)?;
            at = aligned(at, alignment) + size;
            match bit {
                TSFT => found.tsft = Some(u64::from_le_bytes(reader.array()?)),
                FLAGS => found.flags = Some(Flags::from_bits(reader.u8()?)),
                RATE => found.rate = Some(reader.u8()?),
                CHANNEL => {
                    found.channel = Some(Channel { mhz: reader.u16_le()?, flags: reader.u16_le()? });
                }
                SIGNAL => found.signal_dbm = Some(i8::from_le_bytes(reader.array()?)),
                NOISE => found.noise_dbm = Some(i8::from_le_bytes(reader.array()?)),
                TX_POWER => found.tx_power_dbm = Some(i8::from_le_bytes(reader.array()?)),
                TX_FLAGS => found.tx_flags = Some(TxFlags::from_bits(reader.u16_le()?)),
                DATA_RETRIES => found.data_retries = Some(reader.u8()?),
                _ => reader.skip(size)?,
            }
        }
        Ok((found, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the list of fields: TSFT at 8, flags at 16, rate at 17, channel at 18, signal at 22; then the TX flags, which
    /// are aligned to 2, at 24 and the retries at 26.
    #[test]
    fn fields_are_at_their_offsets() {
        let header = Radiotap {
            tsft: Some(0x0102_0304_0506_0708),
            flags: Some(Flags { fcs: true, bad_fcs: true, short_preamble: true }),
            rate: Some(22),
            channel: Some(Channel { mhz: 2412, flags: Channel::CCK | Channel::GHZ_2 }),
            signal_dbm: Some(-64),
            tx_flags: Some(TxFlags { rts_cts: true, no_ack: true, cts_to_self: false }),
            data_retries: Some(3),
            ..Radiotap::default()
        };
        let mut bytes = [0xff; 28];
        assert_eq!(header.encode(&mut bytes), Ok(27));
        #[rustfmt::skip]
        let expected = [
            0, 0, 27, 0, 0x2f, 0x80, 0x02, 0,
            8, 7, 6, 5, 4, 3, 2, 1,
            0x52, 22, 0x6c, 0x09, 0xa0, 0, 0xc0, 0,
            0x0c, 0, 3, 0xff,
        ];
        assert_eq!(bytes, expected);
        assert_eq!(Radiotap::decode(&bytes), Ok((header, &[0xff][..])));
    }

    /// A header as a Linux driver writes it: a second presence word for the second antenna, whose fields are skipped.
    #[test]
    fn a_second_presence_word_is_skipped() {
        #[rustfmt::skip]
        let bytes = [
            0, 0, 19, 0, 0x04, 0, 0, 0x80, 0x20, 0x08, 0, 0,
            2, 0xc4, 1, 0xaa, 0xaa, 0xaa, 0xaa, 0xd4, 0,
        ];
        let (header, rest) = Radiotap::decode(&bytes).expect("it is right");
        assert_eq!(header, Radiotap { rate: Some(2), ..Radiotap::default() });
        assert_eq!(rest, [0xd4, 0]);
    }
}
