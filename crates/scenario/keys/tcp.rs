//! `[tcp]` and a flow's `tcp`: the rules of TCP, and from them the transport's configuration.

use airfair_transport::{DelayedAck, InitialWindow, PartialAckTimer, TcpConfig, TickMode};
use airfair_units::{Bytes, Span};

use crate::declare::choice::TcpProfile;
use crate::declare::field::{Field, Or, Unlimited, Word, wrong_type};
use crate::declare::schema::{Schema, shared, words_or};
use crate::declare::table::{Beside, TableDoc, table};
use crate::declare::window::Window;
use crate::defaults::tcp_profile::{describe, rules};
use crate::keys::radio::LONGEST;
use crate::resolve::blocks::single;
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::{Node, Table, Value};

/// From the smallest datagram that every host must take (68 B, RFC 791) to the largest that there is, less both headers.
const SEGMENTS: std::ops::RangeInclusive<Bytes> = Bytes(28)..=Bytes(65_495);
/// What timestamps take from the payload of a segment (RFC 7323 appendix A).
const TIMESTAMPS: u64 = 12;
/// The largest shift of a window (RFC 7323 section 2.3).
const MOST_SCALE: u8 = 14;
/// Each segment is acknowledged.
const OFF: &str = "off";
const TIMES: std::ops::RangeInclusive<Span> = Span(1)..=LONGEST;

table! {
    /// The rules of TCP for every flow that has `transport = "tcp"`, at both its ends; a flow's `tcp` has the same keys and
    /// takes those that it does not write from here. The papers' results hang on these settings: look at `initial_window`,
    /// `min_rto`, `delayed_ack` and `window_limit` first.
    struct TcpTable {
        /// Which rules the other keys start from; a key that is written wins. "rfc" is what the RFCs recommend. "ns-2" is
        /// the one-way TCP of ns-2.35 (`tcl/lib/ns-default.tcl`, `tcp/tcp.cc`); "ns-3" is ns-3.37
        /// (`src/internet/model/tcp-socket.cc`, `tcp-socket-base.cc`); "linux" is a Linux host with the kernel's own
        /// settings (`include/net/tcp.h`, `Documentation/networking/ip-sysctl.rst`).
        profile: TcpProfile = default(TcpProfile::Rfc);
        /// Maximum segment size as the option announces it: the payload of a full segment without options. With timestamps a
        /// segment carries 12 B less.
        mss: Bytes = switch(describe), in SEGMENTS;
        /// The window with which a connection starts: a number of segments, about 4380 B (RFC 3390), or ten segments of usual
        /// size (RFC 6928).
        initial_window: InitialWindow = switch(describe);
        /// Largest congestion window: the sender's buffer. Segments are full ones.
        window_limit: Window = switch(describe);
        /// The receiver's buffer, which bounds what is in flight.
        receive_window: Window = computed(format!("{}; less if window_scale is written and cannot say that", describe("receive_window")));
        /// When a receiver holds acknowledgements back: "off" acknowledges each segment.
        delayed_ack: Acks = switch(describe);
        /// Retransmission time-out before anything was measured (RFC 6298 section 2.1).
        initial_rto: Span = switch(describe), in TIMES;
        /// What the time-out is raised to when data begin after a SYN was lost (RFC 6298 section 5.7).
        rto_after_syn_loss: Span = switch(describe), in TIMES;
        /// Least retransmission time-out.
        min_rto: Span = switch(describe), in TIMES;
        /// Largest retransmission time-out, backed off or not.
        max_rto: Span = switch(describe), in TIMES;
        /// Clock granularity.
        tick: Span = switch(describe), in Span(1)..=Span::from_secs(10);
        /// What it does. "round-up": measured round-trip times and time-outs are rounded up to whole ticks, and timers fire when
        /// their time is over. "bsd": the slow timer of 4.4BSD, with a `tick` of 500 ms and a `min_rto` of 1 s: a sender's
        /// timers fire at ticks only, one of two ticks after more than one and at most two; a round-trip time is the number
        /// of ticks in it. Each connection draws when its clock ticks.
        tick_mode: TickMode = switch(describe);
        /// Selective acknowledgements and the recovery that uses them (RFC 2018, RFC 6675). Without, recovery is that of the
        /// window law: reno or NewReno.
        sack: bool = switch(describe);
        /// Whether the receiver reports what it received twice (RFC 2883). Needs `sack`.
        duplicate_sack: bool = computed(format!("{}; false without sack", describe("duplicate_sack")));
        /// Whether the first two duplicate acknowledgements let new segments out (RFC 3042).
        limited_transmit: bool = switch(describe);
        /// Proportional rate reduction while SACK repairs (RFC 6937). Needs `sack`.
        prr: bool = computed(format!("{}; false without sack", describe("prr")));
        /// Timestamps (RFC 7323): 12 B of every segment.
        timestamps: bool = switch(describe);
        /// Shift of the window field; 0: the option is not sent (RFC 7323).
        window_scale: u8 = computed(format!("{}; with receive_window written, the least that can say it", describe("window_scale"))), in 0..=MOST_SCALE;
        /// Most that a SYN and its answer announce as window, which bounds what leaves in the first round trip: their field is
        /// not scaled (RFC 7323 section 2.2). "unlimited": all of `receive_window`, as in simulators without a receiver's window.
        syn_window: Or<Unlimited, Bytes> = switch(describe);
        /// Explicit congestion notification (RFC 3168): queues with an AQM mark instead of dropping.
        ecn: bool = switch(describe);
        /// Whether connections are set up by SYNs. Without, they stand at once.
        handshake: bool = switch(describe);
        /// Whether the window law is told of silences longer than a time-out, after which it starts again from the initial
        /// window (RFC 5681 section 4.1).
        idle_restart: bool = switch(describe);
        /// Whether a segment that is not full waits until all before it is acknowledged (RFC 9293 section 3.7.4).
        nagle: bool = switch(describe);
        /// Whether a sender whose file is through sends a FIN.
        fin: bool = switch(describe);
        /// Duplicate acknowledgements that mean a loss (RFC 5681: three).
        dupack_threshold: u32 = switch(describe), in 1..=1000;
        /// Whether plain Reno too answers a window of data by one fast retransmit only: a second loss in it waits for the timer,
        /// as for NewReno (RFC 6582 section 3.2, step 2). Has no effect on other laws nor with `sack`.
        fast_retransmit_once: bool = switch(describe);
        /// What partial acknowledgements do to the retransmission timer without SACK (RFC 6582 section 3.2): only the first of
        /// a recovery restarts it (many losses end in a time-out), or each does (one loss is repaired in a round trip).
        partial_ack_timer: PartialAckTimer = switch(describe);
        /// Times that a SYN is sent again before the sender gives up.
        syn_retries: Or<Unlimited, u32> = switch(describe);
        /// Time-outs in a row before the sender gives up.
        retries: Or<Unlimited, u32> = switch(describe);
    }
}

table! {
    /// How a receiver holds acknowledgements back.
    struct DelayedAckTable {
        /// An acknowledgement leaves at the latest with this many segments; the RFCs allow two.
        segments: u32 = default(2), in 1..=1000;
        /// And at the latest after this time; the RFCs allow 500 ms.
        timeout: Span = default(Span::from_millis(200)), in Span(1)..=Span::from_secs(10);
        /// The first segments of a connection that are acknowledged at once, as Linux does.
        quick: u32 = default(0);
    }
}

/// `"off"`, or `{ segments = 2, timeout = "200 ms", quick = 0 }`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acks(pub Option<DelayedAck>);

impl Field for Acks {
    const TYPE: &'static str = "table";

    fn expected() -> String {
        format!("\"{OFF}\" or a table such as {{ segments = 2, timeout = \"200 ms\" }}")
    }

    fn schema() -> Schema {
        words_or(&Self::choices(), DelayedAckTable::doc(String::new()).schema())
    }

    fn choices() -> Vec<&'static str> {
        vec![OFF]
    }

    fn read(node: &Node, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == OFF => Some(Self(None)),
            Value::Table(table) => {
                let t = DelayedAckTable::read_table(table, path, cx, &Beside::default())?;
                Some(Self(Some(DelayedAck { segments: t.segments, timeout: t.timeout, quick: t.quick })))
            }
            _ => wrong_type(node, path, cx),
        }
    }

    fn write(&self) -> String {
        match self.0 {
            None => crate::declare::field::quote(OFF),
            Some(DelayedAck { segments, timeout, quick }) => {
                format!("{{ segments = {segments}, timeout = {}, quick = {quick} }}", timeout.write())
            }
        }
    }
}

/// The rules that a flow has where it writes none.
pub(crate) struct Tcp {
    /// What the file says.
    written: Option<Table>,
    /// Filled in; `None` only after noting an error.
    pub rules: Option<(TcpTable, TcpConfig)>,
}

impl Tcp {
    /// Whether the file has a `[tcp]` table.
    pub fn is_written(&self) -> bool {
        self.written.is_some()
    }

    /// Whether its hosts limit what their own flows have waiting: those of ns-2 and ns-3 do not.
    pub fn limits_local(&self) -> bool {
        let profile = self.rules.as_ref().map(|(table, _)| table.profile);
        !matches!(profile, Some(TcpProfile::Ns2 | TcpProfile::Ns3))
    }

    /// A flow's rules: its own keys, and those of `[tcp]` where it writes none. Also the keys in which it differs.
    pub fn for_flow(&self, own: &mut OwnTcp, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<TcpConfig> {
        let mut merged = own.written.clone();
        for (key, entry) in self.written.iter().flat_map(|t| &t.entries) {
            if !follows(key, &own.written) {
                merged.entries.entry(key.clone()).or_insert_with(|| entry.clone());
            }
        }
        let (table, config) = read(&merged, path, cx)?;
        let usual = self.rules.as_ref().map_or_else(Vec::new, |(table, _)| table.pairs());
        let differs = |pair: &(&'static str, String)| !usual.contains(pair);
        let pairs = table.pairs();
        // A window and its shift are said together, since one of them alone would decide the other.
        let window = pairs.iter().any(|pair| is_window(pair.0) && differs(pair));
        own.pairs = pairs.into_iter().filter(|pair| differs(pair) || (window && is_window(pair.0))).collect();
        Some(config)
    }
}

/// Keys of which one decides the other where that is not written.
fn is_window(key: &str) -> bool {
    matches!(key, "receive_window" | "window_scale")
}

/// Whether a key of `[tcp]` gives way to what a flow writes: it follows from that.
fn follows(key: &str, own: &Table) -> bool {
    let written = |key: &str| own.get(key).is_some();
    match key {
        "receive_window" | "window_scale" => written("receive_window") || written("window_scale"),
        "duplicate_sack" | "prr" => matches!(own.get("sack").map(|n| &n.value), Some(Value::Flag(false))),
        _ => false,
    }
}

/// Reads `[tcp]`.
pub(crate) fn tcp(root: &Table, cx: &mut Cx<'_>) -> Tcp {
    let written = single(root, "tcp", cx).cloned();
    let empty = Table::new(root.at);
    let rules = read(written.as_ref().unwrap_or(&empty), &Path::ROOT.child("tcp"), cx);
    Tcp { written, rules }
}

/// A flow's `tcp`, which can only be read together with `[tcp]`.
#[derive(Debug, Clone)]
pub(crate) struct OwnTcp {
    written: Table,
    /// The keys in which it differs from `[tcp]`, filled in.
    pairs: Vec<(&'static str, String)>,
}

impl Field for OwnTcp {
    const TYPE: &'static str = "table";

    fn expected() -> String {
        "a table of the keys of [tcp], such as { min_rto = \"200 ms\" }".to_string()
    }

    fn schema() -> Schema {
        shared("tcp")
    }

    fn read(node: &Node, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &node.value {
            Value::Table(table) => Some(Self { written: table.clone(), pairs: Vec::new() }),
            _ => wrong_type(node, path, cx),
        }
    }

    fn write(&self) -> String {
        let pairs: Vec<String> = self.pairs.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        if pairs.is_empty() { "{}".to_string() } else { format!("{{ {} }}", pairs.join(", ")) }
    }
}

fn read(table: &Table, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<(TcpTable, TcpConfig)> {
    let mut table = TcpTable::read_table(table, path, cx, &Beside::default())?;
    let config = resolve(&mut table, path, cx);
    Some((table, config))
}

/// Fills in the table and makes the configuration; errors are noted and the rest goes on.
fn resolve(t: &mut TcpTable, path: &Path<'_>, cx: &mut Cx<'_>) -> TcpConfig {
    let usual = rules(t.profile);
    need_sack(t, usual.sack, path, cx);
    syn_window(t, path, cx);
    let payload = t.mss.unwrap_or(usual.mss).0;
    let payload = payload - if t.timestamps.unwrap_or(usual.timestamps) { TIMESTAMPS } else { 0 };
    windows(t, usual.receive_window, payload, path, cx);
    let max_rto = t.max_rto.unwrap_or(usual.max_rto);
    // What is not written does not contradict what is.
    t.initial_rto.get_or_insert(usual.initial_rto.min(max_rto));
    t.rto_after_syn_loss.get_or_insert(usual.rto_after_syn_loss.min(max_rto));
    let unreadable =
        [t.min_rto.is_none() && t.places.has("min_rto"), t.max_rto.is_none() && t.places.has("max_rto")];
    let r = usual.fill(t);
    if unreadable == [false, false] {
        times(t, (r.initial_rto, r.rto_after_syn_loss, r.min_rto, r.max_rto), path, cx);
    }
    for (key, window) in [("window_limit", r.window_limit), ("receive_window", r.receive_window)] {
        if window.bytes(payload) < payload {
            cx.error(t.places.of(key), &path.child(key), || {
                format!("{}: less than a segment; expected at least \"{payload} B\"", window.write())
            });
        }
    }
    TcpConfig {
        // The table's range keeps it below 2^16.
        mss: u32::try_from(r.mss.0).unwrap_or(u32::MAX),
        initial_window: r.initial_window,
        window_limit: r.window_limit.bytes(payload),
        receive_window: r.receive_window.bytes(payload),
        delayed_ack: r.delayed_ack.0,
        initial_rto: r.initial_rto,
        rto_after_syn_loss: r.rto_after_syn_loss,
        min_rto: r.min_rto,
        max_rto: r.max_rto,
        tick: r.tick,
        tick_mode: r.tick_mode,
        sack: r.sack,
        duplicate_sack: r.duplicate_sack,
        limited_transmit: r.limited_transmit,
        prr: r.prr,
        timestamps: r.timestamps,
        window_scale: r.window_scale,
        syn_window: r.syn_window.0.map(Bytes::get),
        ecn: r.ecn,
        handshake: r.handshake,
        idle_restart: r.idle_restart,
        nagle: r.nagle,
        fin: r.fin,
        dupack_threshold: r.dupack_threshold,
        fast_retransmit_once: r.fast_retransmit_once,
        partial_ack_timer: r.partial_ack_timer,
        syn_retries: r.syn_retries.0,
        retries: r.retries.0,
    }
}

/// Warns of settings that hurt where nobody expects it.
pub(crate) fn look_at(config: &TcpConfig, cx: &mut Cx<'_>) {
    let Some(acks) = config.delayed_ack.filter(|acks| acks.segments > 1) else { return };
    if acks.timeout >= config.min_rto {
        let warning = format!(
            "tcp: delayed_ack holds an acknowledgement back for up to {} where min_rto is {}: a lone segment may time out \
             although nothing is lost",
            acks.timeout, config.min_rto
        );
        if !cx.warnings.contains(&warning) {
            cx.warnings.push(warning);
        }
    }
}

/// What a SYN announces fits into its field.
fn syn_window(t: &TcpTable, path: &Path<'_>, cx: &mut Cx<'_>) {
    let Some(bytes) = t.syn_window.as_ref().and_then(|window| window.0) else { return };
    if !(1..=largest(0)).contains(&bytes.0) {
        cx.error(t.places.of("syn_window"), &path.child("syn_window"), || {
            format!(
                "{}: out of range; expected \"1 B\" to \"{} B\", or \"{}\"",
                bytes.write(),
                largest(0),
                Unlimited::WORD
            )
        });
    }
}

/// What builds on SACK goes with it where it is not written.
fn need_sack(t: &mut TcpTable, usual: bool, path: &Path<'_>, cx: &mut Cx<'_>) {
    if t.sack.unwrap_or(usual) {
        return;
    }
    for (key, value) in [("duplicate_sack", &mut t.duplicate_sack), ("prr", &mut t.prr)] {
        if *value.get_or_insert(false) {
            cx.error(t.places.of(key), &path.child(key), || {
                "true: needs selective acknowledgements; expected false, or sack = true".to_string()
            });
        }
    }
}

/// The least shift with which a window can be said.
fn scale_for(bytes: u64) -> Option<u8> {
    (0..=MOST_SCALE).find(|scale| bytes <= largest(*scale))
}

/// The largest window that can be said with a shift.
fn largest(scale: u8) -> u64 {
    65_535 << scale
}

/// The receiver's window and its shift: where one of them is not written it follows the other.
fn windows(t: &mut TcpTable, usual: Window, payload: u64, path: &Path<'_>, cx: &mut Cx<'_>) {
    let (place, key) = (t.places.of("receive_window"), path.child("receive_window"));
    match (t.receive_window, t.window_scale) {
        (Some(window), None) => match scale_for(window.bytes(payload)) {
            Some(scale) => t.window_scale = Some(scale),
            None => cx.error(place, &key, || {
                format!(
                    "{}: no window can be as large; expected at most \"{} B\"",
                    window.write(),
                    largest(MOST_SCALE)
                )
            }),
        },
        (None, Some(scale)) => {
            if usual.bytes(payload) > largest(scale) {
                t.receive_window = Some(Window::Bytes(Bytes(largest(scale))));
            }
        }
        (Some(window), Some(scale)) => {
            let bytes = window.bytes(payload);
            if bytes > largest(scale) {
                cx.error(place, &key, || {
                    let needed =
                        scale_for(bytes).map_or_else(String::new, |s| format!(", or window_scale = {s}"));
                    format!(
                        "{}: too large for window_scale = {scale}; expected at most \"{} B\"{needed}",
                        window.write(),
                        largest(scale)
                    )
                });
            } else if bytes < 1 << scale {
                cx.error(place, &key, || {
                    format!(
                        "{}: less than one step of window_scale = {scale}; expected at least \"{} B\"",
                        window.write(),
                        1_u64 << scale
                    )
                });
            }
        }
        (None, None) => {}
    }
}

fn times(
    t: &TcpTable,
    (initial, after_syn_loss, min, max): (Span, Span, Span, Span),
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) {
    let above = |key: &str, value: Span, cx: &mut Cx<'_>| {
        cx.error(t.places.of(key), &path.child(key), || {
            format!("{}: above max_rto; expected at most {}", value.write(), max.write())
        });
    };
    if initial > max {
        above("initial_rto", initial, cx);
    }
    if after_syn_loss > max {
        above("rto_after_syn_loss", after_syn_loss, cx);
    }
    if min > max {
        if t.places.has("min_rto") {
            above("min_rto", min, cx);
        } else {
            cx.error(t.places.of("max_rto"), &path.child("max_rto"), || {
                format!("{}: below min_rto; expected at least {}", max.write(), min.write())
            });
        }
    }
}

/// The pages of the reference.
pub(crate) fn docs() -> Vec<TableDoc> {
    vec![TcpTable::doc("[tcp]".to_string()), DelayedAckTable::doc("delayed_ack".to_string())]
}
