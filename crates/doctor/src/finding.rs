//! What is wrong with one thing, and how that was seen.

use std::collections::BTreeSet;
use std::fmt;

use lynceus_api::GROUP;
use lynceus_files::Span;
use lynceus_object::{FieldPath, ObjectKey, Segment, Str};
use serde::{Serialize, Serializer};

use crate::fix::{Edit, Fix, Place, Step};
use crate::node::{AppName, Node};

/// The stable name of a sort of trouble: `LYN0101`.
pub type Code = &'static str;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Severity {
    /// Several applications stand still because of it, or something is about to be lost.
    P0,
    /// One application does not work because of it.
    P1,
    /// Something is not as Git wants it, and works.
    P2,
    /// Worth putting right before it hurts.
    P3,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Something that was seen, and where.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "seen")]
pub enum Evidence {
    /// A field of an object of a cluster.
    Field {
        /// The object.
        object: ObjectKey,
        /// The field.
        #[serde(serialize_with = "as_text")]
        path: FieldPath,
        /// What stands there, shortened; empty if nothing does.
        value: String,
    },
    /// An event.
    Event {
        /// The object that it is about.
        object: ObjectKey,
        /// Its reason.
        reason: Str,
        /// Its message.
        message: String,
        /// How often it came.
        count: i64,
    },
    /// A place in a file of Git.
    File {
        /// The application that the file is for.
        application: AppName,
        /// The place.
        span: Span,
        /// What stands there, in words.
        text: String,
    },
    /// What an Application's status says.
    Status {
        /// The application.
        application: AppName,
        /// What it says.
        text: String,
    },
    /// Anything else that was seen, in a sentence: that something is not there, how many there are.
    Seen {
        /// The sentence.
        text: String,
    },
}

fn as_text<S: Serializer>(path: &FieldPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

impl Evidence {
    /// Something that was seen, in a sentence.
    pub fn seen(text: impl Into<String>) -> Self {
        Evidence::Seen { text: text.into() }
    }
}

/// As it is printed below a finding, with where it was seen.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |key: &ObjectKey| match key.namespace.as_str() {
            "" => format!("{} {}", key.kind, key.name),
            namespace => format!("{} {namespace}/{}", key.kind, key.name),
        };
        match self {
            Evidence::Field { object, path, value } if value.is_empty() => {
                write!(f, "{}: {path} is not set", name(object))
            }
            Evidence::Field { object, path, value } => write!(f, "{}: {path}: {value}", name(object)),
            Evidence::Event { object, reason, message, count: 0 | 1 } => {
                write!(f, "event {reason} of {}: {message}", name(object))
            }
            Evidence::Event { object, reason, message, count } => {
                write!(f, "event {reason} of {}, {count} times: {message}", name(object))
            }
            Evidence::File { span, text, .. } => write!(f, "{span}: {text}"),
            Evidence::Status { application, text } => write!(f, "status of {application}: {text}"),
            Evidence::Seen { text } => f.write_str(text),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What sort of trouble it is.
    pub code: Code,
    /// What is wrong. Whatever waits for this waits for the finding.
    pub subject: Node,
    /// The application that it belongs to: the one in whose files it is to be mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<AppName>,
    /// How bad it is in itself; what waits for it may make it worse.
    pub severity: Severity,
    /// Why, in one sentence.
    pub cause: String,
    /// How that was seen.
    pub evidence: Vec<Evidence>,
    /// Things that are wrong because of it, beside those that wait for its subject.
    pub affects: Vec<Node>,
    /// Deeper things that it comes from, beside those that its subject waits for.
    pub because: Vec<Node>,
    /// Whether nothing deeper has to be looked for, whatever its subject waits for besides.
    pub is_final: bool,
    /// Whether it only repeats what something says of itself: it counts where nothing better is found.
    pub is_weak: bool,
    /// What it has in common with others of its code that come from one slip, such as a default that many inherit: they are told as
    /// one. Nothing if it stands for itself.
    #[serde(skip)]
    pub alike: Option<String>,
    /// How it shows, such as how a program ended: of those that are written in one place only such are of one slip that show alike.
    #[serde(skip)]
    pub manner: Option<String>,
    /// Fields of what applications want that it is about: where in Git they are written is worth knowing.
    #[serde(skip)]
    pub fields: Vec<(AppName, ObjectKey, FieldPath)>,
    /// What would mend it, the best first.
    pub fixes: Vec<Fix>,
}

impl Finding {
    /// A finding of a rule about something, in one sentence. It is final and strong, and of severity P1.
    pub fn new(code: Code, subject: Node, cause: impl Into<String>) -> Self {
        Finding {
            code,
            subject,
            application: None,
            severity: Severity::P1,
            cause: cause.into(),
            evidence: Vec::new(),
            affects: Vec::new(),
            because: Vec::new(),
            is_final: true,
            is_weak: false,
            alike: None,
            manner: None,
            fields: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// Whose it is.
    #[must_use]
    pub fn of(mut self, application: Option<AppName>) -> Self {
        self.application = application;
        self
    }

    /// How bad it is in itself.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// How it was seen.
    #[must_use]
    pub fn seen(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// What is wrong because of it.
    #[must_use]
    pub fn affects(mut self, nodes: impl IntoIterator<Item = Node>) -> Self {
        self.affects.extend(nodes);
        self
    }

    /// What it comes from, if that is wrong too.
    #[must_use]
    pub fn because(mut self, nodes: impl IntoIterator<Item = Node>) -> Self {
        self.because.extend(nodes);
        self.is_final = false;
        self
    }

    /// The same, to be passed over where something deeper is found.
    #[must_use]
    pub fn unless_deeper(mut self) -> Self {
        self.is_final = false;
        self
    }

    /// The same, as what something merely says of itself.
    #[must_use]
    pub fn weak(mut self) -> Self {
        (self.is_weak, self.is_final) = (true, false);
        self
    }

    /// What it has in common with others that come from one slip; nothing where that cannot be told.
    #[must_use]
    pub fn alike(mut self, slip: Option<String>) -> Self {
        self.alike = slip;
        self
    }

    /// How it shows; nothing where that says nothing.
    #[must_use]
    pub fn shows(mut self, manner: Option<String>) -> Self {
        self.manner = manner;
        self
    }

    /// The fields that it is about.
    #[must_use]
    pub fn about(mut self, fields: impl IntoIterator<Item = (AppName, ObjectKey, FieldPath)>) -> Self {
        self.fields.extend(fields);
        self
    }

    /// What would mend it, better ones first.
    #[must_use]
    pub fn fix(mut self, fixes: impl IntoIterator<Item = Fix>) -> Self {
        self.fixes.extend(fixes);
        self
    }

    /// Fields that it shows or has to change, for one that does not say which it is about.
    pub fn shown_fields(&self) -> Vec<(AppName, ObjectKey, FieldPath)> {
        let is_status = |path: &FieldPath| matches!(path.segments().first(), Some(Segment::Field(name)) if name == "status");
        let shown = self.evidence.iter().filter_map(|evidence| match evidence {
            Evidence::Field { object, path, .. } if !is_status(path) && object.kind != "Pod" => {
                Some((self.application.clone()?, object.clone(), path.clone()))
            }
            _ => None,
        });
        let fix = self.fixes.iter().find(|fix| fix.has_edits());
        let changed = fix.into_iter().flat_map(|fix| &fix.steps).filter_map(|step| match step {
            Step::Git(Edit {
                application,
                place: Place::Field { object, path, .. } | Place::Quote { object, path },
            }) => Some((application.clone(), object.clone(), path.clone())),
            Step::Git(Edit { application, place: Place::Application { path, .. } }) => {
                let (namespace, name) = (application.namespace.clone(), application.name.clone());
                let own = ObjectKey::new(GROUP, "Application", namespace, name);
                Some((application.clone(), own, path.clone()))
            }
            _ => None,
        });
        let mut fields: Vec<_> = Vec::new();
        for field in changed.chain(shown) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// `LYN0101/payments-prod/ConfigMap/x`: the same for the same trouble, whenever it is looked for.
    pub fn id(&self) -> String {
        let whose = match (&self.application, &self.subject) {
            (Some(application), _) => application.name.as_str(),
            (None, Node::Object { key, .. }) if !key.namespace.is_empty() => key.namespace.as_str(),
            _ => "-",
        };
        format!("{}/{whose}/{}", self.code, self.subject.slug())
    }
}

/// What the rules have found so far.
#[derive(Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
    known: BTreeSet<(Code, Node, Option<AppName>)>,
}

impl Findings {
    /// Adds a finding, unless the same rule has found the same of the same thing.
    pub fn add(&mut self, finding: Finding) {
        let name = (finding.code, finding.subject.clone(), finding.application.clone());
        if self.known.insert(name) {
            self.all.push(finding);
        }
    }

    /// All of them, in a fixed order.
    pub(crate) fn into_sorted(mut self) -> Vec<Finding> {
        self.all
            .sort_by(|a, b| (a.code, &a.application, &a.subject).cmp(&(b.code, &b.application, &b.subject)));
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_shown_or_changed_can_be_looked_up_and_what_a_cluster_writes_cannot() {
        let app = AppName::new("argocd", "shop");
        let key = |kind: &str| ObjectKey::new("", kind, "shop", "web");
        let (name, status) = (FieldPath::fields(["spec", "name"]), FieldPath::fields(["status", "phase"]));
        let field = |kind: &str, path: &FieldPath| Evidence::Field {
            object: key(kind),
            path: path.clone(),
            value: "x".to_owned(),
        };
        let place =
            Place::Field { object: key("Claim"), path: FieldPath::fields(["spec", "class"]), value: None };
        let finding = Finding::new("LYN0301", Node::object("", key("Claim")), "")
            .of(Some(app.clone()))
            .seen([field("Claim", &name), field("Claim", &status), field("Pod", &name)])
            .fix([Fix::new("look").person("look"), Fix::new("change").git(&app, place)]);
        let told: Vec<String> =
            finding.shown_fields().iter().map(|(_, key, path)| format!("{} {path}", key.kind)).collect();
        assert_eq!(told, ["Claim spec.class", "Claim spec.name"]);
    }
}
