//! What the doctor finds at the root of things, for triggers that ask for it.

use std::sync::{Arc, PoisonError, RwLock};

use lynceus_doctor::Root;
use lynceus_notify::{Destination, NOTIFIED_ANNOTATION, ROOT_CAUSE, RootCause, State};

use super::Notices;
use super::errand::project_of;
use super::office::Office;
use crate::engine::Engine;
use crate::key::{AppKey, application_kind};
use crate::limits;

/// The root causes that were found last; nothing before the first look.
#[derive(Default)]
pub(super) struct Causes(RwLock<Option<Arc<Vec<RootCause>>>>);

/// Has the doctor look now and then, while any trigger asks for root causes. The larger the installation, the more seldom: a
/// look takes the longer.
pub(super) async fn look(engine: Arc<Engine>, notices: Arc<Notices>) {
    loop {
        let applications = engine.home().cache().of_kind(&application_kind()).len();
        let times = u32::try_from(applications / limits::EXAMINED).unwrap_or(u32::MAX).saturating_add(1);
        engine.clock().sleep(limits::EXAMINE.saturating_mul(times)).await;
        if !notices.is_asked_for_causes() {
            continue;
        }
        let snapshot = engine.snapshot().await;
        let roots = engine.diagnose(&snapshot).await.roots;
        let found: Vec<RootCause> = roots.iter().map(cause).collect();
        for name in notices.causes.replace(found) {
            if let Some((namespace, name)) = name.split_once('/') {
                notices.ask_for(&engine, AppKey::new(namespace, name));
            }
        }
    }
}

fn cause(root: &Root) -> RootCause {
    let finding = &root.finding;
    RootCause {
        id: root.id.as_str().into(),
        code: finding.code.into(),
        severity: root.severity.to_string().into(),
        subject: finding.subject.to_string(),
        cause: finding.cause.clone(),
        fix: finding.fixes.first().map(|fix| fix.title.clone()).unwrap_or_default(),
        applications: root
            .applications
            .iter()
            .map(|name| format!("{}/{}", name.namespace, name.name).into())
            .collect(),
    }
}

impl Notices {
    fn is_asked_for_causes(&self) -> bool {
        let asks = |office: &Office| office.triggers.any_asks_for(ROOT_CAUSE);
        asks(&self.office()) || self.state().offices.values().any(|office| asks(office))
    }
}

impl Causes {
    pub(super) fn found(&self) -> Option<Arc<Vec<RootCause>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes what was found, and gives the applications for which that is something else than before.
    fn replace(&self, found: Vec<RootCause>) -> Vec<String> {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.replace(Arc::new(found.clone())).unwrap_or_default();
        let is_news = |cause: &&RootCause, others: &[RootCause]| !others.contains(cause);
        let gone = before.iter().filter(|cause| is_news(cause, &found));
        let come = found.iter().filter(|cause| is_news(cause, &before));
        let mut names: Vec<String> =
            gone.chain(come).flat_map(|cause| &cause.applications).map(ToString::to_string).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether an application is the one that tells somebody of a cause: the first that they are subscribed to, while none of
    /// the others has told it. `key` is what it is written down by.
    pub(super) fn is_told_by(&self, teller: &AppKey, of: &Telling<'_>, key: &str) -> bool {
        let others = || {
            let names = of.cause.applications.iter().filter_map(|name| name.split_once('/'));
            let keys = names.map(|(namespace, name)| AppKey::new(namespace, name));
            let cache = of.engine.home().cache();
            keys.filter(|key| of.office.serves(&key.namespace))
                .filter_map(|key| cache.get(&key.object_key()).map(|object| (key, object)))
        };
        let first = others().find(|(_, application)| {
            let project = project_of(of.engine, application);
            let listeners = of.office.config.destinations(application, project.as_ref()).of_triggers;
            listeners.get(of.trigger).is_some_and(|listeners| listeners.contains(of.to))
        });
        first.is_some_and(|(key, _)| key == *teller)
            && !others()
                .any(|(_, application)| State::read(application.annotation(NOTIFIED_ANNOTATION)).has(key))
    }
}

/// Whom to tell of what.
pub(super) struct Telling<'a> {
    pub(super) engine: &'a Engine,
    pub(super) office: &'a Office,
    pub(super) cause: &'a RootCause,
    pub(super) trigger: &'a str,
    pub(super) to: &'a Destination,
}
