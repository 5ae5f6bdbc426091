//! Functions that no standard library has.

/// Threefry-2x32 with 20 rounds, the two output words combined by exclusive or: JAX's partitionable random bits (`jax/_src/prng.py`).
pub fn threefry2x32(k0: u32, k1: u32, c0: u32, c1: u32) -> u32 {
    let [x0, x1] = threefry2x32_words(k0, k1, c0, c1);
    x0 ^ x1
}

/// The two output words of Threefry-2x32 with 20 rounds, for a counter under a key of two words each.
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
pub fn threefry2x32_words(k0: u32, k1: u32, c0: u32, c1: u32) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [k0, k1, k0 ^ k1 ^ 0x1BD1_1BDA];
    let (mut x0, mut x1) = (c0.wrapping_add(keys[0]), c1.wrapping_add(keys[1]));
    for i in 0..5u32 {
        for r in ROTATIONS[(i % 2) as usize] {
            x0 = x0.wrapping_add(x1);
            x1 = x1.rotate_left(r) ^ x0;
        }
        x0 = x0.wrapping_add(keys[(i as usize + 1) % 3]);
        x1 = x1.wrapping_add(keys[(i as usize + 2) % 3]).wrapping_add(i + 1);
    }
    [x0, x1]
}

/// Inverse of erf, to the last digits: the normal distribution's quantile by three quotients of polynomials, one for its middle, one for
/// its flanks and one for its tails.
/// Source: M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37, 1988 (PPND16).
pub(super) fn erfinv(x: f64) -> f64 {
    if !(-1.0..=1.0).contains(&x) {
        return f64::NAN;
    }
    if x.abs() == 1.0 {
        return x * f64::INFINITY;
    }
    let quotient = |[above, below]: &[[f64; 8]; 2], r: f64| {
        let poly = |c: &[f64; 8]| c.iter().rev().fold(0.0, |acc, c| acc * r + c);
        poly(above) / poly(below)
    };
    let quantile = if x.abs() <= 0.85 {
        x / 2.0 * quotient(&MIDDLE, 0.180625 - x * x / 4.0)
    } else {
        // The share of the distribution that lies further out.
        let r = (-((1.0 - x.abs()) / 2.0).ln()).sqrt();
        let further = if r <= 5.0 { quotient(&FLANK, r - 1.6) } else { quotient(&TAIL, r - 5.0) };
        further.copysign(x)
    };
    quantile * std::f64::consts::FRAC_1_SQRT_2
}

/// Coefficients from the constant up, above and below the stroke.
const MIDDLE: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
];
const FLANK: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];
const TAIL: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

/// Logarithmic derivative of the gamma function: recurrence up to 10, then the asymptotic series; reflection below zero.
/// Source: Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18.
pub(super) fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        return if x == x.floor() { f64::NAN } else { digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * x).tan() };
    }
    let (mut x, mut acc) = (x, 0.0);
    while x < 10.0 {
        acc -= 1.0 / x;
        x += 1.0;
    }
    let f = 1.0 / (x * x);
    acc + x.ln() - 0.5 / x - f * (1.0 / 12.0 - f * (1.0 / 120.0 - f * (1.0 / 252.0 - f * (1.0 / 240.0 - f / 132.0))))
}

#[cfg(test)]
mod tests {
    use super::erfinv;

    /// Numbers computed with 40 digits by mpmath.
    #[test]
    fn erfinv_is_right_to_the_last_digits() {
        let cases = [
            (1e-300, 8.86226925452758e-301),
            (1e-8, 8.86226925452758e-09),
            (0.1, 0.08885599049425769),
            (0.5, 0.4769362762044699),
            (0.84, 0.9935356283473041),
            (0.8501, 1.018152291584008),
            (0.99, 1.8213863677184494),
            (0.999999, 3.458910737275499),
            (1.0 - 2f64.powi(-30), 4.328028275800946),
            (1.0 - 2f64.powi(-53), 5.8635847487551676),
        ];
        for (x, expected) in cases {
            for sign in [1.0, -1.0] {
                let y = erfinv(sign * x) * sign;
                // The tails' logarithm is of a number that has one rounding.
                assert!((y / expected - 1.0).abs() < 4e-15, "erfinv({x}) = {y:e}, not {expected:e}");
            }
        }
        assert!(erfinv(1.5).is_nan() && erfinv(1.0) == f64::INFINITY && erfinv(-1.0) == f64::NEG_INFINITY);
    }
}
