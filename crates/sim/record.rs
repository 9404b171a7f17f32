//! What is recorded: the one way in which parts of a world say what happens in them. A part owns a list of records and fills it if
//! somebody observes the world; the loop of events takes the records out and gives them to the observers.

use airfair_units::{Attowatts, Bytes, Span, Time};

use crate::ids::{ConnectionRef, CopyRef, FlowIx, NodeIx, PacketRef, PortIx, StationIx, WireIx};
use crate::modes::Mode;

/// What happened, and when.
pub type Trace = Vec<(Time, Record)>;

/// The records of a part since they were last taken out.
#[derive(Debug, Default)]
pub struct Records {
    list: Trace,
    wanted: bool,
}

impl Records {
    /// From now on records are kept.
    pub fn keep(&mut self) {
        self.wanted = true;
    }

    /// Whether somebody observes: a part need not make records otherwise.
    #[inline(always)]
    #[must_use]
    pub fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// Something has happened.
    #[cold]
    pub fn push(&mut self, at: Time, record: Record) {
        self.list.push((at, record));
    }

    /// Takes the records out, oldest first; the list keeps its memory.
    pub fn drain(&mut self) -> impl Iterator<Item = (Time, Record)> + '_ {
        self.list.drain(..)
    }
}

/// What a frame is.
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
}

impl FrameKind {
    /// Every kind, in the order of the counters.
    pub const ALL: [Self; 5] = [Self::Rts, Self::Cts, Self::Data, Self::Ack, Self::Broadcast];

    /// Its name in traces and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rts => "RTS",
            Self::Cts => "CTS",
            Self::Data => "DATA",
            Self::Ack => "ACK",
            Self::Broadcast => "BROADCAST",
        }
    }
}

/// Why a receiver that was meant to receive a frame did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// Its preamble was too weak to be detected, or nothing of it was heard.
    #[default]
    OutOfReach,
    /// The receiver was transmitting.
    Transmitting,
    /// The receiver was locked on another frame (its number).
    LockedOn(u32),
    /// The preamble did not stand out of what else was on the air.
    PreambleDrowned,
    /// A stronger or earlier preamble took the receiver away (its number).
    LockTaken(u32),
    /// The receiver began to transmit while it lasted.
    LockAborted,
    /// It arrived weaker than its mode needs.
    TooWeak,
    /// It was drowned by interference; the number of the frame that made it worst, if that began later.
    Interference(Option<u32>),
    /// Noise and interference made an error, by chance.
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

    /// Whether the receiver was locked on the frame to its end: what a card hands up with a wrong FCS.
    #[must_use]
    pub const fn ends_with_the_frame(self) -> bool {
        matches!(self, Self::TooWeak | Self::Interference(_) | Self::Noise)
    }

    /// Its place among the counters.
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
            Self::Noise => 8,
        }
    }
}

/// A frame on the air, as records show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameView {
    /// Running number.
    pub number: u32,
    /// What it is.
    pub kind: FrameKind,
    /// Its mode.
    pub mode: Mode,
    /// The station that sends it.
    pub sender: StationIx,
    /// The station that it is for; none: everybody.
    pub receiver: Option<StationIx>,
    /// Its packet.
    pub packet: PacketRef,
    /// PSDU bytes.
    pub bytes: u32,
    /// When its first bit leaves.
    pub start: Time,
    /// When its last bit has left.
    pub end: Time,
    /// Duration field, us.
    pub nav_us: u32,
    /// Sequence number.
    pub sequence: u16,
    /// Retry bit.
    pub retry: bool,
}

/// What a receiver got of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signal {
    /// Its power; 0: it did not reach the receiver.
    pub power: Attowatts,
    /// The interference that it met at worst, if the receiver was locked on it to its end.
    pub interference: Option<Attowatts>,
    /// How long it was on its way.
    pub delay: Span,
}

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// A frame goes on the air.
    Start {
        /// The frame.
        frame: FrameView,
    },
    /// It was received.
    Received {
        /// The frame.
        frame: FrameView,
        /// The station.
        at: StationIx,
        /// How strong.
        signal: Signal,
    },
    /// A station that is monitored has come to the end of a frame for another one.
    Overheard {
        /// The frame.
        frame: FrameView,
        /// The station.
        at: StationIx,
        /// How strong.
        signal: Signal,
        /// Why it was not received, if it was not.
        loss: Option<Loss>,
    },
    /// It was lost at a station that it was for.
    Lost {
        /// The frame.
        frame: FrameView,
        /// The station.
        at: StationIx,
        /// Why.
        loss: Loss,
        /// How strong.
        signal: Signal,
    },
    /// An RTS is not answered: the NAV is set.
    CtsWithheld {
        /// Who keeps silent.
        at: StationIx,
        /// Who asked.
        to: StationIx,
        /// Until when the NAV lasts.
        nav_until: Time,
    },
    /// CTS or ACK did not come.
    NoResponse {
        /// Who waited.
        at: StationIx,
        /// For whom.
        to: StationIx,
        /// For a CTS; otherwise for an ACK.
        cts: bool,
        /// Attempts that have failed.
        attempts: u32,
        /// The contention window from now on.
        cw: u32,
        /// The packet is given up.
        given_up: bool,
    },
    /// A packet is given up after too many attempts.
    GivenUp {
        /// The station.
        at: StationIx,
        /// The packet.
        packet: PacketRef,
    },
    /// A packet is dropped by a node.
    Dropped {
        /// The node.
        node: NodeIx,
        /// Its flow, if it has one.
        flow: Option<FlowIx>,
        /// The packet.
        packet: PacketRef,
        /// What it is.
        content: Content,
        /// Its number within the flow, or the byte that it begins with or acknowledges.
        sequence: u32,
        /// Why.
        reason: &'static str,
    },
    /// A packet has reached its destination.
    Delivered {
        /// The node.
        node: NodeIx,
        /// Its flow, if it has one.
        flow: Option<FlowIx>,
        /// The packet.
        packet: PacketRef,
        /// What it is.
        content: Content,
        /// Its number within the flow, or the byte that it begins with or acknowledges.
        sequence: u32,
        /// How long it took.
        delay: Span,
    },
    /// A flow has made a packet, which has not left its node.
    Made {
        /// The packet.
        packet: PacketRef,
        /// Its flow.
        flow: FlowIx,
        /// From the flow's source to its destination; otherwise on the acknowledgements' way.
        forward: bool,
        /// The connection that it belongs to.
        connection: Option<ConnectionRef>,
    },
    /// Routing has found a packet's next hop.
    Routed {
        /// Where the packet is.
        node: NodeIx,
        /// Its flow.
        flow: FlowIx,
        /// The packet.
        packet: PacketRef,
        /// The next hop.
        next: NodeIx,
        /// The port that the packet leaves by.
        port: PortIx,
        /// Hops that it has gone.
        hops: u16,
    },
    /// A wire has accepted a packet, which had come to the interface at the time of this record, and knows when it leaves.
    OnWire {
        /// The wire.
        wire: WireIx,
        /// The packet's copy.
        copy: CopyRef,
        /// When its first bit leaves.
        begin: Time,
        /// When its last bit has left.
        end: Time,
        /// When it arrives at the far end, unless it is lost.
        arrival: Time,
        /// It will not arrive.
        lost: bool,
    },
    /// Something has happened to a connection's sender, which has sent what it may.
    SenderRan {
        /// The connection.
        connection: ConnectionRef,
        /// Its flow.
        flow: FlowIx,
    },
    /// TCP's sender believes that something is lost, or that the path is congested.
    Tcp {
        /// The node.
        node: NodeIx,
        /// Its flow.
        flow: FlowIx,
        /// What made it believe so.
        cause: TcpCause,
        /// The first byte that is not acknowledged.
        sequence: u32,
        /// The window from now on.
        window: Bytes,
        /// The retransmission time-out from now on.
        rto: Span,
    },
}

impl Record {
    /// Whether it happened on the air, or in a MAC. Where records are sorted by time, those of one moment begin with the air's.
    #[must_use]
    pub const fn is_of_the_air(&self) -> bool {
        match self {
            Self::Start { .. }
            | Self::Received { .. }
            | Self::Overheard { .. }
            | Self::Lost { .. }
            | Self::CtsWithheld { .. }
            | Self::NoResponse { .. }
            | Self::GivenUp { .. } => true,
            Self::Dropped { .. }
            | Self::Delivered { .. }
            | Self::Made { .. }
            | Self::Routed { .. }
            | Self::OnWire { .. }
            | Self::SenderRan { .. }
            | Self::Tcp { .. } => false,
        }
    }

    /// Whether a trace has it. The others say what is about to happen.
    #[must_use]
    pub const fn is_traced(&self) -> bool {
        !matches!(
            self,
            Self::Made { .. } | Self::Routed { .. } | Self::OnWire { .. } | Self::SenderRan { .. }
        )
    }
}

/// What a packet is, in the words of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A packet with a number.
    Packet,
    /// Data of TCP, by their first byte.
    Data,
    /// A segment of TCP without data, by the byte that it expects.
    Ack,
    /// TCP's first segment.
    Syn,
    /// The answer to it.
    SynAck,
    /// A FIN without data.
    Fin,
}

/// Why TCP's sender slows down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpCause {
    /// The retransmission timer expired.
    Timeout,
    /// Duplicate acknowledgements or SACK told of a loss.
    FastLoss,
    /// The receiver echoed a mark.
    Mark,
    /// Routers of the path do not speak the flow's scheme: it follows TCP's law from now on.
    Fallback,
    /// Too many time-outs in a row, or SYNs without an answer: the connection has failed.
    GaveUp,
}

/// Names of what records speak of.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Of stations.
    pub stations: Vec<String>,
    /// Node of each station.
    pub node_of_station: Vec<NodeIx>,
    /// Of nodes.
    pub nodes: Vec<String>,
    /// Of flows.
    pub flows: Vec<String>,
}

impl Names {
    /// Whether a record concerns a node.
    #[must_use]
    pub fn concerns(&self, record: &Record, node: NodeIx) -> bool {
        let is = |station: StationIx| self.node_of_station.get(station.ix()) == Some(&node);
        match *record {
            Record::Start { frame } => is(frame.sender) || frame.receiver.is_some_and(is),
            Record::Received { frame, at, .. } | Record::Lost { frame, at, .. } => is(at) || is(frame.sender),
            Record::Overheard { at, .. } => is(at),
            Record::CtsWithheld { at, to, .. } | Record::NoResponse { at, to, .. } => is(at) || is(to),
            Record::GivenUp { at, .. } => is(at),
            Record::Made { .. }
            | Record::Routed { .. }
            | Record::OnWire { .. }
            | Record::SenderRan { .. } => false,
            Record::Dropped { node: n, .. }
            | Record::Delivered { node: n, .. }
            | Record::Tcp { node: n, .. } => n == node,
        }
    }
}
