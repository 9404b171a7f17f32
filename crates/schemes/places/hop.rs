//! A hop: code at an output interface that rewrites the scheme's header of packets that pass.

use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::{FlowId, Header, HeaderKind, HopContext, NodeId, PacketClass, Setting, Timer};

/// The backlog of an interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets that wait; the packet in transmission is not counted.
    pub packets: u32,
    /// Their bytes as the link carries them.
    pub bytes: u64,
}

/// A packet that reaches an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The packet's size on the link: with the framing of a wire, without the MAC header of a radio.
    pub bytes: u32,
    /// The packet's flow.
    pub flow: FlowId,
    /// The next hop; of a packet that was received, this node.
    pub next_hop: NodeId,
    /// The class of the packet.
    pub class: PacketClass,
    /// The backlog of the interface without the packet.
    pub backlog: Backlog,
}

/// A packet that the link has finished, with or without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// The packet's size on the link, as in [`Passage::bytes`].
    pub bytes: u32,
    /// The packet's flow.
    pub flow: FlowId,
    /// The next hop.
    pub next_hop: NodeId,
    /// The class of the packet.
    pub class: PacketClass,
    /// The next hop's MAC has acknowledged the packet.
    pub acknowledged: bool,
    /// The time from its arrival at the queue until it was the MAC's first.
    pub waited: Span,
    /// The time that the packet spent as the MAC's first: contention, attempts, acknowledgement.
    pub access: Span,
}

/// Router code of explicit-rate schemes, one at an output interface. Per packet: integers and bounded state only.
///
/// The backlog falls only between arrivals: its least value over a time is the least of the backlogs at the arrivals and at the
/// end.
pub trait Hop: Send {
    /// The header that the hop reads and writes; it sees packets with another header, or none, as packets without one.
    fn header(&self) -> &'static HeaderKind;

    /// The run starts: timers may be set.
    fn on_start(&mut self, context: &mut HopContext<'_>);

    /// A packet arrives, before the queue accepts or refuses it; `on_drop` reports drops. Sets no timers.
    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time);

    /// False while the hop leaves the control of flows to others: the packets that pass then count its interface as one without support,
    /// and senders follow TCP's law.
    fn supports(&self) -> bool {
        true
    }

    /// True if a radio with access categories (EDCA) has one queue for all of them, whose state the hop writes into headers; false if each
    /// category has a queue with a hop of its own. Settings reach the hops of all categories.
    fn wants_one_queue(&self) -> bool {
        true
    }

    /// A packet leaves the queue towards the link. Called only if [`Capability::Departures`](super::Capability::Departures).
    fn on_departure(&mut self, _passage: &Passage, _header: Option<&mut Header>, _now: Time) {}

    /// A packet of `bytes` was dropped at the interface, by a full queue or an AQM.
    fn on_drop(&mut self, _bytes: u32) {}

    /// A packet for this node, to keep or to pass on, was received through this interface, so that a hop can count both directions of a
    /// shared channel. Called only if [`Capability::Received`](super::Capability::Received).
    fn on_receive(&mut self, _passage: &Passage, _header: Option<&mut Header>, _now: Time) {}

    /// The link has finished a packet of a flow; reports that precede the queue are among them, which did not arrive at the hop. Called
    /// only if [`Capability::AccessTimes`](super::Capability::AccessTimes).
    fn on_finished(&mut self, _finished: &Finished, _now: Time) {}

    /// Applies a setting that the interface's agent has requested.
    fn apply(&mut self, _setting: Setting, _now: Time) {}

    /// The rate at which a flow's source sends, as the header of its last packet states it. `None`: the hop does not know. Asked once a
    /// sample of the interface's agent, if flows are [wanted](super::Capability::Links).
    fn stated_rate(&self, _flow: FlowId) -> Option<Rate> {
        None
    }

    /// The rate that the hop would stamp now into a packet of a flow whose packets have this size and carry its header, for explanations.
    /// `None`: it stamps none.
    fn stamped_rate(&self, _flow: FlowId, _packet_bytes: u32) -> Option<Rate> {
        None
    }

    /// The rate of the wire behind the interface has changed.
    fn on_rate(&mut self, _rate: Rate) {}

    /// A timer fired: the end of a control interval.
    fn on_timer(&mut self, timer: Timer, backlog: Backlog, context: &mut HopContext<'_>);

    /// Inner values for time series, by name.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
