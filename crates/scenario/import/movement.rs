//! Movement files: ns-2's (`$node_(0) set X_ 150.0`) and BonnMotion's own (a line of time, x, y, ... for each node).
//!
//! First positions are read. Movements are left out, each named: a scenario has no mobility.

use std::collections::BTreeMap;

use super::draft::{Draft, Imported, Spot, Wanted, name, node_record};
use super::reason::Reason;

/// Reads ns-2's form.
///
/// # Errors
/// If there is too much.
pub(crate) fn read_ns2(text: &str, wanted: &Wanted<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(wanted);
    let mut order: Vec<&str> = Vec::new();
    let mut positions: BTreeMap<&str, [f64; 3]> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with("$ns_") {
            draft.count("movements")?;
            draft.reject(format!("line {number}"), Reason::Movement, describe(line));
            continue;
        }
        let Some((id, axis, value)) = coordinate(line) else {
            // Distances in hops, which ns-2 keeps for its own use.
            if !line.starts_with("$god_") {
                draft.reject(format!("line {number}"), Reason::Malformed, String::new());
            }
            continue;
        };
        if let Some(position) = positions.get_mut(id) {
            position[axis] = value;
        } else {
            draft.count("nodes")?;
            order.push(id);
            let mut position = [0.0; 3];
            position[axis] = value;
            positions.insert(id, position);
        }
    }
    for id in order {
        let position = positions.get(id).copied().unwrap_or_default();
        draft.node(id, Some(Spot::Plane(position)));
    }
    Ok(draft.found)
}

/// `$node_(0) set X_ 150.0`: the node, the axis, the metres.
fn coordinate(line: &str) -> Option<(&str, usize, f64)> {
    let (id, rest) = line.strip_prefix("$node_(")?.split_once(')')?;
    let mut words = rest.split_whitespace();
    let (set, axis, value) = (words.next()?, words.next()?, words.next()?);
    let axis = ["X_", "Y_", "Z_"].iter().position(|a| *a == axis)?;
    (set == "set" && !id.is_empty()).then_some(())?;
    Some((id, axis, value.parse().ok()?))
}

/// `$ns_ at 1.5 "$node_(0) setdest 3 4 5"`: of which node, when.
fn describe(line: &str) -> String {
    let when = line.split_whitespace().nth(2).unwrap_or_default();
    let who = line.split_once("$node_(").and_then(|(_, rest)| rest.split_once(')')).map(|(id, _)| id);
    match who {
        Some(id) => format!("{} at {} s", node_record(id), name(when)),
        None => format!("at {} s", name(when)),
    }
}

/// The numbers of a line, if it has nothing else.
fn numbers(line: &str) -> Option<Vec<f64>> {
    line.split_whitespace().map(|word| word.parse().ok()).collect()
}

/// Whether a text looks like BonnMotion's: numbers only, and whole waypoints in the first line.
pub(crate) fn is_bonnmotion(text: &str) -> bool {
    let (size, rows) = rows(text);
    let whole = |line: &str| numbers(line).is_some_and(|n| n.len() >= size && n.len().is_multiple_of(size));
    rows.first().is_some_and(|(_, line)| whole(line)) && rows.iter().all(|(_, line)| numbers(line).is_some())
}

/// Numbers of a waypoint, and the lines that hold them.
fn rows(text: &str) -> (usize, Vec<(usize, &str)>) {
    let size = if text.lines().next().is_some_and(|l| l.trim().eq_ignore_ascii_case("#3D")) { 4 } else { 3 };
    let lines = (1..).zip(text.lines().map(str::trim));
    (size, lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('#')).collect())
}

/// Reads BonnMotion's form; nodes are numbered from 0.
///
/// # Errors
/// If there is too much.
pub(crate) fn read_bonnmotion(text: &str, wanted: &Wanted<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(wanted);
    let (size, rows) = rows(text);
    for (place, (number, line)) in rows.into_iter().enumerate() {
        draft.count("nodes")?;
        let id = place.to_string();
        let Some(waypoints) = numbers(line).filter(|n| n.len() >= size && n.len().is_multiple_of(size))
        else {
            let detail = format!("expected {size} numbers for each waypoint");
            draft.reject(format!("line {number}"), Reason::Malformed, detail);
            continue;
        };
        for (i, waypoint) in waypoints.chunks(size).enumerate() {
            let at = |k: usize| waypoint.get(k).copied().unwrap_or_default();
            if i == 0 {
                draft.node(&id, Some(Spot::Plane([at(1), at(2), if size == 4 { at(3) } else { 0.0 }])));
            } else {
                draft.count("movements")?;
                let detail = format!("at {} s", super::draft::shown(at(0)));
                draft.reject(node_record(&id), Reason::Movement, detail);
            }
        }
    }
    Ok(draft.found)
}
