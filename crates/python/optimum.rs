//! The best rates that the air allows, as JSON.

use airfair_scenario::Scenario;
use airfair_sim::World;
use airfair_sim::ids::{FlowIx, StationIx};
use airfair_sim::optimum::{Bound, Causes, FlowUse, NoOptimum, Optimum, OptimumSpec, Rates};
use pyo3::prelude::*;
use serde::Serialize;

use crate::contract::json;
use crate::drive::Signals;
use crate::error::{LimitError, input_error};

#[derive(Serialize)]
struct Document<'a> {
    scenario: &'a str,
    flows: Vec<Flow<'a>>,
    /// Flows that have no route.
    routeless: Vec<&'a str>,
    /// Flows that do not send in the measured part of the run.
    inactive: Vec<&'a str>,
    links: Vec<Link<'a>>,
    wires: Vec<Wire<'a>>,
    conflicts: Vec<Conflict>,
    inhibitions: Vec<Inhibition>,
    additive: Vec<Additive>,
    cliques: Vec<Clique>,
    complete: bool,
    schedule: Option<Vec<ActiveSet>>,
}

#[derive(Serialize)]
struct Flow<'a> {
    id: &'a str,
    src: &'a str,
    dst: &'a str,
    demand_bps: Option<f64>,
    sends_files: bool,
    max_min_bps: f64,
    proportional_bps: Option<f64>,
    bound: BoundDocument,
    without_factor: WithoutFactor,
    scheduled_bps: Option<f64>,
}

/// The rates where an inhibitor's air time counts as it is.
#[derive(Serialize)]
struct WithoutFactor {
    max_min_bps: f64,
    proportional_bps: Option<f64>,
    bound: BoundDocument,
}

/// The limit of a flow; places in the lists of the document.
#[derive(Serialize)]
struct BoundDocument {
    kind: &'static str,
    clique: Option<usize>,
    inhibited_link: Option<usize>,
    wire: Option<usize>,
}

#[derive(Serialize)]
struct Link<'a> {
    src: &'a str,
    dst: &'a str,
    rts: bool,
}

#[derive(Serialize)]
struct Wire<'a> {
    src: &'a str,
    dst: &'a str,
    rate_bps: f64,
}

#[derive(Serialize)]
struct Conflict {
    links: [usize; 2],
    shared_station: bool,
    defers: [bool; 2],
    data_lost: [bool; 2],
    answers_lost: [bool; 2],
}

#[derive(Serialize)]
struct Inhibition {
    link: usize,
    by: usize,
    factor: f64,
}

#[derive(Serialize)]
struct Additive {
    link: usize,
    by: Vec<usize>,
}

#[derive(Serialize)]
struct Clique {
    links: Vec<usize>,
    senders: usize,
}

#[derive(Serialize)]
struct ActiveSet {
    links: Vec<usize>,
    wires: Vec<usize>,
    share: f64,
}

impl From<Bound> for BoundDocument {
    fn from(bound: Bound) -> Self {
        let none = Self { kind: "demand", clique: None, inhibited_link: None, wire: None };
        match bound {
            Bound::Demand => none,
            Bound::Clique { clique, inhibited } => {
                Self { kind: "clique", clique: Some(clique), inhibited_link: inhibited, ..none }
            }
            Bound::Wire(wire) => Self { kind: "wire", wire: Some(wire), ..none },
        }
    }
}

/// The optimum of a scenario as JSON. Raises `InputError` where the model does not apply, `LimitError`, `KeyboardInterrupt` on a signal.
pub(crate) fn write(scenario: &Scenario, world: &World, what: &OptimumSpec) -> PyResult<String> {
    let signals = Signals::new();
    let found = world.optimum_until(&scenario.spec, what, &|| signals.raised());
    signals.raise()?;
    match found {
        Ok(found) => json(&document(scenario, world, &found)),
        Err(NoOptimum::Unmodelled(reason)) => Err(input_error(reason.0)),
        Err(NoOptimum::OverLimit(reason)) => Err(LimitError::new_err(reason.0)),
        Err(NoOptimum::Stopped) => Err(input_error("the computation was stopped".to_string())),
    }
}

fn document<'a>(scenario: &'a Scenario, world: &'a World, found: &Optimum) -> Document<'a> {
    let (spec, names) = (&scenario.spec, world.names());
    let node = |node: usize| spec.nodes[node].id.as_str();
    let station = |station: StationIx| names.stations[station.ix()].as_str();
    let Optimum { links, plain, weighted, schedule, .. } = found;
    let charged = weighted.as_ref().unwrap_or(plain);
    let proportional = |rates: &Rates, place: usize| rates.proportional_bps.as_ref().map(|all| all[place]);
    let flow = |(place, used): (usize, &FlowUse)| {
        let spec = &spec.flows[used.flow.ix()];
        Flow {
            id: &spec.id,
            src: node(spec.from),
            dst: node(spec.to),
            demand_bps: used.demand_bps,
            sends_files: spec.traffic.sends_files(),
            max_min_bps: charged.max_min_bps[place],
            proportional_bps: proportional(charged, place),
            bound: charged.bounds[place].into(),
            without_factor: WithoutFactor {
                max_min_bps: plain.max_min_bps[place],
                proportional_bps: proportional(plain, place),
                bound: plain.bounds[place].into(),
            },
            scheduled_bps: schedule.as_ref().map(|schedule| schedule.max_min_bps[place]),
        }
    };
    let ids = |flows: &[FlowIx]| flows.iter().map(|flow| spec.flows[flow.ix()].id.as_str()).collect();
    let conflict = |conflict: &airfair_sim::optimum::Conflict| {
        let Causes { shared, defers, data_lost, answers_lost, .. } = conflict.causes;
        Conflict { links: conflict.links, shared_station: shared, defers, data_lost, answers_lost }
    };
    let radio = links.radio.len();
    let active = |(places, share): &(Vec<usize>, f64)| {
        let (links, wires): (Vec<usize>, Vec<usize>) = places.iter().partition(|&&place| place < radio);
        ActiveSet { links, wires: wires.iter().map(|wire| wire - radio).collect(), share: *share }
    };
    Document {
        scenario: &scenario.name,
        flows: links.flows.iter().enumerate().map(flow).collect(),
        routeless: ids(&links.routeless),
        inactive: ids(&links.inactive),
        links: links
            .radio
            .iter()
            .map(|link| Link { src: station(link.from), dst: station(link.to), rts: link.rts })
            .collect(),
        wires: links
            .wires
            .iter()
            .map(|wire| Wire { src: node(wire.from.ix()), dst: node(wire.to.ix()), rate_bps: wire.rate_bps })
            .collect(),
        conflicts: found.conflicts.iter().map(conflict).collect(),
        inhibitions: found
            .inhibitions
            .iter()
            .map(|&airfair_sim::optimum::Inhibition { link, by, factor }| Inhibition { link, by, factor })
            .collect(),
        additive: found.additive.iter().map(|one| Additive { link: one.link, by: one.by.clone() }).collect(),
        cliques: found
            .cliques
            .iter()
            .map(|clique| Clique { links: clique.links.clone(), senders: clique.senders })
            .collect(),
        complete: found.complete,
        schedule: schedule.as_ref().map(|schedule| schedule.sets.iter().map(active).collect()),
    }
}
