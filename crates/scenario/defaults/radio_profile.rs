//! Profiles of a radio: the rules of the standard that other simulators read differently. All are defaults; a key that the file
//! writes overrides them.

use airfair_sim::spec::{AfterTimeout, Eifs, Interference, LocalLimit, LockOn, ResponseTimeout};
use airfair_units::{Db, Span};

use crate::declare::choice::Profile;
use crate::declare::field::{Field, Off, Or};

/// The defaults that a profile decides.
pub(crate) struct Switches {
    pub lock_on: LockOn,
    pub short_retry_limit: u32,
    pub preamble_detection: Span,
    pub interference: Interference,
    pub capture: Db,
    pub eifs: Eifs,
    pub eifs_on_energy: bool,
    pub nav_reset: bool,
    pub cts_needs_idle_nav: bool,
    pub cts_needs_idle_carrier: bool,
    pub eifs_as_nav: bool,
    pub immediate_access: bool,
    pub after_timeout: AfterTimeout,
    pub response_timeout: ResponseTimeout,
    pub backpressure: bool,
    pub local_limit: LocalLimit,
    /// `None`: by the length of the slot.
    pub sensing_delay: Option<Span>,
    /// Signals that are too weak to sense are left out: `cutoff` is `energy_detect` instead of far below the noise.
    pub cutoff_at_energy_detect: bool,
}

/// 802.11-2016, and a host that behaves as Linux does.
const STANDARD: Switches = Switches {
    lock_on: LockOn::Preamble,
    short_retry_limit: 7,
    preamble_detection: Span::from_micros(4),
    interference: Interference::Sum,
    capture: Db(10.0),
    eifs: Eifs::LowestRate,
    eifs_on_energy: false,
    nav_reset: true,
    cts_needs_idle_nav: true,
    cts_needs_idle_carrier: false,
    eifs_as_nav: false,
    immediate_access: true,
    after_timeout: AfterTimeout::Difs,
    response_timeout: ResponseTimeout::PhyStart,
    backpressure: true,
    local_limit: Some(Span::from_millis(8)),
    sensing_delay: None,
    cutoff_at_energy_detect: false,
};

/// ns-2.35, `mac/mac-802_11.cc` and `mac/wireless-phy.cc`.
const NS2: Switches = Switches {
    lock_on: LockOn::Energy,
    preamble_detection: Span::ZERO,
    interference: Interference::Strongest,
    eifs_on_energy: true,
    nav_reset: false,
    cts_needs_idle_carrier: true,
    eifs_as_nav: true,
    immediate_access: false,
    response_timeout: ResponseTimeout::WholeResponse,
    backpressure: false,
    local_limit: None,
    sensing_delay: Some(Span::ZERO),
    cutoff_at_energy_detect: true,
    ..STANDARD
};

/// ns-3.37, `src/wifi/model`.
const NS3: Switches = Switches {
    // An RTS is repeated without end; a full queue drops packets.
    short_retry_limit: 1_000_000,
    backpressure: false,
    local_limit: None,
    eifs: Eifs::ResponseRate,
    // What its detection of preambles asks for; afterwards error rates decide.
    capture: Db(4.0),
    sensing_delay: Some(Span::from_micros(4)),
    cutoff_at_energy_detect: true,
    ..STANDARD
};

/// The rules of a profile.
pub(crate) fn switches(profile: Profile) -> &'static Switches {
    match profile {
        Profile::Standard => &STANDARD,
        Profile::Ns2 => &NS2,
        Profile::Ns3 => &NS3,
    }
}

/// The default of a switch in words: `"preamble" (ns-2: "energy")`.
pub(crate) fn describe(key: &str) -> String {
    let value = |profile| {
        let s = switches(profile);
        match key {
            "lock_on" => s.lock_on.write(),
            "short_retry_limit" => s.short_retry_limit.write(),
            "preamble_detection" => s.preamble_detection.write(),
            "cts_needs_idle_carrier" => s.cts_needs_idle_carrier.write(),
            "eifs_as_nav" => s.eifs_as_nav.write(),
            "interference" => s.interference.write(),
            "capture" => s.capture.write(),
            "eifs" => s.eifs.write(),
            "eifs_on_energy" => s.eifs_on_energy.write(),
            "sensing_delay" => s
                .sensing_delay
                .map_or("15 us with slots of 20 us, 6 us with slots of 9 us".to_string(), |d| d.write()),
            "nav_reset" => s.nav_reset.write(),
            "cts_needs_idle_nav" => s.cts_needs_idle_nav.write(),
            "immediate_access" => s.immediate_access.write(),
            "after_timeout" => s.after_timeout.write(),
            "response_timeout" => s.response_timeout.write(),
            "backpressure" => s.backpressure.write(),
            "local_limit" => Or::<Off, Span>::maybe(s.local_limit).write(),
            "cutoff" if s.cutoff_at_energy_detect => "energy_detect".to_string(),
            "cutoff" => "10 dB below noise, at most energy_detect".to_string(),
            _ => String::new(),
        }
    };
    let standard = value(Profile::Standard);
    let others: Vec<String> = [("ns-2", Profile::Ns2), ("ns-3", Profile::Ns3)]
        .into_iter()
        .map(|(name, profile)| (name, value(profile)))
        .filter(|(_, v)| *v != standard)
        .map(|(name, v)| format!("{name}: {v}"))
        .collect();
    if others.is_empty() { standard } else { format!("{standard} ({})", others.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_described() {
        let switches = crate::keys::radio::RadioTable::doc(String::new());
        assert_eq!(describe("lock_on"), "\"preamble\" (ns-2: \"energy\")");
        assert_eq!(describe("capture"), "\"10 dB\" (ns-3: \"4 dB\")");
        assert_eq!(describe("eifs"), "\"lowest-rate\" (ns-3: \"response-rate\")");
        for key in switches.keys {
            if let crate::DefaultDoc::Words(words) = key.default {
                assert!(!words.is_empty(), "{}", key.name);
            }
        }
    }
}
