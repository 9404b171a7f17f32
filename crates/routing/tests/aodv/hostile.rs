//! Hostile neighbours: forged and mutated messages, and addresses that were invented. Work is counted, not time.

use airfair_routing::aodv::AodvConfig;
use airfair_routing::fuzz::{AODV, drive};
use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};

#[test]
fn any_course_of_events_costs_bounded_work() {
    let mut input = Input::Drawn(Stream::new(1, "hostile", Purpose::Routing));
    let worst = drive(&AodvConfig::default(), &AODV, &mut input, 50_000);
    assert!(worst.total > 100_000 && worst.message > 100, "{worst:?}");
    // With Hello messages and acknowledged replies there are more tables.
    let all =
        AodvConfig { hello: true, reply_acknowledgement: true, local_repair: true, ..AodvConfig::default() };
    let worst_of_all = drive(&all, &AODV, &mut input, 50_000);
    assert!(worst_of_all.total > 100_000, "{worst_of_all:?}");
    println!("{worst:?}, {worst_of_all:?}");
}
