//! The interface between a routing protocol and its host.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;

use airfair_units::Time;
use airfair_units::random::Stream;
use airfair_wire::Ipv4Addr;

/// A protocol with its parameters, the same for all nodes.
pub trait Protocol: Any + Debug + Send + Sync {
    /// The protocol's name, as people write it.
    fn name(&self) -> &'static str;

    /// The UDP port that its messages come from and go to.
    fn udp_port(&self) -> u16;

    /// Names of its kinds of messages, by [`Effect::Send::kind`]: as many counters has each interface.
    fn kinds(&self) -> &'static [&'static str];

    /// The state machine of one node.
    fn at(&self, address: Ipv4Addr) -> Box<dyn Routing>;

    /// Whether another value is the same protocol with the same parameters.
    fn same_as(&self, other: &dyn Protocol) -> bool;
}

impl PartialEq for dyn Protocol {
    fn eq(&self, other: &Self) -> bool {
        self.same_as(other)
    }
}
impl Eq for dyn Protocol {}

/// A routing protocol at one node. Packets are numbers of the host; each number that [`Routing::originate`] or [`Routing::relay`] was
/// given without returning a next hop comes back once, in an [`Effect::Forward`] or an [`Effect::Drop`].
pub trait Routing: Send {
    /// The next hop of a packet that this node has made. Without one the packet waits for a route, or an effect drops it.
    fn originate(&mut self, packet: u64, destination: Ipv4Addr, cx: &mut Context<'_>) -> Option<Hop>;

    /// The same for a packet from a source to a destination that came from a neighbour.
    fn relay(&mut self, packet: u64, ends: [Ipv4Addr; 2], from: Hop, cx: &mut Context<'_>) -> Option<Hop>;

    /// A message of another node has arrived: the payload of a UDP datagram, which may be anything.
    fn on_message(&mut self, bytes: &[u8], received: Received, cx: &mut Context<'_>);

    /// The link layer has given up a packet or a message for a neighbour. On a link that has no acknowledgements it never does.
    fn on_undelivered(&mut self, neighbour: Hop, what: Undelivered<'_>, cx: &mut Context<'_>);

    /// Time has passed: called at [`Routing::deadline`]. A call at any other moment is allowed.
    fn on_timer(&mut self, cx: &mut Context<'_>);

    /// When [`Routing::on_timer`] is to be called at the latest; any other hook may change it.
    fn deadline(&self) -> Time;

    /// The next hop to a destination as it is known now. The question leaves no trace: no route lives on by it.
    fn next_hop(&self, destination: Ipv4Addr, now: Time) -> Option<Hop>;

    /// How many packets wait for routes.
    fn waiting(&self) -> usize;

    /// Counters of this node beside its messages, by name, always the same ones in the same order.
    fn counters(&self) -> Vec<(&'static str, u64)>;
}

/// A neighbour, by one of a node's interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// Its address.
    pub neighbour: Ipv4Addr,
    /// The node's own interface, by its number.
    pub interface: u32,
}

/// What a hook sees beside its arguments.
pub struct Context<'a> {
    /// The present.
    pub now: Time,
    /// Random numbers of this node's routing.
    pub random: &'a mut Stream,
    /// What is to be done, in this order.
    pub out: &'a mut Vec<Effect>,
}

/// What the host is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send a message: to one neighbour, or (`None`) to all, on every interface.
    Send {
        /// The payload of a UDP datagram.
        bytes: Vec<u8>,
        /// Its kind, for counters: a place in [`Protocol::kinds`].
        kind: usize,
        /// To whom.
        to: Option<Hop>,
        /// IP's time to live.
        ttl: u8,
    },
    /// A packet that waited for a route goes to this neighbour.
    Forward {
        /// The packet.
        packet: u64,
        /// The neighbour.
        hop: Hop,
    },
    /// A packet is given up.
    Drop {
        /// The packet.
        packet: u64,
        /// Why.
        reason: DropReason,
    },
    /// The link to a neighbour is gone: packets that queue for it by now are dropped.
    DropQueued {
        /// The neighbour, and the interface of the link.
        hop: Hop,
    },
}

/// Why a packet is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// No route was found, or none is there and the packet is not the node's own.
    NoRoute,
    /// Too many packets waited for routes: another one takes its place.
    BufferFull,
    /// It has waited too long for a route.
    BufferTime,
}

/// How a message came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// The neighbour that sent it, and by which interface it came.
    pub from: Hop,
    /// IP's time to live.
    pub ttl: u8,
    /// It was sent to all.
    pub to_all: bool,
}

/// What the link layer did not get across.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undelivered<'a> {
    /// A data packet, from one node to another, if that is known.
    Data(Option<[Ipv4Addr; 2]>),
    /// A message of the protocol.
    Message(&'a [u8]),
}
