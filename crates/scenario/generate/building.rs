//! Buildings, `[nodes] kind = "building"`: nodes in rooms on floors, and the path gains that walls and floors leave between them.

use airfair_sim::air::propagation::{gain_at, shadowing_of_pair};
use airfair_sim::spec::Propagation;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Db, math};

use crate::keys::network::BuildingTable;

/// Path-loss exponent of free space.
const FREE_SPACE: f64 = 2.0;
/// The empirical exponent of COST 231 for several floors.
const SEVERAL_FLOORS: f64 = 0.46;
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

/// Every pair of nodes, given by name and position, with a gain of at least `least`, and the gain, dB to a hundredth.
///
/// # Errors
/// If there are too many.
pub(crate) fn gains(
    t: &BuildingTable,
    nodes: &[(String, [f64; 3])],
    frequency_hz: f64,
    least: Db,
) -> Result<Vec<(usize, usize, Db)>, String> {
    if nodes.len() > MOST_NODES {
        let n = nodes.len();
        return Err(format!("{n} nodes between which walls are counted; expected at most {MOST_NODES}"));
    }
    let placed: Vec<_> = rooms(t).into_iter().zip(nodes).enumerate().collect();
    let mut gains = Vec::new();
    for (at, &(i, (room, (name, position)))) in placed.iter().enumerate() {
        for &(j, (other_room, (other, other_position))) in placed.iter().skip(at + 1) {
            let shadow = shadowing_of_pair(t.shadowing, t.shadowing_seed, name, other);
            // No gain is above 60 dB, the most that a file may have, unless shadowing raises it.
            let lost = loss(t, (room, *position), (other_room, *other_position), frequency_hz);
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
    use airfair_units::Meters;

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

    /// Names and positions of the nodes.
    fn placed(t: &BuildingTable) -> Vec<(String, [f64; 3])> {
        positions(t).into_iter().enumerate().map(|(i, position)| (format!("n{i}"), position)).collect()
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
        assert!(gains(&t, &vec![(String::new(), [0.0; 3]); 2001], 2.4e9, Db(0.0)).is_err());
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
