//! Why the sources of applications could not be read or rendered, by the words of Lynceus, Argo CD, Git, Helm and Kustomize.

use lynceus_api::ApplicationSource;
use lynceus_object::FieldPath;

use crate::case::{App, Case, Said, Voice};
use crate::rules::backend::UNREACHABLE;

/// Which step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A value file is not there.
    ValueFile,
    /// The revision is not there.
    Revision,
    /// The path is not in the revision.
    Path,
    /// The repository wants other credentials, or is not the one that is expected.
    Login,
    /// The repository does not answer.
    Away,
    /// What renders did not do it in time, or is not there.
    Renderer,
    /// The sources cannot be rendered.
    Rendering,
}

/// Words that only stand in errors about sources.
const SOURCES: [&str; 22] = [
    "symbolic link",
    "is not valid yaml",
    "cannot read ",
    "cannot render ",
    "cannot get ",
    "cannot unpack ",
    "rendering ",
    "failed to generate manifest",
    "failed to load target state",
    "manifest generation error",
    "app path",
    "to a commit sha",
    "remote ref",
    "failed to list refs",
    "failed to fetch",
    "helm template",
    "kustomize build",
    "error fetching",
    "repository not found",
    "failed to get repo",
    "unable to ls-remote",
    "failed to initialize repository",
];
/// Words of errors about clusters, which may have the others in them too.
const CLUSTERS: [&str; 5] = [
    "failed to load live state",
    "cannot be read from the cluster",
    "failed to get cluster",
    "is forbidden: user",
    "conversion webhook",
];
const REVISION: [&str; 9] = [
    "to a commit sha",
    "couldn't find remote ref",
    "could not find remote ref",
    "has no branch or tag",
    "has no reference",
    "has no commit",
    "has no tag in the range",
    "unknown revision",
    "reference not found",
];
const LOGIN: [&str; 18] = [
    "authentication required",
    "authentication failed",
    "invalid credentials",
    "invalid username or password",
    "could not read username",
    "permission denied (publickey",
    "knownhosts",
    "host key verification failed",
    "ssh: handshake failed",
    "the ssh key of",
    "repository not found",
    "there is no repository at",
    "access denied",
    "401 unauthorized",
    "403 forbidden",
    "x509: ",
    "is not trusted",
    "credentials of",
];
const AWAY: [&str; 6] = [
    "could not resolve host",
    "cannot reach ",
    "connection timed out",
    "tls handshake timeout",
    "bad gateway",
    "took longer than",
];
const RENDERER: [&str; 3] = ["code = deadlineexceeded", "code = unavailable", "code = resourceexhausted"];

/// Which step an error is about, if it is one of a source.
pub(super) fn step(app: &App<'_>, text: &str) -> Option<Step> {
    let low = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
    if has(&CLUSTERS) || !(has(&SOURCES) || has(&REVISION)) {
        return None;
    }
    let is_slow = low.starts_with("rendering ") && low.contains(" took longer than ");
    Some(match text {
        _ if value_file(app, text).is_some() => Step::ValueFile,
        _ if has(&REVISION) => Step::Revision,
        _ if is_missing_path(&low) => Step::Path,
        _ if is_slow || has(&RENDERER) => Step::Renderer,
        _ if has(&LOGIN) => Step::Login,
        _ if has(&AWAY) || has(&UNREACHABLE) => Step::Away,
        _ => Step::Rendering,
    })
}

fn is_missing_path(low: &str) -> bool {
    let is_absent = low.contains("app path") && low.contains("does not exist");
    is_absent || (low.contains("revision \"") && low.contains("has no path"))
}

/// The value file that an error says is not there, as the Application names it.
pub(super) fn value_file(app: &App<'_>, text: &str) -> Option<String> {
    let own = text
        .split_once("value file ")
        .and_then(|(_, rest)| rest.split_once(" cannot be read"))
        .map(|(file, _)| file);
    let glob = text
        .split_once("values file glob \"")
        .and_then(|(_, rest)| rest.split_once("\" matched no files"))
        .map(|(file, _)| file);
    if let Some(file) = own.or(glob) {
        return Some(file.to_owned());
    }
    let path =
        text.split_once("open ").and_then(|(_, rest)| rest.split_once(": no such file or directory"))?.0;
    let name = path.rsplit('/').next()?;
    let sources = app.application().spec.all_sources();
    let files = sources.iter().filter_map(|source| source.helm.as_ref()).flat_map(|helm| &helm.value_files);
    files.map(ToString::to_string).find(|file| file.rsplit('/').next() == Some(name))
}

/// What applications say of one step of their sources.
pub(super) fn told<'c, 'a>(case: &'c Case<'a>, wanted: Step) -> Vec<(&'c App<'a>, &'c Said<'a>)> {
    let of_apps = case.said().iter().filter(|said| said.voice == Voice::Application);
    let apps = of_apps.filter_map(|said| Some((case.app(said.app.as_ref()?)?, said)));
    apps.filter(|(app, said)| step(app, said.text) == Some(wanted)).collect()
}

/// The source that an error is about: the one whose repository or revision it names, or the only one. With the field that it
/// stands in.
pub(super) fn source(app: &App<'_>, text: &str) -> Option<(ApplicationSource, FieldPath)> {
    let spec = &app.application().spec;
    let all = spec.all_sources();
    let place = |index: usize| match spec.has_multiple_sources() {
        true => FieldPath::fields(["spec", "sources"]).index(index),
        false => FieldPath::fields(["spec", "source"]),
    };
    let names = |part: &str| part.len() > 1 && text.contains(part);
    let fits =
        |one: &&ApplicationSource| names(&one.repo_url) || names(&format!("'{}'", one.target_revision));
    let index = match all.len() {
        1 => 0,
        _ => numbered(text).or_else(|| all.iter().position(|one| fits(&one)))?,
    };
    all.into_iter().nth(index).map(|source| (source, place(index)))
}

/// Argo CD counts them: `for source 2 of 3`.
fn numbered(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("for source ")?;
    let (number, _) = rest.split_once(" of ")?;
    number.parse::<usize>().ok()?.checked_sub(1)
}

/// The host that an error says does not answer or refuses, which may be that of a dependency.
pub(super) fn host_in(text: &str) -> Option<String> {
    let own = text.split_once("cannot reach ").and_then(|(_, rest)| rest.split([':', ' ']).next());
    let looked = text.split_once("lookup ").and_then(|(_, rest)| rest.split([':', ' ']).next());
    let named = own.or(looked).filter(|host| !host.is_empty()).map(ToOwned::to_owned);
    named.or_else(|| crate::links::service::hosts_in(text).into_iter().next_back())
}

/// An error without the words that stand before every error of its sort.
pub(super) fn short(text: &str) -> &str {
    let mut rest = text.trim();
    let starts = [
        "rpc error: code = ",
        "Failed to load target state: ",
        "Manifest generation error (cached): ",
        "Failed to generate manifest",
    ];
    for start in starts {
        let found = rest.find(start).filter(|at| *at < 160);
        let Some(at) = found else { continue };
        let after = &rest[at + start.len()..];
        rest = match start {
            "rpc error: code = " => after.split_once(" desc = ").map_or(after, |(_, rest)| rest),
            "Failed to generate manifest" => after.split_once(": ").map_or(after, |(_, rest)| rest),
            _ => after,
        };
    }
    for start in [
        "failed to generate manifest for source",
        "cannot render ",
        "cannot read ",
        "Helm cannot render ",
        "Kustomize cannot build ",
    ] {
        if let Some((_, after)) = rest.strip_prefix(start).and_then(|after| after.split_once(": ")) {
            rest = after;
        }
    }
    match rest.strip_prefix("rpc error: code = ").and_then(|after| after.split_once(" desc = ")) {
        Some((_, after)) => after,
        None => rest.strip_prefix("error: ").unwrap_or(rest),
    }
}

/// The host of a repository, however its address is written.
pub(super) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    rest.split(['/', ':']).next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(text: &str) -> Option<Step> {
        let snapshot = crate::tests::snapshot(
            "@app a Unknown Healthy\n@spec {source: {helm: {valueFiles: [values.yaml, ../prod/values-prod.yaml]}}}\n",
        );
        step(Case::new(&snapshot).apps().next().unwrap(), text)
    }

    #[test]
    fn errors_of_sources_are_told_apart() {
        for (text, expected) in [
            (
                "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = failed to list refs: authentication required: Repository not found.",
                Some(Step::Login),
            ),
            (
                "rpc error: code = Unknown desc = unable to resolve 'gone' to a commit SHA",
                Some(Step::Revision),
            ),
            (
                "cannot read https://g/x.git: https://g/x.git has no branch or tag \"gone\"",
                Some(Step::Revision),
            ),
            ("cannot render app of https://g/x.git: app path app does not exist", Some(Step::Path)),
            (
                "rpc error: code = Unknown desc = Manifest generation error (cached): web: app path does not exist",
                Some(Step::Path),
            ),
            ("cannot read https://g/x.git: cannot reach g:443: connection refused", Some(Step::Away)),
            (
                "rpc error: code = Unknown desc = failed to list refs: Get \"https://g\": dial tcp: lookup g: no such host",
                Some(Step::Away),
            ),
            (
                "cannot render web of https://g/x.git: Helm cannot render web: execution error at (web/templates/a.yaml:3:4): x is required",
                Some(Step::Rendering),
            ),
            (
                "`helm template . --values /tmp/a/b/values-prod.yaml` failed exit status 1: Error: open /tmp/a/b/values-prod.yaml: no such file or directory",
                Some(Step::ValueFile),
            ),
            (
                "rpc error: code = DeadlineExceeded desc = context deadline exceeded: failed to generate manifest",
                Some(Step::Renderer),
            ),
            (
                "Failed to load live state: cluster \"a\" (https://a) cannot be reached since x: connection refused",
                None,
            ),
            ("Namespace for x /v1, Kind=ConfigMap is missing.", None),
            ("error: too many symbolic links at w/a.yaml\n  at w/a.yaml", Some(Step::Rendering)),
            (
                "error: document 1 is not valid YAML: did not find expected ',' or '}' at root/broken.yaml:4:5",
                Some(Step::Rendering),
            ),
        ] {
            assert_eq!(sort(text), expected, "{text}");
        }
    }

    #[test]
    fn what_stands_before_every_error_is_left_out() {
        let text = "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = Manifest generation error (cached): web: app path does not exist";
        assert_eq!(short(text), "web: app path does not exist");
        assert_eq!(
            short("cannot render web of https://g/x.git: Helm cannot render web: parse error at (a:1)"),
            "parse error at (a:1)"
        );
        assert_eq!(
            (host("git@github.com:a/b.git"), host("https://u:p@g.example:8443/x")),
            ("github.com", "g.example")
        );
    }
}
