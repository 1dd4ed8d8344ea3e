//! What may only be deleted once somebody has said so.

use lynceus_api::Options;
use lynceus_api::options::sync;
use lynceus_object::Object;

/// Whether an object is neither pruned nor deleted before somebody confirms it: its own `Delete=` and `Prune=` count
/// before those of the application's policy.
pub fn needs_confirmation(object: &Object, policy: &Options) -> bool {
    let own = Options::sync(object);
    [sync::DELETE, sync::PRUNE]
        .iter()
        .any(|key| own.value(key).or_else(|| policy.value(key)) == Some(sync::CONFIRM))
}
