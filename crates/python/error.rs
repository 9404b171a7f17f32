//! Errors of a user's input, as Python exceptions.

use airfair_scenario::Errors;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(airfair, InputError, PyValueError, "An error in the input, which the caller can correct.");
create_exception!(
    airfair,
    SchemeError,
    PyRuntimeError,
    "A scheme has requested an effect that its place does not have."
);
create_exception!(airfair, LimitError, InputError, "A computation that exceeds a limit of the caller.");
create_exception!(
    airfair,
    ScenarioError,
    InputError,
    "A scenario that cannot be used. Its text is one line an error; `errors` is the list of these lines."
);

/// Least likeness of a name that is suggested, 0..=1.
const LIKE: f64 = 0.5;

/// An [`InputError`].
pub(crate) fn input_error(message: String) -> PyErr {
    InputError::new_err(message)
}

/// Most characters of a value that are shown.
pub(crate) const SHOWN: usize = 60;

/// A value as a message shows it.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "?".to_string(), |repr| repr.to_string().chars().take(SHOWN).collect())
}

/// An argument or a value of a kind that cannot be used.
pub(crate) fn unsuitable(value: &Bound<'_, PyAny>, name: &str, expected: &str) -> PyErr {
    input_error(format!("{name}: {}; expected {expected}", shown(value)))
}

/// All errors of a scenario.
pub(crate) fn scenario_error(py: Python<'_>, errors: &Errors) -> PyErr {
    let error = ScenarioError::new_err(errors.to_string());
    let list: Vec<String> = errors.list.iter().map(ToString::to_string).collect();
    match error.value(py).setattr("errors", list) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Most names that are listed.
const LISTED: usize = 12;

/// A name that does not exist, with the most similar existing name, or with all of them.
pub(crate) fn unknown<'n>(what: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> PyErr {
    let like =
        |other: &str| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let mut best: Option<(f64, &str)> = None;
    let known: Vec<&str> = known.into_iter().collect();
    for &other in &known {
        let score = like(other);
        if score >= LIKE && best.is_none_or(|(b, _)| score > b) {
            best = Some((score, other));
        }
    }
    let list = || {
        let more = if known.len() > LISTED { ", ..." } else { "" };
        let first: Vec<&str> = known.iter().take(LISTED).copied().collect();
        if first.is_empty() { String::new() } else { format!("; expected one of {}{more}", first.join(", ")) }
    };
    let hint = best.map_or_else(list, |(_, other)| format!("; did you mean \"{other}\"?"));
    input_error(format!("there is no {what} \"{name}\"{hint}"))
}
