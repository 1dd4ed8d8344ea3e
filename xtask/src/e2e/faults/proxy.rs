//! A proxy between controller and API server that cuts connections when told to.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Passes bytes on, both ways, until it cuts.
pub(super) struct Proxy {
    port: u16,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    cut: AtomicUsize,
}

impl Proxy {
    /// Starts to listen on a free port.
    pub(super) fn start(server: u16) -> Result<Self, String> {
        let listener =
            TcpListener::bind("127.0.0.1:0").map_err(|error| format!("no port for a proxy: {error}"))?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let connections: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let open = Arc::clone(&connections);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // While the server is down, nobody answers here either.
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                if let (Ok(mut open), Ok(copy)) = (open.lock(), client.try_clone()) {
                    open.retain(|connection| connection.peer_addr().is_ok());
                    open.push(copy);
                }
                pass_on(&client, &server);
                pass_on(&server, &client);
            }
        });
        Ok(Proxy { port, connections, cut: AtomicUsize::new(0) })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Cuts every connection that is open.
    pub(super) fn cut(&self) {
        let Ok(mut open) = self.connections.lock() else { return };
        for connection in open.drain(..) {
            if connection.shutdown(Shutdown::Both).is_ok() {
                self.cut.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// How many connections were cut.
    pub(super) fn cut_so_far(&self) -> usize {
        self.cut.load(Ordering::Relaxed)
    }
}

fn pass_on(from: &TcpStream, to: &TcpStream) {
    let (Ok(mut from), Ok(mut to)) = (from.try_clone(), to.try_clone()) else { return };
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}
