//! Which version of each dependency is meant.

use lynceus_helm::Dependency;
use lynceus_helm::resolve::{self, Repository as Place};

use super::local;
use super::update::Work;
use crate::helm::chart::unreachable_repository;
use crate::helm::supply::Unchosen;

impl Work {
    /// The dependencies as they are locked: with one version each. Those that cannot be had are told together.
    pub(super) async fn choose(&self, asked: &[Dependency]) -> Result<Vec<Dependency>, String> {
        let (mut chosen, mut missing) = (Vec::new(), Vec::new());
        for dependency in asked {
            // Says so where the range cannot be read, wherever the chart comes from.
            resolve::satisfies(dependency, "").map_err(|error| error.to_string())?;
            match self.version(dependency).await? {
                Some(version) => chosen.push(Dependency {
                    name: dependency.name.clone(),
                    repository: dependency.repository.clone(),
                    version,
                    ..Dependency::default()
                }),
                None => missing.push(dependency.clone()),
            }
        }
        if missing.is_empty() { Ok(chosen) } else { Err(resolve::no_version(&missing).to_string()) }
    }

    async fn version(&self, dependency: &Dependency) -> Result<Option<String>, String> {
        match Place::parse(&dependency.repository) {
            Place::Included => {
                local::directory(&self.chart, &format!("charts/{}", dependency.name))?;
                Ok(Some(dependency.version.clone()))
            }
            Place::Directory(path) => {
                let chart = local::load(&local::directory(&self.chart, &path)?)?;
                let version = &chart.metadata().version;
                let fits = resolve::satisfies(dependency, version).map_err(|error| error.to_string())?;
                Ok(fits.then(|| version.clone()))
            }
            Place::Oci(url) => self.version_in_registry(dependency, &url).await.map(Some),
            Place::Http(url) | Place::Named(url) => self.version_in_repository(dependency, &url).await,
        }
    }

    async fn version_in_repository(
        &self,
        dependency: &Dependency,
        url: &str,
    ) -> Result<Option<String>, String> {
        let repository = self.supply.at(url)?;
        let name = &dependency.name;
        let versions = self.supply.sources.chart_versions(&repository, name).await;
        let versions = versions.map_err(|error| match error {
            lynceus_source::SourceError::ChartNotFound { url, .. } => {
                format!("{name} chart not found in repo {url}")
            }
            error => unreachable_repository(url, &error),
        })?;
        let texts = versions
            .iter()
            .filter(|version| !version.urls.is_empty())
            .map(|version| version.version.as_str());
        let chosen = resolve::choose(name, &dependency.version, texts).map_err(|error| error.to_string())?;
        Ok(chosen.map(str::to_owned))
    }

    /// A plain version is taken by its word. A range that no tag lies in stays one: fetching it says what is wrong.
    async fn version_in_registry(&self, dependency: &Dependency, url: &str) -> Result<String, String> {
        let wanted = &dependency.version;
        if resolve::is_version(wanted) {
            return Ok(wanted.clone());
        }
        let failed = |why: String| {
            let url = lynceus_source::redact(url);
            format!("could not retrieve list of tags for repository {url}: {why}")
        };
        let chart = self.supply.in_registry(&format!("{url}/{}", dependency.name)).map_err(failed)?;
        match self.supply.choose(&chart.repository, &chart.name, wanted).await {
            Ok(version) => Ok(version.version),
            Err(Unchosen::NoVersion) => Ok(wanted.clone()),
            Err(Unchosen::BadRange(reason)) => Err(reason),
            Err(why) => {
                let why = match why {
                    Unchosen::Failed(error) => error.to_string(),
                    _ => "repository name not known to registry".to_owned(),
                };
                Err(failed(why))
            }
        }
    }
}
