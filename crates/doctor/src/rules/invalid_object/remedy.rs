//! What mends an object that is refused, where the refusal says enough.

use lynceus_api::{annotations, options};
use lynceus_object::{FieldPath, Object, ObjectKey, Value, json};

use crate::case::App;
use crate::fix::{Fix, Place, Risk};
use crate::node::AppName;
use crate::rules::sync_option;

/// How much all annotations of an object may hold, in bytes.
const ANNOTATIONS: usize = 262_144;

/// Fields that have to hold a text and were written without quotes, so that they are numbers or yes and no.
pub(super) fn unquoted(text: &str, wanted: &Object) -> Vec<FieldPath> {
    // `… into Go struct field EnvVar.spec.template.spec.containers.env.value of type string`: lists are not numbered.
    let named =
        text.split_once("into Go struct field ").and_then(|(_, rest)| rest.split_once(" of type string"));
    let Some((_, path)) = named.and_then(|(field, _)| field.split_once('.')) else { return Vec::new() };
    let mut found = Vec::new();
    walk(wanted.value(), &path.split('.').collect::<Vec<_>>(), &FieldPath::default(), &mut found);
    found
}

fn walk(value: &Value, path: &[&str], at: &FieldPath, found: &mut Vec<FieldPath>) {
    match (value, path) {
        (Value::Seq(items), _) => {
            items.iter().enumerate().for_each(|(place, item)| walk(item, path, &at.index(place), found));
        }
        (Value::Map(_), [first, rest @ ..]) => {
            value.get(first).into_iter().for_each(|value| walk(value, rest, &at.field(*first), found));
        }
        // Labels and the like, whose keys the server does not name.
        (Value::Map(map), []) => {
            map.iter().for_each(|(key, value)| walk(value, &[], &at.field(key.as_str()), found));
        }
        (Value::Int(_) | Value::Float(_) | Value::Bool(_), []) => found.push(at.clone()),
        _ => {}
    }
}

/// Quotes around what has to be a text: what is written there, since `n` and `1.10` are read as something else.
pub(super) fn quote(app: &AppName, key: &ObjectKey, fields: &[FieldPath]) -> Option<Fix> {
    let mut fix =
        Fix::new(format!("Put {} into quotes", crate::words::list(fields.iter().map(ToString::to_string))))
            .risk(Risk::Low, format!("{} {}", key.kind, key.name))
            .why("the field holds a text, and without quotes it is read as a number or as yes and no");
    for path in fields {
        fix = fix.git(app, Place::Quote { object: key.clone(), path: path.clone() });
    }
    (!fields.is_empty()).then_some(fix)
}

/// Whether an object is too large for the annotation that holds what was last applied, and not by annotations of its own.
pub(super) fn is_too_large(text: &str, wanted: Option<&Object>) -> bool {
    let own = wanted.and_then(|wanted| wanted.at(&["metadata", "annotations"])).map(json::to_string);
    text.contains("metadata.annotations: Too long") && own.is_none_or(|own| own.len() < ANNOTATIONS)
}

/// The server itself keeps what was applied, which has no bound but that of the object.
pub(super) fn by_server(app: &App<'_>, key: &ObjectKey, wanted: Option<&Object>) -> [Fix; 2] {
    let option = options::sync::SERVER_SIDE_APPLY;
    let own =
        wanted.and_then(|wanted| wanted.annotation(annotations::SYNC_OPTIONS)).filter(|own| !own.is_empty());
    let value = sync_option::annotation(own.unwrap_or_default(), option);
    let path = FieldPath::fields(["metadata", "annotations"]).field(annotations::SYNC_OPTIONS);
    let one = Fix::new(format!("Have the server apply {} {}", key.kind, key.name))
        .git(&app.name, Place::Field { object: key.clone(), path, value: Some(Value::from(value)) })
        .risk(Risk::Low, format!("{} {}", key.kind, key.name))
        .why("what is applied on the server's side needs no annotation, and the others stay as they are");
    let all = Fix::new(format!("Have the server apply everything of {}", app.name));
    let all = sync_option::set(all, app, option)
        .risk(Risk::Medium, format!("all objects of {}", app.name))
        .why("the same for all that may grow");
    [one, all]
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots_with_fixes};

    fn refused(kind: &str, message: &str, wanted: &str) -> String {
        format!(
            "@app shop OutOfSync Missing\n@status {{operationState: {{phase: Failed, operation: {{}}, startedAt: null, syncResult: \
             {{revision: a, resources: [{{group: '', version: v1, kind: {kind}, namespace: shop, name: web, status: SyncFailed, \
             message: '{message}'}}]}}}}}}\napiVersion: v1\nkind: {kind}\nmetadata: {{name: web, namespace: shop{wanted}\n"
        )
    }

    #[test]
    fn what_is_no_text_is_put_into_quotes_in_every_place() {
        let message = "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field \
                       EnvVar.spec.containers.env.value of type string";
        let wanted = "}\nspec: {containers: [{name: a, env: [{name: A, value: x}, {name: B, value: 8080}]}, {name: b, env: [{name: \
                      C, value: true}]}]}";
        let fixes = roots_with_fixes(&refused("Pod", message, wanted));
        let told = |path: &str| format!("put quotes round what is written as {path} of Pod web");
        assert!(fixes.contains(&told("spec.containers[0].env[1].value")), "{fixes}");
        assert!(fixes.contains(&told("spec.containers[1].env[0].value")), "{fixes}");
    }

    #[test]
    fn a_label_that_is_no_text_is_put_into_quotes() {
        let message = "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal bool into Go struct field \
                       ObjectMeta.metadata.labels of type string";
        let fixes = roots_with_fixes(&refused("Pod", message, ", labels: {app: web, canary: true}}"));
        assert!(
            fixes.contains("put quotes round what is written as metadata.labels.canary of Pod web"),
            "{fixes}"
        );
    }

    #[test]
    fn what_is_too_large_for_an_annotation_is_applied_by_the_server() {
        let message =
            "ConfigMap \"web\" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes";
        let text =
            refused("ConfigMap", message, ", annotations: {argocd.argoproj.io/sync-options: Prune=false}}");
        let fixes = roots_with_fixes(&text);
        assert!(fixes.contains("to \"Prune=false,ServerSideApply=true\""), "{fixes}");
        assert!(
            check("LYN0808", &text).contains("what was last applied does not fit into an annotation"),
            "{text}"
        );
    }
}
