//! What services make of messages and options that are not as they should be.

use lynceus_notify::{
    Answer, Delivery, Destination, Memory, Next, Notification, Place, Service, ServiceConfig,
};

use crate::{now, parse, random};

/// A message on its way; options and message are YAML, and the recipient stands behind the kind.
fn delivery(to: &str, options: &str, message: &str) -> Result<Box<dyn Delivery>, String> {
    let (kind, recipient) = to.split_once(':').unwrap();
    let config = ServiceConfig { kind: kind.into(), options: parse(options), is_operators: true };
    let to = Destination { service: kind.into(), recipient: recipient.into() };
    let mut notification = Notification { message: "m".to_owned(), ..Notification::default() };
    for (field, value) in parse(message).as_map().unwrap().iter() {
        notification.parts.insert(field.clone(), value.clone());
    }
    let made = Service::new(&config).unwrap().deliver(&notification, &to, now(), &mut random);
    made.map_err(|error| error.to_string())
}

/// What is sent first, and what is left out.
fn sent(to: &str, options: &str, message: &str) -> String {
    let mut delivery = match delivery(to, options, message) {
        Ok(delivery) => delivery,
        Err(error) => return error,
    };
    let mut lines = delivery.left_out().to_vec();
    if let Ok(Next::Ask(request)) = delivery.next(None, &mut Memory::default()) {
        lines.insert(0, String::from_utf8(request.body).unwrap());
    }
    lines.join("\n")
}

fn workflow(part: &str) -> String {
    let options = "{recipientUrls: {flow: 'https://x.flow.microsoft.com/y'}}";
    let sent = sent("teams-workflows:flow", options, &format!("teams-workflows: {part}"));
    let body = sent.split_once(r#""body":["#).map_or(sent.as_str(), |(_, body)| body);
    body.replace(r#"],"type":"AdaptiveCard","version":"1.4"},"contentType":"application/vnd.microsoft.card.adaptive"}],"type":"message"}"#, "")
}

const TEXT: &str = r#"{"text":"m","type":"TextBlock","wrap":true}"#;

#[test]
fn what_has_to_be_a_list_in_a_card_of_a_workflow_is_told() {
    for field in ["facts", "sections", "potentialAction"] {
        let what = format!("what the template says under teams-workflows.{field}");
        assert_eq!(workflow(&format!("{{{field}: '{{}}'}}")), format!("{what} is no list but object"));
        assert_eq!(
            workflow(&format!("{{{field}: '[{{}}, 5]'}}")),
            format!("{what} is no list of maps; number 2 is integer")
        );
        assert!(workflow(&format!("{{{field}: '['}}")).starts_with(&format!("{what} is no JSON")));
        assert_eq!(workflow(&format!("{{{field}: 'null'}}")), TEXT);
    }
}

#[test]
fn what_a_card_of_a_workflow_has_no_place_for_is_left_out_and_said() {
    let facts = r#"{"type":"FactSet","facts":[{"title":"a","value":"1"}]}"#;
    let facts = facts
        .replace(r#"{"type":"FactSet","facts":"#, r#"{"facts":"#)
        .replace("]}", r#"],"type":"FactSet"}"#);
    assert_eq!(
        workflow(r#"{facts: '[{"name": "a", "value": 1}, {"value": 2}]'}"#),
        format!("{TEXT},{facts}\nteams-workflows.facts number 2 is left out: it has no name")
    );
    assert_eq!(
        workflow(r#"{sections: '[{"facts": {}}, {}, {"facts": [{"name": 5}, {"name": "a", "value": 1}]}]'}"#),
        format!(
            "{TEXT},{facts}\nteams-workflows.sections number 1 is left out: its facts is no list but object\n\
             teams-workflows.sections number 3: facts number 1 is left out: it has no name"
        )
    );
    let actions = r#"[{"@type": "HttpPOST"}, {"name": "x"}, {"@type": "OpenUri", "targets": [{}]}]"#;
    assert_eq!(
        workflow(&format!("{{potentialAction: '{actions}'}}")),
        format!(
            "{TEXT}\nteams-workflows.potentialAction number 1 is left out: \
             only actions of the @type OpenUri can be shown, not HttpPOST\n\
             teams-workflows.potentialAction number 2 is left out: it has no @type; actions are of the @type OpenUri\n\
             teams-workflows.potentialAction number 3 is left out: the first of its targets has no uri"
        )
    );
}

#[test]
fn a_fact_that_is_no_text_is_written_as_argo_cd_writes_it() {
    let found = workflow(r#"{facts: '[{"name": "a", "value": {"x": [1, true]}}]'}"#);
    assert!(
        found.ends_with(r#"{"facts":[{"title":"a","value":"map[x:[1 true]]"}],"type":"FactSet"}"#),
        "{found}"
    );
}

#[test]
fn cards_of_google_chat_have_to_be_lists() {
    let chat = |part: &str| {
        sent("googlechat:room", "{webhooks: {room: 'https://x'}}", &format!("googlechat: {part}"))
    };
    for field in ["cards", "cardsV2"] {
        let what = format!("what the template says under googlechat.{field}");
        assert_eq!(chat(&format!("{{{field}: 'header: x'}}")), format!("{what} is no list but object"));
        assert_eq!(
            chat(&format!("{{{field}: '- header'}}")),
            format!("{what} is no list of maps; number 1 is string")
        );
        assert_eq!(chat(&format!("{{{field}: '[]'}}")), format!(r#"{{"{field}":[],"text":""}}"#));
    }
}

#[test]
fn targets_of_an_alertmanager_have_to_be_a_list() {
    let told = sent("alertmanager:", "{targets: 'host:9093'}", "alertmanager: {labels: {a: b}}");
    assert_eq!(told, "the option targets: this has to be a list, not string");
}

/// What is told when the places around the program hold these things, and servers answer with this.
fn identity(things: &[(&str, &str)], answer: &str) -> String {
    let mut delivery = delivery("awssqs:", "{region: r, queue: q}", "{}").unwrap();
    let mut memory = Memory::default();
    let mut given: Option<Answer> = None;
    loop {
        let next = match delivery.next(given.as_ref(), &mut memory) {
            Ok(next) => next,
            Err(error) => return error.to_string(),
        };
        let ok = |text: &str| Answer { status: 200, body: text.into() };
        given = Some(match next {
            Next::Look(Place::Variable(name)) => {
                known(things, name).map_or(Answer { status: 404, body: vec![] }, ok)
            }
            Next::Look(Place::File(path)) => {
                known(things, &path).map_or(Answer { status: 404, body: vec![] }, ok)
            }
            Next::Ask(_) => ok(answer),
            _ => return "asked for something else".to_owned(),
        });
    }
}

fn known<'a>(things: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    things.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[test]
fn keys_of_amazon_that_are_not_there_are_named() {
    let account = [("AWS_ROLE_ARN", "arn"), ("AWS_WEB_IDENTITY_TOKEN_FILE", "/token"), ("/token", " \n")];
    assert_eq!(identity(&account, "{}"), "/token is empty; it has to hold a token");
    let container = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://keys")];
    let told = |answer: &str| identity(&container, answer);
    let none = |what: &str| format!("the answer with keys for AWS has no {what}");
    assert_eq!(told("{}"), none("AccessKeyId"));
    assert_eq!(told(r#"{"AccessKeyId": "a", "SecretAccessKey": ""}"#), none("SecretAccessKey"));
    assert_eq!(told(r#"{"AccessKeyId": "a", "SecretAccessKey": "very"}"#), none("SessionToken or Token"));
    assert_eq!(told("no JSON"), none("AccessKeyId"));
}

#[test]
fn a_server_of_nats_without_a_nonce_has_nothing_signed() {
    let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    let mut delivery = delivery("nats:s", &format!("{{url: 'nats://host', nkey: {seed}}}"), "{}").unwrap();
    let Ok(Next::Publish(publication)) = delivery.next(None, &mut Memory::default()) else {
        panic!("no message")
    };
    for info in ["{}", "{nonce: ''}", "{nonce: 5}"] {
        let told = publication.greeting(&publication.servers[0], &parse(info), false).unwrap_err();
        assert_eq!(
            told.to_string(),
            "the server host lets nobody in by a key; set the options username and password instead of nkey"
        );
    }
    assert!(publication.greeting(&publication.servers[0], &parse("{nonce: abc}"), false).is_ok());
}

#[test]
fn an_option_of_a_wrong_type_is_told_without_its_value_and_not_taken_as_unset() {
    let refused = |to: &str, options: &str| {
        let told = sent(to, options, "{alertmanager: {labels: {a: b}}}");
        let why = told.strip_prefix("the option ").unwrap_or(&told);
        why.replacen(" cannot be read: this has to be", " |", 1)
    };
    assert_eq!(
        refused("slack:room", "{token: t, username: [s3cret]}"),
        "username of service slack | a text, not array"
    );
    assert_eq!(
        refused("slack:room", "{token: t, disableUnfurl: 'yes'}"),
        "disableUnfurl of service slack | true or false, not string"
    );
    assert_eq!(
        refused("webhook:x", "{url: 'https://x', insecureSkipVerify: 1}"),
        "insecureSkipVerify of service webhook | true or false, not integer"
    );
    assert_eq!(
        refused("webhook:x", "{url: 'https://x', retryMax: many}"),
        "retryMax of service webhook | a whole number"
    );
    assert_eq!(
        refused("webhook:x", "{url: 'https://x', retryWaitMin: soon}"),
        "retryWaitMin of service webhook | a duration such as 5s"
    );
    assert_eq!(
        refused("webhook:x", "{url: 'https://x', basicAuth: s3cret}"),
        "basicAuth of service webhook | a map, not string"
    );
    assert_eq!(
        refused("webhook:x", "{url: 'https://x', headers: [{name: a, value: [s3cret]}]}"),
        "headers of service webhook | a text, not array"
    );
    assert_eq!(
        refused("alertmanager:x", "{targets: ['a:1'], timeout: 3s}"),
        "timeout of service alertmanager | a whole number"
    );
    assert_eq!(
        refused("email:a@x", "{host: mail, from: b@x, port: smtp}"),
        "port of service email | a whole number"
    );
    assert_eq!(
        refused("nats:subject", "{url: 'nats://x', headers: [a]}"),
        "headers of service nats | a map, not array"
    );
}

#[test]
fn names_of_fields_may_differ_in_capital_letters_as_in_the_documented_examples() {
    let sent = sent(
        "pagerduty:P1",
        "{Token: t, apiUrl: 'https://pager'}",
        "pagerduty: {Title: T, URGENCY: high, priorityID: P2}",
    );
    for told in [r#""title":"T""#, r#""urgency":"high""#, r#""priority":{"id":"P2","type":"priority"}"#] {
        assert!(sent.contains(told), "{sent}");
    }
}
