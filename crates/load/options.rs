//! The options of both ends. They are read from texts, each with its unit, by the names that the command line has.

use airfair_units::{Bytes, Quantity, Rate, Span};

use crate::arrivals::{Measures, Window};
use crate::datagram::{HEADER, MOST};
use crate::flows::MOST_FLOWS;

/// The port, unless another is named.
pub const PORT: u16 = 7000;

/// Options of a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiveOptions {
    /// The port, for TCP and UDP; 0: any free one.
    pub port: u16,
    /// Flows to receive: after the end of the last of them the receiver ends.
    pub flows: usize,
    /// The time after which it ends in any case.
    pub run_for: Option<Span>,
    /// The time without a byte, after the first, after which it ends.
    pub idle: Option<Span>,
    from: Option<Span>,
    to: Option<Span>,
    every: Option<Span>,
}

impl Default for ReceiveOptions {
    fn default() -> Self {
        Self { port: PORT, flows: 1, run_for: None, idle: None, from: None, to: None, every: None }
    }
}

/// A value of an option, or the reason why it is none.
fn read<T: Quantity>(text: &str) -> Result<T, String> {
    T::parse(text).map_err(|error| format!("\"{text}\": {error}"))
}

/// A time that is not zero.
fn read_time(text: &str) -> Result<Span, String> {
    read(text).and_then(|span: Span| {
        if span == Span::ZERO { Err(format!("\"{text}\": expected a time above 0 s")) } else { Ok(span) }
    })
}

fn read_number<T: std::str::FromStr + PartialOrd + std::fmt::Display>(
    text: &str,
    least: T,
    most: T,
) -> Result<T, String> {
    text.parse()
        .ok()
        .filter(|number| (&least..=&most).contains(&number))
        .ok_or_else(|| format!("\"{text}\": expected a whole number, {least} to {most}"))
}

fn read_flag(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { Err(format!("\"{text}\": it has no value")) }
}

fn read_name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_name { Ok(text.to_string()) } else { Err(format!("\"{text}\": expected a name")) }
}

fn read_port(text: &str) -> Result<u16, String> {
    read_number(text, 0, u16::MAX)
}

/// The error of an option, which names it.
fn of_option(option: &str, read: Result<(), String>) -> Result<(), String> {
    read.map_err(|problem| format!("--{option}: {problem}"))
}

impl ReceiveOptions {
    /// Sets an option, by its name without dashes.
    ///
    /// # Errors
    /// One line: the option, the text, and what was expected.
    pub fn set(&mut self, option: &str, text: &str) -> Result<(), String> {
        let set = match option {
            "port" => read_port(text).map(|port| self.port = port),
            "flows" => read_number(text, 1, MOST_FLOWS).map(|flows| self.flows = flows),
            "for" => read_time(text).map(|span| self.run_for = Some(span)),
            "idle" => read_time(text).map(|span| self.idle = Some(span)),
            "from" => read(text).map(|span| self.from = Some(span)),
            "to" => read(text).map(|span| self.to = Some(span)),
            "every" => read_time(text).map(|span| self.every = Some(span)),
            _ => Err("there is no such option".to_string()),
        };
        of_option(option, set)
    }

    /// The measures to take.
    ///
    /// # Errors
    /// A window that has one end, or none between its ends.
    pub fn measures(&self) -> Result<Measures, String> {
        let window = match (self.from, self.to) {
            (None, None) => None,
            (Some(from), Some(to)) if from < to => Some(Window { from: from.0, to: to.0 }),
            (Some(from), Some(to)) => return Err(format!("--to: {to} is not after --from ({from})")),
            (Some(_), None) => return Err("--from goes with --to".to_string()),
            (None, Some(_)) => return Err("--to goes with --from".to_string()),
        };
        Ok(Measures { window, every: self.every.map(|span| span.0) })
    }
}

/// Options of a sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendOptions {
    /// The receiver's port.
    pub port: u16,
    /// True for UDP.
    pub udp: bool,
    /// The rate of payload.
    pub rate: Option<Rate>,
    /// The payload of a datagram, bytes.
    pub size: usize,
    /// The time of sending.
    pub run_for: Option<Span>,
    /// Bytes to send.
    pub bytes: Option<u64>,
    /// TCP's congestion control; by default the kernel's.
    pub congestion_control: Option<String>,
    /// The DSCP of packets.
    pub dscp: u8,
    /// True if datagrams are ECN-capable (ECT(0)).
    pub ecn: bool,
    /// The time in which a receiver that does not listen yet is tried again.
    pub wait: Span,
    /// Names of the options that were set.
    given: Vec<String>,
}

impl Default for SendOptions {
    fn default() -> Self {
        Self {
            port: PORT,
            udp: false,
            rate: None,
            size: 1000,
            run_for: None,
            bytes: None,
            congestion_control: None,
            dscp: 0,
            ecn: false,
            wait: Span::from_secs(10),
            given: Vec::new(),
        }
    }
}

/// The time of sending of a flow for which neither a time nor a number of bytes is given.
const USUAL_TIME: Span = Span::from_secs(10);

impl SendOptions {
    /// Options that have no value.
    pub const FLAGS: [&'static str; 2] = ["udp", "ecn"];

    /// Sets an option, by its name without dashes; the text of a flag is empty.
    ///
    /// # Errors
    /// One line: the option, the text, and what was expected.
    pub fn set(&mut self, option: &str, text: &str) -> Result<(), String> {
        let set = match option {
            "port" => read_port(text).map(|port| self.port = port),
            "udp" => read_flag(text).map(|()| self.udp = true),
            "ecn" => read_flag(text).map(|()| self.ecn = true),
            "rate" => read_rate(text).map(|rate| self.rate = Some(rate)),
            "size" => read_size(text).map(|size| self.size = size),
            "bytes" => read_bytes(text).map(|bytes| self.bytes = Some(bytes)),
            "for" => read_time(text).map(|span| self.run_for = Some(span)),
            "wait" => read(text).map(|span| self.wait = span),
            "dscp" => read_dscp(text).map(|dscp| self.dscp = dscp),
            "congestion-control" => read_name(text).map(|name| self.congestion_control = Some(name)),
            _ => Err("there is no such option".to_string()),
        };
        self.given.push(option.to_string());
        of_option(option, set)
    }

    /// The time of sending; none: until all bytes are sent.
    #[must_use]
    pub fn time(&self) -> Option<Span> {
        self.run_for.or(if self.bytes.is_none() { Some(USUAL_TIME) } else { None })
    }

    /// Refuses options that do not go together.
    ///
    /// # Errors
    /// One line.
    pub fn check(&self) -> Result<(), String> {
        let given = |option: &str| self.given.iter().any(|name| name == option);
        let (others, why) = if self.udp {
            (["bytes", "congestion-control"].as_slice(), "is for TCP: it does not go with --udp")
        } else {
            (["size", "ecn"].as_slice(), "goes with --udp")
        };
        if let Some(option) = others.iter().find(|option| given(option)) {
            return Err(format!("--{option} {why}"));
        }
        if self.udp && self.rate.is_none() {
            return Err("--udp needs a rate: --rate \"1 Mbit/s\"".to_string());
        }
        Ok(())
    }
}

/// The fastest rate: above it a nanosecond would have more than a bit of the smallest datagram's schedule.
const MOST_RATE: Rate = Rate(100_000_000_000);

fn read_rate(text: &str) -> Result<Rate, String> {
    read(text).and_then(|rate: Rate| {
        if (1..=MOST_RATE.0).contains(&rate.0) {
            Ok(rate)
        } else {
            Err(format!("\"{text}\": expected a rate from 1 bit/s to {MOST_RATE}"))
        }
    })
}

fn read_size(text: &str) -> Result<usize, String> {
    read(text).and_then(|Bytes(size)| {
        usize::try_from(size)
            .ok()
            .filter(|size| (HEADER..=MOST).contains(size))
            .ok_or_else(|| format!("\"{text}\": expected a size from {HEADER} B to {MOST} B"))
    })
}

fn read_bytes(text: &str) -> Result<u64, String> {
    read(text).and_then(|Bytes(bytes)| {
        if bytes > 0 { Ok(bytes) } else { Err(format!("\"{text}\": expected a size above 0 B")) }
    })
}

/// A DSCP by its number, or by its name: EF, CS0 to CS7, AF11 to AF43.
fn read_dscp(text: &str) -> Result<u8, String> {
    let expected =
        || format!("\"{text}\": expected a whole number, 0 to 63, or EF, CS0 to CS7, AF11 to AF43");
    let name = text.to_ascii_uppercase();
    let digit = |of: u8, least: u8, most: u8| {
        Some(of.wrapping_sub(b'0')).filter(|digit| (least..=most).contains(digit))
    };
    let found = match name.as_bytes() {
        b"EF" => Some(46),
        &[b'C', b'S', class] => digit(class, 0, 7).map(|class| 8 * class),
        &[b'A', b'F', class, drop] => {
            digit(class, 1, 4).zip(digit(drop, 1, 3)).map(|(class, drop)| 8 * class + 2 * drop)
        }
        _ => name.parse().ok().filter(|&number| number <= 63),
    };
    found.ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dscps() {
        for (text, number) in [("0", 0), ("63", 63), ("EF", 46), ("cs6", 48), ("AF41", 34), ("AF13", 14)] {
            assert_eq!(read_dscp(text), Ok(number), "{text}");
        }
        for text in ["", "64", "-1", "CS8", "AF14", "AF01", "CS/"] {
            assert!(read_dscp(text).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_name_the_option() {
        let mut of = SendOptions::default();
        for (option, text, error) in [
            ("rate", "6", "--rate: \"6\": the unit is missing; expected a rate such as \"11 Mbit/s\""),
            ("rate", "0 bit/s", "--rate: \"0 bit/s\": expected a rate from 1 bit/s to 100 Gbit/s"),
            ("size", "39 B", "--size: \"39 B\": expected a size from 40 B to 65507 B"),
            ("for", "0 s", "--for: \"0 s\": expected a time above 0 s"),
            ("port", "70000", "--port: \"70000\": expected a whole number, 0 to 65535"),
            ("speed", "1", "--speed: there is no such option"),
        ] {
            assert!(
                of.set(option, text).unwrap_err().starts_with(error),
                "{option}: {:?}",
                of.set(option, text)
            );
        }
    }

    #[test]
    fn options_that_do_not_go_together() {
        let check = |options: &[&str]| {
            let mut of = SendOptions::default();
            let usual = |option: &str| match option {
                "bytes" | "size" => "1 kB",
                "rate" => "1 Mbit/s",
                "congestion-control" => "reno",
                _ => "",
            };
            options.iter().for_each(|option| of.set(option, usual(option)).unwrap());
            of.check()
        };
        assert_eq!(check(&["bytes", "rate", "congestion-control"]), Ok(()));
        assert_eq!(check(&["udp", "rate", "size", "ecn"]), Ok(()));
        assert_eq!(check(&["udp", "size"]).unwrap_err(), "--udp needs a rate: --rate \"1 Mbit/s\"");
        assert_eq!(check(&["ecn"]).unwrap_err(), "--ecn goes with --udp");
        assert_eq!(check(&["udp", "bytes"]).unwrap_err(), "--bytes is for TCP: it does not go with --udp");
    }

    #[test]
    fn a_window_has_two_ends() {
        let measures = |options: &[(&str, &str)]| {
            let mut of = ReceiveOptions::default();
            options.iter().for_each(|(option, text)| of.set(option, text).unwrap());
            of.measures()
        };
        let window = measures(&[("from", "2 s"), ("to", "10s")]).unwrap().window;
        assert_eq!(window, Some(Window { from: 2_000_000_000, to: 10_000_000_000 }));
        assert_eq!(measures(&[("from", "2 s")]).unwrap_err(), "--from goes with --to");
        assert_eq!(
            measures(&[("from", "2 s"), ("to", "2 s")]).unwrap_err(),
            "--to: 2 s is not after --from (2 s)"
        );
    }
}
