//! Every bound of this crate, in one place.

use std::time::Duration;

/// How many submodules may stand in one another.
pub const MAX_SUBMODULE_DEPTH: usize = 8;
/// The most submodules of one revision.
pub const MAX_SUBMODULES: usize = 200;
/// The largest `.gitmodules` that is read.
pub const MAX_GITMODULES_BYTES: u64 = 1 << 20;
/// The most directories that one open tree keeps decoded.
pub const MAX_CACHED_DIRECTORIES: usize = 16_384;
/// The largest pack that is accepted from a server.
pub const MAX_PACK_BYTES: u64 = 4 << 30;
/// The largest single object of a pack.
pub const MAX_OBJECT_BYTES: usize = 512 << 20;
/// The most bytes of a server's list of references.
pub const MAX_LISTING_BYTES: u64 = 256 << 20;
/// The most tips that a fetch tells the server about.
pub const MAX_HAVES: usize = 64;
/// After this many fetches a mirror is built anew, so that lookups do not have to search too many packs.
pub const MAX_PACKS: usize = 48;
/// The most that is kept of what a server says on its error channel.
pub const MAX_SERVER_TEXT: usize = 4096;
/// The most redirects that the first request of a conversation follows.
pub const MAX_REDIRECTS: usize = 5;
/// The most fetches from one host at a time.
pub const MAX_FETCHES_PER_HOST: usize = 8;
/// The most similar references that an error suggests.
pub const MAX_SUGGESTIONS: usize = 3;
/// The longest text that is taken for a revision, a range or a URL.
pub const MAX_TEXT: usize = 2048;
/// The largest file that a Git LFS pointer can be.
pub const MAX_LFS_POINTER_BYTES: usize = 1024;

/// How long listing the references of a repository may take, as in Argo CD.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a fetch may take, as in Argo CD.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(90);
