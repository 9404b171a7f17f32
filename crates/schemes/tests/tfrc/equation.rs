//! RFC 5348 §3.1 and the headers of §3.2.

use airfair_schemes::places::Header;
use airfair_schemes::tfrc::equation::Path;
use airfair_schemes::tfrc::header::{DATA, Data, Report, moment, us};
use airfair_units::{Span, Time};

/// 1000 B, 50 ms.
const PATH: Path = Path { segment: 1000.0, rtt: 0.05, least_rto: 0.0, per_ack: 1.0 };

fn kbps(path: &Path, loss: f64) -> f64 {
    path.rate(loss) * 8.0 / 1000.0
}

/// Values computed outside, for the comparison with ns-2.
#[test]
fn the_equation_gives_known_rates() {
    for (loss, expected) in [(0.001, 6141.5), (0.01, 1797.3), (0.1, 283.2)] {
        assert!((kbps(&PATH, loss) - expected).abs() < 0.1, "{loss}: {}", kbps(&PATH, loss));
    }
    assert_eq!(PATH.rate(0.0), f64::INFINITY);
    assert_eq!(PATH.rate(2.0).to_bits(), PATH.rate(1.0).to_bits());
}

/// By hand at p = 1: 1000 / (0.05 sqrt(2 b/3) + t_RTO 3 sqrt(3 b/8) 33).
#[test]
fn each_quantity_of_the_equation_counts() {
    let by_hand = |b: f64, rto: f64| {
        let roots = [(2.0 * b / 3.0), (3.0 * b / 8.0)].map(airfair_units::math::sqrt);
        1000.0 / (0.05 * roots[0] + rto * 3.0 * roots[1] * 33.0)
    };
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
    assert!(close(PATH.rate(1.0), by_hand(1.0, 0.2)));
    assert!(close(Path { per_ack: 2.0, ..PATH }.rate(1.0), by_hand(2.0, 0.2)));
    let second = Path { least_rto: 1.0, ..PATH };
    assert!(close(second.rate(1.0), by_hand(1.0, 1.0)));
    assert_eq!((PATH.rto(), second.rto()), (0.2, 1.0));
    assert!(close(Path { segment: 500.0, ..PATH }.rate(0.02), PATH.rate(0.02) / 2.0));
}

#[test]
fn the_inverse_finds_the_loss_event_rate() {
    for loss in [1e-8, 1e-4, 0.003, 0.02, 0.3, 0.9] {
        let found = PATH.loss(PATH.rate(loss));
        assert!((found / loss - 1.0).abs() < 1e-9, "{loss} {found}");
    }
    assert_eq!(PATH.loss(1.0), 1.0, "less than any loss event rate gives");
    assert!(PATH.loss(1e15) < 1e-12);
}

/// The four words of a report behind its first four bytes, most significant bytes first.
fn words(report: Report) -> [u32; 4] {
    let report = report.encode().unwrap();
    let word = |at: usize| u32::from_be_bytes(report.as_slice()[at..at + 4].try_into().unwrap());
    assert_eq!(report.wire_len(), 20);
    [4, 8, 12, 16].map(word)
}

#[test]
fn headers_keep_what_fits() {
    let data = Data { sequence: 7, sent_us: 5_000_000, rtt: Some(Span::from_micros(1234)) };
    assert_eq!(Data::read(data.fields()), data);
    assert_eq!(data.fields(), [7, 5_000_000, 1234, 0]);
    assert_eq!(Data { rtt: Some(Span(5)), ..data }.fields()[2], 1, "known, although below 1 us");
    assert_eq!(Data::read(Data { rtt: None, ..data }.fields()).rtt, None);
    let report = Report { sent_us: 9, delay: Span::from_millis(3), received: 1e6, loss: 0.25 };
    let read = |report: Report| Report::decode(report.encode().unwrap().as_slice()).unwrap();
    assert_eq!(read(report), report);
    assert_eq!(words(report), [9, 3000, 1_000_000, 1 << 30]);
    let huge = Report { delay: Span(u64::MAX), received: 1e30, loss: 1.0, ..report };
    assert_eq!(words(huge), [9, u32::MAX, u32::MAX, u32::MAX]);
    let rare = Report { loss: 1e-12, ..report };
    assert_eq!(words(rare)[3], 1, "a loss event ends slow start, however rare");
    assert_eq!(words(Report { loss: 0.0, ..report })[3], 0);
}

#[test]
fn headers_survive_their_bytes() {
    let header = Header { supported: 3, unsupported: 1, fields: [70_000, 4_000_000_000, 50_123, 0] };
    let mut bytes = [0; 32];
    assert_eq!(((DATA.encode)(&header, &mut bytes), DATA.wire_len), (Some(16), 16));
    assert_eq!((DATA.decode)(&bytes[..16]), Some(header));
    assert_eq!((DATA.decode)(&bytes[..15]), None);
    assert_eq!(bytes[1], 17, "UDP follows");
    assert_eq!(Report::decode(&bytes), None, "another kind of fields");
    let report = Report { sent_us: 9, delay: Span::from_millis(3), received: 1e6, loss: 0.25 };
    let report = report.encode().unwrap();
    let report = report.as_slice();
    assert_eq!((DATA.decode)(report), None);
    assert_eq!(Report::decode(&report[..19]), None);
    // Version 1 and kind 5, UDP follows, no hop has counted itself; 9 us, 3000 us, a million bytes/s, a quarter of 2^32.
    let expected = [0x15, 17, 0, 0, 0, 0, 0, 9, 0, 0, 0x0b, 0xb8, 0, 0x0f, 0x42, 0x40, 0x40, 0, 0, 0];
    assert_eq!(report, expected);
}

#[test]
fn times_of_headers_wrap() {
    let wrap = (1u64 << 32) * 1000;
    for now in [0, 5_999, 1_000_000_000, wrap - 1, wrap, wrap + 12_345, 7 * wrap + 1] {
        let now = Time(now);
        let whole = Time(now.0 / 1000 * 1000);
        assert_eq!(moment(us(now), now), whole);
        let later = now + Span::from_secs(60);
        assert_eq!(moment(us(now), later).0.abs_diff(now.0) / 1000, 0, "{now}");
    }
    assert_eq!(us(Time(5_999)), 5);
    assert_eq!(moment(10, Time(5000)), Time::ZERO, "of the time before the start");
}
