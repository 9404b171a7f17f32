//! Lines for people, on standard error: the system's journal adds time and name.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Priorities as the journal has them (`sd-daemon`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Something does not work.
    Error,
    /// Something is not as it should be.
    Warning,
    /// Something that an operator expects to see.
    Notice,
}

/// Lines that could not be written since the last one that was.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Writes a line. Where the journal reads it begins with its priority. A reader that has gone, or does not read, loses lines and stops
/// nothing.
pub fn line(level: Level, text: &dyn fmt::Display) {
    let number = match level {
        Level::Error => 3,
        Level::Warning => 4,
        Level::Notice => 5,
    };
    let text = if std::env::var_os("JOURNAL_STREAM").is_some() {
        format!("<{number}>{text}\n")
    } else {
        format!("airfaird: {text}\n")
    };
    let lost = LOST.load(Ordering::Relaxed);
    let text = if lost > 0 { format!("{lost} lines were lost\n{text}") } else { text };
    let stderr = io::stderr();
    let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    // A pipe that is ready takes a page without a wait.
    let bytes = &text.as_bytes()[..text.len().min(MOST_BYTES)];
    let is_ready =
        matches!(poll(&mut ready, Some(&at_once)), Ok(1)) && ready[0].revents().contains(PollFlags::OUT);
    if is_ready && stderr.lock().write_all(bytes).is_ok() {
        LOST.store(0, Ordering::Relaxed);
    } else {
        LOST.store(lost.saturating_add(1), Ordering::Relaxed);
    }
}

/// Most bytes of a line.
const MOST_BYTES: usize = 4096;
