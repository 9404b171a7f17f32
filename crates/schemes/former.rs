//! Parameters that schemes had once: their fates, for the messages about files that still set them.

/// A parameter that one or more schemes no longer have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormerParam {
    /// The schemes that had the parameter.
    pub schemes: &'static [&'static str],
    /// The name of the parameter.
    pub name: &'static str,
    /// The fate of the parameter.
    pub fate: Fate,
}

/// The fate of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It has another name, with the same meaning.
    Renamed(&'static str),
    /// It does not exist any more, for this reason.
    Gone(&'static str),
}

/// The fate of a reading: the means of its scheme's experiments, and of scenes of the suite, moved by less than the spread of seeds.
const DECIDED_NOTHING: Fate = Fate::Gone("it decided nothing");

/// All of them.
pub const FORMER: &[FormerParam] = &[
    FormerParam { schemes: &["xcp", "xcp-b"], name: "wish", fate: Fate::Renamed("request") },
    FormerParam { schemes: &["tfrc-ecn"], name: "reordering", fate: Fate::Gone("it had no effect") },
    FormerParam {
        schemes: &["c3l", "c3l-local", "c3l-faulty"],
        name: "headers",
        fate: Fate::Gone("sources know what headers add to a payload"),
    },
    FormerParam {
        schemes: &["c3l-local"],
        name: "settle",
        fate: Fate::Gone("flows are judged by the rates that their sources state"),
    },
    FormerParam {
        schemes: &["diffq", "diffq-occupancy", "diffq-rc", "diffq-rc-sched"],
        name: "size_factor",
        fate: Fate::Gone("false sizes are a parameter of the scheme diffq-liar"),
    },
    FormerParam { schemes: &["reno", "newreno", "few"], name: "careful_exit", fate: DECIDED_NOTHING },
    FormerParam { schemes: &["xcp"], name: "min_queue_interval", fate: DECIDED_NOTHING },
    FormerParam { schemes: &["c3l", "c3l-faulty"], name: "hello_jitter", fate: DECIDED_NOTHING },
    FormerParam { schemes: &["c3l", "c3l-faulty"], name: "list_step", fate: DECIDED_NOTHING },
    FormerParam { schemes: &["c3l", "c3l-faulty"], name: "usable", fate: DECIDED_NOTHING },
    FormerParam { schemes: &["c3l", "c3l-local", "c3l-faulty"], name: "packet", fate: DECIDED_NOTHING },
    FormerParam {
        schemes: &["more", "exor", "diffq-more", "diffq-exor"],
        name: "least_delivery",
        fate: DECIDED_NOTHING,
    },
    FormerParam { schemes: &["exor", "diffq-exor"], name: "patience", fate: DECIDED_NOTHING },
    FormerParam { schemes: &["exor", "diffq-exor"], name: "stuck", fate: DECIDED_NOTHING },
];

/// The fate of a parameter of this scheme; `None` if the scheme never had one of this name, or has it still.
#[must_use]
pub fn former(scheme: &str, name: &str) -> Option<Fate> {
    FORMER.iter().find(|old| old.name == name && old.schemes.contains(&scheme)).map(|old| old.fate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A former name is not a present one, a new name is, and the schemes exist.
    #[test]
    fn the_table_agrees_with_the_registry() {
        for old in FORMER {
            for scheme in old.schemes {
                let entry = crate::find(scheme).unwrap();
                let has = |name: &str| entry.params.iter().any(|param| param.name == name);
                assert!(!has(old.name), "{scheme}.{}", old.name);
                if let Fate::Renamed(new) = old.fate {
                    assert!(has(new), "{scheme}.{new}");
                }
            }
        }
        let liar = crate::find("diffq-liar").unwrap();
        assert!(liar.params.iter().any(|param| param.name == "size_factor"));
    }
}
