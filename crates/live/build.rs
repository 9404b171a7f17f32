//! Compiles the program for the kernel with clang, where clang is installed. Without it the daemon is built without that program, and says
//! so when it is started.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "bpf/packets.bpf.c";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(without_program)");
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let object = folder.join("packets.bpf.o");
    if let Err(problem) = compile(&object) {
        println!("cargo::warning=airfaird is built without its program for the kernel: {problem}");
        println!("cargo::rustc-cfg=without_program");
        // Tried again at each build, until clang is there.
        println!("cargo::rerun-if-changed={}", folder.join("never").display());
    }
}

fn compile(object: &Path) -> Result<(), String> {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_string());
    println!("cargo::rerun-if-env-changed=CLANG");
    let mut command = Command::new(&clang);
    // The byte order of the machine that runs it.
    let is_big = env::var("CARGO_CFG_TARGET_ENDIAN").is_ok_and(|order| order == "big");
    let target = if is_big { "bpfeb" } else { "bpfel" };
    // The instruction set of old kernels; the functions that are called need Linux 5.8.
    command.args(["-O2", "-g", "-target", target, "-mcpu=v2", "-Wall", "-Wextra", "-Werror"]);
    command.args(["-c", SOURCE, "-o"]).arg(object);
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
