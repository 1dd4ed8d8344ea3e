//! Fields that do not fit the kind of an object: what it has not, and what cannot be held.

use lynceus_object::schema::{self, ProblemKind, TypeRef};
use lynceus_object::{FieldPath, Object, ObjectKey, Segment, Value};

use crate::fix::{Fix, Place, Risk};
use crate::node::AppName;
use crate::rules::near;
use crate::words;

/// A field that does not fit.
pub(super) struct Unfit {
    /// Where it is.
    pub(super) path: FieldPath,
    /// What stands there.
    value: Value,
    /// The field that was probably meant, where the kind has none of that name.
    meant: Option<String>,
}

impl Unfit {
    /// What is wrong with it, to be put behind what the server says.
    pub(super) fn told(&self) -> String {
        match &self.meant {
            Some(meant) => format!("; {} is called {meant}", self.path),
            None => format!("; {} is {}", self.path, words::shown(&self.value)),
        }
    }
}

/// The fields of an object that does not fit its kind.
pub(super) fn find(object: &Object) -> Vec<Unfit> {
    let Some(kind) = schema::builtin().of(&object.gvk()) else { return Vec::new() };
    let problems = schema::check(object.value(), kind).into_iter();
    let unfit = problems.filter_map(|problem| {
        let path = FieldPath::parse(&problem.path).ok()?;
        let value = path.get(object.value())?.clone();
        let is_unknown = problem.kind == ProblemKind::Unknown;
        let meant = if is_unknown { meant(kind, &path, object.value()) } else { None };
        Some(Unfit { path, value, meant })
    });
    unfit.take(crate::limits::NAMED).collect()
}

/// The field of the same map that is called almost so and is not there yet.
fn meant(kind: TypeRef<'_>, path: &FieldPath, object: &Value) -> Option<String> {
    let parent = path.parent()?;
    let Some(Segment::Field(name)) = path.segments().last() else { return None };
    let holder = parent.segments().iter().try_fold(kind, |kind, segment| match segment {
        Segment::Field(name) => kind.child(name),
        _ => kind.item(),
    })?;
    let there = parent.get(object)?;
    let free = holder.fields().map(|field| field.name()).filter(|name| there.get(name).is_none());
    near::nearest(name, free).map(ToOwned::to_owned)
}

/// Gives the fields the names that they should have.
pub(super) fn rename(app: &AppName, key: &ObjectKey, unfit: &[Unfit]) -> Option<Fix> {
    let titles = unfit.iter().filter_map(|one| Some(format!("{} {}", one.path, one.meant.as_ref()?)));
    let mut fix = Fix::new(format!("Call {}", words::list(titles)))
        .risk(Risk::Low, format!("{} {}", key.kind, key.name))
        .why("the kind has such a field, and it differs by a slip of the hand");
    for one in unfit {
        let (Some(meant), Some(parent)) = (&one.meant, one.path.parent()) else { continue };
        let (object, value) = (key.clone(), Some(one.value.clone()));
        fix = fix
            .git(app, Place::Field { object: object.clone(), path: one.path.clone(), value: None })
            .git(app, Place::Field { object, path: parent.field(meant.as_str()), value });
    }
    fix.has_edits().then_some(fix)
}
