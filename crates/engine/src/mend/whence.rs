//! Where in Git the fields are written that a cause is about.

use std::collections::HashMap;

use lynceus_api::GROUP;
use lynceus_doctor::provenance::{PlaceError, Spot, Whose};
use lynceus_doctor::surgery::{Change, line_of};
use lynceus_doctor::{AppName, Evidence, Examination, Finding, Snapshot};
use lynceus_files::{FilePath, Span};
use lynceus_object::{FieldPath, ObjectKey};

use super::desk::read;
use super::{Bench, MendError};
use crate::diagnose::shown_fields;
use crate::engine::Engine;
use crate::limits;
use crate::rendering::Traced;

impl Engine {
    /// Adds to causes where the fields are written that they are about: a snapshot knows what was rendered, and not of what.
    pub async fn locate(&self, snapshot: &Snapshot, examination: &mut Examination) {
        let files: HashMap<AppName, &FilePath> = snapshot
            .applications
            .iter()
            .filter_map(|one| Some((AppName::of(&one.application), &one.file.as_ref()?.file)))
            .collect();
        for root in examination.roots.iter_mut().take(limits::LOCATED) {
            let own = std::mem::take(&mut root.finding.fields);
            let is_asked = !own.is_empty();
            let fields = if is_asked { own } else { shown_fields(snapshot, &root.finding) };
            let fields = &fields[..fields.len().min(limits::LOCATED_FIELDS)];
            for (name, key, path) in fields {
                // Of what nobody asked for only a place is worth telling.
                let evidence = self.whence(name, key, path, files.get(name).copied()).await;
                let evidence = evidence.filter(|one| is_asked || matches!(one, Evidence::File { .. }));
                if let Some(evidence) = evidence
                    && !root.finding.evidence.contains(&evidence)
                {
                    if is_asked {
                        forget_start(snapshot, &mut root.finding.evidence, (name, key), &evidence);
                    }
                    root.finding.evidence.push(evidence);
                }
            }
            let is_place = |one: &Evidence| matches!(one, Evidence::File { .. });
            if !root.finding.evidence.iter().any(is_place) {
                let mut near = None;
                for (name, key, path) in fields {
                    near = match near {
                        None => self.around(name, key, path, files.get(name).copied()).await,
                        known => known,
                    };
                }
                root.finding.evidence.extend(near.or_else(|| start(snapshot, &root.finding)));
            }
        }
    }

    /// Where a field would stand that is not there: the nearest one around it that is.
    async fn around(
        &self,
        name: &AppName,
        key: &ObjectKey,
        path: &FieldPath,
        known: Option<&FilePath>,
    ) -> Option<Evidence> {
        let mut at = path.parent()?;
        while !at.is_root() {
            if let Some(Evidence::File { application, span, .. }) = self.whence(name, key, &at, known).await {
                let text = format!("{path} of {} {} is not written; {at} is, here", key.kind, key.name);
                return Some(Evidence::File { application, span, text });
            }
            at.pop();
        }
        None
    }

    /// Where a field is written; nothing if that cannot be told.
    async fn whence(
        &self,
        name: &AppName,
        key: &ObjectKey,
        path: &FieldPath,
        known: Option<&FilePath>,
    ) -> Option<Evidence> {
        let own = ObjectKey::new(GROUP, "Application", name.namespace.clone(), name.name.clone());
        if *key == own {
            return match self.parent(key).await {
                Some(parent) => Box::pin(self.whence(&parent, key, path, None)).await,
                None => self.declared_at(name, key, path).await,
            };
        }
        let mut bench = self.bench(name).await.ok()?;
        bench.known = known.cloned();
        let object = self.rendered(&bench, key).await.ok()?;
        let traced = self.traced(&bench, key, path).await.ok()?;
        let told = |text: String| format!("{path} of {} {} {text}", key.kind, key.name);
        match self.spot(&bench, &traced, &object, key, (path, path), &Change::Remove) {
            Ok(spot) if spot.whose == Whose::Application => {
                let field = spot.field()?;
                let text = told(format!("is set by {field} of application {name}"));
                let start = known.map(|file| Span { file: file.clone(), line: 0, column: 0 });
                let span = match Box::pin(self.whence(name, &own, field, known)).await {
                    Some(Evidence::File { span, .. }) => Some(span),
                    _ => start,
                };
                Some(match span {
                    Some(span) => Evidence::File { application: name.clone(), span, text },
                    None => Evidence::seen(text),
                })
            }
            Ok(spot) => {
                let line = line(&bench, &traced, &spot)?;
                let span = Span { file: spot.file.clone(), line, column: 0 };
                // A file of a source that only lends its values may be in a repository of its own.
                let lender = match &spot.whose {
                    Whose::Reference(reference) => bench.sources.iter().find(|one| one.ref_ == *reference),
                    _ => None,
                };
                let own = bench.sources.get(traced.number).map(|source| &source.repo_url);
                let lender = lender.map(|source| &source.repo_url).filter(|url| Some(*url) != own);
                let place = lender.map(|url| format!(", in {url}")).unwrap_or_default();
                let text = told(format!("is written here{place}"));
                Some(Evidence::File { application: name.clone(), span, text })
            }
            // That there is no such field is no place.
            Err(MendError::Place { source, .. }) if matches!(*source, PlaceError::Absent) => None,
            Err(MendError::Place { source, .. }) => {
                Some(Evidence::seen(told(format!("has no one place: {source}"))))
            }
            Err(_) => None,
        }
    }
}

impl Engine {
    /// Where a field of an Application is written which nobody else brings.
    async fn declared_at(&self, name: &AppName, key: &ObjectKey, path: &FieldPath) -> Option<Evidence> {
        let (_, tree, file, document) = self.declaration(name, key).await?;
        let line = line_of(&read(&*tree, &file).ok()?, document, path)?;
        let text = format!("{path} of {} {} is written here", key.kind, key.name);
        let span = Span { file, line, column: 0 };
        Some(Evidence::File { application: name.clone(), span, text })
    }

    /// The one place of all repositories that a field is written at, as a text that is the same for the same place. Where an Application
    /// sets it, that is the place where the Application is written; nothing if there is no one place.
    pub(crate) async fn written_at(
        &self,
        name: &AppName,
        key: &ObjectKey,
        path: &FieldPath,
    ) -> Option<String> {
        let (mut name, mut key, mut path) = (name.clone(), key.clone(), path.clone());
        for _ in 0..limits::MEND_DEPTH {
            let bench = self.bench(&name).await.ok()?;
            let object = self.rendered(&bench, &key).await.ok()?;
            let traced = self.traced(&bench, &key, &path).await.ok()?;
            let spot = self.spot(&bench, &traced, &object, &key, (&path, &path), &Change::Remove).ok()?;
            let source = match &spot.whose {
                Whose::Source => bench.sources.get(traced.number)?,
                Whose::Reference(reference) => bench.sources.iter().find(|one| one.ref_ == *reference)?,
                Whose::Application => {
                    let own = ObjectKey::new(GROUP, "Application", name.namespace.clone(), name.name.clone());
                    path = spot.field()?.clone();
                    name = self.parent(&own).await?;
                    key = own;
                    continue;
                }
            };
            let (repository, revision) = (&source.repo_url, &source.target_revision);
            return Some(format!("{repository} {revision} {} {:?}", spot.file, spot.spot));
        }
        None
    }
}

/// Where the object begins that a cause is about, for one that says nothing of its fields.
fn start(snapshot: &Snapshot, finding: &Finding) -> Option<Evidence> {
    let (name, key) = (finding.application.as_ref()?, finding.subject.key()?);
    let delivery = snapshot.applications.iter().find(|one| AppName::of(&one.application) == *name)?;
    let span = delivery.wanted.iter().find(|one| one.object.key() == *key)?.span.clone()?;
    let text = format!("{} {} is written here", key.kind, key.name);
    Some(Evidence::File { application: name.clone(), span, text })
}

/// Takes the start of an object out of what was seen, where one of its fields is known to be written in another file: what is said of the
/// object is not so at its start then.
fn forget_start(
    snapshot: &Snapshot,
    seen: &mut Vec<Evidence>,
    (name, key): (&AppName, &ObjectKey),
    place: &Evidence,
) {
    let Evidence::File { span: place, .. } = place else { return };
    let delivery = snapshot.applications.iter().find(|one| AppName::of(&one.application) == *name);
    let wanted = delivery.and_then(|one| one.wanted.iter().find(|one| one.object.key() == *key));
    let Some(start) = wanted.and_then(|one| one.span.as_ref()).filter(|span| span.file != place.file) else {
        return;
    };
    seen.retain(|one| !matches!(one, Evidence::File { application, span, .. } if application == name && span == start));
}

/// The line of a place.
fn line(bench: &Bench, traced: &Traced, place: &lynceus_doctor::provenance::Place) -> Option<u32> {
    let tree = match &place.whose {
        Whose::Reference(reference) => traced.references.get(reference)?,
        Whose::Source => &traced.tree,
        Whose::Application => return None,
    };
    let source = bench.sources.get(traced.number)?;
    if !source.chart.is_empty() && place.whose == Whose::Source {
        return None;
    }
    let text = read(&**tree, &place.file).ok()?;
    match &place.spot {
        Spot::Line { line, .. } => Some(*line),
        Spot::Field(cell) => line_of(&text, cell.document, &cell.said_at()),
        Spot::Inside { document, path, .. } => line_of(&text, *document, path),
    }
}
