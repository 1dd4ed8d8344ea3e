//! Hashes, passwords, ciphers, keys and certificates.

mod certificate;
mod certificates;
mod ciphers;
mod der;
mod dsa;
mod hashes;
mod key;
mod passwords;
mod pem;

use std::convert::Infallible;

use rsa::rand_core::{TryCryptoRng, TryRng};

use crate::{Context, Failure, Functions};

/// What takes long on purpose, in steps of the render's budget. A render can afford tens to hundreds of them.
#[derive(Clone, Copy)]
enum Effort {
    Bcrypt = 100_000,
    Scrypt = 500_000,
    Rsa2048 = 200_000,
    Rsa4096 = 2_000_000,
    Dsa = 4_000_000,
}

impl Effort {
    fn spend(self, context: &mut Context<'_>) -> Result<(), Failure> {
        context.step(self as usize)
    }
}

pub(super) fn register(to: &mut Functions) {
    hashes::register(to);
    passwords::register(to);
    ciphers::register(to);
    certificates::register(to);
}

/// The caller's random bytes, in the form in which libraries take them.
struct Random<'a, 'e>(&'a mut Context<'e>);

impl TryRng for Random<'_, '_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.0.random(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.0.random(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.random(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Random<'_, '_> {}
