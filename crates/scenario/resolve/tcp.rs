//! From `[tcp]` and a flow's `tcp` to the transport's configuration.

use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Span};

use crate::declare::choice::TcpProfile;
use crate::declare::field::{Field, Unlimited, Word};
use crate::declare::table::OtherKeys;
use crate::declare::window::Window;
use crate::defaults::tcp_profile::{Rules, each_rule, rules};
use crate::keys::tcp::{FlowTcp, MOST_SCALE, TcpTable};
use crate::resolve::blocks::single;
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::{Table, Value};

/// Bytes of a segment's payload that timestamps occupy (RFC 7323 appendix A).
const TIMESTAMPS: u64 = 12;

/// The rules of `[tcp]`, which a flow has unless it writes its own.
pub(crate) struct Tcp {
    /// The table as it was written.
    written: Option<Table>,
    /// Filled in; `None` only after noting an error.
    pub rules: Option<(TcpTable, TcpConfig)>,
}

impl Tcp {
    /// True if the file has a `[tcp]` table.
    pub fn is_written(&self) -> bool {
        self.written.is_some()
    }

    /// True if hosts limit the packets of their own flows that wait in a queue: those of ns-2 and ns-3 do not.
    pub fn limits_local(&self) -> bool {
        let profile = self.rules.as_ref().map(|(table, _)| table.profile);
        !matches!(profile, Some(TcpProfile::Ns2 | TcpProfile::Ns3))
    }

    /// The configuration of a flow: its own keys, and those of `[tcp]` that it does not write. Notes in `own` the keys that differ.
    pub fn for_flow(&self, own: &mut FlowTcp, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<TcpConfig> {
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
        // A window and its shift are written together, since one of them alone would decide the other.
        let window = pairs.iter().any(|pair| is_window(pair.0) && differs(pair));
        own.pairs = pairs.into_iter().filter(|pair| differs(pair) || (window && is_window(pair.0))).collect();
        Some(config)
    }
}

/// True if a key is one of the two of which one decides the other if that is not written.
fn is_window(key: &str) -> bool {
    matches!(key, "receive_window" | "window_scale")
}

/// True if a key of `[tcp]` does not apply to a flow, since it follows from keys that the flow writes.
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

fn read(table: &Table, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<(TcpTable, TcpConfig)> {
    let mut table = TcpTable::read_table(table, path, cx, &OtherKeys::default())?;
    let config = resolve(&mut table, path, cx);
    Some((table, config))
}

/// Fills in the table and makes the configuration; errors are noted, and the rest is checked.
fn resolve(t: &mut TcpTable, path: &Path<'_>, cx: &mut Cx<'_>) -> TcpConfig {
    let usual = rules(t.profile);
    need_sack(t, usual.sack, path, cx);
    syn_window(t, path, cx);
    let payload = t.mss.unwrap_or(usual.mss).0;
    let payload = payload - if t.timestamps.unwrap_or(usual.timestamps) { TIMESTAMPS } else { 0 };
    windows(t, usual.receive_window, payload, path, cx);
    let max_rto = t.max_rto.unwrap_or(usual.max_rto);
    // A default must not contradict a key that is written.
    t.initial_rto.get_or_insert(usual.initial_rto.min(max_rto));
    t.rto_after_syn_loss.get_or_insert(usual.rto_after_syn_loss.min(max_rto));
    let unreadable = [
        t.min_rto.is_none() && t.locations.has("min_rto"),
        t.max_rto.is_none() && t.locations.has("max_rto"),
    ];
    let r = fill(usual, t);
    if unreadable == [false, false] {
        times(t, (r.initial_rto, r.rto_after_syn_loss, r.min_rto, r.max_rto), path, cx);
    }
    for (key, window) in [("window_limit", r.window_limit), ("receive_window", r.receive_window)] {
        if window.bytes(payload) < payload {
            cx.error(t.locations.of(key), &path.child(key), || {
                format!("{}: less than a segment; expected at least \"{payload} B\"", window.write())
            });
        }
    }
    if let Some(buffer) = r.send_buffer.0.filter(|buffer| buffer.bytes(payload) < payload) {
        cx.error(t.locations.of("send_buffer"), &path.child("send_buffer"), || {
            format!("{}: less than a segment; expected at least \"{payload} B\"", buffer.write())
        });
    }
    TcpConfig {
        // The world sets it, which knows the lengths of headers.
        headers: TcpConfig::RFC.headers,
        // The table's range keeps it below 2^16.
        mss: u32::try_from(r.mss.0).unwrap_or(u32::MAX),
        initial_window: r.initial_window,
        window_limit: r.window_limit.bytes(payload),
        send_buffer: r.send_buffer.0.map(|buffer| buffer.bytes(payload)),
        receive_window: r.receive_window.bytes(payload),
        window_tuning: r.window_tuning,
        delayed_ack: r.delayed_ack.0,
        initial_rto: r.initial_rto,
        rto_after_syn_loss: r.rto_after_syn_loss,
        min_rto: r.min_rto,
        min_rto_beyond_rtt: r.min_rto_beyond_rtt,
        max_rto: r.max_rto,
        tick: r.tick,
        tick_mode: r.tick_mode,
        sack: r.sack,
        duplicate_sack: r.duplicate_sack,
        limited_transmit: r.limited_transmit,
        prr: r.prr,
        undo: r.undo,
        undo_earlier_copies: r.undo_earlier_copies,
        timestamps: r.timestamps,
        window_scale: r.window_scale,
        syn_window: r.syn_window.0.map(Bytes::get),
        ecn: r.ecn,
        handshake: r.handshake,
        idle_restart: r.idle_restart,
        nagle: r.nagle,
        fin: r.fin,
        push: r.push,
        dupack_threshold: r.dupack_threshold,
        fast_retransmit_once: r.fast_retransmit_once,
        partial_ack_timer: r.partial_ack_timer,
        syn_retries: r.syn_retries.0,
        retries: r.retries.0,
    }
}

macro_rules! fill {
    ($($key:ident: $ty:ty),* $(,)?) => {
        /// Fills in the keys that are not written, and returns the value of each.
        fn fill(usual: &Rules, t: &mut TcpTable) -> Rules {
            Rules { $($key: t.$key.get_or_insert_with(|| usual.$key.clone()).clone()),* }
        }
    };
}
each_rule!(fill);

/// Warns of delayed acknowledgements that cause time-outs.
pub(crate) fn warn_of_delayed_acks(config: &TcpConfig, cx: &mut Cx<'_>) {
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

/// Checks that the window which a SYN announces fits into its field.
fn syn_window(t: &TcpTable, path: &Path<'_>, cx: &mut Cx<'_>) {
    let Some(bytes) = t.syn_window.as_ref().and_then(|window| window.0) else { return };
    if !(1..=largest(0)).contains(&bytes.0) {
        cx.error(t.locations.of("syn_window"), &path.child("syn_window"), || {
            format!(
                "{}: out of range; expected \"1 B\" to \"{} B\", or \"{}\"",
                bytes.write(),
                largest(0),
                Unlimited::WORD
            )
        });
    }
}

/// Turns off the rules that need SACK if SACK is off; an error if one of them is written as on.
fn need_sack(t: &mut TcpTable, usual: bool, path: &Path<'_>, cx: &mut Cx<'_>) {
    if t.sack.unwrap_or(usual) {
        return;
    }
    for (key, value) in [("duplicate_sack", &mut t.duplicate_sack), ("prr", &mut t.prr)] {
        if *value.get_or_insert(false) {
            cx.error(t.locations.of(key), &path.child(key), || {
                "true: needs selective acknowledgements; expected false, or sack = true".to_string()
            });
        }
    }
}

/// The least shift with which a window can be announced.
fn scale_for(bytes: u64) -> Option<u8> {
    (0..=MOST_SCALE).find(|scale| bytes <= largest(*scale))
}

/// The largest window that can be announced with a shift, bytes.
fn largest(scale: u8) -> u64 {
    65_535 << scale
}

/// Fills in the receiver's window or its shift from the other, or checks that both fit together.
fn windows(t: &mut TcpTable, usual: Window, payload: u64, path: &Path<'_>, cx: &mut Cx<'_>) {
    let (place, key) = (t.locations.of("receive_window"), path.child("receive_window"));
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
        cx.error(t.locations.of(key), &path.child(key), || {
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
        if t.locations.has("min_rto") {
            above("min_rto", min, cx);
        } else {
            cx.error(t.locations.of("max_rto"), &path.child("max_rto"), || {
                format!("{}: below min_rto; expected at least {}", max.write(), min.write())
            });
        }
    }
}
