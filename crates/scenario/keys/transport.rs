//! The choice `transport`: UDP, or TCP with one of the registry's window laws.

use airfair_schemes::{Registry, SchemeEntry};

use crate::declare::field::{Field, misfit, quote, unknown_choice};
use crate::declare::schema::{self, Schema};
use crate::text::error::{Cx, one_of};
use crate::text::location::Path;
use crate::text::tree::{Located, Value};

/// The window law of plain "tcp".
const USUAL_LAW: &str = "newreno";

/// The transport protocol of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransportChoice {
    /// UDP.
    Udp,
    /// TCP, with this scheme's window law.
    Tcp(&'static str),
}

/// Every word, in the order in which they are shown.
fn words(schemes: &Registry) -> Vec<(String, TransportChoice)> {
    let laws = laws(schemes).map(|entry| (format!("tcp-{}", entry.name), TransportChoice::Tcp(entry.name)));
    [("udp".to_string(), TransportChoice::Udp), ("tcp".to_string(), TransportChoice::Tcp(USUAL_LAW))]
        .into_iter()
        .chain(laws)
        .collect()
}

/// The words without their meaning, for the reference and for messages.
pub(crate) fn names(schemes: &Registry) -> Vec<String> {
    words(schemes).into_iter().map(|(word, _)| word).collect()
}

/// The schemes with a window law (place `source`).
pub(crate) fn laws(schemes: &Registry) -> impl Iterator<Item = &SchemeEntry> {
    schemes.entries().iter().filter(|entry| has_window_law(entry))
}

/// True if a scheme has a window law.
pub(crate) fn has_window_law(entry: &SchemeEntry) -> bool {
    entry.places.contains(&"source")
}

impl Field for TransportChoice {
    const TYPE: &'static str = "choice";

    fn expected() -> String {
        one_of(&names(Registry::built_in()))
    }

    fn schema() -> Schema {
        let names = names(Registry::built_in());
        schema::words(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let schemes = cx.schemes;
        let Value::Text(text) = &item.value else { return misfit(item, path, cx, &one_of(&names(schemes))) };
        let found = words(schemes).into_iter().find(|(word, _)| word == text).map(|(_, choice)| choice);
        if found.is_none() {
            cx.error(item.at, path, || unknown_choice(text, &names(schemes)));
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
        assert!(laws(Registry::built_in()).any(|entry| entry.name == USUAL_LAW));
        assert!(laws(Registry::built_in()).all(|entry| entry.name != "droptail"));
    }
}
