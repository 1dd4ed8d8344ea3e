//! What templates can call.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use crate::hash::OfWords;
use crate::types::Type;
use crate::{Context, Failure, Value};

/// The code of a function. The arguments have been checked against the signature.
pub type Body = dyn Fn(&mut Context<'_>, &[Value]) -> Result<Value, Failure> + Send + Sync;

/// The code of a function that puts its text behind what is printed already, see [`Context::out`].
pub(crate) type Append = fn(&mut Context<'_>, &[Value]) -> Result<(), Failure>;

/// What a function takes and gives, in Go's types: wrong calls are told in these words.
#[derive(Clone, Copy)]
pub struct Signature {
    /// The parameters; of a variadic function, the last one is the type of each further argument.
    pub params: &'static [Type],
    /// Whether the last parameter may be given any number of times.
    pub variadic: bool,
    /// The type of the result.
    pub result: Type,
}

impl Signature {
    /// The type of an argument.
    pub(crate) fn param(&self, at: usize) -> Type {
        self.params.get(at).or(self.params.last()).copied().unwrap_or(&crate::types::ANY)
    }
}

/// Writes a [`Signature`] from the names of `lynceus_gotmpl::types`: `signature!((STRING, ...ANY) -> STRING)`.
#[macro_export]
macro_rules! signature {
    (($($param:ident),*) -> $result:ident) => {
        const {
            $crate::Signature {
                params: &[$(&$crate::types::$param),*],
                variadic: false,
                result: &$crate::types::$result,
            }
        }
    };
    (($($param:ident,)* ...$rest:ident) -> $result:ident) => {
        const {
            $crate::Signature {
                params: &[$(&$crate::types::$param,)* &$crate::types::$rest],
                variadic: true,
                result: &$crate::types::$result,
            }
        }
    };
}

/// A function with its signature.
pub struct Function {
    pub(crate) signature: Signature,
    /// Most hold nothing, and a box around nothing takes no memory.
    pub(crate) body: Box<Body>,
    /// The same for where its text is only printed, which saves making it first.
    pub(crate) append: Option<Append>,
}

impl Function {
    /// A function of a template.
    pub fn new(
        signature: Signature,
        body: impl Fn(&mut Context<'_>, &[Value]) -> Result<Value, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { signature, body: Box::new(body), append: None }
    }

    /// What it takes and gives.
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// Calls the code with arguments that fit the signature.
    pub fn call(&self, context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
        (self.body)(context, args)
    }
}

/// Functions by name.
#[derive(Clone)]
pub struct Functions {
    by_name: HashMap<&'static str, Arc<Function>, BuildHasherDefault<OfWords>>,
}

impl Default for Functions {
    fn default() -> Self {
        /// As many as sprig and Helm have together, so that the table need not grow.
        const USUAL: usize = 256;
        Self { by_name: HashMap::with_capacity_and_hasher(USUAL, BuildHasherDefault::default()) }
    }
}

impl Functions {
    /// No functions but Go's own, which are always there.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a function.
    pub fn add(
        &mut self,
        name: &'static str,
        signature: Signature,
        body: impl Fn(&mut Context<'_>, &[Value]) -> Result<Value, Failure> + Send + Sync + 'static,
    ) {
        self.by_name.insert(name, Arc::new(Function::new(signature, body)));
    }

    /// Adds a function whose text can be put where it is printed.
    pub(crate) fn add_appending(&mut self, name: &'static str, signature: Signature, append: Append) {
        let body = move |context: &mut Context<'_>, args: &[Value]| {
            context.compose(|context| append(context, args)).map(Value::Str)
        };
        let function = Function { append: Some(append), ..Function::new(signature, body) };
        self.by_name.insert(name, Arc::new(function));
    }

    /// Takes a function away.
    pub fn remove(&mut self, name: &str) {
        self.by_name.remove(name);
    }

    /// The function of a name.
    pub fn get(&self, name: &str) -> Option<&Function> {
        self.by_name.get(name).map(|function| &**function)
    }

    /// The function of a name, for a template to keep.
    pub(crate) fn shared(&self, name: &str) -> Option<Arc<Function>> {
        self.by_name.get(name).cloned()
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.by_name.keys().copied().collect();
        names.sort_unstable();
        names
    }
}
