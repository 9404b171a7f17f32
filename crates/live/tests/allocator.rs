//! The airtime allocator's part in the kernel, on a pair of devices: rates of links by the receiver's own counts, and how it ends.

mod support;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use airfair_live::messenger::{Messenger, PORT, RadioSocket};
use airfair_live::netlink::Interfaces;
use airfair_live::qdisc::kind_at_root;
use airfair_live::shaper::{KernelShaper, remove_classes};
use airfair_live::shaping::{MacAddress, RateActuator};
use airfair_schemes::places::LinkRate;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};
use airfair_wire::airtime::{Announcement, Link, State};
use rustix::process::Signal;
use support::{Daemon, Folder, KEYS, Neighbour, Station, may_run, replace, run, sleep, wait_until};

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
    let class = run("tc -d class show dev wl0");
    assert!(class.contains("rate 2Mbit overhead 558 ceil 2Mbit linklayer ethernet burst 2000b"), "{class}");
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
    assert_eq!(kind_at_root("wl0").unwrap().as_deref(), Some("pfifo"));
    assert_eq!(root(), before);
}

/// Without the capability for it a class stays when its neighbour goes; the next one gets its rate all the same, and those behind it.
#[test]
fn a_class_that_the_kernel_did_not_remove_is_used_again() {
    if !may_run("a_class_that_the_kernel_did_not_remove_is_used_again") {
        return;
    }
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let _station = support::network();
    let mut shaper = KernelShaper::attach("wl0", PORT).unwrap();
    let with = |last: u8, mbps: u64| {
        let rate = LinkRate { rate: Rate::from_mbps(mbps), overhead: 572, burst: 2000 };
        ([2, 0, 0, 0, 0, last], Some(rate))
    };
    shaper.set(&[with(1, 1), with(2, 1)]).unwrap();
    let mut sets = capabilities(None).unwrap();
    sets.effective = CapabilitySet::empty();
    set_capabilities(None, sets).unwrap();
    let error = shaper.set(&[with(2, 2)]).unwrap_err();
    assert!(error.contains("no permission"), "{error}");
    sets.effective = sets.permitted;
    set_capabilities(None, sets).unwrap();
    shaper.set(&[with(2, 2), with(3, 3), with(4, 4)]).unwrap();
    // One that somebody has removed.
    run("tc class del dev wl0 classid 6169:1");
    shaper.set(&[with(2, 2), with(4, 4)]).unwrap();
    let classes = run("tc class show dev wl0");
    assert!(classes.contains("rate 2Mbit") && classes.contains("rate 4Mbit"), "{classes}");
    assert_eq!(classes.lines().count(), 2, "{classes}");
}

/// Of a discipline that somebody else removes or replaces the daemon knows, and makes its own again where it may.
#[test]
fn a_root_that_somebody_replaces_is_noticed() {
    if !may_run("a_root_that_somebody_replaces_is_noticed") {
        return;
    }
    let scene = Scene::new("replaced");
    let daemon = scene.daemon();
    assert!(scene.traffic(6.0, || daemon.state().radios[0].acts));
    run("tc qdisc replace dev wl0 root handle 7: pfifo limit 20");
    let noticed = || {
        let radio = daemon.state().radios.remove(0);
        !radio.acts
            && radio.reason.is_some_and(|reason| reason.contains("somebody has made stands at its root"))
    };
    assert!(scene.traffic(3.0, noticed), "{:?}", daemon.state().radios);
    run("tc qdisc del dev wl0 root");
    assert!(scene.traffic(6.0, || root().contains("qdisc htb 6169:") && daemon.state().radios[0].acts));
    // By another attachment of programs rates are no others.
    let path = scene.folder.file("airfaird.toml");
    let text =
        fs::read_to_string(&path).unwrap().replace("[radio.wl0]\n", "[radio.wl0]\nattach = \"clsact\"\n");
    fs::write(&path, text).unwrap();
    daemon.signal(Signal::HUP);
    assert!(wait_until(3.0, || daemon.state().reloads == 1));
    assert!(root().contains("qdisc htb 6169:"), "{}", root());
}

/// While far more is sent than leaves, the neighbour learns of the hardware address.
#[test]
fn what_finds_addresses_does_not_wait() {
    if !may_run("what_finds_addresses_does_not_wait") {
        return;
    }
    let station = support::network();
    let mut shaper = KernelShaper::attach("wl0", PORT).unwrap();
    let to = address(&station.network(), "st0");
    let rate = LinkRate { rate: Rate(100_000), overhead: 572, burst: 2000 };
    shaper.set(&[(to, Some(rate))]).unwrap();
    shaper.hold(boot().saturating_add(Span::from_secs(60))).unwrap();
    run("ip addr add fd00::1/64 dev wl0 nodad");
    let six = "fd00::1".to_string();
    station.receive_quietly(100);
    let network = station.network();
    let found = std::thread::scope(|scope| {
        let find = || {
            support::enter(&network);
            run("ip addr add fd00::2/64 dev st0 nodad");
            run("ip neigh flush dev st0");
            let socket = std::net::UdpSocket::bind((support::STATION, 0)).unwrap();
            _ = socket.send_to(b"x", (support::ACCESS_POINT, 9));
            let by_four = wait_until(0.5, || run("ip neigh show dev st0").contains("lladdr"));
            run("ip neigh flush dev st0");
            let socket = std::net::UdpSocket::bind("[::]:0").unwrap();
            _ = socket.send_to(b"x", (six.as_str(), 9));
            by_four && wait_until(2.5, || run("ip -6 neigh show dev st0").contains("lladdr"))
        };
        scope.spawn(find).join().unwrap()
    });
    assert!(found);
    assert!(shaper.links().unwrap()[0].waiting > 0, "the class was full all the time");
}

/// The hellos of a daemon follow the hardware address of its device.
#[test]
fn a_hardware_address_that_changes_is_told() {
    if !may_run("a_hardware_address_that_changes_is_told") {
        return;
    }
    let _station = support::network();
    let mut socket = RadioSocket::open("wl0", PORT).unwrap();
    run("ip link set wl0 address 02:00:00:00:00:55");
    socket.refresh();
    assert_eq!(socket.hardware_address(), [2, 0, 0, 0, 0, 0x55]);
}

/// Counters of a radio that is alone on the air and has sent to one neighbour.
fn write_counters(path: &std::path::Path, started: f64, to: MacAddress) {
    let time = ((support::now() - started) * 1e9) as u64;
    let packets = time / 10_000_000;
    let [a, b, c, d, e, f] = to;
    let text = format!(
        "at {time}\ntransmit {}\nreceive 0\nreceive_own 0\nbusy 0\nidle {}\nsent_packets {packets}\nsent_bytes {}\n\
         received_packets 0\nreceived_bytes 0\n\
         link {a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x} {packets} 0 {packets} {}\n",
        time / 4,
        time - time / 4,
        packets * 428,
        packets * 428,
    );
    replace(path, &text);
}

/// An announcement of so many links of the neighbour's own, to nodes that nobody else knows.
fn announce(neighbour: &mut Neighbour, links: u32) {
    let flows = if links > 1 { 255 } else { 1 };
    let link = |to| Link { from: 77, to, used: u16::MAX, flows, state: State::Keeps, spoiled: false };
    let own = (1000..1000 + links).map(link);
    let said = Announcement::new(77, own, std::iter::empty(), std::iter::empty());
    let mut bytes = vec![0; said.wire_len()];
    said.encode(&mut bytes).unwrap();
    neighbour.say(&bytes);
}

/// A daemon of the allocator with its files, and a neighbour that announces links, in a thread of its own.
struct Scene {
    station: Station,
    to: MacAddress,
    folder: Folder,
    counters: PathBuf,
    started: f64,
    config: String,
    links: Arc<AtomicU32>,
    announcer: Option<JoinHandle<()>>,
}

impl Scene {
    fn new(name: &str) -> Self {
        let station = support::network();
        let folder = Folder::new(name);
        let (counters, keys) = (folder.file("counters"), folder.keys());
        let to = address(&station.network(), "st0");
        let started = support::now() - 1.0;
        write_counters(&counters, started, to);
        let config = format!(
            "scheme = \"airtime\"\nnode = \"one\"\n[radio.wl0]\nrate = \"11 Mbit/s\"\nload = \"file:{}\"\n\
             overhead = \"1 ms\"\nleast_share = 0.1\n[messages]\nkeys = \"{}\"\nhello = \"500 ms\"\n\
             [schemes.airtime]\nperiod = \"500 ms\"\n",
            counters.display(),
            keys.display(),
        );
        let links = Arc::new(AtomicU32::new(1));
        let (network, announced) = (station.network(), Arc::clone(&links));
        let announcer = std::thread::Builder::new().spawn(move || {
            support::enter(&network);
            let mut neighbour = Neighbour::new(KEYS);
            while announced.load(Relaxed) > 0 {
                neighbour.greet(to, "far");
                announce(&mut neighbour, announced.load(Relaxed));
                neighbour.answer(200);
            }
        });
        let announcer = Some(announcer.unwrap());
        Self { station, to, folder, counters, started, config, links, announcer }
    }

    fn daemon(&self) -> Daemon {
        Daemon::start(&self.folder, &self.config)
    }

    /// Traffic, without which no link counts, until something is so, or for so many seconds.
    fn traffic(&self, seconds: f64, mut until: impl FnMut() -> bool) -> bool {
        let end = support::now() + seconds;
        while support::now() < end {
            write_counters(&self.counters, self.started, self.to);
            self.station.receive(2);
            sleep(Duration::from_millis(20));
            if until() {
                return true;
            }
        }
        false
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.links.store(0, Relaxed);
        self.announcer.take().map(JoinHandle::join);
    }
}

fn rate(daemon: &Daemon) -> Option<u64> {
    daemon.state().radios[0].links.first().and_then(|link| link.rate_bps)
}

/// The daemon's own node gives way to a neighbour's links, and keeps the least share whatever is announced.
#[test]
fn announcements_limit_a_link_no_further_than_the_least_share() {
    if !may_run("announcements_limit_a_link_no_further_than_the_least_share") {
        return;
    }
    let scene = Scene::new("allocator");
    let daemon = scene.daemon();
    // One flow here, one there.
    assert!(scene.traffic(6.0, || rate(&daemon).is_some_and(|rate| rate < 6_000_000)), "{:?}", rate(&daemon));
    assert!(rate(&daemon) > Some(1_100_000));
    scene.links.store(32, Relaxed);
    assert!(scene.traffic(6.0, || rate(&daemon) == Some(1_100_000)), "{:?}", rate(&daemon));
    let state = daemon.state();
    assert!(state.radios[0].acts && state.radios[0].links[0].node == "far", "{state:?}");
    // 428 bytes and 1375 of overhead.
    let expected = 1.1e6 * BYTES / (BYTES + 1375.0);
    scene.station.receive(100);
    let found = throughput(&scene.station, 1.0);
    assert!((found / expected - 1.0).abs() < 0.08, "{found} of {expected} bit/s");
}

/// Ends a daemon at moments that a seed draws, while packets wait in its class, by a signal that it sees and by one that it does not. They
/// leave, nothing is held up afterwards, and the root of the device is as before.
fn end_at_moments(count: u64) {
    let scene = Scene::new("moments");
    let before = root();
    let mut random = Stream::new(7, "moments", Purpose::Agent);
    for (at, signal) in (0..count).zip([Signal::KILL, Signal::TERM].into_iter().cycle()) {
        let mut daemon = scene.daemon();
        assert!(scene.traffic(6.0, || rate(&daemon).is_some_and(|rate| rate < 6_000_000)), "run {at}");
        scene.traffic(1.2 * random.uniform(), || false);
        let empty = || daemon.state().radios[0].links[0].waiting == 0;
        assert!(wait_until(3.0, empty), "run {at}");
        let received = scene.station.received().1;
        scene.station.receive(45);
        daemon.signal(signal);
        assert!(wait_until(2.0, || root() == before), "run {at}: {}", root());
        let arrived = || scene.station.received().1 - received;
        assert!(wait_until(1.0, || arrived() == 45), "run {at}, {signal:?}: {} of 45 packets", arrived());
        assert!(throughput(&scene.station, 0.1) > 5e6, "run {at}");
        _ = daemon.child.wait();
    }
}

#[test]
fn a_daemon_that_ends_holds_nothing_up() {
    if may_run("a_daemon_that_ends_holds_nothing_up") {
        end_at_moments(2);
    }
}

#[test]
#[ignore = "a minute: make fuzz-live"]
fn a_daemon_that_ends_at_any_of_twenty_moments_holds_nothing_up() {
    if may_run("a_daemon_that_ends_at_any_of_twenty_moments_holds_nothing_up") {
        end_at_moments(20);
    }
}
