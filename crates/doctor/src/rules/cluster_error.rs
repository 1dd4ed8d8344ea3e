//! Why a cluster could not be used, by the words of Lynceus, Argo CD and the API server.

use std::collections::BTreeMap;

use crate::case::{App, Case, Said, Voice};
use crate::finding::Evidence;
use crate::rules::backend::{UNREACHABLE, evidence, has};
use crate::snapshot::Reach;
use crate::words;

/// What is wrong with the way to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It wants other credentials, or shows a certificate that has run out.
    Login,
    /// It asks to be left alone for a while.
    Busy,
    /// It does not answer.
    Away,
}

/// Words that stand in errors about clusters.
const CLUSTERS: [&str; 9] = [
    "failed to load live state",
    "failed to get cluster",
    "error getting cluster",
    "error synchronizing cache",
    "failed to sync cluster",
    "failed to get server version",
    "cannot reach the cluster",
    "the cluster did not answer",
    "failed to discover server resources",
];
const LOGIN: [&str; 8] = [
    "certificate has expired",
    "certificate is expired",
    "x509: ",
    "unauthorized",
    "asked for the client to provide credentials",
    "token has expired",
    "token is expired",
    "invalid bearer token",
];
const BUSY: [&str; 6] = [
    "too many requests",
    "code 429",
    "client-side throttling",
    "rate limiter",
    "would exceed context deadline",
    "received too many requests",
];
const AWAY: [&str; 9] = [
    "unable to return a response in the time",
    "cannot be reached",
    "cannot reach the cluster",
    "did not answer",
    "tls handshake timeout",
    "timed out",
    "timeout awaiting",
    "is not connected yet",
    "eof",
];

/// What a text says of the way to a cluster.
pub(super) fn way(text: &str) -> Option<Way> {
    let sorts =
        [(Way::Login, LOGIN.as_slice()), (Way::Busy, &BUSY), (Way::Away, &UNREACHABLE), (Way::Away, &AWAY)];
    sorts.iter().find(|(_, words)| has(text, words)).map(|(way, _)| *way)
}

/// What is said of one cluster.
#[derive(Default)]
pub(super) struct Troubled<'c, 'a> {
    /// The applications that say it.
    pub(super) apps: Vec<&'c App<'a>>,
    /// What they say.
    pub(super) said: Vec<&'c Said<'a>>,
    /// What was found when it was asked.
    pub(super) why: Option<&'a str>,
}

impl Troubled<'_, '_> {
    /// How that was seen.
    pub(super) fn evidence(&self, server: &str) -> Vec<Evidence> {
        let mut seen: Vec<Evidence> = self
            .why
            .map(|why| Evidence::seen(format!("{server}: {}", words::quote(why))))
            .into_iter()
            .collect();
        seen.extend(evidence(self.said.iter().copied()));
        seen
    }

    /// The words that tell most.
    pub(super) fn text(&self) -> &str {
        self.why.or_else(|| self.said.first().map(|said| said.text)).unwrap_or_default()
    }
}

/// The clusters of which one thing is said, by address. Applications that say nothing are of those that are away too.
pub(super) fn troubled<'c, 'a>(case: &'c Case<'a>, wanted: Way) -> BTreeMap<&'a str, Troubled<'c, 'a>> {
    let mut found: BTreeMap<&'a str, Troubled<'c, 'a>> = BTreeMap::new();
    for view in &case.snapshot.clusters {
        if let Reach::Away(why) = &view.reach
            && way(why).unwrap_or(Way::Away) == wanted
        {
            found.entry(&view.server).or_default().why = Some(why);
        }
    }
    for said in case.said().iter().filter(|said| said.voice == Voice::Application && is_of_cluster(said.text))
    {
        let Some(app) = said.app.as_ref().and_then(|name| case.app(name)) else { continue };
        if way(said.text) == Some(wanted) {
            let one = found.entry(app.server()).or_default();
            one.apps.push(app);
            one.said.push(said);
        }
    }
    for app in case.apps().filter(|app| !app.is_fine()) {
        if let Some(one) = found.get_mut(app.server())
            && one.why.is_some()
            && !one.apps.iter().any(|known| known.name == app.name)
        {
            one.apps.push(app);
        }
    }
    found
}

/// Whether an error is about the way to a cluster, and not about one kind of it or about a right. A cluster that holds requests back
/// does so for whatever kind was asked for.
fn is_of_cluster(text: &str) -> bool {
    match has(text, &["cannot be read from the cluster"]) {
        true => way(text) == Some(Way::Busy),
        false => has(text, &CLUSTERS) && !has(text, &["is forbidden: user", "conversion webhook"]),
    }
}
