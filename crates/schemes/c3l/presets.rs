//! Named sets of values of the parameters. The declared values are the paper's.

use airfair_units::Span;

use crate::params::{ParamValue, Preset};

/// Every preset.
pub const PRESETS: &[Preset] = &[
    // Chosen on scenes in which flows starve and on scenes in which none does; docs/schemes/c3l.md has what each value decides.
    Preset {
        name: Preset::DEFAULT,
        about: "what an operator should take",
        values: &[
            ("tcp_window", ParamValue::Choice("newreno")),
            ("least_window", ParamValue::Integer(4)),
            ("doubles_timer", ParamValue::Flag(false)),
            ("unstamped", ParamValue::Flag(true)),
            ("own_queue", ParamValue::Flag(false)),
            ("unled", ParamValue::Span(Span::from_secs(5))),
            ("probe_reach", ParamValue::Choice("sense")),
            ("probe_power", ParamValue::Number(10.0)),
            ("hello_interval", ParamValue::Span(Span::from_secs(2))),
            ("cycle", ParamValue::Span(Span::from_secs(4))),
            ("first_cycle", ParamValue::Span(Span::from_secs(1))),
            ("answers", ParamValue::Flag(true)),
            ("used_rate", ParamValue::Choice("arrivals")),
            ("repeats_cost", ParamValue::Flag(true)),
            ("w_factor", ParamValue::Number(1.0)),
            ("used", ParamValue::Number(0.0)),
            ("first_capacity", ParamValue::Number(0.7)),
            ("most_capacity", ParamValue::Number(0.95)),
            ("aside", ParamValue::Number(0.6)),
            ("local_threshold", ParamValue::Number(0.2)),
            ("local_factor", ParamValue::Number(0.8)),
            ("local_again", ParamValue::Span(Span::from_secs(1))),
            ("local_floor", ParamValue::Number(0.3)),
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
