//! `lynceus admin export` and `lynceus admin import`: everything that an installation knows, in one file.
//!
//! The file is as Argo CD's: settings, credentials, projects, Applications and ApplicationSets, each without what a cluster adds. What is in the
//! installation's own namespace has none in the file, so that it can be read into another.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use lynceus_cluster::Cluster;
use lynceus_object::{Gvk, Object, ObjectKey, Value, yaml};

use super::open;
use crate::api::{Connection, misuse};
use crate::exit::{Doing as _, Failure, Outcome};
use crate::{format, place};

/// The ConfigMaps of an installation.
const CONFIG_MAPS: [&str; 5] =
    ["argocd-cm", "argocd-rbac-cm", "argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm", "argocd-gpg-keys-cm"];

/// The ConfigMap that says in which other namespaces there are Applications.
const PARAMETERS: &str = "argocd-cmd-params-cm";

/// The Secret that sessions are signed with.
const SECRET: &str = "argocd-secret";

/// The label of Secrets that hold a cluster or a repository.
const SECRET_TYPE: &str = lynceus_api::labels::SECRET_TYPE;

/// The annotation that tells whose an object is.
const TRACKING: &str = lynceus_api::annotations::TRACKING_ID;

/// The label that does, where objects are tracked by it.
const INSTANCE: &str = "app.kubernetes.io/instance";

// Write everything that an installation knows into one file.
#[derive(clap::Args)]
pub(super) struct Export {
    /// The file, or - for standard output. It holds passwords and keys: only its owner may read it.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    #[command(flatten)]
    namespaces: Namespaces,
}

// Where else there are Applications and ApplicationSets.
#[derive(clap::Args)]
struct Namespaces {
    /// Other namespaces with Applications: names, globs or /expressions/; as in argocd-cmd-params-cm if not given.
    #[arg(long, value_name = "NAMESPACES", value_delimiter = ',')]
    application_namespaces: Vec<String>,
    /// Other namespaces with ApplicationSets, in the same way.
    #[arg(long, value_name = "NAMESPACES", value_delimiter = ',')]
    applicationset_namespaces: Vec<String>,
}

// Read back what was written into a file.
#[derive(clap::Args)]
pub(super) struct Import {
    /// The file, or - for standard input.
    #[arg(value_name = "FILE")]
    source: PathBuf,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Delete what is not in the file. Objects that Applications have delivered stay.
    #[arg(long)]
    prune: bool,
    /// End what Applications are doing.
    #[arg(long)]
    stop_operation: bool,
    /// Keep what tells whose an object is as it is in the cluster.
    #[arg(long)]
    ignore_tracking: bool,
    /// Take the file's word where somebody has changed an object in between.
    #[arg(long)]
    override_on_conflict: bool,
    /// Leave out what has this label: NAME=VALUE.
    #[arg(long, value_name = "LABEL", value_parser = label)]
    skip_resources_with_label: Option<(String, String)>,
    #[command(flatten)]
    namespaces: Namespaces,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it has to be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) async fn export(connection: &Connection, arguments: &Export) -> Outcome {
    let cluster = open(connection).await?;
    let home = connection.argocd_namespace.as_str();
    let found = everything(&cluster, home, &arguments.namespaces).await?;
    let written: Vec<Object> = found.values().map(|object| bare(object, home)).collect();
    let mut text = format::documents(&written);
    text.push_str("---\n");
    if arguments.out == Path::new("-") {
        print!("{text}");
        return Ok(());
    }
    place::write_private(&arguments.out, &text)?;
    anstream::eprintln!(
        "{} objects are in {}, which holds passwords and keys",
        written.len(),
        arguments.out.display()
    );
    Ok(())
}

pub(super) async fn import(connection: &Connection, arguments: &Import) -> Outcome {
    let home = connection.argocd_namespace.as_str();
    let wanted = read(&arguments.source, home)?;
    let cluster = open(connection).await?;
    let mut left = everything(&cluster, home, &arguments.namespaces).await?;
    let mut same = 0;
    for wanted in wanted {
        let live = left.remove(&wanted.key());
        if !arguments.is_left_out(&wanted)
            && arguments.bring(&cluster, wanted, live).await? == Done::Unchanged
        {
            same += 1;
        }
    }
    for extra in left.into_values().filter(|extra| !arguments.is_left_out(extra)) {
        arguments.take_away(&cluster, &extra).await?;
    }
    if same > 0 {
        anstream::eprintln!("{same} objects were as in the file already");
    }
    Ok(())
}

/// What is done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Created,
    Updated,
    Unchanged,
    Pruned,
    NeedsPruning,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Done::Created => "created",
            Done::Updated => "updated",
            Done::Unchanged => "unchanged",
            Done::Pruned => "pruned",
            Done::NeedsPruning => "needs pruning",
        })
    }
}

impl Import {
    fn is_left_out(&self, object: &Object) -> bool {
        let label = self.skip_resources_with_label.as_ref();
        label.is_some_and(|(name, value)| object.label(name) == Some(value))
    }

    /// Makes an object be as in the file.
    async fn bring(&self, cluster: &Cluster, wanted: Object, live: Option<Object>) -> Outcome<Done> {
        let Some(live) = live else {
            self.say(&wanted, Done::Created);
            if !self.dry_run {
                cluster.create_record(&wanted).await.doing(format!("cannot create {}", wanted.key()))?;
            }
            return Ok(Done::Created);
        };
        let mended = self.mended(&wanted, &live);
        if mended == live {
            return Ok(Done::Unchanged);
        }
        self.say(&live, Done::Updated);
        if !self.dry_run {
            self.replace(cluster, &wanted, mended).await?;
        }
        Ok(Done::Updated)
    }

    /// Writes an object. Who was faster wins, unless the file's word is to be taken.
    async fn replace(&self, cluster: &Cluster, wanted: &Object, mended: Object) -> Outcome {
        let failed = format!("cannot update {}", wanted.key());
        let error = match cluster.replace_record(&mended).await {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        if !error.is_conflict() {
            return Err(Failure::because(failed, &error));
        }
        if !self.override_on_conflict {
            let hint = "somebody has changed it in between; import once more, or with --override-on-conflict";
            return Err(Failure::because(failed, &error).hint(hint));
        }
        let now =
            cluster.get(&wanted.gvk(), wanted.namespace(), wanted.name()).await.doing(failed.as_str())?;
        let written = match now {
            Some(live) => cluster.replace_record(&self.mended(wanted, &live)).await,
            None => cluster.create_record(wanted).await,
        };
        written.map(drop).doing(failed)
    }

    fn mended(&self, wanted: &Object, live: &Object) -> Object {
        mended(wanted, live, self.stop_operation, self.ignore_tracking)
    }

    /// Deletes what the file does not have, if that is wanted; what an Application has delivered is not deleted with it.
    async fn take_away(&self, cluster: &Cluster, extra: &Object) -> Outcome {
        if !self.prune {
            self.say(extra, Done::NeedsPruning);
            return Ok(());
        }
        self.say(extra, Done::Pruned);
        if self.dry_run {
            return Ok(());
        }
        let failed = format!("cannot delete {}", extra.key());
        let mut extra = extra.clone();
        if extra.kind() == "Application" && extra.remove(&["metadata", "finalizers"]).is_some() {
            extra = cluster.replace_record(&extra).await.doing(failed.as_str())?;
        }
        cluster.delete_record(&extra).await.doing(failed)
    }

    fn say(&self, object: &Object, done: Done) {
        let trial = if self.dry_run { " (dry run)" } else { "" };
        println!(
            "{}/{} {} in namespace {} {done}{trial}",
            object.group(),
            object.kind(),
            object.name(),
            object.namespace()
        );
    }
}

/// Everything that an installation knows, in the order in which it is written down.
async fn everything(
    cluster: &Cluster,
    home: &str,
    namespaces: &Namespaces,
) -> Outcome<BTreeMap<ObjectKey, Object>> {
    let mut found = Vec::new();
    for name in CONFIG_MAPS {
        let map = cluster.get(&Gvk::new("", "v1", "ConfigMap"), home, name).await;
        found.extend(map.doing(format!("cannot read ConfigMap {name} in namespace {home}"))?);
    }
    let secrets = all(cluster, &Gvk::new("", "v1", "Secret"), home).await?;
    found.extend(secrets.into_iter().filter(is_ours));
    found.extend(all(cluster, &ours("AppProject"), home).await?);
    let params = cluster.get(&Gvk::new("", "v1", "ConfigMap"), home, PARAMETERS).await;
    let params = params.doing(format!("cannot read ConfigMap {PARAMETERS} in namespace {home}"))?;
    for (kind, given, key) in [
        ("Application", &namespaces.application_namespaces, "application.namespaces"),
        ("ApplicationSet", &namespaces.applicationset_namespaces, "applicationsetcontroller.namespaces"),
    ] {
        found.extend(within(cluster, kind, home, &patterns(given, params.as_ref(), key)).await?);
    }
    Ok(found.into_iter().map(|object| (object.key(), object)).collect())
}

fn ours(kind: &str) -> Gvk {
    Gvk::new("argoproj.io", "v1alpha1", kind)
}

/// Whether a Secret is of an installation: its own, or one with a cluster or a repository in it.
fn is_ours(secret: &Object) -> bool {
    secret.name() == SECRET || secret.label(SECRET_TYPE).is_some()
}

/// The namespaces that somebody names, or else those that the installation looks at.
fn patterns<'a>(given: &'a [String], params: Option<&'a Object>, key: &str) -> Vec<&'a str> {
    let set = params.and_then(|map| map.value().str_at(&["data", key])).unwrap_or_default();
    match given.is_empty() {
        true => set.split(',').map(str::trim).filter(|one| !one.is_empty()).collect(),
        false => given.iter().map(String::as_str).collect(),
    }
}

/// The objects of a kind in the installation's own namespace and in those that patterns name.
async fn within(cluster: &Cluster, kind: &str, home: &str, patterns: &[&str]) -> Outcome<Vec<Object>> {
    // Who may read only one namespace is asked for no other.
    if patterns.is_empty() {
        return all(cluster, &ours(kind), home).await;
    }
    let mut found =
        cluster.list(&ours(kind), "").await.doing(format!("cannot list {kind}s of all namespaces"))?;
    found.retain(|one| one.namespace() == home || lynceus_api::fits_any(patterns, one.namespace()));
    Ok(found)
}

async fn all(cluster: &Cluster, gvk: &Gvk, namespace: &str) -> Outcome<Vec<Object>> {
    cluster.list(gvk, namespace).await.doing(format!("cannot list {}s in namespace {namespace}", gvk.kind))
}

/// An object without what a cluster adds.
fn bare(object: &Object, home: &str) -> Object {
    let mut bare = object.clone();
    bare.remove(&["metadata"]);
    bare.set(&["metadata", "name"], object.name());
    if object.namespace() != home {
        bare.set(&["metadata", "namespace"], object.namespace());
    }
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = object.at(&["metadata", field]) {
            bare.set(&["metadata", field], value.clone());
        }
    }
    bare
}

/// A live object as the file has it: what the cluster says of it, and what the file does not speak of, stays.
fn mended(wanted: &Object, live: &Object, stop_operation: bool, ignore_tracking: bool) -> Object {
    let mut mended = live.clone();
    let take = |mended: &mut Object, path: &[&str]| match wanted.at(path) {
        Some(value) => mended.set(path, value.clone()),
        None => drop(mended.remove(path)),
    };
    for field in ["labels", "annotations", "finalizers"] {
        take(&mut mended, &["metadata", field]);
    }
    if ignore_tracking {
        keep_tracking(&mut mended, live);
    }
    match live.kind() {
        "Secret" | "ConfigMap" => ["data", "binaryData"].iter().for_each(|field| take(&mut mended, &[field])),
        _ => take(&mut mended, &["spec"]),
    }
    if live.kind() == "Application" {
        // What it is at is known better by the cluster, unless it never was at anything.
        if wanted.at(&["status"]).is_some_and(|status| !is_empty(status)) {
            take(&mut mended, &["status"]);
        }
        if wanted.at(&["operation"]).is_some() {
            take(&mut mended, &["operation"]);
        }
        if stop_operation {
            mended.remove(&["operation"]);
        }
    }
    mended
}

fn is_empty(value: &Value) -> bool {
    value.as_map().is_none_or(|map| map.is_empty())
}

/// Leaves what says whose an object is as it is in the cluster.
fn keep_tracking(mended: &mut Object, live: &Object) {
    for (field, key) in [("annotations", TRACKING), ("labels", INSTANCE)] {
        let path = ["metadata", field, key];
        match live.at(&path) {
            Some(value) => mended.set(&path, value.clone()),
            None => drop(mended.remove(&path)),
        }
    }
}

/// The objects of a file. Nothing is done while one of them cannot be read.
fn read(source: &Path, home: &str) -> Outcome<Vec<Object>> {
    let failed = format!("{} cannot be read", source.display());
    let text = match source == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(source),
    };
    objects(&text.doing(failed.as_str())?, home)
        .map_err(|failure| Failure { message: format!("{failed}: {}", failure.message), ..failure })
}

fn objects(text: &str, home: &str) -> Outcome<Vec<Object>> {
    let mut objects = Vec::new();
    for document in yaml::documents(text.as_bytes(), &yaml::Options::default()) {
        let line = document.line;
        let value = document.result.doing(format!("the document at line {line}"))?;
        if value.is_null() {
            continue;
        }
        let mut object =
            Object::new(value).map_err(|_| misuse(format!("the document at line {line} is no object")))?;
        if !is_known(&object) {
            let message = format!(
                "the document at line {line} is a {} {:?}, which no installation has",
                object.kind(),
                object.name()
            );
            return Err(
                misuse(message).hint("import what `lynceus admin export` or `argocd admin export` wrote")
            );
        }
        if object.namespace().is_empty() {
            object.set(&["metadata", "namespace"], home);
        }
        objects.push(object);
    }
    Ok(objects)
}

/// Whether an installation has objects like this one.
fn is_known(object: &Object) -> bool {
    match (object.group(), object.kind()) {
        ("argoproj.io", "Application" | "AppProject" | "ApplicationSet") => !object.name().is_empty(),
        ("", "ConfigMap") => CONFIG_MAPS.contains(&object.name()),
        ("", "Secret") => is_ours(object),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object {
        Object::new(yaml::parse(text.as_bytes()).unwrap()).unwrap()
    }

    const LIVE: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd, uid: u, resourceVersion: '7', labels: {team: a}}
spec: {project: default}
status: {health: {status: Healthy}}
operation: {sync: {}}
";

    #[test]
    fn namespaces_are_those_that_are_given_or_those_that_the_installation_looks_at() {
        let params = object("data: {application.namespaces: 'team-*, /^x$/ ,'}");
        let key = "application.namespaces";
        assert_eq!(patterns(&[], Some(&params), key), ["team-*", "/^x$/"]);
        assert_eq!(patterns(&["a".to_owned()], Some(&params), key), ["a"]);
        assert!(patterns(&[], None, key).is_empty() && patterns(&[], Some(&params), "other").is_empty());
    }

    #[test]
    fn what_a_cluster_adds_is_not_written_down() {
        let written = yaml::to_string(bare(&object(LIVE), "argocd").value());
        assert!(
            !written.contains("uid")
                && !written.contains("resourceVersion")
                && !written.contains("namespace"),
            "{written}"
        );
        assert!(written.contains("team: a") && written.contains("Healthy"), "{written}");
        assert!(yaml::to_string(bare(&object(LIVE), "elsewhere").value()).contains("namespace: argocd"));
    }

    #[test]
    fn what_was_written_down_changes_nothing_when_it_is_read_back() {
        let live = object(LIVE);
        let written = yaml::to_string(bare(&live, "argocd").value());
        let read = objects(&format!("{written}---\n"), "argocd").unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(mended(&read[0], &live, false, false), live);
    }

    #[test]
    fn an_operation_is_ended_only_if_that_is_asked_for() {
        let live = object(LIVE);
        let mut wanted = bare(&live, "argocd");
        wanted.remove(&["operation"]);
        assert_eq!(mended(&wanted, &live, false, false), live);
        assert!(mended(&wanted, &live, true, false).at(&["operation"]).is_none());
    }

    #[test]
    fn labels_that_are_not_in_the_file_go_but_those_of_tracking_stay_if_asked() {
        let mut live = object(LIVE);
        live.set_label(INSTANCE, "root");
        let mut wanted = bare(&live, "argocd");
        wanted.remove(&["metadata", "labels"]);
        assert_eq!(mended(&wanted, &live, false, false).labels().count(), 0);
        let kept = mended(&wanted, &live, false, true);
        assert_eq!(kept.labels().collect::<Vec<_>>(), [(INSTANCE, "root")]);
    }

    #[test]
    fn what_no_installation_has_is_refused_with_its_line() {
        let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: other}\n";
        let refused = objects(&format!("---\n---\n{text}"), "argocd").unwrap_err();
        assert!(
            refused.message.contains("is a Secret \"other\", which no installation has"),
            "{}",
            refused.message
        );
        assert!(objects("{", "argocd").is_err());
        assert!(objects("", "argocd").unwrap().is_empty());
    }
}
