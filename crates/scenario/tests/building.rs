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
    let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.spec, scenario.spec);
    let light = read(&building(MATRIX, "wall = \"3.4 dB\""), "house.toml", &[]).unwrap();
    let sum = |s: &airfair_scenario::Scenario| s.spec.gains.iter().map(|g| g.gain.0).sum::<f64>();
    assert!(sum(&light) > sum(&scenario) + 100.0, "thin walls");
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
    let wide = building(MATRIX, "").replace("\"5 m\"", "\"5 km\"");
    let errors = read(&wide, "house.toml", &[]).unwrap_err().to_string();
    assert_eq!(errors, "house.toml:10: nodes.room: out of range; expected \"0 m\" to \"1000 m\"");
}
