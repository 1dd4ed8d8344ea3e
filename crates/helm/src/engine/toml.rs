//! TOML as the library `BurntSushi/toml` writes it.

use lynceus_gotmpl::types::MAPS;
use lynceus_gotmpl::{List, Map, Str, Value};

use crate::values::shown;

const NO_KEY: &str = "toml: top-level values must be Go maps or structs";
const TOO_DEEP: &str = "toml: value nests too deep";
const NIL_ITEM: &str = "toml: cannot encode array with nil element";

/// How many tables and lists may stand inside each other.
const DEPTH: usize = 200;

/// Prints a value, which should be a table.
pub(super) fn encode(value: &Value) -> Result<String, String> {
    let mut encoder = Encoder { out: String::new(), depth: 0 };
    match value {
        Value::Nil => return Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
        value => encoder.encode(&[], value)?,
    }
    Ok(encoder.out)
}

/// Reads a text; what is wrong with it is told in the table.
pub(super) fn decode(text: &Str) -> Value {
    let bytes = text.bytes();
    let parsed = std::str::from_utf8(&bytes).map_err(|error| error.to_string());
    match parsed.and_then(|text| text.parse::<::toml::Table>().map_err(|error| error.message().to_owned())) {
        Ok(table) => Value::Map(of_table(&table)),
        Err(error) => Value::map([("Error", Value::from(format!("toml: {error}")))]),
    }
}

fn of_table(table: &::toml::Table) -> Map {
    table.iter().map(|(name, value)| (name.as_str().into(), of_toml(value))).collect()
}

fn of_toml(value: &::toml::Value) -> Value {
    match value {
        ::toml::Value::String(text) => Value::from(text.as_str()),
        ::toml::Value::Integer(int) => Value::int64(*int),
        ::toml::Value::Float(float) => Value::Float(*float),
        ::toml::Value::Boolean(bool) => Value::Bool(*bool),
        ::toml::Value::Datetime(time) => Value::from(time.to_string()),
        ::toml::Value::Array(items) => {
            let all_tables = !items.is_empty() && items.iter().all(::toml::Value::is_table);
            let items = items.iter().map(of_toml).collect();
            Value::List(if all_tables { List::typed(&MAPS, items) } else { List::new(items) })
        }
        ::toml::Value::Table(table) => Value::Map(of_table(table)),
    }
}

struct Encoder {
    out: String,
    /// How many tables and lists are being printed.
    depth: usize,
}

/// What a value is in TOML.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Table,
    Tables,
    Other,
}

fn kind(value: &Value, depth: usize) -> Result<Kind, String> {
    if depth == 0 {
        return Err(TOO_DEEP.to_owned());
    }
    Ok(match value {
        Value::Nil => Kind::Nothing,
        Value::Map(map) if map.is_nil() => Kind::Nothing,
        Value::Map(_) => Kind::Table,
        Value::List(list) if list.is_nil() => Kind::Nothing,
        Value::List(list) if list.is_empty() || list.as_bytes().is_some() => Kind::Other,
        Value::List(list) => {
            let mut all_tables = true;
            for item in list.to_vec() {
                match kind(&item, depth - 1)? {
                    Kind::Nothing => return Err(NIL_ITEM.to_owned()),
                    Kind::Table => {}
                    Kind::Tables | Kind::Other => all_tables = false,
                }
            }
            if all_tables { Kind::Tables } else { Kind::Other }
        }
        Value::Object(object) => match object.underlying() {
            Some(value) => kind(&value, depth - 1)?,
            None if object.text().is_some() => Kind::Other,
            None => Kind::Table,
        },
        _ => Kind::Other,
    })
}

impl Encoder {
    fn encode(&mut self, key: &[String], value: &Value) -> Result<(), String> {
        match (kind(value, DEPTH)?, value) {
            (Kind::Nothing, _) => Ok(()),
            (Kind::Table, value) => self.table(key, &fields(value)),
            (Kind::Tables, Value::List(list)) => self.tables(key, list),
            (_, value) => self.key_value(key, value, false),
        }
    }

    fn table(&mut self, key: &[String], fields: &[(String, Value)]) -> Result<(), String> {
        if key.len() == 1 {
            self.newline();
        }
        if !key.is_empty() {
            self.header(key, "[", "]");
        }
        self.fields(key, fields, false)
    }

    fn tables(&mut self, key: &[String], list: &List) -> Result<(), String> {
        if key.is_empty() {
            return Err(NO_KEY.to_owned());
        }
        for item in list.to_vec() {
            self.newline();
            self.header(key, "[[", "]]");
            self.fields(key, &fields(&item), false)?;
        }
        Ok(())
    }

    fn header(&mut self, key: &[String], open: &str, close: &str) {
        let name: Vec<String> = key.iter().map(|part| bare_or_quoted(part)).collect();
        self.indent(key);
        self.out.push_str(&format!("{open}{}{close}\n", name.join(".")));
    }

    /// Plain fields first, because what follows a table's header is part of that table.
    fn fields(&mut self, key: &[String], fields: &[(String, Value)], inline: bool) -> Result<(), String> {
        let mut plain = Vec::new();
        let mut tables = Vec::new();
        for field in fields {
            match kind(&field.1, DEPTH)? {
                Kind::Table | Kind::Tables => tables.push(field),
                Kind::Nothing | Kind::Other => plain.push(field),
            }
        }
        self.enter()?;
        for (part, goes_on) in [(&plain, !tables.is_empty()), (&tables, false)] {
            for (at, (name, value)) in part.iter().enumerate() {
                if kind(value, DEPTH)? == Kind::Nothing {
                    continue;
                }
                if inline {
                    self.key_value(std::slice::from_ref(name), value, true)?;
                    if goes_on || at + 1 < part.len() {
                        self.out.push_str(", ");
                    }
                } else {
                    let mut key = key.to_vec();
                    key.push(name.clone());
                    self.encode(&key, value)?;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn enter(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH { Err(TOO_DEEP.to_owned()) } else { Ok(()) }
    }

    fn key_value(&mut self, key: &[String], value: &Value, inline: bool) -> Result<(), String> {
        let Some(last) = key.last() else { return self.element(value) };
        self.indent(key);
        self.out.push_str(&bare_or_quoted(last));
        self.out.push_str(" = ");
        self.element(value)?;
        if !inline {
            self.newline();
        }
        Ok(())
    }

    fn element(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Str(text) => self.out.push_str(&quoted(text)),
            Value::Float(float) => self.out.push_str(&self::float(*float)),
            Value::List(list) => {
                self.enter()?;
                self.out.push('[');
                for (at, item) in list.to_vec().iter().enumerate() {
                    if at > 0 {
                        self.out.push_str(", ");
                    }
                    self.element(item)?;
                }
                self.out.push(']');
                self.depth -= 1;
            }
            Value::Map(_) => {
                self.out.push('{');
                self.fields(&[], &fields(value), true)?;
                self.out.push('}');
            }
            Value::Object(object) => match (object.underlying(), object.text()) {
                (_, Some(text)) => self.out.push_str(&quoted(&text)),
                (Some(value), None) => self.element(&value)?,
                (None, None) => {
                    self.out.push('{');
                    self.fields(&[], &fields(value), true)?;
                    self.out.push('}');
                }
            },
            Value::Nil => return Err(NIL_ITEM.to_owned()),
            other => self.out.push_str(&shown(other)),
        }
        Ok(())
    }

    fn indent(&mut self, key: &[String]) {
        self.out.push_str(&"  ".repeat(key.len() - 1));
    }

    fn newline(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }
}

fn fields(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Map(map) => of_map(map),
        Value::Object(object) => {
            object.fields().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        }
        _ => Vec::new(),
    }
}

fn of_map(map: &Map) -> Vec<(String, Value)> {
    map.entries().into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn float(float: f64) -> String {
    if float.is_nan() {
        return "nan".to_owned();
    }
    if float.is_infinite() {
        return if float < 0.0 { "-inf".to_owned() } else { "inf".to_owned() };
    }
    let text = shown(&Value::Float(float));
    if text.contains(['e', '.']) { text } else { format!("{text}.0") }
}

fn bare_or_quoted(name: &str) -> String {
    let is_bare = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\x0c' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => out.push(char),
        }
    }
    out.push('"');
    out
}
