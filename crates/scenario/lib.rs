//! Scenario files: reading, checking, completing, and importing from network maps.
//!
//! A scenario is one TOML file: radios, nodes, links, flows. [`read`] checks it and fills in every default; the result
//! is a [`WorldSpec`](airfair_sim::spec::WorldSpec) with every value set, and the same scenario as a complete file
//! ([`Scenario::resolved`]). All errors are reported at once, each with its line, its key, what was expected and the nearest valid
//! name. [`reference()`] lists every table and key; it is made from the same definitions as the reader.
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
mod reader;
mod resolve;
mod selection;
mod text;
mod unused;

pub use declare::table::{DefaultDoc, KeyDoc, TableDoc};
pub use keys::file_schema::schema;
pub use keys::is_key;
pub use keys::reference::{QuantityDoc, Section, quantities, reference, reference_with};
pub use reader::{Reader, Scenario, read, read_file, read_within};
pub use selection::{Part, SHORT_CHANGES, Selected, Selection, ShortChange};
pub use text::document::{Item, read_document};
pub use text::error::{Errors, Location, ScenarioError};
pub use text::limits::Limits;
pub use text::nearest::nearest;
pub use text::overrides::Override;
pub use text::source::ScenarioText;
