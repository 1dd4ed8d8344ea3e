use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;

use super::File;

static NOTHING: &[File] = &[];
static SOME: &[File] = &[
    File {
        path: "/index.html",
        kind: "text/html; charset=utf-8",
        tag: "\"1\"",
        packed: false,
        bytes: b"<p>page",
    },
    File { path: "/assets/a-9f.js", kind: "text/javascript", tag: "\"2\"", packed: true, bytes: b"packed" },
    File { path: "/favicon.svg", kind: "image/svg+xml", tag: "\"3\"", packed: false, bytes: b"<svg/>" },
];

/// Asks and tells the answer: its status, the headers that are named, and the body.
async fn ask(files: &'static [File], request: &str, shown: &[&str]) -> String {
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut builder = Request::builder().method(method).uri(path);
    for header in request.split('\n').skip(1) {
        let (name, value) = header.split_once(": ").unwrap();
        builder = builder.header(name, value);
    }
    let answer = super::answer::answer(files, &builder.body(Body::empty()).unwrap());
    let mut text = answer.status().as_u16().to_string();
    for name in shown {
        let value = answer.headers().get(*name).map_or("none", |value| value.to_str().unwrap());
        text.push_str(&format!("\n{name}: {value}"));
    }
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    format!("{text}\n{}", String::from_utf8_lossy(&body))
}

fn get(path: &str) -> String {
    format!("GET {path} ")
}

#[tokio::test]
async fn every_path_of_the_page_is_its_index() {
    for path in
        ["/", "/applications", "/applications/argocd/shop?view=list", "/doctor", "/apiary", "/settings/repos"]
    {
        let answer = ask(SOME, &get(path), &["content-type", "cache-control", "etag"]).await;
        assert_eq!(
            answer,
            "200\ncontent-type: text/html; charset=utf-8\ncache-control: no-cache\netag: \"1\"\n<p>page",
            "{path}"
        );
    }
}

#[tokio::test]
async fn hashed_files_are_kept_for_ever_and_others_are_asked_for_again() {
    let shown = ["content-type", "cache-control", "content-encoding"];
    let asset = ask(SOME, &get("/assets/a-9f.js"), &shown).await;
    assert_eq!(
        asset,
        "200\ncontent-type: text/javascript\ncache-control: public, max-age=31536000, immutable\ncontent-encoding: gzip\npacked"
    );
    let icon = ask(SOME, &get("/favicon.svg"), &shown).await;
    assert_eq!(
        icon,
        "200\ncontent-type: image/svg+xml\ncache-control: no-cache\ncontent-encoding: none\n<svg/>"
    );
}

#[tokio::test]
async fn what_is_known_is_not_sent_again() {
    for tags in ["\"1\"", "W/\"1\"", "\"0\", \"1\"", "*"] {
        let answer = ask(SOME, &format!("GET / \nif-none-match: {tags}"), &["etag"]).await;
        assert_eq!(answer, "304\netag: \"1\"\n", "{tags}");
    }
    assert_eq!(ask(SOME, "GET / \nif-none-match: \"0\"", &[]).await, "200\n<p>page");
}

#[tokio::test]
async fn who_takes_no_gzip_is_told_so() {
    for (accepted, status) in
        [("gzip, br", "200"), ("*", "200"), ("br", "406"), ("gzip;q=0", "406"), ("identity", "406")]
    {
        let answer = ask(SOME, &format!("GET /assets/a-9f.js \naccept-encoding: {accepted}"), &[]).await;
        assert_eq!(answer.split('\n').next(), Some(status), "{accepted}");
    }
}

#[tokio::test]
async fn a_file_of_another_version_and_a_path_of_the_api_are_not_the_page() {
    for path in
        ["/assets/old-77.js", "/api/v1/nothing", "/api", "/auth/login", "/assets/..%2f..%2fetc/passwd"]
    {
        let answer = ask(SOME, &get(path), &["content-type"]).await;
        let expected = format!(
            "404\ncontent-type: application/json\n{{\"code\":5,\"error\":\"{path} is not served here\",\"message\":\"{path} is not served here\"}}"
        );
        assert_eq!(answer, expected);
    }
}

#[tokio::test]
async fn every_answer_tells_the_browser_to_be_strict() {
    for path in ["/", "/assets/a-9f.js", "/assets/none.js"] {
        let shown = ["x-frame-options", "x-content-type-options", "referrer-policy"];
        let answer = ask(SOME, &get(path), &shown).await;
        assert!(
            answer.contains("DENY\nx-content-type-options: nosniff\nreferrer-policy: same-origin"),
            "{answer}"
        );
        let policy = ask(SOME, &get(path), &["content-security-policy"]).await;
        assert!(policy.contains("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    }
}

#[tokio::test]
async fn only_reading_is_for_the_page() {
    assert_eq!(ask(SOME, "POST / ", &["allow"]).await, "405\nallow: GET, HEAD\n");
    assert_eq!(ask(SOME, "HEAD / ", &["etag"]).await, "200\netag: \"1\"\n");
}

#[tokio::test]
async fn a_build_without_the_page_says_how_to_get_it() {
    let answer = ask(NOTHING, &get("/applications"), &["content-type", "cache-control"]).await;
    assert!(
        answer.starts_with("200\ncontent-type: text/html; charset=utf-8\ncache-control: no-store\n"),
        "{answer}"
    );
    assert!(answer.contains("install Node 20") && answer.contains("cargo build --release"), "{answer}");
}
