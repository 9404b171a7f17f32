//! Natural order of names: numbers in them compare by value.

use std::cmp::Ordering;

/// Compares names in natural order: numbers by value, so that "2" comes before "10".
#[must_use]
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a, b);
    loop {
        match (x.chars().next(), y.chars().next()) {
            (None, None) => return a.cmp(b),
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(c), Some(d)) if c.is_ascii_digit() && d.is_ascii_digit() => {
                let digits = |s: &str| s.len() - s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let (i, j) = (digits(x), digits(y));
                let (m, n) = (x[..i].trim_start_matches('0'), y[..j].trim_start_matches('0'));
                match m.len().cmp(&n.len()).then_with(|| m.cmp(n)) {
                    Ordering::Equal => (x, y) = (&x[i..], &y[j..]),
                    other => return other,
                }
            }
            (Some(c), Some(d)) if c == d => (x, y) = (&x[c.len_utf8()..], &y[d.len_utf8()..]),
            (Some(c), Some(d)) => return c.cmp(&d),
        }
    }
}

/// Position of each name in natural order.
pub(crate) fn natural_orders(names: &[&str]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| natural_cmp(names[a], names[b]));
    let mut ranks = vec![0; names.len()];
    for (rank, &i) in order.iter().enumerate() {
        ranks[i] = rank as u32;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_as_people_do() {
        let mut names = ["n10", "n2", "a", "n02", "10", "9"];
        names.sort_by(|a, b| natural_cmp(a, b));
        assert_eq!(names, ["9", "10", "a", "n02", "n2", "n10"]);
    }
}
