//! Fair rates under the constraints of cliques and wires.

use std::collections::BTreeMap;

use airfair_optimum::{
    Binding, ConflictGraph, Flow, MAX_LINKS, Problem, ProblemBuilder, ProportionalError, WaterFilling,
    proportional_until, time_shared,
};

use super::contention::{Access, Contention, Tries};
use super::links::{FlowUse, Links, RadioUse};
use super::{Clique, Inhibition, NoOptimum, Unmodelled};
use crate::air::Air;
use crate::ids::StationIx;

/// The reason why a flow has no higher rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The flow's application offers no more.
    Demand,
    /// The air time of a clique, by its place.
    Clique {
        /// Place of the clique.
        clique: usize,
        /// The inhibited link of the clique for whose sake inhibitors count with their factor, if they do.
        inhibited: Option<usize>,
    },
    /// A wire, by its place.
    Wire(usize),
}

/// Fair rates, each list by flow, in the order of [`Links::flows`].
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Max-min fair rates, bit/s of payload.
    pub max_min_bps: Vec<f64>,
    /// The limit of each flow.
    pub bounds: Vec<Bound>,
    /// Proportionally fair rates, bit/s of payload; none unless wanted, or for more flows than the method can compute.
    pub proportional_bps: Option<Vec<f64>>,
}

/// Max-min fair rates of a schedule that lets sets of links without conflicts take turns: exact, where cliques are a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Rates, by flow, bit/s of payload.
    pub max_min_bps: Vec<f64>,
    /// Sets of links that are used together, and their shares of the time. A place beyond the radio links is that of a wire.
    pub sets: Vec<(Vec<usize>, f64)>,
}

/// The quantities that rates follow from.
pub(super) struct Model<'a> {
    pub air: &'a Air,
    pub links: &'a Links,
    pub cliques: &'a [Clique],
    pub inhibitions: &'a [Inhibition],
    /// True if the caller wants no more of it.
    pub stop: &'a dyn Fn() -> bool,
}

/// Cliques between two looks at whether the caller wants the computation to go on.
const BETWEEN_LOOKS: usize = 1024;

/// The constraint of a clique: inhibitors of one of its links count with a factor.
struct Constraint {
    clique: usize,
    inhibited: Option<usize>,
    factors: BTreeMap<usize, f64>,
}

/// Contention by kind of station, number of senders, loss (its bits) and limits of failures, computed once.
type Known = BTreeMap<(usize, usize, u64, Tries), Option<Contention>>;

impl Model<'_> {
    /// True if an inhibited link and one of its inhibitors are in a clique.
    pub(super) fn has_inhibitors(&self) -> bool {
        !self.inhibitions.is_empty()
    }

    /// Fair rates, proportionally fair ones on request; `weighted`: inhibitors count with their factors.
    pub(super) fn rates(&self, weighted: bool, with_proportional: bool) -> Result<Rates, NoOptimum> {
        let constraints = self.constraints(weighted)?;
        let mut builder = ProblemBuilder::new();
        let mut of_link: Vec<Vec<(u32, usize)>> = vec![Vec::new(); self.links.radio.len()];
        for (place, constraint) in constraints.iter().enumerate() {
            let resource = builder.resource(place as u64, 1.0);
            for &link in &self.cliques[constraint.clique].links {
                of_link[link].push((resource, place));
            }
        }
        let first_wire = constraints.len() as u32;
        for (place, wire) in self.links.wires.iter().enumerate() {
            builder.resource(u64::from(first_wire) + place as u64, wire.rate_bps);
        }
        let mut known = Known::new();
        for (place, flow) in self.links.flows.iter().enumerate() {
            let mut costs: Vec<(u32, f64)> = Vec::new();
            self.look()?;
            for used in &flow.radio {
                for &(resource, constraint) in &of_link[used.link] {
                    let Constraint { clique, factors, .. } = &constraints[constraint];
                    let factor = factors.get(&used.link).copied().unwrap_or(1.0);
                    let senders = self.cliques[*clique].senders;
                    costs.push((resource, factor * self.air_time(used, senders, &mut known)?));
                }
            }
            costs.extend(flow.wires.iter().map(|used| (first_wire + used.wire as u32, used.bits_per_bit)));
            add_flow(&mut builder, place, flow, &costs);
        }
        self.look()?;
        let problem = build(&builder)?;
        self.look()?;
        let mut filling = WaterFilling::new();
        let allocation = filling.solve(&problem);
        self.look()?;
        let bound = |binding: &Binding| match *binding {
            Binding::Demand => Bound::Demand,
            Binding::Resource(resource) if resource < first_wire => {
                let Constraint { clique, inhibited, .. } = constraints[resource as usize];
                Bound::Clique { clique, inhibited }
            }
            Binding::Resource(resource) => Bound::Wire((resource - first_wire) as usize),
        };
        Ok(Rates {
            max_min_bps: allocation.rates.clone(),
            bounds: allocation.bindings.iter().map(bound).collect(),
            proportional_bps: if with_proportional {
                match proportional_until(&problem, self.stop) {
                    Ok(found) => Some(found.rates),
                    Err(ProportionalError::Stopped) => return Err(NoOptimum::Stopped),
                    Err(_) => None,
                }
            } else {
                None
            },
        })
    }

    /// An error if the caller wants no more of it.
    fn look(&self) -> Result<(), NoOptimum> {
        if (self.stop)() { Err(NoOptimum::Stopped) } else { Ok(()) }
    }

    /// The constraints of all cliques: each clique as it is; with `weighted` also once for each set of inhibitors of one of its links.
    fn constraints(&self, weighted: bool) -> Result<Vec<Constraint>, NoOptimum> {
        let mut inhibitors: BTreeMap<usize, Vec<&Inhibition>> = BTreeMap::new();
        for inhibition in self.inhibitions.iter().filter(|_| weighted) {
            inhibitors.entry(inhibition.link).or_default().push(inhibition);
        }
        let mut constraints = Vec::new();
        for (clique, Clique { links, .. }) in self.cliques.iter().enumerate() {
            if clique % BETWEEN_LOOKS == 0 {
                self.look()?;
            }
            constraints.push(Constraint { clique, inhibited: None, factors: BTreeMap::new() });
            // Of sets of factors those that no other set of the clique contains.
            let mut sets: Vec<(usize, BTreeMap<usize, f64>)> = Vec::new();
            for &link in links {
                let of_link = inhibitors.get(&link).map_or(&[][..], Vec::as_slice);
                let members = of_link.iter().filter(|inhibition| links.binary_search(&inhibition.by).is_ok());
                let factors: BTreeMap<usize, f64> =
                    members.map(|inhibition| (inhibition.by, inhibition.factor)).collect();
                if !factors.is_empty() && !sets.iter().any(|(_, other)| contains(other, &factors)) {
                    sets.retain(|(_, other)| !contains(&factors, other));
                    sets.push((link, factors));
                }
            }
            let constraint = |(link, factors)| Constraint { clique, inhibited: Some(link), factors };
            constraints.extend(sets.into_iter().map(constraint));
        }
        Ok(constraints)
    }

    /// Air time of a bit of payload on a link among `senders` that contend, s.
    ///
    /// # Errors
    /// The senders only collide.
    fn air_time(&self, used: &RadioUse, senders: usize, known: &mut Known) -> Result<f64, Unmodelled> {
        let from = self.links.radio[used.link].from;
        let access = self.access(from);
        let key = (self.air.kind_of(from), senders, used.loss.to_bits(), used.tries);
        let contention =
            *known.entry(key).or_insert_with(|| access.contention(senders, used.loss, used.tries));
        let Some(contention) = contention else {
            return Err(Unmodelled(format!(
                "there is no optimum: {senders} senders whose contention window has {} to {} slots only collide; expected larger windows",
                access.cw_min, access.cw_max
            )));
        };
        Ok(used.attempts_per_bit * (used.attempt_s + access.cost_s(contention, used.collision_s)))
    }

    /// Access of a station, which has one category.
    fn access(&self, station: StationIx) -> Access {
        Access::of(self.air.mac(station))
    }

    /// The rates that a schedule reaches, of few links. Contention is that of the largest clique of each link.
    pub(super) fn schedule(&self, graph: &ConflictGraph) -> Option<Schedule> {
        let radio = self.links.radio.len();
        if radio + self.links.wires.len() > MAX_LINKS {
            return None;
        }
        let senders = |link: usize| {
            let of_link = self.cliques.iter().filter(|clique| clique.links.contains(&link));
            of_link.map(|clique| clique.senders).max().unwrap_or(1)
        };
        let mut graph = graph.clone();
        let mut builder = ProblemBuilder::new();
        (0..radio).for_each(|link| {
            builder.resource(link as u64, 1.0);
        });
        for (place, wire) in self.links.wires.iter().enumerate() {
            let rank = (radio + place) as u64;
            graph.add_vertex(rank);
            builder.resource(rank, wire.rate_bps);
        }
        let mut known = Known::new();
        for (place, flow) in self.links.flows.iter().enumerate() {
            let mut costs: Vec<(u32, f64)> = Vec::new();
            for used in &flow.radio {
                costs.push((used.link as u32, self.air_time(used, senders(used.link), &mut known).ok()?));
            }
            costs.extend(flow.wires.iter().map(|used| ((radio + used.wire) as u32, used.bits_per_bit)));
            add_flow(&mut builder, place, flow, &costs);
        }
        let shared = time_shared(&graph, &builder.build().ok()?).ok()?;
        let places = |set: Vec<u32>| set.into_iter().map(|link| link as usize).collect();
        let sets = shared.schedule.into_iter().map(|(set, share)| (places(set), share)).collect();
        Some(Schedule { max_min_bps: shared.rates, sets })
    }
}

/// True if the first factors have all of the second ones, or larger ones.
fn contains(factors: &BTreeMap<usize, f64>, others: &BTreeMap<usize, f64>) -> bool {
    others.len() <= factors.len()
        && others.iter().all(|(link, other)| factors.get(link).is_some_and(|factor| factor >= other))
}

fn add_flow(builder: &mut ProblemBuilder, place: usize, flow: &FlowUse, costs: &[(u32, f64)]) {
    let demand = flow.demand_bps.unwrap_or(f64::INFINITY);
    builder.flow(Flow { rank: place as u64, weight: 1.0, demand, costs });
}

fn build(builder: &ProblemBuilder) -> Result<Problem, Unmodelled> {
    builder.build().map_err(|error| Unmodelled(format!("there is no optimum: {error}")))
}
