//! Properties of a wireless interface, from nl80211.

use super::attributes::{Malformed, attributes};
use super::nl80211::attributes_of;
use super::numbers::*;

/// The part of an interface in its network (`enum nl80211_iftype`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WirelessMode {
    /// A node of an IBSS.
    AdHoc,
    /// A client of an access point.
    Station,
    /// An access point.
    AccessPoint,
    /// A VLAN of an access point.
    AccessPointVlan,
    /// A monitor, which only receives.
    Monitor,
    /// A node of a mesh of IEEE 802.11s.
    Mesh,
    /// Outside of a BSS (vehicles).
    OutsideBss,
    /// Another one, with its number.
    Other(u32),
}

impl WirelessMode {
    const fn of(number: u32) -> Self {
        match number {
            NL80211_IFTYPE_ADHOC => Self::AdHoc,
            NL80211_IFTYPE_STATION | NL80211_IFTYPE_P2P_CLIENT => Self::Station,
            NL80211_IFTYPE_AP | NL80211_IFTYPE_P2P_GO => Self::AccessPoint,
            NL80211_IFTYPE_AP_VLAN => Self::AccessPointVlan,
            NL80211_IFTYPE_MONITOR => Self::Monitor,
            NL80211_IFTYPE_MESH_POINT => Self::Mesh,
            NL80211_IFTYPE_OCB => Self::OutsideBss,
            other => Self::Other(other),
        }
    }
}

/// Properties of a wireless interface. The channel is none while the interface has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WirelessInterface {
    /// Index of the interface.
    pub index: u32,
    /// Name of the interface; empty if the kernel does not give it.
    pub name: String,
    /// Hardware address.
    pub mac: Option<[u8; 6]>,
    /// Number of the radio, which several interfaces may share.
    pub radio: Option<u32>,
    /// Part in the network.
    pub mode: Option<WirelessMode>,
    /// Centre frequency of the primary channel, in MHz.
    pub frequency_mhz: Option<u32>,
    /// Width of the channel, in MHz.
    pub width_mhz: Option<u32>,
    /// Transmission power, in hundredths of a dBm.
    pub power_mbm: Option<i32>,
}

impl WirelessInterface {
    /// An interface from the payload of a reply, which begins with the header of generic netlink. None for a message of another command.
    ///
    /// # Errors
    /// The payload is malformed, or has no index.
    pub fn decode(payload: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(all) = attributes_of(payload, NL80211_CMD_NEW_INTERFACE)? else { return Ok(None) };
        let mut index = None;
        let (mut name, mut mac, mut radio, mut mode) = (String::new(), None, None, None);
        let (mut frequency_mhz, mut width_mhz, mut power_mbm) = (None, None, None);
        for attribute in attributes(all) {
            let attribute = attribute?;
            match attribute.kind {
                NL80211_ATTR_IFINDEX => index = Some(attribute.u32()?),
                NL80211_ATTR_IFNAME => name = attribute.text()?.to_string(),
                NL80211_ATTR_MAC => mac = Some(attribute.mac()?),
                NL80211_ATTR_WIPHY => radio = Some(attribute.u32()?),
                NL80211_ATTR_IFTYPE => mode = Some(WirelessMode::of(attribute.u32()?)),
                NL80211_ATTR_WIPHY_FREQ => frequency_mhz = Some(attribute.u32()?),
                NL80211_ATTR_CHANNEL_WIDTH => width_mhz = width(attribute.u32()?),
                NL80211_ATTR_WIPHY_TX_POWER_LEVEL => power_mbm = Some(attribute.u32()? as i32),
                _ => {}
            }
        }
        let index = index.ok_or(Malformed("an interface has no index"))?;
        Ok(Some(Self { index, name, mac, radio, mode, frequency_mhz, width_mhz, power_mbm }))
    }
}

/// The width of a channel in MHz, by its number in `enum nl80211_chan_width`.
const fn width(number: u32) -> Option<u32> {
    Some(match number {
        0 | 1 => 20,
        2 => 40,
        3 => 80,
        4 | 5 => 160,
        6 => 5,
        7 => 10,
        8 => 1,
        9 => 2,
        10 => 4,
        11 => 8,
        12 => 16,
        13 => 320,
        _ => return None,
    })
}
