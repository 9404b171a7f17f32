//! A script harness: timed events are the input; segments, timers, windows and calls of the law are the output.
//!
//! A script is lines of text. Times are milliseconds.
//!
//! ```text
//! 0    write 3000             an event; until the next one, exactly the following lines must hold
//! > 1:1001 1001:2001          segments sent, in order; no such line: none
//! ! fast-loss 3000 pipe 2000  calls of the law other than acknowledgements; no such line: none
//! ~ 1000 cumulative 1000 ...  the last acknowledgement passed to the law
//! = window=3000 state=open    present values
//! # a comment
//! ```
//!
//! An event may not be later than the subject's deadline; `timer` must be exactly at the deadline.

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod laws;
pub mod receiver;
pub mod sender;

use airfair_schemes::places::{SourceContext, SourceEffects};
use airfair_transport::{Segment, Timestamps};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};

/// A context for calls outside a simulation.
pub struct World {
    random: Stream,
    out: SourceEffects,
}

impl Default for World {
    fn default() -> Self {
        Self { random: Stream::new(1, "test", Purpose::Source), out: SourceEffects::default() }
    }
}

impl World {
    /// The context at a moment.
    pub fn at(&mut self, now: Time) -> SourceContext<'_> {
        SourceContext { now, random: &mut self.random, out: &mut self.out }
    }
}

/// "12.5" ms.
pub fn time(text: &str) -> Time {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let nanos = format!("{fraction:0<6}");
    Time(whole.parse::<u64>().expect(text) * 1_000_000 + nanos.parse::<u64>().expect(text))
}

/// Nanoseconds as milliseconds.
pub fn millis(nanos: u64) -> String {
    let text = format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// "left:right".
pub fn range(text: &str) -> (u64, u64) {
    let (left, right) = text.split_once(':').unwrap_or_else(|| panic!("{text} is no range"));
    (left.parse().expect(left), right.parse().expect(right))
}

/// "value/echo".
pub fn stamps(text: &str) -> Timestamps {
    let (value, echo) = text.split_once('/').expect("value/echo");
    Timestamps { value: value.parse().expect(value), echo: echo.parse().expect(echo) }
}

/// "1:3001/1000*" becomes "1:1001* 1001:2001* 2001:3001*".
pub fn expand(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    for word in line.split_whitespace() {
        let is_range =
            |text: &str| text.contains(':') && text.chars().all(|c| c.is_ascii_digit() || c == ':');
        let size = word.split_once('/').filter(|(left, _)| is_range(left));
        let Some((span, rest)) = size else {
            all.push(word.to_owned());
            continue;
        };
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (size, suffix) = rest.split_at(digits);
        let size: u64 = size.parse().expect(word);
        let (mut left, right) = range(span);
        while left < right {
            let end = right.min(left + size);
            all.push(format!("{left}:{end}{suffix}"));
            left = end;
        }
    }
    all
}

/// The options of a SYN as text.
pub fn syn_options(segment: &Segment) -> String {
    let mut words = Vec::new();
    words.extend(segment.mss.map(|mss| format!("mss={mss}")));
    words.extend(segment.window_scale.map(|scale| format!("scale={scale}")));
    words.extend(segment.sack_permitted.then(|| "sack".to_owned()));
    words.extend(segment.flags.ece.then(|| "ece".to_owned()));
    words.extend(segment.flags.cwr.then(|| "cwr".to_owned()));
    words.extend(segment.timestamps.map(|s| format!("ts={}/{}", s.value, s.echo)));
    words.push(format!("win={}", segment.window));
    words.join(",")
}

/// The state that a script checks line by line.
pub trait Subject {
    /// Executes an event.
    fn event(&mut self, at: Time, words: &[&str]);
    /// Segments sent since the last event.
    fn sent(&mut self) -> Vec<String>;
    /// Calls of the law since the last event.
    fn law_calls(&mut self) -> Vec<String>;
    /// The last acknowledgement passed to the law.
    fn acked(&self) -> String;
    /// The present value of a named quantity.
    fn value_of(&mut self, name: &str) -> String;
    /// Time of the next timer, if one is set.
    fn deadline(&self) -> Option<Time>;
}

/// Runs a script.
pub fn run(subject: &mut dyn Subject, script: &str) {
    let mut pending: Option<(usize, bool, bool)> = None;
    let finish = |subject: &mut dyn Subject, pending: &mut Option<(usize, bool, bool)>| {
        let Some((line, sent, called)) = pending.take() else { return };
        let left = subject.sent();
        assert!(sent || left.is_empty(), "line {line}: unexpected segments {left:?}");
        let calls: Vec<String> =
            subject.law_calls().into_iter().filter(|word| !word.starts_with("start")).collect();
        assert!(called || calls.is_empty(), "line {line}: unexpected calls of the law {calls:?}");
    };
    for (number, line) in script.lines().enumerate() {
        let line = line.trim();
        let number = number + 1;
        let rest = line.get(1..).unwrap_or_default().trim();
        match line.chars().next() {
            None | Some('#') => {}
            Some('>') => {
                assert_eq!(subject.sent(), expand(rest), "line {number}: {line}");
                if let Some((_, sent, _)) = &mut pending {
                    *sent = true;
                }
            }
            Some('!') => {
                assert_eq!(subject.law_calls().join("; "), rest, "line {number}: {line}");
                if let Some((_, _, called)) = &mut pending {
                    *called = true;
                }
            }
            Some('~') => assert_eq!(subject.acked(), rest, "line {number}: {line}"),
            Some('=') => {
                for word in rest.split_whitespace() {
                    let (name, value) = word.split_once('=').expect(word);
                    assert_eq!(subject.value_of(name), value, "line {number}: {name}");
                }
            }
            Some(_) => {
                finish(subject, &mut pending);
                let words: Vec<&str> = line.split_whitespace().collect();
                let at = time(words[0]);
                let deadline = subject.deadline();
                if words[1] == "timer" {
                    let due = deadline.map_or("never".to_owned(), |due| millis(due.0));
                    assert_eq!(due, millis(at.0), "line {number}: the timer");
                } else if let Some(due) = deadline {
                    assert!(due >= at, "line {number}: a timer was due at {}", millis(due.0));
                }
                subject.event(at, &words[1..]);
                pending = Some((number, false, false));
            }
        }
    }
    finish(subject, &mut pending);
}
