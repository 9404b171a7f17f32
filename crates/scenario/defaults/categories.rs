//! Tables of access categories, and of the category of a DSCP.

use airfair_sim::spec::{CategorySpec, Standard};
use airfair_units::Span;

use crate::declare::choice::Profile;
use crate::defaults::standard;

/// Names of the standard's categories, from the lowest priority to the highest: background, best effort, video, voice.
const STANDARD: [&str; 4] = ["BK", "BE", "VI", "VO"];

/// User priorities of these categories in the QoS Control field.
const USER_PRIORITIES: [u8; 4] = [1, 0, 5, 6];

/// The four categories of 802.11e with their default parameters (802.11e-2005; 802.11-2012 Table 8-105), as mac80211 and hostapd have them.
/// The edition of 2016 has longer TXOPs for OFDM, and such for BK and BE too; ns-3.37 has taken over those of VI and VO alone.
pub(crate) fn edca(standard: Standard, profile: Profile) -> Vec<CategorySpec> {
    let (cw_min, cw_max) = (standard::defaults(standard).cw_min, 1023);
    let (video, voice) = match (standard, profile) {
        (Standard::Dot11b, _) => (6016, 3264),
        (_, Profile::Ns3) => (4096, 2080),
        _ => (3008, 1504),
    };
    let rows = [
        (7, cw_min, cw_max, 0),
        (3, cw_min, cw_max, 0),
        (2, cw_min.div_ceil(2) - 1, cw_min, video),
        (2, cw_min.div_ceil(4) - 1, cw_min.div_ceil(2) - 1, voice),
    ];
    let category = |(name, (aifsn, cw_min, cw_max, txop_us)): (&str, (u8, u32, u32, u64))| CategorySpec {
        name: name.to_string(),
        aifsn,
        cw_min,
        cw_max,
        txop: Span::from_micros(txop_us),
    };
    STANDARD.into_iter().zip(rows).map(category).collect()
}

/// DiffQ's eight levels (Warrier, Ha, Wason, Rhee, Table 1): AIFSN, and the exponents of the contention windows.
pub(crate) fn diffq() -> Vec<CategorySpec> {
    const LEVELS: [(u8, u32, u32); 8] =
        [(7, 5, 10), (6, 5, 9), (6, 5, 8), (6, 5, 7), (3, 4, 5), (3, 3, 4), (3, 2, 3), (2, 1, 3)];
    let window = |exponent: u32| (1 << exponent) - 1;
    let level = |(level, (aifsn, least, most)): (usize, (u8, u32, u32))| CategorySpec {
        name: level.to_string(),
        aifsn,
        cw_min: window(least),
        cw_max: window(most),
        txop: Span::ZERO,
    };
    LEVELS.into_iter().enumerate().map(level).collect()
}

/// The positions of the standard's categories in a table, by [`STANDARD`]; none if one is missing.
pub(crate) fn standard_categories(categories: &[CategorySpec]) -> Option<[u8; 4]> {
    let mut places = [0; 4];
    for (place, name) in places.iter_mut().zip(STANDARD) {
        *place = u8::try_from(categories.iter().position(|category| category.name == name)?).ok()?;
    }
    Some(places)
}

/// Traffic identifiers of the categories of a table: the standard's have a user priority of theirs, others their number.
pub(crate) fn tids(categories: &[CategorySpec]) -> [u8; 8] {
    let mut tids = std::array::from_fn(|category| category as u8);
    if let Some(places) = standard_categories(categories)
        && categories.len() == STANDARD.len()
    {
        for (place, user_priority) in places.into_iter().zip(USER_PRIORITIES) {
            tids[usize::from(place)] = user_priority;
        }
    }
    tids
}

/// Category of each DSCP by its first three bits, the user priority (802.11-2016 Table 10-1).
pub(crate) fn by_user_priority([background, best_effort, video, voice]: [u8; 4]) -> [u8; 64] {
    let of_priority = [best_effort, background, background, best_effort, video, video, voice, voice];
    std::array::from_fn(|dscp| of_priority[dscp >> 3])
}

/// Category of each DSCP by RFC 8325 section 4; those that it does not name are best effort.
pub(crate) fn by_rfc8325([background, best_effort, video, voice]: [u8; 4]) -> [u8; 64] {
    std::array::from_fn(|dscp| match dscp {
        // LE (RFC 8622 section 8) and CS1.
        1 | 8 => background,
        // CS3, AF3x, CS4, AF4x, CS5.
        24 | 26 | 28 | 30 | 32 | 34 | 36 | 38 | 40 => video,
        // VOICE-ADMIT, EF, CS6, CS7.
        44 | 46 | 48 | 56 => voice,
        _ => best_effort,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::categories::DSCP_NAMES;

    /// 802.11-2012 Table 8-105; the list of ns-3.37 (`WifiMac::ConfigureDcf`) as its runs print it.
    #[test]
    fn the_standard_categories() {
        let row = |c: &CategorySpec| (c.name.clone(), c.aifsn, c.cw_min, c.cw_max, c.txop.as_nanos() / 1000);
        let rows = |standard, profile| edca(standard, profile).iter().map(row).collect::<Vec<_>>();
        let name = |name: &str| name.to_string();
        assert_eq!(
            rows(Standard::Dot11a, Profile::Standard),
            [
                (name("BK"), 7, 15, 1023, 0),
                (name("BE"), 3, 15, 1023, 0),
                (name("VI"), 2, 7, 15, 3008),
                (name("VO"), 2, 3, 7, 1504)
            ]
        );
        assert_eq!(
            rows(Standard::Dot11b, Profile::Standard),
            [
                (name("BK"), 7, 31, 1023, 0),
                (name("BE"), 3, 31, 1023, 0),
                (name("VI"), 2, 15, 31, 6016),
                (name("VO"), 2, 7, 15, 3264)
            ]
        );
        let txops = |standard| rows(standard, Profile::Ns3).iter().map(|row| row.4).collect::<Vec<_>>();
        assert_eq!(txops(Standard::Dot11a), [0, 0, 4096, 2080]);
        assert_eq!(txops(Standard::Dot11b), [0, 0, 6016, 3264]);
    }

    /// The exponents 5 5 5 5 4 3 2 1 and 10 9 8 7 5 4 3 3.
    #[test]
    fn the_levels_of_diffq() {
        let levels = diffq();
        let column = |of: fn(&CategorySpec) -> u32| levels.iter().map(of).collect::<Vec<_>>();
        assert_eq!(column(|c| c.aifsn.into()), [7, 6, 6, 6, 3, 3, 3, 2]);
        assert_eq!(column(|c| c.cw_min), [31, 31, 31, 31, 15, 7, 3, 1]);
        assert_eq!(column(|c| c.cw_max), [1023, 511, 255, 127, 31, 15, 7, 7]);
        assert_eq!(tids(&levels), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// The table of the documentation: each DSCP with a name, its number, its categories.
    #[test]
    fn the_documented_categories_of_dscps() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/edca.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (by_priority, by_rfc) = (by_user_priority([0, 1, 2, 3]), by_rfc8325([0, 1, 2, 3]));
        let row = |&(name, dscp): &(&str, u8)| {
            let short = if name == "VOICE-ADMIT" { " (VA)" } else { "" };
            let category = |map: [u8; 64]| STANDARD[usize::from(map[usize::from(dscp)])];
            format!("| {name}{short} | {dscp} | {} | {} |\n", category(by_priority), category(by_rfc))
        };
        let rows: String = DSCP_NAMES.iter().map(row).collect();
        let heads = "| DSCP | number | `\"user-priority\"` | `\"rfc8325\"` |\n|---|---|---|---|\n";
        assert!(page.contains(&format!("{heads}{rows}\n")), "expected in docs/edca.md:\n{heads}{rows}");
    }

    #[test]
    fn categories_of_dscps() {
        let places = standard_categories(&edca(Standard::Dot11a, Profile::Standard)).unwrap();
        assert_eq!(places, [0, 1, 2, 3]);
        assert_eq!(tids(&edca(Standard::Dot11a, Profile::Standard))[..4], [1, 0, 5, 6]);
        let by_priority = by_user_priority(places);
        // EF has the user priority of video, which RFC 8325 corrects.
        assert_eq!(
            [0, 8, 16, 24, 32, 40, 46, 48, 56].map(|dscp| by_priority[dscp]),
            [1, 0, 0, 1, 2, 2, 2, 3, 3]
        );
        let by_rfc = by_rfc8325(places);
        assert_eq!(
            [0, 1, 8, 10, 16, 18, 24, 34, 40, 44, 46, 48].map(|dscp| by_rfc[dscp]),
            [1, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
        );
        assert_eq!(standard_categories(&diffq()), None);
    }
}
