//! The report of an import: what was read, written and left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::draft::name;
use super::network::LinkedCounts;
use super::reason::{Reason, Record};
use crate::text::error::{clean, cut};

/// How much an import has written into the scenario.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenCounts {
    /// Nodes.
    pub nodes: usize,
    /// Nodes with a radio.
    pub radios: usize,
    /// Pairs with a gain in one direction at least.
    pub radio_links: usize,
    /// Directions with a gain.
    pub gains: usize,
    /// Wired links.
    pub wires: usize,
    /// Movements.
    pub movements: usize,
    /// Flows to the gateway.
    pub flows: usize,
    /// Flows of the file.
    pub file_flows: usize,
    /// Nodes of the largest component of usable links.
    pub largest: usize,
}

/// The report of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The file, as it was named.
    pub origin: String,
    /// The format's name.
    pub format: &'static str,
    /// The mark in the file by which the format was recognised; `--format` if it was named.
    pub recognised_by: &'static str,
    /// The link model's name.
    pub link_model: &'static str,
    /// When the data were taken, in the words of the file.
    pub date: Option<String>,
    /// Records by kind.
    pub read: BTreeMap<&'static str, u64>,
    /// Different node ids, those included that only links name.
    pub ids: usize,
    /// Pairs that links name, the nodes of these pairs, and those of their largest component, whether or not the links are kept.
    pub linked: [usize; 3],
    /// Ids that links or sectors name and no node has, with how often.
    pub missing: BTreeMap<String, u64>,
    /// Records left out.
    pub rejected: Vec<Record>,
    /// Records that the scenario contains, but not as the file has them.
    pub noted: Vec<Record>,
    /// Ids that are not valid in a scenario, each with the name that replaces it.
    pub renamed: Vec<(String, String)>,
    /// Assumptions: how the file was read where it is ambiguous.
    pub assumed: Vec<String>,
    /// The gateways, where the flows end, each with their number.
    pub gateways: BTreeMap<String, usize>,
    /// The contents of the scenario that was written.
    pub written: WrittenCounts,
}

impl From<LinkedCounts> for [usize; 3] {
    fn from(l: LinkedCounts) -> Self {
        [l.pairs, l.nodes, l.largest]
    }
}

/// Records by reason, in the order of the reasons.
fn by_reason(records: &[Record]) -> BTreeMap<Reason, Vec<&Record>> {
    let mut groups: BTreeMap<Reason, Vec<&Record>> = BTreeMap::new();
    for record in records {
        groups.entry(record.reason).or_default().push(record);
    }
    groups
}

/// A count in words: `1 node`, `2 nodes`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl Report {
    /// The counts of what was read, in a line.
    pub(crate) fn read_line(&self) -> String {
        let [pairs, nodes, largest] = self.linked;
        let mut words: Vec<String> = Vec::new();
        for (what, n) in &self.read {
            words.push(count(usize::try_from(*n).unwrap_or(usize::MAX), what.trim_end_matches('s')));
        }
        let mut line = format!("{}; {}", words.join(", "), count(self.ids, "id"));
        if pairs > 0 {
            let _ = write!(line, "; {} of {} linked", count(pairs, "pair"), count(nodes, "node"));
            let _ = write!(line, ", {largest} in the largest component");
        }
        line
    }

    /// The gateway, if there is one only.
    fn only_gateway(&self) -> Option<&String> {
        self.gateways.keys().next().filter(|_| self.gateways.len() == 1)
    }

    /// The counts of what was written, in a line.
    pub(crate) fn written_line(&self) -> String {
        let w = &self.written;
        let mut line = format!("{} ({} with a radio)", count(w.nodes, "node"), w.radios);
        if w.gains > 0 {
            let _ =
                write!(line, ", {} ({})", count(w.radio_links, "radio link"), count(w.gains, "direction"));
        }
        if w.wires > 0 {
            let _ = write!(line, ", {}", count(w.wires, "wired link"));
        }
        if w.movements > 0 {
            let _ = write!(line, ", {}", count(w.movements, "movement"));
        }
        if w.file_flows > 0 {
            let _ = write!(line, ", {} of the file", count(w.file_flows, "flow"));
        }
        let used: Vec<&String> =
            self.gateways.iter().filter(|(_, flows)| **flows > 0).map(|(gateway, _)| gateway).collect();
        match (self.only_gateway(), &used[..]) {
            (Some(gateway), _) | (None, &[gateway]) => {
                let _ = write!(line, ", {} to {}", count(w.flows, "flow"), name(gateway));
            }
            (None, []) => {}
            (None, used) => {
                let _ = write!(line, ", {} to {}", count(w.flows, "flow"), count(used.len(), "gateway"));
            }
        }
        let _ = write!(line, "; {} in the largest usable component", w.largest);
        line
    }

    /// The report as text. Of each reason the first `shown` records are named.
    #[must_use]
    pub fn text(&self, shown: usize) -> String {
        let date = self.date.as_ref().map_or_else(String::new, |d| format!(", {}", clean(&cut(d))));
        let mut out =
            format!("{}: {}, link model {}{date}\n", clean(&self.origin), self.format, self.link_model);
        let _ = writeln!(out, "recognised by: {}", self.recognised_by);
        let _ = writeln!(out, "read: {}", self.read_line());
        let _ = writeln!(out, "written: {}", self.written_line());
        let ids: Vec<String> = self.missing.keys().take(shown).map(|id| name(id)).collect();
        let more = self.missing.len().saturating_sub(ids.len());
        if !self.missing.is_empty() {
            let tail = if more == 0 { String::new() } else { format!(" and {more} more") };
            let _ = writeln!(
                out,
                "missing: {} without a record: {}{tail}",
                count(self.missing.len(), "id"),
                ids.join(", ")
            );
        }
        for (title, records) in [("rejected", &self.rejected), ("kept, but changed", &self.noted)] {
            if records.is_empty() {
                continue;
            }
            let _ = writeln!(out, "{title}: {}", records.len());
            for (reason, group) in by_reason(records) {
                let _ = writeln!(out, "  {} {}", group.len(), reason.words());
                for record in group.iter().take(shown) {
                    let detail = if record.detail.is_empty() { "" } else { ": " };
                    let _ = writeln!(out, "    {}{detail}{}", record.record, record.detail);
                }
                if group.len() > shown {
                    let _ = writeln!(out, "    and {} more", group.len() - shown);
                }
            }
        }
        if !self.renamed.is_empty() {
            let _ = writeln!(out, "renamed: {}", self.renamed.len());
            for (old, new) in self.renamed.iter().take(shown) {
                let _ = writeln!(out, "    {} is {}", name(old), name(new));
            }
            if self.renamed.len() > shown {
                let _ = writeln!(out, "    and {} more", self.renamed.len() - shown);
            }
        }
        for words in &self.assumed {
            let _ = writeln!(out, "assumed: {words}");
        }
        if self.written.flows + self.written.file_flows == 0 {
            let _ = writeln!(out, "no flows: nothing will be sent; --flows 10 draws ten");
        }
        out
    }

    /// The report as JSON, every record named.
    #[must_use]
    pub fn json(&self) -> String {
        let records = |records: &[Record]| -> Vec<Value> {
            by_reason(records)
                .into_iter()
                .map(|(reason, group)| {
                    let list: Vec<Value> =
                        group.iter().map(|r| json!({"record": r.record, "detail": r.detail})).collect();
                    json!({"reason": reason.key(), "words": reason.words(), "count": group.len(), "records": list})
                })
                .collect()
        };
        let [pairs, nodes, largest] = self.linked;
        let w = &self.written;
        let renamed: Vec<Value> =
            self.renamed.iter().map(|(old, new)| json!({"from": old, "to": new})).collect();
        json!({
            "file": self.origin,
            "format": self.format,
            "recognised_by": self.recognised_by,
            "link_model": self.link_model,
            "date": self.date,
            "read": self.read,
            "ids": self.ids,
            "linked": {"pairs": pairs, "nodes": nodes, "largest_component": largest},
            "written": {
                "nodes": w.nodes, "radios": w.radios, "radio_links": w.radio_links, "gains": w.gains,
                "wired_links": w.wires, "movements": w.movements, "flows": w.flows + w.file_flows,
                "largest_component": w.largest,
            },
            "missing_ids": self.missing,
            "rejected": records(&self.rejected),
            "changed": records(&self.noted),
            "renamed": renamed,
            "assumed": self.assumed,
            "gateway": self.only_gateway(),
            "gateways": self.gateways,
        })
        .to_string()
    }
}

/// The reasons of a report in a line, for an error.
pub(crate) fn reasons(rejected: &[Record]) -> String {
    let groups = by_reason(rejected);
    let words: Vec<String> =
        groups.iter().map(|(reason, group)| format!("{} {}", group.len(), reason.words())).collect();
    words.join("; ")
}
