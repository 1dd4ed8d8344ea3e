//! A plan for people.

use std::fmt;

use super::{Act, Keep, Plan, Step};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        for fault in &self.faults {
            writeln!(f, "error: {fault}")?;
        }
        self.held.as_ref().map_or(Ok(()), |held| writeln!(f, "held: {held}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.act {
            Act::Create(_) => write!(f, "create {}", self.name)?,
            Act::Update { changes, .. } => {
                write!(f, "update {}", self.name)?;
                for change in changes {
                    write!(f, "\n  {change}")?;
                }
            }
            Act::Delete { drop_finalizer: false } => write!(f, "delete {}", self.name)?,
            Act::Delete { drop_finalizer: true } => {
                write!(f, "delete {} without its finalizer, because its cluster is gone", self.name)?;
            }
            Act::Keep(why) => write!(f, "keep   {}: {why}", self.name)?,
        }
        Ok(())
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::Same => f.write_str("nothing differs"),
            Keep::NoUpdate => f.write_str("the policy allows no updates"),
            Keep::NoDelete => f.write_str("no longer generated, but the policy allows no deletions"),
            Keep::OfAnother(other) => write!(f, "it belongs to {other}"),
            Keep::Invalid(why) => f.write_str(why),
            Keep::Deleting => f.write_str("it is being deleted"),
            Keep::Held => f.write_str("no longer generated, but its deletion has to be confirmed"),
            Keep::Uncertain => {
                f.write_str("no longer generated, but nothing is deleted while there is anything wrong")
            }
            Keep::Incomplete => f.write_str("not all Applications could be generated"),
        }
    }
}
