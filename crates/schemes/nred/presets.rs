//! Named sets of values of the parameters. The declared values are the paper's.

use airfair_units::Span;

use crate::params::{ParamValue, Preset};

/// Every preset.
pub const PRESETS: &[Preset] = &[
    // Chosen on scenes in which flows starve and on scenes in which none does; docs/schemes/nred.md has what each value decides.
    Preset {
        name: Preset::DEFAULT,
        about: "what an operator should take",
        values: &[
            ("ncn_interval", ParamValue::Span(Span::from_millis(200))),
            ("max_p", ParamValue::Number(1.0)),
            ("set_up", ParamValue::Flag(false)),
            ("spare", ParamValue::Number(0.5)),
            ("evenness", ParamValue::Number(2.0)),
            ("silence", ParamValue::Span(Span::from_millis(500))),
            ("recovery", ParamValue::Span(Span::from_secs(7))),
            ("lasting", ParamValue::Span(Span::from_secs(10))),
            ("little", ParamValue::Number(0.35)),
            ("trial", ParamValue::Span(Span::from_secs(20))),
            ("enough", ParamValue::Number(0.08)),
            ("rest", ParamValue::Span(Span::from_secs(60))),
            ("most_sufferers", ParamValue::Integer(1)),
            ("most_foreign", ParamValue::Number(0.03)),
            ("answered", ParamValue::Flag(true)),
        ],
    },
    // The default, but for notifications to one neighbour, which no driver lets the others overhear; and who is notified asks for a proof:
    // docs/validation-lies.md.
    Preset {
        name: "live",
        about: "for a daemon, whose neighbours do not overhear each other",
        values: &[
            ("ncn_interval", ParamValue::Span(Span::from_millis(200))),
            ("max_p", ParamValue::Number(1.0)),
            ("set_up", ParamValue::Flag(false)),
            ("broadcast", ParamValue::Flag(true)),
            ("spare", ParamValue::Number(0.5)),
            ("evenness", ParamValue::Number(2.0)),
            ("silence", ParamValue::Span(Span::from_millis(500))),
            ("recovery", ParamValue::Span(Span::from_secs(7))),
            ("lasting", ParamValue::Span(Span::from_secs(10))),
            ("little", ParamValue::Number(0.35)),
            ("trial", ParamValue::Span(Span::from_secs(20))),
            ("enough", ParamValue::Number(0.08)),
            ("rest", ParamValue::Span(Span::from_secs(60))),
            ("proof", ParamValue::Span(Span::from_secs(20))),
            ("most_sufferers", ParamValue::Integer(1)),
            ("most_foreign", ParamValue::Number(0.03)),
            ("answered", ParamValue::Flag(true)),
        ],
    },
    Preset {
        name: "paper",
        about: "the main reading of the paper, by which its figures are judged",
        values: &[],
    },
];

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// A change of the default that the preset for daemons does not follow is seen here.
    #[test]
    fn the_preset_for_daemons_is_the_default_but_for_broadcasts_and_the_proof() {
        let preset = |name: &str| PRESETS.iter().find(|preset| preset.name == name).unwrap();
        let (default, live) = (preset(Preset::DEFAULT), preset("live"));
        let names = default.values.iter().chain(live.values).map(|(name, _)| *name);
        let mut differ: Vec<&str> = names.filter(|name| default.value(name) != live.value(name)).collect();
        differ.sort_unstable();
        differ.dedup();
        assert_eq!(differ, ["broadcast", "proof"]);
    }
}
