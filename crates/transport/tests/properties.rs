//! A sender and a receiver over a channel with loss, delay, reordering, duplication and marks.

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use airfair_schemes::places::Ecn;
use airfair_transport::{DelayedAck, PartialAckTimer, Receiver, Segment, Sender, State, TcpConfig, TickMode};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use proptest::prelude::*;

use support::World;
use support::laws::{Law, Log, Witness};

/// A channel: probabilities of loss, duplication and marks in per cent.
#[derive(Debug, Clone, Copy)]
struct Channel {
    lost: u32,
    repeated: u32,
    marked: u32,
    /// Largest random delay of a packet beyond 5 ms, ms.
    jitter: u32,
    /// Interval between pauses and resumptions of reading, ms; 0: no pauses.
    pauses: u32,
    /// Interval between stalls, ms, in each of which packets wait for the end of its first 400 ms; 0: no stalls.
    stalls: u32,
}

impl Channel {
    const CLEAN: Self = Self { lost: 0, repeated: 0, marked: 0, jitter: 0, pauses: 0, stalls: 0 };

    /// Wait of a packet that leaves now for the end of a stall, us.
    fn stall(&self, now: Time) -> u64 {
        let (now, every) = (now.0 / 1000, u64::from(self.stalls) * 1000);
        if every == 0 || now < every { 0 } else { 400_000u64.saturating_sub(now % every) }
    }
}

enum Event {
    Data(Segment),
    Ack(Segment),
    Reading(bool),
}

struct Run {
    sender: Sender,
    receiver: Receiver,
    world: World,
    channel: Channel,
    random: Stream,
    now: Time,
    /// By time, then by order of entry.
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
}

impl Run {
    fn chance(&mut self, percent: u32) -> bool {
        self.random.below(100) < percent
    }

    fn post(&mut self, after: u64, event: Event) {
        self.count += 1;
        self.events.insert((self.now + Span::from_micros(after), self.count), event);
    }

    fn carry(&mut self, segment: Segment, wrap: fn(Segment) -> Event) {
        let copies = 1 + u32::from(self.chance(self.channel.repeated));
        for _ in 0..copies {
            if self.chance(self.channel.lost) {
                continue;
            }
            let mut segment = segment;
            if segment.ecn == Ecn::Ect && self.chance(self.channel.marked) {
                segment.ecn = Ecn::Ce;
            }
            let delay = 5000 + self.random.below(self.channel.jitter * 1000 + 1);
            self.post(u64::from(delay) + self.channel.stall(self.now), wrap(segment));
        }
    }

    fn drain(&mut self) {
        while let Some(segment) = {
            let (next, una) = (self.sender.next_sequence(), self.sender.unacknowledged());
            let left = self.sender.poll(&mut self.world.at(self.now));
            let left = left.map(|departure| self.sender.segment(&departure, self.now));
            if let Some(segment) = left.filter(|segment| segment.payload > 0 && segment.seq >= next) {
                self.check_new(&segment, una);
            }
            left
        } {
            self.carry(segment, Event::Data);
        }
        while let Some(segment) = self.receiver.poll(self.now) {
            self.carry(segment, Event::Ack);
        }
        assert!(self.sender.sums_are_right());
    }

    /// No new data are sent beyond the receiver's window, except the probe of a closed one, nor beyond the congestion window.
    fn check_new(&self, segment: &Segment, una: u64) {
        let sender = &self.sender;
        let mss = u64::from(sender.peer().mss);
        let probe = segment.payload == 1 && sender.outstanding() == 0;
        assert!(probe || segment.end() <= una + sender.peer().window + u64::from(segment.flags.fin));
        if sender.state() != State::Recovery {
            // Limited transmit may send two segments more.
            assert!(sender.in_flight() <= (sender.window(self.now) + 2 * mss).max(mss));
        }
        assert!(u64::from(segment.payload) <= mss);
    }

    fn step(&mut self) -> bool {
        let event = self.events.keys().next().map(|key| key.0);
        let deadlines = [event, self.sender.deadline(), self.receiver.deadline()];
        let Some(at) = deadlines.into_iter().flatten().min() else { return false };
        assert!(at >= self.now, "time goes on");
        self.now = at;
        if self.sender.deadline().is_some_and(|due| due <= at) {
            self.sender.on_timer(&mut self.world.at(at));
            let due = self.sender.deadline();
            assert!(due.is_none_or(|due| due > at), "the timer was not heeded");
        } else if self.receiver.deadline().is_some_and(|due| due <= at) {
            self.receiver.on_timer(at);
            assert!(self.receiver.deadline().is_none_or(|due| due > at), "the timer was not heeded");
        } else if let Some((_, event)) = self.events.pop_first() {
            match event {
                Event::Data(segment) => self.receiver.on_segment(&segment, at),
                Event::Ack(segment) => self.sender.on_segment(&segment, &mut self.world.at(at)),
                Event::Reading(reading) => {
                    self.receiver.set_reading(reading);
                    let pause = u64::from(self.channel.pauses) * 1000;
                    self.post(pause, Event::Reading(!reading));
                }
            }
        }
        self.drain();
        true
    }
}

/// Sends `bytes`; returns the time at which all of them were delivered and acknowledged.
fn transfer(config: &TcpConfig, law: Law, channel: Channel, bytes: u64, seed: u64) -> Run {
    let log = Arc::new(Mutex::new(Log::default()));
    let mut run = Run {
        sender: Sender::new(config, Box::new(Witness::new(law, log))),
        receiver: Receiver::new(config),
        world: World::default(),
        channel,
        random: Stream::new(seed, "channel", Purpose::LinkLoss),
        now: Time::ZERO,
        events: BTreeMap::new(),
        count: 0,
    };
    if channel.pauses > 0 {
        run.post(1, Event::Reading(false));
    }
    run.sender.open(&mut run.world.at(Time::ZERO));
    run.sender.write(bytes);
    run.sender.close();
    run.drain();
    let mut steps = 0;
    while !run.sender.is_done() {
        assert!(run.step(), "nothing left to do, and not done");
        steps += 1;
        assert!(steps < 300_000, "it does not come to an end");
    }
    assert_eq!(run.receiver.delivered(), bytes);
    // Each byte is delivered once; those of probes are not counted.
    let counted = run.sender.delivered();
    assert!(counted <= bytes && counted + run.sender.stats().probes >= bytes, "{counted} of {bytes}");
    assert_eq!(run.receiver.is_finished(), config.fin);
    assert_eq!((run.sender.outstanding(), run.sender.in_flight()), (0, 0));
    run
}

fn configs() -> impl Strategy<Value = TcpConfig> {
    let switches = prop::array::uniform20(any::<bool>());
    (switches, 1u32..2000, 1u64..40_000, 1u64..50, 1u32..5).prop_map(|(on, mss, window, tick, threshold)| {
        let timeout = Span::from_millis(100);
        TcpConfig {
            mss,
            receive_window: window,
            window_scale: if on[0] { 3 } else { 0 },
            delayed_ack: on[1].then_some(DelayedAck {
                quick: 3,
                requick: on[16],
                pushed: on[17],
                ..DelayedAck::after(2, timeout)
            }),
            min_rto: Span::from_millis(50),
            max_rto: Span::from_secs(5),
            tick: Span::from_millis(tick),
            tick_mode: if on[13] { TickMode::Bsd } else { TickMode::RoundUp },
            syn_window: on[14].then_some(65_535),
            sack: on[2],
            duplicate_sack: on[3],
            limited_transmit: on[4],
            prr: on[5],
            undo: on[15],
            timestamps: on[6],
            ecn: on[7],
            handshake: on[8],
            nagle: on[9],
            fin: on[10],
            push: on[18],
            window_tuning: on[19],
            dupack_threshold: threshold,
            partial_ack_timer: if on[11] {
                PartialAckTimer::Impatient
            } else {
                PartialAckTimer::SlowButSteady
            },
            fast_retransmit_once: on[12],
            syn_retries: None,
            ..TcpConfig::default()
        }
    })
}

fn laws() -> impl Strategy<Value = Law> {
    prop_oneof![
        Just(Law::NewReno),
        Just(Law::Reno),
        (1u64..30_000).prop_map(Law::Fixed),
        (1u64..30_000, 100_000u64..10_000_000, proptest::option::of(1u64..5000))
            .prop_map(|(window, rate, quantum)| Law::Paced(window, rate, quantum)),
    ]
}

fn channels() -> impl Strategy<Value = Channel> {
    let times = |from| prop_oneof![Just(0), from..2000u32];
    (0u32..40, 0u32..20, 0u32..30, 0u32..40, prop_oneof![Just(0), 1u32..500], times(500)).prop_map(
        |(lost, repeated, marked, jitter, pauses, stalls)| Channel {
            lost,
            repeated,
            marked,
            jitter,
            pauses,
            stalls,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_in_the_end(
        config in configs(),
        law in laws(),
        channel in channels(),
        segments in 0u64..80,
        odd in 0u64..100,
        seed in any::<u64>(),
    ) {
        transfer(&config, law, channel, segments * u64::from(config.mss) + odd, seed);
    }
}

#[test]
fn a_clean_channel_repeats_nothing() {
    for sack in [false, true] {
        let config = TcpConfig { sack, ..TcpConfig::default() };
        let run = transfer(&config, Law::NewReno, Channel::CLEAN, 1_000_000, 1);
        let stats = run.sender.stats();
        assert_eq!((stats.retransmissions, stats.timeouts, stats.duplicate_acks), (0, 0, 0));
        assert_eq!(stats.bytes, 1_000_000);
        assert_eq!(run.receiver.stats().duplicates, 0);
    }
}

#[test]
fn selective_acknowledgements_save_retransmissions_and_time_outs() {
    let channel = Channel { lost: 3, ..Channel::CLEAN };
    let [without, with] = [false, true].map(|sack| {
        let config = TcpConfig { sack, min_rto: Span::from_millis(200), ..TcpConfig::default() };
        (0..20).fold((0, 0), |(again, timeouts), seed| {
            let run = transfer(&config, Law::Fixed(60_000), channel, 1_000_000, seed);
            let stats = run.sender.stats();
            (again + stats.retransmissions, timeouts + stats.timeouts)
        })
    });
    assert!(with.0 < without.0 && with.1 < without.1, "{with:?} {without:?}");
}

/// Where nothing is lost but all is late at times, each time-out sends as much again as its window of one segment, and no more.
#[test]
fn time_outs_by_delay_alone_send_one_segment_again() {
    let channel = Channel { stalls: 2000, ..Channel::CLEAN };
    for (timestamps, sack) in [(true, true), (true, false), (false, true)] {
        let [without, with] = [false, true].map(|undo| {
            let config = TcpConfig {
                undo,
                timestamps,
                sack,
                duplicate_sack: sack,
                min_rto: Span::from_millis(200),
                receive_window: 20_000,
                ..TcpConfig::default()
            };
            let run = transfer(&config, Law::NewReno, channel, 10_000_000, 1);
            let duplicates = run.receiver.stats().duplicates;
            (*run.sender.stats(), duplicates)
        });
        assert!(without.0.timeouts > 2 && without.0.spurious_timeouts == 0);
        assert!(with.0.timeouts > 2, "{with:?}");
        assert_eq!(with.0.spurious_timeouts, with.0.timeouts, "{timestamps} {sack}");
        if timestamps {
            assert_eq!(with.0.retransmissions, with.0.timeouts);
            assert_eq!(with.1, with.0.timeouts);
            assert!(without.1 > 2 * with.1, "{without:?} {with:?}");
        }
    }
}
