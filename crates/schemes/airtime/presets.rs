//! Named sets of values of the parameters. The declared values are the law as it follows from the paper's abstract.

use crate::params::{ParamValue, Preset};

/// Every preset.
pub const PRESETS: &[Preset] = &[
    // Chosen on scenes in which flows starve and on scenes in which none does; docs/schemes/airtime.md has what each value decides.
    Preset {
        name: Preset::DEFAULT,
        about: "what an operator should take",
        values: &[
            ("weight", ParamValue::Choice("flows")),
            ("charges_retries", ParamValue::Flag(false)),
            ("relief", ParamValue::Number(0.05)),
            ("spoiled", ParamValue::Flag(true)),
        ],
    },
    Preset { name: "paper", about: "the law that follows from the paper's abstract", values: &[] },
];
