//! Parts of nodes above the MAC. Each part owns its fields, takes and returns values, and adds later events to the
//! [`Schedule`](crate::event::Schedule). Two of them are made of others: the data plane, and the ends of flows, which borrow the data plane
//! to send. The folder `world` carries results between them, the air and the hosts of schemes.
//!
//! | file | contents |
//! |---|---|
//! | `plane/` | the data plane: forwarding, queueing, ends of packets |
//! | `interfaces` | its ports: queues, AQMs and hops of schemes |
//! | `arp` | addresses of neighbours |
//! | `messages` | messages of schemes in transit |
//! | `outside` | packets that callers inject |
//! | `accounts` | drops and marks, by reason |
//! | `differentials` | differences between queues and those of next hops |
//! | `endpoints/` | the ends of flows: applications, sources, connections |
//! | `flow` | flows and their counters |
//! | `tcp/` | connections |
//! | `udp` | sources and receivers of flows over UDP that a scheme controls |
//! | `laws` | the sources of a run's flows |
//! | `backpressure` | packets of a node's own sources in its queues, and sources that wait |
//! | `passing` | flows that pass a node |
//! | `attempts` | frames of finished packets |
//! | `packet_losses` | losses above the MAC |

pub mod accounts;
pub(crate) mod arp;
pub(crate) mod attempts;
pub(crate) mod backpressure;
pub(crate) mod differentials;
pub(crate) mod endpoints;
pub(crate) mod flow;
pub(crate) mod interfaces;
pub(crate) mod laws;
pub(crate) mod messages;
pub mod outside;
pub(crate) mod packet_losses;
pub(crate) mod passing;
pub(crate) mod plane;
pub(crate) mod tcp;
pub(crate) mod udp;

use airfair_host::Hosts;

use attempts::Attempts;
use endpoints::Endpoints;
use packet_losses::PacketLosses;
use passing::Passing;
use plane::DataPlane;

/// The parts above the MAC. The folder `world` carries out events: `radio.rs` fills the MACs and handles what they have finished,
/// `delivery.rs` takes packets at the ends of links, `host_events.rs` calls hosts of schemes, and `hosts.rs` is the network under them.
pub(crate) struct Network {
    pub plane: DataPlane,
    pub endpoints: Endpoints,
    /// State of schemes beside the way of packets.
    pub hosts: Hosts<Self>,
    pub passing: Passing,
    pub attempts: Attempts,
    pub packet_losses: PacketLosses,
    /// True after the warm-up.
    pub measuring: bool,
}
