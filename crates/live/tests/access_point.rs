//! LBM at an access point: a pair of devices, real packets, the kernel's own counts of marks.

mod support;

use std::fs;
use std::time::Duration;

use support::{Daemon, Folder, left_behind, marks, may_run, network, replace, sleep, wait_until};

/// Counters in which the radio sends at 0.3 of 8 Mbit/s and is busy for that: the law's probability is 0.3 - 0.2.
fn write_counters(path: &std::path::Path, started: f64) {
    let time = support::now() - started;
    let (sent, time) = ((time * 300.0) as u64, (time * 1e9) as u64);
    let text = format!(
        "at {time}\ntransmit {}\nreceive 0\nbusy 0\nidle {}\nsent_packets {sent}\nsent_bytes {}\nreceived_packets 0\nreceived_bytes 0\n",
        time / 10 * 3,
        time / 10 * 7,
        sent * 1000
    );
    replace(path, &text);
}

/// A daemon's configuration with these counters; of any load it marks nearly all, unless `law` says otherwise.
fn config(counters: &std::path::Path, attach: &str, law: &str) -> String {
    let law = if law.is_empty() { "interval = \"20 ms\"\nrho0 = 0.0\nalpha = 1000.0" } else { law };
    let load = format!("load = \"file:{}\"\nattach = \"{attach}\"", counters.display());
    format!("scheme = \"lbm\"\n[schemes.lbm]\n{law}\n[radio.wl0]\nrate = \"8 Mbit/s\"\n{load}")
}

/// Section 2.2: of 10^5 packets as many are marked as the law says, within 2 %.
#[test]
fn packets_are_marked_with_the_probability_of_the_law() {
    if !may_run("packets_are_marked_with_the_probability_of_the_law") {
        return;
    }
    for attach in ["tcx", "clsact"] {
        let station = network();
        let folder = Folder::new(&format!("law-{attach}"));
        let counters = folder.file("counters");
        let started = support::now() - 1.0;
        write_counters(&counters, started);
        let config = config(
            &counters,
            attach,
            "interval = \"1 s\"
rho0 = 0.2
alpha = 3.6
evenness = 0.0",
        );
        let daemon = Daemon::start(&folder, &config);
        let is_near = |p: f64| (p - 0.36).abs() < 0.036;
        assert!(wait_until(8.0, || {
            write_counters(&counters, started);
            is_near(daemon.state().radios[0].outgoing.probability)
        }));
        // The probability stays as long as no sample is right: counters that stand still make none.
        let before = daemon.state();
        let p = before.radios[0].outgoing.probability;
        let (marked_before, plain_before) = station.received();
        const PACKETS: u64 = 50_000;
        for _ in 0..50 {
            station.receive(PACKETS / 50);
            station.send(PACKETS / 50);
            write_counters(&counters, started);
        }
        assert!(wait_until(2.0, || station.received().1 + station.received().0
            - marked_before
            - plain_before
            == PACKETS));
        let after = daemon.state();
        let (marked, plain) = station.received();
        let (marked, plain) = (marked - marked_before, plain - plain_before);
        let (marked_in, plain_in) = marks();
        assert_eq!((marked + plain, marked_in + plain_in), (PACKETS, PACKETS), "nothing is lost");
        let radio = &after.radios[0];
        assert_eq!(
            marked,
            radio.outgoing.marked - before.radios[0].outgoing.marked,
            "the kernel's counts are the stack's"
        );
        assert_eq!(marked_in, radio.incoming.marked);
        // The probability moves with the file's rounding; of 10^5 draws at 0.36 four standard deviations are 1.7 %.
        let (share, now) = ((marked + marked_in) as f64 / (2 * PACKETS) as f64, radio.outgoing.probability);
        let expected = (p + now) / 2.0;
        assert!(
            (share - expected).abs() < 0.02 * expected + (p - now).abs(),
            "{share} of {expected} ({attach})"
        );
        assert_eq!(radio.attachment, attach);
        drop(daemon);
        assert_eq!(left_behind(), "0");
    }
}

/// With evenness 4 a flow that has twice the rate of another one is marked 16 times as often: by rates of 4/3 and 2/3 of their mean.
#[test]
fn flows_are_marked_by_their_rates() {
    if !may_run("flows_are_marked_by_their_rates") {
        return;
    }
    let station = network();
    let folder = Folder::new("flows");
    let counters = folder.file("counters");
    let started = support::now() - 1.0;
    write_counters(&counters, started);
    let law = "interval = \"200 ms\"\nrho0 = 0.2\nalpha = 0.5\nevenness = 4.0";
    let daemon = Daemon::start(&folder, &config(&counters, "auto", law));
    let slower = std::net::UdpSocket::bind((support::ACCESS_POINT, 7001)).unwrap();
    rustix::net::sockopt::set_ip_tos(&slower, 2).unwrap();
    let both = |seconds: f64| {
        let (before, mut rounds, began) = (station.received(), 0, support::now());
        while support::now() - began < seconds {
            write_counters(&counters, started);
            for _ in 0..10 {
                station.receive(2);
                slower.send_to(&[0; 400], (support::STATION, 7000)).unwrap();
            }
            rounds += 1;
            sleep(Duration::from_millis(20));
        }
        let sent = 30 * rounds;
        let came = || station.received().0 + station.received().1 - before.0 - before.1;
        assert!(wait_until(1.0, || came() == sent));
        (station.received().0 - before.0) as f64 / sent as f64
    };
    both(1.5);
    let share = both(4.0);
    let p = daemon.state().radios[0].outgoing.probability;
    let of = |rate: f64| {
        let square = (rate / 1.5) * (rate / 1.5);
        p * square * square
    };
    let expected = (2.0 * of(2.0) + of(1.0)) / 3.0;
    assert!((share - expected).abs() < 0.12 * expected, "{share} of {expected}, at a probability of {p}");
}

/// A daemon that is killed loses no packet, and its marks end within two seconds; nothing of it stays. So it is at any moment.
#[test]
fn a_killed_daemon_does_no_harm() {
    if !may_run("a_killed_daemon_does_no_harm") {
        return;
    }
    let station = network();
    for (at, attach) in (0..20).zip(["tcx", "clsact"].into_iter().cycle()) {
        let folder = Folder::new(&format!("killed-{at}"));
        let counters = folder.file("counters");
        let started = support::now() - 1.0;
        write_counters(&counters, started);
        let config = config(&counters, attach, "");
        let mut daemon = Daemon::start(&folder, &config);
        assert!(wait_until(3.0, || {
            write_counters(&counters, started);
            sleep(Duration::from_millis(20));
            daemon.state().radios[0].outgoing.probability > 0.9
        }));
        // Moments that are spread over half a second, from a table that is the same each time.
        let moment = (at * 7919) % 500;
        let end = support::now() + f64::from(moment) / 1e3;
        let mut sent = 0;
        let before = station.received();
        while support::now() < end {
            station.receive(10);
            sent += 10;
            write_counters(&counters, started);
        }
        daemon.signal(rustix::process::Signal::KILL);
        daemon.child.wait().unwrap();
        let killed = support::now();
        let mut last = 0.0;
        let mut marked = station.received().0;
        while support::now() < killed + 2.2 {
            station.receive(5);
            sent += 5;
            sleep(Duration::from_millis(20));
            let now = station.received().0;
            if now > marked {
                (marked, last) = (now, support::now() - killed);
            }
            // Most of the time is waiting: after half a second without marks there will be none.
            if support::now() > killed + last + 0.5 && left_behind() == "0" {
                break;
            }
        }
        assert!(last < 2.0, "marked {last} s after the end ({attach})");
        let arrived = || {
            let (marked, plain) = station.received();
            marked + plain - before.0 - before.1
        };
        wait_until(1.0, || arrived() == sent);
        // While `clsact` is removed the kernel stops the device: packets of that moment are lost, whoever removes it.
        let lost = sent - arrived();
        assert!(
            lost == 0 || attach == "clsact" && lost <= 40,
            "{lost} packets were lost ({attach}, moment {moment} ms)"
        );
        assert_eq!(left_behind(), "0", "{attach}, moment {moment} ms");
    }
}

/// If the keeper is killed, too, the deadline in the kernel lets all packets pass, and `airfaird clean`, or the next daemon, removes the
/// rest.
#[test]
fn without_a_keeper_the_deadline_holds() {
    if !may_run("without_a_keeper_the_deadline_holds") {
        return;
    }
    let station = network();
    let folder = Folder::new("no-keeper");
    let counters = folder.file("counters");
    let started = support::now() - 1.0;
    write_counters(&counters, started);
    let config = config(&counters, "clsact", "");
    let mut daemon = Daemon::start(&folder, &config);
    assert!(wait_until(3.0, || {
        write_counters(&counters, started);
        sleep(Duration::from_millis(20));
        daemon.state().radios[0].outgoing.probability > 0.9
    }));
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", daemon.child.id())).unwrap();
    let keeper: i32 = children.split_whitespace().next().expect("a keeper").parse().unwrap();
    let kill = |process| rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    kill(rustix::process::Pid::from_raw(keeper).unwrap());
    daemon.signal(rustix::process::Signal::KILL);
    daemon.child.wait().unwrap();
    assert_eq!(left_behind(), "2 clsact");
    sleep(Duration::from_millis(1_600));
    let before = station.received();
    station.receive(2000);
    assert!(
        wait_until(1.0, || station.received() == (before.0, before.1 + 2000)),
        "all packets pass, unmarked"
    );
    let cleaned = support::program().arg("clean").arg(folder.file("airfaird.toml")).output().unwrap();
    assert!(cleaned.status.success());
    assert_eq!(String::from_utf8_lossy(&cleaned.stdout), "wl0: removed what was left\n");
    assert_eq!(left_behind(), "0");
}

/// A reload leaves no gap in which nothing is marked, and a wrong configuration changes nothing.
#[test]
fn a_reload_has_no_gap() {
    if !may_run("a_reload_has_no_gap") {
        return;
    }
    let station = network();
    let folder = Folder::new("reload");
    let counters = folder.file("counters");
    let started = support::now() - 1.0;
    write_counters(&counters, started);
    let config = config(&counters, "auto", "");
    let daemon = Daemon::start(&folder, &config);
    assert!(wait_until(3.0, || {
        write_counters(&counters, started);
        sleep(Duration::from_millis(20));
        daemon.state().radios[0].outgoing.probability > 0.9
    }));
    let path = folder.file("airfaird.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("rho0 = 0.0", "rho0 = 0.001")).unwrap();
    let before = station.received();
    daemon.signal(rustix::process::Signal::HUP);
    let mut sent = 0;
    assert!(wait_until(3.0, || {
        station.receive(100);
        sent += 100;
        write_counters(&counters, started);
        daemon.state().reloads == 1
    }));
    assert!(wait_until(1.0, || station.received() == (before.0 + sent, before.1)), "all are marked, always");
    fs::write(&path, text.replace("rho0 = 0.0", "rho0 = 7.0")).unwrap();
    daemon.signal(rustix::process::Signal::HUP);
    sleep(Duration::from_millis(200));
    let state = daemon.state();
    assert_eq!((state.reloads, state.radios[0].acts), (1, true));
}

/// A flow with a thousand times the probability of the others has the largest that is carried out.
#[test]
fn the_factor_of_a_flow_exceeds_no_limit() {
    use airfair_live::kernel::{Attachment, KernelMarker};
    use airfair_live::marker::{Action, Marker, Probabilities};
    use airfair_schemes::places::Probability;
    use airfair_units::{Span, Time};
    if !may_run("the_factor_of_a_flow_exceeds_no_limit") {
        return;
    }
    let station = network();
    let mut marker = KernelMarker::attach("wl0", Attachment::best(), Action::Mark, 7788).unwrap();
    marker.set_by_flow(true);
    station.receive(1);
    marker.set_factors(&|_| 1000.0).unwrap();
    let until = Time((support::now() * 1e9) as u64).saturating_add(Span::from_secs(60));
    for (most, least, highest) in [(0.2, 300, 500), (1.0, 2000, 2000)] {
        let of = [Probability::new(0.1), Probability::ZERO];
        marker.set(Probabilities { of, most: Probability::new(most), until }).unwrap();
        let before = marker.counts().unwrap()[0].marked;
        station.receive(2000);
        let marked = marker.counts().unwrap()[0].marked - before;
        assert!((least..=highest).contains(&marked), "{marked} of 2000 packets");
    }
}
