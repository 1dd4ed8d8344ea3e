//! Servers that do not do what they should, and configurations that cannot be.

use std::time::Duration;

use lynceus_post::{Options, Post};

use crate::stand_in::StandIn;
use crate::{post, send};

#[tokio::test]
async fn a_redirect_to_another_host_is_told_nothing() {
    let other = StandIn::answering(200, "{\"ok\": true}").await;
    for status in [301, 302, 303, 307, 308] {
        let location: &'static str = Box::leak(format!("Location: {}/x\r\n", other.url).into_boxed_str());
        let server = StandIn::new(vec![(status, location, String::new())]).await;
        let options = format!("{{token: xoxb, apiURL: '{}'}}", server.url);
        let error = send(&post(), "slack:general", &options, "{message: m}").await.unwrap_err();
        assert!(error.message.starts_with("127.0.0.1 redirects to another place"), "{error}");
        assert!(!error.message.contains("xoxb"), "{error}");
    }
    assert_eq!(other.count(), 0);
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed_and_one_without_end_is_not() {
    let there = (307, "Location: /there\r\n", String::new());
    let server = StandIn::new(vec![there.clone(), (200, "", "{\"ok\": true}".to_owned())]).await;
    let options = format!("{{token: xoxb, apiURL: '{}'}}", server.url);
    send(&post(), "slack:general", &options, "{message: m}").await.unwrap();
    assert!(server.asked().contains("POST /there\n"), "{}", server.asked());
    let server = StandIn::new(vec![there]).await;
    let options = format!("{{token: xoxb, apiURL: '{}'}}", server.url);
    let error = send(&post(), "slack:general", &options, "{message: m}").await.unwrap_err();
    assert_eq!(error.message, "127.0.0.1 redirects again and again");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let server = StandIn::new(vec![(0, "", String::new())]).await;
    let options =
        Options { environment_proxy: false, timeout: Duration::from_millis(200), ..Options::default() };
    let config = format!("{{token: xoxb, apiURL: '{}/secret'}}", server.url);
    let error = send(&Post::new(options), "slack:general", &config, "{message: m}").await.unwrap_err();
    assert_eq!(error.message, "127.0.0.1 did not answer in time");
}

#[tokio::test]
async fn a_server_that_is_asked_too_much_is_asked_again_when_it_says() {
    let busy = (429, "Retry-After: 0\r\n", "slow down".to_owned());
    let server = StandIn::new(vec![busy.clone(), busy.clone(), (200, "", "{\"ok\": true}".to_owned())]).await;
    let options = format!("{{token: xoxb, apiURL: '{}'}}", server.url);
    send(&post(), "slack:general", &options, "{message: m}").await.unwrap();
    let server = StandIn::new(vec![busy]).await;
    let options = format!("{{token: xoxb, apiURL: '{}'}}", server.url);
    let error = send(&post(), "slack:general", &options, "{message: m}").await.unwrap_err();
    assert_eq!((server.count(), error.message.as_str()), (3, "the server answered 429: slow down"));
}

#[tokio::test]
async fn nobody_at_home_is_told_without_the_address() {
    let options = "{recipientUrls: {r: 'http://127.0.0.1:1/very/secret/path'}}";
    let error = send(&post(), "teams:r", options, "{message: m}").await.unwrap_err();
    assert!(error.message.starts_with("127.0.0.1 cannot be reached: "), "{error}");
    assert!(!error.message.contains("secret"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_sent_is_told_without_saying_what_it_is() {
    for (options, expected) in [
        (
            "{token: \"a\\nb\", apiURL: 'http://127.0.0.1:1'}",
            "the value of a header of the request cannot be sent",
        ),
        ("{token: t, apiURL: 'file:///etc/passwd'}", "the address of the request cannot be sent"),
        ("{token: t, apiURL: 'nonsense'}", "the address of the request cannot be sent"),
        ("{apiURL: 'http://127.0.0.1:1'}", "the option token of service slack is not set"),
    ] {
        let error = send(&post(), "slack:general", options, "{message: m}").await.unwrap_err();
        assert_eq!(error.message, expected);
    }
    let error =
        send(&post(), "slack:g", "{token: t}", "{message: m, slack: {blocks: '[{'}}").await.unwrap_err();
    assert!(error.message.starts_with("what the template says under slack.blocks is no JSON"), "{error}");
}

#[tokio::test]
async fn a_long_answer_is_not_read_to_its_end_nor_told_whole() {
    let server = StandIn::answering(500, &"x ".repeat(3 << 20)).await;
    let options = format!("{{token: t, apiURL: '{}'}}", server.url);
    let error = send(&post(), "slack:general", &options, "{message: m}").await.unwrap_err();
    assert!(error.message.len() < 300, "{}", error.message.len());
}
