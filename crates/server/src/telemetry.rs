//! What there is to measure and to trace, from one set of spans: `tracing` brings them here from every crate, a registry counts
//! them, and a collector of OpenTelemetry gets them, if there is one.

mod export;
mod families;
mod layer;
mod measure;
mod registry;
mod wire;

use std::sync::{Arc, OnceLock};

use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;

pub use export::{Collector, Courier};

use self::export::Outbox;
use self::layer::{Listener, MEASUREMENTS, SPANS};
use self::registry::Registry;
use crate::metrics::Metrics;

/// What this process has counted: there is one of it, as there is one set of spans.
static TOLD: OnceLock<Telemetry> = OnceLock::new();

/// What is measured, and what became of the spans.
#[derive(Clone)]
pub struct Telemetry {
    registry: Arc<Registry>,
    outbox: Option<Outbox>,
}

impl Telemetry {
    /// Measurement, and traces where there is a collector for them. The courier has to be run. Requests to GitHub are counted
    /// where somebody wants it: there is a series for each of its paths.
    pub fn new(collector: Option<Collector>, github: bool) -> Result<(Self, Option<Courier>), String> {
        let (outbox, courier) = match collector {
            Some(collector) => {
                let (outbox, courier) = export::courier(collector)?;
                (Some(outbox), Some(courier))
            }
            None => (None, None),
        };
        Ok((Telemetry { registry: Arc::new(Registry::new(github)), outbox }, courier))
    }

    /// Has the metrics of this process come from here.
    pub fn publish(&self) {
        // The first one stays: spans go there.
        let _ = TOLD.set(self.clone());
    }

    /// The listener for the subscriber of the process. It hears what is meant for it, whatever is written to the log.
    pub fn listener<S>(&self) -> impl Layer<S> + Send + Sync + 'static
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        let heard =
            Targets::new().with_target(SPANS, LevelFilter::INFO).with_target(MEASUREMENTS, LevelFilter::INFO);
        Listener { registry: self.registry.clone(), outbox: self.outbox.clone() }.with_filter(heard)
    }

    /// Everything that was counted.
    fn write(&self, metrics: &mut Metrics) {
        self.registry.write(metrics);
        if let Some(outbox) = &self.outbox {
            let name = "lynceus_traces_dropped_total";
            metrics.family(name, "How many spans did not arrive at the collector.", "counter");
            metrics.value(name, &[], outbox.dropped());
        }
    }
}

/// What this process has counted so far, if it counts.
pub(crate) fn counted(metrics: &mut Metrics) {
    if let Some(told) = TOLD.get() {
        told.write(metrics);
    }
}

#[cfg(test)]
mod tests;
