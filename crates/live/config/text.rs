//! TOML with the places of its keys, and the errors that name them.

use std::collections::BTreeMap;
use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Bytes of a configuration: far more than one needs.
const LARGEST: usize = 256 * 1024;

/// Likeness from which a name is suggested: 0 to 1.
const LIKE: f64 = 0.5;

/// An error of a configuration: the file, the line, the key, the problem and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// The line, from 1 on; 0: the whole file.
    pub line: usize,
    /// The key with those of its tables; empty: none.
    pub key: String,
    /// The problem, and what was expected.
    pub problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        if !self.key.is_empty() {
            write!(f, " {}:", self.key)?;
        }
        write!(f, " {}", self.problem)
    }
}

/// A text, and the errors found in it so far.
#[derive(Debug)]
pub struct Source<'a> {
    file: &'a str,
    text: &'a str,
    errors: Vec<ConfigError>,
}

/// A table whose keys are taken one after the other; those that nobody takes are errors.
#[derive(Debug)]
pub struct Table<'a> {
    path: String,
    start: usize,
    entries: BTreeMap<String, (usize, Spanned<DeValue<'a>>)>,
    /// The keys that were asked for.
    known: Vec<&'static str>,
}

/// A value with its key.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The key with those of its tables.
    pub path: String,
    /// Offset of the value in the text.
    pub start: usize,
    value: DeValue<'a>,
}

impl<'a> Source<'a> {
    /// A text of a file.
    #[must_use]
    pub const fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, errors: Vec::new() }
    }

    /// The table of the whole text; none if it is not TOML.
    pub fn parse(&mut self) -> Option<Table<'a>> {
        if self.text.len() > LARGEST {
            self.error_at(0, "", format!("more than {LARGEST} bytes"));
            return None;
        }
        match DeTable::parse(self.text) {
            Ok(table) => Some(Table::new(String::new(), 0, table.into_inner())),
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                self.error_at(start, "", format!("not TOML: {}", error.message()));
                None
            }
        }
    }

    /// An error at an offset of the text.
    pub fn error_at(&mut self, start: usize, key: &str, problem: String) {
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let (file, key) = (self.file.to_string(), key.to_string());
        self.errors.push(ConfigError { file, line, key, problem: printable(&problem) });
    }

    /// All errors, by line.
    #[must_use]
    pub fn into_errors(mut self) -> Vec<ConfigError> {
        self.errors.sort_by_key(|error| error.line);
        self.errors
    }
}

impl<'a> Table<'a> {
    fn new(path: String, start: usize, table: DeTable<'a>) -> Self {
        let entries = table
            .into_iter()
            .map(|(key, value)| (key.get_ref().to_string(), (key.span().start, value)))
            .collect();
        Self { path, start, entries, known: Vec::new() }
    }

    /// Offset of the table in the text.
    #[must_use]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The key of an entry with those of its tables.
    #[must_use]
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { printable(key) } else { format!("{}.{}", self.path, printable(key)) }
    }

    /// Takes the value of a key, if it is written.
    pub fn take(&mut self, key: &'static str) -> Option<Entry<'a>> {
        self.known.push(key);
        self.take_any(key)
    }

    /// Takes the value of a key that is no constant.
    pub fn take_any(&mut self, key: &str) -> Option<Entry<'a>> {
        let path = self.path_of(key);
        let (_, value) = self.entries.remove(key)?;
        Some(Entry { path, start: value.span().start, value: value.into_inner() })
    }

    /// The keys that are left.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        self.entries.keys().cloned().collect()
    }

    /// All keys that are left are errors. `more`: further names that would be right.
    pub fn finish<'n>(self, source: &mut Source<'_>, more: impl Iterator<Item = &'n str>) {
        let mut known: Vec<&str> = self.known.clone();
        known.extend(more);
        for (key, (start, _)) in &self.entries {
            source.error_at(*start, &self.path_of(key), format!("no such key{}", suggestion(key, &known)));
        }
    }
}

impl<'a> Entry<'a> {
    fn wrong(&self, source: &mut Source<'_>, expected: &str) {
        let shown = match &self.value {
            DeValue::String(text) => format!("\"{}\"", cut(text)),
            DeValue::Integer(number) => cut(number.as_str()),
            DeValue::Float(number) => cut(number.as_str()),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(date) => date.to_string(),
            DeValue::Array(_) => "a list".to_string(),
            DeValue::Table(_) => "a table".to_string(),
        };
        source.error_at(self.start, &self.path, format!("{shown}: expected {expected}"));
    }

    /// An error of the value.
    pub fn error(&self, source: &mut Source<'_>, problem: String) {
        source.error_at(self.start, &self.path, problem);
    }

    /// The value as a text.
    pub fn text(&self, source: &mut Source<'_>, expected: &str) -> Option<String> {
        match &self.value {
            DeValue::String(text) => Some(text.to_string()),
            _ => {
                self.wrong(source, expected);
                None
            }
        }
    }

    /// The value as users write values of parameters: without quotes.
    pub fn plain(&self, source: &mut Source<'_>, expected: &str) -> Option<String> {
        match &self.value {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n.to_string())
            }
            DeValue::Float(number) => Some(number.as_str().to_string()),
            DeValue::Boolean(flag) => Some(flag.to_string()),
            DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                self.wrong(source, expected);
                None
            }
        }
    }

    /// True or false.
    pub fn flag(&self, source: &mut Source<'_>) -> Option<bool> {
        match self.value {
            DeValue::Boolean(flag) => Some(flag),
            _ => {
                self.wrong(source, "true or false");
                None
            }
        }
    }

    /// The value as a quantity with its unit.
    pub fn quantity<Q: airfair_units::Quantity>(&self, source: &mut Source<'_>) -> Option<Q> {
        match &self.value {
            DeValue::String(text) => match Q::parse(text) {
                Ok(value) => Some(value),
                Err(error) => {
                    self.error(source, format!("\"{}\": {error}", cut(text)));
                    None
                }
            },
            _ => {
                self.wrong(source, Q::EXPECTED);
                None
            }
        }
    }

    /// The value as one of some words.
    pub fn choice<T: Copy>(&self, source: &mut Source<'_>, words: &[(&'static str, T)]) -> Option<T> {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let text = self.text(source, &one_of(&names))?;
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        if found.is_none() {
            let hint = suggestion(&text, &names);
            self.error(source, format!("\"{}\": expected {}{hint}", cut(&text), one_of(&names)));
        }
        found
    }

    /// The value as a table.
    pub fn table(self, source: &mut Source<'_>, expected: &str) -> Option<Table<'a>> {
        match self.value {
            DeValue::Table(table) => Some(Table::new(self.path, self.start, table)),
            _ => {
                self.wrong(source, expected);
                None
            }
        }
    }
}

/// Names in quotes, the last with "or".
#[must_use]
pub fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        None => "nothing".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// The known name that is most like a misspelt one, as the end of a sentence; empty if none is.
#[must_use]
pub fn suggestion(written: &str, names: &[&str]) -> String {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let like = |name: &&&str| strsim::normalized_damerau_levenshtein(&plain(&cut(written)), &plain(name));
    let best = names.iter().max_by(|a, b| like(a).total_cmp(&like(b))).filter(|name| like(name) >= LIKE);
    best.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

/// The beginning of a text that somebody else wrote.
fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// A text without characters that would change a terminal.
fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}
