//! The complete form of every valid file reads as the same scenario.

use airfair_scenario::read;
use proptest::prelude::*;

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(words)
}

/// A key and a value, or nothing.
fn maybe(key: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::option::of(one_of(values))
        .prop_map(move |v| v.map_or_else(String::new, |v| format!("{key} = {v}\n")))
}

fn radio() -> impl Strategy<Value = String> {
    let phy = (
        maybe("standard", &["\"802.11b\"", "\"802.11g\""]),
        maybe("profile", &["\"standard\"", "\"ns-2\"", "\"ns-3\""]),
        maybe("data_rate", &["\"2 Mbit/s\"", "\"5.5 Mbit/s\"", "\"0.011 Gbit/s\""]),
        maybe("basic_rates", &["[\"1 Mbit/s\"]", "[\"1 Mbit/s\", \"2 Mbit/s\"]"]),
        maybe("preamble", &["\"long\"", "\"short\""]),
        maybe("relock", &["\"off\"", "\"10.25 dB\"", "\"-0.1 dB\""]),
        maybe("sensitivity", &["\"preamble-detect\"", "\"per-rate\"", "\"-80 dBm\""]),
        (maybe("frame_loss", &["0", "0.01", "1"]), maybe("packet_loss", &["0", "1e-4", "1"]))
            .prop_map(|(frame, packet)| format!("{frame}{packet}")),
        maybe("error_model", &["\"threshold\"", "\"worst-sinr\"", "\"per-chunk\""]),
        (-20.0..30.0f64, any::<bool>())
            .prop_map(|(p, w)| if w { format!("tx_power = \"{p} dBm\"\n") } else { String::new() }),
        (1.0..2000.0f64, 1.0..3.0f64, 0..5u8, 0.5..20.0f64).prop_map(|(range, sense, model, exponent)| {
            let carrier_sense = range * sense;
            let ranges = format!("range = \"{range} m\", carrier_sense = \"{carrier_sense} m\"");
            match model {
                0 => format!("propagation = {{ model = \"free-space\", {ranges} }}\n"),
                1 => format!("propagation = {{ model = \"two-ray\", antenna_height = \"2 m\", {ranges} }}\n"),
                2 => format!(
                    "propagation = {{ model = \"log-distance\", shadowing = \"{sense} dB\", exponent = {exponent}, {ranges} }}\n"
                ),
                3 => "propagation = { model = \"matrix\" }\n".to_string(),
                _ => String::new(),
            }
        }),
    );
    let mac = (
        maybe("rts_threshold", &["\"0 B\"", "\"1 KiB\""]),
        maybe("rts_from_attempt", &["2", "\"off\""]),
        maybe("cw_min", &["15", "7"]),
        maybe("eifs", &["\"off\"", "\"response-rate\""]),
        maybe("nav_reset", &["true", "false"]),
        maybe("backpressure", &["true", "false"]),
        maybe("local_limit", &["\"8 ms\"", "\"off\""]),
        maybe("long_retry_limit", &["1", "4294967295"]),
        maybe("noise_figure", &["\"0 dB\"", "\"3.3 dB\""]),
        maybe("sensing_delay", &["\"4 us\"", "\"0 s\""]),
    );
    (phy, mac).prop_map(|(p, m)| {
        [p.0, p.1, p.2, p.3, p.4, p.5, p.6, p.7, p.8, p.9, m.0, m.1, m.2, m.3, m.4, m.5, m.6, m.7, m.8]
            .concat()
    })
}

fn flow(i: usize) -> impl Strategy<Value = String> {
    let traffic = prop_oneof![
        (1..10_000_000u64, 1..65_507u64, 0.0..=1.0f64).prop_map(|(rate, packet, jitter)| format!(
            "{{ kind = \"constant\", rate = \"{rate} bit/s\", packet = \"{packet} B\", gap_jitter = {jitter:?} }}"
        )),
        (1..10_000u64).prop_map(|rate| format!(
            "{{ kind = \"poisson\", rate = \"{rate} kbit/s\", sizes = \"exponential\", start = \"3 ns\" }}"
        )),
        Just("{ kind = \"saturating\", stop = \"5 min\" }".to_string()),
        Just("{ kind = \"ftp\" }".to_string()),
        (1..1_000_000_000u64).prop_map(|size| format!("{{ kind = \"file\", size = \"{size} B\" }}")),
        (1..1_000_000u64, sizes()).prop_map(|(pause, sizes)| format!(
            "{{ kind = \"web\", pause = \"{pause} us\", {sizes} }}"
        )),
        (1e-3..1e6f64, sizes())
            .prop_map(|(rate, sizes)| format!("{{ kind = \"arrivals\", per_second = {rate:?}, {sizes} }}")),
        (0.01..2.0f64, sizes()).prop_map(|(load, sizes)| format!(
            "{{ kind = \"arrivals\", load = {load:?}, capacity = \"7 Mbit/s\", count = 9, {sizes} }}"
        )),
        proptest::collection::vec((0..10_000u64, 1..10_000u64), 1..5).prop_map(|mut files| {
            files.sort_unstable();
            let files: Vec<String> =
                files.iter().map(|(ms, size)| format!("[\"{ms} ms\", \"{size} B\"]")).collect();
            format!("{{ kind = \"list\", files = [{}] }}", files.join(", "))
        }),
    ];
    let carrier = prop_oneof![
        Just(String::new()),
        (maybe("transport", &["\"tcp\"", "\"tcp-vegas\""]), maybe("scheme", &["\"cubic\""]))
            .prop_map(|(transport, scheme)| format!("{transport}{scheme}")),
        (tcp(), maybe("scheme", &["\"bbr\""])).prop_map(|(tcp, scheme)| {
            let keys: Vec<&str> = tcp.lines().collect();
            format!("transport = \"tcp-reno\"\n{scheme}tcp = {{ {} }}\n", keys.join(", "))
        }),
    ];
    (0..9usize, 1..9usize, traffic, carrier).prop_map(move |(from, step, traffic, carrier)| {
        let to = (from + step) % 9;
        format!(
            "\n[[flow]]\nid = \"f{i}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\n{carrier}traffic = {traffic}\n"
        )
    })
}

fn sizes() -> impl Strategy<Value = String> {
    (1..1_000_000_000u64, 1.01..5.0f64, 0..5u8).prop_map(|(size, shape, kind)| match kind {
        0 => format!("size = \"{size} B\""),
        1 => format!("size = \"{size} B\", distribution = \"exponential\""),
        2 => format!("size = \"{size} B\", distribution = \"pareto\""),
        3 => format!("size = \"{size} B\", distribution = \"pareto\", shape = {shape:?}"),
        _ => format!("size = \"{size} B\", distribution = \"pareto\", most = \"1 GB\""),
    })
}

fn tcp() -> impl Strategy<Value = String> {
    let windows = (
        maybe("profile", &["\"rfc\"", "\"ns-2\"", "\"ns-3\"", "\"linux\""]),
        maybe("mss", &["\"536 B\"", "\"1460 B\"", "\"9 kB\""]),
        maybe("initial_window", &["\"1 segment\"", "\"rfc3390\"", "\"rfc6928\""]),
        maybe("window_limit", &["\"20 segments\"", "\"1 MB\""]),
        maybe("receive_window", &["\"64 KiB\"", "\"100 segments\"", "\"64 MB\""]),
        maybe("window_scale", &["0", "4", "14"]),
        maybe("timestamps", &["true", "false"]),
    );
    let times = (
        maybe("delayed_ack", &["\"off\"", "{}", "{ segments = 3, quick = 1 }"]),
        maybe("initial_rto", &["\"1 s\"", "\"3 s\""]),
        maybe("min_rto", &["\"20 ms\"", "\"2 s\""]),
        maybe("max_rto", &["\"2 s\"", "\"4 min\""]),
        maybe("tick", &["\"0.5 s\"", "\"1 ns\""]),
    );
    let rules = (
        maybe("sack", &["true", "false"]),
        maybe("prr", &["true", "false"]),
        maybe("undo", &["true", "false"]),
        maybe("duplicate_sack", &["true", "false"]),
        maybe("retries", &["\"unlimited\"", "0", "15"]),
        maybe("partial_ack_timer", &["\"impatient\"", "\"slow-but-steady\""]),
        maybe("handshake", &["false"]),
        maybe("fast_retransmit_once", &["true"]),
    );
    (windows, times, rules).prop_map(|(w, t, r)| {
        [w.0, w.1, w.2, w.3, w.4, w.5, w.6, t.0, t.1, t.2, t.3, t.4, r.0, r.1, r.2, r.3, r.4, r.5, r.6]
            .concat()
    })
}

fn routing() -> impl Strategy<Value = String> {
    let aodv = (
        maybe("active_route_timeout", &["\"3 s\"", "\"0.5 s\""]),
        maybe("net_diameter", &["1", "35", "255"]),
        maybe("node_traversal_time", &["\"1 ms\"", "\"0.1 s\""]),
        maybe("blacklist_timeout", &["\"0 s\"", "\"7 s\""]),
        maybe("max_repair_ttl", &["0", "9"]),
        maybe("hello", &["true", "false"]),
        maybe("local_repair", &["true"]),
        maybe("broadcast_jitter", &["\"0 s\"", "\"25 ms\""]),
        maybe("drop_queued", &["false"]),
    );
    let dsdv = (
        maybe("period", &["\"15 s\"", "\"11.25 s\""]),
        maybe("period_jitter", &["\"0 s\"", "\"3.75 s\""]),
        maybe("hold_periods", &["3", "9"]),
        maybe("settling_time", &["\"0 s\"", "\"6 s\""]),
        maybe("settling_weight", &["0.875", "0"]),
        maybe("full_dump_share", &["0.3333", "1"]),
        maybe("settle_all", &["true", "false"]),
        maybe("trigger_on_new_number", &["true", "false"]),
        maybe("answer_broken", &["true", "false"]),
        maybe("buffer_per_destination", &["1", "9"]),
    );
    let protocol = maybe("protocol", &["\"aodv\"", "\"dsdv\"", "\"static\""]);
    let (metric, hops) = (maybe("metric", &["\"hops\""]), maybe("hop_limit", &["1", "255"]));
    let tables = (proptest::option::of(aodv), proptest::option::of(dsdv));
    (protocol, metric, hops, tables).prop_map(|(protocol, metric, hops, (aodv, dsdv))| {
        let aodv = aodv.map_or_else(String::new, |a| {
            format!("\n[aodv]\n{}", [a.0, a.1, a.2, a.3, a.4, a.5, a.6, a.7, a.8].concat())
        });
        let dsdv = dsdv.map_or_else(String::new, |d| {
            format!("\n[dsdv]\n{}", [d.0, d.1, d.2, d.3, d.4, d.5, d.6, d.7, d.8].concat())
        });
        format!("\n[routing]\n{protocol}{metric}{hops}{aodv}{dsdv}")
    })
}

fn nodes() -> impl Strategy<Value = String> {
    prop_oneof![
        (0.0..500.0f64).prop_map(|s| format!("kind = \"chain\"\ncount = 9\nspacing = \"{s} m\"\n")),
        (0.0..500.0f64)
            .prop_map(|s| format!("kind = \"grid\"\nrows = 3\ncolumns = 3\nspacing = \"{s} m\"\n")),
        any::<u32>()
            .prop_map(|s| format!("kind = \"random\"\ncount = 9\narea = [\"2 m\", \"1 m\"]\nseed = {s}\n")),
    ]
    .prop_map(|g| format!("\n[nodes]\nprefix = \"n\"\n{g}"))
}

fn movement() -> impl Strategy<Value = String> {
    let waypoint = (-1e3..1e3f64, 0..4u8, 0.0..50.0f64, 0..3000u64).prop_map(|(x, kind, speed, pause)| {
        let to = format!("to = [\"{x} m\", \"0.1 km\"{}]", if kind == 1 { ", \"7 m\"" } else { "" });
        let pace =
            if kind == 2 { "speed = \"36 km/h\"".to_string() } else { format!("speed = \"{speed} m/s\"") };
        format!("{{ {to}, {pace}, pause = \"{} ms\" }}", pause + 1)
    });
    let refresh = maybe("refresh_interval", &["\"1 ms\"", "\"0.5 s\""]);
    (proptest::collection::vec(waypoint, 1..5), any::<bool>(), refresh).prop_map(
        |(waypoints, repeat, refresh)| {
            let waypoints = waypoints.join(", ");
            format!("movement = {{ repeat = {repeat}, waypoints = [{waypoints}] }}\n\n[movement]\n{refresh}")
        },
    )
}

fn link() -> impl Strategy<Value = String> {
    let change = (1..1_000_000u64, 1..1_000_000_000_000u64);
    (1..2000u64, proptest::collection::btree_map(change.0, change.1, 0..4)).prop_map(|(rate, changes)| {
        let changes: Vec<String> = changes
            .iter()
            .map(|(us, rate)| format!("{{ at = \"{us} us\", rate = \"{rate} bit/s\" }}"))
            .collect();
        let changes = format!("rate_changes = [{}]\n", changes.join(", "));
        format!("\n[[link]]\nends = [\"n0\", \"n1\"]\nrate = \"{rate} Mbit/s\"\n{changes}")
    })
}

proptest! {
    #[test]
    fn the_complete_form_reads_as_the_same_scenario(
        radio in radio(),
        fast in proptest::option::of(radio()),
        nodes in nodes(),
        tcp in proptest::option::of(tcp()),
        routing in routing(),
        flows in (flow(0), flow(1)),
        movement in proptest::option::of(movement()),
        link in proptest::option::of(link()),
        description in "[ -~äß\t]{0,30}",
    ) {
        let mut text = format!("name = \"any\"\nduration = \"10 s\"\ndescription = {description:?}\n\n[radio]\n{radio}");
        if let Some(fast) = &fast {
            text.push_str(&format!("\n[radios.\"more kinds\"]\nchannel = 6\n{fast}"));
        }
        text.push_str(&nodes);
        text.push_str("\n[[node]]\nid = \"gain \\\"1\\\"\"\nposition = [\"-1.5 m\", \"0.1 km\", \"3 m\"]\n");
        if fast.is_none() {
            text.push_str("scheme = \"nred\"\n");
        }
        text.push_str(&movement.unwrap_or_default());
        text.push_str(&format!("{}{}", flows.0, flows.1));
        text.push_str(&link.unwrap_or_default());
        if let Some(tcp) = tcp {
            text.push_str(&format!("\n[tcp]\n{tcp}"));
        }
        text.push_str(&routing);
        text.push_str("\n[flows]\nkind = \"random\"\ncount = 5\ntraffic = { kind = \"saturating\" }\n");
        let scenario = read(&text, "any.toml", &[]);
        // A file may be refused (a standard without the rate), but then with errors of its own lines.
        match scenario {
            Ok(scenario) => {
                let again = read(&scenario.resolved, "resolved.toml", &[]);
                let again = again.map_err(|e| TestCaseError::fail(format!("{e}\n{}", scenario.resolved)))?;
                prop_assert_eq!(again.spec, scenario.spec, "{}", scenario.resolved);
                prop_assert_eq!(again.resolved, scenario.resolved);
                prop_assert_eq!(again.warnings, scenario.warnings);
            }
            Err(errors) => prop_assert!(errors.list.iter().all(|e| e.to_string().starts_with("any.toml:")), "{errors}"),
        }
    }

    #[test]
    fn the_order_of_blocks_changes_only_the_order(seed in any::<u32>()) {
        let block = |i: u32| format!("\n[[node]]\nid = \"{i}\"\nposition = [\"{i} m\", \"0 m\"]\n");
        let tail = format!("\n[flows]\nkind = \"random\"\nseed = {seed}\ncount = 4\ntraffic = {{ kind = \"saturating\" }}\n");
        let file = |order: [u32; 4]| {
            let blocks: String = order.map(block).concat();
            let text = format!("name = \"any\"\nduration = \"10 s\"\n[radio]\n{blocks}{tail}");
            let spec = read(&text, "any.toml", &[]).unwrap().spec;
            let name = |i: usize| spec.nodes[i].id.clone();
            spec.flows.iter().map(|f| (f.id.clone(), name(f.from), name(f.to))).collect::<Vec<_>>()
        };
        prop_assert_eq!(file([1, 2, 3, 4]), file([3, 1, 4, 2]));
    }
}
