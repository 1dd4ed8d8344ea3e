//! The API and the page, served from what an engine sees.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lynceus_engine::Engine;
use lynceus_server::{Server, Vitals};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::exit::{Doing as _, Outcome};
use crate::place;

// Where it is served.
#[derive(clap::Args, Clone)]
pub(crate) struct Face {
    /// Where the API and the page are served; port 0 picks a free one. Without it 127.0.0.1:8080, or a free port if that is taken.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

/// Where it is served if nobody says otherwise.
const USUAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// A face that is shown until it is dropped.
pub(crate) struct Shown {
    /// Where.
    pub(crate) address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Face {
    /// Opens the port: before anything is started, so that one that is taken is told at once.
    pub(crate) async fn open(&self) -> Outcome<TcpListener> {
        let wanted = self.listen.unwrap_or(USUAL);
        match (lynceus_server::listen(wanted).await, self.listen) {
            (Ok(listener), _) => Ok(listener),
            // Nobody asked for the usual one.
            (Err(_), None) => {
                let any = SocketAddr::new(wanted.ip(), 0);
                lynceus_server::listen(any).await.doing(format!("cannot listen on {}", wanted.ip()))
            }
            (Err(error), Some(_)) => Err(error)
                .doing(format!("cannot listen on {wanted}"))
                .map_err(|failure| failure.hint("choose another with --listen ADDRESS")),
        }
    }
}

/// Serves what an engine sees.
pub(crate) async fn show(
    listener: TcpListener,
    engine: &Arc<Engine>,
    vitals: Arc<dyn Vitals>,
) -> Outcome<Shown> {
    let address = listener.local_addr().doing("cannot tell where the page is served")?;
    let server = Server::new(engine.clone());
    if let Err(why) = server.prepare().await {
        eprintln!("note: nobody can log in yet: {why}");
    }
    let (stop, mut stopped) = watch::channel(false);
    let told = async move {
        // Whoever is gone cannot say so; that is the same.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    let task = tokio::spawn(lynceus_server::serve(listener, lynceus_server::api(server, vitals), told));
    Ok(Shown { address, stop, task })
}

impl Shown {
    /// Ends it. Streams never end by themselves, so nobody waits for them.
    pub(crate) fn hide(self) {
        self.stop.send_replace(true);
        self.task.abort();
    }
}

/// Writes the password that the administrator has at first where only its owner can read it.
pub(crate) async fn hand_out_password(engine: &Engine, directory: &Path) -> Outcome<Option<PathBuf>> {
    let Some(password) = lynceus_server::initial_password(engine).await else { return Ok(None) };
    let file = directory.join("password");
    place::write_private(&file, &format!("{password}\n"))?;
    Ok(Some(file))
}
