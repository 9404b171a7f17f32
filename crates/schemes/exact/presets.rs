//! Named sets of values of the parameters. The declared values are the law as far as it is known.

use crate::params::Preset;

/// Every preset.
pub const PRESETS: &[Preset] = &[
    Preset { name: Preset::DEFAULT, about: "what an operator should take", values: &[] },
    Preset { name: "paper", about: "the law as it is known", values: &[] },
];
