//! Which finding is meant, and which of its fixes.

use lynceus_doctor::{Examination, Finding, Fix};

use crate::exit::{Code, Failure, Outcome};

/// The finding of this name, or the only one of this code.
pub(super) fn finding<'a>(examination: &'a Examination, id: &str) -> Outcome<(String, &'a Finding)> {
    let roots = examination.roots.iter().map(|root| (root.id.clone(), &root.finding));
    let also = examination.roots.iter().flat_map(|root| &root.also).map(|also| (also.id.clone(), &also.finding));
    let others = examination.consequences.iter().map(|finding| (finding.id(), finding));
    let all: Vec<(String, &Finding)> = roots.chain(also).chain(others).collect();
    if let Some(exact) = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(id)) {
        return Ok(exact.clone());
    }
    let of_code: Vec<&(String, &Finding)> =
        all.iter().filter(|(_, finding)| finding.code.eq_ignore_ascii_case(id)).collect();
    match of_code.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(nothing(id, &all)),
        several => {
            let names: Vec<String> = several.iter().map(|(name, _)| format!("lynceus fix {name}")).collect();
            let message = format!("there are {} findings of {id}", several.len());
            Err(Failure::new(Code::Trouble, message).hint(format!("name one:\n{}", names.join("\n"))))
        }
    }
}

fn nothing(id: &str, all: &[(String, &Finding)]) -> Failure {
    let failure = Failure::new(Code::NotFound, format!("there is no finding {id} now"));
    match all.first() {
        Some((first, _)) => failure.hint(format!("see what there is:\nlynceus doctor\nthe first is {first}")),
        None => failure.hint("nothing is wrong that the doctor knows"),
    }
}

/// One of the fixes of a finding, from 1.
pub(super) fn fix<'a>(id: &str, finding: &'a Finding, choice: usize) -> Outcome<&'a Fix> {
    let count = finding.fixes.len();
    if count == 0 {
        let failure = Failure::new(Code::Trouble, format!("nothing is known that would mend {id}"));
        return Err(failure.hint(format!("read what it means:\nlynceus explain {}", finding.code)));
    }
    choice.checked_sub(1).and_then(|place| finding.fixes.get(place)).ok_or_else(|| {
        let message = format!("{id} has no fix {choice}; there are {count}");
        Failure::new(Code::Trouble, message).hint("choose one with --choice N")
    })
}
