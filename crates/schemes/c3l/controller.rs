//! The controller in a network: reports in, a round each cycle, allocations out (figure 6).
//!
//! Readings:
//! - The first round is a cycle after the start: by then each node that has learnt of the controller has reported.
//! - A node gets an allocation if its links have shares, or if the version of its list of neighbours is to be acknowledged.
//! - Shares are valid for `validity` cycles, so that a lost allocation stops nothing.
//! - A report in several parts counts when all have arrived. One that a later one has overtaken does not count; a node that counts its
//!   reports anew is not heard before it has caught up, if it has less than 8 to catch up, or its last one has expired.
//! - Reports may lie. A node reports of itself only, and the goodput of a link is taken as an eighth of `default_goodput` at least, as 64
//!   times at most: less would let one node take the air of its cliques from all others.
//! - A controller at a node without an agent makes itself known to its neighbours (ours), in messages that are no HELLOs, since it may be
//!   nobody's neighbour on the air; an agent beside it does it otherwise, and the controller knows of it by its report.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::c3l::{Allocation, AllocationHead, Message as WireMessage, Report, Share, Word};

use super::discovery::Neighbour;
use super::known_controllers::freshness;
use super::profile::{Answering, Passing};
use super::round::{self, LinkReport};
use crate::places::{
    Controller as Place, ControllerContext, ControllerMessage, ControllerSetup, FlowId, FlowLimit,
    Inhibition, NodeId, Timer,
};

const ROUND: Timer = Timer(1);
const WORD: Timer = Timer(2);

/// The parameters of a controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ControllerConfig {
    /// The rounds of the controller.
    pub round: round::RoundConfig,
    /// Time between two rounds.
    pub cycle: Span,
    /// Time until the first round; the next times are twice as long each until they are a cycle.
    pub first_cycle: Span,
    /// Cycles for which shares are valid.
    pub validity: u64,
    /// Time between two words of itself, without an agent beside it.
    pub hello_interval: Span,
}

/// A report of which parts are missing.
#[derive(Debug, Clone)]
struct Parts {
    number: u16,
    at: Time,
    parts: Vec<Option<Report>>,
}

/// The smallest and the largest goodput that is believed, by the default.
const BELIEVED: [f64; 2] = [0.125, 64.0];

/// The controller.
#[derive(Debug, Clone)]
pub struct Controller {
    config: ControllerConfig,
    core: round::Rounds,
    me: NodeId,
    neighbours: Vec<NodeId>,
    /// An agent of this node has reported.
    has_agent: bool,
    incomplete: BTreeMap<NodeId, Parts>,
    /// The last report of each node, whole or not, and when it arrived.
    last: BTreeMap<NodeId, (u16, Time)>,
    /// Versions of lists: the one that has arrived, and whether it is to be acknowledged.
    versions: BTreeMap<NodeId, (u16, bool)>,
    /// The time of the last round.
    last_round: Time,
    /// The time until the next one.
    interval: Span,
    ignored: u64,
    /// Entries looked at.
    work: u64,
}

impl Controller {
    /// A controller that knows nothing.
    #[must_use]
    pub fn new(config: ControllerConfig) -> Self {
        Self {
            config,
            core: round::Rounds::new(config.round),
            me: NodeId(u32::MAX),
            neighbours: Vec::new(),
            has_agent: false,
            incomplete: BTreeMap::new(),
            last: BTreeMap::new(),
            versions: BTreeMap::new(),
            last_round: Time::ZERO,
            interval: config.first_cycle.min(config.cycle),
            ignored: 0,
            work: 0,
        }
    }

    /// The results of the rounds.
    #[must_use]
    pub const fn core(&self) -> &round::Rounds {
        &self.core
    }

    /// A report, or a part of it, has arrived: has a later one overtaken it?
    fn overtaken(&mut self, from: NodeId, number: u16, now: Time) -> bool {
        let ControllerConfig { round: round::RoundConfig { expiry, rules, .. }, .. } = self.config;
        match self.last.get(&from) {
            Some(&(last, at)) if (1..8).contains(&last.wrapping_sub(number)) && now.since(at) < expiry => {
                return true;
            }
            None if self.last.len() >= rules.nodes => return false,
            _ => self.last.insert(from, (number, now)),
        };
        false
    }

    /// A part of a report has arrived: the report, if it is whole.
    fn whole(&mut self, from: NodeId, report: Report, now: Time) -> Option<Vec<Report>> {
        let (index, of) = (usize::from(report.part().index()), usize::from(report.part().of()));
        if of == 1 {
            self.incomplete.remove(&from);
            return Some(vec![report]);
        }
        let (number, most) = (report.head().number, self.config.round.rules.nodes);
        self.work += of as u64;
        if !self.incomplete.contains_key(&from) && self.incomplete.len() >= most {
            self.work += self.incomplete.len() as u64;
            let oldest = self.incomplete.iter().min_by_key(|(_, parts)| parts.at).map(|(&node, _)| node);
            oldest.map(|oldest| self.incomplete.remove(&oldest));
        }
        let new = || Parts { number, at: now, parts: vec![None; of] };
        let parts = self.incomplete.entry(from).or_insert_with(new);
        if parts.number != number || parts.parts.len() != of {
            *parts = new();
        }
        parts.parts[index] = Some(report);
        if parts.parts.iter().any(Option::is_none) {
            return None;
        }
        self.incomplete.remove(&from).map(|parts| parts.parts.into_iter().flatten().collect())
    }

    fn report(&mut self, from: NodeId, parts: &[Report], now: Time) {
        let [least, most] = BELIEVED.map(|factor| factor * self.config.round.default_goodput);
        let links: Vec<LinkReport> = parts
            .iter()
            .flat_map(Report::links)
            .map(|link| LinkReport {
                to: NodeId(link.next_hop),
                goodput: (8.0 * f64::from(link.capacity)).max(least).min(most),
                used: 8.0 * f64::from(link.used),
                transmissions: f64::from(link.transmissions) / 256.0,
                overloaded: link.overloaded,
                lost: f64::from(link.lost) / 127.0,
            })
            .collect();
        let flows: Vec<Passing> = parts
            .iter()
            .flat_map(Report::flows)
            .map(|flow| Passing {
                flow: FlowId(flow.flow),
                next_hop: NodeId(flow.next_hop),
                demand: if flow.demand == u32::MAX { f64::INFINITY } else { 8.0 * f64::from(flow.demand) },
                rate: 8.0 * f64::from(flow.rate),
            })
            .collect();
        let answers: Vec<Answering> = parts
            .iter()
            .flat_map(Report::answers)
            .map(|answer| Answering {
                flow: FlowId(answer.flow),
                next_hop: NodeId(answer.next_hop),
                time: f64::from(answer.time) / 1e6,
            })
            .collect();
        let listed = parts.iter().any(|part| part.neighbours().is_some());
        let neighbours: Vec<Neighbour> = parts
            .iter()
            .filter_map(Report::neighbours)
            .flatten()
            .map(|heard| Neighbour { node: NodeId(heard.node), hellos: heard.hellos, probes: heard.probes })
            .collect();
        self.work += (links.len() + flows.len() + answers.len() + neighbours.len()) as u64;
        self.work += self.core.report(from, &links, flows, listed.then_some(&neighbours[..]), now);
        self.core.answers(from, answers, now);
        let version = parts.first().map_or(0, |part| part.head().version);
        let known = self.versions.get(&from).map_or(0, |known| known.0);
        let room = self.versions.len() < self.config.round.rules.nodes || self.versions.contains_key(&from);
        if room && (listed || known != version) {
            // A node that thinks its list is here learns that it is not.
            self.versions.insert(from, (if listed { version } else { known }, true));
        }
    }

    fn round(&mut self, context: &mut ControllerContext<'_>) {
        if self.core.count() > 0 {
            self.interval = Span(self.interval.0.saturating_mul(2)).min(self.config.cycle);
        }
        context.out.timers.push((ROUND, context.now.saturating_add(self.interval)));
        self.core.run(context.now);
        self.work += self.core.round_work();
        self.last_round = context.now;
        let expiry = self.config.round.expiry;
        self.last.retain(|_, (_, at)| context.now.since(*at) < expiry);
        let cycle = self.interval.as_nanos() / 1_000_000;
        let valid_ms = u32::try_from(cycle.saturating_mul(self.config.validity)).unwrap_or(u32::MAX);
        let mut shares: BTreeMap<NodeId, Vec<Share>> = BTreeMap::new();
        for &round::LinkShare { link, share } in self.core.shares() {
            // All ones are no limit.
            let most = f64::from(u32::MAX - u32::from(share < f64::INFINITY));
            let share = Share { next_hop: link.to.0, share: (share / 8.0).min(most) as u32 };
            shares.entry(link.from).or_default().push(share);
        }
        let known: BTreeSet<NodeId> = self.core.topology().nodes().collect();
        // One whose list is not here is to learn of it.
        self.versions.retain(|node, &mut (_, due)| due || known.contains(node));
        for (&node, (_, due)) in &self.versions {
            if *due {
                shares.entry(node).or_default();
            }
        }
        for (node, links) in shares {
            let version = self.versions.get_mut(&node).map_or(0, |(version, due)| {
                *due = false;
                *version
            });
            let head = AllocationHead {
                controller: self.me.0,
                node: node.0,
                round: self.core.count(),
                version,
                valid_ms,
            };
            for part in Allocation::parts(head, &links) {
                self.send(node, &WireMessage::Allocation(part), context);
            }
        }
    }

    fn send(&self, to: NodeId, message: &WireMessage, context: &mut ControllerContext<'_>) {
        let mut bytes = vec![0; message.wire_len()];
        if message.encode(&mut bytes).is_ok() {
            context.out.messages.push(ControllerMessage { to, bytes, ahead: true });
        }
    }

    fn speak(&self, context: &mut ControllerContext<'_>) {
        if self.has_agent {
            return;
        }
        context.out.timers.push((WORD, context.now.saturating_add(self.config.hello_interval)));
        let word = Word { controller: self.me.0, freshness: freshness(context.now) };
        for &neighbour in &self.neighbours {
            self.send(neighbour, &WireMessage::Word(word), context);
        }
    }
}

impl Place for Controller {
    fn on_start(&mut self, setup: &ControllerSetup<'_>, context: &mut ControllerContext<'_>) {
        self.me = setup.node;
        self.neighbours = setup.neighbours.to_vec();
        let hello_interval = self.config.hello_interval;
        context.out.timers.push((ROUND, context.now.saturating_add(self.interval)));
        context.out.timers.push((WORD, context.now.saturating_add(hello_interval)));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], context: &mut ControllerContext<'_>) {
        match WireMessage::decode(bytes) {
            Ok((WireMessage::Report(report), _)) if report.head().node == from.0 => {
                self.has_agent |= from == self.me;
                if self.overtaken(from, report.head().number, context.now) {
                    return;
                }
                if let Some(parts) = self.whole(from, report, context.now) {
                    self.report(from, &parts, context.now);
                }
            }
            // Those of controllers beside, for the agents here.
            Ok((WireMessage::Hello(_) | WireMessage::Word(_) | WireMessage::Allocation(_), _)) => {}
            _ => self.ignored += 1,
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut ControllerContext<'_>) {
        match timer {
            ROUND => self.round(context),
            _ => self.speak(context),
        }
    }

    /// Rounds; of the last one nodes, links, cliques, their members, 1 if not all cliques are listed, links and routes that found no room,
    /// the least capacity of a clique, overloaded links, links of flows that it takes for inhibited, and steps of the allocation; messages
    /// that were ignored; flows whose limits are lifted, where that may be.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let (topology, capacities) = (self.core.topology(), self.core.capacities());
        let least = capacities.capacities().iter().copied().fold(1.0, f64::min);
        let inhibited = self.core.inhibition().links.iter().filter(|link| !link.1.is_empty()).count();
        let mut gauges = vec![
            ("rounds", f64::from(self.core.count())),
            ("nodes", topology.nodes().len() as f64),
            ("links", self.core.shares().len() as f64),
            ("cliques", topology.cliques().len() as f64),
            ("clique_members", topology.cliques().members() as f64),
            ("cliques_cut", f64::from(u8::from(!topology.lists_all()))),
            ("left_out", (topology.left_out() + self.core.left_out()) as f64),
            ("least_capacity", least),
            ("overloaded", capacities.pinpointed().len() as f64),
            ("inhibited", inhibited as f64),
            ("steps", self.core.steps() as f64),
            ("ignored", self.ignored as f64),
        ];
        gauges.extend(self.core.free().map(|free| ("free", free as f64)));
        gauges
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn limit(&self, flow: FlowId) -> Option<FlowLimit> {
        self.core.limit(flow)
    }

    fn inhibition(&self) -> Option<Inhibition> {
        (self.core.count() > 0).then(|| Inhibition { at: self.last_round, ..self.core.inhibition() })
    }
}
