//! A forwarder: an agent whose node passes packets of flows on by broadcasts without a next hop.

use alloc::sync::Arc;
use alloc::vec::Vec;

use airfair_units::Time;

use super::{FlowId, ForwarderContext, NodeId, Priority};

/// A packet of a flow at its source, as its application has made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativePacket {
    /// The flow.
    pub flow: FlowId,
    /// The node that it is for.
    pub to: NodeId,
    /// Number within the flow: of the packets that the forwarder has taken the first is 0, each later one the next.
    pub number: u32,
    /// Size as an IP packet, bytes.
    pub bytes: u32,
}

/// A broadcast that a forwarder has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The flow that it serves.
    pub flow: FlowId,
    /// The batch that it is a part of, as the forwarder numbers the batches of a flow.
    pub batch: u32,
    /// The header of the scheme.
    pub header: Vec<u8>,
    /// Size of what follows the header, bytes: a packet of the flow, as an IP packet, or a combination of several.
    pub content: u32,
}

/// A broadcast of another node's forwarder, as a node has received it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeardBroadcast<'a> {
    /// The node that has sent it.
    pub from: NodeId,
    /// The header of the scheme.
    pub header: &'a [u8],
    /// Size of what follows the header, bytes.
    pub content: u32,
}

/// Delivery ratios of broadcasts at the rate of data frames between all nodes with a forwarder, as the network knows them: what no node
/// could know so exactly. A copy shares the lists.
#[derive(Debug, Clone, Default)]
pub struct DeliveryRatios {
    /// The nodes, in the natural order of their names.
    pub nodes: Arc<[NodeId]>,
    /// The links that deliver something, in the order of their senders, then of their receivers: of all pairs few in a large network.
    pub links: Arc<[DeliveryRatio]>,
    numbered: Arc<Numbered>,
}

/// The same ratios with places in the order of the nodes' numbers.
#[derive(Debug, Clone, Default)]
pub struct Numbered {
    nodes: Arc<[NodeId]>,
    /// In the order of senders, then of receivers.
    links: Vec<DeliveryRatio>,
    /// In the order of receivers, then of senders.
    by_receiver: Vec<DeliveryRatio>,
}

/// The delivery ratio of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeliveryRatio {
    /// Place of the sender in [`DeliveryRatios::nodes`].
    pub from: u32,
    /// Place of the receiver.
    pub to: u32,
    /// The part of packets that arrive on an otherwise silent air, above 0, at most 1.
    pub ratio: f64,
}

impl DeliveryRatios {
    /// The ratios between these nodes, by sender and receiver as places among them: in any order, each pair once. What is no link (a place
    /// that no node has, a node with itself, a number that is no ratio or 0) is left out.
    #[must_use]
    pub fn new(
        nodes: impl IntoIterator<Item = NodeId>,
        links: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Self {
        let nodes: Arc<[NodeId]> = nodes.into_iter().collect();
        let known = |place: usize| u32::try_from(place).ok().filter(|_| place < nodes.len());
        let link = |(from, to, ratio): (usize, usize, f64)| {
            let is_one = ratio > 0.0 && ratio <= 1.0 && from != to;
            Some(DeliveryRatio { from: known(from)?, to: known(to)?, ratio }).filter(|_| is_one)
        };
        let mut links: Vec<DeliveryRatio> = links.into_iter().filter_map(link).collect();
        links.sort_by_key(|link| (link.from, link.to));
        let numbered = Arc::new(Numbered::new(&nodes, &links));
        Self { links: links.into(), nodes, numbered }
    }

    /// The ratios in the order of the nodes' numbers: all that have a copy of the ratios share them.
    #[must_use]
    pub const fn numbered(&self) -> &Arc<Numbered> {
        &self.numbered
    }

    /// The ratio from one node to another, by their places in the list; 0 where there is no link.
    #[must_use]
    pub fn between(&self, from: usize, to: usize) -> f64 {
        let key = |link: &DeliveryRatio| (link.from as usize, link.to as usize);
        let at = self.links.binary_search_by_key(&(from, to), key);
        at.map_or(0.0, |at| self.links[at].ratio)
    }
}

impl Numbered {
    fn new(nodes: &[NodeId], links: &[DeliveryRatio]) -> Self {
        let mut ordered = nodes.to_vec();
        ordered.sort_unstable();
        ordered.dedup();
        let places: Vec<u32> =
            nodes.iter().map(|node| ordered.partition_point(|other| other < node) as u32).collect();
        let place = |at: u32| places.get(at as usize).copied().unwrap_or(at);
        let moved =
            |link: &DeliveryRatio| DeliveryRatio { from: place(link.from), to: place(link.to), ..*link };
        let mut links: Vec<DeliveryRatio> = links.iter().map(moved).collect();
        links.sort_by_key(|link| (link.from, link.to));
        let mut by_receiver = links.clone();
        by_receiver.sort_by_key(|link| (link.to, link.from));
        Self { nodes: ordered.into(), links, by_receiver }
    }

    /// The nodes, ascending.
    #[must_use]
    pub const fn nodes(&self) -> &Arc<[NodeId]> {
        &self.nodes
    }

    /// The links from the node at a place, in the order of their receivers.
    #[must_use]
    pub fn from(&self, place: usize) -> &[DeliveryRatio] {
        equal(&self.links, place, |link| link.from)
    }

    /// The links to the node at a place, in the order of their senders.
    #[must_use]
    pub fn to(&self, place: usize) -> &[DeliveryRatio] {
        equal(&self.by_receiver, place, |link| link.to)
    }
}

/// The links with this place at one of their ends, of a list that is in the order of that end.
fn equal(links: &[DeliveryRatio], place: usize, end: impl Fn(&DeliveryRatio) -> u32) -> &[DeliveryRatio] {
    let first = links.partition_point(|link| (end(link) as usize) < place);
    let links = &links[first..];
    &links[..links.partition_point(|link| end(link) as usize == place)]
}

/// A forwarder (MORE, ExOR), a part of an [`Agent`](super::Agent): its node passes packets of flows on without a next hop. A forwarder
/// takes the packets of its node's own flows, makes broadcasts from what it holds at the moment at which its radio may send, and hands the
/// packets for its node up. Timers and messages are those of the agent.
pub trait Forwarder {
    /// The delivery ratios of the network, once after the agent's start. Called only if [wanted](super::Capability::DeliveryRatios).
    fn on_delivery_ratios(&mut self, _ratios: &DeliveryRatios, _context: &mut ForwarderContext<'_>) {}

    /// Number of packets that it takes now of a flow whose source is its node, for a node. What it does not take waits at the source.
    fn room(&self, flow: FlowId, to: NodeId) -> u32;

    /// Takes a packet of its node's own flow, for which it has room.
    fn on_packet(&mut self, packet: &NativePacket, context: &mut ForwarderContext<'_>);

    /// A broadcast of another node's forwarder has arrived. Whatever its header holds, nothing must panic.
    fn on_heard(&mut self, heard: &HeardBroadcast<'_>, context: &mut ForwarderContext<'_>);

    /// A packet for its node that a forwarder has passed to ordinary routing has arrived.
    fn on_routed(&mut self, flow: FlowId, number: u32, context: &mut ForwarderContext<'_>) {
        context.out.delivered.push((flow, number));
    }

    /// The priority of what it has to send; none: nothing. The radio contends for access while there is something. Asked after each hook of
    /// the agent and the forwarder, and when the radio is free.
    fn ready(&self, now: Time) -> Option<Priority>;

    /// Makes the broadcast that is sent now: the radio has won access. None: there is nothing any more, and the access is not used.
    fn make(&mut self, context: &mut ForwarderContext<'_>) -> Option<Made>;
}
