//! Files that others write: regular ones only, and no more than so many bytes of them.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// The text of a regular file.
///
/// # Errors
/// It cannot be opened, is no regular file (a FIFO would wait for a writer), has more than `most` bytes, or is not text.
pub fn read_text(path: &Path, most: u64) -> Result<String, String> {
    let name = path.display();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let file = opened.map_err(|error| format!("{name}: {error}"))?;
    if !file.metadata().is_ok_and(|of| of.is_file()) {
        return Err(format!("{name}: expected a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("{name}: expected at most {most} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| format!("{name}: expected text in UTF-8"))
}
