//! Listens to the spans and measurements of all crates, counts them, and hands finished spans on.
//!
//! A span tells of something that takes time, a measurement (an event of the target `lynceus::measure`) of something that
//! took it, over restarts maybe. What a field says becomes a label or an attribute, so nothing secret may stand in one.

use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::export::Outbox;
use super::measure;
use super::registry::Registry;

/// The target of what is listened to.
pub(super) const SPANS: &str = "lynceus::span";
pub(super) const MEASUREMENTS: &str = "lynceus::measure";

/// The listener.
pub(super) struct Listener {
    pub(super) registry: Arc<Registry>,
    pub(super) outbox: Option<Outbox>,
}

/// The fields of a span or a measurement, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// A field; empty if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, text)| (*name, text.as_str()))
    }

    fn set(&mut self, name: &'static str, text: String) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = text,
            None => self.0.push((name, text)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field.name(), value.to_owned());
    }
}

/// A span that has begun.
struct Begun {
    fields: Fields,
    at: Instant,
    time: SystemTime,
    trace: u128,
    id: u64,
    parent: u64,
}

/// A span that has ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) name: &'static str,
    pub(super) fields: Fields,
    pub(super) began: SystemTime,
    pub(super) ended: SystemTime,
    pub(super) trace: u128,
    pub(super) id: u64,
    pub(super) parent: u64,
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Listener {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if attributes.metadata().target() != SPANS {
            return;
        }
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let above = span.scope().skip(1).find_map(|above| {
            let extensions = above.extensions();
            let begun = extensions.get::<Begun>()?;
            Some((begun.trace, begun.id, begun.fields.get("project").to_owned()))
        });
        let (trace, parent, project) = above.unwrap_or_else(|| (random(), 0, String::new()));
        // What happens for an application happens for its project.
        if fields.get("project").is_empty() && !project.is_empty() {
            fields.set("project", project);
        }
        let begun = Begun {
            fields,
            at: Instant::now(),
            time: SystemTime::now(),
            trace,
            id: random() as u64 | 1,
            parent,
        };
        span.extensions_mut().insert(begun);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(begun) = span.extensions_mut().get_mut::<Begun>()
        {
            values.record(&mut begun.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if event.metadata().target() == MEASUREMENTS {
            let mut fields = Fields::default();
            event.record(&mut fields);
            // What happens while somebody works on an ApplicationSet happens for it.
            let mut around = context.event_scope(event).into_iter().flatten();
            if let Some(set) = around.find(|span| span.name() == "reconcile set")
                && let Some(begun) = set.extensions().get::<Begun>()
            {
                fields.set("set_namespace", begun.fields.get("namespace").to_owned());
                fields.set("set_name", begun.fields.get("name").to_owned());
            }
            let seconds = fields.get("seconds").parse().unwrap_or_default();
            measure::measure(&self.registry, fields.get("message"), &fields, seconds);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(begun) = span.extensions_mut().remove::<Begun>() else { return };
        let took = begun.at.elapsed();
        measure::measure(&self.registry, span.name(), &begun.fields, took.as_secs_f64());
        if let Some(outbox) = &self.outbox {
            outbox.send(Ended {
                name: span.name(),
                began: begun.time,
                ended: begun.time + took,
                fields: begun.fields,
                trace: begun.trace,
                id: begun.id,
                parent: begun.parent,
            });
        }
    }
}

/// A number that nobody else has; zero, which means none, is not one of them.
fn random() -> u128 {
    let mut bytes = [0; 16];
    match ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes) {
        Ok(()) => u128::from_be_bytes(bytes) | 1,
        Err(_) => 1,
    }
}
