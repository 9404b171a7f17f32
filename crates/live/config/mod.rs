//! The configuration file of a daemon.
//!
//! | table | keys |
//! |---|---|
//! | (top) | `scheme`, `node` |
//! | `[radio.DEVICE]` | `rate`, `overhead`, `access_point`, `load`, `attach`, `most_probability`, `least_share` |
//! | `[schemes.NAME]` | `preset` and the parameters of the scheme, as in a scenario file |
//! | `[messages]` | `keys`, `network`, `port`, `hello`: for schemes whose nodes speak with one another |
//! | `[status]` | `socket`, `metrics` |
//!
//! A key that is not known, a value that does not fit, a parameter out of its range: each is an error with file, line and key, and all of
//! them are found at once.

mod text;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use airfair_schemes::places::Probability;
use airfair_schemes::{PRESET_KEY, ParamValue, Params, Preset, SchemeEntry};
use airfair_units::{Rate, Span};

pub use text::{ConfigError, one_of};
use text::{Entry, Source, Table, suggestion};

use crate::kernel::Attachment;
use crate::messenger::PORT;

/// The schemes that a daemon carries, with the preset that it takes where none is named.
pub const SCHEMES: &[&str] = &["lbm", "nred", "airtime"];

/// The preset of a scheme for daemons.
pub const PRESET: &str = "live";

/// The largest probability of a scheme whose nodes speak with one another, unless the configuration says otherwise: with 0.05 NRED drops
/// one of ten packets at most. With 0.2 honest meshes fare no better, and lies cost more (docs/validation-lies.md).
pub const MOST_PROBABILITY: f64 = 0.05;

/// The least part of the time of the air that a link of an allocator has, unless the configuration says otherwise.
pub const LEAST_SHARE: f64 = 0.05;

/// Where a daemon answers questions about its state, unless its configuration says otherwise.
pub const SOCKET: &str = "/run/airfair/airfaird.sock";

/// A configuration that was read.
#[derive(Clone)]
pub struct Config {
    /// The name of the node, by which others number it; the host name by default.
    pub node: String,
    /// The scheme.
    pub scheme: &'static SchemeEntry,
    /// The preset of its parameters.
    pub preset: String,
    /// All of its parameters.
    pub params: Params,
    /// The radios by the names of their devices.
    pub radios: BTreeMap<String, RadioConfig>,
    /// Messages of neighbours; none if nothing is said of them.
    pub messages: Option<MessagesConfig>,
    /// The state for others.
    pub status: StatusConfig,
}

/// Messages of neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagesConfig {
    /// The file of keys.
    pub keys: PathBuf,
    /// The name of the network: nodes of others are strangers.
    pub network: String,
    /// The UDP port.
    pub port: u16,
    /// Interval of hellos.
    pub hello: Span,
}

/// A radio.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioConfig {
    /// The rate of its data frames.
    pub rate: Rate,
    /// The time that a packet takes on the air beside its own bits; none: as the standard has it for that rate.
    pub overhead: Option<Span>,
    /// True if the node is the access point of its cell.
    pub access_point: bool,
    /// Where its counters come from.
    pub load: LoadConfig,
    /// The attachment of the program in the kernel; none: as this kernel does it best.
    pub attach: Option<Attachment>,
    /// The largest probability that is carried out, whatever the law says: a neighbour with a key may lie to it.
    pub most_probability: Probability,
    /// The least part of the time of the air that a link has, whatever the law says: a neighbour with a key may lie to it.
    pub least_share: f64,
}

/// Where the counters of a radio come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadConfig {
    /// The kernel's counters of the device.
    Device,
    /// Those, and the driver's survey of the channel.
    Survey,
    /// The emulation in which the node is.
    Emulation,
    /// A file that another program writes.
    File(PathBuf),
}

/// The state for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusConfig {
    /// The socket at which `airfaird status` asks.
    pub socket: PathBuf,
    /// The address of the page for Prometheus, on this machine; none: no page.
    pub metrics: Option<SocketAddr>,
}

impl Config {
    /// Reads a configuration. `host`: the name of this machine.
    ///
    /// # Errors
    /// All errors of the text.
    pub fn parse(file: &str, text: &str, host: &str) -> Result<Self, Vec<ConfigError>> {
        let mut source = Source::new(file, text);
        let config = source.parse().and_then(|table| read(table, host, &mut source));
        match config {
            Some(config) => {
                let errors = source.into_errors();
                if errors.is_empty() { Ok(config) } else { Err(errors) }
            }
            None => Err(source.into_errors()),
        }
    }

    /// The scheme with its parameters, which were checked when they were read.
    ///
    /// # Errors
    /// Parameters that were changed since.
    pub fn build(&self) -> Result<Box<dyn airfair_schemes::Scheme>, String> {
        (self.scheme.build)(&self.params).map_err(|error| error.to_string())
    }
}

fn read(mut top: Table<'_>, host: &str, source: &mut Source<'_>) -> Option<Config> {
    let scheme = read_scheme(&mut top, source);
    let node = top.take("node").and_then(|entry| {
        let name = entry.text(source, "the name of this node")?;
        if name.is_empty() || name.len() > 64 {
            entry.error(source, "expected a name of 1 to 64 bytes".to_string());
        }
        Some(name)
    });
    let schemes = top.take("schemes").and_then(|entry| entry.table(source, "tables such as [schemes.lbm]"));
    let chosen = scheme.and_then(|entry| read_params(entry, schemes, source));
    // Cells are LBM's; a mesh node is no access point unless its file says so.
    let cell = scheme.is_some_and(|entry| entry.name == "lbm");
    let radio = top.take("radio");
    let none_written = radio.is_none();
    let radios = read_radios(radio, cell, source);
    let messages = match top.take("messages") {
        None => Some(None),
        Some(entry) => read_messages(entry, source).map(Some),
    };
    let status = read_status(top.take("status"), source);
    if none_written {
        source.error_at(top.start(), "radio", "no radio: expected a table such as [radio.wlan0]".to_string());
    }
    top.finish(source, std::iter::empty());
    let (preset, params) = chosen?;
    let node = node.unwrap_or_else(|| host.to_string());
    Some(Config {
        node,
        scheme: scheme?,
        preset,
        params,
        radios: radios?,
        messages: messages?,
        status: status?,
    })
}

fn read_scheme(top: &mut Table<'_>, source: &mut Source<'_>) -> Option<&'static SchemeEntry> {
    let Some(entry) = top.take("scheme") else {
        source.error_at(top.start(), "scheme", format!("missing: expected {}", one_of(SCHEMES)));
        return None;
    };
    let name = entry.text(source, &one_of(SCHEMES))?;
    if SCHEMES.contains(&name.as_str()) {
        return airfair_schemes::find(&name);
    }
    let problem = if airfair_schemes::find(&name).is_some() {
        format!("\"{name}\" runs in simulations and is not carried by a daemon; expected {}", one_of(SCHEMES))
    } else {
        format!("\"{name}\": no such scheme; expected {}{}", one_of(SCHEMES), suggestion(&name, SCHEMES))
    };
    entry.error(source, problem);
    None
}

/// The preset of a scheme's table, or that for daemons, and its parameters with those that are written.
fn read_params(
    scheme: &'static SchemeEntry,
    schemes: Option<Table<'_>>,
    source: &mut Source<'_>,
) -> Option<(String, Params)> {
    let mut preset = scheme.preset(PRESET).map_or(Preset::DEFAULT, |_| PRESET).to_string();
    let mut values = scheme.preset(&preset)?;
    let Some(mut schemes) = schemes else { return Some((preset, values)) };
    let own = schemes.take_any(scheme.name).and_then(|entry| entry.table(source, "a table"));
    let others = SCHEMES.iter().copied();
    schemes.finish(source, others);
    let Some(mut table) = own else { return Some((preset, values)) };
    if let Some(entry) = table.take(PRESET_KEY) {
        let names: Vec<&str> = scheme.preset_names().collect();
        let name = entry.text(source, &one_of(&names))?;
        if let Some(found) = scheme.preset(&name) {
            (preset, values) = (name, found);
        } else {
            entry.error(
                source,
                format!("\"{name}\": {} has no such preset; expected {}", scheme.name, one_of(&names)),
            );
        }
    }
    let start = table.start();
    for doc in scheme.params.iter() {
        let Some(entry) = table.take(doc.name) else { continue };
        if let Some(value) = read_value(doc, &entry, source) {
            values.0.insert(doc.name.to_string(), value);
        }
    }
    let (path, known) = (table.path_of(""), scheme.params.iter().map(|doc| doc.name));
    table.finish(source, known);
    if let Err(error) = (scheme.build)(&values) {
        source.error_at(start, &format!("{path}{}", error.name), error.problem);
    }
    Some((preset, values))
}

fn read_value(
    doc: &airfair_schemes::ParamDoc,
    entry: &Entry<'_>,
    source: &mut Source<'_>,
) -> Option<ParamValue> {
    let text = entry.plain(source, "a value")?;
    let value = doc.kind.parse(&text);
    let fits = value.map(|value| doc.check(value).map(|()| value));
    match fits {
        Some(Ok(value)) => Some(value),
        Some(Err(error)) => {
            entry.error(source, format!("{text}: {}", error.problem));
            None
        }
        None => {
            let problem = doc.check(doc.default).err().map_or_else(|| expected(doc), |error| error.problem);
            entry.error(source, format!("\"{text}\": {problem}"));
            None
        }
    }
}

/// The form of a parameter's values, by its default.
fn expected(doc: &airfair_schemes::ParamDoc) -> String {
    match doc.kind {
        airfair_schemes::ParamKind::Choice(words) => format!("expected {}", one_of(words)),
        _ => format!("expected a value such as {}", doc.default),
    }
}

fn read_radios(
    entry: Option<Entry<'_>>,
    cell: bool,
    source: &mut Source<'_>,
) -> Option<BTreeMap<String, RadioConfig>> {
    let mut radios = entry?.table(source, "tables such as [radio.wlan0]")?;
    let mut found = BTreeMap::new();
    if radios.keys().is_empty() {
        source.error_at(
            radios.start(),
            "radio",
            "no radio: expected a table such as [radio.wlan0]".to_string(),
        );
    }
    for device in radios.keys() {
        let Some(entry) = radios.take_any(&device) else { continue };
        if device.is_empty()
            || device.len() > 15
            || device.contains(['/', ' ', ':'])
            || device.starts_with('.')
        {
            entry.error(
                source,
                "not the name of a device: 1 to 15 characters without spaces, \"/\" and \":\"".to_string(),
            );
            continue;
        }
        let Some(table) = entry.table(source, "a table") else { continue };
        if let Some(radio) = read_radio(table, cell, source) {
            found.insert(device, radio);
        }
    }
    Some(found)
}

fn read_radio(mut table: Table<'_>, cell: bool, source: &mut Source<'_>) -> Option<RadioConfig> {
    let rate = table.take("rate");
    if rate.is_none() {
        let problem = "missing: expected the rate of data frames, such as \"54 Mbit/s\"".to_string();
        source.error_at(table.start(), &table.path_of("rate"), problem);
    }
    let rate = rate.and_then(|entry| {
        let rate = entry.quantity::<Rate>(source)?;
        if rate.as_bps() == 0 {
            entry.error(source, format!("{rate}: expected a rate above 0"));
            return None;
        }
        Some(rate)
    });
    let overhead = table.take("overhead").map_or(Some(None), |entry| {
        const LONGEST: Span = Span::from_millis(100);
        let overhead = entry.quantity::<Span>(source)?;
        if overhead <= LONGEST {
            return Some(Some(overhead));
        }
        entry.error(source, format!("{overhead}: expected a time up to {LONGEST}"));
        None
    });
    let access_point = table.take("access_point").map_or(Some(cell), |entry| entry.flag(source));
    let load = table.take("load").map_or(Some(LoadConfig::Device), |entry| read_load(&entry, source));
    let attach = match table.take("attach") {
        None => Some(None),
        Some(entry) => {
            let mut words = vec![("auto", None)];
            words.extend(Attachment::WORDS.map(|(word, attachment)| (word, Some(attachment))));
            entry.choice(source, &words)
        }
    };
    let usual = if cell { 1.0 } else { MOST_PROBABILITY };
    let most = table.take("most_probability").map_or(Some(usual), |entry| read_part(&entry, source));
    let least = table.take("least_share").map_or(Some(LEAST_SHARE), |entry| read_part(&entry, source));
    table.finish(source, std::iter::empty());
    let most_probability = Probability::new(most?);
    Some(RadioConfig {
        rate: rate?,
        overhead: overhead?,
        access_point: access_point?,
        load: load?,
        attach: attach?,
        most_probability,
        least_share: least?,
    })
}

fn read_part(entry: &Entry<'_>, source: &mut Source<'_>) -> Option<f64> {
    let part = entry.plain(source, "a number from 0 to 1")?.parse().ok();
    let part = part.filter(|part: &f64| (0.0..=1.0).contains(part));
    if part.is_none() {
        entry.error(source, "expected a number from 0 to 1".to_string());
    }
    part
}

fn read_load(entry: &Entry<'_>, source: &mut Source<'_>) -> Option<LoadConfig> {
    const WORDS: [&str; 3] = ["device", "survey", "emulation"];
    let text = entry.text(source, "a source of counters")?;
    match text.as_str() {
        "device" => Some(LoadConfig::Device),
        "survey" => Some(LoadConfig::Survey),
        "emulation" => Some(LoadConfig::Emulation),
        other => match other.strip_prefix("file:").filter(|path| path.starts_with('/')) {
            Some(path) => Some(LoadConfig::File(PathBuf::from(path))),
            None => {
                let hint = suggestion(other, &WORDS);
                entry.error(
                    source,
                    format!("\"{other}\": expected {}, or \"file:/PATH\"{hint}", one_of(&WORDS)),
                );
                None
            }
        },
    }
}

fn read_messages(entry: Entry<'_>, source: &mut Source<'_>) -> Option<MessagesConfig> {
    const SHORTEST: Span = Span::from_millis(500);
    const LONGEST: Span = Span::from_secs(60);
    let mut table = entry.table(source, "a table")?;
    let keys = table.take("keys");
    if keys.is_none() {
        let problem = "missing: expected the path of the file of keys".to_string();
        source.error_at(table.start(), &table.path_of("keys"), problem);
    }
    let keys = keys.and_then(|entry| {
        let path = PathBuf::from(entry.text(source, "the path of the file of keys")?);
        if path.is_absolute() {
            return Some(path);
        }
        entry.error(source, "expected a path that begins with \"/\"".to_string());
        None
    });
    let network = table.take("network").map_or(Some(String::new()), |entry| entry.text(source, "a name"));
    let port = table.take("port").map_or(Some(PORT), |entry| {
        let port = entry.plain(source, "a port")?.parse().ok().filter(|&port: &u16| port > 0);
        if port.is_none() {
            entry.error(source, "expected a port from 1 to 65535".to_string());
        }
        port
    });
    let hello = table.take("hello").map_or(Some(Span::from_secs(4)), |entry| {
        let hello = entry.quantity::<Span>(source)?;
        if (SHORTEST..=LONGEST).contains(&hello) {
            return Some(hello);
        }
        entry.error(source, format!("{hello}: expected a time from {SHORTEST} to {LONGEST}"));
        None
    });
    table.finish(source, std::iter::empty());
    Some(MessagesConfig { keys: keys?, network: network?, port: port?, hello: hello? })
}

fn read_status(entry: Option<Entry<'_>>, source: &mut Source<'_>) -> Option<StatusConfig> {
    let mut status = StatusConfig { socket: PathBuf::from(SOCKET), metrics: None };
    let Some(entry) = entry else { return Some(status) };
    let mut table = entry.table(source, "a table")?;
    if let Some(entry) = table.take("socket") {
        let path = PathBuf::from(entry.text(source, "the path of a socket")?);
        // The kernel's limit, less the byte that ends it.
        if path.is_absolute() && path.as_os_str().len() <= 107 {
            status.socket = path;
        } else {
            entry.error(source, "expected a path that begins with \"/\", of at most 107 bytes".to_string());
        }
    }
    if let Some(entry) = table.take("metrics") {
        let text = entry.text(source, "an address of this machine such as \"127.0.0.1:9850\"")?;
        match text.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => status.metrics = Some(address),
            Ok(_) => entry.error(
                source,
                format!("\"{text}\": expected an address of this machine only, such as \"127.0.0.1:9850\""),
            ),
            Err(_) => entry.error(
                source,
                format!("\"{text}\": expected an address and a port, such as \"127.0.0.1:9850\""),
            ),
        }
    }
    table.finish(source, std::iter::empty());
    Some(status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_units::Span;

    const TEN_LINES: &str = "scheme = \"lbm\"

[radio.wlan0]
rate = \"54 Mbit/s\"

[schemes.lbm]
interval = \"200 ms\"

[status]
metrics = \"127.0.0.1:9850\"
";

    #[test]
    fn ten_lines_are_enough() {
        let config = Config::parse("airfaird.toml", TEN_LINES, "ap").unwrap();
        assert_eq!((config.node.as_str(), config.scheme.name, config.preset.as_str()), ("ap", "lbm", PRESET));
        assert_eq!(config.params.0["interval"], ParamValue::Span(Span::from_millis(200)));
        let radio = &config.radios["wlan0"];
        assert_eq!((radio.rate, radio.access_point), (Rate::from_mbps(54), true));
        assert_eq!((&radio.load, radio.attach), (&LoadConfig::Device, None));
    }

    #[test]
    fn mistakes_are_named() {
        for (written, instead, expected) in [
            (
                "scheme = \"lbm\"",
                "scheme = \"lmb\"",
                "f:1: scheme: \"lmb\": no such scheme; expected \"lbm\", \"nred\" or \"airtime\"; did you mean \"lbm\"?",
            ),
            (
                "scheme = \"lbm\"",
                "scheme = \"more\"",
                "f:1: scheme: \"more\" runs in simulations and is not carried by a daemon; expected \"lbm\", \"nred\" or \"airtime\"",
            ),
            ("scheme = \"lbm\"", "", "f:1: scheme: missing: expected \"lbm\", \"nred\" or \"airtime\""),
            (
                "rate = \"54 Mbit/s\"",
                "rat = \"54 Mbit/s\"",
                "f:4: radio.wlan0.rat: no such key; did you mean \"rate\"?",
            ),
            ("rate = \"54 Mbit/s\"", "rate = 54", "f:4: radio.wlan0.rate: 54: expected a rate such as"),
            (
                "rate = \"54 Mbit/s\"",
                "rate = \"0 Mbit/s\"",
                "f:4: radio.wlan0.rate: 0 bit/s: expected a rate above 0",
            ),
            (
                "interval = \"200 ms\"",
                "interval = \"2 h\"",
                "f:7: schemes.lbm.interval: 2 h: expected a time from 1 ms to 3600 s",
            ),
            (
                "interval = \"200 ms\"",
                "intervall = \"2 s\"",
                "f:7: schemes.lbm.intervall: no such key; did you mean \"interval\"?",
            ),
            (
                "interval = \"200 ms\"",
                "adapt = 1",
                "f:7: schemes.lbm.adapt: \"1\": expected a value such as false",
            ),
            (
                "interval = \"200 ms\"",
                "preset = \"papr\"",
                "f:7: schemes.lbm.preset: \"papr\": lbm has no such preset; expected",
            ),
            (
                "127.0.0.1:9850",
                "0.0.0.0:9850",
                "f:10: status.metrics: \"0.0.0.0:9850\": expected an address of this machine only",
            ),
            (
                "[radio.wlan0]",
                "[radio.a-name-that-is-too-long]",
                "f:3: radio.a-name-that-is-too-long: not the name of a device",
            ),
            (
                "[radio.wlan0]",
                "[raido.wlan0]",
                "f:1: radio: no radio: expected a table such as [radio.wlan0]",
            ),
            ("[status]", "[status", "f:9: not TOML:"),
        ] {
            let text = TEN_LINES.replace(written, instead);
            let errors = Config::parse("f", &text, "ap").err().unwrap();
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert!(texts.iter().any(|text| text.starts_with(expected)), "{expected}\n{texts:#?}");
        }
    }
}
