//! Every kind of mistake, with the exact message: each `tests/bad/NN-name-x.toml` has its messages in a `.txt` beside it.
//!
//! After a change of wording, run with `BLESS=1` and review the difference.

use std::path::PathBuf;

use airfair_scenario::{Limits, Override, read, read_file, read_within};

#[test]
fn every_mistake_has_its_message() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    files.sort();
    assert!(files.len() >= 40, "only {} files", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let Err(errors) = read(&text, &name, &[]) else {
            wrong.push(format!("{name} reads without an error"));
            continue;
        };
        let found = format!("{errors}\n");
        let beside = file.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&beside, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{name}\n  expected: {expected}  found:    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let limits = Limits { file_bytes: 10, ..Limits::default() };
    let errors = read_within("name = \"long enough\"", "x.toml", &[], &limits).unwrap_err();
    assert_eq!(errors.to_string(), "x.toml: larger than 10 bytes");
}

#[test]
fn the_largest_scenario_reads_and_reads_back() {
    let text = "name = \"large\"\nduration = \"1 s\"\n[radio]\n[nodes]\nkind = \"random\"\ncount = 100000\n\
                area = [\"20 km\", \"20 km\"]\n[flows]\nkind = \"random\"\ncount = 20000\n\
                traffic = { kind = \"constant\", rate = \"10 kbit/s\" }\n";
    let scenario = read(text, "large.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert!(again.spec == scenario.spec);
}

#[test]
fn a_missing_file_is_an_error() {
    let errors = read_file(&PathBuf::from("/nowhere/x.toml"), &[]).unwrap_err();
    assert!(errors.to_string().starts_with("/nowhere/x.toml: cannot be read: "), "{errors}");
}

#[test]
fn an_override_without_a_value_is_refused() {
    assert_eq!(
        Override::parse("radio.data_rate").unwrap_err(),
        "--set \"radio.data_rate\": expected path=value, such as radio.data_rate=\"2 Mbit/s\""
    );
}
