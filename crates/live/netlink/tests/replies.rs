//! Replies that a kernel would make of numbers that real radios had.

use airfair_units::{Rate, Span};

use super::super::error::Error;
use super::super::messages::{Failure, MOST_MESSAGES, Reply};
use super::super::{Malformed, Station, Survey, WirelessInterface, WirelessMode};
use super::encoder::{
    MULTI, Printed, attribute, done, error, generic, long, message, nested, part, station, word,
};
use super::{FAMILY, SEQUENCE, dump};

const MS: u64 = 1_000_000;

/// `iw dev wlan0 survey dump` of a GL.iNet Flint 2 (mt76), the first two channels.
pub const FLINT_2: [Printed; 2] = [
    Printed {
        frequency: 2412,
        is_in_use: true,
        noise: Some(-90),
        active: Some(3_632_796_925),
        busy: Some(878_259_766),
        receive: Some(440_957_725),
        receive_own: Some(173_056_055),
        transmit: Some(340_995_043),
        ext_busy: None,
        scan: None,
    },
    Printed {
        frequency: 2417,
        is_in_use: false,
        noise: Some(-92),
        active: Some(72),
        busy: Some(20),
        receive: Some(10),
        receive_own: None,
        transmit: Some(0),
        ext_busy: None,
        scan: None,
    },
];

/// The survey of the tests of Prometheus' node_exporter; its active time is the `channeltime` there.
const NODE_EXPORTER: Printed = Printed {
    frequency: 2412,
    is_in_use: true,
    noise: Some(-95),
    active: Some(120_000),
    busy: Some(30_000),
    ext_busy: Some(5_000),
    receive: Some(20_000),
    receive_own: Some(15_000),
    transmit: Some(10_000),
    scan: Some(2_000),
};

#[test]
fn a_dump_of_several_datagrams_has_all_surveys() {
    let [first, second] = FLINT_2.map(|printed| printed.part());
    let whole = [first.clone(), second.clone(), NODE_EXPORTER.part(), done(0)];
    let splits = [
        vec![whole.concat()],
        whole.to_vec(),
        vec![[first, second].concat(), [whole[2].clone(), done(0)].concat()],
    ];
    for datagrams in splits {
        let surveys = dump(&datagrams, Survey::decode).unwrap();
        let [flint, other, exporter] = surveys[..] else { panic!("{surveys:?}") };
        assert_eq!((flint.frequency_mhz, flint.in_use, flint.noise_dbm), (2412, true, Some(-90)));
        assert_eq!(flint.active, Some(Span(3_632_796_925 * MS)));
        assert_eq!(flint.busy, Some(Span(878_259_766 * MS)));
        assert_eq!(flint.receive, Some(Span(440_957_725 * MS)));
        assert_eq!(flint.receive_own, Some(Span(173_056_055 * MS)));
        assert_eq!(flint.transmit, Some(Span(340_995_043 * MS)));
        assert_eq!((flint.ext_busy, flint.scan), (None, None));
        assert_eq!((other.frequency_mhz, other.in_use, other.noise_dbm), (2417, false, Some(-92)));
        assert_eq!((other.receive_own, other.transmit), (None, Some(Span(0))));
        assert_eq!((exporter.active, exporter.busy), (Some(Span(120_000 * MS)), Some(Span(30_000 * MS))));
        assert_eq!((exporter.ext_busy, exporter.scan), (Some(Span(5_000 * MS)), Some(Span(2_000 * MS))));
    }
}

/// mwlwifi (issue 140) gives all bits, mt76 (issue 1135) what a counter below zero becomes.
#[test]
fn times_beyond_the_range_are_saturated() {
    for ms in [u64::MAX, 14_986_490_482_870_210] {
        let printed = Printed { busy: Some(ms), ..NODE_EXPORTER };
        let surveys = dump(&[printed.part(), done(0)], Survey::decode).unwrap();
        assert_eq!(surveys[0].busy, Some(Span(u64::MAX)));
    }
}

/// The sums over all channels have no frequency (`NL80211_ATTR_SURVEY_RADIO_STATS`); other commands and families are no surveys.
#[test]
fn other_messages_are_skipped() {
    let sums = part(51, &[word(3, 3), nested(84, &[long(4, 1000), long(5, 10)])]);
    let other_command = part(19, &[word(3, 3)]);
    let other_family = message(FAMILY + 1, MULTI, SEQUENCE, &[51]);
    let other_request = message(FAMILY, MULTI, SEQUENCE - 1, &[51]);
    let late = message(3, MULTI, SEQUENCE - 1, &[0; 4]);
    let noop = message(1, 0, SEQUENCE, &[]);
    let parts = [sums, other_command, other_family, other_request, late, noop, NODE_EXPORTER.part(), done(0)];
    assert_eq!(dump(&[parts.concat()], Survey::decode).unwrap().len(), 1);
}

#[test]
fn unknown_attributes_are_ignored() {
    let info =
        [word(12, 500), attribute(200, b"later"), word(1, 2412), nested(201, &[word(1, 1)]), long(4, 9)];
    let survey = generic(51, &[attribute(313, &[1, 2, 3]), nested(84, &info), attribute(0x3fff, &[])]);
    let survey = Survey::decode(&survey).unwrap().unwrap();
    assert_eq!((survey.frequency_mhz, survey.active), (2412, Some(Span(9 * MS))));
}

/// The two stations of the tests of node_exporter, with the numbers in `enum nl80211_sta_info`.
#[test]
fn stations_have_their_counters() {
    let rate = |tens: u16| [attribute(1, &tens.to_ne_bytes()), attribute(2, &[7]), attribute(4, &[])];
    let make = |mac, factor: u32, signal: i8| {
        let info = [
            word(1, 400 * factor),
            word(16, 30 * factor),
            nested(14, &rate(1280 * factor as u16)),
            nested(8, &rate(1640 * factor as u16)),
            attribute(7, &[signal as u8]),
            word(11, 10 * factor),
            word(12, 2 * factor),
            word(18, factor),
        ];
        message(FAMILY, MULTI, SEQUENCE, &station(mac, &info))
    };
    let macs = [[0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff], [1, 2, 3, 4, 5, 6]];
    let dumped = dump(&[make(macs[0], 1, -52), make(macs[1], 2, -26), done(0)], Station::decode).unwrap();
    for (station, (mac, factor, signal)) in dumped.iter().zip([(macs[0], 1, -52), (macs[1], 2, -26)]) {
        let expected = Station {
            mac,
            inactive: Some(Span::from_millis(400 * factor)),
            connected: Some(Span::from_secs(30 * factor)),
            rx_bitrate: Some(Rate(128_000_000 * factor)),
            tx_bitrate: Some(Rate(164_000_000 * factor)),
            signal_dbm: Some(signal),
            retries: Some(10 * factor),
            failed: Some(2 * factor),
            beacon_loss: Some(factor),
            ..Station::default()
        };
        assert_eq!(*station, expected);
    }
    assert_eq!(dumped.len(), 2);
}

/// Bytes of 64 bits count before those of 32, and `BITRATE32` before `BITRATE`, in any order.
#[test]
fn wide_attributes_come_first() {
    let wide = [long(24, 5 << 32), long(23, 6 << 32)];
    let narrow = [word(3, 5), word(2, 6), word(10, 70), word(9, 80)];
    let others = [
        attribute(13, &[0xc4]),
        word(27, 54_321),
        long(39, 1_000_001),
        long(32, 2_000_002),
        nested(8, &[word(5, 115_294), attribute(1, &49_758_u16.to_ne_bytes())]),
        nested(14, &[attribute(1, &0_u16.to_ne_bytes())]),
    ];
    let orders = [[&wide[..], &narrow, &others].concat(), [&narrow[..], &others, &wide].concat()];
    for info in orders {
        let station = Station::decode(&station([2; 6], &info)).unwrap().unwrap();
        assert_eq!((station.sent_bytes, station.received_bytes), (Some(5 << 32), Some(6 << 32)));
        assert_eq!((station.sent_packets, station.received_packets), (Some(70), Some(80)));
        assert_eq!(station.signal_average_dbm, Some(-60));
        assert_eq!(station.expected_throughput, Some(Rate(54_321_000)));
        assert_eq!(
            (station.transmit, station.receive),
            (Some(Span(1_000_001_000)), Some(Span(2_000_002_000)))
        );
        // 11.5 Gbit/s of IEEE 802.11be do not fit into 16 bits; a rate of zero is none.
        assert_eq!((station.tx_bitrate, station.rx_bitrate), (Some(Rate(11_529_400_000)), None));
    }
    let short = Station::decode(&station([2; 6], &narrow)).unwrap().unwrap();
    assert_eq!((short.sent_bytes, short.received_bytes), (Some(5), Some(6)));
}

/// `NL80211_CMD_NEW_INTERFACE` (7) of an access point at 5180 MHz.
#[test]
fn an_interface_has_its_channel() {
    let attributes = [
        word(1, 0),
        word(3, 22),
        attribute(4, b"wlan0\0"),
        word(5, 3),
        attribute(6, &[1, 2, 3, 4, 5, 6]),
        word(38, 5180),
        word(159, 3),
        word(160, 5210),
        word(98, 1800),
    ];
    let found = WirelessInterface::decode(&generic(7, &attributes)).unwrap().unwrap();
    let expected = WirelessInterface {
        index: 22,
        name: "wlan0".to_string(),
        mac: Some([1, 2, 3, 4, 5, 6]),
        radio: Some(0),
        mode: Some(WirelessMode::AccessPoint),
        frequency_mhz: Some(5180),
        width_mhz: Some(80),
        power_mbm: Some(1800),
    };
    assert_eq!(found, expected);
    assert!(WirelessInterface::decode(&generic(7, &attributes[..1])).is_err(), "no index");
}

fn text(failure: Failure) -> String {
    Error::new(failure, "wlan0", "survey").to_string()
}

/// A dump that the driver refuses ends with the error in `NLMSG_DONE`, one that nl80211 refuses is an `NLMSG_ERROR`.
#[test]
fn errors_of_the_kernel_say_which_thing_is_missing() {
    let failure = |datagram: Vec<u8>| dump(&[datagram], Survey::decode).unwrap_err();
    for code in [error(-95), done(-95)] {
        assert_eq!(text(failure(code)), "wlan0: the driver has no survey");
    }
    for code in [error(-1), error(-13), done(-1)] {
        let expected = "wlan0: no permission to read the survey (root, or CAP_NET_ADMIN)";
        assert_eq!(text(failure(code)), expected);
    }
    let of_wireless = Error::of_wireless(failure(error(-19)), "wlan0", "survey");
    assert_eq!(of_wireless.to_string(), "wlan0: not a wireless interface");
    let unloaded = Error::of_wireless(failure(error(-2)), "wlan0", "survey");
    assert_eq!(unloaded, Error::NoProtocol { protocol: "nl80211" });
    let of_link = Error::of_link(failure(error(-19)), "wlan7");
    assert_eq!(of_link.to_string(), "wlan7: no such interface");
    let of_family = Error::of_family(failure(error(-2)), "nl80211");
    let expected = "this kernel has no nl80211: no driver of a wireless interface is loaded";
    assert_eq!(of_family.to_string(), expected);
    let of_opening = Error::of_opening(Failure::Socket { call: "socket", errno: 93 }, "generic netlink");
    assert_eq!(of_opening.to_string(), "this kernel has no generic netlink");
    let down = text(failure(error(-100)));
    assert!(down.starts_with("wlan0: the kernel refuses the survey: Network is down"), "{down}");
    let expected = "wlan0: no survey from the kernel within 200 ms";
    assert_eq!(text(dump(&[NODE_EXPORTER.part()], Survey::decode).unwrap_err()), expected);
}

/// `NLM_F_ACK_TLVS` (0x200): attributes after the request, which is whole unless capped; `NLMSGERR_ATTR_MSG` is 1.
#[test]
fn the_text_of_the_kernel_is_part_of_the_error() {
    let request = [28_u32.to_ne_bytes().to_vec(), vec![0; 12]].concat();
    let message_of = |flags: u16, parts: &[Vec<u8>]| {
        let datagram = message(2, flags, SEQUENCE, &[&(-22_i32).to_ne_bytes()[..], &parts.concat()].concat());
        text(dump(&[datagram], Survey::decode).unwrap_err())
    };
    let attributes = [word(2, 16), attribute(1, b"no such\n radio\0")].concat();
    let expected = "wlan0: the kernel refuses the survey: Invalid argument (os error 22): no such radio";
    assert_eq!(message_of(0x300, &[request.clone(), attributes.clone()]), expected);
    assert_eq!(message_of(0x200, &[request.clone(), vec![9; 12], attributes.clone()]), expected);
    let bare = "wlan0: the kernel refuses the survey: Invalid argument (os error 22)";
    assert_eq!(message_of(0x100, &[request.clone(), attributes.clone()]), bare, "not announced");
    assert_eq!(message_of(0x200, &[request, attributes]), bare, "hidden in the request");
    let datagram =
        message(3, 0x202, SEQUENCE, &[&(-22_i32).to_ne_bytes()[..], &attribute(1, b"x\0")].concat());
    assert_eq!(text(dump(&[datagram], Survey::decode).unwrap_err()), format!("{bare}: x"));
}

#[test]
fn an_interrupted_dump_is_an_error() {
    // NLM_F_DUMP_INTR.
    let part = message(FAMILY, MULTI | 0x10, SEQUENCE, &NODE_EXPORTER.payload());
    let failure = dump(&[[part, NODE_EXPORTER.part(), done(0)].concat()], Survey::decode).unwrap_err();
    assert_eq!(text(failure), "wlan0: the survey changed each time that they were read");
    let overrun = message(4, 0, SEQUENCE, &[]);
    let expected = "wlan0: malformed survey from the kernel: data was lost";
    assert_eq!(text(dump(&[overrun], Survey::decode).unwrap_err()), expected);
}

/// A sender without end: messages of the reply, messages of others, empty datagrams, long datagrams.
#[test]
fn a_reply_has_limits() {
    let endless = [
        NODE_EXPORTER.part(),
        message(FAMILY, 0, SEQUENCE + 1, &[]),
        Vec::new(),
        message(FAMILY, 0, SEQUENCE + 1, &[0; 65_000]),
    ];
    for datagram in endless {
        let mut reply = Reply::new(SEQUENCE, FAMILY, true);
        let mut taken = 0;
        let failure = loop {
            match reply.take(&datagram, &mut |payload| Survey::decode(payload).map(|_| ())) {
                Ok(ended) => assert!(!ended),
                Err(failure) => break failure,
            }
            taken += 1;
        };
        assert_eq!(failure, Failure::TooLong);
        assert!((256..=MOST_MESSAGES).contains(&taken), "{taken}");
    }
}

/// A reply of one message is complete with it, and with an acknowledgement.
#[test]
fn a_single_reply_is_complete() {
    let single = |datagram: Vec<u8>| {
        let mut count = 0;
        let ended = Reply::new(SEQUENCE, FAMILY, false).take(&datagram, &mut |_| {
            count += 1;
            Ok(())
        });
        (ended, count)
    };
    let found = message(FAMILY, 0, SEQUENCE, &generic(7, &[word(3, 1)]));
    assert_eq!(single([found.clone(), error(0)].concat()), (Ok(true), 1));
    assert_eq!(single(error(0)), (Ok(true), 0));
    assert_eq!(single(message(FAMILY, 0, SEQUENCE + 1, &[])), (Ok(false), 0));
    let positive = single(error(5)).0.unwrap_err();
    assert_eq!(positive, Failure::Malformed(Malformed("an error has a number that no error has")));
}
