//! The flows of an ns-2 script: agents on nodes, connected in pairs, and the applications that send over them.
//!
//! TCP with FTP is a bulk transfer, UDP with CBR constant traffic; other applications are reported. ns-2's defaults hold where the script
//! sets nothing (`tcl/lib/ns-default.tcl`): CBR sends 210 B at 448 kbit/s, TCP's segments have 1000 B, and UDP splits packets of more than
//! 1000 B. Wherever an application stands in the file, `start` decides when it sends; one that is never started sends nothing. A pair of
//! TCP agents without an application is a transfer from the start, since ns-2's users often leave the application to another file.

use std::collections::{BTreeMap, BTreeSet};

use airfair_units::{Bytes, Rate, Span};

use super::draft::{Draft, FlowTraffic, ImportedFlow, name as shown};
use super::ns2::node_of;
use super::reason::Reason;
use super::report::count;
use super::tcl::{bracket, is_name, variable};
use crate::declare::field::LONGEST;
use crate::resolve::movement_file::moment;

/// ns-2's usual packet of CBR, B.
const CBR_PACKET: u64 = 210;
/// ns-2's usual rate of CBR, bit/s.
const CBR_RATE: f64 = 448_000.0;
/// ns-2's usual packet of UDP, to which larger ones are split, B.
const UDP_PACKET: u64 = 1000;
/// ns-2's usual segment of TCP, B.
const SEGMENT: u64 = 1000;
/// Segments that TCP can have, B.
const SEGMENTS: std::ops::RangeInclusive<u64> = 28..=65_495;
/// Settings that change the flow here.
const READ: [&str; 6] = ["packetSize_", "packet_size_", "rate_", "interval_", "random_", "maxpkts_"];

/// An object that a script has made: the variable that held it, and how many the variable had held before.
///
/// `set tcp [new Agent/TCP]` a second time makes another agent; the first one keeps what was said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Object<'a> {
    variable: &'a str,
    earlier: u32,
}

impl Object<'_> {
    /// The name of the object's flow: `ftp`, `ftp-2`, `ftp-3`.
    fn name(self) -> String {
        let Self { variable, earlier } = self;
        if earlier == 0 { variable.to_string() } else { format!("{variable}-{}", earlier + 1) }
    }
}

/// An agent: the end of a connection.
#[derive(Debug, Default)]
struct Agent<'a> {
    /// The class without `Agent/`.
    class: &'a str,
    node: Option<&'a str>,
    /// The node of the other end, where both ends are made at once.
    to: Option<&'a str>,
    line: usize,
}

impl Agent<'_> {
    fn receives(&self) -> bool {
        ["TCPSink", "Null", "LossMonitor"].iter().any(|class| self.class.starts_with(class))
    }

    fn is_tcp(&self) -> bool {
        self.class == "TCP" || self.class.starts_with("TCP/")
    }
}

/// An application.
#[derive(Debug, Default)]
struct Application<'a> {
    /// The class without `Application/`.
    class: &'a str,
    agent: Option<Object<'a>>,
    start: Option<Span>,
    stop: Option<Span>,
    /// A command that a scenario has no way to say.
    other: Option<&'a str>,
}

/// The commands about flows that were read so far.
#[derive(Debug, Default)]
pub(crate) struct Flows<'a> {
    /// Objects that each variable has held before the present one.
    earlier: BTreeMap<&'a str, u32>,
    agents: BTreeMap<Object<'a>, Agent<'a>>,
    applications: BTreeMap<Object<'a>, Application<'a>>,
    connections: Vec<(usize, Object<'a>, Object<'a>)>,
    settings: BTreeMap<(Object<'a>, &'a str), &'a str>,
}

impl<'a> Flows<'a> {
    /// The object that a variable holds now.
    fn object(&self, variable: &'a str) -> Object<'a> {
        Object { variable, earlier: self.earlier.get(variable).copied().unwrap_or(0) }
    }

    /// A new object for a variable.
    fn made(&mut self, variable: &'a str) -> Object<'a> {
        let now = self.object(variable);
        if self.agents.contains_key(&now) || self.applications.contains_key(&now) {
            *self.earlier.entry(variable).or_default() += 1;
        }
        self.object(variable)
    }

    /// The object of a word such as `$tcp`.
    fn held(&self, word: &'a str) -> Option<Object<'a>> {
        variable(word).map(|name| self.object(name))
    }

    /// Reads a command; `false` if it is not about a flow.
    ///
    /// # Errors
    /// If there are too many flows.
    pub fn command(&mut self, words: &[&'a str], line: usize, draft: &mut Draft<'_>) -> Result<bool, String> {
        match *words {
            ["set", name, value] if is_name(name) => {
                let made = bracket(value);
                match *made.as_slice() {
                    ["new", class] => {
                        if let Some(class) = class.strip_prefix("Agent/") {
                            let object = self.made(name);
                            self.agents.insert(object, Agent { class, line, ..Agent::default() });
                        } else if let Some(class) = class.strip_prefix("Application/") {
                            let object = self.made(name);
                            self.applications.insert(object, Application { class, ..Application::default() });
                        } else {
                            return Ok(false);
                        }
                    }
                    [_, "create-connection", class, from, _, to, ..] => {
                        draft.count("flows")?;
                        let (node, to) = (node_of(from), node_of(to));
                        let object = self.made(name);
                        self.agents.insert(object, Agent { class, node, to, line });
                    }
                    [agent, "attach-source" | "attach-app", class] => {
                        let agent = self.held(agent);
                        let object = self.made(name);
                        self.applications
                            .insert(object, Application { class, agent, ..Application::default() });
                    }
                    _ => return Ok(false),
                }
            }
            [_, "attach-agent", node, agent] => {
                let agent = self.held(agent).and_then(|object| self.agents.get_mut(&object));
                let (Some(agent), Some(node)) = (agent, node_of(node)) else { return Ok(false) };
                agent.node = Some(node);
            }
            [application, "attach-agent", agent] => {
                let agent = self.held(agent);
                let application =
                    self.held(application).and_then(|object| self.applications.get_mut(&object));
                let (Some(application), Some(agent)) = (application, agent) else {
                    return Ok(false);
                };
                application.agent = Some(agent);
            }
            [_, "connect", a, b] => {
                let (Some(a), Some(b)) = (self.held(a), self.held(b)) else { return Ok(false) };
                draft.count("flows")?;
                self.connections.push((line, a, b));
            }
            [of, "set", setting, value] => match self.held(of) {
                Some(of) if self.agents.contains_key(&of) || self.applications.contains_key(&of) => {
                    self.settings.insert((of, setting), value);
                }
                _ => return Ok(false),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a command at a moment; `false` if it is not about a flow.
    pub fn event(&mut self, at: &str, words: &[&'a str], line: usize, draft: &mut Draft<'_>) -> bool {
        let Some((&name, command)) = words.split_first() else { return false };
        let object = self.held(name);
        let Some(application) = object.and_then(|object| self.applications.get_mut(&object)) else {
            return false;
        };
        let &[command, ..] = command else { return false };
        let known = match command {
            "start" => &mut application.start,
            "stop" => &mut application.stop,
            other => {
                application.other = Some(other);
                return true;
            }
        };
        let when = at.parse().map_err(|_| format!("at {}: not a time", shown(at))).and_then(moment);
        let problem = match (when, &known) {
            (Ok(when), None) => {
                *known = Some(when);
                return true;
            }
            (Ok(_), Some(_)) => format!("a second {command}: only the first is read"),
            (Err(problem), _) => problem,
        };
        draft.reject(format!("line {line}"), Reason::Flow, format!("{}: {problem}", shown(name)));
        true
    }

    /// Puts the flows together.
    ///
    /// # Errors
    /// If there are too many.
    pub fn finish(self, draft: &mut Draft<'_>) -> Result<(), String> {
        let mut senders: BTreeMap<Object<'_>, Vec<Object<'_>>> = BTreeMap::new();
        for (&object, application) in &self.applications {
            match application.agent {
                Some(agent) => senders.entry(agent).or_default().push(object),
                None => draft.reject(record(object), Reason::Flow, "attached to no agent".to_string()),
            }
        }
        let made = self
            .agents
            .iter()
            .filter_map(|(object, agent)| Some((agent.line, *object, agent.node, agent.to?)));
        let made = made.map(|(line, object, from, to)| (line, object, from, Some(to)));
        let mut pairs: Vec<(usize, Object<'_>, Option<&str>, Option<&str>)> = made.collect();
        for &(line, a, b) in &self.connections {
            let receives = |object: Object<'_>| self.agents.get(&object).is_some_and(Agent::receives);
            let (a, b) = if receives(a) { (b, a) } else { (a, b) };
            let node = |object: Object<'_>| self.agents.get(&object).and_then(|agent| agent.node);
            pairs.push((line, a, node(a), node(b)));
        }
        pairs.sort_unstable();
        let (mut classes, mut alone) = (BTreeSet::new(), 0);
        for (_, agent, from, to) in pairs {
            let kind = self.agents.get(&agent);
            let (Some(kind), Some(from), Some(to)) = (kind, from, to) else {
                let detail = "an end of the connection is no agent, or on no node".to_string();
                draft.reject(record(agent), Reason::Flow, detail);
                continue;
            };
            let applications = senders.remove(&agent).unwrap_or_default();
            if applications.is_empty() && kind.is_tcp() {
                alone += 1;
                classes.insert(kind.class);
                let traffic = FlowTraffic::Bulk { segment: self.segment(agent) };
                add(agent, [from, to], traffic, (Span::ZERO, None), draft);
            } else if applications.is_empty() {
                let detail = format!("no application sends over the agent {}", shown(kind.class));
                draft.reject(record(agent), Reason::Flow, detail);
            }
            for name in applications {
                let Some(application) = self.applications.get(&name) else { continue };
                match self.traffic(agent, kind, name, application) {
                    Ok((traffic, when)) => {
                        if kind.is_tcp() {
                            classes.insert(kind.class);
                        }
                        add(name, [from, to], traffic, when, draft);
                    }
                    Err(detail) => draft.reject(record(name), Reason::Flow, detail),
                }
            }
        }
        for name in senders.into_values().flatten() {
            draft.reject(record(name), Reason::Flow, "its agent is connected to no other".to_string());
        }
        let assumed = &mut draft.found.assumed;
        if !classes.is_empty() {
            let classes: Vec<String> = classes.into_iter().map(shown).collect();
            let classes = classes.join(", ");
            assumed.push(format!(
                "ns-2's {classes} is tcp-newreno; `profile = \"ns-2\"` in [tcp] has ns-2's rules"
            ));
        }
        if alone > 0 {
            let agents = count(alone, "TCP agent");
            assumed.push(format!("{agents} without an application: a bulk transfer from 0 s"));
        }
        let unread: BTreeSet<&str> =
            self.settings.keys().map(|(_, setting)| *setting).filter(|s| !READ.contains(s)).collect();
        if !unread.is_empty() {
            let unread: Vec<String> = unread.into_iter().take(10).map(shown).collect();
            assumed.push(format!(
                "settings of agents and applications that are not read: {}",
                unread.join(", ")
            ));
        }
        Ok(())
    }

    fn setting(&self, of: Object<'_>, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.settings.get(&(of, *name)).copied())
    }

    fn size(&self, of: Object<'_>, usual: u64) -> Result<u64, String> {
        match self.setting(of, &["packetSize_", "packet_size_"]) {
            None => Ok(usual),
            Some(text) => {
                let size = text.parse::<f64>().ok().filter(|size| (1.0..=65_507.0).contains(size));
                size.map(|size| size as u64).ok_or_else(|| format!("packetSize_ {}", shown(text)))
            }
        }
    }

    fn segment(&self, agent: Object<'_>) -> Bytes {
        Bytes(self.size(agent, SEGMENT).unwrap_or(SEGMENT).clamp(*SEGMENTS.start(), *SEGMENTS.end()))
    }

    /// The traffic of an application, with its start and its end.
    fn traffic(
        &self,
        agent: Object<'_>,
        kind: &Agent<'_>,
        name: Object<'_>,
        application: &Application<'_>,
    ) -> Result<(FlowTraffic, (Span, Option<Span>)), String> {
        if let Some(other) = application.other {
            return Err(format!("`{}`: only start and stop are read", shown(other)));
        }
        let Some(start) = application.start else { return Err("never started".to_string()) };
        let mut stop = application.stop;
        let traffic = match (kind.is_tcp(), application.class) {
            (true, "FTP") => FlowTraffic::Bulk { segment: self.segment(agent) },
            (false, "Traffic/CBR") if kind.class.starts_with("UDP") => {
                let size = self.size(name, CBR_PACKET)?;
                let packet = size.min(self.size(agent, UDP_PACKET)?);
                let value = |setting: &str| self.settings.get(&(name, setting)).copied();
                let bad = |setting: &str, text: &str| format!("{setting} {}", shown(text));
                let interval =
                    value("interval_").map(|text| seconds(text).ok_or_else(|| bad("interval_", text)));
                let interval = interval.transpose()?;
                let rate = value("rate_").map(|text| bandwidth(text).ok_or_else(|| bad("rate_", text)));
                let rate = rate.transpose()?.unwrap_or(CBR_RATE);
                // As in ns-2, the interval has precedence.
                let interval = interval.unwrap_or(size as f64 * 8.0 / rate);
                let rate = (size as f64 * 8.0 / interval).round();
                if !(1.0..=1e12).contains(&rate) {
                    return Err(format!("{rate} bit/s; expected 1 to 1e12"));
                }
                if let Some(most) = value("maxpkts_").and_then(|text| text.parse::<f64>().ok()) {
                    let end = start.as_secs_f64() + most * interval;
                    let end = (end < LONGEST.as_secs_f64()).then(|| moment(end).ok()).flatten();
                    stop = stop.into_iter().chain(end).min();
                }
                let random = value("random_").is_some_and(|text| !["0", "false", "null"].contains(&text));
                FlowTraffic::Constant { rate: Rate(rate as u64), packet: Bytes(packet), random }
            }
            _ => {
                let (class, over) = (shown(application.class), shown(kind.class));
                return Err(format!("{class} over {over}: only FTP over TCP and CBR over UDP are read"));
            }
        };
        match stop {
            Some(stop) if stop <= start => Err(format!("stops at {stop}, not after its start at {start}")),
            _ => Ok((traffic, (start, stop))),
        }
    }
}

/// A flow as a report names it.
fn record(object: Object<'_>) -> String {
    format!("flow {}", shown(&object.name()))
}

fn add(
    object: Object<'_>,
    [from, to]: [&str; 2],
    traffic: FlowTraffic,
    (start, stop): (Span, Option<Span>),
    draft: &mut Draft<'_>,
) {
    let [id, from, to] = [object.name(), from.to_string(), to.to_string()];
    draft.found.flows.push(ImportedFlow { id, from, to, traffic, start, stop });
}

/// A time of ns-2, s: a number, in seconds, or with `ms`, `us` or `s`.
fn seconds(text: &str) -> Option<f64> {
    let units = [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("", 1.0)];
    let (digits, unit) = units.iter().find_map(|(end, unit)| Some((text.strip_suffix(end)?, unit)))?;
    digits.parse::<f64>().ok().map(|x| x * unit).filter(|x| *x > 0.0 && x.is_finite())
}

/// A bandwidth of ns-2, bit/s: a number with k, M or G, and with b for bits or B for bytes.
fn bandwidth(text: &str) -> Option<f64> {
    let (digits, bits) = match text.strip_suffix('B') {
        Some(digits) => (digits, 8.0),
        None => (text.strip_suffix('b').unwrap_or(text), 1.0),
    };
    let units = [("k", 1e3), ("K", 1e3), ("m", 1e6), ("M", 1e6), ("g", 1e9), ("G", 1e9), ("", 1.0)];
    let (digits, unit) = units.iter().find_map(|(end, unit)| Some((digits.strip_suffix(end)?, unit)))?;
    digits.parse::<f64>().ok().map(|x| x * unit * bits).filter(|x| *x > 0.0 && x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_and_times_have_ns2s_units() {
        for (text, bits) in [
            ("1.0Mb", Some(1e6)),
            ("448Kb", Some(448e3)),
            ("64k", Some(64e3)),
            ("0.1mb", Some(1e5)),
            ("2MB", Some(16e6)),
            ("9600", Some(9600.0)),
            ("0", None),
            ("fast", None),
            ("[expr 1]", None),
        ] {
            assert_eq!(bandwidth(text), bits, "{text}");
        }
        assert_eq!(seconds("0.25"), Some(0.25));
        assert_eq!(seconds("20ms"), Some(0.02));
        assert_eq!(seconds("NaN"), None);
    }
}
