//! Named sets of values of the parameters. The declared values are the paper's.

use airfair_units::Span;

use crate::params::{ParamValue, Preset};

/// Every preset.
pub const PRESETS: &[Preset] = &[
    // Chosen on scenes in which flows starve and on scenes in which none does; docs/schemes/qfcp.md has what each value decides.
    Preset {
        name: Preset::DEFAULT,
        about: "what an operator should take",
        values: &[
            ("stations", ParamValue::Flag(false)),
            ("paced", ParamValue::Flag(true)),
            ("rise", ParamValue::Number(1.1)),
            ("yields_for", ParamValue::Span(Span::from_secs(60))),
            ("initial_share", ParamValue::Number(1.0)),
            ("asks_every", ParamValue::Span(Span::from_secs(1))),
            ("slow_start", ParamValue::Flag(true)),
            ("most_given_up", ParamValue::Number(0.02)),
        ],
    },
    Preset {
        name: "paper",
        about: "the main reading of the paper, by which its figures are judged",
        values: &[],
    },
];
