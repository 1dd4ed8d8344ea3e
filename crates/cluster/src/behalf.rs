//! For which application a request is made.

use lynceus_object::Str;

tokio::task_local! {
    static APPLICATION: Str;
}

/// Does work on behalf of an application: its requests wait their turn among those of the other applications, so that
/// one that has a thousand to make does not keep the others from making theirs.
pub async fn on_behalf_of<T>(application: Str, work: impl Future<Output = T>) -> T {
    APPLICATION.scope(application, work).await
}

/// The application that the current task works for; empty for none.
pub(crate) fn application() -> Str {
    APPLICATION.try_with(Clone::clone).unwrap_or_default()
}
