//! The service account in a cluster through which it is looked after: `argocd-manager`, as `argocd` makes it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_cluster::Cluster;
use lynceus_object::{Gvk, Value, value};

use crate::exit::{Code, Doing as _, Failure, Outcome};

/// Its name.
pub(super) const NAME: &str = "argocd-manager";

/// How often the cluster is asked for the token, and how long to leave it alone between.
const TRIES: u32 = 60;
const PAUSE: Duration = Duration::from_millis(500);

/// A token of a service account: of the one that is named, or of ours, which is made if it is not there.
pub(super) async fn token(
    client: kube::Client,
    namespace: &str,
    account: Option<&str>,
    namespaces: &[String],
) -> Outcome<String> {
    let cluster = Cluster::open(client, lynceus_cluster::Options::default())
        .await
        .doing("cannot connect to the cluster")?;
    let name = account.unwrap_or(NAME);
    if account.is_none() {
        for object in objects(namespace, namespaces) {
            ensure(&cluster, &object).await?;
        }
    }
    let secret = format!("{name}-long-lived-token");
    let wanted = value!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
        "metadata": {
            "name": secret.as_str(), "namespace": namespace,
            "annotations": {"kubernetes.io/service-account.name": name},
        },
    });
    ensure(&cluster, &wanted).await?;
    for _ in 0..TRIES {
        let found = cluster.get(&Gvk::new("", "v1", "Secret"), namespace, &secret).await;
        let found = found.doing("cannot read the token of the service account")?;
        let token = found.as_ref().and_then(|secret| secret.value().str_at(&["data", "token"]));
        if let Some(token) = token.and_then(|token| STANDARD.decode(token).ok()) {
            return Ok(String::from_utf8_lossy(&token).into_owned());
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(Failure::new(Code::Other, format!("the service account {namespace}/{name} has no token"))
        .hint(format!("does it exist? kubectl -n {namespace} get serviceaccount {name}")))
}

/// Makes an object, or brings one that is there to what it should say.
async fn ensure(cluster: &Cluster, value: &Value) -> Outcome {
    let object = crate::format::object(value.clone(), "cannot set up the cluster")?;
    let failed = format!("cannot make {} {} in the cluster", object.kind(), object.name());
    let gvk = object.gvk();
    let found = cluster.get(&gvk, object.namespace(), object.name()).await.doing(failed.as_str())?;
    match found {
        None => cluster.create_record(&object).await.map(drop).doing(failed),
        Some(_) => {
            let patch = value!({"rules": value.get("rules").cloned().unwrap_or(Value::Null)});
            let is_role = value.get("rules").is_some();
            match is_role {
                true => {
                    let patched = cluster.patch_record(&gvk, object.namespace(), object.name(), &patch).await;
                    patched.map(drop).doing(failed)
                }
                false => Ok(()),
            }
        }
    }
}

/// The account, and the right to do everything: everywhere, or in some namespaces.
fn objects(home: &str, namespaces: &[String]) -> Vec<Value> {
    let rbac = "rbac.authorization.k8s.io";
    let version = format!("{rbac}/v1");
    let all = || value!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    let subject = || value!([{"kind": "ServiceAccount", "name": NAME, "namespace": home}]);
    let mut objects = vec![
        value!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": home}}),
    ];
    let mut grant = |prefix: &str, metadata: &dyn Fn(&str) -> Value, rules: Value| {
        let role = format!("{NAME}-role");
        objects.push(value!({
            "apiVersion": version.as_str(), "kind": format!("{prefix}Role"), "metadata": metadata(&role), "rules": rules,
        }));
        objects.push(value!({
            "apiVersion": version.as_str(), "kind": format!("{prefix}RoleBinding"),
            "metadata": metadata(&format!("{role}-binding")),
            "roleRef": {"apiGroup": rbac, "kind": format!("{prefix}Role"), "name": role.as_str()},
            "subjects": subject(),
        }));
    };
    if namespaces.is_empty() {
        let mut rules = all().as_seq().unwrap_or_default().to_vec();
        rules.push(value!({"nonResourceURLs": ["*"], "verbs": ["*"]}));
        grant("Cluster", &|name| value!({"name": name}), Value::from(rules));
    }
    for namespace in namespaces {
        grant("", &|name| value!({"name": name, "namespace": namespace.as_str()}), all());
    }
    objects
}
