//! Channels that overlap, whose radios disturb each other on a real air and not on this one.

use airfair_sim::spec::{RadioSpec, Standard};

use crate::text::error::quoted;

/// Width of a channel, MHz: DSSS and CCK occupy 22, OFDM 20.
const fn width_mhz(standard: Standard) -> u32 {
    match standard {
        Standard::Dot11b => 22,
        Standard::Dot11a | Standard::Dot11g => 20,
    }
}

/// Centre of a channel, MHz (802.11-2016 annex E): 2407 + 5 n in 2.4 GHz, where channel 14 is an exception, and 5000 + 5 n in 5 GHz.
fn centre_mhz(radio: &RadioSpec) -> u32 {
    match (radio.phy.standard, u32::from(radio.channel)) {
        (Standard::Dot11a, n) => 5000 + 5 * n,
        (_, 14) => 2484,
        (_, n) => 2407 + 5 * n,
    }
}

/// Twice the distance at which two channels only touch, MHz.
const fn both_widths(a: &RadioSpec, b: &RadioSpec) -> u32 {
    width_mhz(a.phy.standard) + width_mhz(b.phy.standard)
}

/// Warning of two kinds of radios, among these, whose channels overlap.
pub(super) fn warning(radios: &[&RadioSpec]) -> Option<String> {
    let overlap = |a: &RadioSpec, b: &RadioSpec| {
        a.channel != b.channel && 2 * centre_mhz(a).abs_diff(centre_mhz(b)) < both_widths(a, b)
    };
    let pairs = radios.iter().enumerate().flat_map(|(i, a)| radios.iter().skip(i + 1).map(move |b| (*a, *b)));
    let mut found: Vec<_> = pairs
        .filter(|(a, b)| overlap(a, b))
        .map(|(a, b)| if (b.channel, &b.name) < (a.channel, &a.name) { (b, a) } else { (a, b) })
        .collect();
    found.sort_by_key(|(a, b)| (a.channel, b.channel, &a.name, &b.name));
    let &(a, b) = found.first()?;
    let more = match found.len() - 1 {
        0 => String::new(),
        1 => " (1 more such pair)".to_string(),
        n => format!(" ({n} more such pairs)"),
    };
    Some(format!(
        "channels {} and {} (radios {} and {}) overlap{more}: real radios on them disturb each other, these do not; expected channels at \
         least {} apart",
        a.channel,
        b.channel,
        quoted(&a.name),
        quoted(&b.name),
        both_widths(a, b).div_ceil(10)
    ))
}

#[cfg(test)]
mod tests {
    use crate::read;

    /// The channels of two radios, with a node each, that overlap.
    fn overlap(standards: [&str; 2], channels: [u16; 2]) -> bool {
        let radio =
            |i: usize| format!("[radios.r{i}]\nstandard = \"{}\"\nchannel = {}\n", standards[i], channels[i]);
        let node = |i: usize| {
            format!("[[node]]\nid = \"n{i}\"\nposition = [\"0 m\", \"{i} m\"]\nradios = [\"r{i}\"]\n")
        };
        let text =
            format!("name = \"x\"\nduration = \"1 s\"\n{}{}{}{}", radio(0), radio(1), node(0), node(1));
        let found = read(&text, "x.toml", &[]).unwrap();
        found.warnings.iter().any(|warning| warning.contains("overlap"))
    }

    /// The usual sets of channels that do not overlap: 1, 6, 11 with 802.11b, 1, 5, 9, 13 with OFDM, every fourth in 5 GHz; channel 14 is
    /// 12 MHz above channel 13.
    #[test]
    fn the_usual_channels_do_not_overlap() {
        let (a, b, g) = ("802.11a", "802.11b", "802.11g");
        for (standards, channels) in [
            ([b, b], [1, 6]),
            ([b, b], [9, 14]),
            ([g, g], [1, 5]),
            ([g, b], [6, 11]),
            ([a, a], [36, 40]),
            ([a, g], [36, 6]),
            ([g, g], [6, 6]),
        ] {
            assert!(!overlap(standards, channels), "{standards:?} {channels:?}");
        }
        for (standards, channels) in
            [([b, b], [1, 5]), ([b, b], [14, 13]), ([g, g], [1, 3]), ([g, b], [5, 1]), ([a, a], [38, 36])]
        {
            assert!(overlap(standards, channels), "{standards:?} {channels:?}");
        }
    }
}
