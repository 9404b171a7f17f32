//! Both ends under arbitrary events: nothing panics, the rate stays between its bounds, the history stays bounded.

use airfair_schemes::ParamValue::{Flag, Integer};
use airfair_schemes::places::{
    Arrived, Ecn, FlowSetup, Header, ReceiverContext, ReceiverEffects, Sent, SourceContext, SourceEffects,
    Timer,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Time};
use proptest::prelude::*;

use super::ends;
use airfair_schemes::tfrc::header::Report;

#[derive(Debug, Clone)]
enum Event {
    /// A header, the payload and a mark.
    Arrives([u32; 4], u64, bool),
    Sends,
    Fires,
}

fn event() -> impl Strategy<Value = (u64, Event)> {
    let time = prop_oneof![4 => 0..200_000_000u64, 1 => any::<u64>()];
    let small = prop_oneof![3 => 0..2000u32, 1 => any::<u32>()];
    let fields = [small.clone(), small.clone(), small.clone(), small];
    let event = prop_oneof![
        4 => (fields, 1..2000u64, any::<bool>()).prop_map(|(fields, bytes, mark)| Event::Arrives(fields, bytes, mark)),
        2 => Just(Event::Sends),
        1 => Just(Event::Fires),
    ];
    (time, event)
}

proptest! {
    #[test]
    fn any_events_are_survived(
        events in prop::collection::vec(event(), 0..200),
        ecn in any::<bool>(),
        reordering in 1..5u64,
    ) {
        let set = [("ecn", Flag(ecn)), ("reordering", Integer(reordering))];
        let ends = ends("tfrc", &set);
        let (mut source, mut receiver) = (ends.source, ends.receiver.unwrap());
        let mut random = Stream::new(1, "flow", Purpose::Source);
        let (mut out, mut reports) = (SourceEffects::default(), ReceiverEffects::default());
        let mss = Bytes(1000);
        let setup =
            FlowSetup { mss, headers: Bytes(40), initial_window: Bytes(4000), window_limit: Bytes(u64::MAX), rtt: None, syn_lost: false , link: None};
        source.on_start(&setup, &mut SourceContext { now: Time(0), random: &mut random, out: &mut out });
        out.timers.clear();
        let mut now = Time(0);
        for (after, event) in events {
            now = Time(now.0.wrapping_add(after));
            let mut context = SourceContext { now, random: &mut random, out: &mut out };
            match event {
                Event::Arrives(fields, bytes, mark) => {
                    let header = Header { fields, ..Header::default() };
                    let mut report = [0x15, 17, 0, 0].to_vec();
                    report.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
                    assert!(Report::decode(&report).is_some());
                    // The last byte is cut off where the payload has an odd length.
                    source.on_report(&report[..20 - (bytes % 2) as usize], &mut context);
                    let ecn = if mark { Ecn::Ce } else { Ecn::Ect };
                    let data = Arrived { bytes: Bytes(bytes), ecn, header };
                    receiver.on_data(&data, &mut ReceiverContext { now, random: &mut random, out: &mut reports });
                }
                Event::Sends => {
                    source.stamp(&mut Header::default(), now);
                    source.on_sent(&Sent { bytes: mss, in_flight: Bytes(0), retransmission: false }, &mut context);
                }
                Event::Fires => {
                    source.on_timer(Timer(1), &mut context);
                    receiver.on_timer(Timer(1), &mut ReceiverContext { now, random: &mut random, out: &mut reports });
                }
            }
            let rate = source.allowance(now).rate.unwrap();
            prop_assert!(rate.0 >= 1000 * 8 / 64, "never below s/t_mbi: {rate:?}");
            let losses = receiver.loss_events().unwrap();
            prop_assert!((0.0..=1.0).contains(&losses.rate), "{losses:?}");
            prop_assert!(reports.reports.len() <= 1, "one report for an occasion");
            prop_assert!(out.timers.len() <= 1 && reports.timers.len() <= 1);
            out.timers.clear();
            (reports.timers, reports.reports) = (vec![], vec![]);
        }
    }
}
