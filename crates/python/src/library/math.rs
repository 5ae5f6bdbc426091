//! The parts of `math` that are not one call in Rust, as CPython computes them (Modules/mathmodule.c).

use crate::text::Failure;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The failure for an argument outside a function's domain.
pub fn domain() -> Failure {
    Failure::value("math domain error")
}

/// The failure for a result too large.
pub fn range() -> Failure {
    Failure::overflow("math range error")
}

/// Applies a function and tells errors from its result: NaN from a number is outside the domain, infinity from a finite one
/// overflows (or, with `can_overflow` false, is a pole).
pub fn checked(x: f64, can_overflow: bool, f: impl FnOnce(f64) -> f64) -> Result<f64, Failure> {
    let r = f(x);
    if r.is_nan() && !x.is_nan() {
        return Err(domain());
    }
    if r.is_infinite() && x.is_finite() {
        return Err(if can_overflow { range() } else { domain() });
    }
    Ok(r)
}

/// `fsum`: exact partial sums (Shewchuk), rounded once.
pub fn fsum(values: &[f64]) -> Result<f64, Failure> {
    let mut partials: Vec<f64> = Vec::new();
    let (mut special, mut infinite) = (0.0, 0.0);
    for &value in values {
        let mut x = value;
        let mut kept = 0;
        for i in 0..partials.len() {
            let mut y = partials[i];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        if x != 0.0 {
            if !x.is_finite() {
                if value.is_finite() {
                    return Err(Failure::overflow("intermediate overflow in fsum"));
                }
                if value.is_infinite() {
                    infinite += value;
                }
                special += value;
                partials.clear();
            } else {
                partials.push(x);
            }
        }
    }
    if special != 0.0 || special.is_nan() {
        return if infinite.is_nan() { Err(Failure::value("-inf + inf in fsum")) } else { Ok(special) };
    }
    let Some(mut high) = partials.pop() else { return Ok(0.0) };
    let mut low = 0.0;
    while let Some(y) = partials.pop() {
        let x = high;
        high = x + y;
        low = y - (high - x);
        if low != 0.0 {
            break;
        }
    }
    // Half-way cases round to even as if all digits were known.
    if let Some(&next) = partials.last()
        && (low < 0.0 && next < 0.0 || low > 0.0 && next > 0.0)
    {
        let y = low * 2.0;
        let x = high + y;
        if y == x - high {
            high = x;
        }
    }
    Ok(high)
}

/// The length of a vector, without overflow and with an error below one unit in the last place.
pub fn norm(coordinates: &[f64]) -> f64 {
    if coordinates.iter().any(|x| x.is_infinite()) {
        return f64::INFINITY;
    }
    if coordinates.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let largest = coordinates.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || coordinates.len() == 1 {
        return largest;
    }
    // Scaled by a power of two so that no square exceeds 1; the sum starts at 1, so that what each addition loses is known.
    let exponent = frexp(largest).1.max(-1020);
    let scale = |x: f64| x * 2f64.powi(-exponent / 2) * 2f64.powi(-exponent - -exponent / 2);
    let (mut sum, mut products, mut sums) = (1.0, 0.0, 0.0);
    let mut add = |high: f64, low: f64| {
        let total = sum + high;
        sums += high - (total - sum);
        products += low;
        sum = total;
        sum - 1.0 + (products + sums)
    };
    let mut square = 0.0;
    for &x in coordinates {
        let x = scale(x);
        let high = x * x;
        square = add(high, x.mul_add(x, -high));
    }
    let root = square.sqrt();
    // One step of Newton's method on the exact residue.
    let high = -root * root;
    let residue = add(high, (-root).mul_add(root, -high));
    let root = root + residue / (2.0 * root);
    root * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

/// Lanczos' approximation of the gamma function, as CPython has it.
const LANCZOS_G: f64 = 6.024_680_040_776_73;
const LANCZOS_NUM: [f64; 13] = [
    23_531_376_880.410_76,
    42_919_803_642.649_1,
    35_711_959_237.355_67,
    17_921_034_426.037_21,
    6_039_542_586.352_028,
    1_439_720_407.311_721_6,
    248_874_557.862_054_17,
    31_426_415.585_400_194,
    2_876_370.628_935_372_5,
    186_056.265_395_223_48,
    8_071.672_002_365_816,
    210.824_277_751_579_36,
    2.506_628_274_631_000_2,
];
const LANCZOS_DEN: [f64; 13] =
    [0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0, 2637558.0, 357423.0, 32670.0, 1925.0, 66.0, 1.0];

fn lanczos_sum(x: f64) -> f64 {
    let (mut num, mut den) = (0.0, 0.0);
    if x < 5.0 {
        for i in (0..13).rev() {
            num = num * x + LANCZOS_NUM[i];
            den = den * x + LANCZOS_DEN[i];
        }
    } else {
        for i in 0..13 {
            num = num / x + LANCZOS_NUM[i];
            den = den / x + LANCZOS_DEN[i];
        }
    }
    num / den
}

/// `sin(pi x)`, exact at integers and halves.
fn sin_pi(x: f64) -> f64 {
    let pi = std::f64::consts::PI;
    let y = x.abs() % 2.0;
    let r = match (2.0 * y).round() as i32 {
        0 => (pi * y).sin(),
        1 => (pi * (y - 0.5)).cos(),
        2 => (pi * (1.0 - y)).sin(),
        3 => -(pi * (y - 1.5)).cos(),
        _ => (pi * (y - 2.0)).sin(),
    };
    1f64.copysign(x) * r
}

/// `gamma(x)`.
pub fn gamma(x: f64) -> Result<f64, Failure> {
    if !x.is_finite() {
        return if x == f64::NEG_INFINITY { Err(domain()) } else { Ok(x) };
    }
    if x == 0.0 {
        return Err(domain());
    }
    if x == x.floor() {
        if x < 0.0 {
            return Err(domain());
        }
        if x <= 23.0 {
            return Ok((1..x as u64).map(|i| i as f64).product());
        }
    }
    let size = x.abs();
    if size < 1e-20 {
        let r = 1.0 / x;
        return if r.is_infinite() { Err(range()) } else { Ok(r) };
    }
    if size > 200.0 {
        return if x < 0.0 { Ok(0.0 / sin_pi(x)) } else { Err(range()) };
    }
    let y = size + LANCZOS_G - 0.5;
    let z = if size > LANCZOS_G - 0.5 { (y - size) - (LANCZOS_G - 0.5) } else { (y - (LANCZOS_G - 0.5)) - size };
    let z = z * LANCZOS_G / y;
    let r = if x < 0.0 {
        let mut r = -std::f64::consts::PI / sin_pi(size) / size * y.exp() / lanczos_sum(size);
        r -= z * r;
        if size < 140.0 {
            r / y.powf(size - 0.5)
        } else {
            let root = y.powf(size / 2.0 - 0.25);
            r / root / root
        }
    } else {
        let mut r = lanczos_sum(size) / y.exp();
        r += z * r;
        if size < 140.0 {
            r * y.powf(size - 0.5)
        } else {
            let root = y.powf(size / 2.0 - 0.25);
            r * root * root
        }
    };
    if r.is_infinite() { Err(range()) } else { Ok(r) }
}

/// `lgamma(x)`.
pub fn lgamma(x: f64) -> Result<f64, Failure> {
    if !x.is_finite() {
        return Ok(if x.is_nan() { x } else { f64::INFINITY });
    }
    if x == x.floor() && x <= 2.0 {
        return if x <= 0.0 { Err(domain()) } else { Ok(0.0) };
    }
    let size = x.abs();
    if size < 1e-20 {
        return Ok(-size.ln());
    }
    let mut r = lanczos_sum(size).ln() - LANCZOS_G;
    r += (size - 0.5) * ((size + LANCZOS_G - 0.5).ln() - 1.0);
    if x < 0.0 {
        r = std::f64::consts::PI.ln() - sin_pi(size).abs().ln() - size.ln() - r;
    }
    if r.is_infinite() { Err(range()) } else { Ok(r) }
}

/// `remainder(x, y)`: IEEE 754's, to the nearest multiple, ties to even ones.
pub fn remainder(x: f64, y: f64) -> Result<f64, Failure> {
    if x.is_nan() || y.is_nan() {
        return Ok(f64::NAN);
    }
    if x.is_infinite() || y == 0.0 {
        return Err(domain());
    }
    if y.is_infinite() {
        return Ok(x);
    }
    let (size, divisor) = (x.abs(), y.abs());
    let m = size % divisor;
    let c = divisor - m;
    let r = if m < c {
        m
    } else if m > c {
        -c
    } else {
        m - 2.0 * ((0.5 * (size - m)) % divisor)
    };
    Ok(1f64.copysign(x) * r)
}

/// `isclose(a, b)`.
pub fn isclose(a: f64, b: f64, relative: f64, absolute: f64) -> Result<bool, Failure> {
    if relative < 0.0 || absolute < 0.0 {
        return Err(Failure::value("tolerances must be non-negative"));
    }
    if a == b {
        return Ok(true);
    }
    if a.is_infinite() || b.is_infinite() {
        return Ok(false);
    }
    let difference = (b - a).abs();
    Ok(difference <= (relative * b).abs() || difference <= (relative * a).abs() || difference <= absolute)
}

/// The natural logarithm (or that of `base` 2 or 10) of a positive integer of any size.
pub fn log_int(n: &BigInt, log: fn(f64) -> f64) -> Result<f64, Failure> {
    if !n.is_positive() {
        return Err(domain());
    }
    if let Some(x) = n.to_f64().filter(|x| x.is_finite()) {
        return Ok(log(x));
    }
    let shift = n.bits() - 64;
    let top = (n >> shift).to_f64().unwrap_or(f64::INFINITY);
    Ok(log(top) + log(2.0) * shift as f64)
}

/// `factorial(n)`.
pub fn factorial(n: &BigInt) -> Result<BigInt, Failure> {
    if n.is_negative() {
        return Err(Failure::value("factorial() not defined for negative values"));
    }
    let n = n.to_u64().filter(|&n| n <= MOST_FACTORS);
    n.map(|n| product(1, n)).ok_or_else(|| Failure::new("MemoryError", ""))
}

/// More factors than this make numbers that take minutes.
const MOST_FACTORS: u64 = 200_000;

/// The product of `first..=last`, by halves so that the factors grow alike.
fn product(first: u64, last: u64) -> BigInt {
    if first > last {
        return BigInt::one();
    }
    if last - first < 8 {
        return (first..=last).fold(BigInt::one(), |p, i| p * i);
    }
    let middle = first + (last - first) / 2;
    product(first, middle) * product(middle + 1, last)
}

/// `perm(n, k)`.
pub fn perm(n: &BigInt, k: &BigInt) -> Result<BigInt, Failure> {
    if n.is_negative() {
        return Err(Failure::value("n must be a non-negative integer"));
    }
    if k.is_negative() {
        return Err(Failure::value("k must be a non-negative integer"));
    }
    if k > n {
        return Ok(BigInt::zero());
    }
    let count = k.to_u64().filter(|&k| k <= MOST_FACTORS).ok_or_else(|| Failure::new("MemoryError", ""))?;
    let mut factor = n.clone();
    let mut result = BigInt::one();
    for _ in 0..count {
        result *= &factor;
        factor -= 1;
    }
    Ok(result)
}

/// `comb(n, k)`.
pub fn comb(n: &BigInt, k: &BigInt) -> Result<BigInt, Failure> {
    if n.is_negative() {
        return Err(Failure::value("n must be a non-negative integer"));
    }
    if k.is_negative() {
        return Err(Failure::value("k must be a non-negative integer"));
    }
    if k > n {
        return Ok(BigInt::zero());
    }
    let other = n - k;
    let least = if &other < k { other } else { k.clone() };
    let count = least.to_u64().filter(|&k| k <= MOST_FACTORS).ok_or_else(|| Failure::new("MemoryError", ""))?;
    let mut factor = n.clone();
    let mut result = BigInt::one();
    for i in 1..=count {
        result = result * &factor / i;
        factor -= 1;
    }
    Ok(result)
}

/// `isqrt(n)`.
pub fn isqrt(n: &BigInt) -> Result<BigInt, Failure> {
    if n.is_negative() {
        return Err(Failure::value("isqrt() argument must be nonnegative"));
    }
    Ok(BigInt::from(BigUint::sqrt(n.magnitude())))
}

/// `gcd` of any number of integers.
pub fn gcd(values: &[BigInt]) -> BigInt {
    values.iter().fold(BigInt::zero(), |a, b| a.gcd(b))
}

/// `lcm` of any number of integers.
pub fn lcm(values: &[BigInt]) -> BigInt {
    values.iter().fold(BigInt::one(), |a, b| a.lcm(b)).abs()
}

/// `frexp(x)`.
pub fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32;
    if exponent == 0 {
        let (m, e) = frexp(x * 2f64.powi(64));
        return (m, e - 64);
    }
    (f64::from_bits(x.to_bits() & !(0x7ff << 52) | 1022 << 52), exponent - 1022)
}

/// `ldexp(x, exponent)`.
pub fn ldexp(x: f64, exponent: i64) -> Result<f64, Failure> {
    if x == 0.0 || !x.is_finite() {
        return Ok(x);
    }
    let mut r = x;
    let mut left = exponent.clamp(-5000, 5000) as i32;
    // In steps, so that only the last one rounds: the result is not below the normal numbers before it.
    while left > 1000 {
        r *= 2f64.powi(1000);
        left -= 1000;
    }
    let (mantissa, own) = frexp(r);
    if left < -1000 || own + left < -1020 {
        let total = own + left;
        if total < -1080 {
            return Ok(0f64.copysign(x));
        }
        return Ok(mantissa * 2f64.powi(-1000) * 2f64.powi(total + 1000));
    }
    r *= 2f64.powi(left);
    if r.is_infinite() { Err(range()) } else { Ok(r) }
}

/// `nextafter(x, y)`.
pub fn next_after(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        y
    } else if y > x {
        x.next_up()
    } else {
        x.next_down()
    }
}

/// `ulp(x)`.
pub fn ulp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let x = x.abs();
    if x.is_infinite() {
        return x;
    }
    let up = x.next_up();
    if up.is_infinite() { x - x.next_down() } else { up - x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact() {
        assert_eq!(fsum(&[0.1; 10]), Ok(1.0));
        assert_eq!(fsum(&[1e100, 1.0, -1e100, 1e-100]), Ok(1.0));
        assert_eq!(fsum(&[]), Ok(0.0));
        assert!(fsum(&[f64::INFINITY, f64::NEG_INFINITY]).is_err());
        assert_eq!(fsum(&[f64::INFINITY, 1.0]), Ok(f64::INFINITY));
        assert_eq!(fsum(&[1e308, 1e308]).unwrap_err().kind, "OverflowError");
    }

    #[test]
    fn special_functions() {
        // CPython 3.12.
        assert_eq!(gamma(0.5), Ok(1.7724538509055159));
        assert_eq!(gamma(5.0), Ok(24.0));
        assert_eq!(gamma(-1.5), Ok(2.3632718012073544));
        assert_eq!(gamma(-1.0).unwrap_err().message, "math domain error");
        assert_eq!(gamma(172.0).unwrap_err().message, "math range error");
        assert_eq!(lgamma(10.5), Ok(13.940625219403763));
        assert_eq!(lgamma(-0.5), Ok(1.265512123484645));
        assert_eq!(norm(&[3.0, 4.0]), 5.0);
        assert_eq!(norm(&[1e200, 1e200]), 1.414213562373095e+200);
        assert_eq!(norm(&[1.0, 1.0, 1.0]), 1.7320508075688772);
        assert_eq!(remainder(5.0, 2.0), Ok(1.0));
        assert_eq!(remainder(7.0, 2.0), Ok(-1.0));
    }

    #[test]
    fn integers() {
        let b = |n: i64| BigInt::from(n);
        assert_eq!(comb(&b(50), &b(25)), Ok(b(126_410_606_437_752)));
        assert_eq!(perm(&b(10), &b(3)), Ok(b(720)));
        assert_eq!(comb(&b(3), &b(5)), Ok(b(0)));
        assert_eq!(factorial(&b(20)), Ok(b(2_432_902_008_176_640_000)));
        assert_eq!(isqrt(&BigInt::from(10).pow(40)), Ok(BigInt::from(10).pow(20)));
        assert_eq!(gcd(&[b(12), b(-18)]), b(6));
        assert_eq!(lcm(&[b(4), b(-6)]), b(12));
        assert_eq!(log_int(&BigInt::from(10).pow(400), f64::log10), Ok(400.0));
    }

    #[test]
    fn parts_of_floats() {
        assert_eq!(frexp(8.0), (0.5, 4));
        assert_eq!(frexp(5e-324), (0.5, -1073));
        assert_eq!(ldexp(0.5, -1073), Ok(5e-324));
        assert_eq!(ldexp(1.0, 1024).unwrap_err().message, "math range error");
        assert_eq!(ldexp(1.0, -2000), Ok(0.0));
        assert_eq!(ulp(1.0), f64::EPSILON);
        assert_eq!(next_after(0.0, 1.0), 5e-324);
    }
}
