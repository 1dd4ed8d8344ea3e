//! Digests and checksums.

use rsa::sha2::{Digest, Sha256, Sha512};
use sha1::Sha1;

use crate::sprig::args::text;
use crate::{Functions, signature};

pub(super) fn register(to: &mut Functions) {
    to.add("sha1sum", signature!((STRING) -> STRING), |_, args| {
        Ok(hexadecimal(&Sha1::digest(text(args, 0).bytes())).into())
    });
    to.add("sha256sum", signature!((STRING) -> STRING), |_, args| {
        Ok(hexadecimal(&Sha256::digest(text(args, 0).bytes())).into())
    });
    to.add("sha512sum", signature!((STRING) -> STRING), |_, args| {
        Ok(hexadecimal(&Sha512::digest(text(args, 0).bytes())).into())
    });
    to.add("adler32sum", signature!((STRING) -> STRING), |_, args| {
        Ok(adler32(&text(args, 0).bytes()).to_string().into())
    });
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(if half < 10 { b'0' + half } else { b'a' + half - 10 });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), &byte| {
        let low = (low + u32::from(byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}
