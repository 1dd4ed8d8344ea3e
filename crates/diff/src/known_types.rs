//! Fields of custom resources that hold a built-in type.

use lynceus_object::schema::{self, ProblemKind, Scalar, TypeRef};
use lynceus_object::{GroupKind, Object, Str, Value};

/// Which fields of which custom kinds hold a built-in type, and so are compared in its form.
#[derive(Clone, Debug)]
pub struct KnownTypes(Vec<KnownType>);

#[derive(Clone, Debug)]
struct KnownType {
    kind: GroupKind,
    field: Vec<Str>,
    form: Form,
}

/// The form that a field is compared in.
#[derive(Clone, Copy, Debug)]
enum Form {
    Type(TypeRef<'static>),
    Scalar(Scalar),
}

/// A type that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("type '{name}' is not supported")]
pub struct UnknownType {
    /// The name as it was given.
    pub name: String,
}

/// An Argo Rollout holds a pod template, whatever the settings say.
impl Default for KnownTypes {
    fn default() -> Self {
        let mut types = KnownTypes(Vec::new());
        // A name that is missing in the table would only mean a coarser comparison.
        let _ = types.add(GroupKind::new("argoproj.io", "Rollout"), "spec.template.spec", "core/v1/PodSpec");
        types
    }
}

impl KnownTypes {
    /// Knows of none.
    pub const fn none() -> Self {
        KnownTypes(Vec::new())
    }

    /// Says that a field, by its dotted path, holds a type such as `core/v1/PodSpec`.
    pub fn add(&mut self, kind: GroupKind, field: &str, type_name: &str) -> Result<(), UnknownType> {
        let form = Form::named(type_name).ok_or_else(|| UnknownType { name: type_name.to_owned() })?;
        self.0.push(KnownType { kind, field: field.split('.').map(Str::from).collect(), form });
        Ok(())
    }

    /// Forgets what holds for a kind if nothing else is said.
    pub(crate) fn forget(&mut self, kind: &GroupKind) {
        self.0.retain(|known| known.kind != *kind);
    }

    /// Whether an object has such fields.
    pub(crate) fn has(&self, object: &Object) -> bool {
        self.of(object).next().is_some()
    }

    /// Writes the fields of an object in the form of their types.
    pub(crate) fn apply(&self, object: &mut Object) {
        if !self.has(object) {
            return;
        }
        let kind = object.group_kind();
        for known in self.0.iter().filter(|known| known.kind == kind) {
            reprint(object.value_mut(), &known.field, known.form);
        }
    }

    fn of<'a>(&'a self, object: &'a Object) -> impl Iterator<Item = &'a KnownType> {
        let (group, kind) = (object.group(), object.kind());
        self.0.iter().filter(move |known| known.kind.kind == kind && known.kind.group == group)
    }
}

impl Form {
    /// `core/v1/PodSpec` is a type of the table; amounts and times have names of their own.
    fn named(name: &str) -> Option<Self> {
        match name {
            "core/Quantity" => return Some(Form::Scalar(Scalar::Quantity)),
            "meta/v1/Duration" => return Some(Form::Scalar(Scalar::Duration)),
            _ => {}
        }
        let (package, name) = name.rsplit_once('/')?;
        schema::builtin().named(&format!("{package}.{name}")).map(Form::Type)
    }

    fn write(self, value: &mut Value) {
        match self {
            Form::Scalar(scalar) => {
                if let Some(usual) = schema::usual_form(scalar, value) {
                    *value = usual;
                }
            }
            Form::Type(ty) => {
                let problems = schema::check(value, ty);
                if !problems.iter().any(|problem| matches!(problem.kind, ProblemKind::Type(_))) {
                    schema::round_trip(value, ty);
                }
            }
        }
    }
}

/// Follows a path through maps and all items of lists, and writes what is at its end as its type prints it.
fn reprint(value: &mut Value, path: &[Str], form: Form) {
    match (path.split_first(), value) {
        (_, Value::Seq(items)) => items.make_mut().iter_mut().for_each(|item| reprint(item, path, form)),
        (None, value) => form.write(value),
        (Some((first, rest)), Value::Map(map)) => {
            if let Some(child) = map.get_mut(first) {
                reprint(child, rest, form);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn check(type_name: &str, field: &str, given: Value, expect: Value) {
        let mut types = KnownTypes::none();
        types.add(GroupKind::new("x.io", "Thing"), field, type_name).expect("it is known");
        let mut object =
            Object::new(value!({"apiVersion": "x.io/v1", "kind": "Thing", "spec": given})).expect("a map");
        types.apply(&mut object);
        assert_eq!(object.at(&["spec"]), Some(&expect), "{type_name}");
    }

    #[test]
    fn amounts_and_times_are_written_in_their_usual_form() {
        check("core/Quantity", "spec.size", value!({"size": "1024Mi"}), value!({"size": "1Gi"}));
        check("core/Quantity", "spec.size", value!({"size": 1}), value!({"size": "1"}));
        check("meta/v1/Duration", "spec.after", value!({"after": "90s"}), value!({"after": "1m30s"}));
        check("meta/v1/Duration", "spec.after", value!({"after": "soon"}), value!({"after": "soon"}));
    }

    #[test]
    fn types_are_found_inside_lists_and_what_does_not_fit_stays() {
        check(
            "core/v1/ResourceRequirements",
            "spec.parts.resources",
            value!({"parts": [{"resources": {"limits": {"cpu": "1000m"}}}, {"resources": {"requests": {}}}, {}]}),
            value!({"parts": [{"resources": {"limits": {"cpu": "1"}}}, {"resources": {}}, {}]}),
        );
        let odd = value!({"template": {"containers": "none"}});
        check("core/v1/PodSpec", "spec.template", odd.clone(), odd);
    }

    #[test]
    fn a_type_that_nobody_knows_is_told_of() {
        let mut types = KnownTypes::default();
        let error =
            types.add(GroupKind::new("x.io", "Thing"), "spec", "core/v9/Nothing").expect_err("unknown");
        assert_eq!(error.to_string(), "type 'core/v9/Nothing' is not supported");
    }

    #[test]
    fn what_argo_cd_lists_is_known() {
        for name in [
            "PodSpec",
            "PodTemplateSpec",
            "Container",
            "ResourceList",
            "Affinity",
            "Toleration",
            "Volume",
            "Probe",
        ] {
            assert!(Form::named(&format!("core/v1/{name}")).is_some(), "{name}");
        }
    }
}
