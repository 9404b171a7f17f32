//! The data plane of all nodes: queues and wires, routes, packets and their ends. The air is beside it, the ends of flows and the hosts of
//! schemes are above.
//!
//! | file | contents |
//! |---|---|
//! | `forwarding` | the next hop of a packet: by a route, a routing protocol, a wire |
//! | `queueing` | queues of ports, and what precedes them: addresses, control packets |
//! | `ends` | the ends of packets other than delivery |
//! | `interfaces` | ports: queues, AQMs and hops of schemes |
//! | `arp` | addresses of neighbours |
//! | `messages` | messages of schemes in transit |
//! | `outside` | packets that callers inject |
//! | `accounts` | drops and marks, by reason |
//! | `differentials` | differences between queues and those of next hops |
//!
//! Parts above learn by values what a call has done to the packets of flows ([`PlaneNews`]): they take these before they continue, at the
//! end of the event at the latest.

pub mod accounts;
pub(crate) mod arp;
pub(crate) mod differentials;
mod ends;
mod forwarding;
pub(crate) mod interfaces;
pub(crate) mod messages;
pub mod outside;
mod queueing;

use std::collections::VecDeque;

use airfair_host::{EndedMessage, HeaderKinds, MessageSender, Meters};
use airfair_schemes::places::Packet as QueuedPacket;
use airfair_units::Time;

use crate::event::Schedule;
use crate::ids::{CopyRef, FlowIx, NodeIx, PacketRef, PortIx, StationIx};
use crate::link::Links;
use crate::packet::{Packet, PacketCopy, Packets};
use crate::record::Records;
use crate::route::Routes;
use crate::spec::HeaderSpec;
use accounts::Accounts;
use arp::Arp;
use differentials::Differentials;
use interfaces::Interfaces;
use messages::Messages;
use outside::Outside;

/// Where a scheme that fills no place in a network would fill one; each true for a kind of interface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleScheme {
    pub radio: bool,
    pub access_point: bool,
    pub wire: bool,
}

/// Settings of a run that all parts above the MAC share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunRules {
    pub headers: HeaderSpec,
    /// Hop limit of packets.
    pub hop_limit: u16,
    /// Ends of the warm-up and of the run.
    pub warmup: Time,
    pub end: Time,
    /// True if wires have hops of explicit-rate schemes.
    pub hops_at_wires: bool,
    /// True if received packets are processed: an AQM handles them, a meter counts them, they may be lost, or routing needs their senders.
    pub processes_received: bool,
    /// True if packets that radios have finished are counted.
    pub counts_finished: bool,
    /// The kinds of interface at which the run's scheme would act, if it fills no place in this network.
    pub idle_scheme: Option<IdleScheme>,
    /// True if a queue reads and writes headers.
    pub queues_label: bool,
    /// True if packets of a queue may have to wait although the link is free.
    pub queues_wait: bool,
    /// True if a queue or an agent learns of headers that its station receives or overhears.
    pub headers_heard: bool,
    /// True if an agent does.
    pub agents_hear: bool,
    /// True if a queue follows changes of routes.
    pub queues_follow_routes: bool,
}

/// A consequence of a call for packets of flows or their sources.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PlaneNews {
    /// A packet of a flow was dropped, as this copy.
    Lost { packet: Packet, copy: PacketCopy },
    /// An acknowledgement on its way is to carry ECN-Echo, for this reason.
    Echo { packet: PacketRef, reason: &'static str },
}

/// A packet that has arrived at its destination.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub(crate) struct Arrival {
    pub node: NodeIx,
    pub copy: CopyRef,
}

/// A packet that has left a port's queue for the link.
pub(crate) struct DequeuedPacket {
    pub copy: CopyRef,
    pub queued: QueuedPacket,
    pub payload: u32,
    pub leaves: Leaves,
}

/// The local source whose packet has left its node's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// None: the packet has come from another node, or is an acknowledgement.
    Nothing,
    /// A flow over UDP.
    Udp(FlowIx),
    /// A sender over TCP.
    Tcp,
}

/// The way of packets, from the queue of their source's node to the ends of links.
pub(crate) struct DataPlane {
    pub rules: RunRules,
    pub interfaces: Interfaces,
    pub arp: Arp,
    pub links: Links,
    pub routes: Routes,
    pub packets: Packets,
    /// Headers of the schemes at ports and in flows.
    pub headers: HeaderKinds,
    /// Messages of schemes in transit.
    pub messages: Messages,
    pub outside: Outside,
    pub accounts: Accounts,
    pub differentials: Differentials,
    /// Meters of radio links.
    pub meters: Meters<StationIx>,
    /// Records of events above the air, if an observer reads records.
    pub records: Records,
    /// Work left to the end of the present event.
    pub schedule: Schedule,
    /// For the ends of flows.
    pub news: VecDeque<PlaneNews>,
    /// Ports at which there may be room for sources, as packets that waited for a route or an address have ended.
    pub rooms: VecDeque<PortIx>,
    /// True if there are news, ports with room, or ended messages, which are settled at the end of the present event at the latest.
    pub unsettled: bool,
    /// Messages that have ended, for the agents and controllers that have sent them.
    pub ended_messages: Vec<(MessageSender<StationIx>, EndedMessage)>,
}
