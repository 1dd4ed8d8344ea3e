//! Policies in CEL: which writes they are about, with which parameters; and those that refuse, warn of or
//! let through a write.

use lynceus_object::{Object, Value};

use super::expression::{self, Scope};
use super::limits::{MESSAGE_BYTES, POLICY_BUDGET};
use super::{Chain, Write, matching};
use crate::ApiError;
use crate::cel::Val;
use crate::view::View;

const GROUP: &str = "admissionregistration.k8s.io";

/// Asks every policy that is bound; gives warnings of those that only warn. The first refusal counts.
pub(super) fn validate(chain: &Chain, view: &dyn View, write: &Write<'_>) -> Result<Vec<String>, ApiError> {
    let mut said = Said::default();
    let kinds = ("validatingadmissionpolicies", "validatingadmissionpolicybindings");
    for (policy, binding) in bound(view, kinds, write)? {
        Bound { chain, view, policy: &policy, binding: &binding, write }.validate(&mut said);
    }
    match said.refusal {
        Some(mut refusal) => {
            refusal.warnings.extend(said.warnings);
            Err(refusal)
        }
        None => Ok(said.warnings),
    }
}

/// What policies say of a write.
#[derive(Default)]
struct Said {
    warnings: Vec<String>,
    refusal: Option<ApiError>,
}

/// The policies of a kind that a write falls under, each with every binding that it falls under as well.
pub(super) fn bound(
    view: &dyn View,
    (policies, bindings): (&str, &str),
    write: &Write<'_>,
) -> Result<Vec<(Object, Object)>, ApiError> {
    let bindings = view.list(GROUP, bindings, None);
    let mut found = Vec::new();
    if bindings.is_empty() || matching::is_exempt(write) {
        return Ok(found);
    }
    for policy in view.list(GROUP, policies, None) {
        let Some(constraints) = policy.at(&["spec", "matchConstraints"]) else { continue };
        if !applies(view, constraints, write)? {
            continue;
        }
        let of_policy = |binding: &&Object| {
            binding.at(&["spec", "policyName"]).and_then(Value::as_str) == Some(policy.name())
        };
        for binding in bindings.iter().filter(of_policy) {
            let resources = binding.at(&["spec", "matchResources"]).filter(|resources| !resources.is_empty());
            if resources.map_or(Ok(true), |resources| applies(view, resources, write))? {
                found.push((policy.clone(), binding.clone()));
            }
        }
    }
    Ok(found)
}

/// The namespace that a write is in, for expressions.
pub(super) fn namespace_of(view: &dyn View, write: &Write<'_>) -> Option<Object> {
    let kind = &write.admission.kind;
    match write.admission.namespace.as_str() {
        "" => None,
        // A namespace is in none.
        _ if kind.group.is_empty() && kind.kind == "Namespace" => None,
        name => view.get("", "namespaces", "", name),
    }
}

/// Why there are no parameters.
pub(super) enum NoParams {
    /// The policy names a kind that is not there.
    Kind(String),
    /// The binding wants parameters that are not there.
    Objects,
}

impl NoParams {
    /// The words for it.
    pub(super) fn words(&self) -> String {
        match self {
            NoParams::Kind(gvk) => format!(
                "failed to configure policy: failed to find resource referenced by paramKind: '{gvk}'"
            ),
            NoParams::Objects => "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction".to_owned(),
        }
    }
}

/// The parameter objects of a binding; one `None` where the policy takes none.
pub(super) fn params(
    view: &dyn View,
    policy: &Object,
    binding: &Object,
    write: &Write<'_>,
) -> Result<Vec<Option<Object>>, NoParams> {
    let part = |of: &Object, field: &str| of.at(&["spec", field]).filter(|part| !part.is_null()).cloned();
    let (Some(kind), Some(reference)) = (part(policy, "paramKind"), part(binding, "paramRef")) else {
        return Ok(vec![None]);
    };
    let word = |value: &Value, field: &str| value.str_at(&[field]).unwrap_or_default().to_owned();
    let gvk = lynceus_object::Gvk::from_manifest(&word(&kind, "apiVersion"), &word(&kind, "kind"));
    let plural = match crate::kinds::resource_of(&gvk) {
        Some(resource) => resource.plural.to_string(),
        None => custom_plural(view, &gvk),
    };
    if plural.is_empty() {
        return Err(NoParams::Kind(gvk.to_string()));
    }
    let own = word(&reference, "namespace");
    let namespace = if own.is_empty() { write.admission.namespace.to_string() } else { own };
    let name = word(&reference, "name");
    let found: Vec<Object> = if name.is_empty() {
        let selector = reference.get("selector").cloned().unwrap_or_default();
        let all = view.list(&gvk.group, &plural, None);
        all.into_iter()
            .filter(|object| object.namespace().is_empty() || object.namespace() == namespace)
            .filter(|object| crate::auth::selects(&selector, object))
            .collect()
    } else {
        let get = |namespace: &str| view.get(&gvk.group, &plural, namespace, &name);
        get(&namespace).or_else(|| get("")).into_iter().collect()
    };
    match reference.str_at(&["parameterNotFoundAction"]) {
        _ if !found.is_empty() => Ok(found.into_iter().map(Some).collect()),
        Some("Allow") => Ok(Vec::new()),
        _ => Err(NoParams::Objects),
    }
}

fn custom_plural(view: &dyn View, gvk: &lynceus_object::Gvk) -> String {
    let definitions = view.list("apiextensions.k8s.io", "customresourcedefinitions", None);
    let found = definitions.iter().find(|definition| {
        definition.at(&["spec", "group"]).and_then(Value::as_str) == Some(&gvk.group)
            && definition.at(&["spec", "names", "kind"]).and_then(Value::as_str) == Some(&gvk.kind)
    });
    found
        .and_then(|definition| definition.at(&["spec", "names", "plural"]))
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Whether a write falls under a MatchResources.
fn applies(view: &dyn View, resources: &Value, write: &Write<'_>) -> Result<bool, ApiError> {
    let exact = resources.str_at(&["matchPolicy"]) == Some("Exact");
    let rules = resources.items_at(&["resourceRules"]);
    let excluded =
        matching::by_rules(view, resources.items_at(&["excludeResourceRules"]), exact, write).is_some();
    Ok(!excluded
        && (rules.is_empty() || matching::by_rules(view, rules, exact, write).is_some())
        && matching::by_namespace(view, resources.get("namespaceSelector"), write)?
        && matching::by_object(resources.get("objectSelector"), write))
}

struct Bound<'a> {
    chain: &'a Chain,
    view: &'a dyn View,
    policy: &'a Object,
    binding: &'a Object,
    write: &'a Write<'a>,
}

impl Bound<'_> {
    fn validate(&self, said: &mut Said) {
        let namespace = namespace_of(self.view, self.write);
        match params(self.view, self.policy, self.binding, self.write) {
            Ok(all) => {
                for params in all {
                    let scope = Scope::new(self.view, self.write, params.as_ref(), namespace.as_ref());
                    self.check(scope, said);
                }
            }
            Err(why) if self.fails_open() => drop(why),
            Err(why @ NoParams::Kind(_)) => {
                let name = format!("ValidatingAdmissionPolicy '{}'", self.policy.name());
                self.deny(&name, &why.words(), None, said);
            }
            Err(why) => self.deny(&self.name(), &why.words(), None, said),
        }
    }

    fn check(&self, mut scope: Scope<'_>, said: &mut Said) {
        let spec = self.policy.at(&["spec"]).cloned().unwrap_or_default();
        let run = |scope: &Scope<'_>, text: &str, budget: &mut u64| {
            self.chain.expressions.get(text).and_then(|program| scope.run(&program, budget))
        };
        match expression::hold(spec.items_at(&["matchConditions"]), &self.chain.expressions, &scope) {
            Ok(true) => {}
            Ok(false) => return,
            Err(problem) => return self.fail(&problem, said),
        }
        let mut budget = POLICY_BUDGET;
        // A variable that has no value fails the validations that use it.
        let mut failed: Vec<(&str, String)> = Vec::new();
        for variable in spec.items_at(&["variables"]) {
            let name = variable.str_at(&["name"]).unwrap_or_default();
            match run(&scope, variable.str_at(&["expression"]).unwrap_or_default(), &mut budget) {
                Ok(value) => scope.define(name, value),
                Err(problem) => failed.push((name, problem)),
            }
        }
        for validation in spec.items_at(&["validations"]) {
            let text = validation.str_at(&["expression"]).unwrap_or_default();
            match run(&scope, text, &mut budget) {
                Ok(Val::Bool(true)) => {}
                Ok(_) => {
                    let why = self.words(validation, &scope, &mut budget);
                    self.refuse(&why, validation.str_at(&["reason"]), said);
                }
                Err(problem) => {
                    self.fail(
                        &expression::failure(validation, &expression::explained(&failed, problem)),
                        said,
                    );
                }
            }
        }
        let mut budget = POLICY_BUDGET;
        for annotation in spec.items_at(&["auditAnnotations"]) {
            let text = annotation.str_at(&["valueExpression"]).unwrap_or_default();
            // Nobody reads what is noted, but a note that cannot be made counts.
            if let Err(problem) = run(&scope, text, &mut budget)
                && !self.fails_open()
            {
                let problem = expression::explained(&failed, problem);
                let why = format!("expression '{text}' resulted in error: {problem}");
                self.deny(&self.name(), &why, None, said);
            }
        }
    }

    /// What is said of a validation that does not hold.
    fn words(&self, validation: &Value, scope: &Scope<'_>, budget: &mut u64) -> String {
        let text = |field: &str| validation.str_at(&[field]).map(str::trim).filter(|text| !text.is_empty());
        let program = text("messageExpression").and_then(|text| self.chain.messages.get(text).ok());
        let made = program.and_then(|program| scope.run(&program, budget).ok());
        let made = match &made {
            Some(Val::String(text)) => text.trim(),
            _ => "",
        };
        if !made.is_empty() && !made.contains('\n') && made.len() <= MESSAGE_BYTES {
            return made.to_owned();
        }
        let own = text("message").map(str::to_owned);
        own.unwrap_or_else(|| format!("failed expression: {}", text("expression").unwrap_or_default()))
    }

    fn name(&self) -> String {
        format!("ValidatingAdmissionPolicy '{}' with binding '{}'", self.policy.name(), self.binding.name())
    }

    fn fails_open(&self) -> bool {
        self.policy.value().str_at(&["spec", "failurePolicy"]) == Some("Ignore")
    }

    /// What an expression without a value means: the failure policy decides.
    fn fail(&self, why: &str, said: &mut Said) {
        if !self.fails_open() {
            self.refuse(why, None, said);
        }
    }

    fn refuse(&self, why: &str, reason: Option<&str>, said: &mut Said) {
        let actions = self.binding.value().items_at(&["spec", "validationActions"]);
        let has = |wanted: &str| actions.iter().any(|action| action.as_str() == Some(wanted));
        if has("Warn") {
            said.warnings.push(format!("Validation failed for {}: {why}", self.name()));
        }
        if has("Deny") || actions.is_empty() {
            self.deny(&self.name(), why, reason, said);
        }
    }

    fn deny(&self, name: &str, why: &str, reason: Option<&str>, said: &mut Said) {
        said.refusal.get_or_insert_with(|| self.denial(&format!("{name} denied request: {why}"), reason));
    }

    fn denial(&self, message: &str, reason: Option<&str>) -> ApiError {
        let admission = self.write.admission;
        let resource = &admission.resource;
        let mut error = ApiError::forbidden(&resource.group, &resource.resource, &admission.name, message);
        (error.code, error.reason) = match reason.unwrap_or("Invalid") {
            "Unauthorized" => (401, "Unauthorized"),
            "Forbidden" => (403, "Forbidden"),
            "RequestEntityTooLarge" => (413, "RequestEntityTooLarge"),
            _ => (422, "Invalid"),
        };
        if let Some(details) = &mut error.details {
            details.set(&["causes"], lynceus_object::value!([{"message": message}]));
        }
        error
    }
}
