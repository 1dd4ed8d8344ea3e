//! The binary `lynceus`.

fn main() {}
