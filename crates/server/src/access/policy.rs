//! A policy, compiled: who has which role, and which lines are about whom.
//!
//! The model is Argo CD's: a line counts for somebody if it is about them or about a role that they have, and if its
//! patterns match; it is allowed what some line allows and none denies.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use regex::Regex;

use super::glob::Glob;
use super::lines::{self, BadLine, Line};

/// How policies are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By patterns with stars.
    Glob,
    /// By regular expressions, which need not match the whole.
    Regex,
}

/// How many roles lie at most between somebody and a line.
const HIERARCHY: usize = 10;

/// A compiled policy.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    permissions: HashMap<Box<str>, Vec<Arc<Permission>>>,
    roles: HashMap<Box<str>, Vec<Box<str>>>,
}

/// One line that allows or denies.
#[derive(Debug)]
pub(crate) struct Permission {
    resource: Pattern,
    action: Pattern,
    object: Pattern,
    effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Allow,
    Deny,
    /// Another word, which does neither.
    None,
}

#[derive(Debug)]
enum Pattern {
    Glob(Glob),
    Regex(Regex),
    /// A glob that cannot be read.
    Nothing,
    /// An expression that cannot be read: where it would have to be asked, the answer is no.
    Broken,
}

/// A line asks something of an expression that cannot be read.
struct Unanswerable;

impl Policy {
    /// Compiles a policy.
    pub(crate) fn read(text: &str, mode: Mode) -> Result<Self, BadPolicy> {
        let mut policy = Policy::default();
        policy.add(text, mode)?;
        Ok(policy)
    }

    /// Adds more lines, which may be matched in another way.
    pub(crate) fn add(&mut self, text: &str, mode: Mode) -> Result<(), BadPolicy> {
        let policy = self;
        for line in lines::read(text).map_err(|BadLine(line)| BadPolicy(line))? {
            match line {
                Line::Role(subject, role) => {
                    policy.roles.entry(subject.into()).or_default().push(role.into());
                }
                Line::Permission { subject, resource, action, object, effect } => {
                    let effect = match effect.as_str() {
                        "allow" => Effect::Allow,
                        "deny" => Effect::Deny,
                        _ => Effect::None,
                    };
                    let read = |text: &str| Pattern::read(text, mode);
                    let permission = Permission {
                        resource: read(&resource),
                        action: read(&action),
                        object: read(&object),
                        effect,
                    };
                    policy.permissions.entry(subject.into()).or_default().push(Arc::new(permission));
                }
            }
        }
        Ok(())
    }

    /// Whether somebody is given a role by a line.
    pub(crate) fn gives_role(&self, subject: &str) -> bool {
        self.roles.contains_key(subject)
    }
}

/// A policy with a line that cannot be read, which is this one.
#[derive(Debug)]
pub(crate) struct BadPolicy(pub(crate) String);

/// What one subject is granted by several policies together.
#[derive(Debug)]
pub(crate) struct Grants(Vec<Arc<Permission>>);

impl Grants {
    /// Finds what a subject is granted, by itself and by its roles.
    pub(crate) fn of(subject: &str, policies: &[&Policy]) -> Self {
        let mut seen: HashSet<&str> = HashSet::from([subject]);
        let mut found = Vec::new();
        let mut level = vec![subject];
        for _ in 0..=HIERARCHY {
            let mut next = Vec::new();
            for name in level {
                for policy in policies {
                    found.extend(policy.permissions.get(name).into_iter().flatten().cloned());
                    let roles = policy.roles.get(name).into_iter().flatten();
                    next.extend(roles.map(AsRef::as_ref).filter(|role| seen.insert(role)));
                }
            }
            level = next;
        }
        Grants(found)
    }

    /// Whether they allow something.
    pub(crate) fn allow(&self, resource: &str, action: &str, object: &str) -> bool {
        let mut allowed = false;
        for permission in &self.0 {
            match permission.is_about(resource, action, object) {
                Ok(false) => {}
                Ok(true) if permission.effect == Effect::Deny => return false,
                Ok(true) => allowed |= permission.effect == Effect::Allow,
                Err(Unanswerable) => return false,
            }
        }
        allowed
    }

    /// The part of them that has a say in an action, for whoever asks it of very many objects.
    pub(crate) fn about(&self, resource: &str, action: &str) -> Self {
        let has_say = |permission: &&Arc<Permission>| match permission.resource.matches(resource) {
            Ok(true) => !matches!(permission.action.matches(action), Ok(false)),
            Ok(false) => false,
            Err(Unanswerable) => true,
        };
        Grants(self.0.iter().filter(has_say).cloned().collect())
    }

    /// Whether they could allow an action, or a part of it, on some object. Yes where that is not easily told.
    pub(crate) fn could_allow(&self, resource: &str, actions: &[&str]) -> bool {
        self.0.iter().any(|permission| {
            permission.effect == Effect::Allow
                && permission.resource.matches(resource).is_ok_and(|matches| matches)
                && actions.iter().any(|action| permission.action.could_match(action))
        })
    }
}

impl Permission {
    fn is_about(&self, resource: &str, action: &str, object: &str) -> Result<bool, Unanswerable> {
        Ok(self.resource.matches(resource)? && self.action.matches(action)? && self.object.matches(object)?)
    }
}

/// The largest program that an expression of a policy may become.
const EXPRESSION_BYTES: usize = 1 << 20;

impl Pattern {
    fn read(text: &str, mode: Mode) -> Self {
        match mode {
            Mode::Glob => Glob::read(text).map_or(Pattern::Nothing, Pattern::Glob),
            Mode::Regex => {
                let expression = regex::RegexBuilder::new(text).size_limit(EXPRESSION_BYTES).build();
                expression.map_or(Pattern::Broken, Pattern::Regex)
            }
        }
    }

    fn matches(&self, text: &str) -> Result<bool, Unanswerable> {
        match self {
            Pattern::Glob(glob) => Ok(glob.matches(text)),
            Pattern::Regex(expression) => Ok(expression.is_match(text)),
            Pattern::Nothing => Ok(false),
            Pattern::Broken => Err(Unanswerable),
        }
    }

    /// Whether it could match the action, or a part of it that is named behind a slash.
    fn could_match(&self, action: &str) -> bool {
        match self {
            Pattern::Glob(glob) => {
                let beginning = glob.beginning();
                glob.matches(action) || action.starts_with(beginning) || is_part(beginning, action)
            }
            Pattern::Regex(_) => true,
            Pattern::Nothing | Pattern::Broken => false,
        }
    }
}

fn is_part(text: &str, action: &str) -> bool {
    text.strip_prefix(action).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(policy: &str, subject: &str, question: &str) -> bool {
        let policy = Policy::read(policy, Mode::Glob).unwrap();
        let words: Vec<&str> = question.split(' ').collect();
        Grants::of(subject, &[&policy]).allow(words[0], words[1], words[2])
    }

    #[test]
    fn some_line_has_to_allow_and_none_may_deny() {
        let policy = "p, a, applications, *, x/*, allow\np, a, applications, delete, x/y, deny\np, a, logs, get, *, maybe";
        assert!(allowed(policy, "a", "applications get x/y"));
        assert!(!allowed(policy, "a", "applications delete x/y"));
        assert!(allowed(policy, "a", "applications delete x/z"));
        assert!(!allowed(policy, "a", "logs get x/y"));
        assert!(!allowed(policy, "b", "applications get x/y"));
    }

    #[test]
    fn roles_are_followed_ten_deep_and_in_circles() {
        let mut policy = "p, r10, a, b, c, allow\np, r11, a, b, d, allow\ng, r11, r0\n".to_owned();
        for at in 0..11 {
            policy.push_str(&format!("g, r{at}, r{}\n", at + 1));
        }
        assert!(allowed(&policy, "r0", "a b c"));
        assert!(!allowed(&policy, "r0", "a b d"));
        assert!(allowed(&policy, "r1", "a b d"));
    }

    #[test]
    fn an_expression_that_cannot_be_read_denies_what_it_is_asked() {
        let policy = Policy::read(
            "p, a, apps, get, .*, allow\np, a, apps, sync, *, allow\np, a, apps, (, x, allow",
            Mode::Regex,
        );
        let policy = policy.unwrap();
        assert!(!Grants::of("a", &[&policy]).allow("apps", "get", "x"));
        assert!(!Grants::of("a", &[&policy]).allow("apps", "sync", "x"));
        assert!(!Grants::of("a", &[&policy]).about("apps", "get").allow("apps", "get", "x"));
    }

    #[test]
    fn what_has_no_say_in_an_action_is_not_asked() {
        let policy = "p, a, applications, *, x/*, allow\np, a, applications, get, x/y, deny\n\
                      p, a, applications, sync, *, deny\np, a, logs, get, *, deny";
        let policy = Policy::read(policy, Mode::Glob).unwrap();
        let grants = Grants::of("a", &[&policy]).about("applications", "get");
        assert_eq!(grants.0.len(), 2);
        let seen = |object: &str| grants.allow("applications", "get", object);
        assert!(seen("x/z") && !seen("x/y") && !seen("y/z"));
    }

    #[test]
    fn what_could_be_allowed_is_guessed_generously() {
        let policy = "p, a, applications, action/apps/*, x/*, allow\np, a, logs, get, x, deny\np, a, clusters, sync, x, allow";
        let policy = Policy::read(policy, Mode::Glob).unwrap();
        let grants = Grants::of("a", &[&policy]);
        assert!(grants.could_allow("applications", &["update", "action"]));
        assert!(!grants.could_allow("applications", &["update"]));
        assert!(!grants.could_allow("logs", &["get"]));
        assert!(!grants.could_allow("clusters", &["get"]));
    }
}
