//! The choice `transport`: UDP, alone or with a source of the registry, TCP with one of its window laws, or the transport with a rate with
//! one of its sources.

use airfair_schemes::{Carrier, Registry, SchemeEntry};

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
    /// UDP, without a law.
    Udp,
    /// UDP, with this scheme's source.
    ControlledUdp(&'static str),
    /// TCP, with this scheme's window law.
    Tcp(&'static str),
    /// The transport with a rate, with this scheme's source.
    Rate(&'static str),
}

/// Every word, in the order in which they are shown.
fn words(schemes: &Registry) -> Vec<(String, TransportChoice)> {
    let tcp = laws(schemes, Carrier::Tcp);
    let tcp = tcp.map(|entry| (format!("tcp-{}", entry.name), TransportChoice::Tcp(entry.name)));
    let udp = laws(schemes, Carrier::Udp);
    let udp = udp.map(|entry| (format!("udp-{}", entry.name), TransportChoice::ControlledUdp(entry.name)));
    let rate = laws(schemes, Carrier::Rate);
    let rate = rate.map(|entry| (format!("rate-{}", entry.name), TransportChoice::Rate(entry.name)));
    [("udp".to_string(), TransportChoice::Udp), ("tcp".to_string(), TransportChoice::Tcp(USUAL_LAW))]
        .into_iter()
        .chain(tcp)
        .chain(udp)
        .chain(rate)
        .collect()
}

/// The words without their meaning, for the reference and for messages.
pub(crate) fn names(schemes: &Registry) -> Vec<String> {
    words(schemes).into_iter().map(|(word, _)| word).collect()
}

/// The schemes with a source for flows over a transport protocol.
pub(crate) fn laws(schemes: &Registry, carrier: Carrier) -> impl Iterator<Item = &SchemeEntry> {
    schemes.entries().iter().filter(move |entry| entry.has_source(carrier))
}

/// True if a scheme has a source for flows.
pub(crate) fn has_law(entry: &SchemeEntry) -> bool {
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
            Self::ControlledUdp(law) => format!("\"udp-{law}\""),
            Self::Tcp(law) => format!("\"tcp-{law}\""),
            Self::Rate(law) => format!("\"rate-{law}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_law_is_in_the_registry() {
        assert!(laws(Registry::built_in(), Carrier::Tcp).any(|entry| entry.name == USUAL_LAW));
        assert!(laws(Registry::built_in(), Carrier::Tcp).all(|entry| entry.name != "droptail"));
    }
}
