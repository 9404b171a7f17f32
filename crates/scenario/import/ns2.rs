//! ns-2: movement files and scripts, line by line.
//!
//! Read are positions (`$n0 set X_ 100`), movements (`$ns at 5 "$n1 setdest 50 50 30"`) and flows, which [`super::ns2_flows`] puts
//! together. A script is a program: what it computes (loops, procedures, variables) is not executed. A position or a movement that needs
//! such a value is reported; of the other lines only their number. A movement file has no other lines.

use std::collections::{BTreeMap, BTreeSet};

use airfair_units::Span;

use super::draft::{Draft, Imported, NodeLocation, ReadOptions, link_record, name, node_record};
use super::ns2_flows::Flows;
use super::reason::{Reason, Record};
use super::report::count;
use super::tcl::{bracket, commands, inside, is_name, variable, words};
use crate::resolve::movement_file::{Leg, never_arrive, set_out};

/// The axes of a position.
const AXES: [&str; 3] = ["X_", "Y_", "Z_"];

/// True if a text is a script, not only a movement file: it makes the simulator, or a node, and places one.
pub(crate) fn is_script(text: &str) -> bool {
    let makes = |line: &str| {
        let line = line.trim_start();
        line.starts_with("set ") && (line.contains("new Simulator") || line.contains(" node]"))
    };
    let places = |line: &str| {
        let mut words = line.split_whitespace();
        let node = words.next().is_some_and(|word| word.starts_with('$'));
        node && words.next() == Some("set") && words.next().is_some_and(|axis| AXES.contains(&axis))
    };
    text.lines().any(makes) && text.lines().any(places)
}

/// The records that were read so far.
#[derive(Default)]
struct Found<'a> {
    /// Nodes in the order in which they are placed.
    order: Vec<&'a str>,
    positions: BTreeMap<&'a str, [f64; 3]>,
    /// Which axes of a position were set.
    placed: BTreeMap<&'a str, [bool; 3]>,
    movements: BTreeMap<&'a str, Vec<(usize, &'a str, Leg)>>,
    /// Nodes that the script makes.
    made: BTreeSet<&'a str>,
    flows: Flows<'a>,
    /// Lines of a script that are not read.
    other: usize,
}

/// Reads a movement file or a script.
///
/// # Errors
/// If there is too much.
pub(crate) fn read(text: &str, script: bool, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let mut found = Found::default();
    for (number, line) in (1..).zip(text.lines()) {
        let mut other = false;
        for command in commands(line) {
            let words = words(command);
            if !read_command(&words, number, &mut found, &mut draft)? {
                if !script || needs_a_value(&words) {
                    let detail = if script { "needs a value that the script computes" } else { "" };
                    draft.reject(format!("line {number}"), Reason::Malformed, detail.to_string());
                } else {
                    other = true;
                }
            }
        }
        found.other += usize::from(other);
    }
    finish(found, &mut draft)?;
    Ok(draft.found)
}

/// Reads a command; `false` if it is none of a position, a movement or a flow.
fn read_command<'a>(
    words: &[&'a str],
    number: usize,
    found: &mut Found<'a>,
    draft: &mut Draft<'_>,
) -> Result<bool, String> {
    Ok(match words {
        [god, ..] if god.starts_with("$god_") => true,
        [node, "set", axis, value] if AXES.contains(axis) => {
            let (Some(node), Ok(value)) = (node_of(node), value.parse::<f64>()) else { return Ok(false) };
            place(node, axis, value, number, found, draft)?;
            true
        }
        [_, "at", at, command] => match self::words(inside(command)).as_slice() {
            [god, ..] if god.starts_with("$god_") => true,
            [node, "setdest", x, y, speed] => {
                let Some(node) = node_of(node) else { return Ok(false) };
                draft.count("movements")?;
                match set_out(at, [x, y], speed) {
                    Ok(leg) => found.movements.entry(node).or_default().push((number, at, leg)),
                    Err(problem) => {
                        let detail = format!("{}: {problem}", describe(node, at));
                        draft.reject(format!("line {number}"), Reason::Movement, detail);
                    }
                }
                true
            }
            command => found.flows.event(at, command, number, draft),
        },
        ["set", variable, value]
            if matches!(*bracket(value).as_slice(), [_, "node"]) && is_name(variable) =>
        {
            found.made.insert(id_of(variable));
            true
        }
        [_, "duplex-link" | "simplex-link" | "duplex-link-of-interfaces", a, b, ..] => {
            draft.count("links")?;
            let record = link_record(node_of(a).unwrap_or(a), node_of(b).unwrap_or(b));
            draft.reject(record, Reason::Malformed, "a wired link of ns-2: not read".to_string());
            true
        }
        words => found.flows.command(words, number, draft)?,
    })
}

/// True if a command is about a position, a movement or a flow, so that only a value that the script computes can have kept it from
/// being read.
fn needs_a_value(words: &[&str]) -> bool {
    let about = |word: &str| AXES.contains(&word) || word.contains("setdest") || word == "attach-agent";
    words.iter().any(|word| about(word)) && words.first().is_some_and(|word| word.starts_with('$'))
}

/// The node of a word such as `$node_(3)` (3) or `$n3` (n3).
pub(crate) fn node_of(word: &str) -> Option<&str> {
    variable(word).map(id_of)
}

/// The id of the node in a variable.
fn id_of(variable: &str) -> &str {
    variable.strip_prefix("node_(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(variable)
}

fn place<'a>(
    node: &'a str,
    axis: &str,
    value: f64,
    number: usize,
    found: &mut Found<'a>,
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    let Some(axis) = AXES.iter().position(|a| *a == axis) else { return Ok(()) };
    if !found.positions.contains_key(node) {
        draft.count("nodes")?;
        found.order.push(node);
    }
    let position = found.positions.entry(node).or_default();
    let placed = found.placed.entry(node).or_default();
    if placed[axis] && position[axis] != value {
        let detail = format!("{} = {}, then {value} in line {number}", AXES[axis], position[axis]);
        let record = Record { record: node_record(node), reason: Reason::PositionAgain, detail };
        draft.found.noted.push(record);
    }
    (position[axis], placed[axis]) = (value, true);
    Ok(())
}

fn finish(mut found: Found<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    // The nodes that move later than at once, and the last of them to do so.
    let (mut waiting, mut last): (usize, Option<(Span, &str)>) = (0, None);
    let nodes = found.order.len();
    for id in std::mem::take(&mut found.order) {
        let position = found.positions.get(id).copied().unwrap_or_default();
        let index = draft.node(id, Some(NodeLocation::Plane(position)));
        // A node without a valid position is left out with its movements.
        let mut legs = found.movements.remove(id).unwrap_or_default();
        legs.sort_by_key(|(_, _, leg)| leg.leave);
        let first = legs.first().and_then(|(_, _, leg)| leg.leave).filter(|first| *first > Span::ZERO);
        if let Some(first) = first {
            waiting += 1;
            last = last.max(Some((first, id)));
        }
        let named: Vec<(usize, &str)> = legs.iter().map(|(number, at, _)| (*number, *at)).collect();
        let legs: Vec<Leg> = legs.into_iter().map(|(_, _, leg)| leg).collect();
        for i in never_arrive(Some(position), &legs) {
            let Some((number, at)) = named.get(i) else { continue };
            let record = format!("line {number}");
            let record = Record { record, reason: Reason::NeverArrives, detail: describe(id, at) };
            draft.found.noted.push(record);
        }
        draft.set_movements(index, legs);
    }
    for (id, legs) in std::mem::take(&mut found.movements) {
        for (number, at, _) in legs {
            draft.reject(format!("line {number}"), Reason::Dangling, describe(id, at));
        }
    }
    for id in found.made.iter().filter(|id| !found.positions.contains_key(*id)) {
        draft.count("nodes")?;
        draft.reject(node_record(id), Reason::Unlocated, String::new());
    }
    if let Some((first, id)) = last {
        let of = format!("{waiting} of {}", count(nodes, "node"));
        let (are, their) = if waiting == 1 { ("is", "its") } else { ("are", "their") };
        draft.found.assumed.push(format!(
            "{of} {are} there before {their} first movement, from 0 s on; {}: first movement at {first}",
            node_record(id)
        ));
    }
    if found.other > 0 {
        let (lines, are) = (count(found.other, "line"), if found.other == 1 { "is" } else { "are" });
        let words = "not executed: positions, movements and flows are read as they stand";
        draft.found.assumed.push(format!("{lines} of the script {are} {words}"));
    }
    found.flows.finish(draft)
}

/// The name of a movement in a report: its node and its moment.
fn describe(id: &str, at: &str) -> String {
    format!("{} at {} s", node_record(id), name(at))
}
