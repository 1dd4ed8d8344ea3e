//! Which finding is meant, and which of its fixes.

use lynceus_doctor::{Examination, Finding, Fix};

use crate::exit::{Code, Failure, Outcome};

/// The finding of this name, or the only one of this code.
pub(super) fn finding<'a>(examination: &'a Examination, id: &str) -> Outcome<(String, &'a Finding)> {
    let all: Vec<(String, &Finding)> = examination.findings().collect();
    if let Some(exact) = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(id)) {
        return Ok(exact.clone());
    }
    // The same in other places is mended with the one that stands for it.
    let is_also =
        |name: &str| examination.roots.iter().flat_map(|root| &root.also).any(|also| also.id == name);
    let of_code: Vec<&(String, &Finding)> = all
        .iter()
        .filter(|(name, finding)| finding.code.eq_ignore_ascii_case(id) && !is_also(name))
        .collect();
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

#[cfg(test)]
mod tests {
    use lynceus_object::ObjectKey;

    use super::*;
    use lynceus_doctor::{Also, AppName, Chain, Node, Root, Severity};

    fn found(code: &'static str, name: &str, fixes: &[&str]) -> Finding {
        let key = ObjectKey::new("apps", "Deployment", "shop", name);
        Finding::new(code, Node::object("https://a", key), "it is so")
            .of(Some(AppName::new("argocd", "shop")))
            .fix(fixes.iter().map(|title| Fix::new(*title)))
    }

    fn examination() -> Examination {
        let consequences = vec![
            found("LYN0401", "web", &["Tolerate it"]),
            found("LYN0501", "a", &["Push it", "Take another"]),
            found("LYN0501", "b", &[]),
        ];
        Examination { consequences, ..Examination::default() }
    }

    #[test]
    fn a_code_names_a_root_though_it_is_in_other_places_too_and_those_have_names_of_their_own() {
        let (first, other) = (found("LYN0301", "a", &[]), found("LYN0301", "b", &[]));
        let chain = Chain {
            node: first.subject.clone(),
            state: String::new(),
            more: 0,
            applications: 0,
            waiting: Vec::new(),
        };
        let also = vec![Also { id: other.id(), finding: other }];
        let (id, applications) = (first.id(), Default::default());
        let root =
            Root { id, severity: Severity::P1, finding: first, also, applications, symptoms: 0, chain };
        let examination = Examination { roots: vec![root], ..Examination::default() };
        let named = |id: &str| finding(&examination, id).unwrap().0;
        assert_eq!(named("LYN0301"), "LYN0301/shop/Deployment/a");
        assert_eq!(named("LYN0301/shop/Deployment/b"), "LYN0301/shop/Deployment/b");
    }

    fn told(failure: &Failure) -> String {
        format!("{}\n{}", failure.message, failure.hints.join("\n"))
    }

    #[test]
    fn a_finding_is_named_whole_or_by_a_code_that_is_there_once_in_any_case() {
        let examination = examination();
        for name in ["LYN0401/shop/Deployment/web", "lyn0401/SHOP/deployment/web", "LYN0401", "lyn0401"] {
            assert_eq!(finding(&examination, name).unwrap().0, "LYN0401/shop/Deployment/web", "{name}");
        }
    }

    #[test]
    fn of_several_findings_of_a_code_all_are_offered() {
        assert_eq!(
            told(&finding(&examination(), "lyn0501").unwrap_err()),
            "there are 2 findings of lyn0501\nname one:\nlynceus fix LYN0501/shop/Deployment/a\nlynceus fix \
             LYN0501/shop/Deployment/b"
        );
    }

    #[test]
    fn a_finding_that_there_is_not_is_refused_with_where_to_look() {
        let failure = finding(&examination(), "LYN0401/shop/Deployment/gone").map(drop).unwrap_err();
        assert_eq!(
            told(&failure),
            "there is no finding LYN0401/shop/Deployment/gone now\nsee what there is:\nlynceus doctor\nthe first is \
             LYN0401/shop/Deployment/web"
        );
        let failure = finding(&Examination::default(), "LYN0401").map(drop).unwrap_err();
        assert_eq!(told(&failure), "there is no finding LYN0401 now\nnothing is wrong that the doctor knows");
    }

    #[test]
    fn fixes_are_counted_from_1() {
        let finding = found("LYN0501", "a", &["Push it", "Take another"]);
        let title = |choice| fix("LYN0501/a", &finding, choice).map(|fix| fix.title.clone());
        assert_eq!(title(1).unwrap(), "Push it");
        assert_eq!(title(2).unwrap(), "Take another");
        for choice in [0, 3, usize::MAX] {
            let failure = title(choice).unwrap_err();
            assert_eq!(
                told(&failure),
                format!("LYN0501/a has no fix {choice}; there are 2\nchoose one with --choice N")
            );
        }
    }

    #[test]
    fn where_nothing_would_mend_it_it_is_explained() {
        let finding = found("LYN0501", "b", &[]);
        let failure = fix("LYN0501/b", &finding, 1).map(drop).unwrap_err();
        assert_eq!(
            told(&failure),
            "nothing is known that would mend LYN0501/b\nread what it means:\nlynceus explain LYN0501"
        );
    }
}
