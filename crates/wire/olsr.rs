//! The messages of OLSR [RFC 3626], in packets that are the payload of a UDP datagram to and from [`PORT`].
//!
//! A packet has one or more messages. HELLO and TC are decoded; the bodies of other messages (MID and HNA among them) are kept as bytes, so
//! that a node can forward messages which it does not read [RFC 3626 section 3.4]. Two kinds of messages carry link qualities: they are
//! those of the daemon olsrd (types 201 and 202), for which there is no specification.

use alloc::vec::Vec;

use crate::address::Ipv4Addr;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// The UDP port of every packet [RFC 3626 section 3.1].
pub const PORT: u16 = 698;

const HELLO: u8 = 1;
const TC: u8 = 2;
const LQ_HELLO: u8 = 201;
const LQ_TC: u8 = 202;

/// Length of a packet's header, bytes [RFC 3626 section 3.3.1].
const PACKET_HEADER: usize = 4;
/// Length of a message's header, bytes [RFC 3626 section 3.3.2].
const MESSAGE_HEADER: usize = 12;
/// Length of the fixed part of a HELLO's or TC's body, bytes.
const BODY_HEADER: usize = 4;
/// Length of the header of a group of neighbours in a HELLO, bytes.
const GROUP_HEADER: usize = 4;

/// A time in one byte: `(16 + a) 2^b / 256` seconds, with the mantissa `a` in the upper and the exponent `b` in the lower four bits
/// [RFC 3626 section 18.3]; from 62.5 ms to 3968 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vtime(pub u8);

/// 1/256 s, ns.
const VTIME_UNIT: u64 = 3_906_250;

impl Vtime {
    /// The time, ns.
    #[must_use]
    pub const fn nanoseconds(self) -> u64 {
        ((16 + (self.0 >> 4) as u64) * VTIME_UNIT) << (self.0 & 15)
    }

    /// The shortest time that is not shorter than `ns` nanoseconds, or the longest one.
    #[must_use]
    pub fn at_least(ns: u64) -> Self {
        for exponent in 0..16 {
            let unit = VTIME_UNIT << exponent;
            let mantissa = ns.div_ceil(unit).max(16);
            if mantissa < 32 {
                return Self(((mantissa - 16) << 4 | exponent) as u8);
            }
        }
        Self(u8::MAX)
    }
}

/// Kind of a link to a neighbour [RFC 3626 section 6.1.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// No information about the link.
    Unspecified,
    /// The neighbour was heard.
    Asymmetric,
    /// Both nodes hear each other.
    Symmetric,
    /// The link was lost.
    Lost,
}

/// Kind of a neighbour [RFC 3626 section 6.1.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NeighbourType {
    /// No symmetric link leads to the node.
    Not,
    /// A symmetric link leads to the node.
    Symmetric,
    /// A symmetric link leads to the node, which the sender has selected as multipoint relay.
    Relay,
}

/// Kind of link and neighbour in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkCode(pub u8);

impl LinkCode {
    /// The code of a link and a neighbour.
    #[must_use]
    pub const fn new(link: LinkType, neighbour: NeighbourType) -> Self {
        let link = match link {
            LinkType::Unspecified => 0,
            LinkType::Asymmetric => 1,
            LinkType::Symmetric => 2,
            LinkType::Lost => 3,
        };
        let neighbour = match neighbour {
            NeighbourType::Not => 0,
            NeighbourType::Symmetric => 1,
            NeighbourType::Relay => 2,
        };
        Self(neighbour << 2 | link)
    }

    /// Kinds of link and neighbour; `None` for a code that has no meaning, or that contradicts itself: a symmetric link to a node that is
    /// no neighbour.
    #[must_use]
    pub const fn kinds(self) -> Option<(LinkType, NeighbourType)> {
        let link = match self.0 & 3 {
            0 => LinkType::Unspecified,
            1 => LinkType::Asymmetric,
            2 => LinkType::Symmetric,
            _ => LinkType::Lost,
        };
        let neighbour = match self.0 >> 2 {
            0 => NeighbourType::Not,
            1 => NeighbourType::Symmetric,
            2 => NeighbourType::Relay,
            _ => return None,
        };
        if matches!((link, neighbour), (LinkType::Symmetric, NeighbourType::Not)) {
            return None;
        }
        Some((link, neighbour))
    }
}

/// A neighbour in a message: its address, or its address with qualities.
pub trait Entry: Copy {
    /// Length on the wire, bytes.
    const LEN: usize;
    #[doc(hidden)]
    fn bytes(self) -> [u8; 8];
    #[doc(hidden)]
    fn from_bytes(bytes: [u8; 8]) -> Self;
}

impl Entry for Ipv4Addr {
    const LEN: usize = 4;

    fn bytes(self) -> [u8; 8] {
        let [a, b, c, d] = self.octets();
        [a, b, c, d, 0, 0, 0, 0]
    }

    fn from_bytes([a, b, c, d, ..]: [u8; 8]) -> Self {
        Self::new(a, b, c, d)
    }
}

/// A neighbour with the qualities of the link to it: shares of received probes, in 255ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rated {
    /// Address of the neighbour.
    pub address: Ipv4Addr,
    /// Share of the neighbour's probes that the sender of the message receives.
    pub quality: u8,
    /// Share of the sender's probes that the neighbour receives, as the neighbour has reported.
    pub neighbour_quality: u8,
}

impl Entry for Rated {
    const LEN: usize = 8;

    fn bytes(self) -> [u8; 8] {
        let [a, b, c, d] = self.address.octets();
        [a, b, c, d, self.quality, self.neighbour_quality, 0, 0]
    }

    fn from_bytes([a, b, c, d, quality, neighbour_quality, ..]: [u8; 8]) -> Self {
        Self { address: Ipv4Addr::new(a, b, c, d), quality, neighbour_quality }
    }
}

/// Neighbours of one kind in a HELLO.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group<T> {
    /// Kind of the links and neighbours.
    pub code: LinkCode,
    /// The neighbours.
    pub neighbours: Vec<T>,
}

/// HELLO: the neighbours of the originator [RFC 3626 section 6.1].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hello<T> {
    /// Time from one HELLO of the interface to the next.
    pub interval: Vtime,
    /// Willingness of the originator to forward, 0 (never) to 7 (always).
    pub willingness: u8,
    /// Neighbours by kind.
    pub groups: Vec<Group<T>>,
}

/// TC: topology control, the links that the originator advertises to the whole network [RFC 3626 section 9.1].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tc<T> {
    /// ANSN: number of the set of advertised neighbours.
    pub number: u16,
    /// Advertised neighbours.
    pub neighbours: Vec<T>,
}

/// The body of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// HELLO.
    Hello(Hello<Ipv4Addr>),
    /// TC.
    Tc(Tc<Ipv4Addr>),
    /// HELLO with link qualities.
    RatedHello(Hello<Rated>),
    /// TC with link qualities.
    RatedTc(Tc<Rated>),
    /// A message of another type.
    Other(Other),
}

/// A message that is not decoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Other {
    kind: u8,
    bytes: Vec<u8>,
}

impl Other {
    /// A message of a type; `None` for the types that are decoded.
    #[must_use]
    pub fn new(kind: u8, bytes: Vec<u8>) -> Option<Self> {
        (!matches!(kind, HELLO | TC | LQ_HELLO | LQ_TC)).then_some(Self { kind, bytes })
    }

    /// Type of the message.
    #[must_use]
    pub fn kind(&self) -> u8 {
        self.kind
    }
}

/// A message [RFC 3626 section 3.3.2].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// How long the information in the message is valid.
    pub validity: Vtime,
    /// Main address of the node that has made the message.
    pub originator: Ipv4Addr,
    /// Most hops that the message may still travel, this one included.
    pub ttl: u8,
    /// Hops that the message has travelled.
    pub hops: u8,
    /// Number of the message at its originator; both together identify it.
    pub sequence: u16,
    /// The body.
    pub body: Body,
}

impl Message {
    /// Length on the wire, bytes.
    #[must_use]
    pub fn wire_len(&self) -> usize {
        MESSAGE_HEADER
            + match &self.body {
                Body::Hello(hello) => hello_len(hello),
                Body::RatedHello(hello) => hello_len(hello),
                Body::Tc(tc) => BODY_HEADER + 4 * tc.neighbours.len(),
                Body::RatedTc(tc) => BODY_HEADER + 8 * tc.neighbours.len(),
                Body::Other(other) => other.bytes.len(),
            }
    }

    fn put<'a>(&self, writer: Writer<'a>) -> Writer<'a> {
        let kind = match &self.body {
            Body::Hello(_) => HELLO,
            Body::Tc(_) => TC,
            Body::RatedHello(_) => LQ_HELLO,
            Body::RatedTc(_) => LQ_TC,
            Body::Other(other) => other.kind,
        };
        let writer = writer
            .put([kind, self.validity.0])
            .put((self.wire_len() as u16).to_be_bytes())
            .put(self.originator.octets())
            .put([self.ttl, self.hops])
            .put(self.sequence.to_be_bytes());
        match &self.body {
            Body::Hello(hello) => put_hello(hello, writer),
            Body::RatedHello(hello) => put_hello(hello, writer),
            Body::Tc(tc) => put_entries(&tc.neighbours, writer.put(tc.number.to_be_bytes()).put([0, 0])),
            Body::RatedTc(tc) => put_entries(&tc.neighbours, writer.put(tc.number.to_be_bytes()).put([0, 0])),
            Body::Other(other) => writer.put_slice(&other.bytes),
        }
    }
}

/// A packet [RFC 3626 section 3.3].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Packet {
    sequence: u16,
    messages: Vec<Message>,
}

impl Packet {
    /// A packet with the number that its interface gives it; `None` if it would be longer than 65,535 bytes.
    #[must_use]
    pub fn new(sequence: u16, messages: Vec<Message>) -> Option<Self> {
        let packet = Self { sequence, messages };
        (packet.wire_len() <= usize::from(u16::MAX)).then_some(packet)
    }

    /// Number of the packet at the interface that has sent it.
    #[must_use]
    pub fn sequence(&self) -> u16 {
        self.sequence
    }

    /// The messages.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The messages, for a receiver that keeps them.
    #[must_use]
    pub fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Length of a packet with messages of these lengths, bytes.
    #[must_use]
    pub fn len_with(messages: usize) -> usize {
        PACKET_HEADER + messages
    }

    /// Length on the wire, bytes.
    #[must_use]
    pub fn wire_len(&self) -> usize {
        Self::len_with(self.messages.iter().map(Message::wire_len).sum())
    }

    /// Encodes the packet to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let len = self.wire_len();
        let writer = Writer::new(Header::Olsr, buffer, len)?;
        let writer = writer.put((len as u16).to_be_bytes()).put(self.sequence.to_be_bytes());
        self.messages.iter().fold(writer, |writer, message| message.put(writer));
        Ok(len)
    }

    /// Decodes a packet; returns the bytes that follow its length.
    ///
    /// # Errors
    /// Too few bytes, or lengths that contradict each other.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Olsr, bytes);
        let start = reader.clone();
        let len = usize::from(reader.u16_be()?);
        let sequence = reader.u16_be()?;
        if len < PACKET_HEADER {
            return Err(start.fail(Expected::value(
                "Packet Length",
                "at least 4",
                &(len as u16).to_be_bytes(),
            )));
        }
        let mut messages = Vec::new();
        let mut left = reader.clone().limited(len - PACKET_HEADER)?;
        while !left.rest().is_empty() {
            messages.push(read_message(&mut left)?);
        }
        reader.skip(len - PACKET_HEADER)?;
        Ok((Self { sequence, messages }, reader.rest()))
    }
}

fn hello_len<T: Entry>(hello: &Hello<T>) -> usize {
    let groups = hello.groups.iter().map(|group| GROUP_HEADER + T::LEN * group.neighbours.len());
    BODY_HEADER + groups.sum::<usize>()
}

fn put_hello<'a, T: Entry>(hello: &Hello<T>, writer: Writer<'a>) -> Writer<'a> {
    let writer = writer.put([0, 0, hello.interval.0, hello.willingness]);
    hello.groups.iter().fold(writer, |writer, group| {
        let len = GROUP_HEADER + T::LEN * group.neighbours.len();
        put_entries(&group.neighbours, writer.put([group.code.0, 0]).put((len as u16).to_be_bytes()))
    })
}

fn put_entries<'a, T: Entry>(entries: &[T], writer: Writer<'a>) -> Writer<'a> {
    entries.iter().fold(writer, |writer, entry| {
        let bytes = entry.bytes();
        writer.put_slice(bytes.get(..T::LEN).unwrap_or(&bytes))
    })
}

fn read_message(packet: &mut Reader<'_>) -> Result<Message, DecodeError> {
    packet.need(MESSAGE_HEADER)?;
    let start = packet.clone();
    let [kind, validity] = packet.array()?;
    let at_size = packet.clone();
    let size = usize::from(packet.u16_be()?);
    if size < MESSAGE_HEADER {
        let found = (size as u16).to_be_bytes();
        return Err(at_size.fail(Expected::value("Message Size", "at least 12", &found)));
    }
    let originator = packet.ipv4()?;
    let [ttl, hops] = packet.array()?;
    let sequence = packet.u16_be()?;
    let mut body = packet.clone().limited(size - MESSAGE_HEADER)?;
    *packet = start;
    packet.skip(size)?;
    let body = match kind {
        HELLO => Body::Hello(read_hello(&mut body)?),
        LQ_HELLO => Body::RatedHello(read_hello(&mut body)?),
        TC => Body::Tc(read_tc(&mut body)?),
        LQ_TC => Body::RatedTc(read_tc(&mut body)?),
        _ => Body::Other(Other { kind, bytes: body.rest().to_vec() }),
    };
    Ok(Message { validity: Vtime(validity), originator, ttl, hops, sequence, body })
}

fn read_hello<T: Entry>(body: &mut Reader<'_>) -> Result<Hello<T>, DecodeError> {
    let [_, _, interval, willingness] = body.array()?;
    let mut groups = Vec::new();
    while !body.rest().is_empty() {
        body.need(GROUP_HEADER)?;
        let start = body.clone();
        let [code, _] = body.array()?;
        let at_size = body.clone();
        let size = usize::from(body.u16_be()?);
        if size < GROUP_HEADER {
            let found = (size as u16).to_be_bytes();
            return Err(at_size.fail(Expected::value("Link Message Size", "at least 4", &found)));
        }
        let mut group = body.clone().limited(size - GROUP_HEADER)?;
        *body = start;
        body.skip(size)?;
        groups.push(Group { code: LinkCode(code), neighbours: read_entries(&mut group)? });
    }
    Ok(Hello { interval: Vtime(interval), willingness, groups })
}

fn read_tc<T: Entry>(body: &mut Reader<'_>) -> Result<Tc<T>, DecodeError> {
    let number = body.u16_be()?;
    body.skip(2)?;
    Ok(Tc { number, neighbours: read_entries(body)? })
}

fn read_entries<T: Entry>(list: &mut Reader<'_>) -> Result<Vec<T>, DecodeError> {
    let mut entries = Vec::new();
    while !list.rest().is_empty() {
        let mut bytes = [0; 8];
        bytes[..T::LEN].copy_from_slice(list.slice(T::LEN)?);
        entries.push(T::from_bytes(bytes));
    }
    Ok(entries)
}
