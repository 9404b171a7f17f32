//! C3L's messages and its header: what nodes, controller and flows tell each other. The paper names what is told [Raniwala, De, Sharma,
//! Krishnan, Chiueh, §III] and no formats; these are ours.
//!
//! All numbers are in network byte order, rates in bytes/s. What does not fit into one message of [`MOST_BYTES`] is sent in parts, each
//! with a whole head and some of the entries.

use alloc::vec::Vec;

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// The longest message: with headers it fits into an Ethernet frame.
pub const MOST_BYTES: usize = 1400;

/// Version 1 in the upper half, the type in the lower.
const HELLO: u8 = 0x11;
const PROBE: u8 = 0x12;
const REPORT: u8 = 0x13;
const ALLOCATION: u8 = 0x14;
const STAMP: u8 = 0x15;
const FEEDBACK: u8 = 0x16;
const WORD: u8 = 0x17;

/// The kind of a message between nodes and controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// HELLO, or a controller's word of itself.
    Hello,
    /// Probe.
    Probe,
    /// A node's report.
    Report,
    /// Shares of a node's links.
    Allocation,
}

impl Kind {
    /// The kind of a message that begins with this byte; none if it is no message between nodes and controllers.
    #[must_use]
    pub const fn of(first: u8) -> Option<Self> {
        Some(match first {
            HELLO | WORD => Self::Hello,
            PROBE => Self::Probe,
            REPORT => Self::Report,
            ALLOCATION => Self::Allocation,
            _ => return None,
        })
    }
}

/// A message of C3L, by its first byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// HELLO or probe.
    Hello(Hello),
    /// A node's report.
    Report(Report),
    /// Shares of a node's links.
    Allocation(Allocation),
    /// The report of a flow's receiver to the flow's source.
    Feedback(Feedback),
    /// A controller's word of itself.
    Word(Word),
}

impl Message {
    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        match self {
            Self::Hello(hello) => hello.wire_len(),
            Self::Report(report) => report.wire_len(),
            Self::Allocation(allocation) => allocation.wire_len(),
            Self::Feedback(_) => Feedback::wire_len(),
            Self::Word(_) => Word::wire_len(),
        }
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        match self {
            Self::Hello(hello) => hello.encode(buffer),
            Self::Report(report) => report.encode(buffer),
            Self::Allocation(allocation) => allocation.encode(buffer),
            Self::Feedback(feedback) => feedback.encode(buffer),
            Self::Word(word) => word.encode(buffer),
        }
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type, or a field that no message has.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        match bytes.first() {
            Some(&(HELLO | PROBE)) => Hello::decode(bytes).map(|(hello, rest)| (Self::Hello(hello), rest)),
            Some(&REPORT) => Report::decode(bytes).map(|(report, rest)| (Self::Report(report), rest)),
            Some(&ALLOCATION) => {
                Allocation::decode(bytes).map(|(value, rest)| (Self::Allocation(value), rest))
            }
            Some(&FEEDBACK) => Feedback::decode(bytes).map(|(value, rest)| (Self::Feedback(value), rest)),
            Some(&WORD) => Word::decode(bytes).map(|(word, rest)| (Self::Word(word), rest)),
            _ => {
                let mut reader = Reader::new(Header::C3l, bytes);
                let at = reader.clone();
                let found = reader.u8()?;
                Err(at.fail(Expected::value("version and type", "0x11 to 0x14, 0x16 or 0x17", &[found])))
            }
        }
    }
}

/// HELLO or probe, a broadcast: 8 bytes and 9 for each controller.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x11 (HELLO) or 0x12 (probe) |
/// | 1 | number of controllers |
/// | 2 | sequence number, a count for each of the two |
/// | 4 | node |
/// | 9 each | controller, 4 bytes; its freshness, 4; hops to it, 1 |
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hello {
    /// True for a probe: sent at the lowest rate with 3 dB more power.
    pub probe: bool,
    /// Counts the HELLOs of the node, or its probes, modulo 2^16.
    pub sequence: u16,
    /// The sender.
    pub node: u32,
    controllers: Vec<Alive>,
}

/// A controller that is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alive {
    /// The node of the controller.
    pub controller: u32,
    /// The controller's count, modulo 2^32.
    pub freshness: u32,
    /// Hops from the sender to it.
    pub hops: u8,
}

impl Hello {
    /// The largest number of controllers.
    pub const MOST: usize = 8;

    /// A HELLO, or a probe, with the first [`Self::MOST`] of these controllers.
    pub fn new(probe: bool, sequence: u16, node: u32, controllers: impl Iterator<Item = Alive>) -> Self {
        Self { probe, sequence, node, controllers: controllers.take(Self::MOST).collect() }
    }

    /// The controllers of which the sender knows.
    pub fn controllers(&self) -> &[Alive] {
        &self.controllers
    }

    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        8 + 9 * self.controllers.len()
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = Writer::new(Header::C3l, buffer, self.wire_len())?
            .put([if self.probe { PROBE } else { HELLO }, self.controllers.len() as u8])
            .put(self.sequence.to_be_bytes())
            .put(self.node.to_be_bytes());
        for Alive { controller, freshness, hops } in &self.controllers {
            writer = writer.put(controller.to_be_bytes()).put(freshness.to_be_bytes()).put([*hops]);
        }
        Ok(self.wire_len())
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type, or more than [`Self::MOST`] controllers.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::C3l, bytes);
        let at = reader.clone();
        let first = reader.u8()?;
        if first != HELLO && first != PROBE {
            return Err(at.fail(Expected::value(
                "version and type",
                "0x11 (HELLO) or 0x12 (probe)",
                &[first],
            )));
        }
        let at = reader.clone();
        let count = reader.u8()?;
        if usize::from(count) > Self::MOST {
            return Err(at.fail(Expected::value("controllers", "at most 8", &[count])));
        }
        let (sequence, node) = (reader.u16_be()?, reader.u32_be()?);
        let mut controllers = Vec::with_capacity(count.into());
        for _ in 0..count {
            let (controller, freshness) = (reader.u32_be()?, reader.u32_be()?);
            controllers.push(Alive { controller, freshness, hops: reader.u8()? });
        }
        Ok((Self { probe: first == PROBE, sequence, node, controllers }, reader.rest()))
    }
}

/// The sign of life of a controller at a node without an agent, for its neighbours. It is no HELLO, since it may come by wire. 12
/// bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x17 |
/// | 3 | 0, ignored |
/// | 4 | controller, which is the sender |
/// | 4 | its freshness |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// The controller's node.
    pub controller: u32,
    /// The controller's count, modulo 2^32.
    pub freshness: u32,
}

impl Word {
    /// Length on the wire: 12 bytes.
    pub const fn wire_len() -> usize {
        12
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::C3l, buffer, Self::wire_len())?
            .put([WORD, 0, 0, 0])
            .put(self.controller.to_be_bytes())
            .put(self.freshness.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or another version or type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::C3l, bytes);
        reader.literal([WORD], "version and type", "0x17 (word)")?;
        let _reserved: [u8; 3] = reader.array()?;
        Ok((Self { controller: reader.u32_be()?, freshness: reader.u32_be()? }, reader.rest()))
    }
}

/// Which of several messages this one is. `index` is below `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    index: u8,
    of: u8,
}

impl Part {
    /// A message that is alone.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// The number of this one, from 0.
    pub const fn index(self) -> u8 {
        self.index
    }

    /// The number of messages.
    pub const fn of(self) -> u8 {
        self.of
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.clone();
        let [index, of] = reader.array()?;
        if index < of {
            Ok(Self { index, of })
        } else {
            Err(at.fail(Expected::value("part", "a number below that of all parts", &[index, of])))
        }
    }
}

/// A node's report to the controller, or a part of it: 16 bytes, 15 for each link, 16 for each flow, 12 for each answer, 6 for each
/// neighbour.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x13 |
/// | 1 | bit 0: neighbours are listed; others 0, ignored |
/// | 2 | number of the part, from 0; number of parts |
/// | 4 | node |
/// | 2 | number, the node's count of reports |
/// | 2 | version of the list of neighbours |
/// | 4 | links, flows, neighbours, answers in this part, 1 byte each |
/// | 15 each | next hop, 4 bytes; goodput of the link alone, 4; rate that it had, 4; transmissions in 256ths, 2; bit 0: overloaded, others:
/// part of its packets that were lost, in 127ths, 1 |
/// | 16 each | flow, 4 bytes; next hop, 4; rate, 4; demand, 4, all ones for no limit |
/// | 12 each | answers of a flow: flow, 4 bytes; next hop, 4; time of the air that they take, µs a second, 4 |
/// | 6 each | neighbour, 4 bytes; HELLOs that arrived, 1; probes, 1, both in 255ths |
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    head: ReportHead,
    part: Part,
    listed: bool,
    links: Vec<LinkReport>,
    flows: Vec<FlowReport>,
    answers: Vec<AnswerReport>,
    neighbours: Vec<Neighbour>,
}

/// The fields that all parts of a report have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReportHead {
    /// The node that reports.
    pub node: u32,
    /// Counts its reports, modulo 2^16.
    pub number: u16,
    /// Version of its list of neighbours; 0 before the first list.
    pub version: u16,
}

/// A link of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkReport {
    /// The receiver of the link.
    pub next_hop: u32,
    /// Goodput of the link alone, bytes/s.
    pub capacity: u32,
    /// Rate that it had, bytes/s.
    pub used: u32,
    /// Mean transmissions of a packet, in 256ths.
    pub transmissions: u16,
    /// True if its queue has built up.
    pub overloaded: bool,
    /// Part of the packets for the link that its queue or its MAC has lost, in 127ths: 0 to 127.
    pub lost: u8,
}

/// A flow that the node sends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowReport {
    /// The flow, a number.
    pub flow: u32,
    /// The flow's next hop.
    pub next_hop: u32,
    /// Rate that it had, bytes/s.
    pub rate: u32,
    /// Rate that it requires, bytes/s; `u32::MAX`: all that it gets.
    pub demand: u32,
}

/// The acknowledgements of a flow that the node sends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnswerReport {
    /// The flow whose data they acknowledge.
    pub flow: u32,
    /// The next hop of the acknowledgements.
    pub next_hop: u32,
    /// Time of the air that they take, microseconds a second.
    pub time: u32,
}

/// A node that the reporting node hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Neighbour {
    /// The neighbour.
    pub node: u32,
    /// Part of its HELLOs that arrive, in 255ths.
    pub hellos: u8,
    /// Part of its probes that arrive, in 255ths.
    pub probes: u8,
}

const REPORT_HEAD: usize = 16;
const LINK: usize = 15;
const FLOW: usize = 16;
const ANSWER: usize = 12;
const NEIGHBOUR: usize = 6;
/// Parts, and entries of a kind in a part.
const MOST: usize = u8::MAX as usize;

impl Report {
    /// A report in as many parts as it needs, at most 255: entries that do not fit are left out. `neighbours`: the list, if it is told.
    pub fn parts(
        head: ReportHead,
        links: &[LinkReport],
        flows: &[FlowReport],
        neighbours: Option<&[Neighbour]>,
    ) -> Vec<Self> {
        Self::parts_with_answers(head, links, flows, &[], neighbours)
    }

    /// The same with the acknowledgements that the node sends on.
    pub fn parts_with_answers(
        head: ReportHead,
        links: &[LinkReport],
        flows: &[FlowReport],
        answers: &[AnswerReport],
        neighbours: Option<&[Neighbour]>,
    ) -> Vec<Self> {
        let new = || Self {
            head,
            part: Part::WHOLE,
            listed: neighbours.is_some(),
            links: Vec::new(),
            flows: Vec::new(),
            answers: Vec::new(),
            neighbours: Vec::new(),
        };
        let (mut parts, mut last) = (Vec::new(), new());
        let mut fit = |last: &mut Self, bytes: usize, count: fn(&Self) -> usize| {
            if last.wire_len() + bytes > MOST_BYTES || count(last) == MOST {
                parts.push(core::mem::replace(last, new()));
            }
        };
        for &link in links {
            fit(&mut last, LINK, |part| part.links.len());
            last.links.push(link);
        }
        for &flow in flows {
            fit(&mut last, FLOW, |part| part.flows.len());
            last.flows.push(flow);
        }
        for &answer in answers {
            fit(&mut last, ANSWER, |part| part.answers.len());
            last.answers.push(answer);
        }
        for &neighbour in neighbours.unwrap_or_default() {
            fit(&mut last, NEIGHBOUR, |part| part.neighbours.len());
            last.neighbours.push(neighbour);
        }
        parts.push(last);
        parts.truncate(MOST);
        let of = parts.len() as u8;
        (0..of).zip(&mut parts).for_each(|(index, part)| part.part = Part { index, of });
        parts
    }

    /// The fields that all parts of the report have.
    pub const fn head(&self) -> ReportHead {
        self.head
    }

    /// Which part this is.
    pub const fn part(&self) -> Part {
        self.part
    }

    /// Links of the node.
    pub fn links(&self) -> &[LinkReport] {
        &self.links
    }

    /// Flows that the node sends on.
    pub fn flows(&self) -> &[FlowReport] {
        &self.flows
    }

    /// Acknowledgements that the node sends on.
    pub fn answers(&self) -> &[AnswerReport] {
        &self.answers
    }

    /// Nodes that the node hears; `None` if the report does not list them.
    pub fn neighbours(&self) -> Option<&[Neighbour]> {
        self.listed.then_some(&self.neighbours[..])
    }

    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        REPORT_HEAD
            + LINK * self.links.len()
            + FLOW * self.flows.len()
            + ANSWER * self.answers.len()
            + NEIGHBOUR * self.neighbours.len()
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let Self { head, part, listed, links, flows, answers, neighbours } = self;
        let mut writer = Writer::new(Header::C3l, buffer, self.wire_len())?
            .put([REPORT, u8::from(*listed), part.index, part.of])
            .put(head.node.to_be_bytes())
            .put(head.number.to_be_bytes())
            .put(head.version.to_be_bytes())
            .put([links.len() as u8, flows.len() as u8, neighbours.len() as u8, answers.len() as u8]);
        for link in links {
            writer = writer
                .put(link.next_hop.to_be_bytes())
                .put(link.capacity.to_be_bytes())
                .put(link.used.to_be_bytes())
                .put(link.transmissions.to_be_bytes())
                .put([u8::from(link.overloaded) | link.lost << 1]);
        }
        for flow in flows {
            writer = writer
                .put(flow.flow.to_be_bytes())
                .put(flow.next_hop.to_be_bytes())
                .put(flow.rate.to_be_bytes())
                .put(flow.demand.to_be_bytes());
        }
        for answer in answers {
            writer = writer
                .put(answer.flow.to_be_bytes())
                .put(answer.next_hop.to_be_bytes())
                .put(answer.time.to_be_bytes());
        }
        for Neighbour { node, hellos, probes } in neighbours {
            writer = writer.put(node.to_be_bytes()).put([*hellos, *probes]);
        }
        Ok(self.wire_len())
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type, a part that none of its number is, entries of more than [`MOST_BYTES`], or neighbours that
    /// are not listed.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::C3l, bytes);
        reader.literal([REPORT], "version and type", "0x13 (report)")?;
        let listed = reader.u8()? & 1 == 1;
        let part = Part::decode(&mut reader)?;
        let head = ReportHead { node: reader.u32_be()?, number: reader.u16_be()?, version: reader.u16_be()? };
        let at = reader.clone();
        let [links, flows, neighbours, answers] = reader.array()?;
        let counts = [links, flows, neighbours, answers].map(usize::from);
        let length =
            REPORT_HEAD + LINK * counts[0] + FLOW * counts[1] + NEIGHBOUR * counts[2] + ANSWER * counts[3];
        if length > MOST_BYTES || (neighbours > 0 && !listed) {
            let expected = "entries of at most 1400 bytes, neighbours only if listed";
            return Err(at.fail(Expected::value(
                "numbers of entries",
                expected,
                &[links, flows, neighbours, answers],
            )));
        }
        let mut report = Self {
            head,
            part,
            listed,
            links: Vec::with_capacity(counts[0]),
            flows: Vec::with_capacity(counts[1]),
            answers: Vec::with_capacity(counts[3]),
            neighbours: Vec::with_capacity(counts[2]),
        };
        for _ in 0..links {
            let (next_hop, capacity, used) = (reader.u32_be()?, reader.u32_be()?, reader.u32_be()?);
            let (transmissions, flags) = (reader.u16_be()?, reader.u8()?);
            let (overloaded, lost) = (flags & 1 > 0, flags >> 1);
            report.links.push(LinkReport { next_hop, capacity, used, transmissions, overloaded, lost });
        }
        for _ in 0..flows {
            report.flows.push(FlowReport {
                flow: reader.u32_be()?,
                next_hop: reader.u32_be()?,
                rate: reader.u32_be()?,
                demand: reader.u32_be()?,
            });
        }
        for _ in 0..answers {
            report.answers.push(AnswerReport {
                flow: reader.u32_be()?,
                next_hop: reader.u32_be()?,
                time: reader.u32_be()?,
            });
        }
        for _ in 0..neighbours {
            let node = reader.u32_be()?;
            let [hellos, probes] = reader.array()?;
            report.neighbours.push(Neighbour { node, hellos, probes });
        }
        Ok((report, reader.rest()))
    }
}

/// The controller's allocation for the links of a node, or a part of it: 20 bytes and 8 for each link.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x14 |
/// | 2 | number of the part, from 0; number of parts |
/// | 1 | number of links in this part |
/// | 4 | controller |
/// | 4 | node |
/// | 2 | round, the controller's count |
/// | 2 | version of the node's list of neighbours that the controller has; 0 for none |
/// | 4 | time for which the shares are valid, ms |
/// | 8 each | next hop, 4 bytes; share of the link, 4, all ones for no limit |
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Allocation {
    head: AllocationHead,
    part: Part,
    links: Vec<Share>,
}

/// The fields that all parts of an allocation have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AllocationHead {
    /// The controller.
    pub controller: u32,
    /// The node whose links these are.
    pub node: u32,
    /// Counts the controller's allocations, modulo 2^16.
    pub round: u16,
    /// Version of the node's list of neighbours that the controller has.
    pub version: u16,
    /// Validity, milliseconds.
    pub valid_ms: u32,
}

/// The share of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    /// The receiver of the link.
    pub next_hop: u32,
    /// The share of the link, bytes/s; `u32::MAX`: the flows of the link have no limit.
    pub share: u32,
}

impl Allocation {
    /// The largest number of links in a part.
    pub const MOST: usize = (MOST_BYTES - 20) / 8;

    /// An allocation in as many parts as it needs, at most 255: links that do not fit are left out.
    pub fn parts(head: AllocationHead, links: &[Share]) -> Vec<Self> {
        let mut chunks: Vec<&[Share]> = links.chunks(Self::MOST).take(MOST).collect();
        if chunks.is_empty() {
            chunks.push(&[]);
        }
        let of = chunks.len() as u8;
        let part =
            |(index, links): (u8, &&[Share])| Self { head, part: Part { index, of }, links: links.to_vec() };
        (0..of).zip(&chunks).map(part).collect()
    }

    /// The fields that all parts of the allocation have.
    pub const fn head(&self) -> AllocationHead {
        self.head
    }

    /// Which part this is.
    pub const fn part(&self) -> Part {
        self.part
    }

    /// Links with their shares.
    pub fn links(&self) -> &[Share] {
        &self.links
    }

    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        20 + 8 * self.links.len()
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let AllocationHead { controller, node, round, version, valid_ms } = self.head;
        let mut writer = Writer::new(Header::C3l, buffer, self.wire_len())?
            .put([ALLOCATION, self.part.index, self.part.of, self.links.len() as u8])
            .put(controller.to_be_bytes())
            .put(node.to_be_bytes())
            .put(round.to_be_bytes())
            .put(version.to_be_bytes())
            .put(valid_ms.to_be_bytes());
        for Share { next_hop, share } in &self.links {
            writer = writer.put(next_hop.to_be_bytes()).put(share.to_be_bytes());
        }
        Ok(self.wire_len())
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type, a part that none of its number is, or more than [`Self::MOST`] links.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::C3l, bytes);
        reader.literal([ALLOCATION], "version and type", "0x14 (allocation)")?;
        let part = Part::decode(&mut reader)?;
        let at = reader.clone();
        let count = reader.u8()?;
        if usize::from(count) > Self::MOST {
            return Err(at.fail(Expected::value("links", "at most 172", &[count])));
        }
        let head = AllocationHead {
            controller: reader.u32_be()?,
            node: reader.u32_be()?,
            round: reader.u16_be()?,
            version: reader.u16_be()?,
            valid_ms: reader.u32_be()?,
        };
        let mut links = Vec::with_capacity(count.into());
        for _ in 0..count {
            links.push(Share { next_hop: reader.u32_be()?, share: reader.u32_be()? });
        }
        Ok((Self { head, part, links }, reader.rest()))
    }
}

/// The header of a flow's data: 20 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x15 |
/// | 1 | protocol number of what follows |
/// | 1 | nodes that have stamped the packet |
/// | 1 | nodes that it has passed without |
/// | 4 | flow |
/// | 4 | smallest allocation so far, all ones before the first, one less for no limit |
/// | 4 | rate of the source |
/// | 4 | sequence number |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Protocol number of what follows.
    pub next: u8,
    /// Nodes that have stamped the packet.
    pub supported: u8,
    /// Nodes that it has passed without.
    pub unsupported: u8,
    /// The flow, a number.
    pub flow: u32,
    /// Smallest allocation to the flow on any hop so far, bytes/s; `u32::MAX` before the first.
    pub allocation: u32,
    /// Rate at which the source sends, bytes/s of IP packets.
    pub rate: u32,
    /// Sequence number in the flow.
    pub sequence: u32,
}

impl Stamp {
    /// Length on the wire: 20 bytes.
    pub const fn wire_len() -> usize {
        20
    }

    /// Encodes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::C3l, buffer, Self::wire_len())?
            .put([STAMP, self.next, self.supported, self.unsupported])
            .put(self.flow.to_be_bytes())
            .put(self.allocation.to_be_bytes())
            .put(self.rate.to_be_bytes())
            .put(self.sequence.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or another version or type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::C3l, bytes);
        reader.literal([STAMP], "version and type", "0x15 (stamp)")?;
        let [next, supported, unsupported] = reader.array()?;
        let stamp = Self {
            next,
            supported,
            unsupported,
            flow: reader.u32_be()?,
            allocation: reader.u32_be()?,
            rate: reader.u32_be()?,
            sequence: reader.u32_be()?,
        };
        Ok((stamp, reader.rest()))
    }
}

/// The report of a flow's receiver to the flow's source, every epoch: 20 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x16 |
/// | 1 | 0, ignored |
/// | 2 | epoch, the receiver's count |
/// | 4 | flow |
/// | 4 | allocation that the last packet carried |
/// | 4 | rate that arrived in the epoch |
/// | 4 | largest sequence number so far |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Feedback {
    /// Counts the feedback of the flow, modulo 2^16.
    pub epoch: u16,
    /// The flow, a number.
    pub flow: u32,
    /// Smallest allocation to the flow on any hop, bytes/s; `u32::MAX` if no node has stamped its packets.
    pub allocation: u32,
    /// Rate that arrived in the epoch, bytes/s.
    pub received: u32,
    /// Largest sequence number so far.
    pub sequence: u32,
}

impl Feedback {
    /// Length on the wire: 20 bytes.
    pub const fn wire_len() -> usize {
        20
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::C3l, buffer, Self::wire_len())?
            .put([FEEDBACK, 0])
            .put(self.epoch.to_be_bytes())
            .put(self.flow.to_be_bytes())
            .put(self.allocation.to_be_bytes())
            .put(self.received.to_be_bytes())
            .put(self.sequence.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or another version or type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::C3l, bytes);
        reader.literal([FEEDBACK], "version and type", "0x16 (feedback)")?;
        let _reserved = reader.u8()?;
        let feedback = Self {
            epoch: reader.u16_be()?,
            flow: reader.u32_be()?,
            allocation: reader.u32_be()?,
            received: reader.u32_be()?,
            sequence: reader.u32_be()?,
        };
        Ok((feedback, reader.rest()))
    }
}
