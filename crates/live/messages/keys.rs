//! Keys shared by the nodes of a mesh, and the file that holds them.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::access::{Process, Rights};
use super::mac::{Authenticator, key_tag};

const MOST_KEYS: usize = 4;
const LONGEST_NAME: usize = 16;
const SHORTEST_SECRET: usize = 32;
/// A block of SHA-256: HMAC hashes longer secrets first, which makes none of them stronger.
const LONGEST_SECRET: usize = 64;
/// Size of the largest file, bytes.
const LARGEST_FILE: u64 = 64 * 1024;

/// One to four keys. The first signs; all verify. Only what HMAC makes of the secrets is kept.
#[derive(Clone)]
pub struct Keys(Vec<Key>);

#[derive(Clone)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) tag: u32,
    pub(super) authenticator: Authenticator,
}

impl fmt::Debug for Keys {
    /// Names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A mistake in keys or in their file. It quotes nothing of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyError {
    place: String,
    expected: &'static str,
    found: String,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, expected, found } = self;
        write!(f, "{place}: expected {expected}, found {found}")
    }
}

impl std::error::Error for KeyError {}

struct Entry<'a> {
    place: String,
    name: &'a str,
    secret: Vec<u8>,
}

impl Keys {
    /// Keys of these names and secrets, the one that signs first. Names are 1 to 16 letters, digits, `-`, `_` or `.`; secrets have 32 to
    /// 64 random bytes. No two names and no two secrets are the same.
    pub fn new(keys: &[(&str, &[u8])]) -> Result<Self, KeyError> {
        let mut entries = Vec::new();
        for (at, &(name, secret)) in keys.iter().enumerate().take(MOST_KEYS + 1) {
            let secret = secret.get(..LONGEST_SECRET + 1).unwrap_or(secret).to_vec();
            entries.push(Entry { place: format!("key {}", at + 1), name, secret });
        }
        Self::of(&entries, "keys")
    }

    /// Keys in the form of a file: a line for each, with its name and its secret in hexadecimal digits; `#` starts a comment. `label` names
    /// the text in errors.
    pub fn parse(text: &str, label: &str) -> Result<Self, KeyError> {
        let mut entries = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut fields = line.split_ascii_whitespace();
            let Some(name) = fields.next() else { continue };
            let place = format!("{label}:{}", at + 1);
            let (Some(hex), None) = (fields.next(), fields.next()) else {
                let found = format!("{} fields", line.split_ascii_whitespace().count());
                return Err(KeyError {
                    place,
                    expected: "a name and hexadecimal digits, separated by a space",
                    found,
                });
            };
            let secret = secret(hex, &place)?;
            entries.push(Entry { place, name, secret });
            if entries.len() > MOST_KEYS {
                break;
            }
        }
        Self::of(&entries, label)
    }

    /// Keys of a file; see [`Self::parse`]. The file is a regular one of at most 64 KiB; its owner is the user that runs this program, or
    /// root, nobody else may write it, and nobody else may read it but a group of this process.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        Self::read_by(path, &|_| Process::current())
    }

    /// The same as [`Self::read`] for a process of the user that owns the file, and of its group: for a check by root, who may run the
    /// daemon as that user.
    pub fn read_as_owner(path: &Path) -> Result<Self, KeyError> {
        Self::read_by(path, &|rights| Process { user: rights.owner, groups: vec![rights.group] })
    }

    fn read_by(path: &Path, process: &dyn Fn(&Rights) -> Process) -> Result<Self, KeyError> {
        let label = path.display().to_string();
        let error = |expected, found: String| KeyError { place: label.clone(), expected, found };
        let failed = |problem: std::io::Error| error("a file of keys that can be read", problem.to_string());
        // A FIFO would wait for a writer.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
            .map_err(failed)?;
        check_rights(&file, process, &error)?;
        let mut bytes = Vec::new();
        file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(error("at most 65536 bytes", "more".to_string()));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text, &label),
            Err(problem) => {
                let before = bytes.get(..problem.valid_up_to()).unwrap_or_default();
                let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
                let place = format!("{label}:{line}");
                Err(KeyError { place, expected: "text in UTF-8", found: "other bytes".to_string() })
            }
        }
    }

    /// The names, the key that signs first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|key| key.name.as_str())
    }

    fn of(entries: &[Entry<'_>], label: &str) -> Result<Self, KeyError> {
        if entries.is_empty() || entries.len() > MOST_KEYS {
            let found = if entries.is_empty() { "none" } else { "more" }.to_string();
            return Err(KeyError { place: label.to_string(), expected: "1 to 4 keys", found });
        }
        let mut keys: Vec<Key> = Vec::new();
        for (at, Entry { place, name, secret }) in entries.iter().enumerate() {
            let error = |expected, found| KeyError { place: place.clone(), expected, found };
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_name) {
                let expected = "a name of 1 to 16 letters, digits, '-', '_' or '.'";
                return Err(error(expected, format!("{} bytes that are not such a name", name.len())));
            }
            if !(SHORTEST_SECRET..=LONGEST_SECRET).contains(&secret.len()) {
                let found =
                    if secret.len() > LONGEST_SECRET { "more".to_string() } else { secret.len().to_string() };
                return Err(error("a secret of 32 to 64 bytes (64 to 128 hexadecimal digits)", found));
            }
            if secret.windows(2).all(|pair| pair[0] == pair[1]) {
                return Err(error("random bytes", "the same byte throughout".to_string()));
            }
            let tag = key_tag(name);
            if let Some(other) = keys.iter().position(|key| key.tag == tag) {
                return Err(error("a name that no other key has", format!("that of key {}", other + 1)));
            }
            if let Some(other) = entries.iter().take(at).position(|other| other.secret == *secret) {
                return Err(error("a secret that no other key has", format!("that of key {}", other + 1)));
            }
            let authenticator = Authenticator::new(secret);
            let authenticator =
                authenticator.ok_or_else(|| error("a secret for HMAC", "another".to_string()))?;
            keys.push(Key { name: (*name).to_string(), tag, authenticator });
        }
        Ok(Self(keys))
    }

    pub(super) fn into_list(self) -> Vec<Key> {
        self.0
    }
}

/// The bytes of hexadecimal digits.
fn secret(hex: &str, place: &str) -> Result<Vec<u8>, KeyError> {
    let error = |expected, found| KeyError { place: place.to_string(), expected, found };
    let digits: Option<Vec<u8>> =
        hex.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits =
        digits.ok_or_else(|| error("hexadecimal digits behind the name", "other characters".to_string()))?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(error("an even number of hexadecimal digits", digits.len().to_string()));
    }
    Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

/// Refuses a file that somebody else may read or write, by the rights of the file that is open.
fn check_rights(
    file: &File,
    process: &dyn Fn(&Rights) -> Process,
    error: &dyn Fn(&'static str, String) -> KeyError,
) -> Result<(), KeyError> {
    let failed = |problem: std::io::Error| error("a file of keys that can be read", problem.to_string());
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(error("a regular file", "another kind of file".to_string()));
    }
    let rights = Rights::of(file).map_err(failed)?;
    rights.fault(&process(&rights)).map_or(Ok(()), |(expected, found)| Err(error(expected, found)))
}
