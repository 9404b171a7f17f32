//! Errors that end the program, with its exit status.

/// An error that ends the program: one line or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The configuration, the keys or the command line are wrong: another attempt ends the same until somebody changes them.
    Wrong(String),
    /// The host, its kernel or another program refuses something: a later attempt may do better.
    Refused(String),
}

impl Problem {
    /// The exit status.
    #[must_use]
    pub const fn status(&self) -> u8 {
        match self {
            Self::Refused(_) => 1,
            Self::Wrong(_) => 2,
        }
    }

    /// The lines.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Wrong(text) | Self::Refused(text) => text,
        }
    }
}

/// A text alone is a refusal.
impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self::Refused(text)
    }
}
