//! Modes of 802.11b and 802.11a/g, and durations of frames.
//!
//! A mode is a row of one table. The properties of a mode are in its row, the rules of a standard in `Standard::rules`: no other place
//! names all modes, or counts on their number. Values by mode are in a [`Table`], or in the row.
//!
//! Clauses are those of IEEE 802.11-2016: 10.7.6.5 (responses), 15 (DSSS), 16 (HR/DSSS), 17 (OFDM), 18 (ERP).

use std::fmt;

use airfair_units::{Db, Rate, Span};

use crate::ids::{Ix, Table};
use crate::spec::{Preamble, Standard};

/// A modulation and coding scheme with its rate: the number of a row of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Mode(u8);

/// Code rate of a convolutional code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeRate {
    /// 1/2.
    Half,
    /// 2/3.
    TwoThirds,
    /// 3/4.
    ThreeQuarters,
}

/// How a mode puts bits on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modulation {
    /// DBPSK, 11-chip Barker code.
    Dbpsk,
    /// DQPSK, 11-chip Barker code.
    Dqpsk,
    /// CCK, 4 bits a symbol.
    Cck4,
    /// CCK, 8 bits a symbol.
    Cck8,
    /// OFDM with BPSK (1 bit a subcarrier), QPSK (2), 16-QAM (4) or 64-QAM (6).
    Ofdm {
        /// Coded bits of a subcarrier.
        bits: u32,
        /// Code rate.
        code: CodeRate,
    },
}

/// The properties of a mode.
#[derive(Debug)]
pub struct ModeRow {
    /// Name, for messages.
    pub name: &'static str,
    /// Rate of data bits.
    pub rate: Rate,
    /// How it puts bits on the air.
    pub modulation: Modulation,
    /// Standards that have the mode.
    pub standards: &'static [Standard],
    /// Duration of preamble and PLCP header with the long and with the short preamble, us.
    header_us: [u16; 2],
    /// Data bits of an OFDM symbol (Table 17-4); 0 for DSSS.
    symbol_bits: u16,
    /// Limits of its curve of errors ([`crate::air::error`]), as linear SNR: up to the first a bit error has probability 1/2 (negative: no
    /// such range); from the second on a bit is received with a probability that `f64` cannot distinguish from 1.
    pub(crate) saturated: (f64, f64),
    /// SNR at which 90 % of data frames of 1,500 bytes (1,536 with LLC and MAC) arrive, to a tenth of a decibel.
    pub required_snr: Db,
}

/// Standards of DSSS modes.
const DSSS: &[Standard] = &[Standard::Dot11b, Standard::Dot11g];
/// Standards of OFDM modes.
const OFDM: &[Standard] = &[Standard::Dot11a, Standard::Dot11g];

/// A row of DSSS or CCK. 1 Mbit/s has only the long header: 144 + 48 us long, 72 + 24 us short (16.2.2).
const fn dsss(
    (name, kbps): (&'static str, u64),
    modulation: Modulation,
    short_header_us: u16,
    certain: f64,
    required_snr: f64,
) -> ModeRow {
    ModeRow {
        name,
        rate: Rate::from_kbps(kbps),
        modulation,
        standards: DSSS,
        header_us: [192, short_header_us],
        symbol_bits: 0,
        saturated: (-1.0, certain),
        required_snr: Db(required_snr),
    }
}

/// A row of OFDM: a preamble of 16 us and a SIGNAL symbol of 4 us (17.3.2), symbols of 4 us.
const fn ofdm(
    (name, mbps): (&'static str, u64),
    (bits, code): (u32, CodeRate),
    saturated: (f64, f64),
    required_snr: f64,
) -> ModeRow {
    ModeRow {
        name,
        rate: Rate::from_mbps(mbps),
        modulation: Modulation::Ofdm { bits, code },
        standards: OFDM,
        header_us: [20, 20],
        symbol_bits: 4 * mbps as u16,
        saturated,
        required_snr: Db(required_snr),
    }
}

macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)*) => {
        /// Numbers of the rows.
        #[repr(u8)]
        enum Number { $($name,)* }

        impl Mode {
            $($(#[$doc])* pub const $name: Self = Self(Number::$name as u8);)*
        }

        /// The modes, slowest first within a family.
        static ROWS: [ModeRow; [$(Number::$name),*].len()] = [$($row),*];
    };
}

modes! {
    /// 1 Mbit/s: DBPSK.
    DSSS1 = dsss(("DSSS 1 Mbit/s", 1_000), Modulation::Dbpsk, 192, 1.86, -3.0);
    /// 2 Mbit/s: DQPSK.
    DSSS2 = dsss(("DSSS 2 Mbit/s", 2_000), Modulation::Dqpsk, 96, 5.95, 1.5);
    /// 5.5 Mbit/s: CCK.
    CCK5_5 = dsss(("CCK 5.5 Mbit/s", 5_500), Modulation::Cck4, 96, 8.44, 3.5);
    /// 11 Mbit/s: CCK.
    CCK11 = dsss(("CCK 11 Mbit/s", 11_000), Modulation::Cck8, 96, 16.9, 6.4);
    /// 6 Mbit/s: BPSK, 1/2.
    OFDM6 = ofdm(("OFDM 6 Mbit/s", 6), (1, CodeRate::Half), (0.91, 7.67), 3.6);
    /// 9 Mbit/s: BPSK, 3/4.
    OFDM9 = ofdm(("OFDM 9 Mbit/s", 9), (1, CodeRate::ThreeQuarters), (1.53, 13.5), 6.2);
    /// 12 Mbit/s: QPSK, 1/2.
    OFDM12 = ofdm(("OFDM 12 Mbit/s", 12), (2, CodeRate::Half), (1.82, 15.4), 6.6);
    /// 18 Mbit/s: QPSK, 3/4.
    OFDM18 = ofdm(("OFDM 18 Mbit/s", 18), (2, CodeRate::ThreeQuarters), (3.07, 27.0), 9.2);
    /// 24 Mbit/s: 16-QAM, 1/2.
    OFDM24 = ofdm(("OFDM 24 Mbit/s", 24), (4, CodeRate::Half), (7.01, 73.9), 13.1);
    /// 36 Mbit/s: 16-QAM, 3/4.
    OFDM36 = ofdm(("OFDM 36 Mbit/s", 36), (4, CodeRate::ThreeQuarters), (13.0, 133.0), 15.9);
    /// 48 Mbit/s: 64-QAM, 2/3.
    OFDM48 = ofdm(("OFDM 48 Mbit/s", 48), (6, CodeRate::TwoThirds), (30.4, 492.0), 20.7);
    /// 54 Mbit/s: 64-QAM, 3/4.
    OFDM54 = ofdm(("OFDM 54 Mbit/s", 54), (6, CodeRate::ThreeQuarters), (46.5, 545.0), 21.9);
}

impl Mode {
    /// Every mode, slowest first within its family.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..ROWS.len()).map(Self::of)
    }

    /// A value for each mode.
    pub fn table<T>(of: impl FnMut(Self) -> T) -> Table<Self, T> {
        Self::all().map(of).collect()
    }

    /// The properties of the mode.
    #[inline(always)]
    #[must_use]
    pub fn row(self) -> &'static ModeRow {
        &ROWS[usize::from(self.0)]
    }

    /// Data rate of the mode.
    #[inline]
    #[must_use]
    pub fn rate(self) -> Rate {
        self.row().rate
    }

    /// True for the OFDM modes.
    #[inline]
    #[must_use]
    pub fn is_ofdm(self) -> bool {
        matches!(self.row().modulation, Modulation::Ofdm { .. })
    }

    /// True if the mode has a header for this preamble that is shorter than the one for the long preamble.
    #[must_use]
    pub fn shortens(self, preamble: Preamble) -> bool {
        self.header(preamble) < self.header(Preamble::Long)
    }

    /// The mode of a standard with this rate, if there is one.
    #[must_use]
    pub fn of_rate(standard: Standard, rate: Rate) -> Option<Self> {
        Self::of_standard(standard).find(|m| m.rate() == rate)
    }

    /// The modes of a standard.
    pub fn of_standard(standard: Standard) -> impl Iterator<Item = Self> {
        Self::all().filter(move |mode| mode.row().standards.contains(&standard))
    }

    /// Duration of preamble and PLCP header.
    #[inline]
    #[must_use]
    pub fn header(self, preamble: Preamble) -> Span {
        let [long, short] = self.row().header_us;
        let us = match preamble {
            Preamble::Long => long,
            Preamble::Short => short,
        };
        Span::from_micros(us.into())
    }

    /// Duration of a PPDU that carries `bytes` of PSDU.
    ///
    /// DSSS: header + bits / rate, rounded up to a microsecond (16.3.4). OFDM: header + 4 us for each symbol of
    /// 16 service bits, the PSDU and 6 tail bits (17.4.3); in 2.4 GHz + 6 us of signal extension (18.3.2.4).
    #[inline]
    #[must_use]
    pub fn duration(self, bytes: u32, standard: Standard, preamble: Preamble) -> Span {
        let (row, bits) = (self.row(), u64::from(bytes) * 8);
        let payload_us = match row.symbol_bits {
            0 => (bits * 1_000_000).div_ceil(row.rate.as_bps()),
            per_symbol => {
                4 * (16 + bits + 6).div_ceil(per_symbol.into()) + standard.rules().signal_extension_us
            }
        };
        self.header(preamble) + Span::from_micros(payload_us)
    }
}

impl Ix for Mode {
    fn of(place: usize) -> Self {
        Self(place as u8)
    }

    #[inline(always)]
    fn ix(self) -> usize {
        self.0.into()
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

/// The rules of a standard.
#[derive(Debug)]
pub(crate) struct StandardRules {
    /// The slowest mandatory mode.
    pub slowest: Mode,
    /// aSlotTime, and the short slot if there is one, ns.
    pub slots: (u64, Option<u64>),
    /// aSIFSTime, ns.
    pub sifs: u64,
    /// Signal extension of OFDM modes, us.
    pub signal_extension_us: u64,
}

impl Standard {
    /// The rules of the standard.
    pub(crate) const fn rules(self) -> &'static StandardRules {
        match self {
            Self::Dot11b => &StandardRules {
                slowest: Mode::DSSS1,
                slots: (20_000, None),
                sifs: 10_000,
                signal_extension_us: 0,
            },
            Self::Dot11a => &StandardRules {
                slowest: Mode::OFDM6,
                slots: (9_000, None),
                sifs: 16_000,
                signal_extension_us: 0,
            },
            Self::Dot11g => &StandardRules {
                slowest: Mode::DSSS1,
                slots: (20_000, Some(9_000)),
                sifs: 10_000,
                signal_extension_us: 6,
            },
        }
    }
}

/// The basic rates of a radio, by which responses are sent.
#[derive(Debug, Clone)]
pub(crate) struct BasicRates {
    pub standard: Standard,
    pub modes: Vec<Mode>,
}

impl BasicRates {
    /// The fastest basic rate that is not above the limit's, among the OFDM modes or among the others.
    fn fastest_below(&self, limit: Mode, ofdm: bool) -> Option<Mode> {
        let suits = |m: &Mode| m.is_ofdm() == ofdm && m.rate() <= limit.rate();
        self.modes.iter().copied().filter(suits).max_by_key(|m| m.rate())
    }

    /// Mode of the response to a frame: the highest basic rate not above the frame's, of the same modulation class if there is one
    /// (10.7.6.5.2).
    pub fn response_to(&self, mode: Mode) -> Mode {
        let ofdm = mode.is_ofdm();
        let lowest = || if ofdm { Mode::OFDM6 } else { self.standard.rules().slowest };
        self.fastest_below(mode, ofdm).or_else(|| self.fastest_below(mode, !ofdm)).unwrap_or_else(lowest)
    }

    /// Mode of the frames that protect OFDM data from stations without OFDM.
    pub fn protecting(&self) -> Mode {
        self.fastest_below(Mode::CCK11, false).unwrap_or(self.standard.rules().slowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frame durations published with ns-3 (src/wifi/test/tx-duration-test.cc; numbers only): mode, PSDU bytes, standard,
    /// preamble, microseconds.
    #[test]
    fn durations_equal_the_published_ones() {
        use Preamble::{Long, Short};
        use Standard::{Dot11a, Dot11b, Dot11g};
        let rows: &[(Mode, u32, Standard, Preamble, u64)] = &[
            (Mode::CCK11, 1023, Dot11b, Short, 840),
            (Mode::CCK11, 1024, Dot11b, Short, 841),
            (Mode::CCK11, 1025, Dot11b, Short, 842),
            (Mode::CCK11, 1026, Dot11b, Short, 843),
            (Mode::CCK11, 1023, Dot11b, Long, 936),
            (Mode::CCK11, 1024, Dot11b, Long, 937),
            (Mode::CCK11, 1025, Dot11b, Long, 938),
            (Mode::CCK11, 1026, Dot11b, Long, 939),
            (Mode::CCK5_5, 1023, Dot11b, Short, 1584),
            (Mode::CCK5_5, 1024, Dot11b, Short, 1586),
            (Mode::CCK5_5, 1025, Dot11b, Short, 1587),
            (Mode::CCK5_5, 1026, Dot11b, Short, 1589),
            (Mode::CCK5_5, 1023, Dot11b, Long, 1680),
            (Mode::CCK5_5, 1024, Dot11b, Long, 1682),
            (Mode::CCK5_5, 1025, Dot11b, Long, 1683),
            (Mode::CCK5_5, 1026, Dot11b, Long, 1685),
            (Mode::DSSS2, 1023, Dot11b, Short, 4188),
            (Mode::DSSS2, 1024, Dot11b, Short, 4192),
            (Mode::DSSS2, 1025, Dot11b, Short, 4196),
            (Mode::DSSS2, 1026, Dot11b, Short, 4200),
            (Mode::DSSS2, 1023, Dot11b, Long, 4284),
            (Mode::DSSS2, 1024, Dot11b, Long, 4288),
            (Mode::DSSS2, 1025, Dot11b, Long, 4292),
            (Mode::DSSS2, 1026, Dot11b, Long, 4296),
            (Mode::DSSS1, 1023, Dot11b, Short, 8376),
            (Mode::DSSS1, 1024, Dot11b, Short, 8384),
            (Mode::DSSS1, 1025, Dot11b, Short, 8392),
            (Mode::DSSS1, 1026, Dot11b, Short, 8400),
            (Mode::DSSS1, 1023, Dot11b, Long, 8376),
            (Mode::DSSS1, 1024, Dot11b, Long, 8384),
            (Mode::DSSS1, 1025, Dot11b, Long, 8392),
            (Mode::DSSS1, 1026, Dot11b, Long, 8400),
            (Mode::DSSS1, 14, Dot11b, Long, 304),
            (Mode::CCK11, 1536, Dot11b, Long, 1310),
            (Mode::CCK11, 76, Dot11b, Long, 248),
            (Mode::CCK11, 14, Dot11b, Long, 203),
            (Mode::OFDM54, 1536, Dot11a, Long, 248),
            (Mode::OFDM54, 76, Dot11a, Long, 32),
            (Mode::OFDM54, 14, Dot11a, Long, 24),
            (Mode::OFDM54, 1536, Dot11g, Long, 254),
            (Mode::OFDM54, 76, Dot11g, Long, 38),
            (Mode::OFDM54, 14, Dot11g, Long, 30),
        ];
        for &(mode, bytes, standard, preamble, us) in rows {
            let got = mode.duration(bytes, standard, preamble);
            assert_eq!(got, Span::from_micros(us), "{mode:?} {bytes} B {standard:?} {preamble:?}");
        }
        // The payload alone (rows "payload" of the same table): 11 Mbit/s, 1023..1026 bytes.
        for (bytes, us) in [(1023, 744), (1024, 745), (1025, 746), (1026, 747)] {
            let whole = Mode::CCK11.duration(bytes, Dot11b, Long);
            assert_eq!(whole - Mode::CCK11.header(Long), Span::from_micros(us));
        }
    }

    #[test]
    fn a_rate_belongs_to_its_standard() {
        assert_eq!(Mode::of_rate(Standard::Dot11b, Rate(5_500_000)), Some(Mode::CCK5_5));
        assert_eq!(Mode::of_rate(Standard::Dot11b, Rate(6_000_000)), None);
        assert_eq!(Mode::of_rate(Standard::Dot11g, Rate(6_000_000)), Some(Mode::OFDM6));
    }
}
