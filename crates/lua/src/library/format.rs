//! `string.format`, which in Argo CD is Go's `fmt.Sprintf`: what does not fit is said in the text, and is no error.

use super::number;

/// Widths and precisions beyond this are refused, as in Go.
const WIDEST: usize = 1_000_000;

/// What is to be written.
pub(super) enum Argument {
    Nil,
    Bool(bool),
    Number(f64),
    Text(Vec<u8>),
    /// Anything else: its type in Go, and what stands for it.
    Other(&'static str, String),
}

impl Argument {
    /// Its type as Go calls it.
    fn go_type(&self) -> &'static str {
        match self {
            Argument::Nil => "*lua.LNilType",
            Argument::Bool(_) => "lua.LBool",
            Argument::Number(_) => "lua.LNumber",
            Argument::Text(_) => "lua.LString",
            Argument::Other(name, _) => name,
        }
    }

    fn plain(&self) -> Vec<u8> {
        match self {
            Argument::Nil => b"nil".to_vec(),
            Argument::Bool(value) => value.to_string().into_bytes(),
            Argument::Number(value) => number::text(*value).into_bytes(),
            Argument::Text(text) => text.clone(),
            Argument::Other(_, text) => text.clone().into_bytes(),
        }
    }
}

/// What stands between `%` and the verb.
#[derive(Default)]
struct Directive {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// Fills a template. No more arguments are looked at than there are percent signs.
pub(super) fn filled(template: &[u8], arguments: &[Argument]) -> Vec<u8> {
    let mut writer = Writer { template, at: 0, made: Vec::new(), next: 0, chosen: false, arguments };
    let signs = template.iter().filter(|letter| **letter == b'%').count();
    let count = (signs - pairs(template)).min(arguments.len());
    writer.arguments = &arguments[..count];
    writer.run();
    writer.made
}

fn pairs(template: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at + 1 < template.len() {
        let pair = &template[at..at + 2] == b"%%";
        count += usize::from(pair);
        at += if pair { 2 } else { 1 };
    }
    count
}

struct Writer<'a> {
    template: &'a [u8],
    at: usize,
    made: Vec<u8>,
    next: usize,
    chosen: bool,
    arguments: &'a [Argument],
}

impl Writer<'_> {
    fn run(&mut self) {
        while let Some(letter) = self.take() {
            match letter {
                b'%' => self.directive(),
                letter => self.made.push(letter),
            }
            if self.made.len() > crate::limits::TEXT_BYTES {
                return;
            }
        }
        if !self.chosen && self.next < self.arguments.len() {
            let rest = self.arguments[self.next..].iter();
            let rest: Vec<Vec<u8>> =
                rest.map(|one| [one.go_type().as_bytes(), b"=", &one.plain()].concat()).collect();
            self.made.extend_from_slice(b"%!(EXTRA ");
            self.made.extend(rest.join(&b", "[..]));
            self.made.push(b')');
        }
    }

    fn take(&mut self) -> Option<u8> {
        let letter = self.template.get(self.at).copied();
        self.at += usize::from(letter.is_some());
        letter
    }

    fn peek(&self) -> Option<u8> {
        self.template.get(self.at).copied()
    }

    fn directive(&mut self) {
        let mut directive = self.flags();
        self.index();
        directive.width = self.count(b"%!(BADWIDTH)");
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.index();
            directive.precision = Some(self.count(b"%!(BADPREC)").unwrap_or_default());
        }
        self.index();
        let Some(verb) = self.verb() else {
            self.made.extend_from_slice(b"%!(NOVERB)");
            return;
        };
        if verb == '%' {
            self.made.push(b'%');
            return;
        }
        let Some(argument) = self.arguments.get(self.next) else {
            self.made.extend_from_slice(format!("%!{verb}(MISSING)").as_bytes());
            return;
        };
        self.next += 1;
        self.made.extend(directive.written(argument, verb));
    }

    fn flags(&mut self) -> Directive {
        let mut directive = Directive::default();
        while let Some(letter) = self.peek() {
            match letter {
                b'-' => directive.minus = true,
                b'+' => directive.plus = true,
                b'#' => directive.sharp = true,
                b' ' => directive.space = true,
                b'0' => directive.zero = true,
                _ => break,
            }
            self.at += 1;
        }
        directive.zero &= !directive.minus;
        directive
    }

    /// `[2]` chooses the argument.
    fn index(&mut self) {
        // A number is short. Looking for its end further on would take too long in a template of many.
        let rest = &self.template[self.at..self.template.len().min(self.at + 24)];
        let end = rest.iter().position(|letter| *letter == b']');
        let (Some(b'['), Some(end)) = (rest.first(), end) else { return };
        let number = std::str::from_utf8(&rest[1..end]).ok().and_then(|text| text.parse::<usize>().ok());
        self.at += end + 1;
        self.chosen = true;
        self.next = number.and_then(|number| number.checked_sub(1)).unwrap_or(usize::MAX - 1);
    }

    /// A width or a precision. An argument cannot give one: numbers of Lua are no whole numbers of Go.
    fn count(&mut self, bad: &[u8]) -> Option<usize> {
        if self.peek() == Some(b'*') {
            self.at += 1;
            self.next = self.next.saturating_add(1);
            self.made.extend_from_slice(bad);
            return None;
        }
        let mut count = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            self.at += 1;
            count =
                Some(count.unwrap_or(0usize).saturating_mul(10).saturating_add(usize::from(digit - b'0')));
        }
        if count.is_some_and(|count| count > WIDEST) {
            self.made.extend_from_slice(bad);
            return None;
        }
        count
    }

    fn verb(&mut self) -> Option<char> {
        let rest = &self.template[self.at..];
        let letter = String::from_utf8_lossy(&rest[..rest.len().min(4)]).chars().next()?;
        let broken = letter == char::REPLACEMENT_CHARACTER && rest.first() != Some(&0xef);
        self.at += if broken { 1 } else { letter.len_utf8().min(rest.len()) };
        Some(letter)
    }
}

impl Directive {
    fn written(&self, argument: &Argument, verb: char) -> Vec<u8> {
        match (verb, argument) {
            ('T', argument) => self.text(argument.go_type().as_bytes()),
            ('w', argument) => misfit(verb, argument.go_type(), &argument.plain()),
            ('p', Argument::Nil | Argument::Other(..)) => self.text(&argument.plain()),
            ('p', argument) => misfit(verb, argument.go_type(), &argument.plain()),
            (_, Argument::Number(value)) => self.number(*value, verb),
            ('d' | 'i', Argument::Text(text)) => match number::coerced(&String::from_utf8_lossy(text)) {
                Some(_) => self.text(text),
                None => self.whole(0, 'd'),
            },
            (_, Argument::Text(text)) => {
                self.string(text, verb).unwrap_or_else(|| misfit(verb, "string", text))
            }
            ('t', Argument::Bool(_)) => self.padded(argument.plain()),
            (_, Argument::Bool(_)) => {
                let text = argument.plain();
                self.string(&text, verb).unwrap_or_else(|| misfit(verb, argument.go_type(), &text))
            }
            (_, Argument::Nil) => self.string(b"nil", verb).unwrap_or_else(|| b"&{}".to_vec()),
            (_, Argument::Other(..)) => {
                self.string(&argument.plain(), verb).unwrap_or_else(|| argument.plain())
            }
        }
    }

    fn number(&self, value: f64, verb: char) -> Vec<u8> {
        let whole = number::truncated(value);
        match verb {
            'q' | 's' => {
                let text = number::text(value).into_bytes();
                self.string(&text, verb).unwrap_or(text)
            }
            'b' | 'c' | 'd' | 'i' | 'o' | 'x' | 'X' | 'U' => self.whole(whole, verb),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => self.float(value, verb),
            // Here a plus asks for the names of fields, and not for a sign.
            'v' if self.plus => {
                Directive { plus: false, precision: self.precision, zero: self.zero, ..self.layout() }
                    .number(value, verb)
            }
            'v' | 'O' if whole as f64 == value => self.whole(whole, verb),
            'v' => self.float(value, 'g'),
            _ if whole as f64 == value => misfit(verb, "int64", &number::text(value).into_bytes()),
            _ => misfit(verb, "float64", &number::text(value).into_bytes()),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    fn whole(&self, value: i64, verb: char) -> Vec<u8> {
        let size = value.unsigned_abs();
        if verb == 'c' {
            let letter = u32::try_from(value).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
            return self.padded(letter.to_string().into_bytes());
        }
        if verb == 'U' {
            return self.padded(format!("U+{:04X}", value as u64).into_bytes());
        }
        let (digits, prefix) = match verb {
            'b' => (format!("{size:b}"), "0b"),
            'o' => (format!("{size:o}"), "0"),
            'O' => (format!("{size:o}"), "0o"),
            'x' => (format!("{size:x}"), "0x"),
            'X' => (format!("{size:X}"), "0X"),
            _ => (size.to_string(), ""),
        };
        let sign = self.sign(value < 0);
        let least = match (self.precision, self.width) {
            (Some(0), _) if value == 0 => return self.padded(Vec::new()),
            (Some(precision), _) => precision,
            (None, Some(width)) if self.zero => width - sign.len().min(width),
            _ => 0,
        };
        let zeros = "0".repeat(least.saturating_sub(digits.len()));
        let prefix = if self.sharp || verb == 'O' { prefix } else { "" };
        let text = format!("{sign}{prefix}{zeros}{digits}").into_bytes();
        Directive { zero: false, ..self.layout() }.padded(text)
    }

    fn float(&self, value: f64, verb: char) -> Vec<u8> {
        let text = match verb {
            'e' | 'E' => number::scientific(value, self.precision.unwrap_or(6)),
            'f' | 'F' => number::fixed(value, self.precision.unwrap_or(6)),
            _ => number::general(value, self.precision),
        };
        if !value.is_finite() {
            let text = if value.is_nan() { format!("{}{text}", self.sign(false)) } else { text };
            return Directive { zero: false, ..self.layout() }.padded(text.into_bytes());
        }
        let text = if verb.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
        let (sign, digits) = (self.sign(value.is_sign_negative()), text.trim_start_matches('-'));
        let zeros = match self.width {
            Some(width) if self.zero => width.saturating_sub(sign.len() + digits.len()),
            _ => 0,
        };
        let text = format!("{sign}{}{digits}", "0".repeat(zeros)).into_bytes();
        Directive { zero: false, ..self.layout() }.padded(text)
    }

    /// A text by a verb; `None` if it is none for texts.
    fn string(&self, text: &[u8], verb: char) -> Option<Vec<u8>> {
        match verb {
            'v' if self.sharp => Some(self.padded(quoted(text, false))),
            'v' | 's' => Some(self.text(text)),
            'x' | 'X' => Some(self.hexadecimal(text, verb)),
            'q' => Some(self.padded(quoted(&self.cut(text), self.sharp))),
            _ => None,
        }
    }

    fn hexadecimal(&self, text: &[u8], verb: char) -> Vec<u8> {
        let text = &text[..self.precision.unwrap_or(text.len()).min(text.len())];
        let between = if self.space { " " } else { "" };
        let pairs: Vec<String> = text.iter().map(|byte| format!("{byte:02x}")).collect();
        let joined = pairs.join(between);
        let joined = if verb == 'X' { joined.to_ascii_uppercase() } else { joined };
        self.padded(joined.into_bytes())
    }

    fn text(&self, text: &[u8]) -> Vec<u8> {
        self.padded(self.cut(text))
    }

    /// The first letters, as many as the precision says.
    fn cut(&self, text: &[u8]) -> Vec<u8> {
        let Some(precision) = self.precision else { return text.to_vec() };
        match std::str::from_utf8(text) {
            Ok(text) => text.chars().take(precision).collect::<String>().into_bytes(),
            Err(_) => text[..precision.min(text.len())].to_vec(),
        }
    }

    fn layout(&self) -> Directive {
        Directive { minus: self.minus, width: self.width, ..Directive::default() }
    }

    fn padded(&self, text: Vec<u8>) -> Vec<u8> {
        let letters = String::from_utf8_lossy(&text).chars().count();
        let missing = self.width.unwrap_or_default().saturating_sub(letters);
        let padding = vec![if self.zero { b'0' } else { b' ' }; missing];
        if self.minus { [text, padding].concat() } else { [padding, text].concat() }
    }
}

/// What is said of a verb that does not go with what it is given.
fn misfit(verb: char, kind: &str, value: &[u8]) -> Vec<u8> {
    [format!("%!{verb}({kind}=").as_bytes(), value, b")"].concat()
}

/// A text in quotes, as Go writes it.
fn quoted(text: &[u8], raw: bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    if raw && !text.chars().any(|letter| letter == '`' || (letter.is_control() && letter != '\t')) {
        return format!("`{text}`").into_bytes();
    }
    let mut made = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => made.extend(['\\', letter]),
            '\u{7}' => made.push_str("\\a"),
            '\u{8}' => made.push_str("\\b"),
            '\u{c}' => made.push_str("\\f"),
            '\n' => made.push_str("\\n"),
            '\r' => made.push_str("\\r"),
            '\t' => made.push_str("\\t"),
            '\u{b}' => made.push_str("\\v"),
            letter if letter.is_ascii_control() => made.push_str(&format!("\\x{:02x}", letter as u32)),
            letter => made.push(letter),
        }
    }
    made.push('"');
    made.into_bytes()
}
