//! What every part of a running cluster shares.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use lynceus_object::{Object, Str};
use tokio::sync::watch;

use crate::ApiError;
use crate::admission::Chain;
use crate::allocate::Allocations;
use crate::auth::{self, Authenticator};
use crate::cleanup;
use crate::clock::Clock;
use crate::context::Context;
use crate::conversion;
use crate::crd;
use crate::faults::Faults;
use crate::http::Documents;
use crate::kinds::{Additions, Resource};
use crate::metrics::Meter;
use crate::random::Random;
use crate::registry::Registry;
use crate::stage::Stage;
use crate::store::{Event, EventKind, Expect, Place, Store, Write, WriteError};
use crate::verbs::charge::Charges;
use crate::verbs::managed;
use crate::view::View;

/// The cluster behind every door: the store and what is needed to write to it properly.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Random,
    pub(crate) admission: Chain,
    pub(crate) authenticator: Authenticator,
    pub(crate) allocations: Allocations,
    /// What is booked on quotas and not stored yet.
    pub(crate) charges: Charges,
    /// What the makers of objects manage.
    pub(crate) precedents: managed::Precedents,
    /// The PEM of the certificate that clients trust.
    pub(crate) root_certificate: Str,
    pub(crate) documents: Documents,
    /// What built-in admission adds to new objects.
    pub(crate) additions: Additions,
    /// What the cluster is like.
    pub(crate) stage: Stage,
    /// What is made to go wrong.
    pub(crate) faults: Faults,
    /// Set when the cluster goes away, so that watches end.
    pub(crate) closing: watch::Sender<bool>,
    registry: watch::Sender<Arc<Registry>>,
    /// Held while the registry is made anew, so that the later of two refreshes reads the newer store.
    refreshing: Mutex<()>,
}

const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");
const REQUESTS: (&str, &str) = ("certificates.k8s.io", "certificatesigningrequests");
const ROLES: (&str, &str) = ("rbac.authorization.k8s.io", "clusterroles");

impl Core {
    pub(crate) fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        random: Random,
        authenticator: Authenticator,
        root_certificate: Str,
        additions: Additions,
        stage: Stage,
    ) -> Self {
        let registry = Registry::like(stage.snapshot.clone()).measuring(stage.measures_pods());
        let core = Core {
            allocations: Allocations::of(&store),
            charges: Charges::default(),
            precedents: managed::Precedents::default(),
            faults: Faults::of(&store),
            store,
            clock,
            random,
            admission: Chain::declaring(stage.webhooks.clone()),
            authenticator,
            root_certificate,
            additions,
            stage,
            documents: Documents::default(),
            closing: watch::Sender::new(false),
            registry: watch::Sender::new(Arc::new(registry)),
            refreshing: Mutex::new(()),
        };
        core.refresh_registry();
        core
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What is measured of a resource that is not stored: what pods and nodes use.
    pub(crate) fn measured(&self, resource: &Resource, namespace: &str) -> Option<Vec<Object>> {
        Meter::new(&self.stage, &self.store).served(resource, namespace, self.now())
    }

    /// What is served right now.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.borrow())
    }

    /// Follows what is served.
    pub(crate) fn follow_registry(&self) -> watch::Receiver<Arc<Registry>> {
        self.registry.subscribe()
    }

    pub(crate) fn context(&self, dry_run: bool) -> Context<'_> {
        Context {
            now: self.now(),
            view: &self.store,
            random: &self.random,
            allocators: &self.allocations,
            dry_run,
        }
    }

    /// An object as it is served by `resource`, with the revision it was last written at.
    pub(crate) async fn read(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<(Object, u64)>, ApiError> {
        match self.store.read(&place(resource), namespace, name) {
            Some((object, revision)) => {
                Ok(Some((conversion::serve_one(self, object, resource).await?, revision)))
            }
            None => Ok(None),
        }
    }

    /// Stores an object that is ready to be stored, and follows up on what that means for others.
    /// Gives it back as `resource` serves it.
    pub(crate) async fn write(
        &self,
        resource: &Resource,
        object: Object,
        expect: Expect,
        delete: bool,
    ) -> Result<Object, CommitError> {
        let object = conversion::keep(self, object, resource).await?;
        let event = self.store.write(Write { place: place(resource), object, expect, delete })?;
        self.follow_up(&event);
        Ok(conversion::serve_one(self, event.object.clone(), resource).await?)
    }

    fn follow_up(&self, event: &Event) {
        self.allocations.follow(event);
        self.faults.follow(event, &self.store);
        match (event.place.group.as_str(), event.place.resource.as_str()) {
            // What the naming, establishing and finalizing controllers would do a moment later.
            DEFINITIONS => {
                self.settle(DEFINITIONS, |definition, all| self.settle_definition(definition, all));
                cleanup::run(self, &event.place);
                self.refresh_registry();
            }
            // What the signers of certificates would do a moment later.
            REQUESTS => self.settle(REQUESTS, |request, _| self.certified(request)),
            // What the aggregation controller would do a moment later.
            ROLES => self.settle(ROLES, auth::aggregated),
            // The last instance of a definition that is going away lets it go.
            (group, plural) if event.kind == EventKind::Deleted && self.is_custom(group, plural) => {
                cleanup::run(self, &Place::new(DEFINITIONS.0, DEFINITIONS.1));
                self.refresh_registry();
            }
            _ => {}
        }
    }

    fn is_custom(&self, group: &str, plural: &str) -> bool {
        self.registry().preferred(group, plural).is_some_and(|resource| resource.custom.is_some())
    }

    /// A definition as its controllers would have it, with them as managers of its status.
    fn settle_definition(&self, definition: &Object, all: &[Object]) -> Option<Object> {
        let mut settled = crd::settle(definition, all, self.now())?;
        if let Some(resource) = self.registry().preferred(DEFINITIONS.0, DEFINITIONS.1) {
            managed::track_status(self, resource, "kube-apiserver", definition, &mut settled);
        }
        Some(settled)
    }

    /// A request for a certificate as its signer would have it.
    fn certified(&self, request: &Object) -> Option<Object> {
        let mut certified = self.authenticator.certified(request, self.now())?;
        if let Some(resource) = self.registry().preferred(REQUESTS.0, REQUESTS.1) {
            managed::track_status(self, resource, "kube-controller-manager", request, &mut certified);
        }
        Some(certified)
    }

    /// Rewrites objects of one kind until each is as `settle` wants it beside all the others.
    fn settle(&self, (group, resource): (&str, &str), settle: impl Fn(&Object, &[Object]) -> Option<Object>) {
        let place = Place::new(group, resource);
        loop {
            let (all, _) = self.store.read_all(&place, None);
            let settled = all.iter().find_map(|object| {
                let expect = Expect::Revision(object.resource_version().parse().ok()?);
                Some((settle(object, &all)?, expect))
            });
            let Some((object, expect)) = settled else { return };
            match self.store.write(Write { place: place.clone(), object, expect, delete: false }) {
                Ok(_) | Err(WriteError::Changed | WriteError::Gone | WriteError::Exists) => {}
                Err(error) => {
                    tracing::warn!(%error, resource, "an object could not be settled");
                    return;
                }
            }
        }
    }

    fn refresh_registry(&self) {
        let _refreshing = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let definitions = self.store.list(DEFINITIONS.0, DEFINITIONS.1, None);
        let next = Registry::new(&definitions, &self.registry());
        self.registry.send_replace(Arc::new(next));
    }
}

/// Where the objects of a resource are kept.
pub(crate) fn place(resource: &Resource) -> Place {
    Place::new(resource.storage.group.clone(), resource.plural.clone())
}

/// Why a write that was ready did not happen.
#[derive(Debug)]
pub(crate) enum CommitError {
    /// The store did not take it.
    Store(WriteError),
    /// It could not be converted.
    Api(ApiError),
}

impl From<WriteError> for CommitError {
    fn from(error: WriteError) -> Self {
        CommitError::Store(error)
    }
}

impl From<ApiError> for CommitError {
    fn from(error: ApiError) -> Self {
        CommitError::Api(error)
    }
}

/// The answer to a write that the disk did not take.
pub(crate) fn storage_error(error: &WriteError) -> ApiError {
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    match error {
        WriteError::Log(source) if source.kind() == std::io::ErrorKind::StorageFull => {
            ApiError::new(507, "InsufficientStorage", message)
        }
        _ => ApiError::internal(message),
    }
}
