//! All tests of the crate that use it from outside, in one program: what they share is compiled and linked once.

mod aodv;
mod bad;
mod building;
mod examples;
mod fuzz;
mod import;
mod links;
mod movement;
mod roundtrip;
mod schemes;
mod tcp;

/// A file that nobody names here would never be run.
#[test]
fn every_file_is_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let named: Vec<&str> = include_str!("main.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_module = path.extension().is_some_and(|end| end == "rs") || path.join("mod.rs").is_file();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if is_module && name != "main" {
            assert!(named.contains(&name), "{name} stands in no line of tests/main.rs");
            files += 1;
        }
    }
    assert_eq!(files, named.len());
}
