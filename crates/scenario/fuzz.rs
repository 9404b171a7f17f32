//! What a fuzzer calls.

use crate::{Limits, Override, read_within};

/// Small enough that no input takes long.
const LIMITS: Limits = Limits { file_bytes: 1 << 20, nodes: 200, flows: 200 };
/// A line that begins with this is an override as well as a comment.
const OVERRIDE: &str = "#--set ";

/// Reads any bytes as a scenario: it must not panic, and what reads must be the same when its complete form is read.
///
/// # Panics
/// If the complete form does not read as the same scenario.
pub fn fuzz_scenario(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let overrides: Vec<Override> = text
        .lines()
        .filter_map(|l| l.strip_prefix(OVERRIDE))
        .filter_map(|o| Override::parse(o).ok())
        .collect();
    match read_within(&text, "fuzz.toml", &overrides, &LIMITS) {
        Ok(scenario) => match read_within(&scenario.resolved, "resolved.toml", &[], &LIMITS) {
            Ok(again) => assert_eq!(again, scenario, "the complete form is another scenario:\n{text}"),
            Err(errors) => {
                panic!("the complete form cannot be read: {errors}\n{text}\n{}", scenario.resolved)
            }
        },
        Err(errors) => assert!(!errors.list.is_empty() && !errors.to_string().is_empty()),
    }
}
