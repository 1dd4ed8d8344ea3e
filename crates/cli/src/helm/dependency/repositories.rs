//! The repositories that dependencies come from: what their names stand for, and news of them.

use lynceus_helm::Dependency;
use lynceus_helm::resolve::Repository as Place;
use lynceus_source::{Repository, SourceError, redact};

use super::local;
use super::update::Work;
use crate::helm::repositories::same_url;
use crate::helm::supply::{index_url, told};

impl Work {
    /// Puts the URLs of repositories in the place of their names, and checks that all of them can be asked.
    pub(super) fn resolve_names(&self, dependencies: &mut [Dependency]) -> Result<(), String> {
        let mut missing = Vec::new();
        for dependency in dependencies {
            match Place::parse(&dependency.repository) {
                Place::Included | Place::Oci(_) => {}
                Place::Directory(path) => {
                    local::directory(&self.chart, &path)?;
                    if self.debug {
                        println!("Repository from local path: {}", dependency.repository);
                    }
                }
                Place::Named(name) => match self.supply.repositories.named(&name) {
                    Some(entry) => dependency.repository.clone_from(&entry.url),
                    None => missing.push(dependency.repository.clone()),
                },
                Place::Http(url) => {
                    if self.supply.repositories.at(&url).is_none() && !is_url(&url) {
                        missing.push(url);
                    }
                }
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(no_definition(&missing)) }
    }

    /// Checks that the user has a name for every repository of a lock, as Helm wants it.
    pub(super) fn check_known(&self, locked: &[Dependency]) -> Result<(), String> {
        let is_unknown = |dependency: &&Dependency| match Place::parse(&dependency.repository) {
            Place::Included | Place::Directory(_) | Place::Oci(_) => false,
            Place::Named(_) => true,
            Place::Http(url) => self.supply.repositories.at(&url).is_none(),
        };
        let missing: Vec<String> =
            locked.iter().filter(is_unknown).map(|dependency| redact(&dependency.repository)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!(
            "no repository definition for {}. Please add the missing repos via 'helm repo add'",
            missing.join(", ")
        ))
    }

    /// Asks the repositories that some dependencies come from and that the user has no names for.
    pub(super) async fn refresh_unknown(&self, dependencies: &[Dependency]) {
        let mut unknown: Vec<(String, Repository)> = Vec::new();
        for dependency in dependencies {
            let Place::Http(url) = Place::parse(&dependency.repository) else { continue };
            let is_asked = |(_, repository): &(String, Repository)| same_url(&repository.url, &url);
            if self.supply.repositories.at(&url).is_none() && !unknown.iter().any(is_asked) {
                unknown.push((String::new(), Repository::charts(&url)));
            }
        }
        if !unknown.is_empty() {
            println!("Getting updates for unmanaged Helm repositories...");
            self.refresh(unknown).await;
        }
    }

    /// Asks every repository that the user has a name for.
    pub(super) async fn refresh_known(&self) -> Result<(), String> {
        let mut known: Vec<(String, Repository)> = Vec::new();
        for entry in self.supply.repositories.all() {
            // Of two names for one place the last counts.
            known.retain(|(_, repository)| !same_url(&repository.url, &entry.url));
            known.push((entry.name.clone(), entry.repository()?));
        }
        if !known.is_empty() {
            println!("Hang tight while we grab the latest from your chart repositories...");
            self.refresh(known).await;
            println!("Update Complete. ⎈Happy Helming!⎈");
        }
        Ok(())
    }

    /// Asks repositories at the same time, and tells of each in their order.
    async fn refresh(&self, repositories: Vec<(String, Repository)>) {
        let asked: Vec<_> = repositories
            .into_iter()
            .map(|(name, repository)| {
                let (sources, url) = (self.supply.sources.clone(), repository.url.clone());
                let answer = tokio::spawn(async move { sources.charts(&repository).await });
                (name, url, answer)
            })
            .collect();
        for (name, url, answer) in asked {
            // A task that was not stopped gives its answer.
            let Ok(answer) = answer.await else { continue };
            println!("{}", news(&name, &url, answer.err().as_ref()));
        }
    }
}

/// What is told of a repository that was asked.
fn news(name: &str, url: &str, error: Option<&SourceError>) -> String {
    let shown = redact(url);
    let called = if name.is_empty() { &shown } else { name };
    match error {
        None => format!("...Successfully got an update from the {called:?} chart repository"),
        Some(error) => {
            let place = if name.is_empty() { String::new() } else { format!(" ({shown})") };
            let why = told(error, &index_url(url));
            format!("...Unable to get an update from the {called:?} chart repository{place}:\n\t{why}")
        }
    }
}

/// Whether a text can be asked for: it is absolute.
fn is_url(text: &str) -> bool {
    text.contains("://") || text.starts_with('/')
}

fn no_definition(missing: &[String]) -> String {
    let shown: Vec<String> = missing.iter().map(|url| redact(url)).collect();
    let mut told =
        format!("no repository definition for {}. Please add them via 'helm repo add'", shown.join(", "));
    let is_word =
        |text: &String| !text.contains("//") && !text.starts_with(['@']) && !text.starts_with("alias:");
    if missing.iter().any(is_word) {
        told.push_str(
            "\nNote that repositories must be URLs or aliases. For example, to refer to the \"example\"\nrepository, use \
             \"https://charts.example.com/\" or \"@example\" instead of\n\"example\". Don't forget to add the repo, too \
             ('helm repo add').",
        );
    }
    told
}
