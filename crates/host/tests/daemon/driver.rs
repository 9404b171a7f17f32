//! A driver as a daemon sees it: the interface, and its counters, row by row. What it offers is `Capabilities::DRIVER`.

use airfair_host::{InterfaceCounters, LinkCounters};
use airfair_schemes::places::{AgentSetup, Airtime, Interface, LinkUse, LoneExchange, Medium, NodeId};
use airfair_units::{Rate, Span, Time};

/// The node, and its only neighbour.
pub const ME: NodeId = NodeId(1);
pub const PEER: NodeId = NodeId(2);

const RATE: Rate = Rate::from_mbps(11);
pub const INTERFACE: Interface =
    Interface { medium: Medium::Radio, access_point: true, rate: RATE, limit_packets: 50, categories: 1 };
/// MAC header, LLC and FCS, bytes.
pub const FRAMING: u32 = 36;

/// By the standard, long preambles: DIFS 50 us, mean back-off 310, PLCP 192 and 36 bytes of headers 26, SIFS 10, ACK at 1 Mbit/s 304.
const EXCHANGE: LoneExchange =
    LoneExchange { fixed: Span::from_micros(892), rts: Span::ZERO, rts_above: u32::MAX, rate: RATE };
pub const SETUP: AgentSetup<'static> =
    AgentSetup { node: ME, rate: RATE, exchange: EXCHANGE, neighbours: &[PEER], sense_margin: None };

pub type Rows = std::vec::IntoIter<(InterfaceCounters, LinkCounters)>;

/// The first row of the file of counters, and the others.
pub fn rows() -> ((InterfaceCounters, LinkCounters), Rows) {
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/daemon/counters.txt");
    let text = std::fs::read_to_string(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let rows: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).map(row).collect();
    let mut rows = rows.into_iter();
    (rows.next().expect("a first row"), rows)
}

fn row(line: &str) -> (InterfaceCounters, LinkCounters) {
    let numbers: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
    let Ok(&[time, active, busy, rx, tx, own, sent, sent_bytes, retries, failed, received, received_bytes]) =
        numbers.as_deref()
    else {
        panic!("expected 12 whole numbers: {line}");
    };
    let at = Time::ZERO + Span::from_millis(time);
    let airtime = Some(Airtime {
        transmit: Span::from_millis(tx),
        receive: Span::from_millis(rx),
        busy: Span::from_millis(busy.saturating_sub(rx + tx)),
        nav: Span::ZERO,
        idle: Span::from_millis(active.saturating_sub(busy)),
    });
    let (sent_packets, received_packets) = (sent, received);
    let link = LinkUse { sent_packets, sent_bytes, received_packets, received_bytes, ..LinkUse::default() };
    let (receive_own, traffic) = (Span::from_micros(own), sent + received);
    let interface = InterfaceCounters { at, airtime, receive_own, retries, traffic, link };
    let attempts = sent + failed + retries;
    (interface, LinkCounters { at, sent, given_up: failed, attempts, bytes: sent_bytes })
}
