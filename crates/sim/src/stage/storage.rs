//! Storage classes, and provisioners that fail.

use lynceus_object::Str;

use super::read::{Field, StageError};

/// A storage class that is there from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The StorageClass's name.
    pub class: Str,
    /// Who makes its volumes; the built-in provisioner if none.
    pub provisioner: Option<Str>,
    /// Whether volumes are made only when a pod needs them.
    pub waits: bool,
    /// What the provisioner says instead of making a volume.
    pub fails: Option<Str>,
    /// Whether it is for claims that name no class.
    pub default: bool,
}

/// What the class is called that is there where a stage lists none.
pub const STANDARD: &str = "standard";

impl Storage {
    /// The class that is there where a stage lists none.
    pub fn usual() -> Self {
        Storage { class: STANDARD.into(), provisioner: None, waits: false, fails: None, default: true }
    }

    pub(super) fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let text = |key: &str| field.get(key).map(|text| text.text().map(Str::from)).transpose();
        let binding =
            field.get("binding").map(|word| word.word(&["Immediate", "WaitForFirstConsumer"])).transpose()?;
        Ok(Storage {
            class: field.need("class")?.text()?.into(),
            provisioner: text("provisioner")?,
            waits: binding == Some("WaitForFirstConsumer"),
            fails: text("fails")?,
            default: field.get("default").map(|flag| flag.flag()).transpose()?.unwrap_or(false),
        })
    }
}
