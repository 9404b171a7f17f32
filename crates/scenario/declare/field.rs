//! Types of values: how each is read, written, described in messages and expressed as a JSON Schema.

use std::num::NonZeroU8;
use std::ops::RangeInclusive;

use airfair_units::{Bytes, Db, Dbm, Meters, Quantity, Rate, Span, Speed};

use crate::declare::choice::not_modelled;
use crate::declare::frequency::Frequency;
use crate::declare::schema::{self, Schema};
use crate::text::error::{Cx, cut, one_of, quoted};
use crate::text::location::Path;
use crate::text::nearest::hint;
use crate::text::tree::{Located, Value};

/// The longest time that any key may have: a year.
pub(crate) const LONGEST: Span = Span::from_secs(365 * 24 * 3600);

/// A type of value that a key can have.
pub(crate) trait Field: Sized {
    /// The type's name in the reference: `rate`.
    const TYPE: &'static str;

    /// The expected form, for messages: `a rate such as "11 Mbit/s" (...)`.
    fn expected() -> String;

    /// The words that a value may be, if the type is a choice.
    fn choices() -> Vec<&'static str> {
        Vec::new()
    }

    /// The type as a JSON Schema.
    fn schema() -> Schema;

    /// The value as a bound in a JSON Schema, if it is a plain number.
    fn bound(&self) -> Option<Schema> {
        None
    }

    /// Reads a value; `None` after noting an error.
    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self>;

    /// The value as TOML, which reads back as the same value.
    fn write(&self) -> String;
}

/// Notes that another type of value was expected.
pub(crate) fn wrong_type<T: Field>(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<T> {
    misfit(item, path, cx, &T::expected())
}

/// Notes that another type of value was expected, where `expected` depends on more than the type.
pub(crate) fn misfit<T>(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>, expected: &str) -> Option<T> {
    cx.error(item.at, path, || {
        let shown = match item.value {
            Value::List(_) | Value::Table(_) => String::new(),
            _ => format!("{}: ", item.shown()),
        };
        format!("{shown}{} stands here; expected {expected}", item.kind())
    });
    None
}

/// Why a value lies outside its range; `None` if it does not.
pub(crate) fn outside<T: Field + PartialOrd>(value: &T, range: &RangeInclusive<T>) -> Option<String> {
    if range.contains(value) { None } else { Some(format!("out of range; expected {}", describe(range))) }
}

/// A range in words: `0 to 1`.
pub(crate) fn describe<T: Field>(range: &RangeInclusive<T>) -> String {
    format!("{} to {}", range.start().write(), range.end().write())
}

macro_rules! quantities {
    ($($ty:ty: $name:literal),*) => {
        $(impl Field for $ty {
            const TYPE: &'static str = $name;

            fn expected() -> String {
                <$ty as Quantity>::EXPECTED.to_string()
            }

            fn schema() -> Schema {
                schema::quantity::<$ty>()
            }

            fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
                let problem = match &item.value {
                    Value::Text(text) => match <$ty as Quantity>::parse(text) {
                        Ok(value) => return Some(value),
                        Err(error) => cut(&error.problem),
                    },
                    Value::Integer(_) | Value::Huge(_) | Value::Number(_) => "the unit is missing".to_string(),
                    _ => return wrong_type(item, path, cx),
                };
                cx.error(item.at, path, || format!("{}: {problem}; expected {}", item.shown(), Self::expected()));
                None
            }

            fn write(&self) -> String {
                format!("\"{self}\"")
            }
        })*
    };
}

quantities! {
    Rate: "rate", Span: "time", Bytes: "size", Dbm: "power", Db: "ratio", Meters: "length", Speed: "speed", Frequency: "frequency"
}

macro_rules! integers {
    ($($ty:ty),*) => {
        $(impl Field for $ty {
            const TYPE: &'static str = "integer";

            fn expected() -> String {
                "a whole number".to_string()
            }

            fn schema() -> Schema {
                schema::integer(<$ty>::MAX.min(i64::MAX as $ty).into())
            }

            fn bound(&self) -> Option<Schema> {
                Some((*self).into())
            }

            fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
                let value = match &item.value {
                    Value::Integer(value) => <$ty>::try_from(*value).ok(),
                    Value::Huge(_) => None,
                    _ => return wrong_type(item, path, cx),
                };
                if value.is_none() {
                    let most = <$ty>::MAX.min(i64::MAX as $ty);
                    cx.error(item.at, path, || {
                        format!("{}: out of range; expected a whole number, 0 to {most}", item.shown())
                    });
                }
                value
            }

            fn write(&self) -> String {
                self.to_string()
            }
        })*
    };
}

integers!(u8, u16, u32, u64);

impl Field for NonZeroU8 {
    const TYPE: &'static str = <u8 as Field>::TYPE;

    fn expected() -> String {
        format!("a whole number from {} to {}", Self::MIN, Self::MAX)
    }

    fn schema() -> Schema {
        schema::within(u8::schema(), [Self::MIN.get().bound(), None])
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let value = match &item.value {
            Value::Integer(value) => u8::try_from(*value).ok().and_then(Self::new),
            Value::Huge(_) => None,
            _ => return wrong_type(item, path, cx),
        };
        if value.is_none() {
            cx.error(item.at, path, || {
                format!("{}: out of range; expected {}", item.shown(), describe(&(1..=u8::MAX)))
            });
        }
        value
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Field for f64 {
    const TYPE: &'static str = "number";

    fn expected() -> String {
        "a number".to_string()
    }

    fn schema() -> Schema {
        schema::of_type("number")
    }

    fn bound(&self) -> Option<Schema> {
        Some((*self).into())
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match item.value {
            Value::Integer(value) => Some(value as Self),
            Value::Number(value) if value.is_finite() => Some(value),
            Value::Number(_) => {
                cx.error(item.at, path, || format!("{}: not a finite number", item.shown()));
                None
            }
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        // `Debug` always writes a decimal point, by which TOML reads a float.
        format!("{self:?}")
    }
}

impl Field for bool {
    const TYPE: &'static str = "flag";

    fn expected() -> String {
        "true or false".to_string()
    }

    fn schema() -> Schema {
        schema::of_type("boolean")
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match item.value {
            Value::Flag(value) => Some(value),
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Field for String {
    const TYPE: &'static str = "text";

    fn expected() -> String {
        "a text in quotes".to_string()
    }

    fn schema() -> Schema {
        schema::of_type("string")
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &item.value {
            Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Table(_) => wrong_type(item, path, cx),
            // `--set flow.left.to=2`: the shell has removed the quotes.
            _ => match cx.override_text(item.at) {
                Some(text) => Some(text.to_string()),
                None => wrong_type(item, path, cx),
            },
        }
    }

    fn write(&self) -> String {
        quote(self)
    }
}

/// A list as TOML.
fn write_list<T: Field>(items: &[T]) -> String {
    let mut written = String::from("[");
    for (i, item) in items.iter().enumerate() {
        written.push_str(if i > 0 { ", " } else { "" });
        written.push_str(&item.write());
    }
    written.push(']');
    written
}

impl<T: Field> Field for Vec<T> {
    const TYPE: &'static str = "list";

    fn expected() -> String {
        format!("a list in brackets, each item {}", T::expected())
    }

    fn schema() -> Schema {
        schema::list(T::schema(), None)
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let Value::List(items) = &item.value else { return wrong_type(item, path, cx) };
        let read: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(i, item)| T::read(item, &path.child(&i.to_string()), cx))
            .collect();
        read.into_iter().collect()
    }

    fn write(&self) -> String {
        write_list(self)
    }
}

/// Number of items of a list in words.
pub(crate) fn item_count(items: usize) -> String {
    format!("{items} item{}", if items == 1 { "" } else { "s" })
}

impl<T: Field, const N: usize> Field for [T; N] {
    const TYPE: &'static str = "list";

    fn expected() -> String {
        format!("a list of {N}, each {}", T::expected())
    }

    fn schema() -> Schema {
        schema::list(T::schema(), Some((N, N)))
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let items = Vec::<T>::read(item, path, cx)?;
        let found = items.len();
        let read = <[T; N]>::try_from(items).ok();
        if read.is_none() {
            cx.error(item.at, path, || format!("{}; expected {}", item_count(found), Self::expected()));
        }
        read
    }

    fn write(&self) -> String {
        write_list(self)
    }
}

/// A word that stands for the absence of a value.
pub(crate) trait Word {
    /// The word.
    const WORD: &'static str;
}

/// `relock = "off"`.
#[derive(Debug, Clone)]
pub(crate) struct Off;
impl Word for Off {
    const WORD: &'static str = "off";
}

/// `stop = "end"`.
#[derive(Debug, Clone)]
pub(crate) struct End;
impl Word for End {
    const WORD: &'static str = "end";
}

/// `retries = "unlimited"`.
#[derive(Debug, Clone)]
pub(crate) struct Unlimited;
impl Word for Unlimited {
    const WORD: &'static str = "unlimited";
}

/// `tcp = "real"`.
#[derive(Debug, Clone)]
pub(crate) struct Real;
impl Word for Real {
    const WORD: &'static str = "real";
}

/// [`Field::TYPE`] of tables.
const TABLE: &str = "table";

/// A value or the word that stands for none.
#[derive(Debug, Clone)]
pub(crate) struct Or<W, T>(pub Option<T>, std::marker::PhantomData<W>);

impl<W, T> Or<W, T> {
    /// The word.
    pub const NONE: Self = Self(None, std::marker::PhantomData);

    /// A value.
    pub const fn of(value: T) -> Self
    where
        T: Copy,
    {
        Self::maybe(Some(value))
    }

    /// A value, or the word for none.
    pub const fn maybe(value: Option<T>) -> Self
    where
        T: Copy,
    {
        Self(value, std::marker::PhantomData)
    }
}

impl<W: Word, T: Field> Field for Or<W, T> {
    const TYPE: &'static str = T::TYPE;

    fn expected() -> String {
        format!("\"{}\" or {}", W::WORD, T::expected())
    }

    fn choices() -> Vec<&'static str> {
        vec![W::WORD]
    }

    fn schema() -> Schema {
        schema::words_or(&Self::choices(), T::schema())
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &item.value {
            Value::Text(text) if text == W::WORD => Some(Self::NONE),
            Value::Table(_) if T::TYPE == TABLE => {
                T::read(item, path, cx).map(|v| Self(Some(v), std::marker::PhantomData))
            }
            _ if T::TYPE == TABLE => wrong_type(item, path, cx),
            Value::Text(_) if T::TYPE == <u32 as Field>::TYPE => wrong_type(item, path, cx),
            Value::Text(_) | Value::Integer(_) | Value::Huge(_) | Value::Number(_) => {
                T::read(item, path, cx).map(|v| Self(Some(v), std::marker::PhantomData))
            }
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        self.0.as_ref().map_or_else(|| quote(W::WORD), Field::write)
    }
}

/// Reads one of several words.
pub(crate) fn read_word<T: Field + Copy>(
    item: &Located,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
    words: &[(&'static str, T)],
) -> Option<T> {
    let Value::Text(text) = &item.value else { return wrong_type(item, path, cx) };
    let found = words.iter().find(|(word, _)| word == text).map(|&(_, value)| value);
    if found.is_none() {
        cx.error(item.at, path, || unknown_choice(text, &T::choices()));
    }
    found
}

/// The value of a word, for a type that also has values without one: the message about an unknown word names those too.
pub(crate) fn find_word<T: Field + Clone>(
    text: &str,
    (item, path, cx): (&Located, &Path<'_>, &mut Cx<'_>),
    words: &[(&'static str, T)],
) -> Option<T> {
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone());
    if found.is_none() {
        cx.error(item.at, path, || {
            let hint = hint(text, words.iter().map(|(word, _)| *word));
            format!("{}: unknown choice; expected {}{hint}", quoted(text), T::expected())
        });
    }
    found
}

/// The message about a word that is not among the choices.
pub(crate) fn unknown_choice<S: AsRef<str>>(text: &str, choices: &[S]) -> String {
    if let Some(problem) = not_modelled(text) {
        return problem;
    }
    let mut hint = hint(text, choices.iter().map(AsRef::as_ref));
    if text == "tcp" && choices.iter().any(|choice| choice.as_ref() == "ftp") {
        hint = "; TCP is `transport = \"tcp\"` of the flow".to_string();
    }
    format!("{}: unknown choice; expected {}{hint}", quoted(text), one_of(choices))
}

/// A text as a TOML basic string.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
