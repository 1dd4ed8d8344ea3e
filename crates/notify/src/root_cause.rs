//! One trigger of our own: a root cause that was not there before.

use lynceus_object::{Str, Value, value};

/// What expressions and templates call it. A trigger that asks for it is told of root causes, whatever the trigger's name.
pub const ROOT_CAUSE: &str = "rootCause";

/// Something that the doctor found at the root of what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootCause {
    /// What tells it from others, and stays the same while it lasts.
    pub id: Str,
    /// The sort of trouble, such as `LYN0101`.
    pub code: Str,
    /// How bad it is, `P0` to `P3`.
    pub severity: Str,
    /// What is wrong.
    pub subject: String,
    /// Why, in one sentence.
    pub cause: String,
    /// What would mend it, in one sentence; empty if nobody knows.
    pub fix: String,
    /// The applications that stand still because of it, as `namespace/name`.
    pub applications: Vec<Str>,
}

impl RootCause {
    /// Whether an application stands still because of it.
    pub fn stops(&self, application: &str) -> bool {
        self.applications.iter().any(|name| name == application)
    }

    /// What expressions and templates see under `rootCause`.
    pub fn to_value(&self) -> Value {
        let applications: Vec<Value> =
            self.applications.iter().map(|name| Value::from(name.clone())).collect();
        let mut value = value!({
            "id": (self.id.as_str()),
            "code": (self.code.as_str()),
            "severity": (self.severity.as_str()),
            "subject": (self.subject.as_str()),
            "cause": (self.cause.as_str()),
            "fix": (self.fix.as_str()),
        });
        value.set(&["applications"], Value::from(applications));
        value
    }
}
