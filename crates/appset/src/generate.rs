//! An ApplicationSet to its Applications.

use std::cell::{Cell, RefCell};

use lynceus_api::{Application, ApplicationSet};
use lynceus_gotmpl::Environment;

use crate::generator::{Stop, Transformed, World, check_known, transform};
use crate::limits;
use crate::need::{Answers, Need};
use crate::param::Params;
use crate::place::{Fault, FaultKind, Place};
use crate::render::Template;
use crate::template::Engine;

/// What a generation came to.
pub enum Outcome {
    /// Something has to be got first. Call again when it is.
    Needs(Vec<Need>),
    /// It is done.
    Done(Generation),
}

/// The Applications of an ApplicationSet, in the order of its generators and their elements.
#[derive(Clone, Debug, Default)]
pub struct Generation {
    /// The Applications that could be made.
    pub applications: Vec<Generated>,
    /// What went wrong. Unless this is empty, nothing may be changed in the cluster: an Application that is missing
    /// here may be missing only because of a fault.
    pub faults: Vec<Fault>,
    /// How many faults there were; more than are listed if there were many.
    pub fault_count: usize,
}

/// An Application, and where it came from.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The Application.
    pub application: Application,
    /// The generator and its element.
    pub place: Place,
    /// The parameters that the template was filled with.
    pub params: Params,
}

impl Generation {
    /// Whether all went well.
    pub fn is_complete(&self) -> bool {
        self.fault_count == 0
    }

    fn fail(&mut self, fault: Fault) {
        self.fault_count += 1;
        if self.faults.len() < limits::FAULTS {
            self.faults.push(fault);
        }
    }
}

/// Generates the Applications of an ApplicationSet from what was got so far. Time and chance, which a template may ask
/// for, come from the environment.
pub fn generate(set: &ApplicationSet, answers: &Answers, environment: &mut dyn Environment) -> Outcome {
    let mut generation = Generation::default();
    let engine = match Engine::new(set.spec.go_template, &set.spec.go_template_options, environment) {
        Ok(engine) => engine,
        Err(message) => {
            generation.fail(Fault::parameters(Place::of("spec"), message));
            return Outcome::Done(generation);
        }
    };
    let world = World { set, engine: &engine, answers, needs: RefCell::default(), made: Cell::new(0) };
    if set.spec.generators.is_empty() {
        generation.fail(Fault::parameters(Place::of("spec.generators"), "there is no generator"));
    }
    for (at, asked) in set.spec.generators.iter().enumerate() {
        let path = format!("spec.generators[{at}]");
        if let Err(fault) = check_known(asked, &path) {
            generation.fail(*fault);
        }
        for transformed in transform(&world, asked, &path, &Params::new(), 0) {
            render(&world, transformed, &mut generation);
        }
    }
    let needs = world.needs.into_inner();
    if needs.is_empty() { Outcome::Done(generation) } else { Outcome::Needs(needs.into_values().collect()) }
}

fn render(world: &World<'_, '_>, transformed: Transformed, generation: &mut Generation) {
    let elements = match transformed.elements {
        Ok(elements) => elements,
        Err(Stop::Fault(fault)) => return generation.fail(*fault),
        Err(Stop::Need) => return,
    };
    // While something is missing, everything is done again anyway.
    if !world.needs.borrow().is_empty() {
        return;
    }
    let template = match Template::new(&transformed.template, &world.set.spec.template) {
        Ok(template) => template,
        Err(message) => {
            let place = Place { field: Some("template".to_owned()), ..transformed.place };
            return generation.fail(Fault { kind: FaultKind::Template, place, message });
        }
    };
    for (at, element) in elements.into_iter().enumerate() {
        let place = Place { source: element.source, ..transformed.place.element(at) };
        match template.render(world.engine, world.set, &element.params, &place) {
            Ok(application) => {
                generation.applications.push(Generated { application, place, params: element.params });
            }
            Err(fault) => generation.fail(*fault),
        }
    }
}
