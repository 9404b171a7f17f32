//! Precedence between keys that set the same quantity in two ways, or in two tables.

use crate::text::error::Cx;
use crate::text::location::{At, Path};
use crate::text::tree::{Table, Value};

/// Pairs of keys that set the same quantity; `range` and `carrier_sense` may be keys of `propagation`.
const TWO_WAYS: [(&str, &str); 3] =
    [("noise", "noise_figure"), ("preamble_detect", "range"), ("energy_detect", "carrier_sense")];

/// The keys of a kind of radio, and those keys of `[radio]` whose quantity it does not set itself.
pub(crate) fn inherit(base: &Table, own: &Table) -> Table {
    let own_range =
        |key: &str| own.get("propagation").and_then(|n| n.table()).is_some_and(|t| t.get(key).is_some());
    let mut merged = own.clone();
    for (key, entry) in &base.entries {
        let said_otherwise = TWO_WAYS.iter().any(|&(one, other)| {
            (key == one && (own.get(other).is_some() || own_range(other)))
                || (key == other && own.get(one).is_some())
        });
        if own.get(key).is_some() || said_otherwise {
            continue;
        }
        let mut entry = entry.clone();
        if let ("propagation", Value::Table(table)) = (key.as_str(), &mut entry.item.value) {
            table
                .entries
                .retain(|k, _| !TWO_WAYS.iter().any(|&(one, other)| k == other && own.get(one).is_some()));
        }
        merged.entries.insert(key.clone(), entry);
    }
    merged
}

/// Which of two keys that set the same quantity has precedence.
pub(crate) enum Precedence {
    /// The first: it is an override, and the other is in the file.
    First,
    /// The second: it is an override, and the other is in the file.
    Second,
    /// Neither: both are in the file, or both are overrides.
    Conflict,
}

/// Decides by two locations: an override has precedence over the file; two of a kind are in conflict.
pub(crate) fn precedence(first: At, second: At) -> Precedence {
    match (first, second) {
        (At::Override(_), At::Line(_)) => Precedence::First,
        (At::Line(_), At::Override(_)) => Precedence::Second,
        _ => Precedence::Conflict,
    }
}

/// Keys of a flow that its `traffic` may have as well.
pub(crate) const HOISTED: [&str; 3] = ["start", "start_jitter", "stop"];

/// Moves `start`, `start_jitter` and `stop` from `traffic` to the flow.
pub(crate) fn hoist(flow: &mut Table, path: &Path<'_>, cx: &mut Cx<'_>) {
    for key in HOISTED {
        let inner = match flow.entries.get_mut("traffic").map(|e| &mut e.item.value) {
            Some(Value::Table(traffic)) => traffic.entries.remove(key),
            _ => return,
        };
        let Some(inner) = inner else { continue };
        if let Some(outer) = flow.entries.get(key) {
            match precedence(outer.item.at, inner.item.at) {
                Precedence::First => continue,
                Precedence::Second => {}
                Precedence::Conflict => {
                    let traffic = path.child("traffic");
                    cx.error(inner.key_at, &traffic.child(key), || {
                        format!("the flow itself has `{key}` too; write it once")
                    });
                    continue;
                }
            }
        }
        flow.entries.insert(key.to_string(), inner);
    }
}
