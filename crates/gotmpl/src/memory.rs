//! What a render remembers.
//!
//! Charts ask for the same text again and again: the labels in every manifest, a whole file for its checksum. A template
//! that is given the same value gives the same text, unless it made or read something that is different each time, or
//! something was changed in between. So a text is kept with the handle of the value that it was made for; chance, time
//! and the outside say so when they are asked ([`Context::unsteady`]), and maps and lists know when they were made: to
//! change one does not touch what was remembered before it existed, which leaves templates free to build maps of their own.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use crate::hash::OfWords;
use crate::limits::{REMEMBERED_BYTES, REMEMBERED_ENTRY};
use crate::{Context, Str, Templates, Value};

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
    static CHANGED: Cell<u64> = const { Cell::new(NEVER) };
    static UNSTEADY: Cell<bool> = const { Cell::new(false) };
}

const NEVER: u64 = u64::MAX;

/// When a map or list was made, counted in maps and lists of this thread.
#[derive(Clone, Copy)]
pub(crate) struct Birth(u64);

impl Birth {
    pub(crate) fn now() -> Self {
        Self(MADE.replace(MADE.get() + 1))
    }

    /// Notes that what was made then is about to change.
    pub(crate) fn change(self) {
        CHANGED.set(CHANGED.get().min(self.0));
    }
}

/// Notes that something is read that may be different the next time.
pub(crate) fn unsteady() {
    UNSTEADY.set(true);
}

/// The texts of one render.
#[derive(Default)]
pub(crate) struct Memory {
    texts: HashMap<Key, Remembered, BuildHasherDefault<OfWords>>,
    /// The texts in the order in which they were made, so that to forget costs no more than to remember did.
    order: Vec<(u64, Key)>,
    bytes: usize,
    run: Run,
}

/// What made a text, and of what. Nothing that these addresses stand for is freed while the text is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    maker: Maker,
    set: usize,
    value: usize,
    of: usize,
}

/// What makes texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Maker {
    /// The address of a template that is part of the set.
    Template(usize),
    /// The address of a function's name, and how long it is.
    Function(usize, usize),
    /// The address of a text that is parsed and executed, and how long it is.
    Text(usize, usize),
}

struct Remembered {
    text: Str,
    /// The text that [`Maker::Text`] is about, so that its address stays its own.
    of: Str,
    _value: Value,
    _set: Arc<Templates>,
}

/// What happened since something began.
struct Run {
    /// When the oldest map or list was made that was changed.
    changed: u64,
    unsteady: bool,
}

impl Default for Run {
    fn default() -> Self {
        Run { changed: NEVER, unsteady: false }
    }
}

impl Memory {
    /// Takes notice of what happened, and forgets what may be different now.
    fn look(&mut self) {
        let changed = CHANGED.replace(NEVER);
        while let Some((_, key)) = self.order.pop_if(|(made, _)| *made > changed) {
            self.bytes -= self.texts.remove(&key).map_or(0, |remembered| remembered.size());
        }
        self.run.changed = self.run.changed.min(changed);
        self.run.unsteady |= UNSTEADY.replace(false);
    }

    fn begin(&mut self) -> Run {
        self.look();
        std::mem::take(&mut self.run)
    }

    /// Ends what began after `outer`; says whether it would come to the same again.
    fn end(&mut self, outer: &Run, begun: u64) -> bool {
        self.look();
        let is_steady = !self.run.unsteady && self.run.changed >= begun;
        self.run.changed = self.run.changed.min(outer.changed);
        self.run.unsteady |= outer.unsteady;
        is_steady
    }

    fn keep(&mut self, key: Key, remembered: Remembered) {
        self.bytes += remembered.size();
        if self.bytes > REMEMBERED_BYTES {
            self.texts.clear();
            self.order.clear();
            self.bytes = remembered.size();
        }
        self.order.push((MADE.get(), key));
        self.texts.insert(key, remembered);
    }
}

impl Remembered {
    fn size(&self) -> usize {
        REMEMBERED_ENTRY + self.text.len() + self.of.len()
    }
}

impl Context<'_> {
    /// Notes that what is computed now may come to something else the next time: it depends on chance, on the time or
    /// on what is outside of the render.
    pub fn unsteady(&mut self) {
        unsteady();
    }

    /// The text that a function gives for a value: made once, for as long as nothing changes.
    pub fn once<E>(
        &mut self,
        function: &'static str,
        value: &Value,
        make: impl FnOnce(&mut Self) -> Result<Str, E>,
    ) -> Result<Str, E> {
        // A value that nobody else holds will not be asked for again.
        let is_shared = handles(value) > 1;
        let maker = Maker::Function(function.as_ptr().addr(), function.len());
        self.remembering(maker, value.clone(), is_shared, |context, _| make(context))
    }

    /// The text that comes of another text and a value, made once for as long as nothing changes: for `tpl`.
    pub fn once_for<E>(
        &mut self,
        text: &Str,
        value: &Value,
        make: impl FnOnce(&mut Self) -> Result<Str, E>,
    ) -> Result<Str, E> {
        // A short text lies where its handle is, so that its address says nothing. Whoever calls has a handle on the value.
        let is_shared = text.is_shared() && handles(value) > 1;
        let maker = Maker::Text(text.as_ptr().addr(), text.len());
        let value = value.clone();
        self.remembering_of(text, maker, value, is_shared, |context, _| make(context))
    }

    /// The text that `make` gives for a value, which is remembered if the value is shared and comes to it every time.
    pub(crate) fn remembering<E>(
        &mut self,
        maker: Maker,
        value: Value,
        is_shared: bool,
        make: impl FnOnce(&mut Self, Value) -> Result<Str, E>,
    ) -> Result<Str, E> {
        self.remembering_of(&Str::new(), maker, value, is_shared, make)
    }

    fn remembering_of<E>(
        &mut self,
        source: &Str,
        maker: Maker,
        value: Value,
        is_shared: bool,
        make: impl FnOnce(&mut Self, Value) -> Result<Str, E>,
    ) -> Result<Str, E> {
        let key = match &value {
            _ if !is_shared || self.recorder.is_some() => None,
            Value::Map(map) => Some((map.id(), std::ptr::from_ref(map.go_type()).addr())),
            Value::List(list) => Some((list.id(), std::ptr::from_ref(list.go_type()).addr())),
            _ => None,
        };
        let Some((id, of)) = key else {
            return make(self, value);
        };
        let set = Arc::clone(&self.templates);
        let key = Key { maker, set: Arc::as_ptr(&set).addr(), value: id, of };
        let outer = self.memory.begin();
        let begun = MADE.get();
        if let Some(remembered) = self.memory.texts.get(&key) {
            let text = remembered.text.clone();
            self.memory.end(&outer, begun);
            return Ok(text);
        }
        let made = make(self, value.clone());
        let is_steady = self.memory.end(&outer, begun);
        if let Ok(text) = &made
            && is_steady
        {
            let remembered = Remembered { text: text.clone(), of: source.clone(), _value: value, _set: set };
            self.memory.keep(key, remembered);
        }
        made
    }
}

/// How many handles there are on a value that can be changed.
pub(crate) fn handles(value: &Value) -> usize {
    match value {
        Value::Map(map) => map.handles(),
        Value::List(list) => list.handles(),
        _ => 0,
    }
}
