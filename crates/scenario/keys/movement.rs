//! The keys of `[movement]` and of a node's `movement`.

use airfair_units::{Meters, Span, Speed};

use crate::declare::field::{Field, LONGEST};
use crate::declare::schema::Schema;
use crate::declare::table::{TableDoc, inline_table, table};
use crate::keys::network::Position;
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::{Located, Value};

/// Highest speed of a node.
pub(crate) const FASTEST: Speed = Speed(100_000.0);

table! {
    /// Movement of nodes. Static routes stay as they are at the start of a run. Nodes whose radios have measured gains cannot move.
    struct MovementTable {
        /// A movement file of ns-2 (`$ns_ at 2.0 "$node_(3) setdest 90.0 45.0 1.5"`) or of BonnMotion, relative to the folder of the
        /// scenario. A node without a `position` starts at its first coordinates in the file.
        file: String = computed("none");
        /// Prefix of names: node 3 of the file is the node whose name is the prefix and 3.
        prefix: String = computed("nothing");
        /// Least time between two updates of the powers that other nodes receive from a moving node.
        refresh_interval: Span = default(Span::from_millis(100)), in Span::from_millis(1)..=Span::from_secs(3600);
        /// Least distance between two such updates, unless the node stops before.
        refresh_distance: Meters = default(Meters(1.0)), in Meters(0.0)..=Meters(1e7);
    }
}

table! {
    /// The path of a node from its `position`.
    struct PathTable {
        /// Waypoints in their order: `[{ to = ["350 m", "0 m"], speed = "10 m/s", pause = "20 s" }]`.
        waypoints: Vec<Waypoint> = required;
        /// The path continues from the last waypoint to the first. Then only the first may have `at`, and none `arrive`.
        repeat: bool = default(false);
    }
}

table! {
    /// A straight leg of a node's path, at constant speed.
    struct WaypointTable {
        /// Time at which the node sets out, even if it has not arrived at the waypoint above.
        at: Span = computed("after the arrival at the waypoint above and its pause"), in Span::ZERO..=LONGEST;
        /// End of the leg: x and y, or x, y and z. Without z the node keeps its height.
        to: Goal = required;
        /// Speed; at 0 m/s the node stays at its position.
        speed: Speed = computed("either this or arrive"), in Speed(0.0)..=FASTEST;
        /// Time of arrival.
        arrive: Span = computed("either this or speed"), in Span::ZERO..=LONGEST;
        /// Pause after the arrival.
        pause: Span = default(Span::ZERO), in Span::ZERO..=LONGEST;
    }
}

/// The pages of the reference.
pub(crate) fn docs() -> Vec<TableDoc> {
    vec![
        PathTable::doc("movement of a node".to_string()),
        WaypointTable::doc("waypoints".to_string()),
        MovementTable::doc("[movement]".to_string()),
    ]
}

/// `{ waypoints = [...], repeat = true }`.
#[derive(Debug, Clone)]
pub(crate) struct Way(pub PathTable);
inline_table!(
    Way,
    PathTable,
    "{ waypoints = [{ to = [\"350 m\", \"0 m\"], speed = \"10 m/s\" }] }",
    write_way
);

/// A waypoint, `{ to = ["350 m", "0 m"], speed = "10 m/s" }`.
#[derive(Debug, Clone)]
pub(crate) struct Waypoint(pub WaypointTable);
inline_table!(Waypoint, WaypointTable, "{ to = [\"350 m\", \"0 m\"], speed = \"10 m/s\" }");

/// A path as TOML, with a line for each waypoint.
fn write_way(way: &PathTable) -> String {
    let lines: String = way.waypoints.iter().map(|w| format!("  {},\n", w.write())).collect();
    format!("{{ waypoints = [\n{lines}], repeat = {} }}", way.repeat)
}

/// The position of a waypoint, m: x and y, and z if it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Goal(pub [f64; 2], pub Option<f64>);

impl Field for Goal {
    const TYPE: &'static str = "position";

    fn expected() -> String {
        Position::expected()
    }

    fn schema() -> Schema {
        Position::schema()
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let Position([x, y, z]) = Position::read(item, path, cx)?;
        let flat = matches!(&item.value, Value::List(items) if items.len() == 2);
        Some(Self([x, y], (!flat).then_some(z)))
    }

    fn write(&self) -> String {
        let Self([x, y], z) = *self;
        [Some(x), Some(y), z].into_iter().flatten().map(Meters).collect::<Vec<_>>().write()
    }
}

impl MovementTable {
    /// True if the file has any key of `[movement]`.
    pub fn is_written(&self) -> bool {
        Self::KEYS.iter().any(|key| self.locations.has(key))
    }
}
