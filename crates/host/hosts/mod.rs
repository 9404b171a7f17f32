//! The hosts of a network, and the network under them: a simulator's, an emulator's, that of a system.
//!
//! | file | contents |
//! |---|---|
//! | `agents` | agents at radios: samples, timers, messages, settings |
//! | `controllers` | controllers at nodes, and the messages that reach them |
//! | `forwarders` | agents that carry flows by broadcasts |
//! | `link_meters` | packets of radio links by next hop and by flow |
//! | `use_meters` | packets and delays of radio links |

pub mod agents;
pub mod controllers;
pub mod forwarders;
pub(crate) mod link_meters;
pub(crate) mod use_meters;

use alloc::vec::Vec;

use airfair_schemes::places::{FlowId, Holding, LinkSample, Message, NodeId, QueueView, Setting};
use airfair_units::{Rate, Time};

use crate::message_frames::MessageFrames;
use crate::seen::MessageId;
use crate::table::{ControllerIx, Ix, Table};
use agents::Agents;
use controllers::Controllers;
use forwarders::Forwarders;
use link_meters::LinkMeters;
use use_meters::UseMeters;

/// The part of a network that hosts need. A network owns the state of its hosts ([`Net::hosts`]) and calls the functions of
/// [`agents`], [`controllers`] and [`forwarders`] when something happens: a message arrives, an event of [`Net::schedule`] is due, a radio
/// may send. They call hooks of schemes and carry out the effects by these methods.
///
/// A network whose flows no forwarder carries needs none of the methods with a default.
pub trait Net: Sized {
    /// A radio interface, where an agent may be.
    type Radio: Ix + PartialEq;
    /// A node. A daemon's network has one.
    type Node: Ix + PartialEq;
    /// A flow that forwarders may carry.
    type Flow: Ix + PartialEq;
    /// A packet of such a flow, as the network holds it.
    type Packet: Copy + PartialEq;

    /// True if counters are right by themselves, since they are not a driver's but a simulator's: samples are not checked.
    const EXACT_COUNTERS: bool = false;

    /// The state of the hosts, which belongs to them alone.
    fn hosts(&mut self) -> &mut Hosts<Self>;

    /// The meters of its radios.
    fn meters(&mut self) -> &mut Meters<Self::Radio>;

    /// Number of a node for schemes.
    fn id(&self, node: Self::Node) -> NodeId;

    /// The node of a radio.
    fn node_of(&self, radio: Self::Radio) -> Self::Node;

    /// All radios of a node.
    fn radios(&self, node: Self::Node) -> Vec<Self::Radio>;

    /// Sends a message; to the sender's own node it takes no air and arrives a nanosecond later. False: its receiver does not exist.
    fn send(&mut self, message: Outgoing<Self::Radio, Self::Node>, now: Time) -> bool;

    /// Applies settings of an agent at its interface, in this order.
    fn apply(&mut self, radio: Self::Radio, settings: &[Setting], now: Time);

    /// Schedules a call of the function that the event names. `rank`: its place among events of equal time.
    fn schedule(&mut self, event: HostEvent<Self::Radio>, at: Time, rank: u32);

    /// The queue of a radio, and the number of flows that are being set up over its node.
    fn state(&self, radio: Self::Radio, now: Time) -> (QueueView, u32);

    /// Packets that wait in a radio's queue, by destination, ascending.
    fn backlogs(&self, radio: Self::Radio) -> Vec<(NodeId, u32)>;

    /// Calls `see` with the next hop of each packet of a flow that waits at a radio.
    fn waiting(&self, radio: Self::Radio, see: &mut dyn FnMut(NodeId));

    /// The rate at which a flow's source sends, if a hop at the radio knows.
    fn stated_rate(&self, radio: Self::Radio, flow: FlowId) -> Option<Rate>;

    /// Removes the first packet of a flow that waits for the forwarder of its source, which takes it now; with its size as an IP packet,
    /// bytes.
    fn take(&mut self, _flow: Self::Flow) -> Option<(Self::Packet, u32)> {
        None
    }

    /// A forwarder hands a packet up at its destination.
    fn deliver(&mut self, _node: Self::Node, _packet: Self::Packet, _now: Time) {}

    /// Sends by ordinary routing, to the flow's destination, a packet that a forwarder holds, with the number that the forwarder was given;
    /// the packet itself stays.
    fn route(&mut self, _from: Self::Node, _flow: Self::Flow, _packet: (Self::Packet, u32), _now: Time) {}

    /// A broadcast has brought a node something new of a batch.
    fn held(&mut self, _node: Self::Node, _flow: Self::Flow, _holding: Holding, _now: Time) {}

    /// A forwarder has something to send: the radio is to be filled.
    fn mark_ready(&mut self, _radio: Self::Radio) {}

    /// A forwarder has taken packets: there is room for sources that wait.
    fn resume_sources(&mut self, _radio: Self::Radio, _now: Time) {}
}

/// Meters of radio links. They stand on the way of packets, so whoever moves packets owns them ([`Net::meters`]).
pub struct Meters<R: Ix> {
    /// Packets by next hop and by flow, for agents that want them.
    pub links: LinkMeters<R>,
    /// Packets and delays, for agents and observers that want them.
    pub uses: UseMeters<R>,
}

impl<R: Ix> Default for Meters<R> {
    fn default() -> Self {
        Self { links: LinkMeters::default(), uses: UseMeters::default() }
    }
}

/// The state of all hosts of a network: what schemes have beside the packets' way.
pub struct Hosts<N: Net> {
    /// Agents at radios.
    pub agents: Agents<N>,
    /// Controllers at nodes.
    pub controllers: Controllers<N>,
    /// Agents that carry flows by broadcasts.
    pub forwarders: Forwarders<N>,
    /// Frames of schemes' messages by kind.
    pub frames: MessageFrames,
    /// The first node whose agent, and the first whose controller has sent a message to a node that does not exist: a mistake of the
    /// scheme.
    pub unknown_receiver: [Option<N::Node>; 2],
    /// Number of the last message of each node; nodes that have sent none may be missing.
    numbers: Table<N::Node, u64>,
}

impl<N: Net> Default for Hosts<N> {
    fn default() -> Self {
        Self {
            agents: Agents::default(),
            controllers: Controllers::default(),
            forwarders: Forwarders::default(),
            frames: MessageFrames::default(),
            unknown_receiver: [None; 2],
            numbers: Table::default(),
        }
    }
}

impl<N: Net> Hosts<N> {
    /// The messages of a node are numbered from this number on, if it is larger than the last one. A node that starts again begins above
    /// its earlier numbers, which others remember: with the nanoseconds of its clock, for example.
    pub fn number_from(&mut self, node: N::Node, first: u64) {
        let last = self.number(node);
        *last = (*last).max(first);
    }

    fn number(&mut self, node: N::Node) -> &mut u64 {
        while self.numbers.len() <= node.ix() {
            self.numbers.push(0);
        }
        &mut self.numbers[node]
    }
}

/// The agent or the controller that has sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageSender<R> {
    /// The agent of a radio.
    Agent(R),
    /// A controller.
    Controller(ControllerIx),
}

/// A message that leaves its node.
#[derive(Debug)]
pub struct Outgoing<R, T> {
    /// The message's name, by which its receivers know repeated ones.
    pub id: MessageId,
    /// The node that sends it.
    pub node: T,
    /// The agent or controller that sends it.
    pub sender: MessageSender<R>,
    /// Destination, bytes, and how it is sent.
    pub message: Message,
}

/// An event that hosts have scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostEvent<R> {
    /// The end of an interval of a radio's counters: [`agents::sample`].
    Sample(R),
    /// A timer of an agent, with its generation: [`agents::timer`].
    AgentTimer(R, u16, u32),
    /// A timer of a controller, with its generation: [`controllers::timer`].
    ControllerTimer(ControllerIx, u16, u32),
    /// A controller starts: [`controllers::start`].
    ControllerStart(ControllerIx),
    /// A controller stops: [`controllers::stop`].
    ControllerStop(ControllerIx),
}

/// Sends a message of an agent or a controller.
pub(crate) fn post<N: Net>(
    net: &mut N,
    (node, sender): (N::Node, MessageSender<N::Radio>),
    message: Message,
    now: Time,
) -> bool {
    let origin = net.id(node);
    let hosts = net.hosts();
    let number = hosts.number(node);
    *number += 1;
    let id = MessageId { origin, number: *number };
    let exists = net.send(Outgoing { id, node, sender, message }, now);
    if !exists {
        let place = usize::from(matches!(sender, MessageSender::Controller(_)));
        net.hosts().unknown_receiver[place].get_or_insert(node);
    }
    exists
}

/// The links of a radio in the order of their neighbours, with the packets that wait: `waiting` as [`Net::waiting`].
pub(crate) fn add_waiting<N: Net>(net: &N, radio: N::Radio, links: &mut Vec<LinkSample>) {
    net.waiting(radio, &mut |next_hop| {
        match links.binary_search_by_key(&next_hop, |link| link.neighbour) {
            Ok(at) => links[at].waiting = links[at].waiting.saturating_add(1),
            // Its queue has changed the packet's next hop.
            Err(at) => links.insert(at, LinkSample { waiting: 1, ..LinkSample::new(next_hop) }),
        }
    });
}
