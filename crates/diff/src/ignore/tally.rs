//! What the rules did: which objects they are for, which fields they hid.

use lynceus_object::Str;

use super::rule::{Place, Rule};

/// What one rule did in a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleReport {
    /// Where the rule stands.
    pub place: Place,
    /// The kinds that it is for, as written: `apps/Deployment`.
    pub kind: Str,
    /// The fields that it names, as written: a pointer, a jq path, or `managed by hpa`.
    pub what: Str,
    /// How many objects it is for.
    pub objects: usize,
    /// In how many of them it named something that is there.
    pub matched: usize,
    /// How many fields it left out, over all objects.
    pub fields: usize,
    /// The part of an object that it left out as a whole: `spec`, or `.` for all of it.
    pub whole: Option<Str>,
    /// Why it could not be followed to its end.
    pub failure: Option<String>,
}

/// What there is to say about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleVerdict {
    /// It does what it is there for.
    Useful,
    /// It is for objects that the application does not have.
    NoObject,
    /// It names fields that its objects do not have.
    NoField,
    /// It leaves out so much that no difference is left to be seen.
    HidesAll,
    /// It could not be followed.
    Failed,
}

impl RuleReport {
    /// What there is to say about the rule.
    pub fn verdict(&self) -> RuleVerdict {
        match self {
            RuleReport { failure: Some(_), .. } => RuleVerdict::Failed,
            RuleReport { whole: Some(_), .. } => RuleVerdict::HidesAll,
            RuleReport { objects: 0, .. } => RuleVerdict::NoObject,
            RuleReport { matched: 0, .. } => RuleVerdict::NoField,
            _ => RuleVerdict::Useful,
        }
    }

    /// One sentence for people, if there is something to say.
    pub fn remark(&self) -> Option<String> {
        let RuleReport { kind, what, .. } = self;
        Some(match self.verdict() {
            RuleVerdict::Useful => return None,
            RuleVerdict::NoObject => {
                format!("the rule {what} for {kind} is for no object of the application")
            }
            RuleVerdict::NoField => format!("the rule {what} for {kind} names no field that an object has"),
            RuleVerdict::HidesAll => {
                let whole = self.whole.as_deref().unwrap_or_default();
                format!("the rule {what} for {kind} hides all of {whole}, and so every difference in it")
            }
            RuleVerdict::Failed => {
                let why = self.failure.as_deref().unwrap_or_default();
                format!("the rule {what} for {kind} cannot be followed: {why}")
            }
        })
    }
}

/// Counts what the rules do while objects are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Vec<Count>);

#[derive(Clone, Debug, Default)]
struct Count {
    objects: usize,
    matched: usize,
    fields: usize,
    whole: Option<Str>,
    failure: Option<String>,
    /// What the pair at hand has had so far: the rule is for it, and so many fields of one of its sides went.
    pair: Option<usize>,
}

impl Tally {
    pub(super) fn of(rules: &[Rule]) -> Self {
        Tally(vec![Count::default(); rules.len()])
    }

    /// A rule is for the pair at hand, and left so many fields of one side out.
    pub(super) fn note(&mut self, rule: usize, fields: usize, whole: Option<Str>) {
        if let Some(count) = self.0.get_mut(rule) {
            count.pair = Some(count.pair.unwrap_or_default().max(fields));
            count.whole = whole.or(count.whole.take());
        }
    }

    pub(super) fn fail(&mut self, rule: usize, why: String) {
        if let Some(count) = self.0.get_mut(rule) {
            count.pair.get_or_insert(0);
            count.failure.get_or_insert(why);
        }
    }

    /// The pair at hand is done.
    pub(crate) fn close(&mut self) {
        for count in &mut self.0 {
            if let Some(fields) = count.pair.take() {
                count.objects += 1;
                count.matched += usize::from(fields > 0);
                count.fields += fields;
            }
        }
    }

    /// What each rule that somebody wrote did, in their order.
    pub(super) fn reports(self, rules: &[Rule]) -> Vec<RuleReport> {
        let written = rules.iter().zip(self.0).filter(|(rule, _)| rule.place != Place::BuiltIn);
        written
            .map(|(rule, count)| RuleReport {
                place: rule.place,
                kind: rule.kind_text(),
                what: rule.what.text(),
                objects: count.objects,
                matched: count.matched,
                fields: count.fields,
                whole: count.whole,
                failure: count.failure,
            })
            .collect()
    }
}
