//! One render: what templates and functions share while it runs.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::exec::{Dynamic, State};
use crate::limits::Limits;
use crate::map::WeakMap;
use crate::memory::{Maker, Memory, handles};
use crate::nesting::break_cycle;
use crate::parse::{Symbol, Tree};
use crate::trace::{Origin, Recorder, Span, Trace};
use crate::{Call, Error, ErrorKind, Failure, Parsed, Str, Templates, Value, format, memory};

/// What comes from outside of a render.
pub trait Environment {
    /// The time now, since 1970 in UTC.
    fn now(&self) -> Duration;

    /// Fills a buffer with random bytes.
    fn random(&mut self, bytes: &mut [u8]);

    /// Whatever the functions of the caller need: see [`Context::host`].
    fn host(&mut self) -> &mut dyn Any;
}

/// What a key that a map does not have is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// Nothing: prints as `<no value>`.
    #[default]
    Invalid,
    /// The zero of the map's value type; for `interface {}` that is nil.
    Zero,
    /// An error.
    Error,
}

/// How to render.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What missing keys are worth.
    pub missing_key: MissingKey,
    /// What may be used.
    pub limits: Limits,
    /// Whether to note down what made which piece of the output: see [`Context::take_trace`].
    pub trace: bool,
}

/// One render: executes templates, counts what they use, and serves their functions.
pub struct Context<'e> {
    pub(crate) templates: Arc<Templates>,
    environment: &'e mut dyn Environment,
    pub(crate) options: Options,
    steps: u64,
    bytes: u64,
    /// The templates that are being executed, outermost first.
    pub(crate) frames: Vec<Frame>,
    /// The values that decided that the call at hand is reached, if the render is traced.
    guard: Origin,
    pub(crate) recorder: Option<Box<Recorder>>,
    /// What the template that is being executed has printed.
    pub(crate) out: String,
    /// Argument lists that are not in use, kept for their memory.
    pub(crate) spare: Vec<Vec<Value>>,
    /// Lists of variables that are not in use, likewise.
    pub(crate) spare_variables: Vec<Vec<(Symbol, Dynamic)>>,
    pub(crate) memory: Memory,
    texts: HashMap<(Str, Str), Text>,
    /// Maps that a function changed, any of which may hold itself by now.
    changed: HashMap<usize, WeakMap>,
}

/// A template that is being executed.
pub(crate) struct Frame {
    tree: Arc<Tree>,
    /// Where it was when it last called something, in bytes of its source.
    at: usize,
}

/// A text that was parsed while a template was being executed: see [`Context::parse_text`].
#[derive(Clone)]
pub struct Text {
    /// The set that it was put on top of.
    on: Arc<Templates>,
    parsed: Parsed,
    templates: Arc<Templates>,
    tree: Arc<Tree>,
}

impl<'e> Context<'e> {
    /// Starts a render.
    pub fn new(templates: Arc<Templates>, environment: &'e mut dyn Environment, options: Options) -> Self {
        Self {
            templates,
            environment,
            options,
            steps: 0,
            bytes: 0,
            frames: Vec::new(),
            guard: Origin::NONE,
            recorder: options.trace.then(Box::default),
            out: String::new(),
            spare: Vec::new(),
            spare_variables: Vec::new(),
            memory: Memory::default(),
            texts: HashMap::new(),
            changed: HashMap::new(),
        }
    }

    /// Executes a template of the set that is being executed: what `include` does.
    pub fn execute(&mut self, name: &str, dot: Value) -> Result<Str, Box<Error>> {
        let Some(tree) = self.templates.lookup(name).map(Arc::clone) else {
            return Err(Box::new(Error {
                template: self.templates.name().to_string(),
                location: None,
                action: String::new(),
                kind: ErrorKind::Missing { name: name.to_owned() },
                calls: self.calls(),
            }));
        };
        self.run(&tree, dot)
    }

    /// Parses a text on top of the set that is being executed.
    ///
    /// The text sees the templates of the set; its own definitions are seen by nothing else.
    pub fn parse_text(&mut self, name: &Str, text: &Str) -> Result<Text, Box<Error>> {
        let key = (name.clone(), text.clone());
        let known = self.texts.get(&key);
        if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.on, &self.templates)) {
            return Ok(known.clone());
        }
        let parsed = match known {
            Some(known) => known.parsed.clone(),
            None => {
                self.charge_parsing(name, text)?;
                self.templates.read(name, text)?
            }
        };
        let mut templates = self.templates.layer();
        let tree = templates.add(name, &parsed);
        let on = Arc::clone(&self.templates);
        let text = Text { on, parsed, templates: Arc::new(templates), tree };
        self.texts.insert(key, text.clone());
        Ok(text)
    }

    /// Counts what a text takes that is parsed while the render goes on.
    fn charge_parsing(&mut self, name: &Str, text: &Str) -> Result<(), Box<Error>> {
        const TREE_PER_BYTE: usize = 16;
        let charged =
            self.charge(text.len().saturating_mul(TREE_PER_BYTE)).and_then(|()| self.step(text.len() / 8));
        charged.map_err(|failure| {
            Box::new(Error {
                template: name.to_string(),
                location: None,
                action: String::new(),
                kind: ErrorKind::Limit(failure.to_string()),
                calls: self.calls(),
            })
        })
    }

    /// Executes a parsed text: with [`Context::parse_text`], what `tpl` does.
    pub fn execute_text(&mut self, text: &Text, dot: Value) -> Result<Str, Box<Error>> {
        let outer = std::mem::replace(&mut self.templates, Arc::clone(&text.templates));
        let result = self.run(&text.tree, dot);
        self.templates = outer;
        result
    }

    fn run(&mut self, tree: &Arc<Tree>, dot: Value) -> Result<Str, Box<Error>> {
        // Whoever calls a template has a handle on what it is given, besides the one that is given.
        let is_shared = handles(&dot) > 2;
        let maker = Maker::Template(Arc::as_ptr(tree).addr());
        self.remembering(maker, dot, is_shared, |context, dot| context.print(tree, dot))
    }

    fn print(&mut self, tree: &Arc<Tree>, dot: Value) -> Result<Str, Box<Error>> {
        if self.recorder.is_some() {
            return self.print_traced(tree, dot);
        }
        // What a template prints goes behind what its caller has printed so far, where there is room already.
        let start = self.out.len();
        let result = State::enter(self, tree, Dynamic::concrete(dot));
        let printed = result.map(|()| Str::from(&self.out[start..]));
        self.out.truncate(start);
        printed
    }

    /// The text that `write` puts behind the output, where there is room already. It does not stay there.
    pub(crate) fn compose<E>(&mut self, write: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<Str, E> {
        let start = self.out.len();
        let written = write(self);
        let text = written.map(|()| Str::from(&self.out[start..]));
        self.out.truncate(start);
        text
    }

    /// Prints a template while the recorder notes every piece, whose places count from the start of its own text.
    fn print_traced(&mut self, tree: &Arc<Tree>, dot: Value) -> Result<Str, Box<Error>> {
        let outer = std::mem::take(&mut self.out);
        let spans = self.trace_start(&dot);
        let origin = self.recorder.as_ref().map_or(Origin::NONE, |recorder| recorder.origin_of(&dot));
        let result = State::enter(self, tree, Dynamic::concrete(dot).from(origin));
        let printed = Str::from(std::mem::replace(&mut self.out, outer));
        if let Some(recorder) = &mut self.recorder {
            recorder.end_text(spans, &printed);
        }
        result.map(|()| printed)
    }

    fn trace_start(&mut self, dot: &Value) -> Vec<Span> {
        let Some(recorder) = &mut self.recorder else {
            return Vec::new();
        };
        if self.frames.is_empty() {
            recorder.start(dot);
        }
        recorder.begin_text()
    }

    /// The trace of what [`Context::execute`] gave last, if [`Options::trace`] is on.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.recorder.as_mut().and_then(|recorder| Trace::take(recorder))
    }

    /// The error of templates that call each other too deep, once they do.
    pub(crate) fn too_deep(&self) -> Option<ErrorKind> {
        let limit = self.options.limits.depth;
        let deep = self.frames.len() >= limit;
        deep.then(|| ErrorKind::Limit(format!("exceeded maximum template depth ({limit})")))
    }

    /// Notes where the innermost template calls something.
    pub(crate) fn call_from(&mut self, at: usize, guard: Origin) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = at;
        }
        self.guard = guard;
    }

    pub(crate) fn enter(&mut self, tree: &Arc<Tree>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.enter(tree, self.frames.last().map_or(0, |frame| frame.at), self.guard);
        }
        self.frames.push(Frame { tree: Arc::clone(tree), at: 0 });
    }

    pub(crate) fn leave(&mut self) {
        self.frames.pop();
        if let Some(recorder) = &mut self.recorder {
            recorder.leave();
        }
    }

    /// The name of the set that is being executed.
    pub fn set_name(&self) -> Str {
        self.templates.name().clone()
    }

    /// The templates that are being executed, outermost first.
    pub fn calls(&self) -> Vec<Call> {
        let callers = std::iter::once(None).chain(self.frames.iter().map(Some));
        let calls = callers.zip(&self.frames).map(|(caller, frame)| Call {
            template: frame.tree.name.to_string(),
            from: caller.map(|caller| caller.tree.source.location(caller.at)),
        });
        calls.collect()
    }

    /// The time now, since 1970 in UTC.
    pub fn now(&self) -> Duration {
        memory::unsteady();
        self.environment.now()
    }

    /// Fills a buffer with random bytes.
    pub fn random(&mut self, bytes: &mut [u8]) {
        memory::unsteady();
        self.environment.random(bytes);
    }

    /// The caller's own state, if it is of this type.
    pub fn host<T: 'static>(&mut self) -> Option<&mut T> {
        self.environment.host().downcast_mut()
    }

    /// Notes that a function gave back the map that it was given: `set`, `merge` and the like do.
    pub(crate) fn note_change(&mut self, args: &[Value], result: &Value) {
        if let (Some(Value::Map(given)), Value::Map(result)) = (args.first(), result)
            && given.is(result)
        {
            self.changed.entry(result.id()).or_insert_with(|| result.downgrade());
        }
    }

    /// Counts bytes that are about to be made: text, and 32 for each value of a list or map.
    ///
    /// Call it before making anything whose size depends on the input. The evaluator counts the text of
    /// results itself.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if self.bytes > self.options.limits.bytes { Err(self.too_many_bytes()) } else { Ok(()) }
    }

    #[cold]
    fn too_many_bytes(&self) -> Failure {
        let limit = self.options.limits.bytes;
        Failure::limit(format!("rendering takes more than {limit} bytes of memory"))
    }

    /// Counts work that is about to be done, one step for about a hundred instructions.
    #[inline]
    pub fn step(&mut self, steps: usize) -> Result<(), Failure> {
        self.steps = self.steps.saturating_add(steps as u64);
        if self.steps > self.options.limits.steps { Err(self.too_many_steps()) } else { Ok(()) }
    }

    #[cold]
    fn too_many_steps(&self) -> Failure {
        Failure::limit(format!("rendering takes more than {} steps", self.options.limits.steps))
    }

    /// How many more bytes may be made.
    pub fn room(&self) -> usize {
        usize::try_from(self.options.limits.bytes.saturating_sub(self.bytes)).unwrap_or(usize::MAX)
    }

    /// `fmt.Sprint(value)`, counted.
    pub fn text(&mut self, value: &Value) -> Result<Str, Failure> {
        let text = format::text(value, self.room()).map_err(|_| self.too_long())?;
        self.charge(text.len())?;
        Ok(text)
    }

    /// `fmt.Sprint`, counted.
    pub fn sprint(&mut self, values: &[Value]) -> Result<Str, Failure> {
        let text = format::sprint(values, self.room()).map_err(|_| self.too_long())?;
        self.charge(text.len())?;
        Ok(text.into())
    }

    /// `fmt.Sprintf`, counted.
    pub fn sprintf(&mut self, format: &str, values: &[Value]) -> Result<Str, Failure> {
        let text = format::sprintf(format, values, self.room()).map_err(|_| self.too_long())?;
        self.charge(text.len())?;
        Ok(text.into())
    }

    /// The error of a text that cannot be made.
    pub(crate) fn too_long(&mut self) -> Failure {
        match self.charge(usize::MAX) {
            Err(failure) => failure,
            Ok(()) => Failure::limit("text is too long"),
        }
    }
}

impl Drop for Context<'_> {
    /// Frees values that hold themselves, so that a render leaves nothing behind.
    fn drop(&mut self) {
        self.changed.values().filter_map(WeakMap::upgrade).for_each(|map| break_cycle(&map));
    }
}
