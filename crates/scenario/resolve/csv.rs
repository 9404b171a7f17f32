//! CSV files that a scenario names: a header, then a row of cells on each line.

use airfair_units::Span;

use crate::declare::field::LONGEST;
use crate::resolve::named_file::load;
use crate::text::error::{Cx, quoted};
use crate::text::location::{At, Path};

/// Most errors of one file that are shown.
const SHOWN: usize = 5;
/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// A fault of a CSV file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CsvError {
    /// The line, from 1.
    pub line: usize,
    /// The column, if one cell is wrong.
    pub column: Option<&'static str>,
    /// The fault, and the expected form.
    pub problem: String,
}

/// The fault of a row: the column, if one cell is wrong, and the problem.
pub(crate) type RowError = (Option<&'static str>, String);

/// A kind of file with two columns.
pub(crate) trait Row: Sized {
    /// The first line: the names of the columns.
    const HEADER: &'static str;
    /// The content of a row, such as "a moment and a size".
    const CONTENT: &'static str;
    /// The value that the scenario may contain instead of the name of a file.
    const INSTEAD: &'static str;
    /// Bounds that the scenario itself sets for the rows.
    type Bounds: Copy;

    /// Reads the two cells of a row.
    ///
    /// # Errors
    /// The fault of the row itself or of its order after `last`, the row before.
    fn read(cells: [&str; 2], last: Option<&Self>, bounds: Self::Bounds) -> Result<Self, RowError>;
}

/// Reads a CSV file that a scenario names.
pub(crate) fn read<T: Row>(
    file: &str,
    bounds: T::Bounds,
    (at, path): (At, &Path<'_>),
    cx: &mut Cx<'_>,
) -> Option<Vec<T>> {
    let bytes = load(file, T::INSTEAD, (at, path), cx)?;
    let read = parse(&bytes, bounds);
    for error in read.as_ref().err().into_iter().flatten() {
        cx.error(at, path, || {
            let column = error.column.map_or_else(String::new, |name| format!(", column {name}"));
            format!("{} line {}{column}: {}", quoted(file), error.line, error.problem)
        });
    }
    read.ok()
}

/// Reads the rows of a CSV file; never none.
///
/// # Errors
/// The first few things that are wrong, at least one.
pub(crate) fn parse<T: Row>(data: &[u8], bounds: T::Bounds) -> Result<Vec<T>, Vec<CsvError>> {
    let mut errors = Vec::new();
    let mut rows: Vec<T> = Vec::new();
    // Spreadsheets begin UTF-8 files with a byte-order mark.
    let data = String::from_utf8_lossy(data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data));
    let mut lines = data.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let header = lines.next().unwrap_or_default();
    if cells(header).collect::<Vec<_>>().join(",") != T::HEADER {
        let problem = format!("{}: expected the header {}", quoted(header), T::HEADER);
        return Err(vec![CsvError { line: 1, column: None, problem }]);
    }
    for (line, text) in (2..).zip(lines) {
        if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            continue;
        }
        match row(text, rows.last(), bounds) {
            Ok(read) => rows.push(read),
            Err((column, problem)) => errors.push(CsvError { line, column, problem }),
        }
        if errors.len() >= SHOWN {
            break;
        }
    }
    if rows.is_empty() && errors.is_empty() {
        let problem = format!("nothing below the header; expected {}", T::CONTENT);
        errors.push(CsvError { line: 2, column: None, problem });
    }
    if errors.is_empty() { Ok(rows) } else { Err(errors) }
}

/// The cells of a line, without the quotes that some programs put around them.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',')
        .map(str::trim)
        .map(|cell| cell.strip_prefix('"').and_then(|c| c.strip_suffix('"')).unwrap_or(cell))
}

/// Reads a line.
fn row<T: Row>(line: &str, last: Option<&T>, bounds: T::Bounds) -> Result<T, RowError> {
    let mut two = cells(line);
    match (two.next(), two.next(), two.next()) {
        (Some(first), Some(second), None) => T::read([first, second], last, bounds),
        _ => Err((None, format!("{} cells; expected 2, {}", cells(line).count(), T::HEADER))),
    }
}

/// A moment from a text in seconds, rounded to whole nanoseconds: programs write more digits than a scenario needs. `None` if the text is
/// no number of 0 to a year.
pub(crate) fn moment(text: &str) -> Option<Span> {
    let seconds = text.parse::<f64>().ok().filter(|s| (0.0..=LONGEST.as_secs_f64()).contains(s))?;
    // A year has less than 2^55 ns and a float 53 bits, so that late moments are exact to four nanoseconds.
    Some(Span((seconds * SECOND).round() as u64))
}
