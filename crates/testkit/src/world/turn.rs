//! A real cluster belongs to one scenario at a time.

use std::fs::File;
use std::io;
use std::path::Path;

/// The right to play on a real cluster, given back when it is dropped.
pub(crate) struct Turn {
    _file: File,
}

impl Turn {
    /// Waits for the turn. The lock is a file beside the kubeconfig, so that it holds between threads and between
    /// processes alike.
    pub(crate) fn take(kubeconfig: &Path) -> io::Result<Self> {
        let file = File::create(kubeconfig.with_extension("turn"))?;
        file.lock()?;
        Ok(Turn { _file: file })
    }
}
