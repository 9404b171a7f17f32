//! The syntax of a file: JSON, a JSON value on each line, XML, or other text.

use serde_json::Value;

use super::draft::ImportLimits;
use super::format::{Format, Syntax};
use super::recognise::is_ini;
use super::xml;
use crate::text::limits::too_large;

/// A file whose syntax was read.
pub(crate) enum Content<'a> {
    Json(Value),
    /// A value on each line that is not empty: its line number and the value, or the problem with it.
    Lines(Vec<(usize, Result<Value, String>)>),
    Xml(roxmltree::Document<'a>),
    Text(&'a str),
}

/// Reads a file in the syntax of a format, or in the one that its first character means.
///
/// # Errors
/// Why the file is not of that syntax.
pub(crate) fn parse<'a>(
    bytes: &'a [u8],
    format: Option<Format>,
    limits: &ImportLimits,
) -> Result<Content<'a>, String> {
    if bytes.len() as u64 > limits.file_bytes {
        return Err(too_large(limits.file_bytes));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes.iter().take(e.valid_up_to()).filter(|&&b| b == b'\n').count() + 1;
        format!("line {line} is not UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let syntax = match (format, text.trim_start().chars().next()) {
        (Some(format), _) => format.syntax(),
        (None, Some('[')) if is_ini(text) => Syntax::Text,
        (None, Some('{' | '[')) => Syntax::Json,
        (None, Some('<')) => Syntax::Xml,
        (None, _) => Syntax::Text,
    };
    match syntax {
        Syntax::Json => match serde_json::from_str(text) {
            Ok(value) => Ok(Content::Json(value)),
            Err(e) => lines(text, limits).ok_or_else(|| format!("not JSON: {e}")),
        },
        Syntax::Xml => xml::parse(text, limits.links).map(Content::Xml),
        Syntax::Text => Ok(Content::Text(text)),
    }
}

/// A text with a JSON object on each line: at least two lines, the first of which is one. `None` if the text is another.
fn lines<'a>(text: &str, limits: &ImportLimits) -> Option<Content<'a>> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (_, first) = lines.next()?;
    lines.next()?;
    serde_json::from_str::<Value>(first).ok().filter(Value::is_object)?;
    // A reader refuses more records than this in any case.
    let most =
        usize::try_from(limits.nodes.saturating_add(limits.links)).unwrap_or(usize::MAX).saturating_add(1);
    let read =
        |(number, line): (usize, &str)| (number, serde_json::from_str(line).map_err(|e| e.to_string()));
    let all = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    Some(Content::Lines(all.take(most).map(read).collect()))
}
