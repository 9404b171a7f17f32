//! Names that users give to nodes, flows and kinds of radio.

use crate::declare::field::{Field, quote, wrong_type};
use crate::declare::schema::Schema;
use crate::text::error::{Cx, unprintable};
use crate::text::location::Path;
use crate::text::tree::{Located, Value};

/// Longest name, in characters.
const LONGEST: usize = 64;

/// A name that is valid in every table, message and file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(pub String);

/// The fault of a name, if it has one.
pub(crate) fn name_problem(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("a name must not be empty")
    } else if text.chars().count() > LONGEST {
        Some("a name has at most 64 characters")
    } else if text.chars().any(unprintable) || text.trim() != text {
        Some("a name has no control characters (those of writing direction neither) and no space around it")
    } else {
        None
    }
}

impl Field for Name {
    const TYPE: &'static str = "name";

    fn expected() -> String {
        "a name in quotes such as \"a1\"".to_string()
    }

    fn schema() -> Schema {
        crate::declare::schema::name(LONGEST)
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        if !matches!(item.value, Value::Text(_)) && cx.override_text(item.at).is_none() {
            return wrong_type(item, path, cx);
        }
        let text = String::read(item, path, cx)?;
        if let Some(problem) = name_problem(&text) {
            cx.error(item.at, path, || format!("{}: {problem}", item.shown()));
            return None;
        }
        Some(Self(text))
    }

    fn write(&self) -> String {
        quote(&self.0)
    }
}
