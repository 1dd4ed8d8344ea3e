//! `cargo xtask ui-test`: the page in a real browser, used as people would, on the demo.

pub(crate) mod demo;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run;

/// What drives the browser, what looks for things that some people cannot use, and an issuer to log in with. Kept apart from
/// the page's own modules, so that building the page fetches none of them.
const MODULES: [&str; 3] = ["playwright-core@1", "axe-core@4", "oidc-provider@9"];

/// Where Debian puts its browser.
const CHROMIUM: &str = "/usr/bin/chromium";

/// With an address (`--page URL`) a page that is served already is used, and what needs more than that is left out.
pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let target = run::target()?;
    let chromium = chromium()?;
    let modules = modules(&target)?;
    passes_alone()?;
    let mut script = run::command("node");
    script.arg("ui/e2e/main.mjs").env("UI_TEST_MODULES", &modules).env("CHROMIUM", chromium);
    script.env("UI_TEST_PICTURES", target.join("ui-test"));
    if let [flag, page] = arguments
        && flag == "--page"
    {
        return run::passes(script.env("UI_TEST_PAGE", page));
    }
    let demo = demo::Demo::start(&program()?)?;
    script.env("UI_TEST_PAGE", &demo.page).env("UI_TEST_PASSWORD", &demo.password);
    script.env("UI_TEST_DEMO", demo.tree()).env("UI_TEST_KUBECONFIG", demo.kubeconfig());
    run::passes(&mut script)
}

/// The parts of the page that need no browser.
fn passes_alone() -> Result<(), String> {
    let ui = run::root().join("ui");
    if !ui.join("node_modules").is_dir() {
        run::passes(npm(&ui).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]))?;
    }
    run::passes(npm(&ui).args(["run", "check"]))?;
    run::passes(npm(&ui).arg("test"))
}

/// The program with the page in it. A debug build will do, and is there already where tests were run.
fn program() -> Result<PathBuf, String> {
    if let Some(program) = std::env::var_os("LYNCEUS_BIN") {
        return Ok(program.into());
    }
    let mut cargo = run::command("cargo");
    run::passes(
        cargo.args(["build", "--quiet", "--workspace", "--bin", "lynceus"]).env("LYNCEUS_PAGE", "1"),
    )?;
    Ok(run::target()?.join("debug/lynceus"))
}

fn npm(folder: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(folder);
    npm
}

fn modules(target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("ui-test/modules");
    if MODULES.iter().all(|module| folder.join("node_modules").join(name(module)).is_dir()) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let manifest = folder.join("package.json");
    std::fs::write(&manifest, "{\"private\": true}\n")
        .map_err(|error| format!("cannot write {}: {error}", manifest.display()))?;
    run::passes(npm(&folder).args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]).args(MODULES))?;
    Ok(folder)
}

/// `playwright-core` of `playwright-core@1`.
fn name(module: &str) -> &str {
    module.split_once('@').map_or(module, |(name, _)| name)
}

/// A browser: the one that is named, or Debian's, which is installed if it is missing.
fn chromium() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    if !Path::new(CHROMIUM).exists() {
        run::passes(Command::new("apt-get").args(["install", "-y", "--no-install-recommends", "chromium"]))
            .map_err(|error| format!("{error}; install Chromium, or name one with CHROMIUM"))?;
    }
    Ok(CHROMIUM.into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_module_is_found_by_its_name_without_its_version() {
        assert_eq!(super::MODULES.map(super::name), ["playwright-core", "axe-core", "oidc-provider"]);
    }
}
