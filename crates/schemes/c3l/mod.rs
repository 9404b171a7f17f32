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
//! | `aside` | where no limits are needed (ours) |
//! | `round` | figure 6, a round of the controller: these together |
//! | `shares` | §III-E, shares of flows |
//! | `overload` | §III-A, reaction to a queue |
//! | `known_controllers` | the controllers that a node has heard of, and the one that it reports to (ours) |
//! | `agent`, `links` | the agent of a radio; what it counts and decides of its links |
//! | `controller` | the controller: reports, rounds, allocations |
//! | `parameters`, `presets` | what can be set, and named sets of values |
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
pub mod aside;
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
mod parameters;
mod presets;
pub mod profile;
pub mod round;
pub mod shares;
pub mod topology;

use alloc::boxed::Box;

use airfair_units::{Db, Span};
use airfair_wire::c3l as wire;

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
pub(crate) use parameters::{C3lParameters, LocalParameters};
pub use presets::{OF_VARIANTS, PRESETS};

use parameters::FlowParameters;

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

/// Change of a delivery ratio for which a node sends the controller its list again (ours): a list in each report would cost air. Two of the
/// default window's 20 HELLOs.
const LIST_STEP: f64 = 0.1;

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
        let bandwidth =
            local::bandwidth::BandwidthConfig { weight: set.bandwidth_weight, overhead: set.overhead };
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
                step: LIST_STEP,
            },
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
                sending: set.flow.sending,
                c_max: set.c_max,
                default_part: set.default_part,
                most: set.node_links as usize,
                cycle: set.cycle,
                answers: set.answers,
                losses: set.aside > 0.0,
                used: set.used_rate,
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
                aside: aside::AsideConfig { enough: set.aside, ..aside::AsideConfig::default() },
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

    fn rate(&self) -> Option<UdpEnds> {
        self.udp()
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
