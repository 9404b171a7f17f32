//! From the keys of access categories to their specification.

use airfair_sim::natural_cmp;
use airfair_sim::spec::{CategorySpec, Countdown, EdcaSpec, FlowSpec, RadioSpec, TxopEnd, WorldSpec};

use crate::declare::choice::Profile;
use crate::declare::field::Field;
use crate::defaults::categories::{by_rfc8325, by_user_priority, diffq, edca, standard_categories, tids};
use crate::defaults::standard::defaults;
use crate::keys::categories::{Categories, Category, Dscp, DscpCategories, DscpCategory};
use crate::keys::radio::{CW_MAX, RadioTable};
use crate::resolve::radio::{DEFAULT, Radios};
use crate::text::error::{Cx, one_of, quoted};
use crate::text::location::Path;
use crate::text::nearest::hint;

/// Most categories of a radio.
const MOST: usize = 8;

/// Keys that have an effect only with categories, and those that have one only with the DCF.
const OF_CATEGORIES: [&str; 4] = ["edca_countdown", "qos_header", "txop_end", "dscp_categories"];
const OF_DCF: [&str; 2] = ["cw_min", "cw_max"];

/// The access categories of a radio; none with the DCF. Fills in the keys that depend on them.
pub(crate) fn categories(t: &mut RadioTable, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<EdcaSpec> {
    let is_dcf = matches!(t.categories, Categories::Dcf);
    // The complete form has the windows of the DCF in any case.
    let usual = [t.cw_min == Some(defaults(t.standard).cw_min), t.cw_max == CW_MAX];
    let own_windows = OF_DCF.into_iter().zip(usual).filter(|(_, usual)| !usual).map(|(key, _)| key);
    let unused: Vec<&str> = if is_dcf { OF_CATEGORIES.to_vec() } else { own_windows.collect() };
    for key in unused.into_iter().filter(|key| t.locations.has(key)) {
        let table = if is_dcf { "categories = \"dcf\"" } else { "the categories have their own" };
        cx.warnings.push(format!("{} has no effect: {table}", path.child(key)));
    }
    let table = match &t.categories {
        Categories::Dcf => return None,
        Categories::Edca => edca(t.standard, t.profile),
        Categories::DiffQ => diffq(),
        Categories::Own(list) => own(list, t, path, cx)?,
    };
    let places = standard_categories(&table);
    let usual = if places.is_some() { DscpCategories::UserPriority } else { DscpCategories::Lowest };
    let map = t.dscp_categories.get_or_insert(usual);
    let best_effort = table.iter().position(|category| category.name == "BE").unwrap_or(0) as u8;
    let category_of_dscp = match (&*map, places) {
        (DscpCategories::Lowest, _) => [best_effort; 64],
        (DscpCategories::UserPriority, Some(places)) => by_user_priority(places),
        (DscpCategories::Rfc8325, Some(places)) => by_rfc8325(places),
        (DscpCategories::Own(list), _) => {
            own_map(list, &table, best_effort, &path.child("dscp_categories"), cx)?
        }
        (DscpCategories::UserPriority | DscpCategories::Rfc8325, None) => {
            cx.error(t.locations.of("dscp_categories"), &path.child("dscp_categories"), || {
                "needs categories named BK, BE, VI and VO; expected \"lowest\" or a list".to_string()
            });
            return None;
        }
    };
    let usual = if t.profile == Profile::Ns3 { TxopEnd::CfEndNs3 } else { TxopEnd::CfEnd };
    Some(EdcaSpec {
        tids: tids(&table),
        categories: table,
        countdown: *t.edca_countdown.get_or_insert(Countdown::Standard),
        qos_header: *t.qos_header.get_or_insert(true),
        txop_end: *t.txop_end.get_or_insert(usual),
        category_of_dscp,
    })
}

/// Warns of a list that seems to begin with the highest priority.
fn warn_of_order(list: &[Category], path: &Path<'_>, cx: &mut Cx<'_>) {
    let later = |low: usize| list.iter().skip(low + 1).map(move |later| (&list[low], later));
    let defers_more =
        |low: &Category, high: &Category| high.0.aifsn > low.0.aifsn && high.0.cw_min > low.0.cw_min;
    let pair = (0..list.len()).flat_map(later).find(|(low, high)| defers_more(low, high));
    let Some((Category(low), Category(high))) = pair else { return };
    cx.warnings.push(format!(
        "{path}: {} comes after {} and so has the higher priority, but defers more: aifsn {} and {}, cw_min {} and {}; \
         expected the lowest priority first",
        quoted(&high.name.0),
        quoted(&low.name.0),
        high.aifsn,
        low.aifsn,
        high.cw_min,
        low.cw_min
    ));
}

/// Categories that are written out.
fn own(list: &[Category], t: &RadioTable, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Vec<CategorySpec>> {
    let path = &path.child("categories");
    if list.is_empty() || list.len() > MOST {
        cx.error(t.locations.of("categories"), path, || {
            format!("{} categories; expected 1 to {MOST}", list.len())
        });
        return None;
    }
    let mut good = true;
    for (i, Category(category)) in list.iter().enumerate() {
        let number = i.to_string();
        let path = &path.child(&number);
        let mut refuse = |key: &str, problem: String| {
            good = false;
            cx.error(category.locations.of(key), &path.child(key), || problem);
        };
        if list[..i].iter().any(|Category(other)| other.name == category.name) {
            refuse("name", format!("{}: another category has this name", quoted(&category.name.0)));
        }
        if category.name.0.contains('/') {
            let name = quoted(&category.name.0);
            refuse(
                "name",
                format!(
                    "{name}: names of queues have a \"/\" before the category; expected a name without one"
                ),
            );
        }
        for (key, value) in [("cw_min", category.cw_min), ("cw_max", category.cw_max)] {
            if !(value + 1).is_power_of_two() {
                let below = (value + 1).next_power_of_two() / 2 - 1;
                let above = 2 * below + 1;
                refuse(
                    key,
                    format!("{value}: expected one less than a power of two, such as {below} or {above}"),
                );
            }
        }
        if category.cw_min > category.cw_max {
            let (least, most) = (category.cw_min, category.cw_max);
            refuse("cw_min", format!("{least}: larger than cw_max; expected at most {most}"));
        }
    }
    if good {
        warn_of_order(list, path, cx);
    }
    let spec = |Category(category): &Category| CategorySpec {
        name: category.name.0.clone(),
        aifsn: category.aifsn,
        cw_min: category.cw_min,
        cw_max: category.cw_max,
        txop: category.txop,
    };
    good.then(|| list.iter().map(spec).collect())
}

/// Categories of DSCPs that are written out.
fn own_map(
    list: &[DscpCategory],
    table: &[CategorySpec],
    others: u8,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) -> Option<[u8; 64]> {
    let names: Vec<&str> = table.iter().map(|category| category.name.as_str()).collect();
    let mut map = [others; 64];
    let mut good = true;
    for (i, DscpCategory(entry)) in list.iter().enumerate() {
        let number = i.to_string();
        let path = &path.child(&number);
        if list[..i].iter().any(|DscpCategory(other)| other.dscp == entry.dscp) {
            good = false;
            cx.error(entry.locations.of("dscp"), &path.child("dscp"), || {
                format!("{}: written twice", entry.dscp.0)
            });
        }
        match names.iter().position(|&name| name == entry.category.0) {
            Some(category) => map[usize::from(entry.dscp.0) % 64] = category as u8,
            None => {
                good = false;
                cx.error(entry.locations.of("category"), &path.child("category"), || {
                    let hint = hint(&entry.category.0, names.iter().copied());
                    format!(
                        "{}: no such category; expected {}{hint}",
                        quoted(&entry.category.0),
                        one_of(&names)
                    )
                });
            }
        }
    }
    good.then_some(map)
}

/// Warnings about flows with a DSCP by which no radio, or one of them, tells their packets from others.
pub(crate) fn warn_of_dscps(radios: &Radios, spec: &WorldSpec) -> Vec<String> {
    let mut marked: Vec<&FlowSpec> = spec.flows.iter().filter(|flow| flow.dscp != 0).collect();
    // The one that is named is the first by name: the order of a file means nothing.
    marked.sort_by(|a, b| natural_cmp(&a.id, &b.id));
    if spec.radios.iter().all(|radio| radio.mac.edca.is_none()) {
        let reason = "has no effect: no radio has access categories";
        return subject(&marked).map(|flows| format!("the dscp of {flows} {reason}")).into_iter().collect();
    }
    let kinds = radios.kinds.iter().flatten();
    kinds.filter_map(|(table, radio)| warn_of_unnamed_dscps(table, radio, &marked)).collect()
}

/// A warning if flows have a DSCP for which the map of a radio names no category.
fn warn_of_unnamed_dscps(table: &RadioTable, radio: &RadioSpec, marked: &[&FlowSpec]) -> Option<String> {
    let edca = radio.mac.edca.as_ref().filter(|edca| edca.categories.len() > 1)?;
    let map = table.dscp_categories.as_ref()?;
    let is_named = |flow: &&&FlowSpec| match map {
        DscpCategories::Own(list) => list.iter().any(|DscpCategory(entry)| entry.dscp.0 == flow.dscp),
        DscpCategories::Lowest => false,
        DscpCategories::UserPriority | DscpCategories::Rfc8325 => true,
    };
    let unnamed: Vec<&FlowSpec> = marked.iter().filter(|flow| !is_named(flow)).copied().collect();
    let first = unnamed.first()?;
    let category = edca.categories.get(usize::from(edca.category_of_dscp[usize::from(first.dscp) % 64]))?;
    let key = if radio.name == DEFAULT { "radio".to_string() } else { format!("radios.{}", radio.name) };
    let dscp = Dscp(first.dscp).write();
    Some(format!(
        "the dscp of {} has no effect: {key}.dscp_categories names no category for it, so that their packets are in {}; expected such as \
         dscp_categories = [{{ dscp = {dscp}, category = {} }}]",
        subject(&unnamed)?,
        quoted(&category.name),
        quoted(&edca.categories.last()?.name)
    ))
}

/// Flows as the subject of a message; none without a flow.
fn subject(flows: &[&FlowSpec]) -> Option<String> {
    let first = flows.first()?;
    let others = match flows.len() - 1 {
        0 => String::new(),
        1 => " and of another flow".to_string(),
        count => format!(" and of {count} other flows"),
    };
    Some(format!("flow \"{}\"{others}", first.id))
}
