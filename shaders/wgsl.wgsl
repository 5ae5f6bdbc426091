// Helper functions that generated WGSL calls: what the language lacks, or specifies too loosely to train with.
//
// The printer (crates/compiler/src/codegen/wgsl.rs) copies only the functions that a kernel uses. A declaration starts at
// the left margin and ends before the next blank line; every name ends in the type that it works on. WGSL compilers may
// assume that NaN and infinity do not occur, so tests for them look at bits, and constants are built from bits that sit in
// private variables, where the front end does not fold them.
//
// Polynomials marked "Cephes" are from Stephen L. Moshier's Cephes library, single precision (netlib.org/cephes): relative
// errors of a few units in the last place.

var<private> nan_bits: u32 = 0x7fc00000u;

var<private> inf_bits: u32 = 0x7f800000u;

fn nan_f32() -> f32 {
  return bitcast<f32>(nan_bits);
}

fn inf_f32() -> f32 {
  return bitcast<f32>(inf_bits);
}

fn neg_inf_f32() -> f32 {
  return bitcast<f32>(inf_bits | 0x80000000u);
}

fn isnan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn isinf_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

// ---- narrow floats: values are kept as the f32 that they round to ----

// To f16, ties to even. Above 65520 is infinity; below 2^-14 the spacing is 2^-24.
fn round_f16_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let sign = bits & 0x80000000u;
  if (magnitude > 0x7f800000u) {
    return x;
  }
  if (magnitude >= 0x477ff000u) {
    return bitcast<f32>(sign | inf_bits);
  }
  if (magnitude < 0x38800000u) {
    let steps = round(bitcast<f32>(magnitude) * 16777216.0f) * 5.9604644775390625e-8f;
    return bitcast<f32>(sign | bitcast<u32>(steps));
  }
  return bitcast<f32>((bits + 0xfffu + ((bits >> 13u) & 1u)) & 0xffffe000u);
}

// To bf16, ties to even: the upper half of the bits. A carry out of the largest value gives infinity.
fn round_bf16_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return x;
  }
  return bitcast<f32>((bits + 0x7fffu + ((bits >> 16u) & 1u)) & 0xffff0000u);
}

// ---- integers ----

// Truncating; division by zero gives zero. WGSL itself defines a / 0 as a, a % 0 as 0 and wraps -2^31 / -1.
fn div_i32(a: i32, b: i32) -> i32 {
  return select(a / b, 0, b == 0);
}

fn div_u32(a: u32, b: u32) -> u32 {
  return select(a / b, 0u, b == 0u);
}

fn fmod_i32(a: i32, b: i32) -> i32 {
  return a % b;
}

fn fmod_u32(a: u32, b: u32) -> u32 {
  return a % b;
}

fn floor_div_i32(a: i32, b: i32) -> i32 {
  let q = a / b;
  let r = a % b;
  return select(select(q, q - 1, r != 0 && ((r < 0) != (b < 0))), 0, b == 0);
}

fn neg_u32(x: u32) -> u32 {
  return 0u - x;
}

fn sign_u32(x: u32) -> u32 {
  return min(x, 1u);
}

// ---- bool, ordered false before true ----

fn xor_bool(a: bool, b: bool) -> bool {
  return a != b;
}

fn lt_bool(a: bool, b: bool) -> bool {
  return !a && b;
}

fn le_bool(a: bool, b: bool) -> bool {
  return !a || b;
}

fn gt_bool(a: bool, b: bool) -> bool {
  return a && !b;
}

fn ge_bool(a: bool, b: bool) -> bool {
  return a || !b;
}

// ---- conversions and random bits ----

// Wraps negative values as the host does; WGSL's own conversion clamps them to zero.
fn to_u32_f32(x: f32) -> u32 {
  return select(u32(x), bitcast<u32>(i32(x)), x < 0.0f);
}

// Threefry-2x32 with 20 rounds (Salmon et al., SC 2011): what the masks leave of the two output words, combined by exclusive or.
fn threefry_masked_u32(k0: u32, k1: u32, c0: u32, c1: u32, first: u32, second: u32) -> u32 {
  var keys = array<u32, 3>(k0, k1, k0 ^ k1 ^ 0x1bd11bdau);
  var rotations = array<vec4<u32>, 2>(vec4<u32>(13u, 15u, 26u, 6u), vec4<u32>(17u, 29u, 16u, 24u));
  var x = vec2<u32>(c0 + k0, c1 + k1);
  for (var i = 0u; i < 5u; i++) {
    let turn = rotations[i & 1u];
    for (var j = 0u; j < 4u; j++) {
      x.x += x.y;
      x.y = ((x.y << turn[j]) | (x.y >> (32u - turn[j]))) ^ x.x;
    }
    x.x += keys[(i + 1u) % 3u];
    x.y += keys[(i + 2u) % 3u] + i + 1u;
  }
  return (x.x & first) ^ (x.y & second);
}

fn threefry_u32(k0: u32, k1: u32, c0: u32, c1: u32) -> u32 {
  return threefry_masked_u32(k0, k1, c0, c1, 0xffffffffu, 0xffffffffu);
}

fn threefry_word_u32(k0: u32, k1: u32, c0: u32, c1: u32, word: u32) -> u32 {
  return threefry_masked_u32(k0, k1, c0, c1, (word & 1u) - 1u, 0u - (word & 1u));
}

// ---- floats: comparison, sign, remainder ----

// `!=` is false of NaN where the front end takes it for "ordered and not equal", as naga does for SPIR-V.
fn ne_f32(a: f32, b: f32) -> bool {
  return !(a == b);
}

// NaN in either operand gives NaN: a comparison with it is false, which leaves the second.
fn max_f32(a: f32, b: f32) -> f32 {
  return select(b, a, (a > b) || isnan_f32(a));
}

fn min_f32(a: f32, b: f32) -> f32 {
  return select(b, a, (a < b) || isnan_f32(a));
}

// x * 0: drivers take the product with a constant zero for zero, also of infinity and NaN.
fn times_zero_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  return select(bitcast<f32>(bits & 0x80000000u), nan_f32(), (bits & 0x7fffffffu) >= 0x7f800000u);
}

fn sign_f32(x: f32) -> f32 {
  return select(select(x, -1.0f, x < 0.0f), 1.0f, x > 0.0f);
}

fn copysign_f32(x: f32, y: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}

// Exact: takes away the largest y * 2^k that fits, for falling k. Each difference is exact by Sterbenz's lemma.
fn fmod_f32(x: f32, y: f32) -> f32 {
  let d = abs(y);
  var r = abs(x);
  if (isnan_f32(x) || isnan_f32(y) || isinf_f32(x) || d == 0.0f) {
    return nan_f32();
  }
  if (isinf_f32(y) || r < d) {
    return x;
  }
  if ((bitcast<u32>(d) >> 23u) == 0u) {
    return copysign_f32(0.0f, x);
  }
  loop {
    if (r < d) {
      break;
    }
    let shift = (bitcast<u32>(r) >> 23u) - (bitcast<u32>(d) >> 23u);
    let t = bitcast<f32>(bitcast<u32>(d) + (shift << 23u));
    r -= select(t, t * 0.5f, t > r);
  }
  return copysign_f32(r, x);
}

// ---- floats: exponentials and logarithms ----

// Below 1/2 the Taylor series to x^9: the next term is under 2^-28 of the sum.
fn expm1_f32(x: f32) -> f32 {
  if (abs(x) >= 0.5f) {
    return exp(x) - 1.0f;
  }
  let p = 2.4801587e-5f + x * 2.7557319e-6f;
  let q = 4.1666667e-2f + x * (8.3333333e-3f + x * (1.3888889e-3f + x * (1.9841270e-4f + x * p)));
  return x + x * x * (0.5f + x * (0.16666667f + x * q));
}

// Near zero log(1 + x) = 2 atanh(x / (2 + x)) by its series: log of a rounded 1 + x would lose the digits of x.
fn log1p_f32(x: f32) -> f32 {
  if (abs(x) >= 0.5f || isnan_f32(x)) {
    return log(1.0f + x);
  }
  let s = x / (2.0f + x);
  let z = s * s;
  let p = 0.11111111f + z * (0.09090909f + z * (0.07692308f + z * (0.06666667f + z * 0.05882353f)));
  return 2.0f * s + 2.0f * s * z * (0.33333333f + z * (0.2f + z * (0.14285714f + z * p)));
}

// Whole exponents by repeated squaring; bases near one through log1p, since WGSL promises log2 only to 2^-21 there. A
// negative base has no power with any other exponent.
fn pow_f32(a: f32, b: f32) -> f32 {
  if (b == 0.0f || a == 1.0f) {
    return 1.0f;
  }
  if (isnan_f32(a) || isnan_f32(b)) {
    return nan_f32();
  }
  let whole = trunc(b) == b;
  let half = b * 0.5f;
  let odd = whole && abs(b) < 16777216.0f && trunc(half) != half;
  let m = abs(a);
  var r = 0.0f;
  if (m == 0.0f) {
    r = select(0.0f, inf_f32(), b < 0.0f);
  } else if (m == 1.0f) {
    r = 1.0f;
  } else if (whole && abs(b) <= 64.0f) {
    var n = u32(abs(b));
    var square = m;
    r = 1.0f;
    loop {
      if ((n & 1u) == 1u) {
        r *= square;
      }
      n = n >> 1u;
      if (n == 0u) {
        break;
      }
      square *= square;
    }
    if (b < 0.0f) {
      r = 1.0f / r;
    }
  } else if (abs(m - 1.0f) < 0.25f) {
    r = exp(b * log1p_f32(m - 1.0f));
  } else {
    r = exp2(b * log2(m));
  }
  if ((bitcast<u32>(a) >> 31u) == 0u) {
    return r;
  }
  if (odd) {
    return -r;
  }
  if (whole || m == 0.0f || isinf_f32(b) || isinf_f32(a)) {
    return r;
  }
  return nan_f32();
}

// ---- floats: hyperbolic functions ----

fn sinh_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a > 80.0f) {
    let t = exp(0.5f * a);
    return copysign_f32((0.5f * t) * t, x);
  }
  let e = expm1_f32(a);
  return copysign_f32(0.5f * (e + e / (e + 1.0f)), x);
}

fn cosh_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a > 80.0f) {
    let t = exp(0.5f * a);
    return (0.5f * t) * t;
  }
  let t = exp(a);
  return 0.5f * (t + 1.0f / t);
}

// The built-in overflows for large arguments on some drivers.
fn tanh_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a > 10.0f) {
    return sign_f32(x);
  }
  let t = expm1_f32(2.0f * a);
  return copysign_f32(t / (t + 2.0f), x);
}

// By e^-|x|, which does not overflow.
fn sigmoid_f32(x: f32) -> f32 {
  let e = exp(-abs(x));
  return select(e, 1.0f, x >= 0.0f) / (1.0f + e);
}

fn asinh_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a > 1.0e10f) {
    return copysign_f32(log(a) + 0.69314718f, x);
  }
  return copysign_f32(log1p_f32(a + a * a / (1.0f + sqrt(a * a + 1.0f))), x);
}

fn acosh_f32(x: f32) -> f32 {
  if (x < 1.0f) {
    return nan_f32();
  }
  if (x > 1.0e10f) {
    return log(x) + 0.69314718f;
  }
  let t = x - 1.0f;
  return log1p_f32(t + sqrt(t * (t + 2.0f)));
}

fn atanh_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a > 1.0f) {
    return nan_f32();
  }
  if (a == 1.0f) {
    return copysign_f32(inf_f32(), x);
  }
  return copysign_f32(0.5f * log1p_f32(2.0f * a / (1.0f - a)), x);
}

// ---- floats: trigonometric functions ----

// x less its nearest multiple of pi/2, which is taken away in three parts (Cody and Waite; Cephes), for |x| below 8192. WGSL promises its own
// sine only to 2^-11.
fn reduce_angle_f32(x: f32, turns: f32) -> f32 {
  return ((x - turns * 1.5703125f) - turns * 4.837512969970703e-4f) - turns * 7.549789954891882e-8f;
}

fn sin_core_f32(r: f32) -> f32 {
  let z = r * r;
  return r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
}

fn cos_core_f32(r: f32) -> f32 {
  let z = r * r;
  return 1.0f - 0.5f * z + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
}

// Angles from 8192 on: the product of the fraction of x with those bits of 2/pi that are less than four turns and count (M. Payne, R. Hanek,
// "Radian reduction for trigonometric functions", 1983).

fn is_far_f32(x: f32) -> bool {
  let e = (bitcast<u32>(x) >> 23u) & 0xffu;
  return (e >= 140u) && (e < 255u);
}

// The words of the binary fraction of 2/pi, with a word of zeros in front.
fn two_over_pi_u32(i: u32) -> u32 {
  let a = select(0u, 0xa2f9836eu, i == 1u);
  let b = select(a, 0x4e441529u, i == 2u);
  let c = select(b, 0xfc2757d1u, i == 3u);
  let d = select(c, 0xf534ddc0u, i == 4u);
  let e = select(d, 0xdb629599u, i == 5u);
  return select(e, 0x3c439041u, i == 6u);
}

// The upper word of the product of a number below 2^24 and another.
fn upper_u32(a: u32, b: u32) -> u32 {
  let low = a & 0xffffu;
  let high = a >> 16u;
  let p = ((low * (b & 0xffffu)) >> 16u) + high * (b & 0xffffu);
  let q = (p & 0xffffu) + low * (b >> 16u);
  return high * (b >> 16u) + (p >> 16u) + (q >> 16u);
}

// |x| in quarter turns, modulo four, in 30 bits of fraction; a half is added.
fn far_turns_u32(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let fraction = (bits & 0x7fffffu) | 0x800000u;
  let skipped = ((bits >> 23u) & 0xffu) - 120u;
  let i = skipped >> 5u;
  let s = skipped & 31u;
  let middle = two_over_pi_u32(i + 1u);
  let first = (two_over_pi_u32(i) << s) | ((middle >> 1u) >> (31u - s));
  let second = (middle << s) | ((two_over_pi_u32(i + 2u) >> 1u) >> (31u - s));
  return fraction * first + upper_u32(fraction, second) + 0x20000000u;
}

// What of far_turns_u32 is beyond its nearest quarter turn, as an angle.
fn far_angle_f32(turns: u32) -> f32 {
  return f32(i32(turns & 0x3fffffffu) - 536870912) * 1.4629180793e-9f;
}

// The sine of an angle up to pi/4 and quarter turns.
fn turned_f32(r: f32, quarters: u32) -> f32 {
  let v = select(sin_core_f32(r), cos_core_f32(r), (quarters & 1u) == 1u);
  return select(v, -v, (quarters & 2u) == 2u);
}

fn sin_f32(x: f32) -> f32 {
  if (is_far_f32(x)) {
    let far = far_turns_u32(x);
    let v = turned_f32(far_angle_f32(far), far >> 30u);
    return select(v, -v, x < 0.0f);
  }
  let turns = round(x * 0.63661977f);
  let r = reduce_angle_f32(x, turns);
  let quadrant = i32(turns) & 3;
  let v = select(sin_core_f32(r), cos_core_f32(r), (quadrant & 1) == 1);
  return select(v, -v, quadrant >= 2);
}

fn cos_f32(x: f32) -> f32 {
  if (is_far_f32(x)) {
    let far = far_turns_u32(x);
    return turned_f32(far_angle_f32(far), (far >> 30u) + 1u);
  }
  let turns = round(x * 0.63661977f);
  let r = reduce_angle_f32(x, turns);
  let quadrant = i32(turns) & 3;
  let v = select(cos_core_f32(r), sin_core_f32(r), (quadrant & 1) == 1);
  return select(v, -v, quadrant == 1 || quadrant == 2);
}

fn tan_f32(x: f32) -> f32 {
  if (is_far_f32(x)) {
    let far = far_turns_u32(x);
    let v = turned_f32(far_angle_f32(far), far >> 30u) / turned_f32(far_angle_f32(far), (far >> 30u) + 1u);
    return select(v, -v, x < 0.0f);
  }
  let turns = round(x * 0.63661977f);
  let r = reduce_angle_f32(x, turns);
  let s = sin_core_f32(r);
  let c = cos_core_f32(r);
  return select(s / c, -c / s, (i32(turns) & 1) == 1);
}

// Cephes asinf, for arguments of at most 1/2.
fn asin_core_f32(x: f32) -> f32 {
  let z = x * x;
  let p = 4.5470025998e-2f + z * (2.4181311049e-2f + z * 4.2163199048e-2f);
  return x + x * z * (1.6666752422e-1f + z * (7.4953002686e-2f + z * p));
}

fn asin_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a > 1.0f) {
    return nan_f32();
  }
  if (a > 0.5f) {
    return copysign_f32(1.5707964f - 2.0f * asin_core_f32(sqrt(0.5f * (1.0f - a))), x);
  }
  return asin_core_f32(x);
}

fn acos_f32(x: f32) -> f32 {
  if (abs(x) > 1.0f) {
    return nan_f32();
  }
  if (x > 0.5f) {
    return 2.0f * asin_core_f32(sqrt(0.5f * (1.0f - x)));
  }
  if (x < -0.5f) {
    return 3.1415927f - 2.0f * asin_core_f32(sqrt(0.5f * (1.0f + x)));
  }
  return 1.5707964f - asin_core_f32(x);
}

// Cephes atanf: reduced to |t| <= tan(pi/8).
fn atan_f32(x: f32) -> f32 {
  let a = abs(x);
  var start = 0.0f;
  var t = a;
  if (a > 2.4142136f) {
    start = 1.5707964f;
    t = -1.0f / a;
  } else if (a > 0.41421357f) {
    start = 0.78539816f;
    t = (a - 1.0f) / (a + 1.0f);
  }
  let z = t * t;
  let p = -3.33329491539e-1f + z * (1.99777106478e-1f + z * (-1.38776856032e-1f + z * 8.05374449538e-2f));
  return copysign_f32(start + (t + t * z * p), x);
}

fn atan2_f32(y: f32, x: f32) -> f32 {
  if (isnan_f32(x) || isnan_f32(y)) {
    return nan_f32();
  }
  let a = abs(y);
  let b = abs(x);
  let low = min(a, b);
  let high = max(a, b);
  var r = 0.0f;
  if (high > 0.0f) {
    r = atan_f32(select(low / high, 1.0f, a == b));
  }
  r = select(r, 1.5707964f - r, a > b);
  r = select(r, 3.1415927f - r, (bitcast<u32>(x) >> 31u) == 1u);
  return copysign_f32(r, y);
}

// ---- floats: special functions ----

// Cephes erff and erfcf.
fn erf_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a < 1.0f) {
    let z = x * x;
    let p = -2.685381193529856e-2f + z * (5.188327685732524e-3f + z * (-8.010193625184903e-4f + z * 7.853861353153693e-5f));
    return x * (1.128379165726710f + z * (-3.761262582423300e-1f + z * (1.128358514861418e-1f + z * p)));
  }
  if (a > 4.0f) {
    return sign_f32(x);
  }
  let q = 1.0f / a;
  let y = q * q;
  var p: f32;
  if (a < 2.0f) {
    p = 2.326819970068386e-2f;
    p = p * y - 1.387039388740657e-1f;
    p = p * y + 3.687424674597105e-1f;
    p = p * y - 5.824733027278666e-1f;
    p = p * y + 6.210004621745983e-1f;
    p = p * y - 4.944515323274145e-1f;
    p = p * y + 3.404879937665872e-1f;
    p = p * y - 2.741127028184656e-1f;
    p = p * y + 5.638259427386472e-1f;
  } else {
    p = -1.047766399936249e1f;
    p = p * y + 1.297719955372516e1f;
    p = p * y - 7.495518717768503f;
    p = p * y + 2.921019019210786f;
    p = p * y - 1.015265279202700f;
    p = p * y + 4.218463358204948e-1f;
    p = p * y - 2.820767439740514e-1f;
    p = p * y + 5.641895067754075e-1f;
  }
  return copysign_f32(1.0f - exp(-a * a) * q * p, x);
}

// The standard normal distribution up to x: 2^q(|x|) below zero, and what is left of one above. Where x is far out the power is zero.
// q is a minimax polynomial for log2(Phi(-m)) on [0, 5.7]: within 1.3e-7 of Phi, and within 1e-4 times it below zero.
fn ndtr_f32(x: f32) -> f32 {
  let m = select(abs(x), 15.0f, abs(x) > 15.0f);
  var q = 1.4747258319403045e-5f - 8.459001605842786e-7f * m;
  q = q * m - 6.747178849764168e-5f;
  q = q * m - 4.2014694190584123e-4f;
  q = q * m + 7.416692562401295e-3f;
  q = q * m - 5.271971598267555e-2f;
  q = q * m - 4.591447710990906e-1f;
  q = q * m - 1.1511108875274658f;
  let e = exp2(q * m - 1.0f);
  return select(1.0f - e, e, x < 0.0f);
}

// M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade, 2011: the single precision polynomials.
fn erfinv_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a > 1.0f || isnan_f32(x)) {
    return nan_f32();
  }
  if (a == 1.0f) {
    return copysign_f32(inf_f32(), x);
  }
  var w = -log1p_f32(-x * x);
  var p: f32;
  if (w < 5.0f) {
    w -= 2.5f;
    p = 2.81022636e-08f;
    p = 3.43273939e-07f + p * w;
    p = -3.5233877e-06f + p * w;
    p = -4.39150654e-06f + p * w;
    p = 0.00021858087f + p * w;
    p = -0.00125372503f + p * w;
    p = -0.00417768164f + p * w;
    p = 0.246640727f + p * w;
    p = 1.50140941f + p * w;
  } else {
    w = sqrt(w) - 3.0f;
    p = -0.000200214257f;
    p = 0.000100950558f + p * w;
    p = 0.00134934322f + p * w;
    p = -0.00367342844f + p * w;
    p = 0.00573950773f + p * w;
    p = -0.0076224613f + p * w;
    p = 0.00943887047f + p * w;
    p = 1.00167406f + p * w;
    p = 2.83297682f + p * w;
  }
  return p * x;
}

// Cephes lgamf: polynomials around 1 and 2, to which arguments below 6.5 are moved; above, Stirling's series.
fn lgamma_positive_f32(value: f32) -> f32 {
  var x = value;
  if (x >= 6.5f) {
    let q = 1.0f / x;
    let z = q * q;
    let tail = q * (8.333333333333333e-2f + z * (-2.777777777777778e-3f + z * 7.936507936507937e-4f));
    return (x - 0.5f) * log(x) - x + 0.918938533204673f + tail;
  }
  if (abs(x - 1.0f) <= 0.25f) {
    let d = x - 1.0f;
    var c = 1.369488127325832e-1f;
    c = c * d - 1.590086327657347e-1f;
    c = c * d + 1.692415923504637e-1f;
    c = c * d - 2.067882815621965e-1f;
    c = c * d + 2.705806208275915e-1f;
    c = c * d - 4.006931650563372e-1f;
    c = c * d + 8.224670749082976e-1f;
    c = c * d - 5.772156501719101e-1f;
    return d * c;
  }
  var product = 1.0f;
  while (x > 2.5f) {
    x -= 1.0f;
    product *= x;
  }
  var divisor = 1.0f;
  while (x < 1.5f) {
    divisor *= x;
    x += 1.0f;
  }
  let d = x - 2.0f;
  var b = 6.055172732649237e-4f;
  b = b * d - 1.311620815545743e-3f;
  b = b * d + 2.863437556468661e-3f;
  b = b * d - 7.366775108654962e-3f;
  b = b * d + 2.058355474821512e-2f;
  b = b * d - 6.735323259371034e-2f;
  b = b * d + 3.224669577325661e-1f;
  b = b * d + 4.227843421859038e-1f;
  return d * b + log(product / divisor);
}

// Logarithm of the absolute value of the gamma function; by reflection below zero, infinite at zero and below where whole.
fn lgamma_f32(x: f32) -> f32 {
  if (isnan_f32(x)) {
    return nan_f32();
  }
  if (isinf_f32(x)) {
    return inf_f32();
  }
  if (x > 0.0f) {
    return lgamma_positive_f32(x);
  }
  if (x == floor(x)) {
    return inf_f32();
  }
  let fraction = x - floor(x);
  return log(3.1415927f / sin_f32(3.1415927f * fraction)) - lgamma_positive_f32(1.0f - x);
}

// Recurrence up to 10, then the asymptotic series; reflection below zero (Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18).
fn digamma_positive_f32(value: f32) -> f32 {
  var x = value;
  var sum = 0.0f;
  while (x < 10.0f) {
    sum -= 1.0f / x;
    x += 1.0f;
  }
  let f = 1.0f / (x * x);
  return sum + log(x) - 0.5f / x - f * (8.333333333333333e-2f - f * (8.333333333333333e-3f - f * 3.968253968253968e-3f));
}

fn digamma_f32(x: f32) -> f32 {
  if (isnan_f32(x) || (x <= 0.0f && x == floor(x))) {
    return nan_f32();
  }
  if (x > 0.0f) {
    return digamma_positive_f32(x);
  }
  return digamma_positive_f32(1.0f - x) - 3.1415927f / tan_f32(3.1415927f * (x - floor(x)));
}
