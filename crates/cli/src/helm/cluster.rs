//! The cluster of the kubeconfig, as far as a chart may know it: `--dry-run=server`.

use std::path::Path;
use std::sync::Arc;

use lynceus_cluster::{Cluster, ClusterError, Options};
use lynceus_helm::{Capabilities, KubeVersion, Lookup, Release, Rendering};
use lynceus_object::{Gvk, Object, Value, yaml};

use super::settings::{Connection, Settings};
use super::wait;

/// A cluster that is asked and never changed.
pub(super) struct Live {
    cluster: Arc<Cluster>,
    version: Value,
}

impl Live {
    /// Connects, and learns what the cluster serves.
    pub(super) async fn connect(settings: &Settings) -> Result<Self, String> {
        let unreachable =
            |why: String| format!("cluster reachability check failed: kubernetes cluster unreachable: {why}");
        let failed = |error: ClusterError| unreachable(chain(&error));
        let kubeconfig = settings.kubeconfig();
        let mut config = lynceus_cluster::config(kubeconfig.as_deref(), settings.kube_context.as_deref())
            .await
            .map_err(failed)?;
        settings.connection.apply(&mut config).map_err(unreachable)?;
        let client = kube::Client::try_from(config).map_err(|error| unreachable(chain(&error)))?;
        let options = Options { read_only: true, ..Options::default() };
        let cluster = Cluster::open(client, options).await.map_err(failed)?;
        let version = cluster.raw("/version").await.map_err(failed)?;
        Ok(Live { cluster, version })
    }

    /// What a chart learns of the cluster.
    pub(super) fn capabilities(&self) -> Capabilities {
        let text = |name: &str| self.version.str_at(&[name]).unwrap_or_default().to_owned();
        let kube_version = KubeVersion {
            version: text("gitVersion"),
            normalized: text("gitVersion"),
            major: text("major"),
            minor: text("minor"),
        };
        let api_versions = self.cluster.kinds().api_versions().iter().map(ToString::to_string).collect();
        Capabilities { kube_version, api_versions, ..Capabilities::default() }
    }

    /// Checks that the cluster knows every kind that would be installed, and that nothing stands in the way that
    /// belongs to somebody else. Whether the fields are right is not looked at.
    pub(super) async fn check(
        &self,
        rendering: &Rendering,
        release: &Release,
        adopts: bool,
    ) -> Result<(), String> {
        let objects = rendering.manifests.iter().filter_map(|manifest| object(&manifest.content));
        let objects: Vec<Object> = objects.collect();
        for object in &objects {
            if self.cluster.kinds().get(&object.gvk()).is_none() {
                return Err(format!(
                    "unable to build kubernetes objects from release manifest: {}",
                    unknown_kind(object)
                ));
            }
        }
        if release.is_upgrade || adopts {
            return Ok(());
        }
        for object in objects.iter().filter(|object| !object.name().is_empty()) {
            self.check_owner(object, release).await?;
        }
        Ok(())
    }

    async fn check_owner(&self, object: &Object, release: &Release) -> Result<(), String> {
        let gvk = object.gvk();
        let namespaced = self.cluster.kinds().is_namespaced(&gvk.group_kind()).unwrap_or_default();
        let namespace = match (namespaced, object.namespace()) {
            (false, _) => "",
            (true, "") => &release.namespace,
            (true, own) => own,
        };
        let shown = format!("{} {:?} in namespace {namespace:?}", gvk.kind, object.name());
        let failed = |why: String| format!("unable to continue with install: {why}");
        let found = self.cluster.get(&gvk, namespace, object.name()).await;
        let found = found.map_err(|error| {
            failed(format!("could not get information about the resource {shown}: {}", chain(&error)))
        })?;
        let wrong = found.map(|found| wrong_owner(&found, release)).unwrap_or_default();
        if wrong.is_empty() {
            return Ok(());
        }
        let wrong = wrong.join("; ");
        Err(failed(format!(
            "{shown} exists and cannot be imported into the current release: invalid ownership metadata; {wrong}"
        )))
    }
}

impl Lookup for Live {
    fn lookup(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, String> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kinds = self.cluster.kinds();
        let Some(kind) = kinds.get(&Gvk::new(group, version, kind)) else {
            if kinds.iter().any(|known| known.gvk.api_version() == api_version) {
                return Ok(None);
            }
            return Err(format!(
                "unable to get apiresource from unstructured: {group}/{version}, Kind={kind}: the server could not find \
                 the requested resource"
            ));
        };
        let path = match name {
            "" => kind.collection_path(namespace),
            name => kind.object_path(namespace, name),
        };
        match wait(self.cluster.raw(&path)) {
            Ok(found) if name.is_empty() => Ok(Some(with_kinds(found, api_version, &kind.gvk.kind))),
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(chain(&error)),
        }
    }
}

impl Connection {
    /// Takes what the flags say instead of what the kubeconfig says.
    fn apply(&self, config: &mut kube::Config) -> Result<(), String> {
        if let Some(server) = &self.kube_apiserver {
            config.cluster_url =
                server.parse().map_err(|_| format!("--kube-apiserver {server} is not a URL"))?;
        }
        if let Some(token) = &self.kube_token {
            config.auth_info.token = Some(token.clone().into());
        }
        if let Some(user) = &self.kube_as_user {
            config.auth_info.impersonate = Some(user.clone());
        }
        if !self.kube_as_group.is_empty() {
            config.auth_info.impersonate_groups = Some(self.kube_as_group.clone());
        }
        if let Some(path) = &self.kube_ca_file {
            config.root_cert = Some(certificates(path)?);
        }
        if let Some(name) = &self.kube_tls_server_name {
            config.tls_server_name = Some(name.clone());
        }
        config.accept_invalid_certs |= self.kube_insecure_skip_tls_verify;
        Ok(())
    }
}

/// The certificates of a file in PEM.
fn certificates(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    use base64::Engine as _;
    let text = super::access::pem(Some(path))?;
    let wrong = || format!("{} has a certificate that cannot be read", path.display());
    let blocks = text.split("-----BEGIN CERTIFICATE-----").skip(1);
    let decoded = blocks.map(|block| {
        let (body, _) = block.split_once("-----END CERTIFICATE-----").ok_or_else(wrong)?;
        let body: String = body.split_whitespace().collect();
        base64::engine::general_purpose::STANDARD.decode(body).map_err(|_| wrong())
    });
    let certificates: Vec<Vec<u8>> = decoded.collect::<Result<_, _>>()?;
    if certificates.is_empty() { Err(wrong()) } else { Ok(certificates) }
}

/// A list whose items say what they are, as each would by itself.
fn with_kinds(mut list: Value, api_version: &str, kind: &str) -> Value {
    let items = list.items_at(&["items"]).iter().cloned().map(|mut item| {
        item.set(&["apiVersion"], api_version);
        item.set(&["kind"], kind);
        item
    });
    let items: Vec<Value> = items.collect();
    list.set(&["items"], items);
    list
}

fn object(content: &str) -> Option<Object> {
    Object::new(yaml::parse_str(content).ok()?).ok()
}

fn unknown_kind(object: &Object) -> String {
    let gvk = object.gvk();
    let (api_version, kind) = (gvk.api_version(), gvk.kind.as_str());
    match (api_version.is_empty(), kind.is_empty()) {
        (true, true) => invalid("[apiVersion not set, kind not set]"),
        (true, false) => invalid("apiVersion not set"),
        (false, true) => invalid("kind not set"),
        (false, false) => format!(
            "resource mapping not found for name: {:?} namespace: {:?} from \"\": no matches for kind {kind:?} in version \
             {:?}\nensure CRDs are installed first",
            object.name(),
            object.namespace(),
            api_version.as_str()
        ),
    }
}

fn invalid(what: &str) -> String {
    format!("error validating \"\": error validating data: {what}")
}

/// What keeps a release from taking an object over.
fn wrong_owner(found: &Object, release: &Release) -> Vec<String> {
    let marks = [
        ("label", "labels", "app.kubernetes.io/managed-by", "Helm"),
        ("annotation", "annotations", "meta.helm.sh/release-name", release.name.as_str()),
        ("annotation", "annotations", "meta.helm.sh/release-namespace", release.namespace.as_str()),
    ];
    let wrong = marks.into_iter().filter_map(|(what, field, key, wanted)| {
        let found = found.at(&["metadata", field, key]).and_then(Value::as_str);
        let problem = match found {
            Some(found) if found == wanted => return None,
            Some(found) => format!("key {key:?} must equal {wanted:?}: current value is {found:?}"),
            None => format!("missing key {key:?}: must be set to {wanted:?}"),
        };
        Some(format!("{what} validation error: {problem}"))
    });
    wrong.collect()
}

/// An error and what caused it, in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut told = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !told.contains(&cause_text) {
            told = format!("{told}: {cause_text}");
        }
        next = cause.source();
    }
    told
}
