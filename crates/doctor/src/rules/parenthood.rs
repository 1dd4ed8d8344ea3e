//! In which wave of which parent each application comes: what several rules ask.

use std::collections::HashMap;

use lynceus_api::{GROUP, TrackingId, annotations, labels, wave};
use lynceus_object::ObjectKey;

use crate::case::Case;
use crate::node::AppName;

/// In which wave of which parent an application comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) parent: AppName,
    pub(super) wave: i64,
}

/// The places of all applications that have a parent.
pub(super) struct Places(HashMap<AppName, Place>);

impl Places {
    /// As parents want them, as their statuses list them, and as the applications are marked.
    pub(super) fn new(case: &Case<'_>) -> Self {
        let mut places = HashMap::new();
        let mut note = |key: &ObjectKey, parent: &AppName, wave: i64| {
            if (key.group.as_str(), key.kind.as_str()) == (GROUP, "Application") {
                let child = AppName::new(key.namespace.clone(), key.name.clone());
                places.entry(child).or_insert_with(|| Place { parent: parent.clone(), wave });
            }
        };
        for app in case.apps() {
            app.wanted().iter().for_each(|one| note(&one.object.key(), &app.name, wave(&one.object)));
            app.resources().for_each(|(key, one)| note(&key, &app.name, one.sync_wave));
        }
        for app in case.apps() {
            let metadata = &app.application().metadata;
            let (marks, key) = (&metadata.annotations, key_of(&app.name));
            let wave = marks.get(annotations::SYNC_WAVE).and_then(|text| text.parse::<i64>().ok());
            let id = marks.get(annotations::TRACKING_ID).and_then(|text| text.parse::<TrackingId>().ok());
            let named =
                id.map(|id| id.application).or_else(|| metadata.labels.get(labels::INSTANCE).cloned());
            // Those with a wave and without a mark have one parent, which somebody applied by hand.
            if wave.is_some() || named.is_some() {
                let named = named.unwrap_or_default();
                let parent = match named.split_once('_') {
                    Some((namespace, name)) => AppName::new(namespace, name),
                    None => AppName::new(case.snapshot.home.clone(), named),
                };
                note(&key, &parent, wave.unwrap_or(0));
            }
        }
        Places(places)
    }

    /// The place of an application.
    pub(super) fn of(&self, name: &AppName) -> Option<&Place> {
        self.0.get(name)
    }

    /// Whether one application comes in an earlier wave of the same parent than another.
    pub(super) fn is_before(&self, first: &AppName, second: &AppName) -> bool {
        match (self.of(first), self.of(second)) {
            (Some(first), Some(second)) => first.parent == second.parent && first.wave < second.wave,
            _ => false,
        }
    }
}

fn key_of(name: &AppName) -> ObjectKey {
    ObjectKey::new(GROUP, "Application", name.namespace.clone(), name.name.clone())
}
