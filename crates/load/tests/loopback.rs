//! Both ends over the loopback device, and each end beside plain sockets.

#![cfg(unix)]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;

use airfair_load::datagram::{HEADER, Header, Kind};
use airfair_load::report::{FlowReport, ReceiveReport, SendReport};
use airfair_load::wait::{Stop, boot, now};
use airfair_load::{ReceiveOptions, Receiver, SendOptions, send};

const MILLI: u64 = 1_000_000;

fn receiver(options: &[(&str, &str)]) -> Receiver {
    let mut of = ReceiveOptions::default();
    // A test that fails ends.
    for (option, text) in [("port", "0"), ("for", "20 s")].iter().chain(options) {
        of.set(option, text).unwrap();
    }
    Receiver::new(&of).unwrap()
}

fn received(receiver: Receiver) -> ReceiveReport {
    receiver.run(&mut Stop::new(&mut || false)).unwrap()
}

fn sent_to(host: &str, port: u16, options: &[(&str, &str)]) -> Result<SendReport, String> {
    let mut of = SendOptions::default();
    of.set("port", &port.to_string()).unwrap();
    options.iter().for_each(|(option, text)| of.set(option, text).unwrap());
    send(host, &of, &mut Stop::new(&mut || false))
}

/// Both reports of one flow.
fn both(host: &str, receive: &[(&str, &str)], options: &[(&str, &str)]) -> (ReceiveReport, SendReport) {
    let receiver = receiver(receive);
    let port = receiver.port();
    thread::scope(|scope| {
        let receiving = scope.spawn(|| received(receiver));
        let sent = sent_to(host, port, options).unwrap();
        (receiving.join().unwrap(), sent)
    })
}

fn only(report: &ReceiveReport) -> &FlowReport {
    assert_eq!(report.flows.len(), 1, "{report:?}");
    &report.flows[0]
}

fn pause(millis: u64) {
    Stop::new(&mut || false).sleep(now() + millis * MILLI).unwrap();
}

/// The bytes that arrive are those that the kernel says were acknowledged.
#[test]
fn tcp_over_both_families() {
    for host in ["127.0.0.1", "::1"] {
        let (receive, sent) = both(host, &[("every", "10 ms")], &[("bytes", "5 MB")]);
        let flow = only(&receive);
        assert_eq!((flow.bytes, flow.ended, sent.bytes), (5_000_000, true, 5_000_000));
        assert!(flow.from.contains(host), "{}", flow.from);
        assert_eq!(flow.intervals.as_ref().unwrap().iter().sum::<u64>(), 5_000_000);
        assert!(flow.goodput_kbps.unwrap() > 0.0 && flow.packets.is_none());
        if cfg!(target_os = "linux") {
            let tcp = sent.tcp.unwrap();
            assert_eq!(tcp.acknowledged, 5_000_000);
            assert!(tcp.segments >= 5_000_000 / 65_536 && tcp.mss > 500 && tcp.cwnd > 0);
            assert!(tcp.rtt_s > 0.0 && tcp.rtt_s < 1.0 && tcp.rto_s >= 0.1, "{tcp:?}");
        }
    }
}

#[test]
fn a_plain_socket_receives_the_pattern() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut bytes = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let sent = sent_to("127.0.0.1", port, &[("bytes", "100_001 B")]).unwrap();
        let bytes = reading.join().unwrap();
        assert_eq!((bytes.len(), sent.bytes), (100_001, 100_001));
        assert!(bytes.iter().enumerate().all(|(number, &byte)| byte == number as u8));
    });
}

/// 4 Mbit/s for 500 ms are 250,000 B, but for the last of the writes, of which there are a hundred a second.
#[test]
fn tcp_at_a_rate() {
    let window = [("from", "100 ms"), ("to", "300 ms")];
    let (receive, sent) = both("127.0.0.1", &window, &[("rate", "4 Mbit/s"), ("for", "500 ms")]);
    assert_eq!(only(&receive).bytes, sent.bytes);
    assert!((5_000..=250_000).contains(&sent.bytes), "{}", sent.bytes);
    assert!(sent.sending_s <= 0.5 && only(&receive).window_goodput_kbps.is_some());
}

/// 1000 B at 8 Mbit/s are one a millisecond. So few have room at the socket, however late the receiver runs.
#[test]
fn udp_over_both_families() {
    for host in ["127.0.0.1", "::1"] {
        let options = [("udp", ""), ("rate", "8 Mbit/s"), ("size", "1 kB"), ("for", "150 ms")];
        let (receive, sent) = both(host, &[], &options);
        let flow = only(&receive);
        let packets = flow.packets.as_ref().unwrap();
        let taken = sent.packets.unwrap();
        assert_eq!(taken + sent.skipped.unwrap() + sent.refused.unwrap(), 150);
        assert_eq!((packets.received, packets.lost, flow.bytes), (taken, 0, taken * 1000));
        assert_eq!((packets.duplicated, packets.reordered, packets.marked), (0, 0, 0));
        assert_eq!((receive.ignored, receive.too_many, flow.ended), (0, 0, true));
        assert_eq!(packets.delays.is_some(), boot() != 0);
        if let Some([p50, p99, longest]) = packets.delays {
            assert!(p50 > 0.0 && p50 <= p99 && p99 <= longest && longest < 20.0);
        }
    }
}

/// A relay that loses, doubles and delays packets by rule, and marks all: every count is exact.
#[test]
fn counts_behind_a_hostile_relay() {
    for host in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
        let receiver = receiver(&[]);
        let to = SocketAddr::new(host, receiver.port());
        let (relay, out) = (UdpSocket::bind((host, 0)).unwrap(), UdpSocket::bind((host, 0)).unwrap());
        match host {
            IpAddr::V4(_) => rustix::net::sockopt::set_ip_tos(&out, 3).unwrap(),
            IpAddr::V6(_) => rustix::net::sockopt::set_ipv6_tclass(&out, 3).unwrap(),
        }
        let port = relay.local_addr().unwrap().port();
        let (receive, sent) = thread::scope(|scope| {
            scope.spawn(move || {
                let (mut bytes, mut held) = ([0; 2000], Vec::new());
                loop {
                    let (length, _) = relay.recv_from(&mut bytes).unwrap();
                    let header = Header::decode(&bytes[..length]).unwrap();
                    let number = header.sequence;
                    match header.kind {
                        Kind::Data if number % 10 == 3 => {}
                        Kind::Data if number % 10 == 5 => held = bytes[..length].to_vec(),
                        Kind::Data => {
                            out.send_to(&bytes[..length], to).unwrap();
                            if number % 10 == 7 {
                                out.send_to(&bytes[..length], to).unwrap();
                                out.send_to(&held, to).unwrap();
                            }
                        }
                        Kind::End => {
                            out.send_to(b"from a stranger", to).unwrap();
                            out.send_to(&bytes[..length], to).unwrap();
                            break;
                        }
                        Kind::Probe => {}
                    }
                }
            });
            let receiving = scope.spawn(|| received(receiver));
            let options = [("udp", ""), ("rate", "4 Mbit/s"), ("size", "500 B"), ("for", "150 ms")];
            let sent = sent_to(&host.to_string(), port, &options).unwrap();
            (receiving.join().unwrap(), sent)
        });
        let flow = only(&receive);
        let packets = flow.packets.as_ref().unwrap();
        let taken = sent.packets.unwrap();
        let with_end = |digit: u64| (taken + 9 - digit) / 10;
        // A held packet is sent after that with 7 at its end.
        let lost = with_end(3) + with_end(5) - with_end(7);
        assert_eq!((packets.received, packets.lost), (taken - lost, lost));
        assert_eq!((packets.duplicated, packets.reordered), (with_end(7), with_end(7)));
        assert_eq!((packets.marked, packets.too_late), (packets.received, 0));
        assert_eq!((flow.bytes, receive.ignored), (packets.received * 500, 1));
    }
}

#[test]
fn a_sender_waits_for_its_receiver() {
    for options in [vec![("bytes", "1 kB")], vec![("udp", ""), ("rate", "1 Mbit/s"), ("for", "50 ms")]] {
        let port = receiver(&[]).port();
        let (receive, sent) = thread::scope(|scope| {
            let sending = scope.spawn(|| sent_to("localhost", port, &options).unwrap());
            pause(150);
            let mut of = ReceiveOptions::default();
            of.set("port", &port.to_string()).unwrap();
            of.set("for", "20 s").unwrap();
            (received(Receiver::new(&of).unwrap()), sending.join().unwrap())
        });
        assert!(sent.bytes > 0);
        assert_eq!(only(&receive).bytes, sent.bytes);
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let port = receiver(&[]).port();
    for options in [vec![("wait", "0 s")], vec![("udp", ""), ("rate", "1 Mbit/s"), ("wait", "100 ms")]] {
        let error = sent_to("127.0.0.1", port, &options).unwrap_err();
        assert!(error.starts_with(&format!("127.0.0.1:{port}: Connection refused")), "{error}");
    }
    assert!(sent_to("no-such-host.invalid", port, &[]).unwrap_err().starts_with("no-such-host.invalid: "));
    let error = sent_to("127.0.0.1", port, &[("congestion-control", "nonesuch")]).unwrap_err();
    assert!(error.starts_with("--congestion-control: nonesuch: "), "{error}");
    if cfg!(target_os = "linux") {
        assert!(error.contains("net.ipv4.tcp_a"), "{error}");
    }
    let listening = receiver(&[]);
    let mut of = ReceiveOptions::default();
    of.set("port", &listening.port().to_string()).unwrap();
    assert!(Receiver::new(&of).unwrap_err().starts_with(&format!("--port: {}: ", listening.port())));
}

/// Four packets by hand over a plain socket: the flow has no end, and the receiver ends as nothing more comes.
#[test]
fn a_receiver_ends_when_it_is_idle() {
    let receiver = receiver(&[("idle", "100 ms"), ("from", "0 s"), ("to", "50 ms")]);
    let to = (Ipv4Addr::LOCALHOST, receiver.port());
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for sequence in [0, 1, 1, 4] {
        let header = Header { kind: Kind::Data, run: 3, sequence, sent_at: now() - 5 * MILLI, boot: boot() };
        socket.send_to(&header.encode(), to).unwrap();
    }
    let report = received(receiver);
    let flow = only(&report);
    let packets = flow.packets.as_ref().unwrap();
    assert_eq!((packets.received, packets.duplicated, packets.lost), (3, 1, 2));
    assert_eq!((flow.bytes, flow.ended), (3 * HEADER as u64, false));
    // 120 B in 50 ms.
    assert!((flow.window_goodput_kbps.unwrap() - 19.2).abs() < 1e-9);
    assert!(report.wall_s >= 0.1);
    assert!(packets.delays.is_none_or(|[p50, ..]| p50 >= 0.005));
}

/// A connection that says nothing does not keep others out, and is no flow; two flows are awaited.
#[test]
fn strangers_and_two_flows() {
    let receiver = receiver(&[("flows", "2")]);
    let port = receiver.port();
    let stranger = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    thread::scope(|scope| {
        let receiving = scope.spawn(|| received(receiver));
        pause(20);
        let mut plain = TcpStream::connect((Ipv6Addr::LOCALHOST, port)).unwrap();
        plain.write_all(&[1; 700]).unwrap();
        let sent = sent_to("127.0.0.1", port, &[("bytes", "300 B")]).unwrap();
        drop(plain);
        let report = receiving.join().unwrap();
        let mut bytes: Vec<u64> = report.flows.iter().map(|flow| flow.bytes).collect();
        bytes.sort_unstable();
        assert_eq!((bytes, sent.bytes), (vec![300, 700], 300));
        assert!(report.flows.iter().all(|flow| flow.ended));
    });
    drop(stranger);
}

/// A sender that could not run for a while leaves out what it has missed: no burst.
#[test]
fn a_late_sender_skips() {
    let receiver = receiver(&[]);
    let port = receiver.port();
    thread::scope(|scope| {
        let receiving = scope.spawn(|| received(receiver));
        let mut of = SendOptions::default();
        for (option, text) in [("udp", ""), ("rate", "800 kbit/s"), ("for", "1 s"), ("wait", "0 s")] {
            of.set(option, text).unwrap();
        }
        of.port = port;
        let mut looks = 0;
        let mut look = || {
            looks += 1;
            if looks == 3 {
                pause(300);
            }
            false
        };
        // 1000 B at 800 kbit/s: one each 10 ms, 100 in all.
        let sent = send("127.0.0.1", &of, &mut Stop::new(&mut look)).unwrap();
        let report = receiving.join().unwrap();
        let (taken, skipped) = (sent.packets.unwrap(), sent.skipped.unwrap());
        assert_eq!(taken + skipped, 100);
        assert!(skipped >= 29, "{skipped}");
        let packets = only(&report).packets.clone().unwrap();
        assert_eq!((packets.received, packets.lost), (taken, 0));
    });
}

#[test]
fn a_request_ends_both_ends_with_a_report() {
    let receiver = receiver(&[]);
    let port = receiver.port();
    thread::scope(|scope| {
        let end = now() + 400 * MILLI;
        let receiving = scope.spawn(move || receiver.run(&mut Stop::new(&mut || now() > end + 300 * MILLI)));
        let mut of = SendOptions::default();
        of.port = port;
        let sent = send("127.0.0.1", &of, &mut Stop::new(&mut || now() > end)).unwrap();
        assert!(sent.interrupted && sent.bytes > 0 && sent.sending_s < 5.0);
        let report = receiving.join().unwrap().unwrap();
        assert_eq!(only(&report).bytes, sent.bytes);
        assert!(!report.interrupted);
    });
}
