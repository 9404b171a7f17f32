//! A scenario's text as its user wrote it, in a file or not, with its overrides.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::text::error::Errors;
use crate::text::limits::{Limits, too_large};
use crate::text::overrides::Override;

/// A scenario as its user wrote it: a text, its location and its overrides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioText {
    /// The text, TOML.
    pub text: String,
    /// The name of the text in messages.
    pub origin: String,
    /// The file of the text, if it is in one.
    pub file: Option<PathBuf>,
    /// The folder relative to which the text names files; without a folder the text can name none.
    pub folder: Option<PathBuf>,
    /// Values that replace those of the text.
    pub overrides: Vec<Override>,
}

impl ScenarioText {
    /// A text that is in no file.
    #[must_use]
    pub fn here(text: &str, origin: &str, overrides: &[Override]) -> Self {
        let (text, origin) = (text.to_string(), origin.to_string());
        Self { text, origin, file: None, folder: None, overrides: overrides.to_vec() }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// Why the file cannot be read.
    pub fn open(path: &Path, overrides: &[Override]) -> Result<Self, Errors> {
        let (origin, text) = read_text(path, Limits::default().file_bytes)?;
        let (file, folder) = (Some(whole(path)), Some(folder_of(path)));
        Ok(Self { text, origin, file, folder, overrides: overrides.to_vec() })
    }

    /// The same text with more overrides.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = Override>) -> Self {
        let mut other = self.clone();
        other.overrides.extend(more);
        other
    }
}

/// The name and the text of a file of at most `most` bytes.
pub(crate) fn read_text(path: &Path, most: u64) -> Result<(String, String), Errors> {
    let origin = path.display().to_string();
    let mut bytes = Vec::new();
    open_regular(path)
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

/// Opens a regular file to read it. What is none, such as a named pipe, could be read for ever, or block for ever.
pub(crate) fn open_regular(path: &Path) -> std::io::Result<std::fs::File> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() && !found.is_dir() {
        let problem = "a pipe, a device or a socket; expected a regular file";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, problem));
    }
    std::fs::File::open(path)
}

/// A path that stays right when the program changes its folder.
pub(crate) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The folder that a file is in. The parent of a bare file name is empty and means the current folder.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_path_buf()
}
