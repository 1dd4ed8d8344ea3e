//! A new token for a cluster that is reached with that of a service account, as Argo CD makes it: a Secret beside the one that
//! the old token is of, which the cluster fills. The new token is tried before it counts, and the old one ends after that.

use std::time::Duration;

use lynceus_cluster::{Cluster, Registration};
use lynceus_object::{Gvk, Object, Value, json, value};

use super::{Entry, find};
use crate::access::Unverified;
use crate::call::{Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};
use crate::services::secrets;

/// Whose token it is, as it says itself: the cluster has to know them, or nothing comes of it.
#[derive(Debug, PartialEq, Eq)]
struct Holder {
    namespace: String,
    account: String,
    secret: String,
}

impl Holder {
    fn of(token: &str) -> Option<Self> {
        let token = Unverified::read(token)?;
        let claim = |name: &str| token.claim(&format!("kubernetes.io/serviceaccount/{name}")).to_owned();
        let holder = Holder {
            namespace: claim("namespace"),
            account: claim("service-account.name"),
            secret: claim("secret.name"),
        };
        let is_whole =
            !holder.namespace.is_empty() && !holder.account.is_empty() && !holder.secret.is_empty();
        is_whole.then_some(holder)
    }
}

/// Answers when the cluster is stored with a new token.
pub(super) async fn rotate(call: &Call) -> Answered {
    let entry = find(call, "update")?;
    let (secret, config, holder) = rotatable(&entry)?;
    let registration = registration(secret)?;
    let cluster = call.server.engine.fleet().open(&registration).await?;
    let old = cluster.get(&secrets_of_accounts(), &holder.namespace, &holder.secret).await?;
    let Some(old) = old else {
        let what = format!(
            "the cluster has no Secret {}/{}, which the token is of",
            holder.namespace, holder.secret
        );
        return Err(Refusal::new(Code::FailedPrecondition, what));
    };
    let fresh = cluster.create_record(&successor(&old, &holder)).await?;
    match adopt(call, &cluster, secret, config, &fresh).await {
        Ok(()) => retire(&cluster, &holder, &old, &fresh).await?,
        Err(refusal) => {
            // Nobody uses it, and a token that nobody knows of is a way in.
            cluster.delete_record(&fresh).await?;
            return Err(refusal);
        }
    }
    Ok(value!({}).into())
}

/// What there is to rotate; refused where there is nothing.
fn rotatable(entry: &Entry) -> Result<(&Object, Value, Holder), Refusal> {
    let without = || {
        let what = format!("Cluster '{}' does not use bearer token authentication", entry.server);
        Refusal::invalid(what)
    };
    let secret = entry.secret.as_ref().ok_or_else(without)?;
    let config = json::parse(secrets::text(secret, "config").as_bytes()).unwrap_or_default();
    let token = config.str_at(&["bearerToken"]).filter(|token| !token.is_empty()).ok_or_else(without)?;
    let holder = Holder::of(token).ok_or_else(|| {
        let what = "the token is not of a Secret of a service account, so that it cannot be renewed from here: \
                    make a new one and update the cluster with it";
        Refusal::new(Code::FailedPrecondition, what)
    })?;
    Ok((secret, config, holder))
}

fn registration(secret: &Object) -> Result<Registration, Refusal> {
    Registration::read(secret).map_err(|error| Refusal::invalid(error.to_string()))
}

fn secrets_of_accounts() -> Gvk {
    Gvk::new("", "v1", "Secret")
}

/// A Secret like the old one under a name of its own, empty: the cluster fills it.
fn successor(old: &Object, holder: &Holder) -> Object {
    let mut fresh = Object::named(&secrets_of_accounts(), &holder.namespace, "");
    fresh.remove(&["metadata", "name"]);
    let stem = holder.secret.rsplit_once('-').map_or(holder.secret.as_str(), |(stem, _)| stem);
    fresh.set(&["metadata", "generateName"], format!("{stem}-"));
    fresh.set(&["type"], "kubernetes.io/service-account-token");
    for (name, text) in old.annotations().filter(|(name, _)| !name.ends_with("/service-account.uid")) {
        fresh.set_annotation(name, text);
    }
    fresh.set_annotation("kubernetes.io/service-account.name", holder.account.as_str());
    fresh
}

/// Waits for the token, tries it, and stores the cluster with it.
async fn adopt(
    call: &Call,
    cluster: &Cluster,
    secret: &Object,
    mut config: Value,
    fresh: &Object,
) -> Result<(), Refusal> {
    let token = filled(call, cluster, fresh).await?;
    config.set(&["bearerToken"], token);
    // Who has a token needs no certificate, and it must not decide who we are.
    for field in ["certData", "keyData"] {
        config.remove(&["tlsClientConfig", field]);
    }
    let mut stored = secret.clone();
    secrets::set(&mut stored, "config", &json::to_string(&config));
    call.server.engine.fleet().try_out(&registration(&stored)?).await?;
    secrets::replace(&call.server, &stored).await.map(drop)
}

/// The token that the cluster has put into a Secret.
async fn filled(call: &Call, cluster: &Cluster, fresh: &Object) -> Result<String, Refusal> {
    const PAUSE: Duration = Duration::from_millis(500);
    let clock = call.server.engine.clock();
    let began = clock.monotonic();
    loop {
        let found = cluster.get(&secrets_of_accounts(), fresh.namespace(), fresh.name()).await?;
        let token = found.map(|secret| secrets::text(&secret, "token")).unwrap_or_default();
        if !token.is_empty() {
            return Ok(token);
        }
        if clock.monotonic().saturating_sub(began) >= limits::NEW_TOKEN {
            let what =
                "the cluster has made no token in time: does its controller manager make those of Secrets?";
            return Err(Refusal::new(Code::DeadlineExceeded, what));
        }
        clock.sleep(PAUSE).await;
    }
}

/// Has the service account name the new Secret in the place of the old one, which ends with its token.
async fn retire(cluster: &Cluster, holder: &Holder, old: &Object, fresh: &Object) -> Result<(), Refusal> {
    let accounts = Gvk::new("", "v1", "ServiceAccount");
    if let Some(mut account) = cluster.get(&accounts, &holder.namespace, &holder.account).await? {
        let others = account.value().items_at(&["secrets"]).iter();
        let others = others.filter(|secret| secret.str_at(&["name"]).is_some_and(|name| name != old.name()));
        let all: Vec<Value> = others.cloned().chain([value!({"name": fresh.name()})]).collect();
        account.set(&["secrets"], all);
        cluster.replace_record(&account).await?;
    }
    cluster.delete_record(old).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::sign;

    #[test]
    fn a_token_says_whose_it_is_or_nothing_comes_of_it() {
        let name = |part: &str| format!("kubernetes.io/serviceaccount/{part}");
        let mut claims = value!({});
        assert_eq!(Holder::of(&sign(&claims, b"key")), None);
        for (part, text) in [("namespace", "kube-system"), ("service-account.name", "manager")] {
            claims.set(&[&name(part)], text);
        }
        assert_eq!(Holder::of(&sign(&claims, b"key")), None);
        claims.set(&[&name("secret.name")], "manager-long-lived-token");
        let holder = Holder::of(&sign(&claims, b"key")).expect("a holder");
        assert_eq!(
            (holder.account.as_str(), holder.secret.as_str()),
            ("manager", "manager-long-lived-token")
        );
        assert_eq!(Holder::of("east-t0ken"), None);
        let old = Object::named(&secrets_of_accounts(), "kube-system", "manager-long-lived-token");
        let fresh = successor(&old, &holder);
        assert_eq!(fresh.value().str_at(&["metadata", "generateName"]), Some("manager-long-lived-"));
        assert_eq!(fresh.annotation("kubernetes.io/service-account.name"), Some("manager"));
    }
}
