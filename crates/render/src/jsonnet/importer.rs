//! What a program asks for while it runs: files of the tree, its library, and leave to go on.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use lynceus_files::{FilePath, Span, TreeError};
use rsjsonnet_lang::interner::InternedStr;
use rsjsonnet_lang::program::{
    Callbacks, EvalError, EvalStackTraceItem, ImportError, LoadError, NativeError, Program, Thunk, Value,
};
use rsjsonnet_lang::span::{SpanContextId, SpanId};

use super::budget::{self, Budget};
use super::steps::{self, Counted};
use super::{Jsonnet, Problem, message};
use crate::limits;

/// The functions that programs are given, loaded once for all of their files.
const FUNCTIONS: &str = include_str!("library.libsonnet");

/// The library of one file, which knows the file's name.
const LIBRARY: &str = "(import \"\\u0000library\")(std)";

/// The import that gives all functions of ours, and the one that goes through what a program gives.
const ALL: &str = "\0all";
const WHOLE: &str = "\0whole";

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
    /// Functions of ours by the names that they are imported by.
    functions: BTreeMap<&'static str, Thunk<'p>>,
    yes: Thunk<'p>,
    budget: Budget,
    imported_bytes: u64,
    /// Why something was refused. The evaluator only learns that it was.
    refused: Option<Problem>,
}

impl<'a, 'p> Importer<'a, 'p> {
    pub(super) fn new(jsonnet: &'a Jsonnet<'a>, program: &mut Program<'p>) -> Result<Self, Problem> {
        budget::register(program);
        let mut importer = Importer {
            jsonnet,
            sources: BTreeMap::new(),
            loaded: BTreeMap::new(),
            functions: BTreeMap::new(),
            yes: program.value_to_thunk(&Value::bool(true)),
            budget: Budget::default(),
            imported_bytes: 0,
            refused: None,
        };
        // The field that says how large an object is has another name each time, so that no program can give it.
        let secret = format!("\\u0000{:016x}", RandomState::new().hash_one(0));
        let functions = importer.own(program, &FUNCTIONS.replace("@size@", &secret), "")?;
        importer.functions.insert(ALL, functions);
        for name in steps::FUNCTIONS.into_iter().chain(["\0library", WHOLE]) {
            let text = format!("(import \"\\u0000all\").{}", name.trim_start_matches('\0'));
            let function = importer.own(program, &text, "")?;
            importer.functions.insert(name, function);
        }
        Ok(importer)
    }

    /// A text of ours.
    fn own(&mut self, program: &mut Program<'p>, text: &str, file: &str) -> Result<Thunk<'p>, Problem> {
        let (context, _) = program.span_manager_mut().insert_source_context(text.len());
        let (origin, counted) = (Origin::Library, Counted::plain(text));
        self.sources.insert(context, Source { origin, text: text.as_bytes().into(), counted });
        program
            .load_source(context, text.as_bytes(), true, file)
            .map_err(|_| Problem::new("the library cannot be loaded"))
    }

    /// Something that is to be evaluated to what the whole program gives. The evaluator goes through all of it, and would
    /// go through a list that it holds twice as often as there are ways to it, so that it is counted first.
    pub(super) fn whole(
        &mut self,
        program: &mut Program<'p>,
        thunk: &Thunk<'p>,
        arguments: &[(String, Thunk<'p>)],
        is_called: bool,
    ) -> Result<Value<'p>, Problem> {
        // No function has a parameter with another name, so that the call says so.
        let is_name = |name: &str| {
            let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
            name.chars().all(word) && !name.starts_with(|character: char| character.is_ascii_digit())
        };
        if let Some((name, _)) = arguments.iter().find(|(name, _)| !is_name(name)) {
            return Err(Problem::new(format!("the function has no parameter {name}")));
        }
        let parameters: String = (0..arguments.len()).map(|index| format!(", a{index}")).collect();
        let named = arguments.iter().enumerate().map(|(index, (name, _))| format!("{name}=a{index}, "));
        let call = if is_called { format!("({})", named.collect::<String>()) } else { String::new() };
        let text = format!("function(program{parameters}) (import \"\\u0000whole\")(program{call})");
        let function = self.own(program, &text, "")?;
        let thunks: Vec<Thunk<'p>> =
            std::iter::once(thunk.clone()).chain(arguments.iter().map(|(_, thunk)| thunk.clone())).collect();
        program
            .eval_call(&function, &thunks, &[], self)
            .map_err(|error| self.evaluation_problem(program, &error))
    }

    /// Loads a text, with places to count at.
    pub(super) fn load(
        &mut self,
        program: &mut Program<'p>,
        origin: Origin,
        text: &[u8],
    ) -> Result<Thunk<'p>, Problem> {
        let counted = steps::count(text).map_err(|(problem, at)| located(problem, &origin, text, at))?;
        let (context, _) = program.span_manager_mut().insert_source_context(counted.edited.text.len());
        let name = match &origin {
            Origin::File(file) => file.as_str(),
            Origin::Variable(_) | Origin::Library => "",
        };
        let loaded =
            stacker::grow(counted.stack, || program.load_source(context, &counted.edited.text, false, name));
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
        let problem = self.refused.take().unwrap_or_else(|| Problem::new(shortened(message)));
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

/// A message that is short enough to be told: a program may give any text as its error.
fn shortened(mut message: String) -> String {
    let limit = limits::JSONNET_MESSAGE_BYTES;
    if message.len() > limit {
        message.truncate((0..=limit).rev().find(|at| message.is_char_boundary(*at)).unwrap_or_default());
        message.push_str(" …");
    }
    message
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
        if let Some(count) = path.strip_prefix(steps::STEP) {
            let answer = self.budget.steps(count.parse().unwrap_or(1));
            return self.answer(answer).map(|()| self.yes.clone());
        }
        if let Some(function) = self.functions.get(path) {
            return Ok(function.clone());
        }
        if path == steps::LIBRARY {
            let of = match self.origin(program, from) {
                Some(Origin::File(file)) => file.as_str().to_owned(),
                _ => String::new(),
            };
            let library = self.own(program, LIBRARY, &of);
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
        let room = self.budget.steps(content.len() as u64);
        self.answer(room)?;
        Ok(content.to_vec())
    }

    /// What a program says to its author is heard where it is developed, and nowhere else.
    fn trace(&mut self, _: &mut Program<'p>, _: &str, _: &[EvalStackTraceItem]) {}

    fn native_call(
        &mut self,
        program: &mut Program<'p>,
        name: InternedStr<'p>,
        arguments: &[Value<'p>],
    ) -> Result<Value<'p>, NativeError> {
        let answer = self.budget.call(program, name.value(), arguments);
        self.answer(answer).map_err(|ImportError| NativeError)
    }
}
