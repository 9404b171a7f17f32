//! A building: the same nodes with and without walls.

use airfair_scenario::read;

fn building(radio: &str, more: &str) -> String {
    format!(
        "name = \"house\"\nduration = \"1 s\"\n[radio]\n{radio}\n[nodes]\nkind = \"building\"\nfloors = 2\nrows = 2\ncolumns = 3\n\
         room = [\"5 m\", \"4 m\"]\n{more}\n[[flow]]\nid = \"f\"\nfrom = \"0\"\nto = \"11\"\ntraffic = {{ kind = \"saturating\" }}\n"
    )
}

const MATRIX: &str = "propagation = { model = \"matrix\" }";

#[test]
fn walls_are_gains_and_the_complete_form_has_them() {
    let scenario = read(&building(MATRIX, ""), "house.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((scenario.spec.nodes.len(), scenario.spec.gains.len()), (12, 12 * 11));
    assert_eq!(scenario.warnings, Vec::<String>::new());
    assert!(!scenario.resolved.contains("# data at"), "with gains, a threshold is no distance");
    let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.spec, scenario.spec);
    let light = read(&building(MATRIX, "wall = \"3.4 dB\""), "house.toml", &[]).unwrap();
    let sum = |s: &airfair_scenario::Scenario| s.spec.gains.iter().map(|g| g.gain.0).sum::<f64>();
    assert!(sum(&light) > sum(&scenario) + 100.0, "thin walls");
}

/// Every run, whatever its seed is, sees one building; the complete form has it.
#[test]
fn floors_differ_and_shadowing_is_part_of_the_gains() {
    let keys = "per_floor = [7, 5]\nexponent = 3.0\nshadowing = \"4 dB\"";
    let scenario = read(&building(MATRIX, keys), "house.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let floors = scenario.spec.nodes.iter().filter(|n| n.position[2] == 0.0).count();
    assert_eq!((scenario.spec.nodes.len(), floors), (12, 7));
    let gain = |s: &airfair_scenario::Scenario, from, to| {
        s.spec.gains.iter().find(|g| (g.from, g.to) == (from, to)).unwrap().gain.0
    };
    assert_eq!(gain(&scenario, 0, 9), gain(&scenario, 9, 0));
    let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.spec, scenario.spec);
    let other = building(MATRIX, &format!("{keys}\nshadowing_seed = 2"));
    let other = read(&other, "house.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(other.spec.nodes, scenario.spec.nodes);
    assert_ne!(gain(&other, 0, 1), gain(&scenario, 0, 1));
}

/// Every pair that is heard at the best factor of the fading has a gain: 10 dB for Rayleigh, five deviations of a log-normal law.
#[test]
fn fading_raises_the_reach_of_a_signal() {
    let wide = "per_room = 4\nexponent = 4.0";
    let gains = |radio: &str| {
        let scenario = read(&building(&format!("{MATRIX}\n{radio}"), wide), "house.toml", &[])
            .unwrap_or_else(|e| panic!("{e}"));
        let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.spec, scenario.spec);
        let radio = &scenario.spec.radios[0].phy;
        let least = scenario.spec.gains.iter().map(|g| g.gain.0).fold(f64::MAX, f64::min);
        (scenario.spec.gains.len(), least - (radio.cutoff.0 - radio.tx_power.0))
    };
    let (all, _) = gains("tx_power = \"0 dBm\"\ncutoff = \"-250 dBm\"");
    assert_eq!(all, 48 * 47);
    // Sparse enough that each bound cuts pairs, dense enough that one is within a decibel of the bound.
    let cutoff = "tx_power = \"0 dBm\"\ncutoff = \"-90 dBm\"";
    let (rest, margin) = gains(cutoff);
    assert!((-0.006..1.0).contains(&margin), "{rest} pairs, {margin} dB");
    let mut before = rest;
    for (fading, best) in [
        ("{ model = \"log-normal\", deviation = \"1 dB\", coherence = \"1 s\" }", 5.0),
        ("{ model = \"rayleigh\", coherence = \"1 s\" }", 10.0),
        ("{ model = \"log-normal\", deviation = \"3 dB\", coherence = \"1 s\" }", 15.0),
    ] {
        let (pairs, margin) = gains(&format!("{cutoff}\nfading = {fading}"));
        assert!(before < pairs && pairs < all, "{fading}: {pairs} pairs after {before}, of {all}");
        assert!((-0.006..1.0).contains(&(margin + best)), "{fading}: {margin} dB");
        before = pairs;
    }
}

#[test]
fn a_written_gain_wins() {
    let text = building(MATRIX, "") + "[[gain]]\nfrom = \"0\"\nto = \"1\"\ngain = \"-50 dB\"\n";
    let scenario = read(&text, "house.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scenario.spec.gains.len(), 12 * 11);
    let find = |from, to| {
        let found: Vec<f64> =
            scenario.spec.gains.iter().filter(|g| (g.from, g.to) == (from, to)).map(|g| g.gain.0).collect();
        assert_eq!(found.len(), 1);
        found[0]
    };
    assert!((find(0, 1) + 50.0).abs() < 1e-9 && find(1, 0) < -50.0);
    let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.spec, scenario.spec);
}

/// By hand: 2.4 GHz, 40.05 dB at 1 m; from the lowest corner of the house to a node that is written.
#[test]
fn a_written_node_is_in_the_room_of_its_position() {
    let own = |id: &str, position: &str| format!("[[node]]\nid = \"{id}\"\nposition = [{position}]\n");
    let read = |text: &str| read(text, "house.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let corner = own("corner", "\"0 m\", \"0 m\"");
    let far = own("far", "\"10 m\", \"0 m\", \"0 m\"");
    let above = own("above", "\"0 m\", \"0 m\", \"3 m\"");
    let scenario = read(&(building(MATRIX, "") + &above + &corner + &far));
    assert_eq!((scenario.spec.nodes.len(), scenario.spec.gains.len()), (15, 15 * 14));
    let gain = |s: &airfair_scenario::Scenario, from: &str, to: &str| {
        let place = |id: &str| s.spec.nodes.iter().position(|node| node.id == id).unwrap();
        s.spec.gains.iter().find(|g| (g.from, g.to) == (place(from), place(to))).unwrap().gain.0
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 0.02, "{a} {b}");
    // 10 m and two walls; 3 m and one floor.
    near(gain(&scenario, "corner", "far"), -(40.05 + 20.0 + 2.0 * 6.9));
    near(gain(&scenario, "above", "corner"), -(40.05 + 9.54 + 18.3));
    // Generated nodes keep their gains, whichever written ones are beside them.
    let alone = read(&building(MATRIX, ""));
    near(gain(&scenario, "3", "7"), gain(&alone, "3", "7"));
    let thick = read(&(building(MATRIX, "floor = \"28.3 dB\"") + &corner));
    near(gain(&scenario, "corner", "8") - gain(&thick, "corner", "8"), 10.0);
    near(gain(&scenario, "corner", "2") - gain(&thick, "corner", "2"), 0.0);
    let again = read(&scenario.resolved);
    assert_eq!(again.spec, scenario.spec);
    // Neither position nor radio: the node has no gains.
    let wired = building(MATRIX, "") + "[[node]]\nid = \"w\"\nposition = [\"99 m\", \"0 m\"]\nradios = []\n";
    assert_eq!(read(&wired).spec.gains.len(), 12 * 11);
    assert_eq!(read(&(building(MATRIX, "") + "[[node]]\nid = \"w\"\n")).spec.gains.len(), 12 * 11);
}

/// The louder radio of a written node reaches farther than those of the generated nodes.
#[test]
fn the_loudest_radio_decides_which_pairs_have_gains() {
    let quiet = format!("{MATRIX}\ntx_power = \"0 dBm\"\ncutoff = \"-90 dBm\"");
    let own = "[[node]]\nid = \"own\"\nposition = [\"1 m\", \"1 m\"]\n";
    let of_own = |text: &str| {
        let spec = read(text, "house.toml", &[]).unwrap_or_else(|e| panic!("{e}")).spec;
        let own = spec.nodes.iter().position(|node| node.id == "own").unwrap();
        spec.gains.iter().filter(|g| g.from == own).count()
    };
    let few = of_own(&(building(&quiet, "wall = \"15 dB\"") + own));
    let loud = format!("[radios.loud]\n{MATRIX}\ntx_power = \"40 dBm\"\ncutoff = \"-90 dBm\"\n");
    let all =
        of_own(&(building(&quiet, "wall = \"15 dB\"") + &loud + own + "radios = [\"default\", \"loud\"]\n"));
    assert!(few < 12 && all == 12, "{few} {all}");
}

#[test]
fn without_a_matrix_there_are_no_walls() {
    let open = building("", "wall = \"0 dB\"\nfloor = \"0 dB\"");
    let scenario = read(&open, "house.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert!(scenario.spec.gains.is_empty() && scenario.warnings.is_empty());
    let errors = read(&building("", ""), "house.toml", &[]).unwrap_err().to_string();
    assert_eq!(
        errors,
        "house.toml:5: nodes: walls and floors are gains, and radio \"default\" reads none; expected propagation = { model = \
         \"matrix\" }, or `wall` and `floor` of \"0 dB\""
    );
}

#[test]
fn mistakes_cause_errors() {
    let error = |more: &str| read(&building(MATRIX, more), "house.toml", &[]).unwrap_err().to_string();
    assert_eq!(
        error("per_room = 200"),
        "house.toml:5: nodes: 2400 nodes between which walls are counted; expected at most 2000"
    );
    assert_eq!(
        error("spacing = \"5 m\""),
        "house.toml:11: nodes.spacing: not a key of kind = \"building\"; it belongs to \"chain\" or \"grid\""
    );
    assert_eq!(
        error("per_floor = [5, 6, 7]"),
        "house.toml:11: nodes.per_floor: 3 numbers of nodes; expected one for each of 2 floors"
    );
    assert_eq!(
        error("per_floor = [5, 7]\nper_room = 2"),
        "house.toml:11: nodes.per_floor: contradicts per_room; expected one of them"
    );
    assert_eq!(
        error("per_floor = [0, 0]"),
        "house.toml:11: nodes.per_floor: no floor has a node; expected at least one node"
    );
    for (line, key) in [("exponent = 3.0", "exponent"), ("shadowing = \"3 dB\"", "shadowing")] {
        let open = building("", &format!("wall = \"0 dB\"\nfloor = \"0 dB\"\n{line}"));
        assert_eq!(
            read(&open, "house.toml", &[]).unwrap_err().to_string(),
            format!(
                "house.toml:13: nodes.{key}: a building's {key} is in its gains, and radio \"default\" reads none; expected \
                 propagation = {{ model = \"matrix\" }}, or `{key}` in propagation = {{ model = \"log-distance\" }}"
            )
        );
    }
    let beyond = building(MATRIX, "") + "[[node]]\nid = \"own\"\nposition = [\"15.5 m\", \"0 m\"]\n";
    assert_eq!(
        read(&beyond, "house.toml", &[]).unwrap_err().to_string(),
        "house.toml:19: node.own.position: outside the building; expected x from 0 m to 15 m, y from 0 m to 8 m and z from 0 m to \
         6 m, or no position and a [[gain]] to each node that hears this one"
    );
    let wide = building(MATRIX, "").replace("\"5 m\"", "\"5 km\"");
    let errors = read(&wide, "house.toml", &[]).unwrap_err().to_string();
    assert_eq!(
        errors,
        "house.toml:10: nodes.room: \"5000 m\": out of range; expected \"0.1 m\" to \"1000 m\""
    );
}
