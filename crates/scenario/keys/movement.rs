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
    /// Movement of nodes. Static routes stay as they are at the start of a run. Nodes whose radios read measured gains cannot move.
    struct MovementTable {
        /// A movement file of ns-2 (`$ns_ at 2.0 "$node_(3) setdest 90.0 45.0 1.5"`) or of BonnMotion, found from the folder of the
        /// scenario. A node without a `position` starts at its first coordinates in the file.
        file: String = computed("none");
        /// The file's node 3 is the node that is named by this and 3.
        prefix: String = computed("nothing");
        /// Least time from one refresh of what others hear of a moving node to the next.
        refresh_interval: Span = default(Span::from_millis(100)), in Span::from_millis(1)..=Span::from_secs(3600);
        /// Least way between two refreshes, unless the node comes to rest before.
        refresh_distance: Meters = default(Meters(1.0)), in Meters(0.0)..=Meters(1e7);
    }
}

table! {
    /// The way of a node, from its `position` on.
    struct PathTable {
        /// Where it goes, one after the other: `[{ to = ["350 m", "0 m"], speed = "10 m/s", pause = "20 s" }]`.
        waypoints: Vec<Waypoint> = required;
        /// After the last waypoint it goes to the first again, and so on. Only the first may have `at`, none `arrive`.
        repeat: bool = default(false);
    }
}

table! {
    /// A straight line of a node's way, at constant speed.
    struct WaypointTable {
        /// It sets out at this moment, even if it is still under way to the waypoint above.
        at: Span = computed("when it has arrived at the waypoint above, and its pause is over"), in Span::ZERO..=LONGEST;
        /// Where it goes: x and y, or x, y and z. Without z it keeps its height.
        to: Goal = required;
        /// Its speed; at 0 m/s it stays where it is.
        speed: Speed = computed("either this or arrive"), in Speed(0.0)..=FASTEST;
        /// The moment of its arrival.
        arrive: Span = computed("either this or speed"), in Span::ZERO..=LONGEST;
        /// How long it rests there.
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

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Waypoint(pub WaypointTable);
inline_table!(Waypoint, WaypointTable, "{ to = [\"350 m\", \"0 m\"], speed = \"10 m/s\" }");

/// A line a waypoint.
fn write_way(way: &PathTable) -> String {
    let lines: String = way.waypoints.iter().map(|w| format!("  {},\n", w.write())).collect();
    format!("{{ waypoints = [\n{lines}], repeat = {} }}", way.repeat)
}

/// A place to go to.
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
    /// Whether the file has any key of `[movement]`.
    pub fn is_written(&self) -> bool {
        Self::KEYS.iter().any(|key| self.locations.has(key))
    }
}
