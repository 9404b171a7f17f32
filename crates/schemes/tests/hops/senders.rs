//! What senders do with what routers write.

use airfair_schemes::ParamValue::{Number, Rate as RateOf};
use airfair_schemes::places::{Acked, Congestion, CongestionCause, FlowSetup, Header, Idle};
use airfair_schemes::xcp::header::{delta, sending};
use airfair_units::{Bytes, Rate, Span, Time};

use super::{Flow, ms};

/// Ten segments of 1000 bytes, a round trip of 100 ms, at most a million bytes.
fn setup() -> FlowSetup {
    FlowSetup {
        mss: Bytes(1000),
        initial_window: Bytes(10_000),
        window_limit: Bytes(1_000_000),
        rtt: Some(ms(100)),
        syn_lost: false,
    }
}

fn acked(rtt: Option<Span>) -> Acked {
    Acked {
        bytes: Bytes(1000),
        cumulative: Bytes(1000),
        lost: Bytes(0),
        prior_in_flight: Bytes(0),
        in_flight: Bytes(0),
        rtt,
        rate_sample: None,
        round_ended: false,
        window_limited: true,
        in_recovery: false,
        sent_at: Time::ZERO,
    }
}

fn congestion(cause: CongestionCause) -> Congestion {
    Congestion { cause, in_flight: Bytes(10_000), pipe: Bytes(10_000), repeated: false }
}

impl Flow {
    fn start(mut self) -> Self {
        self.hook(|law, context| law.on_start(&setup(), context));
        self
    }

    fn window(&self) -> Option<u64> {
        self.law.allowance(Time(0)).window.map(Bytes::get)
    }

    /// An echo with this word in the field of feedback.
    fn echo(&mut self, word: u32, missed: u8) -> &mut Self {
        let place = if self.law.header().is_some_and(|kind| kind.name == "xcp") { 3 } else { 2 };
        let mut header = Header { missed, ..Header::default() };
        header.fields[place] = word;
        self.hook(|law, context| law.on_feedback(&header, context))
    }

    /// XCP's, bytes.
    fn change(&mut self, bytes: f64) -> &mut Self {
        self.echo(((bytes * 256.0) as i32).cast_unsigned(), 0)
    }

    fn congestion(&mut self, cause: CongestionCause) -> &mut Self {
        self.hook(|law, context| law.on_congestion(&congestion(cause), context))
    }

    fn stamp(&mut self) -> Header {
        let mut header = Header::default();
        self.law.stamp(&mut header, Time(0));
        header
    }
}

/// The window changes by what comes back, to 1/256 byte: a hundred hundredths are one. One segment stays, the limit holds.
#[test]
fn xcp_follows_its_feedback() {
    let mut flow = Flow::new("xcp", &[]).start();
    assert_eq!(flow.window(), Some(10_000));
    assert_eq!(flow.change(2500.0).window(), Some(12_500));
    for _ in 0..100 {
        flow.change(-26.0 / 256.0);
    }
    assert_eq!(flow.window(), Some(12_489), "2,600/256 are 10.2 bytes");
    assert_eq!(flow.change(-100_000.0).window(), Some(1000));
    assert_eq!(flow.change(8_000_000.0).window(), Some(1_000_000));
    assert_eq!(flow.law.allowance(Time(0)).rate, None);
}

/// 100 ms over 10,000 bytes are 10^7 ps a byte; of 990,000 bytes that are missing each of ten packets asks for its tenth. Before the
/// round-trip time is known nothing is asked for.
#[test]
fn xcp_tells_its_round_trip_and_its_wish() {
    let mut flow = Flow::new("xcp", &[]);
    assert_eq!(flow.stamp(), Header::default(), "a SYN");
    let mut flow = flow.start();
    let header = flow.stamp();
    let told = sending(&header).expect("it knows its round-trip time");
    assert_eq!((told.rtt_us, told.inverse_rate), (100_000, 10_000_000));
    assert_eq!(delta(&header), 99_000 * 256);
    // 8 Mbit/s are 100,000 bytes in 100 ms.
    let mut modest = Flow::new("xcp", &[("wish", RateOf(Rate::from_mbps(8)))]).start();
    assert_eq!(delta(&modest.stamp()), 9000 * 256);
    modest.change(150_000.0);
    assert_eq!(delta(&modest.stamp()), -375 * 256, "60,000 bytes less, by 160 packets");
    // RFC 6298's weights: 7/8 * 100 + 1/8 * 180.
    modest.hook(|law, context| law.on_acked(&acked(Some(ms(180))), context));
    assert_eq!(modest.stamp().fields[0], 110_000);
}

/// Half at a loss or a mark, one segment at a time-out, nothing for the own link layer; feedback goes on. After a silence the window is
/// the initial one.
#[test]
fn xcp_takes_losses_as_tcp_does() {
    let mut flow = Flow::new("xcp", &[]).start();
    flow.change(10_000.0);
    assert_eq!(flow.congestion(CongestionCause::LinkDrop).window(), Some(20_000));
    assert_eq!(flow.congestion(CongestionCause::FastLoss).window(), Some(10_000));
    assert_eq!(flow.congestion(CongestionCause::Mark).window(), Some(5000));
    assert_eq!(flow.congestion(CongestionCause::Timeout).window(), Some(1000));
    assert_eq!(flow.change(40_000.0).window(), Some(41_000));
    let idle = Idle { span: ms(2000), rto: ms(1000) };
    flow.hook(|law, context| law.on_idle(&idle, context));
    assert_eq!(flow.window(), Some(10_000));
}

/// Where an interface does not speak, TCP's law goes on with half of the window, and feedback counts for nothing; when all speak again,
/// XCP's goes on from there.
#[test]
fn xcp_falls_back() {
    let mut flow = Flow::new("xcp", &[]).start();
    flow.change(10_000.0);
    flow.echo((100_000 * 256u32).cast_signed().cast_unsigned(), 1);
    assert_eq!(flow.window(), Some(10_000));
    assert!(flow.law.fell_back());
    // RFC 5681 equation 3, with cwnd = ssthresh: 1000 * 1000 / 10,000 bytes for an acknowledgement.
    flow.hook(|law, context| law.on_acked(&acked(None), context));
    assert_eq!(flow.window(), Some(10_100));
    assert_eq!(flow.echo(256 * 500, 1).window(), Some(10_100));
    assert_eq!(flow.echo(256 * 500, 0).window(), Some(10_600));
}

/// The SYN's answer tells a rate: data leave at it. The window is twice what it fills in a round trip, two segments at least.
#[test]
fn rcp_sends_at_the_rate_that_it_is_given() {
    let mut flow = Flow::new("rcp", &[]);
    assert_eq!(flow.stamp().fields, [0, u32::MAX, 0, 0]);
    let mut flow = flow.echo(50_000, 0).window().map(|_| flow).expect("a window").start();
    let allowed = flow.law.allowance(Time(0));
    assert_eq!((allowed.window, allowed.rate), (Some(Bytes(10_000)), Some(Rate(400_000))));
    assert_eq!(flow.stamp().fields, [100_000, u32::MAX, 0, 0]);
    assert_eq!(flow.echo(5_000, 0).window(), Some(2000));
    let mut free = Flow::new("rcp", &[("window", Number(0.0))]).start();
    assert_eq!(free.window(), Some(10_000), "without handshake the initial window asks");
    assert_eq!(free.law.allowance(Time(0)).rate, None);
    free.echo(1_000_000, 0);
    assert_eq!((free.window(), free.law.allowance(Time(0)).rate), (None, Some(Rate::from_mbps(8))));
}

/// Losses slow nobody down; after a time-out or a silence one segment asks.
#[test]
fn rcp_does_not_heed_losses() {
    let mut flow = Flow::new("rcp", &[]).start();
    flow.echo(100_000, 0);
    assert_eq!(flow.congestion(CongestionCause::FastLoss).window(), Some(20_000));
    assert_eq!(flow.congestion(CongestionCause::Timeout).window(), Some(1000));
    assert_eq!(flow.law.allowance(Time(0)).rate, None);
    assert_eq!(flow.echo(100_000, 0).window(), Some(20_000));
    let idle = Idle { span: ms(2000), rto: ms(1000) };
    flow.hook(|law, context| law.on_idle(&idle, context));
    assert_eq!(flow.window(), Some(1000));
}

/// Where an interface does not speak, TCP's window holds beside the rate.
#[test]
fn rcp_falls_back() {
    let mut flow = Flow::new("rcp", &[]).start();
    flow.echo(100_000, 0);
    flow.echo(100_000, 2);
    assert!(flow.law.fell_back());
    assert_eq!(flow.window(), Some(10_000), "half of 20,000");
    assert_eq!(flow.echo(100_000, 0).window(), Some(20_000));
}
