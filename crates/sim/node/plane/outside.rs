//! Packets from outside the world: they enter at a node or at one of its links, and their copies leave where they arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use airfair_schemes::places::{Ecn, FlowId, Header, HeaderKind, PacketClass};
use airfair_units::Time;

use crate::ids::{ForeignIx, NodeIx, PortIx};

/// The place at which a packet enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ingress {
    /// A node, which forwards it by the routes of the world to the destination.
    Node(NodeIx),
    /// A port: the sender's own stack has chosen the next hop, where the packet leaves. None: all nodes that
    /// receive the broadcast, by a wire its far end.
    Port(PortIx, Option<NodeIx>),
}

/// The bytes of a packet, for captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketBytes {
    /// EtherType of the packet.
    pub ethertype: u16,
    /// The packet from the header that the EtherType names.
    pub bytes: Arc<[u8]>,
}

/// A packet that enters.
#[derive(Debug, Clone)]
pub struct Injection {
    /// The place.
    pub at: Ingress,
    /// Source and destination, end to end, as schemes see them.
    pub ends: [NodeIx; 2],
    /// Number of the flow for queues, schemes and counters of links; [`FlowId::NONE`] for a packet of none.
    pub flow: FlowId,
    /// Data, or an acknowledgement without data. To schemes a broadcast by radio is a control packet.
    pub class: PacketClass,
    /// ECN bits.
    pub ecn: Ecn,
    /// DSCP, below 64.
    pub dscp: u8,
    /// Size as an IP packet, the header of a scheme included.
    pub size: u32,
    /// Header of an explicit-rate scheme or of a queue.
    pub header: Option<(&'static HeaderKind, Header)>,
    /// The bytes, if captures are to have them.
    pub bytes: Option<PacketBytes>,
    /// Number given by the caller, which the packet's copies bring back. It may be given again after the last of them.
    pub tag: u64,
}

impl Injection {
    /// A packet of no flow from node to node by the routes of the world.
    #[must_use]
    pub const fn new(from: NodeIx, to: NodeIx, size: u32, tag: u64) -> Self {
        Self {
            at: Ingress::Node(from),
            ends: [from, to],
            flow: FlowId::NONE,
            class: PacketClass::Data,
            ecn: Ecn::NotEct,
            dscp: 0,
            size,
            header: None,
            bytes: None,
            tag,
        }
    }

    /// The same at a port, for a neighbour or for all nodes that receive it.
    #[must_use]
    pub fn at_port(self, port: PortIx, next: Option<NodeIx>) -> Self {
        Self { at: Ingress::Port(port, next), ..self }
    }
}

/// The fate of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It has arrived.
    Arrived,
    /// It was dropped, for this reason; of a broadcast one copy, unless it is the last.
    Dropped(&'static str),
    /// All copies of a broadcast that will arrive have arrived.
    Ended,
}

/// A copy of a packet from outside that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Egress {
    /// Time: of arrivals by radio that of the last bit, which several of one broadcast may have in any order.
    pub at: Time,
    /// Number given to `inject`.
    pub tag: u64,
    /// The node: where it has arrived or was dropped; the sender of a broadcast that has ended.
    pub node: NodeIx,
    /// The port by which it has arrived, if it entered at a port; the port at which a broadcast that has ended was sent; none if it was
    /// dropped.
    pub port: Option<PortIx>,
    /// ECN bits.
    pub ecn: Ecn,
    /// An AQM has asked for ECN-Echo in the acknowledgement.
    pub echo: bool,
    /// Header of a scheme, as hops and queues have left it.
    pub header: Option<Header>,
    /// The fate of the copy.
    pub fate: Fate,
    /// True for the last one with its tag: of a broadcast `Ended` or its drop at the sender, of any other packet the only one.
    pub last: bool,
}

impl Egress {
    /// A copy of a broadcast at a node that has received it, with its ECN bits and header. `tag` and `port` are set elsewhere.
    pub(crate) const fn copy(
        at: Time,
        node: NodeIx,
        (ecn, header): (Ecn, Option<Header>),
        fate: Fate,
    ) -> Self {
        Self { at, tag: 0, node, port: None, ecn, echo: false, header, fate, last: false }
    }
}

/// A packet from outside that has not ended.
#[derive(Debug)]
struct Foreign {
    tag: u64,
    /// The port at which it has entered.
    port: Option<PortIx>,
    /// The port by which it was received.
    received_by: Option<PortIx>,
    bytes: Option<PacketBytes>,
}

/// State of the packets from outside.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Packets that will enter, by number.
    coming: BTreeMap<u32, (Time, Injection)>,
    /// Those of them that arrive at the node where they enter, by time.
    local: BTreeSet<(Time, u32)>,
    next: u32,
    /// Packets inside, and free places.
    inside: Vec<Option<Foreign>>,
    free: Vec<ForeignIx>,
    entered: u64,
    arrived: u64,
    outputs: Vec<Egress>,
}

impl Outside {
    /// Registers a packet that will enter. Returns its number.
    pub fn add(&mut self, packet: Injection, at: Time) -> u32 {
        // A number is in use for as long as its packet is on its way here: not for 2^32 others.
        let number = self.next;
        self.next = number.wrapping_add(1);
        if packet.at == Ingress::Node(packet.ends[1]) {
            self.local.insert((at, number));
        }
        self.coming.insert(number, (at, packet));
        number
    }

    /// Removes a packet that enters now, by its number, and gives it a place inside.
    pub fn enter(&mut self, number: u32) -> Option<(ForeignIx, Injection)> {
        let (at, mut packet) = self.coming.remove(&number)?;
        self.local.remove(&(at, number));
        let port = if let Ingress::Port(port, _) = packet.at { Some(port) } else { None };
        self.entered += u64::from(!matches!(packet.at, Ingress::Port(_, None)));
        let foreign = Foreign { tag: packet.tag, port, received_by: None, bytes: packet.bytes.take() };
        let at = self.free.pop().unwrap_or_else(|| {
            self.inside.push(None);
            ForeignIx(self.inside.len() as u32 - 1)
        });
        self.inside[at.ix()] = Some(foreign);
        Some((at, packet))
    }

    /// The earliest time at which a packet enters at the node that it is for, and arrives at once.
    pub fn next_local(&self) -> Option<Time> {
        self.local.first().map(|&(at, _)| at)
    }

    fn get(&self, at: ForeignIx) -> Option<&Foreign> {
        self.inside.get(at.ix())?.as_ref()
    }

    /// The port at which a packet has entered; none if it entered at a node.
    pub fn port(&self, at: ForeignIx) -> Option<PortIx> {
        self.get(at)?.port
    }

    /// Notes the port by which a packet was received.
    pub fn receive(&mut self, at: ForeignIx, port: PortIx) {
        let foreign = self.inside.get_mut(at.ix()).and_then(Option::as_mut);
        foreign.into_iter().for_each(|foreign| foreign.received_by = Some(port));
    }

    /// The port by which a packet that entered at a port was received.
    pub fn received_by(&self, at: ForeignIx) -> Option<PortIx> {
        self.get(at)?.received_by
    }

    /// The bytes of a packet that has not ended.
    pub fn bytes(&self, at: ForeignIx) -> Option<&PacketBytes> {
        self.get(at)?.bytes.as_ref()
    }

    /// A copy leaves; with the last one the packet ends. `tag` is set here.
    pub fn leave(&mut self, at: ForeignIx, egress: Egress) {
        let Some(foreign) = self.inside.get_mut(at.ix()) else { return };
        let Some(tag) = foreign.as_ref().map(|foreign| foreign.tag) else { return };
        self.arrived += u64::from(egress.last && egress.fate == Fate::Arrived);
        self.outputs.push(Egress { tag, ..egress });
        if egress.last {
            *foreign = None;
            self.free.push(at);
        }
    }

    /// Numbers of packets that have entered and that have arrived, broadcasts left out.
    pub fn counts(&self) -> (u64, u64) {
        (self.entered, self.arrived)
    }

    /// Copies that have left since the last call.
    pub fn take_outputs(&mut self) -> Vec<Egress> {
        std::mem::take(&mut self.outputs)
    }
}
