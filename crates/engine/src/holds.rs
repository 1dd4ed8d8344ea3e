//! Finalizers of an application that has hooks around its deletion: without them it would be gone before they run.

use lynceus_api::Application;
use lynceus_sync::deletion::finalizers_for;
use tracing::info;

use crate::engine::{Engine, EngineError};
use crate::key::AppKey;
use crate::look::Look;

impl Engine {
    /// Gives an application the finalizers that the hooks in its sources ask for, and takes off those that none asks for
    /// any longer. This comes before its status, so that nobody can see it synced and delete it without them.
    pub(crate) async fn hold(&self, application: &mut Application, look: &Look) -> Result<(), EngineError> {
        if !look.compared || look.desired.incomplete {
            return Ok(());
        }
        let wanted = finalizers_for(&application.metadata.finalizers, &look.desired.objects);
        if wanted == application.metadata.finalizers {
            return Ok(());
        }
        info!(application = %AppKey::of(application), "the hooks around its deletion have changed");
        let before = application.clone();
        application.metadata.finalizers = wanted;
        self.store_exactly(&before, application).await
    }
}
