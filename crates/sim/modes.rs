//! Modes of 802.11b and 802.11a/g, and durations of frames.
//!
//! Clauses are those of IEEE 802.11-2016: 15 (DSSS), 16 (HR/DSSS), 17 (OFDM), 18 (ERP).

use airfair_units::{Rate, Span};

use crate::spec::{Preamble, Standard};

/// A modulation and coding scheme with its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Mode {
    /// DBPSK, 11-chip Barker code.
    Dsss1,
    /// DQPSK, 11-chip Barker code.
    Dsss2,
    /// CCK, 4 bits a symbol.
    Cck5_5,
    /// CCK, 8 bits a symbol.
    Cck11,
    /// BPSK, rate 1/2.
    Ofdm6,
    /// BPSK, rate 3/4.
    Ofdm9,
    /// QPSK, rate 1/2.
    Ofdm12,
    /// QPSK, rate 3/4.
    Ofdm18,
    /// 16-QAM, rate 1/2.
    Ofdm24,
    /// 16-QAM, rate 3/4.
    Ofdm36,
    /// 64-QAM, rate 2/3.
    Ofdm48,
    /// 64-QAM, rate 3/4.
    Ofdm54,
}

impl Mode {
    /// Every mode, slowest first within its family.
    pub const ALL: [Self; 12] = [
        Self::Dsss1,
        Self::Dsss2,
        Self::Cck5_5,
        Self::Cck11,
        Self::Ofdm6,
        Self::Ofdm9,
        Self::Ofdm12,
        Self::Ofdm18,
        Self::Ofdm24,
        Self::Ofdm36,
        Self::Ofdm48,
        Self::Ofdm54,
    ];

    /// Data rate of the mode.
    #[must_use]
    pub const fn rate(self) -> Rate {
        Rate(match self {
            Self::Dsss1 => 1_000_000,
            Self::Dsss2 => 2_000_000,
            Self::Cck5_5 => 5_500_000,
            Self::Cck11 => 11_000_000,
            Self::Ofdm6 => 6_000_000,
            Self::Ofdm9 => 9_000_000,
            Self::Ofdm12 => 12_000_000,
            Self::Ofdm18 => 18_000_000,
            Self::Ofdm24 => 24_000_000,
            Self::Ofdm36 => 36_000_000,
            Self::Ofdm48 => 48_000_000,
            Self::Ofdm54 => 54_000_000,
        })
    }

    /// True for the OFDM modes.
    #[must_use]
    pub const fn is_ofdm(self) -> bool {
        self as u8 >= Self::Ofdm6 as u8
    }

    /// The mode of a standard with this rate, if there is one.
    #[must_use]
    pub fn of_rate(standard: Standard, rate: Rate) -> Option<Self> {
        Self::of_standard(standard).iter().copied().find(|m| m.rate() == rate)
    }

    /// The modes of a standard.
    #[must_use]
    pub fn of_standard(standard: Standard) -> &'static [Self] {
        match standard {
            Standard::Dot11b => &Self::ALL[..4],
            Standard::Dot11a => &Self::ALL[4..],
            Standard::Dot11g => &Self::ALL,
        }
    }

    /// Data bits of an OFDM symbol (Table 17-4); 0 for DSSS.
    const fn bits_per_symbol(self) -> u64 {
        match self {
            Self::Ofdm6 => 24,
            Self::Ofdm9 => 36,
            Self::Ofdm12 => 48,
            Self::Ofdm18 => 72,
            Self::Ofdm24 => 96,
            Self::Ofdm36 => 144,
            Self::Ofdm48 => 192,
            Self::Ofdm54 => 216,
            _ => 0,
        }
    }

    /// Duration of preamble and PLCP header.
    ///
    /// DSSS: 144 + 48 us long, 72 + 24 us short; 1 Mbit/s has only the long form (16.2.2). OFDM: 16 us + one SIGNAL
    /// symbol of 4 us (17.3.2).
    #[must_use]
    pub const fn header(self, preamble: Preamble) -> Span {
        if self.is_ofdm() {
            return Span::from_micros(20);
        }
        match (preamble, self) {
            (Preamble::Long, _) | (_, Self::Dsss1) => Span::from_micros(192),
            (Preamble::Short, _) => Span::from_micros(96),
        }
    }

    /// Duration of a PPDU that carries `bytes` of PSDU.
    ///
    /// DSSS: header + bits / rate, rounded up to a microsecond (16.3.4). OFDM: header + 4 us for each symbol of
    /// 16 service bits, the PSDU and 6 tail bits (17.4.3); in 2.4 GHz + 6 us of signal extension (18.3.2.4).
    #[inline]
    #[must_use]
    pub fn duration(self, bytes: u32, standard: Standard, preamble: Preamble) -> Span {
        let bits = u64::from(bytes) * 8;
        let payload_us = match self {
            Self::Dsss1 => bits,
            Self::Dsss2 => bits.div_ceil(2),
            Self::Cck5_5 => (bits * 2).div_ceil(11),
            Self::Cck11 => bits.div_ceil(11),
            _ => {
                let extension = if matches!(standard, Standard::Dot11g) { 6 } else { 0 };
                4 * (16 + bits + 6).div_ceil(self.bits_per_symbol()) + extension
            }
        };
        self.header(preamble) + Span::from_micros(payload_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frame durations published with ns-3 (src/wifi/test/tx-duration-test.cc; numbers only): mode, PSDU bytes, standard,
    /// preamble, microseconds.
    #[test]
    fn durations_equal_the_published_ones() {
        use Mode::*;
        use Preamble::{Long, Short};
        use Standard::{Dot11a, Dot11b, Dot11g};
        let rows: &[(Mode, u32, Standard, Preamble, u64)] = &[
            (Cck11, 1023, Dot11b, Short, 840),
            (Cck11, 1024, Dot11b, Short, 841),
            (Cck11, 1025, Dot11b, Short, 842),
            (Cck11, 1026, Dot11b, Short, 843),
            (Cck11, 1023, Dot11b, Long, 936),
            (Cck11, 1024, Dot11b, Long, 937),
            (Cck11, 1025, Dot11b, Long, 938),
            (Cck11, 1026, Dot11b, Long, 939),
            (Cck5_5, 1023, Dot11b, Short, 1584),
            (Cck5_5, 1024, Dot11b, Short, 1586),
            (Cck5_5, 1025, Dot11b, Short, 1587),
            (Cck5_5, 1026, Dot11b, Short, 1589),
            (Cck5_5, 1023, Dot11b, Long, 1680),
            (Cck5_5, 1024, Dot11b, Long, 1682),
            (Cck5_5, 1025, Dot11b, Long, 1683),
            (Cck5_5, 1026, Dot11b, Long, 1685),
            (Dsss2, 1023, Dot11b, Short, 4188),
            (Dsss2, 1024, Dot11b, Short, 4192),
            (Dsss2, 1025, Dot11b, Short, 4196),
            (Dsss2, 1026, Dot11b, Short, 4200),
            (Dsss2, 1023, Dot11b, Long, 4284),
            (Dsss2, 1024, Dot11b, Long, 4288),
            (Dsss2, 1025, Dot11b, Long, 4292),
            (Dsss2, 1026, Dot11b, Long, 4296),
            (Dsss1, 1023, Dot11b, Short, 8376),
            (Dsss1, 1024, Dot11b, Short, 8384),
            (Dsss1, 1025, Dot11b, Short, 8392),
            (Dsss1, 1026, Dot11b, Short, 8400),
            (Dsss1, 1023, Dot11b, Long, 8376),
            (Dsss1, 1024, Dot11b, Long, 8384),
            (Dsss1, 1025, Dot11b, Long, 8392),
            (Dsss1, 1026, Dot11b, Long, 8400),
            (Dsss1, 14, Dot11b, Long, 304),
            (Cck11, 1536, Dot11b, Long, 1310),
            (Cck11, 76, Dot11b, Long, 248),
            (Cck11, 14, Dot11b, Long, 203),
            (Ofdm54, 1536, Dot11a, Long, 248),
            (Ofdm54, 76, Dot11a, Long, 32),
            (Ofdm54, 14, Dot11a, Long, 24),
            (Ofdm54, 1536, Dot11g, Long, 254),
            (Ofdm54, 76, Dot11g, Long, 38),
            (Ofdm54, 14, Dot11g, Long, 30),
        ];
        for &(mode, bytes, standard, preamble, us) in rows {
            let got = mode.duration(bytes, standard, preamble);
            assert_eq!(got, Span::from_micros(us), "{mode:?} {bytes} B {standard:?} {preamble:?}");
        }
        // The payload alone (rows "payload" of the same table): 11 Mbit/s, 1023..1026 bytes.
        for (bytes, us) in [(1023, 744), (1024, 745), (1025, 746), (1026, 747)] {
            let whole = Cck11.duration(bytes, Dot11b, Long);
            assert_eq!(whole - Cck11.header(Long), Span::from_micros(us));
        }
    }

    #[test]
    fn a_rate_belongs_to_its_standard() {
        assert_eq!(Mode::of_rate(Standard::Dot11b, Rate(5_500_000)), Some(Mode::Cck5_5));
        assert_eq!(Mode::of_rate(Standard::Dot11b, Rate(6_000_000)), None);
        assert_eq!(Mode::of_rate(Standard::Dot11g, Rate(6_000_000)), Some(Mode::Ofdm6));
    }
}
