//! Who sends webhooks, how each is known and checked, and what each says.

mod azure;
mod bitbucket;
mod registry;

use axum::http::{HeaderMap, header};
use lynceus_object::{Value, json};
use ring::hmac;

use super::event::{Event, texts};
use super::secret::{Secrets, basic, same, signed};

/// Somebody who sends webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    GitHub,
    GitLab,
    /// Gogs, and Gitea and Forgejo, which come of it.
    Gogs,
    BitbucketCloud,
    BitbucketServer,
    AzureDevOps,
    Harbor,
}

impl Sender {
    /// Who sends a request.
    pub(super) fn of(headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        let has = |name: &str| headers.contains_key(name);
        match () {
            // Gogs and Gitea also say that they are GitHub.
            () if has("x-gogs-event") || has("x-gitea-event") => Some(Sender::Gogs),
            () if has("x-github-event") => Some(Sender::GitHub),
            () if has("x-gitlab-event") => Some(Sender::GitLab),
            () if has("x-hook-uuid") => Some(Sender::BitbucketCloud),
            () if has("x-event-key") => Some(Sender::BitbucketServer),
            () if has("x-vss-activityid") => Some(Sender::AzureDevOps),
            // Harbor has no header of its own, but what it says begins in a way of its own.
            () => {
                let body =
                    json::parse(body).ok().filter(|body| body.at(&["event_data", "resources"]).is_some())?;
                body.str_at(&["type"]).map(|_| Sender::Harbor)
            }
        }
    }

    /// Whether a request is from who it says, as far as the operator wants that to be known: without a secret everybody is
    /// believed, as in Argo CD.
    pub(super) fn is_genuine(self, secrets: &Secrets, headers: &HeaderMap, body: &[u8]) -> bool {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let by = |name: &str, check: &dyn Fn(&str) -> bool| secrets.get(name).is_none_or(check);
        match self {
            Sender::GitHub => by("webhook.github.secret", &|secret| {
                match text("x-hub-signature-256").strip_prefix("sha256=") {
                    Some(signature) => signed(hmac::HMAC_SHA256, secret, body, signature),
                    // Old versions of GitHub Enterprise know no other.
                    None => text("x-hub-signature").strip_prefix("sha1=").is_some_and(|signature| {
                        signed(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret, body, signature)
                    }),
                }
            }),
            Sender::GitLab => by("webhook.gitlab.secret", &|secret| same(text("x-gitlab-token"), secret)),
            Sender::Gogs => by("webhook.gogs.secret", &|secret| {
                let signature = match text("x-gitea-signature") {
                    "" => text("x-gogs-signature"),
                    signature => signature,
                };
                signed(hmac::HMAC_SHA256, secret, body, signature)
            }),
            Sender::BitbucketCloud => by("webhook.bitbucket.uuid", &|uuid| same(text("x-hook-uuid"), uuid)),
            Sender::BitbucketServer => by("webhook.bitbucketserver.secret", &|secret| {
                let signature = text("x-hub-signature").strip_prefix("sha256=");
                signature.is_some_and(|signature| signed(hmac::HMAC_SHA256, secret, body, signature))
            }),
            Sender::AzureDevOps => {
                let (user, password) = (
                    secrets.get("webhook.azuredevops.username"),
                    secrets.get("webhook.azuredevops.password"),
                );
                if user.is_none() && password.is_none() {
                    return true;
                }
                let given = basic(text(header::AUTHORIZATION.as_str())).unwrap_or_default();
                // Both are compared, so that the time does not tell which is wrong.
                let (user, password) =
                    (same(&given.0, user.unwrap_or_default()), same(&given.1, password.unwrap_or_default()));
                user & password
            }
            Sender::Harbor => {
                by("webhook.harbor.secret", &|secret| same(text(header::AUTHORIZATION.as_str()), secret))
            }
        }
    }

    /// What a request says has happened; none if it does not look like one of these. Events that change nothing that
    /// applications follow are none at all.
    pub(super) fn read(self, headers: &HeaderMap, body: &Value) -> Option<Vec<Event>> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match self {
            Sender::GitHub => match text("x-github-event") {
                "push" => push(body, &REPOSITORY).map(|event| vec![event]),
                "package" | "registry_package" => registry::github(body),
                "pull_request" => pull(body),
                _ => Some(Vec::new()),
            },
            Sender::Gogs => {
                let event = match text("x-gitea-event") {
                    "" => text("x-gogs-event"),
                    event => event,
                };
                match event {
                    "push" => push(body, &REPOSITORY).map(|event| vec![event]),
                    // Gitea has an event of its own for each thing that may happen to one.
                    event if event.starts_with("pull_request") => Event::pulled(texts(body, &REPOSITORY)),
                    _ => Some(Vec::new()),
                }
            }
            Sender::GitLab => gitlab(text("x-gitlab-event"), body),
            Sender::BitbucketCloud => match text("x-event-key") {
                "repo:push" => bitbucket::cloud(body),
                "pullrequest:created"
                | "pullrequest:updated"
                | "pullrequest:fulfilled"
                | "pullrequest:rejected" => Event::pulled(bitbucket::cloud_urls(body)),
                _ => Some(Vec::new()),
            },
            Sender::BitbucketServer => match text("x-event-key") {
                "repo:refs_changed" => bitbucket::server(body),
                event if event.starts_with("pr:") && !event.starts_with("pr:comment") => {
                    bitbucket::pulled(body)
                }
                _ => Some(Vec::new()),
            },
            Sender::AzureDevOps => azure::read(body),
            Sender::Harbor => registry::harbor(body),
        }
    }
}

/// Where GitHub and those that are like it write the addresses of a repository.
const REPOSITORY: [&[&str]; 3] =
    [&["repository", "html_url"], &["repository", "clone_url"], &["repository", "ssh_url"]];

fn push(body: &Value, urls: &[&[&str]]) -> Option<Event> {
    let default =
        ["default_branch", "master_branch"].into_iter().find_map(|field| body.str_at(&["repository", field]));
    Event::pushed(texts(body, urls), body, default.unwrap_or_default())
}

/// What can happen to a pull request of GitHub that changes what is listed.
const PULLED: [&str; 8] =
    ["opened", "closed", "reopened", "synchronize", "edited", "labeled", "unlabeled", "converted_to_draft"];

fn pull(body: &Value) -> Option<Vec<Event>> {
    match PULLED.contains(&body.str_at(&["action"])?) {
        true => Event::pulled(texts(body, &REPOSITORY)),
        false => Some(Vec::new()),
    }
}

fn gitlab(event: &str, body: &Value) -> Option<Vec<Event>> {
    let urls =
        texts(body, &[&["project", "web_url"], &["project", "git_http_url"], &["project", "git_ssh_url"]]);
    let is_pull = event == "Merge Request Hook"
        || (event == "System Hook" && body.str_at(&["event_type"]) == Some("merge_request"));
    if is_pull {
        let id = body.int_at(&["project", "id"]).map(|id| id.to_string()).unwrap_or_default();
        let events = Event::pulled(urls)?;
        return Some(events.into_iter().map(|event| Event { id: id.clone(), ..event }).collect());
    }
    let is_push = match event {
        "Push Hook" | "Tag Push Hook" => true,
        "System Hook" => matches!(body.str_at(&["event_name"]), Some("push" | "tag_push")),
        _ => false,
    };
    if !is_push {
        return Some(Vec::new());
    }
    let default = body.str_at(&["project", "default_branch"]).unwrap_or_default();
    Event::pushed(urls, body, default).map(|event| vec![event])
}
