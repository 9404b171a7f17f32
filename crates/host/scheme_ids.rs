//! Numbers by which schemes identify nodes and flows. The numbers are computed from names, so that they depend neither on the order of a
//! file nor on its other contents.

use alloc::vec;
use alloc::vec::Vec;

use airfair_schemes::places::FlowId;
use airfair_units::random::name_hash;

/// Flow numbers from this one on belong to connections of flows that have many.
const MANY: u32 = 1 << 31;

/// A unique number below `MANY` for each name: half of its hash. Of names with the same hash the first in order has it, and the others
/// have the next free numbers.
#[must_use]
pub fn of_names(names: &[&str]) -> Vec<u32> {
    let half = |name: &str| name_hash(name) as u32 & (MANY - 1);
    let mut order: Vec<(u32, usize)> = names.iter().map(|name| half(name)).zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| names[a.1].cmp(names[b.1])));
    let mut ids = vec![0; names.len()];
    let mut free = 0;
    for (hash, i) in order {
        ids[i] = hash.max(free);
        free = ids[i] + 1;
    }
    ids
}

/// A number for one of the connections of a flow that sends files, from `MANY` on: two are equal with a probability of 2^-31.
#[must_use]
pub fn of_connection(flow: u64, number: u64) -> FlowId {
    // The finaliser of MurmurHash3, as in `name_hash`.
    let mut h = flow ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    FlowId(MANY | (h >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    #[test]
    fn a_number_follows_from_the_name_alone() {
        let three = of_names(&["a", "b", "c"]);
        assert_eq!(of_names(&["c", "far", "a"]), [three[2], of_names(&["far"])[0], three[0]]);
        assert!(three.iter().all(|&id| id < MANY));
        let connections: Vec<u32> = (0..1000).map(|number| of_connection(7, number).0).collect();
        let mut distinct = connections.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), connections.len());
        assert!(connections.iter().all(|&id| id >= MANY));
    }

    /// Among 200,000 names about nine pairs share half of a hash.
    #[test]
    fn no_two_names_have_the_same_number() {
        let names: Vec<String> = (0..200_000).map(|i| format!("n{i}")).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        let ids = of_names(&names);
        let mut distinct = ids.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), ids.len());
        names.reverse();
        assert!(of_names(&names).iter().eq(ids.iter().rev()));
    }
}
