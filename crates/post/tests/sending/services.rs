//! What each service is asked.

use crate::stand_in::StandIn;
use crate::{post, send};

/// Sends by a service that answers the same always, and gives what it was asked. `HOST` in the options is its address.
async fn asked(to: &str, answer: (u16, &str), options: &str, message: &str) -> String {
    let server = StandIn::answering(answer.0, answer.1).await;
    let options = options.replace("HOST", &server.url);
    send(&post(), to, &options, message).await.unwrap();
    server.asked()
}

#[tokio::test]
async fn a_webhook_is_asked_as_the_template_says() {
    let options =
        "{url: HOST/base/, headers: [{name: X-Own, value: v}], basicAuth: {username: u, password: p}}";
    let message = "{message: m, webhook: {build: {method: POST, path: /run, body: '{\"a\": 1}'}}}";
    assert_eq!(
        asked("webhook.build:", (204, ""), options, message).await,
        "POST /base/run\nx-own: v\nauthorization: Basic dTpw\n{\"a\": 1}"
    );
    assert_eq!(
        asked("webhook.other:", (200, ""), options, message).await,
        "GET /base/\nx-own: v\nauthorization: Basic dTpw\nm"
    );
}

#[tokio::test]
async fn a_webhook_is_tried_again() {
    let busy = |status| (status, "", String::new());
    let server = StandIn::new(vec![busy(500), busy(429), busy(503), busy(200)]).await;
    let options = format!("{{url: '{}', retryWaitMin: 1ms, retryWaitMax: 2ms}}", server.url);
    send(&post(), "webhook:", &options, "{message: m}").await.unwrap();
    assert_eq!(server.count(), 4);
    let server = StandIn::answering(500, "no").await;
    let options = format!("{{url: '{}', retryWaitMin: 1ms, retryWaitMax: 2ms, retryMax: 2}}", server.url);
    let error = send(&post(), "webhook:", &options, "{message: m}").await.unwrap_err();
    assert_eq!((server.count(), error.message.as_str()), (3, "the server answered 500: no"));
}

#[tokio::test]
async fn slack_gets_a_message_and_the_next_of_its_key_is_in_the_thread() {
    let ok = |ts: &str| (200, "", format!(r#"{{"ok": true, "ts": "{ts}", "channel": "C1"}}"#));
    let server = StandIn::new(vec![ok("1.1"), ok("1.2"), ok("1.3"), ok("1.4")]).await;
    let options = format!("{{token: xoxb, apiURL: '{}/api/', username: bot, icon: ':x:'}}", server.url);
    let post = post();
    for policy in ["Post", "PostAndUpdate", "Update"] {
        let message = format!(
            "{{message: m, slack: {{attachments: '[{{\"a\": 1}}]', groupingKey: k, notifyBroadcast: true, deliveryPolicy: {policy}}}}}"
        );
        send(&post, "slack:general", &options, &message).await.unwrap();
    }
    let head = "authorization: Bearer xoxb";
    let asked = server.asked().replace("content-type: application/json\n", "");
    assert_eq!(
        asked,
        format!(
            r#"POST /api/chat.postMessage
{head}
{{"attachments":[{{"a":1}}],"channel":"general","icon_emoji":":x:","reply_broadcast":true,"text":"m","username":"bot"}}

POST /api/chat.postMessage
{head}
{{"attachments":[{{"a":1}}],"channel":"general","icon_emoji":":x:","reply_broadcast":true,"text":"m","thread_ts":"1.1","username":"bot"}}

POST /api/chat.update
{head}
{{"as_user":true,"attachments":[{{"a":1}}],"channel":"C1","icon_emoji":":x:","text":"m","ts":"1.1","username":"bot"}}

POST /api/chat.update
{head}
{{"as_user":true,"attachments":[{{"a":1}}],"channel":"C1","icon_emoji":":x:","text":"m","ts":"1.1","username":"bot"}}"#
        )
    );
    let server = StandIn::answering(200, r#"{"ok": false, "error": "channel_not_found"}"#).await;
    let options = format!("{{token: xoxb, apiURL: '{}'}}", server.url);
    let error = send(&post, "slack:general", &options, "{message: m}").await.unwrap_err();
    assert_eq!(error.message, "slack did not take the message: channel_not_found");
}

#[tokio::test]
async fn teams_gets_a_card() {
    let options = "{recipientUrls: {room: HOST/hook, flow: HOST/powerautomate/x}}";
    let message = r##"{message: m, teams: {title: t, themeColor: "#f00", facts: '[{"name": "a", "value": "b"}]'},
        teams-workflows: {title: t, facts: '[{"name": "a", "value": 5}]',
        potentialAction: '[{"@type": "OpenUri", "name": "Open", "targets": [{"uri": "https://x"}]}]'}}"##;
    assert_eq!(
        asked("teams:room", (200, "1"), options, message).await,
        r##"POST /hook
content-type: application/json
{"@type":"MessageCard","context":"https://schema.org/extensions","sections":[{"facts":[{"name":"a","value":"b"}]}],"summary":"","text":"m","themeColor":"#f00","title":"t"}"##
    );
    assert_eq!(
        asked("teams-workflows:flow", (202, ""), options, message).await,
        r#"POST /powerautomate/x
content-type: application/json
{"attachments":[{"content":{"actions":[{"title":"Open","type":"Action.OpenUrl","url":"https://x"}],"body":[{"size":"Large","text":"t","type":"TextBlock","weight":"Bolder","wrap":true},{"text":"m","type":"TextBlock","wrap":true},{"facts":[{"title":"a","value":"5"}],"type":"FactSet"}],"type":"AdaptiveCard","version":"1.4"},"contentType":"application/vnd.microsoft.card.adaptive"}],"type":"message"}"#
    );
    let server = StandIn::answering(200, "Webhook message delivery failed").await;
    let options = format!("{{recipientUrls: {{room: '{}/secret-path'}}}}", server.url);
    let error = send(&post(), "teams:room", &options, message).await.unwrap_err();
    assert_eq!(error.message, "the server answered 200: Webhook message delivery failed");
    let error = send(&post(), "teams:nobody", &options, message).await.unwrap_err();
    assert_eq!(error.message, "service teams knows no recipient nobody; add it to recipientUrls");
    let error = send(&post(), "teams-workflows:room", &options, message).await.unwrap_err();
    assert_eq!(error.message, "the address of recipient room is not that of a workflow");
}

#[tokio::test]
async fn services_of_one_request_are_asked_as_their_documentation_says() {
    let grafana = asked("grafana:a|b", (200, "{}"), "{apiUrl: HOST/api, apiKey: k}", "{message: m}").await;
    assert_eq!(
        grafana,
        "POST /api/annotations\ncontent-type: application/json\nauthorization: Bearer k\n\
         {\"isRegion\":false,\"tags\":[\"a\",\"b\"],\"text\":\"m\",\"time\":1767323045000}"
    );
    let webex = asked("webex:a@b.c", (200, ""), "{token: t, apiURL: HOST}", "{message: m}").await;
    assert_eq!(
        webex,
        "POST /v1/messages\ncontent-type: application/json\nauthorization: Bearer t\n{\"markdown\":\"m\",\"toPersonEmail\":\"a@b.c\"}"
    );
    let webex = asked("webex:room1", (200, ""), "{token: t, apiURL: HOST}", "{message: m}").await;
    assert!(webex.ends_with(r#"{"markdown":"m","roomId":"room1"}"#));
    let mattermost = "{message: m, mattermost: {attachments: '[{\"a\": 1}]'}}";
    assert_eq!(
        asked("mattermost:chan", (201, ""), "{token: t, apiURL: HOST}", mattermost).await,
        "POST /api/v4/posts\ncontent-type: application/json\nauthorization: Bearer t\n\
         {\"channel_id\":\"chan\",\"message\":\"m\",\"props\":{\"attachments\":[{\"a\":1}]}}"
    );
    let telegram =
        asked("telegram:-100|7", (200, r#"{"ok":true}"#), "{token: t, apiURL: HOST}", "{message: m}").await;
    assert_eq!(
        telegram,
        "POST /bott/sendMessage\ncontent-type: application/json\n\
         {\"chat_id\":-100,\"message_thread_id\":7,\"parse_mode\":\"Markdown\",\"text\":\"m\"}"
    );
    let telegram =
        asked("telegram:chan", (200, r#"{"ok":true}"#), "{token: t, apiURL: HOST}", "{message: m}").await;
    assert!(telegram.contains(r#""chat_id":"@chan""#));
    let pushover =
        asked("pushover:usr", (200, r#"{"status":1}"#), "{token: t, apiURL: HOST}", "{message: 'a b&c'}")
            .await;
    assert_eq!(
        pushover,
        "POST /1/messages.json\ncontent-type: application/x-www-form-urlencoded\ntoken=t&user=usr&message=a%20b%26c"
    );
    let newrelic = "{message: m, newrelic: {revision: r, changelog: c, user: u}}";
    assert_eq!(
        asked("newrelic:12/3", (201, ""), "{apiKey: k, apiURL: HOST/}", newrelic).await,
        "POST /v2/applications/12%2F3/deployments.json\ncontent-type: application/json\nx-api-key: k\n\
         {\"deployment\":{\"changelog\":\"c\",\"description\":\"m\",\"revision\":\"r\",\"user\":\"u\"}}"
    );
    let opsgenie = "{message: m, opsgenie: {description: d, priority: P1, tags: [x], details: {a: b}}}";
    assert_eq!(
        asked("opsgenie:team1", (202, "{}"), "{apiUrl: HOST, apiKeys: {team1: key}}", opsgenie).await,
        "POST /v2/alerts\ncontent-type: application/json\nauthorization: GenieKey key\n\
         {\"description\":\"d\",\"details\":{\"a\":\"b\"},\"message\":\"m\",\"priority\":\"P1\",\"responders\":[{\"id\":\"team1\",\"type\":\"team\"}],\"source\":\"Argo CD\",\"tags\":[\"x\"]}"
    );
}

#[tokio::test]
async fn pagers_and_chats_are_asked_as_their_documentation_says() {
    let incident = "{message: m, pagerduty: {title: t, body: b, urgency: high, priorityId: P}}";
    assert_eq!(
        asked("pagerduty:SVC", (201, "{}"), "{token: t, from: a@b.c, apiURL: HOST}", incident).await,
        "POST /incidents\ncontent-type: application/json\naccept: application/vnd.pagerduty+json;version=2\n\
         authorization: Token token=t\nfrom: a@b.c\n\
         {\"incident\":{\"body\":{\"details\":\"b\",\"type\":\"incident_details\"},\"priority\":{\"id\":\"P\",\"type\":\"priority\"},\"service\":{\"id\":\"SVC\",\"type\":\"service_reference\"},\"title\":\"t\",\"type\":\"incident\",\"urgency\":\"high\"}}"
    );
    let event = "{message: m, pagerdutyv2: {summary: s, severity: critical, source: src, dedupKey: d, url: 'https://x'}}";
    assert_eq!(
        asked("pagerdutyv2:svc", (202, "{}"), "{serviceKeys: {svc: key}, apiURL: HOST}", event).await,
        "POST /v2/enqueue\ncontent-type: application/json\n\
         {\"client\":\"ArgoCD\",\"client_url\":\"https://x\",\"dedup_key\":\"d\",\"event_action\":\"trigger\",\"payload\":{\"severity\":\"critical\",\"source\":\"src\",\"summary\":\"s\"},\"routing_key\":\"key\"}"
    );
    let chat = "{message: m, googlechat: {cardsV2: '[{header: {title: t}}]', threadKey: 'a b'}}";
    assert_eq!(
        asked("googlechat:room", (200, "{}"), "{webhooks: {room: 'HOST/v1?key=k'}}", chat).await,
        "POST /v1?key=k&threadKey=a%20b&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD\n\
         content-type: application/json\n\
         {\"cardsV2\":[{\"card\":{\"header\":{\"title\":\"t\"}},\"cardId\":\"07070707-0707-4707-8707-070707070707\"}],\"text\":\"\"}"
    );
    let plain = asked("googlechat:room", (200, "{}"), "{webhooks: {room: HOST/v1}}", "{message: m}").await;
    assert!(plain.ends_with("{\"text\":\"m\"}"));
    let alert = "{message: m, alertmanager: {labels: {alertname: a}, annotations: {b: c}, generatorURL: 'git@h:o/r'}}";
    let server = StandIn::answering(200, "").await;
    let target = server.url.trim_start_matches("http://").to_owned();
    let options = format!("{{targets: ['127.0.0.1:1', '{target}'], bearerToken: t}}");
    send(&post(), "alertmanager:", &options, alert).await.unwrap();
    assert_eq!(
        server.asked(),
        "POST /api/v2/alerts\ncontent-type: application/json\nauthorization: Bearer t\n\
         [{\"annotations\":{\"b\":\"c\"},\"generatorURL\":\"https://h/o/r\",\"labels\":{\"alertname\":\"a\"},\"startsAt\":\"2026-01-02T03:04:05Z\"}]"
    );
}

#[tokio::test]
async fn rocket_chat_is_logged_in_to_first() {
    let login =
        (200, "", r#"{"status": "success", "data": {"authToken": "at", "userId": "uid"}}"#.to_owned());
    let taken = (200, "", r#"{"success": true}"#.to_owned());
    let server = StandIn::new(vec![login, taken]).await;
    let options = format!("{{email: e@x, password: 'p w', serverUrl: '{}', alias: bot}}", server.url);
    send(&post(), "rocketchat:#general", &options, "{message: m}").await.unwrap();
    assert_eq!(
        server.asked(),
        "POST /api/v1/login\ncontent-type: application/x-www-form-urlencoded\nuser=e%40x&password=p%20w\n\n\
         POST /api/v1/chat.postMessage\ncontent-type: application/json\nx-auth-token: at\nx-user-id: uid\n\
         {\"alias\":\"bot\",\"channel\":\"#general\",\"text\":\"m\"}"
    );
}

#[tokio::test]
async fn a_queue_of_aws_is_looked_up_and_every_request_is_signed() {
    let found = (200, "", r#"{"QueueUrl": "https://sqs/1/q"}"#.to_owned());
    let server = StandIn::new(vec![found, (200, "", "{}".to_owned())]).await;
    let options =
        format!("{{region: r, queue: q, account: '1', key: AK, secret: SK, endpointUrl: '{}'}}", server.url);
    send(&post(), "awssqs:", &options, "{message: m, awssqs: {messageAttributes: {a: b}}}").await.unwrap();
    let asked = server.asked();
    let signed = asked.lines().filter(|line| {
        line.starts_with(
            "authorization: AWS4-HMAC-SHA256 Credential=AK/20260102/r/sqs/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=",
        )
    });
    assert_eq!(signed.count(), 2, "{asked}");
    let rest: Vec<&str> = asked.lines().filter(|line| !line.starts_with("authorization")).collect();
    assert_eq!(
        rest.join("\n"),
        "POST /\ncontent-type: application/x-amz-json-1.0\nx-amz-target: AmazonSQS.GetQueueUrl\nx-amz-date: 20260102T030405Z\n\
         {\"QueueName\":\"q\",\"QueueOwnerAWSAccountId\":\"1\"}\n\n\
         POST /\ncontent-type: application/x-amz-json-1.0\nx-amz-target: AmazonSQS.SendMessage\nx-amz-date: 20260102T030405Z\n\
         {\"DelaySeconds\":10,\"MessageAttributes\":{\"a\":{\"DataType\":\"String\",\"StringValue\":\"b\"}},\"MessageBody\":\"m\",\"QueueUrl\":\"https://sqs/1/q\"}"
    );
}

/// A key of the tests.
const KEY: &str = include_str!("../../../source/tests/keys/rsa-pkcs1.pem");

#[tokio::test]
async fn github_is_told_by_an_app_step_by_step_and_the_token_is_kept() {
    let reply = |status, body: &str| (status, "", body.to_owned());
    let server = StandIn::new(vec![
        reply(201, r#"{"token": "inst", "expires_at": "2026-01-02T04:04:05Z"}"#),
        reply(201, "{}"),
        reply(200, "[]"),
        reply(201, r#"{"id": 5}"#),
        reply(201, "{}"),
        reply(200, r#"[{"number": 9}]"#),
        reply(200, r#"[{"id": 3, "body": "old <!-- argocd-notifications tag -->"}]"#),
        reply(200, "{}"),
        reply(422, "{}"),
    ])
    .await;
    let key = KEY.trim().replace('\n', "\n  ");
    let options = format!(
        "appID: 1\ninstallationID: '2'\nenterpriseBaseURL: '{}'\nprivateKey: |\n  {key}\n",
        server.url
    );
    let message = "{message: m, github: {repoURLPath: 'https://github.com/o/r.git', revisionPath: abc, \
        status: {state: success, label: ci, targetURL: 'https://x'}, \
        deployment: {state: success, environment: prod}, pullRequestComment: {content: hi, commentTag: tag}}}";
    let post = post();
    send(&post, "github:", &options, message).await.unwrap();
    let asked = server.asked();
    let (token, rest) = asked.split_once("\n\n").unwrap();
    assert!(token.starts_with("POST /api/v3/app/installations/2/access_tokens\naccept: application/vnd.github+json\nauthorization: Bearer eyJ"));
    let rest = rest
        .replace("accept: application/vnd.github+json\nauthorization: token inst\n", "")
        .replace("content-type: application/json\n", "");
    assert_eq!(
        rest,
        r#"POST /api/v3/repos/o/r/statuses/abc
{"context":"ci","description":"m","state":"success","target_url":"https://x"}

GET /api/v3/repos/o/r/deployments?ref=abc&environment=prod

POST /api/v3/repos/o/r/deployments
{"auto_merge":true,"environment":"prod","ref":"abc","required_contexts":[],"transient_environment":false}

POST /api/v3/repos/o/r/deployments/5/statuses
{"description":"m","environment":"prod","state":"success"}

GET /api/v3/repos/o/r/commits/abc/pulls

GET /api/v3/repos/o/r/issues/9/comments

PATCH /api/v3/repos/o/r/issues/comments/3
{"body":"hi\n<!-- argocd-notifications tag -->"}"#
    );
    // The token still holds, and a commit with too many statuses is never tried again.
    let error = send(&post, "github:", &options, message).await.unwrap_err();
    assert!(error.is_final, "{error}");
    assert_eq!(server.count(), 9);
}
