//! Profiles of TCP: the defaults of the keys of `[tcp]`, by the RFCs, and as other simulators and hosts have them.

use airfair_transport::{DelayedAck, InitialWindow, PartialAckTimer, TcpConfig, TickMode};
use airfair_units::{Bytes, Span};

use crate::declare::choice::TcpProfile;
use crate::declare::delayed_ack::Acks;
use crate::declare::field::{Field, Or, Unlimited};
use crate::declare::window::Window;

macro_rules! rules {
    ($($key:ident: $ty:ty),* $(,)?) => {
        /// A value for every key of `[tcp]` but the profile.
        #[derive(Debug, Clone)]
        pub(crate) struct Rules { $(pub $key: $ty),* }

        impl Rules {
            /// The value of a key as TOML.
            fn text(&self, key: &str) -> String {
                match key {
                    $(stringify!($key) => self.$key.write(),)*
                    _ => String::new(),
                }
            }

        }
    };
}

/// Calls a macro with every key of `[tcp]` but the profile, and the type of its value.
macro_rules! each_rule {
    ($with:ident) => {
        $with! {
        mss: Bytes,
        initial_window: InitialWindow,
        window_limit: Window,
        send_buffer: Or<Unlimited, Window>,
        receive_window: Window,
        window_tuning: bool,
        delayed_ack: Acks,
        initial_rto: Span,
        rto_after_syn_loss: Span,
        min_rto: Span,
        min_rto_beyond_rtt: bool,
        max_rto: Span,
        tick: Span,
        tick_mode: TickMode,
        sack: bool,
        duplicate_sack: bool,
        limited_transmit: bool,
        prr: bool,
        undo: bool,
        undo_earlier_copies: bool,
        timestamps: bool,
        window_scale: u8,
        syn_window: Or<Unlimited, Bytes>,
        ecn: bool,
        handshake: bool,
        idle_restart: bool,
        nagle: bool,
        fin: bool,
        push: bool,
        dupack_threshold: u32,
        fast_retransmit_once: bool,
        partial_ack_timer: PartialAckTimer,
        syn_retries: Or<Unlimited, u32>,
        retries: Or<Unlimited, u32>,
            }
    };
}
pub(crate) use each_rule;

each_rule!(rules);

/// The recommendations of the RFCs, without ECN: the transport's own defaults.
const RFC: Rules = {
    let tcp = TcpConfig::RFC;
    Rules {
        mss: Bytes(tcp.mss as u64),
        window_limit: Window::Bytes(Bytes(tcp.window_limit)),
        send_buffer: match tcp.send_buffer {
            Some(bytes) => Or::of(Window::Bytes(Bytes(bytes))),
            None => Or::NONE,
        },
        receive_window: Window::Bytes(Bytes(tcp.receive_window)),
        window_tuning: tcp.window_tuning,
        delayed_ack: Acks(tcp.delayed_ack),
        initial_window: tcp.initial_window,
        initial_rto: tcp.initial_rto,
        rto_after_syn_loss: tcp.rto_after_syn_loss,
        min_rto: tcp.min_rto,
        min_rto_beyond_rtt: tcp.min_rto_beyond_rtt,
        max_rto: tcp.max_rto,
        tick: tcp.tick,
        tick_mode: tcp.tick_mode,
        sack: tcp.sack,
        duplicate_sack: tcp.duplicate_sack,
        limited_transmit: tcp.limited_transmit,
        prr: tcp.prr,
        undo: tcp.undo,
        undo_earlier_copies: tcp.undo_earlier_copies,
        timestamps: tcp.timestamps,
        window_scale: tcp.window_scale,
        syn_window: match tcp.syn_window {
            Some(bytes) => Or::of(Bytes(bytes)),
            None => Or::NONE,
        },
        ecn: tcp.ecn,
        handshake: tcp.handshake,
        idle_restart: tcp.idle_restart,
        nagle: tcp.nagle,
        fin: tcp.fin,
        push: tcp.push,
        dupack_threshold: tcp.dupack_threshold,
        fast_retransmit_once: tcp.fast_retransmit_once,
        partial_ack_timer: tcp.partial_ack_timer,
        syn_retries: Or::maybe(tcp.syn_retries),
        retries: Or::maybe(tcp.retries),
    }
};

/// ns-2.35's one-way TCP (`tcl/lib/ns-default.tcl`, `tcp/tcp.cc`), with the window limit that its users set (its own is 20
/// packets) and the usual segment size: it has neither a receiver's window nor a FIN, and an acknowledgement for each
/// segment. A SYN comes first (`syn_ true`, since 2001); the back-off after a lost SYN lasts until a round-trip time of data
/// is measured, so that data begin with twice the initial time-out. A fast retransmit is not repeated within a window of
/// data (`bugFix_ true`).
const NS2: Rules = Rules {
    initial_window: InitialWindow::Segments(2),
    window_limit: Window::Segments(1000),
    receive_window: Window::Bytes(Bytes(65_535 << 14)),
    window_scale: 14,
    syn_window: Or::NONE,
    delayed_ack: Acks(None),
    initial_rto: Span::from_secs(3),
    rto_after_syn_loss: Span::from_secs(6),
    min_rto: Span::from_millis(200),
    tick: Span::from_millis(10),
    sack: false,
    fin: false,
    fast_retransmit_once: true,
    syn_retries: Or::NONE,
    ..RFC
};

/// ns-3.37 (`src/internet/model/tcp-socket.cc`, `tcp-socket-base.cc`, `rtt-estimator.cc`, `tcp-l4-protocol.cc`), except for the
/// segment size: its default is 536 B, which its users change.
const NS3: Rules = Rules {
    initial_window: InitialWindow::Segments(10),
    window_limit: Window::Bytes(Bytes(128 << 10)),
    receive_window: Window::Bytes(Bytes(128 << 10)),
    window_scale: 2,
    initial_rto: Span::from_secs(3),
    tick: Span::from_millis(1),
    prr: true,
    timestamps: true,
    idle_restart: false,
    retries: Or::of(6),
    ..RFC
};

/// The largest send buffer of Linux: the third value of `tcp_wmem` on a host with at least 512 MiB of memory (`tcp_init` in
/// `net/ipv4/tcp.c`).
const LINUX_SEND_BUFFER: Window = Window::Bytes(Bytes(4 << 20));

/// Delayed acknowledgements of Linux: `TCP_ATO_MIN` and `TCP_MAX_QUICKACKS`.
const LINUX_DELAYED_ACK: DelayedAck = DelayedAck { quick: 16, ..DelayedAck::after(2, Span::from_millis(40)) };

/// A current Linux host (`include/net/tcp.h`, `Documentation/networking/ip-sysctl.rst`). Its send buffer counts memory; with segmentation
/// offload, always on since Linux 4.17, a byte of payload takes little more than a byte.
const LINUX: Rules = Rules {
    send_buffer: Or::of(LINUX_SEND_BUFFER),
    window_tuning: true,
    delayed_ack: Acks(Some(DelayedAck { requick: true, pushed: true, ..LINUX_DELAYED_ACK })),
    push: true,
    min_rto_beyond_rtt: true,
    undo_earlier_copies: true,
    ..LINUX_2026
};

/// The rules of `linux` when the results of papers and of `building-46.toml` were recorded: no send buffer that an application refills by
/// thirds, a least time-out of 200 ms, an undo that counts earlier copies wrongly, and acknowledgements that know neither PSH nor a window
/// that grows.
const LINUX_2026: Rules = Rules {
    initial_window: InitialWindow::Segments(10),
    window_limit: LINUX_SEND_BUFFER,
    receive_window: Window::Bytes(Bytes(6 << 20)),
    delayed_ack: Acks(Some(LINUX_DELAYED_ACK)),
    min_rto: Span::from_millis(200),
    max_rto: Span::from_secs(120),
    tick: Span::from_micros(1),
    duplicate_sack: true,
    prr: true,
    undo: true,
    undo_earlier_copies: false,
    timestamps: true,
    nagle: true,
    retries: Or::of(15),
    ..RFC
};

/// The rules of a profile.
pub(crate) fn rules(profile: TcpProfile) -> &'static Rules {
    match profile {
        TcpProfile::Rfc => &RFC,
        TcpProfile::Ns2 => &NS2,
        TcpProfile::Ns3 => &NS3,
        TcpProfile::Linux => &LINUX,
        TcpProfile::Linux2026 => &LINUX_2026,
    }
}

/// The default of a key in words: `"1 s" (ns-2: "0.2 s", linux: "0.2 s", linux-2026: "0.2 s")`.
pub(crate) fn describe(key: &str) -> String {
    let usual = RFC.text(key);
    let others: Vec<String> =
        [("ns-2", &NS2), ("ns-3", &NS3), ("linux", &LINUX), ("linux-2026", &LINUX_2026)]
            .into_iter()
            .map(|(name, rules)| (name, rules.text(key)))
            .filter(|(_, value)| *value != usual)
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
    if others.is_empty() { usual } else { format!("{usual} ({})", others.join(", ")) }
}
