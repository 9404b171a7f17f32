//! §5.3: the trailer's fields, its bytes, and bytes that are none.

use airfair_schemes::ParamValue;
use airfair_schemes::diffq::trailer::{self, KIND, Path};
use airfair_schemes::places::{FlowId, Header, Heard, NodeId, Packet, PacketClass};
use airfair_units::Time;

use super::{Node, announces, labelled};

/// The trailer at the end of a packet, and the number of packets that ended in none.
#[derive(Default)]
struct Reader {
    malformed: u64,
}

impl Reader {
    fn read(&mut self, packet: &[u8]) -> Option<Header> {
        let found = packet.len().checked_sub(16).and_then(|at| (KIND.decode)(&packet[at..]));
        self.malformed += u64::from(found.is_none());
        found
    }
}

/// The header of a packet that leaves a node with `left` packets for its destination behind it.
fn stamped(node: &mut Node, packet: &Packet, header: &mut Header) {
    let now = node.now;
    node.queue.stamp(packet, header, now);
}

/// At 5 s, 3 packets for destination 9 are left. The source's node writes type, flow and time, in us, and is the first writer; the next
/// node, 2 s later, leaves flow and time alone.
#[test]
fn each_writer_adds_its_size_and_the_first_one_flow_and_time() {
    let mut node = Node::new("diffq", &[]);
    node.store(9, 2, 3);
    let packet = Packet { flow: FlowId(0xabcd_0123), ..labelled(50, 9, 2) };
    let mut header = Header { fields: [0, 0, 0, 41], ..Header::default() };
    stamped(&mut node, &packet, &mut header);
    let first = Header { supported: 1, unsupported: 0, fields: [3, 0xabcd_0123, 5_000_000, 3 << 16 | 41] };
    assert_eq!(header, first);
    let mut next = Node::new("diffq", &[]);
    next.now = Time(7_000_000_000);
    stamped(&mut next, &Packet { flow: FlowId(1), ..packet }, &mut header);
    assert_eq!(header, Header { supported: 2, fields: [0, 0xabcd_0123, 5_000_000, 3 << 16 | 41], ..first });
    assert_eq!(trailer::queue(&header), 0);
    // The number of writers stays at its largest value.
    header.supported = 254;
    for supported in [255, 255] {
        stamped(&mut next, &packet, &mut header);
        assert_eq!((header.supported, header.fields[1]), (supported, 0xabcd_0123));
    }
}

/// Time is counted modulo 2^32 us: 4,294,967,296 us and 5 us are 5. Parts of a microsecond are cut off.
#[test]
fn the_time_of_sending_wraps() {
    let mut node = Node::new("diffq", &[]);
    node.now = Time(4_294_967_301_999);
    let mut header = Header::default();
    stamped(&mut node, &labelled(1, 9, 2), &mut header);
    assert_eq!(header.fields, [0, 7, 5, 0]);
}

/// Type 1 in the upper half of the first word.
#[test]
fn an_acknowledgement_says_its_type() {
    let mut node = Node::new("diffq", &[]);
    node.store(9, 2, 2);
    let ack = Packet { class: PacketClass::Ack, ..labelled(1, 9, 2) };
    let mut header = Header::default();
    stamped(&mut node, &ack, &mut header);
    assert_eq!((header.fields[0], trailer::queue(&header)), (0x1_0002, 2));
}

/// With the packet that leaves, a queue of 3 has 4; a size that a node multiplies by 2.5 is 7.5, cut to 7; at 0 it is 0; and the largest
/// number is that of 16 bits.
#[test]
fn the_size_that_is_announced() {
    let size = |name: &str, set: &[(&str, ParamValue)]| {
        let mut node = Node::new(name, set);
        node.store(9, 2, 3);
        let mut header = Header::default();
        stamped(&mut node, &labelled(50, 9, 2), &mut header);
        trailer::queue(&header)
    };
    let factor = |value| ("size_factor", ParamValue::Number(value));
    assert_eq!(size("diffq", &[]), 3);
    assert_eq!(size("diffq", &[("announced", ParamValue::Choice("before"))]), 4);
    assert_eq!([2.5, 0.0, 0.3, 1000.0].map(|value| size("diffq-liar", &[factor(value)])), [7, 0, 0, 3000]);
    let mut node = Node::new("diffq-liar", &[factor(1000.0)]);
    node.store(9, 2, 66);
    let mut header = Header::default();
    stamped(&mut node, &labelled(70, 9, 2), &mut header);
    assert_eq!(header.fields[0], 0xffff, "66,000 packets do not reach the type");
}

/// The acknowledgement of a packet that four of DiffQ's interfaces and one other have passed on, with a queue of 20 packets somewhere on
/// the way. The next packet came by two of them and saw none. The first writer of an acknowledgement is the receiver's node.
#[test]
fn acknowledgements_tell_the_path_of_the_data() {
    let mut kept = Header::default();
    assert_eq!(trailer::path(&(KIND.answer)(&mut kept)), None, "nothing has arrived");
    let arrives = |kept: &mut Header, supported, unsupported, last| {
        let data = Header { supported, unsupported, fields: [17, 8, 99, last] };
        (KIND.keep)(kept, &data);
        (KIND.answer)(kept)
    };
    let ack = arrives(&mut kept, 4, 1, 20 << 16 | 1000);
    assert_eq!(ack, Header { fields: [0x1_0000, 0, 0, 20 << 16 | 4 << 8 | 1], ..Header::default() });
    assert_eq!(trailer::path(&ack), Some(Path { with: 4, without: 1, longest: 20 }));
    let ack = arrives(&mut kept, 2, 0, 1001);
    assert_eq!(trailer::path(&ack), Some(Path { with: 2, without: 0, longest: 0 }));
}

/// Queues of 3, 5 and 2 packets behind data on its way: the longest so far is 3, 5, 5. An acknowledgement's is left alone.
#[test]
fn the_longest_queue_on_the_way() {
    let longest = |class, last| {
        let mut header = Header { fields: [0, 0, 0, last], ..Header::default() };
        [3, 5, 2].map(|left| {
            let mut node = Node::new("diffq", &[]);
            node.store(9, 2, left);
            stamped(&mut node, &Packet { class, ..labelled(50, 9, 2) }, &mut header);
            header.fields[3]
        })
    };
    assert_eq!(longest(PacketClass::Data, 41), [3 << 16 | 41, 5 << 16 | 41, 5 << 16 | 41]);
    assert_eq!(longest(PacketClass::Ack, 7 << 16 | 0x0201), [7 << 16 | 0x0201; 3]);
}

/// Version 1 and type data (1) in the first byte, or acknowledgement (2); 3 writers; 258 packets; then flow, time and number, each with its
/// highest byte first.
#[test]
fn sixteen_bytes() {
    let header =
        Header { supported: 3, unsupported: 0, fields: [0x0102, 0x0a0b_0c0d, 1_000_000, 0xfffe_fdfc] };
    let ack = Header { fields: [0x1_0102, header.fields[1], header.fields[2], header.fields[3]], ..header };
    let mut bytes =
        [0x11, 0x03, 0x01, 0x02, 0x0a, 0x0b, 0x0c, 0x0d, 0x00, 0x0f, 0x42, 0x40, 0xff, 0xfe, 0xfd, 0xfc];
    assert_eq!((KIND.wire_len, KIND.trailer, KIND.name), (16, true, "diffq"));
    for (header, first) in [(header, 0x11), (ack, 0x12)] {
        bytes[0] = first;
        let mut encoded = [0; 16];
        assert_eq!((KIND.encode)(&header, &mut encoded), Some(16));
        assert_eq!(encoded, bytes);
        assert_eq!((KIND.decode)(&bytes), Some(header));
    }
    // A source-routed packet keeps its type.
    bytes[0] = 0x13;
    let routed = (KIND.decode)(&bytes).unwrap();
    assert_eq!(routed.fields[0], 0x2_0102);
    let mut encoded = [0; 16];
    (KIND.encode)(&routed, &mut encoded);
    assert_eq!(encoded, bytes);
    // At each hop, too: only the size and the number of writers are the node's.
    let mut node = Node::new("diffq", &[]);
    node.store(9, 2, 3);
    let mut passed = routed;
    stamped(&mut node, &labelled(50, 9, 2), &mut passed);
    assert_eq!((passed.fields[0], passed.supported), (0x2_0003, 4));
    assert_eq!((KIND.encode)(&header, &mut [0; 15]), None);
    let long: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    assert_eq!(((KIND.decode)(&bytes[..15]), (KIND.decode)(&long)), (None, None));
}

/// The trailer is at the end of a packet of any length. Too short a packet, another version and an unknown type count.
#[test]
fn malformed_trailers_are_ignored_and_counted() {
    let mut bytes = vec![0x45; 20];
    let sent = announces(12);
    let mut end = [0; 16];
    (KIND.encode)(&sent, &mut end);
    bytes.extend(end);
    let mut reader = Reader::default();
    assert_eq!(reader.read(&bytes), Some(sent));
    assert_eq!(reader.read(&end), Some(sent), "nothing else in the packet");
    assert_eq!(reader.malformed, 0);
    for (count, bad) in [&end[1..], &bytes[..35], &[], &[0x45; 20]].into_iter().enumerate() {
        assert_eq!(reader.read(bad), None);
        assert_eq!(reader.malformed, count as u64 + 1);
    }
    for first in [0x01, 0x10, 0x14, 0x21] {
        bytes[20] = first;
        assert_eq!(reader.read(&bytes), None);
    }
    assert_eq!(reader.malformed, 8);
}

/// Marsaglia's xorshift64, sufficient for this test.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 33) % bound
    }
}

/// A million packets' ends, of random bytes and of trailers with a changed, missing or added byte, at a node that hears them all: each is
/// read or counted, and the node's table stays within its bounds, its sizes within the limit of a queue.
#[test]
fn a_million_ends_of_packets() {
    const SIZES: f64 = 32.0;
    let mut node = Node::new("diffq", &[("sizes", ParamValue::Integer(32))]);
    node.store(9, 2, 5);
    let (mut reader, mut random) = (Reader::default(), XorShift(0x2545_f491_4f6c_dd1d));
    let mut read = 0;
    for input in 0..1_000_000u64 {
        let mut bytes = [0; 40];
        bytes.iter_mut().for_each(|byte| *byte = random.next().to_le_bytes()[5]);
        let mut len = random.below(41) as usize;
        if input % 2 == 0 {
            let header = announces(random.below(0x1_0000) as u16);
            (KIND.encode)(&header, &mut bytes[24..]);
            len = 40;
            match random.below(4) {
                0 => bytes[24 + random.below(16) as usize] ^= 1 << random.below(8),
                1 => bytes[24 + random.below(16) as usize] = random.next().to_le_bytes()[5],
                2 => len -= 1,
                _ => {}
            }
        }
        let end = &bytes[..len];
        let before = reader.malformed;
        if let Some(header) = reader.read(end) {
            read += 1;
            assert!(matches!(end[len - 16], 0x11..=0x13));
            let [from, destination] = [random.below(20), random.below(20)].map(|node| NodeId(node as u32));
            node.queue.on_heard(&Heard { from, destination, header: &header }, node.now);
            node.now.0 += 1;
        } else {
            assert_eq!(reader.malformed, before + 1);
        }
        if input % 1000 == 0 {
            assert!(node.gauge("known_sizes") <= SIZES);
            assert_eq!((node.queue.view().packets, node.queue.view().bytes), (5, 5000));
            assert!(node.peek().is_some_and(|head| head.packet.id.0 == 1 && head.priority.0 <= 1));
        }
    }
    assert_eq!(read + reader.malformed, 1_000_000);
    assert!(read > 300_000 && reader.malformed > 300_000, "{read}");
    assert_eq!(node.gauge("known_sizes"), SIZES);
}

/// The queue and the source of a scheme have one kind of header, so that a queue reads what sources write.
#[test]
fn one_kind_for_queue_and_source() {
    let scheme = super::build("diffq", &[]);
    let queue = super::queue_of("diffq", &[], 1);
    for kind in
        [Some(queue.header()), scheme.source().unwrap().header(), scheme.udp().unwrap().source.header()]
    {
        assert!(std::ptr::eq(kind.unwrap(), &KIND));
    }
}
