//! `helm dependency update` and `build`: choose, fetch, lock.

use std::path::Path;
use std::sync::Arc;

use jiff::Zoned;
use lynceus_helm::resolve::{self, LockDigest, Repository as Place};
use lynceus_helm::{Chart, Dependency, Lock};
use lynceus_source::redact;

use super::charts::Arrivals;
use super::local;
use crate::helm::access;
use crate::helm::chart::{chosen_tag, not_there, unreachable_repository};
use crate::helm::settings::Settings;
use crate::helm::speech::say;
use crate::helm::supply::{Supply, Unchosen};

/// The dependencies of one chart, being brought.
pub(in crate::helm) struct Work {
    /// The chart's directory, as the user calls it.
    pub(super) chart: String,
    pub(super) supply: Supply,
    pub(super) debug: bool,
    skip_refresh: bool,
}

impl Work {
    /// Gets ready; nothing is asked of anybody yet.
    pub(in crate::helm) fn open(
        chart: &str,
        skip_refresh: bool,
        settings: &Settings,
        flags: &access::Flags,
    ) -> Result<Self, String> {
        let supply = Supply::open(settings, flags)?;
        Ok(Work { chart: local::clean(chart), supply, debug: settings.debug, skip_refresh })
    }

    /// Fetches what the lock names. Without a lock it is as for an update.
    pub(super) async fn build(&self) -> Result<(), String> {
        let chart = self.load()?;
        let Some(lock) = chart.lock() else { return self.update().await };
        let mut asked = chart.metadata().dependencies.clone();
        self.resolve_names(&mut asked)?;
        let known_by = resolve::check_lock(&chart, &asked, lock).map_err(|error| error.to_string())?;
        if known_by == LockDigest::Old {
            eprintln!("warning: a valid Helm v3 hash was not found. Checking against Helm v2 hash...");
        }
        self.check_known(&lock.dependencies)?;
        if !self.skip_refresh {
            self.refresh_known().await?;
        }
        self.bring(lock.dependencies.clone()).await.map(drop)
    }

    /// Chooses versions, fetches them and writes the lock, if it is another.
    pub(in crate::helm) async fn update(&self) -> Result<(), String> {
        let chart = self.load()?;
        let mut asked = chart.metadata().dependencies.clone();
        if asked.is_empty() {
            return Ok(());
        }
        self.resolve_names(&mut asked)?;
        if !self.skip_refresh {
            self.refresh_unknown(&asked).await;
            self.refresh_known().await?;
        }
        let chosen = self.choose(&asked).await?;
        let brought = self.bring(chosen).await?;
        let lock = resolve::lock(&asked, brought, &now());
        if chart.lock().is_some_and(|old| old.digest == lock.digest) {
            return Ok(());
        }
        self.write_lock(&chart, &lock)
    }

    fn load(&self) -> Result<Arc<Chart>, String> {
        let about = Path::new(&self.chart).metadata();
        let about = about.map_err(|error| {
            format!("could not find {}: {}", self.chart, not_there("stat", &self.chart, &error))
        })?;
        if !about.is_dir() {
            return Err("only unpacked charts can be updated".to_owned());
        }
        let chart = local::load(&self.chart)?;
        chart.warnings().iter().for_each(say);
        Ok(chart)
    }

    /// Brings dependencies into `charts/`, all of them or none, and gives them with the versions that they have.
    async fn bring(&self, mut dependencies: Vec<Dependency>) -> Result<Vec<Dependency>, String> {
        let mut arrivals = Arrivals::prepare(&self.chart)?;
        println!("Saving {} charts", dependencies.len());
        for dependency in &mut dependencies {
            if let Err(problem) = self.fetch(dependency, &mut arrivals).await {
                println!("Save error occurred:  {problem}");
                return Err(problem);
            }
        }
        let included = dependencies.iter().filter(|dependency| dependency.repository.is_empty());
        arrivals.settle(&included.map(|dependency| dependency.name.as_str()).collect::<Vec<_>>())?;
        Ok(dependencies)
    }

    async fn fetch(&self, dependency: &mut Dependency, arrivals: &mut Arrivals) -> Result<(), String> {
        let (name, repository) = (&dependency.name, &dependency.repository);
        match Place::parse(repository) {
            Place::Included => {
                println!(
                    "Dependency {name} did not declare a repository. Assuming it exists in the charts directory"
                );
                self.check_included(dependency)
            }
            Place::Directory(path) => {
                if self.debug {
                    println!("Archiving {name} from repo {repository}");
                }
                dependency.version = self.pack(dependency, &path, arrivals)?;
                Ok(())
            }
            Place::Oci(url) => self.fetch_from_registry(dependency, &url, arrivals).await,
            Place::Http(url) | Place::Named(url) => {
                self.fetch_from_repository(dependency, &url, arrivals).await
            }
        }
    }

    /// Checks that a chart which has to be in `charts/` is there in a version that will do.
    fn check_included(&self, dependency: &Dependency) -> Result<(), String> {
        let path = format!("{}/charts/{}", self.chart, dependency.name);
        let chart =
            local::load(&path).map_err(|problem| format!("unable to load chart '{path}': {problem}"))?;
        let version = &chart.metadata().version;
        match resolve::satisfies(dependency, version).map_err(|error| error.to_string())? {
            true => Ok(()),
            false => Err(format!(
                "dependency {} at version {version} does not satisfy the constraint {}",
                dependency.name, dependency.version
            )),
        }
    }

    /// Packs the chart of a directory, and gives its version.
    fn pack(&self, dependency: &Dependency, path: &str, arrivals: &mut Arrivals) -> Result<String, String> {
        let directory = local::directory(&self.chart, path)?;
        let chart = local::load(&directory)?;
        let version = chart.metadata().version.clone();
        if !resolve::satisfies(dependency, &version).map_err(|error| error.to_string())? {
            return Err(format!("can't get a valid version for dependency {}", dependency.name));
        }
        let packed = lynceus_helm::pack(&chart, &|member| local::modified(&directory, member))
            .map_err(|error| error.to_string())?;
        arrivals.take(&lynceus_helm::archive_name(&chart), &packed)?;
        Ok(version)
    }

    async fn fetch_from_registry(
        &self,
        dependency: &Dependency,
        url: &str,
        arrivals: &mut Arrivals,
    ) -> Result<(), String> {
        let place = format!("{url}/{}", dependency.name);
        if !arrivals.announce(&dependency.name, url, &format!("{place}:{}", dependency.version)) {
            return Ok(());
        }
        let failed = |problem: String| format!("could not download {}: {problem}", redact(&place));
        let chart = self.supply.in_registry(&place).map_err(failed)?;
        let version = chosen_tag(&self.supply, &chart, &dependency.version).await.map_err(failed)?;
        let bytes = self.supply.pull(&chart, &version).await.map_err(failed)?;
        arrivals.take(&format!("{}-{version}.tgz", dependency.name), &bytes)
    }

    async fn fetch_from_repository(
        &self,
        dependency: &Dependency,
        url: &str,
        arrivals: &mut Arrivals,
    ) -> Result<(), String> {
        let repository = self.supply.at(url)?;
        let versions = self.supply.sources.chart_versions(&repository, &dependency.name).await;
        let why = |why: Unchosen| {
            let why = match why {
                Unchosen::NoChart => "entry not found".to_owned(),
                Unchosen::Failed(error) => unreachable_repository(url, &error),
                Unchosen::NoVersion | Unchosen::BadRange(_) => "no matching version".to_owned(),
            };
            format!("could not find : {why}")
        };
        let versions = versions.map_err(|error| match error {
            lynceus_source::SourceError::ChartNotFound { .. } => why(Unchosen::NoChart),
            error => why(Unchosen::Failed(error)),
        })?;
        let fits = |version: &&lynceus_source::ChartVersion| {
            let same = resolve::same_version(&dependency.version, &version.version);
            !version.urls.is_empty() && (dependency.version.is_empty() || same)
        };
        let version = versions.iter().find(fits).ok_or_else(|| why(Unchosen::NoVersion))?;
        let place = version.urls.first().map(String::as_str).unwrap_or_default();
        if !arrivals.announce(&dependency.name, url, &format!("{url} {place}")) {
            return Ok(());
        }
        let failed = |problem: String| format!("could not download {}: {problem}", redact(place));
        let bytes = self.supply.fetch(&repository, version).await.map_err(failed)?;
        arrivals.take(&file_name(place, version), &bytes)
    }

    fn write_lock(&self, chart: &Chart, lock: &Lock) -> Result<(), String> {
        let name = if chart.metadata().api_version == "v1" { "requirements.lock" } else { "Chart.lock" };
        let path = Path::new(&self.chart).join(name);
        if let Ok(target) = path.read_link() {
            return Err(format!("the {name} file is a symlink to {:?}", target.display().to_string()));
        }
        std::fs::write(&path, resolve::print_lock(lock))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

/// The name of an archive: the last part of its URL, if that is one that a file may have.
fn file_name(url: &str, version: &lynceus_source::ChartVersion) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    match path.trim_end_matches('/').rsplit('/').next().unwrap_or_default() {
        name if name.ends_with(".tgz") && !name.contains('%') && !name.starts_with('.') => name.to_owned(),
        _ => format!("{}-{}.tgz", version.name, version.version),
    }
}

/// The time as Go prints it: to the nanosecond, with the offset of this place.
fn now() -> String {
    let now = Zoned::now();
    let zone = match now.offset().seconds() {
        0 => "Z".to_owned(),
        seconds => {
            let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    };
    format!("{}.{:09}{zone}", now.strftime("%Y-%m-%dT%H:%M:%S"), now.subsec_nanosecond())
}

#[cfg(test)]
mod tests {
    use lynceus_source::ChartVersion;

    use super::*;

    #[test]
    fn an_archive_has_the_name_of_its_url_unless_that_leads_elsewhere() {
        let version =
            ChartVersion { name: "web".to_owned(), version: "1.0.0".to_owned(), ..ChartVersion::default() };
        for (url, expected) in [
            ("https://h/x/web-v1.0.0.tgz?token=1", "web-v1.0.0.tgz"),
            ("web-1.0.0.tgz", "web-1.0.0.tgz"),
            ("https://h/download/17", "web-1.0.0.tgz"),
            ("https://h/..%2f..%2fx.tgz", "web-1.0.0.tgz"),
            ("https://h/.tgz", "web-1.0.0.tgz"),
        ] {
            assert_eq!(file_name(url, &version), expected, "{url}");
        }
    }
}
