//! Names of schemes. Whether the registry has a scheme of a name is checked when the scenario is resolved, since the message depends
//! on what the scheme is used for.

use crate::declare::field::{Field, quote};
use crate::declare::schema::{Schema, text_like, words, words_or};
use crate::keys::transport::has_law;
use crate::text::error::{Cx, quoted};
use crate::text::location::Path;
use crate::text::tree::Located;

/// Any scheme, as it was written.
#[derive(Debug, Clone)]
pub(crate) struct SchemeName(pub String);

/// The scheme of the run, or several with `+` between them, as it was written.
#[derive(Debug, Clone)]
pub(crate) struct RunScheme(pub String);

impl RunScheme {
    /// The names of the schemes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('+')
    }
}

impl Field for RunScheme {
    const TYPE: &'static str = "choice";

    fn expected() -> String {
        String::expected()
    }

    fn choices() -> Vec<&'static str> {
        SchemeName::choices()
    }

    fn schema() -> Schema {
        words_or(&Self::choices(), text_like(r"^[a-z][a-z0-9\-]*(\+[a-z][a-z0-9\-]*)+$"))
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let text = String::read(item, path, cx)?;
        if text.contains([':', '[']) {
            let problem = || {
                format!(
                    "{}: expected the name of a scheme, or several such as \"cubic+fq-codel\"; a file has a preset in the scheme's table, \
                     such as schemes.diffq.preset = \"default\", and changes as keys",
                    quoted(&text)
                )
            };
            cx.error(item.at, path, problem);
            return None;
        }
        let names: Vec<&str> = text.split('+').map(str::trim).collect();
        Some(Self(names.join("+")))
    }

    fn write(&self) -> String {
        quote(&self.0)
    }
}

/// The scheme whose source a flow uses, as it was written, or [`LawName::NONE`].
#[derive(Debug, Clone)]
pub(crate) struct LawName(pub String);

impl LawName {
    /// No scheme. A scheme of this name could not be a flow's own.
    const NONE: &str = "none";

    /// True if the flow has no law.
    pub fn is_none(&self) -> bool {
        self.0 == Self::NONE
    }
}

macro_rules! names {
    ($($ty:ident: $fits:expr, $more:expr),*) => {
        $(impl Field for $ty {
            const TYPE: &'static str = "choice";

            fn expected() -> String {
                String::expected()
            }

            fn choices() -> Vec<&'static str> {
                let fit = airfair_schemes::registry().iter().filter(|entry| $fits(*entry));
                fit.map(|entry| entry.name).chain($more).collect()
            }

            fn schema() -> Schema {
                words(&Self::choices())
            }

            fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
                String::read(item, path, cx).map(Self)
            }

            fn write(&self) -> String {
                quote(&self.0)
            }
        })*
    };
}

names! { SchemeName: |_| true, None, LawName: has_law, Some(LawName::NONE) }
