//! Tracking ids: which application an object belongs to.

use std::fmt;
use std::str::FromStr;

use lynceus_object::{Object, ObjectKey, Str, Value};

use crate::annotations;
use crate::codes::TrackingMethod;

/// The value of the tracking annotation: `app:group/kind:namespace/name`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrackingId {
    /// The application, with its namespace (`team_app`) when it lives outside the installation's own.
    pub application: Str,
    /// The object that the id was written for; one that differs is a copy, which nobody owns.
    pub object: ObjectKey,
}

/// A tracking annotation that is not of the form `app:group/kind:namespace/name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wrong resource tracking format, should be <application-name>:<group>/<kind>:<namespace>/<name>")]
pub struct TrackingIdError;

impl TrackingId {
    /// The id that `application` writes on an object; `namespace` is used where it names none itself.
    pub fn for_object(application: impl Into<Str>, object: &Object, namespace: &str) -> Self {
        let mut key = object.key();
        if key.namespace.is_empty() {
            key.namespace = namespace.into();
        }
        TrackingId { application: application.into(), object: key }
    }

    /// The id that an object carries, if it carries a valid one.
    pub fn of(object: &Object) -> Option<Self> {
        object.annotation(annotations::TRACKING_ID)?.parse().ok()
    }
}

impl fmt::Display for TrackingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectKey { group, kind, namespace, name } = &self.object;
        write!(f, "{}:{group}/{kind}:{namespace}/{name}", self.application)
    }
}

impl FromStr for TrackingId {
    type Err = TrackingIdError;

    fn from_str(text: &str) -> Result<Self, TrackingIdError> {
        let (application, rest) = text.split_once(':').ok_or(TrackingIdError)?;
        let (kind, name) = rest.split_once(':').ok_or(TrackingIdError)?;
        let (group, kind) = pair(kind)?;
        let (namespace, name) = pair(name)?;
        Ok(TrackingId {
            application: application.into(),
            object: ObjectKey::new(group, kind, namespace, name),
        })
    }
}

fn pair(text: &str) -> Result<(&str, &str), TrackingIdError> {
    text.split_once('/').filter(|(_, second)| !second.contains('/')).ok_or(TrackingIdError)
}

/// How an installation marks the objects of its applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracking {
    /// By annotation, label or both.
    pub method: TrackingMethod,
    /// The label's key.
    pub label: Str,
    /// Which installation this is, where several share a cluster; empty when it is the only one.
    pub installation: Str,
}

impl Default for Tracking {
    fn default() -> Self {
        Tracking {
            method: TrackingMethod::Annotation,
            label: crate::labels::INSTANCE.into(),
            installation: Str::new(),
        }
    }
}

impl Tracking {
    /// The application that an object says it belongs to.
    pub fn application(&self, object: &Object) -> Option<Str> {
        let found = match self.method {
            TrackingMethod::Label => object.label(&self.label).map(Str::from),
            TrackingMethod::Annotation | TrackingMethod::AnnotationAndLabel => {
                let theirs = object.annotation(annotations::INSTALLATION_ID).unwrap_or_default();
                if self.installation != theirs {
                    return None;
                }
                TrackingId::of(object).map(|id| id.application)
            }
        };
        found.filter(|application| !application.is_empty())
    }

    /// Marks an object as belonging to `application`; `namespace` is used where it names none itself.
    pub fn mark(&self, object: &mut Object, application: &str, namespace: &str) {
        if self.method != TrackingMethod::Label {
            let id = TrackingId::for_object(application, object, namespace);
            if self.installation.is_empty() {
                object.remove(&["metadata", "annotations", annotations::INSTALLATION_ID]);
            } else {
                object.set_annotation(annotations::INSTALLATION_ID, self.installation.clone());
            }
            object.set_annotation(annotations::TRACKING_ID, Value::from(id.to_string()));
        }
        match self.method {
            TrackingMethod::Annotation => {}
            TrackingMethod::Label => object.set_label(&self.label.clone(), application),
            TrackingMethod::AnnotationAndLabel => {
                object.set_label(&self.label.clone(), truncated_label(application));
            }
        }
    }
}

/// A label value of at most 63 bytes that ends as a label value may.
fn truncated_label(text: &str) -> &str {
    const LABEL_MAX: usize = 63;
    let cut = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= LABEL_MAX).last();
    let kept = if text.len() <= LABEL_MAX { text } else { &text[..cut.unwrap_or(0)] };
    if kept.len() == text.len() { kept } else { kept.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::Gvk;

    #[test]
    fn an_id_is_read_and_printed() {
        for text in ["shop:apps/Deployment:prod/web", "shop:/Namespace:/prod", "team_shop:/Service:prod/a:b"]
        {
            assert_eq!(text.parse::<TrackingId>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_id_of_another_form_is_refused() {
        for text in ["", "shop", "shop:apps/Deployment", "shop:Deployment:prod/web", "shop:a/b/c:prod/web"] {
            assert_eq!(text.parse::<TrackingId>(), Err(TrackingIdError), "{text}");
        }
    }

    #[test]
    fn marking_names_the_destination_namespace() {
        let mut object = Object::named(&Gvk::new("apps", "v1", "Deployment"), "", "web");
        let tracking = Tracking::default();
        tracking.mark(&mut object, "shop", "prod");
        assert_eq!(object.annotation(annotations::TRACKING_ID), Some("shop:apps/Deployment:prod/web"));
        assert_eq!(tracking.application(&object).as_deref(), Some("shop"));
    }

    #[test]
    fn another_installations_objects_are_not_ours() {
        let mut object = Object::named(&Gvk::new("", "v1", "Service"), "prod", "web");
        Tracking { installation: "east".into(), ..Tracking::default() }.mark(&mut object, "shop", "prod");
        assert_eq!(Tracking::default().application(&object), None);
    }

    #[test]
    fn a_long_name_is_cut_for_the_label_only() {
        let mut object = Object::named(&Gvk::new("", "v1", "Service"), "prod", "web");
        let name = format!("{}-{}", "a".repeat(62), "b".repeat(10));
        let both = Tracking { method: TrackingMethod::AnnotationAndLabel, ..Tracking::default() };
        both.mark(&mut object, &name, "prod");
        assert_eq!(object.label(crate::labels::INSTANCE), Some("a".repeat(62).as_str()));
        assert_eq!(both.application(&object).as_deref(), Some(name.as_str()));
    }
}
