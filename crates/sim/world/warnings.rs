//! Warnings about a run's specification, known before the run.

mod large_updates;
mod late_answers;
mod phases;
mod short_tables;

use std::collections::{BTreeMap, BTreeSet};

use airfair_schemes::places::Capability;
use airfair_schemes::{Carrier, Registry, SchemeEntry};
use airfair_units::{Db, Span, Time};

use crate::air::{Air, CutOff, MOST_POWER_OFFSET, TooFast};
use crate::ids::{FlowIx, Ix, LinkRef, NodeIx, PortIx, StationIx};
use crate::names::natural_cmp;
use crate::node::Network;
use crate::node::endpoints::flow::Flow;
use crate::observe::paths;
use crate::record::Names;
use crate::route::NextHop;
use crate::spec::{FlowSpec, PathSpec, RoutingSpec, Transport, WorldSpec};

/// All warnings as sentences. `only_marks`: the run's scheme only marks packets; `probe_powers`: of each node, above its radio's own.
pub(super) fn warnings(
    spec: &WorldSpec,
    (scheme_name, schemes): (&str, &Registry),
    (only_marks, probe_powers): (bool, &[Option<Db>]),
    (air, network): (&Air, &Network),
    names: &Names,
) -> Vec<String> {
    // In the order of names, not of places in the file.
    let by_name = |a: FlowIx, b: FlowIx| natural_cmp(&names.flows[a.ix()], &names.flows[b.ix()]);
    let mut unreachable = flows_without_route(network);
    unreachable.sort_by(|a, b| by_name(a.0, b.0));
    let flow_name = |flow: FlowIx| names.flows[flow.ix()].as_str();
    let node_name = |node: NodeIx| names.nodes[node.ix()].as_str();
    let routeless = if unreachable.len() > MOST_ALIKE {
        let each =
            unreachable.iter().map(|f| (flow_name(f.0), format!("{} to {}", node_name(f.1), node_name(f.2))));
        vec![format!("{} flows have no route: {}", unreachable.len(), listed(each))]
    } else {
        let each = |f: &(FlowIx, NodeIx, NodeIx)| {
            format!("flow {}: no route from {} to {}", flow_name(f.0), node_name(f.1), node_name(f.2))
        };
        unreachable.iter().map(each).collect()
    };
    let mut too_long = flows_beyond_hop_limit(network);
    too_long.sort_by(|a, b| by_name(a.0, b.0));
    let remedy = |hops: usize| {
        if hops > 255 { "a shorter route, of 255 hops at most" } else { "a greater routing.hop_limit" }
    };
    let limit = spec.hop_limit;
    let too_long = if too_long.len() > MOST_ALIKE {
        let each = too_long.iter().map(|&(flow, .., hops)| (flow_name(flow), format!("{hops} hops")));
        let most = remedy(too_long.iter().map(|f| f.3).max().unwrap_or(0));
        vec![format!(
            "{} flows deliver no packet: their routes are longer than the hop limit, {limit}: {}; expected {most}",
            too_long.len(),
            listed(each)
        )]
    } else {
        let each = |&(flow, from, to, hops): &(FlowIx, NodeIx, NodeIx, usize)| {
            format!(
                "flow {}: no packet is delivered: the route from {} to {} has {hops} hops, and the hop limit is {limit}; expected {}",
                flow_name(flow),
                node_name(from),
                node_name(to),
                remedy(hops)
            )
        };
        too_long.iter().map(each).collect()
    };
    let useless = idle_scheme_reason((spec, network), scheme_name, schemes.find(scheme_name), only_marks);
    let too_fast = too_fast(air, network, spec, names);
    let mut cut_off = air.reach().cut_off();
    let radio = |cut: &CutOff| &spec.radios[cut.kind].name;
    cut_off.sort_by(|a, b| natural_cmp(radio(a), radio(b)).then(a.mode.cmp(&b.mode)));
    let cut_off = cut_off.iter().map(|cut| cut.warning(&spec.radios[cut.kind]));
    let mut unlimited_flows = unlimited_flows(network, &names.flows);
    unlimited_flows.sort_by(|a, b| by_name(a.0, b.0));
    let unlimited_flows = match unlimited_flows[..] {
        [] => None,
        [(flow, node, other)] => Some(format!(
            "flow {}: may starve flows that {} forwards, such as flow {}: its sender is stopped only by a full queue \
             (backpressure), and no limit applies to its part of the queue (local_limit = \"off\")",
            flow_name(flow),
            node_name(node),
            flow_name(other)
        )),
        [(_, node, other), ..] => Some(format!(
            "{} flows may starve flows that their sources forward, such as flow {} at {}: their senders are stopped only by a full queue \
             (backpressure), and no limit applies to their part of the queue (local_limit = \"off\"): {}",
            unlimited_flows.len(),
            flow_name(other),
            node_name(node),
            listed(unlimited_flows.iter().map(|f| (flow_name(f.0), format!("at {}", node_name(f.1)))))
        )),
    };
    let txops = short_txops(air, network, spec);
    let controllers = idle_controllers(spec, network, scheme_name, names);
    let ratios = old_ratios((spec, network), scheme_name, schemes.find(scheme_name));
    let probes = short_probes(probe_powers, scheme_name, (spec, network), air, names);
    let of_radios = cut_off.chain(txops).chain(unheard_relays(air, network, names));
    routeless
        .into_iter()
        .chain(short_tables::short_tables(spec))
        .chain(large_updates::large_updates(air, spec, names))
        .chain(too_long)
        .chain(too_fast)
        .chain(late_answers::late_answers(air, network, spec, names))
        .chain(of_radios)
        .chain(useless)
        .chain(phases::equal_gaps(air, network, spec, names))
        .chain(controllers)
        .chain(ratios)
        .chain(probes)
        .chain(unlimited_flows)
        .collect()
}

/// Warning of forwarders that are told delivery ratios which then change.
fn old_ratios(
    (spec, network): (&WorldSpec, &Network),
    scheme: &str,
    entry: Option<&SchemeEntry>,
) -> Option<String> {
    let mut stations =
        network.endpoints.flows.places().filter_map(|flow| network.hosts.forwarders.source_of(flow));
    let wanting: Vec<_> =
        network.hosts.forwarders.radios().filter(|&(.., wants_ratios)| wants_ratios).collect();
    let told = stations.any(|station| wanting.iter().any(|&(at, ..)| at == station));
    let end = network.plane.rules.end;
    let moves = |path: &PathSpec| {
        let first = path.knots.first();
        path.knots
            .iter()
            .zip(path.knots.iter().skip(1))
            .any(|(from, to)| from.at < end && first.is_some_and(|first| to.position != first.position))
    };
    let change = if spec.movement.paths.iter().any(moves) {
        "nodes move"
    } else if spec.gain_changes.iter().any(|change| change.at < end) {
        "path gains change"
    } else if spec.radios.iter().any(|radio| radio.fading.is_some()) {
        "gains fade"
    } else {
        return None;
    };
    let measures = entry.is_some_and(|entry| entry.params.iter().any(|param| param.name == "ratios"));
    let remedy = if measures {
        format!("; expected {scheme}.ratios = \"probes\", which measures them")
    } else {
        String::new()
    };
    told.then(|| {
        format!(
            "scheme {scheme} is told delivery ratios at time 0 only, and {change}: its forwarders do not follow{remedy}"
        )
    })
}

/// Warnings of controllers that do not run: schemes have none, or their time is over before they start.
fn idle_controllers(spec: &WorldSpec, network: &Network, scheme: &str, names: &Names) -> Vec<String> {
    if spec.controllers.is_empty() {
        return Vec::new();
    }
    let own = |node: usize| spec.schemes.iter().find(|own| own.node == node).map(|own| &own.scheme);
    let mut without = BTreeMap::new();
    let has_one =
        |node| network.hosts.controllers.places().any(|at| network.hosts.controllers.node(at) == node);
    for one in &spec.controllers {
        if !has_one(NodeIx::of(one.node)) {
            let scheme = own(one.node).map_or(scheme, String::as_str);
            without.entry(&names.nodes[one.node]).or_insert(scheme);
        }
    }
    let mut late: Vec<_> =
        spec.controllers.iter().filter(|one| one.start >= Time::ZERO + spec.duration).collect();
    late.sort_by(|a, b| natural_cmp(&names.nodes[a.node], &names.nodes[b.node]).then(a.start.cmp(&b.start)));
    let late = late.into_iter().map(|one| {
        let (node, start) = (&names.nodes[one.node], one.start);
        format!("[[controller]] at node {node}: it would start at {start}, when the run has ended, and has no effect")
    });
    if without.len() == spec.controllers.iter().map(|one| one.node).collect::<BTreeSet<_>>().len() {
        let schemes: BTreeSet<&str> = without.values().copied().collect();
        let schemes = schemes.into_iter().collect::<Vec<_>>().join(", ");
        return vec![format!("[[controller]] has no effect: scheme {schemes} has no controller")];
    }
    let mut without: Vec<_> = without.into_iter().collect();
    without.sort_by(|a, b| natural_cmp(a.0, b.0));
    let without = without.into_iter().map(|(node, scheme)| {
        format!("[[controller]] at node {node} has no effect: its scheme, {scheme}, has no controller")
    });
    without.chain(late).collect()
}

/// Size of the probe by which reach is judged, as an IP packet, bytes.
const PROBE_BYTES: u32 = 60;

/// Two stations, and the least power with which the probes of one of the two reach the other; none: no power does.
type ShortProbes = ([StationIx; 2], Option<f64>);

/// Nodes that sense each other while none hears the other's probes: the scheme does not find what they do to each other. Of all pairs of
/// nodes that send or receive data by radio on static routes, of all nodes where routes are found. One warning for each scheme.
fn short_probes(
    probe_powers: &[Option<Db>],
    scheme: &str,
    (spec, network): (&WorldSpec, &Network),
    air: &Air,
    names: &Names,
) -> Vec<String> {
    let node_of = |station| network.plane.interfaces.of_station(station).0;
    let power = |station| probe_powers[node_of(station).ix()];
    if probe_powers.iter().all(Option::is_none) {
        return Vec::new();
    }
    let hops = || network.endpoints.flows.places().flat_map(|flow| paths::hops(network, flow, true));
    let by_radio = || hops().filter(|hop| matches!(hop.link, LinkRef::Station(_)));
    let used: Option<BTreeSet<NodeIx>> =
        (!network.plane.routes.are_found()).then(|| by_radio().flat_map(|hop| [hop.from, hop.to]).collect());
    let counts = |station| {
        power(station).is_some() && used.as_ref().is_none_or(|used| used.contains(&node_of(station)))
    };
    // The least power with which the probes of one of the two reach the other; none: no power does.
    let mut needed: BTreeMap<[StationIx; 2], Option<f64>> = BTreeMap::new();
    let mut heard = BTreeSet::new();
    for from in air.stations().filter(|&station| counts(station)) {
        for to in air.reach().relations(from).into_iter().map(|relation| relation.to).filter(|&to| counts(to))
        {
            let pair = [from.min(to), from.max(to)];
            let least = air.reach().power_to_arrive(from, to, PROBE_BYTES).map(|least| least.0);
            if least.zip(power(from)).is_some_and(|(least, power)| power.0 >= least) {
                heard.insert(pair);
            }
            let known = needed.entry(pair).or_default();
            *known = [*known, least].into_iter().flatten().reduce(f64::min);
        }
    }
    needed.retain(|pair, _| !heard.contains(pair));
    let name = |station: StationIx| names.stations[station.ix()].as_str();
    let scheme_of = |station: StationIx| {
        let own = spec.schemes.iter().find(|own| own.node == node_of(station).ix());
        own.map_or(scheme, |own| &own.scheme)
    };
    let mut of_schemes: BTreeMap<&str, Vec<ShortProbes>> = BTreeMap::new();
    for (mut pair, least) in needed {
        pair.sort_by(|&a, &b| natural_cmp(name(a), name(b)));
        of_schemes.entry(scheme_of(pair[0])).or_default().push((pair, least));
    }
    let warning = |(scheme, mut pairs): (&str, Vec<ShortProbes>)| {
        pairs.sort_by(|a, b| {
            let by = |i: usize| natural_cmp(name(a.0[i]), name(b.0[i]));
            by(0).then_with(|| by(1))
        });
        let &([one, other], _) = pairs.first()?;
        let power = power(one)?.0;
        let most = pairs.iter().try_fold(0.0, |most, pair| Some(f64::max(most, pair.1?)));
        let expected = most.map_or_else(
            || format!("{MOST_POWER_OFFSET} dB are not enough, so a shorter radio.propagation.carrier_sense"),
            |most| format!("schemes.{scheme}.probe_power = {most:.1} or more instead of {power:.1}"),
        );
        let more = match pairs.len() - 1 {
            0 => String::new(),
            1 => " (1 more such pair)".to_string(),
            n => format!(" ({n} more such pairs)"),
        };
        Some(format!(
            "{} and {} sense each other, and probes of scheme {scheme} do not reach from one to the other{more}: it does not find out \
             what they do to each other, and flows may starve; expected {expected}",
            name(one),
            name(other)
        ))
    };
    of_schemes.into_iter().filter_map(warning).collect()
}

/// Warnings of one kind that are given one by one. More are one warning.
const MOST_ALIKE: usize = 3;

/// Flows that such a warning names; the others are counted.
const MOST_NAMED: usize = 40;

/// Names, each with what is said of it: "f (a to b), g (a to c) and 3 more".
fn listed<'a>(each: impl ExactSizeIterator<Item = (&'a str, String)>) -> String {
    let more = each.len().saturating_sub(MOST_NAMED);
    let named: Vec<String> = each.take(MOST_NAMED).map(|(name, what)| format!("{name} ({what})")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// The first, by name, of the radio links on the flows' routes that have no losses by the error model although their power is too low for
/// the rate; with a routing protocol, of all links.
fn too_fast(air: &Air, network: &Network, spec: &WorldSpec, names: &Names) -> Option<String> {
    let on_routes = |flow: FlowIx| {
        let hops = paths::hops(network, flow, true).into_iter().chain(paths::hops(network, flow, false));
        hops.filter_map(|hop| match hop.link {
            LinkRef::Station(station) => Some((station, hop.peer)),
            LinkRef::Wire(_) => None,
        })
    };
    let links: BTreeSet<(StationIx, StationIx)> = if matches!(spec.routing, RoutingSpec::Found(_)) {
        let all = air.stations().flat_map(|from| air.neighbours(from).map(move |(to, _)| (from, to)));
        all.collect()
    } else {
        network.endpoints.flows.places().flat_map(on_routes).collect()
    };
    let found: Vec<TooFast> =
        links.into_iter().filter_map(|(from, to)| air.reach().too_fast(from, to)).collect();
    let name = |station: StationIx| &names.stations[station.ix()];
    let by_name = |a: &&TooFast, b: &&TooFast| {
        natural_cmp(name(a.from), name(b.from)).then_with(|| natural_cmp(name(a.to), name(b.to)))
    };
    let &TooFast { from, to, power, needed } = found.iter().min_by(by_name)?;
    let more = match found.len() - 1 {
        0 => String::new(),
        1 => " (1 more such link)".to_string(),
        n => format!(" ({n} more such links)"),
    };
    Some(format!(
        "{} from {} to {} arrives with {:.1} dBm and needs {:.1} dBm: the link has no losses here, but by the error curves \
         would lose more than a tenth of its frames{more}; expected radio.sensitivity = \"per-rate\", another error_model, a lower \
         data_rate or a shorter distance",
        air.phy(from).nominal_rate(),
        name(from),
        name(to),
        power.0,
        needed.0
    ))
}

/// Relays whose queues are never heard by the node before them, whose scheme compares its queue with theirs: they forward by a wire, or by
/// a radio that this node's radio does not hear. Each with a flow that passes it. None in a world with a routing protocol.
fn unheard_relays(air: &Air, network: &Network, names: &Names) -> Option<String> {
    let interfaces = &network.plane.interfaces;
    let compares = |station: StationIx| {
        let port = interfaces.of_station(station).1;
        interfaces.pipeline(port).wants(Capability::HeardHeaders)
            || interfaces.pipeline(port).wants(Capability::Backlogs)
    };
    // Relay, its radio (none: a wire), the node before it, flow.
    let mut found: Vec<(NodeIx, Option<StationIx>, NodeIx, FlowIx)> = Vec::new();
    for (flow, f) in network.endpoints.flows.pairs().filter(|_| !network.plane.routes.are_found()) {
        let label =
            if f.is_tcp() { network.endpoints.tcp.header(flow) } else { network.endpoints.udp.label(flow).0 };
        let returns = f.is_tcp() || network.endpoints.udp.reports(flow);
        let ways = [Some(true), returns.then_some(false)].into_iter().flatten();
        for pair in ways.flat_map(|forward| {
            paths::hops(network, flow, forward).windows(2).map(|pair| [pair[0], pair[1]]).collect::<Vec<_>>()
        }) {
            let (LinkRef::Station(station), onward) = (pair[0].link, pair[1].link) else { continue };
            let is_labelled = !label.is_none()
                && label == interfaces.pipeline(interfaces.of_station(station).1).queue_header();
            let radio = match onward {
                LinkRef::Station(relay) => Some(relay),
                LinkRef::Wire(_) => None,
            };
            let is_heard =
                radio.is_some_and(|relay| air.neighbours(relay).any(|(hearer, _)| hearer == station));
            if is_labelled && compares(station) && !is_heard {
                found.push((pair[1].from, radio, pair[0].from, flow));
            }
        }
    }
    let node = |node: NodeIx| names.nodes[node.ix()].as_str();
    let flow_name = |flow: FlowIx| names.flows[flow.ix()].as_str();
    found.sort_by(|a, b| {
        let of_relay = natural_cmp(node(a.0), node(b.0)).then(a.1.cmp(&b.1));
        of_relay.then_with(|| natural_cmp(flow_name(a.3), flow_name(b.3)))
    });
    found.dedup_by_key(|relay| (relay.0, relay.1));
    let &(relay, radio, before, flow) = found.first()?;
    let by =
        radio.map_or("a wire".to_string(), |station| format!("its radio {}", names.stations[station.ix()]));
    let more = match found.len() - 1 {
        0 => String::new(),
        1 => " (1 more such relay)".to_string(),
        n => format!(" ({n} more such relays)"),
    };
    let (relay, before) = (node(relay), node(before));
    Some(format!(
        "flow {}: {relay} forwards by {by}: {before}, which does not hear that, takes the queue there for empty{more}",
        flow_name(flow)
    ))
}

/// TXOP limits that are shorter than the exchange, at the nominal rate, of a packet of the category, of the flow with the largest ones: by
/// radio and category.
fn short_txops(air: &Air, network: &Network, spec: &WorldSpec) -> Vec<String> {
    let mut found = BTreeMap::new();
    for station in air.stations() {
        let mac = air.mac(station);
        let radio = &spec.radios[air.kind_of(station)];
        let Some(edca) = radio.mac.edca.as_ref().filter(|_| !found.contains_key(&radio.name)) else {
            continue;
        };
        let short = edca.categories.iter().enumerate().filter_map(|(number, category)| {
            let flows = network.endpoints.flows.pairs().filter(|(_, flow)| {
                usize::from(edca.category_of_dscp[usize::from(flow.dscp) % 64]) == number
            });
            let bytes = flows.map(|(flow, _)| network.endpoints.packet_bytes(&network.plane, flow)).max()?;
            let needed = mac.exchange_time(mac.nominal_mode, bytes);
            (category.txop > Span::ZERO && needed > category.txop).then(|| {
                format!(
                    "radio {}: the TXOP limit of {}, {}, is shorter than the exchange of a packet of {bytes} B, {needed}: such \
                     a packet is sent alone",
                    radio.name, category.name, category.txop
                )
            })
        });
        found.insert(radio.name.clone(), short.collect::<Vec<_>>());
    }
    found.into_values().flatten().collect()
}

/// The reason why the run's scheme has no effect, if it has none.
fn idle_scheme_reason(
    (spec, network): (&WorldSpec, &Network),
    scheme: &str,
    entry: Option<&SchemeEntry>,
    only_marks: bool,
) -> Option<String> {
    let uses_ecn = |flow: &FlowSpec| matches!(&flow.transport, Transport::Tcp { config, .. } if config.ecn);
    let uses_ecn = |spec: &WorldSpec| {
        spec.flows.iter().any(uses_ecn)
            || network.endpoints.flows.places().any(|flow| network.endpoints.udp.label(flow).1)
    };
    if let Some(kinds) = network.plane.rules.idle_scheme {
        let kinds = [
            (kinds.radio, "radios"),
            (kinds.access_point && !kinds.radio, "access points (a node with a radio and a wired link)"),
            (kinds.wire, "wired links"),
        ];
        let kinds: Vec<&str> = kinds.iter().filter(|kind| kind.0).map(|kind| kind.1).collect();
        return Some(format!(
            "scheme {scheme} does nothing: it acts at {}, and here there is none",
            kinds.join(" and at ")
        ));
    }
    let forwards = entry.is_some_and(|entry| entry.places.contains(&"forwarder"));
    let by_routes = |flow| network.hosts.forwarders.source_of(FlowIx::of(flow)).is_none();
    if forwards && !spec.flows.is_empty() && (0..spec.flows.len()).all(by_routes) {
        return Some(format!(
            "scheme {scheme} forwards only flows over UDP without a law of their own (transport = \"udp\"), and there is none \
             between two nodes that have it: all flows go by routes"
        ));
    }
    let only_law =
        |entry: &&SchemeEntry| entry.places.iter().all(|place| ["source", "receiver"].contains(place));
    let entry = entry.filter(only_law);
    let laws = [Carrier::Tcp, Carrier::Udp, Carrier::Rate]
        .map(|carrier| entry.is_some_and(|entry| entry.has_source(carrier)));
    let follows = |flow: &FlowSpec| match flow.transport {
        Transport::Tcp { pinned, .. } => (laws[0] || (laws[2] && !flow.traffic.has_files())) && !pinned,
        Transport::ControlledUdp { pinned, .. } => laws[1] && !pinned,
        Transport::Udp => laws[1],
        Transport::Rate { pinned, .. } => laws[2] && !pinned,
        Transport::PlainUdp => false,
    };
    if entry.is_some() && !spec.flows.iter().any(follows) {
        let (what, carrier) =
            if laws[0] { ("a window law", "TCP") } else { ("a law of flows over UDP", "UDP") };
        let tcp = |flow: &FlowSpec| matches!(flow.transport, Transport::Tcp { .. });
        let own = spec.flows.iter().any(|flow| tcp(flow) == laws[0]);
        let why = if own {
            format!("every {carrier} flow names a scheme of its own")
        } else {
            format!("no flow runs {carrier}")
        };
        return Some(format!("scheme {scheme} is {what}, and {why}: it does nothing"));
    }
    (only_marks && !uses_ecn(spec)).then(|| {
        format!("scheme {scheme} only marks packets, and no flow uses ECN (tcp.ecn = true): it does nothing")
    })
}

/// Flows without a route: flow, source, destination.
fn flows_without_route(network: &Network) -> Vec<(FlowIx, NodeIx, NodeIx)> {
    let cut_off = |(_, f): &(FlowIx, &Flow)| network.plane.routes.is_cut_off(f.from, f.to);
    network.endpoints.flows.pairs().filter(cut_off).map(|(flow, f)| (flow, f.from, f.to)).collect()
}

/// Flows whose static route has more hops than the hop limit in one direction: flow, source, destination, hops.
fn flows_beyond_hop_limit(network: &Network) -> Vec<(FlowIx, NodeIx, NodeIx, usize)> {
    if network.plane.routes.are_found() {
        return Vec::new();
    }
    let of = |flow: FlowIx, forward: bool| {
        let hops = paths::hops(network, flow, forward).len();
        let (from, to) = network.endpoints.flows[flow].ends(forward);
        (hops > usize::from(network.plane.rules.hop_limit)).then_some((flow, from, to, hops))
    };
    // A datagram has no reply, unless its receiver sends reports.
    let back = |flow: FlowIx| {
        of(flow, false)
            .filter(|_| network.endpoints.flows[flow].is_tcp() || network.endpoints.udp.controls(flow))
    };
    network.endpoints.flows.places().filter_map(|flow| of(flow, true).or_else(|| back(flow))).collect()
}

/// Flows without a limit that may fill a queue which also carries forwarded packets: each with its node and one of the forwarded flows.
/// None in a world with a routing protocol, where routes are not known in advance.
fn unlimited_flows(network: &Network, names: &[String]) -> Vec<(FlowIx, NodeIx, FlowIx)> {
    let may_fill = |flow: &FlowIx| {
        let f = &network.endpoints.flows[*flow];
        let Some(NextHop { port, .. }) = f.first_hops[0] else { return false };
        let window = network.endpoints.tcp.config(*flow).map_or(u64::MAX, |config| {
            if network.endpoints.tcp.reads_own_queue(*flow) {
                0
            } else {
                config.window_limit / u64::from(config.mss)
            }
        });
        network.endpoints.backpressure.rules(port).fillable
            && (!f.source.is_saturating() || network.endpoints.udp.controls(*flow))
            && window >= u64::from(network.plane.interfaces.pipeline(port).view().limit_packets)
    };
    let unlimited_flows: Vec<FlowIx> = network.endpoints.flows.places().filter(may_fill).collect();
    if unlimited_flows.is_empty() {
        return Vec::new();
    }
    // The first of the flows that a port forwards, by name and not by its place in the file.
    let mut forwarded: BTreeMap<PortIx, FlowIx> = BTreeMap::new();
    for (flow, f) in network.endpoints.flows.pairs() {
        let ways =
            if f.is_tcp() || network.endpoints.udp.controls(flow) { &[true, false][..] } else { &[true] };
        for (mut at, to) in ways.iter().map(|&forward| f.ends(forward)) {
            let from = at;
            while at != to
                && let Some(hop) = network.plane.routes.next_hop(at, to)
            {
                if at != from {
                    let known = forwarded.entry(hop.port).or_insert(flow);
                    if names[flow.ix()] < names[known.ix()] {
                        *known = flow;
                    }
                }
                at = hop.node;
            }
        }
    }
    let crowds = |flow: FlowIx| {
        let f = &network.endpoints.flows[flow];
        forwarded.get(&f.first_hops[0]?.port).map(|&other| (flow, f.from, other))
    };
    unlimited_flows.into_iter().filter_map(crowds).collect()
}
