//! What pages and programs are told of the settings.

use lynceus_api::parse_bool;
use lynceus_object::{Map, Object, Str, Value, value, yaml};

use super::unknown;
use crate::access::{self, Account, SECRET, SETTINGS, setting};
use crate::call::{Answer, Answered, Call};
use crate::refusal::Refusal;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "Get" => get(&call).await,
        // Plugins stand beside the part that renders; this one knows of none by name.
        "GetPlugins" => Ok(Answer::One(value!({"plugins": []}))),
        _ => Err(unknown(method)),
    }
}

async fn get(call: &Call) -> Answered {
    let map = call.server.access.vault().map(SETTINGS).await?;
    let map = map.as_ref();
    let mut answer = open(call, map).await?;
    if call.caller.identity().is_some() {
        for (field, key) in [
            ("uiBannerContent", "ui.bannercontent"),
            ("uiBannerURL", "ui.bannerurl"),
            ("uiBannerPosition", "ui.bannerposition"),
        ] {
            answer.set(&[field], setting(map, key));
        }
        answer.set(&["uiBannerPermanent"], is_on(map, "ui.bannerpermanent"));
        answer.set(&["controllerNamespace"], call.server.namespace());
        answer.set(&["resourceOverrides"], overrides(call));
        answer.set(&["passwordPattern"], some(setting(map, "passwordPattern"), "^.{8,32}$"));
    }
    Ok(Answer::One(answer))
}

/// What those are told who have not logged in: what a login page needs, and nothing else that is anybody's secret.
async fn open(call: &Call, map: Option<&Object>) -> Result<Value, Refusal> {
    let settings = call.server.engine.settings();
    let mut answer = value!({
        "url": setting(map, "url"),
        "additionalUrls": list(setting(map, "additionalUrls")),
        "appLabelKey": some(setting(map, "application.instanceLabelKey"), "app.kubernetes.io/instance"),
        "statusBadgeEnabled": is_on(map, "statusbadge.enabled"),
        "statusBadgeRootUrl": setting(map, "statusbadge.url"),
        "kustomizeOptions": {"BuildOptions": setting(map, "kustomize.buildOptions")},
        "googleAnalytics": {"trackingID": setting(map, "ga.trackingid"), "anonymizeUsers": !is_off(map, "ga.anonymizeusers")},
        "help": help(map),
        "userLoginsDisabled": !logins(call, map).await?,
        "kustomizeVersions": kustomize_versions(map),
        "uiCssURL": setting(map, "ui.cssurl"),
        "trackingMethod": some(setting(map, "application.resourceTrackingMethod"), "annotation"),
        "installationID": setting(map, "installationID"),
        "execEnabled": is_on(map, "exec.enabled"),
        "appsInAnyNamespaceEnabled": !settings.application_namespaces.is_empty(),
        "impersonationEnabled": is_on(map, "application.sync.impersonation.enabled"),
        "hydratorEnabled": false,
        "syncWithReplaceAllowed": true,
    });
    if let Some(oidc) = oidc(setting(map, "oidc.config")) {
        answer.set(&["oidcConfig"], oidc);
    }
    if let Some(connectors) = connectors(setting(map, "dex.config")) {
        answer.set(&["dexConfig", "connectors"], connectors);
    }
    Ok(answer)
}

/// Whether anybody can log in with a password.
async fn logins(call: &Call, map: Option<&Object>) -> Result<bool, Refusal> {
    let secret = call.server.access.vault().secret(SECRET).await?.unwrap_or_default();
    let accounts = access::names(map).into_iter().filter_map(|name| Account::read(&name, map, &secret));
    Ok(accounts.into_iter().any(|account| account.enabled && account.login))
}

fn help(map: Option<&Object>) -> Value {
    let url = setting(map, "help.chatUrl");
    let text = if url.is_empty() { "" } else { some(setting(map, "help.chatText"), "Chat now!") };
    let downloads: Map = entries(map)
        .filter_map(|(key, value)| Some((Str::from(key.strip_prefix("help.download.")?), Value::from(value))))
        .collect();
    value!({"chatUrl": url, "chatText": text, "binaryUrls": Value::Map(downloads)})
}

fn kustomize_versions(map: Option<&Object>) -> Value {
    let versions = entries(map).filter_map(|(key, _)| {
        let name = key.strip_prefix("kustomize.path.").or_else(|| key.strip_prefix("kustomize.version."))?;
        Some(Value::from(name))
    });
    versions.collect()
}

fn entries(map: Option<&Object>) -> impl Iterator<Item = (&str, &str)> {
    let data = map.and_then(|map| map.at(&["data"])).and_then(Value::as_map);
    data.into_iter()
        .flat_map(|data| data.iter())
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

/// Where to log in elsewhere, without what only the server has to know.
fn oidc(text: &str) -> Option<Value> {
    let config = yaml::parse(text.as_bytes()).ok().filter(|config| config.as_map().is_some())?;
    let part = |field: &str| config.str_at(&[field]).unwrap_or_default().to_owned();
    let mut told = value!({
        "name": part("name"), "issuer": part("issuer"), "clientID": part("clientID"), "cliClientID": part("cliClientID"),
        "enablePKCEAuthentication": config.bool_at(&["enablePKCEAuthentication"]).unwrap_or_default(),
    });
    let scopes: Value = config.items_at(&["requestedScopes"]).iter().cloned().collect();
    told.set(&["scopes"], scopes);
    if let Some(claims) = config.get("requestedIDTokenClaims").filter(|claims| claims.as_map().is_some()) {
        told.set(&["idTokenClaims"], claims.clone());
    }
    Some(told)
}

/// The names of Dex's connectors, without their configuration.
fn connectors(text: &str) -> Option<Value> {
    let config = yaml::parse(text.as_bytes()).ok()?;
    let connectors = config.items_at(&["connectors"]).iter().map(|connector| {
        let part = |field: &str| connector.str_at(&[field]).unwrap_or_default().to_owned();
        value!({"name": part("name"), "type": part("type")})
    });
    (!text.is_empty()).then(|| connectors.collect())
}

fn overrides(call: &Call) -> Value {
    let settings = call.server.engine.settings();
    let all = settings.customizations.iter().filter_map(|(kind, one)| {
        let name = match (kind.group.as_str(), kind.kind.as_str()) {
            ("", kind) => kind.to_owned(),
            (group, kind) => format!("{group}/{kind}"),
        };
        Some((Str::from(name), lynceus_object::from_typed(one).ok()?))
    });
    Value::Map(all.collect())
}

fn list(text: &str) -> Value {
    match yaml::parse(text.as_bytes()) {
        Ok(Value::Seq(items)) => Value::Seq(items),
        _ => Value::Seq(lynceus_object::Seq::new()),
    }
}

fn some<'t>(text: &'t str, default: &'t str) -> &'t str {
    if text.is_empty() { default } else { text }
}

fn is_on(map: Option<&Object>, key: &str) -> bool {
    parse_bool(setting(map, key)) == Some(true)
}

fn is_off(map: Option<&Object>, key: &str) -> bool {
    parse_bool(setting(map, key)) == Some(false)
}
