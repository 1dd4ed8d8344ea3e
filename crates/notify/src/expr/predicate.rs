//! Functions that ask something of each element.

use std::cmp::Ordering;

use lynceus_gotmpl::{Int, Value};

use super::compare::order;
use super::evaluate::{Evaluated, Evaluator, Scope, at, failed, truth};
use super::node::Node;
use super::operate::add;

/// Calls such a function.
pub(super) fn call(
    evaluator: &mut Evaluator<'_, '_, '_>,
    node: &Node,
    name: &'static str,
    arguments: &[Node],
) -> Evaluated {
    let [of, rest @ ..] = arguments else {
        return Err(failed(node, format!("{name} takes a list")));
    };
    let list = evaluator.value(of)?;
    let items = elements(of, &list)?;
    evaluator.step(node, items.len())?;
    evaluator.charge(node, items.len() * 32)?;
    let mut asked = Asked { evaluator, node, items, predicate: rest.first() };
    match name {
        "all" => asked.first_that(false).map(|found| Value::Bool(found.is_none())),
        "any" => asked.first_that(true).map(|found| Value::Bool(found.is_some())),
        "none" => asked.first_that(true).map(|found| Value::Bool(found.is_none())),
        "one" => asked.count().map(|count| Value::Bool(count == 1)),
        "count" => asked.count().map(|count| Value::int(i64::try_from(count).unwrap_or(i64::MAX))),
        "filter" => asked.filter(),
        "map" => asked.map().map(Value::list),
        "find" => {
            let found = asked.first_that(true)?;
            Ok(found.and_then(|at| asked.items.get(at).cloned()).unwrap_or_default())
        }
        "findIndex" => asked.first_that(true).map(index),
        "findLast" => {
            let found = asked.last()?;
            Ok(found.and_then(|at| asked.items.get(at).cloned()).unwrap_or_default())
        }
        "findLastIndex" => asked.last().map(index),
        "sum" => asked.sum(),
        "groupBy" => asked.group(),
        "sortBy" => asked.sort(rest.get(1)),
        "reduce" => asked.reduce(rest.get(1)),
        _ => Err(failed(node, format!("there is no function {name}"))),
    }
}

fn index(found: Option<usize>) -> Value {
    found.and_then(|at| i64::try_from(at).ok()).map_or(Value::Nil, Value::int)
}

/// The elements of a list, or the bytes of a text.
fn elements(node: &Node, value: &Value) -> Evaluated<Vec<Value>> {
    match value {
        Value::List(list) => Ok(list.to_vec()),
        Value::Str(text) => {
            Ok(text.bytes().iter().map(|byte| Value::Int(i64::from(*byte), Int::U8)).collect())
        }
        other => Err(failed(node, format!("this has to be a list, not {}", other.type_name()))),
    }
}

struct Asked<'a, 'v, 'c, 'e> {
    evaluator: &'a mut Evaluator<'v, 'c, 'e>,
    node: &'a Node,
    items: Vec<Value>,
    predicate: Option<&'a Node>,
}

impl Asked<'_, '_, '_, '_> {
    /// What the predicate says of one element; without one, the element itself.
    fn ask(&mut self, at: usize, accumulated: Value) -> Evaluated {
        let element = self.items.get(at).cloned().unwrap_or_default();
        let Some(predicate) = self.predicate else { return Ok(element) };
        let index = i64::try_from(at).unwrap_or(i64::MAX);
        self.evaluator.scopes.push(Scope { element, index, accumulated });
        let answer = self.evaluator.value(predicate);
        self.evaluator.scopes.pop();
        answer
    }

    fn holds(&mut self, at: usize) -> Evaluated<bool> {
        let answer = self.ask(at, Value::Nil)?;
        truth(self.predicate.unwrap_or(self.node), &answer)
    }

    fn first_that(&mut self, wanted: bool) -> Evaluated<Option<usize>> {
        for at in 0..self.items.len() {
            if self.holds(at)? == wanted {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn last(&mut self) -> Evaluated<Option<usize>> {
        for at in (0..self.items.len()).rev() {
            if self.holds(at)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn count(&mut self) -> Evaluated<usize> {
        let mut count = 0;
        for at in 0..self.items.len() {
            count += usize::from(self.holds(at)?);
        }
        Ok(count)
    }

    fn filter(&mut self) -> Evaluated {
        let mut kept = Vec::new();
        for at in 0..self.items.len() {
            if self.holds(at)? {
                kept.push(self.items.get(at).cloned().unwrap_or_default());
            }
        }
        Ok(Value::list(kept))
    }

    fn map(&mut self) -> Evaluated<Vec<Value>> {
        (0..self.items.len()).map(|at| self.ask(at, Value::Nil)).collect()
    }

    fn sum(&mut self) -> Evaluated {
        let mut sum = Value::int(0);
        for value in self.map()? {
            sum = add(self.evaluator.context, &sum, &value).map_err(|failure| at(self.node, &failure))?;
        }
        Ok(sum)
    }

    fn group(&mut self) -> Evaluated {
        let mut groups: Vec<(lynceus_gotmpl::Str, Vec<Value>)> = Vec::new();
        for at in 0..self.items.len() {
            let key = self.ask(at, Value::Nil)?;
            let key = lynceus_gotmpl::format::text(&key, self.evaluator.context.room())
                .map_err(|_| failed(self.node, "a key is too long"))?;
            let item = self.items.get(at).cloned().unwrap_or_default();
            self.evaluator.step(self.node, groups.len())?;
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, items)) => items.push(item),
                None => groups.push((key, vec![item])),
            }
        }
        Ok(Value::map(groups.into_iter().map(|(key, items)| (key, Value::list(items)))))
    }

    fn sort(&mut self, direction: Option<&Node>) -> Evaluated {
        let descending = match direction.map(|node| self.evaluator.value(node)).transpose()? {
            None => false,
            Some(word) => is_descending(&word).map_err(|why| failed(self.node, why))?,
        };
        let keys = self.map()?;
        let pairs = keys.into_iter().zip(std::mem::take(&mut self.items)).collect();
        sorted(pairs, descending).map(Value::list).map_err(|why| failed(self.node, why))
    }

    fn reduce(&mut self, first: Option<&Node>) -> Evaluated {
        let (mut accumulated, start) = match first.map(|node| self.evaluator.value(node)).transpose()? {
            Some(value) => (value, 0),
            None => match self.items.first() {
                Some(first) => (first.clone(), 1),
                None => return Err(failed(self.node, "an empty list cannot be reduced without a beginning")),
            },
        };
        for at in start..self.items.len() {
            accumulated = self.ask(at, accumulated)?;
        }
        Ok(accumulated)
    }
}

/// Whether a word asks for the greatest first.
pub(super) fn is_descending(word: &Value) -> Result<bool, String> {
    match word.as_str().map(|word| word.to_string()).as_deref() {
        Some("asc") => Ok(false),
        Some("desc") => Ok(true),
        _ => Err("the order is \"asc\" or \"desc\"".to_owned()),
    }
}

/// Values in the order of their keys.
pub(super) fn sorted(mut pairs: Vec<(Value, Value)>, descending: bool) -> Result<Vec<Value>, String> {
    if let [(first, _), rest @ ..] = pairs.as_slice()
        && rest.iter().any(|(key, _)| order(first, key).is_none())
    {
        return Err("these cannot be put into an order".to_owned());
    }
    pairs.sort_by(|(left, _), (right, _)| {
        let order = order(left, right).unwrap_or(Ordering::Equal);
        if descending { order.reverse() } else { order }
    });
    Ok(pairs.into_iter().map(|(_, value)| value).collect())
}
