//! Capture files [draft-ietf-opsawg-pcapng]: blocks of one section, low byte first, times in nanoseconds.
//!
//! A file is a [`Section`], an [`Interface`] for each interface, and then [`Packet`]s in order of time; [`Names`] assign names to
//! addresses. Blocks and options that are not represented here are skipped by the decoder.

use alloc::vec::Vec;

use crate::address::Ipv4Addr;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Bytes around a block's body: type and length before it, and the length again after it.
const FRAME: usize = 12;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Nanoseconds: 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Codes of options, whose meaning depends on the block.
const END: u16 = 0;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION: u16 = 3;
const INTERFACE_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
/// A record of a name resolution block.
const IPV4_NAME: u16 = 1;

/// An error bit of a packet's flags: the CRC is wrong.
const CRC_ERROR: u32 = 1 << 24;

/// A text in a block: at most 1,024 bytes, none of them zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// `None` if the text is longer, or contains a zero.
    pub fn new(text: &'a str) -> Option<Self> {
        (text.len() <= 1024 && !text.contains('\0')).then_some(Self(text))
    }

    /// The text as a string.
    pub const fn get(self) -> &'a str {
        self.0
    }
}

/// The bytes of a packet: at most 262,144, the limit of readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Data<'a>(&'a [u8]);

impl<'a> Data<'a> {
    /// `None` if there are more.
    pub const fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() <= 262_144 { Some(Self(bytes)) } else { None }
    }

    /// The bytes as a slice.
    pub const fn get(self) -> &'a [u8] {
        self.0
    }
}

/// First header of an interface's packets [LINKTYPE_ values, www.tcpdump.org/linktypes.html].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(
    /// The number of the type.
    pub u16,
);

impl LinkType {
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// Radiotap, then an 802.11 frame.
    pub const RADIOTAP: Self = Self(127);
    /// IPv4 with nothing before it.
    pub const IPV4: Self = Self(228);
}

/// Direction of a packet [option epb_flags].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The packet was received.
    Inbound,
    /// The packet was sent.
    Outbound,
}

/// The first block of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Section<'a> {
    /// Application that wrote the file.
    pub application: Text<'a>,
}

/// An interface; packets refer to it by its index among the section's interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interface<'a> {
    /// First header of its packets.
    pub link_type: LinkType,
    /// Largest number of bytes stored of a packet; 0: all.
    pub snap_len: u32,
    /// Name of the interface.
    pub name: Text<'a>,
    /// Description of the interface.
    pub description: Text<'a>,
}

/// A captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packet<'a> {
    /// Index of its interface.
    pub interface: u32,
    /// Time stamp, ns.
    pub time_ns: u64,
    /// Full length of the packet, bytes.
    pub original_len: u32,
    /// Stored bytes of the packet.
    pub data: Data<'a>,
    /// Direction of the packet.
    pub direction: Direction,
    /// True if its checksum was wrong.
    pub crc_error: bool,
}

/// Names of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Names<'a> {
    /// Addresses with their names.
    pub ipv4: Vec<(Ipv4Addr, Text<'a>)>,
}

/// A block of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Block<'a> {
    /// The start of a section.
    Section(Section<'a>),
    /// An interface of the section.
    Interface(Interface<'a>),
    /// A captured packet.
    Packet(Packet<'a>),
    /// Names of addresses.
    Names(Names<'a>),
}

const fn padded(len: usize) -> usize {
    len.next_multiple_of(4)
}

const fn option_len(value: usize) -> usize {
    4 + padded(value)
}

/// Writes an option: code, length and value, padded to whole words.
fn put_option<'a>(writer: Writer<'a>, code: u16, value: &[u8]) -> Writer<'a> {
    #[allow(clippy::cast_possible_truncation, reason = "a text has at most 1,024 bytes")]
    let len = value.len() as u16;
    put_padded(writer.put(code.to_le_bytes()).put(len.to_le_bytes()), value)
}

fn put_padded<'a>(writer: Writer<'a>, value: &[u8]) -> Writer<'a> {
    const ZEROS: [u8; 3] = [0; 3];
    writer.put_slice(value).put_slice(ZEROS.get(..padded(value.len()) - value.len()).unwrap_or_default())
}

/// Reads options one after the other; `take` is called with each one's code and value.
fn read_options<'a>(
    reader: &mut Reader<'a>,
    mut take: impl FnMut(u16, &'a [u8], &Reader<'a>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    while !reader.rest().is_empty() {
        let at = reader.clone();
        let (code, len) = (reader.u16_le()?, usize::from(reader.u16_le()?));
        if code == END {
            return Ok(());
        }
        take(code, reader.slice(len)?, &at)?;
        reader.skip(padded(len) - len)?;
    }
    Ok(())
}

fn read_text<'a>(value: &'a [u8], at: &Reader<'_>) -> Result<Text<'a>, DecodeError> {
    core::str::from_utf8(value)
        .ok()
        .and_then(Text::new)
        .ok_or_else(|| at.fail(Expected::value("text", "at most 1024 bytes of UTF-8 without a zero", value)))
}

impl Block<'_> {
    const fn kind(&self) -> u32 {
        match self {
            Self::Section(_) => SECTION,
            Self::Interface(_) => INTERFACE,
            Self::Packet(_) => PACKET,
            Self::Names(_) => NAMES,
        }
    }

    /// Length on the wire, bytes: a multiple of 4.
    pub fn wire_len(&self) -> usize {
        let body = match self {
            Self::Section(section) => 16 + option_len(section.application.0.len()) + option_len(0),
            Self::Interface(i) => {
                let texts = option_len(i.name.0.len()) + option_len(i.description.0.len());
                8 + texts + option_len(1) + option_len(0)
            }
            Self::Packet(packet) => 20 + padded(packet.data.0.len()) + option_len(4) + option_len(0),
            Self::Names(names) => {
                let record = |&(_, name): &(Ipv4Addr, Text<'_>)| option_len(4 + name.0.len() + 1);
                names.ipv4.iter().map(record).sum::<usize>() + option_len(0)
            }
        };
        FRAME + body
    }

    /// Writes the block to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let len = self.wire_len();
        #[allow(clippy::cast_possible_truncation, reason = "name blocks stay far below 4 GiB")]
        let total = (len as u32).to_le_bytes();
        let writer = Writer::new(Header::PcapNg, buffer, len)?.put(self.kind().to_le_bytes()).put(total);
        let writer = match self {
            Self::Section(section) => {
                let writer = writer
                    .put(BYTE_ORDER.to_le_bytes())
                    .put(1u16.to_le_bytes())
                    .put(0u16.to_le_bytes())
                    .put((-1i64).to_le_bytes());
                put_option(writer, SECTION_APPLICATION, section.application.0.as_bytes())
            }
            Self::Interface(i) => {
                let writer =
                    writer.put(i.link_type.0.to_le_bytes()).put([0, 0]).put(i.snap_len.to_le_bytes());
                let writer = put_option(writer, INTERFACE_NAME, i.name.0.as_bytes());
                let writer = put_option(writer, INTERFACE_DESCRIPTION, i.description.0.as_bytes());
                put_option(writer, INTERFACE_RESOLUTION, &[NANOSECONDS])
            }
            Self::Packet(p) => {
                #[allow(clippy::cast_possible_truncation, reason = "the halves of 64 bits")]
                let (high, low) = ((p.time_ns >> 32) as u32, p.time_ns as u32);
                #[allow(clippy::cast_possible_truncation, reason = "at most 262,144 bytes")]
                let kept = p.data.0.len() as u32;
                let writer = [p.interface, high, low, kept, p.original_len]
                    .into_iter()
                    .fold(writer, |writer, word| writer.put(word.to_le_bytes()));
                let direction = match p.direction {
                    Direction::Inbound => 1,
                    Direction::Outbound => 2,
                };
                let flags = direction | if p.crc_error { CRC_ERROR } else { 0 };
                put_option(put_padded(writer, p.data.0), PACKET_FLAGS, &flags.to_le_bytes())
            }
            Self::Names(names) => names.ipv4.iter().fold(writer, |writer, (address, name)| {
                #[allow(clippy::cast_possible_truncation, reason = "a text has at most 1,024 bytes")]
                let len = (4 + name.0.len() + 1) as u16;
                let writer = writer.put(IPV4_NAME.to_le_bytes()).put(len.to_le_bytes());
                let writer = writer.put(address.octets()).put_slice(name.0.as_bytes());
                const ZEROS: [u8; 4] = [0; 4];
                let zeros = padded(usize::from(len)) - usize::from(len) + 1;
                writer.put_slice(ZEROS.get(..zeros).unwrap_or_default())
            }),
        };
        writer.put([0; 4]).put(total);
        Ok(len)
    }
}

impl<'a> Block<'a> {
    /// Decodes the next block that is represented here, and returns the bytes that follow; `None` at the end.
    ///
    /// # Errors
    /// A truncated block, or one whose two lengths differ; another byte order or version; times in another unit than nanoseconds; a text
    /// that is not UTF-8.
    pub fn decode(bytes: &'a [u8]) -> Result<(Option<Self>, &'a [u8]), DecodeError> {
        let mut start = Reader::new(Header::PcapNg, bytes);
        while !start.rest().is_empty() {
            let mut reader = start.clone();
            let kind = u32::from_le_bytes(reader.array()?);
            let at_len = reader.clone();
            let total = reader.array::<4>()?;
            let len = u32::from_le_bytes(total) as usize;
            if len < FRAME || !len.is_multiple_of(4) {
                return Err(at_len.fail(Expected::value("length", "a multiple of 4, at least 12", &total)));
            }
            let mut body = reader.clone().limited(len - FRAME)?;
            reader.skip(len - FRAME)?;
            reader.literal(total, "length behind the block", "the length before it")?;
            let block = match kind {
                SECTION => Some(Self::Section(Self::section(&mut body)?)),
                INTERFACE => Some(Self::Interface(Self::interface(&mut body)?)),
                PACKET => Self::packet(&mut body)?.map(Self::Packet),
                NAMES => Some(Self::Names(Self::names(&mut body)?)),
                _ => None,
            };
            start = reader;
            if block.is_some() {
                return Ok((block, start.rest()));
            }
        }
        Ok((None, start.rest()))
    }

    fn section(body: &mut Reader<'a>) -> Result<Section<'a>, DecodeError> {
        body.literal(BYTE_ORDER.to_le_bytes(), "byte order", "low byte first")?;
        body.literal([1, 0, 0, 0], "version", "1.0")?;
        body.skip(8)?;
        let mut section = Section { application: Text("") };
        read_options(body, |code, value, at| {
            if code == SECTION_APPLICATION {
                section.application = read_text(value, at)?;
            }
            Ok(())
        })?;
        Ok(section)
    }

    fn interface(body: &mut Reader<'a>) -> Result<Interface<'a>, DecodeError> {
        let start = body.clone();
        let link_type = LinkType(body.u16_le()?);
        body.skip(2)?;
        let snap_len = u32::from_le_bytes(body.array()?);
        let mut interface = Interface { link_type, snap_len, name: Text(""), description: Text("") };
        let mut resolution = None;
        read_options(body, |code, value, at| {
            match code {
                INTERFACE_NAME => interface.name = read_text(value, at)?,
                INTERFACE_DESCRIPTION => interface.description = read_text(value, at)?,
                INTERFACE_RESOLUTION => resolution = value.first().copied(),
                _ => {}
            }
            Ok(())
        })?;
        match resolution {
            Some(NANOSECONDS) => Ok(interface),
            other => Err(start.fail(Expected::value("resolution of time", "9 (ns)", &[other.unwrap_or(6)]))),
        }
    }

    /// A packet without a direction is skipped.
    fn packet(body: &mut Reader<'a>) -> Result<Option<Packet<'a>>, DecodeError> {
        let mut word = || body.array().map(u32::from_le_bytes);
        let (interface, high, low) = (word()?, word()?, word()?);
        let (kept, original_len) = (word()?, word()?);
        let at = body.clone();
        let Some(data) = Data::new(body.slice(kept as usize)?) else {
            return Err(at.fail(Expected::value("length", "at most 262144", &kept.to_be_bytes())));
        };
        body.skip(padded(kept as usize) - kept as usize)?;
        let mut flags = 0;
        read_options(body, |code, value, _| {
            if let (PACKET_FLAGS, &[a, b, c, d]) = (code, value) {
                flags = u32::from_le_bytes([a, b, c, d]);
            }
            Ok(())
        })?;
        let direction = match flags & 3 {
            1 => Direction::Inbound,
            2 => Direction::Outbound,
            _ => return Ok(None),
        };
        let time_ns = u64::from(high) << 32 | u64::from(low);
        let crc_error = flags & CRC_ERROR != 0;
        Ok(Some(Packet { interface, time_ns, original_len, data, direction, crc_error }))
    }

    /// Of a record with several names the first is used.
    fn names(body: &mut Reader<'a>) -> Result<Names<'a>, DecodeError> {
        let mut names = Names::default();
        read_options(body, |code, value, at| {
            if code == IPV4_NAME
                && let Some((address, text)) = value.split_first_chunk::<4>()
            {
                let name = text.split(|&byte| byte == 0).next().unwrap_or_default();
                names.ipv4.push((Ipv4Addr::from(*address), read_text(name, at)?));
            }
            Ok(())
        })?;
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// By hand from the draft's figures (sections 4.1 to 4.3).
    #[test]
    fn blocks_have_the_bytes_of_the_draft() {
        let encoded = |block: &Block<'_>| {
            let mut bytes = vec![0xff; block.wire_len()];
            assert_eq!(block.encode(&mut bytes), Ok(bytes.len()));
            assert_eq!(Block::decode(&bytes), Ok((Some(block.clone()), &[][..])));
            bytes
        };
        let section = encoded(&Block::Section(Section { application: Text("abcde") }));
        #[rustfmt::skip]
        let expected = [
            0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
            255, 255, 255, 255, 255, 255, 255, 255,
            4, 0, 5, 0, b'a', b'b', b'c', b'd', b'e', 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
        ];
        assert_eq!(section, expected);
        let interface = encoded(&Block::Interface(Interface {
            link_type: LinkType::RADIOTAP,
            snap_len: 160,
            name: Text("ap"),
            description: Text(""),
        }));
        #[rustfmt::skip]
        let expected = [
            1, 0, 0, 0, 44, 0, 0, 0, 127, 0, 0, 0, 160, 0, 0, 0,
            2, 0, 2, 0, b'a', b'p', 0, 0, 3, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
        ];
        assert_eq!(interface, expected);
        let packet = encoded(&Block::Packet(Packet {
            interface: 2,
            time_ns: 0x0102_0304_0506_0708,
            original_len: 300,
            data: Data(&[1, 2, 3]),
            direction: Direction::Outbound,
            crc_error: true,
        }));
        #[rustfmt::skip]
        let expected = [
            6, 0, 0, 0, 48, 0, 0, 0, 2, 0, 0, 0, 4, 3, 2, 1, 8, 7, 6, 5, 3, 0, 0, 0, 44, 1, 0, 0, 1, 2, 3, 0,
            2, 0, 4, 0, 2, 0, 0, 1, 0, 0, 0, 0, 48, 0, 0, 0,
        ];
        assert_eq!(packet, expected);
        let names = encoded(&Block::Names(Names { ipv4: vec![([10, 0, 0, 1].into(), Text("abc"))] }));
        #[rustfmt::skip]
        let expected = [
            4, 0, 0, 0, 28, 0, 0, 0, 1, 0, 8, 0, 10, 0, 0, 1, b'a', b'b', b'c', 0, 0, 0, 0, 0, 28, 0, 0, 0,
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn unknown_blocks_are_skipped_and_truncated_ones_refused() {
        let unknown = [5, 0, 0, 0, 16, 0, 0, 0, 9, 9, 9, 9, 16, 0, 0, 0];
        assert_eq!(Block::decode(&unknown), Ok((None, &[][..])));
        for len in 1..unknown.len() {
            assert!(Block::decode(&unknown[..len]).is_err());
        }
        let mut wrong = unknown;
        wrong[12] = 20;
        assert!(Block::decode(&wrong).is_err());
    }
}
