//! What sources could bring and do not, where that was tried.

use lynceus_files::Span;
use lynceus_object::{GroupKind, Object, ObjectKey, Str};

use crate::finding::Evidence;
use crate::fix::Place;
use crate::links::kind;
use crate::node::AppName;

/// Something that is named or used, and that nobody brings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lacking {
    /// An object.
    Object(ObjectKey),
    /// The definition of a kind.
    Definition(GroupKind),
}

impl Lacking {
    /// Whether an object is what is lacking. One that names no namespace is in the one that it is rendered for.
    pub fn is(&self, object: &Object, namespace: &str) -> bool {
        match self {
            Lacking::Object(key) => {
                let own = if object.namespace().is_empty() { namespace } else { object.namespace() };
                let is_near = key.namespace.is_empty() || key.namespace == own;
                object.group_kind() == key.group_kind() && object.name() == key.name && is_near
            }
            Lacking::Definition(kind) => kind::defined(object).as_ref() == Some(kind),
        }
    }
}

/// Something that is lacking, and who needs it.
#[derive(Clone, Debug)]
pub struct Lack {
    /// What it is.
    pub what: Lacking,
    /// The address of the cluster that lacks it.
    pub server: Str,
    /// The applications that need it.
    pub users: Vec<AppName>,
}

/// Something that is lacking and that an application would bring, if something did not keep it from that.
#[derive(Clone, Debug)]
pub struct Withheld {
    /// What it is.
    pub what: Lacking,
    /// The address of the cluster that lacks it.
    pub server: Str,
    /// The application that would bring it.
    pub application: AppName,
    /// What keeps it from that. It was tried without.
    pub by: Hindrance,
}

/// What keeps an application from bringing something.
#[derive(Clone, Debug)]
pub enum Hindrance {
    /// An option of its chart.
    Option {
        /// Its path in the values, or its name in the Application: `auth.enabled`, `skipCrds`.
        option: Str,
        /// How it stands: `false`.
        stands: Str,
        /// How it would have to stand: `true`.
        turned: Str,
        /// Where that is written.
        site: Site,
        /// What would have it otherwise.
        place: Box<Place>,
    },
    /// Its revision is not there; this is the revision. The default branch has what is lacking.
    Revision(Str),
}

/// Where an option is written.
#[derive(Clone, Debug)]
pub enum Site {
    /// In a file of Git.
    File(Span),
    /// In a field of the Application.
    Application(Str),
}

impl Withheld {
    /// What keeps the application from it, as a part of a sentence.
    pub(crate) fn why(&self) -> String {
        let name = &self.application;
        match &self.by {
            Hindrance::Option { option, stands, site: Site::File(span), .. } => {
                format!("{option} is {stands} in the values of {name} ({span})")
            }
            Hindrance::Option { option, stands, site: Site::Application(field), .. } => {
                match field.ends_with(option.as_str()) {
                    true => format!("{field} of application {name} is {stands}"),
                    false => format!("{option} is {stands} in {field} of application {name}"),
                }
            }
            Hindrance::Revision(revision) => {
                format!("application {name} would bring it, but its revision {revision} is not there")
            }
        }
    }

    /// Where that can be seen. An Application may stand in a file.
    pub(crate) fn evidence(&self, file: Option<&Span>) -> Evidence {
        let application = self.application.clone();
        match &self.by {
            Hindrance::Option { option, stands, turned, site, .. } => {
                let rest = format!("{stands}; if it is {turned}, {application} has it");
                // One of several that a field has is told with its name.
                let told = |field: &str| match field.ends_with(option.as_str()) {
                    true => format!("{field}: {rest}"),
                    false => format!("{field}: {option} is {rest}"),
                };
                match (site, file) {
                    (Site::File(span), _) => {
                        Evidence::File { span: span.clone(), text: format!("{option}: {rest}"), application }
                    }
                    (Site::Application(field), Some(span)) => {
                        Evidence::File { span: span.clone(), text: told(field), application }
                    }
                    (Site::Application(field), None) => {
                        Evidence::seen(format!("application {application}: {}", told(field)))
                    }
                }
            }
            Hindrance::Revision(_) => Evidence::seen(format!(
                "the default branch of the repository that {application} follows has it"
            )),
        }
    }
}
