//! Events: what will happen, to whom, and in which order. An event has 32 bytes, is `Copy` and holds no pointer.

use airfair_units::random::{Purpose, Stream, name_hash};
use airfair_units::{Rate, Time};

use crate::ids::{ConnectionRef, CopyRef, FlowIx, FrameIx, LinkRef, NodeIx, PortIx, StationIx, WireIx};

/// What will happen. The loop of events hands each variant to the part that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The last bit of a frame has left its sender.
    FrameEnd {
        /// The sender.
        sender: StationIx,
        /// The frame.
        frame: FrameIx,
    },
    /// A frame reaches a band of distant hearers.
    BandStart {
        /// The sender.
        sender: StationIx,
        /// The frame.
        frame: FrameIx,
        /// The band, by its place in the list of all bands.
        band: u32,
    },
    /// A frame ends at a band of distant hearers.
    BandEnd {
        /// The sender.
        sender: StationIx,
        /// The frame.
        frame: FrameIx,
        /// The band.
        band: u32,
    },
    /// A SIFS has passed since a frame to which a station answers.
    Reply(StationIx),
    /// CTS or ACK did not come.
    Timeout {
        /// Who waits.
        station: StationIx,
        /// Which time-out: an earlier one than the station's present one counts no more.
        generation: u32,
    },
    /// The back-off of a station ends, unless it has moved.
    Access(StationIx),
    /// A node moves, by its place among those that move: its stations' surroundings are looked at.
    Move(u32),
    /// The list of those that hear a station is renewed.
    Renew(StationIx),
    /// A flow starts.
    FlowStart(FlowIx),
    /// The next packet of a flow's source is due.
    Source(FlowIx),
    /// A wire on which packets wait is free.
    WireFree(WireIx),
    /// A packet arrives at the end of a wire.
    WireArrival(WireIx),
    /// An ARP request was not answered.
    ArpRetry {
        /// Where it was sent.
        port: PortIx,
        /// Whose address was asked for.
        target: NodeIx,
    },
    /// A broadcast packet has reached all that it will reach.
    Release(CopyRef),
    /// A packet from outside enters, by its number.
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
        /// Which setting of the timer: an earlier one counts no more.
        generation: u32,
        /// The law's number for the timer.
        timer: u16,
    },
    /// A timer of an agent.
    AgentTimer {
        /// Its station.
        station: StationIx,
        /// Which setting of the timer: an earlier one counts no more.
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
        /// Its port.
        port: PortIx,
        /// Which setting of the timer: an earlier one counts no more.
        generation: u32,
        /// The hop's number for the timer.
        timer: u16,
    },
    /// Both directions of a wired link have another rate from now on.
    RateChange {
        /// The link.
        link: u32,
        /// Its rate then.
        rate: Rate,
    },
    /// Packets of a connection have left its node, which may let it go on.
    LocalRoom(ConnectionRef),
    /// There is room at a port whose queue has dropped all that waited.
    Room(PortIx),
}

/// Something that will happen. Events are ordered by `time`, then by `order`; no two are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// When, in nanoseconds since the start.
    pub time: u64,
    /// Class (4 bits), rank of the owner (28 bits), count of pushes (32 bits); see [`Order`].
    pub order: u64,
    /// What.
    pub what: What,
}

/// The second part of an event's key. At equal times a smaller class goes first (ends of frames before starts, starts
/// before time-outs, ...); within a class the rank decides, which is drawn from the seed and the owner's name, so that no
/// node is favoured by its place in a file; within a rank, the order of the pushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order(pub u64);

impl Order {
    /// The key of an event of `class` (below 16) and `rank` (its lower 28 bits count).
    #[inline]
    #[must_use]
    pub const fn new(class: u8, rank: u32) -> Self {
        Self(((class as u64) << 60) | (((rank & 0x0fff_ffff) as u64) << 32))
    }
}

/// The rank of a name among events of equal time: from the seed and the name, so that no place in a file is favoured and
/// another node changes nothing.
#[must_use]
pub fn rank(seed: u64, name: &str) -> u32 {
    Stream::of_hash(seed, name_hash(name), Purpose::Rank).next_u32() >> 4
}

impl Event {
    /// Something to fill an empty place with.
    pub const NONE: Self = Self { time: 0, order: 0, what: What::Warmup };

    /// Both parts of the key as one number.
    #[inline]
    #[must_use]
    pub const fn key(&self) -> u128 {
        ((self.time as u128) << 64) | self.order as u128
    }
}

/// An event that is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When.
    pub at: Time,
    /// Its place among events of equal time.
    pub order: Order,
    /// What.
    pub what: What,
}

/// What parts leave to the loop of events, which does it when the present event is done: links that may have something new to send, and
/// events that are to come, which it puts on the agenda last and in the order of their list. That order is the last tie-break of equal
/// keys ([`Order`]).
#[derive(Debug, Default)]
pub struct Schedule {
    events: Vec<Due>,
    links: Vec<LinkRef>,
    /// Whether there is anything to do.
    pub unsettled: bool,
}

impl Schedule {
    /// Something is to happen.
    #[inline]
    pub fn add(&mut self, at: Time, order: Order, what: What) {
        self.events.push(Due { at, order, what });
        self.unsettled = true;
    }

    /// The same for what another part returned.
    #[inline]
    pub fn add_if(&mut self, due: Option<Due>) {
        if let Some(Due { at, order, what }) = due {
            self.add(at, order, what);
        }
    }

    /// A link may have something new to send.
    #[inline]
    pub fn ready(&mut self, link: LinkRef) {
        self.links.push(link);
        self.unsettled = true;
    }

    /// One of the links that may have something to send: the one that was named last.
    #[inline]
    pub fn next_link(&mut self) -> Option<LinkRef> {
        self.links.pop()
    }

    /// The events that are to come, in order; the list is empty then.
    pub fn drain(&mut self) -> impl Iterator<Item = Due> + '_ {
        self.events.drain(..)
    }
}

/// Classes of events of equal time: what ends goes before what begins.
pub mod class {
    /// Nothing counts before.
    pub const WARMUP: u8 = 0;
    /// What leaves at the moment of a change has the new rate.
    pub const RATE_CHANGE: u8 = 0;
    /// What leaves a queue for a wire makes room for what comes at the same moment.
    pub const WIRE_FREE: u8 = 1;
    /// See [`super::What::FrameEnd`].
    pub const FRAME_END: u8 = 2;
    /// See [`super::What::BandEnd`].
    pub const BAND_END: u8 = 3;
    /// See [`super::What::BandStart`].
    pub const BAND_START: u8 = 4;
    /// See [`super::What::Reply`].
    pub const REPLY: u8 = 5;
    /// See [`super::What::Timeout`].
    pub const TIMEOUT: u8 = 6;
    /// See [`super::What::Access`].
    pub const ACCESS: u8 = 7;
    /// See [`super::What::Move`].
    pub const MOVE: u8 = 8;
    /// Arrivals by wire.
    pub const WIRE: u8 = 10;
    /// Sources.
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
