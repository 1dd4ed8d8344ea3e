//! CEL, the expression language of validation rules and match conditions.
//!
//! An expression is parsed ([`parse`]), checked against the types of its variables ([`check`]) and
//! run ([`eval`]) directly on resources. It is our own because rules have to be refused when their
//! definition is created (which needs a type checker), must not outlive their budget (which needs
//! counting inside the evaluator), and because nothing is converted before it is looked at.

mod ast;
mod authz;
mod check;
mod error;
mod eval;
mod lex;
mod limits;
mod lists;
mod net;
mod parse;
mod pattern;
mod quantity;
mod semver;
mod signature;
mod standard;
mod strings;
mod time;
mod types;
mod url;
mod value;

use lynceus_object::Str;

pub use authz::{Answer, Asking, Authorizer, Question};
pub use error::{CompileError, EvalError, Issue};
pub use pattern::Pattern;
pub use types::{ListTy, ObjectTy, Ty, escape, is_reserved};
pub use url::Url;
pub use value::Val;

/// The variables that an expression may use, and their types.
#[derive(Clone, Debug, Default)]
pub struct Env {
    variables: Vec<(Str, Ty)>,
}

impl Env {
    /// An environment with these variables.
    pub fn new(variables: impl IntoIterator<Item = (&'static str, Ty)>) -> Self {
        Env { variables: variables.into_iter().map(|(name, ty)| (name.into(), ty)).collect() }
    }

    /// An environment with variables of which nothing is known before they are there.
    pub fn untyped(names: impl IntoIterator<Item = Str>) -> Self {
        Env { variables: names.into_iter().map(|name| (name, Ty::Dyn)).collect() }
    }

    /// The same with one more of those.
    #[must_use]
    pub fn and(&self, name: Str) -> Self {
        let mut more = self.clone();
        more.variables.push((name, Ty::Dyn));
        more
    }

    /// The same with a variable of a type.
    #[must_use]
    pub fn with(mut self, name: &str, ty: Ty) -> Self {
        self.variables.push((name.into(), ty));
        self
    }

    /// The same with `authorizer`.
    #[must_use]
    pub fn with_authorizer(mut self) -> Self {
        self.variables.push(("authorizer".into(), Ty::Opaque(authz::AUTHORIZER)));
        self.variables.push((check::REQUEST_RESOURCE.into(), Ty::Opaque(authz::RESOURCE_CHECK)));
        self
    }

    fn variable(&self, name: &str) -> Option<&Ty> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, ty)| ty)
    }
}

/// A checked expression, ready to run any number of times.
#[derive(Clone, Debug)]
pub struct Program {
    expr: ast::Expr,
    ty: Ty,
}

impl Program {
    /// Parses and checks an expression.
    pub fn compile(text: &str, env: &Env) -> Result<Self, CompileError> {
        let mut expr = parse::parse(text).map_err(|issues| CompileError::new(text, issues))?;
        let ty = check::check(&mut expr, env).map_err(|issues| CompileError::new(text, issues))?;
        Ok(Program { expr, ty })
    }

    /// The type of its result.
    pub fn ty(&self) -> &Ty {
        &self.ty
    }

    /// Whether the expression mentions a variable.
    pub fn uses(&self, name: &str) -> bool {
        eval::mentions(&self.expr, name)
    }

    /// Runs it. `budget` is what it may cost; the second part of the answer is what it did cost.
    pub fn run(&self, variables: &[(&str, Val)], budget: u64) -> (Result<Val, EvalError>, u64) {
        eval::run(&self.expr, variables, budget, None)
    }

    /// Runs it where it may ask who may do what.
    pub fn run_asking(
        &self,
        variables: &[(&str, Val)],
        budget: u64,
        authorizer: &dyn Authorizer,
    ) -> (Result<Val, EvalError>, u64) {
        eval::run(&self.expr, variables, budget, Some(authorizer))
    }
}

#[cfg(test)]
mod tests;
