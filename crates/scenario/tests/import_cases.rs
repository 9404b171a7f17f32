//! Maps, movements and scripts that were once read wrongly or not at all: the right network of each, by arithmetic on the file.

use std::path::PathBuf;

use airfair_scenario::import::{Import, ImportOptions, Part, Reason, import, import_path};
use airfair_scenario::{Scenario, read};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import/cases").join(name)
}

fn imported(name: &str) -> Import {
    import_path(&file(name), &ImportOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn refused(name: &str) -> String {
    let errors = match import_path(&file(name), &ImportOptions::default()) {
        Ok(_) => panic!("{name} reads"),
        Err(errors) => errors.to_string(),
    };
    errors.split_once(&format!("{name}: ")).unwrap().1.to_string()
}

fn text(map: &str, options: &ImportOptions) -> Result<Import, String> {
    import(&[Part { name: "map", bytes: map.as_bytes() }], options).map_err(|e| e.to_string())
}

fn scenario(done: &Import) -> Scenario {
    read(&done.scenario, "imported.toml", &[]).unwrap()
}

/// Nodes, radio links, wires, and nodes of the largest component.
fn counts(done: &Import) -> [usize; 4] {
    let w = &done.report.written;
    [w.nodes, w.radio_links, w.wires, w.largest]
}

fn ids(done: &Import) -> Vec<String> {
    scenario(done).spec.nodes.iter().map(|node| node.id.clone()).collect()
}

/// The first assumption that contains a word.
fn assumed<'a>(done: &'a Import, word: &str) -> Option<&'a str> {
    done.report.assumed.iter().map(String::as_str).find(|words| words.contains(word))
}

#[test]
fn an_alias_is_its_node_in_every_format() {
    let done = imported("olsr-alias.json");
    assert_eq!((counts(&done), done.report.linked), ([3, 2, 0, 3], [2, 3, 3]));
    assert_eq!(ids(&done), ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    let done = imported("olsr-newformat.json");
    assert_eq!((counts(&done), done.report.linked), ([3, 2, 0, 3], [2, 3, 3]));
    let table = "Table: Topology\nDest. IP\tLast hop IP\tLQ\tNLQ\tCost\n10.0.0.2\t10.0.0.1\t1.0\t0.9\t1.1\n10.9.0.2\t10.0.0.3\t1.0\t1.0\t1.0\n\n\
                 Table: MID\nIP address\tAliases\n10.0.0.2\t10.9.0.2\n";
    assert_eq!(text(table, &ImportOptions::default()).map(|done| counts(&done)), Ok([3, 2, 0, 3]));
    // The main address is the name, though only an alias is in the topology.
    let alone = table.replace("10.0.0.2\t10.0.0.1", "10.9.0.2\t10.0.0.1");
    let done = text(&alone, &ImportOptions::default()).unwrap();
    assert_eq!(ids(&done), ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    let netjson = r#"{"type": "NetworkGraph", "protocol": "olsr", "metric": "etx",
        "nodes": [{"id": "b2"}, {"id": "a"}, {"id": "b", "local_addresses": ["b", "b2"]}, {"id": "c"}],
        "links": [{"source": "a", "target": "b", "cost": 1}, {"source": "b2", "target": "c", "cost": 1}]}"#;
    let done = text(netjson, &ImportOptions::default()).unwrap();
    assert_eq!((counts(&done), ids(&done)), ([3, 2, 0, 3], ["a", "b", "c"].map(String::from).to_vec()));
    assert_eq!(done.report.rejected[0].detail, "another address of node b");
    // A LAN address that every router has joins no nodes.
    let lan = netjson.replace("{\"id\": \"c\"}", "{\"id\": \"c\", \"local_addresses\": [\"192.168.1.1\"]}");
    let lan = lan.replace("\"b2\"]", "\"b2\", \"192.168.1.1\"]");
    assert_eq!(text(&lan, &ImportOptions::default()).map(|done| counts(&done)), Ok([3, 2, 0, 3]));
}

#[test]
fn links_and_edges_of_networkx_are_the_same_network() {
    let (edges, links) = (imported("networkx-edges.json"), imported("networkx-links.json"));
    let (a, b) = (scenario(&edges), scenario(&links));
    assert_eq!((&a.spec.nodes, &a.spec.gains, &a.spec.links), (&b.spec.nodes, &b.spec.gains, &b.spec.links));
    assert_eq!((counts(&edges), edges.report.format), ([3, 2, 0, 3], "netjson"));
    assert_eq!(assumed(&edges, "weight"), Some("the weight of 2 links is ETX"));
    // The weights are read as those of GraphML: 1.2 has a higher gain than 3.0.
    let gain = |from: usize| a.spec.gains.iter().find(|g| g.from == from).unwrap().gain.0;
    assert!(gain(0) > gain(2), "{:?}", a.spec.gains);
}

#[test]
fn a_file_of_two_formats_asks_for_one() {
    let map = r#"{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1, "dist": 2.5}]}"#;
    let error = text(map, &ImportOptions::default()).unwrap_err();
    assert_eq!(
        error,
        "map: may be topohub (\"edges\" with \"dist\") or netjson (\"nodes\" with \"links\" or \"edges\"); expected its format, with \
         --format"
    );
    for (format, expected) in [("topohub", [2, 0, 1, 2]), ("netjson", [2, 1, 0, 2])] {
        let mut options = ImportOptions::default();
        options.set("format", format).unwrap();
        let done = text(map, &options).unwrap();
        assert_eq!((counts(&done), done.report.recognised_by), (expected, "--format"), "{format}");
    }
    let mixed = r#"{"vis": [], "topology": []}"#;
    assert!(
        text(mixed, &ImportOptions::default())
            .unwrap_err()
            .contains("batman-vis-json (\"vis\") or olsr-jsoninfo")
    );
}

#[test]
fn the_report_says_how_the_format_was_recognised() {
    for (name, mark) in [
        ("olsr-alias.json", "\"topology\""),
        ("networkx-edges.json", "\"nodes\" with \"links\" or \"edges\""),
        ("aredn-sysinfo-17.json", "\"api_version\" with \"node\""),
        ("nsg2.tcl", "\"new Simulator\" with \"set X_\""),
    ] {
        let report = imported(name).report;
        assert_eq!(report.recognised_by, mark);
        assert!(
            report.text(1).contains(&format!("\nrecognised by: {mark}\n"))
                && report.json().contains("recognised_by")
        );
    }
}

#[test]
fn a_map_that_does_not_say_what_is_radio_says_so() {
    let done = imported("olsr-alias.json");
    assert_eq!(
        assumed(&done, "every link is"),
        Some("every link is radio: olsr-jsoninfo does not say which are cables")
    );
    assert_eq!(assumed(&imported("aredn-nolist.json"), "every link is radio"), None);
}

#[test]
fn libremap_has_the_quality_of_each_direction() {
    let done = imported("libremap.json");
    assert_eq!((counts(&done), done.report.format), ([2, 1, 0, 2], "libremap"));
    assert_eq!(ids(&done), ["aa", "bb"]);
    // aa receives 0.6 of bb, and bb 0.83 of aa: the gain from aa to bb is the higher one.
    let spec = scenario(&done).spec;
    let gain = |from: usize| spec.gains.iter().find(|g| g.from == from).unwrap().gain.0;
    assert!(gain(0) > gain(1), "{:?}", spec.gains);
}

#[test]
fn lines_of_batadv_vis_are_nodes_and_links() {
    let done = imported("batadv-vis-lines.json");
    assert_eq!((counts(&done), done.report.format), ([2, 1, 0, 2], "batadv-vis"));
    let clients: Vec<&str> = done.report.rejected.iter().map(|r| r.record.as_str()).collect();
    assert_eq!(
        (clients, done.report.rejected[0].reason),
        (vec!["client 02:00:00:00:00:09"], Reason::NoRouter)
    );
}

#[test]
fn an_aredn_node_has_names_a_location_radio_and_cables() {
    let own = imported("aredn-nolist.json");
    assert_eq!((counts(&own), own.report.format), ([3, 1, 1, 3], "aredn"));
    assert_eq!(ids(&own), ["AB1CD-hill", "AB1CD-farm", "AB1CD-shack"]);
    // With olsrd's topology in the same file: the one link of the topology is known already.
    let both = imported("aredn-sysinfo-17.json");
    assert_eq!((counts(&both), both.report.format), ([3, 1, 1, 3], "aredn"));
    let detail: Vec<&str> = both.report.rejected.iter().map(|r| r.detail.as_str()).collect();
    assert_eq!(detail, ["in link_info, too"]);
    let spec = scenario(&both).spec;
    assert_eq!((&spec.gains, &spec.links), (&scenario(&own).spec.gains, &scenario(&own).spec.links));
    // The radio link with the measured -70 dBm: 20 dBm less 90 dB, from the farm to the hill.
    let mut options = ImportOptions::default();
    options.set("link-model", "signal").unwrap();
    let done = import_path(&file("aredn-nolist.json"), &options).unwrap();
    let gain = scenario(&done).spec.gains.iter().find(|g| (g.from, g.to) == (1, 0)).unwrap().gain.0;
    assert!((gain + 90.0).abs() < 1e-9, "{gain}");
    let none = r#"{"node": "a", "api_version": "1.5", "lat": "", "lon": "", "meshrf": {}, "interfaces": []}"#;
    let error = text(none, &ImportOptions::default()).unwrap_err();
    assert_eq!(
        error,
        "map: AREDN sysinfo without link_info, its links; expected the answer to sysinfo?link_info=1"
    );
}

#[test]
fn two_files_of_freifunk_are_one_network() {
    for part in ["ffmap", "ffmap/nodes.json", "ffmap/graph.json"] {
        let done = imported(part);
        assert_eq!((counts(&done), done.report.format), ([3, 2, 0, 3], "ffmap"), "{part}");
        assert_eq!(ids(&done), ["n0", "n1", "n2"]);
        assert!(done.scenario.contains("# h0"));
        // 0.002 degrees of latitude are 222 m.
        let spec = scenario(&done).spec;
        let [a, .., c] = &spec.nodes[..] else { panic!("no nodes") };
        assert!((c.position[1] - a.position[1] - 222.4).abs() < 0.5, "{:?}", c.position);
        assert!(done.report.noted.is_empty(), "every node has a location of its own");
    }
    let bytes = std::fs::read(file("ffmap/nodes.json")).unwrap();
    let alone = import(&[Part { name: "nodes.json", bytes: &bytes }], &ImportOptions::default());
    let error = alone.unwrap_err().to_string();
    assert!(
        error.ends_with("no graph, which has the links; expected graph.json beside nodes.json"),
        "{error}"
    );
}

#[test]
fn a_script_has_nodes_and_flows() {
    let done = imported("nsg2.tcl");
    let w = &done.report.written;
    assert_eq!((w.nodes, w.flows, w.file_flows, done.report.format), (3, 0, 1, "ns2-script"));
    let spec = scenario(&done).spec;
    assert_eq!(ids(&done), ["n0", "n1", "n2"]);
    assert_eq!(spec.flows.len(), 1);
    assert_eq!((&spec.flows[0].id[..], spec.flows[0].from, spec.flows[0].to), ("tcp0", 0, 2));
    assert!(assumed(&done, "without an application").is_some());
}

#[test]
fn a_movement_that_never_arrives_is_reported() {
    // The node stands at 156.5 m, its last position: of the three movements two lead elsewhere.
    let done = imported("python-fcd.tcl");
    let of = |reason| done.report.noted.iter().filter(|r| r.reason == reason).count();
    assert_eq!((of(Reason::NeverArrives), of(Reason::PositionAgain)), (2, 2));
    let report = done.report.text(1);
    assert!(report.contains("  2 a movement with speed 0 to another place: never arrives\n"), "{report}");
    // Its cars stop where they stand.
    let sumo = imported("sumo.tcl");
    assert!(sumo.report.noted.is_empty(), "{:?}", sumo.report.noted);
    assert_eq!(
        assumed(&sumo, "first movement"),
        Some("1 of 2 nodes is there before its first movement, from 0 s on; node 1: first movement at 50 s")
    );
}

#[test]
fn a_file_of_another_program_is_refused_by_its_looks() {
    for (name, looks) in [
        (
            "omnet.ini",
            "no known format; it is an INI file that begins with \"[General]\", as OMNeT++'s and others are; ",
        ),
        ("core.xml", "no known format; it is XML of <scenario>, as CORE writes; "),
        ("wm.cfg", "no known format; it is a libconfig file that begins with ifaces, as wmediumd's are; "),
    ] {
        let error = refused(name);
        assert!(error.starts_with(looks) && error.contains("looked for JSON"), "{name}: {error}");
    }
    for (map, looks) in [
        ("digraph topology {\n", "it is a graph in DOT"),
        ("a,b,c\n1,2,3\n", "it is a table with commas that begins with \"a,b,c\""),
        (
            "{\"type\": \"FeatureCollection\", \"features\": []}",
            "it is JSON, GeoJSON, with the keys features, type",
        ),
        ("{\"a\": 1}\n{\"b\": 2}\n", "it has a JSON object on each line"),
        ("set ns [new Simulator]\n", "it is an ns-2 script without the coordinates of a node"),
        ("", "it is empty"),
        ("[3]", "it is a JSON list"),
    ] {
        let error = text(map, &ImportOptions::default()).unwrap_err();
        assert!(error.starts_with(&format!("map: no known format; {looks}")), "{map}: {error}");
    }
    assert!(text("[tru]", &ImportOptions::default()).unwrap_err().contains("INI"));
    assert!(text("[1, 2", &ImportOptions::default()).unwrap_err().starts_with("map: not JSON: "));
}

#[test]
fn a_description_counts_one_node() {
    let done = text("$node_(0) set X_ 1\n", &ImportOptions::default()).unwrap();
    assert!(done.scenario.contains("description = \"1 node and 0 radio links of map\""), "{}", done.scenario);
}

/// On a line, a star and a ring of four some neighbours of a node do not hear each other; in a triangle, beside another one, all do. The
/// example depends on names only.
#[test]
fn rts_and_cts_precede_data_where_neighbours_of_a_node_do_not_hear_each_other() {
    let map = |links: &[(&str, &str)]| {
        let link = |(a, b): &(&str, &str)| format!(r#"{{"source": "{a}", "target": "{b}", "cost": 1}}"#);
        let mut ids: Vec<&str> = links.iter().flat_map(|&(a, b)| [b, a]).collect();
        ids.sort_by(|a, b| b.cmp(a));
        ids.dedup();
        let nodes: Vec<String> = ids.iter().map(|id| format!(r#"{{"id": "{id}"}}"#)).collect();
        let links: Vec<String> = links.iter().map(link).collect();
        let head = r#"{"type": "NetworkGraph", "protocol": "olsr", "metric": "etx", "nodes""#;
        let map = format!("{head}: [{}], \"links\": [{}]}}", nodes.join(", "), links.join(", "));
        text(&map, &ImportOptions::default()).unwrap()
    };
    let set = |done: &Import| done.scenario.contains("\nrts_threshold = \"0 B\"");
    for (links, pair) in [
        (&[("b", "a"), ("c", "b")][..], "a and c beside b"),
        (&[("c", "b"), ("a", "b")], "a and c beside b"),
        (&[("hub", "z"), ("hub", "y"), ("hub", "x")], "x and y beside hub"),
        (&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], "a and c beside b"),
    ] {
        let done = map(links);
        let words = assumed(&done, "RTS").unwrap_or_else(|| panic!("{links:?}"));
        assert!(words.ends_with(pair) && set(&done), "{links:?}: {words}");
    }
    // Of three that all exchange frames with 2, the third does not hear the first.
    let matrix = "Tx⟍Rx     1     2     3\n   1 |  nan   -60   -60\n   2 |  -60   nan   -60\n   3 |  nan   -60   nan\n";
    let done = text(matrix, &ImportOptions::default()).unwrap();
    assert!(set(&done), "{:?}", done.report.assumed);
    let triangles = [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "z"), ("z", "x"), ("p", "q")];
    let done = map(&triangles);
    assert!(!set(&done) && assumed(&done, "RTS").is_none());
}

/// A map without measured powers has none, whatever is asked for; a scenario without flows is told to be one.
#[test]
fn powers_that_nobody_measured_are_not_called_measured() {
    let mut options = ImportOptions::default();
    options.set("link-model", "signal").unwrap();
    let done = import_path(&file("networkx-edges.json"), &options).unwrap();
    let by_delivery = imported("networkx-edges.json");
    assert_eq!(scenario(&done).spec.gains, scenario(&by_delivery).spec.gains);
    assert!(
        assumed(&done, "no link has a measured power").is_some()
            && assumed(&done, "measured powers of").is_none()
    );
    // Two links, one of them measured at one end, which counts for both ways; the other is not of the largest component.
    let map = r#"{"type": "NetworkGraph", "protocol": "olsr", "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}, {"id": "e"}],
        "links": [{"source": "a", "target": "b", "cost": 1}, {"source": "b", "target": "c", "cost": 1},
        {"source": "d", "target": "e", "cost": 1}]}"#;
    assert!(assumed(&text(map, &options).unwrap(), "no link has a measured power").is_some());
    let matrix = "Tx⟍Rx     1     2     3     4\n   1 |  nan   -60   nan   nan\n   2 |  -61   nan   nan   nan\n   3 |  nan   nan   nan   -70\n   4 |  nan   nan   -71   nan\n";
    for (largest, directions) in [("false", 4), ("true", 2)] {
        let mut options = ImportOptions::default();
        options.set("largest", largest).unwrap();
        let done = text(matrix, &options).unwrap();
        let words = format!(
            "the measured powers of {directions} directions are received as they stand, whatever radio measured them"
        );
        assert_eq!(assumed(&done, "measured powers of"), Some(&words[..]));
        assert_eq!(assumed(&done, "other directions"), None);
    }
    let report = done.report.text(5);
    assert!(report.ends_with("\nno flows: nothing will be sent; --flows 10 draws ten\n"), "{report}");
    options.set("flows", "1").unwrap();
    let report = import_path(&file("networkx-edges.json"), &options).unwrap().report.text(5);
    assert!(!report.contains("no flows"), "{report}");
}

/// Two answers locate the same neighbour differently: the order of the answers decides nothing.
#[test]
fn the_order_of_aredn_answers_moves_no_node() {
    let answer = |name: &str, latitude: f64| {
        format!(
            r#"{{"node": "{name}", "api_version": "1.11", "lat": "47.0{}", "lon": "8.0",
            "link_info": {{"10.0.0.9": {{"hostname": "far", "linkType": "RF", "linkQuality": 1, "neighborLinkQuality": 1}}}},
            "lqm": {{"enabled": true, "info": {{"trackers": {{"x": {{"hostname": "far", "ip": "10.0.0.9",
            "lat": {latitude}, "lon": 8.0}}}}}}}}}}"#,
            name.len()
        )
    };
    let (a, b) = (answer("a", 47.05), answer("bb", 47.09));
    let of = |first: &str, second: &str| {
        let done = text(&format!("[{first}, {second}]"), &ImportOptions::default()).unwrap();
        let nodes = scenario(&done).spec.nodes;
        let at = |id: &str| nodes.iter().find(|node| node.id == id).unwrap().position[1];
        at("far") - at("a")
    };
    let (there, back) = (of(&a, &b), of(&b, &a));
    assert!((there - back).abs() < 1e-6, "{there} {back}");
    // 47.05 by the first name, less 47.01: 0.04 degrees of 111.2 km.
    assert!((there - 4448.0).abs() < 5.0, "{there}");
}

#[test]
fn flows_of_a_script_after_the_end_of_the_run_are_named() {
    let script = std::fs::read_to_string(file("nsg2.tcl")).unwrap();
    let late =
        script + "\nset ftp0 [new Application/FTP]\n$ftp0 attach-agent $tcp0\n$ns at 75.0 \"$ftp0 start\"\n";
    let done = text(&late, &ImportOptions::default()).unwrap();
    let words =
        "the run ends at 60 s, before 1 flow of the file, the last of which starts at 75 s: see --duration";
    assert_eq!(assumed(&done, "ends at"), Some(words));
    let mut options = ImportOptions::default();
    options.set("duration", "76 s").unwrap();
    assert_eq!(assumed(&text(&late, &options).unwrap(), "ends at"), None);
}
