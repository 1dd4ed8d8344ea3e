//! Jsonnet programs: a file of a directory source to the values of its manifests.
//!
//! A program sees the files of its own revision and nothing else: no import leaves the tree, and there are no native
//! functions, no clock and no environment. It comes from whoever may write to the repository, so that everything that it
//! can ask for has a bound; [`steps`] says how time and memory are bounded without a clock and without asking the evaluator.

mod budget;
mod edits;
mod importer;
mod message;
mod output;
mod steps;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lynceus_api::{ApplicationSourceDirectory, JsonnetVar};
use lynceus_files::{Diagnostic, FilePath, Span, Tree};
use lynceus_object::Value;
use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::program::{Program, Thunk};

use crate::environment::Environment;
use crate::{RenderError, limits};

use importer::{Importer, Origin};

/// What every program of a source is given.
pub(crate) struct Jsonnet<'a> {
    tree: &'a dyn Tree,
    /// Where imports are looked for that do not stand beside their file, in the order of looking.
    libraries: Vec<FilePath>,
    external: BTreeMap<String, Variable>,
    arguments: BTreeMap<String, Variable>,
}

/// A value that the Application gives.
struct Variable {
    value: String,
    is_code: bool,
}

/// What is wrong with a program, and where.
#[derive(Debug)]
struct Problem {
    message: String,
    hint: Option<&'static str>,
    /// The file, if it is in one.
    place: Option<Span>,
}

impl Problem {
    fn new(message: impl Into<String>) -> Self {
        Problem { message: message.into(), hint: None, place: None }
    }
}

impl<'a> Jsonnet<'a> {
    /// Prepares what the Application gives: build variables are replaced in values, and libraries stay in the repository.
    pub(crate) fn new(
        tree: &'a dyn Tree,
        path: &FilePath,
        options: Option<&ApplicationSourceDirectory>,
        environment: &Environment<'_>,
    ) -> Result<Self, RenderError> {
        let options = options.map(|options| &options.jsonnet);
        // The last library is looked at first, and the source's own path after all of them.
        let named = options.map_or(&[][..], |options| &options.libs);
        let mut libraries = Vec::with_capacity(named.len() + 1);
        for library in named.iter().rev() {
            libraries.push(FilePath::new(library)?);
        }
        libraries.push(path.clone());
        // Of two variables with one name the last counts.
        let variables = |given: &[JsonnetVar]| {
            let read = |one: &JsonnetVar| {
                let value = environment.expand(&one.value);
                (one.name.to_string(), Variable { value, is_code: one.code })
            };
            given.iter().map(read).collect()
        };
        Ok(Jsonnet {
            tree,
            libraries,
            external: variables(options.map_or(&[], |options| &options.ext_vars)),
            arguments: variables(options.map_or(&[], |options| &options.tlas)),
        })
    }

    /// Evaluates a file to the values that it gives, one for each manifest.
    pub(crate) fn evaluate(&self, file: &FilePath, text: &[u8]) -> Result<Vec<Value>, Diagnostic> {
        // The evaluator has assertions of its own; one that fails is a mistake in it and costs this file alone.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.run(file, text)));
        let problem = match outcome {
            Ok(Ok(values)) => return Ok(values),
            Ok(Err(problem)) => problem,
            Err(_) => Problem {
                hint: Some("simplify the program, or report the file as a bug of Lynceus"),
                ..Problem::new("the evaluator failed by a mistake of its own")
            },
        };
        let whole = Span { file: file.clone(), line: 0, column: 0 };
        let place = problem.place.unwrap_or_else(|| whole.clone());
        let message = if place.file == *file {
            format!("Jsonnet: {}", problem.message)
        } else {
            format!("Jsonnet: {}, on behalf of {file}", problem.message)
        };
        let diagnostic = Diagnostic::error(message).at(place);
        Err(match problem.hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        })
    }

    fn run(&self, file: &FilePath, text: &[u8]) -> Result<Vec<Value>, Problem> {
        let arena = Arena::new();
        let mut program = Program::new(&arena);
        program.set_max_stack(limits::JSONNET_STACK);
        let mut importer = Importer::new(self, &mut program)?;
        for (name, variable) in &self.external {
            let what = format!("external variable {name}");
            let thunk = variable.load(&mut importer, &mut program, &what)?;
            program.add_ext_var(program.intern_str(name), &thunk);
        }
        let thunk = importer.load(&mut program, Origin::File(file.clone()), text)?;
        let mut value = importer.whole(&mut program, &thunk, &[], false)?;
        // What is not a function leaves the arguments alone.
        if value.is_function() {
            let mut arguments = Vec::with_capacity(self.arguments.len());
            for (name, variable) in &self.arguments {
                let what = format!("top-level argument {name}");
                arguments.push((name.clone(), variable.load(&mut importer, &mut program, &what)?));
            }
            value = importer.whole(&mut program, &thunk, &arguments, true)?;
        }
        output::manifests(&value)
    }
}

impl Variable {
    fn load<'p>(
        &self,
        importer: &mut Importer<'_, 'p>,
        program: &mut Program<'p>,
        what: &str,
    ) -> Result<Thunk<'p>, Problem> {
        if self.is_code {
            return importer.load(program, Origin::Variable(what.to_owned()), self.value.as_bytes());
        }
        Ok(program.value_to_thunk(&rsjsonnet_lang::program::Value::string(&self.value)))
    }
}
