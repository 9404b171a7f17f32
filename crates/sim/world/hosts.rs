//! The simulated network as hosts of schemes use it.

use airfair_host::{HostEvent, Hosts, MessageSender, Meters, Net, Outgoing};
use airfair_schemes::places::{
    Destination, FlowId, Holding, Message, NodeId, PacketClass, QueueView, Setting,
};
use airfair_units::{Rate, Time};

use super::sources;
use crate::event::{EventKind, Order, class};
use crate::ids::{CopyRef, FlowIx, LinkRef, NodeIx, PortIx, StationIx};
use crate::node::Network;
use crate::node::plane::messages::InTransit;
use crate::node::plane::{Arrival, DataPlane};
use crate::packet::{Packet, PacketCopy, Payload};
use crate::record::Record;
use crate::route::NextHop;

/// The station of an agent that has sent a message.
pub(super) fn station_of(sender: MessageSender<StationIx>) -> Option<StationIx> {
    match sender {
        MessageSender::Agent(station) => Some(station),
        MessageSender::Controller(_) => None,
    }
}

/// The network as hosts of schemes use it.
impl Net for Network {
    type Radio = StationIx;
    type Node = NodeIx;
    type Flow = FlowIx;
    type Packet = CopyRef;

    const EXACT_COUNTERS: bool = true;

    fn hosts(&mut self) -> &mut Hosts<Self> {
        &mut self.hosts
    }

    fn meters(&mut self) -> &mut Meters<StationIx> {
        &mut self.plane.meters
    }

    fn id(&self, node: NodeIx) -> NodeId {
        self.plane.interfaces.id(node)
    }

    fn node_of(&self, station: StationIx) -> NodeIx {
        self.plane.interfaces.of_station(station).0
    }

    fn radios(&self, node: NodeIx) -> Vec<StationIx> {
        let station = |port: PortIx| match self.plane.interfaces.link(port) {
            LinkRef::Station(station) => Some(station),
            LinkRef::Wire(_) => None,
        };
        self.plane.interfaces.ports_of(node).filter_map(station).collect()
    }

    fn send(&mut self, outgoing: Outgoing<StationIx, NodeIx>, now: Time) -> bool {
        let Outgoing { node, sender, message: Message { to, ahead, ref bytes, .. }, .. } = outgoing;
        let (to, routed) = match to {
            Destination::Broadcast => (Some(NodeIx::EVERYONE), false),
            Destination::Neighbour(to) => (self.plane.interfaces.node_of_id(to), false),
            Destination::Node(to) => (self.plane.interfaces.node_of_id(to), true),
        };
        let Some(to) = to else { return false };
        let length = bytes.len() as u32;
        let message = self.plane.messages.add(InTransit::new(outgoing, routed));
        let packet = Packet {
            bytes: length + self.plane.rules.headers.udp + self.plane.rules.headers.ip,
            ..Packet::control(node, to, Payload::Message(message), length, now)
        };
        match station_of(sender).filter(|_| !routed) {
            None => self.send_routed(packet, ahead, now),
            Some(_) if to != NodeIx::EVERYONE && self.plane.interfaces.first_station(to).is_none() => {
                self.plane.message_ended(message);
            }
            Some(station) => {
                let hop = NextHop { port: self.plane.interfaces.of_station(station).1, node: to };
                let copy = self.plane.packets.add(packet, PacketCopy::PLAIN);
                if ahead {
                    self.plane.put_ahead(hop, copy, now);
                } else {
                    self.plane.enqueue(hop, copy, now);
                }
                self.settle(now);
            }
        }
        true
    }

    fn apply(&mut self, station: StationIx, settings: &[Setting], now: Time) {
        let port = self.plane.interfaces.of_station(station).1;
        // A packet that has waited for news may leave now.
        if self.plane.rules.queues_wait && self.plane.interfaces.pipeline(port).view().packets > 0 {
            self.plane.schedule.mark_ready(self.plane.interfaces.link(port));
        }
        settings.iter().for_each(|&setting| self.plane.interfaces.apply(port, setting, now));
    }

    fn schedule(&mut self, event: HostEvent<StationIx>, at: Time, rank: u32) {
        let (class, kind) = match event {
            HostEvent::Sample(station) => (class::TIMER, EventKind::Sample(station)),
            HostEvent::AgentTimer(station, timer, generation) => {
                (class::TIMER, EventKind::AgentTimer { station, generation, timer })
            }
            HostEvent::ControllerTimer(controller, timer, generation) => {
                (class::TIMER, EventKind::ControllerTimer { controller, generation, timer })
            }
            HostEvent::ControllerStart(controller) => {
                (class::TRAFFIC, EventKind::ControllerStart(controller))
            }
            HostEvent::ControllerStop(controller) => (class::TRAFFIC, EventKind::ControllerStop(controller)),
        };
        self.plane.schedule.add(at, Order::new(class, rank), kind);
    }

    fn state(&self, station: StationIx, now: Time) -> (QueueView, u32) {
        let (node, port) = self.plane.interfaces.of_station(station);
        let under_way = |flow: &&FlowIx| {
            let flow = &self.endpoints.flows[**flow];
            matches!(flow.counts(), (1.., 0)) && now < flow.stop
        };
        let set_up = self.passing.at(node).iter().filter(under_way).count() as u32;
        (self.plane.interfaces.view_of_link(port), set_up)
    }

    fn backlogs(&self, station: StationIx) -> Vec<(NodeId, u32)> {
        self.plane.interfaces.backlogs(self.plane.interfaces.of_station(station).1)
    }

    fn waiting(&self, station: StationIx, see: &mut dyn FnMut(NodeId)) {
        let DataPlane { interfaces, packets, .. } = &self.plane;
        let port = interfaces.of_station(station).1;
        for queue in interfaces.ports_of_link(port) {
            interfaces.pipeline(queue).for_each_packet(&mut |packet| {
                if packet.class != PacketClass::Control {
                    see(packet.next_hop);
                }
            });
        }
        for waits in interfaces.ahead(port) {
            if packets.get(waits.copy).is_some_and(|packet| packet.class != PacketClass::Control) {
                see(interfaces.id(waits.next));
            }
        }
    }

    fn stated_rate(&self, station: StationIx, flow: FlowId) -> Option<Rate> {
        self.plane.interfaces.stated_rate(self.plane.interfaces.of_station(station).1, flow)
    }

    fn take(&mut self, flow: FlowIx) -> Option<(CopyRef, u32)> {
        self.endpoints.take_forwarded(&mut self.plane, flow)
    }

    fn deliver(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        self.deliver_packet(Arrival { node, copy }, now);
    }

    fn route(&mut self, from: NodeIx, flow: FlowIx, (copy, number): (CopyRef, u32), now: Time) {
        let Some(&Packet { scheme_flow, destination, length, bytes, dscp, .. }) =
            self.plane.packets.get(copy)
        else {
            return;
        };
        let payload = Payload::Routed { flow, number };
        let packet =
            Packet { scheme_flow, bytes, dscp, ..Packet::control(from, destination, payload, length, now) };
        let copy = self.plane.packets.add(packet, PacketCopy::PLAIN);
        self.plane.routes.find_fixed(from, destination);
        let arrival = self.plane.forward(from, copy, now);
        self.deliver_if_arrived(arrival, now);
    }

    fn held(&mut self, node: NodeIx, flow: FlowIx, holding: Holding, now: Time) {
        if self.plane.records.are_enabled() {
            self.plane.records.push(now, Record::Held { node, flow, holding });
        }
    }

    fn mark_ready(&mut self, station: StationIx) {
        self.plane.schedule.mark_ready(LinkRef::Station(station));
    }

    fn resume_sources(&mut self, station: StationIx, now: Time) {
        sources::resume(self, self.plane.interfaces.of_station(station).1, now);
    }
}
