//! Broadcasts that an agent sends with a rate and a power of its own.

use std::sync::{Arc, Mutex};

use crate::support::{dot11b, id_of, node, number_of, saturating, world};
use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Destination, Interface, Message, NodeId, SendRate, Timer, Transmit,
};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::modes::Mode;
use airfair_sim::record::{FrameKind, FrameView, Record};
use airfair_sim::spec::*;
use airfair_units::{Db, Dbm, Rate, Span, Time};

/// The agent of node 0 says something every 10 ms; all others listen.
#[derive(Clone)]
struct Shouting {
    heard: Arc<Mutex<Vec<u32>>>,
    transmit: Option<Transmit>,
    to: Destination,
    ahead: bool,
    me: u32,
}

impl Agent for Shouting {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = number_of(setup.node);
        if self.me == 0 {
            context.out.timers.push((Timer(0), Time(1_000_000)));
        }
    }

    fn on_message(&mut self, _: NodeId, _: &[u8], _: bool, _: &mut AgentContext<'_>) {
        self.heard.lock().unwrap().push(self.me);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        let Self { to, ahead, transmit, .. } = *self;
        context.out.messages.push(Message { to, bytes: vec![9; 100], ahead, transmit });
        context.out.timers.push((timer, context.now + Span::from_millis(10)));
    }
}

impl Scheme for Shouting {
    fn agent(&self, _: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(self.clone()))
    }
}

fn shout(rate: SendRate, power: f64) -> Option<Transmit> {
    Some(Transmit { rate, power_offset: Db(power) })
}

/// Nodes 0, 1, 2, ... at these places on a line.
fn line(radio: RadioSpec, places: &[f64]) -> WorldSpec {
    let mut spec = world(radio, 1);
    for (i, &x) in places.iter().enumerate() {
        node(&mut spec, &i.to_string(), x, 0.0);
    }
    spec
}

/// How many of the hundred messages each node has heard, and the world at its end.
fn run(spec: &WorldSpec, transmit: Option<Transmit>) -> (Vec<usize>, World) {
    run_to(spec, transmit, Destination::Broadcast, true)
}

fn run_to(spec: &WorldSpec, transmit: Option<Transmit>, to: Destination, ahead: bool) -> (Vec<usize>, World) {
    let heard = Arc::default();
    let scheme = Shouting { heard: Arc::clone(&heard), transmit, to, ahead, me: 0 };
    let mut world = World::new(spec, "shouting", Box::new(scheme), 1).unwrap();
    world.start_trace();
    drive::to_end(&mut world);
    let heard = heard.lock().unwrap();
    let count = |node: usize| heard.iter().filter(|&&at| at as usize == node).count();
    ((0..spec.nodes.len()).map(count).collect(), world)
}

fn frames(world: &mut World) -> Vec<FrameView> {
    let of = |(_, record)| match record {
        Record::Start { frame } if frame.sender.0 == 0 => Some(frame),
        _ => None,
    };
    world.take_trace().into_iter().filter_map(of).collect()
}

/// Two-ray ground: twice the power, 3 dB, is received 10^(3/40) = 1.188 times as far, 297 m for 250 m; half the power 210 m. Ahead of the
/// queue and in it.
#[test]
fn power_extends_the_range() {
    let spec = line(dot11b(250.0, 550.0), &[0.0, 205.0, 215.0, 245.0, 255.0, 292.0, 302.0]);
    let expected = |reached: usize| -> Vec<usize> {
        (0..7).map(|node| if (1..=reached).contains(&node) { 100 } else { 0 }).collect()
    };
    for ahead in [true, false] {
        let heard = |transmit| run_to(&spec, transmit, Destination::Broadcast, ahead).0;
        assert_eq!(heard(None), expected(3));
        assert_eq!(heard(shout(SendRate::Broadcast, 0.0)), expected(3));
        assert_eq!(heard(shout(SendRate::Broadcast, 3.0)), expected(5));
        assert_eq!(heard(shout(SendRate::Broadcast, -3.0)), expected(1));
    }
}

/// Beyond 1.2 km, where hearers are in bands of their own: twice the power reaches 2970 m for 2500 m.
#[test]
fn power_extends_the_range_over_bands() {
    let mut radio = dot11b(2500.0, 5500.0);
    radio.phy.noise = Dbm(-200.0);
    let spec = line(radio, &[0.0, 900.0, 2490.0, 2510.0, 2960.0, 2980.0]);
    assert_eq!(run(&spec, None).0, [0, 100, 100, 0, 0, 0]);
    assert_eq!(run(&spec, shout(SendRate::Lowest, 3.0)).0, [0, 100, 100, 100, 100, 0]);
}

/// A louder frame occupies the medium farther away, and is recorded with its power; one that ends leaves no power behind.
#[test]
fn power_extends_carrier_sense() {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.cutoff = Dbm(-200.0);
    let spec = line(radio, &[0.0, 200.0, 600.0, 700.0]);
    let busy = |transmit| {
        let (_, world) = run(&spec, transmit);
        let busy =
            |station| world.air().airtime(airfair_sim::ids::StationIx(station), Time(999_000_000)).busy;
        assert!((0..4).all(|at| world.air().power(airfair_sim::ids::StationIx(at)).0 == 0), "power is left");
        [2, 3].map(|station| busy(station) > Span::ZERO)
    };
    assert_eq!([busy(None), busy(shout(SendRate::Broadcast, 3.0))], [[false; 2], [true, false]]);
    let (_, mut world) = run(&spec, shout(SendRate::Broadcast, 3.0));
    let powers: Vec<f64> = world
        .take_trace()
        .into_iter()
        .filter_map(|(_, record)| match record {
            Record::Received { at, signal, frame } => {
                assert_eq!((at.0, frame.power_offset), (1, 300));
                Some(signal.power.to_dbm().0)
            }
            _ => None,
        })
        .collect();
    let (_, mut world) = run(&spec, None);
    let ordinary = world.take_trace().into_iter().find_map(|(_, record)| match record {
        Record::Received { signal, .. } => Some(signal.power.to_dbm().0),
        _ => None,
    });
    assert_eq!(powers.len(), 100);
    assert!(
        powers.iter().all(|power| (power - ordinary.unwrap() - 3.0).abs() < 1e-6),
        "{powers:?} {ordinary:?}"
    );
}

/// By the error curves 1 Mbit/s arrives where 11 Mbit/s does not; by thresholds the rate of a frame decides nothing.
#[test]
fn a_low_rate_reaches_further_where_errors_depend_on_it() {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.broadcast_rate = Rate(11_000_000);
    radio.phy.error_model = ErrorModel::WorstSinr;
    radio.phy.noise = Dbm(radio.phy.preamble_detect.0 - 2.0);
    radio.phy.lock_sinr = Db(0.0);
    let spec = line(radio, &[0.0, 60.0, 240.0]);
    let heard = |rate| run(&spec, shout(rate, 0.0)).0;
    assert_eq!(heard(SendRate::Data), [0, 100, 0]);
    assert_eq!(heard(SendRate::Broadcast), [0, 100, 0]);
    assert_eq!(heard(SendRate::Lowest), [0, 100, 100]);
    let modes = [SendRate::Data, SendRate::Lowest].map(|rate| {
        let (_, mut world) = run(&spec, shout(rate, 0.0));
        let frames = frames(&mut world);
        assert!(frames.iter().all(|frame| frame.mode == frames[0].mode));
        frames[0].mode
    });
    assert_eq!(modes, [Mode::CCK11, Mode::DSSS1]);
}

/// A message to one neighbour and packets of flows are sent as ever, also between louder broadcasts.
#[test]
fn only_broadcasts_choose() {
    let mut spec = line(dot11b(250.0, 550.0), &[0.0, 200.0, 280.0]);
    let to = Destination::Neighbour(id_of(1));
    let (heard, mut world) = run_to(&spec, shout(SendRate::Lowest, 3.0), to, true);
    assert_eq!(heard, [0, 100, 0]);
    let sent = frames(&mut world);
    assert!(sent.iter().all(|frame| (frame.mode, frame.power_offset) == (Mode::CCK11, 0)), "{:?}", sent[0]);
    crate::support::flow(&mut spec, "f", 0, 1, saturating(1000));
    let (heard, mut world) = run(&spec, shout(SendRate::Lowest, 3.0));
    assert!(heard[1] > 95 && heard[2] > 95, "{heard:?}");
    for frame in frames(&mut world) {
        let power_offset = if frame.kind == FrameKind::Broadcast { 300 } else { 0 };
        assert_eq!(frame.power_offset, power_offset);
    }
    assert!(world.result().flows[0].goodput_bps > 3e6);
}

/// Rayleigh fading with mean power at the threshold: a share of e^-1 arrives; with twice the power e^-0.5. So it is while the receiver
/// moves.
#[test]
fn power_and_fading_multiply() {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.cutoff = Dbm(-200.0);
    radio.fading = Some(FadingSpec { law: FadingLaw::Rayleigh, coherence: Span::from_millis(1) });
    let mut spec = line(radio, &[0.0, 250.0]);
    spec.duration = Span::from_secs(20);
    let check = |spec: &WorldSpec| {
        let shares =
            [0.0, 3.0].map(|power| run(spec, shout(SendRate::Broadcast, power)).0[1] as f64 / 2000.0);
        // Four standard deviations of 2000 draws.
        assert!((shares[0] - 0.368).abs() < 0.044 && (shares[1] - 0.606).abs() < 0.044, "{shares:?}");
    };
    check(&spec);
    let knots = [
        Knot { at: Time::ZERO, position: [250.0, 0.0, 0.0] },
        Knot { at: Time(20_000_000_000), position: [250.0, 0.0, 30.0] },
    ];
    spec.movement.paths = vec![PathSpec { node: 1, knots: knots.into(), repeat_from: None }];
    check(&spec);
}
