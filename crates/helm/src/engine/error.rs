//! Why a chart could not be rendered, in Helm's words.

use lynceus_gotmpl as gotmpl;
use lynceus_gotmpl::ErrorKind;

use super::functions::{WARN_END, WARN_START};

/// Why a chart could not be rendered.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RenderError {
    /// The chart wants another Kubernetes.
    #[error("chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {found}")]
    KubeVersion {
        /// The range that the chart names.
        wanted: String,
        /// The version that there is.
        found: String,
    },
    /// A template is not one.
    #[error("{text}")]
    Parse {
        /// What Helm says.
        text: String,
        /// What the parser found.
        cause: Box<gotmpl::Error>,
    },
    /// A template failed.
    #[error("{text}")]
    Execute {
        /// What Helm says.
        text: String,
        /// What the evaluator found.
        cause: Box<gotmpl::Error>,
    },
}

pub(super) fn of_parsing(file: &str, cause: Box<gotmpl::Error>) -> RenderError {
    let told = cause.to_string();
    let parts: Vec<&str> = told.split(": ").collect();
    let text = match parts.as_slice() {
        [_, location, .., problem] => format!("parse error at ({location}): {problem}"),
        [_, problem] => format!("parse error at ({problem}): {problem}"),
        _ => format!("parse error in ({file}): {told}"),
    };
    RenderError::Parse { text, cause }
}

pub(super) fn of_execution(file: &str, cause: Box<gotmpl::Error>) -> RenderError {
    let told = cause.to_string();
    let mut parts = told.splitn(3, ": ");
    let text = match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(location), Some(rest)) => match for_the_user(rest) {
            Some(message) => format!("execution error at ({location}): {message}"),
            None => steps(&cause).unwrap_or_else(|| told.clone()),
        },
        _ => format!("execution error in ({file}): {told}"),
    };
    RenderError::Execute { text, cause }
}

/// What `required` and `fail` say, without the way to it.
fn for_the_user(text: &str) -> Option<&str> {
    let start = text.find(WARN_START)? + WARN_START.len();
    let end = text.rfind(WARN_END)?;
    text.get(start..end)
}

/// The way to the error, a few lines for each template; none if it ends in the error of a function.
fn steps(error: &gotmpl::Error) -> Option<String> {
    let mut errors = vec![error];
    let mut last = error;
    let mut end = None;
    while let ErrorKind::Call { failure, .. } = &last.kind {
        match failure.cause() {
            Some(cause) if failure.message().is_empty() => {
                errors.push(cause);
                last = cause;
            }
            _ => {
                end = Some(Step::read(&failure.to_string())?);
                break;
            }
        }
    }
    let mut steps: Vec<Step> = Vec::new();
    for step in errors.into_iter().map(|error| Step::read(&error.to_string())).chain([end]).flatten() {
        if steps.last() != Some(&step) {
            steps.push(step);
        }
    }
    let told: String = steps.iter().map(Step::told).collect();
    Some(told.trim().to_owned())
}

/// One template on the way.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    location: String,
    executing: String,
    message: String,
}

impl Step {
    /// Takes the text of an error apart; none if it is not that of a template.
    fn read(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("template: ")?;
        if rest.starts_with("no template ") {
            return Some(Step {
                location: String::new(),
                executing: String::new(),
                message: text.to_owned(),
            });
        }
        Step::read_executing(rest).or_else(|| {
            let (location, message) = rest.rsplit_once(": ")?;
            let message = without_next(message);
            Some(Step { location: location.to_owned(), executing: String::new(), message })
        })
    }

    fn read_executing(rest: &str) -> Option<Self> {
        let (location, after) = rest.split_once(": executing ")?;
        let (name, after) = after.strip_prefix('"')?.split_once('"')?;
        let (action, message) = after.strip_prefix(" at <")?.split_once(">: ")?;
        Some(Step {
            location: location.to_owned(),
            executing: format!("executing \"{name}\" at <{action}>:"),
            message: without_next(message),
        })
    }

    fn told(&self) -> String {
        let mut told = String::new();
        if !self.location.is_empty() {
            told.push_str(&format!("{}\n  ", self.location));
        }
        if !self.executing.is_empty() {
            told.push_str(&format!("{}\n    ", self.executing));
        }
        if !self.message.is_empty() {
            told.push_str(&format!("{}\n", self.message));
        }
        told
    }
}

/// The message without the template's error that follows it.
fn without_next(message: &str) -> String {
    message.split_once(" template:").map_or(message, |(message, _)| message).to_owned()
}
