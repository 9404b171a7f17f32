//! From the tables of radios and nodes to their specifications.

use airfair_sim::spec::{NodeSpec, Propagation, RadioSpec};
use airfair_units::{Db, Meters};

use crate::declare::field::{Field, outside};
use crate::declare::name::{Name, name_problem};
use crate::declare::table::OtherKeys;
use crate::defaults::standard;
use crate::generate::building::{self, Placed};
use crate::generate::positions::{Air, count, place_nodes};
use crate::keys::network::{BuildingTable, NodeTable, NodesTable, Position};
use crate::keys::scheme_name::SchemeName;
use crate::keys::scheme_params;
use crate::resolve::blocks::{Names, blocks, generator};
use crate::resolve::channels;
use crate::resolve::movement::{Movements, from_file};
use crate::resolve::propagation::data_reach;
use crate::resolve::radio::{DEFAULT, Radios};
use crate::text::error::{Cx, quoted};
use crate::text::limits::Limits;
use crate::text::location::{At, Locations, Path};
use crate::text::tree::{Located, Table, Value};

/// The nodes: their complete tables and their specifications.
pub(crate) struct Nodes {
    pub names: Names,
    pub tables: Vec<NodeTable>,
    pub specs: Vec<NodeSpec>,
    /// Nodes that name a scheme of their own.
    pub schemes: Vec<(usize, String)>,
    /// Gains that a generator makes, equal in both directions: the generator's location, two nodes, the gain.
    pub gains: Vec<(At, String, String, Db)>,
}

/// Reads every `[[node]]` and runs `[nodes]`.
pub(crate) fn nodes(
    root: &Table,
    radios: &Radios,
    movements: &mut Movements,
    limits: &Limits,
    cx: &mut Cx<'_>,
) -> Nodes {
    let mut nodes = Nodes {
        names: Names::of("node"),
        tables: Vec::new(),
        specs: Vec::new(),
        schemes: Vec::new(),
        gains: Vec::new(),
    };
    let rows = blocks(root, "node", cx);
    let rule = root.get("nodes");
    let generator = generator(root, "nodes", "node", cx).and_then(|node| {
        let read = NodesTable::read(node, &Path::ROOT.child("nodes"), cx);
        read.map(|table| (node, table))
    });
    let unread = |node: &Located| !matches!(&node.value, Value::List(items) if items.len() == rows.len());
    if rule.is_some() && generator.is_none() || root.get("node").is_some_and(unread) {
        nodes.names.complete = false;
    }
    let total = rows.len() as u64 + generator.as_ref().map_or(0, |(_, g)| count(g));
    if total > limits.nodes {
        let (key, at) = generator.as_ref().map_or(("node", root.at), |(node, _)| ("nodes", node.at));
        cx.error(at, &Path::ROOT.child(key), || format!("{total} nodes; expected at most {}", limits.nodes));
        nodes.names.complete = false;
        return nodes;
    }
    let parent = Path::ROOT.child("node");
    for row in &rows {
        let path = parent.child(&row.label);
        if let Some(id) =
            row.table.get("id").and_then(|n| Name::read(n, &path.child("id"), &mut Cx::new("", &[])))
        {
            // A node whose other keys are wrong still exists for those that name it.
            nodes.names.add(&id.0, row.table.get("id").map_or(row.table.at, |n| n.at), &path.child("id"), cx);
        } else {
            nodes.names.complete = false;
        }
        if let Some(mut table) = NodeTable::read_table(row.table, &path, cx, &OtherKeys::default()) {
            if let Some(node) = movements.remove(&table.id.0) {
                from_file(node, movements, &mut table.position, &mut table.movement, cx);
            }
            push(&mut nodes, table, radios, &path, cx);
        }
    }
    if let Some((node, table)) = generator {
        generate(&mut nodes, node, &table, radios, movements, cx);
    }
    let empty = root.get("node").is_none_or(|n| matches!(&n.value, Value::List(items) if items.is_empty()));
    if empty && rule.is_none() {
        cx.error(root.at, &Path::ROOT.child("node"), || {
            "there are no nodes; expected [[node]] blocks or a [nodes] table".to_string()
        });
    }
    for (kind, _) in radios.kinds.iter().flatten().map(|(_, s)| (&s.name, s)).filter(|(name, _)| {
        !nodes
            .specs
            .iter()
            .any(|n| n.radios.iter().any(|&r| spec(radios, r).is_some_and(|s| s.name == **name)))
    }) {
        cx.warnings.push(format!("no node has the radio \"{kind}\""));
    }
    let is_used = |index: &usize| nodes.specs.iter().any(|node| node.radios.contains(index));
    let used: Vec<&RadioSpec> =
        (0..radios.kinds.len()).filter(is_used).filter_map(|index| spec(radios, index)).collect();
    cx.warnings.extend(channels::warning(&used));
    nodes
}

fn spec(radios: &Radios, index: usize) -> Option<&RadioSpec> {
    radios.kinds.get(index)?.as_ref().map(|(_, spec)| spec)
}

/// Completes a node and adds it.
fn push(nodes: &mut Nodes, mut table: NodeTable, radios: &Radios, path: &Path<'_>, cx: &mut Cx<'_>) {
    let at = table.locations.of("radios");
    let list = table.radios.get_or_insert_with(|| usual_radios(radios));
    let indices = find_radios(list, radios, at, &path.child("radios"), cx);
    let by_distance = |&i: &usize| spec(radios, i).is_some_and(|s| s.propagation != Propagation::Matrix);
    if table.position.is_none() && table.locations.of("position") == table.locations.of("") {
        let needs = indices.iter().find(|i| by_distance(i)).and_then(|&i| spec(radios, i));
        if let Some(radio) = needs {
            cx.error(table.locations.of("position"), &path.child("position"), || {
                format!("missing; radio \"{}\" needs it; expected {}", radio.name, Position::expected())
            });
        }
    }
    if let Some(SchemeName(name)) = &table.scheme {
        let place = (table.locations.of("scheme"), &path.child("scheme"));
        if scheme_params::find(cx.schemes, name, place, cx).is_some() {
            nodes.schemes.push((nodes.specs.len(), name.clone()));
        }
    }
    // The complete form has no position for such a node either: a map must not show one.
    let position = table.position.map_or([0.0; 3], |p| p.0);
    let is_guess = table.position_is_a_guess == Some(true);
    let located = table.position.is_some() && !is_guess;
    if is_guess && indices.iter().any(by_distance) {
        let key = "position_is_a_guess";
        cx.error(table.locations.of(key), &path.child(key), || {
            "the power of the node's signals depends on its position; expected no such key, or propagation = { model = \"matrix\" }"
                .to_string()
        });
    }
    nodes.specs.push(NodeSpec { id: table.id.0.clone(), position, located, radios: indices });
    nodes.tables.push(table);
}

fn usual_radios(radios: &Radios) -> Vec<Name> {
    if radios.has_default { vec![Name(DEFAULT.to_string())] } else { Vec::new() }
}

fn find_radios(list: &[Name], radios: &Radios, at: At, path: &Path<'_>, cx: &mut Cx<'_>) -> Vec<usize> {
    let mut indices: Vec<usize> = Vec::with_capacity(list.len());
    for name in list {
        let Some(index) = radios.names.find(name, at, path, cx) else { continue };
        if indices.contains(&index) {
            cx.error(at, path, || format!("\"{}\" twice; expected at most one radio of a kind", name.0));
            continue;
        }
        indices.push(index);
    }
    indices
}

fn generate(
    nodes: &mut Nodes,
    node: &Located,
    generator: &NodesTable,
    radios: &Radios,
    movements: &mut Movements,
    cx: &mut Cx<'_>,
) {
    let path = Path::ROOT.child("nodes");
    let (locations, written) = match generator {
        NodesTable::Chain(t) => (&t.locations, &t.radios),
        NodesTable::Grid(t) => (&t.locations, &t.radios),
        NodesTable::Random(t) => (&t.locations, &t.radios),
        NodesTable::Building(t) => (&t.locations, &t.radios),
    };
    let list = written.clone().unwrap_or_else(|| usual_radios(radios));
    let indices = find_radios(&list, radios, locations.of("radios"), &path.child("radios"), cx);
    let sides = match generator {
        NodesTable::Random(t) => Some(("area", t.area, Meters(0.0)..=Meters(1e7))),
        NodesTable::Building(t) => Some(("room", t.room, Meters(0.1)..=Meters(1000.0))),
        _ => None,
    };
    if let Some((key, sides, range)) = sides {
        let wrong =
            |side: &Meters| outside(side, &range).map(|problem| format!("{}: {problem}", side.write()));
        if let Some(problem) = sides.iter().find_map(wrong) {
            cx.error(locations.of(key), &path.child(key), || problem);
            nodes.names.complete = false;
            return;
        }
    }
    if let NodesTable::Building(t) = generator
        && let Some((key, problem)) = building::problem(t)
    {
        cx.error(locations.of(key), &path.child(key), || problem);
        nodes.names.complete = false;
        return;
    }
    let air = Air { range_m: indices.first().and_then(|&i| spec(radios, i)).and_then(data_reach) };
    let placed = match place_nodes(generator, &air) {
        Ok(placed) => placed,
        Err(problem) => {
            cx.error(node.at, &path, || problem);
            nodes.names.complete = false;
            return;
        }
    };
    if let NodesTable::Building(t) = generator {
        walls(nodes, node, t, building::generated(t, &placed), (&indices, radios), cx);
    }
    for (id, position) in placed {
        if let Some(problem) = name_problem(&id) {
            cx.error(locations.of("prefix"), &path.child("prefix"), || format!("{}: {problem}", quoted(&id)));
            return;
        }
        nodes.names.add(&id, locations.of("prefix"), &path.child("prefix"), cx);
        nodes.specs.push(NodeSpec { id: id.clone(), position, located: true, radios: indices.clone() });
        let mut table = NodeTable {
            locations: Locations::new(node.at),
            id: Name(id),
            position: Some(Position(position)),
            position_is_a_guess: None,
            radios: Some(list.clone()),
            scheme: None,
            movement: None,
        };
        if let Some(moved) = movements.remove(&table.id.0) {
            from_file(moved, movements, &mut table.position, &mut table.movement, cx);
        }
        nodes.tables.push(table);
    }
}

/// The gains between the nodes of a building, with the loss of walls and floors: the generated ones (`placed`), and those that are
/// written with a position.
fn walls(
    nodes: &mut Nodes,
    node: &Located,
    table: &BuildingTable,
    mut placed: Vec<Placed>,
    (indices, radios): (&[usize], &Radios),
    cx: &mut Cx<'_>,
) {
    let kinds: Vec<&RadioSpec> = indices.iter().filter_map(|&i| spec(radios, i)).collect();
    let deaf = kinds.iter().find(|r| r.propagation != Propagation::Matrix);
    if let Some(radio) = deaf.filter(|_| table.wall.0 > 0.0 || table.floor.0 > 0.0) {
        cx.error(node.at, &Path::ROOT.child("nodes"), || {
            format!(
                "walls and floors are gains, and radio \"{}\" reads none; expected propagation = {{ model = \"matrix\" }}, or \
                 `wall` and `floor` of \"0 dB\"",
                radio.name
            )
        });
        return;
    }
    let key = building::key_of_gains(table);
    if let (Some(radio), Some(key)) = (deaf, key) {
        cx.error(table.locations.of(key), &Path::ROOT.child("nodes").child(key), || {
            format!(
                "a building's {key} is in its gains, and radio \"{}\" reads none; expected propagation = {{ model = \"matrix\" }}, \
                 or `{key}` in propagation = {{ model = \"log-distance\" }}",
                radio.name
            )
        });
        return;
    }
    let read_gains = |r: &&RadioSpec| r.propagation == Propagation::Matrix;
    let mut kinds: Vec<&RadioSpec> = kinds.into_iter().filter(read_gains).collect();
    let Some(first) = kinds.first() else { return };
    let frequency_hz = standard::defaults(first.phy.standard).frequency_hz;
    for (own, spec_of_own) in nodes.tables.iter().zip(&nodes.specs) {
        let of_own: Vec<_> =
            spec_of_own.radios.iter().filter_map(|&i| spec(radios, i)).filter(read_gains).collect();
        let (Some(Position(position)), false) = (own.position, of_own.is_empty()) else { continue };
        let name = own.id.0.clone();
        match building::room_of(table, position) {
            Ok(room) => placed.push(Placed { name, room, position }),
            Err(problem) => {
                let path = Path::ROOT.child("node");
                cx.error(own.locations.of("position"), &path.child(&name).child("position"), || problem);
            }
        }
        kinds.extend(of_own);
    }
    // Fading raises a signal by its greatest factor at most.
    let best = |r: &RadioSpec| r.phy.tx_power.0 + r.fading.map_or(0.0, |fading| fading.best().0);
    let loudest = kinds.iter().fold(f64::MIN, |most, r| most.max(best(r)));
    let finest = kinds.iter().fold(f64::MAX, |least, r| least.min(r.phy.cutoff.0));
    match building::gains(table, &placed, frequency_hz, Db(finest - loudest)) {
        Ok(gains) => {
            let name = |i: usize| placed.get(i).map_or_else(String::new, |node| node.name.clone());
            let at = node.at;
            nodes.gains = gains.into_iter().map(|(a, b, gain)| (at, name(a), name(b), gain)).collect();
        }
        Err(problem) => cx.error(node.at, &Path::ROOT.child("nodes"), || problem),
    }
}

/// True if any radio reads measured gains.
pub(crate) fn uses_gains(radios: &Radios) -> bool {
    radios.kinds.iter().flatten().any(|(_, s)| s.propagation == Propagation::Matrix)
}
