//! The templates of a chart, executed.

mod capabilities;
mod error;
mod files;
mod functions;
mod host;
mod pretty;
mod scope;
mod tables;
mod toml;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_gotmpl as gotmpl;
use lynceus_gotmpl::{Context, Map, MissingKey, Str, Templates, Trace};

pub use error::RenderError;
pub use host::{Lookup, World};
pub(crate) use scope::Release;

use crate::capabilities::Capabilities;
use crate::chart::Chart;
use crate::dependencies::Node;
use crate::go::path;
use crate::limits;
use functions::{FUNCTIONS, NO_VALUE, without_no_value};
use host::{Host, Surroundings};
use scope::Template;

/// The parsed templates of a chart and of all below it.
#[derive(Default)]
pub(crate) struct Parsed(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// By the names that they were parsed under.
    named: HashMap<String, gotmpl::Parsed>,
    /// By the length of their texts: charts that are there twice, and helpers that one chart takes from another, are read
    /// once.
    texts: HashMap<usize, Texts>,
}

/// Texts that have been read.
type Texts = Vec<(Arc<[u8]>, gotmpl::Parsed)>;

/// How many texts of one length are known: to compare them must not take long.
const ALIKE: usize = 8;

impl Known {
    /// A template whose text has been read under another name.
    fn alike(&self, name: &Str, text: &Arc<[u8]>) -> Option<gotmpl::Parsed> {
        let there = self.texts.get(&text.len())?;
        let is_same = |known: &Arc<[u8]>| Arc::ptr_eq(known, text) || known == text;
        there.iter().find(|(known, _)| is_same(known)).and_then(|(_, parsed)| parsed.named(name))
    }

    fn remember(&mut self, name: &str, text: &Arc<[u8]>, parsed: gotmpl::Parsed) {
        let there = self.texts.entry(text.len()).or_default();
        if there.len() < ALIKE {
            there.push((text.clone(), parsed.clone()));
        }
        self.named.insert(name.to_owned(), parsed);
    }
}

impl std::fmt::Debug for Parsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Parsed").finish()
    }
}

/// How templates are executed.
#[derive(Clone, Default)]
pub(crate) struct Mode {
    /// Whether a value that is not there is an error.
    pub(crate) strict: bool,
    /// Whether `required` and `fail` are ignored.
    pub(crate) lint: bool,
    pub(crate) lookup: Option<Arc<dyn Lookup>>,
    /// Whether to note what made which piece of the outputs.
    pub(crate) trace: bool,
}

/// What templates gave, by their names.
#[derive(Default)]
pub(crate) struct Outputs {
    pub(crate) texts: BTreeMap<String, String>,
    /// What made them, if that was asked for.
    pub(crate) traces: BTreeMap<String, Trace>,
}

/// The name that Helm gives to its set of templates.
const SET: &str = "gotpl";

/// Executes all templates of a chart and of those below it, and gives their outputs.
pub(crate) fn render(
    chart: &Node,
    values: &Map,
    release: &Release<'_>,
    capabilities: &Capabilities,
    mode: &Mode,
    world: &mut dyn World,
) -> Result<Outputs, RenderError> {
    let templates = scope::templates(chart, values, release, capabilities);
    let set = parse(&chart.chart, &templates)?;
    let host = Host { lint: mode.lint, lookup: mode.lookup.clone(), ..Host::default() };
    let mut surroundings = Surroundings { world, host };
    let missing_key = if mode.strict { MissingKey::Error } else { MissingKey::Zero };
    let limits =
        gotmpl::Limits { steps: limits::MAX_STEPS, bytes: limits::MAX_BYTES, ..gotmpl::Limits::default() };
    let options = gotmpl::Options { missing_key, limits, trace: mode.trace };
    let mut context = Context::new(Arc::new(set), &mut surroundings, options);
    let outputs = execute(&mut context, &templates);
    drop(context);
    // Whatever comes of it, this has been said.
    surroundings.host.said.iter().for_each(|warning| surroundings.world.tell(warning));
    outputs
}

fn execute(context: &mut Context<'_>, templates: &[Template<'_>]) -> Result<Outputs, RenderError> {
    let mut outputs = Outputs::default();
    for template in templates {
        if path::base(&template.name).starts_with('_') {
            continue;
        }
        let output = context
            .execute(&template.name, template.dot())
            .map_err(|cause| error::of_execution(&template.name, cause))?;
        if let Some(trace) = context.take_trace() {
            outputs.traces.insert(template.name.clone(), trace.without(NO_VALUE));
        }
        outputs.texts.insert(template.name.clone(), String::from(without_no_value(output)));
    }
    Ok(outputs)
}

/// Puts the set together. Of two templates with one name the one that comes later counts.
fn parse(chart: &Chart, templates: &[Template<'_>]) -> Result<Templates, RenderError> {
    let mut set = Templates::new(SET, FUNCTIONS.clone());
    let mut known = chart.parsed.0.lock().unwrap_or_else(PoisonError::into_inner);
    for template in templates {
        let name = Str::from(template.name.as_str());
        if let Some(parsed) = known.named.get(&template.name) {
            set.add(&name, parsed);
            continue;
        }
        let data = &template.file.data;
        let parsed = match known.alike(&name, data) {
            Some(parsed) => parsed,
            None => set
                .read(&name, &Str::from_bytes(data))
                .map_err(|cause| error::of_parsing(&template.name, cause))?,
        };
        set.add(&name, &parsed);
        known.remember(&template.name, data, parsed);
    }
    Ok(set)
}
