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

/// The scheme whose source a flow uses, as it was written.
#[derive(Debug, Clone)]
pub(crate) struct LawName(pub String);

macro_rules! names {
    ($($ty:ident: $fits:expr),*) => {
        $(impl Field for $ty {
            const TYPE: &'static str = "choice";

            fn expected() -> String {
                String::expected()
            }

            fn choices() -> Vec<&'static str> {
                airfair_schemes::registry().iter().filter(|entry| $fits(*entry)).map(|entry| entry.name).collect()
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

names! { SchemeName: |_| true, LawName: has_law }
