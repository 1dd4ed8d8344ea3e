//! What was found, held against what was put in.

use lynceus_doctor::{Examination, Finding, Node, Root, Severity};

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
    /// Other applications that it stops, and that have to stand below it.
    pub stopped: Vec<String>,
}

impl Expected {
    pub(super) fn new(sort: &'static str, codes: &'static [&'static str]) -> Self {
        let (applications, subjects, stopped) = (Vec::new(), Vec::new(), Vec::new());
        Expected { sort, codes, applications, subjects, stopped }
    }

    pub(super) fn of(mut self, application: &str) -> Self {
        self.applications.push(application.to_owned());
        self
    }

    pub(super) fn about(mut self, subject: String) -> Self {
        self.subjects.push(subject);
        self
    }

    pub(super) fn stops(mut self, application: &str) -> Self {
        self.stopped.push(application.to_owned());
        self
    }

    /// Whether a finding is this one.
    fn is(&self, finding: &Finding) -> bool {
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
    /// Root causes that were not put in, or that say again what another one says.
    pub wrong: Vec<String>,
    /// What was not explained.
    pub unexplained: Vec<String>,
    /// Applications that do not stand below the cause that stops them.
    pub astray: Vec<String>,
}

impl Verdict {
    pub(super) fn of(expected: &[Expected], found: &Examination) -> Self {
        // What is merely worth putting right is no cause of anything.
        let roots: Vec<&Root> = found.roots.iter().filter(|root| root.severity < Severity::P3).collect();
        let mut verdict = Verdict { expected: expected.len(), named: roots.len(), ..Verdict::default() };
        let mut true_ones = vec![false; roots.len()];
        let mut taken: Vec<&Finding> = Vec::new();
        for one in expected {
            // Each cause has a root of its own, or a place of its own in one that stands for several of one slip.
            let fits = roots.iter().enumerate().find_map(|(place, root)| {
                let mut findings = root.findings().map(|(_, finding)| finding);
                let is_free = |finding: &&Finding| !taken.iter().any(|used| std::ptr::eq(*used, *finding));
                findings.find(|finding| one.is(finding) && is_free(finding)).map(|finding| (place, finding))
            });
            let Some((place, finding)) = fits else {
                let what = one.applications.join(", ");
                verdict.missed.push(format!("{} ({}) of {what}", one.sort, one.codes.join(" or ")));
                continue;
            };
            taken.push(finding);
            true_ones[place] = true;
            let below =
                |name: &&String| !roots[place].applications.iter().any(|app| app.name == name.as_str());
            let astray = one.stopped.iter().filter(below);
            verdict.astray.extend(
                astray.map(|name| format!("{name} is not below {} of {}", one.sort, roots[place].id)),
            );
        }
        let wrong = roots.iter().zip(&true_ones).filter(|(_, is_true)| !**is_true);
        let told = |root: &Root| format!("{} {}: {}", root.severity, root.id, root.finding.cause);
        verdict.wrong = wrong.map(|(root, _)| told(root)).collect();
        let unexplained = found.unexplained.iter();
        verdict.unexplained =
            unexplained.map(|one| format!("{} is {}", one.application, one.state)).collect();
        verdict
    }

    /// Whether everything was found and nothing else, with all that comes of it.
    pub fn is_right(&self) -> bool {
        self.missed.is_empty()
            && self.wrong.is_empty()
            && self.unexplained.is_empty()
            && self.astray.is_empty()
    }
}
