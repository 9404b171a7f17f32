//! Sender and receiver of the transport with a rate over a channel that loses, delays, reorders and doubles, at a fixed pace.

use std::collections::BTreeMap;

use airfair_transport::rate::time_stamp;
use airfair_transport::rate::{Next, Receiver, Sender};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use airfair_wire::rate::{Arrivals, Data};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Channel {
    /// Probabilities, per cent.
    lost: u32,
    doubled: u32,
    /// Largest random delay beyond 5 ms, ms.
    jitter: u32,
    /// Interval of reports, ms; 0: one for each datagram.
    epoch: u64,
}

enum Event {
    Data(Data, u32),
    Report(Box<Arrivals>),
    Epoch,
    Pace,
}

/// Sends `count` datagrams; returns the time of the last news and the number of transmissions.
fn run(channel: Channel, count: u32, seed: u64) -> (Time, u64) {
    let mut random = Stream::new(seed, "channel", Purpose::Source);
    let (mut sender, mut receiver) = (Sender::default(), Receiver::default());
    let mut events: BTreeMap<(Time, u64), Event> = BTreeMap::new();
    let mut order = 0;
    let mut post = |events: &mut BTreeMap<_, _>, at: Time, event| {
        order += 1;
        events.insert((at, order), event);
    };
    post(&mut events, Time::ZERO, Event::Pace);
    let (mut made, mut delivered, mut transmissions, mut reporting) = (0, 0u64, 0, false);
    while let Some(((now, _), event)) = events.pop_first() {
        // Time-outs are up to a minute, and with 60 % lost both ways one in six brings news.
        assert!(now < Time(14_400_000_000_000), "four hours: {channel:?} {count} {seed}");
        if let Some(deadline) = sender.deadline().filter(|&deadline| deadline <= now) {
            sender.on_timer(deadline.max(now));
        }
        let carried = |random: &mut Stream| {
            let copies = 1 + u32::from(random.below(100) < channel.doubled);
            (0..copies)
                .filter_map(|_| {
                    let lost = random.below(100) < channel.lost;
                    let delay = 5000 + random.below(channel.jitter * 1000 + 1);
                    (!lost).then_some(Span::from_micros(u64::from(delay)))
                })
                .collect::<Vec<_>>()
        };
        let mut reports = false;
        match event {
            Event::Pace => {
                let bytes = |number: u32| 1 + number % 7;
                let next = match sender.to_send() {
                    Next::Again(number, bytes) => {
                        sender.sent_again(now);
                        Some((number, bytes))
                    }
                    Next::New if made < count => {
                        made += 1;
                        let number = sender.sent_new(bytes(made - 1), now);
                        Some((number, bytes(made - 1)))
                    }
                    _ => None,
                };
                if let Some((number, size)) = next {
                    assert_eq!(size, bytes(number), "the same data");
                    transmissions += 1;
                    for delay in carried(&mut random) {
                        post(
                            &mut events,
                            now + delay,
                            Event::Data(Data { number, sent: time_stamp(now) }, size),
                        );
                    }
                }
                if made < count || !sender.is_done() {
                    post(&mut events, now + Span::from_millis(2), Event::Pace);
                }
            }
            Event::Data(data, size) => {
                delivered += receiver.on_data(data, size, now).delivered;
                if channel.epoch == 0 {
                    reports = true;
                } else if !reporting {
                    reporting = true;
                    post(&mut events, now + Span::from_millis(channel.epoch), Event::Epoch);
                }
            }
            Event::Epoch => (reports, reporting) = (true, false),
            Event::Report(arrivals) => {
                assert!(sender.on_arrivals(&arrivals, now).is_some());
            }
        }
        if reports {
            for arrivals in (0..).map_while(|part| receiver.arrivals(part, 255, now)) {
                for delay in carried(&mut random) {
                    post(&mut events, now + delay, Event::Report(Box::new(arrivals)));
                }
            }
        }
        if made == count && sender.is_done() {
            let all: u64 = (0..count).map(|number| u64::from(1 + number % 7)).sum();
            assert_eq!(delivered, all);
            return (now, transmissions);
        }
    }
    panic!("nothing happens any more: {channel:?} {count} {seed}");
}

/// Without loss and reordering nothing is sent twice; with a tenth lost little more than that tenth.
#[test]
fn little_is_sent_in_vain() {
    let clean = Channel { lost: 0, doubled: 0, jitter: 0, epoch: 0 };
    for epoch in [0, 100, 1000] {
        assert_eq!(run(Channel { epoch, ..clean }, 1000, 1).1, 1000);
        let (_, sent) = run(Channel { lost: 10, epoch, ..clean }, 10_000, 1);
        assert!((11_000..11_500).contains(&sent), "{epoch} {sent}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// All data arrive, once, whatever the channel does to datagrams and reports.
    #[test]
    fn all_data_arrive(
        lost in 0..60u32,
        doubled in 0..30u32,
        jitter in 0..80u32,
        epoch in prop::sample::select(vec![0u64, 30, 300, 1000]),
        count in 1..300u32,
        seed in 0..1000u64,
    ) {
        run(Channel { lost, doubled, jitter, epoch }, count, seed);
    }
}
