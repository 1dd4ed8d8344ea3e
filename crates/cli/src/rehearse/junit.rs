//! A rehearsal as JUnit's XML: a test for each application, each broken file and, if it is strict, each assumption.

use std::fmt::Write as _;

use lynceus_engine::AppKey;
use lynceus_rehearse::{ApplicationReport, Report, Verdict};

use super::summary;

pub(super) fn print(report: &Report) -> String {
    let mut cases = String::new();
    let (mut failures, mut skipped) = (0, 0);
    for one in &report.applications {
        failures += usize::from(one.verdict == Verdict::Stuck);
        skipped += usize::from(one.verdict == Verdict::NotRehearsed);
        application(&mut cases, one, report);
    }
    for one in summary::stuck_sets(report) {
        failures += 1;
        let tree: String = one.reasons.iter().map(ToString::to_string).collect();
        failed(&mut cases, "applicationsets", &one.name, "it gets stuck", &tree);
    }
    for note in &report.notes {
        failures += 1;
        failed(&mut cases, "files", &note.place.to_string(), &note.message, &note.message);
    }
    for one in report.assumed.iter().filter(|_| report.strict) {
        failures += 1;
        let message = format!(
            "it is assumed, and needed by {}",
            summary::few(one.needed_by.iter().map(String::as_str), 5)
        );
        failed(&mut cases, "assumed", &format!("{}: {}", one.sort, one.what), &message, &message);
    }
    let tests = cases.matches("<testcase ").count();
    let totals = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{}\"",
        report.seconds
    );
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lynceus rehearse\" {totals}>\n  <testsuite name=\"lynceus \
         rehearse\" {totals}>\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

fn application(out: &mut String, one: &ApplicationReport, report: &Report) {
    let file =
        one.place.as_ref().map(|place| format!(" file=\"{}\"", quoted(&place.file))).unwrap_or_default();
    let time = one.done_after.or(one.stuck_for).unwrap_or_default();
    let _ = write!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\"{file} time=\"{time}\"",
        quoted(&one.namespace),
        quoted(&one.name)
    );
    match one.verdict {
        Verdict::Finishes | Verdict::Gone => out.push_str("/>\n"),
        Verdict::Stuck => {
            let tree: String = one.reasons.iter().map(ToString::to_string).collect();
            let message = format!("{} {}", one.sync, one.health);
            let _ = write!(
                out,
                ">\n      <failure type=\"Stuck\" message=\"{}\">{}</failure>\n    </testcase>\n",
                quoted(&message),
                escaped(&tree)
            );
        }
        Verdict::NotRehearsed => {
            let key = AppKey::new(one.namespace.as_str(), one.name.as_str());
            let why = report.not_rehearsed.iter().find(|other| other.is_application(&key));
            let why = why.map(|other| other.why.as_str()).unwrap_or_default();
            let _ = write!(out, ">\n      <skipped message=\"{}\"/>\n    </testcase>\n", quoted(why));
        }
    }
}

fn failed(out: &mut String, class: &str, name: &str, message: &str, text: &str) {
    let _ = write!(
        out,
        "    <testcase classname=\"{class}\" name=\"{}\">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
        quoted(name),
        quoted(message),
        escaped(text)
    );
}

/// Text as XML takes it; characters that it cannot hold at all are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => out.push(letter),
        }
    }
    out
}

/// The same for the value of an attribute, where a reader would make blanks of line ends.
fn quoted(text: &str) -> String {
    escaped(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_written_so_that_it_can() {
        assert_eq!(escaped("a<b>&\"c\"\u{1b}\n"), "a&lt;b&gt;&amp;&quot;c&quot;\n");
        assert_eq!(quoted("a\tb\n"), "a&#9;b&#10;");
    }
}
