//! What all kustomizations of one build share.

use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeSet;

use lynceus_helm::World;

use crate::idle::IdlePatch;
use crate::need::{Fetched, Got, Need};
use crate::options::Options;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::trace::{Step, Tracer, Traces};

/// What all kustomizations of one build share.
pub(crate) struct Context<'a> {
    pub(crate) options: &'a Options,
    fetched: &'a Fetched,
    world: RefCell<&'a mut dyn World>,
    warnings: RefCell<Vec<String>>,
    idle: RefCell<Vec<IdlePatch>>,
    needs: RefCell<BTreeSet<Need>>,
    schema: RefCell<Schema>,
    /// Notes what sets the fields of resources, if somebody asks.
    tracer: Option<RefCell<Tracer>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(options: &'a Options, fetched: &'a Fetched, world: &'a mut dyn World) -> Self {
        Context {
            options,
            fetched,
            world: RefCell::new(world),
            warnings: RefCell::default(),
            idle: RefCell::default(),
            needs: RefCell::default(),
            schema: RefCell::default(),
            tracer: None,
        }
    }

    /// The same, with an account of what sets the fields of resources.
    pub(crate) fn traced(self) -> Self {
        Context { tracer: Some(RefCell::default()), ..self }
    }

    /// Whether such an account is kept.
    pub(crate) fn is_traced(&self) -> bool {
        self.tracer.is_some()
    }

    /// Notes what a step has done to resources.
    pub(crate) fn trace(&self, resources: &mut [Resource], step: impl FnOnce() -> Step) {
        if let Some(tracer) = &self.tracer {
            tracer.borrow_mut().note(resources, step());
        }
    }

    /// The account, to add to.
    pub(crate) fn tracer(&self) -> Option<RefMut<'_, Tracer>> {
        self.tracer.as_ref().map(RefCell::borrow_mut)
    }

    /// All that was noted.
    pub(crate) fn take_traces(&self) -> Traces {
        self.tracer.as_ref().map(RefCell::take).unwrap_or_default().finish()
    }

    /// What was got for a need. If it has not been asked for yet, it is now.
    pub(crate) fn get(&self, need: Need) -> Option<&'a Got> {
        let got = self.fetched.get(&need);
        if got.is_none() {
            self.needs.borrow_mut().insert(need);
        }
        got
    }

    /// Whether a need has been asked for and answered.
    pub(crate) fn has(&self, need: &Need) -> bool {
        self.fetched.contains_key(need)
    }

    /// Notes something that is probably not what was meant.
    pub(crate) fn warn(&self, warning: impl Into<String>) {
        self.warnings.borrow_mut().push(warning.into());
    }

    /// Warnings, to add to.
    pub(crate) fn warnings(&self) -> RefMut<'_, Vec<String>> {
        self.warnings.borrow_mut()
    }

    /// What is known of the kinds.
    pub(crate) fn schema(&self) -> Ref<'_, Schema> {
        self.schema.borrow()
    }

    /// What is known of the kinds, to change.
    pub(crate) fn schema_mut(&self) -> RefMut<'_, Schema> {
        self.schema.borrow_mut()
    }

    /// Time and chance, for charts.
    pub(crate) fn world(&self) -> RefMut<'_, &'a mut dyn World> {
        self.world.borrow_mut()
    }

    /// What has to be got before the build can end, in order.
    pub(crate) fn needs(&self) -> Vec<Need> {
        self.needs.borrow().iter().cloned().collect()
    }

    /// Notes a patch that is for nothing that is there. A kustomization that several take in is built for each of them.
    pub(crate) fn note_idle(&self, patch: IdlePatch) {
        let mut idle = self.idle.borrow_mut();
        if !idle.contains(&patch) {
            idle.push(patch);
        }
    }

    /// All patches that are for nothing that is there, in the order in which they were come to.
    pub(crate) fn take_idle(&self) -> Vec<IdlePatch> {
        self.idle.take()
    }

    /// All warnings, in the order in which they were given.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }
}
