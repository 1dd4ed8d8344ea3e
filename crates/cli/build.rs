//! How the binary is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A program at a fixed address, as Go's are: it starts without 70,000 relocations, which took longer than to render a
    // chart, and the pages that they would write to stay shared.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
