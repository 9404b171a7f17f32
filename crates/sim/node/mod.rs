//! What nodes have above the MAC, part by part. A part owns its fields; it takes values and returns values, and puts what is to happen
//! later into the [`Schedule`]. Parts do not know one another: the folder `world` carries packets and answers between them.
//!
//! | file | contents |
//! |---|---|
//! | `interfaces` | ports: queues with what schemes put there |
//! | `arp` | addresses of neighbours |
//! | `backpressure` | what a node's own sources may have waiting, and who of them waits |
//! | `flow` | flows and what is counted of them |
//! | `tcp/` | connections and window laws |
//! | `agents` | schemes' agents and their messages |
//! | `meters` | how long radio links take |
//! | `packet_losses` | losses above the MAC |
//! | `outside` | packets that callers inject |
//! | `accounts` | drops and marks, by reason |
//! | `scheme_ids` | the numbers by which schemes know nodes and flows |

pub mod accounts;
pub(crate) mod agents;
pub(crate) mod arp;
pub(crate) mod backpressure;
pub(crate) mod flow;
pub(crate) mod interfaces;
pub(crate) mod meters;
pub mod outside;
pub(crate) mod packet_losses;
pub(crate) mod scheme_ids;
pub(crate) mod tcp;

use airfair_units::Time;

use crate::event::Schedule;
use crate::ids::{FlowIx, NodeIx, Table, WireIx};
use crate::link::Links;
use crate::packet::Packets;
use crate::record::Records;
use crate::route::Routes;
use crate::spec::HeaderSpec;
use accounts::Accounts;
use agents::Agents;
use arp::Arp;
use backpressure::Backpressure;
use flow::Flow;
use interfaces::Interfaces;
use meters::Meters;
use outside::Outside;
use packet_losses::PacketLosses;
use tcp::Tcp;

/// What all that happens above the MAC has in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub headers: HeaderSpec,
    /// Most hops of a packet.
    pub hop_limit: u16,
    /// When the warm-up ends, and the run.
    pub warmup: Time,
    pub end: Time,
    /// Hops of explicit-rate schemes stand at wires.
    pub hops_at_wires: bool,
    /// Some AQM asks for received packets, they are counted, they may be lost, or routing wants to know where they came from.
    pub looks_at_received: bool,
    /// The run's scheme fills no place in this network.
    pub acts_nowhere: bool,
}

/// The parts above the MAC. Packets are carried between them in `world/way.rs` (from hop to hop), `world/sources.rs` (flows and
/// connections) and `world/control.rs` (packets of ARP, agents and routing).
pub(crate) struct Network {
    pub rules: Rules,
    pub interfaces: Interfaces,
    pub arp: Arp,
    pub links: Links,
    /// Where the last packet of each wire has gone on by another wire: the destination and that wire. Routes do not change.
    pub onward: Table<WireIx, Option<(NodeIx, WireIx)>>,
    pub routes: Routes,
    pub packets: Packets,
    pub flows: Table<FlowIx, Flow>,
    pub tcp: Tcp,
    pub backpressure: Backpressure,
    pub agents: Agents,
    pub meters: Meters,
    pub packet_losses: PacketLosses,
    pub outside: Outside,
    pub accounts: Accounts,
    /// The warm-up is over.
    pub measuring: bool,
    /// What has happened above the air, if somebody observes it.
    pub records: Records,
    /// What is left to do when the present event is done.
    pub schedule: Schedule,
}
