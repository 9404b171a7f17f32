//! A map of a network, in the format that it looks like or in one that the first byte names.
#![no_main]

use airfair_scenario::fuzz::{fuzz_import, fuzz_import_as};
use airfair_scenario::import::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        // Maps begin with a letter, a bracket or a space.
        Some((&number, rest)) if usize::from(number) < Format::NAMES.len() => {
            fuzz_import_as(Format::NAMES[usize::from(number)].1, rest);
        }
        _ => fuzz_import(data),
    }
});
