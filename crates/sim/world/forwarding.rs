//! Flows that forwarders carry: their packets at the source, and broadcasts that are made when access is won.

use airfair_host::{forwarders, forwarders::Turn};
use airfair_schemes::places::{DeliveryRatios, DropReason, HeardBroadcast, Made, SendRate};
use airfair_units::Time;

use crate::air::{Air, BROADCAST, Msdu};
use crate::engine::Agenda;
use crate::ids::{CopyRef, FlowIx, LinkRef, MessageIx, NodeIx, PortIx, StationIx, Table};
use crate::node::Network;
use crate::node::messages::InTransit;
use crate::packet::{Packet, PacketCopy, Payload};

/// Size of the frames of which forwarders learn delivery ratios, as IP packets, bytes.
const RATIOS_BYTES: u32 = 1500;

/// Packets of flows at their sources.
impl Network {
    /// Tells the forwarders the delivery ratios of the network, those that want them.
    pub(super) fn start_forwarders(&mut self, air: &Air) {
        let mut stations: Vec<_> = self.hosts.forwarders.radios().collect();
        if !stations.iter().any(|&(.., wants_ratios)| wants_ratios) {
            return;
        }
        stations.sort_unstable_by_key(|&(_, node, _)| self.routes.name_order(node));
        let nodes: Vec<_> = stations.iter().map(|&(_, node, _)| self.interfaces.id(node)).collect();
        let mut places: Table<StationIx, usize> = air.stations().map(|_| usize::MAX).collect();
        (0..).zip(&stations).for_each(|(place, &(station, ..))| places[station] = place);
        let links = stations.iter().flat_map(|&(from, ..)| {
            let deliveries = air.deliveries(from, RATIOS_BYTES);
            deliveries.map(|(to, ratio)| (places[from], places[to], ratio)).collect::<Vec<_>>()
        });
        let ratios = DeliveryRatios::new(nodes, links);
        for &(station, _, wants_ratios) in &stations {
            if wants_ratios {
                forwarders::delivery_ratios(self, station, &ratios, Time::ZERO);
            }
        }
    }

    /// The port of the forwarder that takes the packets of a flow; none if routes carry the flow.
    pub(super) fn forwarder_port(&self, flow: FlowIx) -> Option<PortIx> {
        self.hosts.forwarders.source_of(flow).map(|station| self.interfaces.of_station(station).1)
    }

    /// True if as many packets of a flow wait for its forwarder as its port's queue may hold.
    #[cold]
    pub(super) fn waits_for_forwarder(&self, flow: FlowIx, port: PortIx) -> bool {
        self.hosts.forwarders.waiting(flow) >= self.interfaces.view(port).limit_packets as usize
    }

    /// Hands a flow's packet to the forwarder of its source, where it waits until that takes it. Returns false if routes carry the flow.
    #[inline(never)]
    pub(super) fn forward_own(&mut self, flow: FlowIx, copy: CopyRef, now: Time) -> bool {
        let Some(port) = self.forwarder_port(flow) else { return false };
        if self.waits_for_forwarder(flow, port) {
            self.drop_packet(self.flows[flow].from, copy, DropReason::QUEUE_FULL.0, now);
        } else {
            forwarders::offer(self, flow, copy, now);
        }
        true
    }
}

/// Broadcasts of forwarders.
impl Network {
    /// The next packet of a station without categories: its queue and its forwarder take turns. Of the forwarder it is a place in the MAC,
    /// for the broadcast that is made when access is won.
    #[inline(never)]
    pub(super) fn turn_of_forwarder(
        &mut self,
        (station, port): (StationIx, PortIx),
        now: Time,
    ) -> Option<Msdu> {
        let queued = |network: &mut Self| network.queued_msdu((station, port), port, now);
        Some(match forwarders::turn(self, station, queued, now)? {
            Turn::Queued(msdu) => msdu,
            Turn::Broadcast => Msdu::to_be_made(0),
        })
    }

    /// Gives a station with categories a place in its MAC for a forwarder's broadcast, in the category of its priority.
    #[inline(never)]
    pub(super) fn place_in_category(&mut self, station: StationIx, air: &mut Air, now: Time) {
        let Some(priority) = forwarders::priority_of_next(self, station, now) else { return };
        let port = self.interfaces.of_station(station).1;
        let highest = self.interfaces.categories(port).map_or(0, |of| of.count.saturating_sub(1));
        let category = priority.0.min(highest);
        if air.free_places_of(station, category) > 0 {
            air.hand_down(station, Msdu::to_be_made(category));
            forwarders::contends(self, station);
        }
    }

    /// A station may send now: its forwarder makes the broadcast.
    #[inline(never)]
    pub(super) fn on_access(&mut self, (station, air): (StationIx, &mut Air), agenda: &mut Agenda) {
        let now = agenda.now;
        if !self.hosts.forwarders.has(station) {
            return;
        }
        match forwarders::make(self, station, now) {
            Some(made) => {
                let msdu = self.broadcast(station, made, now);
                air.send_made(station, msdu, agenda);
            }
            None => air.send_nothing(station, agenda),
        }
        forwarders::made(self, station, now);
        self.schedule.mark_ready(LinkRef::Station(station));
    }

    /// The broadcast that a forwarder has made, for the MAC.
    fn broadcast(&mut self, station: StationIx, made: Made, now: Time) -> Msdu {
        let length = made.header.len() as u32 + made.content;
        let batch = self.hosts.forwarders.of_number(made.flow).map(|(flow, _)| (flow, made.batch));
        let header = self.messages.add(InTransit::header(station, made.header, batch));
        let payload = Payload::Forwarded(header);
        let node = self.interfaces.of_station(station).0;
        let packet = Packet::control(node, NodeIx::EVERYONE, payload, length, now);
        let copy = self.packets.add(packet, PacketCopy::PLAIN);
        Msdu {
            packet: self.packets.packet_of(copy),
            copy,
            bytes: length,
            to: BROADCAST,
            category: 0,
            overhear: false,
            control: false,
            report: false,
            rate: SendRate::Data,
            louder: 0,
        }
    }

    /// Handles a broadcast of a forwarder that a station has received.
    #[inline(never)]
    pub(super) fn broadcast_heard(
        &mut self,
        station: StationIx,
        (from, header, bytes): (NodeIx, MessageIx, u32),
        now: Time,
    ) {
        let Some(header) = self.messages.get(header).map(|header| header.bytes.clone()) else { return };
        let content = bytes.saturating_sub(header.len() as u32);
        let heard = HeardBroadcast { from: self.interfaces.id(from), header: &header, content };
        forwarders::heard(self, station, &heard, now);
    }
}
