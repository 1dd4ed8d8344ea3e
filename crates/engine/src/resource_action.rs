//! Runs actions of resources: what `health` works out for an object is checked against the project and written.

use std::collections::BTreeMap;

use lynceus_api::Application;
use lynceus_cluster::{Cluster, ClusterError, EventType, Trial, in_the_name_of};
use lynceus_diff::{is_secret, unquoted};
use lynceus_health::action::{ActionError, Parameters};
use lynceus_health::{Offer, Operation};
use lynceus_object::{Object, ObjectKey, Str};
use tracing::debug;

use crate::belongings::Belongings;
use crate::engine::Engine;
use crate::key::AppKey;

/// What is to be run, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The name of the action.
    pub action: &'a str,
    /// Its parameters.
    pub parameters: &'a Parameters<'a>,
    /// Who asks for it, for the events; empty if that is not known.
    pub user: &'a str,
}

/// Why an action was not run.
#[derive(Debug, thiserror::Error)]
pub enum ResourceActionError {
    /// The object was deleted, or made anew, since it was found.
    #[error("{key} is not there any more")]
    Gone {
        /// The object.
        key: ObjectKey,
    },
    /// Its kind has no such action.
    #[error("{} has no action {action:?}; it has {}", key.kind, listed(offered))]
    Unknown {
        /// The object.
        key: ObjectKey,
        /// What was asked for.
        action: String,
        /// What there is.
        offered: Vec<Str>,
    },
    /// Which actions the object has could not be found out.
    #[error("which actions there are cannot be told")]
    Discover(#[source] ActionError),
    /// What it does to the object could not be worked out.
    #[error("what is to be changed cannot be worked out")]
    Compute(#[source] ActionError),
    /// A script changes an object other than the one that it was given.
    #[error("the script changes {other}, but it may only change {key}")]
    Elsewhere {
        /// The object.
        key: ObjectKey,
        /// The one that it was not run on.
        other: Box<ObjectKey>,
    },
    /// The project does not let the application have such an object.
    #[error("application is not permitted to manage {}/{}/{} in {}", key.group, key.kind, key.name, key.namespace)]
    Forbidden {
        /// The object.
        key: ObjectKey,
        /// What the project says.
        #[source]
        reason: NotPermitted,
    },
    /// There is nobody to act as.
    #[error("{0}")]
    Guise(String),
    /// The cluster did not do it.
    #[error("the cluster does not take {key}")]
    Cluster {
        /// The object.
        key: Box<ObjectKey>,
        /// What it said.
        #[source]
        source: ClusterError,
    },
    /// It failed on a Secret; of what was said, nothing is left that the Secret holds.
    #[error("{0}")]
    Secret(String),
}

/// What a project says about an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotPermitted(pub String);

fn listed(names: &[Str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

type Made = Vec<(Operation, Object)>;

impl Engine {
    /// The actions that an object offers now: the users' and ours, by name.
    pub fn offers(&self, object: &Object) -> Result<Vec<Offer>, ResourceActionError> {
        let checks = self.checks();
        let offers = checks.custom.offers(object, &checks.world()).map_err(ResourceActionError::Discover);
        offers.map_err(|error| discreet(error, &[object]))
    }

    /// Runs an action on one of an application's objects, or on the Application itself.
    ///
    /// Everything is checked before the first write, down to what the server says to a dry run, because several writes
    /// cannot be taken back together.
    pub async fn run_action(
        &self,
        application: &Application,
        belongings: &Belongings,
        object: &Object,
        call: Call<'_>,
    ) -> Result<(), ResourceActionError> {
        // The Application is in the home cluster, wherever its objects are, and is ours to write.
        let (cluster, user) = match object.key() == AppKey::of(application).object_key() {
            true => (&**self.home(), Str::new()),
            false => {
                let user = self.guise(application, Some(&belongings.project));
                (&*belongings.cluster, user.map_err(ResourceActionError::Guise)?)
            }
        };
        let live = in_the_name_of(user, async {
            let live = current(cluster, object).await?;
            let made = self.made(&live, call)?;
            let all: Vec<&Object> = std::iter::once(&live).chain(made.iter().map(|(_, made)| made)).collect();
            let done = write(cluster, belongings, &live, &made).await;
            done.map_err(|error| discreet(error, &all))?;
            Ok::<Object, ResourceActionError>(live)
        });
        let live = live.await?;
        self.tell_of_action(application, cluster, &live, call).await;
        Ok(())
    }

    /// What an action makes of an object.
    fn made(&self, live: &Object, call: Call<'_>) -> Result<Made, ResourceActionError> {
        let checks = self.checks();
        let made = checks.custom.act(live, call.action, call.parameters, &checks.world());
        let failed = |error: ActionError| match error {
            ActionError::Unknown { .. } => ResourceActionError::Unknown {
                key: live.key(),
                action: call.action.to_owned(),
                offered: self.offers(live).unwrap_or_default().into_iter().map(|offer| offer.name).collect(),
            },
            other => ResourceActionError::Compute(other),
        };
        made.map_err(|error| discreet(failed(error), &[live]))
    }

    /// Records who did what, beside the Application and beside the object.
    async fn tell_of_action(
        &self,
        application: &Application,
        cluster: &Cluster,
        live: &Object,
        call: Call<'_>,
    ) {
        const REASON: &str = "ResourceActionRan";
        let user = if call.user.is_empty() { "Unknown user" } else { call.user };
        let ran = format!("{user} ran action {}", call.action);
        if live.key() == AppKey::of(application).object_key() {
            return self.tell(application, EventType::Normal, REASON, &ran).await;
        }
        let of = format!("{ran} on resource {}/{}/{}", live.group(), live.kind(), live.name());
        self.tell(application, EventType::Normal, REASON, &of).await;
        let (labels, now) = (BTreeMap::new(), self.clock().now());
        let told = cluster.record_event(live, &labels, EventType::Normal, REASON, &ran, now).await;
        if let Err(error) = told {
            debug!(%error, "an event could not be recorded");
        }
    }
}

/// The object as the server has it, if it is still the one that was found to be the application's.
async fn current(cluster: &Cluster, object: &Object) -> Result<Object, ResourceActionError> {
    let live = cluster.get(&object.gvk(), object.namespace(), object.name()).await;
    let live = live.map_err(|error| refused(object, error))?;
    live.filter(|live| live.uid() == object.uid())
        .ok_or_else(|| ResourceActionError::Gone { key: object.key() })
}

async fn write(
    cluster: &Cluster,
    belongings: &Belongings,
    live: &Object,
    made: &Made,
) -> Result<(), ResourceActionError> {
    for (operation, object) in made {
        if *operation == Operation::Patch && object.key() != live.key() {
            return Err(ResourceActionError::Elsewhere { key: live.key(), other: Box::new(object.key()) });
        }
        permitted(cluster, belongings, object)?;
        if *operation == Operation::Create {
            cluster.create(object, Trial::Only).await.map_err(|error| refused(object, error))?;
        }
    }
    for (operation, object) in made {
        let done = match operation {
            Operation::Patch => cluster.change(live, object).await.map(drop),
            Operation::Create => cluster.create(object, Trial::No).await.map(drop),
        };
        done.map_err(|error| refused(object, error))?;
    }
    Ok(())
}

fn permitted(cluster: &Cluster, belongings: &Belongings, object: &Object) -> Result<(), ResourceActionError> {
    let kind = cluster.kinds().is_namespaced(&object.group_kind());
    let namespaced = kind.unwrap_or(!object.namespace().is_empty());
    belongings
        .permits(object, namespaced)
        .map_err(|reason| ResourceActionError::Forbidden { key: object.key(), reason: NotPermitted(reason) })
}

fn refused(object: &Object, source: ClusterError) -> ResourceActionError {
    ResourceActionError::Cluster { key: Box::new(object.key()), source }
}

/// The error without what it quotes of Secrets.
fn discreet(error: ResourceActionError, objects: &[&Object]) -> ResourceActionError {
    match objects.iter().any(|object| is_secret(object)) {
        true => ResourceActionError::Secret(unquoted(&crate::words(&error), objects)),
        false => error,
    }
}
