//! What the operator has set: `argocd-cm`, and the repositories' Secrets.

use std::sync::Arc;
use std::time::Duration;

use lynceus_api::{Tracking, TrackingMethod, Word as _, labels, parse_duration};
use lynceus_cluster::{Cache, Cluster, RespectRbac, Scope};
use lynceus_files::Diagnostic;
use lynceus_object::{GroupKind, Object, ObjectKey, Str};
use lynceus_source::Book;

use crate::limits;

/// What the operator has set, as of now.
#[derive(Clone)]
pub struct Settings {
    /// How objects are marked as belonging to an application.
    pub tracking: Tracking,
    /// Which kinds are watched.
    pub scope: Scope,
    /// What is made of kinds that we may not read.
    pub respect_rbac: RespectRbac,
    /// Whether the home cluster is a destination: `cluster.inClusterEnabled`.
    pub in_cluster: bool,
    /// How often an application is looked at although nothing seems to have changed; none for never.
    pub resync: Option<Duration>,
    /// By how much that is stretched at random.
    pub resync_jitter: Duration,
    /// The schemes of URLs that value files may be read from: `helm.valuesFileSchemes`.
    pub value_schemes: Vec<Str>,
    /// The flags that kustomizations are built with: `kustomize.buildOptions`.
    pub kustomize_options: Str,
    /// The repositories and how to get in.
    pub book: Arc<Book>,
    /// Settings that cannot be followed.
    pub diagnostics: Vec<Diagnostic>,
}

impl Settings {
    /// Reads the settings from the installation's namespace.
    pub fn read(cache: &Cache, home: &str) -> Self {
        let config = cache.get(&ObjectKey::new("", "ConfigMap", home, "argocd-cm")).unwrap_or_default();
        let (book, mut diagnostics) = Book::read(&sources(cache, home));
        let mut duration = |key: &str, default: Duration| match text(&config, key) {
            None => default,
            Some(text) => match parse_duration(text)
                .ok()
                .and_then(|duration| Duration::try_from(duration).ok())
            {
                Some(duration) => duration,
                None => {
                    diagnostics.push(
                        Diagnostic::warning(format!("argocd-cm has {key}: {text:?}, which is no duration"))
                            .hint("write it as 120s, 3m or 1h"),
                    );
                    default
                }
            },
        };
        let resync = duration("timeout.reconciliation", limits::RESYNC);
        let resync_jitter = duration("timeout.reconciliation.jitter", limits::RESYNC_JITTER);
        let (scope, errors) =
            Scope::read(text(&config, "resource.exclusions"), text(&config, "resource.inclusions"));
        diagnostics.extend(errors.iter().map(|error| Diagnostic::warning(error.to_string())));
        Settings {
            tracking: tracking(&config),
            scope,
            respect_rbac: RespectRbac::read(text(&config, "resource.respectRBAC").unwrap_or_default()),
            in_cluster: text(&config, "cluster.inClusterEnabled") != Some("false"),
            resync: Some(resync).filter(|period| !period.is_zero()),
            resync_jitter,
            value_schemes: value_schemes(&config),
            kustomize_options: text(&config, "kustomize.buildOptions").unwrap_or_default().into(),
            book: Arc::new(book),
            diagnostics,
        }
    }

    /// Has a cluster watched as these settings say.
    pub fn impose_on(&self, cluster: &Cluster) {
        cluster.set_tracking(self.tracking.clone());
        cluster.set_scope(self.scope.clone(), self.respect_rbac);
    }
}

/// Argo CD allows both if nothing is said.
fn value_schemes(config: &Object) -> Vec<Str> {
    let schemes = text(config, "helm.valuesFileSchemes").unwrap_or("https, http");
    schemes.split(',').map(|scheme| scheme.trim().into()).filter(|scheme: &Str| !scheme.is_empty()).collect()
}

/// Whether a change of this object is a change of settings.
pub(crate) fn concerns(key: &ObjectKey, home: &str) -> bool {
    key.namespace == home && key.group.is_empty() && matches!(key.kind.as_str(), "ConfigMap" | "Secret")
}

/// The Secrets and ConfigMaps that say how to read repositories.
fn sources(cache: &Cache, home: &str) -> Vec<Object> {
    let secrets = cache
        .of_kind(&GroupKind::new("", "Secret"))
        .into_iter()
        .filter(|secret| secret.namespace() == home && secret.label(labels::SECRET_TYPE).is_some());
    let maps = ["argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm"]
        .into_iter()
        .filter_map(|name| cache.get(&ObjectKey::new("", "ConfigMap", home, name)));
    secrets.chain(maps).collect()
}

fn tracking(config: &Object) -> Tracking {
    let default = Tracking::default();
    Tracking {
        method: text(config, "application.resourceTrackingMethod")
            .and_then(TrackingMethod::parse)
            .unwrap_or(default.method),
        label: text(config, "application.instanceLabelKey").map_or(default.label, Into::into),
        installation: text(config, "installationID").unwrap_or_default().into(),
    }
}

fn text<'a>(config: &'a Object, key: &str) -> Option<&'a str> {
    config.value().str_at(&["data", key]).filter(|text| !text.is_empty())
}
