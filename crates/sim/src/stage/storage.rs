//! Storage classes, and provisioners that fail.

use lynceus_object::Str;

use super::read::{Field, StageError};
use crate::controllers::PROVISIONER;
use crate::kinds::validation::names;

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

    /// Who makes its volumes.
    pub fn provisioner(&self) -> &str {
        self.provisioner.as_deref().unwrap_or(PROVISIONER)
    }

    pub(super) fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let text = |key: &str| field.get(key).map(|text| text.text().map(Str::from)).transpose();
        let binding =
            field.get("binding").map(|word| word.word(&["Immediate", "WaitForFirstConsumer"])).transpose()?;
        Ok(Storage {
            class: field.need("class")?.name(names::dns_subdomain)?.into(),
            provisioner: field.get("provisioner").map(|text| text.name(driver).map(Str::from)).transpose()?,
            waits: binding == Some("WaitForFirstConsumer"),
            fails: text("fails")?,
            default: field.get("default").map(|flag| flag.flag()).transpose()?.unwrap_or(false),
        })
    }
}

/// What is wrong with the name of a provisioner.
fn driver(text: &str) -> Vec<String> {
    names::label_key(&text.to_lowercase())
}

/// Reads all classes, none of which may have the name of another.
pub(super) fn read_all(root: &Field<'_>) -> Result<Vec<Storage>, StageError> {
    let mut classes: Vec<Storage> = Vec::new();
    for field in root.get("storage").map_or_else(|| Ok(Vec::new()), |list| list.items())? {
        let class = Storage::of(&field)?;
        if classes.iter().any(|known| known.class == class.class) {
            let problem = format!("is the second class with the name {}", class.class);
            return Err(field.wrong(problem, "give each class a name of its own"));
        }
        classes.push(class);
    }
    Ok(classes)
}
