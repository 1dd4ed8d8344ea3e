//! Words that do more than to make a value of a value.
//!
//! What jq defines by functions that call themselves is a loop here, so that how long it runs does not deepen the stack.

use std::cell::Cell;

use super::Ctx;
use super::eval::{Env, Flow, Item, Out, Stop, ended, error};
use super::path;
use super::term::{Op, Special, Term};
use super::value::{Val, compare};

impl Ctx {
    pub(super) fn special<'e>(
        &self,
        special: Special,
        args: &'e [Term],
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        match (special, args) {
            (Special::Empty, _) => Ok(()),
            (Special::Halt, _) => Err(Stop::Halt),
            (Special::Path, [term]) => {
                self.paths(term, env, &input.val, &mut |steps| out(input.with(self.made(Val::arr(steps))?)))
            }
            (Special::GetPath, [steps]) => self.values(steps, env, &input.val, &mut |steps| match steps {
                Val::Arr(steps) => out(path::get(self, &input, &steps.items)?),
                _ => error("getpath needs an array"),
            }),
            (Special::Range, args) => self
                .args(args, env, &input.val, &mut Vec::new(), &mut |values| self.range(values, &input, out)),
            (Special::Recurse, []) => self.recurse(input, out, &mut |item, out| match item.val {
                Val::Arr(_) | Val::Obj(_) => path::each(self, item, out),
                _ => Ok(()),
            }),
            (Special::Recurse, [next]) => {
                self.recurse(input, out, &mut |item, out| self.eval(next, env, item.clone(), out))
            }
            (Special::Recurse, [next, condition]) => self.recurse(input, out, &mut |item, out| {
                self.eval(next, env, item.clone(), &mut |item| {
                    let val = item.val.clone();
                    self.values(condition, env, &val, &mut |truth| {
                        if truth.truth() { out(item.clone()) } else { Ok(()) }
                    })
                })
            }),
            (Special::Repeat, [term]) => loop {
                self.eval(term, env, input.clone(), out)?;
            },
            (Special::While | Special::Until, [condition, next]) => {
                self.turns(special == Special::Until, condition, next, env, input, out)
            }
            (Special::First, [term]) => self.some(term, env, input, 0, 1, out),
            (Special::Last, [term]) => {
                // gojq forgets the path of it.
                let mut last = None;
                self.eval(term, env, input.clone(), &mut |item| {
                    last = Some(item.val);
                    Ok(())
                })?;
                last.map_or(Ok(()), |val| out(input.with(val)))
            }
            (Special::Limit | Special::Skip, [count, term]) => {
                self.values(count, env, &input.val, &mut |count| {
                    let whole = if special == Special::Limit { count.int_above() } else { count.int() };
                    let Some(count) = whole else { return error("a count is not a number") };
                    let count =
                        u64::try_from(count).map_err(|_| Stop::Error(Val::text("a count is negative")))?;
                    match special {
                        Special::Limit if count == 0 => Ok(()),
                        Special::Limit => self.some(term, env, input.clone(), 0, count, out),
                        _ => self.some(term, env, input.clone(), count, u64::MAX, out),
                    }
                })
            }
            (Special::IsEmpty, [term]) => {
                let empty = Cell::new(true);
                self.some(term, env, Item::bare(input.val.clone()), 0, 1, &mut |_| {
                    empty.set(false);
                    Ok(())
                })?;
                out(input.with(Val::Bool(empty.get())))
            }
            _ => error("wrong number of arguments"),
        }
    }

    /// Some of the answers of a term, and no look at those behind them.
    fn some<'e>(
        &self,
        term: &'e Term,
        env: &'e Env<'e>,
        input: Item,
        skip: u64,
        take: u64,
        out: Out<'_>,
    ) -> Flow {
        let label = self.label();
        let mut seen = 0u64;
        let flow = self.eval(term, env, input, &mut |item| {
            seen += 1;
            if seen <= skip {
                return Ok(());
            }
            out(item)?;
            if seen - skip >= take { Err(Stop::Break(label)) } else { Ok(()) }
        });
        ended(label, flow)
    }

    fn range(&self, values: &[Val], input: &Item, out: Out<'_>) -> Flow {
        let [start, end, step] = values else { return error("wrong number of arguments") };
        if values.iter().any(|number| number.float().is_none()) {
            return error("a range has what is not a number");
        }
        let direction = compare(step, &Val::Int(0));
        let mut at = start.clone();
        while direction.is_ne() && compare(&at, end) == direction.reverse() {
            self.step()?;
            out(input.with(at.clone()))?;
            at = super::arithmetic::binary(self, Op::Add, &at, step)?;
        }
        Ok(())
    }

    /// A value, and then what follows from it and from that, each before its neighbours.
    fn recurse(&self, input: Item, out: Out<'_>, next: &mut dyn FnMut(&Item, Out<'_>) -> Flow) -> Flow {
        let mut waiting = vec![input];
        while let Some(item) = waiting.pop() {
            self.step()?;
            out(item.clone())?;
            let from = waiting.len();
            let found = next(&item, &mut |item| {
                self.charge(32)?;
                waiting.push(item);
                Ok(())
            });
            // What was found before an error comes before it.
            match found {
                Ok(()) => waiting[from..].reverse(),
                Err(Stop::Error(why)) => {
                    let mut first = waiting.split_off(from);
                    first.reverse();
                    self.rest(first, out, next)?;
                    return Err(Stop::Error(why));
                }
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    fn rest(&self, items: Vec<Item>, out: Out<'_>, next: &mut dyn FnMut(&Item, Out<'_>) -> Flow) -> Flow {
        for item in items.into_iter().rev() {
            self.recurse(item, out, next)?;
        }
        Ok(())
    }

    /// `while` and `until`.
    fn turns<'e>(
        &self,
        until: bool,
        condition: &'e Term,
        next: &'e Term,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        let mut waiting = vec![input];
        while let Some(item) = waiting.pop() {
            self.step()?;
            let from = waiting.len();
            let val = item.val.clone();
            self.values(condition, env, &val, &mut |truth| {
                if truth.truth() == until {
                    return if until { out(item.clone()) } else { Ok(()) };
                }
                if !until {
                    out(item.clone())?;
                }
                self.eval(next, env, item.clone(), &mut |item| {
                    self.charge(32)?;
                    waiting.push(item);
                    Ok(())
                })
            })?;
            waiting[from..].reverse();
        }
        Ok(())
    }
}
