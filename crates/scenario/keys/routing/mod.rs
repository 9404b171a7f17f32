//! Routing protocols that a scenario can name in `[routing]`, each with a table of parameters of its own.

mod aodv;
mod dsdv;
mod olsr;

use std::sync::Arc;

use airfair_routing::Protocol;

use crate::declare::field::{Field, quote, read_word};
use crate::declare::schema::{Schema, words};
use crate::declare::table::{OtherKeys, TableDoc};
use crate::text::error::{Cx, one_of};
use crate::text::location::Path;
use crate::text::tree::{Located, Table};

/// A protocol by its word and the table of its parameters; the table's `config` fills in the defaults that depend on other keys, and checks
/// that the keys fit together.
macro_rules! entry {
    ($word:literal, $Table:ty) => {
        Entry {
            word: $word,
            read: |table, path, cx| {
                let mut keys = <$Table>::read_table(table, path, cx, &OtherKeys::default())?;
                let protocol = Arc::new(keys.config(cx));
                Some(Read { protocol, pairs: keys.pairs() })
            },
            doc: <$Table>::doc,
        }
    };
}

/// Warns of keys of a protocol that another key makes ineffective: each with true if it is, and the reason. The complete form has all keys:
/// default values need no warning.
fn warn_of_unused(word: &str, unused: &[(&str, bool, &str)], cx: &mut Cx<'_>) {
    for (key, _, reason) in unused.iter().filter(|(_, unused, _)| *unused) {
        cx.warnings.push(format!("{} has no effect: {reason}", Path::ROOT.child(word).child(key)));
    }
}

/// Every protocol: the word for it in `protocol`, which is the name of its table too.
pub(crate) const PROTOCOLS: [Entry; 3] =
    [entry!("aodv", aodv::AodvTable), entry!("dsdv", dsdv::DsdvTable), entry!("olsr", olsr::OlsrTable)];

/// A protocol that a scenario can name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub word: &'static str,
    pub read: fn(&Table, &Path<'_>, &mut Cx<'_>) -> Option<Read>,
    pub doc: fn(String) -> TableDoc,
}

/// A protocol's table that was read, with every default filled in.
pub(crate) struct Read {
    pub protocol: Arc<dyn Protocol>,
    /// Keys and values, for the complete form.
    pub pairs: Vec<(&'static str, String)>,
}

/// How routes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoutingProtocol {
    /// Routes are static.
    Static,
    /// A protocol, by its index in [`PROTOCOLS`].
    Protocol(usize),
}

impl RoutingProtocol {
    fn all() -> Vec<(&'static str, Self)> {
        let protocols = PROTOCOLS.iter().enumerate().map(|(i, entry)| (entry.word, Self::Protocol(i)));
        std::iter::once(("static", Self::Static)).chain(protocols).collect()
    }
}

impl Field for RoutingProtocol {
    const TYPE: &'static str = "choice";

    fn expected() -> String {
        one_of(&Self::choices())
    }

    fn choices() -> Vec<&'static str> {
        Self::all().into_iter().map(|(word, _)| word).collect()
    }

    fn schema() -> Schema {
        words(&Self::choices())
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        read_word(item, path, cx, &Self::all())
    }

    fn write(&self) -> String {
        quote(match *self {
            Self::Static => "static",
            Self::Protocol(i) => PROTOCOLS[i].word,
        })
    }
}
