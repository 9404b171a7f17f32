//! The interface between a routing protocol and its host.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;

use airfair_units::random::Stream;
use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;

/// A protocol with its parameters, equal for all nodes.
pub trait Protocol: Any + Debug + Send + Sync {
    /// Name of the protocol.
    fn name(&self) -> &'static str;

    /// Source and destination UDP port of its messages.
    fn udp_port(&self) -> u16;

    /// Names of its kinds of messages, indexed by [`Effect::Send::kinds`]; the host counts each kind per interface.
    fn kinds(&self) -> &'static [&'static str];

    /// Name of the messages in a datagram, as traces and tables show it; `to_all`: it is broadcast.
    fn content(&self, datagram: &[u8], to_all: bool) -> &'static str;

    /// True if every node maintains routes to all others at all times; false if routes are found on demand. Only with such routes does a
    /// host measure how often they are lost.
    fn is_proactive(&self) -> bool {
        false
    }

    /// Most entries of a node's table of the other nodes. None of a protocol that has no such table: OLSR's tables hold pairs of nodes.
    fn table_limit(&self) -> Option<u32> {
        None
    }

    /// Size of the table that each node broadcasts by itself in a network of this many nodes, when it has routes to all of them. None of a
    /// protocol whose nodes send no tables.
    fn table_size(&self, _nodes: u64) -> Option<TableSize> {
        None
    }

    /// Creates the state machine of one node.
    fn state_machine(&self, node: &NodeSetup) -> Box<dyn Routing>;

    /// True if another value is the same protocol with the same parameters.
    fn same_as(&self, other: &dyn Protocol) -> bool;
}

/// A table that a node broadcasts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSize {
    /// Bytes of its IP packets.
    pub bytes: u64,
    /// Longest time between two.
    pub every: Span,
}

/// Parameters that define a protocol, whose hosts know them as [`Protocol`].
pub(crate) trait Definition: Any + Debug + PartialEq + Send + Sync {
    /// Name of the protocol.
    const NAME: &'static str;
    /// Source and destination UDP port of its messages.
    const UDP_PORT: u16;
    /// Names of its kinds of messages.
    const KINDS: &'static [&'static str];
    /// True if every node maintains routes to all others at all times.
    const IS_PROACTIVE: bool;

    /// Most entries of a node's table.
    fn table_limit(&self) -> Option<u32> {
        None
    }

    /// Size of the table that each node broadcasts by itself.
    fn table_size(&self, _nodes: u64) -> Option<TableSize> {
        None
    }

    /// Name of the messages in a datagram.
    fn content(datagram: &[u8], to_all: bool) -> &'static str;

    /// Creates the state machine of one node.
    fn node(&self, node: &NodeSetup) -> Box<dyn Routing>;
}

impl<T: Definition> Protocol for T {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn udp_port(&self) -> u16 {
        Self::UDP_PORT
    }

    fn kinds(&self) -> &'static [&'static str] {
        Self::KINDS
    }

    fn content(&self, datagram: &[u8], to_all: bool) -> &'static str {
        Self::content(datagram, to_all)
    }

    fn is_proactive(&self) -> bool {
        Self::IS_PROACTIVE
    }

    fn table_limit(&self) -> Option<u32> {
        Definition::table_limit(self)
    }

    fn table_size(&self, nodes: u64) -> Option<TableSize> {
        Definition::table_size(self, nodes)
    }

    fn state_machine(&self, node: &NodeSetup) -> Box<dyn Routing> {
        self.node(node)
    }

    fn same_as(&self, other: &dyn Protocol) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}

impl PartialEq for dyn Protocol {
    fn eq(&self, other: &Self) -> bool {
        self.same_as(other)
    }
}
impl Eq for dyn Protocol {}

/// The node of a state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeSetup {
    /// Address of the node, which all its interfaces share.
    pub address: Ipv4Addr,
    /// Number of its interfaces, radios and wires; they are numbered from 0.
    pub interfaces: u32,
    /// Number of the first interface that is a wire, where the network has wires: those before it are radios.
    pub wires_from: Option<u32>,
}

/// A routing protocol at one node. Packets are numbers of the host; each number for which [`Routing::originate`] or [`Routing::relay`] has
/// returned no next hop is returned once, in an [`Effect::Forward`] or an [`Effect::Drop`].
pub trait Routing: Send {
    /// Next hop of a packet that this node has made. Without one the packet waits for a route, or an effect drops it.
    fn originate(&mut self, packet: u64, destination: Ipv4Addr, cx: &mut Context<'_>) -> Option<Adjacency>;

    /// Next hop of a packet to forward; `ends`: its source and destination, `from`: the neighbour that sent it; otherwise as
    /// [`Routing::originate`].
    fn relay(
        &mut self,
        packet: u64,
        ends: [Ipv4Addr; 2],
        from: Adjacency,
        cx: &mut Context<'_>,
    ) -> Option<Adjacency>;

    /// Handles a message of another node: the payload of a UDP datagram, which may be any bytes.
    fn on_message(&mut self, bytes: &[u8], received: Received, cx: &mut Context<'_>);

    /// Handles a packet or message that the link layer could not deliver to a neighbour. Links without acknowledgements report no failures.
    fn on_undelivered(&mut self, neighbour: Adjacency, what: Undelivered<'_>, cx: &mut Context<'_>);

    /// Handles the passage of time: called at [`Routing::deadline`]; a call at any other time is allowed.
    fn on_timer(&mut self, cx: &mut Context<'_>);

    /// Latest time of the next call of [`Routing::on_timer`]; any other hook may change it.
    fn deadline(&self) -> Time;

    /// Next hop to a destination as known now. The query changes no state and prolongs no route.
    fn next_hop(&self, destination: Ipv4Addr, now: Time) -> Option<Adjacency>;

    /// State of the routing table, for a host that measures a proactive protocol ([`Protocol::is_proactive`]).
    fn table(&self) -> TableState {
        TableState::default()
    }

    /// Destinations whose next hop the last hook has changed, in no order and perhaps several times: which of them make
    /// [`TableState::revision`] differ. A protocol with no table to measure has none.
    fn moved(&self) -> &[Ipv4Addr] {
        &[]
    }

    /// The packets that wait for routes.
    fn waiting(&self) -> Vec<u64>;

    /// Counters of this node other than messages, by name; always the same in the same order.
    fn counters(&self) -> Vec<(&'static str, u64)>;

    /// Entries of messages and tables that the node has looked at so far: a measure of its work that depends on no clock and no machine. A
    /// search in an ordered table counts as one.
    fn work(&self) -> u64;
}

/// State of the table of a proactive protocol at one node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableState {
    /// A number that changes whenever [`Routing::next_hop`] of any destination changes.
    pub revision: u64,
    /// Number of routes lost so far: the destination had a next hop, and has none afterwards.
    pub lost: u64,
}

/// A neighbour, by one of a node's interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Adjacency {
    /// Address of the neighbour.
    pub neighbour: Ipv4Addr,
    /// Number of the node's own interface.
    pub interface: u32,
}

/// Context of a hook.
pub struct Context<'a> {
    /// Present time.
    pub now: Time,
    /// Random stream of this node's routing.
    pub random: &'a mut Stream,
    /// Effects for the host, to be carried out in order.
    pub out: &'a mut Vec<Effect>,
}

/// An action of the host that a protocol requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send a datagram with one or more messages.
    Send {
        /// The payload of a UDP datagram.
        bytes: Vec<u8>,
        /// Kind of each message in it, for counters: indices into [`Protocol::kinds`].
        kinds: Vec<usize>,
        /// Receivers.
        to: To,
        /// Time to live in the IP header.
        ttl: u8,
        /// Rate on the air, if it is broadcast.
        rate: SendRate,
    },
    /// Forward, to this neighbour, a packet that has waited for a route.
    Forward {
        /// Number of the packet.
        packet: u64,
        /// The neighbour.
        hop: Adjacency,
    },
    /// Drop a packet.
    Drop {
        /// Number of the packet.
        packet: u64,
        /// Reason of the drop.
        reason: DropReason,
    },
    /// Drop the packets queued for a neighbour by now: the link to it is broken.
    DropQueued {
        /// The neighbour, and the interface of the link.
        hop: Adjacency,
    },
}

/// Receivers of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// All neighbours, by every interface.
    All,
    /// All neighbours behind one interface, by its number.
    Interface(u32),
    /// One neighbour.
    Neighbour(Adjacency),
}

/// Rate of a broadcast on the air.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SendRate {
    /// The radio's rate for broadcasts.
    #[default]
    Broadcast,
    /// The radio's rate for data.
    Data,
}

/// Reason of a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// No route was found, or there is none and the packet is not the node's own.
    NoRoute,
    /// Too many packets wait for routes: another one takes its place.
    BufferFull,
    /// The packet has waited too long for a route.
    BufferTime,
}

/// Reception of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// The neighbour that sent it, and the receiving interface.
    pub from: Adjacency,
    /// Time to live in the IP header.
    pub ttl: u8,
    /// True if it was broadcast.
    pub to_all: bool,
}

/// A transmission that the link layer has given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undelivered<'a> {
    /// A data packet, with source and destination, if known.
    Data(Option<[Ipv4Addr; 2]>),
    /// A message of the protocol.
    Message(&'a [u8]),
}
