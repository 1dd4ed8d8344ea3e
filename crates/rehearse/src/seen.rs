//! What there is to see when a rehearsal is over, for the doctor.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{
    Application, ApplicationCondition, ApplicationConditionType, HealthStatusCode, SyncStatusCode,
};
use lynceus_doctor::{Delivery, Pods, Refused, Snapshot, near};
use lynceus_engine::AppKey;
use lynceus_files::{FilePath, Span};
use lynceus_object::{ObjectKey, Str};
use lynceus_sim::stage::{Availability, Reference};

use crate::assumption::Sort;
use crate::limits;
use crate::play::Rehearsal;
use crate::report::{Place, REFUSES};

impl Rehearsal {
    /// Everything that there is to see at the end. What was not rehearsed or only assumed is said to be unseen: nothing can be
    /// concluded from how it is on the stage.
    pub async fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.world().engine().snapshot().await;
        let is_skipped = |one: &Delivery| {
            let metadata = &one.application.metadata;
            self.world().is_skipped(&AppKey::new(metadata.namespace.clone(), metadata.name.clone()))
        };
        let (skipped, played): (Vec<Delivery>, Vec<Delivery>) =
            std::mem::take(&mut snapshot.applications).into_iter().partition(is_skipped);
        let hosts: BTreeSet<String> = played.iter().flat_map(hosts_of).collect();
        snapshot.applications = played;
        // Where a host is called almost as one that others come from, its application is wrong, and not merely out of reach.
        let wrong = skipped.into_iter().filter(|one| {
            hosts_of(one).iter().any(|host| near::slip(host, hosts.iter().map(String::as_str)).is_some())
        });
        let wrong: Vec<Delivery> = wrong.map(|one| self.unread(one)).collect();
        snapshot.applications.extend(wrong);
        let refused = self.report.not_rehearsed.iter().filter_map(|one| Some((one, one.at_fault.as_ref()?)));
        for (one, key) in refused {
            let span = one.place.as_ref().and_then(span);
            if key.kind == "Application" {
                snapshot.applications.push(missing(key, span.clone()));
            }
            let why = one.why.strip_prefix(REFUSES).unwrap_or(&one.why);
            snapshot.refused.push(Refused { key: key.clone(), span, why: why.to_owned() });
        }
        let unrehearsed = self.report.not_rehearsed.iter().filter(|one| one.at_fault.is_none());
        snapshot.unseen.extend(unrehearsed.map(|one| match &one.place {
            Some(place) => format!("{} ({place}): {}", one.what, one.why),
            None => format!("{}: {}", one.what, one.why),
        }));
        let notes = self.report.notes.iter();
        snapshot.unseen.extend(notes.map(|note| format!("{}: {}", note.place, note.message)));
        snapshot.unseen.extend(self.assumptions());
        snapshot.lost_images = self.lost_images(&snapshot);
        snapshot
    }

    /// An application that could not be read, as its controller would say it.
    fn unread(&self, mut one: Delivery) -> Delivery {
        let name = format!("Application {}", one.application.metadata.name);
        let told = self.report.not_rehearsed.iter().find(|other| other.what == name);
        let message = told.map(|told| told.why.clone()).unwrap_or_default();
        // That nobody looks at it is the rehearsal's doing.
        one.application.metadata.annotations.remove(lynceus_api::annotations::SKIP_RECONCILE);
        let status = &mut one.application.status;
        status.sync.status = SyncStatusCode::Unknown.into();
        status.health.status = HealthStatusCode::Unknown.into();
        status.conditions.push(ApplicationCondition {
            type_: ApplicationConditionType::ComparisonError.into(),
            message: message.into(),
            ..ApplicationCondition::default()
        });
        one
    }

    /// The images of what was not made any more that the stage does not have.
    pub fn lost_images(&self, snapshot: &Snapshot) -> BTreeMap<Str, String> {
        let wanted = snapshot.applications.iter().flat_map(|one| &one.wanted);
        let pods = wanted.filter_map(|wanted| Pods::of(&wanted.object));
        let mut lost = BTreeMap::new();
        for (_, container) in pods.flat_map(|pods| pods.containers()) {
            let Some(image) = container.str_at(&["image"]).filter(|image| !image.is_empty()) else {
                continue;
            };
            let said = match Reference::parse(image) {
                Err(problem) => Some(format!("InvalidImageName: {problem}")),
                // What there is for which machine depends on where the pods come to be.
                Ok(reference) => (self.images.find(&reference, "linux/amd64", true)
                    == Availability::NotFound)
                    .then(|| "the registry will say that it is not found".to_owned()),
            };
            lost.extend(said.map(|said| (Str::from(image), said)));
        }
        lost
    }

    /// What was taken to be there, a sentence for each sort.
    fn assumptions(&self) -> impl Iterator<Item = String> {
        let mut sorts: BTreeMap<Sort, Vec<&str>> = BTreeMap::new();
        for one in &self.report.assumed {
            sorts.entry(one.sort).or_default().push(&one.what);
        }
        sorts.into_iter().map(|(sort, names)| {
            let shown = names.iter().take(limits::NAMED).copied().collect::<Vec<_>>().join(", ");
            match names.len().saturating_sub(limits::NAMED) {
                0 => format!("{sort} are taken to be there: {shown}"),
                more => format!("{sort} are taken to be there: {shown} and {more} more"),
            }
        })
    }
}

/// An application that is not there, and of which no more is known than its name.
fn missing(key: &ObjectKey, file: Option<Span>) -> Delivery {
    let mut application = Application::default();
    application.metadata.namespace = key.namespace.clone();
    application.metadata.name = key.name.clone();
    Delivery { application, file, uncreated: true, ..Delivery::default() }
}

fn span(place: &Place) -> Option<Span> {
    Some(Span { file: FilePath::new(&place.file).ok()?, line: place.line, column: 1 })
}

/// The hosts that an application comes from.
fn hosts_of(one: &Delivery) -> Vec<String> {
    let sources = one.application.spec.all_sources();
    let host = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        rest.split(['/', ':']).next().unwrap_or_default().to_owned()
    };
    sources.iter().map(|source| host(&source.repo_url)).filter(|host| host.contains('.')).collect()
}
