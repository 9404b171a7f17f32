//! The network of a scenario as the simulator builds it, for whoever draws it.

use airfair_scenario::Scenario;
use airfair_sim::World;
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
}

#[derive(Serialize)]
struct Node<'a> {
    id: &'a str,
    position_m: Option<[f64; 3]>,
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

/// The network as JSON.
pub(crate) fn write(scenario: &Scenario, world: &World) -> PyResult<String> {
    let spec = &scenario.spec;
    let id = |node: usize| spec.nodes[node].id.as_str();
    json(&Network {
        nodes: spec
            .nodes
            .iter()
            .zip(&scenario.placed)
            .map(|(node, &placed)| Node { id: &node.id, position_m: placed.then_some(node.position) })
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
                sender: pair.from,
                hearer: pair.to,
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
                path: path.map(|nodes| nodes.into_iter().map(|node| id(node as usize)).collect()),
            })
            .collect(),
    })
}
