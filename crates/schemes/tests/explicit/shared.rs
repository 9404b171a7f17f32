//! Parts shared by senders: the round-trip time, the fallback.

use airfair_schemes::explicit::{Fallback, Rtt, RttChoice};
use airfair_schemes::places::CongestionCause::FastLoss;
use airfair_schemes::places::{FlowSetup, SourceContext, SourceEffects};
use airfair_units::{Bytes, Span, Time};

use super::rig::{Flow, Host, IDLE, MSS, acked, congestion, ms, setup};

#[test]
fn the_round_trip_time_is_the_chosen_one() {
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

/// A fallback without a sender. Each event returns the fallback's window afterwards; `None` while the fallback is inactive.
struct Alone {
    fallback: Fallback,
    host: Host<SourceEffects>,
}

impl Alone {
    fn new() -> Self {
        Self { fallback: Fallback::default(), host: Host::new() }
    }

    /// After the start of the connection, with support at all interfaces.
    fn started() -> Self {
        let mut alone = Self::new();
        assert_eq!(alone.call(|fallback, context| fallback.on_start(&setup(), context)), None);
        alone
    }

    /// Calls a hook of the fallback.
    fn call(&mut self, hook: impl FnOnce(&mut Fallback, &mut SourceContext<'_>)) -> Option<u64> {
        hook(&mut self.fallback, &mut self.host.context(Time::ZERO));
        self.fallback.window(Time::ZERO)
    }

    /// An echo: the number of interfaces without support; the sender's window is `window`.
    fn echo(&mut self, unsupported: u8, window: u64) -> Option<u64> {
        self.call(|fallback, context| fallback.on_feedback(unsupported, window, context))
    }

    /// An acknowledgement; routers grant `granted` bytes.
    fn ack(&mut self, granted: u64) -> Option<u64> {
        self.call(|fallback, context| fallback.on_acked(&acked(Some(ms(100))), granted, context))
    }

    fn loss(&mut self) -> Option<u64> {
        self.call(|fallback, context| fallback.on_congestion(&congestion(FastLoss), context))
    }
}

/// If the SYN+ACK reports an interface without support, the fallback starts like TCP: initial window, slow start.
#[test]
fn a_fallback_before_the_first_packet_starts_like_tcp() {
    let mut alone = Alone::new();
    assert_eq!(alone.echo(1, 0), None, "there is no connection yet");
    assert_eq!(alone.call(|fallback, context| fallback.on_start(&setup(), context)), Some(10 * MSS));
    assert_eq!(alone.ack(u64::MAX), Some(11 * MSS));
    assert!(alone.fallback.is_active() && alone.fallback.fell_back());
}

/// A later fallback starts with half of the window in congestion avoidance: with ten segments, a tenth of a segment per acknowledgement.
#[test]
fn a_later_fallback_halves_the_window_and_avoids_congestion() {
    let mut alone = Alone::started();
    assert_eq!(alone.echo(0, 20 * MSS), None);
    assert!(!alone.fallback.fell_back());
    assert_eq!(alone.echo(2, 20 * MSS), Some(10 * MSS));
    assert_eq!(alone.echo(2, 90 * MSS), Some(10 * MSS), "the fallback is active already");
    assert_eq!(alone.ack(u64::MAX), Some(10 * MSS + MSS / 10));
    assert_eq!(alone.loss(), Some(5 * MSS));
    assert_eq!(alone.fallback.ssthresh(), Some(Bytes(5 * MSS)));
    assert_eq!(alone.echo(0, 90 * MSS), None, "all interfaces support the scheme again");
    assert!(alone.fallback.fell_back(), "the fallback has been active");
    assert_eq!(alone.echo(1, 1), Some(MSS), "never below a segment");
}

/// The fallback is notified of the same events as TCP's law: an idle period restores the initial window; recovery ends with the bytes in
/// flight and a segment.
#[test]
fn the_fallback_receives_the_events_of_a_law() {
    let mut alone = Alone::started();
    assert_eq!(alone.echo(1, 40 * MSS), Some(20 * MSS));
    assert_eq!(alone.call(|fallback, context| fallback.on_idle(&IDLE, context)), Some(10 * MSS));
    alone.echo(0, MSS);
    alone.echo(1, 20 * MSS);
    assert_eq!(alone.loss(), Some(5 * MSS));
    let end =
        |fallback: &mut Fallback, context: &mut SourceContext<'_>| fallback.on_recovered(Bytes(MSS), context);
    assert_eq!(alone.call(end), Some(2 * MSS));
}

/// If routers grant less than the fallback's window, TCP's law does not grow.
#[test]
fn the_fallback_grows_only_if_its_window_is_the_limit() {
    let mut alone = Alone::started();
    alone.echo(1, 20 * MSS);
    assert_eq!(alone.ack(10 * MSS - 1), Some(10 * MSS));
    assert_eq!(alone.ack(10 * MSS), Some(10 * MSS + MSS / 10));
}

/// RFC 5681 section 3.1: a flow whose SYN was lost starts with one segment.
#[test]
fn a_lost_syn_leaves_one_segment() {
    for name in ["xcp", "xcp-b", "rcp"] {
        let mut flow = Flow::new(name, &[]);
        assert_eq!(flow.start(&FlowSetup { syn_lost: true, ..setup() }), MSS, "{name}");
    }
}

/// Every sender forwards all events to its fallback, and applies the result. Routers grant 40,000 bytes before one loses its support: TCP's
/// law starts with 20,000 and grows by a twentieth of a segment.
#[test]
fn senders_forward_events_to_their_fallback() {
    // 400,000 B/s in 100 ms; 30,000 bytes more than ten segments; twice 200,000 B/s in 100 ms.
    for (name, word) in [("qfcp", 400_000), ("xcp", 256 * 30_000), ("xcp-b", 256 * 30_000), ("rcp", 200_000)]
    {
        let mut flow = Flow::started(name, &[]);
        assert_eq!(flow.echo(word), 40_000, "{name}");
        assert_eq!((flow.law.fell_back(), flow.law.ssthresh()), (false, None), "{name}");
        assert_eq!(flow.echo_past(1, word), 20_000, "{name}");
        assert_eq!((flow.law.fell_back(), flow.law.ssthresh()), (true, Some(Bytes(20_000))), "{name}");
        assert_eq!(flow.ack(None), 20_050, "{name}");
        // RCP sends a new request after an idle period; then routers grant as much as before.
        flow.idle();
        assert_eq!(flow.echo_past(1, word), 10 * MSS, "{name}: the initial window");
        assert_eq!(flow.congestion(FastLoss), 5 * MSS, "{name}");
        assert_eq!(flow.recovered(MSS), 2 * MSS, "{name}");
        assert_eq!(flow.law.ssthresh(), Some(Bytes(5 * MSS)), "{name}");
        flow.echo(word);
        assert_eq!((flow.law.fell_back(), flow.law.ssthresh()), (true, None), "{name}");
    }
}
