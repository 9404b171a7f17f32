//! Entry points for fuzzers: each reads any bytes and checks what was read.

use airfair_schemes::Params;
use airfair_sim::World;

use crate::import::{Format, ImportLimits, ImportOptions, LinkModel, Part, UnknownMedium, import};
use crate::keys::file_traffic::ListedFile;
use crate::resolve::gain_changes_csv::ListedChange;
use crate::resolve::movement::waypoints;
use crate::resolve::{csv, movement_file};
use crate::{Limits, Location, Override, Scenario, read_within};

/// Limits that bound the time of every input.
const LIMITS: Limits =
    Limits { file_bytes: 1 << 20, nodes: 200, flows: 200, listed: 1000, gain_changes: 1000, waypoints: 1000 };
/// A line that begins with this is an override as well as a comment.
const OVERRIDE: &str = "#--set ";

/// Reads any bytes as a scenario: it must not panic, and what reads must be the same when its complete form is read.
///
/// # Panics
/// If the complete form does not read as the same scenario.
pub fn fuzz_scenario(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let overrides: Vec<Override> = text
        .lines()
        .filter_map(|l| l.strip_prefix(OVERRIDE))
        .filter_map(|o| Override::parse(o).ok())
        .collect();
    match read_within(&text, "fuzz.toml", &overrides, &LIMITS) {
        Ok(mut scenario) => match read_within(&scenario.resolved, "resolved.toml", &[], &LIMITS) {
            Ok(again) => {
                // The complete form contains what other files hold.
                scenario.files.clear();
                // It has the power that `range` stands for, and so no warning of that key.
                scenario.warnings.retain(|warning| !warning.contains(", its `range`, and receives data"));
                assert_eq!(again, scenario, "the complete form is another scenario:\n{text}");
                if !scenario.spec.movement.paths.is_empty() {
                    build(&scenario);
                }
            }
            Err(errors) => {
                panic!("the complete form cannot be read: {errors}\n{text}\n{}", scenario.resolved)
            }
        },
        Err(errors) => assert!(!errors.list.is_empty() && !errors.to_string().is_empty()),
    }
}

/// Reads any bytes as a list of files: it must not panic, and what reads must be in order and the same when written again.
///
/// # Panics
/// If the list is out of order, or does not read back as the same list.
pub fn fuzz_file_list(data: &[u8]) {
    match csv::parse::<ListedFile>(data, ()) {
        Ok(list) => {
            assert!(
                !list.is_empty() && list.windows(2).all(|pair| pair[0].0 <= pair[1].0),
                "out of order: {list:?}"
            );
            let mut text = String::from("start_s,bytes\r\n");
            for ListedFile(start, size) in &list {
                let (seconds, rest) = (start.as_nanos() / 1_000_000_000, start.as_nanos() % 1_000_000_000);
                text.push_str(&format!("{seconds}.{rest:09},{}\r\n", size.0));
            }
            // Late moments have more digits than a float: they may move by a few nanoseconds, but stay in order.
            let again =
                csv::parse::<ListedFile>(text.as_bytes(), ()).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
            let near = |a: &ListedFile, b: &ListedFile| a.0.0.abs_diff(b.0.0) <= 4 && a.1 == b.1;
            assert!(list.len() == again.len() && list.iter().zip(&again).all(|(a, b)| near(a, b)), "{text}");
        }
        Err(errors) => {
            assert!(errors.iter().all(|e| e.line > 0 && !e.problem.is_empty()) && !errors.is_empty())
        }
    }
}

/// Reads any bytes as changes of a gain: it must not panic, and what reads must be in order, the same when written again, and valid in a
/// scenario.
///
/// # Panics
/// If the changes are out of order, do not read back as the same changes, or are others in a scenario.
pub fn fuzz_gain_changes(data: &[u8]) {
    match csv::parse::<ListedChange>(data, None) {
        Ok(list) => {
            assert!(
                !list.is_empty() && list[0].0.0 > 0 && list.windows(2).all(|pair| pair[0].0 < pair[1].0),
                "out of order: {list:?}"
            );
            let (mut text, mut written) = (String::from("at_s,gain_db\r\n"), String::new());
            for ListedChange(at, gain) in &list {
                let (seconds, rest) = (at.as_nanos() / 1_000_000_000, at.as_nanos() % 1_000_000_000);
                text.push_str(&format!("{seconds}.{rest:09},{}\r\n", gain.0));
                written.push_str(&format!("{{ at = \"{at}\", gain = \"{gain}\" }}, "));
            }
            // Late moments have more digits than a float: two that are some nanoseconds apart may become the same.
            let apart = list.windows(2).all(|pair| pair[1].0.0 - pair[0].0.0 > 8);
            match csv::parse::<ListedChange>(text.as_bytes(), None) {
                Ok(again) => {
                    let near = |a: &ListedChange, b: &ListedChange| a.0.0.abs_diff(b.0.0) <= 4 && a.1 == b.1;
                    assert!(
                        list.len() == again.len() && list.iter().zip(&again).all(|(a, b)| near(a, b)),
                        "{text}"
                    );
                }
                Err(errors) => assert!(!apart, "{errors:?}\n{text}"),
            }
            let scenario = format!(
                "name = \"fuzz\"\nduration = \"1 s\"\n[radio]\npropagation = {{ model = \"matrix\" }}\n[[node]]\nid = \"a\"\n\
                 [[node]]\nid = \"b\"\n[[gain]]\nfrom = \"a\"\nto = \"b\"\ngain = \"0 dB\"\nchanges = [{written}]\n"
            );
            let limits = Limits { gain_changes: u64::MAX, ..LIMITS };
            let scenario = read_within(&scenario, "changes.toml", &[], &limits)
                .unwrap_or_else(|e| panic!("{e}\n{scenario}"));
            let changes = scenario.spec.gain_changes.iter().map(|c| (c.at.0, c.gain));
            assert!(changes.eq(list.iter().map(|&ListedChange(at, gain)| (at.0, gain))), "{text}");
            build(&scenario);
        }
        Err(errors) => {
            assert!(errors.iter().all(|e| e.line > 0 && !e.problem.is_empty()) && !errors.is_empty())
        }
    }
}

/// Reads any bytes as a movement file: this must not panic, and the legs that were read must be in order and valid in a scenario.
///
/// # Panics
/// If a node's path cannot be read in a scenario, or the simulator refuses it.
pub fn fuzz_movement_file(data: &[u8]) {
    match movement_file::parse(&String::from_utf8_lossy(data), LIMITS.waypoints) {
        Ok(nodes) => {
            for node in nodes.iter().filter(|node| !node.legs.is_empty()).take(20) {
                let [x, y, z] = node.start.unwrap_or_default();
                let waypoints = waypoints(&node.legs);
                let text = format!(
                    "name = \"fuzz\"\nduration = \"1 s\"\n[radio]\n[[node]]\nid = \"a\"\nposition = [\"{x:?} m\", \"{y:?} m\", \
                     \"{z:?} m\"]\nmovement = {{ waypoints = [\n{waypoints}] }}\n"
                );
                let scenario = read_within(&text, "walk.toml", &[], &LIMITS);
                let scenario = scenario.unwrap_or_else(|e| panic!("{e}\n{text}"));
                assert_eq!(scenario.spec.movement.paths.len(), 1);
                build(&scenario);
            }
        }
        Err(wrong) => assert!(!wrong.is_empty() && wrong.iter().all(|w| !w.problem.is_empty())),
    }
}

/// Checks that the simulator accepts a scenario that the reader accepted.
fn build(scenario: &Scenario) {
    let entry = airfair_schemes::find("droptail").unwrap_or_else(|| unreachable!("a scheme of the tree"));
    let scheme = (entry.build)(&Params::default()).unwrap_or_else(|e| panic!("{e}"));
    if let Err(problem) = World::new(&scenario.spec, "droptail", scheme, 1) {
        panic!("{problem}\n{}", scenario.resolved);
    }
}

/// Reads any bytes as a map of a network, in the format that they look like: this must not panic, the scenario must be readable, and
/// the report must account for every link.
///
/// # Panics
/// If the scenario cannot be read, or if a link is neither in it nor rejected.
pub fn fuzz_import(data: &[u8]) {
    fuzz_map(None, data);
}

/// The same with a named format, so that each reader gets input of other formats.
///
/// # Panics
/// As [`fuzz_import`].
pub fn fuzz_import_as(format: Format, data: &[u8]) {
    fuzz_map(Some(format), data);
}

fn fuzz_map(format: Option<Format>, data: &[u8]) {
    let limits = ImportLimits { file_bytes: 1 << 20, nodes: 300, links: 1000 };
    let usual = ImportOptions { format, limits, ..ImportOptions::default() };
    // The data choose the options, so that the same bytes have the same effect.
    let more = ImportOptions {
        link_model: [None, Some(LinkModel::Probe), Some(LinkModel::Distance), Some(LinkModel::Positions)]
            [data.len() % 4],
        untold: UnknownMedium::Radio,
        planned: true,
        largest: data.len().is_multiple_of(3),
        flows: 1,
        ..usual.clone()
    };
    for options in [usual, more] {
        let done = match import(&[Part { name: "fuzz.map", bytes: data }], &options) {
            Ok(done) => done,
            Err(errors) => {
                assert!(!errors.to_string().is_empty());
                // An error is about the map, never about the scenario made from it.
                assert!(errors.list.iter().all(|e| matches!(e.location, Location::Whole { .. })), "{errors}");
                continue;
            }
        };
        let scenario = crate::read(&done.scenario, "imported.toml", &[])
            .unwrap_or_else(|e| panic!("{e}\n{}", done.scenario));
        let report = &done.report;
        assert_eq!(scenario.spec.nodes.len(), report.written.nodes);
        assert_eq!(scenario.spec.gains.len(), report.written.gains);
        assert_eq!(scenario.spec.links.len(), report.written.wires);
        assert_eq!(scenario.spec.flows.len(), report.written.flows + report.written.file_flows);
        assert!(serde_json::from_str::<serde_json::Value>(&report.json()).is_ok());
        assert!(report.text(3).lines().count() > 2);
        let once = ["meshviewer", "nycmesh", "topohub", "cnml", "ffmap"].contains(&report.format);
        if once && report.link_model != "positions" && !options.largest {
            let links = ["link ", "edge "];
            let rejected =
                report.rejected.iter().filter(|r| links.iter().any(|l| r.record.starts_with(l))).count();
            let kept = report.written.radio_links + report.written.wires;
            let read = report.read.get("links").copied().unwrap_or(0);
            assert_eq!(read as usize, rejected + kept, "{}", report.text(100));
        }
    }
}
