//! Counters of the kernel over netlink: surveys and stations of wireless interfaces (nl80211), counters of any interface and
//! classes of HTB (rtnetlink), and a guard against survey counters that are wrong.
//!
//! Requests and replies are encoded and decoded by functions over bytes. Only `exchange` has a socket.

mod attributes;
mod classes;
pub mod counters;
mod error;
mod exchange;
mod interface;
mod messages;
mod nl80211;
mod numbers;
mod station;
mod survey;
#[cfg(test)]
mod tests;
mod wireless;

pub use attributes::Malformed;
pub use classes::{ClassState, Classes, LIMIT, MAJOR, MOST_CLASSES, MOST_OVERHEAD};
pub use counters::{Fault, Reading, SurveyDifference, SurveyGuard, Verdict};
pub use error::Error;
pub use interface::{Interface, InterfaceTraffic, Interfaces};
pub use nl80211::Nl80211;
pub use station::Station;
pub use survey::Survey;
pub use wireless::{WirelessInterface, WirelessMode};
