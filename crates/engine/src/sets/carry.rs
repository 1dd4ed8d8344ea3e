//! A plan, carried out: Applications are made, changed and deleted.

use std::collections::{BTreeMap, HashSet};

use lynceus_api::{Application, ApplicationSet, Kind as _, finalizers};
use lynceus_appset::plan::{Act, Keep, Step};
use lynceus_cluster::ClusterError;
use lynceus_object::{Str, value};
use tracing::info;

use super::generate::{Preview, is_of};
use crate::engine::{Engine, EngineError};
use crate::key::{AppKey, application_gvk};
use crate::limits;

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// What, in the word of Argo CD's events.
    pub(super) what: &'static str,
    /// The Application.
    pub(super) name: Str,
    /// The fields that were changed back, where somebody else had changed them.
    pub(super) reverted: Vec<String>,
}

/// The fields that an update changes, as many as an event has room for.
fn fields(act: &Act) -> Vec<String> {
    match act {
        Act::Update { changes, .. } => {
            changes.iter().take(limits::SET_FIELDS).map(|one| one.path.clone()).collect()
        }
        _ => Vec::new(),
    }
}

impl Engine {
    /// Carries out a plan, one Application after the other in the order of their names, and gives what was done. One
    /// that the server refuses does not hold up the others, but the whole is tried again.
    pub(super) async fn carry_out(
        &self,
        set: &ApplicationSet,
        preview: &Preview,
    ) -> Result<Vec<Done>, EngineError> {
        let existing: BTreeMap<&Str, &Application> =
            preview.existing.iter().map(|app| (&app.metadata.name, app)).collect();
        let (mut done, mut failed) = (Vec::new(), None);
        let set_key = AppKey::new(set.metadata.namespace.clone(), set.metadata.name.clone());
        let brought = self.brought(&set_key);
        for step in &preview.plan.steps {
            if self.is_stopping() {
                break;
            }
            let key = AppKey::new(set.metadata.namespace.clone(), step.name.clone());
            match self.take_step(set, step, existing.get(&step.name).copied()).await {
                Ok(None) => {}
                Ok(Some(what)) => {
                    info!(applicationset = %set.metadata.name, application = %key, "{what}");
                    let reverted = if brought.contains(&step.name) { fields(&step.act) } else { Vec::new() };
                    done.push(Done { what, name: step.name.clone(), reverted });
                }
                Err(source) => failed = failed.or(Some(EngineError::Store { application: key, source })),
            }
        }
        let same = preview.plan.steps.iter().filter(|step| matches!(step.act, Act::Keep(Keep::Same)));
        let written = done.iter().map(|one| &one.name);
        self.remember_brought(&set_key, same.map(|step| &step.name).chain(written));
        match failed {
            Some(error) => {
                self.tell_of_set(set, &done).await;
                Err(error)
            }
            None => Ok(done),
        }
    }

    /// The Applications of a set that were seen in the cluster as it generates them.
    fn brought(&self, key: &AppKey) -> HashSet<Str> {
        self.sets.memory().get(key).map(|memory| memory.brought.clone()).unwrap_or_default()
    }

    fn remember_brought<'a>(&self, key: &AppKey, names: impl Iterator<Item = &'a Str>) {
        if let Some(memory) = self.sets.memory().get_mut(key) {
            memory.brought.extend(names.cloned());
        }
    }

    async fn take_step(
        &self,
        set: &ApplicationSet,
        step: &Step,
        live: Option<&Application>,
    ) -> Result<Option<&'static str>, ClusterError> {
        let home = self.home();
        let namespace = &set.metadata.namespace;
        match &step.act {
            Act::Keep(_) => Ok(None),
            Act::Create(app) => home.create_record(&app.to_object()).await.map(|_| Some("created")),
            Act::Update { patch, .. } => {
                let mut patch = patch.clone();
                // Finalizers and owners are lists, which a patch writes whole: nobody else's may be lost.
                if let Some(live) = live {
                    patch.set(&["metadata", "resourceVersion"], live.metadata.resource_version.clone());
                }
                home.patch_record(&application_gvk(), namespace, &step.name, &patch)
                    .await
                    .map(|_| Some("updated"))
            }
            Act::Delete { drop_finalizer } => {
                let Some(live) = live.filter(|live| is_of(live, &set.metadata.name)) else { return Ok(None) };
                let mut object = live.to_object();
                if *drop_finalizer {
                    let kept: Vec<&str> = live
                        .metadata
                        .finalizers
                        .iter()
                        .map(Str::as_str)
                        .filter(|name| !name.starts_with(finalizers::RESOURCES))
                        .collect();
                    let version = live.metadata.resource_version.clone();
                    let patch = value!({"metadata": {"finalizers": kept, "resourceVersion": version}});
                    object = home.patch_record(&application_gvk(), namespace, &step.name, &patch).await?;
                }
                home.delete_record(&object).await.map(|()| Some("Deleted"))
            }
        }
    }
}
