//! Devices that vanish, files that are none, other programs in the way: the daemon says so, and no packet is harmed.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use support::{Daemon, Folder, left_behind, may_run, run, sleep, wait_until};

const ALL: &str = "[schemes.lbm]\ninterval = \"20 ms\"\nrho0 = 0.0\nalpha = 1000.0\n";

/// Counters of a radio that sends all the time.
fn write_counters(path: &Path) {
    let time = (support::now() * 1e9) as u64;
    let packets = time / 1_000_000;
    let text = format!(
        "at {time}\ntransmit {time}\nreceive 0\nbusy 0\nidle 0\nsent_packets {packets}\nsent_bytes {}\n\
         received_packets 0\nreceived_bytes 0\n",
        packets * 1000,
    );
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, path).unwrap();
}

fn config(counters: &Path, attach: &str) -> String {
    let radio = format!("[radio.wl0]\nrate = \"8 Mbit/s\"\nattach = \"{attach}\"\n");
    format!("scheme = \"lbm\"\n{ALL}{radio}load = \"file:{}\"\n", counters.display())
}

fn probability(daemon: &Daemon) -> f64 {
    daemon.state().radios[0].outgoing.probability
}

/// Waits until the law has set the largest probability.
fn marks_all(daemon: &Daemon, counters: &Path) -> bool {
    wait_until(4.0, || {
        write_counters(counters);
        sleep(Duration::from_millis(20));
        probability(daemon) > 0.9
    })
}

/// From marks to drops and back: a probability of marks never drops a packet, and the program stays where it is.
#[test]
fn another_law_begins_anew() {
    if !may_run("another_law_begins_anew") {
        return;
    }
    let station = support::network();
    for attach in ["tcx", "clsact"] {
        let folder = Folder::new(&format!("laws-{attach}"));
        let (counters, keys) = (folder.file("counters"), folder.file("keys"));
        let key = support::program().args(["key", "one"]).output().unwrap();
        fs::write(&keys, key.stdout).unwrap();
        Command::new("chmod").arg("600").arg(&keys).status().unwrap();
        write_counters(&counters);
        let messages = format!("[messages]\nkeys = \"{}\"\n", keys.display());
        let daemon = Daemon::start(&folder, &(config(&counters, attach) + &messages));
        assert!(marks_all(&daemon, &counters));
        let path = folder.file("airfaird.toml");
        let marking = fs::read_to_string(&path).unwrap();
        let before = station.received();
        let mut sent = 0;
        for (text, reloads) in [(marking.replace("scheme = \"lbm\"", "scheme = \"nred\""), 1), (marking, 2)] {
            let text = if reloads == 1 { text.replace(ALL, "") } else { text };
            fs::write(&path, text).unwrap();
            daemon.signal(rustix::process::Signal::HUP);
            assert!(wait_until(3.0, || {
                write_counters(&counters);
                station.receive(50);
                sent += 50;
                daemon.state().reloads == reloads
            }));
        }
        assert!(marks_all(&daemon, &counters));
        let arrived = || station.received().0 + station.received().1 - before.0 - before.1;
        assert!(wait_until(1.0, || arrived() == sent), "{} of {sent} ({attach})", arrived());
        let before = station.received();
        station.receive(100);
        assert!(wait_until(1.0, || station.received().0 == before.0 + 100), "it marks ({attach})");
    }
}

/// Counters that stop, or are replaced by something else, end marks within two seconds; the daemon goes on.
#[test]
fn dead_counters_let_packets_pass() {
    if !may_run("dead_counters_let_packets_pass") {
        return;
    }
    let station = support::network();
    let folder = Folder::new("dead");
    let counters = folder.file("counters");
    write_counters(&counters);
    let daemon = Daemon::start(&folder, &config(&counters, "auto"));
    assert!(marks_all(&daemon, &counters));
    fs::remove_file(&counters).unwrap();
    Command::new("mkfifo").arg(&counters).status().unwrap();
    sleep(Duration::from_millis(1_900));
    let before = station.received();
    station.receive(500);
    assert!(wait_until(1.0, || station.received() == (before.0, before.1 + 500)));
    assert!(wait_until(3.0, || !daemon.state().radios[0].acts));
    let reason = daemon.state().radios[0].reason.clone().unwrap();
    assert!(reason.ends_with("expected a regular file"), "{reason}");
    fs::remove_file(&counters).unwrap();
    assert!(marks_all(&daemon, &counters), "and it acts again");
}

/// A device that is deleted and made again gets the program again.
#[test]
fn a_new_device_is_followed() {
    if !may_run("a_new_device_is_followed") {
        return;
    }
    let _station = support::network();
    let folder = Folder::new("device");
    let counters = folder.file("counters");
    write_counters(&counters);
    let daemon = Daemon::start(&folder, &config(&counters, "auto"));
    assert!(marks_all(&daemon, &counters));
    run("ip link del wl0");
    assert!(wait_until(2.0, || daemon.state().radios[0].reason.as_deref() == Some("the device has gone")));
    run("ip link add wl0 type veth peer name other0");
    assert!(marks_all(&daemon, &counters));
    let packets = daemon.state().radios[0].outgoing.packets;
    run("ip link set other0 up");
    run("ip link set wl0 up");
    run("ip addr add 10.9.1.1/24 dev wl0");
    run("ip neigh add 10.9.1.2 lladdr 02:00:00:00:00:02 dev wl0");
    let socket = std::net::UdpSocket::bind("10.9.1.1:7000").unwrap();
    (0..10).for_each(|_| _ = socket.send_to(&[0; 100], "10.9.1.2:7000").unwrap());
    assert!(wait_until(1.0, || daemon.state().radios[0].outgoing.packets >= packets + 10));
}

/// Mistakes that end a start: each is named, and leaves nothing behind.
#[test]
fn what_stands_in_the_way_is_named() {
    if !may_run("what_stands_in_the_way_is_named") {
        return;
    }
    let _station = support::network();
    let folder = Folder::new("way");
    let counters = folder.file("counters");
    write_counters(&counters);
    let path = folder.file("second.toml");
    let attempt = |text: &str, socket: &str| {
        fs::write(&path, format!("{text}[status]\nsocket = \"{}\"\n", folder.file(socket).display()))
            .unwrap();
        let out = support::program().arg("run").arg(&path).stderr(Stdio::piped()).output().unwrap();
        assert!(!out.status.success());
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    fs::write(folder.file("precious"), "kept").unwrap();
    let said = attempt(&config(&counters, "auto"), "precious");
    assert!(said.contains("precious: expected a place for a socket; another file is there"), "{said}");
    assert_eq!(fs::read_to_string(folder.file("precious")).unwrap(), "kept");
    let said = attempt(&config(&counters, "auto").replace("wl0", "wl7"), "a.sock");
    assert!(said.contains("wl7: no such device"), "{said}");
    // The first of two devices is there, and gets its `clsact` before the second fails.
    let two = config(&counters, "clsact") + "[radio.wx9]\nrate = \"8 Mbit/s\"\n";
    let said = attempt(&two, "a.sock");
    assert!(said.contains("wx9: no such device"), "{said}");
    assert!(wait_until(2.0, || left_behind() == "0"), "{}", left_behind());
    run("tc qdisc add dev wl0 ingress");
    let said = attempt(&config(&counters, "clsact"), "a.sock");
    assert!(said.contains("wl0: a queueing discipline \"ingress\" stands where clsact would"), "{said}");
    run("tc qdisc del dev wl0 ingress");
    // One that somebody else has made stays.
    run("tc qdisc add dev wl0 clsact");
    let daemon = Daemon::start(&folder, &config(&counters, "clsact"));
    let said = attempt(&config(&counters, "clsact"), "a.sock");
    assert!(said.contains("wl0: another airfaird acts there"), "{said}");
    drop(daemon);
    assert_eq!(left_behind(), "0 clsact");
}

/// A user without rights but CAP_NET_ADMIN and CAP_BPF: the kernel takes the program, whose filters are found without names.
#[test]
fn two_capabilities_are_enough() {
    if !may_run("two_capabilities_are_enough") {
        return;
    }
    let station = support::network();
    for attach in ["tcx", "clsact"] {
        let folder = Folder::new(&format!("rights-{attach}"));
        let counters = folder.file("counters");
        write_counters(&counters);
        // The program where that user may run it.
        let program = folder.file("airfaird");
        fs::copy(env!("CARGO_BIN_EXE_airfaird"), &program).unwrap();
        Command::new("chown").args(["-R", "65534"]).arg(&folder.0).status().unwrap();
        let mut command = Command::new("setpriv");
        let rights = "+net_admin,+bpf";
        command.args([
            "--reuid",
            "65534",
            "--clear-groups",
            "--no-new-privs",
            "--bounding-set",
            "-all,+net_admin,+bpf",
        ]);
        command.args(["--inh-caps", rights, "--ambient-caps", rights, "--"]).arg(&program);
        let mut daemon = Daemon::start_by(command, &folder, &config(&counters, attach));
        assert!(marks_all(&daemon, &counters));
        let before = station.received();
        station.receive(100);
        assert!(wait_until(1.0, || station.received().0 == before.0 + 100), "it marks ({attach})");
        daemon.signal(rustix::process::Signal::KILL);
        daemon.child.wait().unwrap();
        let filters =
            || ["egress", "ingress"].map(|side| run(&format!("tc filter show dev wl0 {side}"))).concat();
        assert!(wait_until(1.0, || filters().is_empty()), "{}", filters());
        assert_eq!(left_behind(), "0");
    }
}

/// A log that nobody reads, and one that is full, stop nothing.
#[test]
fn a_log_that_takes_nothing_stops_nothing() {
    if !may_run("a_log_that_takes_nothing_stops_nothing") {
        return;
    }
    let _station = support::network();
    let folder = Folder::new("log");
    let counters = folder.file("counters");
    write_counters(&counters);
    let daemon = Daemon::start(&folder, &config(&counters, "auto"));
    // Nobody reads the pipe of its standard error: reloads fill it.
    for _ in 0..600 {
        daemon.signal(rustix::process::Signal::HUP);
        sleep(Duration::from_millis(1));
    }
    assert!(marks_all(&daemon, &counters));
    drop(daemon);
    assert_eq!(left_behind(), "0");
}
