//! Surveys of nl80211: the time that a radio spent on a channel, and for which of it the channel was busy.

use airfair_units::Span;

use super::attributes::{Attribute, Malformed, attributes};
use super::nl80211::attributes_of;
use super::numbers::{
    NL80211_ATTR_SURVEY_INFO, NL80211_CMD_NEW_SURVEY_RESULTS, NL80211_SURVEY_INFO_FREQUENCY,
    NL80211_SURVEY_INFO_IN_USE, NL80211_SURVEY_INFO_NOISE, NL80211_SURVEY_INFO_TIME,
    NL80211_SURVEY_INFO_TIME_BSS_RX, NL80211_SURVEY_INFO_TIME_BUSY, NL80211_SURVEY_INFO_TIME_EXT_BUSY,
    NL80211_SURVEY_INFO_TIME_RX, NL80211_SURVEY_INFO_TIME_SCAN, NL80211_SURVEY_INFO_TIME_TX,
};

/// Counters of one channel, from a start that the driver chooses (`enum nl80211_survey_info`). Each is none if the driver leaves it out.
///
/// Times have a resolution of 1 ms. They are as the driver gives them, which may be wrong: see [`super::counters`]. One of more than 584
/// years (a counter below zero, or one that the driver has not set) is `Span(u64::MAX)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Survey {
    /// Centre frequency of the channel of 20 MHz, in MHz.
    pub frequency_mhz: u32,
    /// True for the channel on which the interface is.
    pub in_use: bool,
    /// Noise, in dBm.
    pub noise_dbm: Option<i8>,
    /// Time on the channel.
    pub active: Option<Span>,
    /// Time for which the primary channel was sensed busy; it includes `receive` and `transmit`.
    pub busy: Option<Span>,
    /// Time for which the extension channel was sensed busy.
    pub ext_busy: Option<Span>,
    /// Time of receiving, from anyone.
    pub receive: Option<Span>,
    /// Time of receiving frames of the own BSS.
    pub receive_own: Option<Span>,
    /// Time of transmitting.
    pub transmit: Option<Span>,
    /// Time of scans.
    pub scan: Option<Span>,
}

impl Survey {
    /// A survey from the payload of a reply, which begins with the header of generic netlink. None for a message of another command, or for
    /// the sums over all channels, which have no frequency.
    ///
    /// # Errors
    /// The payload is malformed.
    pub fn decode(payload: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(all) = attributes_of(payload, NL80211_CMD_NEW_SURVEY_RESULTS)? else { return Ok(None) };
        let mut survey = None;
        for attribute in attributes(all) {
            let attribute = attribute?;
            if attribute.kind == NL80211_ATTR_SURVEY_INFO {
                survey = Self::of(&attribute)?;
            }
        }
        Ok(survey)
    }

    fn of(info: &Attribute<'_>) -> Result<Option<Self>, Malformed> {
        let mut survey = Self::default();
        let mut has_frequency = false;
        for attribute in info.nested() {
            let attribute = attribute?;
            let time = || attribute.milliseconds().map(Some);
            match attribute.kind {
                NL80211_SURVEY_INFO_FREQUENCY => {
                    survey.frequency_mhz = attribute.u32()?;
                    has_frequency = true;
                }
                NL80211_SURVEY_INFO_NOISE => survey.noise_dbm = Some(attribute.dbm()?),
                NL80211_SURVEY_INFO_IN_USE => survey.in_use = true,
                NL80211_SURVEY_INFO_TIME => survey.active = time()?,
                NL80211_SURVEY_INFO_TIME_BUSY => survey.busy = time()?,
                NL80211_SURVEY_INFO_TIME_EXT_BUSY => survey.ext_busy = time()?,
                NL80211_SURVEY_INFO_TIME_RX => survey.receive = time()?,
                NL80211_SURVEY_INFO_TIME_BSS_RX => survey.receive_own = time()?,
                NL80211_SURVEY_INFO_TIME_TX => survey.transmit = time()?,
                NL80211_SURVEY_INFO_TIME_SCAN => survey.scan = time()?,
                _ => {}
            }
        }
        Ok(has_frequency.then_some(survey))
    }
}
