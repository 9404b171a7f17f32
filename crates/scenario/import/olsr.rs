//! OLSR's topology: olsrd's jsoninfo and txtinfo.
//!
//! A record says that the last hop announced the destination as its neighbour. LQ is the share that the last hop receives
//! from the destination, NLQ the share that the destination receives from the last hop. Nodes are all that the topology names;
//! further addresses of a node (MID) are the same node, by its main address. Costs are not read: they follow from LQ and NLQ.

use serde_json::Value;

use super::aliases::Aliases;
use super::draft::{
    DirectionQuality, Draft, Imported, Medium, ReadOptions, UnknownEnd, link_record, numbered, ratio,
};
use super::json::{id, list, number};
use super::reason::Reason;

/// Reads jsoninfo.
///
/// # Errors
/// If there is too much.
pub(crate) fn read_json(value: &Value, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    if let Some(seconds) = value.get("systemTime").and_then(Value::as_i64) {
        draft.found.date = Some(date(seconds));
    }
    let topology = list(value.get("topology"));
    let key = |entry: &Value, name: &str| id(entry.get(name));
    let mut aliases = Aliases::default();
    for entry in list(value.get("mid")) {
        // Since olsrd 0.6.7 the main address is an object, as its aliases are.
        let address = |v: &Value| key(v, "ipAddress").or_else(|| key(v, "ip"));
        let Some(main) = entry.get("main").and_then(address).or_else(|| address(entry)) else { continue };
        for alias in list(entry.get("aliases")).iter().filter_map(address) {
            aliases.add(&main, &alias);
        }
    }
    draft.set_aliases(aliases);
    for entry in topology {
        for name in ["lastHopIP", "destinationIP"] {
            if let Some(address) = key(entry, name) {
                draft.find_or_make(&address)?;
            }
        }
    }
    for (i, entry) in topology.iter().enumerate() {
        draft.count("links")?;
        let (Some(last), Some(destination)) = (key(entry, "lastHopIP"), key(entry, "destinationIP")) else {
            let detail = "no lastHopIP or no destinationIP".to_string();
            draft.reject(numbered("topology entry", i), Reason::Malformed, detail);
            continue;
        };
        let lq = (number(entry.get("linkQuality")), number(entry.get("neighborLinkQuality")));
        add(&last, &destination, lq, &mut draft)?;
    }
    Ok(draft.found)
}

/// Reads txtinfo: the tables `Topology` and `MID`, fields between tabs or spaces.
///
/// # Errors
/// If there is no topology, or too much.
pub(crate) fn read_text(text: &str, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let rows = |table: &'static str| {
        let heads = |line: &str| line.trim().strip_prefix("Table:").is_some_and(|name| name.trim() == table);
        let mut lines = (1..).zip(text.lines()).skip_while(move |(_, line)| !heads(line));
        // The line after the table's name lists its columns.
        let header = lines.nth(1).map(|(_, line)| line);
        let rows = lines.take_while(|(_, line)| !line.trim().is_empty() && !line.starts_with("Table:"));
        (header, rows.collect::<Vec<(usize, &str)>>())
    };
    let (header, topology) = rows("Topology");
    let Some(header) = header else { return Err("no `Table: Topology`".to_string()) };
    // olsrd writes the destination first, as the table's columns say.
    let destination_first = !header.trim_start().to_lowercase().starts_with("last");
    let split = |line: &str| -> Option<(String, String, Option<f64>, Option<f64>)> {
        let mut fields = line.split_whitespace();
        let (first, second) = (fields.next()?.to_string(), fields.next()?.to_string());
        let lq = fields.next()?.parse().ok();
        let nlq = fields.next()?.parse().ok();
        Some(if destination_first { (second, first, lq, nlq) } else { (first, second, lq, nlq) })
    };
    let mut aliases = Aliases::default();
    for (_, line) in rows("MID").1 {
        let mut fields = line.split_whitespace();
        let Some(main) = fields.next() else { continue };
        for alias in fields.flat_map(|list| list.split(';')).filter(|a| !a.is_empty()) {
            aliases.add(main, alias);
        }
    }
    draft.set_aliases(aliases);
    for (last, destination, ..) in topology.iter().filter_map(|(_, line)| split(line)) {
        draft.find_or_make(&last)?;
        draft.find_or_make(&destination)?;
    }
    for (number, line) in topology {
        draft.count("links")?;
        let Some((last, destination, lq, nlq)) = split(line) else {
            let detail = "expected two addresses, LQ and NLQ".to_string();
            draft.reject(format!("line {number}"), Reason::Malformed, detail);
            continue;
        };
        add(&last, &destination, (lq, nlq), &mut draft)?;
    }
    Ok(draft.found)
}

fn add(
    last: &str,
    destination: &str,
    (lq, nlq): (Option<f64>, Option<f64>),
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    let Some(ends) = draft.ends(last, destination, UnknownEnd::Make)? else { return Ok(()) };
    match (ratio(nlq, "NLQ"), ratio(lq, "LQ")) {
        (Ok(forward), Ok(reverse)) => {
            draft.link(ends, Medium::Radio, DirectionQuality::echo(forward), DirectionQuality::own(reverse))
        }
        (Err((reason, detail)), _) | (_, Err((reason, detail))) => {
            draft.reject(link_record(last, destination), reason, detail);
        }
    }
    Ok(())
}

/// The day of a Unix time, by the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms", 2013).
fn date(seconds: i64) -> String {
    // Days since 0000-03-01: in a year that begins in March the leap day is the last.
    let days = seconds.div_euclid(86_400).saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn unix_times_have_their_days() {
        let days = [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_430_572_557, "2015-05-02"),
            (-1, "1969-12-31"),
        ];
        for (seconds, day) in days {
            assert_eq!(date(seconds), day);
        }
        assert!(!date(i64::MAX).is_empty() && !date(i64::MIN).is_empty());
    }
}
