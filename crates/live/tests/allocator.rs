//! The airtime allocator's part in the kernel, on a pair of devices: rates of links by the receiver's own counts, and how it ends.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use airfair_live::messages::{Keys, Limits, Opened, Session};
use airfair_live::messenger::{Messenger, PORT, RadioSocket};
use airfair_live::netlink::Interfaces;
use airfair_live::shaper::{KernelShaper, remove_classes};
use airfair_live::shaping::{MacAddress, RateActuator};
use airfair_schemes::places::{LinkRate, NodeId};
use airfair_units::{Rate, Span, Time};
use airfair_wire::airtime::{Announcement, Link, State};
use support::{Daemon, Folder, Station, may_run, run, sleep, wait_until};

/// Bytes of the IP packets that the tests send.
const BYTES: f64 = 428.0;

/// Hardware address of a device in a network.
fn address(network: &fs::File, device: &str) -> MacAddress {
    std::thread::scope(|scope| {
        let find = || {
            support::enter(network);
            Interfaces::open().unwrap().interface(device).unwrap().mac.unwrap()
        };
        scope.spawn(find).join().unwrap()
    })
}

fn boot() -> Time {
    Time((support::now() * 1e9) as u64)
}

/// Bits of IP packets a second that the station receives while more than enough are sent to it, for so many seconds.
fn throughput(station: &Station, seconds: f64) -> f64 {
    let count = || station.received().1 as f64;
    let (before, began) = (count(), support::now());
    while support::now() - began < seconds {
        station.receive(20);
        sleep(Duration::from_millis(1));
    }
    (count() - before) * BYTES * 8.0 / (support::now() - began)
}

fn root() -> String {
    run("tc qdisc show dev wl0 root")
}

#[test]
fn a_link_has_its_rate_until_the_deadline() {
    if !may_run("a_link_has_its_rate_until_the_deadline") {
        return;
    }
    let station = support::network();
    let before = root();
    let mut shaper = KernelShaper::attach("wl0", PORT).unwrap();
    assert!(root().contains("qdisc htb 6169:"), "{}", root());
    let to = address(&station.network(), "st0");
    // With 572 bytes more a packet has 1000: 250 packets a second.
    let rate = LinkRate { rate: Rate(2_000_000), overhead: 572, burst: 2000 };
    shaper.set(&[(to, Some(rate)), ([2, 9, 9, 9, 9, 9], None)]).unwrap();
    shaper.hold(boot().saturating_add(Span::from_secs(60))).unwrap();
    station.receive(200);
    let found = throughput(&station, 2.0);
    let expected = 2e6 * BYTES / 1000.0;
    assert!((found / expected - 1.0).abs() < 0.03, "{found} of {expected} bit/s");
    let arrived = shaper.take_arrivals().unwrap();
    let flow = arrived.iter().find(|of| of.flow.is_some() && !of.answers).unwrap();
    assert!(flow.to == to && flow.packets > 1000 && flow.bytes == flow.packets * 428, "{flow:?}");
    assert!(shaper.take_arrivals().unwrap().iter().all(|of| of.packets < 20), "counted once");
    let link = shaper.links().unwrap().into_iter().find(|link| link.to == to).unwrap();
    assert!(link.waiting > 10 && link.dropped > 0 && link.sorted >= flow.packets, "{link:?}");
    // A rate without a deadline that holds is none.
    shaper.hold(Time::ZERO).unwrap();
    let found = throughput(&station, 1.0);
    assert!(found > 10.0 * expected, "{found} bit/s");
    // The packets that wait in a class leave before the class goes.
    shaper.hold(boot().saturating_add(Span::from_secs(60))).unwrap();
    let count = || station.received().1;
    assert!(wait_until(2.0, || shaper.links().unwrap().iter().all(|link| link.waiting == 0)));
    let received = count();
    station.receive(40);
    drop(shaper);
    assert!(wait_until(1.0, || count() - received == 40), "{} of 40", count() - received);
    assert_eq!(root(), before);
}

#[test]
fn the_root_of_somebody_else_stays() {
    if !may_run("the_root_of_somebody_else_stays") {
        return;
    }
    let _station = support::network();
    run("tc qdisc add dev wl0 root handle 7: pfifo limit 20");
    let before = root();
    let error = KernelShaper::attach("wl0", PORT).unwrap_err();
    assert!(error.contains("somebody has made stands at its root"), "{error}");
    assert!(!remove_classes("wl0"));
    assert_eq!(root(), before);
}
