//! TCP: segments of a public capture and segments composed by hand, the position of every bit, and refused input.
//!
//! The composed segments were checked with Wireshark's dissector.

use airfair_wire::tcp::{Flags, Options, SackBlock, SackBlocks, SchemeOption, Timestamps, WindowScale};
use airfair_wire::{DecodeError, Expected, Header, Ipv4Addr, Tcp};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 10);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 11);

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).map(|d| u8::try_from(d).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Checks that the bytes decode to this header and payload, that these encode to the bytes, and the checksum.
fn check(text: &str, source: Ipv4Addr, destination: Ipv4Addr, header: Tcp, payload: &[u8]) {
    let bytes = hex(text);
    assert_eq!(Tcp::decode(&bytes), Ok((header, payload)));
    assert_eq!(Tcp::verify(source, destination, &bytes), Ok(()));
    let blank = Tcp { checksum: 0x5555, ..header };
    assert_eq!(blank.with_payload(source, destination, payload), Some(header));
    let len = header.wire_len();
    let mut encoded = vec![0xaa; len + 8];
    assert_eq!(header.encode(&mut encoded), Ok(bytes.len() - payload.len()));
    assert_eq!(encoded[..len], bytes[..len]);
    assert_eq!(encoded[len..], [0xaa; 8], "nothing is written behind the header");
}

/// SYN and SYN+ACK of Wireshark's sample capture `http.cap`, frames 1 and 2.
#[test]
fn handshake_of_a_public_capture() {
    let (client, server) = (Ipv4Addr::new(145, 254, 160, 237), Ipv4Addr::new(65, 208, 228, 223));
    let syn = Tcp {
        flags: Flags { syn: true, ..Default::default() },
        window: 8760,
        checksum: 0xc30c,
        options: Options::NONE.with_mss(1460).with_sack_permitted(),
        ..Tcp::new(3372, 80, 951_057_939)
    };
    check("0d2c0050 38affe13 00000000 7002 2238 c30c 0000 020405b4 01010402", client, server, syn, &[]);
    let answer = Tcp {
        acknowledgement: 951_057_940,
        flags: Flags { syn: true, ack: true, ..Default::default() },
        window: 5840,
        checksum: 0x5bdc,
        options: Options::NONE.with_mss(1380).with_sack_permitted(),
        ..Tcp::new(80, 3372, 290_218_379)
    };
    check("00500d2c 114c618b 38affe14 7012 16d0 5bdc 0000 02040564 01010402", server, client, answer, &[]);
}

/// A SYN with all options, in Linux's layout, with ECN set-up [RFC 3168 §6.1.1].
#[test]
fn syn_with_every_option() {
    let options = Options::NONE
        .with_window_scale(WindowScale::new(7).unwrap())
        .with_timestamps(Timestamps { value: 123_456, echo: 0 })
        .with_sack_permitted()
        .with_mss(1460);
    let header = Tcp {
        flags: Flags { syn: true, ece: true, cwr: true, ..Default::default() },
        window: 64_240,
        checksum: 0x726f,
        options,
        ..Tcp::new(49_152, 5001, 4096)
    };
    assert_eq!(header.wire_len(), 40);
    let text = "c0001389 00001000 00000000 a0c2 faf0 726f 0000 020405b4 0402080a 0001e240 00000000 01030307";
    check(text, A, B, header, &[]);
    assert_eq!((options.mss(), options.window_scale().map(|s| s.get())), (Some(1460), Some(7)));
    assert!(options.sack_permitted() && options.sack().is_empty());
}

/// RFC 2018 §4, case 3: of eight segments of 500 bytes from 5000 on the second, fourth, sixth and eighth are lost; the
/// last acknowledgement carries three blocks, the newest first.
#[test]
fn sack_blocks_of_rfc2018() {
    let block = |left| SackBlock { left, right: left + 500 };
    let blocks = [block(8000), block(7000), block(6000)];
    let header = Tcp {
        acknowledgement: 5500,
        flags: Flags { ack: true, ..Default::default() },
        window: 502,
        checksum: 0x89e4,
        options: Options::NONE
            .with_sack(&blocks)
            .with_timestamps(Timestamps { value: 51_966, echo: 123_556 }),
        ..Tcp::new(5001, 49_152, 8192)
    };
    assert_eq!((header.options.sack(), header.wire_len()), (&blocks[..], 60));
    let text = "1389c000 00002000 0000157c f010 01f6 89e4 0000 0101080a 0000cafe 0001e2a4 0101051a \
                00001f40 00002134 00001b58 00001d4c 00001770 00001964";
    check(text, B, A, header, &[]);
}

/// Five bytes of data: an odd length, flags on both sides of the field.
#[test]
fn data_segment() {
    let header = Tcp {
        acknowledgement: 8193,
        flags: Flags { ns: true, ack: true, psh: true, fin: true, ..Default::default() },
        window: 502,
        checksum: 0x515e,
        ..Tcp::new(49_152, 5001, 4097)
    };
    let text = "c0001389 00001001 00002001 5119 01f6 515e 0000 68656c6c6f";
    check(text, A, B, header, b"hello");
    let bytes = hex(text);
    let error = |computed, found| {
        Err(DecodeError { header: Header::Tcp, offset: 16, expected: Expected::Checksum { computed, found } })
    };
    let mut wrong = bytes.clone();
    wrong[17] ^= 1;
    assert_eq!(Tcp::verify(A, B, &wrong), error(0x515e, 0x515f));
    // With another source address or destination port the sum grows: by 2 in the last byte of the address, by 0x100 in the port.
    assert_eq!(Tcp::verify(Ipv4Addr::new(10, 0, 0, 12), B, &bytes), error(0x515c, 0x515e));
    wrong = bytes.clone();
    wrong[2] += 1;
    assert_eq!(Tcp::verify(A, B, &wrong), error(0x505e, 0x515e));
    wrong = bytes;
    wrong.pop();
    assert!(Tcp::verify(A, B, &wrong).is_err(), "the length is in the sum");
}

/// RFC 9293 §3.1, RFC 3168 §6.1 and RFC 8311 §3.1: the bits; the three reserved ones are ignored.
#[test]
fn flag_bits() {
    type Set = fn(&mut Flags);
    let flags: [(u16, Set); 9] = [
        (0x001, |f| f.fin = true),
        (0x002, |f| f.syn = true),
        (0x004, |f| f.rst = true),
        (0x008, |f| f.psh = true),
        (0x010, |f| f.ack = true),
        (0x020, |f| f.urg = true),
        (0x040, |f| f.ece = true),
        (0x080, |f| f.cwr = true),
        (0x100, |f| f.ns = true),
    ];
    for (bit, set) in flags {
        let mut bytes = [0; 20];
        bytes[12..14].copy_from_slice(&(0x5e00 | bit).to_be_bytes());
        let mut header = Tcp::new(0, 0, 0);
        set(&mut header.flags);
        assert_eq!(Tcp::decode(&bytes), Ok((header, &[][..])));
        let mut encoded = [0; 20];
        assert_eq!(header.encode(&mut encoded), Ok(20));
        assert_eq!(encoded[12..14], (0x5000 | bit).to_be_bytes());
    }
}

/// Header fields, in the order of RFC 9293's figure 1.
#[test]
fn field_order() {
    let bytes = hex("0102 0304 05060708 090a0b0c 5000 0d0e 0f10 1112 13");
    let (header, payload) = Tcp::decode(&bytes).unwrap();
    let expected = Tcp {
        acknowledgement: 0x090a_0b0c,
        window: 0x0d0e,
        checksum: 0x0f10,
        urgent: 0x1112,
        ..Tcp::new(0x0102, 0x0304, 0x0506_0708)
    };
    assert_eq!((header, payload), (expected, &[0x13][..]));
}

/// A header with these options, padded with zeros to whole words.
fn with_options(options: &str) -> Vec<u8> {
    let mut bytes = vec![0; 20];
    bytes.extend(hex(options));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes[12] = u8::try_from(bytes.len() / 4).unwrap() << 4;
    bytes
}

fn read(options: &str) -> Result<Options, DecodeError> {
    Tcp::decode(&with_options(options)).map(|(header, _)| header.options)
}

/// Unknown options are skipped by their length, and NOPs anywhere; bytes after the end of the list are ignored.
#[test]
fn unknown_options_are_skipped() {
    let mss = Options::NONE.with_mss(1460);
    assert_eq!(read("fd06aabbccdd 01 020405b4"), Ok(mss));
    assert_eq!(read("01 1302 01 020405b4"), Ok(mss));
    assert_eq!(read("020405b4 00 020405b5 ff"), Ok(mss), "after the end");
    assert_eq!(read("020405b5 020405b4"), Ok(mss), "the last one holds");
    assert_eq!(read(""), Ok(Options::NONE));
    assert_eq!(read("01010101"), Ok(Options::NONE));
    assert_eq!(read("00000000"), Ok(Options::NONE));
    let timestamps = Timestamps { value: 0x0102_0304, echo: 0x0506_0708 };
    assert_eq!(read("080a 01020304 05060708"), Ok(Options::NONE.with_timestamps(timestamps)));
    assert_eq!(read("0402"), Ok(Options::NONE.with_sack_permitted()));
    // RFC 7323 §2.3: a shift of more than 14 is 14.
    assert_eq!(read("030306"), Ok(Options::NONE.with_window_scale(WindowScale::new(6).unwrap())));
    assert_eq!(read("03030f"), Ok(Options::NONE.with_window_scale(WindowScale::MAX)));
    assert_eq!((WindowScale::new(15), WindowScale::MAX.get()), (None, 14));
    let blocks = [SackBlock { left: 1, right: 2 }, SackBlock { left: 3, right: 4 }];
    assert_eq!(read("0512 00000001 00000002 00000003 00000004"), Ok(Options::NONE.with_sack(&blocks)));
}

/// The error of an option's length: the position of the option, and its kind and length.
fn refused(offset: usize, found: u32) -> Result<Options, DecodeError> {
    let wanted = match found >> 8 {
        _ if found & 0xff < 2 || found >> 8 == 0xfd => "at least 2, and within the header",
        2 => "4",
        3 => "3",
        4 => "2",
        5 => "10, 18, 26 or 34",
        _ => "10",
    };
    let expected = Expected::Value { field: "option length", wanted, found };
    Err(DecodeError { header: Header::Tcp, offset, expected })
}

/// RFC 9293 §3.1, MUST-7: an illegal option length is handled: an error that names its position.
#[test]
fn wrong_option_lengths_are_refused() {
    for (options, offset, found) in [
        ("fd00", 20, 0xfd00),
        ("fd01", 20, 0xfd01),
        ("01 fd04 00", 21, 0xfd04),
        ("010101fd", 23, 0xfd00),
        ("020405b4 fd", 24, 0xfd00),
        ("0203 05", 20, 0x0203),
        ("0205 05b400", 20, 0x0205),
        ("0302", 20, 0x0302),
        ("0304 0000", 20, 0x0304),
        ("01 0403 00", 21, 0x0403),
        ("0502", 20, 0x0502),
        ("0509 00000001 000000", 20, 0x0509),
        ("050b 00000001 00000002 03", 20, 0x050b),
        ("0809 00000000 000000", 20, 0x0809),
        ("0702 080b 00000000 00000000 00", 22, 0x080b),
    ] {
        assert_eq!(read(options), refused(offset, found), "{options}");
    }
}

#[test]
fn refused_headers() {
    let mut bytes = [0; 20];
    bytes[12] = 0x40;
    let expected = Expected::Value { field: "data offset", wanted: "at least 5 words", found: 4 };
    assert_eq!(Tcp::decode(&bytes), Err(DecodeError { header: Header::Tcp, offset: 12, expected }));
    bytes[12] = 0x60;
    let expected = Expected::Bytes { needed: 24, available: 20 };
    assert_eq!(Tcp::decode(&bytes), Err(DecodeError { header: Header::Tcp, offset: 0, expected }));
    let expected = Expected::Bytes { needed: 20, available: 19 };
    assert_eq!(Tcp::decode(&bytes[..19]), Err(DecodeError { header: Header::Tcp, offset: 0, expected }));
    assert_eq!(
        Tcp::decode(&bytes).unwrap_err().to_string(),
        "TCP header, byte 0: expected 24 bytes, found 20"
    );
    let error = Tcp::new(1, 2, 3).encode(&mut [0; 19]).unwrap_err();
    assert_eq!(error.to_string(), "TCP header: needs 20 bytes, the buffer has 19");
}

/// The largest segment is 65535 bytes less the IPv4 header's 20.
#[test]
fn segments_fit_into_a_packet() {
    let header = Tcp::new(1, 2, 3);
    assert!(header.with_payload(A, B, &vec![0; 65_495]).is_some());
    assert_eq!(header.with_payload(A, B, &vec![0; 65_496]), None);
    let mut segment = vec![0; 65_520];
    header.with_payload(A, B, &[]).unwrap().encode(&mut segment).unwrap();
    let expected = Expected::End { trailing: 5 };
    let error = DecodeError { header: Header::Tcp, offset: 65_515, expected };
    assert_eq!(Tcp::verify(A, B, &segment), Err(error));
    assert!(matches!(Tcp::verify(A, B, &segment[..65_515]).unwrap_err().expected, Expected::Checksum { .. }));
}

/// RFC 2018 §3: four blocks alone, three beside timestamps; other options have precedence.
#[test]
fn sack_blocks_take_what_room_is_left() {
    let blocks: Vec<SackBlock> = (0..6).map(|i| SackBlock { left: i, right: i + 1 }).collect();
    let count = |options: Options| {
        let found = options.with_sack(&blocks);
        assert_eq!(found.sack(), &blocks[..found.sack().len()]);
        (found.sack().len(), found.wire_len())
    };
    let timestamps = Timestamps { value: 1, echo: 2 };
    assert_eq!(count(Options::NONE), (SackBlocks::MAX, 36));
    assert_eq!(count(Options::NONE.with_timestamps(timestamps)), (3, 40));
    assert_eq!(count(Options::NONE.with_mss(536)), (4, 40));
    assert_eq!(count(Options::NONE.with_mss(536).with_sack_permitted()), (3, 36));
    let all = Options::NONE.with_mss(536).with_sack_permitted().with_window_scale(WindowScale::MAX);
    assert_eq!(count(all), (3, 40));
    assert_eq!(count(all.with_timestamps(timestamps)), (2, 40));
    assert_eq!(Options::NONE.with_sack(&blocks).with_timestamps(timestamps).sack().len(), 3);
    assert_eq!(all.with_sack(&[]).wire_len(), 12);
    assert_eq!(SackBlocks::new(&blocks).as_slice(), &blocks[..4]);
}

fn flags() -> impl Strategy<Value = Flags> {
    any::<[bool; 9]>().prop_map(|[ns, cwr, ece, urg, ack, psh, rst, syn, fin]| Flags {
        ns,
        cwr,
        ece,
        urg,
        ack,
        psh,
        rst,
        syn,
        fin,
    })
}

fn options() -> impl Strategy<Value = Options> {
    let blocks = vec(any::<(u32, u32)>(), 0..6);
    let scheme = any::<Option<[u8; 12]>>();
    let numbers = (option::of(any::<u16>()), option::of(0..15_u8));
    (numbers, any::<bool>(), any::<Option<(u32, u32)>>(), blocks, scheme).prop_map(
        |((mss, scale), permitted, timestamps, blocks, scheme)| {
            let mut options = Options::NONE;
            if let Some(mss) = mss {
                options = options.with_mss(mss);
            }
            if let Some(shift) = scale {
                options = options.with_window_scale(WindowScale::new(shift).unwrap());
            }
            if permitted {
                options = options.with_sack_permitted();
            }
            if let Some((value, echo)) = timestamps {
                options = options.with_timestamps(Timestamps { value, echo });
            }
            if let Some(header) = scheme {
                options = options.with_scheme(SchemeOption::new(&header).unwrap());
            }
            let blocks: Vec<_> = blocks.iter().map(|&(left, right)| SackBlock { left, right }).collect();
            options.with_sack(&blocks)
        },
    )
}

proptest! {
    /// Every value that can be constructed can be encoded, and decodes to the same value.
    #[test]
    fn round_trip(
        ports in any::<(u16, u16)>(),
        numbers in any::<(u32, u32)>(),
        words in any::<(u16, u16, u16)>(),
        flags in flags(),
        options in options(),
        payload in vec(any::<u8>(), 0..99),
        flipped in any::<prop::sample::Index>(),
    ) {
        let header = Tcp {
            acknowledgement: numbers.1,
            flags,
            window: words.0,
            checksum: words.1,
            urgent: words.2,
            options,
            ..Tcp::new(ports.0, ports.1, numbers.0)
        };
        for header in [header, header.with_payload(A, B, &payload).unwrap()] {
            let len = header.wire_len();
            let mut bytes = vec![0xaa; len];
            prop_assert_eq!(header.encode(&mut bytes), Ok(len));
            prop_assert!(header.encode(&mut vec![0; len - 1]).is_err());
            bytes.extend(&payload);
            prop_assert_eq!(Tcp::decode(&bytes), Ok((header, &payload[..])));
            for cut in 0..len {
                prop_assert!(Tcp::decode(&bytes[..cut]).is_err());
            }
        }
        let mut segment = vec![0; header.wire_len()];
        header.with_payload(A, B, &payload).unwrap().encode(&mut segment).unwrap();
        segment.extend(&payload);
        prop_assert_eq!(Tcp::verify(A, B, &segment), Ok(()));
        let bit = flipped.index(8 * segment.len());
        segment[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Tcp::verify(A, B, &segment).is_err(), "one wrong bit must be found");
    }
}
