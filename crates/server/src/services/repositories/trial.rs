//! Whether a repository can be reached, by really trying.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use jiff::Timestamp;
use lynceus_api::{Time, labels};
use lynceus_object::{GroupKind, Object, ObjectKey, Value, value};
use lynceus_source::{Book, Repository, RepositoryKind};

use super::{Entry, record};
use crate::limits;
use crate::server::Server;
use crate::services::secrets;

/// What came of attempts to reach repositories, by the Secret that they were made with.
#[derive(Default)]
pub(crate) struct Trials(Mutex<HashMap<(String, String), (State, Duration)>>);

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    status: &'static str,
    message: String,
    at: Timestamp,
}

impl State {
    fn shown(&self) -> Value {
        value!({
            "status": self.status, "message": self.message, "attemptedAt": Time::from(self.at).to_string(),
        })
    }
}

impl Trials {
    fn known(&self, key: &(String, String), now: Duration) -> Option<State> {
        let trials = self.lock();
        let (state, at) = trials.get(key)?;
        let lasts = if state.status == "Failed" { limits::UNREACHED } else { limits::REACHED };
        (now.saturating_sub(*at) < lasts).then(|| state.clone())
    }

    fn keep(&self, key: (String, String), state: State, now: Duration) {
        let mut trials = self.lock();
        if trials.len() >= limits::TRIALS {
            trials.clear();
        }
        trials.insert(key, (state, now));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), (State, Duration)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Repositories with whether they can be reached, in their order.
pub(super) async fn with_states(server: &Arc<Server>, entries: &[Entry], anew: bool) -> Vec<Value> {
    let book = book(server, None);
    let work: Vec<_> = entries
        .iter()
        .map(|entry| {
            let (server, book, entry) = (server.clone(), book.clone(), entry.clone());
            async move {
                let repository = of_entry(&book, &entry);
                let mut shown = record::shown(&entry.secret);
                if own_credentials(&entry.secret).is_none() && repository.access.has_credentials() {
                    shown.set(&["inheritedCreds"], true);
                }
                shown.set(&["connectionState"], state(&server, &entry, &repository, anew).await.shown());
                shown
            }
        })
        .collect();
    futures::stream::iter(work).buffered(limits::REPOSITORIES_AT_ONCE).collect().await
}

/// The field of a Secret that lets one in, if there is one.
fn own_credentials(secret: &Object) -> Option<&'static str> {
    [
        "username",
        "password",
        "bearerToken",
        "sshPrivateKey",
        "tlsClientCertData",
        "githubAppPrivateKey",
        "gcpServiceAccountKey",
    ]
    .into_iter()
    .find(|field| !secrets::text(secret, field).is_empty())
}

async fn state(server: &Server, entry: &Entry, repository: &Repository, anew: bool) -> State {
    let key = (entry.secret.uid().to_owned(), entry.secret.resource_version().to_owned());
    let clock = server.engine.clock();
    if let Some(known) = server.trials.known(&key, clock.monotonic()).filter(|_| !anew) {
        return known;
    }
    let result = attempt(server, repository, anew).await;
    let at = clock.now();
    let state = match result {
        Ok(()) => State { status: "Successful", message: String::new(), at },
        Err(message) => State { status: "Failed", message, at },
    };
    server.trials.keep(key, state.clone(), clock.monotonic());
    state
}

/// Tries to read a repository. What is wrong is said in words that hold no credential.
pub(super) async fn attempt(server: &Server, repository: &Repository, anew: bool) -> Result<(), String> {
    let sources = server.engine.renderer().sources();
    if anew {
        sources.forget(repository);
    }
    let reach = async {
        match repository.kind {
            RepositoryKind::Git => sources.references(repository).await.map(drop),
            RepositoryKind::Oci => sources.artifact_tags(repository).await.map(drop),
            RepositoryKind::Helm if repository.oci => sources.greet(repository).await,
            RepositoryKind::Helm => sources.charts(repository).await.map(drop),
        }
    };
    match tokio::time::timeout(limits::TRIAL, reach).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(lynceus_engine::words(&error)),
        Err(_) => Err(format!("it did not answer within {} s", limits::TRIAL.as_secs())),
    }
}

/// A repository as its Secret and the templates say that it is reached.
pub(super) fn of_entry(book: &Arc<Book>, entry: &Entry) -> Repository {
    at(book, &entry.url, &entry.project, &secrets::text(&entry.secret, "type"))
}

/// The repository at an address, of a sort.
pub(super) fn at(book: &Arc<Book>, url: &str, project: &str, kind: &str) -> Repository {
    match kind {
        "helm" => book.charts(url, project),
        "oci" => book.artifacts(url, project),
        _ => book.find(url, project),
    }
}

/// Everything that is known of how repositories are reached, as of now; with a Secret in the place of those for the same
/// address and project, where one is to be tried before it is stored.
pub(super) fn book(server: &Server, tried: Option<&Object>) -> Arc<Book> {
    let cache = server.engine.home().cache();
    let place = tried.map(|secret| Entry::of(secret.clone()));
    let mut objects: Vec<Object> = cache.of_kind(&GroupKind::new("", "Secret"));
    objects.retain(|secret| {
        secret.namespace() == server.namespace()
            && secret.label(labels::SECRET_TYPE).is_some()
            && place.as_ref().is_none_or(|place| {
                !(place.is_at(&secrets::text(secret, "url"))
                    && secrets::text(secret, "project") == place.project)
                    || secret.label(labels::SECRET_TYPE) == Some(labels::SECRET_TYPE_REPO_CREDS)
            })
    });
    objects.extend(tried.cloned());
    let map = |name: &str| cache.get(&ObjectKey::new("", "ConfigMap", server.namespace(), name));
    objects.extend(["argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm"].into_iter().filter_map(map));
    // What is wrong with Secrets is told where the settings are read.
    Arc::new(Book::read(&objects).0)
}
