//! The flags of `helm template`, for the examples and tests that stand in for the command.
#![allow(dead_code, reason = "not everybody needs all of it")]

use std::time::Duration;

use lynceus_helm::{
    Capabilities, Chart, HelmError, InstallError, KubeVersion, Options, Output, Release, UserValues,
    ValueOptions, ValuesFile, World, render,
};

/// What the command was asked for.
#[derive(Default)]
pub(crate) struct Flags {
    pub(crate) names: Vec<String>,
    pub(crate) values: ValueOptions,
    pub(crate) value_files: Vec<String>,
    pub(crate) output: Output,
    pub(crate) namespace: String,
    pub(crate) kube_version: Option<String>,
    pub(crate) api_versions: Vec<String>,
    pub(crate) is_upgrade: bool,
    pub(crate) skip_schema: bool,
    pub(crate) repeat: usize,
}

/// A clock that stands still, and a dice that always falls the same way.
pub(crate) struct Still(pub(crate) u64);

impl World for Still {
    fn now(&self) -> Duration {
        Duration::from_secs(1_700_000_000)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.0 >> 33) as u8;
        }
    }
}

/// Reads a file that a flag names.
pub(crate) type Read<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

impl Flags {
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut flags = Flags { namespace: "default".to_owned(), repeat: 1, ..Flags::default() };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
            match arg.as_str() {
                "-f" | "--values" => flags.value_files.push(value()?),
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
                    flags.repeat = value()?.parse().map_err(|_| "--repeat wants a number".to_owned())?;
                }
                _ => flags.names.push(arg),
            }
        }
        Ok(flags)
    }

    /// What the command prints, or what it says after `Error: `.
    pub(crate) fn run(
        self,
        load: impl FnOnce(&str) -> Result<Chart, HelmError>,
        read: &mut Read<'_>,
    ) -> Result<Vec<u8>, String> {
        self.template(load, read).map_err(|error| error.to_string())
    }

    pub(crate) fn kube_version(&self) -> Result<Option<KubeVersion>, InstallError> {
        let parse = |version: &str| {
            KubeVersion::parse(version).map_err(|why| InstallError::BadKubeVersion(version.to_owned(), why))
        };
        self.kube_version.as_deref().map(parse).transpose()
    }

    pub(crate) fn values(&self, read: &mut Read<'_>) -> Result<UserValues, Box<dyn std::error::Error>> {
        let mut options = self.values.clone();
        for name in &self.value_files {
            options.files.push(ValuesFile { name: name.clone(), data: read(name)?.into() });
        }
        let mut read = |name: &str| Ok(String::from_utf8_lossy(&read(name)?).into_owned());
        Ok(options.merge(&mut read)?)
    }

    fn template(
        &self,
        load: impl FnOnce(&str) -> Result<Chart, HelmError>,
        read: &mut Read<'_>,
    ) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let (name, path) = match self.names.as_slice() {
            [path] => ("release-name", path),
            [name, path] => (name.as_str(), path),
            _ => return Err("one or two arguments are wanted".into()),
        };
        let capabilities = Capabilities::default().with(self.kube_version()?, &self.api_versions);
        let values = self.values(read)?;
        let chart = std::sync::Arc::new(load(path)?);
        let mut release = Release::new(name, &self.namespace);
        release.is_upgrade = self.is_upgrade;
        let options = Options { skip_schema_validation: self.skip_schema, ..Options::default() };
        let mut out = Vec::new();
        for _ in 0..self.repeat {
            let rendering = render(&chart, &values, &release, &capabilities, &options, &mut Still(1))
                .map_err(|error| error.on_command_line())?;
            out = self.output.print(&rendering)?;
        }
        Ok(out)
    }
}
