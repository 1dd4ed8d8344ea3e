//! What programs do with the cluster, and whether they may.

use lynceus_object::Str;

use super::program::Program;
use super::scene::Scene;
use crate::attributes::{Attributes, User};
use crate::auth::{self, Decision};

/// What the API server tells a program whose service account may not do what the program does.
pub(super) fn refusal(scene: &Scene<'_>, program: &Program) -> Option<Str> {
    let right = program.may.as_ref()?;
    let namespace = scene.pod.namespace();
    let account = scene.pod.value().str_at(&["spec", "serviceAccountName"]).unwrap_or("default");
    let user = User::service_account(namespace, account);
    let attributes = Attributes {
        verb: right.verb.clone(),
        group: right.group.clone(),
        resource: right.resource.clone(),
        namespace: namespace.into(),
        ..Attributes::default()
    };
    match auth::authorize(scene.world.local, &user, &attributes) {
        Decision::Allow => None,
        Decision::Deny(reason) => {
            let message = auth::forbidden(&user, &attributes, &reason).message;
            Some(format!("Error from server (Forbidden): {message}").as_str().into())
        }
    }
}
