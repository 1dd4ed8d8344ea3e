//! A check as data: steps, tests and what they lead to.

use lynceus_api::HealthStatusCode;
use lynceus_object::Value;

/// A path of field names.
pub(super) type Path = Vec<Box<str>>;

/// What is done one after the other until something is said.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// If the tests hold, this is said.
    Rule(Rule),
    /// If the tests hold, these steps are gone through.
    When(Vec<Group>, Vec<Step>),
    /// The rules are tried on each item of a list, from the first or from the last one.
    Each { list: Path, backwards: bool, rules: Vec<Rule> },
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) groups: Vec<Group>,
    pub(super) saying: Saying,
}

/// What is said.
#[derive(Clone, Debug)]
pub(super) enum Saying {
    Health(HealthStatusCode, Template),
    /// The object has no health.
    Nothing,
    /// This item counts for nothing; the next one is looked at.
    Skip,
}

/// Tests that have to hold together. If some are about a condition, there has to be one for which all of them hold.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// They must not hold: there is no such condition.
    pub(super) not: bool,
    pub(super) tests: Vec<Test>,
}

#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) subject: Operand,
    pub(super) relation: Relation,
    pub(super) values: Vec<Operand>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Present,
    Absent,
    /// It is there, and is not `false`.
    True,
    NotTrue,
    Equal,
    Unequal,
    Prefix,
    Less,
    Greater,
    AtLeast,
    AtMost,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// A field of the object.
    Root(Path),
    /// A field of the condition, or of the item of a list.
    Item(Path),
    /// A field of the condition of a type, whichever condition was tested.
    Condition(Box<str>, Path),
    /// How many items a field of the object has.
    Length(Path),
    Literal(Value),
}

/// A message with places to fill in.
#[derive(Clone, Debug, Default)]
pub(super) struct Template(pub(super) Vec<Part>);

#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(Box<str>),
    /// The first alternative that there is, after its prefix.
    Field {
        prefix: Box<str>,
        alternatives: Vec<Alternative>,
        form: Form,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub(super) operand: Operand,
    /// An empty text counts as missing.
    pub(super) filled: bool,
}

/// How a field is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Plain,
    Lower,
    /// The items of a list, with commas.
    Joined,
}
