//! Changes of a scenario in the brackets of a selection: a path and a value, as after `--set`, or a short name.

use super::{Change, MOST_CHANGES, split};
use crate::text::error::quoted;
use crate::text::nearest::hint;
use crate::text::overrides::Override;

/// A short name for changes of a scenario that many comparisons make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortChange {
    /// The name, which stands in the brackets of a selection.
    pub name: &'static str,
    /// An example of its value; `None`: it has none.
    pub example: Option<&'static str>,
    /// Keys and their values; `{}` stands for the value of the short name.
    pub sets: &'static [(&'static str, &'static str)],
    /// A description in one line.
    pub about: &'static str,
}

/// Every short change, in the order in which they are shown.
pub const SHORT_CHANGES: [ShortChange; 6] = [
    ShortChange {
        name: "rts",
        example: None,
        sets: &[("radio.rts_threshold", "0 B")],
        about: "RTS and CTS before each data frame of all radios",
    },
    ShortChange {
        name: "rts_from",
        example: Some("2"),
        sets: &[("radio.rts_from_attempt", "{}")],
        about: "the attempt at a packet from which on RTS and CTS precede data frames of all radios: 2 is each repeated one",
    },
    ShortChange {
        name: "retries",
        example: Some("50"),
        sets: &[("radio.short_retry_limit", "{}"), ("radio.long_retry_limit", "{}")],
        about: "attempts of all radios until a frame is given up",
    },
    ShortChange {
        name: "queue",
        example: Some("100"),
        sets: &[("radio.queue_packets", "{}")],
        about: "packets in the queue of all radios",
    },
    ShortChange {
        name: "window",
        example: Some("4"),
        sets: &[("tcp.window_limit", "\"{} segments\"")],
        about: "segments in flight of a TCP connection, at most",
    },
    ShortChange {
        name: "ecn",
        example: None,
        sets: &[("tcp.ecn", "true")],
        about: "ECN in all TCP connections, so that queues can mark",
    },
];

/// The changes between brackets.
pub(super) fn read(inner: &str) -> Result<Vec<Change>, String> {
    let pieces = split(inner, ';')?;
    if pieces.len() > MOST_CHANGES {
        return Err(format!("more than {MOST_CHANGES} changes"));
    }
    let changes = pieces.into_iter().map(|piece| read_one(piece.trim())).collect::<Result<Vec<_>, _>>()?;
    let paths: Vec<&str> =
        changes.iter().flat_map(|change| &change.sets).map(|set| set.path.as_str()).collect();
    match paths.iter().enumerate().find(|(i, path)| paths[..*i].contains(path)) {
        Some((_, path)) => Err(format!("{path} is changed twice")),
        None => Ok(changes),
    }
}

fn read_one(text: &str) -> Result<Change, String> {
    if text.is_empty() {
        return Err("a change is empty".to_string());
    }
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (text, None),
    };
    if let Some(short) = SHORT_CHANGES.iter().find(|short| short.name == name) {
        let shown = match (short.example, value) {
            (None, None) => name.to_string(),
            (Some(_), Some(value)) => format!("{name}={value}"),
            (None, Some(_)) => return Err(format!("{name} has no value")),
            (Some(example), None) => {
                return Err(format!("{name}: expected a value, such as {name}={example}"));
            }
        };
        // A value with a unit of its own needs none of the template.
        let has_unit = value.is_some_and(|value| value.contains(|c: char| !c.is_ascii_digit()));
        let set = |&(path, template): &(&str, &str)| Override {
            path: path.to_string(),
            value: if has_unit { "{}" } else { template }.replace("{}", value.unwrap_or_default()),
        };
        return Ok(Change { shown, sets: short.sets.iter().map(set).collect() });
    }
    let Some(value) = value else {
        let names = SHORT_CHANGES.iter().map(|short| short.name);
        let near = hint(name, names.clone());
        let expected = if name.contains(',') {
            "; expected ; between changes".to_string()
        } else if near.is_empty() {
            format!("; expected KEY=VALUE or one of {}", names.collect::<Vec<_>>().join(", "))
        } else {
            near
        };
        return Err(format!("{} is no short change{expected}", quoted(name)));
    };
    if name == "scheme" {
        return Err("scheme: stands before the bracket".to_string());
    }
    if name.is_empty() {
        return Err(format!("{}: expected KEY=VALUE", quoted(text)));
    }
    if name.contains(',') && !name.contains('"') {
        return Err(format!("{}: expected ; between changes", quoted(text)));
    }
    let sets = vec![Override { path: name.to_string(), value: value.to_string() }];
    Ok(Change { shown: format!("{name}={value}"), sets })
}
