//! Choices: the words that a key may have as its value, for every setting that is a choice.

use airfair_routing::SendRate;
use airfair_sim::spec::{
    AfterTimeout, Countdown, Eifs, ErrorModel, Interference, LockOn, Preamble, Protection, ResponseTimeout,
    Sensitivity, Standard, TimeoutDistance, TxopEnd,
};
use airfair_transport::{PartialAckTimer, TickMode};
use airfair_units::Dbm;

use crate::declare::field::{Field, find_word, quote, read_word, wrong_type};
use crate::declare::schema::{Schema, words, words_or};
use crate::text::error::{Cx, one_of};
use crate::text::location::Path;
use crate::text::tree::{Located, Value};

/// Profiles of a radio: which simulator's reading of the standard the keys that are not written follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// 802.11-2016.
    Standard,
    /// ns-2.35.
    Ns2,
    /// ns-3.37.
    Ns3,
}

/// Profiles of TCP: which implementation's values the keys that are not written have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TcpProfile {
    /// The recommendations of the RFCs.
    Rfc,
    /// ns-2.35.
    Ns2,
    /// ns-3.37.
    Ns3,
    /// A Linux host.
    Linux,
    /// The same as results of the year 2026 were recorded with.
    Linux2026,
}

/// The metric of static routes, of which the least is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// The number of hops.
    Hops,
    /// The expected transmission count.
    Etx,
}

/// The distribution of the sizes of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distribution {
    /// All the same.
    Fixed,
    /// Exponential.
    Exponential,
    /// Pareto.
    Pareto,
}

/// The distribution of the sizes of a Poisson source's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// All the same.
    Fixed,
    /// Exponential.
    Exponential,
}

macro_rules! choices {
    ($($ty:ident { $($variant:ident: $word:literal),* $(,)? })*) => {
        $(impl Field for $ty {
            const TYPE: &'static str = "choice";

            fn expected() -> String {
                one_of(&Self::choices())
            }

            fn choices() -> Vec<&'static str> {
                vec![$($word),*]
            }

            fn schema() -> Schema {
                words(&Self::choices())
            }

            fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
                read_word(item, path, cx, &[$(($word, Self::$variant)),*])
            }

            fn write(&self) -> String {
                quote(match self { $(Self::$variant => $word),* })
            }
        })*
    };
}

/// The message about a standard that exists and is not modelled; `None` for any other text.
pub(crate) fn not_modelled(text: &str) -> Option<String> {
    const LATER: [&str; 8] = ["n", "ac", "ad", "ax", "be", "ah", "p", "s"];
    let known = text.strip_prefix("802.11").is_some_and(|rest| LATER.contains(&rest));
    known.then(|| {
        format!(
            "\"{text}\": not modelled (no aggregation, block ACK, MIMO or wide channels); expected \"802.11b\", or \"802.11a\" or \
             \"802.11g\" for OFDM"
        )
    })
}

/// The words of `sensitivity`, whose value may be a power too.
const SENSITIVITIES: [(&str, Sensitivity); 2] =
    [("per-rate", Sensitivity::PerRate), ("preamble-detect", Sensitivity::PreambleDetect)];

impl Field for Sensitivity {
    const TYPE: &'static str = Dbm::TYPE;

    fn expected() -> String {
        format!("\"per-rate\", \"preamble-detect\" or {}", Dbm::expected())
    }

    fn choices() -> Vec<&'static str> {
        SENSITIVITIES.map(|(word, _)| word).to_vec()
    }

    fn schema() -> Schema {
        words_or(&Self::choices(), Dbm::schema())
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &item.value {
            Value::Text(text) if text.starts_with(char::is_alphabetic) => {
                find_word(text, (item, path, cx), &SENSITIVITIES)
            }
            Value::Text(_) => Dbm::read(item, path, cx).map(Self::Level),
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::PerRate => quote("per-rate"),
            Self::PreambleDetect => quote("preamble-detect"),
            Self::Level(level) => level.write(),
        }
    }
}

choices! {
    Profile { Standard: "standard", Ns2: "ns-2", Ns3: "ns-3" }
    Standard { Dot11b: "802.11b", Dot11a: "802.11a", Dot11g: "802.11g" }
    Preamble { Long: "long", Short: "short" }
    Protection { None: "none", CtsToSelf: "cts-to-self", RtsCts: "rts-cts" }
    LockOn { Preamble: "preamble", Energy: "energy" }
    Interference { Sum: "sum", Strongest: "strongest" }
    ErrorModel { Threshold: "threshold", WorstSinr: "worst-sinr", PerChunk: "per-chunk" }
    Eifs { LowestRate: "lowest-rate", ResponseRate: "response-rate", Off: "off" }
    Countdown { Standard: "standard", Dcf: "dcf" }
    TxopEnd { CfEnd: "cf-end", CfEndNs3: "cf-end-ns3", Silent: "silent" }
    AfterTimeout { Difs: "difs", Immediate: "immediate" }
    ResponseTimeout { PhyStart: "phy-start", WholeResponse: "whole-response" }
    TimeoutDistance { CoverageClass: "coverage-class", EachLink: "each-link" }
    Metric { Hops: "hops", Etx: "etx" }
    SendRate { Broadcast: "broadcast", Data: "data" }
    TcpProfile { Rfc: "rfc", Ns2: "ns-2", Ns3: "ns-3", Linux: "linux", Linux2026: "linux-2026" }
    TickMode { RoundUp: "round-up", Bsd: "bsd" }
    PartialAckTimer { Impatient: "impatient", SlowButSteady: "slow-but-steady" }
    Distribution { Fixed: "fixed", Exponential: "exponential", Pareto: "pareto" }
    Sizes { Fixed: "fixed", Exponential: "exponential" }
}
