//! Windows of TCP, in bytes or in segments.

use airfair_transport::InitialWindow;
use airfair_units::{Bytes, Quantity};

use crate::declare::field::{Field, quote, wrong_type};
use crate::declare::schema::{Schema, any_of, quantity, text_like, words_or};
use crate::text::error::{Cx, cut};
use crate::text::location::Path;
use crate::text::nearest::hint;
use crate::text::tree::{Located, Value};

/// Most segments of a window.
const MOST_SEGMENTS: u32 = 1_000_000_000;
/// Most bytes of a window.
const MOST_BYTES: u64 = 1 << 40;

/// How a number of segments is written.
const SEGMENTS: &str = "^\\+?[0-9]+\\s*segments?$";

/// A window: `"128 KiB"` or `"1000 segments"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Window {
    /// That many bytes.
    Bytes(Bytes),
    /// That many full segments.
    Segments(u32),
}

impl Window {
    /// The size of the window with full segments of `payload` bytes.
    pub fn bytes(self, payload: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.0,
            Self::Segments(count) => u64::from(count) * payload,
        }
    }
}

/// `"10 segments"`; `None` if another unit or none is written.
fn segments(text: &str) -> Option<Result<u32, &'static str>> {
    let number = text.strip_suffix("segments").or_else(|| text.strip_suffix("segment"))?.trim_end();
    Some(match number.parse() {
        Ok(count @ 1..=MOST_SEGMENTS) => Ok(count),
        Ok(_) => Err("out of range"),
        Err(_) => Err("not a whole number of segments"),
    })
}

fn write_segments(count: u32) -> String {
    format!("\"{count} segment{}\"", if count == 1 { "" } else { "s" })
}

impl Field for Window {
    const TYPE: &'static str = "window";

    fn expected() -> String {
        "a size such as \"128 KiB\" (B, kB, MB, GB, KiB) or a number of segments such as \"1000 segments\""
            .to_string()
    }

    fn schema() -> Schema {
        any_of(vec![quantity::<Bytes>(), text_like(SEGMENTS)])
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let problem = match &item.value {
            Value::Text(text) => match (segments(text), Bytes::parse(text)) {
                (Some(Ok(count)), _) => return Some(Self::Segments(count)),
                (None, Ok(bytes)) if (1..=MOST_BYTES).contains(&bytes.0) => return Some(Self::Bytes(bytes)),
                (Some(Err(problem)), _) => problem.to_string(),
                (None, Ok(_)) => "out of range".to_string(),
                (None, Err(error)) => cut(&error.problem),
            },
            Value::Integer(_) | Value::Huge(_) | Value::Number(_) => "the unit is missing".to_string(),
            _ => return wrong_type(item, path, cx),
        };
        cx.error(item.at, path, || format!("{}: {problem}; expected {}", item.shown(), Self::expected()));
        None
    }

    fn write(&self) -> String {
        match *self {
            Self::Bytes(bytes) => bytes.write(),
            Self::Segments(count) => write_segments(count),
        }
    }
}

const RFC_3390: &str = "rfc3390";
const RFC_6928: &str = "rfc6928";

impl Field for InitialWindow {
    const TYPE: &'static str = "window";

    fn expected() -> String {
        format!("\"{RFC_3390}\", \"{RFC_6928}\" or a number of segments such as \"2 segments\"")
    }

    fn choices() -> Vec<&'static str> {
        vec![RFC_3390, RFC_6928]
    }

    fn schema() -> Schema {
        words_or(&Self::choices(), text_like(SEGMENTS))
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let problem = match &item.value {
            Value::Text(text) if text == RFC_3390 => return Some(Self::Rfc3390),
            Value::Text(text) if text == RFC_6928 => return Some(Self::Rfc6928),
            Value::Text(text) => match segments(text) {
                Some(Ok(count)) => return Some(Self::Segments(count)),
                Some(Err(problem)) => problem,
                None => "neither a choice nor a number of segments",
            },
            Value::Integer(_) | Value::Huge(_) | Value::Number(_) => "the unit is missing",
            _ => return wrong_type(item, path, cx),
        };
        cx.error(item.at, path, || {
            let hint = match &item.value {
                Value::Text(text) => hint(text, Self::choices()),
                _ => String::new(),
            };
            format!("{}: {problem}; expected {}{hint}", item.shown(), Self::expected())
        });
        None
    }

    fn write(&self) -> String {
        match *self {
            Self::Segments(count) => write_segments(count),
            Self::Rfc3390 => quote(RFC_3390),
            Self::Rfc6928 => quote(RFC_6928),
        }
    }
}
