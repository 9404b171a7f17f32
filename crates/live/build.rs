//! Compiles the programs for the kernel with clang, where clang is installed. Without it the daemon is built without them, and says so when
//! it is started.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the programs, and their names.
const FOLDER: &str = "bpf";
const PROGRAMS: [&str; 2] = ["packets", "links"];

fn main() {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(without_program)");
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut objects = PROGRAMS.iter().map(|name| compile(name, &folder.join(format!("{name}.bpf.o"))));
    if let Err(problem) = objects.try_for_each(|compiled| compiled) {
        println!("cargo::warning=airfaird is built without its programs for the kernel: {problem}");
        println!("cargo::rustc-cfg=without_program");
        // Tried again at each build, until clang is there.
        println!("cargo::rerun-if-changed={}", folder.join("never").display());
    }
}

fn compile(name: &str, object: &Path) -> Result<(), String> {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_string());
    println!("cargo::rerun-if-env-changed=CLANG");
    let mut command = Command::new(&clang);
    // The byte order of the machine that runs it.
    let is_big = env::var("CARGO_CFG_TARGET_ENDIAN").is_ok_and(|order| order == "big");
    let target = if is_big { "bpfeb" } else { "bpfel" };
    // The instruction set of old kernels; the functions that are called need Linux 5.8.
    command.args(["-O2", "-g", "-target", target, "-mcpu=v2", "-Wall", "-Wextra", "-Werror", "-c"]);
    command.arg(format!("{FOLDER}/{name}.bpf.c")).arg("-o").arg(object);
    // Where Debian keeps the headers of a processor; the program's types are the same on all.
    for folder in headers() {
        command.arg("-I").arg(folder);
    }
    // Paths in debugging information would make builds in two folders differ. This program runs in the folder of the manifest.
    let here = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    command.args(["-fdebug-compilation-dir=airfair", &format!("-ffile-prefix-map={here}=airfair")]);
    let out = command.output().map_err(|error| format!("{clang}: {error}"))?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

fn headers() -> impl Iterator<Item = PathBuf> {
    let processors = ["x86_64", "aarch64"].into_iter();
    let folders = processors.map(|name| PathBuf::from(format!("/usr/include/{name}-linux-gnu")));
    folders.filter(|folder| folder.is_dir()).take(1)
}
