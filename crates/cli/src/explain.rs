//! `lynceus explain`: what a sort of finding means.

use lynceus_doctor::{RULES, Rule, page, rule};

use crate::exit::{Code, Failure, Outcome};

/// Say what a sort of finding means, why it happens and what to do, with an example.
///
/// Without a code it lists all that there are.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The code, such as LYN0101; a finding's whole name will do.
    code: Option<String>,
    /// Print what there is to say about all of them, as docs/findings.md has it.
    #[arg(long, conflicts_with = "code")]
    all: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.code {
        Some(name) => {
            let rule = named(name)?;
            println!("# {}: {}\n\n{}", rule.code, rule.title, rule.explanation.trim_end());
        }
        None if arguments.all => print!("{}", page()),
        None => {
            for rule in RULES {
                println!("{}  {}", rule.code, rule.title);
            }
        }
    }
    Ok(())
}

/// The rule of a code, or of a finding by its whole name.
fn named(name: &str) -> Outcome<&'static Rule> {
    let code = name.trim().split('/').next().unwrap_or_default().to_uppercase();
    rule(&code).ok_or_else(|| {
        let failure = Failure::new(Code::NotFound, format!("there is no finding {code}"));
        failure.hint("see all that there are:\nlynceus explain")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_known_in_any_case_and_in_the_name_of_a_finding() {
        for name in ["LYN0401", "lyn0401", " Lyn0401 ", "LYN0401/vault/StatefulSet/vault", "lyn0401/"] {
            assert_eq!(named(name).map(|rule| rule.code).unwrap(), "LYN0401", "{name}");
        }
    }

    #[test]
    fn a_code_that_there_is_not_is_refused_with_where_to_look() {
        for (name, shown) in [("LYN9999", "LYN9999"), ("", ""), ("/vault", ""), ("vault/LYN0401", "VAULT")] {
            let failure = named(name).map(|rule| rule.code).unwrap_err();
            assert_eq!(failure.message, format!("there is no finding {shown}"), "{name}");
            assert_eq!(failure.code.number(), 20);
            assert_eq!(failure.hints, ["see all that there are:\nlynceus explain"]);
        }
    }
}
