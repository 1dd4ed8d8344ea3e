//! What the operator has set: `argocd-cm`, `argocd-cmd-params-cm`, the repositories' Secrets and the keys of signatures.
//!
//! [`KEYS`] is the table of all settings. [`Settings`] is what they come to: a setting that is added is a line there and a
//! field here.

mod compare;
mod customizations;
mod global;
mod keys;
mod others;
mod read;
mod sets;
#[cfg(test)]
mod tests;
mod updates;

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use lynceus_api::{Glob, Tracking, TrackingMethod, Word as _, labels, operator};
use lynceus_cluster::{Cache, Cluster, RespectRbac, Scope};
use lynceus_diff::{Ignore, System, SystemError};
use lynceus_files::Diagnostic;
use lynceus_health::CustomizationError;
use lynceus_object::{GroupKind, Object, ObjectKey, Str};
use lynceus_render::Tools;
use lynceus_source::{Book, Keyring, Wishes};
use lynceus_sync::auto::Heal;

use crate::pace::Pace;
use compare::CompareOptions;
pub use customizations::Customizations;
pub use global::GlobalProject;
pub use keys::{ConfigMap, Form, KEYS, Key, table};
use read::Reader;
pub use sets::SetSettings;

/// The ConfigMaps beside the two of [`ConfigMap`] that something is read from.
const MAPS: [&str; 3] = ["argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm", Keyring::CONFIG_MAP];

/// What the operator has set, as of now.
#[derive(Clone)]
pub struct Settings {
    /// How objects are marked as belonging to an application.
    pub tracking: Tracking,
    /// Which kinds are watched.
    pub scope: Scope,
    /// What is made of kinds that we may not read.
    pub respect_rbac: RespectRbac,
    /// Whether namespaces may have notifications of their own.
    pub self_service: bool,
    /// Whether the home cluster is a destination.
    pub in_cluster: bool,
    /// How often an application is looked at although nothing seems to have changed; none for never.
    pub resync: Option<Duration>,
    /// By how much that is stretched at random.
    pub resync_jitter: Duration,
    /// How often everything is rendered anew although nothing seems to have changed; none for never.
    pub hard_resync: Option<Duration>,
    /// The pauses between attempts to heal drift.
    pub heal: Heal,
    /// How long a sync may take; none for as long as it likes.
    pub sync_timeout: Option<Duration>,
    /// How long controllers get to react between two waves.
    pub wave_delay: SignedDuration,
    /// Whether a claim that waits for its first consumer holds its wave although the consumer comes in a later one.
    pub claims_hold_waves: bool,
    /// Whether a child Application counts with its own health; none where the installation decides.
    pub wait_for_applications: Option<bool>,
    /// Whether one kind that cannot be read makes all objects Unknown.
    pub unreadable_kinds_stop_all: bool,
    /// How long sources that give no manifests change nothing.
    pub repo_error_grace: Duration,
    /// How sources are read otherwise than by the program's own settings.
    pub source_wishes: Wishes,
    /// How sources are rendered.
    pub pace: Pace,
    /// How many requests of syncs are under way at the same time; none for as many as there are.
    pub writes_at_once: Option<usize>,
    /// Which labels of an Application its events carry.
    pub event_labels: EventLabels,
    /// What metrics tell beyond what they always tell.
    pub metrics: MetricWishes,
    /// How many applications are worked on at the same time.
    pub workers: usize,
    /// The namespaces beside the installation's own that Applications are taken from, as patterns.
    pub application_namespaces: Vec<Str>,
    /// What is set for all ApplicationSets.
    pub sets: SetSettings,
    /// Whether a sync acts as somebody else.
    pub impersonation: Impersonation,
    /// Projects whose rules hold for others too.
    pub global_projects: Vec<GlobalProject>,
    /// How objects are compared everywhere.
    pub comparing: Arc<System>,
    /// Whether the cluster is asked what an apply would change.
    pub server_side_diff: bool,
    /// Whether the health of every object stands in the Application's status.
    pub persist_health: bool,
    /// How kinds are treated.
    pub customizations: Customizations,
    /// The users' own health checks and actions.
    pub health: Arc<lynceus_health::Customizations>,
    /// The fields whose change alone is no reason to look at an application; none if every change is.
    pub ignored_updates: Option<Arc<Ignore>>,
    /// The schemes of URLs that value files may be read from.
    pub value_schemes: Vec<Str>,
    /// The flags that kustomizations are built with.
    pub kustomize_options: Str,
    /// The tools that may be used.
    pub tools: Tools,
    /// How many bytes the manifests of a directory may have together.
    pub directory_bytes: u64,
    /// The repositories and how to get in.
    pub book: Arc<Book>,
    /// The keys that signatures are checked with.
    pub keyring: Arc<Keyring>,
    /// Settings that cannot be followed.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a sync acts as the service account that the project names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impersonation {
    /// No.
    Off,
    /// Where the project names one.
    Offered,
    /// Always: without one there is no sync.
    Enforced,
}

/// What metrics tell beyond what they always tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetricWishes {
    /// These labels of Applications,
    pub application_labels: Vec<Str>,
    /// these conditions of them, or all,
    pub application_conditions: Vec<Str>,
    /// and these labels of cluster Secrets.
    pub cluster_labels: Vec<Str>,
}

/// Which labels events carry, as patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventLabels {
    /// These,
    pub included: Vec<Str>,
    /// without these.
    pub excluded: Vec<Str>,
}

impl EventLabels {
    /// Whether events carry a label.
    pub(crate) fn has(&self, name: &str) -> bool {
        let fits = |patterns: &[Str]| {
            patterns.iter().any(|pattern| Glob::new(pattern).is_ok_and(|glob| glob.matches(name)))
        };
        fits(&self.included) && !fits(&self.excluded)
    }
}

impl Settings {
    /// Reads the settings from the installation's namespace.
    pub fn read(cache: &Cache, home: &str) -> Self {
        let map = |name: &str| cache.get(&ObjectKey::new("", "ConfigMap", home, name)).unwrap_or_default();
        let (settings, parameters) = (map(ConfigMap::Settings.name()), map(ConfigMap::Parameters.name()));
        let mut read = Settings::of(&with_operators(settings, cache, home), &parameters);
        let (book, problems) = Book::read(&sources(cache, home));
        let (keyring, broken) = Keyring::read(&map(Keyring::CONFIG_MAP));
        read.book = Arc::new(book);
        read.keyring = Arc::new(keyring);
        read.diagnostics.extend(problems.into_iter().chain(broken));
        read
    }

    /// Reads the two ConfigMaps alone.
    pub fn of(settings: &Object, parameters: &Object) -> Self {
        let mut reader = Reader::new(settings, parameters);
        let read = &mut reader;
        let (scope, errors) = Scope::read(read.set(&keys::EXCLUSIONS), read.set(&keys::INCLUSIONS));
        let hint = "write a list whose items have apiGroups, kinds and clusters";
        let told = errors.iter().map(|error| Diagnostic::warning(error.to_string()).hint(hint));
        read.diagnostics.extend(told);
        let compare = CompareOptions::read(read);
        let (comparing, errors) =
            System::read(read.entries(ConfigMap::Settings).map(|(key, text)| (key.as_str(), text)));
        // What is written wrongly is told by the reader; whether a rule or a type makes sense only by what follows it.
        let senseless =
            |error: &&SystemError| matches!(error, SystemError::Rule { .. } | SystemError::Type { .. });
        let told = errors.iter().filter(senseless).map(|error| Diagnostic::warning(crate::words(error)));
        read.diagnostics.extend(told);
        let customizations = Customizations::read(read);
        let (health, errors) = lynceus_health::Customizations::read(settings);
        // How it is written down is told by the reader above; whether a script can be run only by what runs it.
        let told = |error: &CustomizationError| Diagnostic::warning(format!("argocd-cm has {error}"));
        read.diagnostics.extend(errors.iter().filter(|error| error.in_script).map(told));
        let (ignored, errors) = updates::ignored(&customizations, &compare);
        for error in errors {
            let what = format!("has a rule that cannot be followed: {error}");
            read.warn(ConfigMap::Settings, keys::CUSTOMIZATIONS.name, &what, Form::Yaml);
        }
        let workers = read.number(&keys::STATUS_PROCESSORS).max(read.number(&keys::OPERATION_PROCESSORS));
        Settings {
            tracking: tracking(read),
            scope,
            respect_rbac: RespectRbac::read(read.word(&keys::RESPECT_RBAC)),
            self_service: read.switch(&keys::SELF_SERVICE),
            in_cluster: read.switch(&keys::IN_CLUSTER),
            resync: read.period(&keys::RECONCILIATION),
            resync_jitter: read.duration(&keys::JITTER),
            hard_resync: read.period(&keys::HARD_RECONCILIATION),
            heal: heal(read),
            sync_timeout: Some(read.seconds(&keys::SYNC_TIMEOUT)).filter(|time| !time.is_zero()),
            wave_delay: signed(read.seconds(&keys::WAVE_DELAY)),
            claims_hold_waves: read.switch(&keys::CLAIMS_HOLD_WAVES),
            wait_for_applications: read.choice(&keys::WAIT_FOR_APPLICATIONS),
            unreadable_kinds_stop_all: read.switch(&keys::UNREADABLE_STOP_ALL),
            repo_error_grace: read.duration(&keys::REPO_ERROR_GRACE),
            source_wishes: Wishes {
                git_list_timeout: read.set(&keys::GIT_TIMEOUT).map(|_| read.duration(&keys::GIT_TIMEOUT)),
                submodules: read.set(&keys::SUBMODULES).map(|_| read.switch(&keys::SUBMODULES)),
            },
            pace: Pace {
                timeout: Some(read.seconds(&keys::RENDER_TIMEOUT)).filter(|time| !time.is_zero()),
                at_once: at_once(read.number(&keys::RENDERINGS)),
            },
            writes_at_once: at_once(read.number(&keys::WRITES)),
            event_labels: EventLabels {
                included: read.list(&keys::EVENT_LABELS),
                excluded: read.list(&keys::NO_EVENT_LABELS),
            },
            metrics: MetricWishes {
                application_labels: read.list(&keys::METRICS_LABELS),
                application_conditions: read.list(&keys::METRICS_CONDITIONS),
                cluster_labels: read.list(&keys::METRICS_CLUSTER_LABELS),
            },
            workers: usize::try_from(workers).unwrap_or(usize::MAX).max(1),
            application_namespaces: read.list(&keys::NAMESPACES),
            sets: SetSettings::read(read),
            impersonation: impersonation(read),
            global_projects: global::read(read),
            server_side_diff: read.switch(&keys::SERVER_SIDE_DIFF),
            persist_health: read.switch(&keys::PERSIST_HEALTH),
            ignored_updates: read.switch(&keys::IGNORE_UPDATES).then(|| Arc::new(ignored)),
            customizations,
            health: Arc::new(health),
            comparing: Arc::new(comparing),
            value_schemes: read.list(&keys::VALUE_SCHEMES),
            kustomize_options: read.text(&keys::KUSTOMIZE),
            tools: Tools {
                helm: read.switch(&keys::HELM_ON),
                kustomize: read.switch(&keys::KUSTOMIZE_ON),
                jsonnet: read.switch(&keys::JSONNET_ON),
            },
            directory_bytes: read.bytes(&keys::DIRECTORY_BYTES),
            book: Arc::default(),
            keyring: Arc::default(),
            diagnostics: reader.diagnostics,
        }
    }

    /// Has a cluster watched as these settings say.
    pub fn impose_on(&self, cluster: &Cluster) {
        cluster.set_tracking(self.tracking.clone());
        cluster.set_scope(self.scope.clone(), self.respect_rbac);
    }

    /// Whether Applications of a namespace are looked at.
    pub fn takes_applications_from(&self, namespace: &str, home: &str) -> bool {
        namespace == home || lynceus_api::fits_any(&self.application_namespaces, namespace)
    }
}

impl Settings {
    /// Whether ApplicationSets of a namespace are looked at.
    pub fn takes_sets_from(&self, namespace: &str, home: &str) -> bool {
        namespace == home || lynceus_api::fits_any(&self.sets.namespaces, namespace)
    }
}

/// The settings with what an `ArgoCD` of OpenShift's operator says, where the ConfigMap itself says nothing: its operator may
/// be gone.
fn with_operators(mut settings: Object, cache: &Cache, home: &str) -> Object {
    let resources = cache.of_kind(&GroupKind::new(operator::GROUP, operator::KIND));
    for resource in resources.iter().filter(|resource| resource.namespace() == home) {
        for (key, value) in operator::data(resource).iter() {
            if settings.at(&["data", key]).is_none() {
                settings.set(&["data", key], value.clone());
            }
        }
    }
    settings
}

/// Whether a change of this object is a change of settings.
pub(crate) fn concerns(key: &ObjectKey, home: &str) -> bool {
    let is_read = |name: &str| {
        MAPS.contains(&name)
            || [ConfigMap::Settings, ConfigMap::Parameters].iter().any(|map| map.name() == name)
    };
    key.namespace == home
        && match (key.group.as_str(), key.kind.as_str()) {
            ("", "ConfigMap") => is_read(&key.name),
            ("", "Secret") => true,
            (group, kind) => group == operator::GROUP && kind == operator::KIND,
        }
}

/// The Secrets and ConfigMaps that say how to read repositories.
fn sources(cache: &Cache, home: &str) -> Vec<Object> {
    let secrets = cache
        .of_kind(&GroupKind::new("", "Secret"))
        .into_iter()
        .filter(|secret| secret.namespace() == home && secret.label(labels::SECRET_TYPE).is_some());
    let maps = MAPS.into_iter().filter_map(|name| cache.get(&ObjectKey::new("", "ConfigMap", home, name)));
    secrets.chain(maps).collect()
}

fn tracking(read: &mut Reader<'_>) -> Tracking {
    Tracking {
        method: TrackingMethod::parse(read.word(&keys::TRACKING)).unwrap_or(Tracking::default().method),
        label: read.text(&keys::LABEL),
        installation: read.text(&keys::INSTALLATION),
    }
}

fn heal(read: &mut Reader<'_>) -> Heal {
    Heal {
        pause: signed(read.seconds(&keys::HEAL_PAUSE)),
        first: signed(read.seconds(&keys::HEAL_FIRST)),
        factor: read.number(&keys::HEAL_FACTOR).into(),
        most: signed(read.seconds(&keys::HEAL_MOST)),
    }
}

/// How many may do something at the same time; none for as many as there are.
fn at_once(number: u32) -> Option<usize> {
    usize::try_from(number).ok().filter(|number| *number > 0)
}

fn impersonation(read: &mut Reader<'_>) -> Impersonation {
    match (read.switch(&keys::IMPERSONATION), read.switch(&keys::IMPERSONATION_ENFORCED)) {
        (false, _) => Impersonation::Off,
        (true, false) => Impersonation::Offered,
        (true, true) => Impersonation::Enforced,
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
