//! Where an Application itself is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_api::{Application, ApplicationSource, GROUP, Kind as _};
use lynceus_doctor::AppName;
use lynceus_doctor::surgery::Change;
use lynceus_files::{FilePath, Tree};
use lynceus_object::{FieldPath, ObjectKey, Str};

use super::desk::Desk;
use super::{HEAD, MendError, document};
use crate::engine::Engine;
use crate::key::{AppKey, application_kind};
use crate::limits;

impl Engine {
    /// Changes the Application itself: where the application that brings it has it, or in the file that holds it.
    pub(super) async fn change_application(
        &self,
        desk: &mut Desk,
        name: &AppName,
        path: &FieldPath,
        change: &Change,
    ) -> Result<(), MendError> {
        let key = ObjectKey::new(GROUP, "Application", name.namespace.clone(), name.name.clone());
        if let Some(parent) = self.parent(&key).await {
            return self.change_field(desk, &parent, &key, path, change).await;
        }
        let Some((repository, tree, file, document)) = self.declaration(name, &key).await else {
            let owner = self.home().cache().get(&key).and_then(|object| crate::sets::owner(&object));
            return Err(match owner {
                Some(set) => MendError::Generated { application: name.clone(), set: set.name },
                None => MendError::Undeclared(name.clone()),
            });
        };
        let cut = |text: &str| document::change(&file, text, document, path, change);
        desk.change(&repository, &*tree, &file, cut)
    }

    /// The document that an Application is written in which nobody else brings: repository, files, file and number.
    pub(super) async fn declaration(
        &self,
        name: &AppName,
        key: &ObjectKey,
    ) -> Option<(Str, Arc<dyn Tree>, FilePath, usize)> {
        let object = self.home().cache().get(key)?;
        let bench = match self.bench_of(name, &object).await {
            Ok(bench) => bench,
            // One whose project or cluster is not there is written somewhere all the same.
            Err(_) => self.bench_at(name, &object, Arc::default(), self.home()).ok()?,
        };
        // An application may follow a revision that is older than its own file, or that is gone.
        let sources = bench.sources.iter().filter(|source| source.chart.is_empty()).flat_map(|source| {
            let head = ApplicationSource { target_revision: HEAD.into(), ..source.clone() };
            [source.clone(), head]
        });
        // It may be written in the repository of others.
        let others = self.home().cache().of_kind(&application_kind());
        let others = others.iter().filter_map(|object| Application::from_object(object).ok());
        let others: BTreeMap<Str, ApplicationSource> = others
            .flat_map(|other| other.spec.all_sources())
            .filter(|source| source.chart.is_empty())
            .map(|source| {
                (source.repo_url.clone(), ApplicationSource { target_revision: HEAD.into(), ..source })
            })
            .collect();
        let others = others.into_values().take(limits::MEND_DEPTH);
        for source in sources.chain(others) {
            let Ok(tree) = self.renderer().tree_of(&bench.request(self), &source).await else { continue };
            if let Some((file, document)) = document::find(&*tree, key) {
                return Some((source.repo_url.clone(), tree, file, document));
            }
        }
        None
    }

    /// The application that brings an Application.
    pub(super) async fn parent(&self, key: &ObjectKey) -> Option<AppName> {
        let object = self.home().cache().get(key)?;
        let mark = self.settings().tracking.application(&object)?;
        let parent = AppKey::from_tracked(&mark, &self.options().namespace);
        (parent.object_key() != *key).then(|| AppName::new(parent.namespace, parent.name))
    }
}
