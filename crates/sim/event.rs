//! Events: their kind, their owner and their order. An event has 32 bytes, is `Copy` and holds no pointer.

use airfair_units::random::{Purpose, Stream, name_hash};
use airfair_units::{Rate, Time};

use crate::ids::{
    ConnectionRef, ControllerIx, CopyRef, FlowIx, FrameIx, LinkRef, NodeIx, PortIx, StationIx, WireIx,
};

/// Kind of an event, with its owner. The event loop passes each variant to the part to which it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The last bit of a frame has left its sender.
    FrameEnd {
        /// Sending station.
        sender: StationIx,
        /// The frame that has ended at its sender.
        frame: FrameIx,
    },
    /// A frame reaches a band of distant hearers.
    BandStart {
        /// Sending station.
        sender: StationIx,
        /// The frame that reaches the band.
        frame: FrameIx,
        /// Index of the band in the list of all bands.
        band: u32,
    },
    /// A frame ends at a band of distant hearers.
    BandEnd {
        /// Sending station.
        sender: StationIx,
        /// The frame that ends at the band.
        frame: FrameIx,
        /// Index of the band.
        band: u32,
    },
    /// A response is due a SIFS after the frame that a station answers.
    Reply(StationIx),
    /// A CTS or ACK did not arrive in time.
    Timeout {
        /// The waiting station.
        station: StationIx,
        /// Generation of the time-out; events of earlier generations are ignored.
        generation: u32,
    },
    /// The back-off of a station ends, unless its end has moved.
    Access(StationIx),
    /// The position of a moving node is refreshed; the index is that among moving nodes.
    Move(u32),
    /// Measured gains change; the index is that among changes.
    GainChange(u32),
    /// A station's list of hearers is renewed.
    Renew(StationIx),
    /// A flow starts.
    FlowStart(FlowIx),
    /// The next packet of a flow's source is due.
    Source(FlowIx),
    /// A wire becomes free while packets wait, or a packet leaves a wire's own queue while sources wait.
    WireFree(WireIx),
    /// A packet arrives at the far end of a wire.
    WireArrival(WireIx),
    /// An ARP request was not answered.
    ArpRetry {
        /// The requesting port.
        port: PortIx,
        /// The node whose address was requested.
        target: NodeIx,
    },
    /// A broadcast packet, or a dropped message that others may still receive, ends.
    Release(CopyRef),
    /// A packet from outside is injected; the number is that of the injection.
    Inject(u32),
    /// The warm-up ends.
    Warmup,
    /// A flow over TCP stops.
    FlowStop(FlowIx),
    /// A file of a flow is to be sent.
    File(FlowIx),
    /// A deadline of a connection's sender.
    SenderTimer(ConnectionRef),
    /// A deadline of a connection's receiver.
    ReceiverTimer(ConnectionRef),
    /// A timer of a connection's window law.
    LawTimer {
        /// The connection.
        connection: ConnectionRef,
        /// Generation of the timer; events of earlier generations are ignored.
        generation: u32,
        /// The law's number for the timer.
        timer: u16,
    },
    /// The pacing of a flow over UDP allows its next packet, unless that time has moved.
    Paced(FlowIx),
    /// The deadline of the sender of a flow over the transport with a rate, unless that has moved.
    Repair(FlowIx),
    /// A timer of the source of a flow over UDP.
    UdpSourceTimer {
        /// The flow.
        flow: FlowIx,
        /// Generation of the timer; events of earlier generations are ignored.
        generation: u32,
        /// The source's number for the timer.
        timer: u16,
    },
    /// A timer of the receiver of a flow over UDP.
    UdpReceiverTimer {
        /// The flow.
        flow: FlowIx,
        /// Generation of the timer; events of earlier generations are ignored.
        generation: u32,
        /// The receiver's number for the timer.
        timer: u16,
    },
    /// A timer of an agent.
    AgentTimer {
        /// Station of the agent.
        station: StationIx,
        /// Generation of the timer; events of earlier generations are ignored.
        generation: u32,
        /// The agent's number for the timer.
        timer: u16,
    },
    /// An interval of a station's counters ends.
    Sample(StationIx),
    /// The deadline of a node's routing protocol.
    RoutingTimer(NodeIx),
    /// A timer of a hop.
    HopTimer {
        /// Port of the hop.
        port: PortIx,
        /// Generation of the timer; events of earlier generations are ignored.
        generation: u32,
        /// The hop's number for the timer.
        timer: u16,
    },
    /// A controller starts.
    ControllerStart(ControllerIx),
    /// A controller stops.
    ControllerStop(ControllerIx),
    /// A timer of a controller.
    ControllerTimer {
        /// The controller.
        controller: ControllerIx,
        /// Generation of the timer; events of earlier generations are ignored.
        generation: u32,
        /// The controller's number for the timer.
        timer: u16,
    },
    /// A message from a node to itself arrives.
    LocalMessage(CopyRef),
    /// The rate of both directions of a wired link changes.
    RateChange {
        /// The link.
        link: u32,
        /// New rate.
        rate: Rate,
    },
    /// Packets of a connection have left its node: the sender may resume.
    LocalRoom(ConnectionRef),
    /// A port whose queue has dropped all waiting packets has room.
    RoomAtPort(PortIx),
    /// A queue that holds packets may name one, although nothing has become known.
    QueueWakes(PortIx),
}

/// An entry of the agenda. Events are ordered by `time`, then by `order`; no two are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// Due time, nanoseconds since the start.
    pub time: u64,
    /// Class (4 bits), rank of the owner (28 bits), count of pushes (32 bits); see [`Order`].
    pub order: u64,
    /// Kind and owner.
    pub kind: EventKind,
}

/// The second part of an event's key. At equal times a smaller class comes first (ends of frames before starts, starts before time-outs,
/// ...); within a class the rank decides, which is drawn from the seed and the owner's name, so that no node is favoured by its place in a
/// file; within a rank, the order of the pushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order(pub u64);

impl Order {
    /// The key of an event of `class` (below 16) and `rank` (of which the lower 28 bits are used).
    #[inline]
    #[must_use]
    pub const fn new(class: u8, rank: u32) -> Self {
        Self(((class as u64) << 60) | (((rank & 0x0fff_ffff) as u64) << 32))
    }
}

/// The rank of a name among events of equal time, from the seed and the name: no place in a file is favoured, and another node changes
/// nothing.
#[must_use]
pub fn rank(seed: u64, name: &str) -> u32 {
    Stream::of_hash(seed, name_hash(name), Purpose::Rank).next_u32() >> 4
}

impl Event {
    /// Placeholder for an empty place.
    pub const NONE: Self = Self { time: 0, order: 0, kind: EventKind::Warmup };

    /// Both parts of the key as one number.
    #[inline]
    #[must_use]
    pub const fn key(&self) -> u128 {
        ((self.time as u128) << 64) | self.order as u128
    }
}

/// An event that a part has returned, to be scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledEvent {
    /// Due time.
    pub at: Time,
    /// Key among events of equal time.
    pub order: Order,
    /// Kind and owner.
    pub kind: EventKind,
}

/// Work that parts leave to the end of the present event: links that may have a packet to send, and events to schedule, which are pushed
/// onto the agenda last and in the order of this list. That order is the last tie-break of equal keys ([`Order`]).
#[derive(Debug, Default)]
pub struct Schedule {
    events: Vec<ScheduledEvent>,
    links: Vec<LinkRef>,
    /// True if the lists are not empty.
    pub pending: bool,
}

impl Schedule {
    /// Schedules an event.
    #[inline]
    pub fn add(&mut self, at: Time, order: Order, kind: EventKind) {
        self.events.push(ScheduledEvent { at, order, kind });
        self.pending = true;
    }

    /// Schedules an event that another part has returned, if any.
    #[inline]
    pub fn add_if(&mut self, due: Option<ScheduledEvent>) {
        if let Some(ScheduledEvent { at, order, kind }) = due {
            self.add(at, order, kind);
        }
    }

    /// Marks a link that may have a packet to send.
    #[inline]
    pub fn mark_ready(&mut self, link: LinkRef) {
        self.links.push(link);
        self.pending = true;
    }

    /// Removes and returns the link that was marked last.
    #[inline]
    pub fn next_link(&mut self) -> Option<LinkRef> {
        self.links.pop()
    }

    /// The scheduled events, in order.
    #[inline(always)]
    #[must_use]
    pub fn events(&self) -> &[ScheduledEvent] {
        &self.events
    }

    /// Removes the scheduled events.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.events.clear();
    }
}

/// Classes of events of equal time, in their order.
pub mod class {
    /// End of the warm-up: nothing before it is measured.
    pub const WARMUP: u8 = 0;
    /// Rate changes: a packet sent at the same moment has the new rate.
    pub const RATE_CHANGE: u8 = 0;
    /// Changes of gains: a frame sent at the same moment has the new gain.
    pub const GAIN_CHANGE: u8 = 0;
    /// A departure to a wire makes room for packets that arrive at the same moment.
    pub const WIRE_FREE: u8 = 1;
    /// See [`super::EventKind::FrameEnd`].
    pub const FRAME_END: u8 = 2;
    /// See [`super::EventKind::BandEnd`].
    pub const BAND_END: u8 = 3;
    /// See [`super::EventKind::BandStart`].
    pub const BAND_START: u8 = 4;
    /// See [`super::EventKind::Reply`].
    pub const REPLY: u8 = 5;
    /// See [`super::EventKind::Timeout`].
    pub const TIMEOUT: u8 = 6;
    /// See [`super::EventKind::Access`].
    pub const ACCESS: u8 = 7;
    /// See [`super::EventKind::Move`].
    pub const MOVE: u8 = 8;
    /// Arrivals by wire, and of messages from a node to itself.
    pub const WIRE: u8 = 10;
    /// Applications: starts, packets, files and stops of flows; resumed sources; injected packets; starts and stops of controllers.
    pub const TRAFFIC: u8 = 11;
    /// Timers of protocols and schemes.
    pub const TIMER: u8 = 12;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_32_bytes() {
        assert_eq!(size_of::<Event>(), 32);
    }

    #[test]
    fn time_goes_before_class_before_rank() {
        let e = |time, class, rank| Event { time, order: Order::new(class, rank).0, ..Event::NONE };
        assert!(e(1, 15, 9).key() < e(2, 0, 0).key());
        assert!(e(1, 1, 9).key() < e(1, 2, 0).key());
        assert!(e(1, 1, 3).key() < e(1, 1, 9).key());
    }
}
