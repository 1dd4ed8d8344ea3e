//! Values with fields and methods: Go's structs, pointers to them, and declared types.

use std::any::Any;

use crate::types::Type;
use crate::{Context, Failure, Signature, Str, Value};

/// A value that Go would have as a struct, as a pointer to one, or as a declared type such as `time.Duration`.
pub trait Object {
    /// The Go type, which also lists the methods.
    fn go_type(&self) -> Type;

    /// For downcasting.
    fn as_any(&self) -> &dyn Any;

    /// The exported field of a name.
    fn field(&self, name: &str) -> Option<Value> {
        self.fields().into_iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// All fields in the order of their declaration, for `%v` and for YAML.
    fn fields(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// What the type's `Error` or `String` method gives, if it has one: printing uses it.
    fn text(&self) -> Option<Str> {
        None
    }

    /// What the `String` method of a pointer to it gives, if it has one: a template prints it where it stands in
    /// another struct, but functions that it is given to do not see it.
    fn pointer_text(&self) -> Option<Str> {
        None
    }

    /// The plain value that a declared type is made of.
    fn underlying(&self) -> Option<Value> {
        None
    }

    /// Whether `if` takes it as true. Structs and pointers that are not nil always are.
    fn truth(&self) -> bool {
        self.underlying().is_none_or(|value| value.truth())
    }

    /// Whether Go's `==` on two values of this type is true; `None` if they cannot be compared.
    fn equals(&self, other: &dyn Object) -> Option<bool> {
        let _ = other;
        None
    }

    /// What `toYaml` and `toJson` print in its place.
    fn json(&self) -> Json {
        match self.underlying() {
            Some(value) => Json::Value(value),
            None => Json::Fields(self.fields()),
        }
    }
}

/// What stands for an object in JSON.
pub enum Json {
    /// A value of another kind, such as the text of a time.
    Value(Value),
    /// The fields of a struct, which keep their order.
    Fields(Vec<(&'static str, Value)>),
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Value(value) => value,
            Json::Fields(fields) => Value::map(fields),
        }
    }
}

/// Something that can be called on the values of a type.
pub struct Method {
    /// Its name in Go.
    pub name: &'static str,
    /// What it takes and gives.
    pub signature: Signature,
    /// The code; the second argument is the value that it is called on.
    pub call: fn(&mut Context<'_>, &Value, &[Value]) -> Result<Value, Failure>,
}
