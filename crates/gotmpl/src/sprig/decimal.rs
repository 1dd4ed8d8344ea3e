//! Decimal numbers, as sprig's float functions compute: `addf 0.1 0.2` is 0.3.

use num_bigint::{BigInt, Sign};

/// How many places a division gives.
const DIVISION_PLACES: i32 = 16;

/// A number: `digits` times ten to the power of `exponent`.
#[derive(Clone, Default)]
pub(super) struct Decimal {
    digits: BigInt,
    exponent: i32,
}

impl Decimal {
    /// The shortest decimal that reads back as the float; none for infinities and NaN.
    pub(super) fn from_float(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        Some(Self {
            digits: mantissa.replace('.', "").parse().ok()?,
            exponent: exponent.parse::<i32>().ok()? - i32::try_from(places).ok()?,
        })
    }

    /// The float that is nearest.
    pub(super) fn to_float(&self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or_default()
    }

    /// About how much work an operation on this number is.
    pub(super) fn cost(&self) -> usize {
        usize::try_from(self.digits.bits() / 64).unwrap_or(usize::MAX).saturating_add(1)
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { digits: self.scaled(exponent) + other.scaled(exponent), exponent }
    }

    pub(super) fn subtract(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { digits: self.scaled(exponent) - other.scaled(exponent), exponent }
    }

    pub(super) fn multiply(&self, other: &Self) -> Self {
        Self { digits: &self.digits * &other.digits, exponent: self.exponent.saturating_add(other.exponent) }
    }

    /// The quotient, rounded away from zero in the middle; none if the divisor is 0.
    pub(super) fn divide(&self, other: &Self) -> Option<Self> {
        if other.digits.sign() == Sign::NoSign {
            return None;
        }
        let shift = self.exponent - other.exponent + DIVISION_PLACES;
        let (dividend, divisor) = if shift < 0 {
            (self.digits.clone(), &other.digits * power_of_ten(shift.unsigned_abs()))
        } else {
            (&self.digits * power_of_ten(shift.unsigned_abs()), other.digits.clone())
        };
        let mut digits = &dividend / &divisor;
        let remainder = &dividend - &digits * &divisor;
        if (remainder.magnitude() << 1u8) >= *divisor.magnitude() {
            digits += if dividend.sign() == divisor.sign() { 1 } else { -1 };
        }
        Some(Self { digits, exponent: -DIVISION_PLACES })
    }

    /// The digits for a smaller exponent.
    fn scaled(&self, exponent: i32) -> BigInt {
        &self.digits * power_of_ten(self.exponent.abs_diff(exponent))
    }
}

fn power_of_ten(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}
