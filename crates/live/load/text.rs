//! Counters as text: from a file that another program writes, and from the emulation.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use airfair_host::{InterfaceCounters, LinkCounters};
use airfair_schemes::places::{Airtime, Capability, LinkUse};
use airfair_units::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, recv, send, socket_with,
};

use super::{Counters, Fault, LinkReading, LoadSource};
use crate::file::read_text;

/// Most bytes of a text of counters.
const LARGEST_TEXT: usize = 16 * 1024;

/// Counters as text, in lines of a name and a whole number. Times are in nanoseconds, `at` by the boot clock or any other that goes on;
/// what is missing of the five states of the radio counts as idle. For each neighbour to which the radio has sent there may be a line with
/// the neighbour's hardware address and its packets acknowledged and given up, data frames, and bytes of IP of the acknowledged ones.
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
/// link 02:00:00:00:00:07 800 12 903 1100000
/// ```
///
/// # Errors
/// A line that is none of these, twice the same, one that is missing.
pub fn parse_counters(text: &str) -> Result<Counters, String> {
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
    let mut links: Vec<LinkReading> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let expected =
            || format!("line {number}: expected a name and a whole number, such as \"busy 120000\"");
        if let Some(rest) = line.trim().strip_prefix("link ") {
            let link = parse_link(rest).map_err(|problem| format!("line {number}: {problem}"))?;
            if links.iter().any(|other| other.to == link.to) {
                return Err(format!("line {number}: a second link to the same address"));
            }
            links.push(link);
            continue;
        }
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
    let at = Time(value("at")?);
    links.iter_mut().for_each(|link| link.counters.at = at);
    let interface = InterfaceCounters {
        at,
        airtime: Some(airtime),
        receive_own: Span(or_none("receive_own")),
        retries: or_none("retries"),
        traffic: link.sent_packets.saturating_add(link.received_packets),
        link,
    };
    Ok(Counters { interface, links })
}

/// A link: an address, and four whole numbers.
fn parse_link(text: &str) -> Result<LinkReading, String> {
    let expected = || {
        "expected an address and four whole numbers, such as \"link 02:00:00:00:00:07 8 0 9 9000\""
            .to_string()
    };
    let (address, numbers) = text.trim().split_once(' ').ok_or_else(expected)?;
    let mut to = [0; 6];
    let mut bytes = address.split(':');
    for byte in &mut to {
        let part =
            bytes.next().filter(|part| part.len() == 2 && !part.starts_with('+')).ok_or_else(expected)?;
        *byte = u8::from_str_radix(part, 16).map_err(|_| expected())?;
    }
    let numbers: Vec<u64> = numbers
        .split_whitespace()
        .map(|number| number.parse().map_err(|_| expected()))
        .collect::<Result<_, _>>()?;
    let (None, &[sent, given_up, attempts, bytes]) = (bytes.next(), &numbers[..]) else {
        return Err(expected());
    };
    let counters = LinkCounters { at: Time::ZERO, sent, given_up, attempts, bytes };
    Ok(LinkReading { to, counters, rate: None })
}

/// Capabilities of counters as text.
const OF_TEXT: &[Capability] =
    &[Capability::Samples, Capability::LinkUse, Capability::Airtime, Capability::Links];

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
    fn read(&mut self, _now: Time) -> Result<Option<Counters>, Fault> {
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
    fn read(&mut self, _now: Time) -> Result<Option<Counters>, Fault> {
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
        let counters = parse_counters(whole).unwrap().interface;
        assert_eq!((counters.at, counters.traffic, counters.airtime.unwrap().busy), (Time(9), 10, Span(3)));
        let with_link = format!("{whole}link 02:00:00:00:0a:07 1 2 3 4\n");
        let [link] = parse_counters(&with_link).unwrap().links[..] else { panic!("one link") };
        let expected = LinkCounters { at: Time(9), sent: 1, given_up: 2, attempts: 3, bytes: 4 };
        assert_eq!((link.to, link.counters, link.rate), ([2, 0, 0, 0, 10, 7], expected, None));
        for (text, problem) in [
            ("busy 1\nbusy 2", "line 2: a second \"busy\""),
            ("busy", "line 1: expected a name and a whole number"),
            ("busy -1", "line 1: expected a name and a whole number"),
            ("idel 1", "line 1: no counter is called \"idel\""),
            ("link 02:00:00:00:00:07 1 2 3", "line 1: expected an address and four whole numbers"),
            ("link 02:00:00:00:00:07:08 1 2 3 4", "line 1: expected an address and four whole numbers"),
            ("link 02:00:00:00:00:+7 1 2 3 4", "line 1: expected an address and four whole numbers"),
            ("link 02:00:00:00:00 1 2 3 4", "line 1: expected an address and four whole numbers"),
            (
                "link 02:00:00:00:00:07 1 2 3 4\nlink 02:00:00:00:00:07 1 2 3 4",
                "line 2: a second link to the same address",
            ),
            ("at 1", "\"sent_packets\" is missing"),
        ] {
            let error = parse_counters(text).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
