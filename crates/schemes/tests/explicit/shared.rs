//! What senders share: the round-trip time, the fallback.

use airfair_schemes::explicit::{Fallback, Rtt, RttChoice};
use airfair_schemes::places::CongestionCause::FastLoss;
use airfair_schemes::places::{FlowSetup, SourceContext, SourceEffects};
use airfair_units::{Bytes, Span, Time};

use super::rig::{Flow, Host, IDLE, MSS, acked, congestion, ms, setup};

#[test]
fn the_round_trip_time_is_the_one_that_was_asked_for() {
    let of = |choice: RttChoice| {
        let mut rtt = Rtt::new(choice);
        assert_eq!((rtt.get(), rtt.us(), rtt.times(1000)), (None, 0, 0));
        for sample in [80, 160, 40] {
            rtt.observe(ms(sample));
        }
        rtt
    };
    // 80 -> 70 + 20 = 90 -> 78.75 + 5 = 83.75.
    assert_eq!(of(RttChoice::Smoothed).us(), 83_750);
    assert_eq!(of(RttChoice::Latest).us(), 40_000);
    assert_eq!(of(RttChoice::Least).us(), 40_000);
    assert_eq!(of(RttChoice::Latest).get(), Some(ms(40)));
    assert_eq!(of(RttChoice::Latest).times(1_000_000), 40_000);
    let mut tiny = Rtt::new(RttChoice::Latest);
    tiny.observe(Span(10));
    assert_eq!(tiny.us(), 1, "0 would say that it is not known");
    // A product beyond 64 bits: 2^32 - 1 bytes/s over 10 s.
    let mut far = Rtt::new(RttChoice::Latest);
    far.observe(Span::from_secs(10));
    assert_eq!(far.times(u32::MAX), 42_949_672_950);
}

/// The fallback of a sender that is not there. What happens to it returns its window then, while it is in charge.
struct Alone {
    fallback: Fallback,
    host: Host<SourceEffects>,
}

impl Alone {
    fn new() -> Self {
        Self { fallback: Fallback::default(), host: Host::new() }
    }

    /// The connection stands, and all interfaces speak.
    fn started() -> Self {
        let mut alone = Self::new();
        assert_eq!(alone.ask(|fallback, context| fallback.on_start(&setup(), context)), None);
        alone
    }

    fn ask(&mut self, hook: impl FnOnce(&mut Fallback, &mut SourceContext<'_>)) -> Option<u64> {
        hook(&mut self.fallback, &mut self.host.context(Time::ZERO));
        self.fallback.window(Time::ZERO)
    }

    /// An echo: so many interfaces did not speak, and the sender has this window.
    fn hear(&mut self, unsupported: u8, window: u64) -> Option<u64> {
        self.ask(|fallback, context| fallback.on_feedback(unsupported, window, context))
    }

    /// Routers grant so many bytes.
    fn ack(&mut self, granted: u64) -> Option<u64> {
        self.ask(|fallback, context| fallback.on_acked(&acked(Some(ms(100))), granted, context))
    }

    fn loss(&mut self) -> Option<u64> {
        self.ask(|fallback, context| fallback.on_congestion(&congestion(FastLoss), context))
    }
}

/// Told by the answer to the SYN, it begins like any TCP: the initial window, slow start.
#[test]
fn before_the_first_packet_it_begins_like_tcp() {
    let mut alone = Alone::new();
    assert_eq!(alone.hear(1, 0), None, "there is no connection yet");
    assert_eq!(alone.ask(|fallback, context| fallback.on_start(&setup(), context)), Some(10 * MSS));
    assert_eq!(alone.ack(u64::MAX), Some(11 * MSS));
    assert!(alone.fallback.is_active() && alone.fallback.fell_back());
}

/// Later it takes half of the window and avoids congestion: a tenth of a segment for each acknowledgement of ten.
#[test]
fn later_it_halves_the_window_and_avoids_congestion() {
    let mut alone = Alone::started();
    assert_eq!(alone.hear(0, 20 * MSS), None);
    assert!(!alone.fallback.fell_back());
    assert_eq!(alone.hear(2, 20 * MSS), Some(10 * MSS));
    assert_eq!(alone.hear(2, 90 * MSS), Some(10 * MSS), "it has begun already");
    assert_eq!(alone.ack(u64::MAX), Some(10 * MSS + MSS / 10));
    assert_eq!(alone.loss(), Some(5 * MSS));
    assert_eq!(alone.fallback.ssthresh(), Some(Bytes(5 * MSS)));
    assert_eq!(alone.hear(0, 90 * MSS), None, "all speak again");
    assert!(alone.fallback.fell_back(), "it has been in charge");
    assert_eq!(alone.hear(1, 1), Some(MSS), "never below a segment");
}

/// It is told of all that TCP's law is told of: silence brings the initial window back, recovery ends with what is in flight and a
/// segment.
#[test]
fn it_is_told_what_a_law_is_told() {
    let mut alone = Alone::started();
    assert_eq!(alone.hear(1, 40 * MSS), Some(20 * MSS));
    assert_eq!(alone.ask(|fallback, context| fallback.on_idle(&IDLE, context)), Some(10 * MSS));
    alone.hear(0, MSS);
    alone.hear(1, 20 * MSS);
    assert_eq!(alone.loss(), Some(5 * MSS));
    let end =
        |fallback: &mut Fallback, context: &mut SourceContext<'_>| fallback.on_recovered(Bytes(MSS), context);
    assert_eq!(alone.ask(end), Some(2 * MSS));
}

/// Where routers grant less than its window, TCP's law does not grow.
#[test]
fn it_grows_only_where_it_is_the_limit() {
    let mut alone = Alone::started();
    alone.hear(1, 20 * MSS);
    assert_eq!(alone.ack(10 * MSS - 1), Some(10 * MSS));
    assert_eq!(alone.ack(10 * MSS), Some(10 * MSS + MSS / 10));
}

/// RFC 5681 section 3.1: who has lost its SYN begins with a segment.
#[test]
fn a_lost_syn_leaves_one_segment() {
    for name in ["xcp", "xcp-b", "rcp"] {
        let mut flow = Flow::new(name, &[]);
        assert_eq!(flow.start(&FlowSetup { syn_lost: true, ..setup() }), MSS, "{name}");
    }
}

/// Every sender tells its fallback all of it, and shows what comes of it. Routers grant 40,000 bytes before one falls silent: TCP's law
/// begins with 20,000 and grows by a twentieth of a segment.
#[test]
fn senders_hand_on_what_their_fallback_needs() {
    // 400,000 B/s in 100 ms; 30,000 bytes more than ten segments; twice 200,000 B/s in 100 ms.
    for (name, word) in [("qfcp", 400_000), ("xcp", 256 * 30_000), ("xcp-b", 256 * 30_000), ("rcp", 200_000)]
    {
        let mut flow = Flow::started(name, &[]);
        assert_eq!(flow.echo(word), 40_000, "{name}");
        assert_eq!((flow.law.fell_back(), flow.law.ssthresh()), (false, None), "{name}");
        assert_eq!(flow.echo_past(1, word), 20_000, "{name}");
        assert_eq!((flow.law.fell_back(), flow.law.ssthresh()), (true, Some(Bytes(20_000))), "{name}");
        assert_eq!(flow.ack(None), 20_050, "{name}");
        // RCP asks again after a silence; then routers grant as much as before.
        flow.idle();
        assert_eq!(flow.echo_past(1, word), 10 * MSS, "{name}: the initial window");
        assert_eq!(flow.congestion(FastLoss), 5 * MSS, "{name}");
        assert_eq!(flow.recovered(MSS), 2 * MSS, "{name}");
        assert_eq!(flow.law.ssthresh(), Some(Bytes(5 * MSS)), "{name}");
        flow.echo(word);
        assert_eq!((flow.law.fell_back(), flow.law.ssthresh()), (true, None), "{name}");
    }
}
