//! Acting as somebody else: a sync may have to act as the service account that its project names.

use lynceus_object::Str;

tokio::task_local! {
    static USER: Str;
}

/// Does work in the name of another user, for those who may: its requests are judged by that user's rights.
pub async fn in_the_name_of<T>(user: Str, work: impl Future<Output = T>) -> T {
    USER.scope(user, work).await
}

/// Does work in our own name, whoever asked for it: what is learned of the cluster is for all.
pub(crate) async fn in_our_name<T>(work: impl Future<Output = T>) -> T {
    USER.scope(Str::new(), work).await
}

/// The user in whose name the current task works; none for ourselves.
pub(crate) fn user() -> Option<Str> {
    USER.try_with(Clone::clone).ok().filter(|user| !user.is_empty())
}
