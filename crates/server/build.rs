//! Builds the web page into the program: in release builds, or where `LYNCEUS_PAGE=1` asks for it, if Node and npm are there.
//!
//! Nothing here ever fails a build. Without Node, without a network or with a page that does not build there is a warning, an
//! empty table, and a server that says how to get the page. What was built is kept by a hash of all files of `ui`, so that an
//! unchanged page is not built again.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of `ui` that are not part of the page.
const APART: [&str; 3] = ["node_modules", "dist", "e2e"];

fn main() {
    println!("cargo::rerun-if-env-changed=LYNCEUS_PAGE");
    println!("cargo::rerun-if-changed=build.rs");
    let Some(out) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let table = if is_wanted() { page(&out) } else { Ok(None) };
    let table = table.unwrap_or_else(|problem| {
        println!("cargo::warning=the web page is left out: {}", problem.replace('\n', " "));
        None
    });
    if let Err(error) = fs::write(out.join("page.rs"), table.unwrap_or_else(|| "&[]\n".to_owned())) {
        println!("cargo::error=cannot write the table of the page's files: {error}");
    }
}

fn is_wanted() -> bool {
    match std::env::var("LYNCEUS_PAGE").as_deref() {
        Ok("0") => false,
        Ok("1") => true,
        _ => std::env::var("PROFILE").is_ok_and(|profile| profile == "release"),
    }
}

/// The table of the page's files as Rust, built if it has to be.
fn page(out: &Path) -> Result<Option<String>, String> {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let ui = here.join("../../ui");
    let mut files = Vec::new();
    list(&ui, Path::new(""), &mut files).map_err(|error| format!("cannot read {}: {error}", ui.display()))?;
    for file in &files {
        println!("cargo::rerun-if-changed={}", ui.join(file).display());
    }
    let hash = hash(&ui, &files).map_err(|error| format!("cannot read {}: {error}", ui.display()))?;
    // OUT_DIR is target/release/build/lynceus-server-…/out.
    let target = out.ancestors().nth(4).unwrap_or(out);
    let kept = target.join("page").join(hash);
    if !kept.join("table.txt").is_file() {
        build(&ui, &files, &kept)?;
    }
    table(&kept).map(Some).map_err(|error| format!("cannot read {}: {error}", kept.display()))
}

/// All files of a folder, in order.
fn list(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(root.join(folder))?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = folder.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true if APART.iter().any(|name| path == Path::new(name)) => {}
            true => list(root, &path, found)?,
            false => found.push(path),
        }
    }
    Ok(())
}

/// A name for the files as they are.
fn hash(root: &Path, files: &[PathBuf]) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        fs::read(root.join(file))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Builds a copy of the page, so that nothing is written beside its sources, and keeps what came of it.
fn build(ui: &Path, files: &[PathBuf], kept: &Path) -> Result<(), String> {
    let work = kept.with_extension(std::process::id().to_string());
    let built = copy(ui, files, &work).map_err(|error| format!("cannot copy it: {error}")).and_then(|()| {
        let quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"];
        npm(&work, &[&["ci"][..], &quiet].concat())?;
        npm(&work, &["run", "build"])?;
        // Somebody else may have built the same meanwhile; then theirs is as good.
        let moved = fs::rename(work.join("dist"), kept);
        if kept.join("table.txt").is_file() { Ok(()) } else { moved.map_err(|error| error.to_string()) }
    });
    // The copy has a hundred megabytes of modules in it; that it is left behind at worst is no reason to fail.
    let _ = fs::remove_dir_all(&work);
    built
}

fn copy(ui: &Path, files: &[PathBuf], work: &Path) -> io::Result<()> {
    for file in files {
        let to = work.join(file);
        fs::create_dir_all(to.parent().unwrap_or(work))?;
        fs::copy(ui.join(file), to)?;
    }
    Ok(())
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("npm");
    // Variables that cargo sets for programs that it runs mean nothing to npm, and colours nothing in a warning.
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1");
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "npm is not installed; install Node 20 or newer".to_owned(),
        _ => format!("npm cannot be run: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(6)..];
    Err(format!("npm {} ended with {}: {}", arguments.join(" "), output.status, last.join(" | ")))
}

/// The files as an expression of Rust: `&[File { path: "/index.html", … }]`.
fn table(kept: &Path) -> io::Result<String> {
    let mut text = String::from("&[\n");
    for line in fs::read_to_string(kept.join("table.txt"))?.lines() {
        let [path, kind, tag, coding] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let packed = coding == "gzip";
        let file = kept.join(if packed { format!("{path}.gz") } else { path.to_owned() });
        let path = format!("/{path}");
        let tag = format!("\"{tag}\"");
        let _ = writeln!(
            text,
            "    File {{ path: {path:?}, kind: {kind:?}, tag: {tag:?}, packed: {packed}, bytes: include_bytes!({:?}) }},",
            file.display().to_string()
        );
    }
    text.push_str("]\n");
    Ok(text)
}
