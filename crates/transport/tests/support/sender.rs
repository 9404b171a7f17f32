//! Scripts for a sender.
//!
//! Events: `open`, `write 1000`, `endless`, `close`, `stop`, `timer`, `poll`, `drop 1001`, and segments that arrive:
//! `< 1001 sack=2001:3001,4001:5001 win=8000 ece ts=5/3` is an acknowledgement, `< S. mss=1000 sack scale=7 ece ts=5/3` the
//! answer to a SYN. A window stays valid until another is given.
//!
//! Segments: `1:1001` with `F` for a FIN, `*` for ECT, `W` for CWR, `P` for PSH, `@5/3` for timestamps; `ack` alone; `S(...)`.

use std::sync::{Arc, Mutex};

use airfair_schemes::places::{Ecn, Timer};
use airfair_transport::{Flags, SackBlocks, Segment, Sender, State, TcpConfig};
use airfair_units::Time;

use super::laws::{Law, Log, Witness};
use super::{Subject, World, millis, range, run, stamps, syn_options};

pub struct Script {
    pub sender: Sender,
    pub log: Arc<Mutex<Log>>,
    world: World,
    sent: Vec<String>,
    window: u64,
}

/// The base configuration of the vectors: segments of 1000 bytes, no delays.
pub fn plain() -> TcpConfig {
    TcpConfig {
        mss: 1000,
        handshake: false,
        sack: false,
        fin: false,
        delayed_ack: None,
        limited_transmit: false,
        receive_window: 1_024_000,
        window_scale: 7,
        ..TcpConfig::default()
    }
}

/// The same configuration with SACK.
pub fn with_sack() -> TcpConfig {
    TcpConfig { sack: true, limited_transmit: true, ..plain() }
}

/// Runs a script over a new sender.
pub fn check(config: &TcpConfig, law: Law, script: &str) -> Script {
    let mut subject = Script::new(config, law);
    run(&mut subject, script);
    subject
}

impl Script {
    pub fn new(config: &TcpConfig, law: Law) -> Self {
        let log = Arc::new(Mutex::new(Log::default()));
        let sender = Sender::new(config, Box::new(Witness::new(law, log.clone())));
        Self { sender, log, world: World::default(), sent: Vec::new(), window: 1_024_000 }
    }

    fn arrive(&mut self, at: Time, words: &[&str]) {
        let mut flags = Flags { ack: true, ..Flags::default() };
        let mut segment = Segment::bare(1, 1, 0);
        let mut sack = SackBlocks::default();
        for &word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("S.", _) => (flags.syn, segment.seq) = (true, 0),
                ("no-ack", _) => flags.ack = false,
                ("ece", _) => flags.ece = true,
                ("cwr", _) => flags.cwr = true,
                ("sack", "") => segment.sack_permitted = true,
                ("sack", blocks) => {
                    for block in blocks.split(',') {
                        let (left, right) = range(block);
                        assert!(sack.push(left, right), "at most four blocks");
                    }
                }
                ("win", window) => self.window = window.parse().expect(word),
                ("mss", mss) => segment.mss = mss.parse().ok(),
                ("scale", scale) => segment.window_scale = scale.parse().ok(),
                ("ts", text) => segment.timestamps = Some(stamps(text)),
                ("payload", text) => segment.payload = text.parse().expect(word),
                (ack, _) => segment.ack = ack.parse().expect(word),
            }
        }
        segment = Segment { flags, sack, window: self.window, ..segment };
        self.sender.on_segment(&segment, &mut self.world.at(at));
    }
}

fn text(segment: &Segment) -> String {
    if segment.flags.syn {
        return format!("S({})", syn_options(segment));
    }
    assert!(segment.flags.ack && segment.ack == 1, "{segment:?}");
    let mut text = match segment.sequence_len() {
        0 => "ack".to_owned(),
        _ => format!("{}:{}", segment.seq, segment.seq + u64::from(segment.payload)),
    };
    for (set, mark) in [
        (segment.flags.fin, "F"),
        (segment.ecn == Ecn::Ect, "*"),
        (segment.flags.cwr, "W"),
        (segment.flags.psh, "P"),
    ] {
        text += if set { mark } else { "" };
    }
    match segment.timestamps {
        Some(stamps) => format!("{text}@{}/{}", stamps.value, stamps.echo),
        None => text,
    }
}

impl Subject for Script {
    fn event(&mut self, at: Time, words: &[&str]) {
        let context = &mut self.world.at(at);
        match words {
            ["open"] => self.sender.open(context),
            ["write", bytes] => self.sender.write(bytes.parse().expect(bytes)),
            ["endless"] => self.sender.write(u64::MAX),
            ["close"] => self.sender.close(),
            ["stop"] => self.sender.stop(),
            ["timer"] => self.sender.on_timer(context),
            ["law-timer"] => self.sender.on_law_timer(Timer(0), context),
            ["drop", seq] => self.sender.on_link_drop(seq.parse().expect(seq), context),
            ["poll"] => {}
            ["<", rest @ ..] => self.arrive(at, rest),
            _ => panic!("{words:?} is no event"),
        }
        while let Some(departure) = self.sender.poll(&mut self.world.at(at)) {
            let segment = self.sender.segment(&departure, at);
            self.sent.push(text(&segment));
            assert!(self.sent.len() < 10_000, "it never stops");
        }
        assert!(self.sender.sums_are_right());
    }

    fn sent(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sent)
    }

    fn law_calls(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().expect("one thread").calls)
    }

    fn acked(&self) -> String {
        self.log.lock().expect("one thread").acked.clone()
    }

    fn value_of(&mut self, name: &str) -> String {
        let sender = &self.sender;
        let stats = sender.stats();
        let number = match name {
            "window" => sender.window(Time::ZERO),
            "ssthresh" => sender.law().ssthresh().expect("a law with one").get(),
            "flight" => sender.outstanding(),
            "pipe" => sender.in_flight(),
            "una" => sender.unacknowledged(),
            "next" => sender.next_sequence(),
            "peer-window" => sender.peer().window,
            "mss" => u64::from(sender.peer().mss),
            "delivered" => sender.delivered(),
            "segments" => stats.segments,
            "bytes" => stats.bytes,
            "bytes-acked" => stats.bytes_acked,
            "bytes-lost" => stats.bytes_lost,
            "bytes-retransmitted" => stats.bytes_retransmitted,
            "retransmissions" => stats.retransmissions,
            "timeouts" => stats.timeouts,
            "spurious-timeouts" => stats.spurious_timeouts,
            "spurious-recoveries" => stats.spurious_recoveries,
            "recoveries" => stats.fast_recoveries,
            "reductions" => stats.ecn_reductions,
            "acks" => stats.acks,
            "duplicates" => stats.duplicate_acks,
            "probes" => stats.probes,
            "idle-restarts" => stats.idle_restarts,
            "syns" => stats.syns,
            "limit" => return format!("{:?}", sender.limit(Time::ZERO)),
            "rto" => return millis(sender.round_trips().time_out.0),
            "srtt" => return sender.round_trips().smoothed.map_or("none".to_owned(), |rtt| millis(rtt.0)),
            "rttvar" => return millis(sender.round_trips().variation.0),
            "min-rtt" => return sender.round_trips().smallest.map_or("none".to_owned(), |rtt| millis(rtt.0)),
            "deadline" => return sender.deadline().map_or("none".to_owned(), |at| millis(at.0)),
            "done" => return sender.is_done().to_string(),
            "state" => {
                return match sender.state() {
                    State::Closed => "closed",
                    State::SynSent => "syn-sent",
                    State::Open => "open",
                    State::Recovery => "recovery",
                    State::Loss => "loss",
                    State::Failed => "failed",
                }
                .to_owned();
            }
            _ => panic!("{name} is not known"),
        };
        number.to_string()
    }

    fn deadline(&self) -> Option<Time> {
        self.sender.deadline()
    }
}
