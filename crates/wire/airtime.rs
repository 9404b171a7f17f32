//! The announcement of the airtime allocator: the links over which a node sends, and those that it has heard of from its neighbours and
//! from theirs. The paper [Jang, Psounis, Govindan, CoNEXT 2010] says that nodes of a neighbourhood know of its active links; the format
//! is ours.

use alloc::vec::Vec;

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Version 1 in the upper half, the only type in the lower.
const TYPE: u8 = 0x11;

/// The use that a link makes of its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// It leaves to others what it does not use.
    Lends,
    /// It keeps it.
    #[default]
    Keeps,
    /// It cannot use it: the air is taken, or frames are lost.
    Short,
}

impl State {
    const fn code(self) -> u8 {
        match self {
            Self::Lends => 0,
            Self::Keeps => 1,
            Self::Short => 2,
        }
    }
}

/// In the octet of the state: the link is spoiled.
const SPOILED: u8 = 0x80;

/// A directed link in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Link {
    /// The node that sends over it.
    pub from: u32,
    /// The next hop.
    pub to: u32,
    /// The part of the time of the air that the link uses, as a fraction of 2^16 - 1.
    pub used: u16,
    /// Flows whose data it carries.
    pub flows: u8,
    /// The use that it makes of its share.
    pub state: State,
    /// True if its frames need many attempts.
    pub spoiled: bool,
}

/// An announcement, a broadcast: 8 bytes, 8 for each link of its sender and 12 for each other one.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x11 |
/// | 1 | number of links of the sender |
/// | 1 | number of links at its neighbours |
/// | 1 | number of links farther away |
/// | 4 | sender |
/// | 8 each | of the sender's links: next hop, 4 bytes; used, 2; flows, 1; 0 (lends), 1 (keeps) or 2 (short), plus 0x80 if spoiled |
/// | 12 each | of those at its neighbours: the node that sends over it, 4 bytes; then as above |
/// | 12 each | of those farther away: likewise |
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Announcement {
    node: u32,
    own: Vec<Link>,
    heard: Vec<Link>,
    far: Vec<Link>,
}

impl Announcement {
    /// The largest number of links of the sender.
    pub const MOST_OWN: usize = 32;

    /// The largest number of links at its neighbours.
    pub const MOST_HEARD: usize = 64;

    /// The largest number of links farther away.
    pub const MOST_FAR: usize = 32;

    /// An announcement of a node, with the first [`Self::MOST_OWN`] of its links, the first [`Self::MOST_HEARD`] of those at its neighbours
    /// and the first [`Self::MOST_FAR`] of those farther away.
    pub fn new(
        node: u32,
        own: impl Iterator<Item = Link>,
        heard: impl Iterator<Item = Link>,
        far: impl Iterator<Item = Link>,
    ) -> Self {
        let own = own.take(Self::MOST_OWN).map(|link| Link { from: node, ..link }).collect();
        let heard = heard.take(Self::MOST_HEARD).collect();
        Self { node, own, heard, far: far.take(Self::MOST_FAR).collect() }
    }

    /// The sender.
    pub const fn node(&self) -> u32 {
        self.node
    }

    /// The sender's links.
    pub fn own(&self) -> &[Link] {
        &self.own
    }

    /// Links at the sender's neighbours.
    pub fn heard(&self) -> &[Link] {
        &self.heard
    }

    /// Links farther away.
    pub fn far(&self) -> &[Link] {
        &self.far
    }

    /// The sender's links, those at its neighbours, and those farther away.
    pub fn into_links(self) -> [Vec<Link>; 3] {
        [self.own, self.heard, self.far]
    }

    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        8 + 8 * self.own.len() + 12 * (self.heard.len() + self.far.len())
    }

    /// Encodes the announcement to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let counts = [self.own.len() as u8, self.heard.len() as u8, self.far.len() as u8];
        let mut writer = Writer::new(Header::Airtime, buffer, self.wire_len())?
            .put([TYPE])
            .put(counts)
            .put(self.node.to_be_bytes());
        for link in &self.own {
            writer = rest_of(writer, link);
        }
        for link in self.heard.iter().chain(&self.far) {
            writer = rest_of(writer.put(link.from.to_be_bytes()), link);
        }
        Ok(self.wire_len())
    }

    /// Decodes an announcement; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another type, more links than an announcement has, or an unknown state.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Airtime, bytes);
        reader.literal([TYPE], "version and type", "0x11")?;
        let at = reader.clone();
        let [own, heard, far] = [reader.u8()?, reader.u8()?, reader.u8()?];
        let fits = usize::from(own) <= Self::MOST_OWN && usize::from(heard) <= Self::MOST_HEARD;
        if !fits || usize::from(far) > Self::MOST_FAR {
            let most = "at most 32 of its own, 64 at neighbours and 32 farther away";
            return Err(at.fail(Expected::value("links", most, &[own, heard, far])));
        }
        let node = reader.u32_be()?;
        reader.need(8 * usize::from(own) + 12 * (usize::from(heard) + usize::from(far)))?;
        let own = (0..own).map(|_| link(node, &mut reader)).collect::<Result<_, _>>()?;
        let others = |count: u8, reader: &mut Reader<'_>| {
            let other = |_| {
                let from = reader.u32_be()?;
                link(from, reader)
            };
            (0..count).map(other).collect::<Result<Vec<_>, DecodeError>>()
        };
        let heard = others(heard, &mut reader)?;
        let far = others(far, &mut reader)?;
        Ok((Self { node, own, heard, far }, reader.rest()))
    }
}

/// Writes the fields of a link after its sender.
fn rest_of<'a>(writer: Writer<'a>, link: &Link) -> Writer<'a> {
    let state = link.state.code() | if link.spoiled { SPOILED } else { 0 };
    writer.put(link.to.to_be_bytes()).put(link.used.to_be_bytes()).put([link.flows, state])
}

/// Reads them.
fn link(from: u32, reader: &mut Reader<'_>) -> Result<Link, DecodeError> {
    let (to, used, flows) = (reader.u32_be()?, reader.u16_be()?, reader.u8()?);
    let at = reader.clone();
    let octet = reader.u8()?;
    let spoiled = octet & SPOILED != 0;
    let state = match octet & !SPOILED {
        0 => State::Lends,
        1 => State::Keeps,
        2 => State::Short,
        _ => return Err(at.fail(Expected::value("state", "0, 1 or 2, plus 0x80", &[octet]))),
    };
    Ok(Link { from, to, used, flows, state, spoiled })
}
