//! Every example reads without a warning, and its complete form reads as the same scenario.

use std::path::PathBuf;

use airfair_scenario::{Override, Scenario, read, read_file};
use airfair_sim::spec::{Propagation, Sizes, Standard, Traffic, Transport};
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn example(name: &str) -> Scenario {
    read_file(&folder().join(format!("{name}.toml")), &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_example_reads_and_so_does_its_complete_form() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        count += 1;
        let scenario = read_file(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scenario.warnings, Vec::<String>::new(), "{}", path.display());
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert_eq!(scenario.name, stem, "the name of the file is the name of the scenario");
        let again = read(&scenario.resolved, "resolved", &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again, scenario, "{}", path.display());
    }
    assert!(count >= 11, "only {count} examples found");
}

#[test]
fn three_pairs_have_the_geometry_of_the_paper() {
    let scenario = example("three-pairs");
    let spec = &scenario.spec;
    let at = |id: &str| spec.nodes.iter().find(|n| n.id == id).unwrap().position;
    assert_eq!(at("b3"), [700.0, 200.0, 0.0]);
    let radio = &spec.radios[0];
    let heard =
        |d: f64| radio.phy.tx_power.0 + airfair_sim::air::propagation::gain_at(&radio.propagation, d).0;
    assert!(heard(367.0) >= radio.phy.preamble_detect.0 && heard(367.1) < radio.phy.preamble_detect.0);
    assert!(heard(670.0) >= radio.phy.energy_detect.0 && heard(670.1) < radio.phy.energy_detect.0);
    assert_eq!(radio.mac.rts_threshold, Bytes(0));
    assert_eq!(radio.queue.packets, 66);
    assert_eq!(radio.phy.basic_rates, [Rate::from_mbps(1)]);
}

#[test]
fn the_reference_grid_is_that_of_the_peers() {
    let spec = example("grid-64").spec;
    assert_eq!((spec.nodes.len(), spec.flows.len()), (64, 20));
    assert_eq!(spec.nodes[63].position, [1400.0, 1400.0, 0.0]);
    let last = &spec.flows[19];
    assert_eq!((last.from, last.to), (26, 63));
    assert_eq!((last.start, last.start_jitter), (Time(950_000_000), Span::ZERO));
    let traffic = Traffic::ConstantRate { rate: Rate::from_kbps(92), packet: Bytes(1460), gap_jitter: 0.0 };
    assert_eq!(last.traffic, traffic);
    assert!(!spec.radios[0].mac.backpressure, "the profile's");
}

/// A flow that starts too late or stops too early has no result, and there is a warning.
#[test]
fn flows_outside_of_the_measured_time_cause_warnings() {
    let told = |keys: &str| {
        let text = format!(
            "name = \"x\"\nduration = \"20 s\"\nwarmup = \"4 s\"\n[radio]\n[nodes]\nkind = \"chain\"\ncount = 2\n\
             spacing = \"10 m\"\n[[flow]]\nid = \"f\"\nfrom = \"0\"\nto = \"1\"\ntraffic = {{ kind = \"saturating\" }}\n{keys}\n"
        );
        let scenario = read(&text, "x.toml", &[]).unwrap();
        assert_eq!(read(&scenario.resolved, "again.toml", &[]).unwrap().warnings, scenario.warnings);
        scenario.warnings
    };
    let early = "flow \"f\" stops by the end of the warm-up, 4 s: what it sends is not counted";
    for stop in ["2 s", "4 s"] {
        assert_eq!(told(&format!("stop = \"{stop}\"")), [early]);
    }
    assert_eq!(told("stop = \"4.000001 s\""), [""; 0]);
    assert_eq!(told("stop = \"30 s\""), [""; 0]);
    assert_eq!(told("start = \"20 s\""), ["flow \"f\" starts after the end of the run"]);
}

/// 1000 Gbit/s of one byte each are 1.25e11 packets a second; with a queue that stops its source there are far fewer.
#[test]
fn very_high_packet_rates_cause_warnings() {
    let text = |backpressure: bool| {
        format!(
            "name = \"flood\"\nduration = \"1 s\"\n[radio]\nbackpressure = {backpressure}\n[nodes]\nkind = \"chain\"\ncount = 2\n\
             spacing = \"10 m\"\n[[flow]]\nid = \"f\"\nfrom = \"0\"\nto = \"1\"\n\
             traffic = {{ kind = \"constant\", rate = \"1000 Gbit/s\", packet = \"1 B\" }}\n"
        )
    };
    let told = read(&text(false), "flood.toml", &[]).unwrap().warnings;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("flow \"f\" makes some 125000 million packets"), "{told:?}");
    assert_eq!(read(&text(true), "flood.toml", &[]).unwrap().warnings, [""; 0]);
}

#[test]
fn the_wired_example_has_a_node_without_radio() {
    let spec = example("wired").spec;
    assert!(spec.nodes[0].radios.is_empty());
    assert_eq!(spec.links[0].ends, [0, 1]);
    assert_eq!(spec.radios[0].phy.standard, Standard::Dot11g);
    assert!(matches!(spec.radios[0].propagation, Propagation::LogDistance { .. }));
}

#[test]
fn the_example_of_the_design_reads() {
    let text = r#"
name = "hidden-terminal"
duration = "150 s"

[radio]
standard = "802.11b"
data_rate = "2 Mbit/s"
rts_threshold = "0 B"
propagation = { model = "two-ray", range = "367 m", carrier_sense = "670 m" }
queue_packets = 66

[[node]]
id = "1"
position = ["0 m", "0 m"]

[[node]]
id = "2"
position = ["350 m", "0 m"]

[[flow]]
id = "left"
from = "1"
to = "2"
transport = "tcp-newreno"
traffic = { kind = "ftp", start = "10 s", stop = "130 s" }
"#;
    let scenario = read(text, "x.toml", &[]).unwrap();
    let flow = &scenario.spec.flows[0];
    assert_eq!((flow.start, flow.stop), (Time(10_000_000_000), Time(130_000_000_000)));
    assert_eq!(flow.traffic, Traffic::Endless);
    assert!(
        matches!(&flow.transport, Transport::Tcp { law, pinned: false, config, .. } if law == "newreno" && *config == TcpConfig::default())
    );
}

#[test]
fn the_dumbbell_has_packets_and_times_of_the_reference() {
    let spec = example("dumbbell").spec;
    assert_eq!((spec.nodes.len(), spec.links.len(), spec.flows.len()), (10, 9, 4));
    let Transport::Tcp { config, .. } = &spec.flows[0].transport else { panic!("UDP") };
    assert_eq!((config.mss, config.timestamps), (1460, true));
    // Payload, TCP with timestamps, IP, wire.
    assert_eq!(config.mss - 12 + 20 + 12 + spec.headers.ip + spec.headers.wired, 1502);
    assert_eq!((spec.headers.tcp, spec.flows[0].start_jitter), (None, Span::from_millis(500)));
    let slow = &spec.links[0];
    assert_eq!(
        (slow.rate, slow.delay, slow.queue.packets),
        (Rate::from_mbps(10), Span::from_millis(18), 100)
    );
    assert!(
        spec.links[1..].iter().all(|l| l.rate == Rate::from_mbps(1000) && l.delay == Span::from_millis(1))
    );
}

#[test]
fn the_access_point_has_round_trips_from_40_to_370_ms() {
    let spec = example("access-point").spec;
    let uplink = spec.links[0].delay.as_nanos();
    let round_trips: Vec<u64> =
        spec.links[1..].iter().map(|l| 2 * (uplink + l.delay.as_nanos()) / 1_000_000).collect();
    assert_eq!(round_trips, [40, 106, 172, 238, 304, 370]);
    assert_eq!(spec.flows.len(), 12);
}

#[test]
fn the_ends_of_the_gateway_are_hidden_from_each_other() {
    let spec = example("gateway").spec;
    let radio = &spec.radios[0];
    let heard = |d| radio.phy.tx_power.0 + airfair_sim::air::propagation::gain_at(&radio.propagation, d).0;
    assert!(heard(200.0) >= radio.phy.preamble_detect.0 && heard(400.0) < radio.phy.energy_detect.0);
    assert_eq!(spec.nodes[2].position, [400.0, 0.0, 0.0]);
}

#[test]
fn the_reference_grid_with_tcp_differs_in_what_flows_carry() {
    let (udp, tcp) = (example("grid-64").spec, example("grid-64-tcp").spec);
    assert_eq!((&udp.nodes, &udp.radios), (&tcp.nodes, &tcp.radios));
    for (one, other) in udp.flows.iter().zip(&tcp.flows) {
        assert_eq!((one.from, one.to, one.start), (other.from, other.to, other.start));
        assert_eq!((&other.traffic, other.start_jitter), (&Traffic::Endless, Span::ZERO));
    }
    assert_eq!((tcp.headers.tcp, tcp.headers.ip, tcp.headers.llc), (Some(40), 20, 0));
}

#[test]
fn short_flows_load_the_wire_to_nine_tenths() {
    let spec = example("short-flows").spec;
    let Traffic::Arrivals { per_second, sizes: Sizes::Pareto { mean, .. }, .. } = spec.flows[0].traffic
    else {
        panic!("{:?}", spec.flows[0].traffic)
    };
    let Transport::Tcp { config, .. } = &spec.flows[0].transport else { panic!("UDP") };
    let packet = config.mss + spec.headers.tcp.unwrap() + spec.headers.ip;
    assert_eq!((packet, mean), (1000, Bytes(30 * 960)));
    let load = per_second * 30.0 * f64::from(packet) * 8.0 / 150e6;
    assert!((load - 0.9).abs() < 1e-9, "{load}");
}

#[test]
fn overrides_win() {
    let set = |text: &str| Override::parse(text).unwrap();
    let file = folder().join("three-pairs.toml");
    let overrides = [
        set("radio.rts_threshold=2347 B"),
        set("flow.left.tcp.mss=\"1000 B\""),
        set("flow.left.start=2 s"),
        set("radio.preamble_detect=-70 dBm"),
        set("routing.metric=etx"),
        set("duration=1 min"),
        set("node.a1.position=[\"1 m\", \"2 m\"]"),
    ];
    let spec = read_file(&file, &overrides).unwrap_or_else(|e| panic!("{e}")).spec;
    assert_eq!(spec.radios[0].mac.rts_threshold, Bytes(2347));
    assert_eq!(spec.radios[0].phy.preamble_detect.0, -70.0, "against the range of the file");
    let mss = |flow: usize| match &spec.flows[flow].transport {
        Transport::Tcp { config, .. } => config.mss,
        _ => 0,
    };
    assert_eq!((mss(0), mss(1)), (1000, 512));
    assert_eq!(spec.flows[0].start, Time(2_000_000_000));
    assert_eq!(spec.duration, Span::from_secs(60));
    assert_eq!(spec.nodes[0].position, [1.0, 2.0, 0.0]);
    // The shell removes quotes: a name in the form of a number is still a name.
    let hidden = read_file(&folder().join("hidden-terminal.toml"), &[set("flow.left.to=3")]).unwrap();
    assert_eq!(hidden.spec.flows[0].to, 2);
}

#[test]
fn errors_name_the_wrong_override() {
    let file = folder().join("three-pairs.toml");
    let fails = |text: &str| read_file(&file, &[Override::parse(text).unwrap()]).unwrap_err().to_string();
    assert_eq!(
        fails("radio.rts_threshold=2347"),
        "--set radio.rts_threshold: 2347: the unit is missing; expected a size such as \"1500 B\" (B, kB, MB, GB, KiB)"
    );
    assert_eq!(
        fails("radio.rts_treshold=2347 B"),
        "--set radio.rts_treshold: unknown key; did you mean \"rts_threshold\"?"
    );
    assert_eq!(
        fails("flow.lefty.start=1 s"),
        "--set flow.lefty.start: \"lefty\": no flow is written with this id; did you mean \"left\"?"
    );
    assert_eq!(
        fails("raido.channel=1"),
        "--set raido.channel: \"raido\": no such key, table or scheme; did you mean \"radio\"?"
    );
    assert_eq!(fails("droptail.x=1"), "--set droptail.x: droptail has no parameters");
    assert_eq!(
        fails("radio.propagation={ model = \"matrx\" }"),
        "--set radio.propagation: model: \"matrx\": unknown choice; expected \"free-space\", \
         \"two-ray\", \"log-distance\" or \"matrix\"; did you mean \"matrix\"?"
    );
    assert_eq!(fails("name.x.y=1"), "--set name.x.y: \"name\" is not a table");
    assert_eq!(fails("link.0.rate=1 Mbit/s"), "--set link.0.rate: \"0\": the file has no [[link]] blocks");
}
