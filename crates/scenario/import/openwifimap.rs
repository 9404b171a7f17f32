//! OpenWifiMap: `rows` of nodes, each with the links that it sees.
//!
//! A link is directed: it is what the row's node measured. `olsr.linkQuality` is the share that it receives from the
//! neighbour, `neighborLinkQuality` the share that the neighbour receives from it; `quality` stands for the first where they are
//! absent. `signal` is the power at which the row's node receives the neighbour. A link is radio if its interface begins with `wlan`,
//! or if `signal` or `noise` is given; on another interface it is a cable; without an interface its medium is unknown. Neighbours
//! without a row are nodes without a location.

use serde_json::Value;

use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, link_record,
    node_record, numbered, ratio,
};
use super::json::{id, list, number, text};
use super::reason::Reason;
use super::report::count;
use crate::text::error::cut;

/// Powers that a receiver can report, dBm.
const POWERS: std::ops::RangeInclusive<f64> = -130.0..=30.0;

/// Reads the rows.
///
/// # Errors
/// If there is too much.
pub(crate) fn read(value: &Value, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let rows: Vec<(usize, &Value)> = list(value.get("rows")).iter().enumerate().collect();
    let mut kept = Vec::with_capacity(rows.len());
    for &(i, row) in &rows {
        draft.count("nodes")?;
        let Some(name) = id(row.get("id").or_else(|| row.get("_id"))) else {
            draft.reject(numbered("row", i), Reason::Malformed, "no id".to_string());
            continue;
        };
        let mtime = text(row.get("mtime")).unwrap_or_default();
        if draft.found.date.as_deref().is_none_or(|date| date < mtime) && !mtime.is_empty() {
            draft.found.date = Some(mtime.to_string());
        }
        // Both have the same form and zone, so that texts sort as times do.
        if read_options.since.is_some_and(|since| mtime < since) {
            let links = list(row.get("links"));
            links.iter().try_for_each(|_| draft.count("links"))?;
            let when = if mtime.is_empty() { "no date" } else { mtime };
            let detail = format!("of {when}, with {}", count(links.len(), "link"));
            draft.reject(node_record(&name), Reason::TooOld, cut(&detail));
            continue;
        }
        if draft.node(&name, location(row)).is_some() {
            kept.push((name, row));
        }
    }
    for (from, row) in kept {
        for link in list(row.get("links")) {
            read_link(&from, link, &mut draft)?;
        }
    }
    Ok(draft.found)
}

fn location(row: &Value) -> Option<NodeLocation> {
    let pair = list(row.get("latlng"));
    let degrees = |i: usize| number(pair.get(i));
    Some(NodeLocation::Earth { latitude: degrees(0)?, longitude: degrees(1)?, altitude: 0.0 })
}

fn read_link(from: &str, link: &Value, draft: &mut Draft<'_>) -> Result<(), String> {
    draft.count("links")?;
    let Some(to) = id(link.get("id")) else {
        draft.reject(format!("a link of {}", node_record(from)), Reason::Malformed, "no id".to_string());
        return Ok(());
    };
    let Some(ends) = draft.ends(from, &to, UnknownEnd::Make)? else { return Ok(()) };
    let interface = text(link.get("ifname"));
    let (signal, noise) = (number(link.get("signal")), number(link.get("noise")));
    let medium = match interface {
        _ if signal.is_some() || noise.is_some() => Medium::Radio,
        Some(name) if name.starts_with("wlan") => Medium::Radio,
        Some(_) => Medium::Cable,
        None => Medium::Unknown,
    };
    match ways(link, signal) {
        Ok((forward, reverse)) => draft.link(ends, medium, forward, reverse),
        Err((reason, detail)) => draft.reject(link_record(from, &to), reason, detail),
    }
    Ok(())
}

fn ways(link: &Value, signal: Option<f64>) -> Result<(DirectionQuality, DirectionQuality), (Reason, String)> {
    let olsr = |key| link.get("olsr").and_then(|o| o.get(key));
    let mut reverse = match (olsr("linkQuality"), link.get("quality")) {
        (Some(lq), _) => DirectionQuality::own(ratio(number(Some(lq)), "linkQuality")?),
        (None, Some(quality)) => DirectionQuality::own(ratio(number(Some(quality)), "quality")?),
        (None, None) => DirectionQuality::default(),
    };
    if let Some(dbm) = signal {
        if !POWERS.contains(&dbm) {
            return Err((Reason::BadQuality, format!("signal {dbm} dBm; expected -130 to 30")));
        }
        (reverse.power, reverse.own) = (Some(dbm), true);
    }
    let forward = match olsr("neighborLinkQuality") {
        Some(nlq) => DirectionQuality::echo(ratio(number(Some(nlq)), "neighborLinkQuality")?),
        None => DirectionQuality::default(),
    };
    Ok((forward, reverse))
}
