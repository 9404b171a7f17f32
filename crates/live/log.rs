//! Lines for people, on standard error: the system's journal adds time and name.

use std::fmt;

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

/// Writes a line. Where the journal reads it begins with its priority.
pub fn line(level: Level, text: &dyn fmt::Display) {
    let number = match level {
        Level::Error => 3,
        Level::Warning => 4,
        Level::Notice => 5,
    };
    if std::env::var_os("JOURNAL_STREAM").is_some() {
        eprintln!("<{number}>{text}");
    } else {
        eprintln!("airfaird: {text}");
    }
}
