//! The ends of flows at their nodes: applications, sources and receivers over UDP, TCP connections, and room in the node's queues.
//!
//! | file | contents |
//! |---|---|
//! | `flows` | flows, and those over UDP that a scheme controls |
//! | `room` | room in a node's queues for its own sources |
//! | `connections` | TCP connections: their segments and timers |

mod connections;
mod flows;
mod room;

use std::collections::VecDeque;

use airfair_units::Span;

use super::backpressure::Backpressure;
use super::flow::Flow;
use super::tcp::Tcp;
use super::udp::Udp;
use crate::ids::{FlowIx, Table};

/// Time after which a saturating source offers a packet again if its last one was dropped: about a packet of 1500 B at 11 Mbit/s.
const OFFER_AGAIN: Span = Span::from_millis(1);

/// The ends of all flows. They send and receive by the data plane, which the functions here borrow.
#[derive(Default)]
pub(crate) struct Endpoints {
    pub flows: Table<FlowIx, Flow>,
    pub tcp: Tcp,
    pub udp: Udp,
    /// Packets of a node's own sources in its queues, and sources that wait.
    pub backpressure: Backpressure,
    /// Flows with a packet that their forwarders have not been offered.
    pub offered: VecDeque<FlowIx>,
}
