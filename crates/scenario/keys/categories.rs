//! The keys of access categories: the table of categories, and the category of a packet by its DSCP.

use airfair_units::Span;

use crate::declare::field::{Field, find_word, quote, wrong_type};
use crate::declare::name::Name;
use crate::declare::schema::{Schema, any_of, words, words_or};
use crate::declare::table::{inline_table, table};
use crate::text::error::{Cx, one_of};
use crate::text::location::Path;
use crate::text::tree::{Located, Value};

/// The longest TXOP limit that the standard can express: 16 bits of 32 us.
const LONGEST_TXOP: Span = Span::from_micros(65_535 * 32);

table! {
    /// An access category, in a list from the lowest priority to the highest.
    struct CategoryTable {
        /// The name of the category, unique in the list.
        name: Name = required;
        /// Slots after a SIFS for which the medium must be idle before the back-off counts. The DCF has 2.
        aifsn: u8 = required, in 1..=15;
        /// Smallest contention window, in slots. One less than a power of two.
        cw_min: u32 = required, in 0..=32_767;
        /// Largest contention window, in slots. One less than a power of two.
        cw_max: u32 = required, in 0..=32_767;
        /// Limit of a transmission opportunity, in which frames follow each other after a SIFS. "0 s": one frame exchange.
        txop: Span = default(Span::ZERO), in Span::ZERO..=LONGEST_TXOP;
    }
}

/// An access category that is written out.
#[derive(Debug, Clone)]
pub(crate) struct Category(pub CategoryTable);

inline_table!(
    Category,
    CategoryTable,
    "{ name = \"VO\", aifsn = 2, cw_min = 7, cw_max = 15, txop = \"3.264 ms\" }"
);

/// Access to the medium: the DCF, a table of categories by its name, or categories that are written out.
#[derive(Debug, Clone)]
pub(crate) enum Categories {
    /// The DCF.
    Dcf,
    /// The four categories of the standard.
    Edca,
    /// The eight levels of DiffQ.
    DiffQ,
    /// Categories of the scenario.
    Own(Vec<Category>),
}

/// Words of [`Categories`].
const TABLES: [(&str, Categories); 3] =
    [("dcf", Categories::Dcf), ("edca", Categories::Edca), ("diffq", Categories::DiffQ)];

impl Field for Categories {
    const TYPE: &'static str = "list";

    fn expected() -> String {
        format!("{} or {}", one_of(&Self::choices()), Vec::<Category>::expected())
    }

    fn choices() -> Vec<&'static str> {
        TABLES.iter().map(|(word, _)| *word).collect()
    }

    fn schema() -> Schema {
        words_or(&Self::choices(), Vec::<Category>::schema())
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &item.value {
            Value::Text(text) => find_word(text, (item, path, cx), &TABLES),
            Value::List(_) => Vec::read(item, path, cx).map(Self::Own),
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Dcf => quote("dcf"),
            Self::Edca => quote("edca"),
            Self::DiffQ => quote("diffq"),
            Self::Own(categories) => categories.write(),
        }
    }
}

/// Names of DSCPs (RFC 2474, 2597, 3246, 5865, 8622).
pub(crate) const DSCP_NAMES: [(&str, u8); 23] = [
    ("DF", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VOICE-ADMIT", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

/// A differentiated services code point, by its name or its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dscp(pub u8);

impl Field for Dscp {
    const TYPE: &'static str = "integer";

    fn expected() -> String {
        "a DSCP by its name, such as \"EF\", or its number, 0 to 63".to_string()
    }

    fn choices() -> Vec<&'static str> {
        DSCP_NAMES.iter().map(|(name, _)| *name).collect()
    }

    fn schema() -> Schema {
        words_or(&Self::choices(), crate::declare::schema::integer(63))
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &item.value {
            Value::Text(text) => {
                find_word(text, (item, path, cx), &DSCP_NAMES.map(|(name, dscp)| (name, Self(dscp))))
            }
            Value::Integer(_) | Value::Huge(_) => {
                let value = match item.value {
                    Value::Integer(value) => u8::try_from(value).ok().filter(|&value| value < 64),
                    _ => None,
                };
                if value.is_none() {
                    cx.error(item.at, path, || {
                        format!("{}: out of range; expected {}", item.shown(), Self::expected())
                    });
                }
                value.map(Self)
            }
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        let name = DSCP_NAMES.iter().find(|&&(_, dscp)| dscp == self.0);
        name.map_or_else(|| self.0.to_string(), |(name, _)| quote(name))
    }
}

table! {
    /// The category of packets with a DSCP.
    struct DscpCategoryTable {
        /// The DSCP.
        dscp: Dscp = required;
        /// Name of the category.
        category: Name = required;
    }
}

/// The category of packets with a DSCP, written out.
#[derive(Debug, Clone)]
pub(crate) struct DscpCategory(pub DscpCategoryTable);

inline_table!(DscpCategory, DscpCategoryTable, "{ dscp = \"EF\", category = \"VO\" }");

/// The category of a packet by its DSCP.
#[derive(Debug, Clone)]
pub(crate) enum DscpCategories {
    /// All packets in the lowest category.
    Lowest,
    /// By the user priority that the first three bits give.
    UserPriority,
    /// By RFC 8325.
    Rfc8325,
    /// By the scenario.
    Own(Vec<DscpCategory>),
}

/// Words of [`DscpCategories`].
const MAPS: [(&str, DscpCategories); 3] = [
    ("lowest", DscpCategories::Lowest),
    ("user-priority", DscpCategories::UserPriority),
    ("rfc8325", DscpCategories::Rfc8325),
];

impl Field for DscpCategories {
    const TYPE: &'static str = "list";

    fn expected() -> String {
        format!("{} or {}", one_of(&Self::choices()), Vec::<DscpCategory>::expected())
    }

    fn choices() -> Vec<&'static str> {
        MAPS.iter().map(|(word, _)| *word).collect()
    }

    fn schema() -> Schema {
        any_of(vec![words(&Self::choices()), Vec::<DscpCategory>::schema()])
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &item.value {
            Value::Text(text) => find_word(text, (item, path, cx), &MAPS),
            Value::List(_) => Vec::read(item, path, cx).map(Self::Own),
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Lowest => quote("lowest"),
            Self::UserPriority => quote("user-priority"),
            Self::Rfc8325 => quote("rfc8325"),
            Self::Own(entries) => entries.write(),
        }
    }
}
