//! The program, run as a user runs it; and the scheme, beside numbers worked by hand.

use std::process::{Command, Output};

use airfair_schemes::places::{
    AqmEffects, Context, Ecn, FlowId, FlowSetup, Interface, NodeId, Packet, PacketClass, PacketId, QueueView,
    SourceEffects, Verdict,
};
use airfair_schemes::{ParamValue, Params};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Time};

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/three-pairs.toml");

fn capped(overrides: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_capped"));
    command.args([SCENARIO, "duration=5 s", "warmup=2 s"]).args(overrides).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn it_runs_a_scenario() {
    let done = capped(&["scheme=capped", "capped.segments=1"]);
    assert_eq!(text(&done.stderr), "");
    let told = text(&done.stdout);
    assert_eq!(told.lines().count(), 4, "{told}");
    assert!(told.starts_with("left: "), "{told}");
    // One segment in flight never fills a queue of twenty.
    assert!(!told.contains("capped"), "{told}");
    let crowded = text(&capped(&["scheme=capped", "capped.segments=40", "capped.queue=5"]).stdout);
    assert!(crowded.contains("\"capped\": "), "{crowded}");
}

#[test]
fn what_is_wrong_is_said_as_of_any_scheme() {
    let done = capped(&["scheme=caped"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("did you mean \"capped\"?"), "{}", text(&done.stderr));
    let done = capped(&["scheme=capped", "capped.segments=0"]);
    let expected = "--set capped.segments: 0: out of range; expected 1 to 10000\n";
    assert_eq!(text(&done.stderr), expected);
}

#[test]
fn the_window_is_so_many_segments_and_the_queue_is_cut() {
    let params = Params([("segments".to_string(), ParamValue::Integer(3))].into());
    let scheme = (capped::entry().build)(&params).unwrap();
    let mut random = Stream::new(1, "test", Purpose::Queue);

    let mut source = scheme.source().unwrap();
    let setup = FlowSetup {
        mss: Bytes(512),
        headers: Bytes(40),
        initial_window: Bytes(1024),
        window_limit: Bytes(1_000_000),
        rtt: None,
        syn_lost: false,
        link: None,
    };
    let mut out = SourceEffects::default();
    source.on_start(&setup, &mut Context { now: Time::ZERO, random: &mut random, out: &mut out });
    assert!(out.is_empty());
    assert_eq!(source.allowance(Time::ZERO).window, Some(Bytes(1536)));

    let mut aqm = scheme.aqm(&Interface::radio(50)).unwrap();
    let packet = Packet {
        id: PacketId(0),
        flow: FlowId(0),
        destination: NodeId(1),
        next_hop: NodeId(1),
        bytes: 552,
        class: PacketClass::Data,
        ecn: Ecn::NotEct,
        labelled: false,
        own: false,
        enqueued: Time::ZERO,
    };
    let mut asked = |packets| {
        let queue = QueueView { packets, bytes: u64::from(packets) * 552, limit_packets: 66 };
        let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut AqmEffects };
        aqm.on_enqueue(&packet, &queue, &mut context)
    };
    assert_eq!(asked(19), Verdict::Pass);
    assert_eq!(asked(20), Verdict::Drop(capped::CAP));
}
