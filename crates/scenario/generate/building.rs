//! Buildings, `[nodes] kind = "building"`: nodes in rooms on floors, and the path gains that walls and floors leave between them.

use airfair_sim::air::propagation::{gain_at, shadowing_of_pair};
use airfair_sim::spec::Propagation;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Db, Meters, math};

use crate::keys::network::BuildingTable;

/// Path-loss exponent of free space.
const FREE_SPACE: f64 = 2.0;
/// The empirical exponent of COST 231 for several floors.
const SEVERAL_FLOORS: f64 = 0.46;
/// Part of a side by which a position may be beyond it, for rounding.
const ROUNDING: f64 = 1e-9;
/// Most nodes of a building whose walls take power away: each pair is computed.
const MOST_NODES: usize = 2000;
/// Most pairs of nodes with a gain: the complete form of a scenario must fit in a file.
const MOST_PAIRS: usize = 100_000;

/// How many nodes a building has.
pub(crate) fn count(t: &BuildingTable) -> u64 {
    (0..t.floors).map(|floor| on_floor(t, floor)).fold(0, u64::saturating_add)
}

/// The key of a building that contradicts another one, and why.
pub(crate) fn problem(t: &BuildingTable) -> Option<(&'static str, String)> {
    let list = t.per_floor.as_ref()?;
    let (floors, given) = (t.floors as usize, list.len());
    let problem = if t.locations.has("per_room") {
        "contradicts per_room; expected one of them".to_string()
    } else if given != floors {
        let noun = if given == 1 { "number" } else { "numbers" };
        format!("{given} {noun} of nodes; expected one for each of {floors} floors")
    } else if count(t) == 0 {
        "no floor has a node; expected at least one node".to_string()
    } else {
        return None;
    };
    Some(("per_floor", problem))
}

/// A key besides walls and floors by which gains differ from those of free space.
pub(crate) fn key_of_gains(t: &BuildingTable) -> Option<&'static str> {
    match t {
        _ if (t.exponent - FREE_SPACE).abs() > 0.0 => Some("exponent"),
        _ if t.shadowing.0 > 0.0 => Some("shadowing"),
        _ => None,
    }
}

/// How many rooms a floor has.
fn rooms_of_floor(t: &BuildingTable) -> u64 {
    u64::from(t.rows) * u64::from(t.columns)
}

/// How many nodes a floor has.
fn on_floor(t: &BuildingTable, floor: u32) -> u64 {
    match &t.per_floor {
        Some(list) => list.get(floor as usize).map_or(0, |&nodes| u64::from(nodes)),
        None => rooms_of_floor(t).saturating_mul(u64::from(t.per_room)),
    }
}

/// The room of each node: floor, row and column.
fn rooms(t: &BuildingTable) -> Vec<[u32; 3]> {
    let total = u128::from(rooms_of_floor(t));
    let columns = u128::from(t.columns.max(1));
    let of_floor = |floor: u32| {
        let nodes = u128::from(on_floor(t, floor));
        (0..nodes).map(move |node| {
            let number = node * total / nodes;
            // Both are below a `u32`: `number` is below the number of rooms.
            [floor, (number / columns) as u32, (number % columns) as u32]
        })
    };
    (0..t.floors).flat_map(of_floor).collect()
}

/// The position of each node, m.
pub(crate) fn positions(t: &BuildingTable) -> Vec<[f64; 3]> {
    let mut stream = Stream::new(t.seed, "building", Purpose::Placement);
    let place = |[floor, row, column]: [u32; 3]| {
        let x = (f64::from(column) + stream.uniform()) * t.room[0].0;
        let y = (f64::from(row) + stream.uniform()) * t.room[1].0;
        [x, y, f64::from(floor) * t.height.0]
    };
    rooms(t).into_iter().map(place).collect()
}

/// A node of a building, generated or written: its name, its room (floor, row and column) and its position, m.
pub(crate) struct Placed {
    pub name: String,
    pub room: [u32; 3],
    pub position: [f64; 3],
}

/// The generated nodes, given by name and position, with their rooms.
pub(crate) fn generated(t: &BuildingTable, nodes: &[(String, [f64; 3])]) -> Vec<Placed> {
    let placed = |(room, (name, position)): ([u32; 3], &(String, [f64; 3]))| Placed {
        name: name.clone(),
        room,
        position: *position,
    };
    rooms(t).into_iter().zip(nodes).map(placed).collect()
}

/// The room of a written position: floor, row and column. A wall or a floor belongs to the room beyond, an outer wall and the roof to
/// the last room.
///
/// # Errors
/// If the position is outside, with the extent of the building.
pub(crate) fn room_of(t: &BuildingTable, position: [f64; 3]) -> Result<[u32; 3], String> {
    let axes = [(t.columns, t.room[0].0), (t.rows, t.room[1].0), (t.floors, t.height.0)];
    let mut cells = [0; 3];
    for ((cell, (count, side)), at) in cells.iter_mut().zip(axes).zip(position) {
        // The height of a floor is a rounded product.
        let sides = at / side + ROUNDING;
        if !(sides >= 0.0 && sides <= f64::from(count) + 2.0 * ROUNDING) {
            let to = axes.map(|(count, side)| Meters(f64::from(count) * side));
            return Err(format!(
                "outside the building; expected x from 0 m to {}, y from 0 m to {} and z from 0 m to {}, or no position and a \
                 [[gain]] to each node that hears this one",
                to[0], to[1], to[2]
            ));
        }
        *cell = (sides as u32).min(count.saturating_sub(1));
    }
    let [column, row, floor] = cells;
    Ok([floor, row, column])
}

/// Every pair of nodes with a gain of at least `least`, and the gain, dB to a hundredth.
///
/// # Errors
/// If there are too many.
pub(crate) fn gains(
    t: &BuildingTable,
    nodes: &[Placed],
    frequency_hz: f64,
    least: Db,
) -> Result<Vec<(usize, usize, Db)>, String> {
    if nodes.len() > MOST_NODES {
        let n = nodes.len();
        return Err(format!("{n} nodes between which walls are counted; expected at most {MOST_NODES}"));
    }
    let mut gains = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        for (j, other) in nodes.iter().enumerate().skip(i + 1) {
            let shadow = shadowing_of_pair(t.shadowing, t.shadowing_seed, &node.name, &other.name);
            // No gain is above 60 dB, the most that a file may have, unless shadowing raises it.
            let lost = loss(t, (node.room, node.position), (other.room, other.position), frequency_hz);
            let gain = (shadow.0 - lost).min(60.0);
            if gain < least.0 {
                continue;
            }
            if gains.len() == MOST_PAIRS {
                return Err(format!(
                    "more than {MOST_PAIRS} pairs of nodes hear each other; expected fewer nodes"
                ));
            }
            gains.push((i, j, Db((gain * 100.0).round() / 100.0)));
        }
    }
    Ok(gains)
}

/// The loss between two nodes without shadowing, each given by its room (floor, row, column) and its position (m); dB.
fn loss(
    t: &BuildingTable,
    (a, here): ([u32; 3], [f64; 3]),
    (b, there): ([u32; 3], [f64; 3]),
    frequency_hz: f64,
) -> f64 {
    let squared: f64 = [0, 1, 2].map(|k| (here[k] - there[k]) * (here[k] - there[k])).iter().sum();
    let distance = squared.sqrt();
    let free = -gain_at(&Propagation::FreeSpace { frequency_hz }, distance).0;
    let beyond = 10.0 * (t.exponent - FREE_SPACE) * math::log10(distance.max(1.0));
    // Rooms lie in rows and columns: a straight line crosses as many walls as they are apart.
    let walls = f64::from(a[1].abs_diff(b[1])) + f64::from(a[2].abs_diff(b[2]));
    let floors = f64::from(a[0].abs_diff(b[0]));
    let through = match floors {
        k if k > 0.0 => math::pow(k, (k + 2.0) / (k + 1.0) - SEVERAL_FLOORS) * t.floor.0,
        _ => 0.0,
    };
    free + beyond + walls * t.wall.0 + through
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::location::{At, Locations};

    fn table(floors: u32, rows: u32, columns: u32, per_room: u32) -> BuildingTable {
        BuildingTable {
            locations: Locations::new(At::Line(1)),
            floors,
            rows,
            columns,
            room: [Meters(5.0), Meters(4.0)],
            height: Meters(3.0),
            per_room,
            per_floor: None,
            seed: 1,
            exponent: 2.0,
            shadowing: Db(0.0),
            shadowing_seed: 1,
            wall: Db(6.9),
            floor: Db(18.3),
            prefix: String::new(),
            radios: None,
        }
    }

    fn placed(t: &BuildingTable) -> Vec<Placed> {
        let named = positions(t).into_iter().enumerate().map(|(i, position)| (format!("n{i}"), position));
        generated(t, &named.collect::<Vec<_>>())
    }

    #[test]
    fn nodes_are_in_their_rooms() {
        let t = table(2, 3, 4, 2);
        let (positions, rooms) = (positions(&t), rooms(&t));
        assert_eq!((count(&t), positions.len()), (48, 48));
        assert_eq!([rooms[0], rooms[9], rooms[47]], [[0, 0, 0], [0, 1, 0], [1, 2, 3]]);
        for ([x, y, z], [floor, row, column]) in positions.into_iter().zip(rooms) {
            assert!((x / 5.0).floor() == f64::from(column) && (y / 4.0).floor() == f64::from(row));
            assert!((z - 3.0 * f64::from(floor)).abs() < 1e-9);
        }
    }

    #[test]
    fn nodes_of_a_floor_are_spread_over_its_rooms() {
        let mut t = table(3, 2, 5, 1);
        t.per_floor = Some(vec![20, 13, 4]);
        let rooms = rooms(&t);
        assert_eq!((count(&t), rooms.len()), (37, 37));
        let on = |floor: u32| -> Vec<u32> {
            let of_floor = rooms.iter().filter(|room| room[0] == floor);
            of_floor.map(|[_, row, column]| 5 * row + column).collect()
        };
        assert_eq!(on(0), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]);
        assert_eq!(on(1), [0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9]);
        assert_eq!(on(2), [0, 2, 5, 7]);
        // As many nodes as per_room gives: the same places.
        let mut each = table(2, 3, 4, 2);
        let before = positions(&each);
        each.per_floor = Some(vec![24, 24]);
        assert_eq!(positions(&each), before);
    }

    #[test]
    fn a_position_has_a_room() {
        let mut t = table(3, 2, 4, 1);
        let room = |t: &BuildingTable, x, y, z| room_of(t, [x, y, z]).ok();
        assert_eq!(room(&t, 0.0, 0.0, 0.0), Some([0, 0, 0]));
        assert_eq!(room(&t, 12.5, 5.0, 1.5), Some([0, 1, 2]));
        assert_eq!(room(&t, 5.0, 4.0, 3.0), Some([1, 1, 1]));
        assert_eq!(room(&t, 20.0, 8.0, 9.0), Some([2, 1, 3]));
        for (x, y, z) in
            [(-0.1, 0.0, 0.0), (20.1, 0.0, 0.0), (0.0, 8.1, 0.0), (0.0, 0.0, -3.0), (0.0, 0.0, 9.1)]
        {
            assert_eq!(room(&t, x, y, z), None, "{x} {y} {z}");
        }
        // 7 * 0.7 / 0.7 is less than 7. Each generated position has its room.
        t.height = Meters(0.7);
        t.floors = 40;
        assert_eq!(room(&t, 0.0, 0.0, 7.0 * 0.7), Some([7, 0, 0]));
        for node in placed(&t) {
            assert_eq!(room_of(&t, node.position), Ok(node.room));
        }
    }

    /// By hand, 10 m at 2.4 GHz: free space 60.05 dB; one floor 18.3 dB; two floors 18.3 * 2^(4/3 - 0.46) = 33.5 dB. With an exponent of
    /// 3.5 ten metres cost 15 dB more.
    #[test]
    fn walls_and_floors_add_up() {
        let mut t = table(3, 3, 3, 1);
        let at = |t: &BuildingTable, a: [u32; 3], b: [u32; 3]| {
            loss(t, (a, [0.0; 3]), (b, [10.0, 0.0, 0.0]), 2.4e9)
        };
        let near = |x: f64, y: f64| assert!((x - y).abs() < 0.05, "{x} {y}");
        near(at(&t, [0, 0, 0], [0, 0, 0]), 60.05);
        near(at(&t, [0, 0, 0], [0, 0, 1]), 60.05 + 6.9);
        near(at(&t, [0, 0, 0], [0, 2, 1]), 60.05 + 3.0 * 6.9);
        near(at(&t, [1, 0, 0], [0, 0, 0]), 60.05 + 18.3);
        near(at(&t, [0, 0, 0], [2, 0, 2]), 60.05 + 33.5 + 2.0 * 6.9);
        t.exponent = 3.5;
        near(at(&t, [0, 0, 0], [0, 0, 1]), 60.05 + 15.0 + 6.9);
    }

    #[test]
    fn pairs_without_reception_are_omitted() {
        let t = table(1, 1, 40, 1);
        let all = gains(&t, &placed(&t), 2.4e9, Db(-1e9)).unwrap();
        assert_eq!(all.len(), 40 * 39 / 2);
        let heard = gains(&t, &placed(&t), 2.4e9, Db(-119.0)).unwrap();
        assert!(heard.len() < 400 && heard.iter().all(|(i, j, gain)| j - i <= 9 && gain.0 >= -119.0));
        let many = table(1, 1, 2001, 1);
        assert!(gains(&many, &placed(&many), 2.4e9, Db(0.0)).is_err());
    }

    /// 780 pairs: mean and deviation of the shadowing, from its own seed and not from that of the placement.
    #[test]
    fn shadowing_is_added_for_each_pair() {
        let mut t = table(1, 4, 10, 1);
        let nodes = placed(&t);
        let of = |t: &BuildingTable| -> Vec<f64> {
            gains(t, &nodes, 2.4e9, Db(-1e9)).unwrap().iter().map(|gain| gain.2.0).collect()
        };
        let open = of(&t);
        t.shadowing = Db(4.0);
        let shadowed = of(&t);
        let apart: Vec<f64> = shadowed.iter().zip(&open).map(|(a, b)| a - b).collect();
        let mean = apart.iter().sum::<f64>() / 780.0;
        let deviation = (apart.iter().map(|x| x * x).sum::<f64>() / 780.0).sqrt();
        assert!(mean.abs() < 0.5 && (deviation - 4.0).abs() < 0.4, "{mean} {deviation}");
        t.seed = 2;
        assert_eq!(of(&t), shadowed);
        t.shadowing_seed = 2;
        assert_ne!(of(&t), shadowed);
    }
}
