//! What is made to go wrong: Faults that stand, what they do to requests, and what they look like to clients.
//!
//! A Fault is an object like any other: whoever may write it can make things go wrong and put them right again. Whether it
//! holds is a question of the time alone, so that nothing has to be started or stopped; the controller of the same name writes
//! down how each one stands, which wakes the parts of the cluster that suffer from it.

mod standing;

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Str, value, yaml};
use tokio::sync::watch;

pub use standing::{Phase, Standing};

use crate::attributes::Attributes;
use crate::kinds::Resource;
use crate::random::Random;
use crate::stage::{Fault, What};
use crate::store::Event;
use crate::view::View;
use crate::{ApiError, FieldError, crd};

/// The group of Faults, which no fault touches.
pub const GROUP: &str = "sim.lynceus.dev";
/// Their plural name.
pub const PLURAL: &str = "faults";

/// What Faults look like to clients.
static RESOURCES: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
    let definition = yaml::parse_str(include_str!("definition.yaml")).unwrap_or_default();
    crd::resources(&Object::new(definition).unwrap_or_default())
});

/// The resources that are served for Faults, whatever definitions are stored.
pub(crate) fn resources() -> &'static [Arc<Resource>] {
    &RESOURCES
}

/// What is wrong with a Fault beyond its form.
pub(crate) fn validate(resource: &Resource, fault: &Object) -> Option<FieldError> {
    if !resource.is(GROUP, PLURAL) {
        return None;
    }
    let error = Fault::of_object(fault).err()?;
    let value = fault.value().at(&["spec"]).map(lynceus_object::json::to_string).unwrap_or_default();
    Some(FieldError::invalid(error.field, value, format!("{}: {}", error.problem, error.hint)))
}

/// The faults of a cluster.
#[derive(Debug)]
pub(crate) struct Faults(watch::Sender<Arc<Vec<Standing>>>);

impl Faults {
    /// The faults that are stored.
    pub(crate) fn of(view: &dyn View) -> Self {
        let faults = Faults(watch::Sender::new(Arc::default()));
        faults.read(view, 0);
        faults
    }

    /// Follows a change.
    pub(crate) fn follow(&self, event: &Event, view: &dyn View) {
        if event.place.group == GROUP && event.place.resource == PLURAL {
            self.read(view, event.revision);
        }
    }

    fn read(&self, view: &dyn View, revision: u64) {
        let before = self.all();
        let known = |uid: &str| before.iter().find(|one| one.uid == uid);
        let stored = view.list(GROUP, PLURAL, None);
        let next = stored.iter().filter_map(|fault| Standing::of(fault, known(fault.uid()), revision));
        self.0.send_replace(Arc::new(next.collect()));
    }

    /// All faults, whether they hold or not.
    pub(crate) fn all(&self) -> Arc<Vec<Standing>> {
        Arc::clone(&self.0.borrow())
    }

    /// Tells of every change to them.
    pub(crate) fn changes(&self) -> watch::Receiver<Arc<Vec<Standing>>> {
        self.0.subscribe()
    }

    /// Whether a node has fallen silent.
    pub(crate) fn is_down(&self, node: &str, now: Timestamp) -> bool {
        self.any(now, |what| matches!(what, What::NodeDown(name) if name.matches(node)))
    }

    /// Whether a node's disk is full.
    pub(crate) fn is_full(&self, node: &str, now: Timestamp) -> bool {
        self.any(now, |what| matches!(what, What::DiskFull(name) if name.matches(node)))
    }

    fn any(&self, now: Timestamp, is: impl Fn(&What) -> bool) -> bool {
        self.0.borrow().iter().any(|one| one.phase(now) == Phase::Active && is(&one.fault.what))
    }

    /// How much longer a request takes.
    pub(crate) fn delay(&self, asked: &Asked<'_>, random: &Random) -> SignedDuration {
        let delays = self.hits(asked, random, |what| match what {
            What::Slow { by, .. } => Some(*by),
            _ => None,
        });
        delays.into_iter().max().unwrap_or_default()
    }

    /// What a request is answered with instead.
    pub(crate) fn answer(&self, asked: &Asked<'_>, random: &Random) -> Option<ApiError> {
        let answers = self.hits(asked, random, |what| match what {
            What::Answer { code, message, .. } => Some(refusal(*code, message.as_deref())),
            _ => None,
        });
        answers.into_iter().next()
    }

    /// Whether a watch is cut. `known` are the cuts that were made before it began.
    pub(crate) fn cuts(&self, asked: &Asked<'_>, known: &[Str]) -> bool {
        self.0.borrow().iter().any(|one| {
            let What::CutWatches { requests, .. } = &one.fault.what else { return false };
            let cut = match one.phase(asked.now) {
                Phase::Waiting => false,
                Phase::Active => true,
                Phase::Over => !known.contains(&one.uid),
            };
            let cut = cut && requests.include(asked.user, asked.request);
            one.hits.fetch_add(u64::from(cut), Ordering::Relaxed);
            cut
        })
    }

    /// The cuts that were made.
    pub(crate) fn cuts_made(&self, now: Timestamp) -> Vec<Str> {
        let made = |one: &&Standing| one.phase(now) != Phase::Waiting;
        self.0.borrow().iter().filter(made).map(|one| one.uid.clone()).collect()
    }

    /// The version before which a watch cannot go on, because what came before was forgotten.
    pub(crate) fn forgotten(&self, asked: &Asked<'_>) -> u64 {
        let revision = |one: &Standing| match &one.fault.what {
            What::CutWatches { requests, expired: true }
                if one.phase(asked.now) != Phase::Waiting && requests.include(asked.user, asked.request) =>
            {
                one.revision
            }
            _ => 0,
        };
        self.0.borrow().iter().map(revision).max().unwrap_or(0)
    }

    /// What `pick` takes from the faults that hit a request.
    fn hits<T>(&self, asked: &Asked<'_>, random: &Random, pick: impl Fn(&What) -> Option<T>) -> Vec<T> {
        let hit = |one: &Standing| {
            let requests = one.fault.what.requests()?;
            let picked = pick(&one.fault.what).filter(|_| one.phase(asked.now) == Phase::Active)?;
            let drawn = || (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
            // Lots are drawn only where there is something to decide, so that a sure fault changes no names.
            let meant = requests.include(asked.user, asked.request)
                && (requests.share >= 1.0 || drawn() < requests.share);
            meant.then(|| {
                one.hits.fetch_add(1, Ordering::Relaxed);
                picked
            })
        };
        self.all().iter().filter_map(hit).collect()
    }
}

/// A request that somebody makes.
pub(crate) struct Asked<'a> {
    /// Who.
    pub(crate) user: &'a str,
    /// What they want.
    pub(crate) request: &'a Attributes,
    /// When.
    pub(crate) now: Timestamp,
}

/// Whether a token was made to expire: one of a service account, by its id and the second in which it was made.
pub(crate) fn has_expired(view: &dyn View, token: &Token<'_>, now: Timestamp) -> bool {
    let stored = view.list(GROUP, PLURAL, None);
    stored.iter().filter_map(|fault| Standing::of(fault, None, 0)).any(|one| {
        let What::ExpireTokens { namespace, account, token: id } = &one.fault.what else { return false };
        one.phase(now) == Phase::Active
            && namespace.matches(token.namespace)
            && account.matches(token.account)
            && token.made.is_none_or(|made| made <= one.begins.as_second())
            && id.as_deref().is_none_or(|id| id == token.id)
    })
}

/// What is known of a token.
pub(crate) struct Token<'a> {
    /// The namespace of its service account.
    pub(crate) namespace: &'a str,
    /// Its service account.
    pub(crate) account: &'a str,
    /// Its id; those in Secrets have none.
    pub(crate) id: &'a str,
    /// The second in which it was made; those in Secrets have none.
    pub(crate) made: Option<i64>,
}

/// An answer as the server gives it when it is in that state.
fn refusal(code: u16, message: Option<&str>) -> ApiError {
    match code {
        429 => {
            let message = message.unwrap_or("Too many requests, please try again later.");
            ApiError::new(429, "TooManyRequests", message).with_details(value!({"retryAfterSeconds": 1}))
        }
        503 => {
            let message = message.unwrap_or("the server is currently unable to handle the request");
            ApiError::new(503, "ServiceUnavailable", message)
        }
        504 => {
            let message = message.unwrap_or("request did not complete within the allotted timeout");
            ApiError::new(504, "Timeout", format!("Timeout: {message}")).with_details(value!({}))
        }
        _ => ApiError::internal(message.unwrap_or("etcdserver: request timed out")),
    }
}
