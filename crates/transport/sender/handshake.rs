//! Connection establishment (RFC 9293 section 3.5; options: section 3.7.1, RFC 7323, RFC 2018, RFC 3168 section 6.1.1).

use airfair_schemes::places::{FlowSetup, SourceContext};
use airfair_units::{Bytes, Span, Time};

use super::{Sender, State};
use crate::{Flags, Segment, TickMode, Timestamps};

/// Bytes of timestamps in every segment (RFC 7323 appendix A).
const TIMESTAMPS_LEN: u32 = 12;

/// MSS of a peer that announces none (RFC 9293 section 3.7.1).
const DEFAULT_PEER_MSS: u16 = 536;

impl Sender {
    /// Opens the connection: [`Sender::poll`] returns the SYN, or data at once without handshake. Only the first call has an effect.
    pub fn open(&mut self, context: &mut SourceContext<'_>) {
        if self.state != State::Closed {
            return;
        }
        if self.config.tick_mode == TickMode::Bsd {
            // All connections of a host share one clock, and hosts' clocks have different phases. Here each connection draws its own phase:
            // two of one host then time out apart, which is a smaller error than all hosts of a network timing out together.
            let tick = self.config.tick.0;
            self.rtt.set_phase(Span((context.random.uniform() * tick as f64) as u64).min(Span(tick - 1)));
        }
        if self.config.handshake {
            self.state = State::SynSent;
            self.syn_due = true;
            return;
        }
        self.sack = self.config.sack;
        self.timestamps = self.config.timestamps;
        self.ecn = self.config.ecn;
        self.peer_window = self.config.whole_window(self.config.window_scale);
        self.establish(None, false, context);
    }

    /// The SYN with all options that this end supports (RFC 9293 section 3.7.1).
    pub(super) fn syn(&mut self, now: Time) -> Segment {
        self.syn_due = false;
        self.next = 1;
        self.stats.syns += 1;
        self.syn_at = (self.stats.syns == 1).then_some(now);
        self.rto_at = Some(self.rtt.expiry(now, &self.config));
        let config = &self.config;
        let ecn = config.ecn;
        Segment {
            window: config.syn_announced_window(config.whole_window(config.window_scale)),
            // RFC 3168 section 6.1.1: ECE and CWR on a SYN announce that this end supports ECN.
            flags: Flags { syn: true, ece: ecn, cwr: ecn, ..Flags::default() },
            timestamps: config.timestamps.then(|| Timestamps { value: Timestamps::clock(now), echo: 0 }),
            mss: Some(config.mss as u16),
            window_scale: (config.window_scale > 0).then_some(config.window_scale),
            sack_permitted: config.sack,
            ..Segment::bare(0, 0, 0)
        }
    }

    /// Handles a segment that arrives in SYN-SENT (RFC 9293 section 3.10.7.3).
    pub(super) fn on_syn_ack(&mut self, segment: &Segment, context: &mut SourceContext<'_>) {
        let flags = segment.flags;
        if !flags.syn || !flags.ack || segment.ack != 1 || self.next != 1 {
            return;
        }
        self.sack = self.config.sack && segment.sack_permitted;
        self.timestamps = self.config.timestamps && segment.timestamps.is_some();
        self.ecn = self.config.ecn && flags.ece && !flags.cwr;
        self.ts_recent = segment.timestamps.map_or(0, |stamps| stamps.value);
        self.peer_window = segment.window;
        let peer_mss = u32::from(segment.mss.unwrap_or(DEFAULT_PEER_MSS));
        self.mss = self.config.mss.min(peer_mss).max(1);
        // A retransmitted SYN is not measured (Karn), unless timestamps identify the answered one.
        let rtt = match self.syn_at {
            Some(at) => Some(context.now.since(at)),
            None => {
                segment.timestamps.filter(|_| self.timestamps).and_then(|s| self.echoed_rtt(s, context.now))
            }
        };
        self.ack_due = true;
        let counted = rtt.map(|rtt| self.rtt.measured(context.now, rtt, &self.config));
        self.establish(rtt.zip(counted), self.syn_at.is_none(), context);
    }

    /// Opens the connection for data; `rtt`: round-trip time of the SYN, if it may be measured, exact and in ticks.
    fn establish(&mut self, rtt: Option<(Span, Span)>, syn_lost: bool, context: &mut SourceContext<'_>) {
        self.state = State::Open;
        (self.una, self.next) = (1, 1);
        self.fill_buffer();
        self.rto_at = None;
        self.expiries = 0;
        self.largest_window = self.peer_window;
        self.last_sent = context.now;
        if self.timestamps {
            self.mss = self.mss.saturating_sub(TIMESTAMPS_LEN).max(1);
        }
        // The header of an explicit-rate scheme must fit into the same packet.
        let of_law = self.law.header().map_or(0, |kind| kind.wire_len);
        self.mss = self.mss.saturating_sub(of_law).max(1);
        if let Some((exact, counted)) = rtt {
            self.rtt.observe(exact);
            self.rtt.sample(counted, 1, &self.config);
        }
        if syn_lost {
            self.rtt.raise_after_syn_loss(&self.config);
        }
        let mss = Bytes(u64::from(self.mss));
        // RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
        let initial_window = if syn_lost { mss } else { self.config.initial_window.bytes(self.mss) };
        let window_limit = Bytes(self.config.window_limit);
        let rtt = rtt.map(|(exact, _)| self.rtt.law_rtt(exact, &self.config));
        let headers = Bytes(u64::from(self.config.headers) + u64::from(of_law));
        self.law.on_start(&FlowSetup { mss, headers, initial_window, window_limit, rtt, syn_lost }, context);
    }

    /// Timestamps of a segment that is sent now (RFC 7323 section 3.2).
    pub(super) fn timestamps_now(&self, now: Time) -> Timestamps {
        Timestamps { value: Timestamps::clock(now), echo: self.ts_recent }
    }

    /// Round-trip time from an echoed timestamp (RFC 7323 section 4.1), to a millisecond; none if the echo is later than now.
    pub(super) fn echoed_rtt(&self, stamps: Timestamps, now: Time) -> Option<Span> {
        let elapsed = Timestamps::clock(now).wrapping_sub(stamps.echo);
        (elapsed < 1 << 31).then(|| Span::from_millis(u64::from(elapsed)))
    }
}
