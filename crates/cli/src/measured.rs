//! Where what is measured is told: apart from the API, because it names applications and repositories and asks for no login.

use std::net::SocketAddr;
use std::sync::Arc;

use lynceus_server::Vitals;
use tokio::net::TcpListener;
use tracing::warn;

use crate::exit::{Doing as _, Outcome};

// Where it is told.
#[derive(clap::Args, Clone)]
pub(crate) struct Measured {
    /// Answer `/metrics` on this address, to whoever asks; without it, nowhere.
    #[arg(long, value_name = "ADDRESS")]
    metrics_listen: Option<SocketAddr>,
}

impl Measured {
    /// Opens the port, if one is wanted: before anything is started, so that one that is taken is told at once.
    pub(crate) async fn open(&self) -> Outcome<Option<TcpListener>> {
        let Some(address) = self.metrics_listen else { return Ok(None) };
        let listener = lynceus_server::listen(address).await.doing(format!("cannot listen on {address}"));
        let listener =
            listener.map_err(|failure| failure.hint("choose another with --metrics-listen ADDRESS"))?;
        let address = listener.local_addr().doing("cannot tell where metrics are served")?;
        println!("metrics      http://{address}/metrics");
        Ok(Some(listener))
    }
}

/// Answers on a port from now on, until the process ends.
pub(crate) fn tell(listener: Option<TcpListener>, vitals: Arc<dyn Vitals>) {
    let Some(listener) = listener else { return };
    tokio::spawn(async move {
        let router = lynceus_server::metrics(vitals);
        if let Err(error) = lynceus_server::serve(listener, router, std::future::pending()).await {
            warn!(%error, "metrics are not told any more");
        }
    });
}
