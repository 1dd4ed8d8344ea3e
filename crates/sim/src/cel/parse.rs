//! CEL tokens to expressions, by precedence climbing.

use lynceus_object::Str;

use super::ast::{Entry, Expr, Fold, FoldKind, Kind};
use super::error::Issue;
use super::lex::{Token, TokenKind, tokens};
use super::limits::{EXPRESSION_CHARS, NESTING};
use super::pattern::Pattern;
use super::value::Val;

/// Parses a whole expression.
pub(super) fn parse(text: &str) -> Result<Expr, Vec<Issue>> {
    if text.chars().count() > EXPRESSION_CHARS {
        let size = text.chars().count();
        let message =
            format!("expression code point size exceeds limit: size: {size}, limit {EXPRESSION_CHARS}");
        return Err(vec![Issue::new(0, message)]);
    }
    let (tokens, mut issues) = tokens(text);
    let mut parser = Parser { tokens, next: 0, depth: 0 };
    match parser.whole() {
        Ok(expr) if issues.is_empty() => Ok(expr),
        Ok(_) => Err(issues),
        Err(issue) => {
            issues.push(issue);
            Err(issues)
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

/// Binary operators: sign, binding strength, name.
const OPERATORS: [(&str, u8, &str); 14] = [
    ("||", 1, "_||_"),
    ("&&", 2, "_&&_"),
    ("==", 3, "_==_"),
    ("!=", 3, "_!=_"),
    ("<", 3, "_<_"),
    ("<=", 3, "_<=_"),
    (">", 3, "_>_"),
    (">=", 3, "_>=_"),
    ("in", 3, "@in"),
    ("+", 4, "_+_"),
    ("-", 4, "_-_"),
    ("*", 5, "_*_"),
    ("/", 5, "_/_"),
    ("%", 5, "_%_"),
];

/// Words that a variable cannot be called. Fields may be: then both forms are understood.
pub(super) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

impl Parser {
    fn peek(&self) -> &TokenKind {
        self.tokens.get(self.next).map_or(&TokenKind::End, |token| &token.kind)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(0, |token| token.at)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Sign(found) if *found == sign);
        self.next += usize::from(found);
        found
    }

    fn need_sign(&mut self, sign: &str) -> Result<(), Issue> {
        if self.take_sign(sign) {
            return Ok(());
        }
        Err(Issue::new(self.at(), format!("Syntax error: missing '{sign}' at '{}'", self.peek().shown())))
    }

    fn whole(&mut self) -> Result<Expr, Issue> {
        let expr = self.expr()?;
        match self.peek() {
            TokenKind::End => Ok(expr),
            other => {
                let message = format!("Syntax error: extraneous input '{}' expecting <EOF>", other.shown());
                Err(Issue::new(self.at(), message))
            }
        }
    }

    fn expr(&mut self) -> Result<Expr, Issue> {
        self.depth += 1;
        if self.depth > NESTING {
            return Err(Issue::new(self.at(), format!("expression recursion limit exceeded: {NESTING}")));
        }
        let condition = self.binary(1)?;
        let at = self.at();
        let expr = if self.take_sign("?") {
            let yes = self.binary(1)?;
            self.need_sign(":")?;
            let no = self.expr()?;
            call(at, "_?_:_", vec![condition, yes, no])
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn operator(&self) -> Option<(u8, &'static str)> {
        let word = match self.peek() {
            TokenKind::Sign(sign) => sign,
            TokenKind::Ident(name) if name == "in" => "in",
            _ => return None,
        };
        OPERATORS.iter().find(|(sign, _, _)| *sign == word).map(|(_, strength, name)| (*strength, *name))
    }

    fn binary(&mut self, weakest: u8) -> Result<Expr, Issue> {
        let mut left = self.unary()?;
        while let Some((strength, name)) = self.operator().filter(|(strength, _)| *strength >= weakest) {
            let at = self.at();
            self.next += 1;
            let right = self.binary(strength + 1)?;
            if strength > 2 {
                left = call(at, name, vec![left, right]);
                continue;
            }
            let mut terms = vec![(at, left), (at, right)];
            while self.operator() == Some((strength, name)) {
                let at = self.at();
                self.next += 1;
                terms.push((at, self.binary(strength + 1)?));
            }
            left = balanced(name, terms);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Issue> {
        let at = self.at();
        for (sign, name) in [("!", "!_"), ("-", "-_")] {
            let mut count = 0;
            while self.take_sign(sign) {
                count += 1;
            }
            if count == 0 {
                continue;
            }
            if sign == "-"
                && count == 1
                && let Some(number) = self.negative_literal()
            {
                self.next += 1;
                return self.members(Expr { at, kind: Kind::Literal(number) });
            }
            let operand = self.member()?;
            // An even number of signs cancels out.
            return Ok(if count % 2 == 0 { operand } else { call(at, name, vec![operand]) });
        }
        self.member()
    }

    fn negative_literal(&self) -> Option<Val> {
        match self.peek() {
            TokenKind::Int(number) => Some(Val::Int(number.wrapping_neg())),
            TokenKind::Double(number) => Some(Val::Double(-number)),
            _ => None,
        }
    }

    fn member(&mut self) -> Result<Expr, Issue> {
        let primary = self.primary()?;
        self.members(primary)
    }

    fn members(&mut self, mut expr: Expr) -> Result<Expr, Issue> {
        loop {
            let at = self.at();
            if self.take_sign(".") {
                let optional = self.take_sign("?");
                let field = self.selector()?;
                let open = self.at();
                expr = if !optional && self.take_sign("(") {
                    let args = self.args(")")?;
                    member_call(open, expr, field, args)?
                } else {
                    Expr { at, kind: Kind::Select { operand: Box::new(expr), field, optional } }
                };
            } else if self.take_sign("[") {
                let optional = self.take_sign("?");
                let index = self.expr()?;
                self.need_sign("]")?;
                expr = call(at, if optional { "_[?_]" } else { "_[_]" }, vec![expr, index]);
            } else if let Some(name) = type_name(&expr)
                && self.take_sign("{")
            {
                let fields = self.fields()?;
                expr = Expr { at: expr.at, kind: Kind::Message { name: name.into(), fields } };
            } else {
                return Ok(expr);
            }
        }
    }

    fn fields(&mut self) -> Result<Vec<(Entry, Expr)>, Issue> {
        let mut fields = Vec::new();
        while !self.take_sign("}") {
            let optional = self.take_sign("?");
            let at = self.at();
            let field = Kind::Literal(Val::String(self.selector()?));
            self.need_sign(":")?;
            fields.push((Entry { expr: Expr { at, kind: field }, optional }, self.expr()?));
            if !self.take_sign(",") {
                self.need_sign("}")?;
                break;
            }
        }
        Ok(fields)
    }

    fn selector(&mut self) -> Result<Str, Issue> {
        match self.peek().clone() {
            TokenKind::Ident(name) => {
                self.next += 1;
                Ok(name)
            }
            other => {
                let message = format!("Syntax error: no viable alternative at input '.{}'", other.shown());
                Err(Issue::new(self.at(), message))
            }
        }
    }

    fn args(&mut self, close: &str) -> Result<Vec<Expr>, Issue> {
        let mut args = Vec::new();
        if self.take_sign(close) {
            return Ok(args);
        }
        loop {
            args.push(self.expr()?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.need_sign(close)?;
        Ok(args)
    }

    fn primary(&mut self) -> Result<Expr, Issue> {
        let at = self.at();
        let kind = self.peek().clone();
        self.next += 1;
        let literal = |value| Ok(Expr { at, kind: Kind::Literal(value) });
        match kind {
            TokenKind::Int(i64::MIN) => Err(Issue::new(at, "invalid int literal")),
            TokenKind::Int(number) => literal(Val::Int(number)),
            TokenKind::Uint(number) => literal(Val::Uint(number)),
            TokenKind::Double(number) => literal(Val::Double(number)),
            TokenKind::String(text) => literal(Val::String(text)),
            TokenKind::Bytes(bytes) => literal(Val::Bytes(bytes.into())),
            TokenKind::Sign(".") => {
                let name = self.selector()?;
                self.named(at, name)
            }
            TokenKind::Ident(name) => self.named(at, name),
            TokenKind::Sign("(") => {
                let expr = self.expr()?;
                self.need_sign(")")?;
                Ok(expr)
            }
            TokenKind::Sign("[") => self.list(at),
            TokenKind::Sign("{") => self.map(at),
            other => {
                self.next -= 1;
                let message = format!(
                    "Syntax error: mismatched input '{}' expecting {{'[', '{{', '(', '.', '-', '!', 'true', 'false', \
                     'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}}",
                    other.shown()
                );
                Err(Issue::new(at, message))
            }
        }
    }

    fn named(&mut self, at: usize, name: Str) -> Result<Expr, Issue> {
        let literal = match name.as_str() {
            "true" => Some(Val::Bool(true)),
            "false" => Some(Val::Bool(false)),
            "null" => Some(Val::Null),
            _ => None,
        };
        if let Some(value) = literal {
            return Ok(Expr { at, kind: Kind::Literal(value) });
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(Issue::new(at, format!("reserved identifier: {name}")));
        }
        let open = self.at();
        if self.take_sign("(") {
            let args = self.args(")")?;
            return global_call(open, name, args);
        }
        Ok(Expr { at, kind: Kind::Ident(name) })
    }

    fn list(&mut self, at: usize) -> Result<Expr, Issue> {
        let mut items = Vec::new();
        while !self.take_sign("]") {
            let optional = self.take_sign("?");
            items.push(Entry { expr: self.expr()?, optional });
            if !self.take_sign(",") {
                self.need_sign("]")?;
                break;
            }
        }
        Ok(Expr { at, kind: Kind::List(items) })
    }

    fn map(&mut self, at: usize) -> Result<Expr, Issue> {
        let mut entries = Vec::new();
        while !self.take_sign("}") {
            let optional = self.take_sign("?");
            let key = self.expr()?;
            self.need_sign(":")?;
            entries.push((Entry { expr: key, optional }, self.expr()?));
            if !self.take_sign(",") {
                self.need_sign("}")?;
                break;
            }
        }
        Ok(Expr { at, kind: Kind::Map(entries) })
    }
}

fn call(at: usize, function: &str, args: Vec<Expr>) -> Expr {
    Expr { at, kind: Kind::Call { function: function.into(), target: None, args, pattern: None } }
}

/// A tree of `&&` or `||` that is as shallow as can be: rules chain hundreds of them.
fn balanced(name: &str, mut terms: Vec<(usize, Expr)>) -> Expr {
    let right = terms.split_off(terms.len().div_ceil(2));
    let at = right.first().map_or(0, |(at, _)| *at);
    let side = |mut terms: Vec<(usize, Expr)>| match terms.len() {
        1 => terms.pop().map(|(_, expr)| expr),
        _ => Some(balanced(name, terms)),
    };
    let sides: Vec<Expr> = [side(terms), side(right)].into_iter().flatten().collect();
    call(at, name, sides)
}

fn global_call(at: usize, name: Str, mut args: Vec<Expr>) -> Result<Expr, Issue> {
    if name == "has" && args.len() == 1 {
        let inside = args.first().map_or(at, |arg| arg.at);
        return match args.pop().map(|arg| arg.kind) {
            Some(Kind::Select { operand, field, optional: false }) => {
                Ok(Expr { at, kind: Kind::Has { operand, field } })
            }
            _ => Err(Issue::new(inside, "invalid argument to has() macro")),
        };
    }
    Ok(Expr { at, kind: Kind::Call { function: name, target: None, args, pattern: None } })
}

/// An expression that could be the name of a type: `Object.spec.template`.
fn type_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Ident(name) => Some(name.to_string()),
        Kind::Select { operand, field, optional: false } => Some(format!("{}.{field}", type_name(operand)?)),
        _ => None,
    }
}

fn member_call(at: usize, target: Expr, name: Str, mut args: Vec<Expr>) -> Result<Expr, Issue> {
    let two_variables = matches!(name.as_str(), "transformList" | "transformMap" | "transformMapEntry");
    let fold = match (name.as_str(), args.len()) {
        ("all", 2 | 3) => Some(FoldKind::All),
        ("exists", 2 | 3) => Some(FoldKind::Exists),
        ("exists_one", 2) | ("exists_one" | "existsOne", 3) => Some(FoldKind::ExistsOne),
        ("filter", 2) => Some(FoldKind::Filter),
        ("map", 2 | 3) | ("transformList", 3 | 4) => Some(FoldKind::Map),
        ("transformMap", 3 | 4) => Some(FoldKind::TransformMap),
        ("transformMapEntry", 3 | 4) => Some(FoldKind::TransformMapEntry),
        ("sortBy", 2) => Some(FoldKind::SortBy),
        _ => None,
    };
    if let Some(kind) = fold {
        let body = args.pop();
        let has_second = two_variables || (args.len() == 2 && kind != FoldKind::Map);
        let filter = if args.len() > 1 + usize::from(has_second) { args.pop() } else { None };
        let second = if has_second { args.pop() } else { None };
        let var = args.pop();
        let (Some(body), Some(var)) = (body, var) else {
            return Err(Issue::new(at, "argument must be a simple name"));
        };
        let second = second.map(variable).transpose()?;
        let fold = Fold { kind, range: target, var: variable(var)?, second, filter, body };
        return Ok(Expr { at, kind: Kind::Fold(Box::new(fold)) });
    }
    if let ("optMap" | "optFlatMap", 2) = (name.as_str(), args.len())
        && let (Some(body), Some(var)) = (args.pop(), args.pop())
    {
        let flat = name == "optFlatMap";
        let kind = Kind::OptMap { target: Box::new(target), var: variable(var)?, body: Box::new(body), flat };
        return Ok(Expr { at, kind });
    }
    // A literal pattern is compiled once, and an invalid one is found before anything runs.
    let pattern = match (name.as_str(), args.first().map(|arg| &arg.kind)) {
        ("matches" | "find" | "findAll", Some(Kind::Literal(Val::String(text)))) => Some(Pattern::new(text)),
        _ => None,
    };
    Ok(Expr { at, kind: Kind::Call { function: name, target: Some(Box::new(target)), args, pattern } })
}

fn variable(expr: Expr) -> Result<Str, Issue> {
    match expr.kind {
        Kind::Ident(name) => Ok(name),
        _ => Err(Issue::new(expr.at, "argument must be a simple name")),
    }
}
