//! What was found, held against what was put in.

use lynceus_doctor::{Examination, Node, Root, Severity};

/// A cause that was put in.
#[derive(Clone, Debug)]
pub struct Expected {
    /// What sort it is.
    pub sort: &'static str,
    /// The codes under which it may be found.
    pub codes: &'static [&'static str],
    /// The applications of which it may be said.
    pub applications: Vec<String>,
    /// What may be wrong: `ConfigMap/x`.
    pub subjects: Vec<String>,
}

impl Expected {
    pub(super) fn new(sort: &'static str, codes: &'static [&'static str]) -> Self {
        Expected { sort, codes, applications: Vec::new(), subjects: Vec::new() }
    }

    pub(super) fn of(mut self, application: &str) -> Self {
        self.applications.push(application.to_owned());
        self
    }

    pub(super) fn about(mut self, subject: String) -> Self {
        self.subjects.push(subject);
        self
    }

    /// Whether a root cause is this one.
    fn is(&self, root: &Root) -> bool {
        let finding = &root.finding;
        let is_ours = |name: &str| self.applications.iter().any(|one| one == name);
        let owner = finding.application.as_ref().map(|app| app.name.as_str());
        let about = match &finding.subject {
            Node::Application(app) => is_ours(&app.name),
            other => self.subjects.contains(&other.slug()),
        };
        self.codes.contains(&finding.code) && (about || owner.is_some_and(is_ours))
    }
}

/// How one mixture was judged.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// How many causes were put in.
    pub expected: usize,
    /// How many root causes were named.
    pub named: usize,
    /// Causes that were not found.
    pub missed: Vec<String>,
    /// Root causes that were not put in.
    pub wrong: Vec<String>,
    /// What was not explained.
    pub unexplained: Vec<String>,
}

impl Verdict {
    pub(super) fn of(expected: &[Expected], found: &Examination) -> Self {
        // What is merely worth putting right is no cause of anything.
        let roots: Vec<&Root> = found.roots.iter().filter(|root| root.severity < Severity::P3).collect();
        let missed = expected.iter().filter(|one| !roots.iter().any(|root| one.is(root)));
        let wrong = roots.iter().filter(|root| !expected.iter().any(|one| one.is(root)));
        Verdict {
            expected: expected.len(),
            named: roots.len(),
            missed: missed
                .map(|one| {
                    format!("{} ({}) of {}", one.sort, one.codes.join(" or "), one.applications.join(", "))
                })
                .collect(),
            wrong: wrong
                .map(|root| format!("{} {}: {}", root.severity, root.id, root.finding.cause))
                .collect(),
            unexplained: found
                .unexplained
                .iter()
                .map(|one| format!("{} is {}", one.application, one.state))
                .collect(),
        }
    }

    /// Whether everything was found and nothing else.
    pub fn is_right(&self) -> bool {
        self.missed.is_empty() && self.wrong.is_empty() && self.unexplained.is_empty()
    }
}
