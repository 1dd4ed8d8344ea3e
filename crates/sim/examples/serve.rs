//! Serves a cluster on a port and writes a kubeconfig: `serve PORT KUBECONFIG [DATA_DIR]`.
#![allow(clippy::print_stdout, clippy::expect_used)]

use lynceus_sim::{Options, Sim, write_private};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().and_then(|port| port.parse().ok()).unwrap_or(6443);
    let kubeconfig = arguments.next().unwrap_or_else(|| "kubeconfig".into());
    let started = std::time::Instant::now();
    let options = Options { data_dir: arguments.next().map(Into::into), ..Options::default() };
    let sim = Sim::start(options).await.expect("starts");
    let server = sim.serve(([127, 0, 0, 1], port).into()).await.expect("listens");
    write_private(kubeconfig.as_ref(), sim.kubeconfig(&server.url())).expect("kubeconfig is written");
    println!("{} after {:?}", server.url(), started.elapsed());
    tokio::signal::ctrl_c().await.expect("signal");
    server.shutdown().await;
}
