//! Meters of radio links by next hop and by flow, for agents that want them (`Capability::Links`): of
//! the packets of flows, whoever has made them. The rows of flows last until the next sample.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::places::{AnswerSample, FlowId, FlowSample, LinkSample, NodeId, Packet, PacketClass};

use crate::sample::LinkCounters;
use crate::table::{Ix, Table};

/// Most links of a radio, and most flows of an interval, that are counted: whatever arrives, memory and work have a bound.
const MOST_ROWS: usize = 1 << 12;

/// The meters of a network.
pub struct LinkMeters<R: Ix> {
    /// Empty if no agent wants one.
    of: Table<R, Option<Box<LinkMeter>>>,
    rows: Rows,
}

/// The rows of an interval.
#[derive(Default)]
pub(crate) struct Rows {
    /// By neighbour.
    pub links: Vec<LinkSample>,
    /// By flow and neighbour.
    pub flows: Vec<FlowSample>,
    /// By flow and neighbour.
    pub answers: Vec<AnswerSample>,
}

impl<R: Ix> Default for LinkMeters<R> {
    fn default() -> Self {
        Self { of: Table::default(), rows: Rows::default() }
    }
}

/// The meter of a radio. All lists are in the order of their keys.
#[derive(Default)]
struct LinkMeter {
    rows: Rows,
    /// The counters of a driver that were read last, by neighbour.
    counted: Vec<(NodeId, LinkCounters)>,
    /// Readings that were left out because they were wrong.
    bad_readings: u64,
}

/// A packet of a flow that arrives at the queue of a radio.
#[derive(Debug, Clone, Copy)]
pub struct ArrivedPacket {
    /// The next hop.
    pub neighbour: NodeId,
    /// The flow.
    pub flow: FlowId,
    /// The source of the flow.
    pub from: NodeId,
    /// The destination of the flow.
    pub to: NodeId,
    /// Size as an IP packet.
    pub bytes: u32,
    /// Class.
    pub class: PacketClass,
}

impl ArrivedPacket {
    /// A packet as its queue sees it, of a flow from this source.
    #[must_use]
    pub const fn new(packet: &Packet, from: NodeId) -> Self {
        let Packet { next_hop, flow, destination, bytes, class, .. } = *packet;
        Self { neighbour: next_hop, flow, from, to: destination, bytes, class }
    }
}

/// A packet of a flow that a radio has finished.
#[derive(Debug, Clone, Copy)]
pub struct FinishedPacket {
    /// The next hop.
    pub neighbour: NodeId,
    /// Transmissions of its data frame.
    pub attempts: u32,
    /// True if the neighbour has acknowledged it; false if the radio has given it up.
    pub acknowledged: bool,
    /// Size as an IP packet.
    pub bytes: u32,
}

impl LinkMeter {
    /// The row of a neighbour; none if there are too many.
    fn link(&mut self, neighbour: NodeId) -> Option<&mut LinkSample> {
        let links = &mut self.rows.links;
        let at = match links.binary_search_by_key(&neighbour, |link| link.neighbour) {
            Ok(at) => at,
            Err(_) if links.len() >= MOST_ROWS => return None,
            Err(at) => {
                links.insert(at, LinkSample::new(neighbour));
                at
            }
        };
        links.get_mut(at)
    }

    fn count_flow(&mut self, packet: &ArrivedPacket, (packets, bytes): (u32, u64)) {
        let ArrivedPacket { neighbour, flow, from, to, .. } = *packet;
        let flows = &mut self.rows.flows;
        match flows.binary_search_by_key(&(flow, neighbour), |row| (row.flow, row.neighbour)) {
            Ok(at) => {
                let row = &mut flows[at];
                row.packets = row.packets.saturating_add(packets);
                row.bytes = row.bytes.saturating_add(bytes);
            }
            Err(_) if flows.len() >= MOST_ROWS => {}
            Err(at) => {
                flows.insert(at, FlowSample { flow, from, to, neighbour, packets, bytes, stated: None });
            }
        }
    }

    fn count_answer(&mut self, packet: &ArrivedPacket, (packets, bytes): (u32, u64)) {
        let ArrivedPacket { neighbour, flow, .. } = *packet;
        let answers = &mut self.rows.answers;
        match answers.binary_search_by_key(&(flow, neighbour), |row| (row.flow, row.neighbour)) {
            Ok(at) => {
                let row = &mut answers[at];
                row.packets = row.packets.saturating_add(packets);
                row.bytes = row.bytes.saturating_add(bytes);
            }
            Err(_) if answers.len() >= MOST_ROWS => {}
            Err(at) => {
                answers.insert(at, AnswerSample { flow, neighbour, packets, bytes });
            }
        }
    }
}

impl<R: Ix> LinkMeters<R> {
    /// Adds a meter to a radio.
    pub fn add(&mut self, radio: R, radios: usize) {
        if self.of.is_empty() {
            self.of = (0..radios).map(|_| None).collect();
        }
        self.of[radio].get_or_insert_default();
    }

    fn at(&mut self, radio: R) -> Option<&mut LinkMeter> {
        self.of.get_mut(radio)?.as_deref_mut()
    }

    /// True if a radio has a meter.
    #[must_use]
    #[inline]
    pub fn has(&self, radio: R) -> bool {
        self.of.get(radio).is_some_and(Option::is_some)
    }

    /// The neighbours for which packets of flows, acknowledgements or reports have arrived at a radio's queue so far.
    pub fn used(&self, radio: R) -> impl Iterator<Item = NodeId> + '_ {
        let meter = self.of.get(radio).and_then(Option::as_ref);
        meter.into_iter().flat_map(|meter| meter.rows.links.iter().map(|link| link.neighbour))
    }

    /// Counts a packet that arrives at a radio's queue.
    pub fn on_arrival(&mut self, radio: R, packet: &ArrivedPacket) {
        self.on_arrivals(radio, packet, (1, packet.bytes.into()));
    }

    /// Counts so many packets, with so many bytes together, that have arrived at a radio's queue and are like this one.
    pub fn on_arrivals(&mut self, radio: R, packet: &ArrivedPacket, counts: (u32, u64)) {
        let Some(meter) = self.at(radio).filter(|_| packet.class != PacketClass::Control) else { return };
        if let Some(link) = meter.link(packet.neighbour) {
            link.arrived = link.arrived.saturating_add(counts.0);
        }
        match packet.class {
            _ if packet.flow == FlowId::NONE => {}
            PacketClass::Data => meter.count_flow(packet, counts),
            PacketClass::Ack => meter.count_answer(packet, counts),
            PacketClass::Control => {}
        }
    }

    /// Counts a packet that a radio has finished.
    pub fn on_finished(&mut self, radio: R, packet: &FinishedPacket) {
        let Some(link) = self.at(radio).and_then(|meter| meter.link(packet.neighbour)) else { return };
        link.attempts = link.attempts.saturating_add(packet.attempts);
        if packet.acknowledged {
            link.sent = link.sent.saturating_add(1);
            link.bytes = link.bytes.saturating_add(u64::from(packet.bytes));
        } else {
            link.given_up = link.given_up.saturating_add(1);
        }
    }

    /// Reads a driver's counters of a link, in place of [`LinkMeters::on_finished`] for each packet; the first ones are where the counts
    /// begin. Counters that cannot be right since the last reading count nothing; the next differences begin with them all the same.
    pub fn on_counters(&mut self, radio: R, neighbour: NodeId, counters: LinkCounters) {
        let Some(meter) = self.at(radio) else { return };
        match meter.counted.binary_search_by_key(&neighbour, |of| of.0) {
            Err(_) if meter.counted.len() >= MOST_ROWS => {}
            Err(at) => meter.counted.insert(at, (neighbour, counters)),
            Ok(at) => {
                let earlier = core::mem::replace(&mut meter.counted[at].1, counters);
                let is_right = meter.link(neighbour).is_none_or(|link| counters.add_since(&earlier, link));
                meter.bad_readings += u64::from(!is_right);
            }
        }
    }

    /// Number of readings of a radio's links that were left out because they were wrong.
    #[must_use]
    pub fn bad_readings(&self, radio: R) -> u64 {
        self.of.get(radio).and_then(Option::as_ref).map_or(0, |meter| meter.bad_readings)
    }

    /// Ends an interval of a radio's meter: links, flows and answers since the last call, in the order of their keys, without the packets
    /// that wait. None without a meter.
    pub(crate) fn take(&mut self, radio: R) -> Option<Rows> {
        let meter = self.of.get_mut(radio)?.as_deref_mut()?;
        let mut rows = core::mem::take(&mut self.rows);
        for link in &mut meter.rows.links {
            rows.links.push(core::mem::replace(link, LinkSample::new(link.neighbour)));
        }
        rows.flows.append(&mut meter.rows.flows);
        rows.answers.append(&mut meter.rows.answers);
        Some(rows)
    }

    /// Returns the lists of [`LinkMeters::take`], to be used again.
    pub(crate) fn put_back(&mut self, mut rows: Rows) {
        rows.links.clear();
        rows.flows.clear();
        rows.answers.clear();
        self.rows = rows;
    }
}
