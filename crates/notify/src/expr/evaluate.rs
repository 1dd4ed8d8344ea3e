//! What an expression is worth.

use lynceus_gotmpl::{Context, Failure, List, Value};

use super::builtin;
use super::member;
use super::node::{Binary, Kind, Node, Unary};
use super::operate;
use super::predicate;
use super::{ExprError, Expression};

/// The value of an expression; names are looked up in `names`. Steps and bytes are counted by the context.
pub fn evaluate(
    expression: &Expression,
    names: &Value,
    context: &mut Context<'_>,
) -> Result<Value, ExprError> {
    let mut evaluator = Evaluator { names, context, variables: Vec::new(), scopes: Vec::new() };
    evaluator.value(&expression.root).map_err(|stop| match stop {
        Stop::Error(error) => error,
        // Chains catch their own.
        Stop::Nothing => ExprError::at(expression.root.place, "there is nothing to look into"),
    })
}

/// Why an evaluation went no further.
pub(super) enum Stop {
    Error(ExprError),
    /// A `?.` met nil: the whole chain is nil.
    Nothing,
}

pub(super) type Evaluated<T = Value> = Result<T, Stop>;

/// What a predicate is asked about.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) element: Value,
    pub(super) index: i64,
    pub(super) accumulated: Value,
}

pub(super) struct Evaluator<'v, 'c, 'e> {
    pub(super) names: &'v Value,
    pub(super) context: &'c mut Context<'e>,
    variables: Vec<(String, Value)>,
    pub(super) scopes: Vec<Scope>,
}

/// How much stack is kept free, and how much is added when it is not.
const STACK: (usize, usize) = (128 << 10, 1 << 20);

impl Evaluator<'_, '_, '_> {
    pub(super) fn value(&mut self, node: &Node) -> Evaluated {
        stacker::maybe_grow(STACK.0, STACK.1, || {
            self.step(node, 1)?;
            self.part(node)
        })
    }

    /// Counts work.
    pub(super) fn step(&mut self, node: &Node, steps: usize) -> Evaluated<()> {
        self.context.step(steps).map_err(|failure| at(node, &failure))
    }

    /// Counts bytes that are about to be made.
    pub(super) fn charge(&mut self, node: &Node, bytes: usize) -> Evaluated<()> {
        self.context.charge(bytes).map_err(|failure| at(node, &failure))
    }

    fn part(&mut self, node: &Node) -> Evaluated {
        match &node.kind {
            Kind::Nil => Ok(Value::Nil),
            Kind::Bool(value) => Ok(Value::Bool(*value)),
            Kind::Int(value) => Ok(Value::int(*value)),
            Kind::Float(value) => Ok(Value::Float(*value)),
            Kind::Text(text) => Ok(Value::Str(text.clone())),
            Kind::Bytes(bytes) => Ok(Value::List(List::bytes(bytes.clone()))),
            Kind::Name(name) => Ok(self.name(name)),
            Kind::Pointer(name) => self.pointer(node, name),
            Kind::Unary(unary, of) => self.unary(node, *unary, of),
            Kind::Binary(operator, left, right) => self.binary(node, *operator, left, right),
            Kind::Chain(inner) => match self.value(inner) {
                Err(Stop::Nothing) => Ok(Value::Nil),
                other => other,
            },
            Kind::Member { of, property, optional } => {
                let of = self.value(of)?;
                if *optional && of.is_nil() {
                    return Err(Stop::Nothing);
                }
                let property = self.value(property)?;
                member::fetch(&of, &property).map_err(|why| failed(node, why))
            }
            Kind::Slice { of, from, to } => self.slice(node, of, from.as_deref(), to.as_deref()),
            Kind::Call { callee, arguments } => self.call(node, callee, arguments),
            Kind::Builtin { name, arguments } => self.builtin(node, name, arguments),
            Kind::Predicate(inner) => self.value(inner),
            Kind::Conditional(condition, then, other) => {
                let value = self.value(condition)?;
                if truth(condition, &value)? { self.value(then) } else { self.value(other) }
            }
            Kind::Elvis(condition, other) => {
                let value = self.value(condition)?;
                if truth(condition, &value)? { Ok(value) } else { self.value(other) }
            }
            Kind::Let { name, value, body } => {
                let value = self.value(value)?;
                self.variables.push((name.clone(), value));
                let result = self.value(body);
                self.variables.pop();
                result
            }
            Kind::Sequence(nodes) => {
                let mut last = Value::Nil;
                for node in nodes {
                    last = self.value(node)?;
                }
                Ok(last)
            }
            Kind::List(items) => {
                self.charge(node, items.len() * 32)?;
                let items: Evaluated<Vec<Value>> = items.iter().map(|item| self.value(item)).collect();
                Ok(Value::list(items?))
            }
            Kind::Map(pairs) => self.map(node, pairs),
        }
    }

    fn name(&self, name: &str) -> Value {
        if let Some((_, value)) = self.variables.iter().rev().find(|(known, _)| known == name) {
            return value.clone();
        }
        match self.names {
            names if name == "$env" => names.clone(),
            Value::Map(map) => map.get(name).unwrap_or_default(),
            _ => Value::Nil,
        }
    }

    fn pointer(&self, node: &Node, name: &str) -> Evaluated {
        let Some(scope) = self.scopes.last() else {
            return Err(failed(node, "# stands only in what is asked of each element"));
        };
        match name {
            "" => Ok(scope.element.clone()),
            "index" => Ok(Value::int(scope.index)),
            "acc" => Ok(scope.accumulated.clone()),
            _ => Err(failed(node, format!("there is no #{name}"))),
        }
    }

    fn unary(&mut self, node: &Node, unary: Unary, of: &Node) -> Evaluated {
        let value = self.value(of)?;
        match unary {
            Unary::Not => Ok(Value::Bool(!truth(of, &value)?)),
            Unary::Plus => Ok(value),
            Unary::Minus => operate::negate(&value).map_err(|why| failed(node, why)),
        }
    }

    fn binary(&mut self, node: &Node, operator: Binary, left: &Node, right: &Node) -> Evaluated {
        let first = self.value(left)?;
        match operator {
            Binary::And if !truth(left, &first)? => return Ok(first),
            Binary::Or if truth(left, &first)? => return Ok(first),
            Binary::Coalesce if !first.is_nil() => return Ok(first),
            Binary::And | Binary::Or | Binary::Coalesce => return self.value(right),
            _ => {}
        }
        let second = self.value(right)?;
        operate::apply(self.context, operator, &first, &second).map_err(|failure| at(node, &failure))
    }

    fn slice(&mut self, node: &Node, of: &Node, from: Option<&Node>, to: Option<&Node>) -> Evaluated {
        let of = self.value(of)?;
        let from = from.map(|from| self.value(from)).transpose()?;
        let to = to.map(|to| self.value(to)).transpose()?;
        self.charge(node, member::weight(&of))?;
        member::slice(&of, from.as_ref(), to.as_ref()).map_err(|why| failed(node, why))
    }

    fn map(&mut self, node: &Node, pairs: &[(Node, Node)]) -> Evaluated {
        self.charge(node, pairs.len() * 64)?;
        let mut items = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let name = self.value(key)?;
            let Value::Str(name) = name else {
                return Err(failed(key, format!("a key has to be a text, not {}", name.type_name())));
            };
            items.push((name, self.value(value)?));
        }
        Ok(Value::map(items))
    }

    fn call(&mut self, node: &Node, callee: &Node, arguments: &[Node]) -> Evaluated {
        if let Kind::Member { of, property, optional } = &callee.kind
            && let Kind::Text(name) = &property.kind
        {
            let of = self.value(of)?;
            if *optional && of.is_nil() {
                return Err(Stop::Nothing);
            }
            let arguments = self.all(arguments)?;
            let result = member::call_method(self.context, &of, name, &arguments);
            return result.map_err(|failure| at(node, &failure));
        }
        let callee = self.value(callee)?;
        let arguments = self.all(arguments)?;
        member::call(self.context, &callee, &arguments).map_err(|failure| at(node, &failure))
    }

    fn builtin(&mut self, node: &Node, name: &'static str, arguments: &[Node]) -> Evaluated {
        if builtin::PREDICATES.iter().any(|(known, ..)| *known == name) {
            return predicate::call(self, node, name, arguments);
        }
        let arguments = self.all(arguments)?;
        builtin::call(self.context, name, &arguments).map_err(|failure| at(node, &failure))
    }

    pub(super) fn all(&mut self, nodes: &[Node]) -> Evaluated<Vec<Value>> {
        nodes.iter().map(|node| self.value(node)).collect()
    }
}

/// What a condition says; only true and false are conditions.
pub(super) fn truth(node: &Node, value: &Value) -> Evaluated<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        other => Err(failed(node, format!("this has to be true or false, not {}", other.type_name()))),
    }
}

pub(super) fn failed(node: &Node, why: impl Into<String>) -> Stop {
    Stop::Error(ExprError::at(node.place, why))
}

pub(super) fn at(node: &Node, failure: &Failure) -> Stop {
    failed(node, failure.to_string())
}
