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
    // What rendering runs lies together, so that a short command does not map pages that it never uses: it holds half as
    // much. Whoever brings a linker of his own may have one that takes no scripts.
    let has_own_linker =
        std::env::var_os("RUSTC_LINKER").is_some() || variable("CARGO_ENCODED_RUSTFLAGS").contains("link");
    if is_glibc && variable("PROFILE") == "release" && !has_own_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}/order.ld", variable("CARGO_MANIFEST_DIR"));
    }
}
