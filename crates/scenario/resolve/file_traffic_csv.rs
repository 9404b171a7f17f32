//! Lists of files to send, as CSV: a line `start_s,bytes`, then a moment and a size on each line.

use airfair_units::{Bytes, Span};

use crate::declare::field::LONGEST;
use crate::keys::file_traffic::{ListedFile, SIZES};
use crate::resolve::csv::{Row, RowError, moment};
use crate::text::error::quoted;

/// In ascending order of moments.
impl Row for ListedFile {
    const HEADER: &'static str = "start_s,bytes";
    const CONTENT: &'static str = "a moment and a size";
    const INSTEAD: &'static str = "`files = [[\"0 s\", \"30 kB\"], ...]`";
    type Bounds = ();

    fn read([start, size]: [&str; 2], last: Option<&Self>, (): ()) -> Result<Self, RowError> {
        let start =
            ordered(start, last.map_or(Span::ZERO, |l| l.0)).map_err(|problem| (Some("start_s"), problem))?;
        let bytes = size.parse().map(Bytes).ok().filter(|bytes| SIZES.contains(bytes));
        let expected = || {
            let problem = format!(
                "{}: expected a whole number of bytes, {} to {}",
                quoted(size),
                SIZES.start().0,
                SIZES.end().0
            );
            (Some("bytes"), problem)
        };
        Ok(Self(start, bytes.ok_or_else(expected)?))
    }
}

/// A moment that is not before the last.
fn ordered(text: &str, last: Span) -> Result<Span, String> {
    let Some(start) = moment(text) else {
        return Err(format!(
            "{}: expected a number of seconds, 0 to {}",
            quoted(text),
            LONGEST.as_secs_f64()
        ));
    };
    if start < last {
        return Err(format!(
            "{}: before the moment above; expected at least {}, in ascending order",
            quoted(text),
            last.as_secs_f64()
        ));
    }
    Ok(start)
}
