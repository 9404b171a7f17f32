//! Meters of radio links by next hop and by flow, for agents that want them ([`Wants::links`](airfair_schemes::places::Wants::links)).
//!
//! Rows of links are found by the index of the neighbour, rows of flows by the index of the flow: tables that grow to the number of nodes
//! and of flows once. The rows of flows last for one interval.

use airfair_schemes::places::{FlowId, FlowSample, LinkSample, NodeId, PacketClass};

use super::interfaces::Interfaces;
use crate::air::{Msdu, Outcome};
use crate::ids::{FlowIx, Ix, NodeIx, StationIx, Table};
use crate::packet::Packet;

/// Number of no row.
const NONE: u32 = u32::MAX;

/// The meters of a world.
#[derive(Default)]
pub(crate) struct LinkMeters {
    /// Empty if no agent wants one.
    of: Table<StationIx, Option<Box<LinkMeter>>>,
    links: Vec<LinkSample>,
    flows: Vec<FlowSample>,
}

/// The meter of a station.
#[derive(Default)]
struct LinkMeter {
    links: Vec<(NodeIx, LinkCounts)>,
    /// Row of each neighbour in `links`.
    link_of: RowOf<NodeIx>,
    flows: Vec<FlowRow>,
    /// First of the rows of each flow in `flows`, which name the next ones.
    first_of: RowOf<FlowIx>,
    /// Data frames that the station's categories had sent when they finished their last packets.
    frames: [u64; 8],
}

/// Counts of a link since the last sample.
#[derive(Debug, Clone, Copy, Default)]
struct LinkCounts {
    arrived: u32,
    sent: u32,
    attempts: u32,
    given_up: u32,
    bytes: u64,
}

/// Counts of a flow on a link since the last sample.
#[derive(Debug, Clone, Copy)]
struct FlowRow {
    flow: FlowIx,
    id: FlowId,
    ends: [NodeIx; 2],
    neighbour: NodeIx,
    packets: u32,
    bytes: u64,
    /// Another row of the flow: of another connection, or on another link.
    next: u32,
}

/// A row number for each index, [`NONE`] until it is set.
struct RowOf<I>(Table<I, u32>);

impl<I> Default for RowOf<I> {
    fn default() -> Self {
        Self(Table::default())
    }
}

impl<I: Ix> RowOf<I> {
    fn get(&self, at: I) -> u32 {
        self.0.get(at).copied().unwrap_or(NONE)
    }

    fn set(&mut self, at: I, row: u32) {
        while self.0.len() <= at.ix() {
            self.0.push(NONE);
        }
        self.0[at] = row;
    }
}

impl LinkMeter {
    fn link(&mut self, neighbour: NodeIx) -> &mut LinkCounts {
        let mut row = self.link_of.get(neighbour);
        if row == NONE {
            row = self.links.len() as u32;
            self.link_of.set(neighbour, row);
            self.links.push((neighbour, LinkCounts::default()));
        }
        &mut self.links[row as usize].1
    }

    fn count_flow(&mut self, flow: FlowIx, packet: &Packet, neighbour: NodeIx) {
        let Self { flows, first_of, .. } = self;
        let first = first_of.get(flow);
        let mut at = first;
        while let Some(row) = flows.get_mut(at as usize) {
            if row.id == packet.scheme_flow && row.neighbour == neighbour {
                row.packets += 1;
                row.bytes += u64::from(packet.bytes);
                return;
            }
            at = row.next;
        }
        first_of.set(flow, flows.len() as u32);
        flows.push(FlowRow {
            flow,
            id: packet.scheme_flow,
            ends: [packet.source, packet.destination],
            neighbour,
            packets: 1,
            bytes: u64::from(packet.bytes),
            next: first,
        });
    }
}

impl LinkMeters {
    /// Adds a meter to a station.
    pub fn add(&mut self, station: StationIx, stations: usize) {
        if self.of.is_empty() {
            self.of = (0..stations).map(|_| None).collect();
        }
        self.of[station].get_or_insert_default();
    }

    fn at(&mut self, station: StationIx) -> Option<&mut LinkMeter> {
        self.of.get_mut(station)?.as_deref_mut()
    }

    /// True if a station has a meter.
    pub fn has(&self, station: StationIx) -> bool {
        self.of.get(station).is_some_and(Option::is_some)
    }

    /// The neighbours for which packets of flows, acknowledgements or reports have arrived at a station's queue so far.
    pub fn used(&self, station: StationIx) -> impl Iterator<Item = NodeIx> + '_ {
        let meter = self.of.get(station).and_then(Option::as_ref);
        meter.into_iter().flat_map(|meter| meter.links.iter().map(|link| link.0))
    }

    /// Counts a packet that arrives at a station's queue for a neighbour.
    pub fn on_arrival(&mut self, station: StationIx, neighbour: NodeIx, packet: &Packet) {
        let Some(meter) = self.at(station).filter(|_| packet.class != PacketClass::Control) else { return };
        meter.link(neighbour).arrived += 1;
        if let Some(flow) = packet.flow().filter(|_| packet.class == PacketClass::Data) {
            meter.count_flow(flow, packet, neighbour);
        }
    }

    /// Counts a packet for a neighbour that the MAC has finished. `frames`: data frames that the packet's category has sent so far. Returns
    /// the number of them since its last packet; none without a meter.
    pub fn on_finished(
        &mut self,
        station: StationIx,
        neighbour: Option<NodeIx>,
        (msdu, outcome): (&Msdu, Outcome),
        frames: u64,
    ) -> Option<u64> {
        let meter = self.at(station)?;
        let last = &mut meter.frames[usize::from(msdu.category) % 8];
        let attempts = frames - std::mem::replace(last, frames);
        let Some(neighbour) = neighbour.filter(|_| !msdu.control) else { return Some(attempts) };
        let link = meter.link(neighbour);
        link.attempts += attempts as u32;
        match outcome {
            Outcome::Delivered => {
                link.sent += 1;
                link.bytes += u64::from(msdu.bytes);
            }
            Outcome::RetryLimit | Outcome::InternalCollisions => link.given_up += 1,
            Outcome::Broadcast => {}
        }
        Some(attempts)
    }

    /// Ends an interval of a station's meter: its links and flows since the last call, in the order of their numbers. `waiting`: calls its
    /// argument with the next hop of each packet that waits.
    pub fn take(
        &mut self,
        station: StationIx,
        interfaces: &Interfaces,
        waiting: impl FnOnce(&mut dyn FnMut(NodeId)),
    ) -> (Vec<LinkSample>, Vec<FlowSample>) {
        let (mut links, mut flows) = (std::mem::take(&mut self.links), std::mem::take(&mut self.flows));
        let Some(meter) = self.at(station) else { return (links, flows) };
        links.extend(meter.links.iter_mut().map(|(neighbour, counts)| {
            let LinkCounts { arrived, sent, attempts, given_up, bytes } = std::mem::take(counts);
            let neighbour = interfaces.id(*neighbour);
            LinkSample { neighbour, waiting: 0, arrived, sent, attempts, given_up, bytes }
        }));
        links.sort_unstable_by_key(|link| link.neighbour);
        waiting(&mut |next_hop| match links.binary_search_by_key(&next_hop, |link| link.neighbour) {
            Ok(at) => links[at].waiting += 1,
            // Its queue has changed the packet's next hop.
            Err(at) => {
                links.insert(at, LinkSample { waiting: 1, ..LinkSample::new(next_hop) });
            }
        });
        for row in meter.flows.drain(..) {
            meter.first_of.set(row.flow, NONE);
            let [from, to] = row.ends.map(|node| interfaces.id(node));
            let neighbour = interfaces.id(row.neighbour);
            let FlowRow { id: flow, packets, bytes, .. } = row;
            flows.push(FlowSample { flow, from, to, neighbour, packets, bytes, stated: None });
        }
        flows.sort_unstable_by_key(|sample| (sample.flow, sample.neighbour));
        (links, flows)
    }

    /// Returns the lists of [`LinkMeters::take`], to be used again.
    pub fn put_back(&mut self, mut links: Vec<LinkSample>, mut flows: Vec<FlowSample>) {
        links.clear();
        flows.clear();
        (self.links, self.flows) = (links, flows);
    }
}
