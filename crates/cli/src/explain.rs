//! `lynceus explain`: what a sort of finding means.

use lynceus_doctor::{RULES, rule};

use crate::exit::{Code, Failure, Outcome};

/// Say what a sort of finding means, why it happens and what to do, with an example.
///
/// Without a code it lists all that there are.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The code, such as LYN0101; a finding's whole name will do.
    code: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Some(code) = &arguments.code else {
        for rule in RULES {
            println!("{}  {}", rule.code, rule.title);
        }
        return Ok(());
    };
    let code = code.split('/').next().unwrap_or_default();
    let Some(rule) = rule(code) else {
        let failure = Failure::new(Code::NotFound, format!("there is no finding {code}"));
        return Err(failure.hint("see all that there are:\nlynceus explain"));
    };
    println!("# {}: {}\n\n{}", rule.code, rule.title, rule.explanation.trim_end());
    Ok(())
}
