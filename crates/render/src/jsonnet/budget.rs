//! What a program has used of what it may use. The functions of `library.libsonnet` ask here for leave.

use rsjsonnet_lang::program::{Program, Value};

use super::Problem;
use crate::limits;

/// The functions, with how many arguments each takes.
const NATIVE: [(&str, usize); 7] = [
    ("\0room", 1),
    ("\0texts", 2),
    ("\0node", 5),
    ("\0widths", 1),
    ("\0replaced", 3),
    ("\0found", 2),
    ("\0parsed", 1),
];

pub(super) fn register(program: &mut Program<'_>) {
    let parameters = ["a", "b", "c", "d", "e"].map(|name| program.intern_str(name));
    for (name, count) in NATIVE {
        program.register_native_func(program.intern_str(name), &parameters[..count]);
    }
}

/// The steps that were taken. What is less than one adds up.
#[derive(Default)]
pub(super) struct Budget {
    bytes: u64,
}

impl Budget {
    /// Takes so many steps of those that the program may take.
    pub(super) fn steps(&mut self, count: u64) -> Result<(), Problem> {
        self.bytes(count.saturating_mul(limits::JSONNET_STEP_BYTES))
    }

    /// Takes the steps for so many bytes.
    fn bytes(&mut self, count: u64) -> Result<(), Problem> {
        self.bytes = self.bytes.saturating_add(count);
        if self.bytes > limits::JSONNET_STEPS * limits::JSONNET_STEP_BYTES {
            return Err(Problem {
                hint: Some("the program repeats itself without end, or makes far more than it needs"),
                ..Problem::new(format!("the program takes more than {} steps", limits::JSONNET_STEPS))
            });
        }
        Ok(())
    }

    /// A text of so many bytes that is made.
    fn text(&mut self, count: usize) -> Result<(), Problem> {
        if count > limits::JSONNET_TEXT_BYTES {
            return Err(Problem {
                hint: Some("a text that large fits in no manifest; let the program make smaller ones"),
                ..Problem::new(format!(
                    "the program makes a text of more than {} bytes",
                    limits::JSONNET_TEXT_BYTES
                ))
            });
        }
        self.bytes(count as u64)
    }

    /// Does what a function of the library asks for.
    pub(super) fn call<'p>(
        &mut self,
        program: &mut Program<'p>,
        name: &str,
        arguments: &[Value<'p>],
    ) -> Result<Value<'p>, Problem> {
        let text = |index: usize| arguments.get(index).and_then(Value::to_string).unwrap_or_default();
        let number =
            |index: usize| arguments.get(index).and_then(Value::as_number).unwrap_or_default().max(0.0);
        match name {
            // What is not a number is refused by the function that it is for, in its own words.
            "\0room" => self.bytes((number(0) * limits::JSONNET_STEP_BYTES as f64) as u64)?,
            "\0texts" => match (text(0).len(), text(1).len()) {
                // One of them is taken as it is.
                (_, 0) | (0, _) => {}
                (left, right) => self.text(left.saturating_add(right))?,
            },
            "\0node" => {
                let [count, before, depth] = [0, 3, 4].map(|index| number(index) as u64);
                let each = NODE_STEPS + DEEP_STEPS * depth.saturating_sub(DEEP);
                self.steps(count.saturating_mul(each))?;
                self.bytes(count.saturating_mul(before).saturating_mul(PRINTED))?;
                let lists =
                    [1, 2].map(|index| arguments.get(index).and_then(Value::to_array).unwrap_or_default());
                for text in lists.iter().flatten().filter_map(Value::to_string) {
                    self.print(&text, before)?;
                }
            }
            "\0widths" => {
                let wanted = Wanted::of(&text(0));
                self.bytes(wanted.characters.saturating_mul(PRINTED))?;
                return Ok(wanted.value(program));
            }
            "\0replaced" => {
                let (text, from, to) = (text(0), text(1), text(2));
                let more = text.matches(&from).count().saturating_mul(to.len());
                self.text(text.len().saturating_add(more))?;
            }
            "\0found" => {
                let (text, what) = (text(0), text(1));
                // They may overlap.
                let most = text.matches(&what).count().saturating_mul(what.len().max(1)).min(text.len());
                self.bytes(most as u64 * ELEMENT)?;
            }
            _ => {
                let text = text(0);
                self.bytes((text.len() as u64).saturating_mul(PARSED))?;
                self.bytes(aliases(&text).saturating_mul(text.len() as u64))?;
            }
        }
        Ok(Value::bool(true))
    }

    /// A text that is written into another: some characters take six, and every line may be indented.
    fn print(&mut self, text: &str, before: u64) -> Result<(), Problem> {
        let bytes = text.bytes();
        let signs =
            bytes.clone().filter(|byte| !byte.is_ascii_alphanumeric() && *byte != b' ' && byte.is_ascii());
        let lines = bytes.filter(|byte| *byte == b'\n').count() as u64 + 1;
        let written = 16 + text.len() as u64 + 5 * signs.count() as u64;
        self.bytes(lines.saturating_mul(before).saturating_add(written).saturating_mul(PRINTED))
    }
}

/// How many bytes of memory are reckoned for one that is printed: a text that grows is copied, and may be printed once more.
const PRINTED: u64 = 8;

/// How many steps a value is that is gone through, how many more with each level below those that manifests have, and
/// where those begin. A few lists that are made of each other have more values than can be gone through, and nest deep.
const NODE_STEPS: u64 = 2;
const DEEP_STEPS: u64 = 4;
const DEEP: u64 = 20;

/// How many for an element of a list.
const ELEMENT: u64 = 86;

/// How many for a byte that is parsed: of `[1,1]` every second is an element.
const PARSED: u64 = 43;

/// How many aliases a YAML text has, each of which may stand for most of the text. It may count more than there are.
fn aliases(text: &str) -> u64 {
    let marked = |sign: u8| {
        let begins =
            move |pair: &&[u8]| pair[0] == sign && (pair[1].is_ascii_alphanumeric() || pair[1] == b'_');
        text.as_bytes().windows(2).filter(begins).count() as u64
    };
    if marked(b'&') == 0 { 0 } else { marked(b'*') }
}

/// What a format takes: characters to fill up with, values that say how many, and fields.
#[derive(Default)]
struct Wanted {
    characters: u64,
    /// Which of the values are widths or precisions.
    widths: Vec<usize>,
    names: Vec<String>,
}

impl Wanted {
    fn of(format: &str) -> Self {
        let mut wanted = Wanted::default();
        let mut taken = 0;
        for code in format.split('%').skip(1) {
            let rest = match code.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
                Some((name, rest)) => {
                    wanted.names.push(name.to_owned());
                    rest
                }
                None => code,
            };
            let rest = rest.trim_start_matches(['#', '0', '-', ' ', '+']);
            let rest = wanted.width(rest, &mut taken);
            if let Some(rest) = rest.strip_prefix('.') {
                wanted.width(rest, &mut taken);
            }
            // After two signs it is one behind, which counts a value more as a width than there is.
            taken += usize::from(!code.is_empty());
        }
        wanted
    }

    /// A width or a precision, and what follows.
    fn width<'t>(&mut self, text: &'t str, taken: &mut usize) -> &'t str {
        if let Some(rest) = text.strip_prefix('*') {
            self.widths.push(*taken);
            *taken += 1;
            return rest;
        }
        let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
        let digits = &text[..text.len() - rest.len()];
        if !digits.is_empty() {
            self.characters = self.characters.saturating_add(digits.parse().unwrap_or(u64::MAX));
        }
        rest
    }

    fn value<'p>(self, program: &mut Program<'p>) -> Value<'p> {
        let widths: Vec<_> = self.widths.into_iter().map(|index| Value::number(index as f64)).collect();
        let names: Vec<_> = self.names.iter().map(|name| Value::string(name)).collect();
        let lists = [program.make_array(&widths), program.make_array(&names)];
        program.make_array(&lists)
    }
}
