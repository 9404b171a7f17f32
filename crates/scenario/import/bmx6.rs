//! BMX6: a list of nodes with the links that each sees.
//!
//! `rxRate` is the share in per cent that the node receives from the neighbour, `txRate` the share that the neighbour
//! receives from it. Neighbours that have no entry are nodes.

use serde_json::Value;

use super::draft::{
    DirectionQuality, Draft, Imported, Medium, ReadOptions, UnknownEnd, link_record, node_record, numbered,
    shown,
};
use super::json::{id, list, number};
use super::reason::Reason;

/// Reads the list.
///
/// # Errors
/// If there is too much.
pub(crate) fn read(value: &Value, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let mut nodes = Vec::new();
    for (i, entry) in list(Some(value)).iter().enumerate() {
        draft.count("nodes")?;
        let Some(name) = id(entry.get("name")) else {
            draft.reject(numbered("node", i), Reason::Malformed, "no name".to_string());
            continue;
        };
        if draft.node(&name, None).is_some() {
            nodes.push((name, entry));
        }
    }
    for (from, entry) in nodes {
        for link in list(entry.get("links")) {
            draft.count("links")?;
            let Some(to) = id(link.get("name")) else {
                let record = format!("a link of {}", node_record(&from));
                draft.reject(record, Reason::Malformed, "no name".to_string());
                continue;
            };
            let Some(ends) = draft.ends(&from, &to, UnknownEnd::Make)? else { continue };
            let share = |key| percent(number(link.get(key)), key);
            match (share("txRate"), share("rxRate")) {
                (Ok(forward), Ok(reverse)) => draft.link(
                    ends,
                    Medium::Radio,
                    DirectionQuality::echo(forward),
                    DirectionQuality::own(reverse),
                ),
                (Err((reason, detail)), _) | (_, Err((reason, detail))) => {
                    draft.reject(link_record(&from, &to), reason, detail);
                }
            }
        }
    }
    Ok(draft.found)
}

/// A share in per cent as a ratio, or why it is none.
fn percent(value: Option<f64>, what: &str) -> Result<f64, (Reason, String)> {
    match value {
        Some(x) if (0.0..=100.0).contains(&x) => Ok(x / 100.0),
        Some(x) => Err((Reason::BadQuality, format!("{what} {}; expected 0 to 100", shown(x)))),
        None => Err((Reason::BadQuality, format!("{what} is not a number"))),
    }
}
