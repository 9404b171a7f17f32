//! Agents, controllers and forwarders of nodes: what they learn.

use airfair_host::{
    Addressee, HostEvent, InterfaceCounters, MessageSender, Net, Received, agents, controllers, forwarders,
};
use airfair_schemes::places::{AgentSetup, DeliveryRatios, Heard, HeardBroadcast, LinkUse, NodeId};
use airfair_units::Time;

use super::hosts::station_of;
use crate::air::Air;
use crate::ids::{ControllerIx, CopyRef, LinkRef, MessageIx, NodeIx, StationIx, Table};
use crate::node::Network;
use crate::node::plane::DataPlane;
use crate::observe::paths;
use crate::packet::{Packet, Payload};

/// Size of the frames of which forwarders learn delivery ratios, as IP packets, bytes.
const RATIOS_BYTES: u32 = 1500;

/// Size of a short broadcast as an IP packet, bytes.
const SHORT_BROADCAST: u32 = 60;

/// Least part of short frames at the data rate that arrives at a neighbour on a silent air. A message to a node that locks on to
/// preambles and receives nothing costs all attempts of the MAC.
const LEAST_REACHED: f64 = 0.1;

impl Network {
    /// Registers at their nodes the flows whose static routes pass them, in either direction.
    pub(crate) fn notify_agents_of_routes(&mut self) {
        if self.hosts.agents.is_empty() {
            return;
        }
        for flow in self.endpoints.flows.places() {
            for forward in [true, false] {
                self.passing.add(self.endpoints.flows[flow].ends(forward).0, flow);
                for hop in paths::hops(self, flow, forward) {
                    self.passing.add(hop.to, flow);
                }
            }
        }
    }

    /// Starts all agents, at time 0.
    pub(crate) fn start_agents(&mut self, air: &Air) {
        if self.hosts.agents.is_empty() {
            return;
        }
        for station in self.plane.interfaces.stations() {
            let (node, port) = self.plane.interfaces.of_station(station);
            let reaches = |peer: &StationIx| {
                air.reach().delivery_ratio(station, *peer, SHORT_BROADCAST) >= LEAST_REACHED
            };
            let reached = self.plane.interfaces.peer_stations(port).filter(reaches);
            let reached = reached.map(|peer| self.plane.interfaces.of_station(peer).0).collect();
            let neighbours = self.in_natural_order(reached);
            let mac = air.mac(station);
            let (node, rate) = (self.plane.interfaces.id(node), mac.nominal_mode.rate());
            let exchange = mac.lone_exchange(mac.nominal_mode);
            let sense_margin = air.reach().sense_margin(station, SHORT_BROADCAST);
            let setup = AgentSetup { node, rate, exchange, neighbours: &neighbours, sense_margin };
            agents::start(self, station, &setup, InterfaceCounters::default(), Time::ZERO);
        }
    }

    /// Ids of nodes without duplicates, in the natural order of their names.
    fn in_natural_order(&self, mut nodes: Vec<NodeIx>) -> Vec<NodeId> {
        nodes.sort_unstable_by_key(|&node| self.plane.routes.name_order(node));
        nodes.dedup();
        nodes.into_iter().map(|node| self.plane.interfaces.id(node)).collect()
    }

    /// Tells the forwarders the delivery ratios of the network, those that want them.
    pub(crate) fn start_forwarders(&mut self, air: &Air) {
        let mut stations: Vec<_> = self.hosts.forwarders.radios().collect();
        if !stations.iter().any(|&(.., wants_ratios)| wants_ratios) {
            return;
        }
        stations.sort_unstable_by_key(|&(_, node, _)| self.plane.routes.name_order(node));
        let nodes: Vec<_> = stations.iter().map(|&(_, node, _)| self.plane.interfaces.id(node)).collect();
        let mut places: Table<StationIx, usize> = air.stations().map(|_| usize::MAX).collect();
        (0..).zip(&stations).for_each(|(place, &(station, ..))| places[station] = place);
        let links = stations.iter().flat_map(|&(from, ..)| {
            let deliveries = air.reach().deliveries(from, RATIOS_BYTES);
            deliveries.map(|(to, ratio)| (places[from], places[to], ratio)).collect::<Vec<_>>()
        });
        let ratios = DeliveryRatios::new(nodes, links);
        for &(station, _, wants_ratios) in &stations {
            if wants_ratios {
                forwarders::delivery_ratios(self, station, &ratios, Time::ZERO);
            }
        }
    }

    /// Starts the controllers that run from the start on, and schedules the other starts and the stops.
    pub(crate) fn start_controllers(&mut self) {
        for controller in self.hosts.controllers.places() {
            let (start, stop) = self.hosts.controllers.times(controller);
            let rank = self.plane.interfaces.rank(self.hosts.controllers.node(controller));
            // A stop precedes a start at the same node and time, since controllers of a node are in the order of their starts.
            if start > Time::ZERO {
                Net::schedule(self, HostEvent::ControllerStart(controller), start, rank);
            } else {
                self.start_controller(controller, Time::ZERO);
            }
            if let Some(stop) = stop {
                Net::schedule(self, HostEvent::ControllerStop(controller), stop, rank);
            }
        }
    }

    /// Starts a controller.
    #[cold]
    pub(crate) fn start_controller(&mut self, controller: ControllerIx, now: Time) {
        let ports = self.plane.interfaces.ports_of(self.hosts.controllers.node(controller));
        let neighbours = ports.flat_map(|port| match self.plane.interfaces.link(port) {
            LinkRef::Station(_) => self.plane.interfaces.peers(port),
            LinkRef::Wire(wire) => vec![self.plane.links.far_end(wire)],
        });
        let neighbours = self.in_natural_order(neighbours.collect());
        controllers::start(self, controller, &neighbours, now);
    }

    /// Handles the end of an interval of a station's counters.
    #[inline(never)]
    pub(crate) fn sample(&mut self, station: StationIx, air: &Air, now: Time) {
        let port = self.plane.interfaces.of_station(station).1;
        let counters = air.counters(station);
        let messages = self.hosts.agents.messages_in_own_frames(station);
        let counted = InterfaceCounters {
            at: now,
            airtime: Some(air.airtime(station, now)),
            receive_own: air.receive_own(station),
            retries: counters.no_cts + counters.no_ack,
            traffic: self.plane.interfaces.packets_left(port) + counters.received_data() - messages,
            link: self.plane.meters.uses.totals(station).map_or_else(LinkUse::default, |totals| totals.used),
        };
        agents::sample(self, station, counted, now);
    }

    /// Handles a packet for another station that was overheard: an agent's message, or a packet with a header that queues read.
    pub(crate) fn overheard(&mut self, station: StationIx, copy: CopyRef, from: StationIx, now: Time) {
        if self.plane.rules.headers_heard && self.header_heard(station, copy, from, now) {
            return;
        }
        if let Some(packet) = self.plane.packets.get(copy).filter(|packet| packet.is_message()).copied() {
            self.on_message_received(station, &packet, Addressee::Other, now);
        }
    }

    /// Passes the header of a packet that a station has received or overheard to the station's queue and agent. Returns false if the packet
    /// carries none.
    #[inline]
    pub(crate) fn header_heard(
        &mut self,
        station: StationIx,
        copy: CopyRef,
        from: StationIx,
        now: Time,
    ) -> bool {
        let DataPlane { packets, interfaces, schedule, rules, .. } = &mut self.plane;
        let Some((kind, header, destination)) = packets.heard(copy) else { return false };
        let (port, sender) = (interfaces.of_station(station).1, interfaces.of_station(from).0);
        let heard = Heard { from: interfaces.id(sender), destination: interfaces.id(destination), header };
        if interfaces.pipeline_mut(port).heard(kind, &heard, now) {
            schedule.mark_ready(interfaces.link(port));
        }
        if rules.agents_hear {
            let (from, destination, header) = (heard.from, heard.destination, *header);
            agents::header(self, station, kind, &Heard { from, destination, header: &header }, now);
        }
        true
    }

    /// Handles a control packet that has arrived by wire, or locally, at its destination: the node's agents receive a message, and it ends;
    /// a part of a forwarded flow, which comes by radio, too, goes to the node's forwarder.
    #[cold]
    pub(crate) fn message_delivered(&mut self, node: NodeIx, packet: &Packet, now: Time) {
        if let Payload::Routed { flow, number } = packet.payload {
            forwarders::routed_arrived(self, node, (flow, number), now);
            return;
        }
        self.message_reached(node, None, packet, now);
        self.plane.on_control_ended(packet, now);
    }

    /// Handles a message that was received by a station.
    pub(super) fn on_message_received(
        &mut self,
        station: StationIx,
        packet: &Packet,
        to: Addressee,
        now: Time,
    ) {
        let Payload::Message(message) = packet.payload else { return };
        let Some((id, bytes, sender)) = self.plane.messages.content(message) else { return };
        let own_frame = to == Addressee::Me;
        let received = Received { id, bytes: &bytes, to, own_frame, sender: station_of(sender) };
        if agents::message(self, station, &received, now) {
            self.plane.messages.count_receiver(message, id);
        }
    }

    /// Passes a message that has reached its node, at `by` if by radio, to those of the node that have not received it: if it is routed, or
    /// has not come by radio, to all agents; and to a controller.
    pub(super) fn message_reached(
        &mut self,
        node: NodeIx,
        by: Option<StationIx>,
        packet: &Packet,
        now: Time,
    ) {
        let Payload::Message(message) = packet.payload else { return };
        let Some((id, bytes, sender)) = self.plane.messages.content(message) else { return };
        let to_agents =
            by.is_none() || self.plane.messages.get(message).is_some_and(|message| message.routed);
        let of_controller = matches!(sender, MessageSender::Controller(_));
        let (to, sender) = (Addressee::Me, station_of(sender));
        let received = Received { id, bytes: &bytes, to, own_frame: false, sender };
        self.plane.messages.mark_arrived(message);
        controllers::message(self, (node, by), &received, (to_agents, of_controller), now);
    }

    /// Handles a change of the stations that can decode a station's frames: `neighbours`, in ascending order.
    pub(crate) fn neighbours_changed(&mut self, station: StationIx, neighbours: &[StationIx], now: Time) {
        let port = self.plane.interfaces.of_station(station).1;
        neighbours.iter().for_each(|&neighbour| self.plane.interfaces.add_peer(port, neighbour));
        if self.hosts.agents.is_empty() {
            return;
        }
        let nodes =
            neighbours.iter().map(|&neighbour| self.plane.interfaces.of_station(neighbour).0).collect();
        let nodes = self.in_natural_order(nodes);
        agents::neighbours(self, station, &nodes, now);
    }

    /// The law of rates has another mode for most frames from one station to another, or for the first time one.
    #[cold]
    #[inline(never)]
    pub(crate) fn link_mode_changed(&mut self, (station, to): (StationIx, StationIx), air: &Air, now: Time) {
        if self.hosts.agents.is_empty() {
            return;
        }
        let neighbour = self.plane.interfaces.id(self.plane.interfaces.of_station(to).0);
        let exchange = air.mac(station).lone_exchange(air.link_mode(station, to));
        agents::link_rate(self, station, (neighbour, exchange), now);
    }

    /// Handles a broadcast of a forwarder that a station has received.
    #[inline(never)]
    pub(crate) fn broadcast_heard(
        &mut self,
        station: StationIx,
        (from, header, bytes): (NodeIx, MessageIx, u32),
        now: Time,
    ) {
        let Some(header) = self.plane.messages.get(header).map(|header| header.bytes.clone()) else { return };
        let content = bytes.saturating_sub(header.len() as u32);
        let heard = HeardBroadcast { from: self.plane.interfaces.id(from), header: &header, content };
        forwarders::heard(self, station, &heard, now);
    }
}
