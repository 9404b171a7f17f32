//! C3L's messages and header against bytes laid out by hand after their tables of fields.

use airfair_wire::c3l::{
    Alive, Allocation, AllocationHead, AnswerReport, Feedback, FlowReport, Hello, LinkReport, MOST_BYTES,
    Message, Neighbour, Report, ReportHead, Share, Stamp, Word,
};
use airfair_wire::{DecodeError, Expected, Header};

/// Encodes to exactly these bytes, of which no prefix decodes, and decodes to what follows.
fn is(message: &Message, bytes: &[u8]) {
    let len = bytes.len();
    let mut encoded = vec![0xee; len + 1];
    assert_eq!((message.encode(&mut encoded), message.wire_len()), (Ok(len), len));
    assert_eq!((&encoded[..len], encoded[len]), (bytes, 0xee));
    assert_eq!(Message::decode(&encoded), Ok((message.clone(), &[0xee][..])));
    assert!(message.encode(&mut encoded[..len - 1]).is_err());
    for short in 0..len {
        let DecodeError { header, offset, expected } = Message::decode(&bytes[..short]).unwrap_err();
        assert_eq!(header, Header::C3l);
        assert!(matches!(expected, Expected::Bytes { .. }) && offset <= short);
    }
}

/// Offset and text of the error of bytes that are no message.
fn refused(bytes: &[u8]) -> (usize, String) {
    let error = Message::decode(bytes).unwrap_err();
    (error.offset, error.to_string())
}

#[test]
fn a_controller_s_word() {
    let word = Word { controller: 0x0102_0304, freshness: 0x0a0b_0c0d };
    is(&Message::Word(word), &[0x17, 0, 0, 0, 1, 2, 3, 4, 0x0a, 0x0b, 0x0c, 0x0d]);
    assert_eq!(Word::decode(&[0x11; 12]).unwrap_err().offset, 0);
    let ignored = Word::decode(&[0x17, 1, 2, 3, 1, 2, 3, 4, 0x0a, 0x0b, 0x0c, 0x0d, 9]).unwrap();
    assert_eq!(ignored, (word, &[9][..]));
}

#[test]
fn hello_and_probe() {
    let alive = [
        Alive { controller: 0x0102_0304, freshness: 0x0a0b_0c0d, hops: 2 },
        Alive { controller: 5, freshness: 6, hops: 0 },
    ];
    let hello = Hello::new(false, 0x1234, 9, alive.into_iter());
    assert_eq!(hello.controllers(), alive);
    let bytes =
        [0x11, 2, 0x12, 0x34, 0, 0, 0, 9, 1, 2, 3, 4, 0x0a, 0x0b, 0x0c, 0x0d, 2, 0, 0, 0, 5, 0, 0, 0, 6, 0];
    is(&Message::Hello(hello), &bytes);
    is(
        &Message::Hello(Hello::new(true, 0xffff, u32::MAX, std::iter::empty())),
        &[0x12, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    );
    // Nine controllers: the first eight.
    let many = Hello::new(false, 0, 0, (0..9).map(|controller| Alive { controller, freshness: 0, hops: 0 }));
    assert_eq!((many.controllers().len(), many.wire_len()), (Hello::MOST, 80));
    let mut bytes = vec![0; 89];
    many.encode(&mut bytes).unwrap();
    assert!(Hello::decode(&bytes).is_ok());
    bytes[1] = 9;
    assert_eq!(
        refused(&bytes),
        (1, "C3L message, byte 1: controllers: expected at most 8, found 0x9".into())
    );
    assert_eq!(Hello::decode(&[0x13; 16]).unwrap_err().offset, 0);
}

const LINK: LinkReport = LinkReport {
    next_hop: 2,
    capacity: 0x0002_a8aa,
    used: 0x0001_0000,
    transmissions: 0x0140,
    overloaded: true,
    lost: 0,
};
const FLOW: FlowReport = FlowReport { flow: 0x0a0b_0c0d, next_hop: 2, rate: 0x0100, demand: u32::MAX };
const HEARD: Neighbour = Neighbour { node: 3, hellos: 254, probes: 255 };
const HEAD: ReportHead = ReportHead { node: 7, number: 0x0102, version: 0x0304 };

#[test]
fn report() {
    let parts = Report::parts(HEAD, &[LINK], &[FLOW], Some(&[HEARD]));
    assert_eq!(parts.len(), 1);
    let [report] = &parts[..] else { unreachable!() };
    assert_eq!((report.head(), report.part().index(), report.part().of()), (HEAD, 0, 1));
    assert_eq!(
        (report.links(), report.flows(), report.neighbours()),
        (&[LINK][..], &[FLOW][..], Some(&[HEARD][..]))
    );
    let bytes = [
        0x13, 1, 0, 1, 0, 0, 0, 7, 1, 2, 3, 4, 1, 1, 1, 0, // head
        0, 0, 0, 2, 0, 2, 0xa8, 0xaa, 0, 1, 0, 0, 1, 0x40, 1, // link
        0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 2, 0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, // flow
        0, 0, 0, 3, 254, 255, // neighbour
    ];
    is(&Message::Report(report.clone()), &bytes);
    // Reserved bits are ignored.
    let mut reserved = bytes;
    reserved[1] = 0xff;
    assert_eq!(Report::decode(&reserved).unwrap().0, *report);
    // A list that is empty is not the same as no list.
    let empty = |neighbours| Report::parts(HEAD, &[], &[], neighbours).remove(0);
    let bytes = |listed| [0x13, listed, 0, 1, 0, 0, 0, 7, 1, 2, 3, 4, 0, 0, 0, 0];
    is(&Message::Report(empty(None)), &bytes(0));
    is(&Message::Report(empty(Some(&[]))), &bytes(1));
    assert_eq!((empty(None).neighbours(), empty(Some(&[])).neighbours()), (None, Some(&[][..])));
    let quiet = LinkReport { overloaded: false, ..LINK };
    let report = Report::parts(HEAD, &[quiet], &[], None).remove(0);
    let mut encoded = [0; 31];
    report.encode(&mut encoded).unwrap();
    assert_eq!(encoded[30], 0);
    assert_eq!(Report::decode(&encoded), Ok((report, &[][..])));
}

/// Acknowledgements: 12 bytes each between flows and neighbours, their number in the last byte of the head. A link that loses 2 of 127
/// packets has a 2 above bit 0.
#[test]
fn a_report_with_answers() {
    let answer = AnswerReport { flow: 0x0a0b_0c0d, next_hop: 5, time: 0x0001_86a0 };
    let lossy = LinkReport { overloaded: false, lost: 2, ..LINK };
    let report = Report::parts_with_answers(HEAD, &[lossy], &[], &[answer], Some(&[HEARD])).remove(0);
    assert_eq!((report.answers(), report.links()), (&[answer][..], &[lossy][..]));
    let bytes = [
        0x13, 1, 0, 1, 0, 0, 0, 7, 1, 2, 3, 4, 1, 0, 1, 1, // head
        0, 0, 0, 2, 0, 2, 0xa8, 0xaa, 0, 1, 0, 0, 1, 0x40, 4, // link
        0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 5, 0, 1, 0x86, 0xa0, // answer
        0, 0, 0, 3, 254, 255, // neighbour
    ];
    is(&Message::Report(report), &bytes);
    // 115 answers are 1380 bytes, with the head 1396; a 116th would be 1408, which no message has.
    let parts = Report::parts_with_answers(HEAD, &[], &[], &[answer; 116], None);
    assert_eq!(parts.iter().map(Report::wire_len).collect::<Vec<_>>(), [1396, 28]);
    let mut many = vec![0; 1408];
    parts[0].encode(&mut many).unwrap();
    many[15] = 116;
    assert_eq!(refused(&many).0, 12);
}

/// 100 links are 1500 bytes, 100 flows 1600, 100 neighbours 600. The first part has 16 + 92 x 15 = 1396; then 8 x 15 + 79 x 16 = 1384;
/// then 21 x 16 + 100 x 6 = 936, with heads 1400 and 952.
#[test]
fn a_long_report_is_sent_in_parts() {
    let links: Vec<LinkReport> = (0..100).map(|next_hop| LinkReport { next_hop, ..LINK }).collect();
    let flows: Vec<FlowReport> = (0..100).map(|flow| FlowReport { flow, ..FLOW }).collect();
    let heard: Vec<Neighbour> = (0..100).map(|node| Neighbour { node, ..HEARD }).collect();
    let parts = Report::parts(HEAD, &links, &flows, Some(&heard));
    let lengths: Vec<usize> = parts.iter().map(Report::wire_len).collect();
    assert_eq!(lengths, [1396, 1400, 952]);
    let numbers: Vec<(u8, u8)> = parts.iter().map(|part| (part.part().index(), part.part().of())).collect();
    assert_eq!(numbers, [(0, 3), (1, 3), (2, 3)]);
    assert!(parts.iter().all(|part| part.head() == HEAD && part.neighbours().is_some()));
    assert_eq!(parts.iter().flat_map(Report::links).copied().collect::<Vec<_>>(), links);
    assert_eq!(parts.iter().flat_map(Report::flows).copied().collect::<Vec<_>>(), flows);
    assert_eq!(parts.iter().filter_map(Report::neighbours).flatten().copied().collect::<Vec<_>>(), heard);
    for part in parts {
        let mut bytes = vec![0; part.wire_len()];
        part.encode(&mut bytes).unwrap();
        assert_eq!(Report::decode(&bytes), Ok((part, &[][..])));
    }
    // 230 neighbours are 1396 bytes with the head; no more than 255 parts.
    let heard: Vec<Neighbour> = (0..60_000).map(|node| Neighbour { node, ..HEARD }).collect();
    let parts = Report::parts(HEAD, &[], &[], Some(&heard));
    assert_eq!((parts.len(), parts[254].wire_len(), parts[254].part().index()), (255, 1396, 254));
}

#[test]
fn what_is_no_report() {
    let mut good = vec![0; 16 + 92 * 15];
    Report::parts(HEAD, &[LINK; 92], &[], None)[0].encode(&mut good).unwrap();
    assert!(Report::decode(&good).is_ok());
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes.resize(MOST_BYTES + 100, 0);
        bytes[at] = byte;
        refused(&bytes).0
    };
    assert_eq!(with(2, 1), 2, "part 1 of 1");
    assert_eq!(with(3, 0), 2, "part 0 of 0");
    assert_eq!(with(12, 93), 12, "1411 bytes");
    assert_eq!(with(14, 1), 12, "a neighbour that is not listed");
    assert_eq!(with(0, 0x23), 0);
    assert!(Report::decode(&[0x14; 40]).is_err());
}

#[test]
fn allocation() {
    let head =
        AllocationHead { controller: 1, node: 0x0708_090a, round: 0x0102, version: 0x0304, valid_ms: 24_000 };
    let shares = [Share { next_hop: 2, share: 0x0001_0203 }, Share { next_hop: 3, share: 0 }];
    let parts = Allocation::parts(head, &shares);
    let [allocation] = &parts[..] else { unreachable!() };
    assert_eq!((allocation.head(), allocation.links()), (head, &shares[..]));
    let bytes = [
        0x14, 0, 1, 2, 0, 0, 0, 1, 7, 8, 9, 0x0a, 1, 2, 3, 4, 0, 0, 0x5d, 0xc0, // head
        0, 0, 0, 2, 0, 1, 2, 3, 0, 0, 0, 3, 0, 0, 0, 0,
    ];
    is(&Message::Allocation(allocation.clone()), &bytes);
    is(&Message::Allocation(Allocation::parts(head, &[]).remove(0)), &{
        let mut none = bytes;
        none[3] = 0;
        none[..20].to_vec()
    });
    // 172 links are 1396 bytes.
    let shares: Vec<Share> = (0..173).map(|next_hop| Share { next_hop, share: 1 }).collect();
    let parts = Allocation::parts(head, &shares);
    assert_eq!(parts.iter().map(Allocation::wire_len).collect::<Vec<_>>(), [1396, 28]);
    assert_eq!(
        parts.iter().map(|part| (part.part().index(), part.part().of())).collect::<Vec<_>>(),
        [(0, 2), (1, 2)]
    );
    assert_eq!(parts.iter().flat_map(Allocation::links).copied().collect::<Vec<_>>(), shares);
    let mut long = vec![0; 1500];
    parts[0].encode(&mut long).unwrap();
    assert!(Allocation::decode(&long).is_ok());
    long[3] = 173;
    assert_eq!(refused(&long).0, 3);
    (long[3], long[1]) = (0, 2);
    assert_eq!(refused(&long).0, 1);
    assert!(Allocation::decode(&[0x13; 40]).is_err());
}

#[test]
fn stamp_and_feedback() {
    let stamp = Stamp {
        next: 17,
        supported: 3,
        unsupported: 1,
        flow: 0x0a0b_0c0d,
        allocation: u32::MAX,
        rate: 0x0102_0304,
        sequence: 0xfffe_fdfc,
    };
    let bytes =
        [0x15, 17, 3, 1, 0x0a, 0x0b, 0x0c, 0x0d, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xfc];
    let mut encoded = [0xee; 21];
    assert_eq!(stamp.encode(&mut encoded), Ok(20));
    assert_eq!((&encoded[..20], encoded[20]), (&bytes[..], 0xee));
    assert_eq!(Stamp::decode(&encoded), Ok((stamp, &[0xee][..])));
    assert!(stamp.encode(&mut encoded[..19]).is_err());
    for short in 0..20 {
        assert!(Stamp::decode(&bytes[..short]).is_err());
    }
    assert_eq!(
        refused(&bytes),
        (0, "C3L message, byte 0: version and type: expected 0x11 to 0x14, 0x16 or 0x17, found 0x15".into())
    );
    assert!(Stamp::decode(&[0x16; 20]).is_err() && Feedback::decode(&[0x15; 20]).is_err());
    let feedback = Feedback {
        epoch: 0x0102,
        flow: 0x0a0b_0c0d,
        allocation: 0x0001_0000,
        received: 255,
        sequence: 70_000,
    };
    let bytes = [0x16, 0, 1, 2, 0x0a, 0x0b, 0x0c, 0x0d, 0, 1, 0, 0, 0, 0, 0, 255, 0, 1, 0x11, 0x70];
    is(&Message::Feedback(feedback), &bytes);
    let mut reserved = bytes;
    reserved[1] = 7;
    assert_eq!(Feedback::decode(&reserved), Ok((feedback, &[][..])));
    assert_eq!(refused(&[]).0, 0);
}
