//! What the specification of a run lets doubt before anything happens.

use std::collections::BTreeSet;

use airfair_schemes::Registry;

use crate::air::{Air, CutOff, TooFast};
use crate::ids::StationIx;
use crate::names::natural_cmp;
use crate::net::{Behind, Net};
use crate::record::Names;
use crate::spec::{FlowSpec, RoutingSpec, Transport, WorldSpec};

/// All of it, in words. `only_marks`: the run's scheme does nothing but mark packets.
pub(super) fn warnings(
    spec: &WorldSpec,
    (scheme_name, schemes): (&str, &Registry),
    only_marks: bool,
    (air, net): (&Air, &Net),
    names: &Names,
) -> Vec<String> {
    // One after the other by their names, not by their places in the file.
    let by_name = |a: usize, b: usize| natural_cmp(&names.flows[a], &names.flows[b]);
    let mut unreachable: Vec<_> = net.unreachable().collect();
    unreachable.sort_by(|a, b| by_name(a.0, b.0));
    let routeless = unreachable.into_iter().map(|f| {
        format!("flow {}: no route from {} to {}", names.flows[f.0], names.nodes[f.1], names.nodes[f.2])
    });
    let mut too_long: Vec<_> = net.too_long().collect();
    too_long.sort_by(|a, b| by_name(a.0, b.0));
    let too_long = too_long.into_iter().map(|(flow, from, to, hops)| {
        let most = if hops > 255 { "a shorter route, of 255 hops at most" } else { "a greater routing.hop_limit" };
        format!(
            "flow {}: nothing arrives: the route from {} to {} has {hops} hops, and packets live for {}; expected {most}",
            names.flows[flow], names.nodes[from], names.nodes[to], spec.hop_limit
        )
    });
    let only_law = schemes.find(scheme_name).is_some_and(|entry| *entry.places == ["source"]);
    let useless = useless(spec, scheme_name, (only_marks, only_law, net.nowhere));
    let too_fast = too_fast(air, net, spec, names);
    let mut cut_off = air.cut_off();
    let radio = |cut: &CutOff| &spec.radios[cut.kind].name;
    cut_off.sort_by(|a, b| natural_cmp(radio(a), radio(b)).then(a.mode.cmp(&b.mode)));
    let cut_off = cut_off.iter().map(|cut| cut.warning(radio(cut)));
    let mut crowders = net.crowders(&names.flows);
    crowders.sort_by(|a, b| by_name(a.0 as usize, b.0 as usize));
    let crowders = crowders.into_iter().map(|(flow, node, other)| {
        let [flow, other] = [flow, other].map(|flow| &names.flows[flow as usize]);
        let node = &names.nodes[node as usize];
        format!(
            "flow {flow}: it may starve what {node} forwards, such as flow {other}: a full queue holds it back (backpressure), and \
             nothing limits how much of the queue it fills (local_limit = \"off\")"
        )
    });
    routeless.chain(too_long).chain(too_fast).chain(cut_off).chain(useless).chain(crowders).collect()
}

/// The first, by name, of the radio links on the flows' routes that lose nothing by decree, at a rate that their power does not carry; with
/// routes that are found as the world runs, of all links.
fn too_fast(air: &Air, net: &Net, spec: &WorldSpec, names: &Names) -> Option<String> {
    let on_routes = |flow: usize| {
        let flow = flow as u32;
        let hops = net.hops_of(flow, true).into_iter().chain(net.hops_of(flow, false));
        hops.filter_map(|hop| match hop.behind {
            Behind::Station(station) => Some((StationIx(station), StationIx(hop.peer))),
            Behind::Wire(_) => None,
        })
    };
    let links: BTreeSet<(StationIx, StationIx)> = if matches!(spec.routing, RoutingSpec::Found(_)) {
        let all = air.stations().flat_map(|from| air.neighbours(from).map(move |(to, _)| (from, to)));
        all.collect()
    } else {
        (0..spec.flows.len()).flat_map(on_routes).collect()
    };
    let found: Vec<TooFast> = links.into_iter().filter_map(|(from, to)| air.too_fast(from, to)).collect();
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
        "{} from {} to {} arrives with {:.1} dBm and needs {:.1} dBm: a link that loses nothing here and, by the error curves, \
         more than a tenth of its frames{more}; radio.sensitivity = \"per-rate\", another error_model, a lower data_rate or a shorter \
         distance make it true",
        air.phy(from).data_rate(),
        name(from),
        name(to),
        power.0,
        needed.0
    ))
}

/// Why the run's scheme does nothing, if it does nothing.
fn useless(
    spec: &WorldSpec,
    scheme: &str,
    (only_marks, only_law, nowhere): (bool, bool, bool),
) -> Option<String> {
    let speaks_ecn = |flow: &FlowSpec| matches!(&flow.transport, Transport::Tcp { config, .. } if config.ecn);
    if nowhere {
        return Some(format!(
            "scheme {scheme} acts at no interface of this scenario; its line in `airfair schemes` says where it does"
        ));
    }
    let follows = |flow: &FlowSpec| matches!(flow.transport, Transport::Tcp { pinned: false, .. });
    if only_law && !spec.flows.iter().any(follows) {
        let tcp = spec.flows.iter().any(|flow| matches!(flow.transport, Transport::Tcp { .. }));
        let why = if tcp { "every TCP flow names a scheme of its own" } else { "no flow runs TCP" };
        return Some(format!("scheme {scheme} is a window law, and {why}: it does nothing"));
    }
    (only_marks && !spec.flows.iter().any(speaks_ecn)).then(|| {
        format!(
            "scheme {scheme} only marks packets, and no flow speaks ECN (tcp.ecn = true): it does nothing"
        )
    })
}
