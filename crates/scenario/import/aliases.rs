//! Several addresses of one node: an alias and its main address are the same node wherever either is named.

use std::collections::BTreeMap;

/// Pairs of a main address and an alias, in any order. An alias of two main addresses, such as the address that every router of a
/// firmware has on its LAN, belongs to the first of them in the order of texts: it does not make them one node.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    /// The main address of each alias.
    owner: BTreeMap<String, String>,
}

impl Aliases {
    /// Adds a pair.
    pub fn add(&mut self, main: &str, alias: &str) {
        if main == alias {
            return;
        }
        match self.owner.get_mut(alias) {
            Some(owner) if main < owner.as_str() => *owner = main.to_string(),
            Some(_) => {}
            None => {
                self.owner.insert(alias.to_string(), main.to_string());
            }
        }
    }

    /// The main address of every alias. The main address of an alias that is an alias itself is that one's; where addresses are aliases
    /// of each other in a circle, the first of the circle in the order of texts is the main one.
    pub fn mains(&self) -> BTreeMap<String, String> {
        let mut mains: BTreeMap<&str, &str> = BTreeMap::new();
        for start in self.owner.keys() {
            let (mut path, mut step) = (Vec::new(), BTreeMap::new());
            let mut at = start.as_str();
            let main = loop {
                if let Some(&main) = mains.get(at) {
                    break main;
                }
                if let Some(&first) = step.get(at) {
                    break path.iter().skip(first).copied().min().unwrap_or(at);
                }
                let Some(owner) = self.owner.get(at) else { break at };
                step.insert(at, path.len());
                path.push(at);
                at = owner;
            };
            mains.extend(path.into_iter().map(|address| (address, main)));
        }
        let others = mains.into_iter().filter(|(address, main)| address != main);
        others.map(|(address, main)| (address.to_string(), main.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mains(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut aliases = Aliases::default();
        pairs.iter().for_each(|(main, alias)| aliases.add(main, alias));
        aliases.mains().into_iter().collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string())).collect()
    }

    #[test]
    fn an_alias_has_the_main_address_of_its_node() {
        assert_eq!(mains(&[("z", "a"), ("z", "b"), ("z", "z")]), pairs(&[("a", "z"), ("b", "z")]));
        // An alias of an alias; an alias of two nodes; addresses that are aliases of each other, and one that leads to them.
        assert_eq!(mains(&[("m", "b"), ("b", "a")]), pairs(&[("a", "m"), ("b", "m")]));
        assert_eq!(mains(&[("n", "x"), ("m", "x")]), pairs(&[("x", "m")]));
        assert_eq!(mains(&[("b", "a"), ("a", "b")]), pairs(&[("b", "a")]));
        assert_eq!(mains(&[("c", "a"), ("d", "c"), ("c", "d")]), pairs(&[("a", "c"), ("d", "c")]));
    }

    #[test]
    fn the_order_of_pairs_has_no_influence() {
        let chain: Vec<(String, String)> =
            (0..2000).map(|i| (format!("n{i:04}"), format!("n{:04}", i + 1))).collect();
        let mut forward = Aliases::default();
        chain.iter().for_each(|(main, alias)| forward.add(main, alias));
        let mut back = Aliases::default();
        chain.iter().rev().for_each(|(main, alias)| back.add(main, alias));
        let mains = forward.mains();
        assert_eq!(mains, back.mains());
        assert!(mains.len() == 2000 && mains.values().all(|main| main == "n0000"));
    }
}
