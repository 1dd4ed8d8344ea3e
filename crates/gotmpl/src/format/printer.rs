//! Go's `fmt`: verbs on values of any type.

use super::basic;
use super::flags::{Flags, Output};
use crate::limits::VALUE_DEPTH;
use crate::stack::deep;
use crate::types::Shape;
use crate::{List, Map, Object, Str, Value};

/// Writes values, with the flags of the verb at hand.
pub(super) struct Printer {
    pub(super) out: Output,
    pub(super) flags: Flags,
    /// Whether a wrong verb is being told: then values are shown without their own methods.
    erroring: bool,
}

impl Printer {
    pub(super) fn new(limit: usize) -> Self {
        Self { out: Output::new(limit), flags: Flags::default(), erroring: false }
    }

    /// Prints an argument.
    pub(super) fn arg(&mut self, value: &Value, verb: char) {
        match (verb, value) {
            ('T' | 'v', Value::Nil) => self.out.pad(self.flags, "<nil>"),
            (_, Value::Nil) => self.bad_verb(None, verb),
            ('T', _) => basic::string(&mut self.out, self.flags, value.type_name()),
            ('p', _) => self.pointer(value, verb),
            (_, Value::List(list)) if list.as_bytes().is_some() => {
                let bytes = list.as_bytes().unwrap_or_default();
                self.bytes(bytes, verb, "[]byte", value);
            }
            ('w', Value::List(_) | Value::Map(_) | Value::Object(_)) => self.bad_verb(Some(value), verb),
            _ => self.value(value, verb, 0),
        }
    }

    /// Prints a value at some depth inside of an argument.
    fn value(&mut self, value: &Value, verb: char, depth: usize) {
        if self.out.full {
            return;
        }
        if depth > VALUE_DEPTH {
            self.out.full = true;
            return;
        }
        match value {
            Value::Nil if self.flags.sharp_v => self.out.push_str("interface {}(nil)"),
            Value::Nil => self.out.push_str("<nil>"),
            Value::Bool(truth) => match verb {
                't' | 'v' => self.out.pad(self.flags, if *truth { "true" } else { "false" }),
                _ => self.bad_verb(Some(value), verb),
            },
            Value::Int(bits, int) => self.integer(*bits, int.is_signed(), verb, value),
            Value::Float(number) => self.float(*number, verb, value),
            Value::Str(text) => self.string(text, verb, value),
            Value::List(list) => self.list(list, verb, depth, value),
            Value::Map(map) => self.map(map, verb, depth),
            Value::Object(object) => self.object(object.as_ref(), verb, depth, value),
        }
    }

    fn bad_verb(&mut self, value: Option<&Value>, verb: char) {
        let outer = std::mem::replace(&mut self.erroring, true);
        self.out.push_str("%!");
        self.out.push(verb);
        self.out.push('(');
        match value {
            Some(value) => {
                self.out.push_str(value.type_name());
                self.out.push('=');
                self.value(value, 'v', 0);
            }
            None => self.out.push_str("<nil>"),
        }
        self.out.push(')');
        self.erroring = outer;
    }

    fn integer(&mut self, bits: i64, signed: bool, verb: char, value: &Value) {
        let bits = bits.cast_unsigned();
        let (out, flags) = (&mut self.out, self.flags);
        match verb {
            'v' if flags.sharp_v && !signed => {
                basic::integer(out, Flags { sharp: true, ..flags }, bits, false, 'x');
            }
            'v' | 'd' | 'b' | 'o' | 'O' | 'x' | 'X' => basic::integer(out, flags, bits, signed, verb),
            'c' => basic::character(out, flags, bits),
            'q' => basic::quoted_character(out, flags, bits),
            'U' => basic::code_point(out, flags, bits),
            _ => self.bad_verb(Some(value), verb),
        }
    }

    fn float(&mut self, number: f64, verb: char, value: &Value) {
        let (out, flags) = (&mut self.out, self.flags);
        match verb {
            'v' => basic::number(out, flags, number, 'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => basic::number(out, flags, number, verb, None),
            'f' | 'e' | 'E' => basic::number(out, flags, number, verb, Some(6)),
            'F' => basic::number(out, flags, number, 'f', Some(6)),
            _ => self.bad_verb(Some(value), verb),
        }
    }

    fn complex(&mut self, (real, imaginary): (f64, f64), verb: char, value: &Value) {
        if !matches!(verb, 'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E') {
            return self.bad_verb(Some(value), verb);
        }
        let plus = self.flags.plus;
        self.out.push('(');
        self.float(real, verb, value);
        self.flags.plus = true;
        self.float(imaginary, verb, value);
        self.out.push_str("i)");
        self.flags.plus = plus;
    }

    fn string(&mut self, text: &str, verb: char, value: &Value) {
        let (out, flags) = (&mut self.out, self.flags);
        match verb {
            'v' if flags.sharp_v => basic::quoted(out, flags, text),
            'v' | 's' => basic::string(out, flags, text),
            'x' => basic::hex(out, flags, text, false),
            'X' => basic::hex(out, flags, text, true),
            'q' => basic::quoted(out, flags, text),
            _ => self.bad_verb(Some(value), verb),
        }
    }

    fn bytes(&mut self, bytes: &[u8], verb: char, type_name: &str, value: &Value) {
        let (out, flags) = (&mut self.out, self.flags);
        match verb {
            's' => basic::string(out, flags, &Str::from_bytes(bytes)),
            'x' => basic::hex_bytes(out, flags, bytes, false),
            'X' => basic::hex_bytes(out, flags, bytes, true),
            'q' => basic::quoted(out, flags, &Str::from_bytes(bytes)),
            'v' | 'd' => {
                let (open, between, close, verb) =
                    if flags.sharp_v { ("{", ", ", "}", 'x') } else { ("[", " ", "]", 'd') };
                if flags.sharp_v {
                    out.push_str(type_name);
                }
                out.push_str(open);
                let flags = Flags { sharp: flags.sharp || flags.sharp_v, ..flags };
                for (at, byte) in bytes.iter().enumerate() {
                    if at > 0 {
                        out.push_str(between);
                    }
                    basic::integer(out, flags, u64::from(*byte), false, verb);
                }
                out.push_str(close);
            }
            _ => self.value(value, verb, 1),
        }
    }

    fn list(&mut self, list: &List, verb: char, depth: usize, value: &Value) {
        if let (Some(bytes), 's' | 'q' | 'x' | 'X') = (list.as_bytes(), verb) {
            return self.bytes(bytes, verb, "[]uint8", value);
        }
        let (open, between, close) = if self.flags.sharp_v { ("{", ", ", "}") } else { ("[", " ", "]") };
        if self.flags.sharp_v {
            self.out.push_str(list.go_type().name);
            if list.is_nil() {
                return self.out.push_str("(nil)");
            }
        }
        self.out.push_str(open);
        for at in 0..list.len() {
            if self.out.full {
                return;
            }
            if at > 0 {
                self.out.push_str(between);
            }
            if let Some(item) = list.get(at) {
                deep(|| self.value(&item, verb, depth + 1));
            }
        }
        self.out.push_str(close);
    }

    fn map(&mut self, map: &Map, verb: char, depth: usize) {
        let (open, between, close) = if self.flags.sharp_v { ("{", ", ", "}") } else { ("map[", " ", "]") };
        if self.flags.sharp_v {
            self.out.push_str(map.go_type().name);
            if map.is_nil() {
                return self.out.push_str("(nil)");
            }
        }
        self.out.push_str(open);
        for (at, (key, value)) in map.read().iter().enumerate() {
            if self.out.full {
                return;
            }
            if at > 0 {
                self.out.push_str(between);
            }
            self.value(&Value::Str(key.clone()), verb, depth + 1);
            self.out.push(':');
            deep(|| self.value(value, verb, depth + 1));
        }
        self.out.push_str(close);
    }

    fn object(&mut self, object: &dyn Object, verb: char, depth: usize, value: &Value) {
        let shown = !self.erroring && !self.flags.sharp_v && matches!(verb, 'v' | 's' | 'x' | 'X' | 'q');
        if let Some(text) = object.text().filter(|_| shown) {
            return self.string(&text, verb, &Value::Str(text.clone()));
        }
        if let Some(parts) = super::complex_parts(object) {
            return self.complex(parts, verb, value);
        }
        if let Some(plain) = object.underlying() {
            return self.value(&plain, verb, depth);
        }
        if matches!(object.go_type().shape, Shape::Pointer) {
            if depth > 0 || !matches!(verb, 'v' | 's' | 'd' | 'x' | 'X' | 'q') {
                return self.pointer(value, verb);
            }
            self.out.push('&');
        }
        self.structure(object, verb, depth);
    }

    /// Prints the fields of a struct.
    pub(super) fn structure(&mut self, object: &dyn Object, verb: char, depth: usize) {
        let between = if self.flags.sharp_v { ", " } else { " " };
        if self.flags.sharp_v {
            self.out.push_str(object.go_type().name.trim_start_matches('*'));
        }
        self.out.push('{');
        for (at, (name, value)) in object.fields().iter().enumerate() {
            if at > 0 {
                self.out.push_str(between);
            }
            if self.flags.plus_v || self.flags.sharp_v {
                self.out.push_str(name);
                self.out.push(':');
            }
            deep(|| self.value(value, verb, depth + 1));
        }
        self.out.push('}');
    }

    /// Where a value is in memory. Nothing depends on the number.
    fn pointer(&mut self, value: &Value, verb: char) {
        let address = match value {
            Value::List(list) => list.id(),
            Value::Map(map) => map.id(),
            Value::Object(object) if matches!(object.go_type().shape, Shape::Pointer) => {
                std::ptr::from_ref(object.as_ref()).addr()
            }
            _ => return self.bad_verb(Some(value), verb),
        };
        let bits = address as u64;
        let sharp = !self.flags.sharp;
        match verb {
            'p' | 'v' => basic::integer(&mut self.out, Flags { sharp, ..self.flags }, bits, false, 'x'),
            'b' | 'o' | 'd' | 'x' | 'X' => basic::integer(&mut self.out, self.flags, bits, false, verb),
            _ => self.bad_verb(Some(value), verb),
        }
    }
}
