//! What a user of Airfair writes.
//!
//! A scenario is one TOML file: radios, nodes, links, flows. [`read`] checks it and fills in every default; the result
//! is a [`WorldSpec`] that leaves nothing to guess, and the same scenario as a complete
//! file ([`Scenario::resolved`]). Everything that is wrong is reported at once, each error with its line, its key, what
//! was expected and the nearest valid name. [`reference()`] lists every table and key; it comes from the same definitions
//! as the reader.
//!
//! ```
//! let text = r#"
//! name = "pair"
//! duration = "10 s"
//!
//! [radio]
//! data_rate = "2 Mbit/s"
//!
//! [nodes]
//! kind = "chain"
//! count = 2
//! spacing = "100 m"
//!
//! [[flow]]
//! id = "only"
//! from = "0"
//! to = "1"
//! traffic = { kind = "saturating" }
//! "#;
//! let scenario = airfair_scenario::read(text, "pair.toml", &[])?;
//! assert_eq!(scenario.spec.nodes.len(), 2);
//!
//! let wrong = text.replace("2 Mbit/s", "2 Mbps");
//! let errors = airfair_scenario::read(&wrong, "pair.toml", &[]).unwrap_err();
//! assert_eq!(
//!     errors.to_string(),
//!     "pair.toml:6: radio.data_rate: \"2 Mbps\": `Mbps` is not a unit for this; expected a rate such as \"11 Mbit/s\" \
//!      (bit/s, kbit/s, Mbit/s, Gbit/s)"
//! );
//! # Ok::<(), airfair_scenario::Errors>(())
//! ```

mod declare;
mod defaults;
pub mod fuzz;
mod generate;
pub mod import;
mod keys;
mod params;
mod resolve;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use airfair_schemes::{Params, Registry};
use airfair_sim::spec::WorldSpec;

pub use declare::schema::schema;
pub use declare::table::{DefaultDoc, KeyDoc, TableDoc};
pub use keys::reference::{QuantityDoc, Section, quantities, reference, reference_with};
pub use text::document::{Item, read_document};
pub use text::error::{Errors, Place, ScenarioError};
pub use text::nearest::nearest;
pub use text::overrides::Override;
pub use text::source::Written;

/// A scenario that was read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub description: String,
    /// What the simulator runs.
    pub spec: WorldSpec,
    /// Whether a node has a place, by its index in the specification; the others stand at the origin there.
    pub placed: Vec<bool>,
    /// The scheme of the run, unless the command line says otherwise.
    pub scheme: String,
    /// Parameters by scheme, complete, for every scheme that runs or that the file sets parameters of.
    pub scheme_params: BTreeMap<String, Params>,
    /// What to look at before trusting a result.
    pub warnings: Vec<String>,
    /// The complete scenario as TOML; reading it gives the same scenario.
    pub resolved: String,
}

/// How large a scenario may be. The complete form of the largest scenario of usual names still fits in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a file.
    pub file_bytes: u64,
    /// Most nodes, written and generated.
    pub nodes: u64,
    /// Most flows, written and drawn.
    pub flows: u64,
    /// Most files in the lists of all flows.
    pub listed: u64,
    /// Most waypoints of all nodes.
    pub waypoints: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes: 16 << 20, nodes: 100_000, flows: 20_000, listed: 200_000, waypoints: 200_000 }
    }
}

/// Reads scenarios: [`read`] and its like do so with the tree's schemes and the default limits.
#[derive(Clone)]
pub struct Reader<'a> {
    /// The schemes that a scenario may name and set parameters of.
    pub schemes: &'a Registry,
    /// How large it may be.
    pub limits: Limits,
}

impl Default for Reader<'static> {
    fn default() -> Self {
        Self::with_schemes(Registry::built_in())
    }
}

impl<'a> Reader<'a> {
    /// A reader that knows these schemes.
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
        self.written(&Written::open(path, overrides)?)
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn written(&self, written: &Written) -> Result<Scenario, Errors> {
        let Written { text, origin, folder, overrides } = written;
        self.read_in(text, origin, folder.as_deref(), overrides)
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
        let mut cx = text::error::Cx::new(origin, overrides);
        (cx.folder, cx.list_bytes, cx.schemes) = (folder, limits.file_bytes, self.schemes);
        let read = text::tree::parse(text, &mut cx).and_then(|mut root| {
            text::overrides::apply(&mut root, overrides, &top_keys().collect::<Vec<_>>(), &mut cx);
            resolve::world::assemble(&root, limits, &mut cx)
        });
        let warnings = cx.finish()?;
        let Some((model, spec)) = read else {
            return Err(Errors::whole(origin, "cannot be read".to_string()));
        };
        let resolved = resolve::complete_form::write(&model);
        Ok(Scenario {
            name: model.top.name.0,
            description: model.top.description,
            placed: model.stations.tables.iter().map(|node| node.position.is_some()).collect(),
            spec,
            scheme: model.top.scheme.0,
            scheme_params: model.schemes,
            warnings,
            resolved,
        })
    }
}

/// Keys that a file may have.
fn top_keys() -> impl Iterator<Item = &'static str> {
    keys::network::TopTable::KEYS.iter().copied().chain(resolve::world::tables())
}

/// Whether a file may have this key: no scheme may be called so, for `--set NAME.parameter=value` would mean both.
#[must_use]
pub fn is_key(name: &str) -> bool {
    top_keys().any(|key| key == name)
}

/// Reads a scenario. `origin` names it in messages; overrides are put over what the file says. What a scenario names by file
/// is only found by [`read_file`].
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

pub(crate) fn too_large(most: u64) -> String {
    format!("larger than {most} bytes")
}
