//! The ends of flows at their nodes: applications, sources and receivers over UDP, TCP connections, and room in the node's queues.
//!
//! | file | contents |
//! |---|---|
//! | `sources` | starts and stops of flows, packets of their sources, and flows over UDP that a scheme controls |
//! | `room` | room in a node's queues for its own sources |
//! | `connections` | TCP connections: their segments and timers |
//! | `flow` | a flow and its counters |
//! | `tcp/` | senders and receivers over TCP |
//! | `udp` | sources and receivers of flows over UDP that a scheme controls |
//! | `laws` | the sources of a run's flows |
//! | `backpressure` | packets of a node's own sources in its queues, and sources that wait |

pub(crate) mod backpressure;
mod connections;
pub(crate) mod flow;
pub(crate) mod laws;
mod room;
mod sources;
pub(crate) mod tcp;
pub(crate) mod udp;

use airfair_units::Span;

use crate::ids::{FlowIx, Table};
use backpressure::Backpressure;
use flow::Flow;
use tcp::Tcp;
use udp::Udp;

/// Time after which a saturating source offers a packet again if its last one was dropped: about a packet of 1500 B at 11 Mbit/s.
const RETRY_AFTER: Span = Span::from_millis(1);

/// The ends of all flows. They send and receive by the data plane, which the functions here borrow.
#[derive(Default)]
pub(crate) struct Endpoints {
    pub flows: Table<FlowIx, Flow>,
    pub tcp: Tcp,
    pub udp: Udp,
    /// Packets of a node's own sources in its queues, and sources that wait.
    pub backpressure: Backpressure,
}
