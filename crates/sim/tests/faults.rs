//! The decorator of faults in worlds.

use std::sync::Arc;

use airfair_schemes::faulty::{Faults, Faulty};
use airfair_schemes::{ParamValue, Scheme};
use airfair_sim::World;
use airfair_sim::spec::*;
use airfair_units::Span;

use crate::support::wires::{built, finished, tcp};
use crate::support::{chain, diffq_levels, dot11b, flow, saturating, with_edca};
use airfair_transport::TcpConfig;

/// Three hops, a flow over UDP each way and one over TCP.
fn scene(levels: bool) -> WorldSpec {
    let radio = dot11b(250.0, 550.0);
    let radio = if levels { with_edca(radio, diffq_levels()) } else { radio };
    let mut spec = chain(radio, 3, 200.0, saturating(1000), 6);
    flow(&mut spec, "back", 3, 0, saturating(500));
    flow(&mut spec, "tcp", 1, 3, Traffic::Endless);
    spec.flows[2].transport = tcp(TcpConfig::default());
    spec
}

fn result(spec: &WorldSpec, name: &str, faults: Option<Faults>) -> String {
    let scheme = built(name, &[]);
    let scheme = match faults {
        Some(faults) => Box::new(Faulty::new(scheme, faults)),
        None => scheme,
    };
    format!("{:?}", finished(World::new(spec, name, scheme, 1).unwrap()))
}

/// A decorator whose lies are the truth stands at every hook and changes nothing, whatever the scheme.
#[test]
fn a_decorator_without_faults_is_the_scheme() {
    for (name, levels) in [
        ("nred", false),
        ("lbm", false),
        ("diffq", true),
        ("c3l", false),
        ("c3l-local", false),
        ("more", false),
    ] {
        let spec = scene(levels);
        let truth =
            Faults { messages: Some(Arc::new(|_| ())), header: Some(Arc::new(|_| ())), ..Faults::default() };
        assert!(result(&spec, name, Some(truth)) == result(&spec, name, None), "{name}");
    }
}

/// Any scheme with messages can have faults: DiffQ whose broadcasts of sizes are all lost, or late by up to a minute, is another DiffQ.
#[test]
fn faults_reach_the_messages_of_any_scheme() {
    let spec = scene(true);
    let run = |faults: Option<Faults>| {
        let inner = built("diffq", &[("sizes_by", ParamValue::Choice("broadcast"))]);
        let scheme: Box<dyn Scheme> = match faults {
            Some(faults) => Box::new(Faulty::new(inner, faults)),
            None => inner,
        };
        let result = finished(World::new(&spec, "diffq", scheme, 1).unwrap());
        let messages = result.stations.iter().filter_map(|station| station.messages.as_ref());
        (messages.map(|counts| counts.sent).sum::<u64>(), format!("{result:?}"))
    };
    let honest = run(None);
    let mute = run(Some(Faults { lost: 1.0, ..Faults::default() }));
    let late = run(Some(Faults { late: Span::from_secs(60), ..Faults::default() }));
    assert!(honest.1 != mute.1 && honest.1 != late.1 && mute.1 != late.1);
    // Four nodes, one each 100 ms of 6 s at most. Of those that wait for up to 60 s some 5 % leave in time: the mean of t/60 over 6 s.
    assert!((200..=240).contains(&honest.0) && mute.0 == 0, "{} {}", honest.0, mute.0);
    assert!((4..=24).contains(&late.0), "{}", late.0);
}
