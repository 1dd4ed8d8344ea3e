//! Reads an expression, and finds what its names mean.

use super::lex::{Piece, Tok, words};
use super::native;
use super::term::{Def, Format, Op, Part, Pattern, Special, Term};

/// How deeply an expression may be nested.
pub(super) const NESTED: usize = 100;

const KEYWORDS: [&str; 22] = [
    "or", "and", "module", "import", "include", "def", "as", "label", "break", "null", "true", "false", "if",
    "then", "elif", "else", "end", "try", "catch", "reduce", "foreach", "__loc__",
];

/// Reads an expression. What it may call beside jq's own words is given by `defs`.
pub(super) fn expression(text: &str, defs: &[Def]) -> Result<Term, String> {
    let mut parser = Parser::new(words(text)?, defs, Vec::new(), 0);
    let term = parser.query()?;
    parser.end()?;
    Ok(term)
}

/// Reads definitions, each of which may use those before it.
pub(super) fn definitions(text: &str) -> Result<Vec<Def>, String> {
    let mut defs = Vec::new();
    let mut rest = words(text)?;
    while !rest.is_empty() {
        let mut parser = Parser::new(rest, &defs, Vec::new(), 0);
        parser.expect_word("def")?;
        let def = parser.def()?;
        rest = parser.words.split_off(parser.at);
        defs.push(def);
    }
    Ok(defs)
}

#[derive(Clone, PartialEq)]
enum Name {
    Function(String, usize),
    Var(String),
    Label(String),
}

struct Parser<'d> {
    words: Vec<Tok>,
    at: usize,
    defs: &'d [Def],
    scope: Vec<Name>,
    depth: usize,
}

type Read<T> = Result<T, String>;

impl<'d> Parser<'d> {
    fn new(words: Vec<Tok>, defs: &'d [Def], scope: Vec<Name>, depth: usize) -> Self {
        Parser { words, at: 0, defs, scope, depth }
    }

    fn peek(&self) -> Option<&Tok> {
        self.words.get(self.at)
    }

    fn next(&mut self) -> Option<Tok> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is = matches!(self.peek(), Some(Tok::Sign(next)) if *next == sign);
        self.at += usize::from(is);
        is
    }

    fn word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Some(Tok::Word(next)) if next == word);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &str) -> Read<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn end(&self) -> Read<()> {
        if self.at >= self.words.len() { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> String {
        let word = match self.peek() {
            None => return "it ends too early".to_owned(),
            Some(Tok::Word(word) | Tok::Number(word)) => word.clone(),
            Some(Tok::Var(name)) => format!("${name}"),
            Some(Tok::Field(name)) => format!(".{name}"),
            Some(Tok::Format(name)) => format!("@{name}"),
            Some(Tok::Text(_)) => "a text".to_owned(),
            Some(Tok::Sign(sign)) => (*sign).to_owned(),
        };
        format!("`{word}` is not expected there")
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > NESTED {
            return Err("it is nested too deeply".to_owned());
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads what sees more names than the rest.
    fn within<T>(&mut self, names: Vec<Name>, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let before = self.scope.len();
        self.scope.extend(names);
        let result = read(self);
        self.scope.truncate(before);
        result
    }

    fn query(&mut self) -> Read<Term> {
        self.deeper(|parser| {
            let mut stages = vec![parser.commas()?];
            while parser.sign("|") {
                stages.push(parser.commas()?);
            }
            Ok(fold_right(stages, Term::Pipe))
        })
    }

    fn boxed(&mut self) -> Read<Box<Term>> {
        self.query().map(Box::new)
    }

    fn commas(&mut self) -> Read<Term> {
        let mut term = self.element()?;
        while self.sign(",") {
            term = Term::Comma(Box::new(term), Box::new(self.element()?));
        }
        Ok(term)
    }

    fn element(&mut self) -> Read<Term> {
        if self.word("def") {
            let def = self.def()?;
            let name = Name::Function(def.name.clone(), def.params.len());
            let rest = self.within(vec![name], Self::boxed)?;
            return Ok(Term::Def(def, rest));
        }
        if self.word("label") {
            let Some(Tok::Var(name)) = self.next() else { return Err(self.unexpected()) };
            self.expect("|")?;
            let body = self.within(vec![Name::Label(name.clone())], Self::boxed)?;
            return Ok(Term::Label(name, body));
        }
        let source = self.binary(0)?;
        if !self.word("as") {
            return Ok(source);
        }
        let mut patterns = vec![self.pattern()?];
        while self.sign("?//") {
            patterns.push(self.pattern()?);
        }
        self.expect("|")?;
        let names = patterns.iter().flat_map(variables).collect();
        let body = self.within(names, Self::boxed)?;
        Ok(Term::Bind(Box::new(source), patterns, body))
    }

    fn def(&mut self) -> Read<Def> {
        let Some(Tok::Word(name)) = self.next() else { return Err(self.unexpected()) };
        let mut params = Vec::new();
        if self.sign("(") {
            loop {
                match self.next() {
                    Some(Tok::Word(param)) => params.push(param),
                    Some(Tok::Var(param)) => params.push(format!("${param}")),
                    _ => return Err(self.unexpected()),
                }
                if self.sign(")") {
                    break;
                }
                self.expect(";")?;
            }
        }
        self.expect(":")?;
        let mut names = vec![Name::Function(name.clone(), params.len())];
        for param in &params {
            if let Some(param) = param.strip_prefix('$') {
                names.push(Name::Var(param.to_owned()));
            }
            names.push(Name::Function(param.trim_start_matches('$').to_owned(), 0));
        }
        let body = self.within(names, Self::boxed)?;
        self.expect(";")?;
        Ok(Def { name, params, body })
    }

    /// Operators from a level upwards: `//`, assignments, `or`, `and`, comparisons, sums, products.
    fn binary(&mut self, level: usize) -> Read<Term> {
        if level > 6 {
            return self.postfix();
        }
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(level) {
            // The first is grouped from the right, and assignments and comparisons not at all.
            let right = match level {
                0 => self.deeper(|parser| parser.binary(0))?,
                _ => self.binary(level + 1)?,
            };
            left = combine(&operator, left, right);
            if matches!(level, 0 | 1 | 4) {
                break;
            }
        }
        Ok(left)
    }

    fn operator(&mut self, level: usize) -> Option<String> {
        const LEVELS: [&[&str]; 7] = [
            &["//"],
            &["=", "|=", "+=", "-=", "*=", "/=", "%=", "//="],
            &["or"],
            &["and"],
            &["==", "!=", "<", "<=", ">", ">="],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let word = match self.peek()? {
            Tok::Sign(sign) => *sign,
            Tok::Word(word) => word.as_str(),
            _ => return None,
        };
        let found = LEVELS[level].iter().find(|name| **name == word)?;
        self.at += 1;
        Some((*found).to_owned())
    }

    fn postfix(&mut self) -> Read<Term> {
        self.deeper(|parser| {
            let mut term = parser.primary()?;
            while let Some(longer) = parser.suffix(&mut term)? {
                term = longer;
            }
            Ok(term)
        })
    }

    fn suffix(&mut self, term: &mut Term) -> Read<Option<Term>> {
        let mut taken = || Box::new(std::mem::replace(term, Term::Id));
        if let Some(Tok::Field(name)) = self.peek() {
            let key = Box::new(Term::Str(name.clone()));
            self.at += 1;
            return Ok(Some(Term::Index(taken(), key)));
        }
        if self.sign("?") {
            return Ok(Some(Term::Try(taken(), None)));
        }
        if self.sign(".") {
            if let Some(Tok::Text(_)) = self.peek() {
                let key = Box::new(self.text(Format::Text)?);
                return Ok(Some(Term::Index(taken(), key)));
            }
            self.expect("[")?;
            return self.bracket(taken()).map(Some);
        }
        if self.sign("[") {
            return self.bracket(taken()).map(Some);
        }
        Ok(None)
    }

    fn bracket(&mut self, term: Box<Term>) -> Read<Term> {
        if self.sign("]") {
            return Ok(Term::Each(term));
        }
        if self.sign(":") {
            let end = self.boxed()?;
            self.expect("]")?;
            return Ok(Term::Slice(term, None, Some(end)));
        }
        let start = self.boxed()?;
        if self.sign("]") {
            return Ok(Term::Index(term, start));
        }
        self.expect(":")?;
        if self.sign("]") {
            return Ok(Term::Slice(term, Some(start), None));
        }
        let end = self.boxed()?;
        self.expect("]")?;
        Ok(Term::Slice(term, Some(start), Some(end)))
    }

    fn primary(&mut self) -> Read<Term> {
        let Some(word) = self.next() else { return Err(self.unexpected()) };
        match word {
            Tok::Field(name) => Ok(Term::Index(Box::new(Term::Id), Box::new(Term::Str(name)))),
            Tok::Number(text) => Ok(number(&text)),
            Tok::Var(name) => self.variable(name),
            Tok::Text(_) => {
                self.at -= 1;
                self.text(Format::Text)
            }
            Tok::Format(name) => {
                let format = native::format(&name);
                if let Some(Tok::Text(_)) = self.peek() {
                    return self.text(format);
                }
                Ok(Term::Format(format))
            }
            Tok::Word(word) => self.keyword(word),
            Tok::Sign(sign) => self.signed(sign),
        }
    }

    fn signed(&mut self, sign: &str) -> Read<Term> {
        match sign {
            ".." => Ok(Term::Special(Special::Recurse, vec![])),
            "." => {
                if let Some(Tok::Text(_)) = self.peek() {
                    let key = Box::new(self.text(Format::Text)?);
                    return Ok(Term::Index(Box::new(Term::Id), key));
                }
                if self.sign("[") {
                    return self.bracket(Box::new(Term::Id));
                }
                Ok(Term::Id)
            }
            "(" => {
                let term = self.query()?;
                self.expect(")")?;
                Ok(term)
            }
            "[" => {
                if self.sign("]") {
                    return Ok(Term::List(None));
                }
                let inner = self.boxed()?;
                self.expect("]")?;
                Ok(Term::List(Some(inner)))
            }
            "{" => self.map(),
            "-" => Ok(Term::Negate(Box::new(self.postfix()?))),
            "+" => self.postfix(),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn keyword(&mut self, word: String) -> Read<Term> {
        match word.as_str() {
            "null" => Ok(Term::Null),
            "true" => Ok(Term::Bool(true)),
            "false" => Ok(Term::Bool(false)),
            "if" => self.condition(),
            "try" => {
                let body = Box::new(self.postfix()?);
                let catch = if self.word("catch") { Some(Box::new(self.postfix()?)) } else { None };
                Ok(Term::Try(body, catch))
            }
            "reduce" | "foreach" => self.fold(word == "foreach"),
            "break" => match self.next() {
                Some(Tok::Var(name)) if self.scope.contains(&Name::Label(name.clone())) => {
                    Ok(Term::Break(name))
                }
                Some(Tok::Var(name)) => Err(format!("there is no label ${name}")),
                _ => Err(self.unexpected()),
            },
            _ if KEYWORDS.contains(&word.as_str()) => {
                self.at -= 1;
                Err(self.unexpected())
            }
            _ => self.call(word),
        }
    }

    fn condition(&mut self) -> Read<Term> {
        let condition = self.boxed()?;
        self.expect_word("then")?;
        let then = self.boxed()?;
        let other = if self.word("elif") {
            Some(Box::new(self.deeper(Self::condition)?))
        } else {
            let other = if self.word("else") { Some(self.boxed()?) } else { None };
            self.expect_word("end")?;
            other
        };
        Ok(Term::If(condition, then, other))
    }

    fn fold(&mut self, each: bool) -> Read<Term> {
        let source = Box::new(self.binary(0)?);
        self.expect_word("as")?;
        let pattern = self.pattern()?;
        self.expect("(")?;
        let start = self.boxed()?;
        self.expect(";")?;
        let names: Vec<_> = variables(&pattern);
        let update = self.within(names.clone(), Self::boxed)?;
        let extract = if each && self.sign(";") { Some(self.within(names, Self::boxed)?) } else { None };
        self.expect(")")?;
        Ok(match each {
            true => Term::Foreach(source, pattern, start, update, extract),
            false => Term::Reduce(source, pattern, start, update),
        })
    }

    fn variable(&mut self, name: String) -> Read<Term> {
        if self.scope.contains(&Name::Var(name.clone())) {
            return Ok(Term::Var(name));
        }
        // What a rule leaves out does not depend on the machine, in Argo CD neither.
        if name == "ENV" { Ok(Term::Map(vec![])) } else { Err(format!("there is no variable ${name}")) }
    }

    fn call(&mut self, name: String) -> Read<Term> {
        let mut args = Vec::new();
        if self.sign("(") {
            loop {
                args.push(self.query()?);
                if self.sign(")") {
                    break;
                }
                self.expect(";")?;
            }
        }
        let count = args.len();
        if self.scope.contains(&Name::Function(name.clone(), count)) {
            return Ok(Term::Call(name, args));
        }
        if let Some(at) = self.defs.iter().position(|def| def.name == name && def.params.len() == count) {
            return Ok(Term::Defined(at, args));
        }
        if name == "env" && count == 0 {
            return Ok(Term::Map(vec![]));
        }
        native::find(&name, args)
    }

    fn map(&mut self) -> Read<Term> {
        let mut fields = Vec::new();
        while !self.sign("}") {
            fields.push(self.field()?);
            if !self.sign(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Term::Map(fields))
    }

    fn field(&mut self) -> Read<(Term, Term)> {
        let own = |key: Term, again: Term| (key, Term::Index(Box::new(Term::Id), Box::new(again)));
        match self.next() {
            Some(Tok::Word(name)) => {
                if self.sign(":") {
                    return Ok((Term::Str(name), self.field_value()?));
                }
                Ok(own(Term::Str(name.clone()), Term::Str(name)))
            }
            Some(Tok::Var(name)) => {
                let value = self.variable(name.clone())?;
                if self.sign(":") {
                    return Ok((value, self.field_value()?));
                }
                Ok((Term::Str(name), value))
            }
            Some(Tok::Text(_)) => {
                self.at -= 1;
                let start = self.at;
                let key = self.text(Format::Text)?;
                if self.sign(":") {
                    return Ok((key, self.field_value()?));
                }
                self.at = start;
                Ok(own(key, self.text(Format::Text)?))
            }
            Some(Tok::Sign("(")) => {
                let key = self.query()?;
                self.expect(")")?;
                self.expect(":")?;
                Ok((key, self.field_value()?))
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn field_value(&mut self) -> Read<Term> {
        let mut stages = vec![self.binary(0)?];
        while self.sign("|") {
            stages.push(self.binary(0)?);
        }
        Ok(fold_right(stages, Term::Pipe))
    }

    fn text(&mut self, format: Format) -> Read<Term> {
        let Some(Tok::Text(pieces)) = self.next() else { return Err(self.unexpected()) };
        if let [Piece::Text(text)] = pieces.as_slice() {
            return Ok(Term::Str(text.clone()));
        }
        let mut parts = Vec::new();
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => Part::Text(text),
                Piece::Words(words) => {
                    let mut inner = Parser::new(words, self.defs, self.scope.clone(), self.depth);
                    let term = inner.query()?;
                    inner.end()?;
                    Part::Term(term)
                }
            });
        }
        Ok(Term::Text(parts, format))
    }

    fn pattern(&mut self) -> Read<Pattern> {
        self.deeper(|parser| match parser.next() {
            Some(Tok::Var(name)) => Ok(Pattern::Var(name)),
            Some(Tok::Sign("[")) => {
                let mut items = vec![parser.pattern()?];
                while parser.sign(",") {
                    items.push(parser.pattern()?);
                }
                parser.expect("]")?;
                Ok(Pattern::List(items))
            }
            Some(Tok::Sign("{")) => {
                let mut fields = vec![parser.field_pattern()?];
                while parser.sign(",") {
                    fields.push(parser.field_pattern()?);
                }
                parser.expect("}")?;
                Ok(Pattern::Map(fields))
            }
            _ => Err(parser.unexpected()),
        })
    }

    fn field_pattern(&mut self) -> Read<(Term, Option<String>, Option<Pattern>)> {
        let (key, name) = match self.next() {
            Some(Tok::Var(name)) => (Term::Str(name.clone()), Some(name)),
            Some(Tok::Word(word)) => (Term::Str(word), None),
            Some(Tok::Text(_)) => {
                self.at -= 1;
                (self.text(Format::Text)?, None)
            }
            Some(Tok::Sign("(")) => {
                let key = self.query()?;
                self.expect(")")?;
                (key, None)
            }
            _ => return Err(self.unexpected()),
        };
        if self.sign(":") {
            return Ok((key, name, Some(self.pattern()?)));
        }
        if name.is_none() { Err(self.unexpected()) } else { Ok((key, name, None)) }
    }
}

fn variables(pattern: &Pattern) -> Vec<Name> {
    match pattern {
        Pattern::Var(name) => vec![Name::Var(name.clone())],
        Pattern::List(items) => items.iter().flat_map(variables).collect(),
        Pattern::Map(fields) => {
            let own = fields.iter().filter_map(|(_, name, _)| name.clone().map(Name::Var));
            own.chain(fields.iter().filter_map(|(.., inner)| inner.as_ref()).flat_map(variables)).collect()
        }
    }
}

fn fold_right(mut terms: Vec<Term>, join: fn(Box<Term>, Box<Term>) -> Term) -> Term {
    let mut whole = terms.pop().unwrap_or(Term::Id);
    while let Some(term) = terms.pop() {
        whole = join(Box::new(term), Box::new(whole));
    }
    whole
}

fn combine(operator: &str, left: Term, right: Term) -> Term {
    let (left, right) = (Box::new(left), Box::new(right));
    match operator {
        "//" => Term::Alternative(left, right),
        "or" => Term::Or(left, right),
        "and" => Term::And(left, right),
        "=" => Term::Assign(left, right),
        "|=" => Term::Modify(left, right),
        "//=" => Term::Update(None, left, right),
        "+=" => Term::Update(Some(Op::Add), left, right),
        "-=" => Term::Update(Some(Op::Sub), left, right),
        "*=" => Term::Update(Some(Op::Mul), left, right),
        "/=" => Term::Update(Some(Op::Div), left, right),
        "%=" => Term::Update(Some(Op::Mod), left, right),
        "==" => Term::Binary(Op::Eq, left, right),
        "!=" => Term::Binary(Op::Ne, left, right),
        "<" => Term::Binary(Op::Lt, left, right),
        "<=" => Term::Binary(Op::Le, left, right),
        ">" => Term::Binary(Op::Gt, left, right),
        ">=" => Term::Binary(Op::Ge, left, right),
        "+" => Term::Binary(Op::Add, left, right),
        "-" => Term::Binary(Op::Sub, left, right),
        "*" => Term::Binary(Op::Mul, left, right),
        "/" => Term::Binary(Op::Div, left, right),
        _ => Term::Binary(Op::Mod, left, right),
    }
}

fn number(text: &str) -> Term {
    match text.parse() {
        Ok(number) => Term::Int(number),
        Err(_) => Term::Float(text.parse().unwrap_or(f64::INFINITY)),
    }
}
