//! Errors of a scenario: the location, the key, the problem and what was expected. One reading collects all errors that it finds.

use std::fmt;

use airfair_schemes::Registry;

use crate::text::location::{At, Path};
use crate::text::overrides::Override;

/// Most errors that are shown; the rest is counted.
const SHOWN: usize = 20;
/// Most errors that are kept: a file with more is not a scenario.
const KEPT: usize = 200;
/// Longest piece of a user's text that a message repeats, in characters.
const QUOTED: usize = 60;

/// Where an error is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A line of a file, counted from 1.
    File {
        /// The file's name as it was given.
        name: String,
        /// The line.
        line: u32,
    },
    /// The whole of a file, which could not be read.
    Whole {
        /// The file's name as it was given.
        name: String,
    },
    /// An override, by the path it sets.
    Override {
        /// The path before the equals sign.
        path: String,
    },
    /// A change in the brackets of a selection of schemes, by the path it sets.
    Change {
        /// The selection.
        selection: String,
        /// The path before the equals sign.
        path: String,
    },
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// Where it was written.
    pub location: Location,
    /// The key path, such as `radio.data_rate`; empty if there is none.
    pub key: String,
    /// The fault, and the expected form.
    pub problem: String,
}

impl fmt::Display for ScenarioError {
    /// `scenarios/x.toml:12: radio.data_rate: "11 Mbps": ...`, or `--set radio.data_rate: "11 Mbps": ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Location::File { name, line } => write!(f, "{name}:{line}: ")?,
            Location::Whole { name } => write!(f, "{name}: ")?,
            Location::Override { path } => write!(f, "--set {path}: ")?,
            Location::Change { selection, path } => write!(f, "scheme \"{selection}\": {path}: ")?,
        }
        f.write_str(&self.rest_of_key())?;
        f.write_str(&self.problem)
    }
}

impl ScenarioError {
    /// The key and a colon; of an override, whose path is written before, only what the path lacks.
    fn rest_of_key(&self) -> String {
        if self.key.is_empty() {
            return String::new();
        }
        let (Location::Override { path } | Location::Change { path, .. }) = &self.location else {
            return format!("{}: ", self.key);
        };
        // `--set red.max_p` is short for `--set schemes.red.max_p`.
        let below = |key: &str| key.strip_prefix(path.as_str()).map(str::to_string);
        match below(&self.key).or_else(|| below(self.key.strip_prefix("schemes.")?)) {
            Some(rest) if rest.is_empty() => rest,
            Some(rest) if rest.starts_with('.') => format!("{}: ", &rest[1..]),
            _ => format!("{}: ", self.key),
        }
    }
}

impl std::error::Error for ScenarioError {}

/// All that is wrong with a scenario, in the order of the file, overrides last. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errors {
    /// The first twenty.
    pub list: Vec<ScenarioError>,
    /// How many more there are.
    pub more: usize,
}

impl Errors {
    /// One error about a whole file.
    pub(crate) fn whole(name: &str, problem: String) -> Self {
        Self::one(Location::Whole { name: name.to_string() }, problem)
    }

    /// One error about a line of a file.
    pub(crate) fn at(name: &str, line: usize, problem: String) -> Self {
        Self::one(
            Location::File { name: name.to_string(), line: u32::try_from(line).unwrap_or(u32::MAX) },
            problem,
        )
    }

    fn one(location: Location, problem: String) -> Self {
        Self { list: vec![ScenarioError { location, key: String::new(), problem }], more: 0 }
    }
}

impl fmt::Display for Errors {
    /// One line an error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.list.iter().enumerate() {
            write!(f, "{}{error}", if i == 0 { "" } else { "\n" })?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n... and {more} more"),
        }
    }
}

impl std::error::Error for Errors {}

/// The context of one reading: its errors and warnings so far, and what the reader may use beside the text.
pub(crate) struct Cx<'a> {
    origin: &'a str,
    overrides: &'a [Override],
    problems: Vec<(At, String, String)>,
    uncounted: usize,
    /// The folder of the scenario, if it was read from a file.
    pub folder: Option<&'a std::path::Path>,
    /// The schemes that the scenario may name.
    pub schemes: &'a Registry,
    /// Files that the scenario names.
    pub files: Vec<std::path::PathBuf>,
    /// Most bytes of a file that the scenario names.
    pub list_bytes: u64,
    /// Warnings about settings that have no effect or a surprising one.
    pub warnings: Vec<String>,
}

impl<'a> Cx<'a> {
    /// A context without errors.
    pub fn new(origin: &'a str, overrides: &'a [Override]) -> Self {
        Self {
            origin,
            overrides,
            problems: Vec::new(),
            uncounted: 0,
            folder: None,
            files: Vec::new(),
            schemes: Registry::built_in(),
            list_bytes: 0,
            warnings: Vec::new(),
        }
    }

    /// Notes an error. The text is made only if it is kept.
    pub fn error(&mut self, at: At, path: &Path<'_>, problem: impl FnOnce() -> String) {
        if self.problems.len() >= KEPT {
            self.uncounted += 1;
            return;
        }
        self.note(at, path, &problem());
    }

    /// Notes an error whose text is made. Apart from `error`, so that it is compiled once and not for each closure.
    fn note(&mut self, at: At, path: &Path<'_>, problem: &str) {
        let problem = clean(problem);
        let key = clean(&path.to_string());
        // A key that a kind of radio inherits from [radio] is read twice, and its error is shown once.
        let known = self
            .problems
            .iter()
            .any(|(a, k, p)| *a == at && *p == problem && last_part(k) == last_part(&key));
        if !known {
            self.problems.push((at, key, problem));
        }
    }

    /// True if anything is wrong.
    pub fn failed(&self) -> bool {
        !self.problems.is_empty()
    }

    /// The text of the override that wrote a single value, for keys whose value is a text: `--set flow.a.to=2`.
    pub fn override_text(&self, at: At) -> Option<&'a str> {
        let At::Override(i) = at else { return None };
        let text = self.overrides.get(i as usize)?.value.trim();
        if text.starts_with(['[', '{']) { None } else { Some(text) }
    }

    /// The errors in the order of the file; the warnings if there is none.
    ///
    /// # Errors
    /// Everything that was noted.
    pub fn finish(mut self) -> Result<Vec<String>, Errors> {
        if self.problems.is_empty() {
            return Ok(self.warnings);
        }
        self.problems.sort_by_key(|&(at, ..)| at);
        let more = self.problems.len().saturating_sub(SHOWN) + self.uncounted;
        let list = self
            .problems
            .drain(..)
            .take(SHOWN)
            .map(|(at, key, problem)| {
                let location = match at {
                    At::Line(line) => Location::File { name: self.origin.to_string(), line },
                    At::Override(i) => {
                        let path =
                            self.overrides.get(i as usize).map_or_else(String::new, |o| o.path.clone());
                        Location::Override { path }
                    }
                };
                ScenarioError { location, key, problem }
            })
            .collect();
        Err(Errors { list, more })
    }
}

fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// True if a character has no place in a name or a message: controls, and marks that change the direction of writing, with which the
/// shown order differs from the stored one (Unicode TR9, explicit formatting).
pub(crate) fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text that fits on one line of a terminal whatever a user wrote.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if unprintable(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// A user's text between quotes, cut if it is long.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    out.push_str(&cut(text));
    out.push('"');
    out
}

/// A user's text, cut if it is long.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// `"a", "b" or "c"`.
pub(crate) fn one_of<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("\"{}\"", n.as_ref())).collect();
    match quoted.split_last() {
        None => "nothing".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
