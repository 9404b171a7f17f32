//! Acknowledgements of Linux 6.18 as captured: iperf3 and CUBIC between two stacks over 802.11b at 11 Mbit/s (`airfair emulate`), the data
//! as they arrived at the receiver's interface, and which of them its kernel acknowledged before the next came. The profile `linux` decides
//! the same.

use airfair_transport::{DelayedAck, Flags, Receiver, Segment, TcpConfig, Timestamps};
use airfair_units::{Span, Time};

/// The first segments of a connection over one hop: the time after the SYN, microseconds; after `/` the age of the echoed timestamp,
/// milliseconds; `P`: PSH; `!`: acknowledged at once. The first has 37 bytes, the others 1428. Sixteen segments are acknowledged at once;
/// later ones since they let the window grow or have PSH.
const START: &str = "
    2518/3P! 8505/6! 11273/9! 14010/11! 16820/14! 18592/16P! 21464/19! 24062/21! 27562/25! 29237/27!
    30978/28P! 33746/25! 37108/28P! 39957/28! 41755/30P! 43609/30! 46154/32P! 49361/33! 52074/35P!
    55504/37! 57496/39P! 61031/39! 63413/42P! 65379/42 68914/45P! 71266/44 73330/46P! 75399/46
    77807/48P! 79581/49 82513/52P! 85404/52 87198/53P! 89292/53 92183/55P! 95001/55 97165/57P!
    100798/57 102919/59! 105829/62 107717/64P! 109593/64 112430/67P! 115215/63 116970/65! 118878/67
    121714/70P! 123493/66! 125186/67P! 127021/66! 130387/62! 133102/64! 135712/67P! 137551/64!
    140792/67P! 142688/65! 144400/67P! 147094/64! 148769/66P! 152330/66! 157771/71P! 159709/68!
    161400/70P! 163894/67! 167218/70P! 170094/67! 172481/70! 175412/73P! 178819/71! 180590/73P!
    184082/71! 186810/74P! 188862/72! 191479/75P! 194027/72! 197394/76P! 199337/75! 202850/78P!
    205432/79 207599/77! 209299/74 211477/76P! 213906/76 215587/75! 217278/75 218975/72! 220866/74P!
    224325/76 226744/78P! 228475/76
";

/// Seven seconds later, in the same form without echoes; an acknowledgement came just before. Only PSH makes an acknowledgement of one
/// segment.
const STEADY: &str = "
    0 2184P! 4046 6862! 9581P! 11261 14113P! 16960 19038P! 20756 23500P! 25201 28109P! 30684 32833P!
    35265 37531! 40225P! 42969 44958P! 47727 49943P! 52743 55024P! 57962 59953P! 62547 64650P! 67359
    69024P! 70759 73456P! 75965 77811P! 80434 82571! 85511P! 89634 91439P! 93140 95672P! 98475
";

/// Over three hops: the segment that fills a gap after 454 ms without data in order, another that fills the next gap, and what follows.
/// Sixteen are acknowledged at once.
const SILENCE: &str = "
    0! 3360! 23216! 28348! 34378! 39251! 57771! 60810! 69616! 82122! 88629! 100264! 103306! 113269!
    126226! 130167! 140066 158023! 159711 165106! 176260 179398! 191520 199178! 204690 209941!
";

/// Time of the SYN, microseconds: the kernel's clock of timestamps, in whole milliseconds, was so far into one.
const SYN_AT: u64 = 766;

/// One arrival of a table.
struct Arrival {
    at: u64,
    echo_age: u32,
    push: bool,
    acknowledged: bool,
}

fn arrivals(table: &str) -> impl Iterator<Item = Arrival> {
    table.split_whitespace().map(|word| {
        let numbers = word.trim_end_matches(['P', '!']);
        let (at, echo_age) = numbers.split_once('/').unwrap_or((numbers, "0"));
        Arrival {
            at: at.parse().expect(word),
            echo_age: echo_age.parse().expect(word),
            push: word.contains('P'),
            acknowledged: word.contains('!'),
        }
    })
}

/// The receiver's rules of the profile `linux`.
fn linux() -> TcpConfig {
    let timeout = Span::from_millis(40);
    TcpConfig {
        mss: 1440,
        receive_window: 6 << 20,
        window_tuning: true,
        delayed_ack: Some(DelayedAck {
            quick: 16,
            requick: true,
            pushed: true,
            ..DelayedAck::after(2, timeout)
        }),
        min_rto: Span::from_millis(200),
        timestamps: true,
        ..TcpConfig::default()
    }
}

/// A receiver with its data so far.
struct Replay {
    receiver: Receiver,
    next: u64,
    begin: u64,
}

impl Replay {
    /// A connection of which the SYN has come at [`SYN_AT`], and the answer to the SYN-ACK 1.442 ms later.
    fn new(config: &TcpConfig) -> Self {
        let mut replay = Self { receiver: Receiver::new(config), next: 1, begin: 0 };
        let (syn_at, acknowledged_at) = (Time(SYN_AT * 1000), Time((SYN_AT + 1442) * 1000));
        let flags = Flags { syn: true, ..Flags::default() };
        let stamps = Some(Timestamps { value: 0, echo: 0 });
        let syn = Segment {
            flags,
            timestamps: stamps,
            window_scale: Some(7),
            sack_permitted: true,
            ..Segment::bare(0, 0, 65_535)
        };
        replay.receiver.on_segment(&syn, syn_at);
        assert!(replay.receiver.poll(syn_at).is_some());
        let ack = Segment { timestamps: stamps, ..Segment::bare(1, 1, 65_535) };
        replay.receiver.on_segment(&ack, acknowledged_at);
        replay
    }

    /// A segment arrives; true if it is acknowledged at once.
    fn arrive(&mut self, arrival: &Arrival, payload: u32) -> bool {
        let now = Time((self.begin + arrival.at) * 1000);
        self.receiver.on_timer(now);
        assert!(
            self.receiver.poll(now).is_none(),
            "no timer of a delayed acknowledgement expired before {now:?}"
        );
        let flags = Flags { ack: true, psh: arrival.push, ..Flags::default() };
        let echo = Timestamps::clock(now).wrapping_sub(arrival.echo_age);
        let timestamps = Some(Timestamps { value: Timestamps::clock(now), echo });
        let segment = Segment { payload, flags, timestamps, ..Segment::bare(self.next, 1, 65_535) };
        self.next += u64::from(payload);
        self.receiver.on_segment(&segment, now);
        self.receiver.poll(now).is_some()
    }

    /// All arrivals of a table, which begins at `begin` microseconds: those of them that are decided otherwise than by the kernel.
    fn wrong(&mut self, table: &str, begin: u64, sizes: impl Fn(usize) -> u32) -> Vec<usize> {
        self.begin = begin;
        let decided = arrivals(table)
            .enumerate()
            .map(|(i, arrival)| (i, self.arrive(&arrival, sizes(i)), arrival.acknowledged));
        decided.filter(|(_, here, kernel)| here != kernel).map(|(i, ..)| i).collect()
    }
}

#[test]
fn a_connection_begins_as_in_linux() {
    assert_eq!(Replay::new(&linux()).wrong(START, SYN_AT, |i| if i == 0 { 37 } else { 1428 }), [0; 0]);
    // Each rule matters.
    let rules = |change: &dyn Fn(&mut TcpConfig)| {
        let mut config = linux();
        change(&mut config);
        Replay::new(&config).wrong(START, SYN_AT, |i| if i == 0 { 37 } else { 1428 }).len()
    };
    assert_eq!(rules(&|config| config.window_tuning = false), 18);
    let without = DelayedAck { quick: 16, ..DelayedAck::after(2, Span::from_millis(40)) };
    assert_eq!(rules(&|config| config.delayed_ack = Some(without)), 4);
}

#[test]
fn later_only_push_makes_an_acknowledgement_of_one_segment() {
    let config = TcpConfig { window_tuning: false, ..linux() };
    let settled = || {
        let mut replay = Replay::new(&config);
        let early = |at| Arrival { at, echo_age: 100, push: false, acknowledged: true };
        assert_eq!((1..=18).map(|i| replay.arrive(&early(2000 * i), 1428)).filter(|now| *now).count(), 17);
        replay
    };
    assert_eq!(settled().wrong(STEADY, 40_000, |_| 1428), [0; 0]);
    let mut replay = settled();
    let wrong = replay.wrong(SILENCE, 40_000 + 454_000, |_| 1428);
    assert_eq!(wrong, [0; 0]);
}
