//! The links that flows use, and the time that a packet of a flow takes on each.

use std::collections::{BTreeMap, BTreeSet};

use airfair_units::{Span, Time};

use super::Unmodelled;
use super::contention::Tries;
use crate::air::Air;
use crate::ids::{FlowIx, LinkRef, NodeIx, StationIx, WireIx};
use crate::link::link_of;
use crate::modes::Mode;
use crate::names::natural_cmp;
use crate::node::Network;
use crate::observe::paths::{self, PathHop};
use crate::record::Names;
use crate::spec::{FlowSpec, Traffic, Transport, WorldSpec};

/// TCP header without options, bytes.
const TCP_BYTES: u32 = 20;

/// Timestamps in a segment, bytes (RFC 7323 appendix A).
const TIMESTAMP_BYTES: u32 = 12;

/// A directed radio link that carries packets of flows.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioLink {
    /// The sending station.
    pub from: StationIx,
    /// The receiving station.
    pub to: StationIx,
    /// Largest packet that flows send over it, bytes as an IP packet.
    pub largest: u32,
    /// Mode of data frames over it when the optimum is computed.
    pub mode: Mode,
    /// True if RTS and CTS precede that packet.
    pub rts: bool,
}

/// One direction of a wired link that carries packets of flows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wire {
    /// The sending node.
    pub from: NodeIx,
    /// The receiving node.
    pub to: NodeIx,
    /// Rate at the start of the run, bit/s.
    pub rate_bps: f64,
    /// The wire.
    wire: WireIx,
}

/// The load that a bit of a flow's payload puts on a radio link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RadioUse {
    /// The link, as a place in the list of links.
    pub link: usize,
    /// Attempts on the link for each bit of payload: packets per bit over the probability that an attempt succeeds on a silent air.
    pub attempts_per_bit: f64,
    /// Probability that an attempt fails on a silent air.
    pub loss: f64,
    /// Failures after which the MAC gives a packet up.
    pub tries: Tries,
    /// Time of an attempt without contention, s: RTS and CTS where they precede, data, ACK, the SIFS between them, and the way of the
    /// signals to the receiver and back.
    pub attempt_s: f64,
    /// Time for which a collision occupies the air, s: the first frame and the wait for its answer.
    pub collision_s: f64,
}

/// The load that a bit of a flow's payload puts on a wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WireUse {
    /// The wire, as a place in the list of wires.
    pub wire: usize,
    /// Bits on the wire for each bit of payload.
    pub bits_per_bit: f64,
}

/// A flow.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowUse {
    /// The flow.
    pub flow: FlowIx,
    /// Rate that its application offers, bit/s of payload; none if it always has data.
    pub demand_bps: Option<f64>,
    /// Radio links, in the order of the path, acknowledgements' links after it. A link occurs twice if both directions use it.
    pub radio: Vec<RadioUse>,
    /// Wires, likewise.
    pub wires: Vec<WireUse>,
}

/// All links and flows, each list in the order of names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Links {
    /// Radio links.
    pub radio: Vec<RadioLink>,
    /// Wires.
    pub wires: Vec<Wire>,
    /// Flows that have a route.
    pub flows: Vec<FlowUse>,
    /// Flows that have no route.
    pub routeless: Vec<FlowIx>,
    /// Flows that end before the warm-up does, or start after the run.
    pub inactive: Vec<FlowIx>,
}

/// Packets of one direction of a flow.
#[derive(Debug, Clone, Copy)]
struct Packets {
    forward: bool,
    /// Bytes as an IP packet.
    bytes: u32,
    /// Packets for each bit of payload.
    per_bit: f64,
}

/// The links that the flows of a network use.
///
/// # Errors
/// A link on a flow's path over which no data frame arrives.
pub(super) fn links(
    spec: &WorldSpec,
    air: &Air,
    network: &Network,
    names: &Names,
) -> Result<Links, Unmodelled> {
    let mut flows: Vec<FlowIx> = network.endpoints.flows.places().collect();
    flows.sort_by(|a, b| natural_cmp(&names.flows[a.ix()], &names.flows[b.ix()]));
    let (mut found, mut loads) = (Links::default(), Vec::new());
    for flow in flows {
        if !is_active(spec, flow) {
            found.inactive.push(flow);
        } else if let Some(of_flow) = loads_of(spec, network, flow) {
            loads.push((flow, of_flow));
        } else {
            found.routeless.push(flow);
        }
    }
    check_losses(spec, air, &loads, names)?;
    found.radio = radio_links(air, &loads, names);
    found.wires = wires(spec, &loads, names);
    let link_at: BTreeMap<(StationIx, StationIx), usize> =
        found.radio.iter().enumerate().map(|(place, link)| ((link.from, link.to), place)).collect();
    let wire_at: BTreeMap<WireIx, usize> =
        found.wires.iter().enumerate().map(|(place, wire)| (wire.wire, place)).collect();
    for (flow, loads) in loads {
        let (mut radio, mut wires) = (Vec::new(), Vec::new());
        for Load { packets, hop } in loads {
            match hop.link {
                LinkRef::Station(from) => {
                    let link = link_at[&(from, hop.peer)];
                    radio.push(radio_use(air, link, &found.radio[link], packets));
                }
                LinkRef::Wire(wire) => {
                    let bytes = f64::from(packets.bytes + spec.headers.wired);
                    wires.push(WireUse { wire: wire_at[&wire], bits_per_bit: bytes * 8.0 * packets.per_bit });
                }
            }
        }
        if let Some(silent) = radio.iter().find(|used| !used.attempts_per_bit.is_finite()) {
            let RadioLink { from, to, .. } = found.radio[silent.link];
            let [from, to] = [from, to].map(|station| &names.stations[station.ix()]);
            return Err(Unmodelled(format!(
                "flow {}: no data frame arrives over the link from {from} to {to}",
                names.flows[flow.ix()]
            )));
        }
        found.flows.push(FlowUse { flow, demand_bps: demand(&spec.flows[flow.ix()].traffic), radio, wires });
    }
    Ok(found)
}

/// True if a flow can send within the measured part of the run.
fn is_active(spec: &WorldSpec, flow: FlowIx) -> bool {
    let FlowSpec { start, stop, .. } = spec.flows[flow.ix()];
    let (warmup, end) = (Time::ZERO + spec.warmup, Time::ZERO + spec.duration);
    stop > start && stop > warmup && start < end
}

/// Packets of a flow on a hop.
#[derive(Debug, Clone, Copy)]
struct Load {
    packets: Packets,
    hop: PathHop,
}

/// All hops of a flow; none if it has no route in one of its directions.
fn loads_of(spec: &WorldSpec, network: &Network, flow: FlowIx) -> Option<Vec<Load>> {
    let mut loads = Vec::new();
    for packets in packets(spec, network, flow) {
        let hops = paths::hops(network, flow, packets.forward);
        if hops.is_empty() {
            return None;
        }
        loads.extend(hops.into_iter().map(|hop| Load { packets, hop }));
    }
    Some(loads)
}

/// Packets that a flow sends in each direction. Over TCP every segment is full, and one of `delayed_ack.segments` is acknowledged.
fn packets(spec: &WorldSpec, network: &Network, flow: FlowIx) -> Vec<Packets> {
    let headers = &spec.headers;
    let Transport::Tcp { config, .. } = &spec.flows[flow.ix()].transport else {
        let payload = network.endpoints.flows[flow].source.mean_size();
        let scheme = network.plane.headers.wire_len(network.endpoints.udp.label(flow).0)
            + network.endpoints.udp.transport_header(flow);
        let bytes = payload + headers.udp + headers.ip + scheme;
        return vec![Packets { forward: true, bytes, per_bit: 1.0 / (8.0 * f64::from(payload)) }];
    };
    let option = if config.timestamps { TIMESTAMP_BYTES } else { 0 };
    let payload = config.mss.saturating_sub(option).max(1);
    let header = headers.tcp.unwrap_or(TCP_BYTES + option) + headers.ip;
    let segments_per_bit = 1.0 / (8.0 * f64::from(payload));
    let acknowledged = config.delayed_ack.as_ref().map_or(1, |delayed| delayed.segments.max(1));
    vec![
        Packets { forward: true, bytes: payload + header, per_bit: segments_per_bit },
        Packets { forward: false, bytes: header, per_bit: segments_per_bit / f64::from(acknowledged) },
    ]
}

/// Packets that are lost where no sender sends them again, and wires whose rate changes, have no model.
fn check_losses(
    spec: &WorldSpec,
    air: &Air,
    loads: &[(FlowIx, Vec<Load>)],
    names: &Names,
) -> Result<(), Unmodelled> {
    for (flow, loads) in loads {
        for Load { hop, .. } in loads {
            let reason = match hop.link {
                LinkRef::Station(_) if spec.radios[air.kind_of(hop.peer)].packet_loss > 0.0 => {
                    "radio.packet_loss is above 0"
                }
                LinkRef::Station(_) => continue,
                LinkRef::Wire(wire) => match &spec.links[link_of(wire)] {
                    link if link.loss > 0.0 || link.loss_every > 0 => "a wire loses packets",
                    link if !link.rate_changes.is_empty() => "the rate of a wire changes",
                    _ => continue,
                },
            };
            let [from, to] = [hop.from, hop.to].map(|node| &names.nodes[node.ix()]);
            return Err(Unmodelled(format!(
                "there is no optimum: {reason} from {from} to {to}, on the path of flow {}",
                names.flows[flow.ix()]
            )));
        }
    }
    Ok(())
}

/// The radio links, in the order of their stations' names.
fn radio_links(air: &Air, loads: &[(FlowIx, Vec<Load>)], names: &Names) -> Vec<RadioLink> {
    let mut largest: BTreeMap<(StationIx, StationIx), u32> = BTreeMap::new();
    for Load { packets, hop } in loads.iter().flat_map(|(_, loads)| loads) {
        if let LinkRef::Station(from) = hop.link {
            let bytes = largest.entry((from, hop.peer)).or_default();
            *bytes = packets.bytes.max(*bytes);
        }
    }
    let link = |((from, to), largest)| {
        let (mac, mode) = (air.mac(from), air.link_mode(from, to));
        RadioLink { from, to, largest, mode, rts: mac.uses_rts(mode, largest + mac.overhead) }
    };
    let mut links: Vec<RadioLink> = largest.into_iter().map(link).collect();
    let name = |station: StationIx| names.stations[station.ix()].as_str();
    links.sort_by(|a, b| {
        natural_cmp(name(a.from), name(b.from)).then_with(|| natural_cmp(name(a.to), name(b.to)))
    });
    links
}

/// The wires, in the order of their nodes' names.
fn wires(spec: &WorldSpec, loads: &[(FlowIx, Vec<Load>)], names: &Names) -> Vec<Wire> {
    let mut wires: Vec<Wire> = Vec::new();
    let mut known = BTreeSet::new();
    for Load { hop, .. } in loads.iter().flat_map(|(_, loads)| loads) {
        if let LinkRef::Wire(wire) = hop.link
            && known.insert(wire)
        {
            let rate_bps = spec.links[link_of(wire)].rate.as_bps() as f64;
            wires.push(Wire { from: hop.from, to: hop.to, rate_bps, wire });
        }
    }
    let name = |node: NodeIx| names.nodes[node.ix()].as_str();
    // No two wires have the same ends.
    wires.sort_by(|a, b| {
        natural_cmp(name(a.from), name(b.from)).then_with(|| natural_cmp(name(a.to), name(b.to)))
    });
    wires
}

/// The load of a bit of payload on a radio link.
fn radio_use(air: &Air, place: usize, link: &RadioLink, packets: Packets) -> RadioUse {
    let mac = air.mac(link.from);
    let arrives = air.reach().delivery_ratio(link.from, link.to, packets.bytes);
    let way = 2 * air.reach().delay(link.from, link.to).unwrap_or_default().as_nanos();
    let rts = mac.uses_rts(link.mode, packets.bytes + mac.overhead);
    let first = if rts {
        let control = mac.control(link.mode);
        control.rts_ns + control.cts_wait
    } else {
        mac.airtime(link.mode, packets.bytes).0 + mac.modes[link.mode].answer_wait
    };
    let ways = if rts { 2 * way } else { way };
    let longer_wait = if mac.wait.each_link { way } else { 0 };
    RadioUse {
        link: place,
        attempts_per_bit: packets.per_bit / arrives,
        loss: 1.0 - arrives,
        tries: Tries { first: mac.short_retry_limit, data: rts.then_some(mac.long_retry_limit) },
        attempt_s: Span(mac.exchange_time(link.mode, packets.bytes).0 + ways).as_secs_f64(),
        collision_s: Span(first + longer_wait).as_secs_f64(),
    }
}

/// Rate that an application offers, bit/s; none where the application always has data or where files arrive, whose rates depend on what the
/// network delivers or on draws.
fn demand(traffic: &Traffic) -> Option<f64> {
    match traffic {
        Traffic::ConstantRate { rate, .. } | Traffic::Poisson { rate, .. } => Some(rate.as_bps() as f64),
        Traffic::Saturating { .. }
        | Traffic::Endless
        | Traffic::File { .. }
        | Traffic::Web { .. }
        | Traffic::Arrivals { .. }
        | Traffic::List { .. } => None,
    }
}
