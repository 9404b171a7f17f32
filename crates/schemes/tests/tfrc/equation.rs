//! RFC 5348 §3.1 and the headers of §3.2.

use airfair_schemes::places::Header;
use airfair_schemes::tfrc::equation::Path;
use airfair_schemes::tfrc::header::{DATA, Data, REPORT, Report, moment, us};
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

#[test]
fn headers_keep_what_fits() {
    let data = Data { sequence: 7, sent_us: 5_000_000, rtt: Some(Span::from_micros(1234)) };
    assert_eq!(Data::read(data.fields()), data);
    assert_eq!(data.fields(), [7, 5_000_000, 1234, 0]);
    assert_eq!(Data { rtt: Some(Span(5)), ..data }.fields()[2], 1, "known, although below 1 us");
    assert_eq!(Data::read(Data { rtt: None, ..data }.fields()).rtt, None);
    let report = Report { sent_us: 9, delay: Span::from_millis(3), received: 1e6, loss: 0.25 };
    assert_eq!(Report::read(report.fields()), report);
    assert_eq!(report.fields(), [9, 3000, 1_000_000, 1 << 30]);
    let huge = Report { delay: Span(u64::MAX), received: 1e30, loss: 1.0, ..report };
    assert_eq!(huge.fields(), [9, u32::MAX, u32::MAX, u32::MAX]);
    let rare = Report { loss: 1e-12, ..report };
    assert_eq!(rare.fields()[3], 1, "a loss event ends slow start, however rare");
    assert_eq!(Report { loss: 0.0, ..report }.fields()[3], 0);
}

#[test]
fn headers_survive_their_bytes() {
    let header = Header { supported: 3, unsupported: 1, fields: [70_000, 4_000_000_000, 50_123, 0] };
    let mut bytes = [0; 32];
    for (kind, length, other) in [(&DATA, 16, &REPORT), (&REPORT, 20, &DATA)] {
        assert_eq!(((kind.encode)(&header, &mut bytes), kind.wire_len), (Some(length), length as u32));
        assert_eq!((kind.decode)(&bytes[..length]), Some(header));
        assert_eq!((other.decode)(&bytes), None, "another kind of fields");
        assert_eq!((kind.decode)(&bytes[..length - 1]), None);
        assert_eq!(bytes[1], 17, "UDP follows");
    }
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
