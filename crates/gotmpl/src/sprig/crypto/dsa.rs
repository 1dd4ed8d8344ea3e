//! DSA keys. Nothing should use them any more; sprig still makes them.

use num_bigint::BigUint;

use super::der::{self, Reader};
use crate::Context;
use crate::sprig::random::below;

/// The sizes of the two primes in bytes: 2048 and 256 bits.
const MODULUS: usize = 256;
const ORDER: usize = 32;

/// How often a number is tested for being prime. For random numbers of this size, few would do.
const ROUNDS: usize = 16;

/// Divisors below this are looked for before the real test, which takes a thousand times longer.
const SMALL: u32 = 2_000;

/// How many moduli are tried with one order.
const TRIES: usize = 4 * MODULUS * 8;

/// A private key: its parameters, the public and the private number.
pub(super) struct Dsa {
    /// P, Q, G, Y and X, as they stand in the file.
    numbers: [BigUint; 5],
}

impl Dsa {
    /// Makes parameters and a key.
    pub(super) fn generate(context: &mut Context<'_>) -> Self {
        let (modulus, order) = primes(context);
        let one = BigUint::from(1u8);
        let exponent = (&modulus - &one) / &order;
        let mut base = BigUint::from(2u8);
        let generator = loop {
            let generator = base.modpow(&exponent, &modulus);
            if generator != one {
                break generator;
            }
            base += 1u8;
        };
        let private = loop {
            let candidate = random(context, ORDER);
            if candidate > BigUint::ZERO && candidate < order {
                break candidate;
            }
        };
        let public = generator.modpow(&private, &modulus);
        Self { numbers: [modulus, order, generator, public, private] }
    }

    /// Reads a key.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut key = Reader(Reader(bytes).expect(der::SEQUENCE)?);
        key.expect(der::INTEGER)?;
        let mut numbers: [BigUint; 5] = Default::default();
        for number in &mut numbers {
            *number = BigUint::from_bytes_be(key.expect(der::INTEGER)?);
        }
        Some(Self { numbers })
    }

    /// Writes a key.
    pub(super) fn der(&self) -> Vec<u8> {
        let numbers = self.numbers.iter().flat_map(|number| der::unsigned(&number.to_bytes_be()));
        der::value(der::SEQUENCE, &der::unsigned(&[0]).into_iter().chain(numbers).collect::<Vec<_>>())
    }
}

/// A modulus and an order that divides it but for one.
fn primes(context: &mut Context<'_>) -> (BigUint, BigUint) {
    loop {
        let order = odd_with_top_bit(context, ORDER);
        if !is_prime(context, &order) {
            continue;
        }
        let step = &order << 1u8;
        for _ in 0..TRIES {
            let number = odd_with_top_bit(context, MODULUS);
            let modulus = &number - (&number % &step) + 1u8;
            if modulus.bits() == (MODULUS * 8) as u64 && is_prime(context, &modulus) {
                return (modulus, order);
            }
        }
    }
}

fn random(context: &mut Context<'_>, bytes: usize) -> BigUint {
    let mut buffer = vec![0; bytes];
    context.random(&mut buffer);
    BigUint::from_bytes_be(&buffer)
}

fn odd_with_top_bit(context: &mut Context<'_>, bytes: usize) -> BigUint {
    let mut number = random(context, bytes);
    number.set_bit(0, true);
    number.set_bit(bytes as u64 * 8 - 1, true);
    number
}

/// Miller and Rabin's test, after a look for small divisors.
fn is_prime(context: &mut Context<'_>, number: &BigUint) -> bool {
    if (3..SMALL).step_by(2).any(|small| number % small == BigUint::ZERO) {
        return false;
    }
    let one = BigUint::from(1u8);
    let less_one = number - &one;
    let twos = less_one.trailing_zeros().unwrap_or_default();
    let odd = &less_one >> twos;
    for _ in 0..ROUNDS {
        let base = BigUint::from(2 + below(context, u64::MAX - 2));
        let mut power = base.modpow(&odd, number);
        if power == one || power == less_one {
            continue;
        }
        let composite = (1..twos).all(|_| {
            power = &power * &power % number;
            power != less_one
        });
        if composite {
            return false;
        }
    }
    true
}
