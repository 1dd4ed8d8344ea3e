//! The grammar of `--set`, `--set-string`, `--set-file` and `--set-json`.

use lynceus_object::{Map, Seq, Value, json};

use super::floats;
use super::scan::{Scanner, Stop, check_index, check_levels};
use crate::go::text;

/// What a value of the text means.
pub(super) enum Meaning<'a> {
    /// Words for booleans and null, whole numbers, otherwise a string.
    Typed,
    /// A string.
    Text,
    /// The name of something to read.
    File(&'a mut dyn FnMut(&str) -> Result<String, String>),
    /// JSON.
    Json,
}

/// Reads `name=value,name=value` into `values`.
pub(super) fn parse(text: &str, values: &mut Map, meaning: Meaning<'_>) -> Result<(), String> {
    let mut parser = Parser { scanner: Scanner::new(text), meaning };
    loop {
        parser.scanner.begin();
        match parser.key(values, 0) {
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            Err(Stop::Error(error)) => return Err(error),
        }
    }
}

struct Parser<'t, 'm> {
    scanner: Scanner<'t>,
    meaning: Meaning<'m>,
}

impl Parser<'_, '_> {
    /// One name with its value.
    fn key(&mut self, values: &mut Map, levels: usize) -> Result<(), Stop> {
        let (key, stop) = self.scanner.until(&['=', '[', ',', '.'], true);
        match stop {
            None if key.is_empty() => Err(Stop::End),
            None => Err(Stop::Error(format!("key {} has no value", text::quote(&key)))),
            Some('[') => {
                let index = self.scanner.index(true)?;
                let mut list = take_list(values, &key)?;
                let result = self.item(&mut list, index, levels);
                set(values, &key, Value::Seq(list));
                result
            }
            Some('=') => self.value_of_key(values, &key),
            Some(',') => {
                Err(Stop::Error(format!("key {} has no value (cannot end with ,)", text::quote(&key))))
            }
            Some(_) => {
                check_levels(levels + 1)?;
                let mut inner = take_map(values, &key)?;
                let result = self.key(&mut inner, levels + 1);
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

    fn value_of_key(&mut self, values: &mut Map, key: &str) -> Result<(), Stop> {
        if matches!(self.meaning, Meaning::Json) {
            let value = self.json()?;
            set(values, key, value);
            return Ok(());
        }
        if self.scanner.rest().is_empty() {
            set(values, key, Value::from(""));
            return Err(Stop::End);
        }
        let value = self.value()?;
        set(values, key, value);
        Ok(())
    }

    /// What stands after `name[index]`.
    fn item(&mut self, list: &mut Seq, index: i64, levels: usize) -> Result<(), Stop> {
        self.scanner.enter_list()?;
        if index < 0 {
            check_index(index)?;
        }
        let (extra, stop) = self.scanner.until(&['[', '.', '='], true);
        if !extra.is_empty() {
            let extra = text::quote_chars(&extra);
            return Err(Stop::Error(format!("unexpected data at end of array index: {extra}")));
        }
        let there = usize::try_from(index).ok().and_then(|index| list.get(index)).cloned();
        let value = match stop {
            None => return Err(Stop::End),
            Some('=') => match self.meaning {
                Meaning::Json => self.json()?,
                _ if self.scanner.rest().is_empty() => Value::from(""),
                _ => self.value()?,
            },
            Some('[') => {
                let next = self.scanner.index(true)?;
                let mut inner = match there {
                    None | Some(Value::Null) => Seq::new(),
                    Some(Value::Seq(list)) => list,
                    Some(other) => return Err(not_a("[]interface {}", &other)),
                };
                self.item(&mut inner, next, levels)?;
                Value::Seq(inner)
            }
            Some(_) => {
                let mut inner = match there {
                    Some(Value::Map(map)) => map,
                    _ => Map::new(),
                };
                self.key(&mut inner, levels)?;
                Value::Map(inner)
            }
        };
        self.scanner.set_item(list, index, value)
    }

    /// A value, or a list of them in braces.
    fn value(&mut self) -> Result<Value, Stop> {
        if !self.scanner.take('{') {
            let (text, _) = self.scanner.until(&[','], true);
            return self.read(text);
        }
        let mut items: Vec<Value> = Vec::new();
        loop {
            let (text, stop) = self.scanner.until(&[',', '}'], true);
            match stop {
                None => return Err(Stop::Error("list must terminate with '}'".to_owned())),
                Some(',') => items.push(self.read(text)?),
                Some(_) => {
                    self.scanner.take(',');
                    items.push(self.read(text)?);
                    return Ok(items.into());
                }
            }
        }
    }

    fn read(&mut self, text: String) -> Result<Value, Stop> {
        match &mut self.meaning {
            Meaning::Typed => Ok(typed(text)),
            Meaning::Text | Meaning::Json => Ok(Value::from(text)),
            Meaning::File(read) => read(&text).map(Value::from).map_err(Stop::Error),
        }
    }

    /// A JSON value, and the comma after it. Nothing is null.
    fn json(&mut self) -> Result<Value, Stop> {
        if self.skip_to_value() {
            return Ok(Value::Null);
        }
        let rest = self.scanner.rest().as_bytes();
        let (value, len) = match json::parse(rest) {
            Ok(value) => (value, rest.len()),
            // The value ends where something else begins.
            Err(error) if error.problem.ends_with("after top-level value") => {
                let value =
                    json::parse(&rest[..error.offset]).map_err(|error| Stop::Error(error.to_string()))?;
                (value, error.offset)
            }
            Err(error) => return Err(Stop::Error(error.to_string())),
        };
        self.scanner.advance(len);
        self.skip_to_value();
        Ok(floats(value))
    }

    /// Skips spaces; whether a comma or the end came then, which is taken too.
    fn skip_to_value(&mut self) -> bool {
        while let Some(char) = self.scanner.rest().chars().next() {
            if char == ',' {
                self.scanner.next();
                return true;
            }
            if !text::is_space(char) {
                return false;
            }
            self.scanner.next();
        }
        true
    }
}

/// A text with the type that it looks like.
fn typed(text: String) -> Value {
    if text.eq_ignore_ascii_case("true") {
        return Value::Bool(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Value::Bool(false);
    }
    if text.eq_ignore_ascii_case("null") {
        return Value::Null;
    }
    if text == "0" {
        return Value::Int(0);
    }
    match text.parse::<i64>() {
        Ok(int) if !text.starts_with('0') => Value::Int(int),
        _ => Value::from(text),
    }
}

/// Sets a key; one without a name is nothing.
pub(super) fn set(values: &mut Map, key: &str, value: Value) {
    if !key.is_empty() {
        values.insert(key, value);
    }
}

/// The list under a key, to be set again.
pub(super) fn take_list(values: &mut Map, key: &str) -> Result<Seq, Stop> {
    match values.remove(key) {
        None => Ok(Seq::new()),
        Some(Value::Seq(list)) => Ok(list),
        Some(other) => Err(unparsable_key(&not_a_text("[]interface {}", &other))),
    }
}

/// The map under a key, to be set again.
pub(super) fn take_map(values: &mut Map, key: &str) -> Result<Map, Stop> {
    match values.remove(key) {
        None => Ok(Map::new()),
        Some(Value::Map(map)) => Ok(map),
        Some(other) => Err(unparsable_key(&not_a_text("map[string]interface {}", &other))),
    }
}

/// The words for an item that is not a list where one is wanted.
pub(super) fn not_a(wanted: &str, found: &Value) -> Stop {
    unparsable_key(&not_a_text(wanted, found))
}

fn unparsable_key(reason: &str) -> Stop {
    Stop::Error(format!("unable to parse key: {reason}"))
}

fn not_a_text(wanted: &str, found: &Value) -> String {
    let found = match found {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Seq(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    };
    format!("interface conversion: interface {{}} is {found}, not {wanted}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(texts: &[&str], meaning: fn() -> Meaning<'static>) -> Result<String, String> {
        let mut values = Map::new();
        for text in texts {
            parse(text, &mut values, meaning())?;
        }
        Ok(json::to_string(&Value::Map(values)))
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(apply(&[text], || Meaning::Typed).as_deref(), Ok(expected), "{text}");
    }

    fn fails(text: &str, expected: &str) {
        assert_eq!(apply(&[text], || Meaning::Typed).unwrap_err(), expected, "{text}");
    }

    #[test]
    fn values_have_the_type_that_they_look_like() {
        check(
            "a=1,b=true,c=null,d=x,e=0,f=01,g=1.5,h=-3,i=TRUE",
            r#"{"a":1,"b":true,"c":null,"d":"x","e":0,"f":"01","g":"1.5","h":-3,"i":true}"#,
        );
        check("a=", r#"{"a":""}"#);
        check("a=,b=1", r#"{"a":"","b":1}"#);
    }

    #[test]
    fn names_nest_and_lists_have_indexes() {
        check("a.b.c=1,a.b.d=2", r#"{"a":{"b":{"c":1,"d":2}}}"#);
        check("a[1]=x", r#"{"a":[null,"x"]}"#);
        check("a[0].b=1,a[0].c=2,a[1].b=3", r#"{"a":[{"b":1,"c":2},{"b":3}]}"#);
        check("a[0][1]=x", r#"{"a":[[null,"x"]]}"#);
        check("a={1,x,true},b=2", r#"{"a":[1,"x",true],"b":2}"#);
        check("a={}", r#"{"a":[""]}"#);
        check("a[0]={x,y}", r#"{"a":[["x","y"]]}"#);
    }

    #[test]
    fn a_backslash_takes_the_meaning_away() {
        check(r"a\.b=1\,2", r#"{"a.b":"1,2"}"#);
        check(r"a={1\,2,3}", r#"{"a":["1,2",3]}"#);
        check(
            r"nodeSelector.kubernetes\.io/role=master",
            r#"{"nodeSelector":{"kubernetes.io/role":"master"}}"#,
        );
    }

    #[test]
    fn what_is_wrong_is_told_in_helms_words() {
        fails("a", "key \"a\" has no value");
        fails("a,b=1", "key \"a\" has no value (cannot end with ,)");
        fails("a={1", "list must terminate with '}'");
        fails("a[x]=1", "error parsing index: strconv.Atoi: parsing \"x\": invalid syntax");
        fails("a[-1]=1", "negative -1 index not allowed");
        fails("a[65537]=1", "index of 65537 is greater than maximum supported index of 65536");
        fails("a[0]x=1", "unexpected data at end of array index: ['x']");
        fails(
            "a=1,a.b=2",
            "unable to parse key: interface conversion: interface {} is int64, not map[string]interface {}",
        );
        fails(
            "a=1,a[0]=2",
            "unable to parse key: interface conversion: interface {} is int64, not []interface {}",
        );
        fails(
            &format!("{}=1", vec!["a"; 32].join(".")),
            "value name nested level is greater than maximum supported nested level of 30",
        );
    }

    #[test]
    fn strings_stay_strings() {
        assert_eq!(
            apply(&["a=1,b=true,c={1,null}"], || Meaning::Text).unwrap(),
            r#"{"a":"1","b":"true","c":["1","null"]}"#
        );
    }

    #[test]
    fn json_is_read_up_to_its_end() {
        assert_eq!(
            apply(&[r#"a={"b":[1,2]},c="x",d=, e[1]=null"#], || Meaning::Json).unwrap(),
            r#"{" e":[null,null],"a":{"b":[1,2]},"c":"x","d":null}"#
        );
    }
}
