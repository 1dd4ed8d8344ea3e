//! Fields of custom resources that hold a built-in type.

use lynceus_object::schema::{self, ProblemKind, TypeRef};
use lynceus_object::{GroupKind, Object, Str, Value};

/// Which fields of which custom kinds hold a built-in type, and so are compared in its form.
#[derive(Clone, Debug)]
pub struct KnownTypes(Vec<KnownType>);

#[derive(Clone, Debug)]
struct KnownType {
    kind: GroupKind,
    field: Vec<Str>,
    ty: TypeRef<'static>,
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
        let name = match type_name.rsplit_once('/') {
            Some((package, name)) => format!("{package}.{name}"),
            None => type_name.to_owned(),
        };
        let unknown = || UnknownType { name: type_name.to_owned() };
        let ty = schema::builtin().named(&name).ok_or_else(unknown)?;
        self.0.push(KnownType { kind, field: field.split('.').map(Str::from).collect(), ty });
        Ok(())
    }

    /// Writes the fields of an object in the form of their types.
    pub(crate) fn apply(&self, object: &mut Object) {
        let kind = object.group_kind();
        for known in self.0.iter().filter(|known| known.kind == kind) {
            reprint(object.value_mut(), &known.field, known.ty);
        }
    }
}

/// Follows a path through maps and all items of lists, and writes what is at its end as its type prints it.
fn reprint(value: &mut Value, path: &[Str], ty: TypeRef<'_>) {
    match (path.split_first(), value) {
        (_, Value::Seq(items)) => items.make_mut().iter_mut().for_each(|item| reprint(item, path, ty)),
        (None, value) => {
            let problems = schema::check(value, ty);
            if !problems.iter().any(|problem| matches!(problem.kind, ProblemKind::Type(_))) {
                schema::round_trip(value, ty);
            }
        }
        (Some((first, rest)), Value::Map(map)) => {
            if let Some(child) = map.get_mut(first) {
                reprint(child, rest, ty);
            }
        }
        _ => {}
    }
}
