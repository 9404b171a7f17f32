//! Movement files: ns-2's and BonnMotion's own, each read line by line as a scenario's `[movement]` reads them.
//!
//! The scenario contains all movements that are possible; the report names the others.

use std::collections::BTreeMap;

use super::draft::{Draft, Imported, NodeLocation, ReadOptions, name, node_record, shown};
use super::reason::Reason;
use crate::resolve::movement_file::{Leg, Line, bonnmotion, bonnmotion_rows, ns2};

/// Reads ns-2's form.
///
/// # Errors
/// If there is too much.
pub(crate) fn read_ns2(text: &str, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let mut order: Vec<&str> = Vec::new();
    let mut positions: BTreeMap<&str, [f64; 3]> = BTreeMap::new();
    let mut movements: BTreeMap<&str, Vec<(usize, &str, Leg)>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        match ns2(line) {
            Some(Line::Nothing) => {}
            Some(Line::Coordinate { id, axis, value }) => {
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
            Some(Line::Leg { id, at, leg }) => {
                draft.count("movements")?;
                match leg {
                    Ok(leg) => movements.entry(id).or_default().push((number, at, leg)),
                    Err(problem) => {
                        let detail = format!("{}: {problem}", describe(id, at));
                        draft.reject(format!("line {number}"), Reason::Movement, detail);
                    }
                }
            }
            None => draft.reject(format!("line {number}"), Reason::Malformed, String::new()),
        }
    }
    for id in order {
        let position = positions.get(id).copied().unwrap_or_default();
        let index = draft.node(id, Some(NodeLocation::Plane(position)));
        // A node without a valid position is left out with its movements.
        let mut legs = movements.remove(id).unwrap_or_default();
        legs.sort_by_key(|(_, _, leg)| leg.leave);
        draft.set_movements(index, legs.into_iter().map(|(_, _, leg)| leg).collect());
    }
    for (id, legs) in movements {
        for (number, at, _) in legs {
            draft.reject(format!("line {number}"), Reason::Dangling, describe(id, at));
        }
    }
    Ok(draft.found)
}

/// The name of a movement in a report: its node and its moment.
fn describe(id: &str, at: &str) -> String {
    format!("{} at {} s", node_record(id), name(at))
}

/// Reads BonnMotion's form; nodes are numbered from 0.
///
/// # Errors
/// If there is too much.
pub(crate) fn read_bonnmotion(text: &str, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let (size, rows) = bonnmotion_rows(text);
    for (index, (number, line)) in rows.into_iter().enumerate() {
        draft.count("nodes")?;
        let id = index.to_string();
        let row = match bonnmotion(line, size) {
            Ok(row) => row,
            Err(detail) => {
                draft.reject(format!("line {number}"), Reason::Malformed, detail);
                continue;
            }
        };
        let index = draft.node(&id, Some(NodeLocation::Plane(row.start)));
        let mut legs = Vec::new();
        for leg in row.legs {
            draft.count("movements")?;
            match leg {
                Ok(leg) => legs.push(leg),
                Err((at, problem)) => {
                    let detail = format!("at {} s: {problem}", shown(at));
                    draft.reject(node_record(&id), Reason::Movement, detail);
                }
            }
        }
        draft.set_movements(index, legs);
    }
    Ok(draft.found)
}
