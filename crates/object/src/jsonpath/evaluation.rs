//! Following a template through a value.

use super::MissingKeys;
use super::error::FindError;
use super::found::Found;
use super::node::{End, Filter, Node, Piece, Slice};
use crate::limits;
use crate::value::Value;

/// What each piece leads to, starting at `value`.
pub(super) fn evaluate<'a>(
    pieces: &'a [Piece],
    value: &'a Value,
    missing: MissingKeys,
) -> Result<Vec<Vec<Found<'a>>>, FindError> {
    let mut run =
        Run { pieces, missing, begun: 0, open: 0, ended: 0, last_end: None, seen: 0, out: Vec::new() };
    run.block(0, current(Found::Value(value))).map_err(|stop| stop.error)?;
    Ok(run.out)
}

/// A null is no value any more once it is the current one.
fn current(found: Found<'_>) -> Found<'_> {
    if matches!(found, Found::Value(Value::Null)) { Found::Absent } else { found }
}

/// An error, and whether the step that met it still had values in hand: an existence filter asks only for those.
struct Stop {
    error: FindError,
    held: bool,
}

impl Stop {
    /// Whether evaluation must not go on, no matter what a filter makes of errors.
    fn is_final(&self) -> bool {
        matches!(self.error, FindError::TooMany | FindError::TooDeep)
    }
}

struct Run<'a> {
    pieces: &'a [Piece],
    missing: MissingKeys,
    /// Words may stand anywhere in an action, also in filters, and so are only counted where they stand.
    /// The block looks at the counters after each piece.
    begun: usize,
    open: usize,
    ended: usize,
    last_end: Option<usize>,
    seen: usize,
    out: Vec<Vec<Found<'a>>>,
}

impl<'a> Run<'a> {
    /// Evaluates pieces from `start` to the end of the range they are in, or to the end of the template.
    fn block(&mut self, start: usize, here: Found<'a>) -> Result<(), Stop> {
        let mut at = start;
        while let Some(piece) = self.pieces.get(at) {
            self.see(0)?;
            let results = match piece {
                Piece::Text(text) => vec![Found::Text(text)],
                Piece::Action(nodes) => self.follow(nodes, vec![here])?,
            };
            if self.ended > 0 && self.ended <= self.open {
                self.ended -= 1;
                self.last_end = Some(at);
                return Ok(());
            }
            if self.begun > 0 {
                self.begun -= 1;
                self.range(at + 1, results)?;
                // A range without an end is followed by what was in it.
                at = self.last_end.filter(|&end| end > at).unwrap_or(at);
            } else {
                self.out.push(results);
            }
            at += 1;
        }
        Ok(())
    }

    /// Evaluates what follows `{range}` for each value.
    fn range(&mut self, start: usize, values: Vec<Found<'a>>) -> Result<(), Stop> {
        if self.open >= limits::JSONPATH_DEPTH {
            return Err(Stop { error: FindError::TooDeep, held: false });
        }
        self.open += 1;
        if values.is_empty() {
            // Going through it once finds its end, and the errors that the original tells of.
            let printed = self.out.len();
            self.block(start, Found::Absent)?;
            self.out.truncate(printed);
        }
        for value in values {
            self.block(start, current(value))?;
        }
        self.open -= 1;
        Ok(())
    }

    fn follow(&mut self, nodes: &'a [Node], mut values: Vec<Found<'a>>) -> Result<Vec<Found<'a>>, Stop> {
        for node in nodes {
            values = self.step(node, values)?;
            self.see(values.len())?;
        }
        Ok(values)
    }

    fn step(&mut self, node: &'a Node, values: Vec<Found<'a>>) -> Result<Vec<Found<'a>>, Stop> {
        let each = |literal: Found<'a>| vec![literal; values.len()];
        match node {
            Node::Text(text) => Ok(vec![Found::Text(text)]),
            Node::Int(int) => Ok(each(Found::Int(*int))),
            Node::Float(float) => Ok(each(Found::Float(*float))),
            Node::Bool(set) => Ok(each(Found::Bool(*set))),
            Node::Word(word) => self.word(word, values),
            Node::Field(name) => self.field(name, &values),
            Node::Slice(slice) => self.slice(slice, &values),
            Node::Wildcard => self.wildcard(&values),
            Node::Descent => self.descent(&values),
            Node::Union(choices) => self.union(choices, &values),
            Node::Filter(filter) => self.filter(filter, &values),
        }
    }

    fn word(&mut self, word: &str, values: Vec<Found<'a>>) -> Result<Vec<Found<'a>>, Stop> {
        match word {
            "range" => {
                self.begun += 1;
                Ok(values)
            }
            "end" if self.open == 0 => Err(Stop { error: FindError::NothingToEnd, held: false }),
            "end" => {
                self.ended += 1;
                Ok(Vec::new())
            }
            _ => Err(Stop { error: FindError::Word(word.to_owned()), held: !values.is_empty() }),
        }
    }

    fn field(&self, name: &str, values: &[Found<'a>]) -> Result<Vec<Found<'a>>, Stop> {
        let get = |found: &Found<'a>| match found {
            Found::Value(Value::Map(map)) => map.get(name).map(Found::Value),
            _ => None,
        };
        let results: Vec<Found<'a>> = values.iter().filter_map(get).collect();
        // One value with the field is enough, and nothing is missing where there is nothing to look at.
        if results.is_empty() && !values.is_empty() && self.missing == MissingKeys::Refused {
            return Err(Stop { error: FindError::MissingKey(name.to_owned()), held: false });
        }
        Ok(results)
    }

    fn slice(&mut self, slice: &Slice, values: &[Found<'a>]) -> Result<Vec<Found<'a>>, Stop> {
        let held = |error| Stop { error, held: true };
        let mut results = Vec::new();
        for value in values {
            let Some(items) = value.items().map_err(held)? else { continue };
            let Some(chosen) = slice.choose(items).map_err(held)? else {
                // An empty slice ends the step: the values after this one are not looked at.
                return Ok(results);
            };
            for item in chosen {
                self.see(1)?;
                results.push(Found::Value(item));
            }
        }
        Ok(results)
    }

    fn wildcard(&mut self, values: &[Found<'a>]) -> Result<Vec<Found<'a>>, Stop> {
        let mut results = Vec::new();
        for child in values.iter().flat_map(|value| value.children()) {
            self.see(1)?;
            results.push(child);
        }
        Ok(results)
    }

    /// The values themselves and everything in them that has something in it, which a string has too.
    fn descent(&mut self, values: &[Found<'a>]) -> Result<Vec<Found<'a>>, Stop> {
        let mut results = Vec::new();
        let mut todo: Vec<Found<'a>> = values.iter().rev().copied().collect();
        while let Some(value) = todo.pop() {
            self.see(1)?;
            if value.children().next().is_none() {
                continue;
            }
            results.push(value);
            if !matches!(value, Found::Text(_) | Found::Value(Value::Str(_))) {
                todo.extend(value.children().rev());
            }
        }
        Ok(results)
    }

    fn union(&mut self, choices: &'a [Vec<Node>], values: &[Found<'a>]) -> Result<Vec<Found<'a>>, Stop> {
        let mut results = Vec::new();
        for choice in choices {
            let found = self.follow(choice, values.to_vec());
            results.extend(found.map_err(|stop| Stop { held: !values.is_empty(), ..stop })?);
        }
        Ok(results)
    }

    fn filter(&mut self, filter: &'a Filter, values: &[Found<'a>]) -> Result<Vec<Found<'a>>, Stop> {
        let mut results = Vec::new();
        for value in values {
            for item in value.filterable().map_err(|error| Stop { error, held: true })? {
                self.see(1)?;
                let item = Found::Value(item);
                let passes = self.passes(filter, item);
                if passes.map_err(|stop| Stop { held: stop.held || !results.is_empty(), ..stop })? {
                    results.push(item);
                }
            }
        }
        Ok(results)
    }

    fn passes(&mut self, filter: &'a Filter, item: Found<'a>) -> Result<bool, Stop> {
        let left = self.follow(&filter.left, vec![item]);
        let Some((operator, right)) = &filter.comparison else {
            return match left {
                Ok(found) => Ok(!found.is_empty()),
                Err(stop) if stop.is_final() => Err(stop),
                Err(stop) => Ok(stop.held),
            };
        };
        let held = |stop: Stop| Stop { held: true, ..stop };
        let Some(left) = single(&left.map_err(held)?)? else { return Ok(false) };
        let right = self.follow(right, vec![item]).map_err(held)?;
        let Some(right) = single(&right)? else { return Ok(false) };
        operator.holds(&left, &right).map_err(|error| Stop { error, held: false })
    }

    /// Counts what is gone through, one more than the values, so that nothing is free.
    fn see(&mut self, values: usize) -> Result<(), Stop> {
        self.seen = self.seen.saturating_add(values).saturating_add(1);
        if self.seen > limits::JSONPATH_VALUES {
            return Err(Stop { error: FindError::TooMany, held: false });
        }
        Ok(())
    }
}

/// The one value of a side of a comparison.
fn single<'a>(found: &[Found<'a>]) -> Result<Option<Found<'a>>, Stop> {
    match found {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err(Stop { error: FindError::SeveralElements, held: true }),
    }
}

impl Slice {
    /// The chosen items; `None` if the slice ends where it begins.
    fn choose<'v>(
        &self,
        items: &'v [Value],
    ) -> Result<Option<impl Iterator<Item = &'v Value> + use<'v>>, FindError> {
        let length = items.len() as i64;
        let from_front = |index: i64| if index < 0 { index.wrapping_add(length) } else { index };
        let start = from_front(self.start.unwrap_or(0));
        let end = match self.end {
            End::Open | End::AfterOne(0) => length,
            End::Before(end) | End::AfterOne(end) => from_front(end),
        };
        if start == end {
            return Ok(None);
        }
        let outside = |index| FindError::OutOfBounds { index, length: items.len() };
        if !(0..length).contains(&start) {
            return Err(outside(start));
        }
        if !(0..=length).contains(&end) {
            return Err(outside(end.wrapping_sub(1)));
        }
        if start > end {
            return Err(FindError::Backwards { start, end });
        }
        let step = self.step.unwrap_or(1);
        let step = usize::try_from(step).ok().filter(|step| *step > 0).ok_or(FindError::Step)?;
        let (start, end) = (start as usize, end as usize);
        Ok(Some(items.get(start..end).unwrap_or_default().iter().step_by(step)))
    }
}
