//! Files that a scenario names: lists of files to send, movements.

use std::io::Read;

use crate::text::error::{Cx, quoted};
use crate::text::location::{At, Path};
use crate::text::source::{open_regular, whole};

/// Loads a file that a scenario names. `instead`: what the error suggests if the scenario was not read from a file.
pub(crate) fn load(
    file: &str,
    instead: &str,
    (at, path): (At, &Path<'_>),
    cx: &mut Cx<'_>,
) -> Option<Vec<u8>> {
    let Some(folder) = cx.folder else {
        cx.error(at, path, || {
            format!(
                "{}: this scenario was not read from a file, so there is no folder to find it in; expected {instead}",
                quoted(file)
            )
        });
        return None;
    };
    let most = cx.list_bytes;
    let mut bytes = Vec::new();
    let named = folder.join(file);
    cx.files.push(whole(&named));
    let opened = open_regular(&named);
    if let Err(error) = opened.and_then(|file| file.take(most + 1).read_to_end(&mut bytes)) {
        cx.error(at, path, || format!("{}: cannot be read: {error}", quoted(file)));
        return None;
    }
    if bytes.len() as u64 > most {
        cx.error(at, path, || format!("{}: larger than {most} bytes", quoted(file)));
        return None;
    }
    Some(bytes)
}
