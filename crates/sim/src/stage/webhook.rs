//! Webhooks that are played: what they would answer is declared, and nobody is called.

use std::sync::Arc;

use lynceus_api::Glob;
use lynceus_object::Str;

use super::read::{Field, StageError};
use crate::admission;
use crate::cel::{Program, Ty};
use crate::kinds::validation::names;
use crate::operators::template::Template;

/// Somebody whose answers are declared: a policy engine, an injector, a converter.
#[derive(Clone, Debug)]
pub struct Webhook {
    configuration: Option<Glob>,
    webhook: Option<Glob>,
    service: Option<(Str, Str)>,
    image: Option<Glob>,
    rules: Arc<[Rule]>,
}

/// What is answered when something holds.
#[derive(Debug)]
pub(crate) struct Rule {
    /// When it is; always if none.
    pub(crate) when: Option<Program>,
    /// What.
    pub(crate) then: Then,
    /// What the client is warned of.
    pub(crate) warnings: Vec<Template>,
}

/// An answer.
#[derive(Debug)]
pub(crate) enum Then {
    /// Yes.
    Allow,
    /// No, and why.
    Deny(Template),
    /// Yes, with these operations of a JSON patch.
    Patch(Template),
    /// No answer.
    Fail(Failure),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nobody listens.
    Refused,
    /// It takes too long.
    Timeout,
    /// In words of its own.
    Words(Str),
}

impl Webhook {
    pub(super) fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let glob = |key: &str| field.get(key).map(|glob| glob.glob()).transpose();
        let service = field.get("service").map(|service| named(&service)).transpose()?;
        let configuration = glob("configuration")?;
        if configuration.is_none() && service.is_none() {
            let hint = "name the webhook configuration, or the Service that is called";
            return Err(field.wrong("has neither configuration nor service", hint));
        }
        Ok(Webhook {
            configuration,
            webhook: glob("webhook")?,
            service,
            image: glob("image")?,
            rules: field.list("rules", Rule::of)?.into(),
        })
    }

    /// Whether a webhook is played by this: its configuration, its own name and the Service that it calls.
    pub(crate) fn plays(&self, configuration: &str, webhook: &str, service: Option<(&str, &str)>) -> bool {
        let is = |glob: &Option<Glob>, name: &str| glob.as_ref().is_none_or(|glob| glob.matches(name));
        is(&self.configuration, configuration)
            && is(&self.webhook, webhook)
            && self.service.as_ref().is_none_or(|own| service == Some((own.0.as_str(), own.1.as_str())))
    }

    /// Why the converter behind a Service does not answer, if it is said that it does not.
    pub(crate) fn breaks_conversion(&self, service: (&str, &str)) -> Option<&Failure> {
        let own = self.service.as_ref().filter(|own| (own.0.as_str(), own.1.as_str()) == service);
        own?;
        self.rules.iter().find_map(|rule| match &rule.then {
            Then::Fail(failure) if rule.when.is_none() => Some(failure),
            _ => None,
        })
    }

    /// The image of which a pod has to be ready for it to answer; none if it always does.
    pub(crate) fn image(&self) -> Option<&Glob> {
        self.image.as_ref()
    }

    /// What it answers: the first rule that holds counts.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

impl Rule {
    fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let env = admission::declared_environment();
        let template = |field: &Field<'_>| {
            let read = Template::read(field.value(), &env);
            read.map_err(|fault| field.wrong(fault.to_string(), "write it as CEL in ${…}"))
        };
        let when = field.get("when").map(|when| {
            let program = Program::compile(when.text()?, &env)
                .map_err(|error| when.wrong(format!("is no expression: {error}"), "write it in CEL"))?;
            match program.ty() {
                Ty::Bool | Ty::Dyn => Ok(program),
                other => Err(when.wrong(format!("comes to {other}"), "it has to be true or false")),
            }
        });
        let mut answers = Vec::new();
        if let Some(deny) = field.get("deny") {
            deny.text()?;
            answers.push(Then::Deny(template(&deny)?));
        }
        if let Some(patch) = field.get("patch") {
            patch.items()?;
            answers.push(Then::Patch(template(&patch)?));
        }
        if let Some(fails) = field.get("fails") {
            answers.push(Then::Fail(Failure::of(fails.text()?)));
        }
        if let Some(allow) = field.get("allow")
            && allow.flag()?
        {
            answers.push(Then::Allow);
        }
        let warnings = field.get("warn").map_or_else(|| Ok(Vec::new()), |warn| warn.items())?;
        match (answers.pop(), answers.is_empty()) {
            (Some(then), true) => Ok(Rule {
                when: when.transpose()?,
                then,
                warnings: warnings.iter().map(template).collect::<Result<_, _>>()?,
            }),
            _ => Err(field.wrong("has no answer or several", "give it one of: allow, deny, patch, fails")),
        }
    }
}

impl Failure {
    fn of(text: &str) -> Self {
        match text {
            "connection refused" => Failure::Refused,
            "timeout" => Failure::Timeout,
            other => Failure::Words(other.into()),
        }
    }
}

fn named(field: &Field<'_>) -> Result<(Str, Str), StageError> {
    match field.text()?.split_once('/') {
        Some((namespace, name)) if [namespace, name].iter().all(|one| names::dns_label(one).is_empty()) => {
            Ok((namespace.into(), name.into()))
        }
        _ => Err(field.wrong("names no Service", "write it as namespace/name")),
    }
}
