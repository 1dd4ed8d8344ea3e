//! Finalizers of Argo CD.

/// On an application: delete its objects before it goes.
pub const RESOURCES: &str = "resources-finalizer.argocd.argoproj.io";
/// The same, with foreground propagation.
pub const RESOURCES_FOREGROUND: &str = "resources-finalizer.argocd.argoproj.io/foreground";
/// The same, with background propagation.
pub const RESOURCES_BACKGROUND: &str = "resources-finalizer.argocd.argoproj.io/background";
/// On an application: run its PreDelete hooks before its objects go.
pub const PRE_DELETE: &str = "pre-delete-finalizer.argocd.argoproj.io";
/// On an application: clean up after its PreDelete hooks.
pub const PRE_DELETE_CLEANUP: &str = "pre-delete-finalizer.argocd.argoproj.io/cleanup";
/// On an application: run its PostDelete hooks after its objects went.
pub const POST_DELETE: &str = "post-delete-finalizer.argocd.argoproj.io";
/// On an application: clean up after its PostDelete hooks.
pub const POST_DELETE_CLEANUP: &str = "post-delete-finalizer.argocd.argoproj.io/cleanup";
/// On a hook: keep it until the result of its phase is known.
pub const HOOK: &str = "argocd.argoproj.io/hook-finalizer";

/// Whether a finalizer asks for an application's objects to be deleted with it.
pub fn deletes_resources(finalizer: &str) -> bool {
    matches!(finalizer, RESOURCES | RESOURCES_FOREGROUND | RESOURCES_BACKGROUND)
}

/// Whether a finalizer stands for hooks around the deletion of an application.
pub fn is_of_hooks(finalizer: &str) -> bool {
    finalizer.starts_with(PRE_DELETE) || finalizer.starts_with(POST_DELETE)
}
