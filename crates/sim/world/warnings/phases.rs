//! Warning of constant streams whose phases decide which of them finds room in a full queue.

use std::collections::BTreeMap;

use airfair_units::{Bytes, Span};

use super::listed;
use crate::air::Air;
use crate::ids::{FlowIx, Ix, LinkRef, PortIx};
use crate::link::link_of;
use crate::names::natural_cmp;
use crate::node::Network;
use crate::observe::paths;
use crate::record::Names;
use crate::spec::{FlowSpec, RoutingSpec, Traffic, Transport, WorldSpec};

/// Strictly periodic streams at a queue.
#[derive(Default)]
struct Streams {
    /// Flow and the gap between its packets.
    flows: Vec<(FlowIx, Span)>,
    /// Time that the link needs for a second of these streams, s.
    load: f64,
}

/// The first full queue, by the name of its node, into which several flows send packets at equal gaps without jitter. Their order on
/// arrival repeats for ever, and a queue that drops what finds no room always drops packets of the same flows (S. Floyd and V. Jacobson,
/// "On traffic phase effects in packet-switched gateways", 1992).
pub(super) fn equal_gaps(air: &Air, network: &Network, spec: &WorldSpec, names: &Names) -> Option<String> {
    if matches!(spec.routing, RoutingSpec::Found(_)) {
        return None;
    }
    let mut queues: BTreeMap<PortIx, Streams> = BTreeMap::new();
    for (number, flow) in spec.flows.iter().enumerate() {
        let (Some(gap), flow) = (periodic(flow), FlowIx::of(number)) else { continue };
        let bytes = network.endpoints.packet_bytes(&network.plane, flow);
        // Wires keep the gaps; the first radio's contention for the air ends them.
        for hop in paths::hops(network, flow, true) {
            let (port, time) = match hop.link {
                LinkRef::Station(station) => {
                    let mac = air.mac(station);
                    let time = mac.lone_exchange(mac.nominal_mode).time(bytes);
                    (network.plane.interfaces.of_station(station).1, time)
                }
                LinkRef::Wire(wire) => {
                    let rate = spec.links[link_of(wire)].rate;
                    (network.plane.links.port(wire), rate.time_for(Bytes(bytes.into())))
                }
            };
            let queue = queues.entry(port).or_default();
            queue.flows.push((flow, gap));
            queue.load += time.as_nanos() as f64 / gap.as_nanos().max(1) as f64;
            if matches!(hop.link, LinkRef::Station(_)) {
                break;
            }
        }
    }
    let name = |flow: FlowIx| names.flows[flow.ix()].as_str();
    let node = |port: PortIx| names.nodes[network.plane.interfaces.node(port).ix()].as_str();
    let is_unfair = |port: PortIx, streams: &Streams| {
        let drops = network.plane.interfaces.pipeline(port).tail_drop().is_some();
        // A full queue stops the sources of its own node instead, and they take turns.
        let own = |flow: FlowIx| network.endpoints.flows[flow].from == network.plane.interfaces.node(port);
        let stops =
            network.endpoints.backpressure.rules(port).backpressure && streams.flows.iter().all(|f| own(f.0));
        drops && !stops && streams.load > 1.0
    };
    let mut found: Vec<(PortIx, Vec<FlowIx>)> = Vec::new();
    for (&port, streams) in queues.iter().filter(|(port, streams)| is_unfair(**port, streams)) {
        let mut by_gap: BTreeMap<Span, Vec<FlowIx>> = BTreeMap::new();
        streams.flows.iter().for_each(|&(flow, gap)| by_gap.entry(gap).or_default().push(flow));
        found.extend(by_gap.into_values().filter(|flows| flows.len() > 1).map(|flows| (port, flows)));
    }
    let least = |flows: &[FlowIx]| flows.iter().map(|&flow| name(flow)).min_by(|a, b| natural_cmp(a, b));
    let (port, mut flows) = found.into_iter().min_by(|a, b| {
        let by_flow = || natural_cmp(least(&a.1).unwrap_or(""), least(&b.1).unwrap_or(""));
        natural_cmp(node(a.0), node(b.0)).then_with(by_flow)
    })?;
    flows.sort_by(|&a, &b| natural_cmp(name(a), name(b)));
    let to = |flow: &FlowIx| names.nodes[network.endpoints.flows[*flow].to.ix()].as_str();
    Some(format!(
        "flows at equal gaps without jitter fill the queue of {}: which of their packets find room follows from their phases, and one \
         flow may get several times the rate of another: {}; expected gap_jitter = 1.0, or the mean of many seeds",
        node(port),
        listed(flows.iter().map(|flow| (name(*flow), format!("to {}", to(flow)))))
    ))
}

/// The gap between the packets of a flow that are sent strictly periodically.
fn periodic(flow: &FlowSpec) -> Option<Span> {
    let by_clock = matches!(flow.transport, Transport::Udp | Transport::PlainUdp);
    match flow.traffic {
        Traffic::ConstantRate { rate, packet, gap_jitter } if by_clock && gap_jitter == 0.0 => {
            Some(rate.time_for(packet)).filter(|gap| *gap > Span::ZERO)
        }
        _ => None,
    }
}
