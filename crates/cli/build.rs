//! How the binary is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=order.ld");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_glibc = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    // A program at a fixed address, as Go's are: it starts without 70,000 relocations, which took longer than to render a
    // chart, and the pages that they would write to stay shared. What starts a static program relocates by itself.
    if is_glibc && !variable("CARGO_CFG_TARGET_FEATURE").contains("crt-static") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    let is_native = variable("HOST") == variable("TARGET");
    if is_glibc && is_native {
        unwind_inside();
    }
    // What rendering runs lies together, so that a short command does not map pages that it never uses: it holds half as
    // much. Whoever brings a linker of his own may have one that takes no scripts.
    let has_own_linker =
        std::env::var_os("RUSTC_LINKER").is_some() || variable("CARGO_ENCODED_RUSTFLAGS").contains("link");
    if is_glibc && variable("PROFILE") == "release" && !has_own_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}/order.ld", variable("CARGO_MANIFEST_DIR"));
    }
}

/// Takes what unwinds the stack out of the archive that comes with the C compiler, where there is one: a library less to load is a
/// sixth of what a short command takes.
fn unwind_inside() {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let asked = std::process::Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output();
    let path = asked.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    // A compiler that has none answers with the bare name.
    let directory = std::path::Path::new(path.trim()).parent().filter(|directory| directory.is_absolute());
    if let Some(directory) = directory {
        println!("cargo:rustc-link-search=native={}", directory.display());
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}
