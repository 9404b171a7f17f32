//! Named sets of values of the parameters. The declared values are the paper's.

use crate::params::Preset;

/// Every preset beside the defaults.
pub const PRESETS: &[Preset] = &[Preset {
    name: "paper",
    about: "the main reading of the paper, by which its figures are judged",
    values: &[],
}];
