//! What a kustomization names that is elsewhere, as anyone sees it.

use lynceus_engine::{Ways, get_base};
use lynceus_kustomize::{Fetched, Need};
use lynceus_source::Repository;

use crate::elsewhere;

/// Gets everything that is needed and not there yet. What cannot be had is remembered as that: a URL that is no file may
/// still be a repository, which the build decides.
pub(super) async fn fetch(needs: &[Need], fetched: &mut Fetched) {
    let sources = elsewhere::sources();
    let ways =
        Ways { repository: &|url| Ok(Repository::at(url)), charts: &|url| Ok(Repository::charts(url)) };
    for need in needs {
        if !fetched.contains_key(need) {
            fetched.insert(need.clone(), get_base(&sources, need, &ways).await);
        }
    }
}
