//! The kernel of this machine: rtnetlink, and generic netlink as far as it is there without a wireless driver.

use std::process::Command;

use netlink_packet_core::{NLM_F_DUMP, Parseable};
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_sys::protocols::{NETLINK_GENERIC, NETLINK_ROUTE};

use super::super::attributes::Request;
use super::super::error::Error;
use super::super::exchange::Exchange;
use super::super::interface::{index_of, link_request};
use super::super::messages::Failure;
use super::super::nl80211::{self, Nl80211};
use super::super::{Interface, Interfaces, Malformed};

#[test]
fn the_loopback_has_counters() {
    let mut interfaces = Interfaces::open().unwrap();
    let before = interfaces.interface("lo").unwrap();
    assert_eq!((before.name.as_str(), before.index), ("lo", index_of("lo").unwrap()));
    assert_eq!((before.mac, before.kind), (Some([0; 6]), None));
    if before.is_up {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
        let after = interfaces.interface("lo").unwrap().traffic;
        assert!(after.sent_packets > before.traffic.sent_packets);
        assert!(after.sent_bytes >= before.traffic.sent_bytes + 128, "100 bytes, UDP, IP");
    }
}

/// The same reply, decoded by `netlink-packet-route`.
#[test]
fn the_loopback_is_decoded_as_others_do() {
    let mut exchange = Exchange::open(NETLINK_ROUTE).unwrap();
    let mut compared = false;
    let mut each = |payload: &[u8]| {
        let own = Interface::decode(payload)?;
        let other = LinkMessage::parse(payload).unwrap();
        assert_eq!(own.index, other.header.index);
        for attribute in other.attributes {
            match attribute {
                LinkAttribute::IfName(name) => assert_eq!(own.name, name),
                LinkAttribute::Mtu(mtu) => assert_eq!(own.mtu, mtu),
                LinkAttribute::Stats64(stats) => {
                    let traffic = own.traffic;
                    assert_eq!(
                        (traffic.received_packets, traffic.sent_packets),
                        (stats.rx_packets, stats.tx_packets)
                    );
                    assert_eq!(
                        (traffic.received_bytes, traffic.sent_bytes),
                        (stats.rx_bytes, stats.tx_bytes)
                    );
                    assert_eq!(
                        (traffic.receive_errors, traffic.send_errors),
                        (stats.rx_errors, stats.tx_errors)
                    );
                    assert_eq!(
                        (traffic.receive_dropped, traffic.send_dropped),
                        (stats.rx_dropped, stats.tx_dropped)
                    );
                    compared = true;
                }
                _ => {}
            }
        }
        Ok(())
    };
    exchange.request(link_request("lo"), 16, false, &mut each).unwrap();
    assert!(compared);
}

/// Removes a device at the end of a test.
struct Removed(String);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["link", "delete", &self.0]).output();
    }
}

/// Needs root and `ip`; without them there is nothing to test.
#[test]
fn a_pair_of_linked_devices() {
    let name = format!("af{}", std::process::id());
    let peer = format!("{name}p");
    let made = Command::new("ip")
        .args(["link", "add", &name, "mtu", "1400", "type", "veth", "peer", &peer])
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        return;
    }
    let _removed = Removed(name.clone());
    let mut interfaces = Interfaces::open().unwrap();
    let link = interfaces.interface(&name).unwrap();
    assert_eq!(
        (link.mtu, link.kind.as_deref(), link.is_up, link.has_carrier),
        (1400, Some("veth"), false, false)
    );
    for device in [&name, &peer] {
        assert!(Command::new("ip").args(["link", "set", device, "up"]).status().unwrap().success());
    }
    let link = interfaces.interface(&name).unwrap();
    assert_eq!((link.is_up, link.has_carrier), (true, true));
    assert!(link.mac.is_some_and(|mac| mac != [0; 6]));
    assert_ne!(interfaces.interface(&peer).unwrap().index, link.index);
    if let Ok(mut wireless) = Nl80211::open() {
        let expected = Error::NotWireless { interface: name.clone() };
        assert_eq!(wireless.interface(&name), Err(expected.clone()));
        assert_eq!(wireless.surveys(&name), Err(expected.clone()));
        assert_eq!(wireless.stations(&name), Err(expected));
    }
}

#[test]
fn interfaces_that_are_not_there() {
    let mut interfaces = Interfaces::open().unwrap();
    for name in ["airfair-none", "", "a-name-of-16-byte", "a/b", "a b", "..", "a\0b"] {
        let expected = Error::NoInterface { interface: name.to_string() };
        assert_eq!(interfaces.interface(name), Err(expected.clone()), "{name:?}");
        assert_eq!(index_of(name), Err(expected));
    }
    assert!(interfaces.interface("lo").is_ok(), "the socket is made again after an error");
}

/// The kernel skips messages of the type `NLMSG_NOOP` (1), so there is no reply.
#[test]
fn no_reply_is_a_time_out() {
    let mut exchange = Exchange::open(NETLINK_ROUTE).unwrap();
    let silent = exchange.request(Request::new(1, 0, &[]), 16, false, &mut |_| Ok(()));
    assert_eq!(silent, Err(Failure::TimeOut));
    assert_eq!(exchange.request(link_request("lo"), 16, false, &mut |_| Ok(())), Ok(()));
}

#[test]
fn families_of_this_kernel() {
    let Ok(mut exchange) = Exchange::open(NETLINK_GENERIC) else { return };
    assert_eq!(nl80211::read_family(&mut exchange, "nlctrl"), Ok(16), "the family of families itself");
    let missing = nl80211::read_family(&mut exchange, "airfair-none");
    assert_eq!(missing, Err(Error::NoProtocol { protocol: "airfair-none" }));
    match Nl80211::open() {
        Ok(mut wireless) => {
            let not_wireless = Err(Error::NotWireless { interface: "lo".to_string() });
            assert_eq!(wireless.surveys("lo"), not_wireless);
        }
        Err(error) => assert_eq!(error, Error::NoProtocol { protocol: "nl80211" }),
    }
}

/// A dump of all families (`CTRL_CMD_GETFAMILY`, 3), which a decoder leaves after the first part; the next request is not confused by the
/// rest.
#[test]
fn a_dump_that_was_not_read_to_its_end() {
    let Ok(mut exchange) = Exchange::open(NETLINK_GENERIC) else { return };
    let families = || Request::new(16, NLM_F_DUMP, &[3, 1, 0, 0]);
    let problem = Malformed("enough");
    let failed = exchange.request(families(), 16, true, &mut |_| Err(problem));
    assert_eq!(failed, Err(Failure::Malformed(problem)));
    let mut numbers = Vec::new();
    let mut each = |payload: &[u8]| {
        numbers.extend(nl80211::family(payload)?);
        Ok(())
    };
    exchange.request(families(), 16, true, &mut each).unwrap();
    assert!(numbers.contains(&16), "{numbers:?}");
    assert_eq!(nl80211::read_family(&mut exchange, "nlctrl"), Ok(16));
}
