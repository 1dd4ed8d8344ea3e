//! Finds a kubectl: the one on the PATH, or that of the rig.

use std::path::PathBuf;
use std::process::Command;

use crate::rig::{KUBECTL, Programs};

pub(super) fn find() -> Result<PathBuf, String> {
    if let Ok(chosen) = std::env::var("KUBECTL") {
        return Ok(chosen.into());
    }
    if Command::new("kubectl")
        .args(["version", "--client"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return Ok("kubectl".into());
    }
    Ok(Programs::with(&[KUBECTL])?.path(KUBECTL.name))
}
