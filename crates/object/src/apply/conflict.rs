//! Fields that somebody else owns.

use std::fmt;

use super::managers::ManagerId;
use crate::path::FieldPath;

/// A field that a configuration sets and another manager owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Who owns it.
    pub manager: ManagerId,
    /// The field.
    pub path: FieldPath,
}

impl Conflict {
    /// The field, as a cause in `Status` names it.
    pub fn field(&self) -> String {
        format!("{:#}", self.path)
    }

    /// The message of a cause in `Status`.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

/// The conflicts of one apply, by manager and field.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflicts(pub Vec<Conflict>);

/// The message of the `Status` that a server answers with.
impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return write!(f, "Apply failed with 1 conflict: {}: {}", only.message(), only.field());
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        let mut last = None;
        for conflict in &self.0 {
            if last != Some(&conflict.manager) {
                let newline = if last.is_some() { "\n" } else { "" };
                write!(f, "{newline}conflicts with {}:", conflict.manager)?;
                last = Some(&conflict.manager);
            }
            write!(f, "\n- {}", conflict.field())?;
        }
        Ok(())
    }
}

impl std::error::Error for Conflicts {}
