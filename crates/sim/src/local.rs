//! A client inside the process: what controllers read and write with.

use std::sync::Arc;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::ApiError;
use crate::attributes::{Attributes, User};
use crate::clock::Clock;
use crate::core::Core;
use crate::faults::{Asked, Standing};
use crate::kinds::Resource;
use crate::random::Random;
use crate::stage::Stage;
use crate::store::{Event, Place};
use crate::verbs::{self, Answer, Body, Call, Patch, Validation, WriteOptions};
pub use crate::verbs::{DeleteOptions, PatchKind};
use crate::view::View;

/// Reads from the store at once; writes go through the same rules and admission as those of any other
/// client, as a given user.
#[derive(Clone, Debug)]
pub struct Local {
    core: Arc<Core>,
    user: Arc<User>,
    manager: Str,
}

/// Which object: group, plural resource, namespace (empty for cluster-scoped kinds) and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The API group.
    pub group: &'a str,
    /// The plural name.
    pub resource: &'a str,
    /// The namespace, or empty.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

impl Local {
    pub(crate) fn new(core: Arc<Core>, user: User, manager: &str) -> Self {
        Local { core, user: Arc::new(user), manager: manager.into() }
    }

    /// The same client with another name in `managedFields` and as another user.
    pub fn acting_as(&self, user: User, manager: &str) -> Self {
        Local { core: Arc::clone(&self.core), user: Arc::new(user), manager: manager.into() }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.core.now()
    }

    /// Whether something is booked on the quotas of a namespace that is not stored yet.
    pub(crate) fn has_charges(&self, namespace: &str) -> bool {
        self.core.charges.any_in(namespace)
    }

    /// The clock, to wait on.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.core.clock)
    }

    /// The cluster's source of chance.
    pub fn random(&self) -> &Random {
        &self.core.random
    }

    /// What the cluster is like.
    pub fn stage(&self) -> &Stage {
        &self.core.stage
    }

    /// What is made to go wrong.
    pub(crate) fn faults(&self) -> Arc<Vec<Standing>> {
        self.core.faults.all()
    }

    /// Whether a node has fallen silent.
    pub(crate) fn is_down(&self, node: &str) -> bool {
        self.core.faults.is_down(node, self.now())
    }

    /// Whether a node's disk is full.
    pub(crate) fn is_full(&self, node: &str) -> bool {
        self.core.faults.is_full(node, self.now())
    }

    /// What a request of this client is answered with because of a fault.
    pub(crate) fn answered_by_fault(&self, request: impl FnOnce() -> Option<Attributes>) -> Option<ApiError> {
        if self.faults().is_empty() {
            return None;
        }
        let asked = Asked { user: &self.user.name, request: &request()?, now: self.now() };
        self.core.faults.answer(&asked, &self.core.random)
    }

    /// Everything that changes from now on, in order.
    pub fn changes(&self) -> UnboundedReceiver<Arc<Event>> {
        self.core.store.subscribe()
    }

    /// Every object that is stored, with its place, ordered.
    pub(crate) fn everything(&self) -> Vec<(Place, Object)> {
        let store = &self.core.store;
        let of = |place: Place| {
            let objects = store.read_all(&place, None).0;
            objects.into_iter().map(move |object| (place.clone(), object))
        };
        store.places().into_iter().flat_map(of).collect()
    }

    /// What is served right now.
    pub fn registry(&self) -> Arc<crate::registry::Registry> {
        self.core.registry()
    }

    /// The PEM of the cluster's root certificate, for `kube-root-ca.crt`.
    pub fn root_certificate(&self) -> Str {
        self.core.root_certificate.clone()
    }

    /// Answers a TokenRequest for a service account.
    pub(crate) fn issue(&self, account: &Object, request: Object) -> Result<Object, ApiError> {
        self.core.authenticator.issue(&self.core.store, account, request, self.core.now())
    }

    /// Creates an object in the namespace that it says.
    pub async fn create(&self, group: &str, resource: &str, object: Object) -> Result<Object, ApiError> {
        let target = Target { group, resource, namespace: object.namespace(), name: "" };
        let call = self.call(target, "")?;
        verbs::create(&self.core, &call, Body::from(object)).await.map(|answer| answer.object)
    }

    /// Replaces an object; a resourceVersion in it is a precondition.
    pub async fn update(&self, group: &str, resource: &str, object: Object) -> Result<Object, ApiError> {
        self.replace(group, resource, object, "").await
    }

    /// Replaces the status of an object.
    pub async fn update_status(
        &self,
        group: &str,
        resource: &str,
        object: Object,
    ) -> Result<Object, ApiError> {
        self.replace(group, resource, object, "status").await
    }

    /// Replaces an object through a subresource, such as a namespace through `finalize`.
    pub async fn replace(
        &self,
        group: &str,
        resource: &str,
        object: Object,
        subresource: &str,
    ) -> Result<Object, ApiError> {
        let target = Target { group, resource, namespace: object.namespace(), name: object.name() };
        let call = self.call(target, subresource)?;
        verbs::replace(&self.core, &call, Body::from(object.clone())).await.map(|answer| answer.object)
    }

    /// Changes an object (or, with a subresource, its status) by a function that may run several
    /// times: again whenever someone else was faster.
    pub async fn edit(
        &self,
        target: Target<'_>,
        subresource: &str,
        edit: impl Fn(&mut Object) + Send + Sync,
    ) -> Result<Object, ApiError> {
        let call = self.call(target, subresource)?;
        let answer = verbs::update_with(&self.core, &call, |object| {
            edit(object);
            Ok(())
        });
        answer.await.map(|answer| answer.object)
    }

    /// Changes an object by a patch.
    pub async fn patch(
        &self,
        target: Target<'_>,
        subresource: &str,
        kind: PatchKind,
        patch: Value,
    ) -> Result<Object, ApiError> {
        let mut call = self.call(target, subresource)?;
        call.options.force = kind == PatchKind::Apply;
        let patch = Patch { kind, value: patch, oddities: Vec::new() };
        verbs::patch(&self.core, &call, &patch).await.map(|answer| answer.object)
    }

    /// Deletes an object, or sets it on its way.
    pub async fn delete(&self, target: Target<'_>, options: &DeleteOptions) -> Result<(), ApiError> {
        let call = self.call(target, "")?;
        verbs::delete(&self.core, &call, options).await.map(drop)
    }

    /// Deletes a pod unless a disruption budget forbids it.
    pub async fn evict(&self, namespace: &str, name: &str) -> Result<(), ApiError> {
        let target = Target { group: "", resource: "pods", namespace, name };
        self.subresource(target, "eviction", Object::default()).await.map(drop)
    }

    /// Puts a pod on a node.
    pub async fn bind(&self, namespace: &str, pod: &str, node: &str) -> Result<(), ApiError> {
        let mut binding = Object::default();
        binding.set(&["metadata", "name"], pod);
        binding.set(&["target", "kind"], "Node");
        binding.set(&["target", "name"], node);
        let target = Target { group: "", resource: "pods", namespace, name: pod };
        self.subresource(target, "binding", binding).await.map(drop)
    }

    /// Creates something below an object, such as a token.
    pub async fn subresource(
        &self,
        target: Target<'_>,
        subresource: &str,
        object: Object,
    ) -> Result<Object, ApiError> {
        let call = self.call(target, subresource)?;
        let answer: Answer = verbs::create_subresource(&self.core, &call, Body::from(object)).await?;
        Ok(answer.object)
    }

    fn call(&self, target: Target<'_>, subresource: &str) -> Result<Call, ApiError> {
        let resource = self.resource(target.group, target.resource)?;
        Ok(Call {
            user: Arc::clone(&self.user),
            resource,
            namespace: target.namespace.into(),
            name: target.name.into(),
            subresource: subresource.into(),
            options: WriteOptions {
                dry_run: false,
                manager: self.manager.clone(),
                validation: Validation::Ignore,
                force: false,
            },
        })
    }

    /// The resource in the version that objects are stored in, so that nothing is converted.
    fn resource(&self, group: &str, plural: &str) -> Result<Arc<Resource>, ApiError> {
        let registry = self.core.registry();
        let preferred = registry.preferred(group, plural).ok_or_else(ApiError::no_such_resource)?;
        let stored = registry.of_kind(&preferred.storage).filter(|stored| stored.group == group);
        Ok(Arc::clone(stored.unwrap_or(preferred)))
    }
}

/// Reads are those of the store.
impl View for Local {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Object> {
        self.core.store.get(group, resource, namespace, name)
    }

    fn list(&self, group: &str, resource: &str, namespace: Option<&str>) -> Vec<Object> {
        self.core.store.list(group, resource, namespace)
    }
}
