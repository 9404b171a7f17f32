//! The parameters of C3L and of `c3l-local`: the declared values are the paper's, or those with which its figures are judged.

use airfair_units::{Bytes, Rate, Span};

use super::agent::ProbeReach;
use super::capacity::{Decrease, Repeats, Several};
use super::flow::Backstop;
use super::links::{Capacity, Sending};
use super::topology::{Conflict, Hider, Reach, Vertices};
use crate::params;

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
        /// power of probes above the radio's own, dB (section III-B: 3)
        paper probe_power: f64 = 3.0, in -30.0..=30.0;
        /// HELLOs over which a delivery ratio is taken; section III-B gives no number
        reading window: u64 = 20, in 1..=64;
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
        /// limits are lifted where the flows that share air each get this part of their max-min rates without (ours); below half of it
        /// they stay, in between they are tried, and stay where they add a tenth to the least part; 0: they always stay
        reading aside: f64 = 0.0, in 0.0..=1.0;
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
