//! Changes of a project's lists: something is put in, or taken out.

use lynceus_object::{Value, value};

use super::Projects;
use crate::api::misuse;
use crate::exit::{Code, Failure, Outcome};

// A project, and an entry of one of its lists.
#[derive(clap::Args)]
pub(crate) struct Text {
    /// The project.
    project: String,
    /// What is added or removed.
    value: String,
}

// A project, and a place to deliver to.
#[derive(clap::Args)]
pub(crate) struct Place {
    /// The project.
    project: String,
    /// The cluster.
    #[arg(value_name = "SERVER")]
    cluster: String,
    /// The namespace.
    namespace: String,
}

// A project, and in whose name is delivered to a place.
#[derive(clap::Args)]
pub(crate) struct Account {
    #[command(flatten)]
    place: Place,
    /// The service account.
    service_account: String,
    /// The namespace that the service account is in, if it is another.
    #[arg(long, value_name = "NAMESPACE")]
    service_account_namespace: Option<String>,
}

// A project, and resources that belong to no application.
#[derive(clap::Args)]
pub(crate) struct Orphan {
    /// The project.
    project: String,
    /// The group.
    group: String,
    /// The kind.
    kind: String,
    /// Only those of names like this.
    #[arg(long, value_name = "PATTERN", default_value = "")]
    name: String,
}

// A project, and a kind that is in no namespace.
#[derive(clap::Args)]
pub(crate) struct ClusterKind {
    /// The project.
    project: String,
    /// The group.
    group: String,
    /// The kind.
    kind: String,
    /// Only the one of this name.
    #[arg(default_value = "")]
    name: String,
    /// The list that is changed.
    #[arg(short, long, value_parser = ["allow", "deny", "white", "black"], default_value = "allow")]
    list: String,
}

// A project, and a kind that is in a namespace.
#[derive(clap::Args)]
pub(crate) struct NamespacedKind {
    /// The project.
    project: String,
    /// The group.
    group: String,
    /// The kind.
    kind: String,
    /// The list that is changed.
    #[arg(short, long, value_parser = ["allow", "deny", "white", "black"], default_value = "deny")]
    list: String,
}

const SOURCES: [&str; 2] = ["spec", "sourceRepos"];
const NAMESPACES: [&str; 2] = ["spec", "sourceNamespaces"];
const KEYS: [&str; 2] = ["spec", "signatureKeys"];
const DESTINATIONS: [&str; 2] = ["spec", "destinations"];
const ACCOUNTS: [&str; 2] = ["spec", "destinationServiceAccounts"];
const ORPHANS: [&str; 3] = ["spec", "orphanedResources", "ignore"];

/// Puts an entry into a list; `false` if it is there already.
pub(super) fn put(project: &mut Value, path: &[&str], entry: Value) -> bool {
    if project.items_at(path).iter().any(|known| is_same(known, &entry)) {
        return false;
    }
    let mut entries = project.items_at(path).to_vec();
    entries.push(entry);
    project.set(path, Value::from(entries));
    true
}

/// Takes an entry out of a list; `false` if it is not there.
pub(super) fn take(project: &mut Value, path: &[&str], entry: &Value) -> bool {
    let mut entries = project.items_at(path).to_vec();
    let Some(at) = entries.iter().position(|known| is_same(known, entry)) else { return false };
    entries.remove(at);
    project.set(path, Value::from(entries));
    true
}

/// Whether two entries say the same. A field that is not there is an empty one.
fn is_same(one: &Value, other: &Value) -> bool {
    let (Some(a), Some(b)) = (one.as_map(), other.as_map()) else { return one == other };
    let differs = |key: &str| {
        let text = |value: &Value| value.str_at(&[key]).unwrap_or_default().to_owned();
        text(one) != text(other)
    };
    !a.iter().chain(b.iter()).any(|(key, _)| differs(key))
}

/// What is so already, or is not so: `argocd` ends with 1 there.
fn pointless(message: &str) -> Failure {
    Failure::new(Code::Answer, message)
}

pub(super) async fn add_source(projects: &Projects, text: &Text) -> Outcome {
    let mut project = projects.get(&text.project).await?;
    // What everything is allowed by allows one more as well.
    if project.items_at(&SOURCES).iter().any(|known| known.as_str() == Some("*")) {
        println!("Source repository '*' already allowed in project");
        return Ok(());
    }
    if !put(&mut project, &SOURCES, text.value.as_str().into()) {
        println!("Source repository '{}' already allowed in project", text.value);
        return Ok(());
    }
    projects.update(project).await
}

pub(super) async fn remove_source(projects: &Projects, text: &Text) -> Outcome {
    let mut project = projects.get(&text.project).await?;
    if !take(&mut project, &SOURCES, &text.value.as_str().into()) {
        println!("Source repository '{}' does not exist in project", text.value);
        return Ok(());
    }
    projects.update(project).await
}

pub(super) async fn add_namespace(projects: &Projects, text: &Text) -> Outcome {
    let mut project = projects.get(&text.project).await?;
    if !put(&mut project, &NAMESPACES, text.value.as_str().into()) {
        println!("Source namespace '*' already allowed in project");
        return Ok(());
    }
    projects.update(project).await
}

pub(super) async fn remove_namespace(projects: &Projects, text: &Text) -> Outcome {
    let mut project = projects.get(&text.project).await?;
    if text.value == "*" || !take(&mut project, &NAMESPACES, &text.value.as_str().into()) {
        println!("Source namespace '{}' does not exist in project or cannot be removed", text.value);
        return Ok(());
    }
    projects.update(project).await
}

/// The id of a key: the last sixteen digits of what is given.
pub(super) fn key_id(text: &str) -> Outcome<String> {
    let digits = text.trim_start_matches("0x");
    let is_hex = digits.chars().all(|digit| digit.is_ascii_hexdigit());
    match (is_hex, digits.len()) {
        (true, 16..=40) => Ok(digits[digits.len() - 16..].to_uppercase()),
        _ => Err(misuse(format!("{text:?} is no id of a key"))
            .hint("an id has 16 hexadecimal digits, a fingerprint 40: gpg --list-keys --keyid-format long")),
    }
}

pub(super) async fn add_key(projects: &Projects, text: &Text) -> Outcome {
    let entry = value!({"keyID": key_id(&text.value)?});
    let mut project = projects.get(&text.project).await?;
    if !put(&mut project, &KEYS, entry) {
        return Err(pointless("Specified signature key is already defined in project"));
    }
    projects.update(project).await
}

pub(super) async fn remove_key(projects: &Projects, text: &Text) -> Outcome {
    let entry = value!({"keyID": key_id(&text.value)?});
    let mut project = projects.get(&text.project).await?;
    if !take(&mut project, &KEYS, &entry) {
        return Err(pointless("Specified signature key is not configured for project"));
    }
    projects.update(project).await
}

pub(super) async fn add_destination(projects: &Projects, place: &Place, by_name: bool) -> Outcome {
    let field = if by_name { "name" } else { "server" };
    let mut project = projects.get(&place.project).await?;
    let mut entry = value!({"namespace": place.namespace.as_str()});
    entry.set(&[field], place.cluster.as_str());
    if !put(&mut project, &DESTINATIONS, entry) {
        return Err(pointless("Specified destination is already defined in project"));
    }
    projects.update(project).await
}

pub(super) async fn remove_destination(projects: &Projects, place: &Place) -> Outcome {
    let mut project = projects.get(&place.project).await?;
    let entries = ["server", "name"].map(|field| {
        let mut entry = value!({"namespace": place.namespace.as_str()});
        entry.set(&[field], place.cluster.as_str());
        entry
    });
    if !entries.iter().any(|entry| take(&mut project, &DESTINATIONS, entry)) {
        return Err(pointless("Specified destination does not exist in project"));
    }
    projects.update(project).await
}

fn account(account: &Account) -> Outcome<Value> {
    let is_wild = |text: &str| text.contains(['*', '?', '[', '{', '!']);
    let namespace = account.service_account_namespace.as_deref().unwrap_or_default();
    if is_wild(namespace) {
        return Err(misuse(
            "service-account-namespace for DestinationServiceAccount must not contain wildcards",
        ));
    }
    if is_wild(&account.service_account) {
        return Err(misuse("ServiceAccount for DestinationServiceAccount must not contain wildcards"));
    }
    let name = match namespace {
        "" => account.service_account.clone(),
        namespace => format!("{namespace}:{}", account.service_account),
    };
    let Place { cluster, namespace, .. } = &account.place;
    Ok(value!({"server": cluster.as_str(), "namespace": namespace.as_str(), "defaultServiceAccount": name}))
}

pub(super) async fn add_account(projects: &Projects, given: &Account) -> Outcome {
    let entry = account(given)?;
    let mut project = projects.get(&given.place.project).await?;
    let same = |known: &Value| ["server", "namespace"].iter().all(|key| known.get(key) == entry.get(key));
    if project.items_at(&ACCOUNTS).iter().any(same) {
        return Err(pointless("Specified destination service account is already defined in project"));
    }
    put(&mut project, &ACCOUNTS, entry);
    projects.update(project).await
}

pub(super) async fn remove_account(projects: &Projects, given: &Account) -> Outcome {
    let entry = account(given)?;
    let mut project = projects.get(&given.place.project).await?;
    if !take(&mut project, &ACCOUNTS, &entry) {
        return Err(pointless("Specified destination service account does not exist in project"));
    }
    projects.update(project).await
}

fn orphan(orphan: &Orphan) -> Value {
    let mut entry = value!({"group": orphan.group.as_str(), "kind": orphan.kind.as_str()});
    if !orphan.name.is_empty() {
        entry.set(&["name"], orphan.name.as_str());
    }
    entry
}

pub(super) async fn add_orphan(projects: &Projects, given: &Orphan) -> Outcome {
    let mut project = projects.get(&given.project).await?;
    if !put(&mut project, &ORPHANS, orphan(given)) {
        return Err(pointless(
            "Specified resource is already defined in the orphaned ignore list of project",
        ));
    }
    projects.update(project).await
}

pub(super) async fn remove_orphan(projects: &Projects, given: &Orphan) -> Outcome {
    let mut project = projects.get(&given.project).await?;
    if !take(&mut project, &ORPHANS, &orphan(given)) {
        return Err(pointless("Specified resource does not exist in the orphaned ignore list of project"));
    }
    projects.update(project).await
}

pub(super) async fn cluster_kind(projects: &Projects, given: &ClusterKind, allow: bool) -> Outcome {
    let ClusterKind { project, group, kind, name, list } = given;
    let what = format!("Group '{group}', kind '{kind}', and name '{name}'");
    let mut entry = value!({"group": group.as_str(), "kind": kind.as_str()});
    if !name.is_empty() {
        entry.set(&["name"], name.as_str());
    }
    let lists = ["clusterResourceWhitelist", "clusterResourceBlacklist"];
    listed(projects, project, (list, lists, "cluster"), (&what, entry), allow).await
}

pub(super) async fn namespaced_kind(projects: &Projects, given: &NamespacedKind, allow: bool) -> Outcome {
    let NamespacedKind { project, group, kind, list } = given;
    let what = format!("Group '{group}' and kind '{kind}'");
    let entry = value!({"group": group.as_str(), "kind": kind.as_str()});
    let lists = ["namespaceResourceWhitelist", "namespaceResourceBlacklist"];
    listed(projects, project, (list, lists, "namespaced"), (&what, entry), allow).await
}

/// Allows or forbids a kind by one of two lists: to allow is to be in the first, or not to be in the second.
async fn listed(
    projects: &Projects,
    name: &str,
    (list, [white, black], scope): (&str, [&str; 2], &str),
    (what, entry): (&str, Value),
    allow: bool,
) -> Outcome {
    let is_allow_list = matches!(list, "allow" | "white");
    let (path, word) = if is_allow_list { (white, "allowed") } else { (black, "denied") };
    let mut project = projects.get(name).await?;
    let (changed, done, not) = match allow == is_allow_list {
        true => (put(&mut project, &["spec", path], entry), "is added to", "is already present in"),
        false => (take(&mut project, &["spec", path], &entry), "is removed from", "not in"),
    };
    println!("{what} {} {word} {scope} resources", if changed { done } else { not });
    if changed { projects.update(project).await } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_the_same_if_what_is_missing_is_empty() {
        let mut project = value!({"spec": {"l": [{"group": "a", "kind": "B", "name": ""}]}});
        assert!(!put(&mut project, &["spec", "l"], value!({"group": "a", "kind": "B"})));
        assert!(put(&mut project, &["spec", "l"], value!({"group": "", "kind": "B"})));
        assert!(take(&mut project, &["spec", "l"], &value!({"kind": "B"})));
        assert!(!take(&mut project, &["spec", "l"], &value!({"kind": "B"})));
    }

    #[test]
    fn the_id_of_a_key_is_its_end() {
        let id = |text: &str| key_id(text).map_err(|failure| failure.message);
        assert_eq!(id("4AEE18F83AFDEB23"), Ok("4AEE18F83AFDEB23".to_owned()));
        assert_eq!(id("5de3e0509c47ea3cf04a42d34aee18f83afdeb23"), Ok("4AEE18F83AFDEB23".to_owned()));
        assert_eq!(id("x"), Err("\"x\" is no id of a key".to_owned()));
    }
}
