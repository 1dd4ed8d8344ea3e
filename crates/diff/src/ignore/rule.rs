//! One rule: which objects it is for, and what it leaves out of them.

use lynceus_api::{Glob, ResourceIgnoreDifferences};
use lynceus_object::{FieldPath, Object, Segment, Str, Value, patch, value};

use super::jq::{JqError, JqPath};

/// Where a rule stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the Application, by its number in `spec.ignoreDifferences`.
    Application(usize),
    /// In the settings of the installation.
    System,
    /// In nobody's text: every comparison has it.
    #[default]
    BuiltIn,
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) place: Place,
    group: Option<Glob>,
    kind: Option<Glob>,
    /// Group and kind as written.
    written: (Str, Str),
    name: Str,
    namespace: Str,
    pub(super) what: What,
}

/// What a rule leaves out.
#[derive(Clone, Debug)]
pub(super) enum What {
    Pointer(Pointer),
    Jq(Str, JqPath),
    Managers(Vec<Str>),
}

#[derive(Clone, Debug)]
pub(super) struct Pointer {
    text: Str,
    path: Option<FieldPath>,
    removal: Value,
}

/// What was left out of one object.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    pub(super) fields: usize,
    pub(super) whole: Option<Str>,
}

impl Rule {
    pub(super) fn new(rule: &ResourceIgnoreDifferences, place: Place, what: What) -> Self {
        Rule {
            place,
            // A pattern that is not one fits nothing.
            group: Glob::new(&rule.group).ok(),
            kind: Glob::new(&rule.kind).ok(),
            written: (rule.group.clone(), rule.kind.clone()),
            name: rule.name.clone(),
            namespace: rule.namespace.clone(),
            what,
        }
    }

    pub(super) fn is_for(&self, object: &Object) -> bool {
        let fits = |glob: &Option<Glob>, text: &str| glob.as_ref().is_some_and(|glob| glob.matches(text));
        fits(&self.kind, object.kind())
            && fits(&self.group, object.group())
            && (self.name.is_empty() || self.name == object.name())
            && (self.namespace.is_empty() || self.namespace == object.namespace())
    }

    pub(super) fn kind_text(&self) -> Str {
        let (group, kind) = &self.written;
        if group.is_empty() { kind.clone() } else { format!("{group}/{kind}").into() }
    }
}

impl What {
    pub(super) fn pointer(text: &Str) -> Self {
        What::Pointer(Pointer {
            text: text.clone(),
            path: FieldPath::parse_pointer(text).ok(),
            removal: value!([{"op": "remove", "path": text.as_str()}]),
        })
    }

    pub(super) fn text(&self) -> Str {
        match self {
            What::Pointer(pointer) => pointer.text.clone(),
            What::Jq(text, _) => text.clone(),
            What::Managers(managers) => format!("managed by {}", managers.join(", ")).into(),
        }
    }

    /// Removes from an object what the rule names. Managers need both sides and do nothing here.
    pub(super) fn apply(&self, object: &mut Object) -> Result<LeftOut, JqError> {
        match self {
            What::Pointer(pointer) => Ok(pointer.remove(object)),
            What::Jq(_, path) => {
                let deleted = path.delete(object.value())?;
                if deleted.fields == 0 {
                    return Ok(LeftOut::default());
                }
                let whole = deleted.part.map(Str::from).filter(|part| part != "status");
                // One that would leave nothing of the object is not followed, and told of.
                if let Ok(changed) = Object::new(deleted.value) {
                    *object = changed;
                }
                Ok(LeftOut { fields: deleted.fields, whole })
            }
            What::Managers(_) => Ok(LeftOut::default()),
        }
    }
}

impl Pointer {
    fn remove(&self, object: &mut Object) -> LeftOut {
        // To look costs nothing, and most objects have no such field.
        if self.path.as_ref().is_some_and(|path| path.get(object.value()).is_none()) {
            return LeftOut::default();
        }
        match patch::json(object.value(), &self.removal).map(Object::new) {
            Ok(Ok(changed)) => {
                *object = changed;
                LeftOut { fields: 1, whole: self.whole() }
            }
            _ => LeftOut::default(),
        }
    }

    /// How many fields it names in an object.
    pub(super) fn names(&self, object: &Object) -> LeftOut {
        let found = self.path.as_ref().is_some_and(|path| path.get(object.value()).is_some());
        LeftOut { fields: usize::from(found), whole: self.whole().filter(|_| found) }
    }

    fn whole(&self) -> Option<Str> {
        match self.path.as_ref()?.segments() {
            [Segment::Field(name)] if name != "status" => Some(name.clone()),
            _ => None,
        }
    }
}
