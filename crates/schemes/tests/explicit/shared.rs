//! What the schemes share: the header of rates, the round-trip time, the fallback.

use airfair_schemes::explicit::{Fallback, QFCP, RCP, Rtt, RttChoice, bytes_per_second, grant};
use airfair_schemes::places::CongestionCause::FastLoss;
use airfair_schemes::places::{Context, Header, HeaderKind, Idle, Outbox};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

use super::{MSS, acked, congestion, setup};

fn bytes(kind: &HeaderKind, header: &Header) -> Vec<u8> {
    let mut bytes = vec![0; kind.wire_len as usize];
    assert_eq!((kind.encode)(header, &mut bytes), Some(bytes.len()));
    bytes
}

/// Version 1 and the scheme, TCP, 3 interfaces that spoke, none that did not; 100 ms; 18.75 MB/s wished; nothing echoed.
#[test]
fn the_header_of_rates_has_its_bytes() {
    let header = Header { spoken: 3, missed: 0, fields: [100_000, 18_750_000, 0, 0] };
    let rest = [6, 3, 0, 0, 1, 0x86, 0xa0, 1, 0x1e, 0x1a, 0x30, 0, 0, 0, 0];
    for (kind, first) in [(&QFCP, 0x11), (&RCP, 0x12)] {
        let bytes = bytes(kind, &header);
        assert_eq!((bytes[0], &bytes[1..]), (first, &rest[..]));
        assert_eq!((kind.decode)(&bytes), Some(header));
        assert_eq!((kind.decode)(&bytes[..15]), None);
    }
    assert_eq!((QFCP.decode)(&bytes(&RCP, &header)), None, "another scheme's");
}

#[test]
fn a_router_only_lowers_and_the_receiver_echoes_the_last() {
    let mut header = Header { spoken: 2, missed: 1, fields: [50_000, u32::MAX, 7, 0] };
    grant(&mut header, 1_000_000);
    grant(&mut header, 2_000_000);
    assert_eq!(header.fields, [50_000, 1_000_000, 7, 0]);
    let mut kept = Header::default();
    (QFCP.keep)(&mut kept, &header);
    let answer = (QFCP.answer)(&mut kept);
    assert_eq!(answer, Header { spoken: 0, missed: 1, fields: [0, u32::MAX, 1_000_000, 0] });
    assert_eq!((QFCP.answer)(&mut kept), answer, "a rate holds until the next one");
    (QFCP.keep)(&mut kept, &Header { fields: [0, 500, 0, 0], ..Header::default() });
    assert_eq!((QFCP.answer)(&mut kept).fields[2], 500);
    assert_eq!((QFCP.answer)(&mut kept).missed, 0);
}

#[test]
fn rates_are_bytes_a_second() {
    assert_eq!(bytes_per_second(Rate::from_mbps(150)), 18_750_000);
    assert_eq!(bytes_per_second(Rate::from_mbps(100_000)), u32::MAX, "more than a header can say");
}

#[test]
fn the_round_trip_time_is_the_one_that_was_asked_for() {
    let of = |name: &str| {
        let mut rtt = Rtt::new(RttChoice::named(name));
        assert_eq!((rtt.get(), rtt.us(), rtt.times(1000)), (None, 0, 0));
        for ms in [80, 160, 40] {
            rtt.observe(Span::from_millis(ms));
        }
        rtt
    };
    // 80 -> 70 + 20 = 90 -> 78.75 + 5 = 83.75.
    assert_eq!(of("smoothed").us(), 83_750);
    assert_eq!(of("latest").us(), 40_000);
    assert_eq!(of("least").us(), 40_000);
    assert_eq!(of("latest").get(), Some(Span::from_millis(40)));
    assert_eq!(of("latest").times(1_000_000), 40_000);
    let mut tiny = Rtt::new(RttChoice::Latest);
    tiny.observe(Span(10));
    assert_eq!(tiny.us(), 1, "0 would say that it is not known");
}

struct Host {
    fallback: Fallback,
    random: Stream,
    out: Outbox,
}

impl Host {
    fn ask(&mut self, hook: impl FnOnce(&mut Fallback, &mut Context<'_>)) -> Option<u64> {
        let mut context = Context { now: Time::ZERO, random: &mut self.random, out: &mut self.out };
        hook(&mut self.fallback, &mut context);
        self.fallback.window(Time::ZERO)
    }
}

fn host() -> Host {
    let random = Stream::new(1, "flow", Purpose::Source);
    Host { fallback: Fallback::default(), random, out: Outbox::default() }
}

/// Told by the answer to the SYN, it begins like any TCP: two segments, slow start.
#[test]
fn before_the_first_packet_it_begins_like_tcp() {
    let mut host = host();
    assert_eq!(host.ask(|f, c| f.hear(1, 0, c)), None, "there is no connection yet");
    assert_eq!(host.ask(|f, c| f.on_start(&setup(100), c)), Some(2 * MSS));
    assert_eq!(host.ask(|f, c| f.on_acked(&acked(100), u64::MAX, c)), Some(3 * MSS));
    assert!(host.fallback.is_active() && host.fallback.fell_back());
}

/// Later it takes half of the window and avoids congestion: a tenth of a segment for each acknowledgement of ten.
#[test]
fn later_it_halves_the_window_and_avoids_congestion() {
    let mut host = host();
    assert_eq!(host.ask(|f, c| f.on_start(&setup(100), c)), None);
    assert_eq!(host.ask(|f, c| f.hear(0, 20 * MSS, c)), None);
    assert!(!host.fallback.fell_back());
    assert_eq!(host.ask(|f, c| f.hear(2, 20 * MSS, c)), Some(10 * MSS));
    assert_eq!(host.ask(|f, c| f.hear(2, 90 * MSS, c)), Some(10 * MSS), "it has begun already");
    assert_eq!(host.ask(|f, c| f.on_acked(&acked(100), u64::MAX, c)), Some(10 * MSS + MSS / 10));
    assert_eq!(host.ask(|f, c| f.on_congestion(&congestion(FastLoss, 10 * MSS), c)), Some(5 * MSS));
    assert_eq!(host.fallback.ssthresh().map(|b| b.get()), Some(5 * MSS));
    assert_eq!(host.ask(|f, c| f.hear(0, 90 * MSS, c)), None, "all speak again");
    assert!(host.fallback.fell_back(), "it has been in charge");
    assert_eq!(host.ask(|f, c| f.hear(1, 1, c)), Some(MSS), "never below a segment");
}

/// It is told of all that TCP's law is told of: recovery ends with what is in flight and a segment, silence brings the initial window.
#[test]
fn it_is_told_what_a_law_is_told() {
    let mut host = host();
    host.ask(|f, c| f.on_start(&setup(100), c));
    host.ask(|f, c| f.hear(1, 20 * MSS, c));
    let idle = Idle { span: Span::from_secs(5), rto: Span::from_secs(1) };
    assert_eq!(host.ask(|f, c| f.on_idle(&idle, c)), Some(2 * MSS));
    host.ask(|f, c| f.hear(0, MSS, c));
    host.ask(|f, c| f.hear(1, 20 * MSS, c));
    host.ask(|f, c| f.on_congestion(&congestion(FastLoss, 10 * MSS), c));
    assert_eq!(host.ask(|f, c| f.on_recovered(Bytes(MSS), c)), Some(2 * MSS));
}

/// Where routers grant less than its window, TCP's law does not grow.
#[test]
fn it_grows_only_where_it_is_the_limit() {
    let mut host = host();
    host.ask(|f, c| f.on_start(&setup(100), c));
    host.ask(|f, c| f.hear(1, 20 * MSS, c));
    assert_eq!(host.ask(|f, c| f.on_acked(&acked(100), 10 * MSS - 1, c)), Some(10 * MSS));
    assert_eq!(host.ask(|f, c| f.on_acked(&acked(100), 10 * MSS, c)), Some(10 * MSS + MSS / 10));
}

proptest! {
    /// Whatever stands in a header comes out of its bytes.
    #[test]
    fn a_header_comes_out_of_its_bytes(spoken: u8, missed: u8, a: u32, b: u32, c: u32) {
        let header = Header { spoken, missed, fields: [a, b, c, 0] };
        for kind in [&QFCP, &RCP] {
            prop_assert_eq!((kind.decode)(&bytes(kind, &header)), Some(header));
        }
    }
}
