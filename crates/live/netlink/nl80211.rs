//! The kernel's interface to wireless drivers, nl80211, over generic netlink: requests as bytes, and a socket for them.

use std::fmt;

use netlink_packet_core::NLM_F_DUMP;
use netlink_sys::protocols::NETLINK_GENERIC;

use super::attributes::{Malformed, Request, attributes};
use super::error::Error;
use super::exchange::Exchange;
use super::interface::index_of;
use super::messages::Failure;
use super::numbers::{
    CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_CMD_GETFAMILY, CTRL_CMD_NEWFAMILY, EINVAL, ENODEV,
    GENL_ID_CTRL, NL80211_ATTR_IFINDEX, NL80211_CMD_GET_INTERFACE, NL80211_CMD_GET_STATION,
    NL80211_CMD_GET_SURVEY,
};
use super::station::Station;
use super::survey::Survey;
use super::wireless::WirelessInterface;

/// Bytes of the header of generic netlink: command, version, and two that are reserved.
const GENL_HDRLEN: usize = 4;

/// Name of the family.
const FAMILY: &str = "nl80211";

/// Most times that a list is read which changes while it is read.
const MOST_READS: u32 = 3;

/// The attributes in a payload of generic netlink; none if it is of another command.
///
/// # Errors
/// The payload is shorter than its header.
pub(crate) fn attributes_of(payload: &[u8], command: u8) -> Result<Option<&[u8]>, Malformed> {
    let (header, attributes) =
        payload.split_at_checked(GENL_HDRLEN).ok_or(Malformed("a message has no command"))?;
    Ok((header[0] == command).then_some(attributes))
}

/// The request for the number of a family of generic netlink (`CTRL_CMD_GETFAMILY`).
pub(crate) fn family_request(name: &str) -> Request {
    Request::new(GENL_ID_CTRL, 0, &[CTRL_CMD_GETFAMILY, 1, 0, 0]).with_text(CTRL_ATTR_FAMILY_NAME, name)
}

/// The number of a family from the payload of the reply; none for a message of another command.
///
/// # Errors
/// The payload is malformed, or has no number.
pub(crate) fn family(payload: &[u8]) -> Result<Option<u16>, Malformed> {
    let Some(all) = attributes_of(payload, CTRL_CMD_NEWFAMILY)? else { return Ok(None) };
    let mut number = None;
    for attribute in attributes(all) {
        let attribute = attribute?;
        if attribute.kind == CTRL_ATTR_FAMILY_ID {
            number = Some(attribute.u16()?);
        }
    }
    number.map(Some).ok_or(Malformed("a family has no number"))
}

/// A request of nl80211 about the interface with this index; `family` is the number of nl80211 on this kernel.
fn request(family: u16, flags: u16, command: u8, index: u32) -> Request {
    Request::new(family, flags, &[command, 0, 0, 0]).with_u32(NL80211_ATTR_IFINDEX, index)
}

/// The request for the surveys of an interface (`NL80211_CMD_GET_SURVEY`).
pub(crate) fn survey_request(family: u16, index: u32) -> Request {
    request(family, NLM_F_DUMP, NL80211_CMD_GET_SURVEY, index)
}

/// The request for the stations of an interface (`NL80211_CMD_GET_STATION`).
pub(crate) fn station_request(family: u16, index: u32) -> Request {
    request(family, NLM_F_DUMP, NL80211_CMD_GET_STATION, index)
}

/// The request for the properties of an interface (`NL80211_CMD_GET_INTERFACE`).
pub(crate) fn interface_request(family: u16, index: u32) -> Request {
    request(family, 0, NL80211_CMD_GET_INTERFACE, index)
}

/// Reads the number of a family of generic netlink.
pub(crate) fn read_family(exchange: &mut Exchange, name: &'static str) -> Result<u16, Error> {
    let mut number = None;
    let mut each = |payload: &[u8]| {
        number = number.or(family(payload)?);
        Ok(())
    };
    exchange
        .request(family_request(name), GENL_ID_CTRL, false, &mut each)
        .map_err(|failure| Error::of_family(failure, name))?;
    number.ok_or(Error::NoProtocol { protocol: name })
}

/// A socket for requests of nl80211, in the network namespace of the calling thread. After an error the socket is a new one. After
/// [`Error::NoProtocol`] this has to be opened again, since nl80211 has another number each time that it is loaded.
///
/// The kernel makes a reply in the calls that send and receive. Drivers that ask their firmware for a survey hold the thread in them, up to
/// 3 s in ath10k.
pub struct Nl80211 {
    exchange: Exchange,
    family: u16,
}

impl fmt::Debug for Nl80211 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nl80211").field("family", &self.family).finish_non_exhaustive()
    }
}

impl Nl80211 {
    /// Opens a socket, and finds the number of nl80211 on this kernel.
    ///
    /// # Errors
    /// There is no nl80211 (no wireless driver is loaded), no permission, or no socket.
    pub fn open() -> Result<Self, Error> {
        let mut exchange = Exchange::open(NETLINK_GENERIC)
            .map_err(|failure| Error::of_opening(failure, "generic netlink"))?;
        let family = read_family(&mut exchange, FAMILY)?;
        Ok(Self { exchange, family })
    }

    /// The properties of the interface with this name.
    ///
    /// # Errors
    /// There is no such interface, or it is not wireless.
    pub fn interface(&mut self, name: &str) -> Result<WirelessInterface, Error> {
        const VALUES: &str = "properties";
        let request = interface_request(self.family, index_of(name)?);
        let mut found = None;
        let mut each = |payload: &[u8]| {
            found = found.take().or(WirelessInterface::decode(payload)?);
            Ok(())
        };
        self.exchange
            .request(request, self.family, false, &mut each)
            .map_err(|failure| Error::of_wireless(failure, name, VALUES))?;
        found.ok_or_else(|| Error::NotWireless { interface: name.to_string() })
    }

    /// The surveys of all channels of the interface with this name, in the order of the kernel. At most one is in use.
    ///
    /// # Errors
    /// There is no such interface, it is not wireless, or its driver has no surveys.
    pub fn surveys(&mut self, name: &str) -> Result<Vec<Survey>, Error> {
        self.list(name, "survey", survey_request, Survey::decode)
    }

    /// The peers of the interface with this name, in the order of the kernel.
    ///
    /// # Errors
    /// There is no such interface, it is not wireless, or its driver has no statistics of stations.
    pub fn stations(&mut self, name: &str) -> Result<Vec<Station>, Error> {
        self.list(name, "statistics of stations", station_request, Station::decode)
    }

    fn list<T>(
        &mut self,
        name: &str,
        values: &'static str,
        request: fn(u16, u32) -> Request,
        decode: fn(&[u8]) -> Result<Option<T>, Malformed>,
    ) -> Result<Vec<T>, Error> {
        let index = index_of(name)?;
        let mut reads = 0;
        loop {
            reads += 1;
            let mut found = Vec::new();
            let mut each = |payload: &[u8]| {
                found.extend(decode(payload)?);
                Ok(())
            };
            let request = request(self.family, index);
            match self.exchange.request(request, self.family, true, &mut each) {
                Ok(()) => return Ok(found),
                Err(Failure::Interrupted) if reads < MOST_READS => {}
                // Either may also be an error of a wireless driver.
                Err(failure @ Failure::Kernel { errno: ENODEV | EINVAL, .. }) => {
                    self.interface(name)?;
                    return Err(Error::new(failure, name, values));
                }
                Err(failure) => return Err(Error::of_wireless(failure, name, values)),
            }
        }
    }
}
