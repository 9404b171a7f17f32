//! Warning of radio links so long that answers come after the time-out.

use std::collections::BTreeSet;

use airfair_units::Span;

use crate::air::Air;
use crate::air::propagation::{COVERAGE_STEP, coverage_class, distance_in};
use crate::ids::{FlowIx, LinkRef, StationIx};
use crate::names::natural_cmp;
use crate::node::Network;
use crate::observe::paths;
use crate::record::Names;
use crate::spec::{RoutingSpec, WorldSpec};

/// A link whose answers come too late.
struct Late {
    from: StationIx,
    to: StationIx,
    /// A signal's way there and back, ns.
    both_ways: u64,
    /// The smallest coverage class that fits.
    class: u64,
}

/// The longest of the radio links on the flows' routes whose answers come after the time-out; with a routing protocol, of all links.
pub(super) fn late_answers(air: &Air, network: &Network, spec: &WorldSpec, names: &Names) -> Option<String> {
    let late = |(from, to): (StationIx, StationIx)| {
        let (delay, mac) = (air.reach().delay(from, to)?, air.mac(from));
        let both_ways = 2 * delay.as_nanos();
        let class = u64::from(spec.radios[air.kind_of(from)].mac.coverage_class);
        let base_slot = mac.timing.slot.saturating_sub(class * COVERAGE_STEP.as_nanos());
        let needed = coverage_class(Span(both_ways), Span(base_slot));
        mac.comes_late(delay).then_some(Late { from, to, both_ways, class: needed })
    };
    let found: Vec<Late> = links(air, network, spec).into_iter().filter_map(late).collect();
    let name = |station: StationIx| names.stations[station.ix()].as_str();
    let longest = found.iter().max_by(|a, b| {
        let by_name =
            natural_cmp(name(b.from), name(a.from)).then_with(|| natural_cmp(name(b.to), name(a.to)));
        a.class.cmp(&b.class).then(a.both_ways.cmp(&b.both_ways)).then(by_name)
    })?;
    let &Late { from, to, both_ways, class } = longest;
    // Both directions of a pair are one link.
    let pairs: BTreeSet<_> =
        found.iter().map(|late| [late.from.min(late.to), late.from.max(late.to)]).collect();
    let more = match pairs.len() - 1 {
        0 => String::new(),
        1 => " (1 more such link is shorter)".to_string(),
        n => format!(" ({n} more such links are shorter)"),
    };
    let radio = &spec.radios[air.kind_of(from)];
    let table = if radio.name == "default" { "radio".to_string() } else { format!("radios.{}", radio.name) };
    let expected = match class {
        ..=255 => format!("{table}.coverage_class = {class}, which makes every slot longer, or "),
        _ => String::new(),
    };
    Some(format!(
        "{} and {} are {:.2} km apart, and with {table}.coverage_class = {} an answer is awaited from up to {:.2} km: each frame \
         counts as lost although it and its answer arrive{more}; expected {expected}{table}.timeout_distance = \"each-link\"",
        name(from),
        name(to),
        kilometres(both_ways),
        radio.mac.coverage_class,
        kilometres(air.mac(from).timing.slot)
    ))
}

/// Length of a link over which a signal needs this time there and back, km.
fn kilometres(both_ways_ns: u64) -> f64 {
    distance_in(Span(both_ways_ns)) / 2000.0
}

/// Radio links whose frames are answered, each from the sender of data to the station that answers.
fn links(air: &Air, network: &Network, spec: &WorldSpec) -> BTreeSet<(StationIx, StationIx)> {
    let on_routes = |flow: FlowIx| {
        let hops = paths::hops(network, flow, true).into_iter().chain(paths::hops(network, flow, false));
        hops.filter_map(|hop| match hop.link {
            LinkRef::Station(station) => Some((station, hop.peer)),
            LinkRef::Wire(_) => None,
        })
    };
    if matches!(spec.routing, RoutingSpec::Found(_)) {
        let hears = |from: StationIx, to: StationIx| air.neighbours(from).any(|(other, _)| other == to);
        let heard = |from: StationIx| air.neighbours(from).map(move |(to, _)| (from, to));
        air.stations().flat_map(heard).filter(|&(from, to)| hears(to, from)).collect()
    } else {
        // Broadcasts of forwarders have no answer.
        let routed = |flow: &FlowIx| network.hosts.forwarders.source_of(*flow).is_none();
        network.endpoints.flows.places().filter(routed).flat_map(on_routes).collect()
    }
}
