//! Laws that can be computed by hand, and a recorder of their calls.

use std::sync::{Arc, Mutex};

use airfair_schemes::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Idle, PartialAck, Sent, Source, SourceContext,
    Spurious, Timer,
};
use airfair_units::{Bytes, Rate, Time};

use super::millis;

/// Record of a law's calls.
#[derive(Debug, Default)]
pub struct Log {
    pub calls: Vec<String>,
    pub acked: String,
    pub sent: Vec<Sent>,
}

/// The laws of vectors.
#[derive(Debug, Clone, Copy)]
pub enum Law {
    /// A window that never changes, bytes.
    Fixed(u64),
    /// The same law, but partial acknowledgements do not deflate the inflation by duplicates.
    Keeping(u64),
    /// A fixed window with pacing: bit/s and quantum.
    Paced(u64, u64, Option<u64>),
    /// A fixed window of a source whose timer does not double.
    Granted(u64),
    /// The same from its own timer on.
    Hurried(u64),
    /// No window at all.
    Open,
    /// RFC 5681 with the recovery of RFC 6582.
    NewReno,
    /// RFC 5681 alone.
    Reno,
}

/// A law that records its calls.
pub struct Witness {
    law: Law,
    pub log: Arc<Mutex<Log>>,
    mss: u64,
    initial: u64,
    window: u64,
    ssthresh: u64,
    /// Window and threshold before the last time-out that was not a repeated one, or fast retransmit.
    before: Option<(u64, u64)>,
    /// The law's own timer has fired.
    fired: bool,
}

impl Witness {
    pub fn new(law: Law, log: Arc<Mutex<Log>>) -> Self {
        let window = match law {
            Law::Fixed(window)
            | Law::Granted(window)
            | Law::Hurried(window)
            | Law::Keeping(window)
            | Law::Paced(window, _, _) => window,
            _ => 0,
        };
        Self { law, log, mss: 0, initial: 0, window, ssthresh: 1 << 40, before: None, fired: false }
    }

    fn adapts(&self) -> bool {
        matches!(self.law, Law::NewReno | Law::Reno)
    }

    fn record(&self, text: String) {
        self.log.lock().expect("one thread").calls.push(text);
    }
}

impl Source for Witness {
    fn on_start(&mut self, setup: &FlowSetup, _context: &mut SourceContext<'_>) {
        self.mss = setup.mss.0;
        self.initial = setup.initial_window.0;
        if self.adapts() {
            self.window = self.initial;
        }
        let rtt = setup.rtt.map_or("unknown".to_owned(), |rtt| millis(rtt.0));
        let lost = if setup.syn_lost { " syn-lost" } else { "" };
        self.record(format!("start mss {} initial {} rtt {rtt}{lost}", self.mss, self.initial));
    }

    fn on_sent(&mut self, sent: &Sent, _context: &mut SourceContext<'_>) {
        self.log.lock().expect("one thread").sent.push(*sent);
    }

    fn on_acked(&mut self, acked: &Acked, _context: &mut SourceContext<'_>) {
        let mut text = format!("{} cumulative {}", acked.bytes.0, acked.cumulative.0);
        text += &format!(" flight {}->{}", acked.prior_in_flight.0, acked.in_flight.0);
        if acked.lost.0 > 0 {
            text += &format!(" lost {}", acked.lost.0);
        }
        if let Some(rtt) = acked.rtt {
            text += &format!(" rtt {}", millis(rtt.0));
        }
        if let Some(sample) = acked.rate_sample {
            text += &format!(" rate {}/{}", sample.delivered.0, millis(sample.interval.0));
            text += if sample.app_limited { " app-limited" } else { "" };
        }
        for (flag, word) in
            [(acked.round_ended, " round"), (acked.window_limited, " full"), (acked.in_recovery, " recovery")]
        {
            text += if flag { word } else { "" };
        }
        self.log.lock().expect("one thread").acked = format!("{text} sent {}", millis(acked.sent_at.0));
        // RFC 5681 section 3.1: only cumulatively acknowledged bytes count.
        let grows = acked.cumulative.0 > 0 && acked.window_limited && !acked.in_recovery;
        if self.adapts() && grows {
            if self.window < self.ssthresh {
                self.window += self.mss.min(acked.cumulative.0);
            } else {
                self.window += self.mss * self.mss / self.window;
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _context: &mut SourceContext<'_>) {
        let name = match congestion.cause {
            CongestionCause::FastLoss => "fast-loss",
            CongestionCause::Timeout => "timeout",
            CongestionCause::Mark => "mark",
            CongestionCause::LinkDrop => "link-drop",
        };
        let repeated = if congestion.repeated { " repeated" } else { "" };
        self.record(format!("{name} {} pipe {}{repeated}", congestion.in_flight.0, congestion.pipe.0));
        let lost = matches!(congestion.cause, CongestionCause::FastLoss | CongestionCause::Timeout);
        if lost && !congestion.repeated {
            self.before = Some((self.window, self.ssthresh));
        }
        if self.adapts() && congestion.cause != CongestionCause::LinkDrop {
            if !congestion.repeated {
                self.ssthresh = (congestion.in_flight.0 / 2).max(2 * self.mss);
            }
            self.window = if congestion.cause == CongestionCause::Timeout { self.mss } else { self.ssthresh };
        }
    }

    fn on_spurious(&mut self, spurious: &Spurious, _context: &mut SourceContext<'_>) {
        let name = if spurious.cause == CongestionCause::Timeout { "timeout" } else { "fast-loss" };
        self.record(format!("spurious {name} {} acked {}", spurious.in_flight.0, spurious.acked.0));
        let (window, ssthresh) = self.before.take().expect("each event is taken back once");
        if self.adapts() {
            // The window of before; the RFC's response is more careful.
            self.window = self.window.max(window);
            self.ssthresh = ssthresh;
        }
    }

    fn on_recovered(&mut self, in_flight: Bytes, _context: &mut SourceContext<'_>) {
        self.record(format!("recovered {}", in_flight.0));
    }

    fn on_idle(&mut self, idle: &Idle, _context: &mut SourceContext<'_>) {
        self.record(format!("idle {} rto {}", millis(idle.span.0), millis(idle.rto.0)));
        if self.adapts() {
            self.window = self.window.min(self.initial);
        }
    }

    fn allowance(&self, _now: Time) -> Allowance {
        let window = (!matches!(self.law, Law::Open)).then_some(Bytes(self.window));
        let (rate, quantum) = match self.law {
            Law::Paced(_, rate, quantum) => (Some(Rate(rate)), quantum.map(Bytes)),
            _ => (None, None),
        };
        Allowance { window, rate, quantum }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.adapts().then_some(Bytes(self.ssthresh))
    }

    fn doubles_timer(&self) -> bool {
        match self.law {
            Law::Granted(_) => false,
            Law::Hurried(_) => !self.fired,
            _ => true,
        }
    }

    fn on_timer(&mut self, _: Timer, _: &mut SourceContext<'_>) {
        self.fired = true;
    }

    fn partial_ack(&self) -> PartialAck {
        match self.law {
            Law::Reno => PartialAck::EndsRecovery,
            Law::Keeping(_) => PartialAck::RepairsUndeflated,
            _ => PartialAck::RepairsNext,
        }
    }
}
