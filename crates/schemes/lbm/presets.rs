//! Named sets of values of the parameters. The declared values are the paper's.

use airfair_units::Span;

use crate::params::{ParamValue, Preset};

/// Every preset.
pub const PRESETS: &[Preset] = &[
    // Chosen on scenes in which flows starve and on scenes in which none does; docs/schemes/lbm.md has what each value decides.
    Preset {
        name: Preset::DEFAULT,
        about: "what an operator should take",
        values: &[
            ("interval", ParamValue::Span(Span::from_millis(200))),
            ("alpha", ParamValue::Number(0.1)),
            ("adapt", ParamValue::Flag(true)),
            ("min_delay", ParamValue::Span(Span::from_millis(20))),
            ("max_delay", ParamValue::Span(Span::from_millis(40))),
            ("max_rho0", ParamValue::Number(1.0)),
            ("evenness", ParamValue::Number(4.0)),
            ("wired_red", ParamValue::Flag(false)),
            ("most_foreign", ParamValue::Number(0.03)),
        ],
    },
    // Without what a driver does not count: how long packets wait. So the threshold stays. It is just below the load of few flows that
    // fill a fast radio (0.34 of 54 Mbit/s), which are not to be marked much, and of a full cell with RTS/CTS (0.38 to 0.45 of
    // 11 Mbit/s), which is. The slope makes up for the threshold. With the exponent 4 few large flows beside small ones lose more;
    // docs/schemes/lbm.md has what each value decides.
    Preset {
        name: "live",
        about: "for a daemon, which has the counters of a device and the bytes of each flow",
        values: &[
            ("interval", ParamValue::Span(Span::from_millis(200))),
            ("alpha", ParamValue::Number(0.15)),
            ("rho0", ParamValue::Number(0.33)),
            ("evenness", ParamValue::Number(2.0)),
            ("wired_red", ParamValue::Flag(false)),
        ],
    },
    Preset {
        name: "paper",
        about: "the main reading of the paper, by which its figures are judged",
        values: &[],
    },
];
