//! `transport`: UDP, or TCP under one of the registry's window laws.

use std::sync::LazyLock;

use airfair_schemes::SchemeEntry;

use crate::error::{Cx, one_of};
use crate::field::{Field, quote, unknown_choice, wrong_type};
use crate::place::Path;
use crate::tree::{Node, Value};

/// The law that plain "tcp" means.
const USUAL_LAW: &str = "newreno";

/// What carries a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// UDP.
    Udp,
    /// TCP, and the scheme whose source is its window law.
    Tcp(&'static str),
}

/// Every word, in the order in which they are shown.
static WORDS: LazyLock<Vec<(String, Carrier)>> = LazyLock::new(|| {
    let laws = laws().map(|entry| (format!("tcp-{}", entry.name), Carrier::Tcp(entry.name)));
    [("udp".to_string(), Carrier::Udp), ("tcp".to_string(), Carrier::Tcp(USUAL_LAW))]
        .into_iter()
        .chain(laws)
        .collect()
});

/// The schemes that have a source.
pub(crate) fn laws() -> impl Iterator<Item = &'static SchemeEntry> {
    airfair_schemes::registry().iter().filter(|entry| has_source(entry))
}

/// Whether a scheme has a source.
pub(crate) fn has_source(entry: &SchemeEntry) -> bool {
    entry.places.contains(&"source")
}

impl Field for Carrier {
    const TYPE: &'static str = "choice";

    fn expected() -> String {
        one_of(&Self::choices())
    }

    fn choices() -> Vec<&'static str> {
        WORDS.iter().map(|(word, _)| word.as_str()).collect()
    }

    fn read(node: &Node, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let Value::Text(text) = &node.value else { return wrong_type(node, path, cx) };
        let found = WORDS.iter().find(|(word, _)| word == text).map(|&(_, carrier)| carrier);
        if found.is_none() {
            cx.error(node.at, path, || unknown_choice(text, &Self::choices()));
        }
        found
    }

    fn write(&self) -> String {
        match self {
            Self::Udp => quote("udp"),
            Self::Tcp(law) => format!("\"tcp-{law}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_law_is_in_the_registry() {
        assert!(laws().any(|entry| entry.name == USUAL_LAW));
        assert!(laws().all(|entry| entry.name != "droptail"));
    }
}
