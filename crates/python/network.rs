//! The network of a scenario as the simulator builds it, as JSON.

use airfair_scenario::Scenario;
use airfair_sim::World;
use airfair_sim::ids::NodeIx;
use airfair_sim::spec::{Knot, PathSpec, RoutingSpec};
use pyo3::prelude::*;
use serde::Serialize;

use crate::contract::json;

#[derive(Serialize)]
struct Network<'a> {
    nodes: Vec<Node<'a>>,
    radios: Vec<Radio<'a>>,
    pairs: Vec<Pair>,
    links: Vec<Link<'a>>,
    flows: Vec<Flow<'a>>,
    /// The protocol that finds routes during a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    routing: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    routes: Option<Vec<NodeRoute<'a>>>,
}

#[derive(Serialize)]
struct Node<'a> {
    id: &'a str,
    position_m: Option<[f64; 3]>,
    /// Corners: s, x, y, z.
    path: Vec<[f64; 4]>,
    path_repeats_from: Option<usize>,
}

#[derive(Serialize)]
struct Radio<'a> {
    node: &'a str,
    radio: &'a str,
    channel: u16,
    data_rate_bps: u64,
}

/// Indices of radios.
#[derive(Serialize)]
struct Pair {
    sender: u32,
    hearer: u32,
    power_dbm: f64,
    delivery_ratio: f64,
    receives: bool,
}

#[derive(Serialize)]
struct Link<'a> {
    ends: [&'a str; 2],
    rate_bps: u64,
    delay_s: f64,
}

#[derive(Serialize)]
struct Flow<'a> {
    id: &'a str,
    src: &'a str,
    dst: &'a str,
    path: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct NodeRoute<'a> {
    src: &'a str,
    dst: &'a str,
    path: Vec<&'a str>,
}

fn corners(path: &PathSpec) -> Vec<[f64; 4]> {
    let corner = |knot: &Knot| {
        let [x, y, z] = knot.position;
        [knot.at.as_secs_f64(), x, y, z]
    };
    path.knots.iter().map(corner).collect()
}

/// The network as JSON; `routes`: with the routes between all nodes.
pub(crate) fn write(scenario: &Scenario, world: &mut World, routes: bool) -> PyResult<String> {
    let spec = &scenario.spec;
    let id = |node: usize| spec.nodes[node].id.as_str();
    let routes = routes.then(|| {
        let route = |path: Vec<NodeIx>| {
            let path: Vec<&str> = path.into_iter().map(|node| id(node.ix())).collect();
            Some(NodeRoute { src: path.first()?, dst: path.last()?, path })
        };
        world.routes_between_all().into_iter().filter_map(route).collect()
    });
    let mut paths: Vec<Option<&PathSpec>> = vec![None; spec.nodes.len()];
    for path in &spec.movement.paths {
        paths[path.node] = Some(path);
    }
    json(&Network {
        nodes: spec
            .nodes
            .iter()
            .zip(&scenario.placed)
            .zip(&paths)
            .map(|((node, &placed), path)| Node {
                id: &node.id,
                position_m: placed.then_some(node.position),
                path: path.map_or_else(Vec::new, corners),
                path_repeats_from: path.and_then(|path| path.repeat_from),
            })
            .collect(),
        // In the order of the world's stations.
        radios: spec
            .nodes
            .iter()
            .flat_map(|node| node.radios.iter().map(move |&kind| (node, &spec.radios[kind])))
            .map(|(node, radio)| Radio {
                node: &node.id,
                radio: &radio.name,
                channel: radio.channel,
                data_rate_bps: radio.phy.data_rate.as_bps(),
            })
            .collect(),
        pairs: world
            .relations()
            .map(|pair| Pair {
                sender: pair.from.0,
                hearer: pair.to.0,
                power_dbm: pair.power.to_dbm().0,
                delivery_ratio: pair.delivery_ratio,
                receives: pair.receives(),
            })
            .collect(),
        links: spec
            .links
            .iter()
            .map(|link| Link {
                ends: link.ends.map(id),
                rate_bps: link.rate.as_bps(),
                delay_s: link.delay.as_secs_f64(),
            })
            .collect(),
        flows: spec
            .flows
            .iter()
            .zip(world.paths())
            .map(|(flow, path)| Flow {
                id: &flow.id,
                src: id(flow.from),
                dst: id(flow.to),
                path: path.map(|nodes| nodes.into_iter().map(|node| id(node.ix())).collect()),
            })
            .collect(),
        routing: match &spec.routing {
            RoutingSpec::Static(_) => None,
            RoutingSpec::Found(protocol) => Some(protocol.name()),
        },
        routes,
    })
}
