//! Blocks and tables of the file by their keys, and the names that blocks define.

use std::collections::BTreeMap;

use crate::declare::name::{Name, name_problem};
use crate::text::error::{Cx, one_of, quoted};
use crate::text::location::{At, Path};
use crate::text::nearest::hint;
use crate::text::tree::{Located, Table, Value};

/// Most names that a message lists.
const LISTED: usize = 12;

/// A `[[kind]]` block.
pub(crate) struct Block<'t> {
    /// The id of the block if it has one, else its number.
    pub label: String,
    /// The keys of the block.
    pub table: &'t Table,
}

/// The `[[kind]]` blocks of the file.
pub(crate) fn blocks<'t>(root: &'t Table, kind: &str, cx: &mut Cx<'_>) -> Vec<Block<'t>> {
    let Some(node) = root.get(kind) else { return Vec::new() };
    let path = Path::ROOT.child(kind);
    let refuse = |node: &Located, path: &Path<'_>, cx: &mut Cx<'_>| {
        cx.error(node.at, path, || format!("{} stands here; expected [[{kind}]] blocks", node.kind()));
    };
    let Value::List(items) = &node.value else {
        refuse(node, &path, cx);
        return Vec::new();
    };
    let mut out = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        match item.table() {
            Some(table) => {
                let id = table.text("id").filter(|id| name_problem(id).is_none());
                out.push(Block { label: id.map_or_else(|| i.to_string(), str::to_string), table });
            }
            None => refuse(item, &path.child(&i.to_string()), cx),
        }
    }
    out
}

/// The `[kind]` table that generates blocks by a rule. If the file has a list instead, the error suggests `[[block]]`.
pub(crate) fn generator<'t>(
    root: &'t Table,
    kind: &str,
    block: &str,
    cx: &mut Cx<'_>,
) -> Option<&'t Located> {
    let node = root.get(kind)?;
    if !matches!(node.value, Value::List(_)) {
        return Some(node);
    }
    cx.error(node.at, &Path::ROOT.child(kind), || {
        format!(
            "a list stands here; did you mean [[{block}]]? [{kind}] is a table, by whose rule many are made"
        )
    });
    None
}

/// The `[kind]` table of the file.
pub(crate) fn single<'t>(root: &'t Table, kind: &str, cx: &mut Cx<'_>) -> Option<&'t Table> {
    let node = root.get(kind)?;
    let table = node.table();
    if table.is_none() {
        cx.error(node.at, &Path::ROOT.child(kind), || {
            format!("{} stands here; expected the table [{kind}]", node.kind())
        });
    }
    table
}

/// Unique names and their indices.
pub(crate) struct Names {
    what: &'static str,
    /// True if all names are known. If an error has kept some out, a name that is not found is no error.
    pub complete: bool,
    index: BTreeMap<String, (usize, At)>,
}

impl Names {
    /// An empty set of names; `what` says in messages what they name.
    pub fn of(what: &'static str) -> Self {
        Self { what, complete: true, index: BTreeMap::new() }
    }

    /// Adds a name; a duplicate is an error.
    pub fn add(&mut self, name: &str, at: At, path: &Path<'_>, cx: &mut Cx<'_>) {
        let next = self.index.len();
        let what = self.what;
        match self.index.get(name) {
            None => {
                self.index.insert(name.to_string(), (next, at));
            }
            Some(&(_, first)) => cx.error(at, path, || {
                let first = match first {
                    At::Line(line) => format!("; the first is on line {line}"),
                    At::Override(_) => String::new(),
                };
                format!("{}: duplicate {what}{first}", quoted(name))
            }),
        }
    }

    /// The index of a name that must exist.
    pub fn find(&self, name: &Name, at: At, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<usize> {
        let found = self.index.get(&name.0).map(|&(i, _)| i);
        if found.is_none() && self.complete {
            cx.error(at, path, || {
                let mut hint = hint(&name.0, self.index.keys().map(String::as_str));
                if hint.is_empty() && (1..=LISTED).contains(&self.index.len()) {
                    hint = format!("; expected {}", one_of(&self.sorted()));
                }
                format!("{}: no such {}{hint}", quoted(&name.0), self.what)
            });
        }
        found
    }

    /// The names, sorted.
    pub fn sorted(&self) -> Vec<&str> {
        self.index.keys().map(String::as_str).collect()
    }
}
