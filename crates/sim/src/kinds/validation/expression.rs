//! CEL expressions of admission, compiled when they are stored so that mistakes show at once.

use lynceus_object::Value;

use super::names;
use super::report::{Path, Report};
use crate::cel::{Env, Program, Ty};

/// The variables of a webhook's match conditions.
pub(crate) const WEBHOOK: [&str; 3] = ["object", "oldObject", "request"];

/// Checks the `matchConditions` of a webhook or policy.
pub(crate) fn conditions(holder: &Value, variables: &[&'static str], at: &Path, report: &mut Report) {
    let mut known: Vec<&str> = Vec::new();
    for (index, condition) in holder.items_at(&["matchConditions"]).iter().enumerate() {
        let at = at.child("matchConditions").index(index);
        match condition.str_at(&["expression"]).unwrap_or_default() {
            text if text.trim().is_empty() => report.required(&at.child("expression"), ""),
            text => typed(text, variables, &[Ty::Bool], &at.child("expression"), report),
        }
        match condition.str_at(&["name"]).unwrap_or_default() {
            "" => report.required(&at.child("name"), ""),
            name => {
                report.each(&at.child("name"), name, names::label_key(name));
                if known.contains(&name) {
                    report.duplicate(&at.child("name"), &name.into());
                }
                known.push(name);
            }
        }
    }
}

/// Checks the expressions of an admission policy.
pub(crate) fn policy(spec: &Value, validating: bool, at: &Path, report: &mut Report) {
    let mut variables = vec!["object", "oldObject", "request", "namespaceObject"];
    if spec.get("paramKind").is_some_and(|kind| !kind.is_null()) {
        variables.push("params");
    }
    conditions(spec, &variables, at, report);
    if !validating {
        return;
    }
    for (index, variable) in spec.items_at(&["variables"]).iter().enumerate() {
        if index == 1 {
            variables.push("variables");
        }
        let text = variable.str_at(&["expression"]).unwrap_or_default();
        typed(text, &variables, &[], &at.child("variables").index(index).child("expression"), report);
    }
    if spec.items_at(&["variables"]).len() == 1 {
        variables.push("variables");
    }
    for (index, validation) in spec.items_at(&["validations"]).iter().enumerate() {
        validation_rule(validation, &variables, &at.child("validations").index(index), report);
    }
    for (index, annotation) in spec.items_at(&["auditAnnotations"]).iter().enumerate() {
        let at = at.child("auditAnnotations").index(index).child("valueExpression");
        let text = annotation.str_at(&["valueExpression"]).unwrap_or_default();
        typed(text, &variables, &[Ty::String, Ty::Null], &at, report);
    }
}

fn validation_rule(validation: &Value, variables: &[&'static str], at: &Path, report: &mut Report) {
    let text = |field: &str| validation.str_at(&[field]).unwrap_or_default();
    match text("expression") {
        rule if rule.trim().is_empty() => {
            report.required(&at.child("expression"), "expression is not specified");
        }
        rule => typed(rule, variables, &[Ty::Bool], &at.child("expression"), report),
    }
    if !text("messageExpression").is_empty() {
        let at = at.child("messageExpression");
        typed_in(plain(variables), text("messageExpression"), &[Ty::String], &at, report);
    }
    let reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
    if !text("reason").is_empty() && !reasons.contains(&text("reason")) {
        report.not_supported(&at.child("reason"), text("reason"), &reasons);
    }
}

/// An environment without `authorizer`.
fn plain(variables: &[&'static str]) -> Env {
    Env::new(variables.iter().map(|name| (*name, Ty::Dyn)))
}

/// Checks that an expression compiles to one of the wanted types; to any if none is named.
fn typed(text: &str, variables: &[&'static str], wanted: &[Ty], at: &Path, report: &mut Report) {
    typed_in(plain(variables).with_authorizer(), text, wanted, at, report);
}

/// What variables hold is not known here, so what comes of them may be anything.
fn typed_in(env: Env, text: &str, wanted: &[Ty], at: &Path, report: &mut Report) {
    let program = match Program::compile(text, &env) {
        Ok(program) => program,
        Err(error) => return report.invalid_text(at, text, format!("compilation failed: {error}")),
    };
    let found = program.ty();
    let open = *found == Ty::Dyn && program.uses("variables");
    if wanted.is_empty() || wanted.contains(found) || open {
        return;
    }
    let shown = |ty: &Ty| if *ty == Ty::Null { "null_type".to_owned() } else { ty.to_string() };
    let wanted = match wanted {
        [one] => shown(one),
        many => format!("one of [{}]", many.iter().map(shown).collect::<Vec<_>>().join(" ")),
    };
    report.invalid_text(at, text, format!("must evaluate to {wanted} but got {}", shown(found)));
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn found(spec: Value) -> Vec<String> {
        let mut report = Report::default();
        policy(&spec, true, &Path::new("spec"), &mut report);
        report.into_errors().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn expressions_have_to_compile_to_what_is_wanted() {
        let rule = |text: &str| value!({"validations": [{"expression": text}]});
        let at = "spec.validations[0].expression: Invalid value:";
        assert_eq!(found(rule("object.data.a == \"b\"")), [""; 0]);
        assert_eq!(found(rule("1 + 1")), [format!("{at} \"1 + 1\": must evaluate to bool but got int")]);
        let undeclared = found(rule("params == null")).concat();
        assert!(undeclared.contains("undeclared reference to 'params'"), "{undeclared}");
        assert_eq!(
            found(
                value!({"validations": [{"expression": "true", "messageExpression": "object.a", "reason": "Nope"}]})
            ),
            [
                "spec.validations[0].messageExpression: Invalid value: \"object.a\": must evaluate to string but got dyn",
                "spec.validations[0].reason: Unsupported value: \"Nope\": supported values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\"",
            ]
        );
        assert_eq!(
            found(value!({"auditAnnotations": [{"key": "k", "valueExpression": "1"}]})),
            [
                "spec.auditAnnotations[0].valueExpression: Invalid value: \"1\": must evaluate to one of [string null_type] but got int"
            ]
        );
    }

    #[test]
    fn messages_cannot_ask_who_may_do_what() {
        let rule = |expression: &str, message: &str| value!({"validations": [{"expression": expression, "messageExpression": message}]});
        let may = "authorizer.group('').resource('pods').namespace('a').check('get').allowed()";
        assert_eq!(found(rule(may, "'no'")), [""; 0]);
        assert_eq!(found(rule("authorizer.requestResource.check('get').errored()", "'no'")), [""; 0]);
        let decision = found(rule("authorizer.path('/x').check('get')", "'no'")).concat();
        assert!(
            decision.ends_with("must evaluate to bool but got kubernetes.authorization.Decision"),
            "{decision}"
        );
        let message = found(rule("true", "authorizer.path('/x').check('get').reason()")).concat();
        assert!(message.contains("undeclared reference to 'authorizer'"), "{message}");
    }

    #[test]
    fn variables_are_known_to_what_comes_after_them() {
        let spec = value!({"variables": [{"name": "n", "expression": "1"}, {"name": "m", "expression": "variables.n + 1"}],
            "validations": [{"expression": "variables.m == 2"}, {"expression": "variables.m"}]});
        assert_eq!(found(spec), [""; 0]);
    }
}
