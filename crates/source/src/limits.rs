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
/// The most trees that are kept with what was decoded of them although nobody has them open at the moment.
pub const MAX_IDLE_TREES: usize = 4;
/// The most repositories on this machine that are kept open.
pub const MAX_OPEN_REPOSITORIES: usize = 256;
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
/// The longest text that is taken for a revision or a URL.
pub const MAX_TEXT: usize = 2048;
/// The longest text that is taken for a version, as in Helm.
pub const MAX_VERSION_TEXT: usize = 256;
/// The longest text that is taken for a range of versions, as in Helm.
pub const MAX_RANGE_TEXT: usize = 512;
/// The most alternatives of a range, as in Helm.
pub const MAX_RANGE_ALTERNATIVES: usize = 32;
/// The largest signature of a commit or tag.
pub const MAX_SIGNATURE_BYTES: usize = 64 << 10;
/// The most commits of a history that has to be signed as a whole; a commit that seals makes it shorter.
pub const MAX_SIGNED_HISTORY: usize = 100_000;
/// The largest file that a Git LFS pointer can be.
pub const MAX_LFS_POINTER_BYTES: usize = 1024;

/// The largest single file that is read from a web server.
pub const MAX_FILE_BYTES: u64 = 10 << 20;

/// The largest index of a chart repository. It is kept on the disk; a part of it is in memory at a time.
pub const MAX_INDEX_BYTES: u64 = 512 << 20;
/// The largest index that is not written one key or item per line, and therefore has to be read as a whole.
pub const MAX_FOREIGN_INDEX_BYTES: u64 = 32 << 20;
/// The longest line of an index that is written one key or item per line.
pub const MAX_INDEX_LINE: u64 = 1 << 20;
/// The most charts of a repository; the name and place of each is kept in memory.
pub const MAX_CHARTS: usize = 200_000;
/// The most bytes of an index that describe one chart.
pub const MAX_CHART_ENTRIES_BYTES: u64 = 64 << 20;
/// The most versions of one chart, and the most tags of one name in a registry.
pub const MAX_CHART_VERSIONS: usize = 100_000;
/// The most places of one archive that are looked at.
pub const MAX_CHART_URLS: usize = 8;
/// The largest archive of a chart, as Argo CD accepts it.
pub const MAX_CHART_BYTES: u64 = 100 << 20;
/// The longest name of a chart, or of an artifact in a registry.
pub const MAX_NAME_TEXT: usize = 255;
/// How many bytes of archives and indexes a sweep leaves.
pub const MAX_CHART_CACHE_BYTES: u64 = 4 << 30;
/// The largest manifest, list of tags or token that a registry sends.
pub const MAX_REGISTRY_ANSWER_BYTES: u64 = 16 << 20;
/// The most pages of a list of tags.
pub const MAX_TAG_PAGES: usize = 1000;
/// The most manifests that an index in a registry may offer.
pub const MAX_OFFERED_MANIFESTS: usize = 16;
/// The most layers of an artifact, as in Argo CD.
pub const MAX_LAYERS: usize = 10;
/// The most bytes that the files of an artifact have together; they are held in memory.
pub const MAX_ARTIFACT_BYTES: u64 = 256 << 20;
/// The most files of an artifact.
pub const MAX_ARTIFACT_FILES: usize = 50_000;
/// How many answers of a registry are remembered.
pub const MAX_REMEMBERED: usize = 1024;

/// The most bytes of files that a plugin is sent; they are held in memory, packed.
pub const MAX_PLUGIN_FILES_BYTES: u64 = 256 << 20;
/// The most files that a plugin is sent.
pub const MAX_PLUGIN_FILES: usize = 50_000;
/// How deep folders may lie in each other that a plugin is sent.
pub const MAX_PLUGIN_DEPTH: usize = 100;
/// The largest answer of a plugin, as in Argo CD.
pub const MAX_PLUGIN_ANSWER_BYTES: usize = 100 << 20;
/// How many bytes of files go into one message to a plugin.
pub const PLUGIN_CHUNK_BYTES: usize = 64 << 10;
/// The most plugins that are asked whether a source is for them.
pub const MAX_PLUGINS: usize = 100;
/// How long a plugin may take from the first question to the last answer, as in Argo CD.
pub const PLUGIN_TIMEOUT: Duration = Duration::from_secs(90);
/// How long before its time is over a plugin's failure counts as having taken too long. Argo CD's server for plugins ends
/// commands a tenth of a second before.
pub const PLUGIN_LAST_MOMENT: Duration = Duration::from_millis(200);
/// How many may ask for the credentials of one call at once.
pub const MAX_ASKPASS_CONVERSATIONS: usize = 16;
/// The longest question for credentials.
pub const MAX_ASKPASS_BYTES: usize = 1024;

/// How long listing the references of a repository may take, as in Argo CD.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a fetch may take, as in Argo CD.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(90);

/// How many commits back a text such as `main~2` may lead.
pub const MAX_GENERATIONS: usize = 10_000;

/// The largest text of public keys that is read at once.
pub const MAX_KEY_BYTES: usize = 1 << 20;

/// The largest answer that a host of repositories may give at once.
pub const MAX_SCM_ANSWER_BYTES: usize = 32 << 20;
/// The most repositories, branches or pull requests of one question.
pub const MAX_SCM_ITEMS: usize = 20_000;
/// The most pages of one question.
pub const MAX_SCM_PAGES: usize = 1_000;
/// How many hosts are remembered, each with its credentials.
pub const MAX_SCM_HOSTS: usize = 256;
/// How long one question to a host may take, with all its pages.
pub const SCM_TIMEOUT: Duration = Duration::from_secs(300);
/// How long a host may take for one page.
pub const SCM_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the way to a host is kept; the token of an app lives for an hour.
pub const SCM_TOKEN_LIFE: Duration = Duration::from_secs(45 * 60);
/// How long a host is left alone that says that it was asked too often, and not for how long.
pub const SCM_USUAL_PAUSE: Duration = Duration::from_secs(60);
/// How long it is left alone at most.
pub const SCM_LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// How long a plugin that gives parameters may take where its ConfigMap does not say, as in Argo CD.
pub const PARAMETERS_TIMEOUT: Duration = Duration::from_secs(30);
