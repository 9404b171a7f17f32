//! Movement of nodes, checked: each by its own `movement`, or all by a movement file.

use std::collections::BTreeMap;

use airfair_sim::spec::{Knot, MovementSpec, NodeSpec, PathSpec, Propagation};
use airfair_units::{Span, Speed, Time};

use crate::declare::field::Field;
use crate::declare::table::{OtherKeys, write_pairs};
use crate::keys::movement::{Goal, MovementTable, PathTable, Way, Waypoint, WaypointTable};
use crate::keys::network::Position;
use crate::resolve::blocks::single;
use crate::resolve::movement_file::{self, FileNode, Leg, Pace};
use crate::resolve::named_file::load;
use crate::resolve::nodes::Nodes;
use crate::resolve::radio::Radios;
use crate::text::error::{Cx, quoted};
use crate::text::location::{At, Locations, Path};
use crate::text::tree::Table;

/// Shortest round of a path that repeats.
const ROUND: Span = Span::from_millis(1);
/// Nanoseconds of a second.
const SECOND: f64 = 1e9;
/// A time after the end of every run, small enough that additions to it do not overflow; ns.
const NEVER: u64 = u64::MAX / 4;
/// Most errors of one file that are shown.
const SHOWN: usize = 5;

/// `[movement]` and the content of its movement file.
pub(crate) struct Movements {
    table: Option<MovementTable>,
    /// The location of the key `file`.
    at: At,
    file: String,
    /// By the name of the node.
    nodes: BTreeMap<String, FileNode>,
}

impl Movements {
    /// The keys of the complete form; `None` if no node moves and the file has no `[movement]`.
    pub fn pairs(&self, spec: &MovementSpec) -> Option<Vec<(&'static str, String)>> {
        let written = self.table.as_ref().filter(|t| !spec.paths.is_empty() || t.is_written());
        written.map(MovementTable::pairs)
    }

    /// Removes and returns a node of the movement file.
    pub fn remove(&mut self, id: &str) -> Option<FileNode> {
        self.nodes.remove(id)
    }
}

/// Reads `[movement]` and its file, which may have at most `most` movements.
pub(crate) fn movements(root: &Table, most: u64, cx: &mut Cx<'_>) -> Movements {
    let path = Path::ROOT.child("movement");
    let empty = Table::new(root.at);
    let table = single(root, "movement", cx).unwrap_or(&empty);
    let mut movements = Movements {
        table: MovementTable::read_table(table, &path, cx, &OtherKeys::default()),
        at: table.at,
        file: String::new(),
        nodes: BTreeMap::new(),
    };
    let Some(table) = &mut movements.table else { return movements };
    let (file, prefix) = (table.file.take(), table.prefix.take());
    movements.at = table.locations.of("file");
    let path = path.child("file");
    let Some(file) = file else {
        if prefix.is_some() {
            cx.error(table.locations.of("prefix"), &Path::ROOT.child("movement").child("prefix"), || {
                "only `file` needs it; expected `file` beside it".to_string()
            });
        }
        return movements;
    };
    let instead = "`movement = { waypoints = [...] }` in the nodes that move";
    let Some(bytes) = load(&file, instead, (movements.at, &path), cx) else {
        return movements;
    };
    let Ok(text) = String::from_utf8(bytes) else {
        cx.error(movements.at, &path, || format!("{}: not UTF-8", quoted(&file)));
        return movements;
    };
    match movement_file::parse(&text, most) {
        Ok(nodes) => {
            let never = |node: &FileNode| movement_file::never_arrive(node.start, &node.legs).len();
            let never: usize = nodes.iter().map(never).sum();
            if never > 0 {
                let (movements, arrive) =
                    if never == 1 { ("movement", "arrives") } else { ("movements", "arrive") };
                cx.warnings.push(format!(
                    "movement.file: {}: {never} {movements} with speed 0 to another place: never {arrive}",
                    quoted(&file)
                ));
            }
            let prefix = prefix.unwrap_or_default();
            movements.nodes = nodes.into_iter().map(|node| (format!("{prefix}{}", node.id), node)).collect();
        }
        Err(wrong) => {
            for error in wrong.iter().take(SHOWN) {
                cx.error(movements.at, &path, || {
                    let line = if error.line == 0 { String::new() } else { format!(" line {}", error.line) };
                    format!("{}{line}: {}", quoted(&file), error.problem)
                });
            }
        }
    }
    movements.file = file;
    movements
}

/// Sets a node's movement from the movement file, and its position if that is not written.
pub(crate) fn from_file(
    node: FileNode,
    movements: &Movements,
    position: &mut Option<Position>,
    movement: &mut Option<Way>,
    cx: &mut Cx<'_>,
) {
    let path = Path::ROOT.child("movement");
    let path = path.child("file");
    let file = || format!("{}: node {}", quoted(&movements.file), quoted(&node.id));
    match (*position, node.start) {
        (Some(Position(written)), Some(start)) if written != start => cx.error(movements.at, &path, || {
            format!(
                "{} begins at {}, but its position is {}; expected one of them",
                file(),
                Position(start).write(),
                Position(written).write()
            )
        }),
        (None, None) if !node.legs.is_empty() => {
            cx.error(movements.at, &path, || {
                format!(
                    "{} has no first position; expected such as $node_({}) set X_ 150.0 in the file, or `position` in the \
                     scenario's node",
                    file(),
                    node.id
                )
            });
            // The error above suffices.
            *position = Some(Position([0.0; 3]));
        }
        (None, start) => *position = start.map(Position),
        _ => {}
    }
    if node.legs.is_empty() {
        return;
    }
    if movement.is_some() {
        cx.error(movements.at, &path, || {
            format!("{} has a `movement` of its own; expected one of them", file())
        });
    }
    let waypoints = node.legs.iter().map(|leg| waypoint(leg, movements.at)).collect();
    *movement = Some(Way(PathTable { locations: Locations::new(movements.at), waypoints, repeat: false }));
}

/// A leg of a movement file as a waypoint.
fn waypoint(leg: &Leg, at: At) -> Waypoint {
    let (speed, arrive) = match leg.pace {
        Pace::Speed(speed) => (Some(Speed(speed)), None),
        Pace::Arrive(moment) => (None, Some(moment)),
    };
    let to = Goal(leg.to.0, leg.to.1);
    Waypoint(WaypointTable {
        locations: Locations::new(at),
        at: leg.leave,
        to,
        speed,
        arrive,
        pause: Span::ZERO,
    })
}

/// Legs as the text of `waypoints` in a scenario, a line for each.
pub(crate) fn waypoints(legs: &[Leg]) -> String {
    let line = |leg: &Leg| {
        let mut pairs = waypoint(leg, At::Line(1)).0.pairs();
        pairs.retain(|(key, _)| *key != "pause");
        format!("    {},\n", write_pairs(&pairs))
    };
    legs.iter().map(line).collect()
}

/// The movement of all nodes, checked. A node of the movement file that the scenario does not have is an error here.
pub(crate) fn resolve(
    movements: &Movements,
    nodes: &Nodes,
    radios: &Radios,
    most: u64,
    cx: &mut Cx<'_>,
) -> MovementSpec {
    for (name, node) in movements.nodes.iter().take(SHOWN) {
        cx.error(movements.at, &Path::ROOT.child("movement").child("file"), || {
            format!(
                "{}: node {}: there is no node {}",
                quoted(&movements.file),
                quoted(&node.id),
                quoted(name)
            )
        });
    }
    let mut spec = MovementSpec::default();
    if let Some(table) = &movements.table {
        spec.interval = table.refresh_interval;
        spec.distance_m = table.refresh_distance.0;
    }
    let mut total = 0;
    let parent = Path::ROOT.child("node");
    for (index, (table, node)) in nodes.tables.iter().zip(&nodes.specs).enumerate() {
        let Some(Way(way)) = &table.movement else { continue };
        let at = table.locations.of("movement");
        let path = parent.child(&table.id.0);
        let path = path.child("movement");
        total += way.waypoints.len() as u64;
        if let Some(problem) = immovable(node, nodes, radios) {
            cx.error(at, &path, || problem);
        } else if total <= most
            && let Some(path) = resolve_way(way, index, node.position, &path, cx)
        {
            spec.paths.push(path);
        }
    }
    if total > most {
        cx.error(movements.at, &parent, || format!("{total} waypoints; expected at most {most}"));
    }
    let written = movements.table.as_ref().is_some_and(MovementTable::is_written);
    if spec.paths.is_empty() && written && !cx.failed() {
        cx.warnings.push("[movement] has no effect: no node moves".to_string());
    }
    spec
}

/// Why a node cannot move.
fn immovable(node: &NodeSpec, nodes: &Nodes, radios: &Radios) -> Option<String> {
    let kinds = || node.radios.iter().filter_map(|&radio| radios.kinds.get(radio)?.as_ref());
    if let Some((_, radio)) = kinds().find(|(_, radio)| radio.propagation == Propagation::Matrix) {
        let in_building = nodes.gains.iter().any(|(_, a, b, _)| [a, b].contains(&&node.id));
        let given_by = if in_building {
            "the building of [nodes], for the nodes where they are placed"
        } else {
            "[[gain]], wherever the node is"
        };
        return Some(format!(
            "what radio {} receives is given by {given_by}; expected a propagation that depends on distance, such as \"two-ray\", or no \
             movement",
            quoted(&radio.name)
        ));
    }
    node.radios.is_empty().then(|| "a node without a radio; nothing depends on where it is".to_string())
}

/// The path of a node while its knots are computed. Times are in ns, positions in m.
struct PathBuilder {
    knots: Vec<Knot>,
    /// When the node last set out for a waypoint.
    set_out: u64,
    /// When the node has arrived and its pause is over.
    free: u64,
    position: [f64; 3],
}

impl PathBuilder {
    fn knot(&mut self, at: u64, position: [f64; 3]) {
        let knot = Knot { at: Time(at), position };
        if self.knots.last() != Some(&knot) {
            self.knots.push(knot);
        }
    }

    /// Ends the current leg or pause at `at`, which is not before the node set out.
    fn interrupt(&mut self, at: u64) {
        if let [.., from, to] = self.knots.as_slice()
            && from.at.0 <= at
            && at < to.at.0
        {
            let share = (at - from.at.0) as f64 / (to.at.0 - from.at.0) as f64;
            self.position = [0, 1, 2].map(|i| from.position[i] + (to.position[i] - from.position[i]) * share);
            self.knots.pop();
        }
        self.free = at;
    }

    /// Adds the leg to a waypoint.
    ///
    /// # Errors
    /// The key that is wrong and the problem.
    fn travel(&mut self, waypoint: &WaypointTable) -> Result<(), (&'static str, String)> {
        if let Some(at) = waypoint.at {
            if at.0 < self.set_out {
                let above = Span(self.set_out).write();
                let problem = format!(
                    "{}: it sets out to the one above at {above}; expected a later moment",
                    at.write()
                );
                return Err(("at", problem));
            }
            self.interrupt(at.0);
        }
        let leave = self.free;
        self.set_out = leave;
        let Goal([x, y], z) = waypoint.to;
        let to = [x, y, z.unwrap_or(self.position[2])];
        let way: f64 = [0, 1, 2].map(|i| to[i] - self.position[i]).iter().map(|d| d * d).sum::<f64>().sqrt();
        let arrival = match (waypoint.speed, waypoint.arrive) {
            (Some(_), Some(_)) => {
                return Err(("arrive", "`speed` says how fast it goes; write one of them".to_string()));
            }
            (None, None) => {
                return Err(("speed", format!("missing; expected {}, or `arrive`", Speed::expected())));
            }
            (Some(Speed(speed)), None) if speed <= 0.0 => {
                self.knot(leave, self.position);
                self.free = leave.saturating_add(waypoint.pause.0).min(NEVER);
                return Ok(());
            }
            (Some(Speed(speed)), None) => {
                let takes = (way / speed * SECOND).round() as u64;
                leave.saturating_add(takes.max(u64::from(way > 0.0))).min(NEVER)
            }
            (None, Some(arrive)) => {
                if arrive.0 < leave || arrive.0 == leave && way > 0.0 {
                    let problem = format!(
                        "{}: it sets out at {}; expected a later moment",
                        arrive.write(),
                        Span(leave).write()
                    );
                    return Err(("arrive", problem));
                }
                arrive.0
            }
        };
        self.knot(leave, self.position);
        self.knot(arrival, to);
        self.position = to;
        self.free = arrival.saturating_add(waypoint.pause.0).min(NEVER);
        Ok(())
    }
}

fn resolve_way(
    way: &PathTable,
    node: usize,
    start: [f64; 3],
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) -> Option<PathSpec> {
    let path = path.child("waypoints");
    if way.waypoints.is_empty() {
        cx.error(way.locations.of("waypoints"), &path, || {
            "empty; expected at least one waypoint".to_string()
        });
        return None;
    }
    let mut builder = PathBuilder { knots: Vec::new(), set_out: 0, free: 0, position: start };
    for (i, Waypoint(waypoint)) in way.waypoints.iter().enumerate() {
        let fail = |key: &str, problem: String, cx: &mut Cx<'_>| {
            cx.error(waypoint.locations.of(key), &path.child(&i.to_string()).child(key), || problem);
        };
        let moment = [("at", waypoint.at.filter(|_| i > 0)), ("arrive", waypoint.arrive)];
        if let (true, Some((key, _))) = (way.repeat, moment.iter().find(|m| m.1.is_some())) {
            let problem = "a moment in a way that repeats; expected `speed` and `pause`".to_string();
            fail(key, problem, cx);
            return None;
        }
        let refused = |key: &str, read: bool| waypoint.locations.has(key) && !read;
        if refused("speed", waypoint.speed.is_some()) || refused("arrive", waypoint.arrive.is_some()) {
            // The value was refused, and its error is noted.
            return None;
        }
        if let Err((key, problem)) = builder.travel(waypoint) {
            fail(key, problem, cx);
            return None;
        }
        if builder.free >= NEVER && i + 1 < way.waypoints.len() && way.waypoints[i + 1].0.at.is_none() {
            fail(
                "speed",
                "it never arrives; expected a higher speed, or `at` in the next waypoint".to_string(),
                cx,
            );
            return None;
        }
    }
    let mut repeat_from = None;
    if way.repeat {
        let begins = builder.free;
        builder.knot(begins, builder.position);
        repeat_from = Some(builder.knots.len() - 1);
        for Waypoint(waypoint) in &way.waypoints {
            let again = WaypointTable { at: None, ..waypoint.clone() };
            // The first round has had no error, and a further one has none.
            builder.travel(&again).ok()?;
        }
        builder.knot(builder.free, builder.position);
        if builder.free >= NEVER || builder.free - begins < ROUND.0 {
            cx.error(way.locations.of("repeat"), &path, || {
                format!(
                    "a round takes {}; expected at least {}",
                    Span(builder.free - begins).write(),
                    ROUND.write()
                )
            });
            return None;
        }
    }
    Some(PathSpec { node, knots: builder.knots.into(), repeat_from })
}
