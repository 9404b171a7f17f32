//! Names of schemes. Whether the registry has a scheme of a name is checked when the scenario is resolved, since the message depends
//! on what the scheme is used for.

use crate::declare::field::{Field, quote};
use crate::declare::schema::{Schema, words};
use crate::keys::transport::has_law;
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::Located;

/// Any scheme, as it was written.
#[derive(Debug, Clone)]
pub(crate) struct SchemeName(pub String);

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
