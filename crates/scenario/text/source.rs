//! A scenario as its user wrote it: the text, where it stands, and what was put over it.

use std::io::Read;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, InlineTable, Item, TableLike, Value};

use crate::text::error::Errors;
use crate::text::overrides::{BY_ID, BY_NUMBER, Override, split};
use crate::{Limits, Reader, Scenario, is_key, too_large};

/// A scenario as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text, TOML.
    pub text: String,
    /// What messages call it.
    pub origin: String,
    /// The folder that names of files are meant from; without one, no files can be named.
    pub folder: Option<PathBuf>,
    /// What is put over the text.
    pub overrides: Vec<Override>,
}

impl Written {
    /// A text that stands in no file.
    #[must_use]
    pub fn here(text: &str, origin: &str, overrides: &[Override]) -> Self {
        let (text, origin) = (text.to_string(), origin.to_string());
        Self { text, origin, folder: None, overrides: overrides.to_vec() }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// Why the file cannot be read.
    pub fn open(path: &Path, overrides: &[Override]) -> Result<Self, Errors> {
        let (origin, text) = read_text(path, Limits::default().file_bytes)?;
        Ok(Self { text, origin, folder: Some(folder_of(path)), overrides: overrides.to_vec() })
    }

    /// The same with more put over it.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = Override>) -> Self {
        let mut other = self.clone();
        other.overrides.extend(more);
        other
    }

    /// A text that says all of it in a file of `folder`, or in no file. Comments and order stay where they can: where the
    /// text with the overrides put in does not mean the same there, it is the complete form, `scenario.resolved`.
    #[must_use]
    pub fn text_in(&self, folder: Option<&Path>, scenario: &Scenario, reader: &Reader<'_>) -> String {
        let text = if self.overrides.is_empty() {
            Some(self.text.clone())
        } else {
            put_in(&self.text, &self.overrides, reader)
        };
        text.filter(|text| {
            let again = reader.read_in(text, &self.origin, folder, &[]);
            again.is_ok_and(|again| again.resolved == scenario.resolved)
        })
        .unwrap_or_else(|| scenario.resolved.clone())
    }
}

/// The name and the text of a file of at most `most` bytes.
pub(crate) fn read_text(path: &Path, most: u64) -> Result<(String, String), Errors> {
    let origin = path.display().to_string();
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .map_err(|e| Errors::whole(&origin, format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > most {
        return Err(Errors::whole(&origin, too_large(most)));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count() + 1;
        Errors::at(&origin, line, "not UTF-8; save the file as UTF-8".to_string())
    })?;
    Ok((origin, text))
}

/// The folder that a file is in. A bare file name has the empty parent: the folder one is in.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_path_buf()
}

/// The text with the overrides in their places; `None` if one of them has none.
fn put_in(text: &str, overrides: &[Override], reader: &Reader<'_>) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    for o in overrides {
        let value = o.value.parse().unwrap_or_else(|_| Value::from(o.value.as_str()));
        let mut parts = split(&o.path).ok()?;
        let first = parts.first()?;
        let top = document.as_table_mut();
        if parts.len() > 1 && !is_key(first) && reader.schemes.find(first).is_some() {
            parts.insert(0, "schemes".to_string());
        }
        set(top, &parts, value)?;
    }
    Some(document.to_string())
}

fn set(table: &mut dyn TableLike, parts: &[String], value: Value) -> Option<()> {
    let (name, below) = parts.split_first()?;
    if below.is_empty() {
        return put(table, name, value);
    }
    let item = table.entry(name).or_insert_with(|| Item::Value(Value::InlineTable(InlineTable::new())));
    if BY_ID.contains(&name.as_str()) || BY_NUMBER.contains(&name.as_str()) {
        let (id, below) = below.split_first()?;
        return set(block(item, name, id)?, below, value);
    }
    set(item.as_table_like_mut()?, below, value)
}

/// Replaces a value and keeps what stands around it.
fn put(table: &mut dyn TableLike, name: &str, mut value: Value) -> Option<()> {
    match table.get_mut(name) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(item) => *item = Item::Value(value),
        None => {
            table.insert(name, Item::Value(value));
        }
    }
    Some(())
}

/// The block of a flow, node, link or gain, written with a header or within a list.
fn block<'t>(item: &'t mut Item, kind: &str, id: &str) -> Option<&'t mut dyn TableLike> {
    let found = |i: usize, own: Option<&str>| {
        if BY_ID.contains(&kind) { own == Some(id) } else { id.parse() == Ok(i) }
    };
    match item {
        Item::ArrayOfTables(blocks) => {
            let id_of = |t: &toml_edit::Table| t.get("id").and_then(Item::as_str).map(str::to_string);
            let at = blocks.iter().enumerate().position(|(i, t)| found(i, id_of(t).as_deref()))?;
            blocks.get_mut(at).map(|t| t as &mut dyn TableLike)
        }
        Item::Value(Value::Array(list)) => {
            let id_of = |v: &Value| v.as_inline_table()?.get("id")?.as_str().map(str::to_string);
            let at = list.iter().enumerate().position(|(i, v)| found(i, id_of(v).as_deref()))?;
            list.get_mut(at)?.as_inline_table_mut().map(|t| t as &mut dyn TableLike)
        }
        _ => None,
    }
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

    fn written(text: &str, overrides: &[&str]) -> (Written, Scenario) {
        let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
        let written = Written::here(text, "pair.toml", &overrides);
        let scenario = Reader::default().written(&written).unwrap_or_else(|e| panic!("{e}"));
        (written, scenario)
    }

    #[test]
    fn nothing_put_over_it_changes_nothing() {
        let (written, scenario) = written(PAIR, &[]);
        assert_eq!(written.text_in(None, &scenario, &Reader::default()), PAIR);
    }

    #[test]
    fn values_change_in_their_places() {
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
        assert_eq!(written.text_in(None, &scenario, &Reader::default()), expected);
    }

    #[test]
    fn blocks_in_a_list_are_found_too() {
        let flow = r#"flow = [{ id = "only", from = "0", to = "1", traffic = { kind = "saturating" } }]"#;
        let text = format!(
            "name = \"x\"\nduration = \"1 s\"\n{flow}\n[nodes]\nkind = \"chain\"\ncount = 2\nspacing = \"100 m\"\n"
        );
        let (written, scenario) = written(&text, &["flow.only.start=0.5 s", "flow.only.transport=udp"]);
        let expected = text.replace(" } }]", " } , start = \"0.5 s\", transport = \"udp\" }]");
        assert_eq!(written.text_in(None, &scenario, &Reader::default()), expected);
    }

    #[test]
    fn what_cannot_stand_in_its_place_is_written_out() {
        // `start` in the flow and in its traffic: as an override it holds, in one file with the other it is a conflict.
        let text = PAIR.replace("packet = \"500 B\"", "packet = \"500 B\", start = \"1 s\"");
        let (written, scenario) = written(&text, &["flow.only.start=2 s"]);
        let out = written.text_in(None, &scenario, &Reader::default());
        assert_eq!(out, scenario.resolved);
        assert_eq!(crate::read(&out, "again", &[]).unwrap().spec, scenario.spec);
    }

    #[test]
    fn a_list_is_found_from_where_the_file_stands() {
        let folder = std::env::temp_dir().join(format!("airfair-written-{}", std::process::id()));
        let other = folder.join("below");
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(folder.join("list.csv"), "start_s,bytes\n0.5,1000\n").unwrap();
        let text = PAIR.replace(
            "traffic = { kind = \"constant\", rate = \"100 kbit/s\", packet = \"500 B\" }",
            "transport = \"tcp\"\ntraffic = { kind = \"list\", file = \"list.csv\" }",
        );
        std::fs::write(folder.join("pair.toml"), &text).unwrap();
        let written = Written::open(&folder.join("pair.toml"), &[]).unwrap();
        let scenario = Reader::default().written(&written).unwrap_or_else(|e| panic!("{e}"));
        let texts = [Some(folder.as_path()), Some(other.as_path()), None]
            .map(|f| written.text_in(f, &scenario, &Reader::default()));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(texts[0], text);
        assert_eq!([&texts[1], &texts[2]], [&scenario.resolved; 2]);
        assert!(scenario.resolved.contains("[\"500 ms\", "), "{}", scenario.resolved);
    }
}
