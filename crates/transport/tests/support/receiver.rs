//! Scripts for a receiver.
//!
//! Events: `timer`, `stop` and `resume` of reading, `read 500`, `poll`, and segments that arrive:
//! `< 1:1001 F W P ce ts=5/3 ack=1`, or `< S mss=1000 sack scale=7 ece cwr ts=5/3`.
//!
//! Acknowledgements: `1001` with `,sack=2001:3001+4001:5001`, `,ece`, `,ts=5/3` and, if it is not the whole, `,win=500`.

use airfair_schemes::places::Ecn;
use airfair_transport::{Flags, Receiver, Segment, TcpConfig};
use airfair_units::Time;

use super::{Subject, millis, range, run, stamps, syn_options};

pub struct Script {
    pub receiver: Receiver,
    whole: u64,
    sent: Vec<String>,
}

/// Runs a script over a new receiver.
pub fn check(config: &TcpConfig, script: &str) -> Script {
    let receiver = Receiver::new(config);
    let whole = (config.receive_window >> config.window_scale) << config.window_scale;
    let mut subject = Script { receiver, whole, sent: Vec::new() };
    run(&mut subject, script);
    subject
}

fn arriving(words: &[&str]) -> Segment {
    let mut flags = Flags { ack: true, ..Flags::default() };
    let mut segment = Segment::bare(1, 1, 65_535);
    for &word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("S", _) => (flags.syn, flags.ack, segment.seq, segment.ack) = (true, false, 0, 0),
            ("F", _) => flags.fin = true,
            ("W", _) | ("cwr", _) => flags.cwr = true,
            ("ece", _) => flags.ece = true,
            ("ce", _) => segment.ecn = Ecn::Ce,
            ("P", _) => flags.psh = true,
            ("no-ack", _) => flags.ack = false,
            ("ack", ack) => segment.ack = ack.parse().expect(word),
            ("sack", _) => segment.sack_permitted = true,
            ("mss", mss) => segment.mss = mss.parse().ok(),
            ("scale", scale) => segment.window_scale = scale.parse().ok(),
            ("ts", text) => segment.timestamps = Some(stamps(text)),
            (span, _) => {
                let (left, right) = range(span);
                (segment.seq, segment.payload) = (left, (right - left) as u32);
            }
        }
    }
    Segment { flags, ..segment }
}

impl Script {
    fn text(&self, segment: &Segment) -> String {
        if segment.flags.syn {
            assert!(segment.flags.ack && segment.ack == 1 && segment.seq == 0, "{segment:?}");
            return format!("S.({})", syn_options(segment));
        }
        assert!(segment.flags.ack && segment.seq == 1 && segment.sequence_len() == 0, "{segment:?}");
        assert_eq!(segment.ecn, Ecn::NotEct, "RFC 3168 section 6.1.4: acknowledgements are not ECT");
        let mut text = segment.ack.to_string();
        let blocks: Vec<String> = segment.sack.as_slice().iter().map(|(l, r)| format!("{l}:{r}")).collect();
        if !blocks.is_empty() {
            text += &format!(",sack={}", blocks.join("+"));
        }
        if segment.flags.ece {
            text += ",ece";
        }
        if let Some(stamps) = segment.timestamps {
            text += &format!(",ts={}/{}", stamps.value, stamps.echo);
        }
        if segment.window != self.whole {
            text += &format!(",win={}", segment.window);
        }
        text
    }
}

impl Subject for Script {
    fn event(&mut self, at: Time, words: &[&str]) {
        match words {
            ["timer"] => self.receiver.on_timer(at),
            ["stop"] => self.receiver.set_reading(false),
            ["resume"] => self.receiver.set_reading(true),
            ["read", bytes] => self.receiver.read(bytes.parse().expect(bytes)),
            ["poll"] => {}
            ["<", rest @ ..] => self.receiver.on_segment(&arriving(rest), at),
            _ => panic!("{words:?} is no event"),
        }
        while let Some(segment) = self.receiver.poll(at) {
            let text = self.text(&segment);
            self.sent.push(text);
            assert!(self.sent.len() < 100, "it never stops");
        }
    }

    fn sent(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sent)
    }

    fn law_calls(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn acked(&self) -> String {
        String::new()
    }

    fn value_of(&mut self, name: &str) -> String {
        let stats = self.receiver.stats();
        match name {
            "delivered" => self.receiver.delivered().to_string(),
            "finished" => self.receiver.is_finished().to_string(),
            "deadline" => self.receiver.deadline().map_or("none".to_owned(), |at| millis(at.0)),
            "segments" => stats.segments.to_string(),
            "duplicates" => stats.duplicates.to_string(),
            "out-of-order" => stats.out_of_order.to_string(),
            "marked" => stats.marked.to_string(),
            "acks" => stats.acks.to_string(),
            _ => panic!("{name} is not known"),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.receiver.deadline()
    }
}
