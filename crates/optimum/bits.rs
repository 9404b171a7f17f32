//! Sets of small numbers as bits of 64-bit words.

/// Bits of a word.
pub(crate) const BITS: usize = u64::BITS as usize;

/// Words for a set of numbers below `n`.
pub(crate) const fn words(n: usize) -> usize {
    n.div_ceil(BITS)
}

/// Is `i` in the set?
pub(crate) fn has(set: &[u64], i: usize) -> bool {
    set[i / BITS] >> (i % BITS) & 1 == 1
}

/// Puts `i` into the set.
pub(crate) fn insert(set: &mut [u64], i: usize) {
    set[i / BITS] |= 1 << (i % BITS);
}

/// Takes `i` out of the set.
pub(crate) fn remove(set: &mut [u64], i: usize) {
    set[i / BITS] &= !(1 << (i % BITS));
}

/// Is the set empty?
pub(crate) fn is_empty(set: &[u64]) -> bool {
    set.iter().all(|&word| word == 0)
}

/// The smallest number in the set.
pub(crate) fn first(set: &[u64]) -> Option<usize> {
    set.iter()
        .enumerate()
        .find(|(_, word)| **word != 0)
        .map(|(i, word)| i * BITS + word.trailing_zeros() as usize)
}

/// Numbers that are in both sets.
pub(crate) fn common(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

/// Leaves in `a` what is also in `b`.
pub(crate) fn intersect(a: &mut [u64], b: &[u64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a &= b);
}

/// The numbers in the set, in ascending order.
pub(crate) fn ones(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(i, &word)| {
        let mut left = word;
        core::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(i * BITS + bit)
        })
    })
}
