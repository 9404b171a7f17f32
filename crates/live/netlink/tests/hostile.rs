//! Replies that no kernel makes: none may cause a panic, and none that is malformed may be read as values.

use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};

use super::super::classes;
use super::super::messages::Reply;
use super::super::{Interface, Malformed, Station, Survey, WirelessInterface, nl80211};
use super::encoder::{Printed, attribute, done, error, generic, long, message, nested, part, station, word};
use super::replies::FLINT_2;
use super::{FAMILY, SEQUENCE, dump};

/// All decoders, over one payload.
fn decode_all(payload: &[u8]) {
    let _ = Survey::decode(payload);
    let _ = Station::decode(payload);
    let _ = WirelessInterface::decode(payload);
    let _ = Interface::decode(payload);
    let _ = nl80211::family(payload);
    let _ = classes::decode(payload);
}

/// A datagram as part of a dump and as a single reply.
fn take(datagram: &[u8]) {
    for is_dump in [false, true] {
        for kind in [FAMILY, 16] {
            let _ = Reply::new(SEQUENCE, kind, is_dump).take(datagram, &mut |payload| {
                decode_all(payload);
                Ok(())
            });
        }
    }
    decode_all(datagram);
}

fn a_station() -> Vec<u8> {
    let rate = [word(5, 1640), attribute(1, &1640_u16.to_ne_bytes()), attribute(2, &[7])];
    let info = [word(1, 5), nested(8, &rate), long(24, 99), word(3, 99), attribute(7, &[200]), word(11, 3)];
    station([2; 6], &info)
}

/// `struct ifinfomsg`, and attributes of a link: name 3, MTU 4, address 1, kind 18/1, counters 23.
pub fn a_link() -> Vec<u8> {
    let counters: Vec<u8> = (1..=24_u64).flat_map(u64::to_ne_bytes).collect();
    let header = [0_u32, 7, 0x1_0001, 0].map(u32::to_ne_bytes).concat();
    let attributes = [
        attribute(3, b"veth0\0"),
        word(4, 1500),
        attribute(1, &[2, 0, 0, 0, 0, 9]),
        nested(18, &[attribute(1, b"veth")]),
        attribute(23, &counters),
    ];
    [header, attributes.concat()].concat()
}

/// Datagrams of all kinds.
fn datagrams() -> Vec<Vec<u8>> {
    let reply = |payload: Vec<u8>| message(FAMILY, 2, SEQUENCE, &payload);
    let interface = [word(3, 22), attribute(4, b"wlan0\0"), word(5, 3), word(38, 5180), word(159, 3)];
    let text = [&(-22_i32).to_ne_bytes()[..], &[16, 0, 0, 0], &[0; 12], &attribute(1, b"text\0")].concat();
    vec![
        [FLINT_2[0].part(), FLINT_2[1].part(), done(0)].concat(),
        [reply(a_station()), done(-95)].concat(),
        reply(generic(7, &interface)),
        message(16, 0, SEQUENCE, &a_link()),
        message(16, 0, SEQUENCE, &generic(1, &[attribute(2, b"nl80211\0"), attribute(1, &[28, 0])])),
        message(2, 0x200, SEQUENCE, &text),
        error(-19),
    ]
}

#[test]
fn an_interface_is_decoded() {
    let link = Interface::decode(&a_link()).unwrap();
    assert_eq!((link.name.as_str(), link.index, link.mtu), ("veth0", 7, 1500));
    assert_eq!((link.mac, link.kind.as_deref()), (Some([2, 0, 0, 0, 0, 9]), Some("veth")));
    assert_eq!((link.is_up, link.has_carrier), (true, true));
    let traffic = link.traffic;
    assert_eq!((traffic.received_packets, traffic.sent_packets), (1, 2));
    assert_eq!((traffic.received_bytes, traffic.sent_bytes), (3, 4));
    assert_eq!((traffic.receive_errors, traffic.send_errors), (5, 6));
    assert_eq!((traffic.receive_dropped, traffic.send_dropped), (7, 8));
}

#[test]
fn no_truncation_panics() {
    for datagram in datagrams() {
        for length in 0..datagram.len() {
            let mut cut = datagram[..length].to_vec();
            take(&cut);
            // With the length of the first message as it then is, which leads to the attributes.
            if length >= 16 {
                cut[..4].copy_from_slice(&(length as u32).to_ne_bytes());
                take(&cut);
                take(&cut[16..]);
            }
        }
    }
}

/// A survey that is cut where an attribute ends is a survey with fewer values; anywhere else it is malformed.
#[test]
fn a_cut_survey_is_malformed() {
    let payload = FLINT_2[0].payload();
    assert!(Survey::decode(&payload).unwrap().is_some());
    for length in 0..payload.len() {
        let decoded = Survey::decode(&payload[..length]);
        assert!(matches!(decoded, Err(_) | Ok(None)), "{length}: {decoded:?}");
        assert!(decoded.is_err() || [4, 12].contains(&length), "{length}");
    }
}

#[test]
fn no_changed_byte_panics() {
    for datagram in datagrams() {
        for at in 0..datagram.len() {
            let mut changed = datagram.clone();
            for value in 0..=255 {
                changed[at] = value;
                take(&changed);
            }
        }
    }
}

/// Attributes of the wrong length: longer than the message, shorter than their header, longer or shorter than their type.
#[test]
fn attributes_of_a_wrong_length_are_malformed() {
    let problem = |info: Vec<u8>| Survey::decode(&generic(51, &[nested(84, &[info])])).unwrap_err().0;
    let header = |length: u16, number: u16| [length.to_ne_bytes(), number.to_ne_bytes()].concat();
    for info in
        [header(12, 4), header(3, 4), header(0, 4), header(u16::MAX, 4), vec![5, 0, 4], vec![0xff; 64]]
    {
        assert_eq!(problem(info.clone()), "an attribute does not fit into its message", "{info:?}");
    }
    for info in [word(4, 5), attribute(4, &[0; 9]), long(1, 2412), attribute(2, &[]), attribute(5, &[1])] {
        assert_eq!(problem(info), "an attribute does not have the length of its type");
    }
    let garbage = nested(21, &[nested(8, &[vec![9, 0, 5, 0, 1, 2]])]);
    assert!(Station::decode(&generic(19, &[attribute(6, &[2; 6]), garbage])).is_err());
    assert_eq!(Station::decode(&generic(19, &[])), Err(Malformed("a station has no hardware address")));
    assert!(Station::decode(&generic(19, &[attribute(6, &[2; 8])])).is_err());
    for payload in [&[][..], &[51], &[51, 1, 0]] {
        assert_eq!(Survey::decode(payload), Err(Malformed("a message has no command")));
    }
    let overlong = [FLINT_2[0].part(), vec![0xff; 20]].concat();
    assert!(dump(&[overlong], Survey::decode).is_err());
    let frequency = Printed { frequency: 5180, ..Printed::default() };
    let in_payload = part(51, &[word(3, 3), vec![7, 0]]);
    assert!(dump(&[frequency.part(), in_payload, done(0)], Survey::decode).is_err());
}

/// Names that are no text, and links without their parts.
#[test]
fn links_without_their_parts_are_malformed() {
    let with = |attributes: &[Vec<u8>]| Interface::decode(&[vec![0; 16], attributes.concat()].concat());
    let counters = attribute(23, &[0; 64]);
    let all = [attribute(3, b"lo\0"), word(4, 65_536), counters];
    assert_eq!(with(&all).unwrap().mac, None);
    for left_out in 0..3 {
        let rest: Vec<_> = (0..3).filter(|&at| at != left_out).map(|at| all[at].clone()).collect();
        assert!(with(&rest).is_err());
    }
    assert!(with(&[attribute(3, &[0xff, 0]), all[1].clone(), all[2].clone()]).is_err());
    assert!(with(&[all[0].clone(), all[1].clone(), attribute(23, &[0; 63])]).is_err());
    let infiniband = with(&[all.concat(), attribute(1, &[7; 20])]).unwrap();
    assert_eq!(infiniband.mac, None, "an address of 20 bytes");
}

fn random(cases: u32, seed: u64) {
    let mut input = Input::Drawn(Stream::new(seed, "netlink", Purpose::Source));
    let originals = datagrams();
    for case in 0..cases {
        let mut bytes = if case % 4 == 0 {
            (0..input.below(300)).map(|_| input.byte()).collect()
        } else {
            input.of(&originals).cloned().unwrap_or_default()
        };
        let other = input.of(&originals).cloned().unwrap_or_default();
        input.mutate(&mut bytes, &other);
        // A first message of the right length, type and sequence number leads to its payload.
        if case % 3 == 0 && bytes.len() >= 16 {
            let length = bytes.len() as u32;
            bytes[..4].copy_from_slice(&length.to_ne_bytes());
            bytes[4..6].copy_from_slice(&FAMILY.to_ne_bytes());
            bytes[8..12].copy_from_slice(&SEQUENCE.to_ne_bytes());
        }
        take(&bytes);
    }
}

#[test]
fn random_bytes_do_not_panic() {
    random(20_000, 1);
}

#[test]
#[ignore = "seconds; `cargo test -p airfair-live -- --ignored`"]
fn many_random_bytes_do_not_panic() {
    random(1_000_000, 2);
}
