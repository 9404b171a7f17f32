//! A hop: an output interface that rewrites the scheme's header of packets that pass.

use airfair_units::{Rate, Span};

use super::{Context, Header, Packet, QueueView};

/// The link behind an output interface.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Its capacity, if it was configured; a radio's must be measured.
    pub capacity: Option<Rate>,
    /// Its queue.
    pub queue: QueueView,
    /// Smallest number of packets that waited since the last interval's end.
    pub least_packets: u32,
    /// Dropped since then.
    pub drops: u32,
}

/// Router code of explicit-rate schemes. Per packet: integers and bounded state only.
pub trait Hop: Send {
    /// A packet passes towards the link; both directions of a shared channel pass the same hop.
    fn on_packet(&mut self, packet: &Packet, header: &mut Header, link: &Link, context: &mut Context<'_>);

    /// A control interval ends. Returns the length of the next one.
    fn on_interval(&mut self, link: &Link, context: &mut Context<'_>) -> Span;
}
