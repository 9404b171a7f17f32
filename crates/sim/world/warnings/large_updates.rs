//! Warning of a routing protocol whose tables take more air than there is.

use airfair_routing::TableSize;

use crate::air::Air;
use crate::ids::StationIx;
use crate::names::natural_cmp;
use crate::record::Names;
use crate::spec::{RoutingSpec, WorldSpec};

/// Where nodes that sense each other would need more than all of the time to broadcast their tables, of routes to all nodes, in each
/// period: the bits of the tables alone, without headers of the MAC, preambles and back-off.
pub(super) fn large_updates(air: &Air, spec: &WorldSpec, names: &Names) -> Option<String> {
    let RoutingSpec::Found(protocol) = &spec.routing else { return None };
    let nodes = spec.nodes.len();
    let TableSize { bytes, every } = protocol.table_size(nodes as u64)?;
    let rate = |station: StationIx| spec.radios[air.kind_of(station)].phy.broadcast_rate;
    // What one station's table takes of the air.
    let part = |station| bytes as f64 * 8.0 / (rate(station).as_bps() as f64 * every.as_secs_f64());
    let all: f64 = air.stations().map(part).sum();
    if all <= 1.0 {
        return None;
    }
    let around = |station: StationIx| {
        let sensed: Vec<StationIx> =
            air.reach().relations(station).into_iter().map(|relation| relation.to).collect();
        (part(station) + sensed.iter().map(|&other| part(other)).sum::<f64>(), sensed.len(), station)
    };
    let name = |station: StationIx| names.stations[station.ix()].as_str();
    let (share, others, station) = air
        .stations()
        .map(around)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| natural_cmp(name(b.2), name(a.2))))?;
    let protocol = protocol.name();
    (share > 1.0).then(|| {
        format!(
            "tables of {protocol} need {share:.1} times the air that there is: with routes to all {nodes} nodes each has {bytes} bytes every \
             {every}, and {} shares the air with {others} others; updates wait and are lost, far nodes get no routes, and the run takes \
             long; expected fewer nodes, a longer {}.period or a higher radio.broadcast_rate",
            name(station),
            protocol.to_lowercase()
        )
    })
}
