//! The driver's survey of the channel, beside the kernel's counters of the device.
//!
//! A survey has no times of the radio's states but four totals. Of a difference between two surveys, where it can be right, the time of
//! transmission and of reception are the driver's, the rest of the busy time is a carrier that is no frame, and the rest of the active time
//! is idle. The time of frames for the node itself, which a driver does not count, is that of the received bytes at the radio's rate, an
//! estimate that lacks headers; no driver's NAV is known.

use airfair_host::InterfaceCounters;
use airfair_schemes::places::{Airtime, Capability};
use airfair_units::{Bytes, Rate, Span, Time};

use super::{DeviceCounters, Fault, LoadSource};
use crate::netlink::{Nl80211, Reading, SurveyDifference, SurveyGuard, Verdict};

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
        }
    }

    fn difference(&mut self, now: Time) -> Result<Option<SurveyDifference>, Fault> {
        let unread = |error: crate::netlink::Error| Fault::Unread(error.to_string());
        let mut nl80211 = match self.nl80211.take() {
            Some(nl80211) => nl80211,
            None => Nl80211::open().map_err(unread)?,
        };
        let surveys = nl80211.surveys(&self.device).map_err(unread)?;
        self.nl80211 = Some(nl80211);
        match self.guard.read(now, &surveys) {
            Reading::Pending => Ok(None),
            Reading::Good(difference) => Ok(Some(difference)),
            Reading::Bad(fault) => Err(Fault::Wrong(match self.guard.verdict() {
                verdict @ Verdict::Unusable { .. } => verdict.to_string(),
                _ => format!("the driver's survey: {fault}"),
            })),
        }
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
    fn read(&mut self, now: Time) -> Result<Option<InterfaceCounters>, Fault> {
        let Some(difference) = self.difference(now)? else { return Ok(None) };
        add(&mut self.sum, &difference);
        self.length.0 += difference.elapsed.0;
        let link = self.counters.link()?;
        Ok(Some(InterfaceCounters {
            at: Time(self.length.0),
            airtime: Some(self.sum),
            receive_own: self.rate.time_for(Bytes(link.received_bytes)),
            retries: 0,
            traffic: link.sent_packets.saturating_add(link.received_packets),
            link,
        }))
    }

    fn offers(&self) -> (&'static [Capability], &'static [Capability]) {
        (&[Capability::Samples, Capability::LinkUse], &[Capability::Airtime])
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
}
