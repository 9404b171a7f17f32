//! Names of nodes: ids of a map as names that a scenario may have.

use std::collections::{BTreeMap, BTreeSet};

use crate::declare::name::name_problem;
use crate::text::error::unprintable;

/// Longest name without a number behind it, in characters.
const LONGEST: usize = 56;

/// A name for each id, and the ids that had to change, each with its name. Valid ids stay.
pub(crate) fn names(ids: &[&str]) -> (Vec<String>, Vec<(String, String)>) {
    let mut taken: BTreeSet<String> =
        ids.iter().filter(|id| name_problem(id).is_none()).map(|id| (*id).to_string()).collect();
    let mut next: BTreeMap<String, u64> = BTreeMap::new();
    let mut renamed = Vec::new();
    let named = ids
        .iter()
        .map(|id| {
            if name_problem(id).is_none() {
                return (*id).to_string();
            }
            let plain: String =
                id.chars().map(|c| if unprintable(c) { '_' } else { c }).take(LONGEST).collect();
            let base = if plain.trim().is_empty() { "node" } else { plain.trim() };
            // Numbers continue from the last one used, since many ids with a common beginning would take too long otherwise.
            let number = next.entry(base.to_string()).or_insert(1u64);
            let mut name = base.to_string();
            while *number > 1 || !taken.insert(name.clone()) {
                *number += 1;
                name = format!("{base}-{number}");
                if taken.insert(name.clone()) {
                    break;
                }
            }
            renamed.push(((*id).to_string(), name.clone()));
            name
        })
        .collect();
    (named, renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_illegal_changes() {
        let long = "x".repeat(70);
        let ids = ["a", " a", "a\nb", "a_b", "", &long, "10.0.0.1"];
        let (names, renamed) = names(&ids);
        assert_eq!(names, ["a", "a-2", "a_b-2", "a_b", "node", &"x".repeat(56), "10.0.0.1"]);
        assert_eq!(renamed.len(), 4);
        let alike: Vec<String> = (0..20_000).map(|i| format!("{}{i}", "y".repeat(60))).collect();
        let alike: Vec<&str> = alike.iter().map(String::as_str).collect();
        let (named, _) = super::names(&alike);
        assert_eq!(named[19_999], format!("{}-10000", "y".repeat(56)));
        assert!(names.iter().all(|n| name_problem(n).is_none()));
    }
}
