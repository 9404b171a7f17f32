//! Commands of the program as an operator sees them: exit statuses, lines of a terminal, a daemon that does not answer, one daemon after
//! another.

mod support;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, prlimit};
use support::{Daemon, Folder, left_behind, may_run, run, sleep, wait_until};

const RADIO: &str = "scheme = \"lbm\"\n[radio.wl0]\nrate = \"8 Mbit/s\"\n";

/// The exit status, and what was printed on standard output and standard error.
fn outcome(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = support::program().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn with_status(folder: &Folder, config: &str) -> String {
    let path = folder.file("airfaird.toml");
    let socket = folder.file("airfaird.sock");
    fs::write(&path, format!("{config}[status]\nsocket = \"{}\"\n", socket.display())).unwrap();
    path.display().to_string()
}

/// 2 for what stays wrong until somebody changes it, 1 for what a host refuses.
#[test]
fn exit_statuses_say_what_another_attempt_is_worth() {
    let folder = Folder::new("statuses");
    let none = folder.file("none.toml").display().to_string();
    for wrong in [&["chek"][..], &["check", "a", "b"], &["key"], &["key", "a b"], &["run", "--jsn"], &[]] {
        let (status, _, said) = outcome(wrong);
        assert_eq!(status, Some(2), "{wrong:?}: {said}");
        assert!(said.starts_with("airfaird: "), "{said}");
    }
    let right = "scheme = \"lbm\"\n[radio.wl0]\nrate = \"8 Mbit/s\"\n";
    let keys = folder.file("keys");
    fs::write(&keys, "no key\n").unwrap();
    let with_keys = format!("{right}[messages]\nkeys = \"{}\"\n", keys.display());
    let lacks = right.replace("lbm", "nred");
    for text in [&right.replace("rate", "rat"), &right.replace("wl0", "a/b"), &lacks, &with_keys] {
        let path = with_status(&folder, text);
        for command in [&["check", &path][..], &["run", "--dry-run", &path], &["run", &path]] {
            let (status, _, said) = outcome(command);
            assert_eq!(status, Some(2), "{command:?}: {said}");
            assert!(said.starts_with(&format!("airfaird: {}", folder.0.display())), "{said}");
        }
    }
    for command in ["check", "run", "clean"] {
        assert_eq!(outcome(&[command, &none]).0, Some(2), "{command}: no file");
    }
    // A device that is not there: it may come later.
    let absent = with_status(&folder, &right.replace("wl0", "wl-absent"));
    let (status, _, said) = outcome(&["run", &absent]);
    assert_eq!(status, Some(1), "{said}");
    let socket = folder.file("airfaird.sock").display().to_string();
    let (status, _, said) = outcome(&["status", "--socket", &socket]);
    assert_eq!(status, Some(1));
    assert_eq!(
        said.replace("\n  ", " "),
        format!("airfaird: no daemon answers at {socket}: is it running?\n")
    );
    assert_eq!(outcome(&["--version"]).0, Some(0));
    let (status, help, _) = outcome(&["--help"]);
    assert!(status == Some(0) && help.contains("Exit status: 0 fine; 1 ") && is_narrow(&help), "{help}");
}

fn is_narrow(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= 80)
}

/// The host is tried, and nothing is done to it.
#[test]
fn a_check_tries_the_host() {
    if !may_run("a_check_tries_the_host") {
        return;
    }
    let _station = support::network();
    let folder = Folder::new("check");
    let counters = folder.file("counters");
    let path = with_status(&folder, RADIO);
    for command in [&["check", &path][..], &["run", "--dry-run", &path]] {
        let (status, said, errors) = outcome(command);
        assert_eq!((status, errors.as_str()), (Some(0), ""), "{said}");
        let said = said.replace("\n  ", " ");
        for line in [
            "tried: the program for the kernel is in this build\n",
            "tried: CAP_NET_ADMIN and CAP_BPF are held\n",
            "tried: the kernel takes programs for traffic control\n",
            "tried: wl0: is there and up, with Ethernet addresses\n",
            "tried: wl0: counters can be read: the kernel's counters of wl0\n",
        ] {
            assert!(said.contains(line), "{line}{said}");
        }
        assert_eq!(left_behind(), "0");
    }
    // A device and counters that may come later are no mistake.
    let later = format!("{RADIO}load = \"file:{}\"\n[radio.wx9]\nrate = \"8 Mbit/s\"\n", counters.display());
    let (status, said, errors) = outcome(&["check", &with_status(&folder, &later)]);
    assert_eq!((status, errors.as_str()), (Some(0), ""), "{said}");
    assert!(is_narrow(&said), "{said}");
    let said = said.replace("\n  ", " ");
    assert!(said.contains("warning: wx9: no such device now"), "{said}");
    assert!(said.contains(&format!("warning: wl0: {}: No such file", counters.display())), "{said}");
    // Keys for a daemon that will run as another user.
    let keys = folder.file("keys");
    fs::write(&keys, outcome(&["key", "one"]).1).unwrap();
    let with_keys = with_status(&folder, &format!("{RADIO}[messages]\nkeys = \"{}\"\n", keys.display()));
    for (owner, group, mode, is_right) in
        [(0, 0, 0o600, true), (0, 12_345, 0o640, false), (12_345, 12_345, 0o400, false)]
    {
        std::os::unix::fs::chown(&keys, Some(owner), Some(group)).unwrap();
        fs::set_permissions(&keys, PermissionsExt::from_mode(mode)).unwrap();
        let (status, said, _) = outcome(&["check", &with_keys]);
        let said = said.replace("\n  ", " ");
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(said.contains("keys can be read: 1; \"one\" signs\n"), is_right, "{said}");
        assert_eq!(
            said.contains(&format!("warning: {}: expected a file", keys.display())),
            !is_right,
            "{said}"
        );
    }
    fs::set_permissions(&keys, PermissionsExt::from_mode(0o604)).unwrap();
    assert_eq!(outcome(&["check", &with_keys]).0, Some(2));
    // A device without Ethernet addresses, and another program's discipline, stay as they are.
    run("ip tuntap add dev tun0 mode tun");
    let (status, _, errors) = outcome(&["check", &with_status(&folder, &RADIO.replace("wl0", "tun0"))]);
    assert_eq!(status, Some(1));
    assert_eq!(errors, "airfaird: tun0: expected a device with Ethernet addresses\n");
    run("tc qdisc add dev wl0 ingress");
    let old = format!("{RADIO}attach = \"clsact\"\n");
    let (status, _, errors) = outcome(&["check", &with_status(&folder, &old)]);
    assert_eq!(status, Some(1));
    assert!(
        errors.contains("wl0: a queueing discipline \"ingress\" stands") && is_narrow(&errors),
        "{errors}"
    );
}

/// A terminal has eighty columns; file, line and key stay together.
#[test]
fn long_lines_are_broken_for_a_terminal() {
    let folder = Folder::new("lines");
    let keys = folder.file("keys");
    let key = outcome(&["key", "one"]).1;
    fs::write(&keys, key).unwrap();
    fs::set_permissions(&keys, PermissionsExt::from_mode(0o600)).unwrap();
    let nred = format!(
        "scheme = \"nred\"\nnode = \"a\"\n[radio.wl-absent]\nrate = \"8 Mbit/s\"\nload = \"survey\"\n[messages]\nkeys = \"{}\"\n",
        keys.display()
    );
    let (_, said, _) = outcome(&["check", &with_status(&folder, &nred)]);
    assert!(said.contains("wl-absent: drops packets in both directions by") && is_narrow(&said), "{said}");
    assert!(said.lines().any(|line| line.starts_with("  ")), "{said}");
    let path =
        with_status(&folder, &nred.replace("8 Mbit/s", "0 Mbit/s").replace("\"survey\"", "\"servey\""));
    let (_, _, errors) = outcome(&["check", &path]);
    assert!(
        errors.lines().any(|line| line.starts_with(&format!("airfaird: {path}:4: radio.wl-absent.rate:")))
    );
    assert!(is_narrow(&errors), "{errors}");
}

/// One that is stopped, as by a debugger: the answer is that there is none, within two seconds.
#[test]
fn a_daemon_that_is_stopped_does_not_answer() {
    if !may_run("a_daemon_that_is_stopped_does_not_answer") {
        return;
    }
    let _station = support::network();
    let folder = Folder::new("stopped");
    let daemon = Daemon::start(&folder, RADIO);
    let socket = daemon.socket.display().to_string();
    let asked = || {
        let before = support::now();
        let (status, _, said) = outcome(&["status", "--socket", &socket]);
        (support::now() - before, (status, said.replace("\n  ", " ")))
    };
    daemon.signal(Signal::STOP);
    let silent = (Some(1), format!("airfaird: no daemon answers at {socket}: is it running?\n"));
    let (seconds, answer) = asked();
    // Before anything can fail: one that is stopped would not end.
    daemon.signal(Signal::CONT);
    assert!(seconds < 2.0, "{seconds} s");
    assert_eq!(answer, silent);
    assert_eq!(asked().1.0, Some(0));
    let mut daemon = daemon;
    daemon.signal(Signal::KILL);
    daemon.child.wait().unwrap();
    assert!(Path::new(&socket).exists());
    assert_eq!(asked().1, silent);
}

/// A daemon that may open no more files: clients wait, and it does not use the processor for that.
#[test]
fn clients_that_cannot_be_accepted_cost_nothing() {
    if !may_run("clients_that_cannot_be_accepted_cost_nothing") {
        return;
    }
    let _station = support::network();
    let folder = Folder::new("files");
    let mut daemon = Daemon::start(&folder, RADIO);
    let process = Pid::from_child(&daemon.child);
    let open = fs::read_dir(format!("/proc/{}/fd", daemon.child.id())).unwrap();
    let open: Vec<u64> =
        open.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect();
    let free = (0..).find(|number| !open.contains(number));
    let whole = getrlimit(Resource::Nofile);
    let limit = |limit| prlimit(Some(process), Resource::Nofile, limit).unwrap();
    limit(Rlimit { current: free, maximum: whole.maximum });
    let mut client = UnixStream::connect(&daemon.socket).unwrap();
    // Hundredths of a second in which it has run.
    let used = || -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/stat", daemon.child.id())).unwrap();
        let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
        [11, 12].iter().map(|&at| fields[at].parse::<u64>().unwrap()).sum()
    };
    sleep(Duration::from_millis(100));
    let at_first = used();
    sleep(Duration::from_millis(1_500));
    let used = used() - at_first;
    assert!(used < 15, "{used} hundredths of 1.5 seconds");
    limit(whole);
    client.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    assert!(text.contains("wl0"), "the client gets its answer");
    daemon.signal(Signal::TERM);
    let mut log = String::new();
    daemon.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("clients of the state have to wait: Too many open files"), "{log}");
    assert!(!log.contains("the device has"), "the program stays at its device: {log}");
}

/// The keeper of a killed daemon is late: the filters of the daemon that was started meanwhile stay.
#[test]
fn a_late_keeper_leaves_the_next_daemon_alone() {
    if !may_run("a_late_keeper_leaves_the_next_daemon_alone") {
        return;
    }
    let _station = support::network();
    let folder = Folder::new("late");
    let config = format!("{RADIO}attach = \"clsact\"\n");
    let mut first = Daemon::start(&folder, &config);
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", first.child.id())).unwrap();
    let keeper = children.split_whitespace().next().expect("a keeper").to_string();
    // Another end of its pipe: it waits for this one, too.
    let pipe = fs::OpenOptions::new().write(true).open(format!("/proc/{keeper}/fd/0")).unwrap();
    first.signal(Signal::KILL);
    first.child.wait().unwrap();
    let second = Daemon::start(&folder, &config);
    assert_eq!(left_behind(), "2 clsact");
    drop(pipe);
    let is_gone = || {
        let state = fs::read_to_string(format!("/proc/{keeper}/stat"));
        state.map_or(true, |text| text.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z')))
    };
    assert!(wait_until(3.0, is_gone), "the keeper ends");
    assert_eq!(left_behind(), "2 clsact");
    drop(second);
    assert_eq!(left_behind(), "0");
}
