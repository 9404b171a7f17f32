//! LibreMap: a document for each router, in the `rows` of an answer of CouchDB or in a list.
//!
//! A router has its names in routing protocols in `aliases` and the links that it sees in `links`, either as lists (`alias`; `alias_local`,
//! `alias_remote`) or by the alias. OLSR's `lq` among a link's `attributes` is the share that the router receives from its neighbour, `nlq`
//! the share that the neighbour receives from it; without both, `etx` is valid for both directions. `quality` is a number from 0 to 1
//! without a meaning, and is not read. Neighbours without a document are nodes without a location.

use serde_json::Value;

use super::aliases::Aliases;
use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, from_etx, link_record,
    node_record, numbered, ratio,
};
use super::json::{id, list, number, text};
use super::reason::Reason;
use super::report::count;

/// Reads the documents.
///
/// # Errors
/// If there is too much.
pub(crate) fn read(value: &Value, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let rows = if value.is_array() { Some(value) } else { value.get("rows") };
    let routers: Vec<&Value> = list(rows).iter().map(document).collect();
    let mut aliases = Aliases::default();
    for router in &routers {
        let Some(name) = router_id(router) else { continue };
        let own = |link: &Value| id(link.get("alias_local"));
        let local = list(router.get("links")).iter().filter_map(own);
        names(router.get("aliases")).into_iter().chain(local).for_each(|alias| aliases.add(&name, &alias));
    }
    draft.set_aliases(aliases);
    let mut kept = Vec::with_capacity(routers.len());
    for (i, router) in routers.iter().enumerate() {
        draft.count("nodes")?;
        let Some(name) = router_id(router) else {
            draft.reject(numbered("row", i), Reason::Malformed, "no _id".to_string());
            continue;
        };
        let mtime = text(router.get("mtime")).unwrap_or_default();
        if draft.found.date.as_deref().is_none_or(|date| date < mtime) && !mtime.is_empty() {
            draft.found.date = Some(mtime.to_string());
        }
        if let Some(index) = draft.node(&name, location(router)) {
            draft.label(index, text(router.get("hostname")));
            kept.push((name, *router));
        }
    }
    let mut unread = 0;
    for (from, router) in kept {
        for (to, link) in links(router) {
            draft.count("links")?;
            let Some(to) = to else {
                let record = format!("a link of {}", node_record(&from));
                draft.reject(record, Reason::Malformed, "no alias_remote".to_string());
                continue;
            };
            let Some(ends) = draft.ends(&from, &to, UnknownEnd::Make)? else { continue };
            match ways(link) {
                Ok((forward, reverse)) => {
                    unread += usize::from(!reverse.is_known() && link.get("quality").is_some());
                    draft.link(ends, Medium::Radio, forward, reverse);
                }
                Err((reason, detail)) => draft.reject(link_record(&from, &to), reason, detail),
            }
        }
    }
    if unread > 0 {
        let links = count(unread, "link");
        draft
            .found
            .assumed
            .push(format!("{links} with LibreMap's quality only, which is no ratio: not read"));
    }
    Ok(draft.found)
}

/// A row's document: the row itself, or what CouchDB puts into it.
fn document(row: &Value) -> &Value {
    ["doc", "value"].iter().filter_map(|key| row.get(key)).find(|v| v.is_object()).unwrap_or(row)
}

fn router_id(router: &Value) -> Option<String> {
    id(router.get("_id").or_else(|| router.get("id")))
}

/// The aliases of a router, as a list or by the alias.
fn names(aliases: Option<&Value>) -> Vec<String> {
    match aliases {
        Some(Value::Array(aliases)) => aliases.iter().filter_map(|entry| id(entry.get("alias"))).collect(),
        Some(Value::Object(aliases)) => aliases.keys().filter(|alias| !alias.is_empty()).cloned().collect(),
        _ => Vec::new(),
    }
}

/// The links of a router, each with the alias of the other end.
fn links(router: &Value) -> Vec<(Option<String>, &Value)> {
    match router.get("links") {
        Some(Value::Array(links)) => links.iter().map(|link| (id(link.get("alias_remote")), link)).collect(),
        Some(Value::Object(links)) => {
            links.iter().map(|(to, link)| (Some(to.clone()).filter(|to| !to.is_empty()), link)).collect()
        }
        _ => Vec::new(),
    }
}

fn location(router: &Value) -> Option<NodeLocation> {
    let at = [router.get("location"), Some(router)];
    at.into_iter().flatten().find_map(|at| {
        let (latitude, longitude) = number(at.get("lat")).zip(number(at.get("lon")))?;
        let altitude = number(at.get("elev")).unwrap_or(0.0);
        Some(NodeLocation::Earth { latitude, longitude, altitude })
    })
}

fn ways(link: &Value) -> Result<(DirectionQuality, DirectionQuality), (Reason, String)> {
    let attribute = |key: &str| link.get("attributes").and_then(|a| a.get(key));
    match (attribute("lq"), attribute("nlq"), attribute("etx")) {
        (Some(lq), Some(nlq), _) => Ok((
            DirectionQuality::echo(ratio(number(Some(nlq)), "nlq")?),
            DirectionQuality::own(ratio(number(Some(lq)), "lq")?),
        )),
        (_, _, Some(etx)) => {
            let p = from_etx(number(Some(etx)))?;
            Ok((DirectionQuality::echo(p), DirectionQuality::own(p)))
        }
        _ => Ok((DirectionQuality::default(), DirectionQuality::default())),
    }
}
