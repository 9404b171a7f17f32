//! Warning of a routing protocol whose tables have no room for all nodes.

use crate::spec::{RoutingSpec, WorldSpec};

/// A node finds no route to those of the others that its table has no room for.
pub(super) fn short_tables(spec: &WorldSpec) -> Option<String> {
    let RoutingSpec::Found(protocol) = &spec.routing else { return None };
    let (limit, others) = (protocol.table_limit()? as usize, spec.nodes.len().saturating_sub(1));
    (others > limit).then(|| {
        let name = protocol.name();
        format!(
            "each node has {others} others and room for {limit} in its tables of {name}: it refuses what it hears of the rest, and finds \
             no route to them; expected {}.table_limit = {others} or more",
            name.to_lowercase()
        )
    })
}
