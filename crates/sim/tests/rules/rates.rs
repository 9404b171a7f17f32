//! Which rate carries what: responses, broadcasts, preambles, short slots, protection.

use airfair_sim::ids::StationIx;
use airfair_sim::modes::Mode;
use airfair_sim::record::FrameKind::{self, Ack, Broadcast, Cts, Data, Rts};
use airfair_sim::spec::{Preamble, Protection, RadioSpec, Standard};
use airfair_units::{Rate, Span};

use crate::support::rig::*;
use crate::support::*;

const PAIR: [At; 2] = [("a", 0, 0.0), ("b", 0, 0.0)];

fn exchange(radio: RadioSpec) -> Vec<(FrameKind, u32, u64, u64)> {
    let mut rig = Rig::new(&[no_back_off(by_matrix(radio))], &PAIR, &both(0, 1, -60.0), 1);
    rig.send(1_000_000, 0, 1, 1500);
    story(&rig.run(20_000_000))
}

fn rates(list: &[u64]) -> Vec<Rate> {
    list.iter().map(|&kbps| Rate::from_kbps(kbps)).collect()
}

/// The ACK's duration shows its rate: 14 B after 192 us at 1, 2, 5.5, 11 Mbit/s.
#[test]
fn responses_at_the_highest_basic_rate_not_above_the_data_rate() {
    for (data, basic, ack_us) in [
        (11_000, &[1000][..], 304),
        (11_000, &[1000, 2000], 248),
        (11_000, &[1000, 2000, 5500], 213),
        (11_000, &[1000, 2000, 5500, 11_000], 203),
        (2_000, &[1000, 2000, 5500, 11_000], 248),
        (1_000, &[1000, 2000, 5500, 11_000], 304),
    ] {
        let mut radio = dot11b(400.0, 550.0);
        radio.phy.data_rate = Rate::from_kbps(data);
        radio.phy.basic_rates = rates(basic);
        let ack = exchange(radio)[1];
        assert_eq!((ack.0, ack.3 - ack.2), (Ack, ack_us * 1000), "{data} {basic:?}");
    }
    // 802.11a: 134 bits are 6 symbols at 6 Mbit/s, 3 at 12, 2 at 24.
    for (data, ack_us) in [(6, 44), (9, 44), (12, 32), (18, 32), (24, 28), (36, 28), (54, 28)] {
        let ack = exchange(dot11a(data, 400.0, 550.0))[1];
        assert_eq!((ack.0, ack.3 - ack.2), (Ack, ack_us * 1000), "{data}");
    }
}

/// The duration of a data frame is known in advance: 192 us and 1536 B at 11 Mbit/s; 20 us and 513 symbols of 24 bits.
#[test]
fn the_airtime_of_a_packet_is_that_of_its_frame() {
    for (radio, mode, us) in
        [(dot11b(400.0, 550.0), Mode::CCK11, 1310), (dot11a(6, 400.0, 550.0), Mode::OFDM6, 2072)]
    {
        let rig = Rig::new(&[by_matrix(radio.clone())], &PAIR, &both(0, 1, -60.0), 1);
        assert_eq!(rig.air.mac(StationIx(0)).airtime(mode, 1500), Span::from_micros(us));
        let data = exchange(radio)[0];
        assert_eq!((data.0, data.3 - data.2), (Data, us * 1000));
    }
}

/// The rate of an ACK depends on the acknowledged frame, not on the data rate of the responding station. `a` sends at 1 Mbit/s, `b` at 11,
/// both have 1 and 11 as basic rates.
#[test]
fn a_response_hangs_on_the_frame_that_it_answers() {
    let mut fast = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    fast.phy.basic_rates = rates(&[1000, 11_000]);
    let mut slow = fast.clone();
    slow.phy.data_rate = Rate::from_kbps(1000);
    let stations = [("a", 0, 0.0), ("b", 1, 0.0)];
    for (from, to, mode) in [(0, 1, Mode::DSSS1), (1, 0, Mode::CCK11)] {
        let mut rig = Rig::new(&[slow.clone(), fast.clone()], &stations, &both(0, 1, -60.0), 1);
        rig.send(1_000_000, from, to, 100);
        let trace = rig.run(20_000_000);
        assert_eq!(frames(&trace)[1].mode, mode);
    }
}

/// Broadcasts are sent once, at their own rate, reserve nothing, and are not answered. 136 B at 2 Mbit/s: 192 + 544 us.
#[test]
fn broadcasts_go_once_at_their_own_rate() {
    for (rate, us) in [(1000, 1280), (2000, 736), (11_000, 291)] {
        let mut radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
        radio.phy.broadcast_rate = Rate::from_kbps(rate);
        let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
        let mut rig = Rig::new(&[with_rts(radio)], &stations, &[(0, 1, -60.0)], 1);
        rig.broadcast(1_000_000, 0, 100);
        rig.broadcast(1_000_000, 0, 100);
        let trace = rig.run(20_000_000);
        let end = 1_000_000 + us * 1000;
        // DIFS between the two; `c` hears neither.
        let second = end + 50_000;
        let expected = [(Broadcast, 0, 1_000_000, end), (Broadcast, 0, second, second + us * 1000)];
        assert_eq!(story(&trace), expected);
        assert_eq!(frames(&trace)[0].nav_us, 0);
        assert_eq!(rig.diary.got, [(end, 1, 0), (second + us * 1000, 1, 1)]);
    }
}

/// 96 us instead of 192 for all rates but 1 Mbit/s.
#[test]
fn short_preambles() {
    let mut radio = dot11b(400.0, 550.0);
    radio.phy.preamble = Preamble::Short;
    radio.phy.basic_rates = rates(&[1000, 2000]);
    // DATA 96 + 1118, SIFS, ACK 96 + 56.
    let expected = [(Data, 0, 1_000_000, 2_214_000), (Ack, 1, 2_224_000, 2_376_000)];
    assert_eq!(exchange(radio.clone()), expected);
    radio.phy.basic_rates = rates(&[1000]);
    let expected = [(Data, 0, 1_000_000, 2_214_000), (Ack, 1, 2_224_000, 2_528_000)];
    assert_eq!(exchange(radio), expected);
}

fn dot11g(protection: Protection) -> RadioSpec {
    let mut radio = dot11b(400.0, 550.0);
    radio.phy.standard = Standard::Dot11g;
    radio.phy.data_rate = Rate::from_mbps(54);
    radio.phy.basic_rates = rates(&[1000, 2000, 5500, 11_000, 6000, 12_000, 24_000]);
    radio.phy.protection = protection;
    radio
}

/// 802.11g: DATA 248 + 6 us of signal extension, SIFS 10, ACK at 24 Mbit/s 28 + 6.
#[test]
fn plain_802_11g() {
    let expected = [(Data, 0, 1_000_000, 1_254_000), (Ack, 1, 1_264_000, 1_298_000)];
    assert_eq!(exchange(dot11g(Protection::None)), expected);
}

/// CTS to itself at 11 Mbit/s (192 + 11), SIFS, DATA, SIFS, ACK. It reserves 2 x 10 + 254 + 34 = 308 us.
#[test]
fn cts_to_itself_protects_ofdm() {
    let radio = no_back_off(by_matrix(dot11g(Protection::CtsToSelf)));
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("old", 0, 0.0)];
    let powers = [both(0, 1, -60.0).to_vec(), vec![(0, 2, -60.0)]].concat();
    let mut rig = Rig::new(&[radio], &stations, &powers, 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(1_100_000, 2, 100);
    let trace = rig.run(20_000_000);
    let expected = [
        (Cts, 0, 1_000_000, 1_203_000),
        (Data, 0, 1_213_000, 1_467_000),
        (Ack, 1, 1_477_000, 1_511_000),
        // The bystander's NAV ends with the ACK: DIFS of 10 + 2 x 20.
        (Broadcast, 2, 1_561_000, 2_841_000),
    ];
    assert_eq!(story(&trace), expected);
    assert_eq!(frames(&trace)[0].nav_us, 308);
    assert_eq!(frames(&trace)[0].mode, Mode::CCK11);
}

/// RTS 192 + 160/11 = 207 us, CTS 203 us at 11 Mbit/s. The RTS reserves 3 x 10 + 203 + 254 + 34 = 521 us.
#[test]
fn rts_cts_protects_ofdm() {
    let expected = [
        (Rts, 0, 1_000_000, 1_207_000),
        (Cts, 1, 1_217_000, 1_420_000),
        (Data, 0, 1_430_000, 1_684_000),
        (Ack, 1, 1_694_000, 1_728_000),
    ];
    assert_eq!(exchange(dot11g(Protection::RtsCts)), expected);
}

/// No protection without OFDM: data at 11 Mbit/s.
#[test]
fn dsss_data_need_no_protection() {
    let mut radio = dot11g(Protection::CtsToSelf);
    radio.phy.data_rate = Rate::from_mbps(11);
    let expected = [(Data, 0, 1_000_000, 2_310_000), (Ack, 1, 2_320_000, 2_523_000)];
    assert_eq!(exchange(radio), expected);
}

/// Short slots: DIFS 10 + 2 x 9 = 28 us instead of 50; the ACK ends at 1298000.
#[test]
fn short_slots_shorten_difs() {
    for (short, second) in [(true, 1_326_000), (false, 1_348_000)] {
        let mut radio = no_back_off(by_matrix(dot11g(Protection::None)));
        radio.phy.short_slot = short;
        let mut rig = Rig::new(&[radio], &PAIR, &both(0, 1, -60.0), 1);
        rig.send(1_000_000, 0, 1, 1500);
        rig.send(1_000_000, 0, 1, 1500);
        assert_eq!(starts(&rig.run(20_000_000), 0)[1], second);
    }
}

/// RTS go before frames longer than the threshold: 1536 B of MPDU.
#[test]
fn the_rts_threshold_counts_mpdu_bytes() {
    for (threshold, first) in [(1536, Data), (1535, Rts)] {
        let mut radio = dot11b(400.0, 550.0);
        radio.mac.rts_threshold = airfair_units::Bytes(threshold);
        assert_eq!(exchange(radio)[0].0, first);
    }
}
