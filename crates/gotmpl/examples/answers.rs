//! The counterpart of the Go program in `xtask/oracle/gotmpl`: reads the same questions, one JSON object per
//! line, and answers them in the same form. Where the two differ, this crate is wrong.
//!
//! `functions` can be `builtin` and `sprig` here; Helm's belong to another crate.

use std::any::Any;
use std::io::{self, BufRead, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lynceus_gotmpl::json::{Style, decode, encode};
use lynceus_gotmpl::types::{self, Type};
use lynceus_gotmpl::{
    Context, Environment, Functions, Int, List, Map, MissingKey, Object, Options, Str, Templates, TypeInfo,
    Value, sprig,
};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = match answer(&line?) {
            Ok(text) if std::str::from_utf8(&text.bytes()).is_ok() => ("output", Value::Str(text)),
            Ok(text) => ("output_base64", STANDARD.encode(text.bytes()).into()),
            Err(error) => ("error", error.into()),
        };
        let answer = encode(&Value::map([answer]), Style::Raw).map_err(io::Error::other)?;
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

fn answer(line: &str) -> Result<Str, String> {
    let question = decode(&line.into()).map_err(|error| format!("question: {error}"))?;
    let functions = match question.get("functions") {
        Some(Value::Str(name)) if name == "builtin" => Functions::new(),
        _ => sprig::functions(),
    };
    let mut templates = Templates::new("t", Arc::new(functions));
    let further = question.get("templates").unwrap_or_default();
    for (name, text) in further.as_map().map(Map::entries).unwrap_or_default() {
        templates.parse(&name, text.as_str().unwrap_or(&Str::new())).map_err(|error| error.to_string())?;
    }
    let text = question.get("template").unwrap_or_default();
    templates.parse(&"t".into(), text.as_str().unwrap_or(&Str::new())).map_err(|error| error.to_string())?;
    let values = typed(question.get("values").unwrap_or_default())?;
    let options = Options { missing_key: MissingKey::Zero, ..Options::default() };
    let mut machine = Machine { seed: 1 };
    let mut context = Context::new(Arc::new(templates), &mut machine, options);
    context.execute("t", values).map_err(|error| error.to_string())
}

/// The clock and random numbers that are the same each time.
struct Machine {
    seed: u64,
}

impl Environment for Machine {
    fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.seed =
                self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.seed >> 56) as u8;
        }
    }

    fn host(&mut self) -> &mut dyn Any {
        self
    }
}

/// Values of Go types that JSON has no form for: see the oracle's `values.go`.
fn typed(plain: Value) -> Result<Value, String> {
    match &plain {
        Value::List(list) => {
            Ok(Value::list(list.to_vec().into_iter().map(typed).collect::<Result<Vec<_>, _>>()?))
        }
        Value::Map(map) => match map.entries().as_slice() {
            [(key, inner)] if key.starts_with('$') => notation(&key[1..], inner),
            entries => {
                let typed = |(key, value): &(Str, Value)| Ok((key.clone(), typed(value.clone())?));
                Ok(Value::map(entries.iter().map(typed).collect::<Result<Vec<_>, String>>()?))
            }
        },
        _ => Ok(plain),
    }
}

fn notation(name: &str, inner: &Value) -> Result<Value, String> {
    let text = match inner {
        Value::Float(number) => format!("{number}"),
        other => other.as_str().map(ToString::to_string).unwrap_or_default(),
    };
    let bytes = || STANDARD.decode(&text).map_err(|error| error.to_string());
    let items = || inner.as_list().map(List::to_vec).unwrap_or_default();
    Ok(match name {
        "float64" => text.to_lowercase().parse::<f64>().map_err(|error| error.to_string())?.into(),
        "bytes" => List::bytes(bytes()?).into(),
        "text" => Str::from_bytes(&bytes()?).into(),
        "strings" => Value::strings(items().iter().filter_map(Value::as_str).cloned()),
        "ints" => {
            let ints =
                items().iter().filter_map(Value::as_f64).map(|number| Value::int(number as i64)).collect();
            List::typed(&types::INTS, ints).into()
        }
        "stringmap" => {
            let entries = inner.as_map().map(Map::entries).unwrap_or_default();
            Map::typed(&types::STRING_MAP, entries.into_iter().collect()).into()
        }
        "nilmap" => Map::nil(&types::MAP).into(),
        "nillist" => List::nil(&types::LIST).into(),
        "error" => Value::Object(Rc::new(Words(text))),
        _ => {
            let kinds = [
                Int::I,
                Int::I8,
                Int::I16,
                Int::I32,
                Int::I64,
                Int::U,
                Int::U8,
                Int::U16,
                Int::U32,
                Int::U64,
            ];
            let kind =
                kinds.into_iter().find(|kind| kind.name() == name).ok_or(format!("unknown type {name:?}"))?;
            let signed = text.parse::<i64>().ok();
            let bits = signed.or_else(|| text.parse::<u64>().ok().map(u64::cast_signed));
            Value::Int(bits.ok_or(format!("no number: {text}"))?, kind)
        }
    })
}

/// What `errors.New` makes.
struct Words(String);

static ERROR: TypeInfo = TypeInfo::declared("*errors.errorString", lynceus_gotmpl::Shape::Pointer, &[]);

impl Object for Words {
    fn go_type(&self) -> Type {
        &ERROR
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn text(&self) -> Option<Str> {
        Some(self.0.as_str().into())
    }
}
