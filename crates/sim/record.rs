//! Records of events in the parts of a world. Each part owns a list of records, which it fills if the world is observed; the event loop
//! takes the records out and gives them to the observers.

use airfair_schemes::places::Holding;
use airfair_units::{Attowatts, Bytes, Span, Time};

use crate::ids::{ConnectionRef, CopyRef, FlowIx, NodeIx, PacketRef, PortIx, StationIx, WireIx};
use crate::modes::Mode;

/// Records with their times.
pub type Trace = Vec<(Time, Record)>;

/// Records of a part since they were last taken out.
#[derive(Debug, Default)]
pub struct Records {
    list: Trace,
    enabled: bool,
}

impl Records {
    /// Enables recording.
    pub fn enable(&mut self) {
        self.enabled = true;
    }

    /// True if the world is observed; otherwise a part need not make records.
    #[inline(always)]
    #[must_use]
    pub fn are_enabled(&self) -> bool {
        self.enabled
    }

    /// Adds a record. Callers check [`Records::are_enabled`] first.
    #[cold]
    pub fn push(&mut self, at: Time, record: Record) {
        self.list.push((at, record));
    }

    /// Takes the records out, oldest first; the list keeps its memory.
    pub fn drain(&mut self) -> impl Iterator<Item = (Time, Record)> + '_ {
        self.list.drain(..)
    }
}

/// Kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Unicast data.
    Data,
    /// Acknowledgement.
    Ack,
    /// Broadcast data.
    Broadcast,
    /// End of a TXOP before its limit.
    CfEnd,
}

impl FrameKind {
    /// Every kind, in the order of the counters.
    pub const ALL: [Self; 6] = [Self::Rts, Self::Cts, Self::Data, Self::Ack, Self::Broadcast, Self::CfEnd];

    /// Name in traces and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rts => "RTS",
            Self::Cts => "CTS",
            Self::Data => "DATA",
            Self::Ack => "ACK",
            Self::Broadcast => "BROADCAST",
            Self::CfEnd => "CF-END",
        }
    }
}

/// Reason why a receiver that a frame was addressed to did not receive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// The preamble was too weak to be detected, or the signal did not reach the receiver.
    #[default]
    OutOfReach,
    /// The receiver was transmitting.
    Transmitting,
    /// The receiver was locked on another frame, which has this number.
    LockedOn(u32),
    /// The preamble did not stand out from interference and noise; from noise alone it would have.
    PreambleDrowned,
    /// The preamble did not stand out from noise alone.
    PreambleInNoise,
    /// A stronger or earlier preamble, of the frame with this number, took over the receiver.
    LockTaken(u32),
    /// The receiver started to transmit during the frame.
    LockAborted,
    /// The frame was weaker than its mode requires.
    TooWeak,
    /// Interference was too strong: without it the frame would have been received. The number of the frame that made it strongest, if that
    /// began later.
    Interference(Option<u32>),
    /// Noise alone was too strong, or an artificial loss.
    Noise,
}

impl Loss {
    /// Names of the causes, in the order of the counters.
    pub const NAMES: [&'static str; 9] = [
        "out-of-reach",
        "transmitting",
        "locked-on-other",
        "preamble-drowned",
        "lock-taken",
        "lock-aborted",
        "too-weak",
        "interference",
        "noise",
    ];

    /// True if the receiver was locked on the frame to its end: cards report such frames with a wrong FCS.
    #[must_use]
    pub const fn ends_with_the_frame(self) -> bool {
        matches!(self, Self::TooWeak | Self::Interference(_) | Self::Noise)
    }

    /// Index of the cause among the counters.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::OutOfReach => 0,
            Self::Transmitting => 1,
            Self::LockedOn(_) => 2,
            Self::PreambleDrowned => 3,
            Self::LockTaken(_) => 4,
            Self::LockAborted => 5,
            Self::TooWeak => 6,
            Self::Interference(_) => 7,
            Self::Noise | Self::PreambleInNoise => 8,
        }
    }

    /// Name of the cause.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }
}

/// A frame on the air, as records show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameView {
    /// Running number of the frame.
    pub number: u32,
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Mode of its PSDU.
    pub mode: Mode,
    /// Power above that of its sender's radio, hundredths of a dB.
    pub power_offset: i16,
    /// The sending station.
    pub sender: StationIx,
    /// The receiving station; none for a broadcast.
    pub receiver: Option<StationIx>,
    /// The packet that it carries.
    pub packet: PacketRef,
    /// PSDU length, bytes.
    pub bytes: u32,
    /// Time at which its first bit leaves.
    pub start: Time,
    /// Time at which its last bit has left.
    pub end: Time,
    /// Duration field, us.
    pub nav_us: u32,
    /// Sequence number.
    pub sequence: u16,
    /// Retry bit of the frame.
    pub retry: bool,
    /// Access category of its packet, at a station with several.
    pub category: Option<u8>,
    /// Name of the messages in it, of routing or of a scheme. The air does not know packets: only a trace has this name.
    pub messages: Option<&'static str>,
    /// Flow and batch of the broadcast of a forwarder that it carries; in a trace only.
    pub forwarded: Option<(FlowIx, u32)>,
    /// The announcement of the sender's queue in the packet's header; of a transmission in a trace only.
    pub announced: Option<Announced>,
}

impl FrameView {
    /// True for a CTS or an ACK.
    #[must_use]
    pub const fn is_response(&self) -> bool {
        matches!(self.kind, FrameKind::Cts | FrameKind::Ack)
    }
}

/// The announcement of a frame's sender in the packet's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// Packets in its queue for the packet's destination.
    pub queue: u32,
    /// That destination.
    pub destination: NodeIx,
}

/// A frame's signal at a receiver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signal {
    /// Received power; 0 if the signal did not reach the receiver.
    pub power: Attowatts,
    /// Strongest interference during the frame, if the receiver was locked on it to its end.
    pub interference: Option<Attowatts>,
    /// Propagation delay.
    pub delay: Span,
}

/// One recorded event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// A transmission starts.
    Start {
        /// The frame.
        frame: FrameView,
    },
    /// A station has received a frame.
    Received {
        /// The frame.
        frame: FrameView,
        /// The receiving station.
        at: StationIx,
        /// The frame's signal at the station.
        signal: Signal,
    },
    /// A frame for another station has ended at a monitored station.
    Overheard {
        /// The frame.
        frame: FrameView,
        /// The monitored station.
        at: StationIx,
        /// The frame's signal at the station.
        signal: Signal,
        /// The reason if it was not received.
        loss: Option<Loss>,
    },
    /// A frame was lost at a station that it was addressed to.
    Lost {
        /// The frame.
        frame: FrameView,
        /// The station that lost it.
        at: StationIx,
        /// Reason of the loss.
        loss: Loss,
        /// The frame's signal at the station.
        signal: Signal,
    },
    /// A station does not answer an RTS, because its NAV is set.
    CtsWithheld {
        /// The silent station.
        at: StationIx,
        /// The sender of the RTS.
        to: StationIx,
        /// End of the NAV.
        nav_until: Time,
    },
    /// A CTS or ACK did not arrive in time.
    NoResponse {
        /// The waiting station.
        at: StationIx,
        /// The station that should have answered.
        to: StationIx,
        /// True for a CTS, false for an ACK.
        cts: bool,
        /// Failed attempts of the packet.
        attempts: u32,
        /// The new contention window.
        cw: u32,
        /// True if the packet is given up.
        given_up: bool,
    },
    /// A CTS or ACK has arrived after the time-out of the frame that it answers.
    LateResponse {
        /// The station that received it.
        at: StationIx,
        /// The station that answered.
        from: StationIx,
        /// True for a CTS, false for an ACK.
        cts: bool,
        /// Running number of the response's frame.
        number: u32,
    },
    /// A category has lost access to a higher category of the same station, and backs off as after a collision.
    InternalCollision {
        /// The station.
        at: StationIx,
        /// The category that backs off.
        category: u8,
        /// The category that sends.
        winner: u8,
        /// Failed attempts of the packet.
        attempts: u32,
        /// The new contention window.
        cw: u32,
        /// True if the packet is given up.
        given_up: bool,
    },
    /// A packet was given up at the retry limit.
    GivenUp {
        /// The sending station.
        at: StationIx,
        /// The packet given up.
        packet: PacketRef,
    },
    /// A node has dropped a packet.
    Dropped {
        /// The node.
        node: NodeIx,
        /// Flow of the packet, if it belongs to one.
        flow: Option<FlowIx>,
        /// The dropped packet.
        packet: PacketRef,
        /// Content of the packet.
        content: Content,
        /// Number within the flow; for TCP the first byte, or the byte that is acknowledged.
        sequence: u32,
        /// Reason of the drop.
        reason: &'static str,
    },
    /// A packet has reached its destination.
    Delivered {
        /// The node.
        node: NodeIx,
        /// Flow of the packet, if it belongs to one.
        flow: Option<FlowIx>,
        /// The delivered packet.
        packet: PacketRef,
        /// Content of the packet.
        content: Content,
        /// Number within the flow; for TCP the first byte, or the byte that is acknowledged.
        sequence: u32,
        /// Time since the packet was made.
        delay: Span,
    },
    /// A broadcast has brought a forwarder something new of a batch.
    Held {
        /// The node.
        node: NodeIx,
        /// The flow.
        flow: FlowIx,
        /// The packets and batches that the node holds now.
        holding: Holding,
    },
    /// A flow has made a packet, which is still at its node.
    Made {
        /// The packet.
        packet: PacketRef,
        /// Flow of the packet.
        flow: FlowIx,
        /// True from the flow's source to its destination; false in the direction of acknowledgements.
        forward: bool,
        /// Connection of the packet, if it belongs to one.
        connection: Option<ConnectionRef>,
    },
    /// A routing protocol has found a packet's next hop.
    Routed {
        /// Node that has the packet.
        node: NodeIx,
        /// Flow of the packet.
        flow: FlowIx,
        /// The packet.
        packet: PacketRef,
        /// Node of the next hop.
        next: NodeIx,
        /// Port by which the packet leaves.
        port: PortIx,
        /// Hops so far.
        hops: u16,
    },
    /// A labelled packet has left a queue that compares itself with that of the next hop.
    Compared {
        /// Node of the queue.
        node: NodeIx,
        /// The packet.
        packet: PacketRef,
        /// By how many packets the queue of its destination was longer than that of the next hop, as far as the node knew.
        differential: i64,
    },
    /// A wire has accepted a packet, which was offered at the time of this record, and knows the time of its departure.
    OnWire {
        /// The accepting wire.
        wire: WireIx,
        /// The packet's copy.
        copy: CopyRef,
        /// Time at which its first bit leaves.
        begin: Time,
        /// Time at which its last bit has left.
        end: Time,
        /// Time at which it arrives at the far end, unless it is lost.
        arrival: Time,
        /// True if the packet is lost on the wire.
        lost: bool,
    },
    /// A connection's sender has handled an event and sent the segments that it may send.
    SenderRan {
        /// The connection.
        connection: ConnectionRef,
        /// Flow of the connection.
        flow: FlowIx,
    },
    /// A TCP sender assumes a loss or congestion.
    Tcp {
        /// Node of the sender.
        node: NodeIx,
        /// Flow of the connection.
        flow: FlowIx,
        /// Reason of the assumption.
        cause: TcpCause,
        /// The first unacknowledged byte.
        sequence: u32,
        /// The new congestion window.
        window: Bytes,
        /// The new retransmission time-out.
        rto: Span,
    },
}

impl Record {
    /// True for events of the air or a MAC. Where records are sorted by time, those of one moment begin with the air's.
    #[must_use]
    pub const fn is_of_the_air(&self) -> bool {
        match self {
            Self::Start { .. }
            | Self::Received { .. }
            | Self::Overheard { .. }
            | Self::Lost { .. }
            | Self::CtsWithheld { .. }
            | Self::NoResponse { .. }
            | Self::LateResponse { .. }
            | Self::InternalCollision { .. }
            | Self::GivenUp { .. } => true,
            Self::Dropped { .. }
            | Self::Delivered { .. }
            | Self::Made { .. }
            | Self::Routed { .. }
            | Self::Compared { .. }
            | Self::OnWire { .. }
            | Self::SenderRan { .. }
            | Self::Held { .. }
            | Self::Tcp { .. } => false,
        }
    }

    /// True for records that a trace contains. The others announce events to come.
    #[must_use]
    pub const fn is_traced(&self) -> bool {
        !matches!(
            self,
            Self::Made { .. }
                | Self::Routed { .. }
                | Self::Compared { .. }
                | Self::OnWire { .. }
                | Self::SenderRan { .. }
        )
    }
}

/// Content of a packet, as a trace names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A packet with a number within its flow.
    Packet,
    /// TCP data, by the first byte.
    Data,
    /// A TCP segment without data, by the byte that it acknowledges.
    Ack,
    /// A SYN.
    Syn,
    /// A SYN with an acknowledgement.
    SynAck,
    /// A FIN without data.
    Fin,
    /// A report of the receiver of a flow over UDP, by its number within the flow.
    Report,
    /// Messages of a routing protocol, or a message of a scheme that names its kinds, by their name.
    Messages(&'static str),
}

/// Reason why a TCP sender reduces its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpCause {
    /// The retransmission timer expired.
    Timeout,
    /// Duplicate acknowledgements or SACK have indicated a loss.
    FastLoss,
    /// The receiver has echoed an ECN mark.
    Mark,
    /// Routers on the path do not support the flow's scheme: the sender uses TCP's law from now on.
    Fallback,
    /// Too many consecutive time-outs, or unanswered SYNs: the connection has failed.
    GaveUp,
}

/// Names of the objects in records.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Names of stations.
    pub stations: Vec<String>,
    /// Node of each station.
    pub node_of_station: Vec<NodeIx>,
    /// Names of nodes.
    pub nodes: Vec<String>,
    /// Names of flows.
    pub flows: Vec<String>,
    /// Names of each station's access categories; none with the DCF.
    pub categories: Vec<Vec<String>>,
}

impl Names {
    /// Name of a category of a station, if the station has several.
    #[must_use]
    pub fn category(&self, station: StationIx, category: Option<u8>) -> Option<&str> {
        let names = self.categories.get(station.ix())?;
        names.get(usize::from(category?)).map(String::as_str)
    }

    /// True if a record belongs to a node.
    #[must_use]
    pub fn concerns(&self, record: &Record, node: NodeIx) -> bool {
        let is = |station: StationIx| self.node_of_station.get(station.ix()) == Some(&node);
        match *record {
            Record::Start { frame } => is(frame.sender) || frame.receiver.is_some_and(is),
            Record::Received { frame, at, .. } | Record::Lost { frame, at, .. } => is(at) || is(frame.sender),
            Record::Overheard { at, .. } => is(at),
            Record::CtsWithheld { at, to, .. } | Record::NoResponse { at, to, .. } => is(at) || is(to),
            Record::LateResponse { at, from, .. } => is(at) || is(from),
            Record::GivenUp { at, .. } | Record::InternalCollision { at, .. } => is(at),
            Record::Made { .. }
            | Record::Routed { .. }
            | Record::Compared { .. }
            | Record::OnWire { .. }
            | Record::SenderRan { .. } => false,
            Record::Dropped { node: n, .. }
            | Record::Delivered { node: n, .. }
            | Record::Held { node: n, .. }
            | Record::Tcp { node: n, .. } => n == node,
        }
    }
}
