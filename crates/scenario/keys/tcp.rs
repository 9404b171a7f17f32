//! The keys of `[tcp]` and of a flow's `tcp`: the rules of TCP.

use airfair_transport::{InitialWindow, PartialAckTimer, TickMode};
use airfair_units::{Bytes, Span};

use crate::declare::choice::TcpProfile;
use crate::declare::delayed_ack::{Acks, DelayedAckTable};
use crate::declare::field::{Field, LONGEST, Or, Unlimited, wrong_type};
use crate::declare::schema::{Schema, shared};
use crate::declare::table::{TableDoc, table};
use crate::declare::window::Window;
use crate::defaults::tcp_profile::describe;
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::{Located, Table, Value};

/// From the smallest datagram that every host must take (68 B, RFC 791) to the largest that there is, less both headers.
const SEGMENTS: std::ops::RangeInclusive<Bytes> = Bytes(28)..=Bytes(65_495);
/// The largest shift of a window (RFC 7323 section 2.3).
pub(crate) const MOST_SCALE: u8 = 14;
const TIMES: std::ops::RangeInclusive<Span> = Span(1)..=LONGEST;

table! {
    /// The rules of TCP for every flow that has `transport = "tcp"`, at both its ends; a flow's `tcp` has the same keys and
    /// inherits those that it does not write. The papers' results depend on these settings, on `initial_window`, `min_rto`,
    /// `delayed_ack` and `window_limit` above all.
    struct TcpTable {
        /// Defaults of the other keys; a key that is written has precedence. "rfc" is what the RFCs recommend. "ns-2" is
        /// the one-way TCP of ns-2.35 (`tcl/lib/ns-default.tcl`, `tcp/tcp.cc`); "ns-3" is ns-3.37
        /// (`src/internet/model/tcp-socket.cc`, `tcp-socket-base.cc`); "linux" is a Linux host with the kernel's own
        /// settings (`include/net/tcp.h`, `Documentation/networking/ip-sysctl.rst`), compared with a testbed in
        /// `validation kernel`; "linux-2026" is what "linux" was before, without `send_buffer`, `min_rto_beyond_rtt`,
        /// `undo_earlier_copies`, `window_tuning`, `push`, and two rules of `delayed_ack`, and reproduces results that were
        /// recorded with it.
        profile: TcpProfile = default(TcpProfile::Rfc);
        /// Maximum segment size as the option announces it: the payload of a full segment without options. With timestamps a
        /// segment carries 12 B less.
        mss: Bytes = switch(describe), in SEGMENTS;
        /// Window at the start of a connection: a number of segments, about 4380 B (RFC 3390), or ten segments of usual
        /// size (RFC 6928).
        initial_window: InitialWindow = switch(describe);
        /// Largest congestion window: the sender's buffer. Segments are full ones.
        window_limit: Window = switch(describe);
        /// The sender's buffer: what is sent and not acknowledged, and what waits to be sent. An application that has filled it writes
        /// again when a third of it is free, as under Linux: with a larger window data then leave in bursts. Segments are full ones.
        send_buffer: Or<Unlimited, Window> = switch(describe);
        /// The receiver's buffer, which bounds what is in flight.
        receive_window: Window = computed(format!("{}; less if window_scale is written and cannot say that", describe("receive_window")));
        /// The announced window begins with 64 KiB and grows with what the application reads in a round trip, up to `receive_window`, as
        /// under Linux (`tcp_rcv_space_adjust`); a segment that lets it grow is acknowledged at once (`tcp_grow_window`).
        window_tuning: bool = switch(describe);
        /// How a receiver delays acknowledgements: "off" acknowledges each segment.
        delayed_ack: Acks = switch(describe);
        /// Retransmission time-out before a round-trip time was measured (RFC 6298 section 2.1).
        initial_rto: Span = switch(describe), in TIMES;
        /// Least time-out when data begin after a SYN was lost (RFC 6298 section 5.7).
        rto_after_syn_loss: Span = switch(describe), in TIMES;
        /// Least retransmission time-out.
        min_rto: Span = switch(describe), in TIMES;
        /// `min_rto` is the least distance of the time-out from the smoothed round-trip time, as in Linux
        /// (`tcp_rtt_estimator`), instead of the least time-out. Without effect where `tick_mode` is "bsd".
        min_rto_beyond_rtt: bool = switch(describe);
        /// Largest retransmission time-out, backed off or not.
        max_rto: Span = switch(describe), in TIMES;
        /// Clock granularity.
        tick: Span = switch(describe), in Span(1)..=Span::from_secs(10);
        /// Effect of the clock. "round-up": measured round-trip times and time-outs are rounded up to whole ticks, and timers fire when
        /// their time is over. "bsd": the slow timer of 4.4BSD, with a `tick` of 500 ms and a `min_rto` of 1 s: a sender's
        /// timers fire at ticks only, a timer of two ticks after more than one and at most two; a round-trip time is the number
        /// of ticks in it. Each connection draws the phase of its clock.
        tick_mode: TickMode = switch(describe);
        /// Selective acknowledgements and the recovery that uses them (RFC 2018, RFC 6675). Without them, recovery is that of
        /// the window law: Reno or NewReno.
        sack: bool = switch(describe);
        /// The receiver reports data that arrived twice (RFC 2883). Needs `sack`.
        duplicate_sack: bool = computed(format!("{}; false without sack", describe("duplicate_sack")));
        /// New segments are sent on the first two duplicate acknowledgements (RFC 3042).
        limited_transmit: bool = switch(describe);
        /// Proportional rate reduction while SACK repairs (RFC 6937). Needs `sack`. A law without a window is not limited.
        prr: bool = computed(format!("{}; false without sack", describe("prr")));
        /// A sender undoes time-outs and fast retransmits that prove spurious: nothing more is sent again, and window and
        /// time-out return (RFC 4015). `timestamps` prove it (RFC 3522), or reports of what was received twice (RFC 3708;
        /// `duplicate_sack`); without both it has no effect.
        undo: bool = switch(describe);
        /// `undo` regards copies that an earlier fast retransmit has sent and that are on their way when another one begins: their
        /// arrival proves nothing spurious, as in Linux. Without it real losses one after another are undone, and the window
        /// stays where it was.
        undo_earlier_copies: bool = switch(describe);
        /// Timestamps (RFC 7323): 12 B of every segment.
        timestamps: bool = switch(describe);
        /// Shift of the window field; 0: the option is not sent (RFC 7323).
        window_scale: u8 = computed(format!("{}; with receive_window written, the least that can say it", describe("window_scale"))), in 0..=MOST_SCALE;
        /// Largest window that a SYN and its answer announce, which bounds what is sent in the first round trip: their field is
        /// not scaled (RFC 7323 section 2.2). "unlimited": all of `receive_window`, as in simulators without a receiver's window.
        syn_window: Or<Unlimited, Bytes> = switch(describe);
        /// Explicit congestion notification (RFC 3168): queues with an AQM mark instead of dropping.
        ecn: bool = switch(describe);
        /// Connections are set up by SYNs; if false, they are established at once.
        handshake: bool = switch(describe);
        /// The window law is notified of idle periods longer than a time-out, after which it starts again from the
        /// initial window (RFC 5681 section 4.1).
        idle_restart: bool = switch(describe);
        /// A segment that is not full waits until all before it is acknowledged (RFC 9293 section 3.7.4).
        nagle: bool = switch(describe);
        /// A sender sends a FIN at the end of its file.
        fin: bool = switch(describe);
        /// PSH ends an application's data, and the segments that leave together, as Linux sets it on what segmentation offload cuts
        /// (`__tcp_transmit_skb`). It changes no departure; a receiver may acknowledge it at once (`delayed_ack`).
        push: bool = switch(describe);
        /// Duplicate acknowledgements that mean a loss (RFC 5681: three).
        dupack_threshold: u32 = switch(describe), in 1..=1000;
        /// Plain Reno too answers a window of data by one fast retransmit only: a second loss in it waits for the timer,
        /// as for NewReno (RFC 6582 section 3.2, step 2). Has no effect on other laws nor with `sack`.
        fast_retransmit_once: bool = switch(describe);
        /// The effect of partial acknowledgements on the retransmission timer without SACK (RFC 6582 section 3.2): only the first of
        /// a recovery restarts it (many losses end in a time-out), or each does (one loss is repaired in a round trip).
        partial_ack_timer: PartialAckTimer = switch(describe);
        /// Times that a SYN is sent again before the sender gives up.
        syn_retries: Or<Unlimited, u32> = switch(describe);
        /// Time-outs in a row before the sender gives up.
        retries: Or<Unlimited, u32> = switch(describe);
    }
}

/// A flow's `tcp`, which can only be read together with `[tcp]`.
#[derive(Debug, Clone)]
pub(crate) struct FlowTcp {
    pub written: Table,
    /// The keys in which it differs from `[tcp]`, filled in.
    pub pairs: Vec<(&'static str, String)>,
}

impl Field for FlowTcp {
    const TYPE: &'static str = "table";

    fn expected() -> String {
        "a table of the keys of [tcp], such as { min_rto = \"200 ms\" }".to_string()
    }

    fn schema() -> Schema {
        shared("tcp")
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &item.value {
            Value::Table(table) => Some(Self { written: table.clone(), pairs: Vec::new() }),
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        let pairs: Vec<String> = self.pairs.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        if pairs.is_empty() { "{}".to_string() } else { format!("{{ {} }}", pairs.join(", ")) }
    }
}

/// The pages of the reference.
pub(crate) fn docs() -> Vec<TableDoc> {
    vec![TcpTable::doc("[tcp]".to_string()), DelayedAckTable::doc("delayed_ack".to_string())]
}
