//! `helm template` with the flags of Helm, to compare the two by hand: `template [NAME] DIRECTORY [flags]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for people")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::{
    Capabilities, Chart, KubeVersion, Options, Output, Release, ValueOptions, ValuesFile, World, render,
};

struct Fixed(u64);

impl World for Fixed {
    fn now(&self) -> Duration {
        std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.0 >> 33) as u8;
        }
    }
}

#[derive(Default)]
struct Flags {
    names: Vec<String>,
    values: ValueOptions,
    output: Output,
    namespace: String,
    kube_version: Option<String>,
    api_versions: Vec<String>,
    is_upgrade: bool,
    skip_schema: bool,
    repeat: usize,
}

fn main() -> ExitCode {
    match run() {
        Ok(out) => {
            use std::io::Write as _;
            let _ = std::io::stdout().write_all(&out);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<Vec<u8>, String> {
    let flags = flags()?;
    let (name, path) = match flags.names.as_slice() {
        [path] => ("release-name", path),
        [name, path] => (name.as_str(), path),
        _ => return Err("one or two arguments are wanted".to_owned()),
    };
    let chart = Arc::new(load(Path::new(path))?);
    let mut read = |name: &str| std::fs::read_to_string(name).map_err(|error| error.to_string());
    let values = flags.values.merge(&mut read).map_err(|error| error.to_string())?;
    let kube_version = flags.kube_version.as_deref().map(KubeVersion::parse).transpose()?;
    let capabilities = Capabilities::default().with(kube_version, &flags.api_versions);
    let mut release = Release::new(name, &flags.namespace);
    release.is_upgrade = flags.is_upgrade;
    let options = Options { skip_schema_validation: flags.skip_schema, ..Options::default() };
    let mut out = Vec::new();
    for _ in 0..flags.repeat {
        let started = std::time::Instant::now();
        let rendering = render(&chart, &values, &release, &capabilities, &options, &mut Fixed(1))
            .map_err(|error| error.to_string())?;
        out = flags.output.print(&rendering).map_err(|error| error.to_string())?;
        if flags.repeat > 1 {
            eprintln!("{:?}", started.elapsed());
        }
    }
    Ok(out)
}

fn flags() -> Result<Flags, String> {
    let mut flags = Flags { namespace: "default".to_owned(), repeat: 1, ..Flags::default() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
        match arg.as_str() {
            "-f" | "--values" => {
                let name = value()?;
                let data = std::fs::read(&name).map_err(|error| format!("open {name}: {error}"))?;
                flags.values.files.push(ValuesFile { name, data: data.into() });
            }
            "--set" => flags.values.set.push(value()?),
            "--set-string" => flags.values.strings.push(value()?),
            "--set-json" => flags.values.json.push(value()?),
            "--set-file" => flags.values.set_files.push(value()?),
            "--set-literal" => flags.values.literals.push(value()?),
            "-n" | "--namespace" => flags.namespace = value()?,
            "-s" | "--show-only" => flags.output.show_only.push(value()?),
            "--kube-version" => flags.kube_version = Some(value()?),
            "-a" | "--api-versions" => flags.api_versions.extend(value()?.split(',').map(str::to_owned)),
            "--include-crds" => flags.output.include_crds = true,
            "--skip-tests" => flags.output.skip_tests = true,
            "--no-hooks" => flags.output.no_hooks = true,
            "--is-upgrade" => flags.is_upgrade = true,
            "--skip-schema-validation" => flags.skip_schema = true,
            "--repeat" => {
                flags.repeat = value()?.parse().map_err(|_| "--repeat wants a number".to_owned())?
            }
            _ => flags.names.push(arg),
        }
    }
    Ok(flags)
}

fn load(path: &Path) -> Result<Chart, String> {
    if path.is_file() {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        return Chart::from_archive(&bytes).map_err(|error| error.to_string());
    }
    let mut tree = MemoryTree::new();
    add(&mut tree, path, "")?;
    Chart::from_tree(&tree, &FilePath::root()).map_err(|error| error.to_string())
}

fn add(tree: &mut MemoryTree, directory: &Path, prefix: &str) -> Result<(), String> {
    let entries = std::fs::read_dir(directory).map_err(|error| error.to_string())?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            add(tree, &path, &format!("{name}/"))?;
        } else if let Ok(content) = std::fs::read(&path) {
            tree.insert(FilePath::new(&name).map_err(|error| error.to_string())?, content);
        }
    }
    Ok(())
}
