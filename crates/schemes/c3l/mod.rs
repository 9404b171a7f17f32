//! C3L: a controller assigns every link its share of the air; nodes divide it among flows.
//!
//! Source: Raniwala, De, Sharma, Krishnan, Chiueh, "Globally Fair Radio Resource Allocation for Wireless Mesh Networks". Places: an agent
//! at each node (discovery, profile, shares), the hop (stamp), the source and its receiver (rate, feedback), the controller. Laws are
//! functions and state machines over values; the places call them.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | C_max | 1; a link's goodput alone is 1 by `cost` | part of the time of the air; bit/s |
//! | C_est, Cap_cid | `capacity::Estimate::capacity` | part of C_max |
//! | δ_i, δ_r | `capacity::CapacityConfig::increment`, `capacity::Estimate::decrement` | part of C_max |
//! | O_nid, r_nid | `capacity::LinkRound::{assigned, transmissions}` | bit/s, transmissions of a packet |
//! | Chnl, Estimate_Channel_Usage | `capacity::Capacities::usage` | seconds per second |
//! | W_FACTOR, Hidden | `capacity::CapacityConfig::w_factor`, `topology::Topology::hidden` | – |
//! | C_alloc, C_residual, n_unasn | `shares::divide`: `link`, `residual`, `unassigned` | bit/s, flows |
//! | f_s, δ (III-E) | `shares::Requirement`, `shares::SharesConfig::delta` | bit/s, part of the link's share |
//!
//! | file | contents |
//! |---|---|
//! | `discovery` | §III-B, at a node: who is heard |
//! | `topology` | §III-B, at the controller: conflict graph, cliques, inhibited links |
//! | `profile` | §III-A, at the controller: routes of flows |
//! | `allocation` | §III-C, shares of links |
//! | `capacity` | §III-D, Algorithm 1 |
//! | `round` | figure 6, a round of the controller: these together |
//! | `shares` | §III-E, shares of flows |
//! | `overload` | §III-A, reaction to a queue |
//! | `known_controllers` | the controllers that a node has heard of, and the one that it reports to (ours) |
//! | `agent`, `links` | the agent of a radio; what it counts and decides of its links |
//! | `controller` | the controller: reports, rounds, allocations |
//! | `header`, `hop`, `flow` | §III-E, the stamp: its words, the nodes that write it, source and receiver |
//! | `local` | figure 12, the agent of `c3l-local`: estimates without a controller |
//!
//! Readings that no single file owns:
//! - C_max is what a lone link delivers at its rate when it is saturated, not the rate of its frames (`c_max = "rate"`). A clique is
//!   therefore a second of air per second, of which a link takes 1/C for each bit: links of different rates can be in one clique (the paper
//!   has one rate).
//! - No result depends on the order of nodes, links, flows or reports: where numbers are equal, names decide.
//! - All that is learnt from messages expires, and every table has a limit.
//! - Rates are those of IP packets, this scheme's header included.
//! - A node has one radio: two would report under one name, so a node with several is refused
//!   (`Capability::LoneRadio`).
//! - Wires are not C3L's: they have no agent, and stamp nothing. With `unstamped` a source whose packets nobody stamps has no rate.
//! - Additions of ours that are off by default, each with the measurement that it answers: the window and the timer over TCP (`flow`),
//!   acknowledgements (`profile`), losses and bounds of capacities (`capacity`), the reach of probes and the first cycles (`agent`).
//! - Flows of C3L are not held by `local_limit`: a queue that is kept short would not show that a link is overloaded.

mod agent;
pub mod allocation;
pub mod capacity;
mod controller;
pub mod discovery;
mod flow;
pub mod header;
mod hop;
pub mod known_controllers;
mod links;
pub mod local;
pub mod overload;
mod presets;
pub mod profile;
pub mod round;
pub mod shares;
pub mod topology;

use alloc::boxed::Box;

use airfair_units::{Bytes, Db, Rate, Span};
use airfair_wire::c3l as wire;

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{
    Agent, Capability, Controller as ControllerPlace, Hop, Interface, Medium, MessageKinds, Source, UdpEnds,
    Wants,
};
use crate::scheme::Scheme;

pub use agent::{NodeAgent, ProbeReach};
pub use controller::Controller;
pub use flow::{Backstop, C3lSource, Receiver, SourceConfig};
pub use hop::Stamper;
pub use links::{Capacity, Ended, Links, Sending};
pub use local::LocalAgent;
pub use presets::{OF_VARIANTS, PRESETS};

use capacity::{Decrease, Repeats, Several};
use topology::{Conflict, Hider, Reach, Vertices};

const MILLISECOND: Span = Span::from_millis(1);
const HOUR: Span = Span::from_secs(3600);
const FASTEST: Rate = Rate(10_000_000_000);

params! {
    /// The parameters that `c3l-local` has as well.
    pub(crate) struct FlowParameters {
        /// time between two control packets of a flow's receiver, and between two divisions of a link's share (section IV)
        paper epoch: Span = Span::from_secs(1), in MILLISECOND..=HOUR;
        /// a source's rate before the first feedback, and its largest one without feedback; what a node stamps for a flow that it does not
        /// know yet; the paper gives none: enough packets to learn the share by, and little air
        reading first_rate: Rate = Rate(100_000), in Rate(1)..=FASTEST;
        /// a source's least rate
        operator rate_min: Rate = Rate(4_000), in Rate(1)..=FASTEST;
        /// a source's largest rate
        operator rate_max: Rate = Rate(100_000_000), in Rate(1)..=FASTEST;
        /// time without feedback after which a source goes back to `first_rate`
        operator feedback_expiry: Span = Span::from_secs(5), in MILLISECOND..=HOUR;
        /// time between two samples of a node's counters
        operator sample: Span = Span::from_millis(100), in MILLISECOND..=Span::from_secs(10);
        /// what counts as a flow's sending rate (section III-E) at a node of its path: the one "stated" by its source, or that of
        /// "arrivals", which losses on the way make less
        reading sending: Sending = Sending::Stated;
        /// delta of section III-E, by which a flow may grow: part of the link's share; the paper gives no number: 0.1 is ours
        paper delta: f64 = 0.1, in 0.0..=1.0;
        /// part of delta that a flow has to use before its requirement is infinite; section III-E says "consumes" it, and rates vary
        reading consumed: f64 = 0.5, in 0.0..=1.0;
        /// time after which a flow that has not sent any more has no share
        operator flow_expiry: Span = Span::from_secs(8), in MILLISECOND..=HOUR;
        /// most flows that a node stores for a link
        operator flows: u64 = 1024, in 1..=65_536;
        /// the window of a source over TCP beside its rate (ours): "none", or that of "newreno", which keeps a flow whose share is more
        /// than its path carries from filling the path with repetitions
        reading tcp_window: Backstop = Backstop::None;
        /// the least of that window while an allocation paces the source, segments (ours): a packet that the MAC gives up is no sign of
        /// congestion there, and with fewer segments under way nothing but the timer repairs it
        reading least_window: u64 = 1, in 1..=1024;
        /// a time-out doubles the timer of a source that has an allocation, as RFC 6298 section 5.5 has it; false: the source repeats at
        /// its rate (ours)
        reading doubles_timer: bool = true;
        /// the host holds no flow back by its local_limit: a queue that is kept short would not show that a link is overloaded; false
        /// (ours): it does, so that a node's own flows leave room for what it forwards, by cable too
        reading own_queue: bool = true;
        /// a source whose packets no node stamps has no rate but `rate_max` (ours), and over TCP with a window none at all: a path without
        /// radio is nobody's air; false: `first_rate`
        reading unstamped: bool = false;
        /// size of the packets for which a link's goodput is computed before any have passed; the paper's C_max has no size
        reading packet: Bytes = Bytes(1048), in Bytes(1)..=Bytes(65_535);
    }
}

params! {
    /// The parameters of `c3l`.
    pub(crate) struct C3lParameters {
        ..flow: FlowParameters;
        /// time for which a flow keeps its requirement after its share has risen (ours): its source learns of it an epoch or two later
        reading settle: Span = Span::from_secs(2), in Span::ZERO..=HOUR;
        /// time between two rounds of the controller, and between two reports of a node (section IV)
        paper cycle: Span = Span::from_secs(8), in Span::from_millis(100)..=HOUR;
        /// how far probes reach: as their "power" takes them, or as far as the radio's own signal is sensed ("sense", ours), by what the
        /// driver knows of the radio
        reading probe_reach: ProbeReach = ProbeReach::Power;
        /// time until a controller's first round (ours); the times to the next ones are twice as long each, until they are a cycle. If it
        /// is shorter than a cycle, a node that hears of its first controller says so at once, and reports soon
        reading first_cycle: Span = HOUR, in Span::from_millis(100)..=HOUR;
        /// part of a cycle by which a node's report precedes the controller's round at most (ours): it takes time to arrive
        reading report_lead: f64 = 0.2, in 0.0..=0.9;
        /// cycles for which an allocation is valid (ours): the next one may be lost, and a controller may die
        reading validity: u64 = 3, in 1..=1000;
        /// time between two HELLOs, and between two probes, of a node
        operator hello_interval: Span = Span::from_secs(1), in Span::from_millis(10)..=HOUR;
        /// part of hello_interval by which they vary (ours), so that no two nodes send in step
        reading hello_jitter: f64 = 0.1, in 0.0..=1.0;
        /// power of probes above the radio's own, dB (section III-B: 3)
        paper probe_power: f64 = 3.0, in -30.0..=30.0;
        /// HELLOs over which a delivery ratio is taken; section III-B gives no number
        reading window: u64 = 20, in 1..=64;
        /// change of a delivery ratio for which a node sends the controller its list again (ours): a list in each report would cost air
        reading list_step: f64 = 0.1, in 0.0..=1.0;
        /// most neighbours that a node counts
        operator neighbours: u64 = 64, in 1..=255;
        /// time without word of a controller after which its nodes do without it
        operator controller_expiry: Span = Span::from_secs(20), in MILLISECOND..=HOUR;
        /// part of C_max that the flows of a node divide without a controller's allocation; where hidden senders starve others, much less
        /// than 1 lets the first reports through
        reading default_part: f64 = 0.1, in 0.001..=1.0;
        /// time without word of a controller after which a node does not limit its flows any more (ours)
        reading unled: Span = HOUR, in MILLISECOND..=HOUR;
        /// most links that a node stores
        operator node_links: u64 = 64, in 1..=255;
        /// mean queue of a cycle above which a link is overloaded, part of its limit; section III-D asks for a large one, without a number
        reading overload_threshold: f64 = 0.2, in 0.0..=1.0;
        /// mean queue of a cycle's second half by that of its first, below which the link is not overloaded, since its queue drains (ours);
        /// 0: it is in any case
        reading overload_falls: f64 = 0.9, in 0.0..=1.0;
        /// part of its packets that the MAC gives up in a cycle above which a link is lossy (ours): what is given up builds up no queue;
        /// the clique that an overloaded link would pinpoint loses increment, as long as it has more than lossy_floor; 1: never
        reading overload_losses: f64 = 1.0, in 0.0..=1.0;
        /// the capacity below which losses take nothing, part of C_max (ours): many links lose packets whatever others send
        reading lossy_floor: f64 = 0.7, in 0.0..=1.0;
        /// the acknowledgements of flows have a part of the cliques' capacity (ours): nodes report the air that they take, and a rate
        /// counts with what its acknowledgements take of the way back; false: they are in no profile
        reading answers: bool = false;
        /// what counts as a link's use of its share, before a capacity grows: what sources are "stated" to send, or what has come as
        /// "arrivals" (ours)
        reading used_rate: Sending = Sending::Stated;
        /// a packet counts with all its transmissions in the allocation, not only in the search for a clique (ours)
        reading repeats_cost: bool = false;
        /// the capacity of a new clique, part of C_max (section III-D: 1)
        reading first_capacity: f64 = 1.0, in 0.001..=1.0;
        /// the largest capacity of a clique, part of C_max (Algorithm 1: 1)
        reading most_capacity: f64 = 1.0, in 0.001..=4.0;
        /// queue above which a node injects less by itself, part of its limit; far above overload_threshold, or it hides from the
        /// controller what is overloaded
        reading local_threshold: f64 = 0.9, in 0.0..=1.0;
        /// what the shares of the link's flows are multiplied by then, until the next allocation; section III-A only says that the node
        /// modifies the rate; 1: never
        reading local_factor: f64 = 0.9, in 0.01..=1.0;
        /// time after which they are multiplied again; 0: not before the next allocation, which is left to the controller
        reading local_again: Span = Span::ZERO, in Span::ZERO..=HOUR;
        /// the smallest product of these factors (ours), so that no link is stopped
        reading local_floor: f64 = 0.1, in 0.0..=1.0;
        /// what C_max is: the "goodput" of a lone saturated link, or the "rate" of its data frames, the paper's "raw capacity" (then
        /// default_goodput is to be it too)
        reading c_max: Capacity = Capacity::Goodput;
        /// r, by which the use of channel time counts to find a clique: "transmissions" of a packet, or "retransmissions" (as printed, by
        /// which a link without any uses none)
        reading repeats: Repeats = Repeats::Transmissions;
        /// delta_i, part of C_max that a clique's capacity gains (section IV)
        paper increment: f64 = 0.05, in 0.0..=1.0;
        /// the smallest capacity of a clique, part of C_max (ours)
        reading floor: f64 = 0.05, in 0.001..=1.0;
        /// capacities are re-estimated (figure 12, third bar)
        paper reestimate: bool = true;
        /// W_FACTOR, what the use of inhibitors is multiplied by (section IV); 1: it is off
        paper w_factor: f64 = 1.7, in 1.0..=10.0;
        /// W_FACTOR counts in the allocation too (ours)
        reading w_in_allocation: bool = false;
        /// which cliques of an overloaded link lose capacity: the "pinpointed" one (Algorithm 1) or "all" (ours)
        reading decrease: Decrease = Decrease::Pinpointed;
        /// what a clique loses that several overloaded links pinpoint in a round: delta_r "once" (Algorithm 1) or for "each"
        reading several: Several = Several::Once;
        /// part of its share that each sender has to use before a capacity grows; 0: it grows in any case (Algorithm 1)
        reading used: f64 = 0.9, in 0.0..=1.0;
        /// flows get no more than nodes report that they require (ours)
        reading demands: bool = false;
        /// delivery ratio from which a link is usable; section III-B infers it from the ratio, without a number
        reading usable: f64 = 0.5, in 0.0..=1.0;
        /// part of HELLOs or probes that a node hears of another from which they interfere; section III-B gives no number
        reading interferes: f64 = 0.1, in 0.0..=1.0;
        /// two nodes interfere only if each hears the other, so that a node that lies invents no conflicts with nodes that do not hear it
        /// (ours); false: if one hears the other
        reading mutual: bool = false;
        /// which links are in conflict: those of which "ends" interfere, as RTS and CTS have it, or those whose "receivers" hear the
        /// other's sender
        reading conflict: Conflict = Conflict::Ends;
        /// vertices of the conflict graph: links that are "used" by flows, or all "usable" ones (section III-B)
        reading vertices: Vertices = Vertices::Used;
        /// how near an inhibitor is to the receiver: in "communication" (section III-B) or "interference" range
        reading reach: Reach = Reach::Communication;
        /// which end of an inhibitor is hidden: the "sender" or "either"
        reading hider: Hider = Hider::Either;
        /// most flows that the controller counts of those that begin at one node (ours)
        reading own_flows: u64 = 1024, in 1..=65_536;
        /// time for which a link stays in the conflict graph after its last use (ours): a flow that pauses changes no clique
        reading keep: Span = Span::from_secs(120), in MILLISECOND..=HOUR;
        /// time for which a node's report of flows and links counts
        operator report_expiry: Span = Span::from_secs(40), in MILLISECOND..=HOUR;
        /// time after which the controller forgets a node that does not report
        operator node_expiry: Span = Span::from_secs(60), in MILLISECOND..=HOUR;
        /// goodput of a lone link, for the controller, of which nothing is reported
        operator default_goodput: Rate = Rate(1_394_000), in Rate(1)..=FASTEST;
        /// most nodes that the controller stores
        operator nodes: u64 = 8192, in 1..=65_536;
        /// most links in the controller's conflict graph
        operator links: u64 = 16_384, in 1..=1_000_000;
        /// most cliques that it lists
        operator cliques: u64 = 1_000_000, in 1..=100_000_000;
        /// most members of all these cliques together
        operator clique_members: u64 = 200_000, in 1..=100_000_000;
    }
}

params! {
    /// The parameters of `c3l-local`.
    pub(crate) struct LocalParameters {
        ..flow: FlowParameters;
        /// weight of a sample in the average of a radio's bandwidth; the paper refers to EXACT and gives no number
        reading bandwidth_weight: f64 = 0.1, in 0.001..=1.0;
        /// what the MAC adds to a packet, in bytes at the rate of its payload (ours): without, short packets make a radio look slow
        reading overhead: Bytes = Bytes(0), in Bytes(0)..=Bytes(65_535);
        /// part of a node's time that its flows divide; the paper keeps none back
        reading time: f64 = 1.0, in 0.01..=1.0;
    }
}

/// Messages in the order of results: collecting the profile first.
const KINDS: [(wire::Kind, &str); 4] = [
    (wire::Kind::Report, "report"),
    (wire::Kind::Allocation, "allocation"),
    (wire::Kind::Hello, "hello"),
    (wire::Kind::Probe, "probe"),
];
const KIND_NAMES: [&str; 4] = [KINDS[0].1, KINDS[1].1, KINDS[2].1, KINDS[3].1];

/// The source of the links' shares.
#[derive(Debug, Clone)]
enum Shares {
    /// A controller (§III).
    Controller(Box<(agent::AgentConfig, controller::ControllerConfig)>),
    /// Each node's own estimate of its bandwidth, without controller and messages (figure 12, first bar).
    Local(local::LocalConfig),
}

/// C3L, or `c3l-local`.
#[derive(Debug, Clone)]
pub struct C3l {
    source: SourceConfig,
    /// Time between two reports of a receiver.
    epoch: Span,
    sample: Span,
    /// Most flows of a radio.
    flows: usize,
    /// Time after a flow's last packet until its agent has forgotten it: it learns of the packet by a sample, and looks once in an epoch.
    forgotten: Span,
    shares: Shares,
    /// True if the node's own flows are not held back by the host.
    own_queue: bool,
}

fn division(set: &FlowParameters, settle: Span) -> shares::SharesConfig {
    shares::SharesConfig {
        delta: set.delta,
        consumed: set.consumed,
        settle,
        most: set.flows as usize,
        expiry: set.flow_expiry,
    }
}

impl C3l {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Self::controlled(&C3lParameters::read(params)?)
    }

    /// The same of parameters that have been read.
    pub(crate) fn controlled(set: &C3lParameters) -> Result<Self, ParamError> {
        // What is told once in a time must not expire before it is told again.
        for (period, told, name, expiry) in [
            ("cycle", set.cycle, "report_expiry", set.report_expiry),
            ("cycle", set.cycle, "node_expiry", set.node_expiry),
            ("hello_interval", set.hello_interval, "controller_expiry", set.controller_expiry),
        ] {
            if expiry <= told {
                return Err(ParamError::not_below(period, name));
            }
        }
        Self::new(
            &set.flow,
            Shares::Controller(Box::new((Self::agent_config(set), Self::controller_config(set)))),
        )
    }

    /// `c3l-local` with these parameters.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn local(params: &Params) -> Result<Self, ParamError> {
        let set = LocalParameters::read(params)?;
        let bandwidth = local::bandwidth::BandwidthConfig {
            weight: set.bandwidth_weight,
            overhead: set.overhead,
            packet: set.flow.packet,
        };
        let shares = division(&set.flow, Span::ZERO);
        let FlowParameters { sending, epoch, .. } = set.flow;
        let local = local::LocalConfig { bandwidth, shares, sending, time: set.time, epoch };
        Self::new(&set.flow, Shares::Local(local))
    }

    fn new(set: &FlowParameters, shares: Shares) -> Result<Self, ParamError> {
        if set.rate_min > set.rate_max {
            return Err(ParamError::above("rate_min", "rate_max"));
        }
        if set.feedback_expiry <= set.epoch {
            return Err(ParamError::not_below("epoch", "feedback_expiry"));
        }
        let source = SourceConfig {
            first: set.first_rate,
            rates: [set.rate_min, set.rate_max],
            expiry: set.feedback_expiry,
            epoch: set.epoch,
            backstop: set.tcp_window,
            least_window: set.least_window,
            doubles: set.doubles_timer,
            unstamped: set.unstamped,
        };
        let links = match &shares {
            Shares::Controller(both) => both.0.links.most,
            Shares::Local(_) => 1,
        };
        let flows = links * set.flows as usize;
        let forgotten = Span(set.flow_expiry.0 + set.sample.0 + 2 * set.epoch.0);
        let own_queue = set.own_queue;
        Ok(Self { source, epoch: set.epoch, sample: set.sample, flows, forgotten, shares, own_queue })
    }

    fn agent_config(set: &C3lParameters) -> agent::AgentConfig {
        agent::AgentConfig {
            discovery: discovery::DiscoveryConfig {
                window: set.window as u32,
                interval: set.hello_interval,
                most: set.neighbours as usize,
                step: set.list_step,
            },
            jitter: set.hello_jitter,
            probe_power: Db(set.probe_power),
            probe_reach: set.probe_reach,
            controllers: known_controllers::KnownControllersConfig::expiring(set.controller_expiry),
            links: links::LinksConfig {
                shares: division(&set.flow, set.settle),
                overload: overload::OverloadConfig {
                    threshold: set.overload_threshold,
                    falls: set.overload_falls,
                },
                injection: overload::InjectionConfig {
                    threshold: set.local_threshold,
                    factor: set.local_factor,
                    again: Some(set.local_again).filter(|&again| again > Span::ZERO),
                    floor: set.local_floor,
                },
                packet: set.flow.packet.0 as u32,
                sending: set.flow.sending,
                c_max: set.c_max,
                default_part: set.default_part,
                unlimited: FASTEST,
                most: set.node_links as usize,
                cycle: set.cycle,
                answers: set.answers,
                used: set.used_rate,
                losses: set.overload_losses,
            },
            epoch: set.flow.epoch,
            lead: set.report_lead,
            first_cycle: set.first_cycle,
            validity: set.validity,
            unled: set.unled,
        }
    }

    fn controller_config(set: &C3lParameters) -> controller::ControllerConfig {
        controller::ControllerConfig {
            round: round::RoundConfig {
                rules: topology::Rules {
                    usable: set.usable,
                    interferes: set.interferes,
                    mutual: set.mutual,
                    conflict: set.conflict,
                    vertices: set.vertices,
                    reach: set.reach,
                    hider: set.hider,
                    keep: set.keep,
                    expiry: set.node_expiry,
                    nodes: set.nodes as usize,
                    neighbours: set.neighbours as usize,
                    links: set.links as usize,
                    cliques: set.cliques as usize,
                    members: set.clique_members as usize,
                },
                capacity: capacity::CapacityConfig {
                    first: set.first_capacity,
                    most: set.most_capacity,
                    increment: set.increment,
                    floor: set.floor,
                    lossy_floor: set.lossy_floor,
                    w_factor: set.w_factor,
                    w_in_allocation: set.w_in_allocation,
                    decrease: set.decrease,
                    repeats: set.repeats,
                    several: set.several,
                    used: set.used,
                },
                reestimate: set.reestimate,
                demands: set.demands,
                answers: set.answers,
                repeats_cost: set.repeats_cost,
                own_flows: set.own_flows as usize,
                expiry: set.report_expiry,
                default_goodput: set.default_goodput.0 as f64,
            },
            cycle: set.cycle,
            first_cycle: set.first_cycle,
            validity: set.validity,
            hello_interval: set.hello_interval,
        }
    }
}

impl Scheme for C3l {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(C3lSource::over_tcp(self.source)))
    }

    fn udp(&self) -> Option<UdpEnds> {
        Some(UdpEnds {
            source: Box::new(C3lSource::new(self.source)),
            receiver: Some(Box::new(Receiver::new(self.epoch))),
        })
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        let stamper =
            || Box::new(Stamper::new(self.flows, self.source.first, self.forgotten)) as Box<dyn Hop>;
        (interface.medium == Medium::Radio).then(stamper)
    }

    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        let agent = || match &self.shares {
            Shares::Controller(both) => {
                Box::new(NodeAgent::new(both.0, interface.limit_packets)) as Box<dyn Agent>
            }
            Shares::Local(local) => Box::new(LocalAgent::new(*local)),
        };
        (interface.medium == Medium::Radio).then(agent)
    }

    fn wants(&self, interface: &Interface) -> Wants {
        let wants = if self.own_queue { Wants::of(&[Capability::OwnQueue]) } else { Wants::default() };
        if interface.medium == Medium::Wire {
            return wants;
        }
        let wants = wants.and(&[Capability::Links, Capability::Exchange]).samples_every(self.sample);
        match self.shares {
            // Agents of several radios would report under one name.
            Shares::Controller(_) => wants.and(&[Capability::LoneRadio, Capability::TransmitChoice]),
            Shares::Local(_) => wants.and(&[Capability::LinkUse, Capability::LinkTimes]),
        }
    }

    fn controller(&self) -> Option<Box<dyn ControllerPlace>> {
        match &self.shares {
            Shares::Controller(both) => Some(Box::new(Controller::new(both.1))),
            Shares::Local(_) => None,
        }
    }

    fn probe_power(&self) -> Option<Db> {
        match &self.shares {
            Shares::Controller(both) => {
                Some(both.0.probe_power).filter(|_| both.0.probe_reach == ProbeReach::Power)
            }
            Shares::Local(_) => None,
        }
    }

    fn message_kinds(&self) -> Option<MessageKinds> {
        let of = |start: &[u8; 4]| {
            let kind = wire::Kind::of(start[0])?;
            KINDS.iter().position(|known| known.0 == kind)
        };
        matches!(self.shares, Shares::Controller(_)).then_some(MessageKinds { names: &KIND_NAMES, of })
    }
}
