//! Parts of nodes above the MAC. Each part owns its fields, takes and returns values, and adds later events to the [`Schedule`]. Parts
//! borrow each other to read; two calls also update a cache of the other part (`Interfaces::is_full` the timetable of a wire, `Tcp::open`
//! the list of header kinds). The folder `world` carries packets and results between them.
//!
//! | file | contents |
//! |---|---|
//! | `interfaces` | ports: queues, AQMs and hops of schemes |
//! | `arp` | addresses of neighbours |
//! | `backpressure` | packets of a node's own sources in its queues, and sources that wait |
//! | `flow` | flows and their counters |
//! | `tcp/` | connections |
//! | `udp` | sources and receivers of flows over UDP that a scheme controls |
//! | `laws` | the sources of a run's flows |
//! | `messages` | messages of schemes in transit |
//! | `passing` | flows that pass a node |
//! | `attempts` | frames of finished packets |
//! | `packet_losses` | losses above the MAC |
//! | `outside` | packets that callers inject |
//! | `accounts` | drops and marks, by reason |
//! | `differentials` | differences between queues and those of next hops |

pub mod accounts;
pub(crate) mod arp;
pub(crate) mod attempts;
pub(crate) mod backpressure;
pub(crate) mod differentials;
pub(crate) mod flow;
pub(crate) mod interfaces;
pub(crate) mod laws;
pub(crate) mod messages;
pub mod outside;
pub(crate) mod packet_losses;
pub(crate) mod passing;
pub(crate) mod tcp;
pub(crate) mod udp;

use airfair_host::Hosts;
use airfair_units::Time;

use crate::event::Schedule;
use crate::ids::{FlowIx, Table};
use crate::link::Links;
use crate::packet::Packets;
use crate::record::Records;
use crate::route::Routes;
use crate::spec::HeaderSpec;
use accounts::Accounts;
use arp::Arp;
use attempts::Attempts;
use backpressure::Backpressure;
use differentials::Differentials;
use flow::Flow;
use interfaces::Interfaces;
use messages::Messages;
use outside::Outside;
use packet_losses::PacketLosses;
use passing::Passing;
use tcp::Tcp;
use udp::Udp;

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
    /// True if the run's scheme fills no place in this network.
    pub scheme_is_idle: bool,
    /// True if a queue reads and writes headers.
    pub queues_label: bool,
    /// True if a queue or an agent learns of headers that its station receives or overhears.
    pub headers_heard: bool,
    /// True if an agent does.
    pub agents_hear: bool,
    /// True if a queue follows changes of routes.
    pub queues_follow_routes: bool,
}

/// The parts above the MAC. Packets are carried between them in `world/way.rs` (from hop to hop), `world/sources.rs` (flows and
/// connections), `world/control.rs` (packets of ARP, agents and routing) and `world/forwarding.rs` (broadcasts of forwarders).
pub(crate) struct Network {
    pub rules: RunRules,
    pub interfaces: Interfaces,
    pub arp: Arp,
    pub links: Links,
    pub routes: Routes,
    pub packets: Packets,
    pub flows: Table<FlowIx, Flow>,
    pub tcp: Tcp,
    pub udp: Udp,
    pub backpressure: Backpressure,
    /// State of schemes beside the way of packets.
    pub hosts: Hosts<Self>,
    pub messages: Messages,
    pub passing: Passing,
    pub attempts: Attempts,
    pub packet_losses: PacketLosses,
    pub outside: Outside,
    pub accounts: Accounts,
    pub differentials: Differentials,
    /// True after the warm-up.
    pub measuring: bool,
    /// Records of events above the air, if an observer reads records.
    pub records: Records,
    /// Work left to the end of the present event.
    pub schedule: Schedule,
}
