//! Statistics of stations of nl80211: the peers of a wireless interface.

use airfair_units::{Rate, Span};

use super::attributes::{Attribute, Malformed, attributes};
use super::nl80211::attributes_of;
use super::numbers::*;

/// Counters of one peer since it was added, and its last rates and levels (`enum nl80211_sta_info`). Each is none if the driver leaves it
/// out.
///
/// Counters of packets, retries and failures have 32 bits in the kernel's interface, and wrap; so do bytes of drivers that do not count
/// with 64 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Station {
    /// Hardware address of the peer.
    pub mac: [u8; 6],
    /// Time since the last frame.
    pub inactive: Option<Span>,
    /// Time since the peer was added, in whole seconds.
    pub connected: Option<Span>,
    /// Packets (MSDUs and MMPDUs) sent to the peer.
    pub sent_packets: Option<u64>,
    /// Bytes sent, with the header of the MAC layer.
    pub sent_bytes: Option<u64>,
    /// Packets received from the peer.
    pub received_packets: Option<u64>,
    /// Bytes received, with the header of the MAC layer.
    pub received_bytes: Option<u64>,
    /// Transmissions (MPDUs) that repeated one.
    pub retries: Option<u64>,
    /// Packets (MPDUs) that were given up.
    pub failed: Option<u64>,
    /// Times at which beacons were found missing.
    pub beacon_loss: Option<u64>,
    /// Level of the last frame, in dBm.
    pub signal_dbm: Option<i8>,
    /// Average level, in dBm.
    pub signal_average_dbm: Option<i8>,
    /// Bit rate of the last frame sent.
    pub tx_bitrate: Option<Rate>,
    /// Bit rate of the last frame received.
    pub rx_bitrate: Option<Rate>,
    /// Throughput that the control of rates expects.
    pub expected_throughput: Option<Rate>,
    /// Airtime of all frames sent to the peer.
    pub transmit: Option<Span>,
    /// Airtime of all frames received from the peer.
    pub receive: Option<Span>,
}

/// Counters of bytes of 32 bits, for where there is none of 64.
#[derive(Default)]
struct ShortBytes {
    sent: Option<u64>,
    received: Option<u64>,
}

impl Station {
    /// A station from the payload of a reply, which begins with the header of generic netlink. None for a message of another command.
    ///
    /// # Errors
    /// The payload is malformed, or has no hardware address.
    pub fn decode(payload: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(all) = attributes_of(payload, NL80211_CMD_NEW_STATION)? else { return Ok(None) };
        let mut station = Self::default();
        let mut mac = None;
        for attribute in attributes(all) {
            let attribute = attribute?;
            match attribute.kind {
                NL80211_ATTR_MAC => mac = Some(attribute.mac()?),
                NL80211_ATTR_STA_INFO => station.read(&attribute)?,
                _ => {}
            }
        }
        station.mac = mac.ok_or(Malformed("a station has no hardware address"))?;
        Ok(Some(station))
    }

    fn read(&mut self, info: &Attribute<'_>) -> Result<(), Malformed> {
        let mut short = ShortBytes::default();
        for attribute in info.nested() {
            let attribute = attribute?;
            let count = || attribute.u32().map(|count| Some(u64::from(count)));
            match attribute.kind {
                NL80211_STA_INFO_INACTIVE_TIME => {
                    self.inactive = Some(Span::from_millis(u64::from(attribute.u32()?)));
                }
                NL80211_STA_INFO_CONNECTED_TIME => {
                    self.connected = Some(Span::from_secs(u64::from(attribute.u32()?)));
                }
                NL80211_STA_INFO_TX_PACKETS => self.sent_packets = count()?,
                NL80211_STA_INFO_RX_PACKETS => self.received_packets = count()?,
                NL80211_STA_INFO_TX_BYTES => short.sent = count()?,
                NL80211_STA_INFO_RX_BYTES => short.received = count()?,
                NL80211_STA_INFO_TX_BYTES64 => self.sent_bytes = Some(attribute.u64()?),
                NL80211_STA_INFO_RX_BYTES64 => self.received_bytes = Some(attribute.u64()?),
                NL80211_STA_INFO_TX_RETRIES => self.retries = count()?,
                NL80211_STA_INFO_TX_FAILED => self.failed = count()?,
                NL80211_STA_INFO_BEACON_LOSS => self.beacon_loss = count()?,
                NL80211_STA_INFO_SIGNAL => self.signal_dbm = Some(attribute.dbm()?),
                NL80211_STA_INFO_SIGNAL_AVG => self.signal_average_dbm = Some(attribute.dbm()?),
                NL80211_STA_INFO_TX_BITRATE => self.tx_bitrate = bitrate(&attribute)?,
                NL80211_STA_INFO_RX_BITRATE => self.rx_bitrate = bitrate(&attribute)?,
                NL80211_STA_INFO_EXPECTED_THROUGHPUT => {
                    self.expected_throughput = Some(Rate(u64::from(attribute.u32()?) * 1_000));
                }
                NL80211_STA_INFO_TX_DURATION => self.transmit = Some(attribute.microseconds()?),
                NL80211_STA_INFO_RX_DURATION => self.receive = Some(attribute.microseconds()?),
                _ => {}
            }
        }
        self.sent_bytes = self.sent_bytes.or(short.sent);
        self.received_bytes = self.received_bytes.or(short.received);
        Ok(())
    }
}

/// A rate in units of 100 kbit/s, of 32 bits where there is one: that of 16 bits ends at 6.5 Gbit/s. None if it is zero, as it is for a
/// mode that the kernel cannot compute.
fn bitrate(info: &Attribute<'_>) -> Result<Option<Rate>, Malformed> {
    let (mut long, mut short) = (None, None);
    for attribute in info.nested() {
        let attribute = attribute?;
        match attribute.kind {
            NL80211_RATE_INFO_BITRATE32 => long = Some(attribute.u32()?),
            NL80211_RATE_INFO_BITRATE => short = Some(u32::from(attribute.u16()?)),
            _ => {}
        }
    }
    let rate = long.or(short).filter(|&rate| rate > 0);
    Ok(rate.map(|rate| Rate(u64::from(rate) * 100_000)))
}
