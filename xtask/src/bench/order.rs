//! `cargo xtask bench order`: has the linker put together what the commands that render run.
//!
//! A command that takes three milliseconds runs a thousandth of the program, spread over all of it, and the kernel maps
//! sixteen pages around each that is touched: two thirds of what such a process held were code that it never ran. So the
//! commands are run once under valgrind, which says what they call, and the functions are written into a linker script by
//! the crate that they are in and their names, without the hashes that change with every version.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use super::charts::Chart;
use super::kustomizations::Kustomization;
use crate::rig::cache;
use crate::run;

/// Where the script lies, which the build script of the binary hands to the linker.
const SCRIPT: &str = "crates/cli/order.ld";

pub(super) fn main() -> Result<(), String> {
    let home = cache()?.join("bench-order");
    std::fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    let map = home.join("map");
    let mut cargo = run::command("cargo");
    cargo.args(["rustc", "--quiet", "--release", "--package", "lynceus-cli", "--bin", "lynceus", "--"]);
    run::passes(cargo.arg("-C").arg(format!("link-arg=-Wl,-Map={}", map.display())))?;
    let program = run::target()?.join("release/lynceus");
    let mut runs = Vec::new();
    for arguments in commands(&home)? {
        runs.push(called(&program, &arguments, &home.join("calls"))?);
    }
    let map = std::fs::read(&map).map_err(|error| format!("{}: {error}", map.display()))?;
    let script = script(&String::from_utf8_lossy(&map), &runs);
    let path = run::root().join(SCRIPT);
    std::fs::write(&path, script).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{SCRIPT} is written; the next build uses it");
    Ok(())
}

/// What is run: charts and kustomizations of every size, except the largest, which only do the same more often.
fn commands(home: &Path) -> Result<Vec<Vec<String>>, String> {
    let mut commands = Vec::new();
    for chart in [Chart::small(), Chart::medium(), Chart::large()] {
        let directory = home.join("charts").join(chart.name);
        chart.write(&directory)?;
        commands.push(words(&["helm", "template", "bench"], &directory));
    }
    for overlay in [Kustomization::small(), Kustomization::resources()] {
        let directory = home.join("overlays").join(overlay.name);
        overlay.write(&directory)?;
        commands.push(words(&["kustomize", "build"], &directory.join("overlay")));
    }
    Ok(commands)
}

fn words(words: &[&str], directory: &Path) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).chain([directory.display().to_string()]).collect()
}

/// The functions that a run calls, by the names that the linker knows.
fn called(program: &Path, arguments: &[String], calls: &Path) -> Result<BTreeSet<String>, String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--demangle=no", "--compress-strings=no", "--compress-pos=no"]);
    valgrind.arg(format!("--callgrind-out-file={}", calls.display())).arg(program).args(arguments);
    let ended = valgrind.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = ended.map_err(|error| format!("cannot run valgrind, which has to be installed: {error}"))?;
    if !status.success() {
        return Err(format!("lynceus {} ended with {status} under valgrind", arguments.join(" ")));
    }
    let text = std::fs::read(calls).map_err(|error| format!("{}: {error}", calls.display()))?;
    let text = String::from_utf8_lossy(&text);
    let names = text.lines().filter_map(|line| line.strip_prefix("fn="));
    // A function that calls itself is listed once for each depth.
    Ok(names.map(|name| name.split('\'').next().unwrap_or(name).to_owned()).collect())
}

/// The linker script: what every run calls first, then what the same runs call together, each crate's functions side by
/// side.
fn script(map: &str, runs: &[BTreeSet<String>]) -> String {
    let mut groups: BTreeMap<(Reverse<Vec<bool>>, String), BTreeSet<String>> = BTreeMap::new();
    for (files, sort, function) in map.lines().filter_map(section) {
        let called: Vec<bool> = runs.iter().map(|run| run.contains(function)).collect();
        if called.contains(&true) {
            let functions = groups.entry((Reverse(called), files)).or_default();
            functions.insert(format!("{sort}{}", pattern(function)));
        }
    }
    let mut out = String::from(
        "/* Written by `cargo xtask bench order`: the functions that rendering runs, which lie together. */\n\
         SECTIONS\n{\n  .text.first :\n  {\n",
    );
    for ((_, files), functions) in groups {
        let functions: Vec<String> =
            functions.iter().map(|function| format!("      \".text.{function}\"")).collect();
        out.push_str(&format!("    {files}(\n{})\n", functions.join("\n")));
    }
    out.push_str("  }\n}\nINSERT BEFORE .text;\n");
    out
}

/// The files that a line of the linker's map may mean in another build, and the function whose code it is about, which may be
/// of the sort that the compiler thinks is seldom called.
fn section(line: &str) -> Option<(String, &str, &str)> {
    const SELDOM: &str = "unlikely.";
    let (head, function) = line.split_once(":(.text.")?;
    let function = function.strip_suffix(')')?;
    let (sort, function) = match function.strip_prefix(SELDOM) {
        Some(function) => (SELDOM, function),
        None => ("", function),
    };
    let file = head.rsplit('/').next()?;
    let name = file.split_once('-')?.0;
    let files = match name.strip_prefix("lib") {
        Some(_) if file.contains(".rlib") => format!("*{name}-*.rlib:*"),
        _ => format!("*{name}-*.rcgu.o"),
    };
    Some((files, sort, function))
}

/// A name without the hashes in it, in either of the two ways to write names.
fn pattern(function: &str) -> String {
    if let Some((path, _)) = function.rsplit_once("17h").filter(|_| function.starts_with("_ZN")) {
        return format!("{path}17h*");
    }
    let mut out = String::new();
    let mut rest = function;
    while let Some((before, after)) = rest.split_once("Cs") {
        let hash = after.find(|letter: char| !letter.is_ascii_alphanumeric());
        match hash.filter(|end| *end > 6 && after[*end..].starts_with('_')) {
            Some(end) => {
                out.push_str(&format!("{before}Cs*_"));
                rest = &after[end + 1..];
            }
            None => {
                out.push_str(&format!("{before}Cs"));
                rest = after;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "\
 10 10 8 16 /t/deps/lynceus-36.lynceus.cff-cgu.00.rcgu.o:(.text._ZN7lynceus4main17h0123456789abcdefE)
 20 20 8 16 /t/deps/liblynceus_helm-45.rlib(a-cgu.0.rcgu.o):(.text._ZN12lynceus_helm4load17h0123456789abcdefE)
 30 30 8 16 /t/deps/liblynceus_helm-45.rlib(a-cgu.0.rcgu.o):(.text._ZN12lynceus_helm4lint17h0123456789abcdefE)
 40 40 8 16 /t/lib/libstd-c7.rlib(std-c7.std.6c-cgu.0.rcgu.o):(.text._RNvMs4_NtCs6QQ8S7pYvVz_3std2io5write)
 50 50 8 16 /t/deps/liblynceus_helm-45.rlib(a-cgu.0.rcgu.o):(.rodata.cst16)
 60 60 8 16 /t/deps/liblynceus_helm-45.rlib(a-cgu.0.rcgu.o):(.text.unlikely._ZN12lynceus_helm4grow17h0123456789abcdefE)
";

    fn run(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_every_run_calls_comes_first_and_hashes_are_left_open() {
        let main = "_ZN7lynceus4main17h0123456789abcdefE";
        let write = "_RNvMs4_NtCs6QQ8S7pYvVz_3std2io5write";
        let (load, grow) =
            ("_ZN12lynceus_helm4load17h0123456789abcdefE", "_ZN12lynceus_helm4grow17h0123456789abcdefE");
        let runs = [run(&[main, write]), run(&[main, write, load, grow])];
        let script = script(MAP, &runs);
        let body: Vec<&str> = script.lines().skip(5).collect();
        assert_eq!(
            body.join("\n"),
            "    *libstd-*.rlib:*(\n      \".text._RNvMs4_NtCs*_3std2io5write\")\n    \
             *lynceus-*.rcgu.o(\n      \".text._ZN7lynceus4main17h*\")\n    \
             *liblynceus_helm-*.rlib:*(\n      \".text._ZN12lynceus_helm4load17h*\"\n      \
             \".text.unlikely._ZN12lynceus_helm4grow17h*\")\n  }\n}\nINSERT BEFORE .text;"
        );
    }
}
