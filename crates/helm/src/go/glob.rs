//! Patterns for `.Files.Glob`, as the library `gobwas/glob` reads them with `/` as the separator.

use std::collections::BTreeSet;

/// A pattern. One that cannot be read matches everything, as in Helm.
#[derive(Clone, Debug)]
pub(crate) struct Glob(Vec<Node>);

#[derive(Clone, Debug)]
enum Node {
    Text(Vec<char>),
    /// `?`
    One,
    /// `*`
    Any,
    /// `**`
    Super,
    /// `[abc]`, `[!abc]`
    List {
        chars: Vec<char>,
        negated: bool,
    },
    /// `[a-z]`, `[!a-z]`
    Range {
        low: char,
        high: char,
        negated: bool,
    },
    /// `{a,b}`
    Choice(Vec<Vec<Node>>),
}

impl Glob {
    pub(crate) fn new(pattern: &str) -> Self {
        let chars: Vec<char> = pattern.chars().collect();
        let mut parser = Parser { chars: &chars, at: 0 };
        match parser.sequence(0) {
            Some(nodes) if parser.at == chars.len() => Glob(nodes),
            _ => Glob(vec![Node::Super]),
        }
    }

    /// Whether the pattern matches the whole name.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let chars: Vec<char> = name.chars().collect();
        advance(&self.0, BTreeSet::from([0]), &chars).contains(&chars.len())
    }
}

/// Where one can be after the nodes, when one can be in these places before them.
fn advance(nodes: &[Node], mut places: BTreeSet<usize>, name: &[char]) -> BTreeSet<usize> {
    for node in nodes {
        places = step(node, places, name);
    }
    places
}

fn step(node: &Node, places: BTreeSet<usize>, name: &[char]) -> BTreeSet<usize> {
    let one = |test: &dyn Fn(char) -> bool| -> BTreeSet<usize> {
        places.iter().filter(|at| name.get(**at).is_some_and(|char| test(*char))).map(|at| at + 1).collect()
    };
    match node {
        Node::Text(text) => {
            places.iter().filter(|at| name[**at..].starts_with(text)).map(|at| at + text.len()).collect()
        }
        Node::One => one(&|char| char != '/'),
        Node::List { chars, negated } => one(&|char| chars.contains(&char) != *negated),
        Node::Range { low, high, negated } => one(&|char| (*low..=*high).contains(&char) != *negated),
        Node::Super => places.first().map(|first| (*first..=name.len()).collect()).unwrap_or_default(),
        Node::Any => {
            let mut reached = BTreeSet::new();
            for start in places {
                for at in start..=name.len() {
                    // Whatever was reached from an earlier place reaches the same further places.
                    if !reached.insert(at) || name.get(at) == Some(&'/') {
                        break;
                    }
                }
            }
            reached
        }
        Node::Choice(choices) => {
            choices.iter().flat_map(|choice| advance(choice, places.clone(), name)).collect()
        }
    }
}

/// How many choices may stand inside each other.
const DEPTH: usize = 32;

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += 1;
        Some(char)
    }

    /// Nodes up to the end of the pattern, or of a choice when inside of one; none if the pattern is wrong.
    fn sequence(&mut self, depth: usize) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        while let Some(char) = self.peek() {
            match char {
                '}' | ',' if depth > 0 => break,
                '?' => {
                    self.at += 1;
                    nodes.push(Node::One);
                }
                '*' => {
                    self.at += 1;
                    let is_super = self.peek() == Some('*');
                    self.at += usize::from(is_super);
                    nodes.push(if is_super { Node::Super } else { Node::Any });
                }
                '[' => {
                    self.at += 1;
                    nodes.push(self.class()?);
                }
                '{' => {
                    self.at += 1;
                    nodes.push(self.choice(depth + 1)?);
                }
                _ => nodes.push(self.text(depth > 0)),
            }
        }
        Some(nodes)
    }

    fn text(&mut self, in_choice: bool) -> Node {
        let mut text = Vec::new();
        while let Some(char) = self.peek() {
            match char {
                '?' | '*' | '[' | '{' => break,
                '}' | ',' if in_choice => break,
                '\\' => {
                    self.at += 1;
                    text.extend(self.next());
                }
                char => {
                    self.at += 1;
                    text.push(char);
                }
            }
        }
        Node::Text(text)
    }

    fn class(&mut self) -> Option<Node> {
        let negated = self.peek() == Some('!');
        self.at += usize::from(negated);
        let first = self.next()?;
        if self.peek() == Some('-') {
            self.at += 1;
            let high = self.next()?;
            return (self.next()? == ']' && first <= high).then_some(Node::Range {
                low: first,
                high,
                negated,
            });
        }
        self.at -= 1;
        let mut chars = Vec::new();
        loop {
            match self.next()? {
                ']' => return (!chars.is_empty()).then_some(Node::List { chars, negated }),
                '\\' => chars.push(self.next()?),
                char => chars.push(char),
            }
        }
    }

    fn choice(&mut self, depth: usize) -> Option<Node> {
        if depth > DEPTH {
            return None;
        }
        let mut choices = Vec::new();
        loop {
            choices.push(self.sequence(depth)?);
            match self.next()? {
                ',' => {}
                _ => return Some(Node::Choice(choices)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_helm() {
        for (pattern, name, expected) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a/b.yaml", false),
            ("**.yaml", "a/b.yaml", true),
            ("conf/**", "conf/a/b", true),
            ("conf/*", "conf/a/b", false),
            ("conf/?", "conf/a", true),
            ("a[bc]d", "acd", true),
            ("a[!bc]d", "acd", false),
            ("a[a-c]d", "abd", true),
            ("{a,b*}/c", "bx/c", true),
            ("{a,b}/{c,d}", "a/d", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("", "", true),
            ("", "a", false),
            ("a,b", "a,b", true),
            ("config/*.{json,yaml}", "config/x.json", true),
            // What the library cannot read matches everything.
            ("[a-z0-9]", "anything/at/all", true),
            ("{a", "x", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let name = "a".repeat(2_000);
        assert!(!Glob::new(&"a*".repeat(200)).matches(&format!("{name}b/")));
    }
}
