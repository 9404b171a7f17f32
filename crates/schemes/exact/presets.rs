//! Named sets of values of the parameters. The declared values are the law as far as it is known.

use crate::params::{ParamValue, Preset};

/// Every preset.
pub const PRESETS: &[Preset] = &[
    // Chosen on fourteen scenes; docs/schemes/exact.md has what each value decides.
    Preset {
        name: Preset::DEFAULT,
        about: "what an operator should take",
        values: &[("utilisation", ParamValue::Number(0.7))],
    },
    Preset { name: "paper", about: "the law as it is known", values: &[] },
];
