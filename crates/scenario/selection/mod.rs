//! Selections: a scheme, or several together, as the runs of one row of a comparison have them: `cubic+fq-codel`, `diffq:paper`,
//! `c3l[rts; radio.queue_packets=100]`. After a colon stands a preset, which replaces the file's values for that scheme; in brackets
//! stand changes of the scenario.

mod apply;
mod changes;

use std::fmt;

use airfair_schemes::{PLACES, Params, Registry, SchemeEntry};

pub use apply::Selected;
pub use changes::{SHORT_CHANGES, ShortChange};

use crate::keys::scheme_params::no_preset;
use crate::text::error::{clean, cut, quoted};
use crate::text::nearest::hint;
use crate::text::overrides::Override;

/// Most characters of a selection.
const LONGEST: usize = 1000;
/// Most changes of a selection.
const MOST_CHANGES: usize = 50;

/// A scheme, or several together, with presets and with changes of the scenario. Its text is the name of its runs in results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// At least one scheme; of two, the one whose place comes first in [`PLACES`].
    pub parts: Vec<Part>,
    changes: Vec<Change>,
}

/// A scheme of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name of the scheme.
    pub scheme: String,
    /// The preset; `None`: the file's values.
    pub preset: Option<String>,
}

/// A change of the scenario: the text by which it is shown, and the values that it sets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    shown: String,
    sets: Vec<Override>,
}

impl Selection {
    /// The selections in a text, with commas between them.
    ///
    /// # Errors
    /// As [`Selection::parse`].
    pub fn list(text: &str, schemes: &Registry) -> Result<Vec<Self>, String> {
        if text.chars().count() > LONGEST * 10 {
            return Err(format!("schemes: more than {} characters", LONGEST * 10));
        }
        let texts = split(text, ',').map_err(|problem| wrong(text, &problem))?;
        texts.into_iter().map(|one| Self::parse(one, schemes)).collect()
    }

    /// Reads one selection.
    ///
    /// # Errors
    /// The fault: there is no such scheme, preset or short change, two schemes do not go together, or the text has another form.
    pub fn parse(text: &str, schemes: &Registry) -> Result<Self, String> {
        let text = text.trim();
        if text.chars().count() > LONGEST {
            return Err(wrong(text, &format!("more than {LONGEST} characters")));
        }
        let (names, changes) = match text.split_once('[') {
            None => (text, None),
            Some((names, rest)) => match rest.strip_suffix(']') {
                Some(inner) => (names, Some(inner)),
                None => return Err(wrong(text, "expected a ] at its end")),
            },
        };
        let mut parts = names
            .split('+')
            .map(|part| read_part(part, schemes))
            .collect::<Result<Vec<Part>, String>>()
            .map_err(|problem| if names == text { problem } else { wrong(text, &problem) })?;
        parts.sort_by_key(|part| first_place(schemes.find(&part.scheme)));
        let changes = match changes {
            None => Vec::new(),
            Some(inner) => changes::read(inner).map_err(|problem| wrong(text, &problem))?,
        };
        let selection = Self { parts, changes };
        // The parameters decide nothing about the places.
        let entries = selection.entries(schemes).map(|entry| (entry.clone(), Params::default())).collect();
        SchemeEntry::combined("", entries).map_err(|problem| wrong(text, &problem))?;
        Ok(selection)
    }

    /// The schemes' entries.
    fn entries<'r>(&self, schemes: &'r Registry) -> impl Iterator<Item = &'r SchemeEntry> {
        self.parts.iter().filter_map(|part| schemes.find(&part.scheme))
    }

    /// The names of the schemes, as a scenario file has them: `cubic+fq-codel`.
    #[must_use]
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.parts.iter().map(|part| part.scheme.as_str()).collect();
        names.join("+")
    }

    /// True of one scheme without a preset and without changes.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        matches!(&self.parts[..], [Part { preset: None, .. }]) && self.changes.is_empty()
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.parts.iter().enumerate() {
            let plus = if i == 0 { "" } else { "+" };
            write!(f, "{plus}{}", part.scheme)?;
            if let Some(preset) = &part.preset {
                write!(f, ":{preset}")?;
            }
        }
        let shown: Vec<&str> = self.changes.iter().map(|change| change.shown.as_str()).collect();
        if shown.is_empty() { Ok(()) } else { write!(f, "[{}]", shown.join("; ")) }
    }
}

fn read_part(text: &str, schemes: &Registry) -> Result<Part, String> {
    let (name, preset) = match text.split_once(':') {
        Some((name, preset)) => (name.trim(), Some(preset.trim())),
        None => (text.trim(), None),
    };
    let Some(entry) = schemes.find(name) else {
        let names = || schemes.entries().iter().map(|entry| entry.name);
        let near = hint(name, names());
        if !near.is_empty() {
            return Err(clean(&format!("there is no scheme {}{near}", quoted(name))));
        }
        let first: Vec<&str> = names().take(12).collect();
        return Err(clean(&format!(
            "there is no scheme {}; expected one of {}, ...",
            quoted(name),
            first.join(", ")
        )));
    };
    if let Some(preset) = preset
        && entry.preset(preset).is_none()
    {
        return Err(clean(&no_preset(entry, preset)));
    }
    Ok(Part { scheme: name.to_string(), preset: preset.map(str::to_string) })
}

/// The place of a scheme that comes first in [`PLACES`], by which a law stands before a queue.
fn first_place(entry: Option<&SchemeEntry>) -> usize {
    let fills = |place: &&str| entry.is_some_and(|entry| entry.places.contains(place));
    PLACES.iter().position(fills).unwrap_or(PLACES.len())
}

/// The error of a selection.
fn wrong(text: &str, problem: &str) -> String {
    clean(&format!("scheme \"{}\": {problem}", cut(text)))
}

/// The pieces of a text between separators that stand outside of quotes and of brackets.
fn split(text: &str, separator: char) -> Result<Vec<&str>, String> {
    let (mut pieces, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth = depth.checked_sub(1).ok_or_else(|| format!("\"{c}\" closes nothing"))?;
            }
            (None, _) if c == separator && depth == 0 => {
                pieces.push(&text[start..i]);
                start = i + c.len_utf8();
            }
            (None, _) => {}
        }
    }
    if let Some(open) = quote {
        return Err(format!("the quote {open} does not end"));
    }
    if depth > 0 {
        return Err("a bracket is not closed".to_string());
    }
    pieces.push(&text[start..]);
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        let found = Selection::list(text, Registry::built_in()).unwrap_or_else(|e| panic!("{e}"));
        found.iter().map(ToString::to_string).collect()
    }

    fn error(text: &str) -> String {
        Selection::list(text, Registry::built_in()).unwrap_err()
    }

    #[test]
    fn a_list_of_selections() {
        let text = "droptail, fq-codel + cubic, c3l[ rts ], diffq:default, fq-codel[radio.queue_packets=100; \
                    tcp.window_limit='4 segments']";
        assert_eq!(
            list(text),
            [
                "droptail",
                "cubic+fq-codel",
                "c3l[rts]",
                "diffq:default",
                "fq-codel[radio.queue_packets=100; tcp.window_limit='4 segments']"
            ]
        );
        assert_eq!(
            list("red[node.a.position=[\"1 m\", \"2 m\"]]"),
            ["red[node.a.position=[\"1 m\", \"2 m\"]]"]
        );
    }

    #[test]
    fn its_text_reads_as_the_same_selection() {
        for text in ["red", "newreno+nred[window=4; queue=100; ecn]", "c3l:default[retries=50; rts]"] {
            let one = Selection::parse(text, Registry::built_in()).unwrap();
            assert_eq!(one, Selection::parse(&one.to_string(), Registry::built_in()).unwrap());
            assert_eq!(one.to_string(), text);
        }
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(error("fqcodel"), "there is no scheme \"fqcodel\"; did you mean \"fq-codel\"?");
        assert_eq!(
            error(""),
            "there is no scheme \"\"; expected one of droptail, red, nred, lbm, qfcp, xcp, xcp-b, \
                               rcp, codel, fq-codel, reno, newreno, ..."
        );
        assert_eq!(error("red:paper"), "\"paper\": red has no such preset; expected \"default\"");
        assert_eq!(error("red[rts"), "scheme \"red[rts\": a bracket is not closed");
        assert_eq!(error("red[rts]x"), "scheme \"red[rts]x\": expected a ] at its end");
        assert_eq!(error("red]"), "scheme \"red]\": \"]\" closes nothing");
        assert_eq!(
            error("red+nred"),
            "scheme \"red+nred\": red and nred do not go together: both fill the place \"aqm\""
        );
        assert_eq!(
            error("red[rtz]"),
            "scheme \"red[rtz]\": \"rtz\" is no short change; did you mean \"rts\"?"
        );
        assert_eq!(
            error("red[window]"),
            "scheme \"red[window]\": window: expected a value, such as window=4"
        );
        assert_eq!(error("red[rts=1]"), "scheme \"red[rts=1]\": rts has no value");
        assert_eq!(
            error("red[queue=5; radio.queue_packets=7]"),
            "scheme \"red[queue=5; radio.queue_packets=7]\": radio.queue_packets is changed twice"
        );
        assert_eq!(
            error("red[scheme=nred]"),
            "scheme \"red[scheme=nred]\": scheme: stands before the bracket"
        );
        assert_eq!(error("red[]"), "scheme \"red[]\": a change is empty");
        assert_eq!(
            error("red[rts, retries=50]"),
            "scheme \"red[rts, retries=50]\": \"rts, retries=50\": expected ; between changes"
        );
        assert_eq!(
            error("red[ecn, rts]"),
            "scheme \"red[ecn, rts]\": \"ecn, rts\" is no short change; expected ; between changes"
        );
    }

    #[test]
    fn long_texts_are_refused() {
        assert!(error(&"x".repeat(2_000)).contains("more than 1000 characters"));
        assert!(error(&"red,".repeat(4_000)).contains("more than 10000 characters"));
        let many: Vec<String> = (0..60).map(|i| format!("red.p{i}=1")).collect();
        assert!(error(&format!("red[{}]", many.join(";"))).contains("more than 50 changes"));
    }
}
