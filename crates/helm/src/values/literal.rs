//! The grammar of `--set-literal`: one name, and all that follows the sign is its value.

use lynceus_object::{Map, Seq, Value};

use super::scan::{Scanner, Stop, check_index, check_levels};
use super::set::{not_a, set, take_list, take_map};
use crate::go::text;

/// Reads `name=value` into `values`.
pub(super) fn parse(text: &str, values: &mut Map) -> Result<(), String> {
    let mut scanner = Scanner::new(text);
    loop {
        scanner.begin();
        match key(&mut scanner, values, 0) {
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            Err(Stop::Error(error)) => return Err(error),
        }
    }
}

fn key(scanner: &mut Scanner<'_>, values: &mut Map, levels: usize) -> Result<(), Stop> {
    let (key, stop) = scanner.until(&['=', '[', '.'], false);
    match stop {
        None if key.is_empty() => Err(Stop::End),
        None => Err(Stop::Error(format!("key {} has no value", text::quote(&key)))),
        Some('=') => {
            let (value, _) = scanner.until(&[], false);
            set(values, &key, Value::from(value));
            Ok(())
        }
        Some('[') => {
            let index = scanner.index(false)?;
            let mut list = take_list(values, &key)?;
            let result = item(scanner, &mut list, index, levels);
            set(values, &key, Value::Seq(list));
            result
        }
        Some(_) => {
            check_levels(levels + 1)?;
            let mut inner = take_map(values, &key)?;
            let result = self::key(scanner, &mut inner, levels + 1);
            if result.is_ok() && inner.is_empty() {
                return Err(Stop::Error(format!("key map {} has no value", text::quote(&key))));
            }
            if !inner.is_empty() {
                set(values, &key, Value::Map(inner));
            }
            result
        }
    }
}

fn item(scanner: &mut Scanner<'_>, list: &mut Seq, index: i64, levels: usize) -> Result<(), Stop> {
    scanner.enter_list()?;
    if index < 0 {
        check_index(index)?;
    }
    let (extra, stop) = scanner.until(&['[', '.', '='], false);
    if !extra.is_empty() {
        let extra = text::quote_chars(&extra);
        return Err(Stop::Error(format!("unexpected data at end of array index: {extra}")));
    }
    let there = usize::try_from(index).ok().and_then(|index| list.get(index)).cloned();
    let value = match stop {
        None => return Err(Stop::End),
        Some('=') => Value::from(scanner.until(&[], false).0),
        Some('[') => {
            let next = scanner.index(false)?;
            let mut inner = match there {
                None | Some(Value::Null) => Seq::new(),
                Some(Value::Seq(list)) => list,
                Some(other) => return Err(not_a("[]interface {}", &other)),
            };
            item(scanner, &mut inner, next, levels)?;
            Value::Seq(inner)
        }
        Some(_) => {
            let mut inner = match there {
                Some(Value::Map(map)) => map,
                _ => Map::new(),
            };
            key(scanner, &mut inner, levels)?;
            Value::Map(inner)
        }
    };
    scanner.set_item(list, index, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_after_the_sign_is_the_value() {
        let mut values = Map::new();
        parse("a.b=1,c=2\\,{x}", &mut values).unwrap();
        parse("l[0].x=y=z", &mut values).unwrap();
        assert_eq!(
            lynceus_object::json::to_string(&Value::Map(values)),
            r#"{"a":{"b":"1,c=2\\,{x}"},"l":[{"x":"y=z"}]}"#
        );
    }
}
