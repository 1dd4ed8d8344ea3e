//! What `causes.yaml` says is wrong, and whether that is what was found.

use std::collections::BTreeSet;

use lynceus_doctor::{Examination, Finding, Node, Root, Severity};
use lynceus_engine::FileChange;
use lynceus_object::Value;

/// Which rules find which sort of cause.
const FAMILIES: [(&str, &[&str]); 30] = [
    ("auth-refused", &["LYN0703"]),
    ("claim-waits-for-consumer", &["LYN0601"]),
    ("component-not-exposed", &["LYN0306"]),
    ("empty-required-field", &["LYN1007"]),
    ("feature-branch", &["LYN1003"]),
    ("health-blocks-wave", &["LYN1208"]),
    ("ignore-rule-idle", &["LYN1106"]),
    ("ignore-rule-wide", &["LYN1105"]),
    ("image-not-built", &["LYN0504"]),
    ("image-platform", &["LYN0503"]),
    ("image-tag-missing", &["LYN0501"]),
    ("immutable-field", &["LYN1101"]),
    ("job-forbidden", &["LYN0803"]),
    ("kind-excluded", &["LYN0205"]),
    ("namespace-missing", &["LYN0203", "LYN0204"]),
    ("operator-writes-field", &["LYN1102", "LYN1107"]),
    ("option-disables-referenced", &["LYN0305", "LYN0301"]),
    ("orphaned-application", &["LYN0103"]),
    ("outdated-revision", &["LYN0406"]),
    ("path-missing", &["LYN1002"]),
    ("pod-security", &["LYN0801"]),
    ("pull-secret-missing", &["LYN0502"]),
    ("shared-resource", &["LYN0101", "LYN0102"]),
    ("store-target-missing", &["LYN0701"]),
    ("sync-manual", &["LYN1201"]),
    ("taint-not-tolerated", &["LYN0401", "LYN0402"]),
    ("tolerations-overridden", &["LYN0402"]),
    ("vault-sealed", &["LYN0702"]),
    ("volume-limit", &["LYN0405"]),
    ("wrong-credentials", &["LYN0705"]),
];

/// Causes that are over when a rehearsal is at rest: it asks for the syncs that nobody else asks for, and waits until builds are done.
const OVER: [&str; 2] = ["coredns-by-hand", "image-too-late"];

/// One cause of `causes.yaml`.
pub struct Cause {
    /// Its name.
    pub id: String,
    /// The applications that are not well because of it.
    pub blocks: Vec<String>,
    /// Where it can be mended: file, and line if one is named.
    pub places: Vec<(String, Option<usize>)>,
    codes: &'static [&'static str],
    subject: String,
}

impl Cause {
    pub(super) fn read(told: &Value) -> Result<Self, String> {
        let text = |field| told.str_at(&[field]).unwrap_or_default().to_owned();
        let rule = text("rule");
        let codes = FAMILIES.iter().find(|(name, _)| *name == rule).map(|(_, codes)| *codes);
        let place = |value: &Value| {
            let line = value.int_at(&["line"]).and_then(|line| usize::try_from(line).ok());
            Some((value.str_at(&["file"])?.to_owned(), line))
        };
        let places = [told].into_iter().chain(told.items_at(&["or"])).filter_map(place).collect();
        Ok(Cause {
            id: text("id"),
            codes: codes.ok_or_else(|| format!("no rule is known for {rule}"))?,
            subject: text("subject"),
            blocks: texts(told, "blocks"),
            places,
        })
    }

    /// Whether a root is this cause, or has it among its like.
    pub fn is(&self, root: &Root) -> bool {
        findings(root).any(|finding| self.is_found_by(finding))
    }

    /// A rule for its sort found it, of its subject, of what comes from it or in an application that it blocks.
    fn is_found_by(&self, finding: &Finding) -> bool {
        let mut nodes = [&finding.subject].into_iter().chain(&finding.affects);
        let is_own = |name: &str| self.blocks.iter().any(|one| one == name);
        self.codes.contains(&finding.code)
            && (nodes.any(|node| self.fits(node))
                || finding.application.as_ref().is_some_and(|app| is_own(&app.name)))
    }

    fn fits(&self, node: &Node) -> bool {
        let slug = match node {
            Node::Object { key, .. } => format!("{}/{}/{}", key.kind, key.namespace, key.name),
            Node::Application(name) => format!("Application/{}/{}", name.namespace, name.name),
            _ => return false,
        };
        matches(&self.subject, &slug)
    }

    /// Whether a place where it can be mended is changed: the line, if one is named.
    pub fn is_mended_by(&self, changes: &[FileChange]) -> bool {
        let is_changed = |(file, line): &(String, Option<usize>)| {
            changes.iter().filter(|change| change.path.as_str() == file).any(|change| {
                let line_of = |text: &Option<String>, line: usize| {
                    text.as_deref().and_then(|text| text.lines().nth(line - 1)).map(str::to_owned)
                };
                line.is_none_or(|line| {
                    (line..line + 3).any(|line| line_of(&change.before, line) != line_of(&change.after, line))
                })
            })
        };
        self.places.iter().any(is_changed)
    }
}

/// What a root is about, in all places.
fn findings(root: &Root) -> impl Iterator<Item = &Finding> {
    root.findings().map(|(_, finding)| finding)
}

/// What is not as the causes say.
pub(super) fn judge(causes: &[Cause], innocent: &[String], found: &Examination) -> Vec<String> {
    let mut wrong = missed(found, causes);
    wrong.extend(extra(found, causes, innocent));
    let silent = found.unexplained.iter();
    wrong.extend(silent.map(|one| format!("not explained: {}, {}", one.application, one.state)));
    wrong
}

/// Causes that are not found, are told more than once, or do not explain an application that they block.
fn missed(found: &Examination, causes: &[Cause]) -> Vec<String> {
    let mut wrong = Vec::new();
    let names = found.roots.iter().flat_map(|root| &root.applications).map(|name| name.name.as_str());
    let troubled: BTreeSet<&str> = names.collect();
    for cause in causes.iter().filter(|cause| !OVER.contains(&cause.id.as_str())) {
        let roots: Vec<&Root> = found.roots.iter().filter(|root| cause.is(root)).collect();
        if roots.is_empty() {
            wrong.push(format!("missed: {} of {}", cause.id, cause.subject));
            continue;
        }
        let explains = |name: &&String| {
            roots.iter().any(|root| {
                let own = findings(root).filter_map(|finding| finding.application.as_ref());
                own.chain(&root.applications).any(|app| app.name == name.as_str())
            })
        };
        let silent = cause.blocks.iter().filter(|name| troubled.contains(name.as_str()) && !explains(name));
        wrong.extend(silent.map(|name| format!("{} does not explain {name}", cause.id)));
    }
    wrong
}

/// Roots that nobody has named, and what is said of those about which there is nothing to say.
fn extra(found: &Examination, causes: &[Cause], innocent: &[String]) -> Vec<String> {
    let serious = found.roots.iter().filter(|root| root.severity < Severity::P3);
    let mut wrong = Vec::new();
    for root in serious {
        for finding in findings(root).filter(|finding| !causes.iter().any(|cause| cause.is_found_by(finding)))
        {
            wrong.push(format!("not a cause: {:?} {}: {}", root.severity, finding.id(), finding.cause));
        }
        let blamed = root.finding.application.iter().chain(&root.applications);
        let blamed = blamed.filter(|app| innocent.iter().any(|name| app.name == name.as_str()));
        wrong.extend(blamed.map(|app| format!("{app} is innocent: {}", root.id)));
    }
    wrong
}

/// Whether a text is like a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(left) = text.strip_prefix(start) else { return false };
    (0..=left.len()).filter(|at| left.is_char_boundary(*at)).any(|at| matches(rest, &left[at..]))
}

pub(super) fn texts(value: &Value, field: &str) -> Vec<String> {
    value.items_at(&[field]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
