//! A round of the controller: from the nodes' reports to the shares of links (§III-A, figure 6).
//!
//! Readings:
//! - A round first brings the cliques up to date, then re-estimates their capacities from what the links did with their last shares, then
//!   allocates. A clique that is new takes part in the re-estimation with C_max.
//! - A link is overloaded, or has used its share, according to the last report of its sender since the last round; without one it is
//!   neither.
//! - Flows have no demands (§III-C), or those that nodes report (`demands`): then what a flow does not need goes to others at once, and
//!   not only at its own links. A flow of which nothing is reported has none.
//! - A link whose goodput nobody has reported has `default_goodput`.
//! - Without `reestimate` all capacities stay at C_max (figure 12's second bar), with W_FACTOR 1 inhibitors count like others (third).

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::allocation::{Allocator, Constraints, Flows, Limit};
use super::aside::{Aside, AsideConfig, Observed, Parts};
use super::capacity::{self, Capacities, LinkRound};
use super::discovery::Neighbour;
use super::profile::{Answering, Passing, Profile, Route};
use super::topology::{Link, Reach, Rules, Topology};
use crate::places::{FlowId, FlowLimit, Inhibition, LinkName, NodeId};

/// The parameters of the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundConfig {
    /// The picture of the network.
    pub rules: Rules,
    /// Algorithm 1.
    pub capacity: capacity::CapacityConfig,
    /// True if capacities are re-estimated.
    pub reestimate: bool,
    /// True if flows get no more than nodes report that they require.
    pub demands: bool,
    /// True if acknowledgements have a part of the capacity; else what nodes report of them is not heeded.
    pub answers: bool,
    /// True if a packet takes as much air as its transmissions do.
    pub repeats_cost: bool,
    /// Most flows that count of those that begin at one node.
    pub own_flows: usize,
    /// Time for which a node's report of its flows and links counts.
    pub expiry: Span,
    /// Goodput of a lone link of which nothing is reported, bit/s.
    pub default_goodput: f64,
    /// When limits are lifted.
    pub aside: AsideConfig,
}

impl Default for RoundConfig {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            capacity: capacity::CapacityConfig::default(),
            reestimate: true,
            demands: false,
            answers: false,
            repeats_cost: false,
            own_flows: 1024,
            expiry: Span::from_secs(20),
            default_goodput: 1_394_000.0,
            aside: AsideConfig::default(),
        }
    }
}

/// A node's report of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkReport {
    /// The receiver.
    pub to: NodeId,
    /// Goodput of the link alone, bit/s.
    pub goodput: f64,
    /// Rate at which it sent, bit/s.
    pub used: f64,
    /// Mean transmissions of a packet.
    pub transmissions: f64,
    /// True if its queue was built up.
    pub overloaded: bool,
    /// Part of its packets that its queue or its MAC has lost.
    pub lost: f64,
}

/// A link with its share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkShare {
    /// The link.
    pub link: Link,
    /// The share of the link, bit/s; `INFINITY`: its flows have no limit.
    pub share: f64,
}

/// A link of which a node has reported.
#[derive(Debug, Clone, Copy)]
struct Known {
    report: LinkReport,
    at: Time,
    /// True until the next round.
    new: bool,
}

/// Most links of a node that count: more than any has (`node_links`), so that a node cannot fill the table by inventing links.
const MOST_LINKS: usize = 255;

/// The link of a number that the cliques have; each has one.
fn named(topology: &Topology, number: u32) -> Link {
    topology.link(number).unwrap_or(Link::new(NodeId(0), NodeId(0)))
}

/// The controller's state.
#[derive(Debug, Clone)]
pub struct Rounds {
    config: RoundConfig,
    topology: Topology,
    profile: Profile,
    capacities: Capacities,
    known: BTreeMap<Link, Known>,
    constraints: Constraints,
    allocator: Allocator,
    flows: Flows,
    routes: Vec<Route>,
    cost: Vec<f64>,
    rounds: Vec<LinkRound>,
    shares: Vec<LinkShare>,
    /// Air that acknowledgements may take of links, seconds a second.
    answering: BTreeMap<Link, f64>,
    aside: Aside,
    /// Rounds until links that had no limits are judged: what waits in their queues is from before.
    settling: BTreeMap<Link, u32>,
    /// The rates to which flows are entitled: those at the largest capacities.
    entitled: Allocator,
    /// The time of the last round.
    at: Time,
    count: u16,
    /// Members of cliques that the last round has looked at for hidden links.
    looked_at: u64,
    /// Routes that the last round has left out.
    left_out: usize,
}

/// Rounds for which the links of a flow that had no limits are not judged. With four the least share at an access point is 0.69 of the
/// optimum, with two 0.73, and no capacity falls for queues of before.
const SETTLED: u32 = 2;

impl Rounds {
    /// Nothing reported yet.
    #[must_use]
    pub fn new(config: RoundConfig) -> Self {
        Self {
            config,
            topology: Topology::new(config.rules),
            profile: Profile::new(config.expiry, config.rules.nodes),
            capacities: Capacities::new(config.capacity),
            known: BTreeMap::new(),
            constraints: Constraints::default(),
            allocator: Allocator::new(),
            flows: Flows::new(),
            routes: Vec::new(),
            cost: Vec::new(),
            rounds: Vec::new(),
            shares: Vec::new(),
            answering: BTreeMap::new(),
            aside: Aside::new(config.aside),
            settling: BTreeMap::new(),
            entitled: Allocator::new(),
            at: Time::ZERO,
            count: 0,
            looked_at: 0,
            left_out: 0,
        }
    }

    /// A node's report. `neighbours`: the list of what it hears, if it has changed. Returns the entries of tables that were looked at
    /// beside those of the report.
    pub fn report(
        &mut self,
        node: NodeId,
        links: &[LinkReport],
        flows: Vec<Passing>,
        neighbours: Option<&[Neighbour]>,
        now: Time,
    ) -> u64 {
        // Where a table of nodes is full, the one that reported longest ago is searched for.
        let most = self.config.rules.nodes;
        let full = [self.topology.nodes().len(), self.profile.len()].into_iter().filter(|&len| len >= most);
        let work = full.map(|len| len as u64).sum();
        match neighbours {
            Some(list) => self.topology.report(node, list, now),
            None => {
                self.topology.confirm(node, now);
            }
        }
        for &report in links.iter().take(MOST_LINKS) {
            let link = Link::new(node, report.to);
            if self.known.len() < self.config.rules.links || self.known.contains_key(&link) {
                self.known.insert(link, Known { report, at: now, new: true });
            }
        }
        self.profile.report(node, flows, now);
        work
    }

    /// The acknowledgements that a node sends on, of the same report.
    pub fn answers(&mut self, node: NodeId, answers: Vec<Answering>, now: Time) {
        if self.config.answers {
            self.profile.answers(node, answers, now);
        }
    }

    /// Entries that the last round has looked at: reports, pairs of links, members of cliques, sets of links of the search for cliques, and
    /// steps of the allocation. [`Rules::most_work`] bounds all but the latter, whose pairs of a route's hop and a clique are bounded.
    #[must_use]
    pub fn round_work(&self) -> u64 {
        let links: usize = self.routes.iter().map(|route| route.links.len() + route.answers.len()).sum();
        let tables =
            self.topology.nodes().len() + self.known.len() + links + self.topology.cliques().members();
        let of_topology = self.topology.checks() + self.topology.searched();
        tables as u64 + of_topology + self.looked_at + self.allocator.steps() + self.entitled.steps()
    }

    /// A round.
    pub fn run(&mut self, now: Time) {
        self.topology.expire(now);
        self.profile.expire(now);
        let expiry = self.config.expiry;
        self.known.retain(|_, known| now.since(known.at) < expiry);
        self.routes = self.profile.routes(self.config.own_flows);
        let (known, default) = (&self.known, self.config.default_goodput);
        self.profile.add_answers(&mut self.routes, |link| {
            1.0 / known.get(&link).map_or(default, |known| known.report.goodput).max(1.0)
        });
        let used = self
            .routes
            .iter()
            .flat_map(|route| route.links.iter().copied().chain(route.answers.iter().map(|answer| answer.0)));
        self.topology.use_links(used, now);
        let changed = self.topology.update();
        self.look_back();
        let Self { topology, capacities, config, .. } = self;
        let hidden =
            |inhibited, inhibitor| topology.hidden(named(topology, inhibited), named(topology, inhibitor));
        let (mut looked_at, most) = (0, config.rules.most_pairs());
        if changed {
            capacities.set_cliques(topology.cliques(), |number| named(topology, number));
        }
        if changed || config.capacity.w_in_allocation {
            let weight = |link: u32, clique: &[u32]| {
                if config.capacity.w_in_allocation {
                    looked_at += clique.len() as u64;
                }
                if looked_at > most { 1.0 } else { config.capacity.weight(link, clique, hidden) }
            };
            self.constraints = Constraints::new(topology.cliques(), weight);
            looked_at = looked_at.min(most + topology.cliques().members() as u64);
        }
        if config.reestimate && self.count > 0 {
            let (cliques, membership) = (topology.cliques(), topology.membership());
            looked_at += capacities.reestimate(cliques, membership, &self.rounds, hidden, most);
        }
        self.looked_at = looked_at;
        self.allocate();
        self.step_aside();
        self.at = now;
        self.count = self.count.wrapping_add(1).max(1);
    }

    /// Compares the links' use with their last shares, by number.
    fn look_back(&mut self) {
        self.cost.clear();
        self.rounds.clear();
        for link in self.topology.numbered() {
            let known = link.and_then(|link| self.known.get(&link));
            let goodput = known.map_or(0.0, |known| known.report.goodput);
            let once = 1.0 / if goodput > 0.0 { goodput } else { self.config.default_goodput };
            let repeats = known.map_or(1.0, |known| known.report.transmissions.max(1.0));
            let cost = if self.config.repeats_cost { once * repeats } else { once };
            let share = link.and_then(|link| {
                let at = self.shares.binary_search_by_key(&link, |share| share.link).ok()?;
                Some(self.shares[at].share)
            });
            let answers = link.and_then(|link| self.answering.get(&link)).copied().unwrap_or(0.0);
            let assigned = share.unwrap_or(0.0);
            let mut round = LinkRound { assigned, cost, answers, ..LinkRound::default() };
            if link.is_some_and(|link| self.settling.contains_key(&link)) {
                // What a link does without a limit says nothing of the capacity that it needs with one.
                round = LinkRound { cost, settling: true, ..LinkRound::default() };
            } else if let Some(known) = known.filter(|known| known.new) {
                let LinkReport { used, transmissions, overloaded, .. } = known.report;
                round = LinkRound { used, transmissions, overloaded, heard: true, ..round };
            }
            self.cost.push(cost);
            self.rounds.push(round);
        }
        self.known.values_mut().for_each(|known| known.new = false);
    }

    fn allocate(&mut self) {
        self.flows.clear();
        let membership = self.topology.membership();
        let mut pairs = 0;
        for route in &self.routes {
            let cliques =
                |&link: &Link| self.topology.number(link).map_or(0, |number| membership.of(number).len());
            let answers = route.answers.iter().map(|answer| &answer.0);
            pairs += route.links.iter().chain(answers).map(cliques).sum::<usize>() as u64;
            // Those of the routes that come last get no share.
            if pairs > self.config.rules.most_pairs() {
                break;
            }
            let demand = if self.config.demands { route.demand } else { f64::INFINITY };
            let hops = route.links.iter().filter_map(|&link| self.topology.number(link));
            self.flows.push(route.rank(), demand, hops);
            for &(link, time) in &route.answers {
                self.topology.number(link).into_iter().for_each(|number| self.flows.answered(number, time));
            }
        }
        self.left_out = self.routes.len() - self.flows.len();
        let capacity = self.capacities.capacities();
        let assignment = self.allocator.solve(&self.constraints, capacity, &self.cost, &self.flows);
        self.shares.clear();
        let shares = self.topology.numbered().zip(&assignment.links).filter(|(_, share)| **share > 0.0);
        self.shares.extend(shares.filter_map(|(link, &share)| Some(LinkShare { link: link?, share })));
        self.shares.sort_unstable_by_key(|share| share.link);
        self.answering.clear();
        for (route, rate) in self.routes.iter().zip(&assignment.rates) {
            for &(link, time) in &route.answers {
                *self.answering.entry(link).or_default() += rate * time;
            }
        }
    }

    /// Lifts the limits of flows that need none: their links have no limits then.
    fn step_aside(&mut self) {
        if !self.aside.lifts() {
            return;
        }
        let most = vec![self.config.capacity.most; self.constraints.clique_count()];
        self.entitled.solve(&self.constraints, &most, &self.cost, &self.flows);
        let (topology, membership) = (&self.topology, self.topology.membership());
        let numbers = |route: &Route| -> Vec<u32> {
            let answers = route.answers.iter().map(|answer| &answer.0);
            route.links.iter().chain(answers).filter_map(|&link| topology.number(link)).collect()
        };
        let mut parts = Parts::new(topology.cliques().len());
        let first_clique = |number: u32| membership.of(number).first().copied();
        let routes = &self.routes[..self.flows.len()];
        let unheard = topology.unheard();
        let near_unheard = |route: &Route| {
            let mut ends = route.links.iter().flat_map(|link| [link.from, link.to]);
            ends.any(|end| unheard.iter().any(|&node| topology.interferes(end, node)))
        };
        for route in routes {
            let links = numbers(route);
            let mut cliques = links.iter().flat_map(|&number| membership.of(number)).copied();
            if let Some(first) = cliques.next() {
                cliques.for_each(|clique| parts.join(first, clique));
            }
        }
        let mut observed = Vec::with_capacity(routes.len());
        for (route, &entitled) in routes.iter().zip(&self.entitled.assignment().rates) {
            let Some(first) = numbers(route).first().and_then(|&number| first_clique(number)) else {
                continue;
            };
            let entitled = if route.takes_all { entitled } else { entitled.min(route.rate) };
            let lost =
                route.links.last().and_then(|link| self.known.get(link)).map_or(0.0, |of| of.report.lost);
            let (rate, at) = route.last;
            let arrived = Some(rate * (1.0 - lost)).filter(|_| at > self.at);
            let (flow, part) = (route.flow, parts.root(first));
            observed.push(Observed { flow, part, entitled, arrived, unheard: near_unheard(route) });
        }
        self.aside.round(&observed);
        self.settling.retain(|_, rounds| {
            *rounds -= 1;
            *rounds > 0
        });
        let mut free: Vec<Link> = Vec::new();
        for route in self.routes.iter().filter(|route| self.aside.is_free(route.flow)) {
            free.extend(&route.links);
            let answers = route.answers.iter().map(|answer| &answer.0);
            self.settling.extend(route.links.iter().chain(answers).map(|&link| (link, SETTLED)));
        }
        free.sort_unstable();
        for share in &mut self.shares {
            if free.binary_search(&share.link).is_ok() {
                share.share = f64::INFINITY;
            }
        }
    }

    /// Flows whose limits are lifted; `None` if no limits ever are.
    #[must_use]
    pub fn free(&self) -> Option<usize> {
        self.aside.lifts().then(|| self.aside.free())
    }

    /// The shares of all links that carry flows, in the order of senders and receivers.
    #[must_use]
    pub fn shares(&self) -> &[LinkShare] {
        &self.shares
    }

    /// The steps that the last allocation has cost ([`Allocator::steps`]).
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.allocator.steps()
    }

    /// Rounds so far, modulo 2^16; 0 only before the first.
    #[must_use]
    pub const fn count(&self) -> u16 {
        self.count
    }

    /// The routes of the last round, each with its rate, bit/s, and what limits it: a clique of [`Self::topology`].
    pub fn routes(&self) -> impl ExactSizeIterator<Item = (&Route, f64, Limit)> {
        let assignment = self.allocator.assignment();
        let results = assignment.rates.iter().zip(&assignment.limits);
        self.routes.iter().zip(results).map(|(route, (&rate, &limit))| (route, rate, limit))
    }

    /// The limit of a flow since the last round: the clique that assigned its rate. Of several pieces of its route, that with the smallest
    /// rate.
    #[must_use]
    pub fn limit(&self, flow: FlowId) -> Option<FlowLimit> {
        let pieces = self.routes().filter(|(route, ..)| route.flow == flow);
        let (_, rate, limit) = pieces.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let members = match limit {
            Limit::Clique(clique) => self.topology.cliques().iter().nth(clique as usize).unwrap_or(&[]),
            Limit::Demand | Limit::Nothing => &[],
        };
        let capacity = match limit {
            Limit::Clique(clique) => self.capacities.estimate(clique).map_or(1.0, |of| of.capacity),
            Limit::Demand | Limit::Nothing => 1.0,
        };
        let overloaded =
            |&number: &u32| self.rounds.get(number as usize).is_some_and(|round| round.overloaded);
        // In the order of links, as a clique's members are.
        let named = |members: &mut dyn Iterator<Item = u32>| -> Vec<LinkName> {
            let links = members.map(|number| named(&self.topology, number));
            links.map(|link| [link.from, link.to]).collect()
        };
        Some(FlowLimit {
            rate: Rate(rate as u64),
            links: named(&mut members.iter().copied()),
            capacity,
            overloaded: named(&mut members.iter().copied().filter(overloaded)),
        })
    }

    /// The links that carry flows since the last round, with the nodes that inhibit them.
    #[must_use]
    pub fn inhibition(&self) -> Inhibition {
        let mut links: Vec<Link> = self.routes.iter().flat_map(|route| route.links.iter().copied()).collect();
        links.sort_unstable();
        links.dedup();
        let of = |link: Link| ([link.from, link.to], self.topology.inhibitors(link).collect());
        let sensed = self.config.rules.reach == Reach::Interference;
        Inhibition { links: links.into_iter().map(of).collect(), sensed, ..Inhibition::default() }
    }

    /// Routes that got no share in the last round, because their links are in too many cliques.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// The picture of the network.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The capacities of its cliques.
    #[must_use]
    pub const fn capacities(&self) -> &Capacities {
        &self.capacities
    }
}
