//! Reads a format and prints the values that it asks for.

use super::flags::Flags;
use super::printer::Printer;
use crate::Value;

/// Widths and precisions beyond this are not taken, as in Go.
const LARGEST: i64 = 1_000_000;

/// Goes through a format.
struct Verbs<'f> {
    format: &'f str,
    at: usize,
    values: &'f [Value],
    /// The next value to print.
    next: usize,
    /// Whether the format chose values itself with `[n]`.
    reordered: bool,
    /// Whether all such choices of the verb at hand were possible.
    good_index: bool,
}

pub(super) fn print(printer: &mut Printer, format: &str, values: &[Value]) {
    let mut verbs = Verbs { format, at: 0, values, next: 0, reordered: false, good_index: true };
    while verbs.at < format.len() && !printer.out.full {
        let rest = verbs.rest();
        let plain = rest.find('%').unwrap_or(rest.len());
        printer.out.push_str(&rest[..plain]);
        verbs.at += plain;
        if verbs.at < format.len() {
            verbs.at += 1;
            verbs.verb(printer);
        }
    }
    if !verbs.reordered && verbs.next < values.len() {
        extra(printer, &values[verbs.next..]);
    }
}

fn extra(printer: &mut Printer, values: &[Value]) {
    printer.flags = Flags::default();
    printer.out.push_str("%!(EXTRA ");
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            printer.out.push_str(", ");
        }
        if !value.is_nil() {
            printer.out.push_str(value.type_name());
            printer.out.push('=');
        }
        printer.arg(value, 'v');
    }
    printer.out.push(')');
}

impl<'f> Verbs<'f> {
    fn rest(&self) -> &'f str {
        &self.format[self.at..]
    }

    fn byte(&self) -> Option<u8> {
        self.format.as_bytes().get(self.at).copied()
    }

    /// Reads one verb, whose `%` is past, and prints what it asks for.
    fn verb(&mut self, printer: &mut Printer) {
        self.good_index = true;
        printer.flags = self.simple_flags();
        if let Some(verb @ b'a'..=b'z') = self.byte()
            && self.next < self.values.len()
        {
            self.at += 1;
            return self.print(printer, char::from(verb));
        }
        let mut after_index = self.index();
        self.width(printer, &mut after_index);
        self.precision(printer, &mut after_index);
        if !after_index {
            self.index();
        }
        let Some(verb) = self.rest().chars().next() else {
            return printer.out.push_str("%!(NOVERB)");
        };
        self.at += verb.len_utf8();
        if verb == '%' {
            printer.out.push('%');
        } else if !self.good_index {
            printer.out.push_str("%!");
            printer.out.push(verb);
            printer.out.push_str("(BADINDEX)");
        } else if self.next >= self.values.len() {
            printer.out.push_str("%!");
            printer.out.push(verb);
            printer.out.push_str("(MISSING)");
        } else {
            self.print(printer, verb);
        }
    }

    fn print(&mut self, printer: &mut Printer, verb: char) {
        if matches!(verb, 'v' | 'w') {
            printer.flags.for_value();
        }
        if let Some(value) = self.values.get(self.next) {
            printer.arg(value, verb);
        }
        self.next += 1;
    }

    fn simple_flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Some(byte) = self.byte() {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => break,
            }
            self.at += 1;
        }
        flags
    }

    fn width(&mut self, printer: &mut Printer, after_index: &mut bool) {
        if self.byte() == Some(b'*') {
            self.at += 1;
            match self.number_of_value() {
                Some(width) => {
                    printer.flags.width = usize::try_from(width.unsigned_abs()).ok();
                    if width < 0 {
                        printer.flags.minus = true;
                        printer.flags.zero = false;
                    }
                }
                None => printer.out.push_str("%!(BADWIDTH)"),
            }
            *after_index = false;
        } else {
            printer.flags.width = self.digits();
            if *after_index && printer.flags.width.is_some() {
                self.good_index = false;
            }
        }
    }

    fn precision(&mut self, printer: &mut Printer, after_index: &mut bool) {
        if self.byte() != Some(b'.') || self.at + 1 >= self.format.len() {
            return;
        }
        self.at += 1;
        if *after_index {
            self.good_index = false;
        }
        *after_index = self.index();
        if self.byte() == Some(b'*') {
            self.at += 1;
            printer.flags.precision =
                self.number_of_value().and_then(|precision| usize::try_from(precision).ok());
            if printer.flags.precision.is_none() {
                printer.out.push_str("%!(BADPREC)");
            }
            *after_index = false;
        } else {
            printer.flags.precision = Some(self.digits().unwrap_or(0));
        }
    }

    /// Takes a value as a width or precision.
    fn number_of_value(&mut self) -> Option<i64> {
        let value = self.values.get(self.next)?;
        self.next += 1;
        let number = match value.underlying() {
            Value::Int(bits, _) => bits,
            _ => return None,
        };
        let unsigned_overflow = value.as_u64().is_some_and(|bits| i64::try_from(bits).is_err());
        (!unsigned_overflow && (-LARGEST..=LARGEST).contains(&number)).then_some(number)
    }

    /// Reads a number in the format. One that is too large swallows the rest of the format, as in Go.
    fn digits(&mut self) -> Option<usize> {
        let mut number: Option<i64> = None;
        while let Some(digit @ b'0'..=b'9') = self.byte() {
            let value = number.unwrap_or(0);
            if value > LARGEST {
                self.at = self.format.len();
                return None;
            }
            number = Some(value * 10 + i64::from(digit - b'0'));
            self.at += 1;
        }
        number.and_then(|number| usize::try_from(number).ok())
    }

    /// Reads `[n]` and goes to that value.
    fn index(&mut self) -> bool {
        if self.byte() != Some(b'[') {
            return false;
        }
        self.reordered = true;
        let rest = self.rest();
        let Some(close) = rest.find(']').filter(|_| rest.len() >= 3) else {
            self.at += 1;
            self.good_index = false;
            return false;
        };
        let inner = &rest[1..close];
        self.at += close + 1;
        let number = Some(inner)
            .filter(|inner| !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|inner| inner.parse::<i64>().ok())
            .filter(|&number| number / 10 <= LARGEST);
        match number.and_then(|number| usize::try_from(number).ok()) {
            Some(number) if (1..=self.values.len()).contains(&number) => {
                self.next = number - 1;
                true
            }
            number => {
                self.good_index = false;
                number.is_some()
            }
        }
    }
}
