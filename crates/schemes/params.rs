//! Parameters of schemes: their declarations, the values of a run, errors.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use airfair_units::{Bytes, Quantity, Rate, Span};

/// The type of the values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A time with its unit.
    Span,
    /// A rate with its unit.
    Rate,
    /// A size with its unit.
    Bytes,
    /// A real number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A parameter as it was read.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum ParamValue {
    /// A time.
    Span(Span),
    /// A rate.
    Rate(Rate),
    /// A size.
    Bytes(Bytes),
    /// A real number.
    Number(f64),
    /// A whole number.
    Integer(u64),
    /// True or false.
    Flag(bool),
    /// A word.
    Choice(&'static str),
}

/// The person or text that decides on a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamRole {
    /// The paper: one of its constants, symbols and rules.
    Paper,
    /// The operator of a network: limits, intervals, power, where the scheme acts.
    Operator,
    /// The reader of the paper: a choice where its text is open or may be understood in several ways, or an addition of ours.
    Reading,
}

impl ParamRole {
    /// The role in a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Operator => "operator",
            Self::Reading => "reading",
        }
    }
}

/// The declaration of a parameter: the scenario reader, the reference, the schema for editors and messages use it.
#[derive(Debug, Clone, Copy)]
pub struct ParamDoc {
    /// The parameter's name in `[schemes.NAME]` and in `--set NAME.parameter=value`.
    pub name: &'static str,
    /// The parameter's effect, with the source of its value.
    pub doc: &'static str,
    /// The parameter's role: readings are listed apart.
    pub role: ParamRole,
    /// The parameter's type.
    pub kind: ParamKind,
    /// The value where none is set, of this kind and within the range.
    pub default: ParamValue,
    /// The least and the largest value; `None` for flags and choices.
    pub range: Option<[ParamValue; 2]>,
    /// Name of a flag without which the value has no effect.
    pub needs: Option<&'static str>,
}

/// Parameters by name; those not named have their defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params(pub BTreeMap<String, ParamValue>);

impl Params {
    /// The value of a parameter: the one that was set, or else its default.
    ///
    /// # Errors
    /// The value is of another kind or out of range.
    pub fn value(&self, doc: &ParamDoc) -> Result<ParamValue, ParamError> {
        let value = self.0.get(doc.name).copied().unwrap_or(doc.default);
        doc.check(value).map(|()| value)
    }

    /// The value of a parameter as the type of a field that [`params!`](crate::params!) declares.
    #[doc(hidden)]
    pub fn read<T: TryFrom<ParamValue>>(
        &self,
        list: &[ParamDoc],
        name: &'static str,
    ) -> Result<T, ParamError> {
        let wrong = || ParamError::new(name, "not a parameter of this type");
        let doc = list.iter().find(|doc| doc.name == name).ok_or_else(wrong)?;
        T::try_from(self.value(doc)?).map_err(|_| wrong())
    }
}

impl ParamKind {
    /// Reads a value as a user would write it, a quantity without quotes. `None` if it is not of this kind.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<ParamValue> {
        Some(match self {
            Self::Span => ParamValue::Span(Span::parse(text).ok()?),
            Self::Rate => ParamValue::Rate(Rate::parse(text).ok()?),
            Self::Bytes => ParamValue::Bytes(Bytes::parse(text).ok()?),
            Self::Number => ParamValue::Number(text.parse().ok().filter(|v: &f64| v.is_finite())?),
            Self::Integer => ParamValue::Integer(text.parse().ok()?),
            Self::Flag => ParamValue::Flag(text.parse().ok()?),
            Self::Choice(words) => ParamValue::Choice(words.iter().copied().find(|word| *word == text)?),
        })
    }
}

impl ParamDoc {
    /// True if a value is of this kind and within the range.
    ///
    /// # Errors
    /// The value does not fit; the error says what was expected.
    pub fn check(&self, value: ParamValue) -> Result<(), ParamError> {
        let fits = match (self.kind, value) {
            (ParamKind::Choice(words), ParamValue::Choice(word)) => words.contains(&word),
            (kind, value) => kind == value.kind(),
        };
        let within = self.range.is_none_or(|[low, high]| low <= value && value <= high);
        if fits && within {
            return Ok(());
        }
        let range = self.range.map_or_else(String::new, |[low, high]| format!(" from {low} to {high}"));
        Err(ParamError::new(self.name, &format!("expected {}{range}", self.kind.expected())))
    }
}

impl ParamKind {
    /// The expected value in words, for messages.
    fn expected(self) -> String {
        match self {
            Self::Span => "a time".to_string(),
            Self::Rate => "a rate".to_string(),
            Self::Bytes => "a size".to_string(),
            Self::Number => "a number".to_string(),
            Self::Integer => "a whole number".to_string(),
            Self::Flag => "true or false".to_string(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
        }
    }
}

impl ParamValue {
    /// The kind of the value; that of a word has no words, [`ParamDoc::check`] compares the word itself.
    const fn kind(self) -> ParamKind {
        match self {
            Self::Span(_) => ParamKind::Span,
            Self::Rate(_) => ParamKind::Rate,
            Self::Bytes(_) => ParamKind::Bytes,
            Self::Number(_) => ParamKind::Number,
            Self::Integer(_) => ParamKind::Integer,
            Self::Flag(_) => ParamKind::Flag,
            Self::Choice(_) => ParamKind::Choice(&[]),
        }
    }
}

/// As a user would write it, a quantity without quotes.
impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(v) => v.fmt(f),
            Self::Rate(v) => v.fmt(f),
            Self::Bytes(v) => v.fmt(f),
            Self::Number(v) => v.fmt(f),
            Self::Integer(v) => v.fmt(f),
            Self::Flag(v) => v.fmt(f),
            Self::Choice(v) => v.fmt(f),
        }
    }
}

macro_rules! fields {
    ($($kind:ident: $ty:ty),*) => {
        $(impl TryFrom<ParamValue> for $ty {
            type Error = ();

            fn try_from(value: ParamValue) -> Result<Self, ()> {
                if let ParamValue::$kind(v) = value { Ok(v) } else { Err(()) }
            }
        })*
    };
}

fields! { Span: Span, Rate: Rate, Bytes: Bytes, Number: f64, Integer: u64, Flag: bool }

/// Declares the parameters of a scheme: a struct whose fields are the parameters, each with its text, type, default and range.
///
/// ```
/// use airfair_schemes::{Params, params};
///
/// params! {
///     /// A window that never changes.
///     struct Fixed {
///         /// the window of every flow, segments
///         paper segments: u64 = 2, in 1..=10_000;
///         /// marks instead of dropping
///         operator ecn: bool = false;
///     }
/// }
/// let fixed = Fixed::read(&Params::default())?;
/// assert_eq!((fixed.segments, fixed.ecn), (2, false));
/// assert_eq!(Fixed::LIST[0].doc, "the window of every flow, segments");
/// # Ok::<(), airfair_schemes::ParamError>(())
/// ```
///
/// Before its name a field has its role, [`ParamRole`]: `paper` for the constants and symbols of the scheme's source, `operator` for what
/// the operator of a network sets, `reading` for a choice where the source is open, and for additions of ours. A field is `f64`, `u64`,
/// `bool`, `Span`, `Rate`, `Bytes` or an enum of [`words!`](crate::words!). A number needs a range (`in`), flags and choices have none.
/// `if`, last, names a flag of the same scheme without which the value has no effect. `LIST` has the declarations in the order in which
/// they are shown; `read` gives the values of a run, or the [`ParamError`] of the first wrong one; names that are not declared are the
/// scenario reader's to refuse. Parameters that several schemes share are declared once, in a struct of their own, which each of the
/// schemes includes by one line before its fields: `..window: WindowParameters;`. There may be several such lines.
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $Name:ident {
            $(..$base:ident: $($Base:ident)::+;)*
            $(
                $(#[doc = $doc:literal])+
                $role:ident $field:ident: $ty:ident = $default:expr $(, in $range:expr)? $(, if $needs:ident)?;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq)]
        $vis struct $Name {
            $(
                /// The parameters that other schemes have as well.
                pub $base: $($Base)::+,
            )*
            $($(#[doc = $doc])+ pub $field: $ty,)*
        }

        impl $Name {
            const OWN: &'static [$crate::ParamDoc] = &[$($crate::ParamDoc {
                name: stringify!($field),
                doc: concat!($($doc),+).trim_ascii(),
                role: $crate::params!(@role $role),
                kind: $crate::params!(@kind $ty),
                default: $crate::params!(@value $ty, $default),
                range: $crate::params!(@range $ty $(, $range)?),
                needs: $crate::params!(@needs $($needs)?),
            }),*];

            /// The declarations, in the order in which they are shown.
            $vis const LIST: &'static [$crate::ParamDoc] = $crate::params!(@list $Name $(, $($Base)::+)*);

            /// The values of a run.
            ///
            /// # Errors
            /// A value of another kind or out of its range.
            pub(crate) fn read(params: &$crate::Params) -> Result<Self, $crate::ParamError> {
                Ok(Self {
                    $($base: $($Base)::+::read(params)?,)*
                    $($field: params.read(Self::OWN, stringify!($field))?,)*
                })
            }
        }
    };
    (@role paper) => { $crate::ParamRole::Paper };
    (@role operator) => { $crate::ParamRole::Operator };
    (@role reading) => { $crate::ParamRole::Reading };
    (@kind Span) => { $crate::ParamKind::Span };
    (@kind Rate) => { $crate::ParamKind::Rate };
    (@kind Bytes) => { $crate::ParamKind::Bytes };
    (@kind f64) => { $crate::ParamKind::Number };
    (@kind u64) => { $crate::ParamKind::Integer };
    (@kind bool) => { $crate::ParamKind::Flag };
    (@kind $Words:ident) => { $crate::ParamKind::Choice($Words::WORDS) };
    (@value Span, $value:expr) => { $crate::ParamValue::Span($value) };
    (@value Rate, $value:expr) => { $crate::ParamValue::Rate($value) };
    (@value Bytes, $value:expr) => { $crate::ParamValue::Bytes($value) };
    (@value f64, $value:expr) => { $crate::ParamValue::Number($value) };
    (@value u64, $value:expr) => { $crate::ParamValue::Integer($value) };
    (@value bool, $value:expr) => { $crate::ParamValue::Flag($value) };
    (@value $Words:ident, $value:expr) => { $crate::ParamValue::Choice($value.word()) };
    (@range $ty:ident) => { None };
    (@range $ty:ident, $range:expr) => {{
        let range: core::ops::RangeInclusive<$ty> = $range;
        Some([$crate::params!(@value $ty, *range.start()), $crate::params!(@value $ty, *range.end())])
    }};
    (@needs) => { None };
    (@needs $needs:ident) => { Some(stringify!($needs)) };
    (@list $Name:ident) => { $Name::OWN };
    (@list $Name:ident, $($Base:ident)::+ $(, $($More:ident)::+)*) => {{
        const MORE: &[$crate::ParamDoc] = $crate::params!(@list $Name $(, $($More)::+)*);
        &$crate::joined::<{ $($Base)::+::LIST.len() + MORE.len() }>($($Base)::+::LIST, MORE)
    }};
}

/// Declares the words of a parameter that is a choice: an enum, and the word for each of its variants.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        $vis:vis enum $Name:ident {
            $($(#[doc = $doc:literal])+ $Variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $Name {
            $($(#[doc = $doc])+ $Variant,)+
        }

        impl $Name {
            /// The words, in the order of the variants.
            $vis const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for this variant.
            #[must_use]
            $vis const fn word(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word,)+
                }
            }
        }

        impl TryFrom<$crate::ParamValue> for $Name {
            type Error = ();

            fn try_from(value: $crate::ParamValue) -> Result<Self, ()> {
                match value {
                    $($crate::ParamValue::Choice($word) => Ok(Self::$Variant),)+
                    _ => Err(()),
                }
            }
        }
    };
}

/// Two lists of declarations as one.
#[doc(hidden)]
#[must_use]
pub const fn joined<const N: usize>(first: &[ParamDoc], second: &[ParamDoc]) -> [ParamDoc; N] {
    let none = ParamDoc {
        name: "",
        doc: "",
        role: ParamRole::Paper,
        kind: ParamKind::Flag,
        default: ParamValue::Flag(false),
        range: None,
        needs: None,
    };
    let mut all = [none; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}

/// A named set of values of a scheme's parameters: those in which it differs from the declared ones, which are the paper's. What stands
/// in the preset [`Preset::DEFAULT`] is the default of a user, who names no preset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// The name of the preset: lower-case letters, digits and hyphens.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The parameters whose values are not the declared ones.
    pub values: &'static [(&'static str, ParamValue)],
}

impl Preset {
    /// The name of the set that an operator should take.
    pub const DEFAULT: &'static str = "default";

    /// The value of a parameter, if the preset does not leave it as declared.
    #[must_use]
    pub fn value(&self, parameter: &str) -> Option<ParamValue> {
        self.values.iter().find(|(name, _)| *name == parameter).map(|&(_, value)| value)
    }
}

/// The key by which a table of a scheme's parameters names a preset.
pub const PRESET_KEY: &str = "preset";

/// The error of a parameter that a scheme cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamError {
    /// The parameter's name.
    pub name: &'static str,
    /// The problem, and the value that was expected.
    pub problem: String,
    /// The other parameter of a pair in the wrong order.
    pub pair: Option<WrongPair>,
}

/// Two parameters whose values contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongPair {
    /// The parameter that must be the lower one.
    pub low: &'static str,
    /// True if the two may not be equal.
    pub strict: bool,
    /// The parameter that must be the higher one.
    pub high: &'static str,
}

impl WrongPair {
    /// The parameter that is compared with this one of the two, and the fault as seen from this one: `is not below`.
    #[must_use]
    pub fn seen_from(&self, name: &str) -> (&'static str, &'static str) {
        match (self.strict, name == self.low) {
            (true, true) => (self.high, "is not below"),
            (true, false) => (self.low, "is not above"),
            (false, true) => (self.high, "is above"),
            (false, false) => (self.low, "is below"),
        }
    }
}

impl ParamError {
    /// The error of a value that does not fit the others; `problem` says what was expected.
    #[must_use]
    pub fn new(name: &'static str, problem: &str) -> Self {
        Self { name, problem: problem.to_string(), pair: None }
    }

    /// The error of a parameter that is not below another.
    #[must_use]
    pub fn not_below(low: &'static str, high: &'static str) -> Self {
        Self::of_pair(WrongPair { low, strict: true, high })
    }

    /// The error of a parameter that is above another.
    #[must_use]
    pub fn above(low: &'static str, high: &'static str) -> Self {
        Self::of_pair(WrongPair { low, strict: false, high })
    }

    fn of_pair(pair: WrongPair) -> Self {
        let (high, fault) = pair.seen_from(pair.low);
        Self { name: pair.low, problem: format!("{fault} {high}"), pair: Some(pair) }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.pair.is_some() { "" } else { ":" };
        write!(f, "{}{colon} {}", self.name, self.problem)
    }
}

impl core::error::Error for ParamError {}
