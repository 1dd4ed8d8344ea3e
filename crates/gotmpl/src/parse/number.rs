//! Number constants.

use super::token::Sort;
use super::tree::Number;
use crate::Str;
use crate::format::quote::{self, Unquoted};
use crate::number::{NumberError, parse_float, parse_int, parse_uint};

impl Number {
    pub(super) fn read(text: &str, sort: Sort) -> Result<Self, String> {
        let mut number = match sort {
            Sort::CharConstant => Self::of_char(text)?,
            Sort::Complex => Self::of_complex(text)?,
            _ => Self::of_digits(text)?,
        };
        number.text = Str::from(text);
        Ok(number)
    }

    fn of_char(text: &str) -> Result<Self, String> {
        let invalid = || "invalid syntax".to_owned();
        let (unquoted, tail) = quote::unquote_char(&text[1..], '\'').ok_or_else(invalid)?;
        if tail != "'" {
            return Err(format!("malformed character constant: {text}"));
        }
        let code = match unquoted {
            Unquoted::Char(c) => u32::from(c),
            Unquoted::Byte(byte) => u32::from(byte),
        };
        Ok(Self {
            int: Some(i64::from(code)),
            uint: Some(u64::from(code)),
            float: Some(f64::from(code)),
            ..Self::default()
        })
    }

    /// Reads `1+2i`.
    fn of_complex(text: &str) -> Result<Self, String> {
        let syntax = || "syntax error scanning complex number".to_owned();
        let bytes = text.as_bytes();
        let is_sign = |at: &usize| {
            matches!(bytes[*at], b'+' | b'-') && !matches!(bytes[at - 1].to_ascii_lowercase(), b'e' | b'p')
        };
        let middle = (1..text.len()).find(is_sign).ok_or_else(syntax)?;
        let real = part(&text[..middle])?;
        let imaginary = part(&text[middle..text.len() - 1])?;
        Ok(Self::complex(real, imaginary))
    }

    fn complex(real: f64, imaginary: f64) -> Self {
        let mut number = Self { complex: Some((real, imaginary)), ..Self::default() };
        if imaginary == 0.0 {
            number.float = Some(real);
            number.int = whole(real);
            number.uint = whole_unsigned(real);
        }
        number
    }

    fn of_digits(text: &str) -> Result<Self, String> {
        if let Some(Ok(imaginary)) = text.strip_suffix('i').map(parse_float) {
            return Ok(Self::complex(0.0, imaginary));
        }
        let mut number = Self { int: parse_int(text).ok(), uint: parse_uint(text).ok(), ..Self::default() };
        if number.int == Some(0) && number.uint.is_none() {
            number.uint = Some(0);
        }
        if let Some(int) = number.int {
            number.float = Some(int as f64);
        } else if let Some(uint) = number.uint {
            number.float = Some(uint as f64);
        } else if let Ok(float) = parse_float(text) {
            if !text.contains(['.', 'e', 'E', 'p', 'P']) {
                return Err(format!("integer overflow: {}", quote::double(text)));
            }
            number.float = Some(float);
            number.int = whole(float);
            number.uint = whole_unsigned(float);
        }
        if number.float.is_none() {
            return Err(format!("illegal number syntax: {}", quote::double(text)));
        }
        Ok(number)
    }

    /// Whether a constant of no given type is a float by its spelling.
    pub(crate) fn is_float_by_spelling(&self) -> bool {
        let bytes = self.text.as_bytes();
        let hex = matches!(bytes, [b'0', b'x' | b'X', _, ..]) && !self.text.contains(['p', 'P']);
        let rune = bytes.first() == Some(&b'\'');
        !hex && !rune && self.text.contains(['.', 'e', 'E', 'p', 'P'])
    }
}

/// One of the two floats of a complex number.
fn part(text: &str) -> Result<f64, String> {
    parse_float(text).map_err(|error| {
        let reason = match error {
            NumberError::Syntax => "invalid syntax",
            NumberError::Range => "value out of range",
        };
        format!("strconv.ParseFloat: parsing {}: {reason}", quote::double(text))
    })
}

fn whole(float: f64) -> Option<i64> {
    let int = float as i64;
    (int as f64 == float && float < 9_223_372_036_854_775_808.0).then_some(int)
}

fn whole_unsigned(float: f64) -> Option<u64> {
    let uint = float as u64;
    (uint as f64 == float && float < 18_446_744_073_709_551_616.0).then_some(uint)
}
