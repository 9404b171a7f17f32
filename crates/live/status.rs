//! The state of a daemon: for people, as JSON, for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::marker::PacketCounts;
use crate::messages::Reason;
use crate::wrap::wrapped;

/// The version of the JSON form: it changes when a key is removed or gets another meaning.
pub const FORMAT: u32 = 1;

/// The attachment of a scheme that gives links rates: it chooses no packets.
pub const BY_RATES: &str = "htb";

/// The state of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of the program.
    pub version: String,
    /// The name of the node.
    pub node: String,
    /// The scheme.
    pub scheme: String,
    /// The preset of its parameters.
    pub preset: String,
    /// Seconds since the daemon has started.
    pub uptime_s: f64,
    /// Times at which the configuration was read again.
    pub reloads: u64,
    /// Messages of neighbours; none where the scheme needs none.
    pub messages: Option<MessagesState>,
    /// The radios, by the names of their devices.
    pub radios: Vec<RadioState>,
}

/// Messages of neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessagesState {
    /// Packets sent, hellos included.
    pub sent: u64,
    /// Packets that the kernel did not send.
    pub unsent: u64,
    /// Messages of the scheme received.
    pub received: u64,
    /// Packets that were not accepted, and events of the authentication, by name.
    pub authentication: BTreeMap<String, u64>,
}

/// A neighbour at a radio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeighbourState {
    /// The name of the node; empty until a hello has come.
    pub node: String,
    /// Seconds since its last authentic packet.
    pub heard_s: f64,
}

/// The state of a radio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RadioState {
    /// The name of the device.
    pub device: String,
    /// The place of the program in the kernel: "tcx" or "clsact", or "htb" of a scheme that gives links rates.
    pub attachment: String,
    /// True if the last setting holds; false: all packets pass.
    pub acts: bool,
    /// The reason for which it does not act; none while it does.
    pub reason: Option<String>,
    /// Samples of the counters that the scheme has had.
    pub samples: u64,
    /// Samples that it has not had because the counters could not be right.
    pub bad_samples: u64,
    /// Samples that it has not had because the counters could not be read.
    pub unread_samples: u64,
    /// Inner values of the scheme, by name. A value that is no number yet is not there.
    pub gauges: Vec<Gauge>,
    /// Neighbours whose hellos are heard.
    pub neighbours: Vec<NeighbourState>,
    /// Links to neighbours, of schemes that give links rates.
    #[serde(default)]
    pub links: Vec<LinkState>,
    /// Outgoing packets.
    pub outgoing: DirectionState,
    /// Incoming packets.
    pub incoming: DirectionState,
}

/// An inner value of the scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// The name.
    pub name: String,
    /// The value.
    pub value: f64,
}

/// The link to a neighbour, of a scheme that gives links rates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkState {
    /// The number of the neighbour.
    pub number: u32,
    /// The name of the neighbour; empty until a hello has come.
    pub node: String,
    /// The rate at which packets leave, bit/s, with the overhead of each; none: there is no limit.
    pub rate_bps: Option<u64>,
    /// Packets that wait.
    pub waiting: u32,
    /// Packets of IP that have arrived for it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those to which a rate has applied.
    pub limited: u64,
    /// Those that were dropped because too many waited.
    pub dropped: u64,
}

/// Packets of a radio in one direction, since the daemon has started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectionState {
    /// The probability that is set, 0 to 1.
    pub probability: f64,
    /// Packets of IP.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that could carry a mark.
    pub ecn_capable: u64,
    /// Those that came while a setting held.
    pub judged: u64,
    /// Those that were marked.
    pub marked: u64,
    /// Those that were dropped.
    pub dropped: u64,
}

impl DirectionState {
    /// The state of a direction with these counts.
    #[must_use]
    pub const fn new(probability: f64, counts: &PacketCounts) -> Self {
        let PacketCounts { packets, bytes, able, marked, dropped, judged } = *counts;
        Self { probability, packets, bytes, ecn_capable: able, judged, marked, dropped }
    }
}

impl State {
    /// The state as JSON, in one line.
    #[must_use]
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The state for a terminal of 80 columns.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let Self { version, node, scheme, preset, uptime_s, .. } = self;
        _ = writeln!(text, "airfaird {version}, node {node}: {scheme} ({preset}), for {uptime_s:.0} s");
        for radio in &self.radios {
            let acts = radio
                .reason
                .as_ref()
                .map_or_else(|| "acts".to_string(), |reason| format!("passes all: {reason}"));
            let first = format!("{} ({}): {acts}", radio.device, radio.attachment);
            _ = writeln!(text, "\n{}", wrapped(&first));
            let RadioState { samples, bad_samples, unread_samples, .. } = radio;
            _ = writeln!(text, "  samples {samples}, wrong {bad_samples}, not read {unread_samples}");
            let names: Vec<&str> = radio.neighbours.iter().map(|neighbour| neighbour.node.as_str()).collect();
            if !names.is_empty() {
                _ = writeln!(text, "  neighbours: {}", names.join(", "));
            }
            let gauges: Vec<String> =
                radio.gauges.iter().map(|gauge| format!("{} {:.4}", gauge.name, gauge.value)).collect();
            if !gauges.is_empty() {
                _ = writeln!(text, "  {}", gauges.join(", "));
            }
            for link in &radio.links {
                let LinkState { node, rate_bps, waiting, packets, dropped, .. } = link;
                let rate = rate_bps
                    .map_or_else(|| "no limit".to_string(), |rate| airfair_units::Rate(rate).to_string());
                _ = writeln!(
                    text,
                    "  to {node}: {rate}, packets {packets}, waiting {waiting}, dropped {dropped}"
                );
            }
            if radio.attachment == BY_RATES {
                continue;
            }
            for (name, of) in [("outgoing", &radio.outgoing), ("incoming", &radio.incoming)] {
                let DirectionState { probability, packets, ecn_capable, marked, dropped, .. } = of;
                _ = writeln!(
                    text,
                    "  {name}: p {probability:.4}, packets {packets}, with ECN {ecn_capable}, marked {marked}, dropped {dropped}"
                );
            }
        }
        if let Some(MessagesState { sent, unsent, received, authentication }) = &self.messages {
            let refused =
                [Reason::Malformed, Reason::Version, Reason::UnknownKey, Reason::BadMac, Reason::Replay];
            let refused: u64 = refused.iter().filter_map(|reason| authentication.get(reason.name())).sum();
            _ = writeln!(
                text,
                "\nmessages: sent {sent}, not sent {unsent}, received {received}, refused {refused}"
            );
        }
        text
    }

    /// The state as a NetJSON object of type `NetworkGraph`: this node and those that it hears.
    #[must_use]
    pub fn netjson(&self) -> String {
        let heard =
            || self.radios.iter().flat_map(|radio| radio.neighbours.iter().map(move |of| (radio, of)));
        let mut names: Vec<&str> =
            heard().map(|(_, of)| of.node.as_str()).chain([self.node.as_str()]).collect();
        names.sort_unstable();
        names.dedup();
        let nodes: Vec<_> = names.iter().map(|name| serde_json::json!({ "id": name })).collect();
        let links: Vec<_> = heard()
            .map(|(radio, of)| {
                let properties = serde_json::json!({ "device": radio.device, "heard_s": of.heard_s });
                serde_json::json!({ "source": of.node, "target": self.node, "cost": 1.0, "properties": properties })
            })
            .collect();
        let graph = serde_json::json!({
            "type": "NetworkGraph",
            "protocol": "airfair",
            "version": self.version,
            "revision": null,
            "metric": null,
            "router_id": self.node,
            "nodes": nodes,
            "links": links,
        });
        format!("{graph}\n")
    }

    /// The state in Prometheus' text format.
    #[must_use]
    pub fn metrics(&self) -> String {
        let mut page = Page::default();
        let info = format!(
            "version=\"{}\",node=\"{}\",scheme=\"{}\"",
            label(&self.version),
            label(&self.node),
            label(&self.scheme)
        );
        page.metric("info", "gauge", "The daemon, its node and its scheme.", [(info, 1.0)].into());
        page.metric(
            "uptime_seconds",
            "gauge",
            "Time since the daemon has started.",
            [(String::new(), self.uptime_s)].into(),
        );
        let by_radio = |value: &dyn Fn(&RadioState) -> f64| {
            self.radios.iter().map(|radio| (device(radio), value(radio))).collect::<Vec<_>>()
        };
        page.metric(
            "acts",
            "gauge",
            "1 if the last setting holds, 0 if all packets pass.",
            by_radio(&|radio| f64::from(u8::from(radio.acts))),
        );
        page.metric(
            "samples_total",
            "counter",
            "Samples of the counters that the scheme has had.",
            by_radio(&|radio| radio.samples as f64),
        );
        page.metric(
            "bad_samples_total",
            "counter",
            "Samples whose counters could not be right.",
            by_radio(&|radio| radio.bad_samples as f64),
        );
        page.metric(
            "unread_samples_total",
            "counter",
            "Samples whose counters could not be read.",
            by_radio(&|radio| radio.unread_samples as f64),
        );
        let gauges = self.radios.iter().flat_map(|radio| {
            radio
                .gauges
                .iter()
                .map(|gauge| (format!("{},name=\"{}\"", device(radio), label(&gauge.name)), gauge.value))
        });
        page.metric("scheme_value", "gauge", "Inner values of the scheme.", gauges.collect());
        let by_direction = |value: &dyn Fn(&DirectionState) -> f64| {
            let both = self.radios.iter().flat_map(|radio| {
                [("outgoing", &radio.outgoing), ("incoming", &radio.incoming)]
                    .map(|(name, of)| (format!("{},direction=\"{name}\"", device(radio)), value(of)))
            });
            both.collect::<Vec<_>>()
        };
        page.metric(
            "neighbours",
            "gauge",
            "Neighbours whose hellos are heard.",
            by_radio(&|radio| radio.neighbours.len() as f64),
        );
        let by_link = |value: &dyn Fn(&LinkState) -> Option<f64>| {
            let all = self.radios.iter().flat_map(|radio| {
                radio.links.iter().filter_map(|link| {
                    Some((format!("{},neighbour=\"{}\"", device(radio), label(&link.node)), value(link)?))
                })
            });
            all.collect::<Vec<_>>()
        };
        if self.radios.iter().any(|radio| !radio.links.is_empty()) {
            page.metric(
                "link_rate_bits_per_second",
                "gauge",
                "Rate at which packets to a neighbour leave; missing where there is no limit.",
                by_link(&|link| link.rate_bps.map(|rate| rate as f64)),
            );
            page.metric(
                "link_waiting_packets",
                "gauge",
                "Packets that wait for a neighbour.",
                by_link(&|link| Some(f64::from(link.waiting))),
            );
            page.metric(
                "link_bytes_total",
                "counter",
                "Bytes of packets of IP that have arrived for a neighbour.",
                by_link(&|link| Some(link.bytes as f64)),
            );
            page.metric(
                "link_dropped_packets_total",
                "counter",
                "Packets that were dropped because too many waited for a neighbour.",
                by_link(&|link| Some(link.dropped as f64)),
            );
        }
        if let Some(messages) = &self.messages {
            page.metric(
                "messages_sent_total",
                "counter",
                "Packets sent, hellos included.",
                [(String::new(), messages.sent as f64)].into(),
            );
            page.metric(
                "messages_unsent_total",
                "counter",
                "Packets that the kernel did not send.",
                [(String::new(), messages.unsent as f64)].into(),
            );
            page.metric(
                "messages_received_total",
                "counter",
                "Messages of the scheme received.",
                [(String::new(), messages.received as f64)].into(),
            );
            let events = messages
                .authentication
                .iter()
                .map(|(name, &count)| (format!("event=\"{}\"", label(name)), count as f64));
            page.metric(
                "authentication_total",
                "counter",
                "Events of the authentication of messages.",
                events.collect(),
            );
        }
        page.metric(
            "probability",
            "gauge",
            "Probability of a mark or a drop.",
            by_direction(&|of| of.probability),
        );
        page.metric("packets_total", "counter", "Packets of IP.", by_direction(&|of| of.packets as f64));
        page.metric("bytes_total", "counter", "Bytes of packets of IP.", by_direction(&|of| of.bytes as f64));
        page.metric(
            "ecn_capable_packets_total",
            "counter",
            "Packets that could carry a mark.",
            by_direction(&|of| of.ecn_capable as f64),
        );
        page.metric(
            "judged_packets_total",
            "counter",
            "Packets while a setting held.",
            by_direction(&|of| of.judged as f64),
        );
        page.metric(
            "marked_packets_total",
            "counter",
            "Packets that were marked.",
            by_direction(&|of| of.marked as f64),
        );
        page.metric(
            "dropped_packets_total",
            "counter",
            "Packets that were dropped.",
            by_direction(&|of| of.dropped as f64),
        );
        page.0
    }
}

fn device(radio: &RadioState) -> String {
    format!("device=\"{}\"", label(&radio.device))
}

/// A value of a label, in which three characters are escaped.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn metric(&mut self, name: &str, kind: &str, help: &str, values: Vec<(String, f64)>) {
        let page = &mut self.0;
        _ = writeln!(page, "# HELP airfaird_{name} {help}\n# TYPE airfaird_{name} {kind}");
        for (labels, value) in values {
            let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
            _ = writeln!(page, "airfaird_{name}{labels} {value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A radio of the allocator that does not act yet: a reason that is long, no neighbour, and no probabilities, which it has none of.
    #[test]
    fn a_terminal_shows_what_a_scheme_has() {
        let radio = RadioState {
            device: "wl0".to_string(),
            attachment: BY_RATES.to_string(),
            acts: false,
            reason: Some(
                "this kernel has no nl80211: no driver of a wireless interface is loaded".to_string(),
            ),
            samples: 0,
            bad_samples: 0,
            unread_samples: 2,
            gauges: Vec::new(),
            neighbours: Vec::new(),
            links: Vec::new(),
            outgoing: DirectionState::new(0.0, &PacketCounts::default()),
            incoming: DirectionState::new(0.0, &PacketCounts::default()),
        };
        let state = State {
            format: FORMAT,
            version: "1".to_string(),
            node: "north".to_string(),
            scheme: "airtime".to_string(),
            preset: "default".to_string(),
            uptime_s: 2.0,
            reloads: 0,
            messages: None,
            radios: vec![radio],
        };
        let expected = "airfaird 1, node north: airtime (default), for 2 s\n\n\
            wl0 (htb): passes all: this kernel has no nl80211: no driver of a wireless\n  interface is loaded\n  \
            samples 0, wrong 0, not read 2\n";
        assert_eq!(state.text(), expected);
    }
}
