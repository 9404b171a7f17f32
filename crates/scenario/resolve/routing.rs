//! From `[routing]` and the tables of protocols to the world's routing.

use airfair_routing::shortest::Metric as Length;
use airfair_sim::spec::RoutingSpec;

use crate::declare::choice::Metric;
use crate::declare::field::Field;
use crate::keys::network::RoutingTable;
use crate::keys::routing::{PROTOCOLS, Read, RoutingProtocol};
use crate::resolve::blocks::single;
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::Table;

/// The tables of protocols that the complete form contains, with their keys and values.
pub(crate) type Shown = Vec<(&'static str, Vec<(&'static str, String)>)>;

/// The world's routing, and the tables of the protocols that are in use or were written.
pub(crate) fn resolve(root: &Table, routing: Option<&RoutingTable>, cx: &mut Cx<'_>) -> (RoutingSpec, Shown) {
    let empty = Table::new(root.at);
    let mut read = Vec::new();
    for entry in &PROTOCOLS {
        let table = single(root, entry.word, cx).unwrap_or(&empty);
        read.push((entry.read)(table, &Path::ROOT.child(entry.word), cx));
    }
    let nothing = RoutingSpec::Static(Length::Hops);
    let Some(routing) = routing else { return (nothing, Vec::new()) };
    let chosen = match routing.protocol {
        RoutingProtocol::Static => None,
        RoutingProtocol::Protocol(i) => Some(i),
    };
    let spec = match (chosen, routing.metric) {
        (Some(i), metric) => {
            let Some(Read { protocol, .. }) = &read[i] else { return (nothing, Vec::new()) };
            if metric != Metric::Hops {
                cx.error(
                    routing.locations.of("metric"),
                    &Path::ROOT.child("routing").child("metric"),
                    || {
                        format!(
                            "{}: {} ignores the metric of static routes; expected no metric beside protocol = {}",
                            metric.write(),
                            protocol.name(),
                            routing.protocol.write()
                        )
                    },
                );
            }
            RoutingSpec::Found(protocol.clone())
        }
        (None, Metric::Hops) => RoutingSpec::Static(Length::Hops),
        (None, Metric::Etx) => RoutingSpec::Static(Length::Etx),
    };
    let mut shown = Vec::new();
    for (i, (entry, read)) in PROTOCOLS.iter().zip(read).enumerate() {
        let written = root.get(entry.word).is_some();
        if written && chosen != Some(i) {
            let protocol = routing.protocol.write();
            cx.warnings.push(format!("[{}] has no effect: [routing] has protocol = {protocol}", entry.word));
        }
        if let Some(Read { pairs, .. }) = read.filter(|_| written || chosen == Some(i)) {
            shown.push((entry.word, pairs));
        }
    }
    (spec, shown)
}
