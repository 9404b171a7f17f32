//! Counters as text: from a file that another program writes, and from the emulation.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use airfair_host::InterfaceCounters;
use airfair_schemes::places::{Airtime, Capability, LinkUse};
use airfair_units::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, recv, send, socket_with,
};

use super::{Fault, LoadSource};
use crate::file::read_text;

/// Most bytes of a text of counters.
const LARGEST_TEXT: usize = 4096;

/// Counters as text, in lines of a name and a whole number. Times are in nanoseconds, `at` by the boot clock or any other that goes on;
/// what is missing of the five states of the radio counts as idle.
///
/// ```text
/// at 12000000000
/// transmit 300000000
/// receive 120000000
/// receive_own 90000000
/// busy 10000000
/// idle 570000000
/// retries 12
/// sent_packets 812
/// sent_bytes 1109000
/// received_packets 400
/// received_bytes 20800
/// ```
///
/// # Errors
/// A line that is none of these, twice the same, one that is missing.
pub fn parse_counters(text: &str) -> Result<InterfaceCounters, String> {
    const NAMES: [&str; 12] = [
        "at",
        "transmit",
        "receive",
        "receive_own",
        "busy",
        "nav",
        "idle",
        "retries",
        "sent_packets",
        "sent_bytes",
        "received_packets",
        "received_bytes",
    ];
    let mut values = [None; NAMES.len()];
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let expected =
            || format!("line {number}: expected a name and a whole number, such as \"busy 120000\"");
        let mut words = line.split_whitespace();
        let (name, value) = words.next().zip(words.next()).ok_or_else(expected)?;
        let value: u64 = value.parse().map_err(|_| expected())?;
        let at = NAMES.iter().position(|known| *known == name);
        let at =
            at.ok_or_else(|| format!("line {number}: no counter is called \"{}\"", name.escape_default()))?;
        if values[at].replace(value).is_some() {
            return Err(format!("line {number}: a second \"{name}\""));
        }
    }
    let value = |name: &str| {
        let at = NAMES.iter().position(|known| *known == name).unwrap_or(0);
        values[at].ok_or_else(|| format!("\"{name}\" is missing"))
    };
    let link = LinkUse {
        sent_packets: value("sent_packets")?,
        sent_bytes: value("sent_bytes")?,
        received_packets: value("received_packets")?,
        received_bytes: value("received_bytes")?,
        ..LinkUse::default()
    };
    let or_none = |name: &str| value(name).unwrap_or(0);
    let airtime = Airtime {
        transmit: Span(value("transmit")?),
        receive: Span(value("receive")?),
        busy: Span(value("busy")?),
        nav: Span(or_none("nav")),
        idle: Span(value("idle")?),
    };
    Ok(InterfaceCounters {
        at: Time(value("at")?),
        airtime: Some(airtime),
        receive_own: Span(or_none("receive_own")),
        retries: or_none("retries"),
        traffic: link.sent_packets.saturating_add(link.received_packets),
        link,
    })
}

/// Capabilities of counters as text.
const OF_TEXT: &[Capability] = &[Capability::Samples, Capability::LinkUse, Capability::Airtime];

/// Counters from a file that another program writes anew, whole each time.
#[derive(Debug)]
pub struct FileCounters(PathBuf);

impl FileCounters {
    /// Those of a file.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }
}

impl LoadSource for FileCounters {
    fn read(&mut self, _now: Time) -> Result<Option<InterfaceCounters>, Fault> {
        let text = read_text(&self.0, LARGEST_TEXT as u64).map_err(Fault::Unread)?;
        let wrong = |problem| Fault::Wrong(format!("{}: {problem}", self.0.display()));
        parse_counters(&text).map(Some).map_err(wrong)
    }

    fn offers(&self) -> (&'static [Capability], &'static [Capability]) {
        (OF_TEXT, &[])
    }

    fn words(&self) -> String {
        format!("the file {}", self.0.display())
    }
}

/// The name at which an emulation serves the counters of a node's radios, among the abstract names of its network namespace.
pub const EMULATION: &[u8] = b"airfair-counters";

/// Longest time for the answer of an emulation.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Counters of a radio of the emulator, in whose node this process runs.
#[derive(Debug)]
pub struct EmulatedCounters {
    device: String,
    socket: Option<OwnedFd>,
}

impl EmulatedCounters {
    /// Those of a radio of the node.
    #[must_use]
    pub fn new(device: &str) -> Self {
        Self { device: device.to_string(), socket: None }
    }

    fn request(&mut self) -> io::Result<String> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => {
                let flags = SocketFlags::CLOEXEC;
                let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
                // A name of the kernel's choice, to which the answer goes.
                let own = format!("airfaird-{}-{}", std::process::id(), self.device);
                bind(&socket, &SocketAddrUnix::new_abstract_name(own.as_bytes())?)?;
                connect(&socket, &SocketAddrUnix::new_abstract_name(EMULATION)?)?;
                socket
            }
        };
        send(&socket, self.device.as_bytes(), rustix::net::SendFlags::empty())?;
        let mut ready = [PollFd::new(&socket, PollFlags::IN)];
        if poll(&mut ready, Some(&PATIENCE))? == 0 {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        let mut bytes = [0; LARGEST_TEXT];
        let (length, _) = recv(&socket, &mut bytes, rustix::net::RecvFlags::empty())?;
        self.socket = Some(socket);
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }
}

impl LoadSource for EmulatedCounters {
    fn read(&mut self, _now: Time) -> Result<Option<InterfaceCounters>, Fault> {
        let silent = |error| Fault::Unread(format!("the emulation does not answer: {error}"));
        let text = self.request().map_err(silent)?;
        let wrong = |problem: &str| Fault::Wrong(format!("the emulation's answer: {problem}"));
        match text.strip_prefix("error ") {
            Some(problem) => Err(wrong(problem.trim())),
            None => parse_counters(&text).map(Some).map_err(|problem| wrong(&problem)),
        }
    }

    fn offers(&self) -> (&'static [Capability], &'static [Capability]) {
        (OF_TEXT, &[])
    }

    fn words(&self) -> String {
        "the emulation".to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_text() {
        let whole = "at 9\ntransmit 1\nreceive 2\nbusy 3\nidle 3\nsent_packets 4\nsent_bytes 5\nreceived_packets 6\nreceived_bytes 7\n";
        let counters = parse_counters(whole).unwrap();
        assert_eq!((counters.at, counters.traffic, counters.airtime.unwrap().busy), (Time(9), 10, Span(3)));
        for (text, problem) in [
            ("busy 1\nbusy 2", "line 2: a second \"busy\""),
            ("busy", "line 1: expected a name and a whole number"),
            ("busy -1", "line 1: expected a name and a whole number"),
            ("idel 1", "line 1: no counter is called \"idel\""),
            ("at 1", "\"sent_packets\" is missing"),
        ] {
            let error = parse_counters(text).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
