//! `/api/badge`: how an application is, as a small picture for a README. Anybody may see it who knows the name, once the setting
//! `statusbadge.enabled` is on; before that it tells nothing.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use lynceus_api::parse_bool;
use lynceus_object::{GroupKind, Object, ObjectKey};

use crate::limits;
use crate::request::pairs;
use crate::server::Server;
use crate::services::project_of;

/// The route of the picture.
pub(crate) fn route(server: Arc<Server>) -> Router {
    Router::new().route("/api/badge", get(answer)).with_state(server)
}

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wish {
    name: String,
    namespace: String,
    projects: Vec<String>,
    revision: bool,
    full_revision: bool,
    shows_name: bool,
}

/// What is shown.
#[derive(Debug, PartialEq, Eq)]
struct Badge {
    title: Option<String>,
    health: String,
    sync: String,
    revision: Option<String>,
}

async fn answer(State(server): State<Arc<Server>>, uri: Uri) -> Response {
    let wish = match Wish::read(uri.query().unwrap_or_default()) {
        Ok(wish) => wish,
        Err(why) => return (StatusCode::BAD_REQUEST, why).into_response(),
    };
    let mut response = badge(&server, &wish).drawn().into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    // Pictures are kept by whoever shows them for others, and this one is of a moment.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

impl Wish {
    fn read(query: &str) -> Result<Self, String> {
        let mut wish = Wish::default();
        for (key, value) in pairs(query) {
            let on = || parse_bool(&value).unwrap_or(false);
            match key.as_str() {
                "name" => wish.name = plain("name", value)?,
                "namespace" => wish.namespace = plain("namespace", value)?,
                "project" if wish.projects.len() < limits::BADGE_PROJECTS => {
                    wish.projects.push(plain("project", value)?);
                }
                "project" => return Err(format!("at most {} projects can be named", limits::BADGE_PROJECTS)),
                "revision" => wish.revision = on(),
                "keepFullRevision" => wish.full_revision = on(),
                "showAppName" => wish.shows_name = on(),
                _ => {}
            }
        }
        Ok(wish)
    }
}

/// A name that objects can have; anything else is refused without being repeated.
fn plain(what: &str, value: String) -> Result<String, String> {
    let is_plain = value.len() <= 253
        && value
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte));
    if is_plain { Ok(value) } else { Err(format!("the {what} is not one that an object can have")) }
}

fn badge(server: &Server, wish: &Wish) -> Badge {
    if !parse_bool(&server.setting("statusbadge.enabled")).unwrap_or(false) {
        return Badge::of("Unknown", "Unknown");
    }
    if !wish.name.is_empty() {
        return one(server, wish);
    }
    if wish.projects.is_empty() {
        return Badge::of("Unknown", "Unknown");
    }
    let home = server.namespace();
    let settings = server.engine.settings();
    let applications = server.engine.home().cache().of_kind(&GroupKind::new("argoproj.io", "Application"));
    let of_them = applications.iter().filter(|object| {
        settings.takes_applications_from(object.namespace(), home)
            && wish.projects.iter().any(|project| project == project_of(object))
    });
    worst(of_them.map(|object| (health(object), sync(object))))
}

fn one(server: &Server, wish: &Wish) -> Badge {
    let home = server.namespace();
    let namespace = if wish.namespace.is_empty() { home } else { &wish.namespace };
    let key = ObjectKey::new("argoproj.io", "Application", namespace, &wish.name);
    let found = server.engine.home().cache().get(&key);
    let found = found.filter(|_| server.engine.settings().takes_applications_from(namespace, home));
    let Some(object) = found else { return Badge::of("Not Found", "") };
    let mut badge = Badge::of(health(&object), sync(&object));
    badge.title = wish.shows_name.then(|| wish.name.clone());
    badge.revision = wish.revision.then(|| revision(&object, wish.full_revision)).flatten();
    badge
}

fn health(object: &Object) -> &str {
    object.value().str_at(&["status", "health", "status"]).unwrap_or("Unknown")
}

fn sync(object: &Object) -> &str {
    object.value().str_at(&["status", "sync", "status"]).unwrap_or("Unknown")
}

/// What was last synced, short unless all of it is asked for.
fn revision(object: &Object, full: bool) -> Option<String> {
    let revision = object.value().str_at(&["status", "operationState", "syncResult", "revision"])?;
    let is_commit = revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    match revision.get(..7) {
        Some(short) if is_commit && !full => Some(short.to_owned()),
        _ if revision.is_empty() => None,
        _ => Some(revision.to_owned()),
    }
}

/// Several applications as one: each as the worst of them.
fn worst<'s>(statuses: impl Iterator<Item = (&'s str, &'s str)>) -> Badge {
    const HEALTH: [&str; 6] = ["Healthy", "Suspended", "Progressing", "Missing", "Degraded", "Unknown"];
    const SYNC: [&str; 3] = ["Synced", "OutOfSync", "Unknown"];
    let place = |order: &[&str], status: &str| {
        order.iter().position(|known| *known == status).unwrap_or(order.len() - 1)
    };
    let found = statuses.map(|(health, sync)| (place(&HEALTH, health), place(&SYNC, sync)));
    let worst = found.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
    match worst {
        Some((health, sync)) => Badge::of(HEALTH[health], SYNC[sync]),
        None => Badge::of("Not Found", ""),
    }
}

impl Badge {
    fn of(health: &str, sync: &str) -> Self {
        Badge { title: None, health: health.to_owned(), sync: sync.to_owned(), revision: None }
    }

    /// The picture: boxes side by side, each as wide as its word.
    fn drawn(&self) -> String {
        let grey = "#4d5561";
        let boxes = [
            self.title.as_deref().map(|title| (title, grey)),
            Some((self.health.as_str(), colour(&self.health))),
            Some((self.sync.as_str(), colour(&self.sync))),
            self.revision.as_deref().map(|revision| (revision, grey)),
        ];
        let boxes: Vec<_> = boxes.into_iter().flatten().filter(|(text, _)| !text.is_empty()).collect();
        let words: Vec<&str> = boxes.iter().map(|(text, _)| *text).collect();
        let label = escaped(&words.join(", "));
        let mut inside = String::new();
        let mut left = 0;
        for (text, colour) in boxes {
            let width = width(text);
            let (middle, text) = (left + width / 2, escaped(text));
            // To write into a text cannot fail.
            let _ = write!(
                inside,
                "<rect x=\"{left}\" width=\"{width}\" height=\"20\" fill=\"{colour}\"/><text x=\"{middle}\" y=\"14\">{text}</text>"
            );
            left += width;
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{left}\" height=\"20\" role=\"img\" aria-label=\"{label}\"><title>{label}</title>\
             <clipPath id=\"edge\"><rect width=\"{left}\" height=\"20\" rx=\"3\"/></clipPath>\
             <g clip-path=\"url(#edge)\" fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" \
             font-size=\"11\">{inside}</g></svg>"
        )
    }
}

/// How wide a word is drawn: a letter takes about seven points.
fn width(text: &str) -> usize {
    text.chars().count() * 7 + 14
}

/// Dark enough for white letters, and told apart by those who see no red and green.
fn colour(status: &str) -> &'static str {
    match status {
        "Healthy" | "Synced" => "#007a3d",
        "Progressing" => "#1766b5",
        "Degraded" => "#b3261e",
        "OutOfSync" | "Missing" => "#8a5a00",
        "Suspended" => "#6a5a8c",
        _ => "#5f6b7a",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::maps;
    use crate::stage::Stage;
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt as _;
    use lynceus_object::value;
    use tower::ServiceExt as _;

    async fn ask(stage: &Stage, query: &str) -> String {
        let request = Request::get(format!("/api/badge?{query}")).body(Body::empty()).unwrap();
        let response = route(stage.server.clone()).oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        let label = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
        format!("{status} {}", label.map_or(text.as_str(), |(label, _)| label))
    }

    async fn stage(enabled: bool) -> Stage {
        let stage = Stage::new().await;
        for (name, health, sync) in [("shop", "Healthy", "Synced"), ("till", "Degraded", "OutOfSync")] {
            let revision = "0123456789abcdef0123456789abcdef01234567";
            stage
                .given(&value!({
                    "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name},
                    "spec": {"project": "store", "destination": {}, "source": {"repoURL": "r"}},
                    "status": {"health": {"status": health}, "sync": {"status": sync},
                        "operationState": {"operation": {}, "phase": "Succeeded", "startedAt": "2026-01-01T00:00:00Z",
                            "message": "", "syncResult": {"revision": revision}}},
                }))
                .await;
        }
        let change = vec![("statusbadge.enabled".to_owned(), Some(enabled.to_string()))];
        maps::write(&stage.server, "argocd-cm", change).await.unwrap();
        stage
    }

    #[tokio::test]
    async fn an_application_is_shown_with_what_is_asked_for() {
        let stage = stage(true).await;
        assert_eq!(ask(&stage, "name=shop").await, "200 Healthy, Synced");
        assert_eq!(ask(&stage, "name=shop&revision=true").await, "200 Healthy, Synced, 0123456");
        let full = "name=shop&revision=true&keepFullRevision=true&showAppName=true";
        assert_eq!(
            ask(&stage, full).await,
            "200 shop, Healthy, Synced, 0123456789abcdef0123456789abcdef01234567"
        );
        assert_eq!(ask(&stage, "name=none").await, "200 Not Found");
        assert_eq!(ask(&stage, "name=shop&namespace=elsewhere").await, "200 Not Found");
    }

    #[tokio::test]
    async fn a_project_is_as_its_worst_application() {
        let stage = stage(true).await;
        assert_eq!(ask(&stage, "project=store").await, "200 Degraded, OutOfSync");
        assert_eq!(ask(&stage, "project=other").await, "200 Not Found");
    }

    #[tokio::test]
    async fn nothing_is_told_while_badges_are_off() {
        let stage = stage(false).await;
        assert_eq!(ask(&stage, "name=shop").await, "200 Unknown, Unknown");
        assert_eq!(ask(&stage, "project=store").await, "200 Unknown, Unknown");
    }

    #[tokio::test]
    async fn names_that_no_object_has_are_refused_and_not_repeated() {
        let stage = stage(true).await;
        for query in ["name=%3Cscript%3E", "name=..%2F..%2Fsecrets", "namespace=A", "project=a%20b"] {
            let said = ask(&stage, query).await;
            assert!(said.starts_with("400 the ") && !said.contains("script"), "{query}: {said}");
        }
        let many = vec!["project=a"; limits::BADGE_PROJECTS + 1].join("&");
        assert!(ask(&stage, &many).await.starts_with("400 at most"));
    }

    #[test]
    fn letters_that_mean_something_in_a_picture_are_escaped() {
        let drawn = Badge { title: Some("<&\">".into()), ..Badge::of("Healthy", "Synced") }.drawn();
        assert!(drawn.contains("&lt;&amp;&quot;&gt;") && !drawn.contains("<&"), "{drawn}");
    }
}
