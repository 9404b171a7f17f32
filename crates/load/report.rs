//! The reports of both ends, and these as JSON.

use std::fmt::{self, Display, Write};

/// A value in JSON.
enum Json<'a> {
    Text(&'a str),
    Whole(u64),
    Number(f64),
    Flag(bool),
    Null,
    List(Vec<Json<'a>>),
    Object(Vec<(&'static str, Json<'a>)>),
}

impl Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => {
                f.write_char('"')?;
                for letter in text.chars() {
                    match letter {
                        '"' | '\\' => write!(f, "\\{letter}")?,
                        '\0'..=' ' if letter != ' ' => write!(f, "\\u{:04x}", letter as u32)?,
                        _ => f.write_char(letter)?,
                    }
                }
                f.write_char('"')
            }
            Self::Whole(number) => write!(f, "{number}"),
            // To a nanosecond, or a thousandth of a bit/s.
            Self::Number(number) => write!(f, "{}", (number * 1e9).round() / 1e9),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Null => f.write_str("null"),
            Self::List(values) => listed(f, '[', values, ']', |f, value| write!(f, "{value}")),
            Self::Object(pairs) => {
                listed(f, '{', pairs, '}', |f, (key, value)| write!(f, "\"{key}\":{value}"))
            }
        }
    }
}

fn listed<T>(
    f: &mut fmt::Formatter<'_>,
    open: char,
    values: &[T],
    close: char,
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            f.write_char(',')?;
        }
        write(f, value)?;
    }
    f.write_char(close)
}

fn number<'a>(value: Option<f64>) -> Json<'a> {
    value.map_or(Json::Null, Json::Number)
}

/// Packets of a flow over UDP.
#[derive(Debug, Clone, PartialEq)]
pub struct Packets {
    /// Different packets that arrived.
    pub received: u64,
    /// Packets that did not arrive.
    pub lost: u64,
    /// Packets that came again.
    pub duplicated: u64,
    /// Packets that came after a later one.
    pub reordered: u64,
    /// Packets that came more than 4096 packets too late, and may have come before; they count as lost.
    pub too_late: u64,
    /// Packets with the mark CE.
    pub marked: u64,
    /// Delays, seconds: median, 99 %, longest; none if the ends have different clocks.
    pub delays: Option<[f64; 3]>,
}

/// A flow that was received.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowReport {
    /// The sender's address.
    pub from: String,
    /// Bytes of payload.
    pub bytes: u64,
    /// Time of the first and of the last arrival, seconds after the start of the receiver; none without a packet.
    pub first_and_last_s: Option<(f64, f64)>,
    /// Rate from the first to the last arrival.
    pub goodput_kbps: Option<f64>,
    /// Rate in the window.
    pub window_goodput_kbps: Option<f64>,
    /// True if the sender has announced the end.
    pub ended: bool,
    /// Bytes by interval; none: not measured.
    pub intervals: Option<Vec<u64>>,
    /// Packets; none: TCP.
    pub packets: Option<Packets>,
}

/// The report of a receiver.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiveReport {
    /// The port.
    pub port: u16,
    /// CLOCK_MONOTONIC at the start, seconds.
    pub start_monotonic_s: f64,
    /// Seconds that it has listened.
    pub wall_s: f64,
    /// Length of an interval, seconds.
    pub every_s: Option<f64>,
    /// The flows, those over TCP first, by their first arrival.
    pub flows: Vec<FlowReport>,
    /// Datagrams that are of no sender's format.
    pub ignored: u64,
    /// Datagrams of more flows than are kept.
    pub too_many: u64,
    /// Datagrams that the kernel has dropped since the receiver read too slowly; none where it does not count them.
    pub overflowed: Option<u64>,
    /// True if the user has ended it.
    pub interrupted: bool,
}

impl FlowReport {
    fn json(&self) -> Json<'_> {
        let mut pairs = vec![
            ("transport", Json::Text(if self.packets.is_some() { "udp" } else { "tcp" })),
            ("from", Json::Text(&self.from)),
            ("bytes", Json::Whole(self.bytes)),
            ("first_s", number(self.first_and_last_s.map(|(first, _)| first))),
            ("last_s", number(self.first_and_last_s.map(|(_, last)| last))),
            ("goodput_kbps", number(self.goodput_kbps)),
            ("window_goodput_kbps", number(self.window_goodput_kbps)),
            ("ended", Json::Flag(self.ended)),
        ];
        let intervals = self.intervals.as_ref();
        let list = |of: &Vec<u64>| Json::List(of.iter().map(|&bytes| Json::Whole(bytes)).collect());
        pairs.push(("intervals", intervals.map_or(Json::Null, list)));
        let packets = self.packets.as_ref().map_or(Json::Null, |packets| {
            let [p50, p99, longest] = packets.delays.map_or([None; 3], |delays| delays.map(Some));
            Json::Object(vec![
                ("received", Json::Whole(packets.received)),
                ("lost", Json::Whole(packets.lost)),
                ("duplicated", Json::Whole(packets.duplicated)),
                ("reordered", Json::Whole(packets.reordered)),
                ("too_late", Json::Whole(packets.too_late)),
                ("marked", Json::Whole(packets.marked)),
                ("delay_p50_s", number(p50)),
                ("delay_p99_s", number(p99)),
                ("delay_max_s", number(longest)),
            ])
        });
        pairs.push(("packets", packets));
        Json::Object(pairs)
    }
}

impl ReceiveReport {
    /// The report as one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        Json::Object(vec![
            ("port", Json::Whole(self.port.into())),
            ("start_monotonic_s", Json::Number(self.start_monotonic_s)),
            ("wall_s", Json::Number(self.wall_s)),
            ("every_s", number(self.every_s)),
            ("flows", Json::List(self.flows.iter().map(FlowReport::json).collect())),
            ("ignored", Json::Whole(self.ignored)),
            ("too_many", Json::Whole(self.too_many)),
            ("overflowed", self.overflowed.map_or(Json::Null, Json::Whole)),
            ("interrupted", Json::Flag(self.interrupted)),
        ])
        .to_string()
    }
}

/// The kernel's numbers of a connection, at its end (`TCP_INFO`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TcpNumbers {
    /// Name of the congestion control.
    pub congestion_control: Option<String>,
    /// Segments with data, also repeated ones.
    pub segments: u64,
    /// Segments that were sent again.
    pub retransmitted: u64,
    /// Bytes that were acknowledged, but for the SYN.
    pub acknowledged: u64,
    /// Smoothed round-trip time, seconds.
    pub rtt_s: f64,
    /// Shortest round-trip time, seconds; none was measured: none.
    pub min_rtt_s: Option<f64>,
    /// Congestion window, segments.
    pub cwnd: u64,
    /// Payload of a segment, bytes.
    pub mss: u64,
    /// Retransmission time-out, seconds.
    pub rto_s: f64,
}

/// The report of a sender.
#[derive(Debug, Clone, PartialEq)]
pub struct SendReport {
    /// True for UDP.
    pub udp: bool,
    /// The receiver's address.
    pub to: String,
    /// CLOCK_MONOTONIC at the start of sending, seconds.
    pub start_monotonic_s: f64,
    /// Seconds of sending, without the search for the receiver and what follows the last byte.
    pub sending_s: f64,
    /// Bytes of payload that the kernel has taken.
    pub bytes: u64,
    /// Datagrams that the kernel has taken.
    pub packets: Option<u64>,
    /// Datagrams that were left out as they were too late.
    pub skipped: Option<u64>,
    /// Datagrams that were refused: nobody listened, or there was no route.
    pub refused: Option<u64>,
    /// The reason why the connection has broken, if it has.
    pub broken: Option<String>,
    /// The kernel's numbers of a connection.
    pub tcp: Option<TcpNumbers>,
    /// True if the user has ended it.
    pub interrupted: bool,
}

impl SendReport {
    /// The report as one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let whole = |value: Option<u64>| value.map_or(Json::Null, Json::Whole);
        let tcp = self.tcp.as_ref().map_or(Json::Null, |tcp| {
            Json::Object(vec![
                ("congestion_control", tcp.congestion_control.as_deref().map_or(Json::Null, Json::Text)),
                ("segments", Json::Whole(tcp.segments)),
                ("retransmitted", Json::Whole(tcp.retransmitted)),
                ("acknowledged", Json::Whole(tcp.acknowledged)),
                ("rtt_s", Json::Number(tcp.rtt_s)),
                ("min_rtt_s", number(tcp.min_rtt_s)),
                ("cwnd", Json::Whole(tcp.cwnd)),
                ("mss", Json::Whole(tcp.mss)),
                ("rto_s", Json::Number(tcp.rto_s)),
            ])
        });
        Json::Object(vec![
            ("transport", Json::Text(if self.udp { "udp" } else { "tcp" })),
            ("to", Json::Text(&self.to)),
            ("start_monotonic_s", Json::Number(self.start_monotonic_s)),
            ("sending_s", Json::Number(self.sending_s)),
            ("bytes", Json::Whole(self.bytes)),
            ("packets", whole(self.packets)),
            ("skipped", whole(self.skipped)),
            ("refused", whole(self.refused)),
            ("broken", self.broken.as_deref().map_or(Json::Null, Json::Text)),
            ("tcp", tcp),
            ("interrupted", Json::Flag(self.interrupted)),
        ])
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_of_every_kind_of_value() {
        let text = Json::Object(vec![
            ("text", Json::Text("a\"\\\n\u{1}é")),
            ("list", Json::List(vec![Json::Whole(u64::MAX), Json::Number(0.1 + 0.2), Json::Null])),
            ("none", Json::List(Vec::new())),
            ("flag", Json::Flag(true)),
        ]);
        let expected =
            r#"{"text":"a\"\\\u000a\u0001é","list":[18446744073709551615,0.3,null],"none":[],"flag":true}"#;
        assert_eq!(text.to_string(), expected);
    }
}
