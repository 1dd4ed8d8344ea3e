//! `authorizer`: expressions that ask who may do what.
//!
//! A question is put together step by step (`authorizer.group('').resource('pods').namespace('shop')`) and asked by `check`, which
//! only whoever runs the expression can answer.

use std::sync::Arc;

use lynceus_object::Str;

use super::error::EvalError;
use super::value::Val;

/// The types of questions and answers.
pub(super) const AUTHORIZER: &str = "kubernetes.authorization.Authorizer";
pub(super) const PATH_CHECK: &str = "kubernetes.authorization.PathCheck";
pub(super) const GROUP_CHECK: &str = "kubernetes.authorization.GroupCheck";
pub(super) const RESOURCE_CHECK: &str = "kubernetes.authorization.ResourceCheck";
pub(super) const DECISION: &str = "kubernetes.authorization.Decision";
/// What one answer costs.
pub(super) const CHECK_COST: u64 = 350_000;

/// Somebody who knows who may do what.
pub trait Authorizer {
    /// Answers a question.
    fn decide(&self, question: &Question) -> Answer;
}

/// Whether somebody may do something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The service account that is asked about, as namespace and name; whoever makes the request if there is none.
    pub account: Option<(Str, Str)>,
    /// What is to be done.
    pub verb: Str,
    /// A path, if it is not about a resource.
    pub path: Str,
    /// The API group.
    pub group: Str,
    /// The plural resource.
    pub resource: Str,
    /// A part of it.
    pub subresource: Str,
    /// The namespace; empty for all, and for what is in none.
    pub namespace: Str,
    /// The object's name; empty for all.
    pub name: Str,
}

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether it is allowed.
    pub allowed: bool,
    /// Why.
    pub reason: Str,
    /// What kept the question from being answered; empty if nothing did.
    pub error: Str,
}

/// How much of a question there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// Only about whom.
    Whom,
    /// About a path.
    Path,
    /// About a group.
    Group,
    /// About a resource.
    Resource,
}

impl Asking {
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Asking::Whom => AUTHORIZER,
            Asking::Path => PATH_CHECK,
            Asking::Group => GROUP_CHECK,
            Asking::Resource => RESOURCE_CHECK,
        }
    }
}

impl Val {
    /// The variable `authorizer`.
    pub fn authorizer() -> Val {
        Val::Question(Asking::Whom, Arc::default())
    }

    /// The variable `authorizer.requestResource`.
    pub fn request_resource(question: Question) -> Val {
        Val::Question(Asking::Resource, question.into())
    }
}

pub(super) fn call(name: &str, method: bool, args: &[Val]) -> Option<Result<Val, EvalError>> {
    use Asking::{Group, Path, Resource, Whom};
    if !method {
        return None;
    }
    let and = |asking: Asking, question: &Question, set: &dyn Fn(&mut Question)| {
        let mut question = question.clone();
        set(&mut question);
        Ok(Val::Question(asking, question.into()))
    };
    let empty = |what: &str| Err(EvalError::failed(format!("{what} must not be empty")));
    Some(match (name, args) {
        ("path", [Val::Question(Whom, _), Val::String(text)]) if text.is_empty() => empty("path"),
        ("path", [Val::Question(Whom, known), Val::String(text)]) => {
            and(Path, known, &|question| question.path = text.clone())
        }
        ("group", [Val::Question(Whom, known), Val::String(text)]) => {
            and(Group, known, &|question| question.group = text.clone())
        }
        ("serviceAccount", [Val::Question(Whom, known), Val::String(namespace), Val::String(name)]) => {
            if !name.split('.').all(is_label) {
                return Some(Err(EvalError::failed("Invalid service account name")));
            }
            if !is_label(namespace) {
                return Some(Err(EvalError::failed("Invalid service account namespace")));
            }
            and(Whom, known, &|question| question.account = Some((namespace.clone(), name.clone())))
        }
        ("resource", [Val::Question(Group, _), Val::String(text)]) if text.is_empty() => empty("resource"),
        ("resource", [Val::Question(Group, known), Val::String(text)]) => {
            and(Resource, known, &|question| question.resource = text.clone())
        }
        ("subresource", [Val::Question(Resource, known), Val::String(text)]) => {
            and(Resource, known, &|question| question.subresource = text.clone())
        }
        ("namespace", [Val::Question(Resource, known), Val::String(text)]) => {
            and(Resource, known, &|question| question.namespace = text.clone())
        }
        ("name", [Val::Question(Resource, known), Val::String(text)]) => {
            and(Resource, known, &|question| question.name = text.clone())
        }
        // Roles know no selectors, so that these narrow nothing.
        ("fieldSelector" | "labelSelector", [Val::Question(Resource, known), Val::String(_)]) => {
            Ok(Val::Question(Resource, known.clone()))
        }
        ("allowed", [Val::Answer(answer)]) => Ok(Val::Bool(answer.allowed)),
        ("reason", [Val::Answer(answer)]) => Ok(Val::String(answer.reason.clone())),
        ("error", [Val::Answer(answer)]) => Ok(Val::String(answer.error.clone())),
        ("errored", [Val::Answer(answer)]) => Ok(Val::Bool(!answer.error.is_empty())),
        _ => return None,
    })
}

/// The answer to `check`; none if it is not a question that can be asked.
pub(super) fn check(authorizer: Option<&dyn Authorizer>, args: &[Val]) -> Option<Val> {
    let [Val::Question(Asking::Path | Asking::Resource, question), Val::String(verb)] = args else {
        return None;
    };
    let question = Question { verb: verb.clone(), ..(**question).clone() };
    Some(Val::Answer(authorizer?.decide(&question).into()))
}

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty()
        && text.len() <= 63
        && text.chars().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}
