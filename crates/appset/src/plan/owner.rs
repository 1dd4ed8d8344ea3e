//! Whose an Application is.

use lynceus_api::{Application, ApplicationSet, GROUP, Kind, OwnerReference, VERSION};

/// An ApplicationSet as the owner of Applications.
pub(super) struct Owner<'a> {
    set: &'a ApplicationSet,
}

impl<'a> Owner<'a> {
    pub(super) fn of(set: &'a ApplicationSet) -> Self {
        Owner { set }
    }

    /// Whether an Application belongs to it.
    pub(super) fn owns(&self, app: &Application) -> bool {
        controller(app).is_some_and(|reference| self.is_meant(reference))
    }

    /// What else an Application belongs to.
    pub(super) fn other_owner(&self, app: &Application) -> Option<String> {
        let other = controller(app).filter(|reference| !self.is_meant(reference))?;
        Some(format!("{} {}", other.kind, other.name))
    }

    /// An ApplicationSet that was deleted and made anew goes on with its Applications, so the uid does not count.
    fn is_meant(&self, reference: &OwnerReference) -> bool {
        let group = reference.api_version.split_once('/').map_or("", |(group, _)| group);
        group == GROUP && reference.kind == ApplicationSet::KIND && reference.name == self.set.metadata.name
    }

    /// Makes it the owner.
    pub(super) fn put_on(&self, app: &mut Application) {
        let reference = OwnerReference {
            api_version: format!("{GROUP}/{VERSION}").into(),
            kind: ApplicationSet::KIND.into(),
            name: self.set.metadata.name.clone(),
            uid: self.set.metadata.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
            ..OwnerReference::default()
        };
        let owners = &mut app.metadata.owner_references;
        match owners.iter_mut().find(|one| self.is_meant(one)) {
            Some(own) => *own = reference,
            None => owners.push(reference),
        }
    }
}

fn controller(app: &Application) -> Option<&OwnerReference> {
    app.metadata.owner_references.iter().find(|one| one.controller == Some(true))
}
