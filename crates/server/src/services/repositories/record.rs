//! A repository or credentials between their Secret and the messages that the API has for them.

use lynceus_object::{Object, Value, value};
use lynceus_source::{RepoUrl, redact};

use crate::refusal::Refusal;
use crate::services::secrets;

/// What can be told of a repository to those who may see it.
const SHOWN: [&str; 12] = [
    "name",
    "project",
    "noProxy",
    "githubAppEnterpriseBaseUrl",
    "githubAppID",
    "githubAppInstallationID",
    "insecure",
    "enableLfs",
    "enableOCI",
    "forceHttpBasicAuth",
    "useAzureWorkloadIdentity",
    "insecureOCIForceHttp",
];

/// What lets one in, and is never told to anybody.
const HIDDEN: [&str; 12] = [
    "username",
    "password",
    "bearerToken",
    "sshPrivateKey",
    "tlsClientCertData",
    "tlsClientCertKey",
    "githubAppPrivateKey",
    "gcpServiceAccountKey",
    "azureServicePrincipalClientId",
    "azureServicePrincipalClientSecret",
    "azureServicePrincipalTenantId",
    "azureActiveDirectoryEndpoint",
];

/// The rest of what a Secret holds.
const REST: [&str; 5] =
    ["type", "proxy", "insecureIgnoreHostKey", "depth", "webhookManifestCacheWarmDisabled"];

/// A repository as it is answered: nothing of what lets one in. A user's name is told only where there is a password
/// beside it, because alone it may be a token.
pub(super) fn shown(secret: &Object) -> Value {
    let text = |field| secrets::text(secret, field);
    let kind = text("type");
    let mut repository = value!({
        "repo": redact(&text("url")),
        "type": if kind.is_empty() { "git" } else { kind.as_str() },
    });
    for field in SHOWN {
        match as_value(field, &text(field)) {
            Value::Null => {}
            value => repository.set(&[field], value),
        }
    }
    if text("insecureIgnoreHostKey") == "true" {
        repository.set(&["insecure"], true);
    }
    if let Ok(depth) = text("depth").parse::<i64>()
        && depth > 0
    {
        repository.set(&["depth"], depth);
    }
    if !text("proxy").is_empty() {
        repository.set(&["proxy"], redact(&text("proxy")));
    }
    if !text("username").is_empty() && !text("password").is_empty() {
        repository.set(&["username"], text("username"));
    }
    repository
}

/// Credentials as they are answered.
pub(in crate::services) fn shown_credentials(secret: &Object) -> Value {
    let mut shown = shown(secret);
    let url = shown.remove(&["repo"]).unwrap_or_default();
    shown.set(&["url"], url);
    for field in ["name", "project", "insecure", "enableLfs", "depth"] {
        shown.remove(&[field]);
    }
    if secrets::text(secret, "type").is_empty() {
        shown.remove(&["type"]);
    }
    shown
}

/// A stored text in the type that the message has for it; null for what is not worth telling.
fn as_value(field: &str, text: &str) -> Value {
    match field {
        _ if text.is_empty() => Value::Null,
        "githubAppID" | "githubAppInstallationID" => text.parse::<i64>().map_or(Value::Null, Value::Int),
        "name" | "project" | "noProxy" | "githubAppEnterpriseBaseUrl" => text.into(),
        _ if text == "true" => true.into(),
        _ => Value::Null,
    }
}

/// Writes a repository into its Secret: all of it, so that what the message does not have is taken out.
pub(in crate::services) fn fill(secret: &mut Object, repository: &Value, url: &str) {
    secrets::set(secret, "url", url);
    for field in SHOWN.into_iter().chain(HIDDEN).chain(REST) {
        secrets::set(secret, field, &secrets::as_text(repository.get(field)));
    }
}

/// The address of a repository, if it can be one. A page may make a link of it, so one that a browser would run is none.
pub(in crate::services) fn url(text: &str, kind: &str) -> Result<String, Refusal> {
    let url = text.trim();
    let wrong =
        |why: &str| Err(Refusal::invalid(format!("{:?} is not the URL of a repository: {why}", redact(url))));
    let lower = url.to_ascii_lowercase();
    if url.is_empty() {
        return wrong("it is empty");
    }
    if url.chars().any(|c| c.is_control() || matches!(c, '<' | '>' | '"' | '`' | ' ')) {
        return wrong("it has characters that no address has");
    }
    if ["javascript:", "data:", "vbscript:", "blob:"].iter().any(|scheme| lower.starts_with(scheme)) {
        return wrong("its scheme is none of a repository");
    }
    match kind {
        "" | "git" => match RepoUrl::parse(url) {
            Ok(_) => Ok(url.to_owned()),
            Err(error) => Err(Refusal::invalid(error.to_string())),
        },
        "helm" | "oci" => {
            let scheme = lower.split_once("://").map(|(scheme, _)| scheme);
            match scheme {
                None | Some("http" | "https" | "oci") => Ok(url.to_owned()),
                Some(_) => wrong("charts and artifacts come from https:// or oci://"),
            }
        }
        _ => Err(Refusal::invalid(format!("type {kind:?} is none of git, helm and oci"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_a_browser_would_run_is_none() {
        for bad in [
            "",
            "javascript:alert(1)",
            " JavaScript:alert(1)//.git",
            "data:text/html,x",
            "https://h/<script>",
            "https://h/a b",
            "ftp://h/x",
            "https://h/\u{1}",
        ] {
            assert!(url(bad, "git").is_err(), "{bad:?}");
        }
        for good in ["https://h/a.git", "git@h:a/b.git", "ssh://git@h:22/a", "file:///srv/a"] {
            assert_eq!(url(good, "").as_deref(), Ok(good));
        }
        assert!(url("ssh://h/x", "helm").is_err() && url("r.io/charts", "helm").is_ok());
        assert!(url("oci://r.io/x", "oci").is_ok() && url("https://h/x", "zip").is_err());
    }

    #[test]
    fn a_refused_address_shows_no_password() {
        let refusal = url("ftp://me:p1@h/x", "git").unwrap_err();
        assert!(!refusal.message.contains("p1"), "{}", refusal.message);
    }
}
