//! How the binary is linked.

use std::path::{Path, PathBuf};

/// What the standard library asks the system for beside `gcc_s`. Before glibc 2.34 each was a library of its own.
const OF_THE_SYSTEM: [&str; 6] = ["c", "dl", "m", "pthread", "rt", "util"];

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=order.ld");
    println!("cargo:rerun-if-env-changed=CC");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_glibc = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_asked_for = variable("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    // A program at a fixed address, as Go's are: it starts without 70,000 relocations, which took longer than to render a
    // chart, and the pages that they would write to stay shared. What starts a static program relocates by itself.
    if is_glibc && !is_asked_for {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    let is_native = variable("HOST") == variable("TARGET");
    if is_glibc && is_native && !is_asked_for {
        libraries_inside(Path::new(&variable("OUT_DIR")))?;
    }
    // What rendering runs lies together, so that a short command does not map pages that it never uses: it holds half as
    // much. Whoever brings a linker of his own may have one that takes no scripts.
    let has_own_linker =
        std::env::var_os("RUSTC_LINKER").is_some() || variable("CARGO_ENCODED_RUSTFLAGS").contains("link");
    if is_glibc && variable("PROFILE") == "release" && !has_own_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}/order.ld", variable("CARGO_MANIFEST_DIR"));
    }
    Ok(())
}

/// Links what the program needs of the system into it, where the C compiler comes with the archives: to load libraries takes
/// as long as to render a small chart. A feature of the target would do the same, but not for a build that has macros in it,
/// unless each user names a target; so what the linker finds under the names of the libraries are texts that name the archives.
fn libraries_inside(directory: &Path) -> std::io::Result<()> {
    let archives: Option<Vec<PathBuf>> = OF_THE_SYSTEM.iter().map(|name| archive(name)).collect();
    let (Some(archives), Some(unwinder), Some(compiler)) = (archives, archive("gcc_eh"), archive("gcc"))
    else {
        return Ok(());
    };
    // They need each other, so whoever reads one reads all.
    let mut group = "GROUP(".to_owned();
    for archive in archives.iter().chain([&unwinder, &compiler]) {
        group.push_str(&format!(" \"{}\"", archive.display()));
    }
    group.push_str(" )\n");
    for name in OF_THE_SYSTEM.iter().chain(&["gcc_s"]) {
        std::fs::write(directory.join(format!("lib{name}.so")), &group)?;
    }
    // Said to the linker and not to cargo, which would have tests find the texts, too: they are linked as everything is.
    println!("cargo:rustc-link-arg-bins=-L{}", directory.display());
    println!("cargo:rustc-link-arg-bins=-static");
    Ok(())
}

/// An archive that the C compiler links with, if it has it: it answers with the bare name otherwise.
fn archive(name: &str) -> Option<PathBuf> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let asked = std::process::Command::new(compiler).arg(format!("-print-file-name=lib{name}.a")).output();
    let path = PathBuf::from(String::from_utf8(asked.ok()?.stdout).ok()?.trim());
    path.is_absolute().then_some(path)
}
