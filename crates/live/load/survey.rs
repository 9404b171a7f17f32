//! The driver's survey of the channel, beside the kernel's counters of the device.
//!
//! A survey has no times of the radio's states but four totals. Of a difference between two surveys, where it can be right, the time of
//! transmission and of reception are the driver's, the rest of the busy time is a carrier that is no frame, and the rest of the active time
//! is idle. Counters of links are those of the driver's stations: packets that it has sent less those that failed, and one frame more for
//! each retry. The time of frames for the node itself, which a driver does not count, is that of the received bytes at the radio's rate, an
//! estimate that lacks headers; no driver's NAV is known.

use std::collections::BTreeMap;

use airfair_host::{InterfaceCounters, LinkCounters};
use airfair_schemes::places::{Airtime, Capability};
use airfair_units::{Bytes, Rate, Span, Time};

use super::{Counters, DeviceCounters, Fault, LinkReading, LoadSource};
use crate::netlink::counters::{BAD_READINGS, Fault as SurveyFault};
use crate::netlink::{Nl80211, Reading, Station, SurveyDifference, SurveyGuard, Verdict};
use crate::shaping::MacAddress;

/// Surveys of a device of a driver, and the kernel's counters of the device.
#[derive(Debug)]
pub struct SurveyCounters {
    device: String,
    rate: Rate,
    counters: DeviceCounters,
    nl80211: Option<Nl80211>,
    guard: SurveyGuard,
    /// The sum of all differences that could be right, and their length.
    sum: Airtime,
    length: Span,
    /// The counters of links that were read last.
    links: Vec<LinkReading>,
    stations: Stations,
}

/// The stations that were read last.
#[derive(Debug, Default)]
struct Stations(BTreeMap<MacAddress, Counted>);

/// Packets of a station and their bytes, those that failed included, and those without: sums.
#[derive(Debug, Clone, Copy)]
struct Counted {
    all: u64,
    sent: u64,
    all_bytes: u64,
    bytes: u64,
}

/// The part of the bytes of all packets that those which were sent have, if they are like the others.
fn part(bytes: u64, sent: u64, all: u64) -> u64 {
    let bytes = (u128::from(bytes) * u128::from(sent)).checked_div(u128::from(all)).unwrap_or(0);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Stations {
    /// The counters of stations as those of links; none of one of which the driver counts no packets.
    fn links(&mut self, stations: &[Station], now: Time) -> Vec<LinkReading> {
        let mut counted = BTreeMap::new();
        let links = stations.iter().take(MOST_LINKS).filter_map(|station| {
            let (of, link) = link(station, self.0.get(&station.mac), now)?;
            counted.insert(station.mac, of);
            Some(link)
        });
        let links = links.collect();
        self.0 = counted;
        links
    }
}

/// Most stations whose counters are kept.
const MOST_LINKS: usize = 256;

/// Bytes of the header of a data frame with its class, and of the header that names the protocol (LLC and SNAP).
const HEADERS: u64 = 26 + 8;

/// The counters of a station as those of a link, and what was counted; none if the driver counts no packets.
fn link(station: &Station, earlier: Option<&Counted>, now: Time) -> Option<(Counted, LinkReading)> {
    let all = station.sent_packets?;
    let given_up = station.failed.unwrap_or(0).min(all);
    let sent = all - given_up;
    let all_bytes = station.sent_bytes.unwrap_or(0).saturating_sub(all.saturating_mul(HEADERS));
    // By differences: the part of the whole steps back where small packets fail.
    let since = earlier.and_then(|of| {
        let more =
            part(all_bytes.checked_sub(of.all_bytes)?, sent.checked_sub(of.sent)?, all.checked_sub(of.all)?);
        Some(of.bytes.saturating_add(more))
    });
    let bytes = since.unwrap_or_else(|| part(all_bytes, sent, all));
    let attempts = all.saturating_add(station.retries.unwrap_or(0));
    let counters = LinkCounters { at: now, sent, given_up, attempts, bytes };
    let link = LinkReading { to: station.mac, counters, rate: station.tx_bitrate };
    Some((Counted { all, sent, all_bytes, bytes }, link))
}

impl SurveyCounters {
    /// Those of a device of this process's network namespace. `rate`: of data frames.
    #[must_use]
    pub fn new(device: &str, rate: Rate) -> Self {
        Self {
            device: device.to_string(),
            rate,
            counters: DeviceCounters::new(device),
            nl80211: None,
            guard: SurveyGuard::default(),
            sum: Airtime::default(),
            length: Span::ZERO,
            links: Vec::new(),
            stations: Stations::default(),
        }
    }

    fn difference(&mut self, now: Time) -> Result<Option<SurveyDifference>, Fault> {
        let unread = |error: crate::netlink::Error| Fault::Unread(error.to_string());
        let mut nl80211 = match self.nl80211.take() {
            Some(nl80211) => nl80211,
            None => Nl80211::open().map_err(unread)?,
        };
        let surveys = nl80211.surveys(&self.device).map_err(unread)?;
        // A driver without statistics of stations has no links.
        let stations = nl80211.stations(&self.device).unwrap_or_default();
        self.links = self.stations.links(&stations, now);
        self.nl80211 = Some(nl80211);
        match self.guard.read(now, &surveys) {
            Reading::Pending => Ok(None),
            Reading::Good(difference) => Ok(Some(difference)),
            Reading::Bad(fault) => Err(Fault::Wrong(reason(fault, self.guard.verdict()))),
        }
    }
}

/// The reason for which a reading is bad. It does not count readings: that would be another reason each time, with a line in the log.
fn reason(fault: SurveyFault, verdict: Verdict) -> String {
    match verdict {
        Verdict::Unusable { is_mixed, .. } => {
            Verdict::Unusable { fault, readings: BAD_READINGS, is_mixed }.to_string()
        }
        _ => format!("the driver's survey: {fault}"),
    }
}

/// Adds a difference to the sums. What a driver leaves out is idle, or a carrier.
fn add(sum: &mut Airtime, difference: &SurveyDifference) {
    let or_none = |time: Option<Span>| time.unwrap_or(Span::ZERO).0;
    let (transmit, receive) = (or_none(difference.transmit), or_none(difference.receive));
    let busy = difference.busy.0;
    sum.transmit.0 += transmit;
    sum.receive.0 += receive;
    sum.busy.0 += busy.saturating_sub(transmit.saturating_add(receive));
    sum.idle.0 += difference.active.0.saturating_sub(busy.max(transmit.saturating_add(receive)));
}

impl LoadSource for SurveyCounters {
    fn read(&mut self, now: Time) -> Result<Option<Counters>, Fault> {
        let Some(difference) = self.difference(now)? else { return Ok(None) };
        add(&mut self.sum, &difference);
        self.length.0 += difference.elapsed.0;
        let link = self.counters.link()?;
        let interface = InterfaceCounters {
            at: Time(self.length.0),
            airtime: Some(self.sum),
            receive_own: self.rate.time_for(Bytes(link.received_bytes)),
            retries: 0,
            traffic: link.sent_packets.saturating_add(link.received_packets),
            link,
        };
        Ok(Some(Counters { interface, links: self.links.clone() }))
    }

    fn offers(&self) -> (&'static [Capability], &'static [Capability]) {
        (&[Capability::Samples, Capability::LinkUse], &[Capability::Airtime, Capability::Links])
    }

    fn words(&self) -> String {
        format!("the driver's survey of {}", self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second in which the radio was active for 0.98 s, busy for 0.5, sending for 0.2, receiving for 0.1.
    #[test]
    fn a_survey_becomes_times_of_states() {
        let ms = Span::from_millis;
        let difference = SurveyDifference {
            elapsed: ms(1000),
            frequency_mhz: 5180,
            noise_dbm: None,
            active: ms(980),
            busy: ms(500),
            receive: Some(ms(100)),
            receive_own: None,
            transmit: Some(ms(200)),
        };
        let mut sum = Airtime::default();
        add(&mut sum, &difference);
        let expected =
            Airtime { transmit: ms(200), receive: ms(100), busy: ms(200), nav: ms(0), idle: ms(480) };
        assert_eq!(sum, expected);
        // A driver that has no times of frames.
        add(&mut sum, &SurveyDifference { receive: None, transmit: None, ..difference });
        assert_eq!((sum.busy, sum.idle), (ms(700), ms(960)));
    }

    /// The log has a line for each new reason.
    #[test]
    fn a_survey_that_stays_bad_has_one_reason() {
        let mut guard = SurveyGuard::default();
        let mut reasons = std::collections::BTreeSet::new();
        for second in 0..100 {
            let Reading::Bad(fault) = guard.read(Time(second * 1_000_000_000), &[]) else { panic!() };
            reasons.insert(reason(fault, guard.verdict()));
        }
        let expected = [
            "the driver's survey: no channel was in use",
            "this driver's survey counters are unusable: no channel was in use for 10 readings",
        ];
        assert!(reasons.iter().eq(expected), "{reasons:?}");
    }

    /// Ten packets of 1000 bytes, of which two failed after seven frames each.
    #[test]
    fn a_station_becomes_a_link() {
        let station = Station {
            mac: [2, 0, 0, 0, 0, 7],
            sent_packets: Some(10),
            sent_bytes: Some(10_340),
            retries: Some(12),
            failed: Some(2),
            tx_bitrate: Some(Rate::from_mbps(24)),
            ..Station::default()
        };
        let mut stations = Stations::default();
        let found = stations.links(std::slice::from_ref(&station), Time(5))[0];
        let counters = LinkCounters { at: Time(5), sent: 8, given_up: 2, attempts: 22, bytes: 8000 };
        assert_eq!(found, LinkReading { to: station.mac, counters, rate: station.tx_bitrate });
        // Ten small packets more, of which six have failed: the part of the whole would be 6300 bytes.
        let more = Station { sent_packets: Some(20), sent_bytes: Some(11_180), failed: Some(8), ..station };
        let found = stations.links(&[more], Time(6))[0];
        assert_eq!((found.counters.sent, found.counters.bytes), (12, 8200));
        assert_eq!(stations.links(&[Station::default()], Time(7)), []);
    }
}
