//! `math.random`, without chance: a check that says something else at every look would be written down at every look.
//! Each run has the same numbers in the same order, until it gives a seed of its own.

use std::sync::Arc;

use mlua::{Lua, Value};

use super::{Names, number};
use crate::meter::Meter;

pub(super) fn functions(lua: &Lua, meter: &Arc<Meter>) -> mlua::Result<Names> {
    let account = meter.clone();
    let random = lua.create_function(move |_, (low, high): (Option<f64>, Option<f64>)| {
        let (low, high) = match (low, high) {
            (None, _) => return Ok((account.chance() >> 11) as f64 / (1u64 << 53) as f64),
            (Some(high), None) => (1, number::truncated(high)),
            (Some(low), Some(high)) => (number::truncated(low), number::truncated(high)),
        };
        let count = high.checked_sub(low).and_then(|width| u64::try_from(width).ok()).map(|width| width + 1);
        let Some(count) = count else { return Err(mlua::Error::runtime("interval is empty")) };
        Ok((low as f64) + (account.chance() % count) as f64)
    })?;
    let account = meter.clone();
    let seed = lua.create_function(move |_, seed: f64| {
        account.seed(number::truncated(seed) as u64);
        Ok(())
    })?;
    Ok(vec![("random", Value::Function(random)), ("randomseed", Value::Function(seed))])
}
