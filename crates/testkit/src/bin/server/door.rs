//! The product as a server, which stands beside this program, and somebody who has logged in to it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_cluster::Cluster;
use lynceus_object::{Gvk, json, value};
use reqwest::{Client, RequestBuilder, Response};

use crate::Outcome;

/// A server that ends when this is dropped.
pub(crate) struct Door {
    server: Child,
    address: String,
    token: String,
    client: Client,
}

impl Drop for Door {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Door {
    /// Starts a server, waits until it answers, and logs in.
    pub(crate) async fn open(kubeconfig: &Path, folder: &Path, hand: &Cluster) -> Outcome<Self> {
        let program = std::env::current_exe()?.with_file_name("lynceus");
        let mut command = Command::new(program);
        command.args(["server", "--insecure", "--listen", "127.0.0.1:0", "--kubeconfig"]).arg(kubeconfig);
        command.arg("--data-dir").arg(folder).env("RUST_LOG", "warn").stdout(Stdio::piped());
        let mut server = command.spawn()?;
        let output = server.stdout.take().ok_or("the server prints nothing")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.split_whitespace().last().ok_or("the server does not say where it is")?.to_owned();
        let mut door = Door { server, address, token: String::new(), client: Client::new() };
        door.until_ready().await?;
        door.token = door.log_in(hand).await?;
        Ok(door)
    }

    /// The process of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.server.id()
    }

    /// A question, by somebody who is logged in.
    pub(crate) fn get(&self, target: &str) -> RequestBuilder {
        self.client.get(format!("{}{target}", self.address)).bearer_auth(&self.token)
    }

    async fn until_ready(&mut self) -> Outcome {
        for _ in 0..1_200 {
            if let Some(status) = self.server.try_wait()? {
                return Err(format!("the server ended with {status}").into());
            }
            let said = self.client.get(format!("{}/readyz", self.address)).send().await;
            if said.is_ok_and(|said| said.status().is_success()) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err("the server does not get ready".into())
    }

    async fn log_in(&self, hand: &Cluster) -> Outcome<String> {
        let secret = Gvk::new("", "v1", "Secret");
        let secret = hand.get(&secret, "argocd", "argocd-initial-admin-secret").await?;
        let secret = secret.ok_or("the administrator has no password")?;
        let password = secret.value().str_at(&["data", "password"]).unwrap_or_default();
        let password = String::from_utf8(STANDARD.decode(password)?)?;
        let body = json::to_string(&value!({"username": "admin", "password": password}));
        let request = self.client.post(format!("{}/api/v1/session", self.address));
        let said = good(request.header("content-type", "application/json").body(body).send().await?)?;
        let said = json::parse(&said.bytes().await?)?;
        Ok(said.str_at(&["token"]).ok_or("the login gave no token")?.to_owned())
    }
}

/// An answer that is one.
pub(crate) fn good(answer: Response) -> Outcome<Response> {
    match answer.status().is_success() {
        true => Ok(answer),
        false => Err(format!("{} answered {}", answer.url().path(), answer.status()).into()),
    }
}
