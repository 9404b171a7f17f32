//! Movement of nodes: written in the scenario, and in movement files.

use std::path::PathBuf;

use airfair_scenario::import::{ImportOptions, Part, import};
use airfair_scenario::{Scenario, read, read_file};
use airfair_sim::spec::{Knot, PathSpec};

/// Two nodes, of which the second has this movement.
fn text(movement: &str, more: &str) -> String {
    format!(
        "name = \"walk\"\nduration = \"100 s\"\n[radio]\n[[node]]\nid = \"0\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nid = \"1\"\nposition = [\"100 m\", \"0 m\", \"2 m\"]\n{movement}\n{more}"
    )
}

fn scenario(movement: &str) -> Scenario {
    read(&text(movement, ""), "walk.toml", &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Seconds, x, y, z.
fn knots(path: &PathSpec) -> Vec<(f64, f64, f64, f64)> {
    let knot = |k: &Knot| (k.at.as_secs_f64(), k.position[0], k.position[1], k.position[2]);
    path.knots.iter().map(knot).collect()
}

#[test]
fn waypoints_follow_each_other() {
    let scenario = scenario(
        "movement = { waypoints = [
           { at = \"10 s\", to = [\"100 m\", \"30 m\"], speed = \"3 m/s\", pause = \"5 s\" },
           { to = [\"60 m\", \"0 m\", \"2 m\"], arrive = \"30 s\" },
           { at = \"40 s\", to = [\"60 m\", \"0 m\", \"12 m\"], speed = \"36 km/h\" },
         ] }",
    );
    let paths = &scenario.spec.movement.paths;
    assert_eq!((paths.len(), paths[0].node, paths[0].repeat_from), (1, 1, None));
    // 30 m at 3 m/s; rests until 25 s; arrives at 30 s; 10 m up at 10 m/s. Without z the node keeps its height.
    let expected = [
        (10.0, 100.0, 0.0, 2.0),
        (20.0, 100.0, 30.0, 2.0),
        (25.0, 100.0, 30.0, 2.0),
        (30.0, 60.0, 0.0, 2.0),
        (40.0, 60.0, 0.0, 2.0),
        (41.0, 60.0, 0.0, 12.0),
    ];
    assert_eq!(knots(&paths[0]), expected);
    assert_eq!(scenario.warnings, ["there are no flows: nothing is sent"]);
}

#[test]
fn a_later_waypoint_ends_the_one_above() {
    // The node travels for 10 s of 30 s, pauses, and then continues.
    let scenario = scenario(
        "movement = { waypoints = [
           { at = \"10 s\", to = [\"100 m\", \"30 m\"], speed = \"1 m/s\" },
           { at = \"20 s\", to = [\"0 m\", \"0 m\"], speed = \"0 m/s\", pause = \"5 s\" },
           { to = [\"100 m\", \"0 m\"], speed = \"10 m/s\" },
         ] }",
    );
    let expected = [
        (10.0, 100.0, 0.0, 2.0),
        (20.0, 100.0, 10.0, 2.0),
        (25.0, 100.0, 10.0, 2.0),
        (26.0, 100.0, 0.0, 2.0),
    ];
    assert_eq!(knots(&scenario.spec.movement.paths[0]), expected);
}

#[test]
fn a_way_repeats_from_its_end() {
    let scenario = scenario(
        "movement = { repeat = true, waypoints = [
           { at = \"7 s\", to = [\"100 m\", \"20 m\"], speed = \"10 m/s\", pause = \"3 s\" },
           { to = [\"100 m\", \"10 m\"], speed = \"10 m/s\", pause = \"4 s\" },
         ] }",
    );
    let path = &scenario.spec.movement.paths[0];
    // The first round starts at the node's position; from 17 s on, rounds of 9 s from 10 m to 20 m and back.
    let y: Vec<(f64, f64)> = knots(path).iter().map(|k| (k.0, k.2)).collect();
    assert_eq!(
        y,
        [
            (7.0, 0.0),
            (9.0, 20.0),
            (12.0, 20.0),
            (13.0, 10.0),
            (17.0, 10.0),
            (18.0, 20.0),
            (21.0, 20.0),
            (22.0, 10.0),
            (26.0, 10.0)
        ]
    );
    assert_eq!(path.repeat_from, Some(4));
    let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.spec, scenario.spec);
}

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, file: &str, movements: &str, scenario: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("airfair-movement-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(file), movements).unwrap();
        std::fs::write(folder.join("walk.toml"), scenario).unwrap();
        Self(folder)
    }

    fn read(&self) -> Result<Scenario, String> {
        let read = read_file(&self.0.join("walk.toml"), &[]);
        read.map_err(|e| e.to_string().replace(&self.0.display().to_string(), "folder"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const NS2: &str = "$node_(1) set X_ 100.0\n$node_(1) set Y_ 0.0\n$node_(1) set Z_ 2.0\n\
                   $ns_ at 20.0 \"$node_(1) setdest 100.0 0.0 4.0\"\n\
                   $ns_ at 10.0 \"$node_(1) setdest 100.0 30.0 1.0\"\n\
                   $ns_ at 30.0 \"$node_(1) setdest 70.0 40.0 0.0\"\n";

#[test]
fn a_movement_file_is_the_way_that_is_written() {
    let written = scenario(
        "movement = { waypoints = [
           { at = \"10 s\", to = [\"100 m\", \"30 m\"], speed = \"1 m/s\" },
           { at = \"20 s\", to = [\"100 m\", \"0 m\"], speed = \"4 m/s\" },
           { at = \"30 s\", to = [\"70 m\", \"40 m\"], speed = \"0 m/s\" },
         ] }",
    );
    let file = "[movement]\nfile = \"walk.tcl\"\n";
    let ns2 = Folder::new("ns2", "walk.tcl", NS2, &text("", file)).read().unwrap();
    assert_eq!(ns2.spec, written.spec);
    // The complete form does not refer to another file.
    let again = read(&ns2.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.spec, written.spec);
    // The scenario may have the first position instead of the file.
    let legs: String = NS2.split_inclusive('\n').filter(|line| line.starts_with("$ns_")).collect();
    let only_legs = Folder::new("legs", "walk.tcl", &legs, &text("", file)).read().unwrap();
    assert_eq!(only_legs.spec, written.spec);
    // The file's position is used if none is written; names may have a prefix.
    let bare = text("", &format!("{file}prefix = \"n\"\n"))
        .replace("id = \"1\"\nposition = [\"100 m\", \"0 m\", \"2 m\"]", "id = \"n1\"");
    let named = Folder::new("named", "walk.tcl", NS2, &bare).read().unwrap();
    assert_eq!(named.spec.movement, written.spec.movement);
    assert_eq!(named.spec.nodes[1].position, [100.0, 0.0, 2.0]);

    // BonnMotion gives times of arrival, ns-2 speeds, and both are the same path: 10 m in 10 s, and back at 4 m/s.
    let rows = "0 0 0\n10 100 0 20 100 10 22.5 100 0\n";
    let flat = text("", file).replace(", \"2 m\"]", "]");
    let bonnmotion = Folder::new("bonn", "walk.tcl", rows, &flat).read().unwrap();
    let places =
        |s: &Scenario| knots(&s.spec.movement.paths[0]).iter().map(|k| (k.0, k.1, k.2)).collect::<Vec<_>>();
    assert_eq!(places(&bonnmotion), places(&written)[..3]);

    // An import has the same numbers, digit by digit.
    let more = NS2.to_string() + "$node_(0) set X_ 0.0\n";
    let done =
        import(&[Part { name: "walk.tcl", bytes: more.as_bytes() }], &ImportOptions::default()).unwrap();
    assert_eq!(done.report.rejected, vec![]);
    let imported = read(&done.scenario, "imported.toml", &[]).unwrap();
    let moved = &imported.spec.movement.paths;
    assert_eq!(imported.spec.nodes[moved[0].node].id, "1");
    assert_eq!(moved[0].knots, written.spec.movement.paths[0].knots);
}

#[test]
fn a_movement_file_that_does_not_fit_is_refused() {
    let errors = |name: &str, movements: &str, movement: &str| {
        Folder::new(name, "walk.tcl", movements, &text(movement, "[movement]\nfile = \"walk.tcl\"\n"))
            .read()
            .unwrap_err()
    };
    let at = "folder/walk.toml:12: movement.file: \"walk.tcl\"";
    assert_eq!(
        errors("place", &NS2.replace("Y_ 0.0", "Y_ 1.0"), ""),
        format!(
            "{at}: node \"1\" begins at [\"100 m\", \"1 m\", \"2 m\"], but its position is [\"100 m\", \"0 m\", \"2 m\"]; expected one of \
             them"
        )
    );
    let bare = text("", "[movement]\nfile = \"walk.tcl\"\n")
        .replace("\nposition = [\"100 m\", \"0 m\", \"2 m\"]", "");
    let bare = Folder::new("start", "walk.tcl", "$ns_ at 1 \"$node_(1) setdest 1 1 1\"\n", &bare);
    assert_eq!(
        bare.read().unwrap_err(),
        "folder/walk.toml:11: movement.file: \"walk.tcl\": node \"1\" has no first position; expected such as $node_(1) set X_ 150.0 \
         in the file, or `position` in the scenario's node"
    );
    let own = "movement = { waypoints = [{ to = [\"0 m\", \"9 m\"], speed = \"1 m/s\" }] }";
    let twice = Folder::new("own", "walk.tcl", NS2, &text(own, "[movement]\nfile = \"walk.tcl\"\n"));
    assert_eq!(
        twice.read().unwrap_err(),
        "folder/walk.toml:12: movement.file: \"walk.tcl\": node \"1\" has a `movement` of its own; expected one of them"
    );
    assert_eq!(
        errors("who", &NS2.replace("_(1)", "_(7)"), ""),
        format!("{at}: node \"7\": there is no node \"7\"")
    );
    assert_eq!(
        errors("lines", "$node_(1) set X_ 100\nwalk\n$ns_ at 1 \"$node_(1) setdest 1 1 -1\"\n", ""),
        format!(
            "{at} line 2: \"walk\"; expected such as $node_(0) set X_ 150.0 or $ns_ at 2.0 \"$node_(0) setdest 3 4 5\"\n{at} line 3: -1 \
             m/s; expected 0 to 100000"
        )
    );
    assert!(errors("what", "<xml>", "").starts_with(&format!("{at}: neither ns-2's lines")));
    let missing = Folder::new("none", "other.tcl", "", &text("", "[movement]\nfile = \"walk.tcl\"\n"));
    assert!(missing.read().unwrap_err().starts_with(&format!("{at}: cannot be read: ")));
}

#[test]
fn movement_without_effect_causes_a_warning() {
    let still = read(&text("", "[movement]\nrefresh_distance = \"2 m\"\n"), "walk.toml", &[]).unwrap();
    assert_eq!(still.warnings[0], "[movement] has no effect: no node moves");
    assert!(!scenario("").resolved.contains("[movement]"));
    assert_eq!(scenario("").spec.movement.paths, vec![]);
}

/// A script that writes speed 0 for every step: the node never leaves its first position.
#[test]
fn a_movement_that_never_arrives_is_a_warning() {
    let movements = "$ns_ at 1.0 \"$node_(1) setdest 120.0 0.0 0\"\n$ns_ at 2.0 \"$node_(1) setdest 100.0 0.0 0\"\n\
                     $ns_ at 3.0 \"$node_(1) setdest 140.0 0.0 0.0\"\n";
    let placed = format!("$node_(1) set X_ 100.0\n$node_(1) set Y_ 0.0\n$node_(1) set Z_ 2.0\n{movements}");
    let folder = Folder::new("never", "walk.tcl", &placed, &text("", "[movement]\nfile = \"walk.tcl\"\n"));
    let warnings = folder.read().unwrap().warnings;
    let expected = "movement.file: \"walk.tcl\": 2 movements with speed 0 to another place: never arrive";
    assert!(warnings.iter().any(|w| w == expected), "{warnings:?}");
}
