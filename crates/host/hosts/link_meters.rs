//! Meters of radio links by next hop and by flow, for agents that want them (`Capability::Links`): of
//! the packets of flows, whoever has made them. The rows of flows last until the next sample.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::places::{FlowId, FlowSample, LinkSample, NodeId, Packet, PacketClass};

use crate::sample::LinkCounters;
use crate::table::{Ix, Table};

/// Most links of a radio, and most flows of an interval, that are counted: whatever arrives, memory and work have a bound.
const MOST_ROWS: usize = 1 << 12;

/// The meters of a network.
pub struct LinkMeters<R: Ix> {
    /// Empty if no agent wants one.
    of: Table<R, Option<Box<LinkMeter>>>,
    links: Vec<LinkSample>,
    flows: Vec<FlowSample>,
}

impl<R: Ix> Default for LinkMeters<R> {
    fn default() -> Self {
        Self { of: Table::default(), links: Vec::new(), flows: Vec::new() }
    }
}

/// The meter of a radio. Both lists are in the order of their keys.
#[derive(Default)]
struct LinkMeter {
    /// By neighbour.
    links: Vec<LinkSample>,
    /// By flow and neighbour.
    flows: Vec<FlowSample>,
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
    /// Class; of acknowledgements and reports the flow is not counted.
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
        let at = match self.links.binary_search_by_key(&neighbour, |link| link.neighbour) {
            Ok(at) => at,
            Err(_) if self.links.len() >= MOST_ROWS => return None,
            Err(at) => {
                self.links.insert(at, LinkSample::new(neighbour));
                at
            }
        };
        self.links.get_mut(at)
    }

    fn count_flow(&mut self, packet: &ArrivedPacket) {
        let ArrivedPacket { neighbour, flow, from, to, bytes, .. } = *packet;
        match self.flows.binary_search_by_key(&(flow, neighbour), |row| (row.flow, row.neighbour)) {
            Ok(at) => {
                let row = &mut self.flows[at];
                row.packets = row.packets.saturating_add(1);
                row.bytes = row.bytes.saturating_add(u64::from(bytes));
            }
            Err(_) if self.flows.len() >= MOST_ROWS => {}
            Err(at) => {
                let bytes = u64::from(bytes);
                self.flows
                    .insert(at, FlowSample { flow, from, to, neighbour, packets: 1, bytes, stated: None });
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
        meter.into_iter().flat_map(|meter| meter.links.iter().map(|link| link.neighbour))
    }

    /// Counts a packet that arrives at a radio's queue.
    pub fn on_arrival(&mut self, radio: R, packet: &ArrivedPacket) {
        let Some(meter) = self.at(radio).filter(|_| packet.class != PacketClass::Control) else { return };
        if let Some(link) = meter.link(packet.neighbour) {
            link.arrived = link.arrived.saturating_add(1);
        }
        if packet.class == PacketClass::Data && packet.flow != FlowId::NONE {
            meter.count_flow(packet);
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

    /// Ends an interval of a radio's meter: links and flows since the last call, in the order of their keys, without the packets that wait.
    /// None without a meter.
    pub(crate) fn take(&mut self, radio: R) -> Option<(Vec<LinkSample>, Vec<FlowSample>)> {
        let meter = self.of.get_mut(radio)?.as_deref_mut()?;
        let (mut links, mut flows) = (core::mem::take(&mut self.links), core::mem::take(&mut self.flows));
        for link in &mut meter.links {
            links.push(core::mem::replace(link, LinkSample::new(link.neighbour)));
        }
        flows.append(&mut meter.flows);
        Some((links, flows))
    }

    /// Returns the lists of [`LinkMeters::take`], to be used again.
    pub(crate) fn put_back(&mut self, mut links: Vec<LinkSample>, mut flows: Vec<FlowSample>) {
        links.clear();
        flows.clear();
        (self.links, self.flows) = (links, flows);
    }
}
