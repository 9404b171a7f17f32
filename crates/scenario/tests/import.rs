//! Every format on a small map: the exact scenario and the exact report. After a change of wording, run with `BLESS=1` and
//! review the difference.

use std::path::{Path, PathBuf};

use airfair_scenario::import::{Format, ImportLimits, ImportOptions, Part, Reason, import, import_path};
use airfair_scenario::{Override, read};
use airfair_sim::World;
use airfair_sim::engine::drive::Steppable as _;
use airfair_sim::record::FrameKind;
use proptest::prelude::*;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import")
}

fn options(text: &str) -> ImportOptions {
    let mut options = ImportOptions::default();
    for (key, value) in text.split_whitespace().filter_map(|word| word.split_once('=')) {
        options.set(key, &value.replace('_', " ")).unwrap();
    }
    options
}

/// A map, its format, and its goldens: a name, which may be empty, and options.
type Map = (&'static str, Format, &'static [(&'static str, &'static str)]);

const MAPS: [Map; 26] = [
    (
        "netjson.json",
        Format::NetJson,
        &[("", "flows=1"), ("probe", "link-model=probe largest=true gateway=10.0.0.2")],
    ),
    ("netjson-collection.json", Format::NetJson, &[("", "")]),
    ("olsrd2.json", Format::NetJson, &[("", "")]),
    ("networkx.json", Format::NetJson, &[("", "flows=1")]),
    ("libremap.json", Format::LibreMap, &[("", "")]),
    ("aredn.json", Format::Aredn, &[("", ""), ("topology", "untold=radio")]),
    ("ffmap", Format::Ffmap, &[("", "")]),
    ("batadv-vis.json", Format::BatadvVis, &[("", "")]),
    ("script.tcl", Format::Ns2Script, &[("", ""), ("flows", "flows=1 gateway=n0")]),
    ("cbrgen.tcl", Format::Ns2Movement, &[("", "")]),
    (
        "meshviewer.json",
        Format::Meshviewer,
        &[("", "flows=2"), ("radio", "radio-only=true untold=radio link-model=distance")],
    ),
    ("meshviewer-parts", Format::Meshviewer, &[("", "")]),
    (
        "openwifimap.json",
        Format::OpenWifiMap,
        &[("", ""), ("signal", "since=2031 link-model=signal untold=wire")],
    ),
    ("olsr-jsoninfo.json", Format::OlsrJson, &[("", "")]),
    ("olsr-txtinfo.txt", Format::OlsrText, &[("", "")]),
    ("batman-vis.json", Format::BatmanJson, &[("", "")]),
    ("batman-vis.txt", Format::BatmanText, &[("", "")]),
    ("bmx6.json", Format::Bmx6, &[("", "")]),
    ("guifi.cnml", Format::Cnml, &[("", ""), ("planned", "planned=true untold=wire")]),
    ("etx.graphml", Format::GraphMl, &[("", "standard=802.11b data-rate=2_Mbit/s")]),
    ("nycmesh", Format::NycMesh, &[("", "flows=1 gateway=4")]),
    ("matrix.txt", Format::DbmMatrix, &[("", "")]),
    ("walk.movements", Format::Ns2Movement, &[("", "range=100_m flows=1")]),
    ("python.movements", Format::Ns2Movement, &[("", "")]),
    ("plain.bonnmotion", Format::BonnMotion, &[("", "")]),
    ("topohub.json", Format::TopoHub, &[("", "flows=1 wire-rate=100_Mbit/s")]),
];

/// Compares with a stored text, or stores it.
fn golden(file: &Path, found: &str, wrong: &mut Vec<String>) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, found).unwrap();
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    if found != expected {
        wrong.push(format!("{}\nexpected:\n{expected}\nfound:\n{found}", file.display()));
    }
}

#[test]
fn every_format_gives_its_scenario_and_its_report() {
    let mut wrong = Vec::new();
    for (map, format, goldens) in MAPS {
        for (name, text) in goldens {
            let done =
                import_path(&folder().join(map), &options(text)).unwrap_or_else(|e| panic!("{map}: {e}"));
            assert_eq!(done.report.format, format.name(), "{map}");
            let name = if name.is_empty() { map.to_string() } else { format!("{map}-{name}") };
            let report = done.report.text(100).replace(&folder().display().to_string(), "maps");
            golden(&folder().join("expected").join(format!("{name}.toml")), &done.scenario, &mut wrong);
            golden(&folder().join("expected").join(format!("{name}.txt")), &report, &mut wrong);
            let named = ImportOptions { format: Some(format), ..options(text) };
            let mut by_name = import_path(&folder().join(map), &named).unwrap();
            assert_eq!(
                std::mem::replace(&mut by_name.report.recognised_by, done.report.recognised_by),
                "--format"
            );
            assert_eq!(by_name, done, "{map}: the format by its name");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_format_runs_and_every_reason_occurs() {
    let mut seen: Vec<Reason> = Vec::new();
    for (map, _, goldens) in MAPS {
        for (_, text) in goldens {
            let done = import_path(&folder().join(map), &options(text)).unwrap();
            let records = done.report.rejected.iter().chain(&done.report.noted);
            seen.extend(records.map(|r| r.reason));
            let short = [Override::parse("duration=1 s").unwrap()];
            let scenario = read(&done.scenario, map, &short).unwrap_or_else(|e| panic!("{map}: {e}"));
            let entry = airfair_schemes::find("droptail").unwrap();
            let scheme = (entry.build)(&airfair_schemes::Params::default()).unwrap();
            let mut world = World::new(&scenario.spec, "droptail", scheme, 1).unwrap();
            world.advance(world.end());
            assert_eq!(world.result().warnings, Vec::<String>::new(), "{map}");
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 24, "{seen:?}");
}

#[test]
fn files_without_a_network_are_refused_by_kind() {
    let mut wrong = Vec::new();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder().join("bad")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_none_or(|e| e != "err"));
    files.sort();
    assert!(files.len() >= 13);
    for file in files {
        let file = if file.is_dir() { file.join("links.json") } else { file };
        let error = match import_path(&file, &ImportOptions::default()) {
            Ok(_) => panic!("{} reads", file.display()),
            Err(errors) => format!("{errors}\n").replace(&folder().display().to_string(), "maps"),
        };
        let name = format!("{}.err", file.file_name().unwrap().to_string_lossy());
        golden(&file.with_file_name(name), &error, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_of_another_format_is_refused() {
    for (map, format, _) in MAPS.iter().filter(|(map, ..)| map.contains('.')) {
        let bytes = std::fs::read(folder().join(map)).unwrap();
        for (name, other) in Format::NAMES.into_iter().filter(|(_, f)| f != format) {
            let options = ImportOptions { format: Some(other), ..ImportOptions::default() };
            let result = import(&[Part { name: map, bytes: &bytes }], &options);
            assert!(
                result.is_err() || result.is_ok_and(|done| done.report.format == name),
                "{map} as {name}"
            );
        }
    }
}

#[test]
fn limits_hold() {
    let map = folder().join("netjson.json");
    let at = |limits: ImportLimits| {
        let options = ImportOptions { limits, ..ImportOptions::default() };
        import_path(&map, &options).unwrap_err().to_string().replace(&folder().display().to_string(), "maps")
    };
    let usual = ImportLimits::default();
    assert_eq!(at(ImportLimits { file_bytes: 100, ..usual }), "maps/netjson.json: larger than 100 bytes");
    assert_eq!(
        at(ImportLimits { nodes: 5, ..usual }),
        "maps/netjson.json: more than 5 nodes; expected at most 5"
    );
    assert_eq!(
        at(ImportLimits { links: 3, ..usual }),
        "maps/netjson.json: more than 3 links; expected at most 3"
    );
}

#[test]
fn a_wrong_gateway_is_refused_and_too_many_flows_are_as_many_as_fit() {
    let map = folder().join("meshviewer.json");
    let error = |text: &str| {
        let errors = import_path(&map, &options(text)).unwrap_err().to_string();
        errors.rsplit_once("json: ").unwrap().1.to_string()
    };
    assert_eq!(error("gateway=m7"), "gateway: \"m7\": no such node; did you mean \"m0\"?");
    let done = import_path(&map, &options("flows=9")).unwrap();
    assert_eq!(done.report.written.flows, 3);
    let assumed = "3 flows instead of 9 flows: no other node reaches the gateway m0";
    assert!(done.report.assumed.iter().any(|words| words == assumed), "{:?}", done.report.assumed);
    // A node without a usable link.
    assert_eq!(
        error("flows=9 gateway=m4 radio-only=true"),
        "flows: no node reaches the gateway m4 over links that are usable both ways"
    );
    assert!(
        error("data-rate=11_Mbit/s standard=802.11a").starts_with("data-rate: \"11 Mbit/s\": 802.11a has no")
    );
}

/// The simulator's delivery over a link with the gain of a delivery ratio is that ratio: 1500-byte packets, each sent until
/// its acknowledgement arrives, so that losses are counted at the receiver.
#[test]
fn delivery_ratios_come_out_of_the_simulator() {
    for (tq, standard) in [(0.2, "802.11g"), (0.5, "802.11a"), (0.5, "802.11b"), (0.9, "802.11g")] {
        let map = format!(
            "{{\"nodes\": [{{\"node_id\": \"a\"}}, {{\"node_id\": \"b\"}}], \"links\": [{{\"type\": \"wifi\", \
             \"source\": \"a\", \"target\": \"b\", \"source_tq\": {tq}, \"target_tq\": 1}}]}}"
        );
        let done = import(
            &[Part { name: "pair.json", bytes: map.as_bytes() }],
            &options(&format!("standard={standard}")),
        )
        .unwrap();
        let flow = "\n[[flow]]\nid = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
                    traffic = { kind = \"saturating\", packet = \"1472 B\" }\n";
        let scenario = read(&(done.scenario + flow), "pair.toml", &[]).unwrap();
        let entry = airfair_schemes::find("droptail").unwrap();
        let scheme = (entry.build)(&airfair_schemes::Params::default()).unwrap();
        let mut world = World::new(&scenario.spec, "droptail", scheme, 1).unwrap();
        world.advance(world.end());
        let result = world.result();
        let data = FrameKind::ALL.iter().position(|k| k.name() == "DATA").unwrap();
        let station = |name: &str| result.stations.iter().find(|s| s.node == name).unwrap();
        let sent = station("a").counters.sent[data] as f64;
        let arrived = station("b").counters.received[data] as f64;
        // 60 s hold thousands of frames; five standard errors, and a hundredth of a decibel of rounding.
        let allowed = 5.0 * (tq * (1.0 - tq) / sent).sqrt() + 0.01;
        assert!(
            sent > 5000.0 && (arrived / sent - tq).abs() < allowed,
            "{standard}: {tq}: {}",
            arrived / sent
        );
    }
}

/// A link record of an invented mesh: kind, ends, two qualities as in the file.
fn link() -> impl Strategy<Value = String> {
    let kind = prop_oneof![Just("wifi"), Just("vpn"), Just("other")];
    let tq = prop_oneof![
        (0..=1000u32).prop_map(|t| format!("{}", f64::from(t) / 1000.0)),
        Just("0".to_string()),
        Just("1".to_string()),
        Just("1.7".to_string()),
        Just("\"NaN\"".to_string()),
        Just("null".to_string()),
    ];
    (kind, 0..9u32, 0..9u32, tq.clone(), tq).prop_map(|(kind, a, b, there, back)| {
        format!(
            "{{\"type\": \"{kind}\", \"source\": \"n{a}\", \"target\": \"n{b}\", \"source_tq\": {there}, \
             \"target_tq\": {back}}}"
        )
    })
}

proptest! {
    /// Every record of a link is in the scenario, or is rejected and named.
    #[test]
    fn no_link_is_lost(links in proptest::collection::vec(link(), 0..60), untold in 0..3usize, model in 0..4usize) {
        // n8 has no record, n6 and n7 no location, n5 is far away.
        let places: Vec<String> = (0..8)
            .map(|i| match i {
                6.. => format!("{{\"node_id\": \"n{i}\"}}"),
                _ => {
                    let far = if i == 5 { 3.0 } else { 0.001 * f64::from(i) };
                    let at = format!("{{\"latitude\": {}, \"longitude\": 8.5}}", 50.0 + far);
                    format!("{{\"node_id\": \"n{i}\", \"location\": {at}}}")
                }
            })
            .collect();
        let map = format!("{{\"nodes\": [{}], \"links\": [{}]}}", places.join(", "), links.join(", "));
        let text = format!(
            "untold={} link-model={}",
            ["drop", "radio", "wire"][untold],
            ["delivery", "probe", "signal", "distance"][model]
        );
        let part = Part { name: "map.json", bytes: map.as_bytes() };
        let Ok(done) = import(&[part], &options(&text)) else { return Ok(()) };
        let rejected = done.report.rejected.iter().filter(|r| r.record.starts_with("link ")).count();
        let kept = done.report.written.radio_links + done.report.written.wires;
        prop_assert_eq!(rejected + kept, links.len(), "{}", done.report.text(100));
        prop_assert_eq!(import(&[part], &options(&text)), Ok(done), "the same bytes, the same scenario");
    }
}
