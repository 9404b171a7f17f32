//! Lists of files to send, as CSV: a line `start_s,bytes`, then a moment and a size on each line.

use airfair_units::{Bytes, Span};

use crate::declare::field::LONGEST;
use crate::keys::file_traffic::{ListedFile, SIZES};
use crate::resolve::named_file::load;
use crate::text::error::{Cx, quoted};
use crate::text::location::{At, Path};

/// The first line.
const HEADER: &str = "start_s,bytes";
/// Most errors of one list that are shown.
const SHOWN: usize = 5;
/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// What is wrong in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListError {
    /// The line, from 1.
    pub line: usize,
    /// The column, if one cell is wrong.
    pub column: Option<&'static str>,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// Reads a CSV file that a scenario names.
pub(crate) fn read(file: &str, (at, path): (At, &Path<'_>), cx: &mut Cx<'_>) -> Option<Vec<ListedFile>> {
    let bytes = load(file, "`files = [[\"0 s\", \"30 kB\"], ...]`", (at, path), cx)?;
    let read = parse(&bytes);
    for error in read.as_ref().err().into_iter().flatten() {
        cx.error(at, path, || {
            let column = error.column.map_or_else(String::new, |name| format!(", column {name}"));
            format!("{} line {}{column}: {}", quoted(file), error.line, error.problem)
        });
    }
    read.ok()
}

/// Reads a list of files: never empty, in ascending order of moments.
///
/// # Errors
/// The first few things that are wrong, at least one.
pub(crate) fn parse(data: &[u8]) -> Result<Vec<ListedFile>, Vec<ListError>> {
    let mut errors = Vec::new();
    let mut list: Vec<ListedFile> = Vec::new();
    // Spreadsheets begin UTF-8 files with a byte-order mark.
    let data = String::from_utf8_lossy(data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data));
    let mut lines = data.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let header = lines.next().unwrap_or_default();
    if cells(header).collect::<Vec<_>>().join(",") != HEADER {
        let problem = format!("{}: expected the header {HEADER}", quoted(header));
        return Err(vec![ListError { line: 1, column: None, problem }]);
    }
    for (line, text) in (2..).zip(lines) {
        if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            continue;
        }
        let last = list.last().map_or(Span::ZERO, |l| l.0);
        match row(text, last) {
            Ok(read) => list.push(read),
            Err((column, problem)) => errors.push(ListError { line, column, problem }),
        }
        if errors.len() >= SHOWN {
            break;
        }
    }
    if list.is_empty() && errors.is_empty() {
        let problem = "nothing below the header; expected a moment and a size".to_string();
        errors.push(ListError { line: 2, column: None, problem });
    }
    if errors.is_empty() { Ok(list) } else { Err(errors) }
}

/// The cells of a line, without the quotes that some programs put around them.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',')
        .map(str::trim)
        .map(|cell| cell.strip_prefix('"').and_then(|c| c.strip_suffix('"')).unwrap_or(cell))
}

/// The moment and the size of a line, or the column and the problem.
fn row(line: &str, last: Span) -> Result<ListedFile, (Option<&'static str>, String)> {
    let mut two = cells(line);
    let (Some(start), Some(size), None) = (two.next(), two.next(), two.next()) else {
        return Err((None, format!("{} cells; expected 2, {HEADER}", cells(line).count())));
    };
    let start = moment(start, last).map_err(|problem| (Some("start_s"), problem))?;
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
    Ok(ListedFile(start, bytes.ok_or_else(expected)?))
}

/// A moment from a text in seconds, rounded to whole nanoseconds: programs write more digits than a list needs.
fn moment(text: &str, last: Span) -> Result<Span, String> {
    let longest = LONGEST.as_secs_f64();
    let seconds = text.parse::<f64>().ok().filter(|s| (0.0..=longest).contains(s));
    let Some(seconds) = seconds else {
        return Err(format!("{}: expected a number of seconds, 0 to {longest}", quoted(text)));
    };
    // A year has less than 2^55 ns and a float 53 bits, so that late moments are exact to four nanoseconds.
    let start = Span((seconds * SECOND).round() as u64);
    if start < last {
        return Err(format!(
            "{}: before the moment above; expected at least {}, in ascending order",
            quoted(text),
            last.as_secs_f64()
        ));
    }
    Ok(start)
}
