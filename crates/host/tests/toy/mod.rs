//! A network of nodes with a radio each, for tests of hosts: whatever it is asked for is written down.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::VecDeque;

use airfair_host::{ControllerIx, HostEvent, Hosts, Meters, Net, Outgoing, indices};
use airfair_schemes::places::{Destination, FlowId, Holding, NodeId, QueueView, Setting};
use airfair_units::{Rate, Time};

indices! {
    /// A node and its radio.
    Node
    /// A flow.
    Flow
}

/// The network. Node `i` has the number `100 + i`.
#[derive(Default)]
pub struct Toy {
    pub hosts: Hosts<Self>,
    pub meters: Meters<Node>,
    pub nodes: u32,
    pub sent: Vec<Outgoing<Node, Node>>,
    pub applied: Vec<(Node, Setting)>,
    pub events: Vec<(HostEvent<Node>, Time)>,
    /// Next hops of the packets that wait at each radio.
    pub waiting: Vec<NodeId>,
    /// Packets of flows that no forwarder has taken.
    pub offered: VecDeque<u32>,
    /// Packets that forwarders have taken, handed up, and passed to routing.
    pub taken: Vec<u32>,
    pub delivered: Vec<(Node, u32)>,
    pub routed: Vec<(Node, u32, u32)>,
    pub ready: Vec<Node>,
    pub resumed: Vec<Node>,
    pub held: Vec<(Node, Holding)>,
}

impl Toy {
    pub fn new(nodes: u32) -> Self {
        Self { nodes, ..Self::default() }
    }

    /// The events that were scheduled since the last call.
    pub fn take_events(&mut self) -> Vec<(HostEvent<Node>, Time)> {
        std::mem::take(&mut self.events)
    }
}

pub fn id(node: u32) -> NodeId {
    NodeId(100 + node)
}

pub const CONTROLLER: ControllerIx = ControllerIx(0);

impl Net for Toy {
    type Radio = Node;
    type Node = Node;
    type Flow = Flow;
    type Packet = u32;

    fn hosts(&mut self) -> &mut Hosts<Self> {
        &mut self.hosts
    }

    fn meters(&mut self) -> &mut Meters<Node> {
        &mut self.meters
    }

    fn id(&self, node: Node) -> NodeId {
        id(node.0)
    }

    fn node_of(&self, radio: Node) -> Node {
        radio
    }

    fn radios(&self, node: Node) -> Vec<Node> {
        vec![node]
    }

    fn send(&mut self, message: Outgoing<Node, Node>, _now: Time) -> bool {
        let exists = match message.message.to {
            Destination::Broadcast => true,
            Destination::Neighbour(to) | Destination::Node(to) => (0..self.nodes).any(|node| id(node) == to),
        };
        if exists {
            self.sent.push(message);
        }
        exists
    }

    fn apply(&mut self, radio: Node, settings: &[Setting], _now: Time) {
        self.applied.extend(settings.iter().map(|&setting| (radio, setting)));
    }

    fn schedule(&mut self, event: HostEvent<Node>, at: Time, _rank: u32) {
        self.events.push((event, at));
    }

    fn state(&self, _radio: Node, _now: Time) -> (QueueView, u32) {
        (QueueView { packets: self.waiting.len() as u32, bytes: 0, limit_packets: 50 }, 7)
    }

    fn backlogs(&self, _radio: Node) -> Vec<(NodeId, u32)> {
        vec![(id(2), 5)]
    }

    fn waiting(&self, _radio: Node, see: &mut dyn FnMut(NodeId)) {
        self.waiting.iter().for_each(|&next_hop| see(next_hop));
    }

    fn stated_rate(&self, _radio: Node, flow: FlowId) -> Option<Rate> {
        Some(Rate(u64::from(flow.0)))
    }

    fn take(&mut self, _flow: Flow) -> Option<(u32, u32)> {
        let packet = self.offered.pop_front()?;
        self.taken.push(packet);
        Some((packet, 1000 + packet))
    }

    fn deliver(&mut self, node: Node, packet: u32, _now: Time) {
        self.delivered.push((node, packet));
    }

    fn route(&mut self, node: Node, _flow: Flow, (packet, number): (u32, u32), _now: Time) {
        self.routed.push((node, packet, number));
    }

    fn held(&mut self, node: Node, _flow: Flow, holding: Holding, _now: Time) {
        self.held.push((node, holding));
    }

    fn mark_ready(&mut self, radio: Node) {
        self.ready.push(radio);
    }

    fn resume_sources(&mut self, radio: Node, _now: Time) {
        self.resumed.push(radio);
    }
}
