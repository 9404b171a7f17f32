//! Locations in a scenario's text: the line or override that wrote a value, and the key path that leads to the value.

use std::fmt;

/// Where a key or value was written. The order is the order in which errors are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum At {
    /// A line of the file, from 1.
    Line(u32),
    /// An override, by its index in the list of overrides.
    Override(u32),
}

/// Turns byte offsets into line numbers.
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn of(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i + 1);
        Self { starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The line that holds a byte, from 1.
    pub fn line(&self, offset: usize) -> At {
        At::Line(u32::try_from(self.starts.partition_point(|&s| s <= offset)).unwrap_or(u32::MAX).max(1))
    }
}

/// A key path such as `flow.left.traffic.rate`. Each part links to the one before on the stack, so that a path allocates only when printed.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    name: &'a str,
}

impl<'a> Path<'a> {
    /// The path of the whole file.
    pub const ROOT: Path<'static> = Path { parent: None, name: "" };

    /// The path of a key below this one.
    pub fn child(&'a self, name: &'a str) -> Path<'a> {
        Path { parent: Some(self), name }
    }

    /// True for the path of the whole file.
    pub fn is_root(&self) -> bool {
        self.parent.is_none() && self.name.is_empty()
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent.filter(|p| !p.name.is_empty() || p.parent.is_some()) {
            write!(f, "{parent}.")?;
        }
        if self.name.is_empty() || self.name.contains(|c: char| c == '.' || c == '"' || c.is_whitespace()) {
            // Quotes around a name that would otherwise read as more than one part.
            return if self.parent.is_none() { Ok(()) } else { write!(f, "{:?}", self.name) };
        }
        f.write_str(self.name)
    }
}

/// Where the keys of one table were written.
#[derive(Debug, Clone)]
pub(crate) struct Locations {
    table: At,
    keys: Vec<(&'static str, At)>,
    /// Keys whose values were refused.
    refused: Vec<&'static str>,
}

impl Locations {
    /// The locations of a table whose keys are not read yet.
    pub fn new(table: At) -> Self {
        Self { table, keys: Vec::new(), refused: Vec::new() }
    }

    /// Notes where a key was written.
    pub fn note(&mut self, key: &'static str, at: At) {
        self.keys.push((key, at));
    }

    /// Notes that the value of a key was refused.
    pub fn refuse(&mut self, key: &'static str) {
        self.refused.push(key);
    }

    /// True if the value of a key was refused. The default that replaces it is then not the user's intention.
    pub fn refused(&self, key: &str) -> bool {
        self.refused.contains(&key)
    }

    /// True if a key was written.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(k, _)| *k == key)
    }

    /// Where a key was written; the table's own place if it was not.
    pub fn of(&self, key: &str) -> At {
        self.keys.iter().find(|(k, _)| *k == key).map_or(self.table, |&(_, at)| at)
    }

    /// The location of the first of these keys that was written; the table's own if none was.
    pub fn of_any(&self, keys: &[&str]) -> At {
        self.keys.iter().find(|(k, _)| keys.contains(k)).map_or(self.table, |&(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one() {
        let lines = Lines::of("a\nbc\n\nd");
        let found: Vec<At> = [0, 1, 2, 4, 5, 6, 99].iter().map(|&o| lines.line(o)).collect();
        assert_eq!(found, [1, 1, 2, 2, 3, 4, 4].map(At::Line));
    }

    #[test]
    fn paths_print_with_dots() {
        let flow = Path::ROOT.child("flow");
        let left = flow.child("left");
        assert_eq!(left.child("rate").to_string(), "flow.left.rate");
        assert_eq!(flow.child("a.b").to_string(), "flow.\"a.b\"");
        assert_eq!(Path::ROOT.to_string(), "");
    }
}
