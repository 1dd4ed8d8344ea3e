//! What a program asks for while it runs: files of the tree, its library, and leave to go on.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_files::{FilePath, Span, TreeError};
use rsjsonnet_lang::interner::InternedStr;
use rsjsonnet_lang::program::{
    Callbacks, EvalError, EvalStackTraceItem, ImportError, LoadError, NativeError, Program, Thunk, Value,
};
use rsjsonnet_lang::span::{SpanContextId, SpanId};

use super::steps::{self, Counted};
use super::{Jsonnet, Problem, message};
use crate::limits;

/// The library as programs see it. Functions that make as much as they are told to say so first, and where Argo CD's
/// evaluator takes more than this one, or by another name, it is as there.
const LIBRARY: &str = "std {
  local room = std.native('room'),
  local size(what) = if std.isArray(what) then 8 * std.length(what) else std.length(what) / 64,
  makeArray(sz, func):: assert room(8 * sz); std.makeArray(sz, func),
  range(from, to):: assert room(8 * (to - from)); std.range(from, to),
  repeat(what, count):: assert room(size(what) * count); std.repeat(what, count),
  local list(arr) = if std.isString(arr) then std.stringChars(arr) else arr,
  foldl(func, arr, init):: std.foldl(func, list(arr), init),
  foldr(func, arr, init):: std.foldr(func, list(arr), init),
  escapeStringJson(str_):: std.escapeStringJson(str_),
  escapeStringBash(str_):: std.escapeStringBash(str_),
  escapeStringDollars(str_):: std.escapeStringDollars(str_),
}";

/// Where a text comes from.
#[derive(Clone)]
pub(super) enum Origin {
    /// A file of the tree.
    File(FilePath),
    /// A variable of the Application, as a user knows it.
    Variable(String),
    /// The library.
    Library,
}

/// A text that was loaded.
struct Source {
    origin: Origin,
    text: Arc<[u8]>,
    counted: Counted,
}

/// The files and the steps of one program.
pub(super) struct Importer<'a, 'p> {
    jsonnet: &'a Jsonnet<'a>,
    sources: BTreeMap<SpanContextId, Source>,
    loaded: BTreeMap<FilePath, Thunk<'p>>,
    yes: Thunk<'p>,
    steps: u64,
    imported_bytes: u64,
    /// Why something was refused. The evaluator only learns that it was.
    refused: Option<Problem>,
}

impl<'a, 'p> Importer<'a, 'p> {
    pub(super) fn new(jsonnet: &'a Jsonnet<'a>, program: &mut Program<'p>) -> Self {
        let parameter = program.intern_str("count");
        program.register_native_func(program.intern_str("room"), &[parameter]);
        Importer {
            jsonnet,
            sources: BTreeMap::new(),
            loaded: BTreeMap::new(),
            yes: program.value_to_thunk(&Value::bool(true)),
            steps: 0,
            imported_bytes: 0,
            refused: None,
        }
    }

    /// Loads a text, with places to count at.
    pub(super) fn load(
        &mut self,
        program: &mut Program<'p>,
        origin: Origin,
        text: &[u8],
    ) -> Result<Thunk<'p>, Problem> {
        let counted = steps::count(text).map_err(|(problem, at)| located(problem, &origin, text, at))?;
        let (context, _) = program.span_manager_mut().insert_source_context(counted.text.len());
        let name = match &origin {
            Origin::File(file) => file.as_str(),
            Origin::Variable(_) | Origin::Library => "",
        };
        let loaded =
            stacker::grow(counted.stack, || program.load_source(context, &counted.text, false, name));
        self.sources.insert(context, Source { origin, text: text.into(), counted });
        loaded.map_err(|error| {
            let (message, span) = match error {
                LoadError::Lex(error) => message::of_lexer(&error),
                LoadError::Parse(error) => message::of_parser(&error, text, program.span_manager()),
                LoadError::Analyze(error) => message::of_analyzer(&error),
            };
            self.place(program, Problem::new(message), span)
        })
    }

    /// The library for a file.
    fn library(&mut self, program: &mut Program<'p>, of: &str) -> Result<Thunk<'p>, Problem> {
        let (context, _) = program.span_manager_mut().insert_source_context(LIBRARY.len());
        let counted = Counted::plain(LIBRARY);
        self.sources
            .insert(context, Source { origin: Origin::Library, text: LIBRARY.as_bytes().into(), counted });
        program
            .load_source(context, LIBRARY.as_bytes(), true, of)
            .map_err(|_| Problem::new("the library cannot be loaded"))
    }

    /// Takes so many steps of those that the program may take.
    fn step(&mut self, count: u64) -> Result<(), Problem> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > limits::JSONNET_STEPS {
            return Err(Problem {
                hint: Some("the program repeats itself without end, or makes far more than it needs"),
                ..Problem::new(format!("the program takes more than {} steps", limits::JSONNET_STEPS))
            });
        }
        Ok(())
    }

    /// Where a text was imported from.
    fn origin(&self, program: &Program<'p>, from: SpanId) -> Option<&Origin> {
        let (context, _, _) = program.span_manager().get_span(from);
        self.sources.get(&context).map(|source| &source.origin)
    }

    /// Finds a file as Argo CD does: beside the one that imports it, then in the libraries from the last to the first,
    /// then at the source's path.
    fn find(
        &mut self,
        program: &Program<'p>,
        from: SpanId,
        path: &str,
    ) -> Result<(FilePath, Arc<[u8]>), Problem> {
        if path.starts_with('/') {
            return Err(Problem {
                hint: Some("name the file relative to the one that imports it, or to a library"),
                ..Problem::new(format!("import {path:?} is an absolute path"))
            });
        }
        let beside = match self.origin(program, from) {
            Some(Origin::File(file)) => file.parent(),
            _ => None,
        };
        let mut leaves = false;
        for folder in beside.iter().chain(&self.jsonnet.libraries) {
            let Ok(file) = folder.join(path) else {
                leaves = true;
                continue;
            };
            match self.jsonnet.tree.read(&file, limits::JSONNET_FILE_BYTES) {
                Ok(content) => {
                    self.imported_bytes += content.len() as u64;
                    if self.imported_bytes > limits::JSONNET_IMPORT_BYTES {
                        let limit = limits::JSONNET_IMPORT_BYTES;
                        return Err(Problem::new(format!("the program imports more than {limit} bytes")));
                    }
                    return Ok((file, content));
                }
                Err(TreeError::NotFound(_)) => {}
                Err(error) => return Err(Problem::new(format!("import {path:?} cannot be read: {error}"))),
            }
        }
        if leaves {
            return Err(Problem {
                hint: Some("copy the file into the repository"),
                ..Problem::new(format!("import {path:?} leaves the repository"))
            });
        }
        Err(Problem {
            hint: Some(
                "imports are looked for beside the file, in directory.jsonnet.libs and at the source's path",
            ),
            ..Problem::new(format!("import {path:?} is in none of the places that are searched"))
        })
    }

    /// Remembers why something is refused, and says to the evaluator that it is.
    fn answer<T>(&mut self, answer: Result<T, Problem>) -> Result<T, ImportError> {
        answer.map_err(|problem| {
            self.refused = Some(problem);
            ImportError
        })
    }

    /// What went wrong while a program ran.
    pub(super) fn evaluation_problem(&mut self, program: &Program<'p>, error: &EvalError) -> Problem {
        let (message, span) = message::of_evaluator(&error.kind);
        let problem = self.refused.take().unwrap_or_else(|| Problem::new(message));
        if problem.place.is_some() {
            return problem;
        }
        let traced = error.stack_trace.iter().rev().filter_map(span_of);
        let own = span.into_iter().chain(traced).find(|span| {
            let origin = self.origin(program, *span);
            matches!(origin, Some(Origin::File(_) | Origin::Variable(_)))
        });
        match own {
            Some(span) => self.place(program, problem, span),
            None => problem,
        }
    }

    /// A problem with its place.
    fn place(&self, program: &Program<'p>, problem: Problem, span: SpanId) -> Problem {
        let (context, start, _) = program.span_manager().get_span(span);
        match self.sources.get(&context) {
            Some(source) => located(problem, &source.origin, &source.text, source.counted.original(start)),
            None => problem,
        }
    }
}

/// A problem at a byte of a text. In a variable there are no lines to name, so that its name is told.
fn located(problem: Problem, origin: &Origin, text: &[u8], at: usize) -> Problem {
    let file = match origin {
        Origin::File(file) => file.clone(),
        Origin::Variable(what) => {
            return Problem { message: format!("{what}: {}", problem.message), ..problem };
        }
        Origin::Library => return problem,
    };
    let before = String::from_utf8_lossy(&text[..at.min(text.len())]);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Problem { place: Some(Span { file, line: number(line), column: number(column) }), ..problem }
}

fn span_of(item: &EvalStackTraceItem) -> Option<SpanId> {
    match item {
        EvalStackTraceItem::Expr { span }
        | EvalStackTraceItem::Variable { span, .. }
        | EvalStackTraceItem::Import { span } => Some(*span),
        EvalStackTraceItem::Call { span, .. }
        | EvalStackTraceItem::ArrayItem { span, .. }
        | EvalStackTraceItem::ObjectField { span, .. } => *span,
        EvalStackTraceItem::CompareArrayItem { .. }
        | EvalStackTraceItem::CompareObjectField { .. }
        | EvalStackTraceItem::ManifestArrayItem { .. }
        | EvalStackTraceItem::ManifestObjectField { .. } => None,
    }
}

impl<'p> Callbacks<'p> for Importer<'_, 'p> {
    fn import(
        &mut self,
        program: &mut Program<'p>,
        from: SpanId,
        path: &str,
    ) -> Result<Thunk<'p>, ImportError> {
        let steps = match path {
            steps::STEP => Some(1),
            steps::ELEMENT => Some(limits::JSONNET_ELEMENT_STEPS),
            _ => None,
        };
        if let Some(steps) = steps {
            let answer = self.step(steps);
            return self.answer(answer).map(|()| self.yes.clone());
        }
        if path == steps::LIBRARY {
            let of = match self.origin(program, from) {
                Some(Origin::File(file)) => file.as_str().to_owned(),
                _ => String::new(),
            };
            let library = self.library(program, &of);
            return self.answer(library);
        }
        let found = self.find(program, from, path);
        let (file, content) = self.answer(found)?;
        if let Some(thunk) = self.loaded.get(&file) {
            return Ok(thunk.clone());
        }
        let loaded = self.load(program, Origin::File(file.clone()), &content);
        let thunk = self.answer(loaded)?;
        self.loaded.insert(file, thunk.clone());
        Ok(thunk)
    }

    fn import_str(
        &mut self,
        program: &mut Program<'p>,
        from: SpanId,
        path: &str,
    ) -> Result<String, ImportError> {
        let found = self.find(program, from, path);
        let (_, content) = self.answer(found)?;
        Ok(String::from_utf8_lossy(&content).into_owned())
    }

    fn import_bin(
        &mut self,
        program: &mut Program<'p>,
        from: SpanId,
        path: &str,
    ) -> Result<Vec<u8>, ImportError> {
        let found = self.find(program, from, path);
        let (_, content) = self.answer(found)?;
        // Each byte becomes a number of its own.
        let room = self.step(content.len() as u64);
        self.answer(room)?;
        Ok(content.to_vec())
    }

    /// What a program says to its author is heard where it is developed, and nowhere else.
    fn trace(&mut self, _: &mut Program<'p>, _: &str, _: &[EvalStackTraceItem]) {}

    fn native_call(
        &mut self,
        _: &mut Program<'p>,
        _: InternedStr<'p>,
        arguments: &[Value<'p>],
    ) -> Result<Value<'p>, NativeError> {
        // What is not a number is refused by the function itself, in its own words.
        let count = arguments.first().and_then(Value::as_number).unwrap_or_default();
        let room = self.step(count.max(0.0) as u64);
        self.answer(room).map(|()| Value::bool(true)).map_err(|ImportError| NativeError)
    }
}
