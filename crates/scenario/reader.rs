//! Reading scenarios: a text or a file, checked and completed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use airfair_schemes::{Params, Registry};
use airfair_sim::spec::WorldSpec;

use crate::keys::{is_key, top_keys};
use crate::resolve::complete_form;
use crate::resolve::world::assemble;
use crate::text::error::{Cx, Errors};
use crate::text::limits::{Limits, too_large};
use crate::text::overrides::{self, Override};
use crate::text::source::ScenarioText;
use crate::text::{edit, tree};

/// A scenario that was read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The name of the scenario.
    pub name: String,
    /// A description of the scenario.
    pub description: String,
    /// The specification that the simulator runs.
    pub spec: WorldSpec,
    /// True if the user gave node i a position; otherwise it is at the origin.
    pub placed: Vec<bool>,
    /// The scheme of the run, unless the command line names another.
    pub scheme: String,
    /// Complete parameters by scheme, for every scheme that the file names or configures.
    pub scheme_params: BTreeMap<String, Params>,
    /// Files that it names, such as one of movements.
    pub files: Vec<PathBuf>,
    /// Warnings about settings that have no effect or a surprising one.
    pub warnings: Vec<String>,
    /// The complete form as TOML, with every default; it reads as the same scenario.
    pub resolved: String,
}

/// A reader of scenarios. [`read`], [`read_file`] and [`read_within`] use one with the built-in schemes; the first two with the
/// default limits.
#[derive(Clone)]
pub struct Reader<'a> {
    /// The schemes that a scenario may name and set parameters of.
    pub schemes: &'a Registry,
    /// How large a scenario may be.
    pub limits: Limits,
}

impl Default for Reader<'static> {
    fn default() -> Self {
        Self::with_schemes(Registry::built_in())
    }
}

impl<'a> Reader<'a> {
    /// A reader with these schemes and the default limits.
    #[must_use]
    pub fn with_schemes(schemes: &'a Registry) -> Self {
        Self { schemes, limits: Limits::default() }
    }

    /// Reads a text, as [`read`].
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn text(&self, text: &str, origin: &str, overrides: &[Override]) -> Result<Scenario, Errors> {
        self.read_in(text, origin, None, overrides)
    }

    /// Reads a file, as [`read_file`].
    ///
    /// # Errors
    /// Everything that is wrong with it, or why the file cannot be read.
    pub fn file(&self, path: &Path, overrides: &[Override]) -> Result<Scenario, Errors> {
        self.read(&ScenarioText::open(path, overrides)?)
    }

    /// Reads a scenario's text with its overrides.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(&self, text: &ScenarioText) -> Result<Scenario, Errors> {
        let ScenarioText { text, origin, folder, overrides, .. } = text;
        self.read_in(text, origin, folder.as_deref(), overrides)
    }

    /// One text with the overrides written in, for a file in `folder` or for no file. Comments and order stay if the edited text reads
    /// as the same scenario there; else the result is the complete form, `scenario.resolved`.
    #[must_use]
    pub fn edited(&self, written: &ScenarioText, folder: Option<&Path>, scenario: &Scenario) -> String {
        let is_scheme = |name: &str| !is_key(name) && self.schemes.find(name).is_some();
        let text = if written.overrides.is_empty() {
            Some(written.text.clone())
        } else {
            edit::put_in(&written.text, &written.overrides, &is_scheme)
        };
        text.filter(|text| {
            let again = self.read_in(text, &written.origin, folder, &[]);
            again.is_ok_and(|again| again.resolved == scenario.resolved)
        })
        .unwrap_or_else(|| scenario.resolved.clone())
    }

    fn read_in(
        &self,
        text: &str,
        origin: &str,
        folder: Option<&Path>,
        overrides: &[Override],
    ) -> Result<Scenario, Errors> {
        let limits = &self.limits;
        if text.len() as u64 > limits.file_bytes {
            return Err(Errors::whole(origin, too_large(limits.file_bytes)));
        }
        if let Some(entry) = self.schemes.entries().iter().find(|entry| is_key(entry.name)) {
            let problem = format!("a scheme is called \"{}\", which is a key of scenarios", entry.name);
            return Err(Errors::whole(origin, problem));
        }
        let mut cx = Cx::new(origin, overrides);
        (cx.folder, cx.list_bytes, cx.schemes) = (folder, limits.file_bytes, self.schemes);
        let read = tree::parse(text, &mut cx).and_then(|mut root| {
            overrides::apply(&mut root, overrides, &top_keys().collect::<Vec<_>>(), &mut cx);
            assemble(&root, limits, &mut cx)
        });
        let files = std::mem::take(&mut cx.files);
        let warnings = cx.finish()?;
        let Some((model, spec)) = read else {
            return Err(Errors::whole(origin, "cannot be read".to_string()));
        };
        let resolved = complete_form::write(&model);
        Ok(Scenario {
            name: model.top.name.0,
            description: model.top.description,
            placed: model.nodes.tables.iter().map(|node| node.position.is_some()).collect(),
            spec,
            scheme: model.top.scheme.0,
            scheme_params: model.schemes,
            files,
            warnings,
            resolved,
        })
    }
}

/// Reads a scenario. `origin` is its name in messages; overrides replace values of the text. Files that a scenario names are found
/// only by [`read_file`].
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(text: &str, origin: &str, overrides: &[Override]) -> Result<Scenario, Errors> {
    Reader::default().text(text, origin, overrides)
}

/// Reads a scenario file.
///
/// # Errors
/// Everything that is wrong with it, or why the file cannot be read.
pub fn read_file(path: &Path, overrides: &[Override]) -> Result<Scenario, Errors> {
    Reader::default().file(path, overrides)
}

/// Reads a scenario of limited size.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_within(
    text: &str,
    origin: &str,
    overrides: &[Override],
    limits: &Limits,
) -> Result<Scenario, Errors> {
    Reader { limits: *limits, ..Reader::default() }.text(text, origin, overrides)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: &str = r#"# A pair.
name = "pair"
duration = "10 s"          # short

[radio]
data_rate = "2 Mbit/s"     # the old rate

[[node]]
id = "a.b"
position = ["0 m", "0 m"]
[[node]]
id = "c"
position = ["100 m", "0 m"]

[[flow]]
id = "only"                # from left to right
from = "a.b"
to = "c"
traffic = { kind = "constant", rate = "100 kbit/s", packet = "500 B" }
"#;

    fn written(text: &str, overrides: &[&str]) -> (ScenarioText, Scenario) {
        let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
        let written = ScenarioText::here(text, "pair.toml", &overrides);
        let scenario = Reader::default().read(&written).unwrap_or_else(|e| panic!("{e}"));
        (written, scenario)
    }

    #[test]
    fn a_scenario_without_overrides_is_unchanged() {
        let (written, scenario) = written(PAIR, &[]);
        assert_eq!(Reader::default().edited(&written, None, &scenario), PAIR);
    }

    #[test]
    fn overrides_change_values_in_place() {
        let (written, scenario) = written(
            PAIR,
            &[
                "duration=20 s",
                "radio.data_rate=11 Mbit/s",
                "radio.propagation.model=two-ray",
                "radio.propagation.range=250 m",
                "flow.only.traffic.rate=\"1 Mbit/s\"",
                "node.\"a.b\".position=[\"10 m\", \"0 m\"]",
                "red.max_p=0.2",
                "warmup=1 s",
            ],
        );
        let expected = PAIR
            .replace("\"10 s\" ", "\"20 s\" ")
            .replace("\"2 Mbit/s\"", "\"11 Mbit/s\"")
            .replace("old rate\n", "old rate\npropagation = { model = \"two-ray\", range = \"250 m\" }\n")
            .replace("\"100 kbit/s\"", "\"1 Mbit/s\"")
            .replace("[\"0 m\", \"0 m\"]", "[\"10 m\", \"0 m\"]")
            .replace("# short\n", "# short\nschemes = { red = { max_p = 0.2 } }\nwarmup = \"1 s\"\n");
        assert_eq!(Reader::default().edited(&written, None, &scenario), expected);
    }

    #[test]
    fn blocks_in_a_list_are_found_too() {
        let flow = r#"flow = [{ id = "only", from = "0", to = "1", traffic = { kind = "saturating" } }]"#;
        let text = format!(
            "name = \"x\"\nduration = \"1 s\"\n{flow}\n[nodes]\nkind = \"chain\"\ncount = 2\nspacing = \"100 m\"\n"
        );
        let (written, scenario) = written(&text, &["flow.only.start=0.5 s", "flow.only.transport=udp"]);
        let expected = text.replace(" } }]", " } , start = \"0.5 s\", transport = \"udp\" }]");
        assert_eq!(Reader::default().edited(&written, None, &scenario), expected);
    }

    #[test]
    fn values_that_cannot_be_changed_in_place_are_written_in_full() {
        // `start` is in the flow and in its traffic: an override has precedence, while two keys of one text are a conflict.
        let text = PAIR.replace("packet = \"500 B\"", "packet = \"500 B\", start = \"1 s\"");
        let (written, scenario) = written(&text, &["flow.only.start=2 s"]);
        let out = Reader::default().edited(&written, None, &scenario);
        assert_eq!(out, scenario.resolved);
        assert_eq!(read(&out, "again", &[]).unwrap().spec, scenario.spec);
    }

    #[test]
    fn a_list_is_found_relative_to_the_file() {
        let folder = std::env::temp_dir().join(format!("airfair-written-{}", std::process::id()));
        let other = folder.join("below");
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(folder.join("list.csv"), "start_s,bytes\n0.5,1000\n").unwrap();
        let text = PAIR.replace(
            "traffic = { kind = \"constant\", rate = \"100 kbit/s\", packet = \"500 B\" }",
            "transport = \"tcp\"\ntraffic = { kind = \"list\", file = \"list.csv\" }",
        );
        std::fs::write(folder.join("pair.toml"), &text).unwrap();
        let written = ScenarioText::open(&folder.join("pair.toml"), &[]).unwrap();
        let scenario = Reader::default().read(&written).unwrap_or_else(|e| panic!("{e}"));
        let texts = [Some(folder.as_path()), Some(other.as_path()), None]
            .map(|f| Reader::default().edited(&written, f, &scenario));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(texts[0], text);
        assert_eq!([&texts[1], &texts[2]], [&scenario.resolved; 2]);
        assert!(scenario.resolved.contains("[\"500 ms\", "), "{}", scenario.resolved);
    }
}
