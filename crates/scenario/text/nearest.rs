//! Suggestions: the known name that is most like a misspelt one.

/// Longest name that is compared.
const LONGEST: usize = 64;
/// Most names that are compared with: a suggestion must not cost seconds.
const MOST: usize = 1000;
/// Least likeness of a suggestion, 0..=1.
const LIKE: f64 = 0.5;

/// The name most like `written`, if any is like it.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if written.is_empty() || written.chars().count() > LONGEST {
        return None;
    }
    let written = plain(written);
    let mut best: Option<(f64, &str)> = None;
    for name in names.into_iter().take(MOST) {
        let other = plain(name);
        let mut like = strsim::normalized_damerau_levenshtein(&written, &other);
        if written.len() >= 3 && other.starts_with(&written) {
            like = like.max(0.6);
        }
        if like >= LIKE && best.is_none_or(|(b, _)| like > b) {
            best = Some((like, name));
        }
    }
    best.map(|(_, name)| name)
}

/// `; did you mean "x"?`, or nothing.
pub(crate) fn hint<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    nearest(written, names).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

/// Upper case and hyphens are common slips.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_name() {
        let keys = ["data_rate", "rts_threshold", "cw_min"];
        assert_eq!(nearest("datarate", keys), Some("data_rate"));
        assert_eq!(nearest("Data-Rate", keys), Some("data_rate"));
        assert_eq!(nearest("rts", keys), Some("rts_threshold"));
        assert_eq!(nearest("banana", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("data_rate", []), None);
    }
}
