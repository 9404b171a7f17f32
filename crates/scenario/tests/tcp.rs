//! TCP: transports and laws, `[tcp]` and the keys that flows override, profiles, and traffic that only TCP supports.

use std::path::PathBuf;

use airfair_scenario::{Override, Scenario, read, read_file};
use airfair_schemes::{Carrier, ParamValue};
use airfair_sim::spec::{FlowSpec, Sizes, Traffic, Transport};
use airfair_transport::{DelayedAck, InitialWindow, PartialAckTimer, TcpConfig, TickMode};
use airfair_units::{Bytes, Span};

const NODES: &str =
    "name = \"x\"\nduration = \"10 s\"\n[radio]\n[nodes]\nkind = \"chain\"\ncount = 3\nspacing = \"100 m\"\n";

/// A scenario with these tables and one flow with these keys.
fn text(tables: &str, keys: &str) -> String {
    format!("{NODES}{tables}\n[[flow]]\nid = \"f\"\nfrom = \"0\"\nto = \"1\"\n{keys}\n")
}

/// Reads a scenario, and checks that its complete form reads as the same.
fn scenario(tables: &str, keys: &str) -> Scenario {
    let text = text(tables, keys);
    let scenario = read(&text, "x.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let again =
        read(&scenario.resolved, "resolved", &[]).unwrap_or_else(|e| panic!("{e}\n{}", scenario.resolved));
    assert_eq!(again, scenario, "{text}");
    scenario
}

fn flow(tables: &str, keys: &str) -> FlowSpec {
    scenario(tables, keys).spec.flows.remove(0)
}

const FTP: &str = "transport = \"tcp\"\ntraffic = { kind = \"ftp\" }\n";

fn config(tables: &str, keys: &str) -> TcpConfig {
    match flow(tables, &format!("{FTP}{keys}")).transport {
        Transport::Tcp { config, .. } => config,
        other => panic!("{other:?}"),
    }
}

fn law(flow: &FlowSpec) -> (&str, bool) {
    match &flow.transport {
        Transport::Tcp { law, pinned, .. } => (law, *pinned),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_law_is_a_word_or_a_scheme() {
    assert_eq!(law(&flow("", FTP)), ("newreno", false));
    for name in ["reno", "newreno", "vegas", "cubic", "bbr"] {
        let keys = format!("transport = \"tcp-{name}\"\ntraffic = {{ kind = \"ftp\" }}");
        assert_eq!(law(&flow("", &keys)), (name, false));
    }
    assert_eq!(law(&flow("", &format!("{FTP}scheme = \"cubic\""))), ("cubic", true));
    let udp = flow("", "traffic = { kind = \"saturating\" }");
    assert_eq!(udp.transport, Transport::Udp);
}

#[test]
fn a_flow_over_udp_may_have_a_law() {
    let saturating = "traffic = { kind = \"saturating\" }\n";
    for (keys, word, own) in [
        ("transport = \"udp-tfrc\"\n", "tfrc", false),
        ("transport = \"udp-tfrc-ecn\"\n", "tfrc-ecn", false),
        ("scheme = \"tfrc\"\n", "tfrc", true),
        ("transport = \"udp-tfrc-ecn\"\nscheme = \"tfrc\"\n", "tfrc", true),
    ] {
        let text = text("[schemes.tfrc]\nrtt_weight = 0.5\n", &format!("{keys}{saturating}"));
        let scenario = read(&text, "x.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        let Transport::ControlledUdp { law, params, pinned } = &scenario.spec.flows[0].transport else {
            panic!("{keys}")
        };
        assert_eq!((law.as_str(), *pinned), (word, own), "{keys}");
        let weight = params.0.get("rtt_weight");
        assert_eq!(weight.is_some_and(|&weight| weight == ParamValue::Number(0.5)), word == "tfrc", "{keys}");
        let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        assert!(again.spec == scenario.spec, "{}", scenario.resolved);
    }
}

/// "none" is no law, whatever transport names; TCP needs one.
#[test]
fn a_flow_over_udp_may_have_no_law() {
    let saturating = "traffic = { kind = \"saturating\" }\n";
    for keys in ["", "transport = \"udp\"\n", "transport = \"udp-tfrc\"\n"] {
        let text = text("", &format!("{keys}scheme = \"none\"\n{saturating}"));
        let scenario = read(&text, "x.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scenario.spec.flows[0].transport, Transport::PlainUdp, "{keys}");
        let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        assert!(again.spec == scenario.spec, "{}", scenario.resolved);
    }
    let over_tcp = text("", &format!("{FTP}scheme = \"none\""));
    let error = read(&over_tcp, "x.toml", &[]).unwrap_err().to_string();
    assert!(error.contains("\"none\": a flow over TCP has a window law; expected"), "{error}");
}

#[test]
fn parameters_of_a_law_come_from_its_scheme() {
    let text = text("[schemes.cubic]\nbeta = 0.5\n", &format!("{FTP}scheme = \"cubic\""));
    let beta = |overrides: &[Override]| {
        let scenario = read(&text, "x.toml", overrides).unwrap_or_else(|e| panic!("{e}"));
        match &scenario.spec.flows[0].transport {
            Transport::Tcp { params, .. } => {
                assert_eq!(params, &scenario.scheme_params["cubic"]);
                params.0["beta"]
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(beta(&[]), ParamValue::Number(0.5));
    assert_eq!(beta(&[Override::parse("cubic.beta=0.6").unwrap()]), ParamValue::Number(0.6));
}

#[test]
fn without_a_word_tcp_is_the_transports_own() {
    assert_eq!(config("", ""), TcpConfig::default());
    assert_eq!(config("[tcp]\nprofile = \"rfc\"\n", ""), TcpConfig::default());
}

/// The values were read from ns-2.35's `tcl/lib/ns-default.tcl` and from ns-3.37's own list of attributes.
#[test]
fn profiles_are_what_the_others_do() {
    let ns2 = config("[tcp]\nprofile = \"ns-2\"\n", "");
    assert_eq!((ns2.initial_window, ns2.window_limit), (InitialWindow::Segments(2), 1_460_000));
    assert_eq!((ns2.min_rto, ns2.initial_rto), (Span::from_millis(200), Span::from_secs(3)));
    assert_eq!((ns2.max_rto, ns2.tick), (Span::from_secs(60), Span::from_millis(10)));
    assert_eq!((ns2.delayed_ack, ns2.sack, ns2.timestamps), (None, false, false));
    assert_eq!((ns2.limited_transmit, ns2.handshake, ns2.fin, ns2.prr), (true, true, false, false));
    assert_eq!((ns2.syn_retries, ns2.partial_ack_timer), (None, PartialAckTimer::Impatient));
    assert_eq!((ns2.rto_after_syn_loss, ns2.fast_retransmit_once), (Span::from_secs(6), true));
    // One-way TCP has no receiver's window, and no SYN announces a window.
    assert_eq!((ns2.syn_window, config("", "").syn_window), (None, Some(65_535)));
    let ns3 = config("[tcp]\nprofile = \"ns-3\"\n", "");
    assert_eq!((ns3.initial_window, ns3.window_limit), (InitialWindow::Segments(10), 131_072));
    assert_eq!((ns3.min_rto, ns3.initial_rto), (Span::from_secs(1), Span::from_secs(3)));
    assert_eq!((ns3.receive_window, ns3.window_scale), (131_072, 2));
    assert_eq!(ns3.delayed_ack, Some(DelayedAck::after(2, Span::from_millis(200))));
    assert_eq!((ns3.sack, ns3.prr, ns3.timestamps, ns3.limited_transmit), (true, true, true, true));
    assert_eq!((ns3.nagle, ns3.ecn, ns3.syn_retries, ns3.retries), (false, false, Some(6), Some(6)));
    let linux = config("[tcp]\nprofile = \"linux\"\n", "");
    assert_eq!((linux.min_rto, linux.max_rto), (Span::from_millis(200), Span::from_secs(120)));
    assert_eq!(
        linux.delayed_ack,
        Some(DelayedAck {
            segments: 2,
            timeout: Span::from_millis(40),
            quick: 16,
            requick: true,
            pushed: true
        })
    );
    assert_eq!((linux.push, linux.window_tuning), (true, true));
    let before = config("[tcp]\nprofile = \"linux-2026\"\n", "");
    let delayed_ack = DelayedAck { quick: 16, ..DelayedAck::after(2, Span::from_millis(40)) };
    assert_eq!((before.delayed_ack, before.push, before.window_tuning), (Some(delayed_ack), false, false));
    assert_eq!((linux.duplicate_sack, linux.undo, linux.retries), (true, true, Some(15)));
}

#[test]
fn a_flow_changes_single_keys() {
    let tables = "[tcp]\nprofile = \"ns-2\"\nmin_rto = \"1 s\"\n";
    let own =
        config(tables, "tcp = { initial_window = \"3 segments\", delayed_ack = { timeout = \"100 ms\" } }");
    let all = config(tables, "");
    let delayed_ack = Some(DelayedAck::after(2, Span::from_millis(100)));
    assert_eq!(own, TcpConfig { initial_window: InitialWindow::Segments(3), delayed_ack, ..all });
    // A key that is written in [tcp] has precedence with every profile.
    let other = config(tables, "tcp = { profile = \"linux\" }");
    assert_eq!(
        other,
        TcpConfig { min_rto: Span::from_secs(1), ..config("[tcp]\nprofile = \"linux\"\n", "") }
    );
    let set = Override::parse("flow.f.tcp.mss=500 B").unwrap();
    let spec = read(&text(tables, FTP), "x.toml", &[set]).unwrap().spec;
    assert!(matches!(spec.flows[0].transport, Transport::Tcp { config, .. } if config.mss == 500));
}

#[test]
fn windows_are_bytes_or_segments() {
    let segments = config("[tcp]\nwindow_limit = \"10 segments\"\nreceive_window = \"1 segment\"\n", "");
    assert_eq!((segments.window_limit, segments.receive_window), (14_600, 1_460));
    let stamped = config("[tcp]\nwindow_limit = \"10 segments\"\ntimestamps = true\n", "");
    assert_eq!(stamped.window_limit, 14_480, "a full segment has 1448 B then");
    assert_eq!(config("[tcp]\ninitial_window = \"rfc3390\"\n", "").initial_window, InitialWindow::Rfc3390);
    // A window follows from its shift, or the shift from the window, if one of them is not written.
    assert_eq!(config("[tcp]\nreceive_window = \"64 MB\"\n", "").window_scale, 10);
    assert_eq!(config("[tcp]\nreceive_window = \"20 kB\"\n", "").window_scale, 0);
    assert_eq!(config("[tcp]\nwindow_scale = 0\n", "").receive_window, 65_535);
    let written = "[tcp]\nreceive_window = \"1 MB\"\nwindow_scale = 14\n";
    assert_eq!(config(written, "tcp = { receive_window = \"2 MB\" }").window_scale, 5);
    let same_shift = config(written, "tcp = { receive_window = \"2 MB\", window_scale = 14 }");
    assert_eq!((same_shift.receive_window, same_shift.window_scale), (2_000_000, 14));
}

#[test]
fn the_window_of_a_syn_and_the_clock_are_keys() {
    let ns2 = config("[tcp]\nprofile = \"ns-2\"\nsyn_window = \"1000 B\"\ntick_mode = \"bsd\"\n", "");
    assert_eq!((ns2.syn_window, ns2.tick_mode), (Some(1000), TickMode::Bsd));
    let own = config("", "tcp = { syn_window = \"unlimited\" }");
    assert_eq!(own, TcpConfig { syn_window: None, ..TcpConfig::default() });
    assert_eq!(own.tick_mode, TickMode::RoundUp);
    let set = Override::parse("tcp.syn_window=unlimited").unwrap();
    let spec = read(&text("", FTP), "x.toml", &[set]).unwrap().spec;
    assert!(matches!(spec.flows[0].transport, Transport::Tcp { config, .. } if config.syn_window.is_none()));
}

#[test]
fn options_that_need_sack_are_off_without_it() {
    let without = config("[tcp]\nprofile = \"linux\"\nsack = false\n", "");
    assert!(!without.sack && !without.prr && !without.duplicate_sack);
    let own = config("[tcp]\nprr = true\nduplicate_sack = true\n", "tcp = { sack = false }");
    assert!(!own.sack && !own.prr && !own.duplicate_sack);
}

#[test]
fn retries_may_be_without_end() {
    let config = config("[tcp]\nretries = 3\nsyn_retries = \"unlimited\"\n", "");
    assert_eq!((config.retries, config.syn_retries), (Some(3), None));
}

#[test]
fn settings_that_hurt_are_warned_of() {
    let warnings = |tables: &str, keys: &str| scenario(tables, keys).warnings;
    assert_eq!(warnings("[tcp]\nprofile = \"linux\"\n", FTP), Vec::<String>::new());
    assert_eq!(
        warnings("[tcp]\nmin_rto = \"200 ms\"\n", FTP),
        [
            "tcp: delayed_ack holds an acknowledgement back for up to 200 ms where min_rto is 200 ms: a lone segment may time \
             out although nothing is lost"
        ]
    );
    assert_eq!(
        warnings("[tcp]\nmin_rto = \"1 s\"\n", "traffic = { kind = \"saturating\" }"),
        ["[tcp] has no effect: no flow has transport = \"tcp\""]
    );
}

#[test]
fn headers_of_tcp_are_real_or_counted() {
    assert_eq!(scenario("", FTP).spec.headers.tcp, None);
    assert_eq!(scenario("[headers]\ntcp = \"real\"\n", FTP).spec.headers.tcp, None);
    assert_eq!(scenario("[headers]\ntcp = \"40 B\"\n", FTP).spec.headers.tcp, Some(40));
}

fn traffic(table: &str) -> Traffic {
    flow("", &format!("transport = \"tcp\"\ntraffic = {{ {table} }}")).traffic
}

#[test]
fn every_kind_of_traffic_may_use_tcp() {
    assert_eq!(traffic("kind = \"ftp\""), Traffic::Endless);
    assert_eq!(traffic("kind = \"saturating\""), Traffic::Saturating { packet: Bytes(1460) });
    assert!(matches!(traffic("kind = \"constant\", rate = \"1 Mbit/s\""), Traffic::ConstantRate { .. }));
    assert!(matches!(traffic("kind = \"poisson\", rate = \"1 Mbit/s\""), Traffic::Poisson { .. }));
    assert_eq!(traffic("kind = \"file\", size = \"1 MB\""), Traffic::File { size: Bytes(1_000_000) });
    let web = "kind = \"web\", size = \"30 kB\", distribution = \"exponential\", pause = \"2 s\"";
    let sizes = Sizes::Exponential { mean: Bytes(30_000) };
    assert_eq!(traffic(web), Traffic::Web { sizes, pause: Span::from_secs(2) });
    let arrivals = "kind = \"arrivals\", per_second = 2.5, size = \"30 kB\", count = 7";
    let sizes = Sizes::Fixed(Bytes(30_000));
    assert_eq!(traffic(arrivals), Traffic::Arrivals { per_second: 2.5, sizes, count: 7 });
}

#[test]
fn a_load_gives_the_rate_of_arrivals() {
    let table = "kind = \"arrivals\", load = 0.9, capacity = \"10 Mbit/s\", size = \"12.5 kB\", distribution = \"pareto\"";
    // 10 Mbit/s are 100 files of 12.5 kB in a second.
    let sizes = Sizes::Pareto { mean: Bytes(12_500), shape: 1.2, most: Bytes(125_000_000) };
    assert_eq!(traffic(table), Traffic::Arrivals { per_second: 90.0, sizes, count: 0 });
    let text = text("", &format!("transport = \"tcp\"\ntraffic = {{ {table} }}"));
    let set = Override::parse("flow.f.traffic.per_second=4").unwrap();
    let spec = read(&text, "x.toml", &[set]).unwrap().spec;
    assert!(matches!(spec.flows[0].traffic, Traffic::Arrivals { per_second: 4.0, .. }));
}

#[test]
fn long_tcp_flows_do_not_start_at_once() {
    let jitter = |keys: &str| flow("", keys).start_jitter;
    assert_eq!(jitter(FTP), Span::from_millis(100));
    assert_eq!(jitter("transport = \"tcp\"\ntraffic = { kind = \"saturating\" }"), Span::from_millis(100));
    assert_eq!(jitter("traffic = { kind = \"saturating\" }"), Span::ZERO);
    assert_eq!(jitter("transport = \"tcp\"\ntraffic = { kind = \"file\", size = \"1 B\" }"), Span::ZERO);
    assert_eq!(jitter(&format!("{FTP}start_jitter = \"0 s\"")), Span::ZERO);
}

#[test]
fn drawn_flows_carry_tcp_too() {
    let flows = "[flows]\nkind = \"random\"\ncount = 3\ntransport = \"tcp-cubic\"\ntcp = { mss = \"500 B\" }\n\
                 traffic = { kind = \"file\", size = \"1 MB\" }\n";
    let all = scenario(flows, FTP).spec.flows;
    assert_eq!(all.len(), 4);
    for drawn in &all[1..] {
        assert_eq!(law(drawn), ("cubic", false));
        assert!(matches!(drawn.transport, Transport::Tcp { config, .. } if config.mss == 500));
    }
}

/// Writes a scenario and a list into one folder, and reads the scenario.
fn with_list(name: &str, list: &[u8]) -> Result<Scenario, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("flows.csv"), list).unwrap();
    let file = folder.join("x.toml");
    std::fs::write(
        &file,
        text("", "transport = \"tcp\"\ntraffic = { kind = \"list\", file = \"flows.csv\" }"),
    )
    .unwrap();
    read_file(&file, &[]).map_err(|e| e.to_string().replace(&format!("{}/", folder.display()), ""))
}

/// The scenario as its complete form, which names no other file.
fn without_files(scenario: Scenario) -> Scenario {
    assert_eq!(scenario.files.len(), 1);
    Scenario { files: Vec::new(), ..scenario }
}

#[test]
fn a_list_is_found_beside_the_scenario() {
    let list = b"\xef\xbb\xbf\"start_s\",\"bytes\"\r\n0.000200895,8000\r\n\"1e0\", 10 \r\n1,1\n\n";
    let scenario = with_list("good", list).unwrap();
    let at = |ns: u64, bytes: u64| (Span(ns), Bytes(bytes));
    let files = [at(200_895, 8000), at(1_000_000_000, 10), at(1_000_000_000, 1)];
    assert!(matches!(&scenario.spec.flows[0].traffic, Traffic::List { files: read } if **read == files));
    // The complete form contains the list itself.
    let again = read(&scenario.resolved, "resolved", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again, without_files(scenario));
}

#[test]
fn mistakes_in_a_list_have_their_line_and_column() {
    let fails = |name: &str, list: &str| with_list(name, list.as_bytes()).unwrap_err();
    let key = "x.toml:14: flow.f.traffic.file: \"flows.csv\"";
    assert_eq!(fails("empty", ""), format!("{key} line 1: \"\": expected the header start_s,bytes"));
    assert_eq!(
        fails("header", "time,size\n0,1\n"),
        format!("{key} line 1: \"time,size\": expected the header start_s,bytes")
    );
    assert_eq!(
        fails("no-rows", "start_s,bytes\n\n"),
        format!("{key} line 2: nothing below the header; expected a moment and a size")
    );
    assert_eq!(
        fails("cells", "start_s,bytes\n0,1\n0,1,2\n"),
        format!("{key} line 3: 3 cells; expected 2, start_s,bytes")
    );
    assert_eq!(
        fails("moment", "start_s,bytes\n0 s,1\n-1,1\nnan,1\n"),
        format!(
            "{key} line 2, column start_s: \"0 s\": expected a number of seconds, 0 to 31536000\n\
             {key} line 3, column start_s: \"-1\": expected a number of seconds, 0 to 31536000\n\
             {key} line 4, column start_s: \"nan\": expected a number of seconds, 0 to 31536000"
        )
    );
    assert_eq!(
        fails("size", "start_s,bytes\n0,0\n1,1.5\n"),
        format!(
            "{key} line 2, column bytes: \"0\": expected a whole number of bytes, 1 to 1000000000000000\n\
             {key} line 3, column bytes: \"1.5\": expected a whole number of bytes, 1 to 1000000000000000"
        )
    );
    assert_eq!(
        fails("order", "start_s,bytes\n2.5,1\n1,1\n"),
        format!(
            "{key} line 3, column start_s: \"1\": before the moment above; expected at least 2.5, in ascending order"
        )
    );
    let rows: String = (0..200_001).map(|i| format!("{i},1\n")).collect();
    let all = format!("start_s,bytes\n{rows}");
    assert_eq!(
        fails("long", &all),
        "x.toml:1: flow: 200001 files or more in the lists of all flows; expected at most 200000"
    );
    // The same list for each of many drawn flows is refused before it is copied.
    let drawn = "[flows]\nkind = \"random\"\ncount = 6\ntransport = \"tcp\"\ntraffic = { kind = \"list\", file = \"long/flows.csv\" }\n";
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("drawn.toml");
    std::fs::write(&file, text(drawn, FTP)).unwrap();
    let error = read_file(&file, &[]).unwrap_err().to_string();
    assert!(
        error.ends_with("flow: 1200006 files or more in the lists of all flows; expected at most 200000"),
        "{error}"
    );
    let missing = text("", "transport = \"tcp\"\ntraffic = { kind = \"list\", file = \"none.csv\" }");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("missing.toml");
    std::fs::write(&file, missing).unwrap();
    let error = read_file(&file, &[]).unwrap_err().to_string();
    assert!(error.contains(":14: flow.f.traffic.file: \"none.csv\": cannot be read: "), "{error}");
}

#[test]
fn the_longest_list_reads_and_reads_back() {
    let rows: String =
        (0..200_000).map(|i| format!("{i}.123456789,{}\n", 1_000_000_000_000_u64 + i)).collect();
    let scenario = with_list("longest", format!("start_s,bytes\n{rows}").as_bytes()).unwrap();
    let again = read(&scenario.resolved, "resolved", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert!(again == without_files(scenario));
}

#[test]
fn a_short_list_stands_in_the_scenario() {
    let files = [(Span::ZERO, Bytes(30_000)), (Span::from_millis(200), Bytes(5_000))];
    let read = traffic("kind = \"list\", files = [[\"0 s\", \"30 kB\"], [\"0.2 s\", \"5 kB\"]]");
    assert_eq!(read, Traffic::List { files: files.into() });
}

#[test]
fn every_law_and_key_is_in_the_reference() {
    let pages: Vec<_> =
        airfair_scenario::reference().into_iter().flat_map(|section| section.tables).collect();
    let page = |name: &str| pages.iter().find(|p| p.name == name).unwrap_or_else(|| panic!("{name}"));
    let transport = page("[[flow]]").keys.iter().find(|k| k.name == "transport").unwrap();
    for scheme in airfair_schemes::registry() {
        for (word, carrier) in [("tcp", Carrier::Tcp), ("udp", Carrier::Udp)] {
            let word = format!("{word}-{}", scheme.name);
            assert_eq!(transport.choices.contains(&word), scheme.has_source(carrier), "{word}");
        }
    }
    // A profile and one key for each field of the transport's configuration.
    let fields = format!("{:#?}", TcpConfig::default());
    for key in page("[tcp]").keys.iter().filter(|k| k.name != "profile") {
        assert!(fields.contains(&format!("\n    {}: ", key.name)), "{}", key.name);
    }
    let of_config = fields
        .lines()
        .filter(|l| l.starts_with("    ") && !l.starts_with("     ") && l.contains(": "))
        .count();
    // `profile` is a key only, `headers` a field only: [headers] has it.
    assert!(fields.contains("\n    headers: "));
    assert_eq!(page("[tcp]").keys.len(), of_config);
    for kind in ["ftp", "file", "web", "arrivals", "list"] {
        page(&format!("traffic with kind = \"{kind}\""));
    }
}
