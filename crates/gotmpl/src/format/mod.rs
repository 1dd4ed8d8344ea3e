//! Go's `fmt` and `strconv`, as far as text is made of values.

mod basic;
mod flags;
pub mod float;
mod printer;
pub mod quote;
mod verbs;

use crate::types::Shape;
use crate::{Object, Str, Value};

use printer::Printer;

/// More text would be made than there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// `fmt.Sprint(value)`: what `%v` prints, and what `{{ value }}` does for all but pointers.
pub fn text(value: &Value, limit: usize) -> Result<Str, TooLong> {
    if let Value::Str(text) = value {
        return Ok(text.clone());
    }
    let mut printer = Printer::new(limit);
    printer.arg(value, 'v');
    printer.out.finish().map(Str::from).ok_or(TooLong)
}

/// What a template prints: pointers are followed, and nothing at all is `<no value>`.
pub(crate) fn shown(value: &Value, limit: usize) -> Result<Str, TooLong> {
    match value {
        Value::Nil => Ok(Str::from("<no value>")),
        Value::Object(object) if let Some(text) = object.pointer_text() => Ok(text),
        Value::Object(object)
            if matches!(object.go_type().shape, Shape::Pointer) && object.text().is_none() =>
        {
            let mut printer = Printer::new(limit);
            printer.structure(object.as_ref(), 'v', 0);
            printer.out.finish().map(Str::from).ok_or(TooLong)
        }
        _ => text(value, limit),
    }
}

/// `fmt.Sprint`: spaces between values of which neither is a string.
pub fn sprint(values: &[Value], limit: usize) -> Result<String, TooLong> {
    let mut printer = Printer::new(limit);
    let mut after_string = true;
    for value in values {
        let is_string = value.kind() == crate::Kind::Str;
        if !after_string && !is_string {
            printer.out.push(' ');
        }
        printer.arg(value, 'v');
        after_string = is_string;
    }
    printer.out.finish().ok_or(TooLong)
}

/// `fmt.Sprintln`
pub fn sprintln(values: &[Value], limit: usize) -> Result<String, TooLong> {
    let mut printer = Printer::new(limit);
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            printer.out.push(' ');
        }
        printer.arg(value, 'v');
    }
    printer.out.push('\n');
    printer.out.finish().ok_or(TooLong)
}

/// `fmt.Sprintf`
pub fn sprintf(format: &str, values: &[Value], limit: usize) -> Result<String, TooLong> {
    let mut printer = Printer::new(limit);
    verbs::print(&mut printer, format, values);
    printer.out.finish().ok_or(TooLong)
}

fn complex_parts(object: &dyn Object) -> Option<(f64, f64)> {
    object.as_any().downcast_ref::<crate::complex::Complex>().map(|number| (number.real, number.imaginary))
}
