// Helper functions that take the place of those of wgsl.wgsl where WebAssembly is printed, in the same language; see
// crates/compiler/src/codegen/wasm/helper.rs for what of it is read. Each is written for numbers and for vectors of four: those that
// training calls for every element have no branches, so that four lanes never wait for one another. Engines keep NaN and infinity.
//
// Polynomials marked "Cephes" are from Stephen L. Moshier's Cephes library, single precision (netlib.org/cephes): relative errors of a
// few units in the last place.

fn isnan_f32(x: f32) -> bool {
  return x != x;
}

fn reciprocal_f32(x: f32) -> f32 {
  return 1.0f / x;
}

fn rsqrt_f32(x: f32) -> f32 {
  return 1.0f / sqrt(x);
}

// ---- narrow floats: values are kept as the f32 that they round to ----

// To f16, ties to even. Above 65520 is infinity; below 2^-14 the spacing is 2^-24.
fn round_f16_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let sign = bits & 0x80000000u;
  let steps = round(bitcast<f32>(magnitude) * 16777216.0f) * 5.9604644775390625e-8f;
  let usual = (bits + 0xfffu + ((bits >> 13u) & 1u)) & 0xffffe000u;
  let near = select(usual, sign | bitcast<u32>(steps), magnitude < 0x38800000u);
  let out = select(near, sign | 0x7f800000u, magnitude >= 0x477ff000u);
  return bitcast<f32>(select(out, bits | 0x400000u, magnitude > 0x7f800000u));
}

// f16 in memory. Subnormal numbers are multiples of 2^-24.
fn widen_f16_u32(h: u32) -> f32 {
  let magnitude = h & 0x7fffu;
  let bits = (magnitude << 13u) + select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
  let small = bitcast<u32>(f32(i32(magnitude)) * 5.9604644775390625e-8f);
  return bitcast<f32>(select(bits, small, magnitude < 0x400u) | ((h & 0x8000u) << 16u));
}

// Of a value that f16 has.
fn narrow_f16_f32(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let small = u32(bitcast<f32>(select(0u, magnitude, magnitude < 0x38800000u)) * 16777216.0f);
  let usual = select((magnitude - 0x38000000u) >> 13u, small, magnitude < 0x38800000u);
  let special = select(0x7c00u, 0x7e00u, magnitude > 0x7f800000u);
  return select(usual, special, magnitude >= 0x7f800000u) | ((bits >> 16u) & 0x8000u);
}

// To bf16, ties to even: the upper half of the bits. A carry out of the largest value gives infinity.
fn round_bf16_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) & 0xffff0000u;
  return bitcast<f32>(select(rounded, bits | 0x400000u, x != x));
}

// ---- integers: division truncates and is zero by zero; -2^31 / -1 wraps ----

fn div_i32(a: i32, b: i32) -> i32 {
  if (b == 0) {
    return 0;
  }
  if (b == -1) {
    return 0 - a;
  }
  return a / b;
}

fn div_u32(a: u32, b: u32) -> u32 {
  if (b == 0u) {
    return 0u;
  }
  return a / b;
}

fn fmod_i32(a: i32, b: i32) -> i32 {
  if (b == 0 || b == -1) {
    return 0;
  }
  return a % b;
}

fn fmod_u32(a: u32, b: u32) -> u32 {
  if (b == 0u) {
    return 0u;
  }
  return a % b;
}

fn floor_div_i32(a: i32, b: i32) -> i32 {
  let q = div_i32(a, b);
  let r = fmod_i32(a, b);
  return select(q, q - 1, r != 0 && ((r < 0) != (b < 0)));
}

fn floor_div_u32(a: u32, b: u32) -> u32 {
  return div_u32(a, b);
}

fn abs_i32(x: i32) -> i32 {
  return select(x, 0 - x, x < 0);
}

fn sign_i32(x: i32) -> i32 {
  return select(select(0, -1, x < 0), 1, x > 0);
}

// ---- random bits ----

fn turn_u32(x: u32, up: u32, down: u32) -> u32 {
  return x ^ (up | down);
}

// Threefry-2x32 with 20 rounds (Salmon et al., SC 2011): what the masks leave of the two output words, combined by exclusive or.
fn threefry_masked_u32(k0: u32, k1: u32, c0: u32, c1: u32, first: u32, second: u32) -> u32 {
  let k2 = k0 ^ k1 ^ 0x1bd11bdau;
  var x: u32 = c0 + k0;
  var y: u32 = c1 + k1;
  x += y;
  y = turn_u32(x, y << 13u, y >> 19u);
  x += y;
  y = turn_u32(x, y << 15u, y >> 17u);
  x += y;
  y = turn_u32(x, y << 26u, y >> 6u);
  x += y;
  y = turn_u32(x, y << 6u, y >> 26u);
  x += k1;
  y += k2 + 1u;
  x += y;
  y = turn_u32(x, y << 17u, y >> 15u);
  x += y;
  y = turn_u32(x, y << 29u, y >> 3u);
  x += y;
  y = turn_u32(x, y << 16u, y >> 16u);
  x += y;
  y = turn_u32(x, y << 24u, y >> 8u);
  x += k2;
  y += k0 + 2u;
  x += y;
  y = turn_u32(x, y << 13u, y >> 19u);
  x += y;
  y = turn_u32(x, y << 15u, y >> 17u);
  x += y;
  y = turn_u32(x, y << 26u, y >> 6u);
  x += y;
  y = turn_u32(x, y << 6u, y >> 26u);
  x += k0;
  y += k1 + 3u;
  x += y;
  y = turn_u32(x, y << 17u, y >> 15u);
  x += y;
  y = turn_u32(x, y << 29u, y >> 3u);
  x += y;
  y = turn_u32(x, y << 16u, y >> 16u);
  x += y;
  y = turn_u32(x, y << 24u, y >> 8u);
  x += k1;
  y += k2 + 4u;
  x += y;
  y = turn_u32(x, y << 13u, y >> 19u);
  x += y;
  y = turn_u32(x, y << 15u, y >> 17u);
  x += y;
  y = turn_u32(x, y << 26u, y >> 6u);
  x += y;
  y = turn_u32(x, y << 6u, y >> 26u);
  x += k2;
  y += k0 + 5u;
  return (x & first) ^ (y & second);
}

fn threefry_u32(k0: u32, k1: u32, c0: u32, c1: u32) -> u32 {
  return threefry_masked_u32(k0, k1, c0, c1, 0xffffffffu, 0xffffffffu);
}

fn threefry_word_u32(k0: u32, k1: u32, c0: u32, c1: u32, word: u32) -> u32 {
  return threefry_masked_u32(k0, k1, c0, c1, (word & 1u) - 1u, 0u - (word & 1u));
}

// ---- floats: exponentials and logarithms ----

// 2^n for -126 <= n <= 127.
fn power_of_two_f32(n: i32) -> f32 {
  return bitcast<f32>((n + 127) << 23u);
}

// x * 2^n, also where 2^n is no f32.
fn scale_f32(x: f32, n: i32) -> f32 {
  let half = n >> 1u;
  return x * power_of_two_f32(half) * power_of_two_f32(n - half);
}

// Cephes: x = n ln 2 + r, and a polynomial for (e^r - 1 - r) / r^2. The nearest whole number is what adding 1.5 * 2^23 leaves.
fn exp_tail_f32(r: f32) -> f32 {
  let p = ((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f;
  return (p * r + 1.6666665459e-1f) * r + 5.0000001201e-1f;
}

fn exp_f32(x: f32) -> f32 {
  let c = max(min(x, 89.0f), -104.0f);
  let t = c * 1.4426950f + 12582912.0f;
  let n = t - 12582912.0f;
  let r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
  return scale_f32(exp_tail_f32(r) * (r * r) + r + 1.0f, bitcast<i32>(t) - 0x4b400000);
}

fn exp2_f32(x: f32) -> f32 {
  let c = max(min(x, 129.0f), -150.0f);
  let t = c + 12582912.0f;
  let r = (c - (t - 12582912.0f)) * 0.69314718f;
  return scale_f32(exp_tail_f32(r) * (r * r) + r + 1.0f, bitcast<i32>(t) - 0x4b400000);
}

// As exp, with the one taken away before the scaling: 2^n (e^r - 2^-n).
fn expm1_f32(x: f32) -> f32 {
  let c = max(min(x, 89.0f), -20.0f);
  let t = c * 1.4426950f + 12582912.0f;
  let n = t - 12582912.0f;
  let r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
  let k = bitcast<i32>(t) - 0x4b400000;
  let one = select(power_of_two_f32(0 - k), 0.0f, k > 60);
  return scale_f32(exp_tail_f32(r) * (r * r) + r + (1.0f - one), k);
}

// Cephes: the mantissa between sqrt(1/2) and sqrt(2), and a polynomial in its distance from one.
fn log_f32(x: f32) -> f32 {
  let small = x < 1.17549435e-38f;
  let u = bitcast<i32>(select(x, x * 8388608.0f, small));
  let e = (u - 0x3f3504f3) >> 23u;
  let f = bitcast<f32>(u - (e << 23u)) - 1.0f;
  let n = f32(select(e, e - 23, small));
  let z = f * f;
  let p = ((7.0376836292e-2f * f - 1.1514610310e-1f) * f + 1.1676998740e-1f) * f - 1.2420140846e-1f;
  let q = ((p * f + 1.4249322787e-1f) * f - 1.6668057665e-1f) * f + 2.0000714765e-1f;
  let s = (q * f - 2.4999993993e-1f) * f + 3.3333331174e-1f;
  let y = s * f * z - n * 2.12194440e-4f - 0.5f * z;
  let r = f + y + n * 0.693359375f;
  let finite = select(r, x, x == inf_f32());
  return select(select(nan_f32(), neg_inf_f32(), x == 0.0f), finite, x > 0.0f);
}

fn log2_f32(x: f32) -> f32 {
  return log_f32(x) * 1.4426950f;
}

// What 1 + x loses of x is put back: d log(u) = du / u.
fn log1p_f32(x: f32) -> f32 {
  let u = 1.0f + x;
  let lost = (x - (u - 1.0f)) / u;
  let r = log_f32(u);
  return select(r, r + lost, u > 0.0f && u < inf_f32());
}

// x P(x^2) / Q(x^2), as Eigen has it (MathFunctionsImpl, generic_fast_tanh_float): from 7.905 on it is one; where x^2 is lost beside
// one it is x.
fn tanh_f32(x: f32) -> f32 {
  let c = max(min(x, 7.9053111f), -7.9053111f);
  let z = c * c;
  let p = ((-2.76076847742355e-16f * z + 2.00018790482477e-13f) * z - 8.60467152213735e-11f) * z + 5.12229709037114e-08f;
  let q = ((p * z + 1.48572235717979e-05f) * z + 6.37261928875436e-04f) * z + 4.89352455891786e-03f;
  let d = ((1.19825839466702e-06f * z + 1.18534705686654e-04f) * z + 2.26843463243900e-03f) * z + 4.89352518554385e-03f;
  return select(c * q / d, x, z < 1.6e-7f);
}

// e^-x is infinite or zero where it leaves the range: the quotient is zero or one.
fn sigmoid_f32(x: f32) -> f32 {
  return 1.0f / (1.0f + exp_f32(-x));
}

// ---- floats: special functions ----

// x P(x^2) / Q(x^2), as Eigen has it (unsupported/SpecialFunctions, generic_fast_erf_float); from 4 on it is one.
fn erf_f32(x: f32) -> f32 {
  let c = max(min(x, 4.0f), -4.0f);
  let z = c * c;
  let p = ((-2.72614225801306e-10f * z + 2.77068142495902e-08f) * z - 2.10102402082508e-06f) * z - 5.69250639462346e-05f;
  let q = ((p * z - 7.34990630326855e-04f) * z - 2.95459980854025e-03f) * z - 1.60960333262415e-02f;
  let d = ((-1.45660718464996e-05f * z - 2.13374055278905e-04f) * z - 1.68282697438203e-03f) * z - 7.37332916720468e-03f;
  return c * q / (d * z - 1.42647390514189e-02f);
}

// The standard normal distribution up to x.
fn ndtr_f32(x: f32) -> f32 {
  return 0.5f + 0.5f * erf_f32(x * 0.70710678f);
}
