//! MutatingAdmissionPolicies: changes in CEL, as a part of the object that is laid over it or as a JSON patch.

use lynceus_object::schema::{Shape, TypeRef};
use lynceus_object::{Object, Value, apply, patch, value};

use super::expression::{self, Scope};
use super::limits::POLICY_BUDGET;
use super::policy::{self, NoParams};
use super::{Chain, Write};
use crate::ApiError;
use crate::attributes::{Admission, Operation};
use crate::view::View;

const KINDS: (&str, &str) = ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings");

/// All policies, and the write that they may change.
pub(super) struct Policies<'a> {
    pub(super) chain: &'a Chain,
    pub(super) view: &'a dyn View,
    pub(super) admission: &'a Admission,
    /// The type of the object.
    pub(super) ty: TypeRef<'a>,
    pub(super) old: Option<&'a Object>,
}

impl Policies<'_> {
    /// Lets every policy change the object; `again` is for those that asked to see it once more. Says
    /// whether any had something to do.
    pub(super) fn mutate(&self, object: &mut Object, again: bool) -> Result<bool, ApiError> {
        if !matches!(self.admission.operation, Operation::Create | Operation::Update) {
            return Ok(false);
        }
        let first = object.clone();
        let write = Write { admission: self.admission, object: Some(&first), old: self.old };
        let mut refusal: Option<ApiError> = None;
        let mut ran = false;
        for (policy, binding) in policy::bound(self.view, KINDS, &write)? {
            if again && policy.value().str_at(&["spec", "reinvocationPolicy"]) != Some("IfNeeded") {
                continue;
            }
            for problem in self.one(&policy, &binding, object, &mut ran) {
                if policy.value().str_at(&["spec", "failurePolicy"]) != Some("Ignore") {
                    self.refuse(&mut refusal, &problem);
                }
            }
        }
        refusal.map_or(Ok(ran), Err)
    }

    /// Runs one policy for one binding, and gives what went wrong.
    fn one(&self, policy: &Object, binding: &Object, object: &mut Object, ran: &mut bool) -> Vec<Problem> {
        let told = |why: &str, invalid: bool| {
            let (policy, binding) = (policy.name(), binding.name());
            Problem {
                message: format!("policy '{policy}' with binding '{binding}' denied request: {why}"),
                invalid,
            }
        };
        let write = Write { admission: self.admission, object: Some(object), old: self.old };
        let all = match policy::params(self.view, policy, binding, &write) {
            Ok(all) => all,
            Err(why @ NoParams::Kind(_)) => {
                let message = format!("policy {:?} denied request: {}", policy.name(), why.words());
                return vec![Problem { message, invalid: false }];
            }
            Err(why) => return vec![told(&why.words(), false)],
        };
        let mut problems = Vec::new();
        for params in all {
            match self.matches(policy, params.as_ref(), object) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(why) => {
                    problems.push(told(&why, true));
                    continue;
                }
            }
            for mutation in policy.value().items_at(&["spec", "mutations"]) {
                *ran = true;
                match self.changed(policy, params.as_ref(), object, mutation) {
                    Ok(changed) => *object = changed,
                    Err(why) => problems.push(told(&why, true)),
                }
            }
        }
        problems
    }

    /// What expressions see: the object as it is by now.
    fn scope<'a>(&'a self, params: Option<&Object>, object: &'a Object) -> Scope<'a> {
        let write = Write { admission: self.admission, object: Some(object), old: self.old };
        Scope::new(self.view, &write, params, policy::namespace_of(self.view, &write).as_ref())
    }

    fn matches(&self, policy: &Object, params: Option<&Object>, object: &Object) -> Result<bool, String> {
        let conditions = policy.value().items_at(&["spec", "matchConditions"]);
        expression::hold(conditions, &self.chain.expressions, &self.scope(params, object))
    }

    /// The object after one mutation.
    fn changed(
        &self,
        policy: &Object,
        params: Option<&Object>,
        object: &Object,
        mutation: &Value,
    ) -> Result<Object, String> {
        let mut scope = self.scope(params, object);
        let mut budget = POLICY_BUDGET;
        let mut run = |scope: &Scope<'_>, text: &str| {
            self.chain.mutations.get(text).and_then(|program| scope.run(&program, &mut budget))
        };
        let mut failed: Vec<(&str, String)> = Vec::new();
        for variable in policy.value().items_at(&["spec", "variables"]) {
            let name = variable.str_at(&["name"]).unwrap_or_default();
            match run(&scope, variable.str_at(&["expression"]).unwrap_or_default()) {
                Ok(value) => scope.define(name, value),
                Err(problem) => failed.push((name, problem)),
            }
        }
        let by_patch = mutation.str_at(&["patchType"]) == Some("JSONPatch");
        let how = mutation.get(if by_patch { "jsonPatch" } else { "applyConfiguration" });
        let how = how.unwrap_or(&Value::Null);
        let made = run(&scope, how.str_at(&["expression"]).unwrap_or_default());
        let made = made
            .map_err(|problem| expression::failure(how, &expression::explained(&failed, problem)))?
            .to_value()
            .unwrap_or_default();
        let after = if by_patch { patched(object, &made)? } else { self.laid_over(object, made)? };
        Object::new(after).map_err(|_| "the mutation leaves no object".to_owned())
    }

    fn laid_over(&self, object: &Object, mut made: Value) -> Result<Value, String> {
        for field in ["apiVersion", "kind"] {
            made.set(&[field], object.at(&[field]).cloned().unwrap_or_default());
        }
        let mut atomic = Vec::new();
        find_atomic(&made, self.ty, String::new(), &mut atomic);
        if !atomic.is_empty() {
            let list = atomic.join(", ");
            return Err(format!(
                "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {list}"
            ));
        }
        apply::overlay(object.value(), &made, self.ty).map_err(|why| {
            format!("error applying patch: failed to convert patch object to typed object: {why}")
        })
    }

    fn refuse(&self, refusal: &mut Option<ApiError>, problem: &Problem) {
        let resource = &self.admission.resource;
        let error = refusal.get_or_insert_with(|| {
            let name = &self.admission.name;
            let mut error = ApiError::forbidden(&resource.group, &resource.resource, name, "");
            error.message = problem.message.clone();
            if problem.invalid {
                error.reason = "Invalid";
            }
            error
        });
        if let Some(details) = &mut error.details {
            let causes = details.as_map_or_insert().entry("causes").as_seq_or_insert();
            causes.push(value!({"message": problem.message.as_str()}));
        }
    }
}

/// Something that keeps a policy from its work.
struct Problem {
    message: String,
    /// Whether the policy itself is at fault, and not what it was given.
    invalid: bool,
}

/// The object after a JSON patch; one whose test fails changes nothing.
fn patched(object: &Object, operations: &Value) -> Result<Value, String> {
    match patch::json(object.value(), operations) {
        Ok(after) => Ok(after),
        Err(why) if why.to_string().ends_with("test failed") => Ok(object.value().clone()),
        Err(why) => Err(format!("JSON Patch: {why}")),
    }
}

/// Parts that would be replaced as a whole: whoever sets one of their fields would lose the others.
fn find_atomic(value: &Value, ty: TypeRef<'_>, path: String, found: &mut Vec<String>) {
    match (value, ty.shape()) {
        (Value::Map(map), Shape::Map(_) | Shape::Struct) => {
            if ty.is_atomic() {
                found.push(path.clone());
            }
            for (name, part) in map.iter() {
                if let Some(field) = ty.field(name) {
                    find_atomic(part, field.ty(), format!("{path}.{name}"), found);
                }
            }
        }
        (Value::Seq(items), Shape::List(item, kind)) => {
            if *kind == lynceus_object::schema::ListType::Atomic {
                found.push(path.clone());
            }
            for (at, part) in items.iter().enumerate() {
                find_atomic(part, item, format!("{path}[{at}]"), found);
            }
        }
        _ => {}
    }
}
