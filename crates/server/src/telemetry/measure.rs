//! Which families a span or a measurement counts in.

use super::families::*;
use super::layer::Fields;
use super::registry::Registry;

/// Counts something that has ended.
pub(super) fn measure(registry: &Registry, name: &str, fields: &Fields, seconds: f64) {
    let get = |name: &str| fields.get(name);
    let failed = !get("error").is_empty();
    match name {
        "reconcile" => registry.add(&RECONCILE, &[get("namespace"), get("dest_server")], seconds),
        "reconcile set" => registry.add(&SET_RECONCILE, &[get("namespace"), get("name")], seconds),
        "sync" => {
            let application = [get("namespace"), get("name"), get("project"), get("dest_server")];
            registry.add(&SYNC_SECONDS, &application, seconds);
            let [namespace, name, project, server] = application;
            registry.add(&SYNCS, &[namespace, name, project, server, get("phase"), get("dry_run")], 1.0);
        }
        "render" => registry.add(&RENDER, &[get("source_type")], seconds),
        "git" => git(registry, fields, failed, seconds),
        "oci" => oci(registry, fields, failed, seconds),
        "request" => request(registry, fields, seconds),
        "call" => call(registry, fields, seconds),
        "notification" => {
            registry.add(&NOTIFICATIONS, &[get("trigger"), get("service"), get("succeeded")], 1.0);
        }
        "notification_trigger" => {
            registry.add(&NOTIFICATION_TRIGGERS, &[get("name"), get("triggered")], 1.0);
        }
        "request again" => {
            registry.add(&REQUEST_RETRIES, &[get("server"), get("method"), get("code")], 1.0);
        }
        "resource event" => {
            registry.add(&EVENTS, &[get("server"), get("group"), get("kind")], 1.0);
            registry.add(&EVENTS_PROCESSING, &[get("server")], seconds);
        }
        "github" if registry.github => github(registry, fields, seconds),
        "webhook" => registry.add(&WEBHOOKS, &[get("repo")], 1.0),
        _ => {}
    }
}

fn git(registry: &Registry, fields: &Fields, failed: bool, seconds: f64) {
    let labels = [fields.get("repo"), fields.get("request_type")];
    registry.add(&GIT, &labels, 1.0);
    registry.add(&GIT_DURATION, &labels, seconds);
    if failed {
        let family = if labels[1] == "fetch" { &GIT_FETCH_FAILS } else { &GIT_LIST_FAILS };
        registry.add(family, &[labels[0], fields.get("revision")], 1.0);
    }
}

fn oci(registry: &Registry, fields: &Fields, failed: bool, seconds: f64) {
    let labels = [fields.get("repo"), fields.get("request_type")];
    registry.add(&OCI, &labels, 1.0);
    registry.add(&OCI_DURATION, &labels, seconds);
    match labels[1] {
        "extract" if failed => registry.add(&OCI_EXTRACT_FAILS, &[labels[0], fields.get("revision")], 1.0),
        "resolve_revision" if failed => {
            registry.add(&OCI_RESOLVE_FAILS, &[labels[0], fields.get("revision")], 1.0);
        }
        "get_tags" if failed => registry.add(&OCI_TAGS_FAILS, &[labels[0]], 1.0),
        _ => {}
    }
}

fn request(registry: &Registry, fields: &Fields, seconds: f64) {
    let get = |name: &str| fields.get(name);
    registry.add(&REQUEST_DURATION, &[get("server"), get("verb")], seconds);
    registry.add(&REQUESTS, &[get("server"), get("method"), get("code")], 1.0);
    for (family, labels, name) in [
        (&TURN, [get("server"), get("verb")], "waited"),
        (&REQUEST_SIZE, [get("server"), get("method")], "sent"),
        (&RESPONSE_SIZE, [get("server"), get("method")], "received"),
    ] {
        // A request without an answer has no size.
        if let Ok(measured) = get(name).parse() {
            registry.add(family, &labels, measured);
        }
    }
    // What is written for an ApplicationSet is no application's.
    if !get("application").is_empty() && !get("application").contains(' ') {
        let (namespace, name) = get("application").split_once('/').unwrap_or(("", get("application")));
        let labels = [
            namespace,
            name,
            get("project"),
            get("server"),
            get("code"),
            get("verb"),
            get("kind"),
            get("namespace"),
            get("dry_run"),
        ];
        registry.add(&K8S, &labels, 1.0);
    }
}

/// A request to GitHub, for the ApplicationSet that somebody works on.
fn github(registry: &Registry, fields: &Fields, seconds: f64) {
    let get = |name: &str| fields.get(name);
    let [namespace, name] = ["set_namespace", "set_name"].map(|name| match get(name) {
        "" => "unknown",
        text => text,
    });
    let (method, endpoint) = (get("method"), get("endpoint"));
    registry.add(&GITHUB, &[method, endpoint, get("status"), namespace, name], 1.0);
    registry.add(&GITHUB_DURATION, &[method, endpoint, namespace, name], seconds);
    for (family, said) in [
        (&GITHUB_LIMIT, "limit"),
        (&GITHUB_REMAINING, "remaining"),
        (&GITHUB_RESET, "reset"),
        (&GITHUB_USED, "used"),
    ] {
        if let Ok(number) = get(said).parse() {
            registry.add(family, &[endpoint, namespace, name, get("resource")], number);
        }
    }
}

fn call(registry: &Registry, fields: &Fields, seconds: f64) {
    let [service, method, code] = ["service", "method", "code"].map(|name| fields.get(name));
    registry.add(&CALLS, &[service, method, code], 1.0);
    registry.add(&CALL_DURATION, &[service, method], seconds);
    if (service, method) == ("SessionService", "Create") {
        let status = if code == "OK" { "success" } else { "failure" };
        registry.add(&LOGINS, &[status], 1.0);
    }
}
