//! Parts of nodes above the MAC. Each part owns its fields, takes and returns values, and adds later events to the
//! [`Schedule`](crate::event::Schedule). Two of them are made of others: the data plane, and the ends of flows, which borrow the data plane
//! to send. The folder `world` carries results between them, the air and the hosts of schemes.
//!
//! | file | contents |
//! |---|---|
//! | `plane/` | the data plane: forwarding, queueing, ends of packets |
//! | `endpoints/` | the ends of flows: applications, sources, connections |
//! | `passing` | flows that pass a node |
//! | `attempts` | frames of finished packets |
//! | `packet_losses` | losses above the MAC |

pub(crate) mod attempts;
pub(crate) mod endpoints;
pub(crate) mod packet_losses;
pub(crate) mod passing;
pub mod plane;

use airfair_host::Hosts;

use attempts::{Attempts, LinkCounts};
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
    /// Counters of links; none if nobody has asked for them.
    pub link_counts: Option<LinkCounts>,
    pub packet_losses: PacketLosses,
    /// True after the warm-up.
    pub measuring: bool,
}
