//! Edges with QFCP's law: a connection whose routers grant rates, and whatever else may come.

use super::*;
use airfair_schemes::Registry;
use airfair_schemes::qfcp::header::{self, grant};
use airfair_wire::checksum::Checksum;
use airfair_wire::ipv4::{Ipv4, PayloadLen};
use airfair_wire::tcp::{Flags, Options, Timestamps, WindowScale};
use std::net::Ipv4Addr;

const MS: u64 = 1_000_000;
const ENDS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];

fn law() -> Option<(Box<dyn Source>, Rate)> {
    let entry = Registry::built_in().find("qfcp")?;
    Some(((entry.build)(&entry.defaults()).ok()?.source()?, Rate(11_000_000)))
}

fn edges() -> Sources {
    Sources::new(law().unwrap().0.header().unwrap(), 1).unwrap()
}

/// A frame from one end to the other, over `relays` relays so far.
fn frame(from: usize, header: Tcp, payload: usize, relays: u8) -> Vec<u8> {
    let [source, destination] = [ENDS[from], ENDS[1 - from]];
    let body = vec![7; payload];
    let header = header.with_payload(source, destination, &body).unwrap();
    let mut bytes = vec![2, 0, 0, 0, 0, 1 - from as u8, 2, 0, 0, 0, 0, from as u8, 8, 0];
    let len = PayloadLen::new((header.wire_len() + payload) as u16).unwrap();
    let ip = Ipv4 { ttl: 64 - relays, ..Ipv4::new(Protocol::TCP, source, destination, len) };
    let (mut of_ip, mut of_tcp) = (vec![0; 20], vec![0; header.wire_len()]);
    ip.encode(&mut of_ip).unwrap();
    header.encode(&mut of_tcp).unwrap();
    bytes.extend([of_ip, of_tcp, body].concat());
    bytes
}

fn ports(from: usize) -> Tcp {
    if from == 0 { Tcp::new(4000, 7000, 0) } else { Tcp::new(7000, 4000, 0) }
}

fn right(frame: &[u8]) {
    let ends = [&frame[26..30], &frame[30..34]].map(|of| <[u8; 4]>::try_from(of).unwrap());
    let [source, destination] = ends.map(Ipv4Addr::from);
    assert_eq!(Checksum::new().with(&frame[14..34]).sum(), 0xffff);
    Tcp::verify(source, destination, &frame[34..]).unwrap();
}

/// A frame leaves at once; its header, and the frame as it is then.
fn leaves(edges: &mut Sources, mut frame: Vec<u8>, now: u64) -> (Option<Header>, Vec<u8>) {
    match edges.leave((0, &mut frame), law, Time(now)) {
        Leave::Now(header) => {
            right(&frame);
            (header, frame)
        }
        other => panic!("{other:?}"),
    }
}

/// Hops grant `rate`, bytes/s, and the frame arrives.
fn arrives(edges: &mut Sources, mut frame: Vec<u8>, rate: Option<u32>, now: u64) -> Vec<u8> {
    if let Some(mut header) = edges.carried(&frame) {
        header.supported += 1;
        rate.into_iter().for_each(|rate| grant(&mut header, rate));
        edges.rewrite(&mut frame, &header);
    }
    edges.arrive(&mut frame, Time(now));
    right(&frame);
    frame
}

const STAMPS: Timestamps = Timestamps { value: 1, echo: 2 };

fn established(edges: &mut Sources, rate: u32) {
    let options =
        Options::NONE.with_mss(1460).with_window_scale(WindowScale::new(7).unwrap()).with_sack_permitted();
    let syn = Tcp {
        sequence: 999,
        flags: Flags { syn: true, ..Flags::default() },
        options: options.with_timestamps(STAMPS),
        ..ports(0)
    };
    let (stamped, syn) = leaves(edges, frame(0, syn, 0, 0), 0);
    assert!(stamped.is_some());
    // 1500 less 40 and the 20 of the option.
    assert_eq!(Segment::of(&syn).unwrap().header.options.mss(), Some(1440));
    arrives(edges, syn, Some(rate), 5 * MS);
    let answer = Tcp {
        sequence: 4_999,
        acknowledgement: 1000,
        flags: Flags { syn: true, ack: true, ..Flags::default() },
        options: options.with_timestamps(STAMPS),
        window: 65_535,
        ..ports(1)
    };
    let (answered, answer) = leaves(edges, frame(1, answer, 0, 0), 5 * MS);
    assert_eq!(answered.and_then(|of| header::feedback(&of)), Some(rate), "the grant comes back");
    arrives(edges, answer, None, 10 * MS);
    let (_, last) = leaves(edges, frame(0, acknowledgement(0, 1000, 5000), 0, 0), 10 * MS);
    arrives(edges, last, None, 15 * MS);
}

fn acknowledgement(from: usize, sequence: u32, number: u32) -> Tcp {
    Tcp {
        sequence,
        acknowledgement: number,
        flags: Flags { ack: true, ..Flags::default() },
        window: 1000,
        options: Options::NONE.with_timestamps(STAMPS),
        ..ports(from)
    }
}

/// Data of 1400 B at a number of segments from the first.
fn data(number: u32) -> Vec<u8> {
    frame(0, acknowledgement(0, 1000 + 1400 * number, 5000), 1400, 0)
}

/// 140 kB/s times 10 ms is a segment: the second waits, and leaves as the first is acknowledged, with the window that the grant allows.
#[test]
fn the_law_holds_data_back_at_the_edge() {
    let mut edges = edges();
    established(&mut edges, 140_000);
    let (stamped, first) = leaves(&mut edges, data(0), 20 * MS);
    assert!(stamped.is_some());
    assert!(matches!(edges.leave((0, &mut data(1)), law, Time(20 * MS)), Leave::Waits));
    assert!(matches!(edges.leave((0, &mut data(1)), law, Time(21 * MS)), Leave::Twice));
    assert!(edges.take_ready(Time(25 * MS)).is_none());
    arrives(&mut edges, first, Some(140_000), 25 * MS);
    let (answered, answer) = leaves(&mut edges, frame(1, acknowledgement(1, 5000, 2400), 0, 0), 25 * MS);
    assert_eq!(answered.and_then(|of| header::feedback(&of)), Some(140_000));
    let answer = arrives(&mut edges, answer, None, 30 * MS);
    // One segment and two that may wait, in units of 128 B, of the 128,000 B that the receiver takes.
    let told = u32::from(Segment::of(&answer).unwrap().header.window) << 7;
    let mss = 1440 - 12;
    assert!((3 * mss..3 * mss + 128).contains(&told), "{told}");
    let mut second = edges.take_ready(Time(30 * MS)).unwrap();
    assert!(edges.leave_released(&mut second.frame, Time(30 * MS)).is_some());
    right(&second.frame);
    assert!(edges.take_ready(Time(30 * MS)).is_none() && edges.edges().held == 0);
}

/// The right edge of a window never moves back, and a repetition passes what waits.
#[test]
fn a_smaller_grant() {
    let mut edges = edges();
    established(&mut edges, 14_000_000);
    for number in 0..4 {
        let (_, of) = leaves(&mut edges, data(number), (20 + u64::from(number)) * MS);
        arrives(&mut edges, of, Some(140_000), 25 * MS);
    }
    let right_edge = |edges: &mut Sources, number: u32, now: u64| {
        let answer = leaves(edges, frame(1, acknowledgement(1, 5000, number), 0, 0), now).1;
        let answer = arrives(edges, answer, None, now);
        number + (u32::from(Segment::of(&answer).unwrap().header.window) << 7)
    };
    let first = right_edge(&mut edges, 1000, 30 * MS);
    assert!(right_edge(&mut edges, 1000 + 1400, 31 * MS) >= first);
    assert!(matches!(edges.leave((0, &mut data(4)), law, Time(32 * MS)), Leave::Waits));
    let (_, repeated) = leaves(&mut edges, data(1), 40 * MS);
    assert_eq!(Segment::of(&repeated).unwrap().header.sequence, 2400);
}

/// Data from both ends: every second segment of an end brings the grant of the other's data back.
#[test]
fn data_from_both_ends() {
    let mut edges = edges();
    established(&mut edges, 14_000_000);
    let back = |number: u32| frame(1, acknowledgement(1, 5000 + 1400 * number, 1000), 1400, 0);
    let is_answer = |frame: &[u8]| Segment::of(frame).unwrap().header.options.scheme().unwrap().answers();
    let (_, first) = leaves(&mut edges, back(0), 20 * MS);
    assert!(!is_answer(&first), "nothing has come from the other end");
    let (_, data) = leaves(&mut edges, data(0), 20 * MS);
    arrives(&mut edges, data, Some(77_000), 25 * MS);
    let (header, second) = leaves(&mut edges, back(1), 30 * MS);
    assert!(is_answer(&second));
    assert_eq!(header.and_then(|of| header::feedback(&of)), Some(77_000));
    assert!(!is_answer(&leaves(&mut edges, back(2), 40 * MS).1), "it has been told");
}

/// One end has closed its direction: its acknowledgements still bring grants back, until the other has closed too.
#[test]
fn a_half_closed_connection() {
    let mut edges = edges();
    established(&mut edges, 14_000_000);
    let fin = |from, sequence, number| Tcp {
        flags: Flags { fin: true, ack: true, ..Flags::default() },
        ..acknowledgement(from, sequence, number)
    };
    let (_, of) = leaves(&mut edges, frame(0, fin(0, 1000, 5000), 0, 0), 20 * MS);
    arrives(&mut edges, of, None, 25 * MS);
    let (_, of) = leaves(&mut edges, frame(1, acknowledgement(1, 5000, 1001), 1400, 0), 25 * MS);
    arrives(&mut edges, of, Some(88_000), 30 * MS);
    let (header, of) = leaves(&mut edges, frame(0, acknowledgement(0, 1001, 6400), 0, 0), 30 * MS);
    assert_eq!(header.and_then(|of| header::feedback(&of)), Some(88_000));
    arrives(&mut edges, of, None, 35 * MS);
    assert_eq!(edges.halves.len(), 2);
    let (_, of) = leaves(&mut edges, frame(1, fin(1, 6400, 1001), 0, 0), 40 * MS);
    arrives(&mut edges, of, None, 45 * MS);
    let (_, of) = leaves(&mut edges, frame(0, acknowledgement(0, 1001, 6401), 0, 0), 45 * MS);
    arrives(&mut edges, of, None, 50 * MS);
    assert!(edges.halves.is_empty());
}

/// A probe of the last segment is no congestion; the first segment again after a long silence is a time-out, and forgets the grant: one
/// segment may leave.
#[test]
fn probes_and_time_outs() {
    let mut edges = edges();
    established(&mut edges, 1_400_000);
    for number in 0..2 {
        leaves(&mut edges, data(number), (20 + u64::from(number)) * MS);
    }
    leaves(&mut edges, data(1), 60 * MS);
    let (_, third) = leaves(&mut edges, data(2), 61 * MS);
    assert_eq!(Segment::of(&third).unwrap().header.sequence, 3800, "the window is as it was");
    leaves(&mut edges, data(0), 600 * MS);
    assert!(matches!(edges.leave((0, &mut data(3)), law, Time(601 * MS)), Leave::Waits));
}

/// A reset ends both directions; what waits is of no use.
#[test]
fn a_reset_ends_the_connection() {
    let mut edges = edges();
    established(&mut edges, 1);
    leaves(&mut edges, data(0), 20 * MS);
    assert!(matches!(edges.leave((0, &mut data(1)), law, Time(20 * MS)), Leave::Waits));
    let reset = Tcp { flags: Flags { rst: true, ..Flags::default() }, ..acknowledgement(1, 5000, 1000) };
    let (_, reset) = leaves(&mut edges, frame(1, reset, 0, 0), 21 * MS);
    arrives(&mut edges, reset, None, 22 * MS);
    assert!(edges.halves.is_empty());
    assert!(edges.take_ready(Time(22 * MS)).is_none());
    assert_eq!((edges.edges().held, edges.edges().discarded), (0, 1));
}

/// Connections and frames that wait are bounded; random and mutated segments panic nowhere and change no length but by the option.
#[test]
fn whatever_comes() {
    use airfair_units::random::Stream;
    let mut random = Stream::new(3, "edges", Purpose::Gap);
    let mut edges = edges();
    for port in 0..3000_u16 {
        let syn = Tcp { flags: Flags { syn: true, ..Flags::default() }, ..Tcp::new(port, 7000, 1) };
        leaves(&mut edges, frame(0, syn, 0, 0), 0);
    }
    assert!(edges.halves.len() <= MOST && edges.edges().evicted > 0);
    established(&mut edges, 140_000);
    let mut held = 0;
    for step in 0..30_000_u64 {
        let now = 100 * MS + step * MS / 10;
        let from = random.next_u32() as usize % 2;
        let mut header =
            acknowledgement(from, 1000 + random.next_u32() % 60_000, 1000 + random.next_u32() % 60_000);
        header.flags.fin = random.next_u32().is_multiple_of(500);
        header.window = random.next_u32() as u16;
        let payload = random.next_u32() as usize % 1400;
        let mut bytes = frame(
            from,
            header,
            if random.next_u32().is_multiple_of(3) { 0 } else { payload },
            random.next_u32() as u8 % 9,
        );
        for _ in 0..random.next_u32() % 3 {
            let at = random.next_u32() as usize % bytes.len();
            if random.next_u32().is_multiple_of(4) {
                bytes[at] = random.next_u32() as u8;
            }
        }
        let length = bytes.len();
        match edges.leave((0, &mut bytes), law, Time(now)) {
            Leave::Now(header) => {
                assert_eq!(bytes.len(), length + if header.is_some() { 20 } else { 0 });
                edges.arrive(&mut bytes, Time(now));
            }
            Leave::Waits => held += 1,
            Leave::Twice | Leave::Full(_) => {}
        }
        while let Some(mut ready) = edges.take_ready(Time(now)) {
            edges.leave_released(&mut ready.frame, Time(now));
        }
        assert!(edges.edges().held <= 2 * half::MOST_HELD as u64);
        if step % 5000 == 4999 {
            edges.close(Segment::of(&frame(0, ports(0), 0, 0)).unwrap().tuple);
            established(&mut edges, 140_000);
        }
    }
    assert!(held > 0);
}
