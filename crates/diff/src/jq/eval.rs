//! Evaluates an expression.
//!
//! A term is given one value and hands on each of its answers before it looks for the next, so that nothing is kept that is
//! not needed and what is cut short costs nothing. Where paths are asked for, a value carries the path that led to it.

use std::cell::Cell;
use std::rc::Rc;

use super::path::{self, Path};
use super::term::{Def, Op, Part, Pattern, Term};
use super::value::Val;
use super::{Ctx, JqError, arithmetic, text};

/// Why evaluating ended.
#[derive(Debug)]
pub(super) enum Stop {
    /// An error of jq, which `try` catches.
    Error(Val),
    /// To the label of this number.
    Break(u64),
    /// An error that nothing catches.
    Halt,
    /// A bound was reached.
    Limit(JqError),
    /// The stack is too small.
    Deep,
}

pub(super) type Flow = Result<(), Stop>;

pub(super) fn error<T>(message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Error(Val::Str(message.into().into())))
}

/// A value, and the path to it where paths are asked for.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) val: Val,
    pub(super) path: Option<Rc<Path>>,
}

impl Item {
    pub(super) fn bare(val: Val) -> Self {
        Item { val, path: None }
    }

    /// Another value at the same place.
    pub(super) fn with(&self, val: Val) -> Self {
        Item { val, path: self.path.clone() }
    }
}

pub(super) type Out<'o> = &'o mut dyn FnMut(Item) -> Flow;

/// What names mean. It lies on the stack, because what is called ends before what calls it.
pub(super) struct Env<'e> {
    parent: Option<&'e Env<'e>>,
    bind: Bind<'e>,
}

enum Bind<'e> {
    None,
    Vars(Vec<(&'e str, Val)>),
    Function(&'e Def),
    Closure(&'e str, &'e Term, &'e Env<'e>),
    Label(&'e str, u64),
}

impl<'e> Env<'e> {
    pub(super) const fn empty() -> Self {
        Env { parent: None, bind: Bind::None }
    }

    fn and(&'e self, bind: Bind<'e>) -> Self {
        Env { parent: Some(self), bind }
    }

    fn chain(&'e self) -> impl Iterator<Item = &'e Env<'e>> {
        std::iter::successors(Some(self), |env| env.parent)
    }
}

impl Ctx {
    pub(super) fn eval<'e>(&self, term: &'e Term, env: &'e Env<'e>, input: Item, out: Out<'_>) -> Flow {
        self.step()?;
        match term {
            Term::Id => out(input),
            Term::Null => out(input.with(Val::Null)),
            Term::Bool(b) => out(input.with(Val::Bool(*b))),
            Term::Int(i) => out(input.with(Val::Int(*i))),
            Term::Float(f) => out(input.with(Val::Float(*f))),
            Term::Str(text) => out(input.with(self.made(Val::text(text))?)),
            Term::Var(name) => out(input.with(variable(name, env))),
            Term::Pipe(left, right) => {
                self.eval(left, env, input, &mut |item| self.eval(right, env, item, out))
            }
            Term::Comma(left, right) => {
                self.eval(left, env, input.clone(), out)?;
                self.eval(right, env, input, out)
            }
            Term::Index(of, key) => self.index(of, key, env, input, out),
            Term::Slice(of, start, end) => self.slice(of, start.as_deref(), end.as_deref(), env, input, out),
            Term::Each(of) => self.eval(of, env, input, &mut |item| path::each(self, &item, out)),
            Term::If(condition, then, other) => {
                self.condition(condition, then, other.as_deref(), env, input, out)
            }
            Term::Binary(op, left, right) => self.binary(*op, left, right, env, input, out),
            Term::And(left, right) => self.logic(left, right, false, env, input, out),
            Term::Or(left, right) => self.logic(left, right, true, env, input, out),
            Term::Try(body, catch) => self.attempt(body, catch.as_deref(), env, input, out),
            Term::Call(name, args) => self.call(name, args, env, input, out),
            Term::Defined(at, args) => match super::defs().get(*at) {
                Some(def) => {
                    let root = Env::empty();
                    let own = root.and(Bind::Function(def));
                    self.enter(def, &def.params, args, env, &own, input, out)
                }
                None => error("no such function"),
            },
            Term::Native(native, args) => {
                let mut values = Vec::with_capacity(args.len());
                self.args(args, env, &input.val, &mut values, &mut |values| {
                    let answer = native(self, input.val.clone(), values)?;
                    out(input.with(self.made(answer)?))
                })
            }
            Term::Special(special, args) => self.special(*special, args, env, input, out),
            other => self.seldom(other, env, input, out),
        }
    }

    /// What is not so frequent, apart so that the stack of the rest is small.
    fn seldom<'e>(&self, term: &'e Term, env: &'e Env<'e>, input: Item, out: Out<'_>) -> Flow {
        match term {
            Term::Text(parts, format) => {
                self.interpolate(parts, format, env, &input.val, String::new(), &mut |text| {
                    out(input.with(self.made(Val::Str(text.into()))?))
                })
            }
            Term::Format(format) => {
                let text = text::formatted(self, format, &input.val)?;
                out(input.with(self.made(Val::Str(text.into()))?))
            }
            Term::List(None) => out(input.with(Val::arr(vec![]))),
            Term::List(Some(inner)) => {
                let items = self.collect(inner, env, &input.val)?;
                out(input.with(self.made(Val::arr(items))?))
            }
            Term::Map(fields) => self.map(fields, vec![], env, &input, out),
            Term::Negate(term) => {
                self.values(term, env, &input.val, &mut |val| out(input.with(arithmetic::negate(&val)?)))
            }
            Term::Alternative(left, right) => self.alternative(left, right, env, input, out),
            Term::Bind(source, patterns, body) => self.bind(source, patterns, body, env, input, out),
            Term::Reduce(source, pattern, start, update) => {
                self.reduce(source, pattern, start, update, env, input, out)
            }
            Term::Foreach(source, pattern, start, update, extract) => {
                self.foreach([source, start, update], pattern, extract.as_deref(), env, input, out)
            }
            Term::Label(name, body) => {
                let number = self.label();
                let inner = env.and(Bind::Label(name, number));
                ended(number, self.eval(body, &inner, input, out))
            }
            Term::Break(name) => env
                .chain()
                .find_map(|env| match &env.bind {
                    Bind::Label(label, number) if label == name => Some(Err(Stop::Break(*number))),
                    _ => None,
                })
                .unwrap_or(Err(Stop::Halt)),
            Term::Def(def, rest) => self.eval(rest, &env.and(Bind::Function(def)), input, out),
            Term::Assign(place, value) => self.values(value, env, &input.val, &mut |value| {
                out(input.with(self.assign(place, env, &input.val, &value)?))
            }),
            Term::Modify(place, by) => {
                let changed = self.modify(place, env, &input.val, &mut |old, out| {
                    self.values(by, env, &old, &mut |new| out(new))
                })?;
                out(input.with(changed))
            }
            Term::Update(op, place, value) => self.values(value, env, &input.val, &mut |value| {
                let changed = self.modify(place, env, &input.val, &mut |old, out| match op {
                    Some(op) => out(self.made(arithmetic::binary(self, *op, &old, &value)?)?),
                    None => out(if old.truth() { old } else { value.clone() }),
                })?;
                out(input.with(changed))
            }),
            _ => error("not a term"),
        }
    }

    /// The answers of a term where no paths are asked for.
    pub(super) fn values<'e>(
        &self,
        term: &'e Term,
        env: &'e Env<'e>,
        input: &Val,
        out: &mut dyn FnMut(Val) -> Flow,
    ) -> Flow {
        self.eval(term, env, Item::bare(input.clone()), &mut |item| out(item.val))
    }

    pub(super) fn collect<'e>(
        &self,
        term: &'e Term,
        env: &'e Env<'e>,
        input: &Val,
    ) -> Result<Vec<Val>, Stop> {
        let mut items = Vec::new();
        self.values(term, env, input, &mut |val| {
            self.charge(24)?;
            items.push(val);
            Ok(())
        })?;
        Ok(items)
    }

    /// The arguments of a function in all their combinations, the last one changing most slowly.
    pub(super) fn args<'e>(
        &self,
        args: &'e [Term],
        env: &'e Env<'e>,
        input: &Val,
        values: &mut Vec<Val>,
        out: &mut dyn FnMut(&[Val]) -> Flow,
    ) -> Flow {
        let Some((last, before)) = args.split_last() else {
            let ordered: Vec<Val> = values.iter().rev().cloned().collect();
            return out(&ordered);
        };
        let depth = values.len();
        self.values(last, env, input, &mut |value| {
            values.truncate(depth);
            values.push(value);
            self.args(before, env, input, values, out)
        })
    }

    fn index<'e>(&self, of: &'e Term, key: &'e Term, env: &'e Env<'e>, input: Item, out: Out<'_>) -> Flow {
        if let Term::Str(name) = key {
            let key = Val::text(name);
            return self.eval(of, env, input, &mut |item| out(path::index(self, &item, &key)?));
        }
        let around = input.val.clone();
        self.values(key, env, &around, &mut |key| {
            self.eval(of, env, input.clone(), &mut |item| out(path::index(self, &item, &key)?))
        })
    }

    fn slice<'e>(
        &self,
        of: &'e Term,
        start: Option<&'e Term>,
        end: Option<&'e Term>,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        let null = &Term::Null;
        let around = input.val.clone();
        self.values(start.unwrap_or(null), env, &around, &mut |start| {
            self.values(end.unwrap_or(null), env, &around, &mut |end| {
                let key = Val::record([("start", start.clone()), ("end", end)]);
                self.eval(of, env, input.clone(), &mut |item| out(path::index(self, &item, &key)?))
            })
        })
    }

    fn condition<'e>(
        &self,
        condition: &'e Term,
        then: &'e Term,
        other: Option<&'e Term>,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        let val = input.val.clone();
        self.values(condition, env, &val, &mut |truth| match (truth.truth(), other) {
            (true, _) => self.eval(then, env, input.clone(), out),
            (false, Some(other)) => self.eval(other, env, input.clone(), out),
            (false, None) => out(input.clone()),
        })
    }

    fn binary<'e>(
        &self,
        op: Op,
        left: &'e Term,
        right: &'e Term,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        self.values(right, env, &input.val, &mut |right| {
            self.values(left, env, &input.val, &mut |left| {
                let answer = arithmetic::binary(self, op, &left, &right)?;
                out(input.with(self.made(answer)?))
            })
        })
    }

    /// `and` and `or`, which look at the right side only if the left does not decide.
    fn logic<'e>(
        &self,
        left: &'e Term,
        right: &'e Term,
        decides: bool,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        self.values(left, env, &input.val, &mut |left| {
            if left.truth() == decides {
                return out(input.with(Val::Bool(decides)));
            }
            self.values(right, env, &input.val, &mut |right| out(input.with(Val::Bool(right.truth()))))
        })
    }

    fn attempt<'e>(
        &self,
        body: &'e Term,
        catch: Option<&'e Term>,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        // An error of those who take the answers is not the body's.
        let later = Cell::new(false);
        let result =
            self.eval(body, env, input.clone(), &mut |item| out(item).inspect_err(|_| later.set(true)));
        match result {
            Err(Stop::Error(why)) if !later.get() => match catch {
                Some(catch) => self.eval(catch, env, input.with(why), out),
                None => Ok(()),
            },
            other => other,
        }
    }

    fn alternative<'e>(
        &self,
        left: &'e Term,
        right: &'e Term,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        let found = Cell::new(false);
        self.eval(left, env, input.clone(), &mut |item| {
            if !item.val.truth() {
                return Ok(());
            }
            found.set(true);
            out(item)
        })?;
        if found.get() { Ok(()) } else { self.eval(right, env, input, out) }
    }

    fn bind<'e>(
        &self,
        source: &'e Term,
        patterns: &'e [Pattern],
        body: &'e Term,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        let mut all = Vec::new();
        if patterns.len() > 1 {
            patterns.iter().for_each(|pattern| names(pattern, &mut all));
        }
        let val = input.val.clone();
        self.values(source, env, &val, &mut |value| {
            for (at, pattern) in patterns.iter().enumerate() {
                let result =
                    self.take_apart(vec![(pattern, value.clone())], all.clone(), env, &mut |bound| {
                        self.eval(body, &env.and(Bind::Vars(bound)), input.clone(), out)
                    });
                match result {
                    Err(Stop::Error(_)) if at + 1 < patterns.len() => {}
                    other => return other,
                }
            }
            Ok(())
        })
    }

    fn take_apart<'e>(
        &self,
        mut work: Vec<(&'e Pattern, Val)>,
        mut bound: Vec<(&'e str, Val)>,
        env: &'e Env<'e>,
        out: &mut dyn FnMut(Vec<(&'e str, Val)>) -> Flow,
    ) -> Flow {
        self.step()?;
        let Some((pattern, val)) = work.pop() else { return out(bound) };
        match pattern {
            Pattern::Var(name) => {
                bound.push((name, val));
                self.take_apart(work, bound, env, out)
            }
            Pattern::List(items) => {
                if !matches!(val, Val::Arr(_) | Val::Null) {
                    return error(format!("expected an array but got: {}", val.type_name()));
                }
                for (at, item) in items.iter().enumerate().rev() {
                    work.push((item, path::child(self, &val, &Val::count(at))?));
                }
                self.take_apart(work, bound, env, out)
            }
            Pattern::Map(fields) => self.take_fields(fields, val, work, bound, env, out),
        }
    }

    fn take_fields<'e>(
        &self,
        fields: &'e [(Term, Option<String>, Option<Pattern>)],
        val: Val,
        work: Vec<(&'e Pattern, Val)>,
        bound: Vec<(&'e str, Val)>,
        env: &'e Env<'e>,
        out: &mut dyn FnMut(Vec<(&'e str, Val)>) -> Flow,
    ) -> Flow {
        let Some(((key, name, inner), rest)) = fields.split_first() else {
            return self.take_apart(work, bound, env, out);
        };
        self.values(key, env, &val, &mut |key| {
            if !matches!(key, Val::Str(_)) {
                return error("a field's name is not a text");
            }
            let field = path::child(self, &val, &key)?;
            let (mut work, mut bound) = (work.clone(), bound.clone());
            if let Some(name) = name {
                bound.push((name, field.clone()));
            }
            if let Some(inner) = inner {
                work.push((inner, field));
            }
            self.take_fields(rest, val.clone(), work, bound, env, out)
        })
    }

    fn reduce<'e>(
        &self,
        source: &'e Term,
        pattern: &'e Pattern,
        start: &'e Term,
        update: &'e Term,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        self.eval(start, env, input.clone(), &mut |start| {
            let mut state = start.val.clone();
            self.eval(source, env, start.with(input.val.clone()), &mut |item| {
                self.take_apart(vec![(pattern, item.val.clone())], vec![], env, &mut |bound| {
                    let before = item.with(state.clone());
                    self.eval(update, &env.and(Bind::Vars(bound)), before, &mut |after| {
                        state = after.val;
                        Ok(())
                    })
                })
            })?;
            out(start.with(state))
        })
    }

    fn foreach<'e>(
        &self,
        [source, start, update]: [&'e Term; 3],
        pattern: &'e Pattern,
        extract: Option<&'e Term>,
        env: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        self.eval(start, env, input.clone(), &mut |start| {
            let mut state = start.val.clone();
            self.eval(source, env, start.with(input.val.clone()), &mut |item| {
                self.take_apart(vec![(pattern, item.val.clone())], vec![], env, &mut |bound| {
                    let inner = env.and(Bind::Vars(bound));
                    self.eval(update, &inner, item.with(state.clone()), &mut |after| {
                        state = after.val.clone();
                        match extract {
                            Some(extract) => self.eval(extract, &inner, after, out),
                            None => out(after),
                        }
                    })
                })
            })
        })
    }

    fn call<'e>(&self, name: &str, args: &'e [Term], env: &'e Env<'e>, input: Item, out: Out<'_>) -> Flow {
        for at in env.chain() {
            match &at.bind {
                Bind::Function(def) if def.name == name && def.params.len() == args.len() => {
                    return self.enter(def, &def.params, args, env, at, input, out);
                }
                Bind::Closure(closure, term, outer) if *closure == name && args.is_empty() => {
                    return self.eval(term, outer, input, out);
                }
                _ => {}
            }
        }
        error(format!("{name} is not defined"))
    }

    /// Binds the parameters of a function one by one, and then evaluates it.
    fn enter<'e>(
        &self,
        def: &'e Def,
        params: &'e [String],
        args: &'e [Term],
        env: &'e Env<'e>,
        inner: &'e Env<'e>,
        input: Item,
        out: Out<'_>,
    ) -> Flow {
        let (Some((param, params)), Some((arg, args))) = (params.split_first(), args.split_first()) else {
            return self.eval(&def.body, inner, input, out);
        };
        let Some(name) = param.strip_prefix('$') else {
            let inner = inner.and(Bind::Closure(param, arg, env));
            return self.enter(def, params, args, env, &inner, input, out);
        };
        let val = input.val.clone();
        self.values(arg, env, &val, &mut |value| {
            let closure = inner.and(Bind::Closure(name, arg, env));
            let inner = closure.and(Bind::Vars(vec![(name, value)]));
            self.enter(def, params, args, env, &inner, input.clone(), out)
        })
    }

    fn map<'e>(
        &self,
        fields: &'e [(Term, Term)],
        made: Vec<(Rc<str>, Val)>,
        env: &'e Env<'e>,
        input: &Item,
        out: Out<'_>,
    ) -> Flow {
        let Some(((key, value), rest)) = fields.split_first() else {
            return out(input.with(self.made(Val::obj(made.into_iter().collect()))?));
        };
        self.values(key, env, &input.val, &mut |key| {
            let Val::Str(key) = key else { return error("a field's name is not a text") };
            self.values(value, env, &input.val, &mut |value| {
                self.charge(24 * made.len() as u64)?;
                let mut made = made.clone();
                made.push((key.clone(), value));
                self.map(rest, made, env, input, out)
            })
        })
    }

    /// A text of its parts, the last one changing most slowly.
    fn interpolate<'e>(
        &self,
        parts: &'e [Part],
        format: &'e super::term::Format,
        env: &'e Env<'e>,
        input: &Val,
        after: String,
        out: &mut dyn FnMut(String) -> Flow,
    ) -> Flow {
        self.charge(after.len() as u64)?;
        match parts.split_last() {
            None => out(after),
            Some((Part::Text(text), rest)) => {
                self.interpolate(rest, format, env, input, [text, &*after].concat(), out)
            }
            Some((Part::Term(term), rest)) => self.values(term, env, input, &mut |val| {
                let text = text::formatted(self, format, &val)? + &after;
                self.interpolate(rest, format, env, input, text, out)
            }),
        }
    }
}

/// Evaluating that ends at a label has ended well.
pub(super) fn ended(label: u64, flow: Flow) -> Flow {
    match flow {
        Err(Stop::Break(number)) if number == label => Ok(()),
        other => other,
    }
}

fn variable(name: &str, env: &Env<'_>) -> Val {
    env.chain()
        .find_map(|env| match &env.bind {
            Bind::Vars(bound) => bound.iter().rev().find(|(bound, _)| *bound == name),
            _ => None,
        })
        .map_or(Val::Null, |(_, value)| value.clone())
}

fn names<'e>(pattern: &'e Pattern, into: &mut Vec<(&'e str, Val)>) {
    match pattern {
        Pattern::Var(name) => into.push((name, Val::Null)),
        Pattern::List(items) => items.iter().for_each(|item| names(item, into)),
        Pattern::Map(fields) => {
            for (_, name, inner) in fields {
                into.extend(name.as_deref().map(|name| (name, Val::Null)));
                if let Some(inner) = inner {
                    names(inner, into);
                }
            }
        }
    }
}
