//! Places in a value: looking there, setting and deleting.

use std::rc::Rc;

use super::eval::{Env, Flow, Item, Out, Stop, error};
use super::term::Term;
use super::value::{Val, compare_lists};
use super::{Ctx, JqError};
use crate::limits;

/// The last step of a path, what it led to, and the path before it.
pub(super) struct Path {
    before: Option<Rc<Path>>,
    key: Val,
    /// A step can be made only from what the path led to, not from what was made of it.
    led_to: Val,
    length: usize,
}

impl Path {
    pub(super) fn root(val: Val) -> Rc<Self> {
        Rc::new(Path { before: None, key: Val::Null, led_to: val, length: 0 })
    }

    pub(super) fn leads_to(&self, val: &Val) -> bool {
        self.led_to.is_same(val)
    }

    pub(super) fn steps(&self) -> Vec<Val> {
        let mut steps = Vec::with_capacity(self.length);
        let mut at = self;
        while let Some(before) = &at.before {
            steps.push(at.key.clone());
            at = before;
        }
        steps.reverse();
        steps
    }

    fn and(self: &Rc<Self>, ctx: &Ctx, key: Val, led_to: Val) -> Result<Rc<Self>, Stop> {
        ctx.charge(96)?;
        let length = self.length + 1;
        if length > limits::JQ_DEPTH {
            return Err(Stop::Limit(JqError::Depth));
        }
        Ok(Rc::new(Path { before: Some(self.clone()), key, led_to, length }))
    }
}

fn check(item: &Item) -> Flow {
    match &item.path {
        Some(path) if !path.leads_to(&item.val) => {
            error(format!("invalid path against: {}", item.val.type_name()))
        }
        _ => Ok(()),
    }
}

pub(super) fn index(ctx: &Ctx, item: &Item, key: &Val) -> Result<Item, Stop> {
    let val = child(ctx, &item.val, key)?;
    let path = match &item.path {
        None => None,
        Some(path) => {
            check(item)?;
            Some(path.and(ctx, key.clone(), val.clone())?)
        }
    };
    Ok(Item { val, path })
}

/// Follows several steps at once.
pub(super) fn get(ctx: &Ctx, item: &Item, steps: &[Val]) -> Result<Item, Stop> {
    let mut val = item.val.clone();
    for step in steps {
        ctx.step()?;
        if !matches!(val, Val::Null | Val::Arr(_) | Val::Obj(_)) {
            return error(format!("getpath cannot be applied to: {}", val.type_name()));
        }
        val = child(ctx, &val, step)?;
    }
    let path = match &item.path {
        None => None,
        Some(path) => {
            check(item)?;
            let mut path = path.clone();
            for step in steps {
                path = path.and(ctx, step.clone(), val.clone())?;
            }
            Some(path)
        }
    };
    Ok(Item { val, path })
}

pub(super) fn each(ctx: &Ctx, item: &Item, out: Out<'_>) -> Flow {
    let mut hand = |key: Val, val: &Val| {
        ctx.step()?;
        let path = match &item.path {
            None => None,
            Some(path) => Some(path.and(ctx, key, val.clone())?),
        };
        out(Item { val: val.clone(), path })
    };
    match &item.val {
        Val::Arr(list) => {
            check(item)?;
            list.items.iter().enumerate().try_for_each(|(at, val)| hand(Val::count(at), val))
        }
        Val::Obj(fields) => {
            check(item)?;
            fields.map.iter().try_for_each(|(key, val)| hand(Val::Str(key.clone()), val))
        }
        other => error(format!("cannot iterate over: {}", other.type_name())),
    }
}

/// What one step leads to.
pub(super) fn child(ctx: &Ctx, val: &Val, key: &Val) -> Result<Val, Stop> {
    match (val, key) {
        (Val::Null, Val::Str(_) | Val::Int(_) | Val::Float(_) | Val::Arr(_) | Val::Obj(_)) => Ok(Val::Null),
        (Val::Obj(fields), Val::Str(key)) => Ok(fields.map.get(key).cloned().unwrap_or(Val::Null)),
        (Val::Arr(list), Val::Int(_) | Val::Float(_)) => {
            let at = place(key.int().unwrap_or(0), list.items.len());
            Ok(at.and_then(|at| list.items.get(at)).cloned().unwrap_or(Val::Null))
        }
        (Val::Str(text), Val::Int(_) | Val::Float(_)) => {
            ctx.charge(text.len() as u64)?;
            let at = place(key.int().unwrap_or(0), text.chars().count());
            let found = at.and_then(|at| text.chars().nth(at));
            Ok(found.map_or(Val::Null, |found| Val::text(found.encode_utf8(&mut [0; 4]))))
        }
        (Val::Arr(list), Val::Arr(wanted)) => indices(ctx, &list.items, &wanted.items).map(Val::arr),
        (Val::Arr(list), Val::Obj(_)) => {
            let (start, end) = range(key, list.items.len())?;
            ctx.made(Val::arr(list.items[start..end].to_vec()))
        }
        (Val::Str(text), Val::Obj(_)) => {
            ctx.charge(text.len() as u64)?;
            let (start, end) = range(key, text.chars().count())?;
            ctx.made(Val::Str(text.chars().skip(start).take(end - start).collect::<String>().into()))
        }
        (Val::Null, _) => error("a key is neither a text nor a number"),
        (val, Val::Str(_)) => error(format!("expected an object but got: {}", val.type_name())),
        (val, key) => error(format!("cannot index {} with {}", val.type_name(), key.type_name())),
    }
}

pub(super) fn indices(ctx: &Ctx, items: &[Val], wanted: &[Val]) -> Result<Vec<Val>, Stop> {
    if wanted.is_empty() {
        return Ok(vec![]);
    }
    let mut found = Vec::new();
    for (at, window) in items.windows(wanted.len()).enumerate() {
        let size = window.iter().fold(0, |size: u64, item| size.saturating_add(item.size()));
        ctx.work(size)?;
        if compare_lists(window, wanted).is_eq() {
            found.push(Val::count(at));
        }
    }
    Ok(found)
}

/// The position that an index means, counted from the end if it is negative; `None` before the start.
fn place(index: i64, length: usize) -> Option<usize> {
    if index >= 0 {
        return usize::try_from(index).ok();
    }
    length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
}

/// The positions that a slice means.
pub(super) fn range(slice: &Val, length: usize) -> Result<(usize, usize), Stop> {
    let Val::Obj(slice) = slice else { return error("it is no slice") };
    let (Some(start), Some(end)) = (slice.map.get("start"), slice.map.get("end")) else {
        return error("a slice has no start and end");
    };
    let near = |index: i64| place(index, length).unwrap_or(0).min(length);
    let start = match start {
        Val::Null => 0,
        start => near(number(start.int())?),
    };
    let end = match end {
        Val::Null => length,
        end => near(number(end.int_above())?),
    };
    Ok((start, end.max(start)))
}

fn number(found: Option<i64>) -> Result<i64, Stop> {
    found.ok_or_else(|| Stop::Error(Val::text("an index is not a number")))
}

/// Sets what a path leads to; [`Val::Gone`] marks it as deleted.
pub(super) fn set(ctx: &Ctx, val: &mut Val, steps: &[Val], new: &Val) -> Flow {
    ctx.step()?;
    let Some((key, rest)) = steps.split_first() else {
        *val = new.clone();
        return Ok(());
    };
    let delete = matches!(new, Val::Gone);
    match (&*val, key) {
        (Val::Gone, _) => return Ok(()),
        (Val::Null, Val::Str(_) | Val::Int(_) | Val::Float(_) | Val::Obj(_)) if delete => return Ok(()),
        (Val::Null, Val::Str(_)) => *val = Val::obj(Default::default()),
        (Val::Null, Val::Int(_) | Val::Float(_) | Val::Obj(_)) => *val = Val::arr(vec![]),
        _ => {}
    }
    match (&mut *val, key) {
        (Val::Obj(fields), Val::Str(key)) => {
            if delete && !fields.map.contains_key(key) {
                return Ok(());
            }
            if Rc::strong_count(fields) > 1 {
                ctx.charge(72 * fields.map.len() as u64)?;
            }
            let fields = Rc::make_mut(fields);
            let child = fields.map.entry(key.clone()).or_insert(Val::Null);
            set(ctx, child, rest, new)?;
            fields.depth = fields.depth.max(child.depth() + 1);
            fields.size = fields.size.saturating_add(child.size());
        }
        (Val::Arr(list), Val::Int(_) | Val::Float(_)) => {
            let at = place(key.int().unwrap_or(0), list.items.len());
            let Some(at) = at.filter(|at| !delete || *at < list.items.len()) else {
                return if delete { Ok(()) } else { error("an index is negative") };
            };
            let more = (at + 1).saturating_sub(list.items.len());
            let copied = if Rc::strong_count(list) > 1 { list.items.len() } else { 0 };
            ctx.charge((more as u64).saturating_mul(24).saturating_add(24 * copied as u64))?;
            let list = Rc::make_mut(list);
            list.items.extend(std::iter::repeat_n(Val::Null, more));
            set(ctx, &mut list.items[at], rest, new)?;
            list.depth = list.depth.max(list.items[at].depth() + 1);
            list.size = list.size.saturating_add(list.items[at].size()).saturating_add(more as u64);
        }
        (Val::Arr(list), Val::Obj(_)) => {
            let (start, end) = range(key, list.items.len())?;
            if delete && start == end {
                return Ok(());
            }
            ctx.charge(24 * list.items.len() as u64)?;
            let mut part = Val::arr(list.items[start..end].to_vec());
            set(ctx, &mut part, rest, new)?;
            let list = Rc::make_mut(list);
            match part {
                Val::Gone => list.items[start..end].fill(Val::Gone),
                Val::Arr(part) => {
                    ctx.charge(24 * part.items.len() as u64)?;
                    list.depth = list.depth.max(part.depth);
                    list.size = list.size.saturating_add(part.size);
                    list.items.splice(start..end, part.items.iter().cloned());
                }
                other => return error(format!("expected an array but got: {}", other.type_name())),
            }
        }
        (val, key) => return error(format!("cannot set {} of {}", key.type_name(), val.type_name())),
    }
    ctx.shallow(val)
}

/// Deletes what paths lead to, all at once.
pub(super) fn delete(ctx: &Ctx, mut val: Val, paths: &[Vec<Val>]) -> Result<Val, Stop> {
    for path in paths {
        set(ctx, &mut val, path, &Val::Gone)?;
    }
    if paths.is_empty() {
        return Ok(val);
    }
    sweep(ctx, val)
}

fn sweep(ctx: &Ctx, val: Val) -> Result<Val, Stop> {
    ctx.step()?;
    match val {
        Val::Gone => Ok(Val::Null),
        Val::Arr(list) => {
            let kept = list.items.iter().filter(|item| !matches!(item, Val::Gone)).cloned();
            ctx.made(Val::arr(kept.map(|item| sweep(ctx, item)).collect::<Result<_, _>>()?))
        }
        Val::Obj(fields) => {
            let kept = fields.map.iter().filter(|(_, val)| !matches!(val, Val::Gone));
            let kept = kept.map(|(key, val)| Ok((key.clone(), sweep(ctx, val.clone())?)));
            ctx.made(Val::obj(kept.collect::<Result<_, _>>()?))
        }
        other => Ok(other),
    }
}

/// Where a new value is handed to.
type Hand<'h> = &'h mut dyn FnMut(Val) -> Flow;

impl Ctx {
    /// The paths that a term leads to.
    pub(super) fn paths<'e>(
        &self,
        term: &'e Term,
        env: &'e Env<'e>,
        input: &Val,
        out: &mut dyn FnMut(Vec<Val>) -> Flow,
    ) -> Flow {
        let root = Item { val: input.clone(), path: Some(Path::root(input.clone())) };
        self.eval(term, env, root, &mut |item| {
            check(&item)?;
            let steps = item.path.map(|path| path.steps()).unwrap_or_default();
            self.charge(24 * steps.len() as u64)?;
            out(steps)
        })
    }

    fn all_paths<'e>(&self, term: &'e Term, env: &'e Env<'e>, input: &Val) -> Result<Vec<Vec<Val>>, Stop> {
        let mut paths = Vec::new();
        self.paths(term, env, input, &mut |path| {
            self.charge(48)?;
            paths.push(path);
            Ok(())
        })?;
        Ok(paths)
    }

    pub(super) fn assign<'e>(
        &self,
        place: &'e Term,
        env: &'e Env<'e>,
        input: &Val,
        new: &Val,
    ) -> Result<Val, Stop> {
        let mut changed = input.clone();
        for path in self.all_paths(place, env, input)? {
            set(self, &mut changed, &path, new)?;
        }
        Ok(changed)
    }

    /// Changes what a term leads to by the first answer that there is for it; what has none is deleted.
    pub(super) fn modify<'e>(
        &self,
        place: &'e Term,
        env: &'e Env<'e>,
        input: &Val,
        by: &mut dyn FnMut(Val, Hand<'_>) -> Flow,
    ) -> Result<Val, Stop> {
        let mut changed = input.clone();
        let mut gone = Vec::new();
        for path in self.all_paths(place, env, input)? {
            let old = get(self, &Item::bare(changed.clone()), &path)?.val;
            let mut new = None;
            let label = self.label();
            let found = by(old, &mut |val| {
                new = Some(val);
                Err(Stop::Break(label))
            });
            super::eval::ended(label, found)?;
            match new {
                Some(new) => set(self, &mut changed, &path, &new)?,
                None => gone.push(path),
            }
        }
        delete(self, changed, &gone)
    }
}
