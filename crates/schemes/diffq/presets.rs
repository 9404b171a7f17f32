//! Named sets of values of the parameters. The declared values are the paper's.

use airfair_units::{Rate, Span};

use crate::params::{ParamValue, Preset};

/// Every preset.
pub const PRESETS: &[Preset] = &[
    // Chosen on scenes in which flows starve and on scenes in which none does; docs/schemes/diffq.md has what each value decides.
    Preset {
        name: Preset::DEFAULT,
        about: "what an operator should take",
        values: &[
            ("serve", ParamValue::Choice("positive")),
            ("steps", ParamValue::Choice("packets")),
            ("threshold", ParamValue::Integer(0)),
            ("beta", ParamValue::Number(0.8)),
            ("acks", ParamValue::Choice("highest")),
            ("levels", ParamValue::Integer(1)),
            ("counts", ParamValue::Choice("own")),
            ("alpha", ParamValue::Rate(Rate::from_kbps(1))),
            ("alpha_by", ParamValue::Choice("link")),
            ("gain", ParamValue::Number(0.02)),
            ("rate_start", ParamValue::Rate(Rate::from_kbps(500))),
            ("rate_max", ParamValue::Rate(Rate::from_mbps(1_000))),
            ("window", ParamValue::Integer(2)),
            ("slack", ParamValue::Integer(5)),
            ("udp_alpha", ParamValue::Rate(Rate::from_kbps(20))),
            ("calls", ParamValue::Span(Span::from_secs(3))),
        ],
    },
    Preset {
        name: "paper",
        about: "the main reading of the paper, by which its figures are judged",
        values: &[],
    },
];

/// The presets of a variant that experiments of the paper compare with: it has the declared values only.
pub const OF_VARIANTS: &[Preset] = &[Preset {
    name: "paper",
    about: "the main reading of the paper, by which its figures are judged",
    values: &[],
}];
