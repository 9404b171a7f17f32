//! Flows, written and drawn.

use std::collections::{BTreeMap, BTreeSet};

use airfair_sim::spec::FlowSpec;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};

use crate::Limits;
use crate::blocks::{Names, blocks};
use crate::error::{Cx, quoted};
use crate::field::Field;
use crate::inherit::hoist;
use crate::name::Name;
use crate::place::{Path, Places};
use crate::radio::LONGEST;
use crate::stations::Stations;
use crate::table::Beside;
use crate::traffic::{FlowTable, FlowsTable, RandomFlowsTable};
use crate::tree::{Node, Table};

/// Flows: as written and filled in, and as specified.
pub(crate) struct Streams {
    pub tables: Vec<FlowTable>,
    pub specs: Vec<FlowSpec>,
    /// Schemes that flows name themselves.
    pub schemes: BTreeMap<String, String>,
    names: Names,
}

/// Reads every `[[flow]]` and runs `[flows]`.
pub(crate) fn streams(
    root: &Table,
    stations: &Stations,
    duration: Span,
    limits: &Limits,
    cx: &mut Cx<'_>,
) -> Streams {
    let mut streams =
        Streams { tables: Vec::new(), specs: Vec::new(), schemes: BTreeMap::new(), names: Names::of("flow") };
    let rows = blocks(root, "flow", cx);
    let generator = root.get("flows").and_then(|node| read_generator(node, cx));
    let drawn = generator.as_ref().map_or(0, |g| u64::from(g.count));
    if rows.len() as u64 + drawn > limits.flows {
        let (key, at) = generator.as_ref().map_or(("flow", root.at), |g| ("flows", g.places.of("count")));
        cx.error(at, &Path::ROOT.child(key), || {
            format!("{} flows; expected at most {}", rows.len() as u64 + drawn, limits.flows)
        });
        return streams;
    }
    let parent = Path::ROOT.child("flow");
    for row in &rows {
        let path = parent.child(&row.label);
        let mut table = row.table.clone();
        hoist(&mut table, &path, cx);
        if let Some(table) = FlowTable::read_table(&table, &path, cx, &Beside::default()) {
            streams.names.add(&table.id.0, table.places.of("id"), &path.child("id"), cx);
            push(&mut streams, table, stations, duration, &path, cx);
        }
    }
    if let Some(generator) = generator {
        draw(&mut streams, &generator, stations, duration, cx);
    }
    if streams.specs.is_empty() {
        cx.warnings.push("there are no flows: nothing is sent".to_string());
    }
    streams
}

fn read_generator(node: &Node, cx: &mut Cx<'_>) -> Option<RandomFlowsTable> {
    let path = Path::ROOT.child("flows");
    let mut node = node.clone();
    if let crate::tree::Value::Table(table) = &mut node.value {
        hoist(table, &path, cx);
    }
    let FlowsTable::Random(table) = FlowsTable::read(&node, &path, cx)?;
    Some(table)
}

/// Completes a flow and adds it.
fn push(
    streams: &mut Streams,
    mut table: FlowTable,
    stations: &Stations,
    duration: Span,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) {
    let from = stations.names.find(&table.from, table.places.of("from"), &path.child("from"), cx);
    let to = stations.names.find(&table.to, table.places.of("to"), &path.child("to"), cx);
    if table.from == table.to {
        cx.error(table.places.of("to"), &path.child("to"), || {
            format!("{}: the flow's own source; expected another node", quoted(&table.to.0))
        });
    }
    let jitter = *table.start_jitter.get_or_insert(table.traffic.usual_jitter());
    if let Some(stop) = table.stop.0 {
        let problem = if stop > LONGEST {
            Some(format!("out of range; expected at most {}", LONGEST.write()))
        } else if stop <= table.start {
            Some(format!("not after the start; expected more than {}", table.start.write()))
        } else {
            None
        };
        if let Some(problem) = problem {
            cx.error(table.places.of("stop"), &path.child("stop"), || format!("{}: {problem}", stop.write()));
        }
    }
    if table.start >= duration {
        cx.warnings.push(format!("flow \"{}\" starts after the end of the run", table.id.0));
    }
    if let Some(scheme) = &table.scheme {
        let at = table.places.of("scheme");
        crate::params::known(airfair_schemes::registry(), scheme, (at, &path.child("scheme")), cx);
        streams.schemes.insert(table.id.0.clone(), scheme.clone());
    }
    streams.specs.push(FlowSpec {
        id: table.id.0.clone(),
        from: from.unwrap_or_default(),
        to: to.unwrap_or_default(),
        traffic: table.traffic.resolve(),
        start: Time::ZERO + table.start,
        start_jitter: jitter,
        stop: table.stop.0.map_or(Time::NEVER, |stop| Time::ZERO + stop),
    });
    streams.tables.push(table);
}

/// Draws pairs of nodes. They are drawn from the sorted names, so that the order of the file has no meaning.
fn draw(streams: &mut Streams, t: &RandomFlowsTable, stations: &Stations, duration: Span, cx: &mut Cx<'_>) {
    let path = Path::ROOT.child("flows");
    let nodes = stations.names.sorted();
    let pairs = (nodes.len() as u64) * (nodes.len() as u64).saturating_sub(1);
    if u64::from(t.count) > pairs {
        cx.error(t.places.of("count"), &path.child("count"), || {
            format!("{}: more flows than pairs of nodes; expected at most {pairs}", t.count)
        });
        return;
    }
    let mut stream = Stream::new(t.seed, "flows", Purpose::Placement);
    // More than one node, or there are no pairs; at most 2^32, or there are too many nodes.
    let most = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let mut drawn = BTreeSet::new();
    for i in 0..t.count {
        let (from, to) = loop {
            let from = stream.below(most);
            let other = stream.below(most - 1);
            let pair = (from as usize, if other >= from { other + 1 } else { other } as usize);
            if drawn.insert(pair) {
                break pair;
            }
        };
        let id = format!("{}{i}", t.prefix);
        if let Some(problem) = crate::name::problem(&id) {
            cx.error(t.places.of("prefix"), &path.child("prefix"), || format!("{}: {problem}", quoted(&id)));
            return;
        }
        streams.names.add(&id, t.places.of("prefix"), &path.child("prefix"), cx);
        let name = |i: usize| Name(nodes.get(i).map_or_else(String::new, |n| (*n).to_string()));
        let mut places = Places::new(t.places.of(""));
        places.note("scheme", t.places.of("scheme"));
        places.note("stop", t.places.of("stop"));
        let table = FlowTable {
            places,
            id: Name(id),
            from: name(from),
            to: name(to),
            transport: t.transport,
            scheme: t.scheme.clone(),
            start: t.start,
            start_jitter: t.start_jitter,
            stop: t.stop.clone(),
            traffic: t.traffic.clone(),
        };
        push(streams, table, stations, duration, &path, cx);
    }
}
