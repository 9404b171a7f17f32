//! A matrix of received powers in dBm, as text: a row for each transmitter, a column for each receiver.
//!
//! The first line begins with `Tx` and has the receivers' names; every number below ends in the column of a name. A blank is a
//! direction that is not heard. The powers are kept, whatever radio they were measured with.

use std::collections::BTreeSet;

use super::draft::{DirectionQuality, Draft, Imported, Medium, ReadOptions, UnknownEnd, link_record};
use super::reason::Reason;

/// Possible powers, dBm.
const POWERS: std::ops::RangeInclusive<f64> = -200.0..=30.0;

/// True if a line is the first of such a matrix.
pub(crate) fn is_head(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default().to_lowercase();
    first.starts_with("tx") && first.ends_with("rx")
}

/// The words of a line, each with the column after its last letter.
fn words(line: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (i, c) in line.chars().enumerate() {
        if c.is_whitespace() {
            inside = false;
            continue;
        }
        match out.last_mut().filter(|_| inside) {
            Some((end, word)) => {
                word.push(c);
                *end = i + 1;
            }
            None => out.push((i + 1, c.to_string())),
        }
        inside = true;
    }
    out
}

/// Reads a matrix.
///
/// # Errors
/// If there is none, or too much of it.
pub(crate) fn read(text: &str, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let mut lines = (1..).zip(text.lines()).skip_while(|(_, line)| !is_head(line));
    let Some((_, head)) = lines.next() else {
        return Err("no line of receivers; expected one that begins with Tx\\Rx".to_string());
    };
    let columns: Vec<(usize, String)> = words(head).split_off(1);
    for (_, id) in &columns {
        draft.count("nodes")?;
        draft.node(id, None);
    }
    let mut rows = BTreeSet::new();
    let mut cut = None;
    for (number, line) in lines {
        let line = line.trim_end();
        cut = None;
        if line.is_empty() || line.chars().all(|c| " +-|=".contains(c)) {
            continue;
        }
        let Some((label, _)) = line.split_once('|') else {
            draft.reject(
                format!("line {number}"),
                Reason::Malformed,
                "no | after its transmitter".to_string(),
            );
            continue;
        };
        let from = label.trim();
        rows.insert(from.to_string());
        for (end, word) in words(line).into_iter().filter(|(end, _)| *end > label.chars().count() + 1) {
            draft.count("links")?;
            let Some((_, to)) = columns.iter().find(|(column, _)| *column == end) else {
                let detail = format!("{} ends under no receiver", super::draft::name(&word));
                cut = Some(number);
                draft.reject(format!("line {number}"), Reason::Malformed, detail);
                continue;
            };
            let Some(ends) = draft.ends(from, to, UnknownEnd::Make)? else { continue };
            let power = word.parse::<f64>().ok().filter(|p| POWERS.contains(p));
            let Some(power) = power else {
                let detail = format!("{} dBm; expected -200 to 30", super::draft::name(&word));
                draft.reject(link_record(from, to), Reason::BadQuality, detail);
                continue;
            };
            // A direction without a number is not heard.
            draft.link(
                ends,
                Medium::Radio,
                DirectionQuality { delivery: None, power: Some(power), own: true },
                DirectionQuality::echo(0.0),
            );
        }
    }
    let missing: Vec<&str> =
        columns.iter().map(|(_, id)| id.as_str()).filter(|id| !rows.contains(*id)).collect();
    if let Some(first) = missing.first() {
        return Err(format!(
            "the matrix is cut off: receiver {} has no row of its own (there are {} rows of {}); expected a row for each, if need be an \
             empty one",
            super::draft::name(first),
            columns.len() - missing.len(),
            columns.len()
        ));
    }
    if let Some(number) = cut.filter(|_| !text.ends_with('\n')) {
        return Err(format!(
            "the matrix is cut off in line {number}, its last; expected a number below each receiver's name"
        ));
    }
    Ok(draft.found)
}
