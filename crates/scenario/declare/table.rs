//! Declarations of tables: keys, their types, defaults, ranges and documentation in one definition.
//!
//! `table!` makes the struct, its reader, its writer and its page of the reference from a definition; `variants!` does the same
//! for a table in which one key (`kind`, `model`) decides which other keys it has.
//!
//! After the type of a key comes its default: `required` (none); `default(value)`; `computed("words")`, an `Option` that resolving
//! fills in, since the default depends on other keys; `switch(describe)`, an `Option` whose default depends on `profile`, and the
//! function that describes this default. Then, optionally, comes the range of the value.

use crate::declare::field::Field;
use crate::declare::schema::Schema;
use crate::text::error::{Cx, cut, one_of};
use crate::text::location::{Locations, Path};
use crate::text::nearest::nearest;
use crate::text::tree::{Entry, Table, Value};

/// One key, as the reference shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyDoc {
    /// The name of the key.
    pub name: &'static str,
    /// The type of its value: `rate`, `time`, `choice`, `list`, ...
    pub kind: &'static str,
    /// The expected form of the value, in the words of an error message.
    pub expected: String,
    /// The words that the value may be.
    pub choices: Vec<String>,
    /// The range of the value, if it is limited: `0.0 to 1.0`.
    pub range: Option<String>,
    /// The default of the key.
    pub default: DefaultDoc,
    /// The effect of the key.
    pub doc: String,
    /// The JSON Schema of the value.
    pub(crate) schema: Schema,
}

/// The default of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultDoc {
    /// Nothing: the key must be written.
    Required,
    /// This TOML value.
    Value(String),
    /// A value that depends on other keys, in words.
    Words(String),
}

/// One table of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDoc {
    /// The heading of the table in the reference: `[radio]`, `[[flow]]`, `propagation with model = "two-ray"`.
    pub name: String,
    /// The purpose of the table.
    pub about: String,
    /// The keys of the table.
    pub keys: Vec<KeyDoc>,
}

/// The outcome of reading a key's value.
pub(crate) enum KeyValue<T> {
    /// The key was not written.
    Missing,
    /// The value was wrong; the error is noted.
    Bad,
    /// The default value.
    Is(T),
}

/// Keys that a table may have beside those of its own definition.
#[derive(Default)]
pub(crate) struct OtherKeys<'a> {
    /// Keys that are read elsewhere.
    pub known: &'a [&'a str],
    /// The value of the tag, and the tables of its other values.
    pub variant: Option<Variant<'a>>,
}

/// For a table of `variants!`: its tag, and the keys of the other variants.
pub(crate) struct Variant<'a> {
    /// The key that decides: `kind`.
    pub tag: &'static str,
    /// The value of that key here.
    pub value: &'static str,
    /// Every value and its keys.
    pub family: &'a [(&'static str, &'static [&'static str])],
}

/// The range of a key.
pub(crate) struct Limit<'a, T> {
    /// Why a value lies outside.
    pub outside: &'a dyn Fn(&T) -> Option<String>,
    /// The range in words.
    pub range: &'a dyn Fn() -> String,
}

/// Reads the value of a key, and records its location.
pub(crate) fn read_key<T: Field>(
    (table, path, cx): (&Table, &Path<'_>, &mut Cx<'_>),
    key: &'static str,
    locations: &mut Locations,
    limit: Option<Limit<'_, T>>,
) -> KeyValue<T> {
    let Some(entry) = table.entries.get(key) else { return KeyValue::Missing };
    locations.note(key, entry.item.at);
    let value = read_entry(entry, &path.child(key), cx, limit);
    if matches!(value, KeyValue::Bad) {
        locations.refuse(key);
    }
    value
}

/// Reads a key's entry. If its type cannot hold a whole number, and the key has a range, the error names the range.
fn read_entry<T: Field>(
    entry: &Entry,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
    limit: Option<Limit<'_, T>>,
) -> KeyValue<T> {
    let whole =
        T::TYPE == <u32 as Field>::TYPE && matches!(entry.item.value, Value::Integer(_) | Value::Huge(_));
    if let Some(limit) = limit.as_ref().filter(|_| whole)
        && T::read(&entry.item, path, &mut Cx::new("", &[])).is_none()
    {
        cx.error(entry.item.at, path, || {
            format!("{}: out of range; expected {}", entry.item.shown(), (limit.range)())
        });
        return KeyValue::Bad;
    }
    let Some(value) = T::read(&entry.item, path, cx) else { return KeyValue::Bad };
    match limit.and_then(|limit| (limit.outside)(&value)) {
        None => KeyValue::Is(value),
        Some(problem) => {
            cx.error(entry.item.at, path, || format!("{}: {problem}", entry.item.shown()));
            KeyValue::Bad
        }
    }
}

/// Notes that a key must be written.
pub(crate) fn missing<T: Field>(table: &Table, path: &Path<'_>, cx: &mut Cx<'_>, key: &str) {
    cx.error(table.at, &path.child(key), || format!("missing; expected {}", T::expected()));
}

/// Most keys that a message lists.
const LISTED: usize = 16;

/// Notes every key that does not belong to the table.
pub(crate) fn refuse_unknown(
    table: &Table,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
    keys: &[&'static str],
    other: &OtherKeys<'_>,
) {
    let tag = other.variant.as_ref().map(|v| v.tag);
    for (key, entry) in &table.entries {
        let key = key.as_str();
        if keys.contains(&key) || other.known.contains(&key) || tag == Some(key) {
            continue;
        }
        let registry = cx.schemes;
        cx.error(entry.key_at, &path.child(&cut(key)), || {
            let owners: Vec<&str> = other.variant.as_ref().map_or_else(Vec::new, |v| {
                v.family.iter().filter(|(_, keys)| keys.contains(&key)).map(|&(name, _)| name).collect()
            });
            if let (Some(v), false) = (&other.variant, owners.is_empty()) {
                let owners = one_of(&owners);
                return format!("not a key of {tag} = \"{}\"; it belongs to {owners}", v.value, tag = v.tag);
            }
            if path.is_root() && registry.find(key).is_some() {
                return format!("unknown key; did you mean [schemes.{key}]?");
            }
            let names = || keys.iter().chain(other.known).copied().chain(tag);
            match nearest(key, names()) {
                Some(name) => format!("unknown key; did you mean \"{name}\"?"),
                None if names().count() <= LISTED => {
                    format!("unknown key; expected one of: {}", names().collect::<Vec<_>>().join(", "))
                }
                None => "unknown key, and no key of this table is like it".to_string(),
            }
        });
    }
}

/// The lines of a `///` comment as one text.
pub(crate) fn prose(lines: &[&str]) -> String {
    lines.iter().map(|l| l.trim()).collect::<Vec<_>>().join(" ")
}

macro_rules! table {
    (
        $(#[doc = $about:literal])+
        struct $Name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $ty:ty = $mode:ident $(($arg:expr))? $(, in $range:expr)?;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone)]
        pub(crate) struct $Name {
            /// Where the keys were written.
            #[allow(dead_code, reason = "not every table has keys that are compared with each other")]
            pub locations: $crate::text::location::Locations,
            $($(#[doc = $doc])+ pub $field: $crate::declare::table::field_type!($mode $ty),)*
        }

        #[allow(dead_code, unused_variables, unused_mut, clippy::vec_init_then_push, reason = "a table may have no keys")]
        impl $Name {
            /// The keys of the table, in the order in which they are shown.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// Reads the table; `None` after noting an error in a key without which there is no table.
            pub fn read_table(
                table: &$crate::text::tree::Table,
                path: &$crate::text::location::Path<'_>,
                cx: &mut $crate::text::error::Cx<'_>,
                other: &$crate::declare::table::OtherKeys<'_>,
            ) -> Option<Self> {
                let mut locations = $crate::text::location::Locations::new(table.at);
                $(
                    let outcome = $crate::declare::table::read_key::<$ty>(
                        (table, path, cx),
                        stringify!($field),
                        &mut locations,
                        $crate::declare::table::limit!($ty $(, $range)?),
                    );
                    let $field = $crate::declare::table::settle!($mode outcome, $ty, table, path, cx, stringify!($field) $(, $arg)?);
                )*
                $crate::declare::table::refuse_unknown(table, path, cx, Self::KEYS, other);
                Some(Self { locations, $($field: $crate::declare::table::finish!($mode $field),)* })
            }

            /// The keys that have a value, and their values as TOML.
            pub fn pairs(&self) -> Vec<(&'static str, String)> {

                let mut pairs = Vec::new();
                $($crate::declare::table::write_pair!($mode pairs, stringify!($field), &self.$field);)*
                pairs
            }

            /// The page of the reference.
            pub fn doc(name: String) -> $crate::declare::table::TableDoc {
                let about = $crate::declare::table::prose(&[$($about),+]);
                let keys = vec![$($crate::declare::table::KeyDoc {
                    name: stringify!($field),
                    kind: <$ty as $crate::declare::field::Field>::TYPE,
                    expected: <$ty as $crate::declare::field::Field>::expected(),
                    choices: <$ty as $crate::declare::field::Field>::choices().into_iter().map(String::from).collect(),
                    range: $crate::declare::table::range_doc!($ty $(, $range)?),
                    default: $crate::declare::table::default_doc!($mode $ty, stringify!($field) $(, $arg)?),
                    doc: $crate::declare::table::prose(&[$($doc),+]),
                    schema: $crate::declare::schema::within(
                        <$ty as $crate::declare::field::Field>::schema(),
                        $crate::declare::table::bounds!($ty $(, $range)?),
                    ),
                }),*];
                $crate::declare::table::TableDoc { name, about, keys }
            }
        }
    };
}

macro_rules! field_type {
    (required $ty:ty) => { $ty };
    (default $ty:ty) => { $ty };
    (computed $ty:ty) => { Option<$ty> };
    (switch $ty:ty) => { Option<$ty> };
}

macro_rules! limit {
    ($ty:ty) => {
        None
    };
    ($ty:ty, $range:expr) => {
        Some($crate::declare::table::Limit {
            outside: &|value: &$ty| $crate::declare::field::outside(value, &$range),
            range: &|| $crate::declare::field::describe::<$ty>(&$range),
        })
    };
}

macro_rules! settle {
    (required $outcome:ident, $ty:ty, $table:expr, $path:expr, $cx:expr, $key:expr) => {
        match $outcome {
            $crate::declare::table::KeyValue::Is(value) => Some(value),
            $crate::declare::table::KeyValue::Bad => None,
            $crate::declare::table::KeyValue::Missing => {
                $crate::declare::table::missing::<$ty>($table, $path, $cx, $key);
                None
            }
        }
    };
    (default $outcome:ident, $ty:ty, $table:expr, $path:expr, $cx:expr, $key:expr, $value:expr) => {
        match $outcome {
            $crate::declare::table::KeyValue::Is(value) => value,
            _ => $value,
        }
    };
    ($mode:ident $outcome:ident, $ty:ty, $table:expr, $path:expr, $cx:expr, $key:expr $(, $words:expr)?) => {
        match $outcome {
            $crate::declare::table::KeyValue::Is(value) => Some(value),
            _ => None,
        }
    };
}

macro_rules! finish {
    (required $field:ident) => {
        $field?
    };
    ($mode:ident $field:ident) => {
        $field
    };
}

macro_rules! write_pair {
    (required $pairs:ident, $key:expr, $value:expr) => {
        $pairs.push(($key, $crate::declare::field::Field::write($value)))
    };
    (default $pairs:ident, $key:expr, $value:expr) => {
        $pairs.push(($key, $crate::declare::field::Field::write($value)))
    };
    ($mode:ident $pairs:ident, $key:expr, $value:expr) => {
        if let Some(value) = $value {
            $pairs.push(($key, $crate::declare::field::Field::write(value)));
        }
    };
}

macro_rules! range_doc {
    ($ty:ty) => {
        None
    };
    ($ty:ty, $range:expr) => {
        Some($crate::declare::field::describe::<$ty>(&$range))
    };
}

macro_rules! bounds {
    ($ty:ty) => {
        [None, None]
    };
    ($ty:ty, $range:expr) => {{
        let range: std::ops::RangeInclusive<$ty> = $range;
        [range.start(), range.end()].map($crate::declare::field::Field::bound)
    }};
}

macro_rules! default_doc {
    (required $ty:ty, $key:expr) => {
        $crate::declare::table::DefaultDoc::Required
    };
    (default $ty:ty, $key:expr, $value:expr) => {{
        let value: $ty = $value;
        $crate::declare::table::DefaultDoc::Value($crate::declare::field::Field::write(&value))
    }};
    (computed $ty:ty, $key:expr, $words:expr) => {
        $crate::declare::table::DefaultDoc::Words($words.to_string())
    };
    (switch $ty:ty, $key:expr, $describe:expr) => {
        $crate::declare::table::DefaultDoc::Words($describe($key))
    };
}

macro_rules! variants {
    (
        $(#[doc = $about:literal])+
        enum $Name:ident by $tag:ident {
            $($word:literal => $Variant:ident($Table:ident),)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone)]
        pub(crate) enum $Name {
            $(#[doc = concat!("`", $word, "`")] $Variant($Table),)*
        }

        impl $Name {
            const FAMILY: &'static [(&'static str, &'static [&'static str])] = &[$(($word, $Table::KEYS)),*];

            /// The pages of the reference.
            pub fn docs(name: &str) -> Vec<$crate::declare::table::TableDoc> {
                vec![$($Table::doc(format!("{name} with {} = \"{}\"", stringify!($tag), $word))),*]
            }
        }

        impl $crate::declare::field::Field for $Name {
            const TYPE: &'static str = "table";

            fn expected() -> String {
                format!("a table with {} = {}", stringify!($tag), $crate::text::error::one_of(&Self::choices()))
            }

            fn choices() -> Vec<&'static str> {
                vec![$($word),*]
            }

            fn schema() -> $crate::declare::schema::Schema {
                $crate::declare::schema::tagged(stringify!($tag), &[$(($word, $Table::doc(String::new()))),*])
            }

            fn read(
                item: &$crate::text::tree::Located,
                path: &$crate::text::location::Path<'_>,
                cx: &mut $crate::text::error::Cx<'_>,
            ) -> Option<Self> {
                let Some(table) = item.table() else { return $crate::declare::field::wrong_type(item, path, cx) };
                let tag = stringify!($tag);
                let Some(tag_node) = table.get(tag) else {
                    cx.error(table.at, &path.child(tag), || {
                        format!("missing; expected {}", $crate::text::error::one_of(&Self::choices()))
                    });
                    return None;
                };
                let word = <String as $crate::declare::field::Field>::read(tag_node, &path.child(tag), cx)?;
                match word.as_str() {
                    $($word => {
                        let variant = $crate::declare::table::Variant { tag, value: $word, family: Self::FAMILY };
                        let other = $crate::declare::table::OtherKeys { known: &[], variant: Some(variant) };
                        $Table::read_table(table, path, cx, &other).map(Self::$Variant)
                    })*
                    _ => {
                        cx.error(tag_node.at, &path.child(tag), || {
                            $crate::declare::field::unknown_choice(&word, &Self::choices())
                        });
                        None
                    }
                }
            }

            fn write(&self) -> String {
                let (word, pairs) = match self {
                    $(Self::$Variant(table) => ($word, table.pairs()),)*
                };
                let mut out = format!("{{ {} = \"{word}\"", stringify!($tag));
                for (key, value) in pairs {
                    out.push_str(&format!(", {key} = {value}"));
                }
                out.push_str(" }");
                out
            }
        }
    };
}

/// Keys and values as a table in braces.
pub(crate) fn write_pairs(pairs: &[(&'static str, String)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// Implements `Field` for a table that is the value of a key, `struct Name(NameTable)`: with an example, and with how the table is
/// written if not on one line.
macro_rules! inline_table {
    ($Name:ident, $Table:ident, $example:literal) => {
        $crate::declare::table::inline_table!($Name, $Table, $example, |table: &$Table| {
            $crate::declare::table::write_pairs(&table.pairs())
        });
    };
    ($Name:ident, $Table:ident, $example:literal, $write:expr) => {
        impl $crate::declare::field::Field for $Name {
            const TYPE: &'static str = "table";

            fn expected() -> String {
                concat!("a table such as ", $example).to_string()
            }

            fn schema() -> $crate::declare::schema::Schema {
                $Table::doc(String::new()).schema()
            }

            fn read(
                item: &$crate::text::tree::Located,
                path: &$crate::text::location::Path<'_>,
                cx: &mut $crate::text::error::Cx<'_>,
            ) -> Option<Self> {
                match &item.value {
                    $crate::text::tree::Value::Table(table) => {
                        $Table::read_table(table, path, cx, &$crate::declare::table::OtherKeys::default())
                            .map(Self)
                    }
                    _ => $crate::declare::field::wrong_type(item, path, cx),
                }
            }

            fn write(&self) -> String {
                $write(&self.0)
            }
        }
    };
}

pub(crate) use {
    bounds, default_doc, field_type, finish, inline_table, limit, range_doc, settle, table, variants,
    write_pair,
};
