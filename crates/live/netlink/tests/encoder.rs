//! Replies of nl80211 as bytes, from the numbers in `linux/nl80211.h` and `linux/netlink.h`, which are written out here: nothing of the
//! decoder is used.

/// `NLM_F_MULTI`: a part of a dump.
pub const MULTI: u16 = 2;

/// An attribute: length without padding, number, value, padding to 4 bytes.
pub fn attribute(number: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((4 + value.len() as u16).to_ne_bytes());
    bytes.extend(number.to_ne_bytes());
    bytes.extend(value);
    while bytes.len() % 4 != 0 {
        bytes.push(0);
    }
    bytes
}

/// Attributes in an attribute, with the flag that newer kernels set for it (`NLA_F_NESTED`).
pub fn nested(number: u16, attributes: &[Vec<u8>]) -> Vec<u8> {
    attribute(number | 0x8000, &attributes.concat())
}

/// A message of netlink: length, type, flags, sequence number, port, payload, padding.
pub fn message(kind: u16, flags: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((16 + payload.len() as u32).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend(4711_u32.to_ne_bytes());
    bytes.extend(payload);
    while bytes.len() % 4 != 0 {
        bytes.push(0);
    }
    bytes
}

/// The payload of a message of generic netlink: command, version 1, two zero bytes, attributes.
pub fn generic(command: u8, attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![command, 1, 0, 0];
    bytes.extend(attributes.concat());
    bytes
}

/// `NLMSG_DONE` (3) with its code.
pub fn done(code: i32) -> Vec<u8> {
    message(3, MULTI, super::SEQUENCE, &code.to_ne_bytes())
}

/// `NLMSG_ERROR` (2) with its code and the header of the request, capped (`NLM_F_CAPPED`).
pub fn error(code: i32) -> Vec<u8> {
    let mut payload = code.to_ne_bytes().to_vec();
    payload.extend([28, 0, 0, 0, 28, 0, 5, 3, 7, 0, 0, 0, 0, 0, 0, 0]);
    message(2, 0x100, super::SEQUENCE, &payload)
}

/// A part of a dump of this command.
pub fn part(command: u8, attributes: &[Vec<u8>]) -> Vec<u8> {
    message(super::FAMILY, MULTI, super::SEQUENCE, &generic(command, attributes))
}

/// Numbers of a survey, as `iw dev wlan0 survey dump` prints them: times in ms.
#[derive(Debug, Clone, Copy, Default)]
pub struct Printed {
    pub frequency: u32,
    pub is_in_use: bool,
    pub noise: Option<i8>,
    pub active: Option<u64>,
    pub busy: Option<u64>,
    pub ext_busy: Option<u64>,
    pub receive: Option<u64>,
    pub receive_own: Option<u64>,
    pub transmit: Option<u64>,
    pub scan: Option<u64>,
}

impl Printed {
    /// The payload of `NL80211_CMD_NEW_SURVEY_RESULTS` (51), in the order in which the kernel writes it (`nl80211_send_survey`).
    pub fn payload(&self) -> Vec<u8> {
        // NL80211_SURVEY_INFO_FREQUENCY 1, NOISE 2, IN_USE 3.
        let mut info = vec![attribute(1, &self.frequency.to_ne_bytes())];
        info.extend(self.noise.map(|noise| attribute(2, &[noise as u8])));
        info.extend(self.is_in_use.then(|| attribute(3, &[])));
        // TIME 4, TIME_BUSY 5, TIME_EXT_BUSY 6, TIME_RX 7, TIME_TX 8, TIME_SCAN 9, TIME_BSS_RX 11; each after a PAD 10 of no bytes.
        let times = [
            (4, self.active),
            (5, self.busy),
            (6, self.ext_busy),
            (7, self.receive),
            (8, self.transmit),
            (9, self.scan),
            (11, self.receive_own),
        ];
        for (number, time) in times {
            if let Some(time) = time {
                info.push(attribute(10, &[]));
                info.push(attribute(number, &time.to_ne_bytes()));
            }
        }
        // NL80211_ATTR_IFINDEX 3, NL80211_ATTR_SURVEY_INFO 84.
        generic(51, &[attribute(3, &3_u32.to_ne_bytes()), nested(84, &info)])
    }

    /// A part of a dump.
    pub fn part(&self) -> Vec<u8> {
        message(super::FAMILY, MULTI, super::SEQUENCE, &self.payload())
    }
}

/// The payload of `NL80211_CMD_NEW_STATION` (19) with this information (`NL80211_ATTR_STA_INFO` 21).
pub fn station(mac: [u8; 6], info: &[Vec<u8>]) -> Vec<u8> {
    // NL80211_ATTR_IFINDEX 3, NL80211_ATTR_MAC 6, NL80211_ATTR_GENERATION 46.
    let attributes = [
        attribute(3, &3_u32.to_ne_bytes()),
        attribute(6, &mac),
        attribute(46, &12_u32.to_ne_bytes()),
        nested(21, info),
    ];
    generic(19, &attributes)
}

/// A number of 32 bits.
pub fn word(number: u16, value: u32) -> Vec<u8> {
    attribute(number, &value.to_ne_bytes())
}

/// A number of 64 bits.
pub fn long(number: u16, value: u64) -> Vec<u8> {
    attribute(number, &value.to_ne_bytes())
}
