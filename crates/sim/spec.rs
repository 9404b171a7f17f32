//! What a world is made from: plain data, every default filled in, nothing left to guess.
//!
//! The scenario reader produces a [`WorldSpec`]; tests may write one by hand. Ids (`usize`) are indices into the
//! vectors of the same spec. The order of nodes, links and flows carries no meaning: results depend on their names.

use std::sync::Arc;

use airfair_routing::Protocol;
use airfair_routing::shortest::Metric;
use airfair_schemes::Params;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Db, Dbm, Rate, Span, Time};

/// A whole network with its traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldSpec {
    /// Length of the run.
    pub duration: Span,
    /// What is measured starts here.
    pub warmup: Span,
    /// Kinds of radio that the nodes' interfaces are made of.
    pub radios: Vec<RadioSpec>,
    /// Nodes, each with its radios.
    pub nodes: Vec<NodeSpec>,
    /// Point-to-point wired links.
    pub links: Vec<LinkSpec>,
    /// Measured path gains, used by radios whose propagation is [`Propagation::Matrix`].
    pub gains: Vec<GainSpec>,
    /// Nodes that move, and how often the simulator looks where they are.
    pub movement: MovementSpec,
    /// Flows between nodes.
    pub flows: Vec<FlowSpec>,
    /// Nodes at whose interfaces another scheme stands than the run's.
    pub schemes: Vec<NodeScheme>,
    /// How next hops are found.
    pub routing: RoutingSpec,
    /// Most hops of a packet, the time to live that its source writes; from 1 on.
    pub hop_limit: u8,
    /// Whether neighbours' hardware addresses are known from the start.
    pub arp: ArpSpec,
    /// Bytes that each layer adds to a packet.
    pub headers: HeaderSpec,
    /// A world whose pairs of radios take more memory than this is refused.
    pub memory_limit: Bytes,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeSpec {
    /// The user's name for it; unique. Random streams and ties hang on it, not on the node's place in the file.
    pub id: String,
    /// Place in metres: x, y, z.
    pub position: [f64; 3],
    /// Its radio interfaces, as indices into [`WorldSpec::radios`]; empty for a wired node. At most one of a kind.
    pub radios: Vec<usize>,
}

/// The scheme of a node's interfaces: their queues, what stands beside them, and the agents. Its flows keep their laws.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeScheme {
    /// The node.
    pub node: usize,
    /// The scheme's name.
    pub scheme: String,
    /// Its parameters.
    pub params: Params,
}

/// What moves. What others hear of a moving node is worked out again when `interval` has passed and it has gone `distance`, or
/// has come to rest: not more often, since a list costs what it is long.
#[derive(Debug, Clone, PartialEq)]
pub struct MovementSpec {
    /// Least time from one refresh of a node to the next.
    pub interval: Span,
    /// Least way, m, from one refresh of a node to the next, unless it ends before.
    pub distance_m: f64,
    /// The nodes that move.
    pub paths: Vec<PathSpec>,
}

impl Default for MovementSpec {
    fn default() -> Self {
        Self { interval: Span::from_millis(100), distance_m: 1.0, paths: Vec::new() }
    }
}

/// The path of a node: straight lines at constant speed from knot to knot. Before the first knot it stands there, after the last
/// one too, unless the path repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct PathSpec {
    /// The node. Its [`NodeSpec::position`] is where it stands at time 0.
    pub node: usize,
    /// In ascending order of time; never empty.
    pub knots: Arc<[Knot]>,
    /// After the last knot the path goes on as from this knot, again and again. Both are at one place.
    pub repeat_from: Option<usize>,
}

/// Where a moving node is at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knot {
    /// The moment.
    pub at: Time,
    /// The place in metres: x, y, z.
    pub position: [f64; 3],
}

/// A wired, full-duplex point-to-point link. Each direction has its own queue.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec {
    /// The two ends.
    pub ends: [usize; 2],
    /// Rate of each direction, until the first change.
    pub rate: Rate,
    /// Further rates of both directions, in ascending order of time.
    pub rate_changes: Vec<RateChange>,
    /// Propagation delay.
    pub delay: Span,
    /// Probability that a packet is lost on the way, independently.
    pub loss: f64,
    /// Of the packets with payload every one whose number in its direction is a multiple of this is lost too; 0: none.
    pub loss_every: u32,
    /// Queue of each direction.
    pub queue: QueueSpec,
    /// How much of a flow of the sending node may wait below its transport.
    pub local_limit: LocalLimit,
}

/// How much of a node's own flows may wait in its interface, so that what it forwards finds room there; `None`: as much as the queue
/// takes. A TCP connection has at most two packets there, or what it sends in this time at its pacing rate if that is more: TCP Small
/// Queues of Linux (`tcp_small_queue_check` in `net/ipv4/tcp_output.c`). Packets count with the memory that they take there, 896 B
/// above their payload, from TCP to the end of their transmission: by radio until the MAC is done with them. Two rules are not
/// Linux's. All flows of an interface's node, over TCP and UDP, together hold about half of its queue, as saturating ones do, each its
/// share of that, in turns where there are more flows than room. And a connection with more than two packets there has no more than the
/// mean of the flows that have some, or what one began with would last, as no drop changes it; nor has a source over UDP beside TCP, or
/// the connection's share would shrink with its rate, and that with what the other has waiting.
pub type LocalLimit = Option<Span>;

/// From a moment on a wired link has another rate. A packet that is being sent then keeps its pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateChange {
    /// When.
    pub at: Time,
    /// The rate of each direction from then on.
    pub rate: Rate,
}

/// One measured direction of a radio path.
#[derive(Debug, Clone, PartialEq)]
pub struct GainSpec {
    /// Transmitting node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
    /// Path gain, negative for a loss.
    pub gain: Db,
}

/// The queue of an output interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueSpec {
    /// Most packets that wait, the one in the MAC not counted.
    pub packets: u32,
}

/// A kind of radio: its PHY, its MAC, its queue, and the air between radios of this kind.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioSpec {
    /// The user's name for it (`default` for the `[radio]` table).
    pub name: String,
    /// Channel number; radios on different channels do not hear each other. Radios on one channel must share the standard.
    pub channel: u16,
    /// The PHY.
    pub phy: PhySpec,
    /// The MAC.
    pub mac: MacSpec,
    /// How power falls with distance.
    pub propagation: Propagation,
    /// The queue above the MAC.
    pub queue: QueueSpec,
    /// Probability that a packet which the MAC has received for its node, and acknowledged, is lost all the same: above the
    /// retries. Messages of ARP, routing and agents are not lost that way.
    pub packet_loss: f64,
}

/// The standard whose timing and modes a radio uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// 802.11b: DSSS and CCK at 1, 2, 5.5, 11 Mbit/s in 2.4 GHz (clause 15, 16 of 802.11-2016).
    Dot11b,
    /// 802.11a: OFDM at 6..54 Mbit/s in 5 GHz (clause 17).
    Dot11a,
    /// 802.11g: the OFDM rates in 2.4 GHz with a 6 us signal extension, DSSS rates beside them (clause 18).
    Dot11g,
}

/// DSSS preamble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preamble {
    /// 144 us preamble and 48 us header, both at 1 Mbit/s.
    Long,
    /// 72 us preamble at 1 Mbit/s and 24 us header at 2 Mbit/s; never used at 1 Mbit/s.
    Short,
}

/// How OFDM frames are protected from 802.11b stations that cannot hear them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Not at all.
    None,
    /// A CTS to itself at a DSSS rate goes before every OFDM data frame.
    CtsToSelf,
    /// RTS/CTS at a DSSS rate goes before every OFDM data frame.
    RtsCts,
}

/// What a receiver that is not receiving may lock on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOn {
    /// A preamble above `preamble_detect` whose SINR is at least `lock_sinr`.
    Preamble,
    /// A preamble above `preamble_detect` that arrives at an idle medium: any energy above `energy_detect` occupies the
    /// receiver until it ends (ns-2).
    Energy,
}

/// How the signals that overlap a frame add up against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interference {
    /// Their powers add.
    Sum,
    /// Only the strongest counts (pairwise comparison, as ns-2 does).
    Strongest,
}

/// Least power of a received frame under [`ErrorModel::Threshold`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sensitivity {
    /// That of a detected preamble: one range for every rate, as in ns-2.
    PreambleDetect,
    /// What the *sender's* data rate needs at this receiver's noise ([`crate::air::error::required_snr`]), for every
    /// frame of that sender; never less than a detected preamble.
    PerRate,
    /// This power, whatever the rate.
    Level(Dbm),
}

/// When a locked frame is received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorModel {
    /// Its power is at least [`Sensitivity`] says and its worst SINR at least `capture`.
    Threshold,
    /// With a probability by modulation, size and the worst SINR while it lasted.
    WorstSinr,
    /// With a probability by modulation over each stretch of constant SINR.
    PerChunk,
}

/// PHY settings.
#[derive(Debug, Clone, PartialEq)]
pub struct PhySpec {
    /// Timing and modes.
    pub standard: Standard,
    /// Rate of unicast data frames.
    pub data_rate: Rate,
    /// Rates of which the highest one not above the data rate carries RTS, CTS and ACK.
    pub basic_rates: Vec<Rate>,
    /// Rate of broadcast frames.
    pub broadcast_rate: Rate,
    /// DSSS preamble.
    pub preamble: Preamble,
    /// 9 us instead of 20 us slots (802.11g only).
    pub short_slot: bool,
    /// Protection of OFDM frames (802.11g only).
    pub protection: Protection,
    /// Transmit power with antenna gain.
    pub tx_power: Dbm,
    /// A preamble weaker than this is not detected: the frame is energy at best.
    pub preamble_detect: Dbm,
    /// A signal weaker than this leaves the medium idle.
    pub energy_detect: Dbm,
    /// Signals weaker than this are left out altogether.
    pub cutoff: Dbm,
    /// Thermal noise in the receiver, noise figure included.
    pub noise: Dbm,
    /// What may lock.
    pub lock_on: LockOn,
    /// Least SINR at which a preamble locks.
    pub lock_sinr: Db,
    /// How long a preamble is listened to before the receiver has locked: of several that begin within this time the
    /// strongest wins, and none if it does not stand out by `lock_sinr`. Zero: the first one wins at once.
    pub preamble_detection: Span,
    /// A preamble stronger than the locked frame by at least this takes its place; `None`: never.
    pub relock: Option<Db>,
    /// How interferers add up.
    pub interference: Interference,
    /// When a frame is received.
    pub error_model: ErrorModel,
    /// Probability that a data frame which its receiver would receive is lost all the same: each attempt for itself, before the
    /// MAC's retries.
    pub frame_loss: f64,
    /// Least SINR of a received frame under [`ErrorModel::Threshold`].
    pub capture: Db,
    /// Least power of a received frame under [`ErrorModel::Threshold`].
    pub sensitivity: Sensitivity,
}

/// EIFS: which interval follows a failed reception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eifs {
    /// SIFS + an ACK at the lowest mandatory rate + DIFS (802.11-2016 10.3.2.3.7).
    LowestRate,
    /// SIFS + an ACK at the response rate + DIFS (ns-3's saturation tables).
    ResponseRate,
    /// DIFS, as after a good frame.
    Off,
}

/// When the back-off after a missing CTS or ACK starts to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterTimeout {
    /// A DIFS after the time-out.
    Difs,
    /// At the time-out, if the medium has been idle for a DIFS by then.
    Immediate,
}

/// How long a sender waits for CTS or ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseTimeout {
    /// Until no reception has started within SIFS + slot + PHY start delay; one that has started is awaited (802.11-2016 10.3.2.8).
    PhyStart,
    /// SIFS + slot + the whole response.
    WholeResponse,
}

/// MAC settings. Every field is a rule of the standard that simulators read differently, or one of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct MacSpec {
    /// Data frames longer than this (MPDU bytes) are preceded by RTS/CTS.
    pub rts_threshold: Bytes,
    /// Smallest contention window, in slots: back-off is drawn from 0..=cw_min.
    pub cw_min: u32,
    /// Largest contention window, in slots.
    pub cw_max: u32,
    /// Attempts of an RTS, or of a data frame without RTS, before the packet is dropped.
    pub short_retry_limit: u32,
    /// Attempts of a data frame after RTS/CTS before the packet is dropped.
    pub long_retry_limit: u32,
    /// Which interval follows a failed reception.
    pub eifs: Eifs,
    /// Whether energy without a preamble counts as a failed reception.
    pub eifs_on_energy: bool,
    /// Whether a NAV set by an RTS is reset when no reception follows (802.11-2016 10.3.2.4).
    pub nav_reset: bool,
    /// Whether a CTS is sent only if the NAV is idle (802.11-2016 10.3.2.7).
    pub cts_needs_idle_nav: bool,
    /// Whether a CTS is also withheld while the carrier is busy (802.11-2016 10.3.2.7 asks for that only when RTS and CTS
    /// signal a bandwidth; ns-2 does it always).
    pub cts_needs_idle_carrier: bool,
    /// Whether EIFS is kept as a NAV (ns-2): a good frame does not end it, CTS are withheld during it, a DIFS follows it.
    pub eifs_as_nav: bool,
    /// Whether a packet that finds the medium idle for a DIFS goes out without back-off.
    pub immediate_access: bool,
    /// When the back-off after a time-out starts to count.
    pub after_timeout: AfterTimeout,
    /// How long a response is awaited.
    pub response_timeout: ResponseTimeout,
    /// Air propagation in units of 3 us that slot and time-outs allow for (802.11-2016 9.4.2.9).
    pub coverage_class: u8,
    /// A transmission is seen at a slot boundary if it arrived at least this long before: CCA time plus turnaround. Less than 3 ns
    /// counts as 3 ns: nothing is sensed in the moment in which it arrives.
    pub sensing_delay: Span,
    /// Packets that the MAC takes from the queue ahead of time, the one being sent included.
    pub mac_queue: u32,
    /// Whether a full queue stops its local source (as Linux does) instead of dropping its packets (as ns-2 does).
    pub backpressure: bool,
    /// How much of a local flow may wait below its transport, where `backpressure` holds it back: see [`LocalLimit`].
    pub local_limit: LocalLimit,
}

/// How power falls with distance.
#[derive(Debug, Clone, PartialEq)]
pub enum Propagation {
    /// Free space (Friis).
    FreeSpace {
        /// Carrier frequency, Hz.
        frequency_hz: f64,
    },
    /// Free space up to the cross-over distance, then the fourth power with antenna heights.
    TwoRayGround {
        /// Carrier frequency, Hz.
        frequency_hz: f64,
        /// Height of both antennas, m, added to z.
        antenna_height_m: f64,
    },
    /// Loss at a reference distance plus 10 n log10(d/d0), and a normal term drawn once for each pair of nodes.
    LogDistance {
        /// Path-loss exponent n.
        exponent: f64,
        /// Reference distance, m.
        reference_m: f64,
        /// Loss at the reference distance.
        reference_loss: Db,
        /// Standard deviation of the shadowing.
        shadowing: Db,
        /// Seed of the shadowing: it is the same in every run, whatever the run's own seed is.
        shadowing_seed: u64,
    },
    /// Measured gains ([`WorldSpec::gains`]); pairs that are not named do not hear each other.
    Matrix,
}

/// A flow.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowSpec {
    /// The user's name; unique.
    pub id: String,
    /// Source node.
    pub from: usize,
    /// Destination node.
    pub to: usize,
    /// What carries it.
    pub transport: Transport,
    /// What the source sends.
    pub traffic: Traffic,
    /// It starts here, plus a draw from the jitter.
    pub start: Time,
    /// Uniform random delay of the start.
    pub start_jitter: Span,
    /// It stops here ([`Time::NEVER`]: with the run).
    pub stop: Time,
}

/// What carries a flow.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// UDP.
    Udp,
    /// TCP.
    Tcp {
        /// Its rules.
        config: TcpConfig,
        /// The scheme whose source is its window law.
        law: String,
        /// The law's parameters.
        params: Params,
        /// The flow names this law itself: the run's scheme does not replace it.
        pinned: bool,
    },
}

/// What a source sends. UDP carries the first three, TCP all.
#[derive(Debug, Clone, PartialEq)]
pub enum Traffic {
    /// A packet every `packet * 8 / rate`, each moved by a uniform draw of up to `gap_jitter` of the gap (0: strictly periodic).
    ConstantRate {
        /// Payload rate.
        rate: Rate,
        /// Payload of a packet.
        packet: Bytes,
        /// Share of the gap that is random, 0..=1.
        gap_jitter: f64,
    },
    /// Exponential gaps with the mean of the constant rate.
    Poisson {
        /// Mean payload rate.
        rate: Rate,
        /// Mean payload of a packet.
        packet: Bytes,
        /// Sizes are exponential with that mean instead of fixed (rounded up to a byte, cut at 65,507).
        exponential_sizes: bool,
    },
    /// The queue at the source is never empty; for TCP the same as [`Traffic::Endless`].
    Saturating {
        /// Payload of a packet.
        packet: Bytes,
    },
    /// A file without end (FTP in the papers).
    Endless,
    /// One file.
    File {
        /// Its size.
        size: Bytes,
    },
    /// Files one after the other, each over a connection of its own, with a pause between the end of one and the start of the
    /// next: web on-off traffic.
    Web {
        /// Their sizes.
        sizes: Sizes,
        /// Mean of the exponential pauses.
        pause: Span,
    },
    /// Files that arrive in a Poisson stream, each over a connection of its own.
    Arrivals {
        /// Mean number of arrivals per second.
        per_second: f64,
        /// Their sizes.
        sizes: Sizes,
        /// At most so many; 0: no limit.
        count: u64,
    },
    /// Files at given moments after the flow's start, each over a connection of its own.
    List {
        /// Moments in ascending order, and sizes.
        files: Arc<[(Span, Bytes)]>,
    },
}

/// Sizes of files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sizes {
    /// All the same.
    Fixed(Bytes),
    /// Exponential, rounded up to a byte.
    Exponential {
        /// Mean.
        mean: Bytes,
    },
    /// Pareto: the least size is `mean * (shape - 1) / shape`; rounded up to a byte, cut at `most`.
    Pareto {
        /// Mean before the cut.
        mean: Bytes,
        /// Tail index, above 1.
        shape: f64,
        /// Largest size.
        most: Bytes,
    },
}

/// How next hops are found. Static routes do not change; ties go to the neighbour whose name comes first (numbers by value).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutingSpec {
    /// Shortest paths over links that both ends can decode at the data rate; a link's delivery ratios are those of a data frame without
    /// interference.
    Static(Metric),
    /// Found and lost while the world runs, by a protocol's messages.
    Found(Arc<dyn Protocol>),
}

/// ARP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArpSpec {
    /// Every neighbour is known from the start.
    pub prefilled: bool,
    /// Packets that wait for one address; more are dropped, the oldest first.
    pub waiting_packets: u32,
    /// A request that is not answered is repeated after this.
    pub retry: Span,
    /// Requests before the waiting packets are dropped.
    pub attempts: u32,
}

/// Bytes that each layer adds. Defaults are the real headers' lengths; other simulators count differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderSpec {
    /// UDP.
    pub udp: u32,
    /// TCP; `None`: what the header is long with its options.
    pub tcp: Option<u32>,
    /// IP.
    pub ip: u32,
    /// LLC/SNAP, on the air only.
    pub llc: u32,
    /// MAC header and FCS of a data frame, on the air only.
    pub mac: u32,
    /// Framing of a wired link.
    pub wired: u32,
}
