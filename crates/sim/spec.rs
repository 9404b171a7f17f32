//! Specification of a world: plain data with every default filled in.
//!
//! The scenario reader produces a [`WorldSpec`]; tests may write one by hand. Indices (`usize`) are those of vectors of the same spec. The
//! order of nodes, links and flows has no meaning: results depend on their names.

use std::num::NonZeroU8;
use std::sync::Arc;

use airfair_routing::Protocol;
use airfair_routing::shortest::Metric;
use airfair_schemes::Params;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Db, Dbm, Rate, Span, Time};

/// A network with its traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldSpec {
    /// Length of the run.
    pub duration: Span,
    /// Length of the warm-up; measurement starts at its end.
    pub warmup: Span,
    /// Kinds of radio of the nodes' interfaces.
    pub radios: Vec<RadioSpec>,
    /// Nodes, each with its radios.
    pub nodes: Vec<NodeSpec>,
    /// Point-to-point wired links.
    pub links: Vec<LinkSpec>,
    /// Measured path gains, used by radios whose propagation is [`Propagation::Matrix`].
    pub gains: Vec<GainSpec>,
    /// Changes of these gains.
    pub gain_changes: Vec<GainChangeSpec>,
    /// Nodes that move, and the intervals at which their positions are refreshed.
    pub movement: MovementSpec,
    /// Flows between nodes.
    pub flows: Vec<FlowSpec>,
    /// Nodes whose interfaces have another scheme than the run's.
    pub schemes: Vec<NodeScheme>,
    /// Where and when controllers run, if the scheme has any; empty: one runs at a node that the world chooses.
    pub controllers: Vec<ControllerSpec>,
    /// Static routes or a routing protocol.
    pub routing: RoutingSpec,
    /// Hop limit of a packet, at least 1: the time to live that its source sets.
    pub hop_limit: u8,
    /// ARP settings, or addresses known from the start.
    pub arp: ArpSpec,
    /// Bytes that each layer adds to a packet.
    pub headers: HeaderSpec,
    /// Limit of the memory of all pairs of radios; a world that exceeds it is refused.
    pub memory_limit: Bytes,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeSpec {
    /// Unique name given by the user. Random streams and ties depend on it, not on the node's place in the file.
    pub id: String,
    /// Position in metres: x, y, z.
    pub position: [f64; 3],
    /// False if the position is unknown or a guess. With measured gains a signal from or to the node then takes no time.
    pub located: bool,
    /// Radio interfaces, as indices into [`WorldSpec::radios`]; empty for a wired node. At most one of each kind.
    pub radios: Vec<usize>,
}

/// Scheme of one node's interfaces: queues, AQMs, hops and agents. Its flows keep their laws.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeScheme {
    /// The node.
    pub node: usize,
    /// Name of the scheme.
    pub scheme: String,
    /// Parameters of the scheme.
    pub params: Params,
}

/// A controller at a node for a time. Each is a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControllerSpec {
    /// The node, of any kind.
    pub node: usize,
    /// The start of the controller.
    pub start: Time,
    /// The stop of the controller, later than the start; none: it runs to the end.
    pub stop: Option<Time>,
}

impl ControllerSpec {
    /// True if two controllers run at one node at the same time.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let ends_before = |one: &Self, other: &Self| one.stop.is_some_and(|stop| stop <= other.start);
        self.node == other.node && !ends_before(self, other) && !ends_before(other, self)
    }
}

/// Movement of nodes. The lists of hearers around a moving node are updated when `interval` has passed and the node has moved `distance_m`,
/// or has come to rest: not more often, since an update costs time in proportion to the lists.
#[derive(Debug, Clone, PartialEq)]
pub struct MovementSpec {
    /// Least time from one refresh of a node to the next.
    pub interval: Span,
    /// Least distance, m, from one refresh of a node to the next, unless its movement ends before.
    pub distance_m: f64,
    /// Paths of the moving nodes.
    pub paths: Vec<PathSpec>,
}

impl Default for MovementSpec {
    fn default() -> Self {
        Self { interval: Span::from_millis(100), distance_m: 1.0, paths: Vec::new() }
    }
}

/// The path of a node: straight lines at constant speed from knot to knot. The node rests at the first knot before its time, and at the
/// last one after it, unless the path repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct PathSpec {
    /// The node. [`NodeSpec::position`] is its position at time 0.
    pub node: usize,
    /// Knots in ascending order of time; never empty.
    pub knots: Arc<[Knot]>,
    /// After the last knot the path continues as after this knot, repeatedly. Both knots have one position.
    pub repeat_from: Option<usize>,
}

/// A point of a path with its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knot {
    /// Time at which the node is there.
    pub at: Time,
    /// Position in metres: x, y, z.
    pub position: [f64; 3],
}

/// A wired, full-duplex point-to-point link. Each direction has its own queue.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec {
    /// The nodes at the two ends.
    pub ends: [usize; 2],
    /// Initial rate of each direction.
    pub rate: Rate,
    /// Later rates of both directions, in ascending order of time.
    pub rate_changes: Vec<RateChange>,
    /// Propagation delay.
    pub delay: Span,
    /// Probability that a packet is lost on the link, independently of others.
    pub loss: f64,
    /// Every n-th packet with payload of a direction is lost too; 0: none.
    pub loss_every: u32,
    /// Queue of each direction.
    pub queue: QueueSpec,
    /// Limit of the packets of the sending node's own flows in its queue.
    pub local_limit: LocalLimit,
}

/// Limit of the packets of a node's own flows in its interface, so that forwarded packets find room there; `None`: as much as the queue
/// holds. A TCP connection has at most two packets there, or what it sends in this time at its pacing rate if that is more: TCP Small
/// Queues of Linux (`tcp_small_queue_check` in `net/ipv4/tcp_output.c`). Packets count with their memory, 896 B more than their payload,
/// from TCP to the end of their transmission: by radio until the MAC has finished them. Two rules differ from Linux. First, all flows of
/// the node, over TCP and UDP, together hold about half of the interface's queue, as saturating ones do; each has an equal share, in turns
/// where there are more flows than room. Second, a connection with more than two packets there has at most the mean of the flows that have
/// some: otherwise a connection that started with many packets would keep them, since no drop reduces its rate. The same holds for a source
/// over UDP beside TCP: otherwise the connection's share would shrink with its rate, and its rate with the packets that the source has
/// waiting.
pub type LocalLimit = Option<Span>;

/// A change of a wired link's rate. A packet in transmission keeps its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateChange {
    /// Time of the change.
    pub at: Time,
    /// New rate of each direction.
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

/// A change of one measured direction of a radio path.
#[derive(Debug, Clone, PartialEq)]
pub struct GainChangeSpec {
    /// Transmitting node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
    /// Time of the change.
    pub at: Time,
    /// New path gain.
    pub gain: Db,
    /// Interval after which the change occurs again, and again.
    pub every: Option<Span>,
}

/// Fading of a radio's signal: a factor of its power at each receiver, drawn for each unordered pair of radios and each block of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FadingSpec {
    /// Distribution of the factor.
    pub law: FadingLaw,
    /// Length of a block. Blocks begin at time 0; the factor is constant in a block and independent between blocks.
    pub coherence: Span,
}

/// Distribution of a fading factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FadingLaw {
    /// An exponential law with mean 1: many reflections, none of which dominates.
    Rayleigh,
    /// A dominant path beside many reflections, mean 1.
    Rician {
        /// Ratio of the power of the dominant path to that of the reflections.
        k: Db,
    },
    /// A normal law in dB with mean 0 dB: the median power is the one without fading, the mean power is above it.
    LogNormal {
        /// Standard deviation.
        deviation: Db,
    },
}

/// The queue of an output interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueSpec {
    /// Capacity in packets, not counting those in the MAC.
    pub packets: u32,
}

/// A kind of radio: its PHY, its MAC, its queue, and the propagation between radios of this kind.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioSpec {
    /// Name given by the user (`default` for the `[radio]` table).
    pub name: String,
    /// Channel number; radios on different channels do not hear each other. Radios on one channel must share the standard.
    pub channel: u16,
    /// PHY settings.
    pub phy: PhySpec,
    /// MAC settings.
    pub mac: MacSpec,
    /// Propagation model.
    pub propagation: Propagation,
    /// Fading of its signal; `None`: gains do not vary, unless nodes move.
    pub fading: Option<FadingSpec>,
    /// The queue above the MAC.
    pub queue: QueueSpec,
    /// Probability that a packet which the MAC has received and acknowledged is lost above the MAC, which does not retry it. Messages of
    /// ARP, routing and agents are not lost that way.
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

/// Protection of OFDM frames from 802.11b stations that cannot sense them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// No protection.
    None,
    /// A CTS to itself at a DSSS rate precedes every OFDM data frame.
    CtsToSelf,
    /// RTS/CTS at a DSSS rate precedes every OFDM data frame.
    RtsCts,
}

/// Condition for an idle receiver to lock on a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOn {
    /// A preamble above `preamble_detect` whose SINR is at least `lock_sinr`.
    Preamble,
    /// A preamble above `preamble_detect` that arrives at an idle medium: any energy above `energy_detect` occupies the
    /// receiver until it ends (ns-2).
    Energy,
}

/// Combination of the signals that overlap a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interference {
    /// Their powers add.
    Sum,
    /// Only the strongest signal counts (pairwise comparison, as in ns-2).
    Strongest,
}

/// Least power of a received frame under [`ErrorModel::Threshold`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sensitivity {
    /// The sensitivity of preamble detection: one range for every rate, as in ns-2.
    PreambleDetect,
    /// The power that the *sender's* data rate requires at this receiver's noise ([`crate::air::error::required_snr`]), for every frame of
    /// that sender; never less than preamble detection. Where a law of rates has chosen another mode for an exchange, that mode decides
    /// for the frames of the exchange.
    PerRate,
    /// A fixed power for all rates.
    Level(Dbm),
}

/// Condition for the reception of a locked frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorModel {
    /// The frame's power reaches [`Sensitivity`] and its lowest SINR reaches `capture`.
    Threshold,
    /// A probability by modulation, size and the lowest SINR during the frame.
    WorstSinr,
    /// A probability by modulation over each interval of constant SINR.
    PerChunk,
}

/// PHY settings.
#[derive(Debug, Clone, PartialEq)]
pub struct PhySpec {
    /// Standard, for timing and modes.
    pub standard: Standard,
    /// Data rate of unicast frames.
    pub data_rate: Rate,
    /// Basic rates: the highest one not above the data rate carries RTS, CTS and ACK.
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
    /// Received signals weaker than this are left out.
    pub cutoff: Dbm,
    /// Thermal noise in the receiver, noise figure included.
    pub noise: Dbm,
    /// Condition for an idle receiver to lock.
    pub lock_on: LockOn,
    /// Least SINR at which a preamble locks.
    pub lock_sinr: Db,
    /// Duration of preamble detection before the receiver has locked: of several preambles that begin within this time the strongest wins,
    /// and none if it does not stand out by `lock_sinr`. Zero: the first one wins immediately.
    pub preamble_detection: Span,
    /// A preamble stronger than the locked frame by at least this takes over the receiver; `None`: never.
    pub relock: Option<Db>,
    /// Combination of interfering signals.
    pub interference: Interference,
    /// Condition for reception.
    pub error_model: ErrorModel,
    /// Probability that a data frame which its receiver would receive is lost nevertheless: for each attempt independently, below the MAC's
    /// retries.
    pub frame_loss: f64,
    /// Least SINR of a received frame under [`ErrorModel::Threshold`].
    pub capture: Db,
    /// Least power of a received frame under [`ErrorModel::Threshold`].
    pub sensitivity: Sensitivity,
}

/// Interval after a failed reception (EIFS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eifs {
    /// SIFS + an ACK at the lowest mandatory rate + DIFS (802.11-2016 10.3.2.3.7).
    LowestRate,
    /// SIFS + an ACK at the response rate + DIFS (ns-3's saturation tables).
    ResponseRate,
    /// DIFS, as after a good frame.
    Off,
}

/// Start of the back-off after a missing CTS or ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterTimeout {
    /// One DIFS after the time-out.
    Difs,
    /// At the time-out, if the medium has been idle for a DIFS by then.
    Immediate,
}

/// Time for which a sender waits for a CTS or ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseTimeout {
    /// SIFS + slot + PHY start delay, or until the end of a reception that has started by then (802.11-2016 10.3.2.8).
    PhyStart,
    /// SIFS + slot + the duration of the whole response.
    WholeResponse,
}

/// The distance for which the time-out of a CTS or ACK allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutDistance {
    /// That of the coverage class, for all neighbours: the slot contains it (802.11-2016 10.3.2.9).
    CoverageClass,
    /// Besides, the distance of the neighbour that has to answer: a signal's way there and back. The slot stays as it is.
    EachLink,
}

/// Access categories of a kind of radio (EDCA, 802.11-2016 10.22.2): each has its own queue, back-off and retries.
#[derive(Debug, Clone, PartialEq)]
pub struct EdcaSpec {
    /// Categories from the lowest priority to the highest; at least one, at most eight.
    pub categories: Vec<CategorySpec>,
    /// Slot boundaries that a back-off counts.
    pub countdown: Countdown,
    /// True if data frames have a QoS Control field of 2 bytes.
    pub qos_header: bool,
    /// End of a TXOP in which no further frame is sent.
    pub txop_end: TxopEnd,
    /// Category of an IP packet, by its DSCP.
    pub category_of_dscp: [u8; 64],
    /// Traffic identifier in the QoS Control field, by category.
    pub tids: [u8; 8],
}

/// An access category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategorySpec {
    /// Name, unique in its table.
    pub name: String,
    /// Number of slots after a SIFS for which the medium must be idle before the back-off counts: at least 1.
    pub aifsn: u8,
    /// Smallest contention window, in slots.
    pub cw_min: u32,
    /// Largest contention window, in slots.
    pub cw_max: u32,
    /// Limit of a transmission opportunity, in which frames follow each other after a SIFS; zero: one frame exchange.
    pub txop: Span,
}

/// Slot boundaries that a category's back-off counts in an idle period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Countdown {
    /// Those from the end of the AIFS on (802.11-2016 10.22.2.4): a frozen back-off has lost a slot when its AIFS has passed.
    Standard,
    /// Those from the end of the first slot after the AIFS on, as with the DCF (10.3.4.3).
    Dcf,
}

/// End of a TXOP before its limit, and so the duration fields of its frames (802.11-2016 9.2.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxopEnd {
    /// Duration fields reserve the medium to the limit of the TXOP (multiple protection); a CF-End that still fits releases it (10.22.2.8).
    /// Without one, the holder too waits until the limit (its TXNAV, 10.22.2.2).
    CfEnd,
    /// As [`TxopEnd::CfEnd`], but the holder does not wait: ns-3.
    CfEndNs3,
    /// Duration fields reserve the medium for the response to each frame, as those that Linux's mac80211 computes do; the standard's single
    /// protection would cover the next frame too. The TXOP ends in silence.
    Silent,
}

/// MAC settings. Every field is a parameter of the standard, or a rule of it that simulators interpret differently.
#[derive(Debug, Clone, PartialEq)]
pub struct MacSpec {
    /// Data frames longer than this (MPDU bytes) are preceded by RTS/CTS.
    pub rts_threshold: Bytes,
    /// Number of the attempt at a packet from which on RTS/CTS precede data frames of any length; `None`: only the threshold counts.
    pub rts_from_attempt: Option<NonZeroU8>,
    /// Smallest contention window of the DCF, in slots: back-off is drawn from 0..=cw_min.
    pub cw_min: u32,
    /// Largest contention window of the DCF, in slots.
    pub cw_max: u32,
    /// Access categories; `None`: the DCF.
    pub edca: Option<EdcaSpec>,
    /// Attempts of an RTS, or of a data frame without RTS, before the packet is dropped.
    pub short_retry_limit: u32,
    /// Attempts of a data frame after RTS/CTS before the packet is dropped.
    pub long_retry_limit: u32,
    /// Interval after a failed reception.
    pub eifs: Eifs,
    /// True if energy without a preamble counts as a failed reception.
    pub eifs_on_energy: bool,
    /// True if a NAV set by an RTS is reset when no reception follows (802.11-2016 10.3.2.4).
    pub nav_reset: bool,
    /// True if a CTS is sent only if the NAV is idle (802.11-2016 10.3.2.7).
    pub cts_needs_idle_nav: bool,
    /// True if a CTS is also withheld while the carrier is busy (802.11-2016 10.3.2.7 requires that only when RTS and CTS signal a
    /// bandwidth; ns-2 does it always).
    pub cts_needs_idle_carrier: bool,
    /// True if EIFS is kept as a NAV (ns-2): a good frame does not end it, CTS are withheld during it, a DIFS follows it.
    pub eifs_as_nav: bool,
    /// True if a packet that finds the medium idle for a DIFS is sent without back-off.
    pub immediate_access: bool,
    /// Start of the back-off after a time-out.
    pub after_timeout: AfterTimeout,
    /// Time for which a response is awaited.
    pub response_timeout: ResponseTimeout,
    /// Air propagation in units of 3 us that slot and time-outs allow for (802.11-2016 9.4.2.9).
    pub coverage_class: u8,
    /// The distance for which time-outs allow beyond the coverage class.
    pub timeout_distance: TimeoutDistance,
    /// A transmission is sensed at a slot boundary if it arrived at least this long before: CCA time plus turnaround. Less than 3 ns counts
    /// as 3 ns: no transmission is sensed at the moment of its arrival.
    pub sensing_delay: Span,
    /// Capacity of the MAC in packets, the one being sent included.
    pub mac_queue: u32,
    /// True if a full queue stops its local source (as Linux does); false if it drops the source's packets (as ns-2 does).
    pub backpressure: bool,
    /// Limit of the packets of local flows in the queue, if `backpressure` is set: see [`LocalLimit`].
    pub local_limit: LocalLimit,
}

/// Loss of power with distance.
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
    /// Unique name given by the user.
    pub id: String,
    /// Source node.
    pub from: usize,
    /// Destination node.
    pub to: usize,
    /// Transport protocol.
    pub transport: Transport,
    /// Traffic of the source.
    pub traffic: Traffic,
    /// Start of the flow, before `start_jitter` is added.
    pub start: Time,
    /// Uniform random delay of the start.
    pub start_jitter: Span,
    /// End of the flow ([`Time::NEVER`]: that of the run).
    pub stop: Time,
    /// Differentiated services code point of its packets, acknowledgements included: 0 to 63. Access categories depend on it.
    pub dscp: u8,
}

/// Transport protocol of a flow.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// UDP without a law of its own: that of the run's scheme, if it has one for UDP.
    Udp,
    /// UDP without a law, whatever the run's scheme is.
    PlainUdp,
    /// UDP with a scheme's source, and its receiver if it has one.
    ControlledUdp {
        /// The scheme.
        law: String,
        /// The parameters of the scheme.
        params: Params,
        /// True if the flow names this scheme itself: the run's scheme does not replace it.
        pinned: bool,
    },
    /// The transport with a rate: paced as over UDP, and what is lost is sent again.
    Rate {
        /// The scheme.
        law: String,
        /// The parameters of the scheme.
        params: Params,
        /// True if the flow names this scheme itself: the run's scheme does not replace it.
        pinned: bool,
        /// Payload of a datagram with data of an application that hands over bytes, and not packets.
        payload: Bytes,
    },
    /// TCP.
    Tcp {
        /// Settings of the connections.
        config: TcpConfig,
        /// The scheme whose source is its window law.
        law: String,
        /// The law's parameters.
        params: Params,
        /// True if the flow names this law itself: the run's scheme does not replace it.
        pinned: bool,
    },
}

/// Traffic of a source. UDP carries the first three kinds, TCP all.
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
    /// A file of unlimited size (FTP in the papers).
    Endless,
    /// One file.
    File {
        /// Size of the file.
        size: Bytes,
    },
    /// One file after the other, each over a connection of its own, with a pause between the end of one and the start of the next: web
    /// on-off traffic.
    Web {
        /// Sizes of the files.
        sizes: Sizes,
        /// Mean of the exponentially distributed pauses.
        pause: Span,
    },
    /// Files that arrive in a Poisson stream, each over a connection of its own.
    Arrivals {
        /// Mean number of arrivals per second.
        per_second: f64,
        /// Sizes of the files.
        sizes: Sizes,
        /// Maximum number of files; 0: no limit.
        count: u64,
    },
    /// Files at given times after the flow's start, each over a connection of its own.
    List {
        /// Times in ascending order, and sizes.
        files: Arc<[(Span, Bytes)]>,
    },
}

impl Traffic {
    /// True for files, each of which goes over a connection of its own.
    #[must_use]
    pub const fn has_files(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Web { .. } | Self::Arrivals { .. } | Self::List { .. })
    }

    /// Payload of a packet, or its mean; 0 for files.
    #[must_use]
    pub const fn packet(&self) -> Bytes {
        match *self {
            Self::ConstantRate { packet, .. }
            | Self::Poisson { packet, .. }
            | Self::Saturating { packet } => packet,
            Self::Endless
            | Self::File { .. }
            | Self::Web { .. }
            | Self::Arrivals { .. }
            | Self::List { .. } => Bytes(0),
        }
    }

    /// True if the application has files of limited size to send, which decide how much the flow carries.
    #[must_use]
    pub const fn sends_files(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Web { .. } | Self::Arrivals { .. } | Self::List { .. })
    }
}

/// Sizes of files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sizes {
    /// One size for all files.
    Fixed(Bytes),
    /// Exponential, rounded up to a byte.
    Exponential {
        /// Mean size.
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

/// Selection of next hops. Static routes do not change; ties are decided by the neighbour's name in natural order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutingSpec {
    /// Shortest paths over links that both ends can decode at the data rate; delivery ratios of links are those of data frames without
    /// interference.
    Static(Metric),
    /// Routes that a routing protocol finds during the run.
    Found(Arc<dyn Protocol>),
}

/// ARP settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArpSpec {
    /// True if all addresses are known from the start.
    pub prefilled: bool,
    /// Packets that wait for one address; more are dropped, the oldest first.
    pub waiting_packets: u32,
    /// Time after which an unanswered request is repeated.
    pub retry: Span,
    /// Requests before the waiting packets are dropped.
    pub attempts: u32,
}

/// Bytes that each layer adds. Defaults are the lengths of the real headers; other simulators count differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderSpec {
    /// UDP header.
    pub udp: u32,
    /// TCP header; `None`: its real length, options included.
    pub tcp: Option<u32>,
    /// IP header.
    pub ip: u32,
    /// LLC/SNAP, on the air only.
    pub llc: u32,
    /// MAC header and FCS of a data frame, on the air only.
    pub mac: u32,
    /// Framing of a wired link.
    pub wired: u32,
}
