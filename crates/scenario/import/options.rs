//! Options of an import. Every option has a name and a text as its value, as on a command line.

use airfair_sim::spec::Standard;
use airfair_units::{Db, Meters, Quantity, Rate, Span};

use super::draft::ImportLimits;
use super::format::Format;
use crate::declare::choice::not_modelled;
use crate::declare::field::LONGEST;
use crate::declare::name::name_problem;
use crate::text::error::{one_of, quoted};
use crate::text::limits::Limits;
use crate::text::nearest::hint;

/// Link models: how the quality of a link becomes a received power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkModel {
    /// A delivery ratio is that of a 1500-byte packet at the data rate; without a ratio a measured power is used.
    Delivery,
    /// A delivery ratio is that of a 100-byte broadcast at the broadcast rate: data frames do worse.
    Probe,
    /// Measured powers are kept; links without one use their delivery ratios.
    Signal,
    /// Free space over the length of each link, with antennas aimed at each other; other nodes receive nothing.
    Distance,
    /// Positions and a propagation model: reception between all pairs depends on their distance. Links are not read.
    Positions,
}

/// The treatment of links of unknown medium, in a file that names the medium of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownMedium {
    /// Leave them out.
    Drop,
    /// They are radio.
    Radio,
    /// They are cables.
    Wire,
}

const LINK_MODELS: [(&str, LinkModel); 5] = [
    ("delivery", LinkModel::Delivery),
    ("probe", LinkModel::Probe),
    ("signal", LinkModel::Signal),
    ("distance", LinkModel::Distance),
    ("positions", LinkModel::Positions),
];
const UNTOLD: [(&str, UnknownMedium); 3] =
    [("drop", UnknownMedium::Drop), ("radio", UnknownMedium::Radio), ("wire", UnknownMedium::Wire)];
const STANDARDS: [(&str, Standard); 3] =
    [("802.11b", Standard::Dot11b), ("802.11a", Standard::Dot11a), ("802.11g", Standard::Dot11g)];
const FLAGS: [(&str, bool); 2] = [("true", true), ("false", false)];

impl LinkModel {
    /// The name of the choice.
    #[must_use]
    pub fn name(self) -> &'static str {
        LINK_MODELS.iter().find(|(_, m)| *m == self).map_or("", |(name, _)| name)
    }
}

/// The name of a standard.
pub(crate) fn standard_name(standard: Standard) -> &'static str {
    STANDARDS.iter().find(|(_, s)| *s == standard).map_or("", |(name, _)| name)
}

/// The options of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportOptions {
    /// `format`: instead of recognising it.
    pub format: Option<Format>,
    /// `link-model`: how quality becomes power; by default that of the format.
    pub link_model: Option<LinkModel>,
    /// `standard`: of the radios; by default 802.11a for maps of 5 GHz networks, else 802.11g.
    pub standard: Option<Standard>,
    /// `data-rate`: by default 24 Mbit/s, with 802.11b 11.
    pub data_rate: Option<Rate>,
    /// `margin`: power that a link without losses has above what it needs.
    pub margin: Db,
    /// `antenna`: gain at each end where power comes from length.
    pub antenna: Db,
    /// `longest`: radio links longer than this are left out, and reported; not with `positions`.
    pub longest: Meters,
    /// `range`: of reception, with `positions`; a signal is sensed 2.2 times as far.
    pub range: Meters,
    /// `since`: older records are left out, where records have a date. The beginning of an ISO 8601 text is enough.
    pub since: Option<String>,
    /// `planned`: whether links that are planned or being built are read.
    pub planned: bool,
    /// `untold`: what happens to links of unknown medium.
    pub untold: UnknownMedium,
    /// `radio-only`: wired links are left out.
    pub radio_only: bool,
    /// `largest`: only the largest component is kept.
    pub largest: bool,
    /// `wire-rate`: of cables and fibres.
    pub wire_rate: Rate,
    /// `tunnel-rate`: of tunnels.
    pub tunnel_rate: Rate,
    /// `flows`: how many TCP flows go to the gateways; fewer are written if fewer nodes reach one.
    pub flows: u32,
    /// `gateway`: the id of a node, which may be given several times; each flow goes to the nearest gateway. None, or `auto`: the gateways
    /// that the file marks and that have a usable link, else the node that reaches most nodes.
    pub gateways: Vec<String>,
    /// `one-gateway`: of the file's gateways only the one that reaches most nodes.
    pub one_gateway: bool,
    /// `seed`: of the drawing of the flows' sources.
    pub seed: u64,
    /// `duration`: of the run.
    pub duration: Span,
    /// `name`: of the scenario; by default that of the file.
    pub name: Option<String>,
    /// How large a file may be. No option of the command line.
    pub limits: ImportLimits,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            format: None,
            link_model: None,
            standard: None,
            data_rate: None,
            margin: Db(10.0),
            antenna: Db(20.0),
            longest: Meters(20_000.0),
            range: Meters(250.0),
            since: None,
            planned: false,
            untold: UnknownMedium::Drop,
            radio_only: false,
            largest: false,
            wire_rate: Rate::from_mbps(1000),
            tunnel_rate: Rate::from_mbps(50),
            flows: 0,
            gateways: Vec::new(),
            one_gateway: false,
            seed: 1,
            duration: Span::from_secs(60),
            name: None,
            limits: ImportLimits::default(),
        }
    }
}

/// The names of all options.
pub const IMPORT_OPTIONS: [&str; 21] = [
    "format",
    "link-model",
    "standard",
    "data-rate",
    "margin",
    "antenna",
    "longest",
    "range",
    "since",
    "planned",
    "untold",
    "radio-only",
    "largest",
    "wire-rate",
    "tunnel-rate",
    "flows",
    "gateway",
    "one-gateway",
    "seed",
    "duration",
    "name",
];

fn choice<T: Copy>(key: &str, text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        if let Some(problem) = not_modelled(text) {
            return format!("{key}: {problem}");
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let hint = hint(text, names.iter().copied());
        let expected = if hint.is_empty() { format!("; expected {}", one_of(&names)) } else { hint };
        format!("{key}: {}: no such choice{expected}", quoted(text))
    })
}

fn quantity<T: Quantity + PartialOrd>(
    key: &str,
    text: &str,
    range: &std::ops::RangeInclusive<T>,
) -> Result<T, String> {
    let value = T::parse(text).map_err(|e| format!("{key}: {}: {e}", quoted(text)))?;
    if range.contains(&value) {
        return Ok(value);
    }
    Err(format!("{key}: {}: out of range; expected {} to {}", quoted(text), range.start(), range.end()))
}

fn whole(key: &str, text: &str, most: u64) -> Result<u64, String> {
    let value = text.parse().ok().filter(|n| *n <= most);
    value.ok_or_else(|| format!("{key}: {}: expected a whole number, 0 to {most}", quoted(text)))
}

/// The beginning of an ISO 8601 date and time: `2020`, `2020-03-02`, `2020-03-02T14:30:05Z`.
fn date(key: &str, text: &str) -> Result<String, String> {
    let form = "0000-00-00T00:00:00";
    let fits = |(c, f): (char, char)| if f == '0' { c.is_ascii_digit() } else { c == f };
    let (begin, zone) = text.split_at_checked(text.len().min(form.len())).unwrap_or_default();
    let plain = zone.chars().all(|c| c.is_ascii_digit() || ".:+-Z".contains(c));
    if text.is_ascii() && text.len() >= 4 && plain && begin.chars().zip(form.chars()).all(fits) {
        return Ok(text.to_string());
    }
    let expected = "not the beginning of a date; expected one such as 2020-03-02 or 2020-03-02T14:30";
    Err(format!("{key}: {}: {expected}", quoted(text)))
}

impl ImportOptions {
    /// Sets an option from its text.
    ///
    /// # Errors
    /// The fault of the name or of the text.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let rates = Rate(1)..=Rate(1_000_000_000_000);
        match key {
            "format" => self.format = Some(choice(key, text, &Format::NAMES)?),
            "link-model" => self.link_model = Some(choice(key, text, &LINK_MODELS)?),
            "standard" => self.standard = Some(choice(key, text, &STANDARDS)?),
            "data-rate" => self.data_rate = Some(quantity(key, text, &rates)?),
            "margin" => self.margin = quantity(key, text, &(Db(0.0)..=Db(60.0)))?,
            "antenna" => self.antenna = quantity(key, text, &(Db(-20.0)..=Db(60.0)))?,
            "longest" => self.longest = quantity(key, text, &(Meters(1.0)..=Meters(300_000.0)))?,
            "range" => self.range = quantity(key, text, &(Meters(1.0)..=Meters(100_000.0)))?,
            "since" => self.since = Some(date(key, text)?),
            "planned" => self.planned = choice(key, text, &FLAGS)?,
            "untold" => self.untold = choice(key, text, &UNTOLD)?,
            "radio-only" => self.radio_only = choice(key, text, &FLAGS)?,
            "largest" => self.largest = choice(key, text, &FLAGS)?,
            "wire-rate" => self.wire_rate = quantity(key, text, &rates)?,
            "tunnel-rate" => self.tunnel_rate = quantity(key, text, &rates)?,
            "flows" => {
                let flows = whole(key, text, Limits::default().flows)?;
                self.flows = u32::try_from(flows).unwrap_or(u32::MAX);
            }
            "gateway" => match text {
                "auto" => self.gateways.clear(),
                id => self.gateways.push(id.to_string()),
            },
            "one-gateway" => self.one_gateway = choice(key, text, &FLAGS)?,
            "seed" => self.seed = whole(key, text, u64::MAX)?,
            "duration" => {
                self.duration = quantity(key, text, &(Span::from_millis(1)..=LONGEST))?;
            }
            "name" => match name_problem(text) {
                Some(problem) => return Err(format!("name: {}: {problem}", quoted(text))),
                None => self.name = Some(text.to_string()),
            },
            _ => return Err(format!("{}: no such option{}", quoted(key), hint(key, IMPORT_OPTIONS))),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_an_option() {
        for key in IMPORT_OPTIONS {
            let error = ImportOptions::default().set(key, "\u{7}").err();
            let free = key == "gateway";
            assert!(error.is_some_and(|e| e.starts_with(key)) != free, "{key}");
        }
    }

    #[test]
    fn errors_name_the_expected_values() {
        let error = |key: &str, text: &str| ImportOptions::default().set(key, text).unwrap_err();
        assert_eq!(error("fromat", "x"), "\"fromat\": no such option; did you mean \"format\"?");
        assert_eq!(
            error("link-model", "prob"),
            "link-model: \"prob\": no such choice; did you mean \"probe\"?"
        );
        assert_eq!(
            error("untold", "x"),
            "untold: \"x\": no such choice; expected \"drop\", \"radio\" or \"wire\""
        );
        assert_eq!(
            error("longest", "20"),
            "longest: \"20\": the unit is missing; expected a length such as \"367 m\" (m, km)"
        );
        assert_eq!(
            error("longest", "1000 km"),
            "longest: \"1000 km\": out of range; expected 1 m to 300000 m"
        );
        assert_eq!(
            error("since", "yesterday"),
            "since: \"yesterday\": not the beginning of a date; expected one such as 2020-03-02 or 2020-03-02T14:30"
        );
        assert!(ImportOptions::default().set("since", "2031").is_ok());
        assert_eq!(error("flows", "-1"), "flows: \"-1\": expected a whole number, 0 to 20000");
    }
}
