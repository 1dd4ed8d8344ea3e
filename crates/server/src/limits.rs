//! How much of anything is accepted.

use std::time::Duration;

/// The largest body of a request, in bytes. An Application may be 1.5 MB in a cluster; a patch of one is less.
pub(crate) const BODY: usize = 8 << 20;

/// How much is received at the same time, in bytes, by whomever it is sent.
pub(crate) const BODIES: usize = 512 << 20;

/// The largest question that is a stream, in bytes: files that are sent to be rendered, packed.
pub(crate) const STREAMED_BODY: usize = 64 << 20;

/// How large the files of such a question may be together, in bytes.
pub(crate) const SENT_FILES: u64 = 256 << 20;

/// How long somebody may take to send a request.
pub(crate) const RECEIVE: Duration = Duration::from_secs(60);

/// How often a change is tried that somebody else was faster than, as in Argo CD.
pub(crate) const CHANGES: usize = 10;

/// How deep the fields of a query may be nested.
pub(crate) const QUERY_DEPTH: usize = 16;

/// How deep the fields of a message are described as parameters of a query.
pub(crate) const DESCRIBED_DEPTH: usize = 3;

/// How often something is sent on a stream on which nothing happens, so that those between keep it open.
pub(crate) const BEAT: Duration = Duration::from_secs(15);

/// How many tokens a role of a project may have: each stands in the project, which a cluster stores whole.
pub(crate) const TOKENS: usize = 1_000;

/// How long a repository or a cluster has to answer when somebody wants to know whether it can be reached.
pub(crate) const TRIAL: Duration = Duration::from_secs(15);

/// How long a cluster may take to make a token for a service account.
pub(crate) const NEW_TOKEN: Duration = Duration::from_secs(30);

/// How many clusters are asked at the same time for one answer.
pub(crate) const CLUSTERS_AT_ONCE: usize = 16;

/// How many repositories are tried at the same time for one answer.
pub(crate) const REPOSITORIES_AT_ONCE: usize = 8;

/// How long it is remembered that a repository could be reached.
pub(crate) const REACHED: Duration = Duration::from_secs(600);

/// How long it is remembered that a repository could not be reached.
pub(crate) const UNREACHED: Duration = Duration::from_secs(30);

/// How many attempts to reach a repository are remembered.
pub(crate) const TRIALS: usize = 10_000;

/// How many charts of a repository are listed, and how many versions of each.
pub(crate) const CHARTS: usize = 5_000;

/// The largest webhook, in bytes, where `webhook.maxPayloadSizeMB` says nothing.
pub(crate) const WEBHOOK: usize = 50 << 20;

/// The largest webhook that can be asked for, in megabytes.
pub(crate) const WEBHOOK_MEGABYTES: usize = 500;

/// How many webhooks are received at the same time; the others are asked to come again.
pub(crate) const WEBHOOKS_AT_ONCE: usize = 8;

/// How many changed files and commits of a webhook are looked at. Beyond that everything counts as changed.
pub(crate) const CHANGED_FILES: usize = 20_000;

/// The largest number of certificates or host keys that are added at once.
pub(crate) const CERTIFICATES: usize = 1_000;

/// How long a repository may take to be read when somebody looks into it.
pub(crate) const READING: Duration = Duration::from_secs(60);

/// How long somebody waits for an application to be looked at.
pub(crate) const REFRESH: Duration = Duration::from_secs(60);

/// How many logs are read for one question.
pub(crate) const LOG_STREAMS: usize = 50;

/// How long changes of a tree are gathered, in milliseconds.
pub(crate) const TREE_PAUSE: u64 = 200;

/// By how many applications a stream may differ from the list that it shares with others, before it looks for another
/// that it can share.
pub(crate) const UNSHARED: usize = 500;

/// Of how many nodes of one application's pods more is shown than their names.
pub(crate) const HOSTS: usize = 50;

/// How many nodes are asked for at the same time for one answer.
pub(crate) const HOSTS_AT_ONCE: usize = 8;

/// How long a cluster may take to tell of a node.
pub(crate) const HOST_ANSWER: Duration = Duration::from_secs(5);

/// For how long that counts.
pub(crate) const HOST_FACTS: Duration = Duration::from_secs(30);

/// Of how many nodes it is remembered.
pub(crate) const HOSTS_KNOWN: usize = 5_000;

/// How many pods of a node are counted.
pub(crate) const HOST_PODS: usize = 500;

/// How many objects that belong to nobody are shown beside an application.
pub(crate) const ORPHANS: usize = 2_000;

/// How many series a family of counted things may have: one more for each set of labels, which others may choose.
pub(crate) const SERIES: usize = if cfg!(test) { 100 } else { 10_000 };

/// The longest label of a series, in bytes.
pub(crate) const LABEL: usize = 256;

/// How many finished spans wait for the collector; further ones are dropped.
pub(crate) const SPANS: usize = 8_192;

/// How many spans go to the collector at once.
pub(crate) const SPANS_AT_ONCE: usize = 512;

/// How long spans are gathered.
pub(crate) const SPANS_PAUSE: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(1) };

/// How long the collector may take.
pub(crate) const COLLECTOR: Duration = Duration::from_secs(10);

/// From how many bytes on an answer is worth being compressed.
pub(crate) const COMPRESSED: usize = 4 << 10;

/// Up to how many bytes an answer is compressed with some effort. More takes longer than it saves.
pub(crate) const PACKED_WELL: usize = 16 << 20;

/// How much of a long list is made at once, in bytes of text.
pub(crate) const PIECE: usize = 256 << 10;

/// The largest token of a session, in bytes. An issuer may write hundreds of groups into one.
pub(crate) const TOKEN: usize = 60 << 10;

/// How often a change is worked out anew because somebody else was faster.
pub(crate) const AMENDMENTS: usize = 20;

/// Of how many projects the compiled roles are kept.
pub(crate) const PROJECT_RULES: usize = 20_000;

/// The longest name of an account, in bytes, as in Argo CD.
pub(crate) const ACCOUNT_NAME: usize = 32;

/// The longest password that is looked at, in bytes. What is behind the 72nd does not count, but somebody may send it.
pub(crate) const PASSWORD: usize = 1_024;

/// How long a wrong password takes at least, whoever's it is. Tests do not wait for it.
pub(crate) const WRONG_PASSWORD: Duration =
    if cfg!(test) { Duration::ZERO } else { Duration::from_millis(700) };

/// How many ended sessions are kept one by one.
pub(crate) const REVOKED: usize = 5_000;

/// How old a session of another issuer may be to change a password with it, in seconds.
pub(crate) const FRESH_SESSION: i64 = 300;

/// The longest name of a key, in bytes.
pub(crate) const KEY_NAME: usize = 256;

/// How often a long answer asks whether its caller's session still counts.
pub(crate) const RENEWAL: Duration =
    if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(5) };

/// How long a connection may say nothing before its first request, and how long its headers may take.
pub(crate) const SILENCE: Duration =
    if cfg!(test) { Duration::from_millis(400) } else { Duration::from_secs(10) };

/// How long a piece of an answer may wait for somebody to take it. Then the connection is closed.
pub(crate) const TAKING: Duration =
    if cfg!(test) { Duration::from_millis(400) } else { Duration::from_secs(60) };

/// How large such a piece is at most, in bytes.
pub(crate) const TAKEN_AT_ONCE: usize = 16 << 10;

/// How large the headers of a request may be together, in bytes: a session may fill many cookies.
pub(crate) const HEADERS: usize = 128 << 10;

/// How many connections there are at once. Further ones wait until one of them ends.
pub(crate) const CONNECTIONS: usize = 16_384;

/// How many requests one connection may have under way.
pub(crate) const STREAMS: u32 = 250;

/// How many long answers are open at once: watches and logs. Further ones are refused.
pub(crate) const OPEN_STREAMS: usize = 10_000;

/// How many of them may be for one caller, so that none takes the places of all others.
pub(crate) const OPEN_STREAMS_OF_ONE: usize = 2_000;

/// How long requests may go on when the server stops.
pub(crate) const FAREWELL: Duration = Duration::from_secs(10);

/// How long to wait when the system has no more connections to give.
pub(crate) const BREATH: Duration = Duration::from_millis(50);

/// For how long what an issuer says of itself counts.
pub(crate) const ISSUER_DOCUMENT: Duration = Duration::from_secs(600);

/// For how long the keys of an issuer count.
pub(crate) const ISSUER_KEYS: Duration = Duration::from_secs(300);

/// How old they have to be to be asked for again because a token names one that is not among them.
pub(crate) const ISSUER_KEYS_AGAIN: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 10 });

/// How long an issuer that did not answer is left alone.
pub(crate) const ISSUER_AGAIN: Duration = Duration::from_secs(5);

/// How many keys of an issuer are looked at.
pub(crate) const ISSUER_KEY_COUNT: usize = 100;

/// How long an issuer may take to answer.
pub(crate) const ISSUER_ANSWER: Duration = Duration::from_secs(10);

/// How long an issuer's answer may be, in bytes.
pub(crate) const ISSUER_BYTES: usize = 1 << 20;

/// For how long what an issuer says of somebody's groups counts, where `userInfoCacheExpiration` says nothing.
pub(crate) const USER_INFO: Duration = Duration::from_secs(300);

/// The longest that it may count, whatever the settings say.
pub(crate) const USER_INFO_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Of how many people that is remembered.
pub(crate) const USER_INFOS: usize = 10_000;

/// The longest token for asking an issuer that a browser is given to carry, in bytes.
pub(crate) const ACCESS_TOKEN: usize = 8 << 10;

/// By how many seconds an issuer's clock may be ahead of ours.
pub(crate) const ISSUER_LEEWAY: i64 = 300;

/// How long somebody may take to log in elsewhere, in seconds.
pub(crate) const LOGIN_ELSEWHERE: i64 = 600;

/// How many projects one badge may stand for.
pub(crate) const BADGE_PROJECTS: usize = 20;
