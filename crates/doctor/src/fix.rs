//! What would mend something, as data.

use std::fmt;

use lynceus_files::FilePath;
use lynceus_object::{FieldPath, ObjectKey, Str, Value};
use serde::{Serialize, Serializer};

use crate::node::AppName;
use crate::words;

/// One way to mend something.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fix {
    /// What to do, in one sentence.
    pub title: String,
    /// What to do, step by step.
    pub steps: Vec<Step>,
    /// How much can go wrong.
    pub risk: Risk,
    /// What it touches.
    pub blast: String,
    /// Commands that show whether it has worked.
    pub verify: Vec<String>,
    /// How to go back.
    pub undo: Vec<String>,
    /// Why it stands where it does among several.
    pub why: String,
    /// Whether it was tried.
    pub proof: Proof,
}

/// How much can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Nothing that works now is touched.
    Low,
    /// Something that works now is changed or restarted.
    Medium,
    /// Something may be lost or stand still.
    High,
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        })
    }
}

/// Whether a fix was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Proof {
    /// It was not, or cannot be.
    Proposed {
        /// Why it was not, if that was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It was rehearsed, and healed.
    Verified {
        /// Application, how it was before, how it was afterwards.
        table: Vec<(String, String, String)>,
    },
    /// It was rehearsed, and did not heal.
    Refuted {
        /// What was seen instead.
        reason: String,
    },
}

impl Default for Proof {
    fn default() -> Self {
        Proof::Proposed { reason: None }
    }
}

impl Proof {
    /// It should have been tried and was not.
    pub fn proposed(reason: impl Into<String>) -> Self {
        Proof::Proposed { reason: Some(reason.into()) }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proof::Proposed { .. } => "proposed",
            Proof::Verified { .. } => "verified",
            Proof::Refuted { .. } => "tried, and it did not help",
        })
    }
}

/// One step of a fix.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// A change to what stands in Git.
    Git(Edit),
    /// Something to do to a cluster.
    Cluster(Action),
    /// Something that only a person can do, in a sentence, with commands if there are any.
    Person(String),
}

/// A change to what stands in Git.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// The application whose files are changed.
    pub application: AppName,
    /// Where.
    pub place: Place,
}

/// Where, and what is to stand there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "what")]
pub enum Place {
    /// A field of an object that the application wants: wherever in its sources the field comes from.
    Field {
        /// The object.
        object: ObjectKey,
        /// The field.
        #[serde(serialize_with = "as_text")]
        path: FieldPath,
        /// What is to stand there; nothing if the field is to go.
        #[serde(serialize_with = "as_value")]
        value: Option<Value>,
    },
    /// A field that is to hold as a text what is written there without quotes, such as `n` or `1.10`.
    Quote {
        /// The object.
        object: ObjectKey,
        /// The field.
        #[serde(serialize_with = "as_text")]
        path: FieldPath,
    },
    /// A value that is to go from a file of values, so that what it covers holds again.
    Override {
        /// The repository, as Applications name it.
        repository: Str,
        /// The file.
        #[serde(serialize_with = "as_words")]
        file: FilePath,
        /// The value.
        #[serde(serialize_with = "as_text")]
        key: FieldPath,
        /// An object that is changed by it.
        object: ObjectKey,
        /// The field of it that is.
        #[serde(serialize_with = "as_text")]
        path: FieldPath,
    },
    /// A field of the Application itself, in the file that it stands in.
    Application {
        /// The field.
        #[serde(serialize_with = "as_text")]
        path: FieldPath,
        /// What is to stand there; nothing if the field is to go.
        #[serde(serialize_with = "as_value")]
        value: Option<Value>,
    },
    /// Something to add to a list of the Application itself, such as `spec.ignoreDifferences`.
    ApplicationItem {
        /// The list.
        #[serde(serialize_with = "as_text")]
        path: FieldPath,
        /// The item.
        #[serde(serialize_with = "as_one_value")]
        value: Value,
    },
    /// An object that is no longer to be there: its document goes, or the line of the kustomization that names its file.
    Remove {
        /// The object.
        object: ObjectKey,
    },
    /// An object that the application's chart can make and does not: the option that keeps it from that is switched on.
    Make {
        /// The object.
        object: ObjectKey,
    },
    /// A folder that the application's kustomization takes in and is to leave to others: the line that names it goes.
    Detach {
        /// The folder, from the root of the repository.
        folder: Str,
    },
    /// A patch of a kustomization that is to be for another object: wherever in the file it names the one.
    Aim {
        /// The repository, as Applications name it.
        repository: Str,
        /// The file: the patch itself, or the kustomization that has it.
        #[serde(serialize_with = "as_words")]
        file: FilePath,
        /// The kind of the object; nothing if the patch does not say.
        kind: Str,
        /// The name that is there.
        from: Str,
        /// The name that is to be there.
        to: Str,
    },
    /// An object that is to be added beside another one of the same application.
    Add {
        /// The object whose file the new one goes beside.
        beside: ObjectKey,
        /// The new object.
        #[serde(serialize_with = "as_one_value")]
        object: Value,
    },
}

/// Something to do to a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "action")]
pub enum Action {
    /// Sync an application.
    Sync {
        /// The application.
        application: AppName,
    },
    /// Stop a sync that goes on with an older commit.
    Stop {
        /// The application.
        application: AppName,
    },
    /// Delete an object; whoever made it makes it anew.
    Delete {
        /// The cluster's address.
        cluster: String,
        /// The object.
        object: ObjectKey,
    },
}

impl Fix {
    /// A fix with a title, of low risk and with nothing else said yet.
    pub fn new(title: impl Into<String>) -> Self {
        Fix {
            title: title.into(),
            steps: Vec::new(),
            risk: Risk::Low,
            blast: String::new(),
            verify: Vec::new(),
            undo: Vec::new(),
            why: String::new(),
            proof: Proof::default(),
        }
    }

    /// With a change to Git, which `git revert` takes back.
    #[must_use]
    pub fn git(mut self, application: &AppName, place: Place) -> Self {
        self.steps.push(Step::Git(Edit { application: application.clone(), place }));
        let undo = "git revert the commit".to_owned();
        if !self.undo.contains(&undo) {
            self.undo.push(undo);
        }
        self
    }

    /// With something to do to a cluster.
    #[must_use]
    pub fn cluster(mut self, action: Action) -> Self {
        self.steps.push(Step::Cluster(action));
        self
    }

    /// With something that only a person can do.
    #[must_use]
    pub fn person(mut self, step: impl Into<String>) -> Self {
        self.steps.push(Step::Person(step.into()));
        self
    }

    /// How much can go wrong, and what it touches.
    #[must_use]
    pub fn risk(mut self, risk: Risk, blast: impl Into<String>) -> Self {
        (self.risk, self.blast) = (risk, blast.into());
        self
    }

    /// A command that shows whether it has worked.
    #[must_use]
    pub fn verify(mut self, command: impl Into<String>) -> Self {
        self.verify.push(command.into());
        self
    }

    /// How to go back.
    #[must_use]
    pub fn undo(mut self, step: impl Into<String>) -> Self {
        self.undo.push(step.into());
        self
    }

    /// Why it stands where it does among several.
    #[must_use]
    pub fn why(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// The same in other places, so that a slip is mended wherever it was made.
    pub(crate) fn everywhere<'a>(&mut self, others: impl IntoIterator<Item = &'a Fix>) {
        let mut count = 0;
        for other in others {
            count += 1;
            self.risk = self.risk.max(other.risk);
            let steps: Vec<Step> =
                other.steps.iter().filter(|step| !self.steps.contains(step)).cloned().collect();
            self.steps.extend(steps);
            let verify: Vec<String> =
                other.verify.iter().filter(|one| !self.verify.contains(one)).cloned().collect();
            self.verify.extend(verify);
        }
        if count > 0 {
            let places = format!(", and the same in {}", words::count(count, "other place"));
            self.title.push_str(&places);
            if !self.blast.is_empty() {
                self.blast.push_str(&places);
            }
        }
    }

    /// The steps as they are printed. Objects that are told apart by their namespaces alone are named with those.
    pub(crate) fn told(&self) -> Vec<String> {
        let texts: Vec<String> = self.steps.iter().map(ToString::to_string).collect();
        let repeats = |text: &String| texts.iter().filter(|other| *other == text).count() > 1;
        let namespace = |step: &Step| match step {
            Step::Git(Edit { place: Place::Field { object, .. } | Place::Remove { object }, .. }) => {
                Some(object.namespace.clone()).filter(|namespace| !namespace.is_empty())
            }
            _ => None,
        };
        let told = self.steps.iter().zip(&texts).map(|(step, text)| {
            match namespace(step).filter(|_| repeats(text)) {
                Some(namespace) => format!("{text} (namespace {namespace})"),
                None => text.clone(),
            }
        });
        let mut known = std::collections::BTreeSet::new();
        told.filter(|text| known.insert(text.clone())).collect()
    }

    /// Whether it changes files.
    pub fn has_edits(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Git(_)))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Git(Edit { application, place }) => write!(f, "in the files of {application}: {place}"),
            Step::Cluster(Action::Sync { application }) => write!(f, "lynceus app sync {application}"),
            Step::Cluster(Action::Stop { application }) => {
                write!(f, "lynceus app terminate-op {application}")
            }
            Step::Cluster(Action::Delete { object, .. }) => {
                let kind = object.kind.to_lowercase();
                match object.namespace.as_str() {
                    "" => write!(f, "kubectl delete {kind} {}", object.name),
                    namespace => write!(f, "kubectl -n {namespace} delete {kind} {}", object.name),
                }
            }
            Step::Person(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            |value: &Value| String::from_utf8_lossy(&lynceus_object::json::to_vec(value)).into_owned();
        match self {
            Place::Field { object, path, value: Some(value) } => {
                write!(f, "set {path} of {} {} to {}", object.kind, object.name, shown(value))
            }
            Place::Field { object, path, value: None } => {
                write!(f, "take {path} out of {} {}", object.kind, object.name)
            }
            Place::Quote { object, path } => {
                write!(f, "put quotes round what is written as {path} of {} {}", object.kind, object.name)
            }
            Place::Override { file, key, .. } => write!(f, "take {key} out of {file}"),
            Place::Application { path, value: Some(value) } => {
                write!(f, "set {path} of the Application to {}", shown(value))
            }
            Place::Application { path, value: None } => write!(f, "take {path} out of the Application"),
            Place::ApplicationItem { path, value } => {
                write!(f, "add to {path} of the Application: {}", shown(value))
            }
            Place::Remove { object } => write!(f, "remove {} {}", object.kind, object.name),
            Place::Make { object } => {
                write!(f, "switch on the option of the chart that makes {} {}", object.kind, object.name)
            }
            Place::Detach { folder } => write!(f, "take {folder} out of what the kustomization takes in"),
            Place::Aim { file, kind, from, to, .. } => {
                write!(f, "name {} instead of {from} in {file}", format!("{kind} {to}").trim())
            }
            Place::Add { object, .. } => write!(
                f,
                "add {} {}",
                object.str_at(&["kind"]).unwrap_or_default(),
                object.str_at(&["metadata", "name"]).unwrap_or_default()
            ),
        }
    }
}

fn as_text<S: Serializer>(path: &FieldPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

fn as_words<S: Serializer>(file: &FilePath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(file)
}

fn as_value<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => as_one_value(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// Through JSON, which every value has.
fn as_one_value<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    let plain: serde_json::Value =
        serde_json::from_slice(&lynceus_object::json::to_vec(value)).map_err(serde::ser::Error::custom)?;
    plain.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_read_alike_are_told_with_their_namespaces_and_never_twice() {
        let app = AppName::new("argocd", "web");
        let remove = |namespace: &str| Place::Remove { object: ObjectKey::new("", "Secret", namespace, "a") };
        let fix = Fix::new("x").git(&app, remove("one")).git(&app, remove("two")).git(&app, remove("two"));
        assert_eq!(
            fix.told(),
            [
                "in the files of web: remove Secret a (namespace one)",
                "in the files of web: remove Secret a (namespace two)"
            ]
        );
        let alone = Fix::new("x").git(&app, remove("one")).person("look");
        assert_eq!(alone.told(), ["in the files of web: remove Secret a", "look"]);
    }
}
