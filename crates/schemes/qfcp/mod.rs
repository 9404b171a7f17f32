//! QFCP: routers and access points write the fair rate of a flow into each packet, and senders keep to it.
//!
//! J. Pu, M. Hamdi, "Improving Quality of Service for Congestion Control in High-Speed Wired-cum-Wireless Networks" (Quick Flow
//! Control Protocol). Places: a [`Hop`] at each output interface, and the [`Source`] of each flow. All of it is in section II.
//!
//! | file | what | equations |
//! |---|---|---|
//! | `header` | RTT, rate-request, rate-feedback: 16 bytes in each packet | |
//! | `router` | the number of flows, the fair share, the control interval, the virtual queue | 1, 2, 6 |
//! | `capacity` | the capacity of the link, configured or probed | 4 |
//! | `sender` | window, time-outs | 3 |
//! | `airfair-transport`, `sender/loss.rs` and `sender/output.rs` | duplicates: num_dupACK, and its sum with the window | 5 |
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | T | `first_interval`, `min_interval`, `max_interval`, `rtt_weight` | time | the mean RTT of packets |
//! | N(t) | gauge `flows` | | |
//! | R(t) | gauge `fair_share_bps`; `initial_share` | part of C at the start | 0.05 |
//! | y(t) | gauge `input_bps` | bytes/s inside | |
//! | R(t - T) | `divisor` | | the mean of R in force and R before |
//! | q(t) | the least backlog of an interval, and what was dropped in it; `queue_unit`, `packet_size` | bytes in (2), packets in (4) | |
//! | C | gauge `capacity_bps`; `capacity`, `initial_capacity`, `ceiling` | rate | a wire's is its rate, a radio's is probed |
//! | alpha, beta | `alpha`, `beta` | | 0.1, 0.5 |
//!
//! Readings where the paper is open, each a parameter where another one is worth a try:
//! - **N** is at least 1, so that R never exceeds C: silence would make it 0 and R infinite.
//! - **R(t - T)** of (1), "the flow rate feedback given in the last control interval" (`divisor`): the R in force while y was
//!   measured, the R one interval earlier, which the traffic of y was granted where its round trip is T, or the mean of both. With f =
//!   RTT/T the logarithm of R obeys z^2 - (f - d) z + (f - d) = 0, where d is 0, 1 or 1/2: stable for -1/2 < f - d < 1. T is the
//!   mean round trip, so f = 1 is the rule: with d = 0 oscillations keep their amplitude, d = 1 is unstable for round trips below T/2,
//!   and d = 1/2 is stable for all from 0 to 3/2 T and settles as figure 2 shows.
//! - **The numerator of (2)** is at least C/100: a standing queue above 2 C T would make it negative.
//! - **T** is a mean over packets that moves by `rtt_weight` towards the RTT of each; packets without an RTT (SYN, acknowledgements)
//!   do not count.
//! - **q** is the least queue of the interval and the drops of the interval. In (2) a packet counts as its bytes, since y and C do, or
//!   as `packet_size` (`queue_unit`; (6) adds numbers of packets). In (4) q is at least a packet when one waited all the time or was
//!   dropped (`drops_are_busy`; the text says to use the virtual queue in the algorithm).
//! - **output** of (4) is the traffic that has left the queue; at an access point also the traffic received by its radio.
//! - **(4) in an interval without traffic** leaves C unchanged (`probe_unused`): an unused link shows nothing about its capacity. C never
//!   exceeds the nominal rate of the interface, or `ceiling`.
//! - **The cell is one channel** (section III-B: control of "all packets in both directions"): the controller at an access point's
//!   radio counts and stamps both received and sent packets; its queue is that of the interface. Stations control their own queue.
//! - **The request** of a sender is `request`, without a limit by default.
//! - **The RTT of (3)** is smoothed (`rtt`): the text calls it the sender's estimation.
//! - **num_dupACK of (5)** is the inflation of the window that the transport adds in fast recovery, after limited transmit. A partial
//!   acknowledgement does not reduce it, as in the text (with `deflate` it does, as in NewReno). With SACK the scoreboard counts the data
//!   that has left the network, and nothing is added.
//! - **Pacing**: by the window alone (`paced`).
//! - **When**: a packet is stamped as it arrives, before it waits; the paper says "when a packet arrives at a router".
//! - **Routers without support** for QFCP: the sender follows TCP's law below the granted rate ([`crate::explicit::Fallback`]); the paper
//!   wants loss ignored only "if we are sure that all routers along the path support" it.

//!
//! Ours, because measured (`docs/schemes/qfcp.md`); each is off by default:
//! - `rise`: a flow in time-out vanishes from N, and R leaps to C; its bursts then cost the others a time-out.
//! - `stations` false: a station's C is probed by its own traffic, of which the cell leaves it less than it could carry, so that stations
//!   lower one another's R. The access point hears both directions, stamps both, and counts itself as the support of a station's radio.
//! - `yields_for`: senders that follow TCP take a link from those that keep to grants. Senders state in their packets how many
//!   interfaces lack support, and the radio of an access point that such packets pass counts itself among these for a time.
//! - `asks_every`: where TCP's law is in charge the header brings nothing but news of support, for which one packet a second is enough
//!   (the paper has one in each packet and acknowledgement). Packets without one count in y, and not in T.
//! - `initial_share` 1 with `paced` and `rise`: from a small share a bounded R needs dozens of intervals, for which it also holds senders
//!   that follow TCP. The price on wires is a burst at the start: 10 flows into a queue of 10 packets lose 451 for 18, with equal rates
//!   then.
//! - `slow_start`: the first grants are parts of a capacity that probing has not found yet; a sender that then begins to follow TCP would
//!   be in congestion avoidance from next to nothing. What section III-A says against slow start is of paths with QFCP.
//! - `most_given_up`: an access point whose MAC gives up packets shares its air with stations beyond its cell, and yields too.

mod capacity;
pub mod header;
mod presets;
mod router;
mod sender;

pub use capacity::{Capacity, Observed};
pub use presets::PRESETS;
pub use router::{Divisor, QfcpRouter, RouterConfig};
pub use sender::{QfcpSender, SenderConfig};

use alloc::boxed::Box;
use core::ops::RangeInclusive;

use airfair_units::{Bytes, Rate, Span, math};

use crate::explicit::{FASTEST, Fallback, RttChoice, WithFallback, requested};
use crate::params::{ParamError, Params};
use crate::places::{Capability, Hop, Interface, Medium, PartialAck, Source, Wants};
use crate::scheme::Scheme;
use crate::{params, words};

/// The bounds of intervals.
const SPANS: RangeInclusive<Span> = Span::from_millis(1)..=Span::from_secs(100);

words! {
    /// The source of C at a router.
    pub enum CapacityFrom {
        /// Wires are configured, radios probed.
        Auto = "auto",
        /// The configured rate of the interface.
        Configured = "configured",
        /// The rate that is found by probing (equation 4).
        Probed = "probed",
    }
}

words! {
    /// The radios whose controllers count and stamp both directions.
    pub enum BothDirections {
        /// Those of access points.
        AccessPoint = "access-point",
        /// All radios.
        All = "all",
        /// No radio.
        None = "none",
    }
}

words! {
    /// The unit in which packets count towards q (equations 2 and 6).
    pub enum QueueUnit {
        /// Each packet counts as its bytes.
        Bytes = "bytes",
        /// Each packet counts as `packet_size`.
        Packets = "packets",
    }
}

params! {
    /// The parameters of QFCP.
    pub(crate) struct QfcpParameters {
        /// growth of a probed capacity in an interval in which the link was idle at times, equation 4
        paper alpha: f64 = 0.1, in 0.0..=10.0;
        /// part of the standing queue that is drained in an interval, equation 2
        paper beta: f64 = 0.5, in 0.0..=10.0;
        /// the source of C at routers: auto (a wire's is its rate, a radio's is probed), configured (a radio's is `ceiling` or its
        /// nominal rate, which no traffic ever reaches) or probed everywhere
        operator capacity: CapacityFrom = CapacityFrom::Auto;
        /// a probed capacity at the start; section III-C: 1 Mbit/s on each wireless node
        paper initial_capacity: Rate = Rate::from_mbps(1), in Rate(8)..=FASTEST;
        /// upper bound of the capacity of a radio; 0: the rate of its data frames
        operator ceiling: Rate = Rate(0), in Rate(0)..=FASTEST;
        /// a probed capacity grows also in intervals without traffic; the paper does not say
        reading probe_unused: bool = false;
        /// in equation 4 a link is busy also when packets were dropped in the interval: equation 6 substitutes q "in the algorithm"
        reading drops_are_busy: bool = true;
        /// radios whose controllers also count and stamp received packets: of access points, all, or none; section III-B speaks of base
        /// stations
        reading both_directions: BothDirections = BothDirections::AccessPoint;
        /// R(t - T) of equation 1: the share in force while y was measured, the one an interval earlier (previous), or the mean of both;
        /// the paper says "given in the last control interval"
        reading divisor: Divisor = Divisor::Mean;
        /// the size of a packet of q in equation 2: its bytes, or packet_size whatever its own size (packets); equation 6 adds numbers of
        /// packets
        reading queue_unit: QueueUnit = QueueUnit::Bytes;
        /// size of a packet where queue_unit is packets; section III-A has packets of 1000 bytes
        reading packet_size: Bytes = Bytes(1000), in Bytes(1)..=Bytes(65_535);
        /// by how much a packet's RTT moves T, a moving average; the paper gives no weight
        reading rtt_weight: f64 = 0.02, in 0.0001..=1.0;
        /// T before the first packet; the paper gives none
        reading first_interval: Span = Span::from_millis(100), in SPANS;
        /// least T: shorter round trips are controlled this often
        operator min_interval: Span = Span::from_millis(10), in SPANS;
        /// largest T
        operator max_interval: Span = Span::from_secs(10), in SPANS;
        /// R at the start, as a part of C; the paper gives none. Flows that start together send all of C
        /// each for an interval with 1; from 0.05 an R that rises by at most a tenth (`rise`) needs 31 intervals
        reading initial_share: f64 = 0.05, in 0.0001..=1.0;
        /// the rate that a sender requests; 0: without a limit
        operator request: Rate = Rate(0), in Rate(0)..=FASTEST;
        /// the sender's round-trip time in equation 3: smoothed, latest, or the least so far, which leaves queues out
        reading rtt: RttChoice = RttChoice::Smoothed;
        /// largest factor by which R rises in an interval; ours: with 1e10, the paper's, R leaps to C when flows fall silent, since
        /// equation 1 takes silence for departure
        reading rise: f64 = 1e10, in 1.01..=1e10;
        /// radios of nodes that are no access points control their own queue; false: only cells are controlled, their access points speak
        /// for the stations, and a path with any other radio follows TCP
        operator stations: bool = true;
        /// how long the radio of an access point leaves control to TCP after a packet whose sender states interfaces without QFCP; 0: it
        /// never does
        operator yields_for: Span = Span::ZERO, in Span::ZERO..=Span::from_secs(3600);
        /// share of the packets that the radio of an access point gives up above which the air is not its cell's alone, and it leaves
        /// control to TCP for yields_for; 1: it never does
        operator most_given_up: f64 = 1.0, in 0.0..=1.0;
        /// ours: least time between two packets with a header of a sender that follows TCP, which ask if all interfaces support QFCP by
        /// now; shorter than yields_for, if access points yield. The paper has a header in each packet (section II)
        operator asks_every: Span = Span::ZERO, in Span::ZERO..=Span::from_secs(3600);
        /// ours: a sender that begins to follow TCP under way is in slow start, from half of its window; false: in congestion avoidance,
        /// though its window has shown nothing about interfaces without QFCP
        operator slow_start: bool = false;
        /// a partial acknowledgement takes back what its duplicates have added to the window, as NewReno does; the paper resets
        /// num_dupACK only when all is acknowledged
        reading deflate: bool = false;
        /// segments leave at the granted rate; without it as acknowledgements arrive, within the window
        reading paced: bool = false;
    }
}

/// QFCP with the parameters of a run.
#[derive(Debug, Clone)]
pub struct Qfcp {
    router: RouterConfig,
    sender: SenderConfig,
    capacity_from: CapacityFrom,
    both_directions: BothDirections,
    alpha: f64,
    initial_capacity: Rate,
    ceiling: Rate,
    probe_unused: bool,
    stations: bool,
    asks_every: Span,
    slow_start: bool,
}

impl Qfcp {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let set = QfcpParameters::read(params)?;
        if set.min_interval > set.max_interval {
            return Err(ParamError::above("min_interval", "max_interval"));
        }
        if set.yields_for > Span::ZERO && set.asks_every >= set.yields_for {
            return Err(ParamError::not_below("asks_every", "yields_for"));
        }
        let router = RouterConfig {
            beta: set.beta,
            rtt_gain: math::round(set.rtt_weight * 65536.0) as i64,
            intervals: (set.min_interval, set.max_interval),
            first_interval: set.first_interval,
            initial_share: set.initial_share,
            drops_are_busy: set.drops_are_busy,
            divisor: set.divisor,
            packet: (set.queue_unit == QueueUnit::Packets).then_some(set.packet_size.get() as f64),
            rise: set.rise,
            speaks_for_stations: !set.stations,
            yields_for: set.yields_for,
            most_given_up: set.most_given_up,
        };
        let sender = SenderConfig {
            request: requested(set.request),
            rtt: set.rtt,
            paced: set.paced,
            states_support: set.yields_for > Span::ZERO,
            partial_ack: if set.deflate { PartialAck::RepairsNext } else { PartialAck::RepairsUndeflated },
        };
        Ok(Self {
            router,
            sender,
            capacity_from: set.capacity,
            both_directions: set.both_directions,
            alpha: set.alpha,
            initial_capacity: set.initial_capacity,
            ceiling: set.ceiling,
            probe_unused: set.probe_unused,
            stations: set.stations,
            asks_every: set.asks_every,
            slow_start: set.slow_start,
        })
    }

    fn capacity(&self, interface: &Interface) -> Capacity {
        let radio = interface.medium == Medium::Radio;
        let ceiling = if radio && self.ceiling > Rate(0) { self.ceiling } else { interface.rate };
        let ceiling = ceiling.as_bps() as f64 / 8.0;
        match (self.capacity_from, radio) {
            (CapacityFrom::Configured, _) | (CapacityFrom::Auto, false) => Capacity::Configured(ceiling),
            (CapacityFrom::Probed, _) | (CapacityFrom::Auto, true) => Capacity::Probed {
                estimate: (self.initial_capacity.as_bps() as f64 / 8.0).min(ceiling),
                alpha: self.alpha,
                ceiling,
                when_unused: self.probe_unused,
            },
        }
    }
}

impl Scheme for Qfcp {
    fn source(&self) -> Option<Box<dyn Source>> {
        let fallback = if self.slow_start { Fallback::in_slow_start() } else { Fallback::default() };
        Some(Box::new(
            WithFallback::new(QfcpSender::new(self.sender)).falling_back(fallback, self.asks_every),
        ))
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        let acts = self.stations || interface.medium == Medium::Wire || interface.access_point;
        // A wire that senders without grants share is no harm to those with them: its rate is known, and (2) drains its queue.
        let yields_for = if interface.is_access_point_radio() { self.router.yields_for } else { Span::ZERO };
        let router = RouterConfig { yields_for, ..self.router };
        acts.then(|| Box::new(QfcpRouter::new(router, self.capacity(interface))) as Box<dyn Hop>)
    }

    fn wants(&self, interface: &Interface) -> Wants {
        let received = match self.both_directions {
            BothDirections::AccessPoint => interface.is_access_point_radio(),
            BothDirections::All => interface.medium == Medium::Radio,
            BothDirections::None => false,
        };
        let counts = interface.is_access_point_radio() && self.router.most_given_up < 1.0;
        Wants::NONE.and_if(received, Capability::Received).and_if(counts, Capability::AccessTimes)
    }
}
