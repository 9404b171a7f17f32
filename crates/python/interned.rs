//! Names that live as long as the process. Results carry the names of schemes, parameters and reasons as `&'static str`; those of
//! Python's schemes are kept once each, for as long as there may be a result with them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use crate::error::input_error;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Most names of a process, and most bytes of one: a program with more invents names at run time.
const MOST: usize = 100_000;
const LONGEST: usize = 10_000;

/// The kept copy of a text.
pub(crate) fn interned(text: &str) -> PyResult<&'static str> {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(text) {
        return Ok(known);
    }
    if text.len() > LONGEST {
        return Err(input_error(format!(
            "a name or text of {} bytes: expected at most {LONGEST}",
            text.len()
        )));
    }
    if names.len() >= MOST {
        return Err(input_error(format!("\"{text}\": more than {MOST} names and reasons in one process")));
    }
    let kept: &'static str = Box::leak(text.into());
    names.insert(kept);
    Ok(kept)
}

/// The kept copy of the reason of a drop or a mark.
pub(crate) fn reason(text: &str) -> PyResult<&'static str> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > 64 || !text.chars().all(fits) {
        let expected = "expected 1 to 64 lower-case letters, digits and hyphens, such as \"queue-full\"";
        return Err(input_error(format!("reason \"{text}\": {expected}")));
    }
    interned(text)
}
