//! NRED on two nodes with a pair of devices as their air: authentic notifications make a node drop, by the kernel's own counts.

mod support;

use std::time::Duration;

use airfair_wire::nred::Ncn;
use support::{Daemon, Folder, KEYS, Neighbour, may_run, replace, sleep, wait_until};

/// The hardware address that the neighbour states.
const ADDRESS: [u8; 6] = [2, 0, 0, 0, 0, 7];

/// Counters of a radio that sends for a quarter of the time on a channel that is always busy.
fn write_counters(path: &std::path::Path, started: f64) {
    let time = ((support::now() - started) * 1e9) as u64;
    let part = |of: u64| time / 100 * of;
    let packets = time / 10_000_000;
    let text = format!(
        "at {time}\ntransmit {}\nreceive {}\nreceive_own 0\nbusy 0\nidle {}\nsent_packets {packets}\nsent_bytes {}\n\
         received_packets 0\nreceived_bytes 0\n",
        part(25),
        part(70),
        time - part(95),
        packets * 1000,
    );
    replace(path, &text);
}

/// A notification of this share of drops, for two seconds.
fn notify(neighbour: &mut Neighbour, normalized: f64) {
    let ncn = Ncn { normalized: (normalized * f64::from(u32::MAX)) as u32, lifetime_ms: 2000 };
    let mut bytes = vec![0; Ncn::wire_len()];
    ncn.encode(&mut bytes).unwrap();
    neighbour.say(&bytes);
}

/// The share of 10,000 packets to the station that is dropped.
fn dropped(station: &support::Station, daemon: &Daemon) -> f64 {
    let before = daemon.state().radios[0].outgoing.dropped;
    station.receive(10_000);
    (daemon.state().radios[0].outgoing.dropped - before) as f64 / 10_000.0
}

#[test]
fn authentic_notifications_make_a_node_drop() {
    if !may_run("authentic_notifications_make_a_node_drop") {
        return;
    }
    let station = support::network();
    let folder = Folder::new("mesh");
    let (counters, keys) = (folder.file("counters"), folder.keys());
    let started = support::now() - 1.0;
    write_counters(&counters, started);
    let config = format!(
        "scheme = \"nred\"\nnode = \"one\"\n[radio.wl0]\nrate = \"2 Mbit/s\"\nload = \"file:{}\"\n\
         [messages]\nkeys = \"{}\"\nhello = \"500 ms\"\n\
         [schemes.nred]\npreset = \"paper\"\nset_up = false\nbroadcast = true\n",
        counters.display(),
        keys.display(),
    );
    let mut daemon = Daemon::start(&folder, &config);
    // The averages of the law take some intervals.
    for _ in 0..60 {
        write_counters(&counters, started);
        sleep(Duration::from_millis(50));
    }
    std::thread::scope(|scope| {
        let network = station.network();
        let (commands, wanted) = std::sync::mpsc::channel::<(&str, f64)>();
        let (done, ready) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            support::enter(&network);
            let mut stranger = Neighbour::new(&KEYS.replace("00112233", "ffeeddcc"));
            let mut neighbour = None;
            for (command, value) in wanted {
                match command {
                    "strange" => {
                        stranger.greet(ADDRESS, "x");
                        notify(&mut stranger, value);
                    }
                    "meet" => {
                        let of = neighbour.insert(Neighbour::new(KEYS));
                        for milliseconds in [300, 100] {
                            of.greet(ADDRESS, "two");
                            of.answer(milliseconds);
                        }
                    }
                    _ => neighbour.iter_mut().for_each(|of| notify(of, value)),
                }
                done.send(()).unwrap();
            }
        });
        let order = |command, value| {
            commands.send((command, value)).unwrap();
            ready.recv().unwrap();
        };
        // A stranger is not heard, and not answered.
        order("strange", 0.01);
        sleep(Duration::from_millis(200));
        write_counters(&counters, started);
        let state = daemon.state();
        assert!(state.radios[0].neighbours.is_empty());
        assert!(state.messages.unwrap().authentication["bad_mac"] > 0);
        order("meet", 0.0);
        assert!(wait_until(2.0, || daemon.state().radios[0].neighbours.len() == 1));
        assert_eq!(daemon.state().radios[0].neighbours[0].node, "two");
        assert!(dropped(&station, &daemon) == 0.0, "nothing was notified yet");
        // Section 5.3: the share is normalizedP_b avg_tx, and avg_tx a quarter of 242.7; by Algorithm 5.2 one of 1/(2 p) packets is
        // dropped.
        let normalized = 0.0005;
        let expected = 2.0 * normalized * 0.25 * 2e6 / (8.0 * 1030.0);
        order("notify", normalized);
        write_counters(&counters, started);
        sleep(Duration::from_millis(50));
        let share = dropped(&station, &daemon);
        assert!((share - expected).abs() < 0.08 * expected, "{share} of {expected}");
        // A neighbour that lies: whatever it says, no more than one of ten packets is dropped (`most_probability` 0.05).
        for lie in [1.0, 0.9] {
            order("notify", lie);
            write_counters(&counters, started);
            sleep(Duration::from_millis(50));
            let share = dropped(&station, &daemon);
            assert!((share - 0.1).abs() < 0.01, "{share} by a lie of {lie}");
        }
        // A notification ends after its lifetime.
        for _ in 0..44 {
            write_counters(&counters, started);
            sleep(Duration::from_millis(50));
        }
        assert_eq!(dropped(&station, &daemon), 0.0);
        // Drops end when the daemon is killed.
        order("notify", normalized);
        write_counters(&counters, started);
        sleep(Duration::from_millis(50));
        assert!(dropped(&station, &daemon) > 0.0);
        daemon.signal(rustix::process::Signal::KILL);
        daemon.child.wait().unwrap();
        sleep(Duration::from_millis(200));
        let before = station.received();
        station.receive(5_000);
        let arrived = || station.received().0 + station.received().1 - before.0 - before.1;
        assert!(wait_until(1.0, || arrived() == 5_000), "{} of 5000", arrived());
        drop(commands);
    });
}
