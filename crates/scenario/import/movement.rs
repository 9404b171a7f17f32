//! Movement files of BonnMotion, read line by line as a scenario's `[movement]` reads them.
//!
//! The scenario contains all movements that are possible; the report names the others.

use super::draft::{Draft, Imported, NodeLocation, ReadOptions, node_record, shown};
use super::reason::Reason;
use crate::resolve::movement_file::{bonnmotion, bonnmotion_rows};

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
