//! Headers as bytes, and their handling by routers and receivers.

use airfair_schemes::explicit::{QFCP, RCP, bytes_per_second, grant};
use airfair_schemes::places::{Header, HeaderKind};
use airfair_schemes::xcp::header::{KIND as XCP, feedback};
use airfair_units::Rate;

/// Headers of each layout.
pub const KINDS: [&HeaderKind; 3] = [&QFCP, &RCP, &XCP];

/// A header encoded as by a host.
pub fn bytes(kind: &HeaderKind, header: &Header) -> Vec<u8> {
    let mut bytes = vec![0; kind.wire_len as usize];
    let len = (kind.encode)(header, &mut bytes);
    assert_eq!(len, Some(bytes.len()), "{}: the encoded length is wire_len", kind.name);
    bytes
}

/// Version 1 and the scheme, TCP, 3 interfaces that support the scheme, none that does not; 100 ms; 18.75 MB/s requested; no echo.
#[test]
fn the_header_of_rates_has_its_bytes() {
    let header = Header { supported: 3, unsupported: 0, fields: [100_000, 18_750_000, 0, 0] };
    let rest = [6, 3, 0, 0, 1, 0x86, 0xa0, 1, 0x1e, 0x1a, 0x30, 0, 0, 0, 0];
    for (kind, first) in [(&QFCP, 0x11), (&RCP, 0x12)] {
        let bytes = bytes(kind, &header);
        assert_eq!((bytes[0], &bytes[1..]), (first, &rest[..]));
        assert_eq!((kind.decode)(&bytes), Some(header));
    }
}

/// The same fields, but one interface without support; 10,000 ps per byte; a reduction by a byte requested, an increase by two echoed.
#[test]
fn the_header_of_changes_has_its_bytes() {
    let header = Header { supported: 3, unsupported: 1, fields: [100_000, 10_000, 0xffff_ff00, 512] };
    let bytes = bytes(&XCP, &header);
    assert_eq!(bytes, [0x13, 6, 3, 1, 0, 1, 0x86, 0xa0, 0, 0, 0x27, 0x10, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0]);
    assert_eq!((XCP.decode)(&bytes), Some(header));
}

/// Each kind decodes only complete headers of its own; encoding fails if the buffer is too short.
#[test]
fn headers_of_others_and_parts_of_headers_are_refused() {
    for kind in KINDS {
        for other in KINDS {
            let own = kind.name == other.name;
            assert_eq!((kind.decode)(&bytes(other, &Header::default())).is_some(), own, "{}", kind.name);
        }
        let bytes = bytes(kind, &Header::default());
        assert_eq!((kind.decode)(&bytes[..bytes.len() - 1]), None);
        assert_eq!((kind.encode)(&Header::default(), &mut vec![0; bytes.len() - 1]), None);
    }
}

#[test]
fn a_router_only_lowers_and_the_receiver_echoes_the_last_rate() {
    let mut header = Header { supported: 2, unsupported: 1, fields: [50_000, u32::MAX, 7, 0] };
    grant(&mut header, 1_000_000);
    grant(&mut header, 2_000_000);
    assert_eq!(header.fields, [50_000, 1_000_000, 7, 0]);
    for kind in [&QFCP, &RCP] {
        let mut kept = Header::default();
        (kind.keep)(&mut kept, &header);
        let answer = (kind.answer)(&mut kept);
        assert_eq!(answer, Header { supported: 0, unsupported: 1, fields: [0, u32::MAX, 1_000_000, 0] });
        assert_eq!((kind.answer)(&mut kept), answer, "a rate holds until the next one");
        (kind.keep)(&mut kept, &Header { fields: [0, 500, 0, 0], ..Header::default() });
        assert_eq!((kind.answer)(&mut kept).fields[2], 500);
        assert_eq!((kind.answer)(&mut kept).unsupported, 0);
    }
}

/// The changes of packets that share an acknowledgement add up; each is echoed once.
#[test]
fn changes_add_up_until_they_are_echoed() {
    let mut kept = Header::default();
    let arrived =
        |delta: i32| Header { supported: 3, unsupported: 1, fields: [1, 2, delta.cast_unsigned(), 9] };
    for delta in [700, -200, 56] {
        (XCP.keep)(&mut kept, &arrived(delta));
    }
    assert_eq!((XCP.answer)(&mut kept), Header { supported: 0, unsupported: 1, fields: [0, 0, 0, 556] });
    assert_eq!((XCP.answer)(&mut kept).fields, [0; 4]);
    for _ in 0..3 {
        (XCP.keep)(&mut kept, &arrived(i32::MAX));
    }
    assert_eq!(feedback(&(XCP.answer)(&mut kept)), i32::MAX);
}

#[test]
fn rates_are_bytes_per_second() {
    assert_eq!(bytes_per_second(Rate::from_mbps(150)), 18_750_000);
    assert_eq!(bytes_per_second(Rate::from_mbps(100_000)), u32::MAX, "beyond the field's range");
}
