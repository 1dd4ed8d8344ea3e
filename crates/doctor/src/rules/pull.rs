//! Images that cannot be had, and why, by what kubelets and container runtimes say.

use std::collections::BTreeMap;

use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value};

use crate::case::{Case, Pods};
use crate::finding::Evidence;
use crate::fix::{Fix, Place, Risk};
use crate::node::AppName;
use crate::snapshot::Override;
use crate::words;

/// Why an image cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// Its name is none.
    Name,
    /// It has no variant for the machine.
    Platform,
    /// The registry does not answer, or not as often.
    Registry,
    /// The registry does not give it to everybody.
    Denied,
    /// It is not there.
    Missing,
}

/// A container whose image cannot be had.
pub(super) struct Pull<'a> {
    /// The cluster's address.
    pub(super) server: &'a str,
    /// What owns the pod in the end.
    pub(super) owner: &'a Object,
    /// The pod.
    pub(super) pod: &'a Object,
    /// The image as the pod names it.
    pub(super) image: &'a str,
    /// What is said.
    pub(super) said: String,
    /// Where it stands; nothing where the pod says it.
    pub(super) place: Option<FieldPath>,
    /// Why.
    pub(super) why: Why,
}

/// The words for each reason, those that say most first: a denied pull is "not found" in some registries' words too.
const WORDS: [(Why, &[&str]); 5] = [
    (
        Why::Name,
        &[
            "invalidimagename",
            "couldn't parse image",
            "invalid reference format",
            "failed to apply default image tag",
        ],
    ),
    (
        Why::Platform,
        &[
            "no matching manifest for",
            "no match for platform",
            "no image found in manifest list",
            "no image found in image index",
        ],
    ),
    (
        Why::Registry,
        &[
            "toomanyrequests",
            "too many requests",
            "rate limit",
            "i/o timeout",
            "no such host",
            "connection refused",
            "connection reset",
            "tls handshake timeout",
            "deadline exceeded",
            "network is unreachable",
            "no route to host",
            "server misbehaving",
            "x509:",
            "bad gateway",
            "service unavailable",
            "internal server error",
            "gateway timeout",
            "http response to https client",
        ],
    ),
    (
        Why::Denied,
        &[
            "unauthorized",
            "access denied",
            "authorization failed",
            "no basic auth",
            "403 forbidden",
            "401 unauthorized",
            "authentication required",
            "insufficient_scope",
            "denied:",
            "failed to authorize",
            "requested access to the resource",
        ],
    ),
    (
        Why::Missing,
        &[
            "not found",
            "manifest unknown",
            "manifest_unknown",
            "name_unknown",
            "name unknown",
            "does not exist",
            "pull policy of never",
        ],
    ),
];

/// Why an image cannot be had, by what is said.
pub(super) fn why(said: &str) -> Option<Why> {
    let said = said.to_lowercase();
    WORDS.iter().find(|(_, words)| words.iter().any(|word| said.contains(word))).map(|(why, _)| *why)
}

/// The containers of all clusters whose images cannot be had for one reason, by image. A pod whose template names the image no
/// more is left out: it goes when the new ones come.
pub(super) fn failed<'a>(case: &Case<'a>, wanted: Why) -> BTreeMap<Str, Vec<Pull<'a>>> {
    let mut failed: BTreeMap<Str, Vec<Pull<'a>>> = BTreeMap::new();
    for server in case.servers() {
        for pod in case.of_kind(server, "", "Pod").iter().copied().filter(|pod| !pod.is_deleting()) {
            for pull in of_pod(case, server, pod) {
                if pull.why == wanted {
                    failed.entry(pull.image.into()).or_default().push(pull);
                }
            }
        }
    }
    failed
}

/// The same, with those whose pods are to come.
pub(super) fn lost<'a>(case: &Case<'a>, wanted: Why) -> BTreeMap<Str, Vec<Pull<'a>>> {
    let mut lost = failed(case, wanted);
    if case.snapshot.lost_images.is_empty() {
        return lost;
    }
    for server in case.servers() {
        for (owner, pods) in case.pods_to_come(server) {
            for (path, container) in pods.containers() {
                let image = container.str_at(&["image"]).unwrap_or_default();
                let said = case.snapshot.lost_images.get(image).filter(|said| why(said) == Some(wanted));
                lost.entry(image.into()).or_default().extend(said.map(|said| Pull {
                    server,
                    owner,
                    pod: owner,
                    image,
                    said: said.clone(),
                    place: Some(path.field("image")),
                    why: wanted,
                }));
            }
        }
    }
    lost.retain(|_, pulls| !pulls.is_empty());
    lost
}

fn of_pod<'a>(case: &Case<'a>, server: &'a str, pod: &'a Object) -> Vec<Pull<'a>> {
    let statuses = ["initContainerStatuses", "containerStatuses"];
    let statuses = statuses.iter().flat_map(|field| pod.value().items_at(&["status", field]));
    let mut pulls = Vec::new();
    for status in statuses {
        let Some(said) = said(status) else { continue };
        let Some(image) = image_of(pod, status) else { continue };
        let told = why(&said).map(|why| (said, why)).or_else(|| of_events(case, server, pod, image));
        let owner = case.top(server, pod);
        if let Some((said, why)) = told.filter(|_| is_still_wanted(owner, image)) {
            pulls.push(Pull { server, owner, pod, image, said, place: None, why });
        }
    }
    pulls
}

/// What is said of a container that waits for its image.
fn said(status: &Value) -> Option<String> {
    let text = |field| status.str_at(&["state", "waiting", field]).unwrap_or_default();
    let is_pull = matches!(
        text("reason"),
        "ErrImagePull"
            | "ImagePullBackOff"
            | "ErrImageNeverPull"
            | "InvalidImageName"
            | "RegistryUnavailable"
            | "ImageInspectError"
    );
    // A program that was made for another machine is an image for another machine.
    let ended =
        ["state", "lastState"].iter().find_map(|state| status.str_at(&[state, "terminated", "message"]));
    let is_foreign =
        [ended.unwrap_or_default(), text("message")].iter().any(|text| text.contains("exec format error"));
    if is_foreign {
        return Some("no match for platform: exec format error".to_owned());
    }
    is_pull.then(|| format!("{}: {}", text("reason"), text("message")))
}

/// Older kubelets say no more than that they wait; what they wait for stands in an event.
fn of_events(case: &Case<'_>, server: &str, pod: &Object, image: &str) -> Option<(String, Why)> {
    let events = case.events(server, &pod.key()).iter();
    let texts = events.filter_map(|event| event.value().str_at(&["message"]));
    let mut told = texts.filter(|text| text.contains("ailed to pull image") && text.contains(image));
    told.find_map(|text| Some((text.to_owned(), why(text)?)))
}

/// The image of a container as the pod's spec names it.
fn image_of<'a>(pod: &'a Object, status: &Value) -> Option<&'a str> {
    let name = status.str_at(&["name"])?;
    let containers =
        ["initContainers", "containers"].iter().flat_map(|field| pod.value().items_at(&["spec", field]));
    let mut named = containers.filter(|one| one.str_at(&["name"]) == Some(name));
    named.next()?.str_at(&["image"])
}

fn is_still_wanted(owner: &Object, image: &str) -> bool {
    let Some(template) = Pods::of(owner) else { return true };
    template.containers().iter().any(|(_, one)| one.str_at(&["image"]) == Some(image))
}

/// `ghcr.io/shop/web` and `v1`, of `ghcr.io/shop/web:v1`; of a digest, what stands before it and after it.
pub(super) fn split(image: &str) -> (&str, &str) {
    if let Some((repository, digest)) = image.split_once('@') {
        return (repository, digest);
    }
    let name = image.rfind('/').map_or(0, |place| place + 1);
    match image[name..].rfind(':') {
        Some(place) => (&image[..name + place], &image[name + place + 1..]),
        None => (image, "latest"),
    }
}

/// Whether there is a colon for a tag and nothing behind it.
pub(super) fn lacks_tag(image: &str) -> bool {
    let (repository, _) = split(image);
    image.ends_with(':') && !repository.is_empty()
}

/// The value that covers a better one for an image whose name is none, with the object that names the image.
pub(super) fn covered<'a>(
    case: &Case<'a>,
    image: &str,
    pulls: &[Pull<'_>],
) -> Option<(AppName, &'a Override, ObjectKey)> {
    let names_other = |object: &Object| {
        let containers = Pods::of(object).map(|pods| pods.containers()).unwrap_or_default();
        let mut images = containers.iter().map(|(_, one)| one.str_at(&["image"]).unwrap_or_default());
        let is_better = |other: &str| other != image && !other.starts_with(':') && !lacks_tag(other);
        !containers.is_empty() && images.all(is_better)
    };
    let first = pulls.first()?;
    let key = first.owner.key();
    let (app, covered) = case.override_of(first.server, &key, names_other)?;
    Some((app, covered, key))
}

/// What is said of an image, once for each wording.
pub(super) fn evidence(pulls: &[Pull<'_>]) -> Vec<Evidence> {
    let mut known = std::collections::BTreeSet::new();
    let told = pulls.iter().filter(|pull| known.insert(pull.owner.key())).map(|pull| Evidence::Field {
        object: pull.pod.key(),
        path: pull.place.clone().unwrap_or_else(|| FieldPath::fields(["status", "containerStatuses"])),
        value: match &pull.place {
            Some(_) => format!("{}: {}", pull.image, words::quote(&pull.said)),
            None => words::quote(&pull.said),
        },
    });
    told.take(crate::limits::EVIDENCE).collect()
}

/// `Deployment shop/web and Job shop/seed`
pub(super) fn users(pulls: &[Pull<'_>]) -> String {
    let mut names: Vec<String> =
        pulls.iter().map(|pull| format!("{} {}", pull.owner.kind(), pull.owner.name())).collect();
    names.sort();
    names.dedup();
    words::list(names)
}

/// The application that all users of an image belong to, if it is one.
pub(super) fn app(case: &Case<'_>, pulls: &[Pull<'_>]) -> Option<AppName> {
    let mut apps: Vec<_> =
        pulls.iter().filter_map(|pull| case.owner(pull.server, &pull.owner.key())).collect();
    apps.sort();
    apps.dedup();
    if apps.len() == 1 { apps.pop() } else { None }
}

/// What uses an image, as things that are wrong because of it.
pub(super) fn affected(pulls: &[Pull<'_>]) -> Vec<crate::node::Node> {
    pulls.iter().map(|pull| crate::node::Node::object(pull.server, pull.owner.key())).collect()
}

/// The fields that name an image.
pub(super) fn fields(case: &Case<'_>, pulls: &[Pull<'_>]) -> Vec<(AppName, ObjectKey, FieldPath)> {
    let mut fields = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for pull in pulls.iter().filter(|pull| known.insert(pull.owner.key())) {
        let Some(app) = case.owner(pull.server, &pull.owner.key()) else { continue };
        let containers = Pods::of(pull.owner).map(|template| template.containers()).unwrap_or_default();
        let naming = containers.into_iter().filter(|(_, one)| one.str_at(&["image"]) == Some(pull.image));
        fields.extend(naming.map(|(path, _)| (app.clone(), pull.owner.key(), path.field("image"))));
    }
    fields
}

/// A fix that has all users of an image take another.
pub(super) fn take(case: &Case<'_>, pulls: &[Pull<'_>], other: &str, title: String) -> Option<Fix> {
    let mut fix = Fix::new(title);
    for (app, object, path) in fields(case, pulls) {
        fix = fix.git(&app, Place::Field { object, path, value: Some(Value::from(other)) });
    }
    let users = users(pulls);
    fix.has_edits().then(|| fix.risk(Risk::Medium, format!("{users} run another version")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runtimes_say_is_told_apart() {
        let pairs = [
            (
                "failed to pull and unpack image \"a:1\": failed to resolve image: a:1: not found",
                Why::Missing,
            ),
            ("manifest for a:1 not found: manifest unknown: manifest unknown", Why::Missing),
            ("no match for platform in manifest: not found", Why::Platform),
            ("no matching manifest for linux/amd64 in the manifest list entries", Why::Platform),
            ("pull access denied, repository does not exist or may require authorization", Why::Denied),
            (
                "failed to authorize: failed to fetch anonymous token: unexpected status: 403 Forbidden",
                Why::Denied,
            ),
            (
                "failed to authorize: failed to fetch oauth token: dial tcp: lookup auth.docker.io: no such host",
                Why::Registry,
            ),
            ("toomanyrequests: You have reached your pull rate limit.", Why::Registry),
            ("couldn't parse image name \"Web:1\": invalid reference format", Why::Name),
        ];
        for (said, wanted) in pairs {
            assert_eq!(why(said), Some(wanted), "{said}");
        }
        assert_eq!(why("Back-off pulling image \"a:1\""), None);
    }

    #[test]
    fn images_are_taken_apart() {
        assert_eq!(split("reg:5000/a/b:c"), ("reg:5000/a/b", "c"));
        assert_eq!(split("reg:5000/a/b"), ("reg:5000/a/b", "latest"));
        assert_eq!(split("a@sha256:0"), ("a", "sha256:0"));
        let lacking: Vec<&str> = ["reg:5000/a:", "a:", ":", ":v1", "reg:5000/a", "a@"]
            .into_iter()
            .filter(|one| lacks_tag(one))
            .collect();
        assert_eq!(lacking, ["reg:5000/a:", "a:"]);
    }
}
