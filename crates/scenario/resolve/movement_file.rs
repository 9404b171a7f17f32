//! Movement files, line by line: ns-2's (`$node_(0) set X_ 150.0`, `$ns_ at 2.0 "$node_(0) setdest 3 4 5"`) and BonnMotion's own (a
//! line of time, x, y, ... for each node). Scenarios and imports of maps are read with the same functions.

use airfair_units::Span;

use crate::declare::field::LONGEST;
use crate::keys::movement::FASTEST;
use crate::keys::network::FARTHEST;
use crate::text::error::quoted;

/// Distance from which on two positions are different places, m.
const SAME_PLACE: f64 = 1.0;
/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// A leg of a node's path: a straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Leg {
    /// When the node sets out; `None`: as soon as it has arrived at the end of the leg before.
    pub leave: Option<Span>,
    /// The end of the leg, m: x and y, and z if that changes.
    pub to: ([f64; 2], Option<f64>),
    pub pace: Pace,
}

/// The speed of a node on a leg, or its time of arrival.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    /// m/s; with 0 the node stays at its position.
    Speed(f64),
    /// The moment of arrival.
    Arrive(Span),
}

/// A node of a movement file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FileNode {
    pub id: String,
    /// The node's first position, if the file has one, m.
    pub start: Option<[f64; 3]>,
    /// In order of time.
    pub legs: Vec<Leg>,
}

/// The content of a line of ns-2's form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line<'a> {
    /// A coordinate of a node's first position: the axis (0 is x) and the value in m.
    Coordinate { id: &'a str, axis: usize, value: f64 },
    /// A node sets out on a leg, or the problem with it.
    Leg { id: &'a str, at: &'a str, leg: Result<Leg, String> },
    /// No movement: empty lines, comments, distances in hops.
    Nothing,
}

/// Reads a line of ns-2's form; `None` if the line is not one.
pub(crate) fn ns2(line: &str) -> Option<Line<'_>> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') || line.starts_with("$god_") {
        return Some(Line::Nothing);
    }
    if let Some(rest) = line.strip_prefix("$ns_") {
        let (at, command) = rest.trim_start().strip_prefix("at")?.trim_start().split_once('"')?;
        let command = command.strip_suffix('"')?.trim();
        if command.starts_with("$god_") {
            return Some(Line::Nothing);
        }
        let at = at.trim();
        let (id, rest) = node(command)?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let ["setdest", x, y, speed] = words.as_slice() else { return None };
        return Some(Line::Leg { id, at, leg: set_out(at, [x, y], speed) });
    }
    let (id, rest) = node(line)?;
    let mut words = rest.split_whitespace();
    let (set, axis, value) = (words.next()?, words.next()?, words.next()?);
    let axis = ["X_", "Y_", "Z_"].iter().position(|a| *a == axis)?;
    (set == "set").then_some(())?;
    Some(Line::Coordinate { id, axis, value: value.parse().ok()? })
}

/// `$node_(3) setdest`: the node and what follows.
fn node(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("$node_(")?.split_once(')').filter(|(id, _)| !id.is_empty())
}

/// The leg of `setdest`, from its words.
///
/// # Errors
/// The fault of a word.
pub(crate) fn set_out(at: &str, to: [&str; 2], speed: &str) -> Result<Leg, String> {
    let leave = moment(number(at)?)?;
    let to = [number(to[0])?, number(to[1])?];
    check_position(&to)?;
    let speed = number(speed)?;
    if !(0.0..=FASTEST.0).contains(&speed) {
        return Err(format!("{speed} m/s; expected 0 to {}", FASTEST.0));
    }
    Ok(Leg { leave: Some(leave), to: (to, None), pace: Pace::Speed(speed) })
}

fn number(word: &str) -> Result<f64, String> {
    word.parse().map_err(|_| format!("{} is no number", quoted(word)))
}

/// Seconds as a moment, to the nanosecond: programs write more digits.
pub(crate) fn moment(seconds: f64) -> Result<Span, String> {
    let longest = LONGEST.as_secs_f64();
    if (0.0..=longest).contains(&seconds) {
        Ok(Span((seconds * SECOND).round() as u64))
    } else {
        Err(format!("at {seconds} s; expected 0 to {longest}"))
    }
}

fn check_position(position: &[f64]) -> Result<(), String> {
    if position.iter().all(|x| x.abs() <= FARTHEST) {
        return Ok(());
    }
    let shown: Vec<String> = position.iter().map(|x| format!("{x} m")).collect();
    Err(format!("{}; expected coordinates within 10,000 km", shown.join(", ")))
}

/// The legs with speed 0 to another place than where the node is then, by their indices. The legs are in order of time; a leg ends when
/// the next begins. None without a first position. Places less than a metre apart are the same: programs round.
pub(crate) fn never_arrive(start: Option<[f64; 3]>, legs: &[Leg]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = start.map(|[x, y, _]| [x, y]);
    // The leg under way: its beginning, its end, m/s, and when it began, s.
    let mut under_way: Option<([f64; 2], [f64; 2], f64, f64)> = None;
    for (i, leg) in legs.iter().enumerate() {
        let (Pace::Speed(speed), Some(leave)) = (leg.pace, leg.leave) else { return found };
        let leave = leave.as_secs_f64();
        if let Some((from, to, speed, since)) = under_way.take() {
            let whole = distance(from, to);
            let part = if whole > 0.0 { ((leave - since) * speed / whole).clamp(0.0, 1.0) } else { 1.0 };
            at = Some([0, 1].map(|k| from[k] + part * (to[k] - from[k])));
        }
        let Some(from) = at else { return found };
        if speed > 0.0 {
            under_way = Some((from, leg.to.0, speed, leave));
        } else if distance(from, leg.to.0) >= SAME_PLACE {
            found.push(i);
        }
    }
    found
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [x, y] = [b[0] - a[0], b[1] - a[1]];
    (x * x + y * y).sqrt()
}

/// The numbers of a line; `None` if it contains anything else.
fn numbers(line: &str) -> Option<Vec<f64>> {
    line.split_whitespace().map(|word| word.parse().ok()).collect()
}

/// True if a text looks like a movement file of ns-2.
pub(crate) fn is_ns2(text: &str) -> bool {
    let starts = |line: &str| ["$node_(", "$ns_ "].iter().any(|start| line.trim_start().starts_with(start));
    text.lines().any(starts)
}

/// True if a text looks like a movement file of BonnMotion: numbers only, and whole waypoints in the first line.
pub(crate) fn is_bonnmotion(text: &str) -> bool {
    let (size, rows) = bonnmotion_rows(text);
    let whole = |line: &str| numbers(line).is_some_and(|n| n.len() >= size && n.len().is_multiple_of(size));
    rows.first().is_some_and(|(_, line)| whole(line)) && rows.iter().all(|(_, line)| numbers(line).is_some())
}

/// How many numbers a waypoint has, and the lines with waypoints, each with its line number from 1; the first of them is node 0.
pub(crate) fn bonnmotion_rows(text: &str) -> (usize, Vec<(usize, &str)>) {
    let size = if text.lines().next().is_some_and(|l| l.trim().eq_ignore_ascii_case("#3D")) { 4 } else { 3 };
    let lines = (1..).zip(text.lines().map(str::trim));
    (size, lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('#')).collect())
}

/// The content of a line of BonnMotion's form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The first position of the node, m.
    pub start: [f64; 3],
    /// The legs of the node; for a wrong waypoint its moment (s) and the problem.
    pub legs: Vec<Result<Leg, (f64, String)>>,
}

/// Reads a line of BonnMotion's form: `size` numbers a waypoint.
///
/// # Errors
/// The expected form.
pub(crate) fn bonnmotion(line: &str, size: usize) -> Result<Row, String> {
    let waypoints = numbers(line).filter(|n| n.len() >= size && n.len().is_multiple_of(size));
    let Some(waypoints) = waypoints else { return Err(format!("expected {size} numbers for each waypoint")) };
    let mut row = Row { start: [0.0; 3], legs: Vec::new() };
    let mut last: Option<(Span, [f64; 3])> = None;
    for (i, waypoint) in waypoints.chunks(size).enumerate() {
        let at = |k: usize| waypoint.get(k).copied().unwrap_or_default();
        let position = [at(1), at(2), if size == 4 { at(3) } else { 0.0 }];
        let when = moment(at(0)).map_err(|problem| (at(0), problem));
        if i == 0 {
            // A position that is out of range is reported by the caller; a moment that is none counts as the start.
            row.start = position;
            last = Some((when.unwrap_or(Span::ZERO), position));
            continue;
        }
        let Some((before, from)) = last else { continue };
        let leg = when.and_then(|arrive| {
            let fail = |problem: String| (at(0), problem);
            check_position(&position).map_err(fail)?;
            if arrive < before || arrive == before && position != from {
                return Err(fail("not after the one before it".to_string()));
            }
            let leave = (i == 1 && before > Span::ZERO).then_some(before);
            last = Some((arrive, position));
            let z = (size == 4).then_some(position[2]);
            Ok(Leg { leave, to: ([position[0], position[1]], z), pace: Pace::Arrive(arrive) })
        });
        row.legs.push(leg);
    }
    Ok(row)
}

/// The fault of a line.
pub(crate) struct Wrong {
    /// From 1.
    pub line: usize,
    pub problem: String,
}

/// Reads a whole movement file. Every line must be right, and there may be at most `most` legs.
///
/// # Errors
/// The faults, line by line; line 0 is the whole file.
pub(crate) fn parse(text: &str, most: u64) -> Result<Vec<FileNode>, Vec<Wrong>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (nodes, mut wrong) = if is_ns2(text) {
        parse_ns2(text)
    } else if is_bonnmotion(text) {
        parse_bonnmotion(text)
    } else {
        let problem =
            "neither ns-2's lines ($node_(0) set X_ 150.0, $ns_ at 2.0 \"$node_(0) setdest 3 4 5\") nor \
                       BonnMotion's (time, x, y and so on, a line a node)"
                .to_string();
        (Vec::new(), vec![Wrong { line: 0, problem }])
    };
    let legs: usize = nodes.iter().map(|node| node.legs.len()).sum();
    if legs as u64 > most {
        wrong.push(Wrong { line: 0, problem: format!("{legs} movements; expected at most {most}") });
    }
    if wrong.is_empty() { Ok(nodes) } else { Err(wrong) }
}

fn parse_ns2(text: &str) -> (Vec<FileNode>, Vec<Wrong>) {
    let (mut nodes, mut wrong) = (Nodes::default(), Vec::new());
    for (line, content) in (1..).zip(text.lines()) {
        let mut fail = |problem: String| wrong.push(Wrong { line, problem });
        match ns2(content) {
            Some(Line::Nothing) => {}
            Some(Line::Coordinate { id, axis, value }) => match check_position(&[value]) {
                Ok(()) => nodes.of(id).start.get_or_insert([0.0; 3])[axis] = value,
                Err(problem) => fail(problem),
            },
            Some(Line::Leg { id, leg, .. }) => match leg {
                Ok(leg) => nodes.of(id).legs.push(leg),
                Err(problem) => fail(problem),
            },
            None => fail(format!(
                "{}; expected such as $node_(0) set X_ 150.0 or $ns_ at 2.0 \"$node_(0) setdest 3 4 5\"",
                quoted(content.trim())
            )),
        }
    }
    for node in &mut nodes.list {
        // ns-2 executes commands in the order of time, whatever the order of lines is.
        node.legs.sort_by_key(|leg| leg.leave);
    }
    (nodes.list, wrong)
}

fn parse_bonnmotion(text: &str) -> (Vec<FileNode>, Vec<Wrong>) {
    let (mut nodes, mut wrong) = (Vec::new(), Vec::new());
    let (size, rows) = bonnmotion_rows(text);
    for (number, (line, content)) in rows.into_iter().enumerate() {
        let mut fail = |problem: String| wrong.push(Wrong { line, problem });
        match bonnmotion(content, size) {
            Err(problem) => fail(problem),
            Ok(row) => {
                if let Err(problem) = check_position(&row.start) {
                    fail(problem);
                }
                let mut node = FileNode { id: number.to_string(), start: Some(row.start), legs: Vec::new() };
                for leg in row.legs {
                    match leg {
                        Ok(leg) => node.legs.push(leg),
                        Err((at, problem)) => fail(format!("the waypoint of {at} s: {problem}")),
                    }
                }
                nodes.push(node);
            }
        }
    }
    (nodes, wrong)
}

/// Nodes by their names, in the order in which they first occur.
#[derive(Default)]
struct Nodes {
    list: Vec<FileNode>,
    index: std::collections::BTreeMap<String, usize>,
}

impl Nodes {
    fn of(&mut self, id: &str) -> &mut FileNode {
        let at = *self.index.entry(id.to_string()).or_insert_with(|| {
            self.list.push(FileNode { id: id.to_string(), ..FileNode::default() });
            self.list.len() - 1
        });
        &mut self.list[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ns2() {
        assert_eq!(ns2("$node_(a) set Z_ 1.5"), Some(Line::Coordinate { id: "a", axis: 2, value: 1.5 }));
        let leg =
            Leg { leave: Some(Span::from_millis(1500)), to: ([10.0, -11.0], None), pace: Pace::Speed(5.0) };
        let line = "  $ns_ at 1.500000000004 \"$node_(1) setdest 10.0 -11.0 5.0\"";
        assert_eq!(ns2(line), Some(Line::Leg { id: "1", at: "1.500000000004", leg: Ok(leg) }));
        for nothing in ["", "# x", "$god_ set-dist 0 1 1", "$ns_ at 3 \"$god_ set-dist 0 1 2\""] {
            assert_eq!(ns2(nothing), Some(Line::Nothing), "{nothing}");
        }
        for other in [
            "set x 1",
            "$node_() set X_ 1",
            "$node_(1) set X_ one",
            "$ns_ at 1 \"$node_(1) setdest 1 2\"",
            "$ns_ at 1 $node_(1) setdest 1 2 3",
            "$ns_ rate 1",
        ] {
            assert_eq!(ns2(other), None, "{other}");
        }
        for (wrong, words) in [
            ("$ns_ at -1 \"$node_(1) setdest 1 2 3\"", "at -1 s; expected 0 to 31536000"),
            (
                "$ns_ at 1 \"$node_(1) setdest 1 2e9 3\"",
                "1 m, 2000000000 m; expected coordinates within 10,000 km",
            ),
            ("$ns_ at 1 \"$node_(1) setdest 1 2 -3\"", "-3 m/s; expected 0 to 100000"),
            ("$ns_ at x \"$node_(1) setdest 1 2 -3\"", "\"x\" is no number"),
            ("$ns_ at NaN \"$node_(1) setdest 1 2 3\"", "at NaN s; expected 0 to 31536000"),
        ] {
            let Some(Line::Leg { leg: Err(problem), .. }) = ns2(wrong) else { panic!("{wrong}") };
            assert_eq!(problem, words);
        }
    }

    #[test]
    fn both_formats_have_the_same_result() {
        let ns2 = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$ns_ at 4 \"$node_(0) setdest 1 12 5\"\n";
        let bonnmotion = "4 1 2 6 1 12\n";
        let (a, b) = (parse(ns2, 10).ok().unwrap(), parse(bonnmotion, 10).ok().unwrap());
        assert_eq!((&a[0].id, a[0].start), (&b[0].id, b[0].start));
        assert_eq!((a[0].legs[0].leave, a[0].legs[0].to), (b[0].legs[0].leave, b[0].legs[0].to));
        assert_eq!(b[0].legs[0].pace, Pace::Arrive(Span::from_secs(6)));
        assert!(parse(ns2, 0).is_err() && parse("walk", 9).is_err());
        // A scenario may have the first positions.
        let c = parse("# no positions\n$ns_ at 4 \"$node_(0) setdest 1 12 5\"\n", 10).ok().unwrap();
        assert_eq!((&c[0].id, c[0].start, &c[0].legs), (&a[0].id, None, &a[0].legs));
    }

    #[test]
    fn a_leg_with_speed_0_to_another_place_never_arrives() {
        let legs = |list: &[(u64, [f64; 2], f64)]| -> Vec<Leg> {
            let leg = |&(at, to, speed)| Leg {
                leave: Some(Span::from_secs(at)),
                to: (to, None),
                pace: Pace::Speed(speed),
            };
            list.iter().map(leg).collect()
        };
        let start = Some([0.0, 0.0, 0.0]);
        // At 2 s the node has gone 10 of 100 m; at 40 s it stands at 100 m.
        let list = [
            (0, [0.0, 0.0], 0.0),
            (1, [100.0, 0.0], 10.0),
            (2, [10.0, 0.0], 0.0),
            (3, [100.0, 0.0], 0.0),
            (10, [100.0, 0.0], 10.0),
            (40, [100.5, 0.0], 0.0),
            (41, [100.0, 1.0], 0.0),
        ];
        assert_eq!(never_arrive(start, &legs(&list)), [3, 6]);
        assert_eq!(never_arrive(None, &legs(&list[..1])), [0; 0]);
    }

    #[test]
    fn waypoints_go_forward_in_time() {
        let row = bonnmotion("0 0 0 5 10 0 3 20 0 5 10 0 7 10 1e9 9 0 0", 3).unwrap();
        let problems: Vec<Option<f64>> = row.legs.iter().map(|l| l.as_ref().err().map(|e| e.0)).collect();
        assert_eq!(problems, [None, Some(3.0), None, Some(7.0), None]);
        assert_eq!(bonnmotion("0 0", 3), Err("expected 3 numbers for each waypoint".to_string()));
    }
}
