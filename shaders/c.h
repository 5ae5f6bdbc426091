// Helper functions that generated C calls. A unit copies only those that its kernels use (crates/compiler/src/codegen/c/prelude.rs).
// A declaration starts at the left margin and ends before the next blank line; every name ends in the type that it works on.
//
// Functions that training calls for every element have no branches and no calls, so that GCC and Clang vectorise the loops around
// them: both sides of a choice are computed. They are built with -fwrapv (integers wrap) and without -ffast-math (NaN and infinity
// count). The others are the C library's, by the names that compilers know.
//
// Polynomials marked "Cephes" are from Stephen L. Moshier's Cephes library, single precision (netlib.org/cephes): relative errors of a
// few units in the last place.

static inline u32 bits_f32(f32 x) { u32 u; __builtin_memcpy(&u, &x, 4); return u; }

static inline f32 from_bits_f32(u32 u) { f32 x; __builtin_memcpy(&x, &u, 4); return x; }

// One of two by its bits, of a condition that is zero or one: GCC makes no jumps of these.
static inline f32 pick_f32(i32 c, f32 a, f32 b) { u32 m = -(u32)c; return from_bits_f32((bits_f32(a) & m) | (bits_f32(b) & ~m)); }

static inline i32 pick_i32(i32 c, i32 a, i32 b) { return (a & -c) | (b & ~-c); }

static inline u32 pick_u32(i32 c, u32 a, u32 b) { u32 m = -(u32)c; return (a & m) | (b & ~m); }

static inline f32 rsqrt_f32(f32 x) { return 1.0f / __builtin_sqrtf(x); }

static inline i32 isnan_f32(f32 x) { return x != x; }

static inline i32 isinf_f32(f32 x) { return __builtin_fabsf(x) == __builtin_inff(); }

// ---- narrow floats: values are kept as the f32 that they round to ----

// To f16, ties to even. Above 65520 is infinity; below 2^-14 the spacing is 2^-24.
static inline f32 round_f16_f32(f32 x) {
  u32 bits = bits_f32(x), magnitude = bits & 0x7fffffffu, sign = bits & 0x80000000u;
  f32 steps = __builtin_rintf(from_bits_f32(magnitude) * 16777216.0f) * 5.9604644775390625e-8f;
  u32 usual = (bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u;
  u32 out = magnitude < 0x38800000u ? sign | bits_f32(steps) : usual;
  out = magnitude >= 0x477ff000u ? sign | 0x7f800000u : out;
  return from_bits_f32(magnitude > 0x7f800000u ? bits | 0x400000u : out);
}

// f16 in memory. Subnormal numbers are multiples of 2^-24.
static inline f32 widen_f16(u16 h) {
  u32 magnitude = h & 0x7fffu, bits = (magnitude << 13) + (magnitude >= 0x7c00u ? 0x70000000u : 0x38000000u);
  bits = magnitude < 0x400u ? bits_f32((f32)(i32)magnitude * 5.9604644775390625e-8f) : bits;
  return from_bits_f32(bits | (u32)(h & 0x8000u) << 16);
}

// Of a value that f16 has.
static inline u16 narrow_f16(f32 x) {
  u32 bits = bits_f32(x), magnitude = bits & 0x7fffffffu;
  u32 small = (u32)(i32)(from_bits_f32(magnitude < 0x38800000u ? magnitude : 0u) * 16777216.0f);
  u32 out = magnitude < 0x38800000u ? small : (magnitude - 0x38000000u) >> 13;
  out = magnitude >= 0x7f800000u ? (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u) : out;
  return (u16)(out | (bits >> 16 & 0x8000u));
}

// To bf16, ties to even: the upper half of the bits. A carry out of the largest value gives infinity.
static inline f32 round_bf16_f32(f32 x) {
  u32 bits = bits_f32(x), rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  return from_bits_f32((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded);
}

// bf16 in memory.
static inline f32 widen_bf16(u16 h) { return from_bits_f32((u32)h << 16); }

// Of a value that bf16 has.
static inline u16 narrow_bf16(f32 x) { return (u16)(bits_f32(x) >> 16); }

// ---- integers: division truncates and is zero by zero; -2^31 / -1 wraps ----

static inline i32 div_i32(i32 a, i32 b) { return b == 0 ? 0 : b == -1 ? (i32)(0u - (u32)a) : a / b; }

static inline u32 div_u32(u32 a, u32 b) { return b == 0 ? 0 : a / b; }

static inline i32 fmod_i32(i32 a, i32 b) { return b == 0 || b == -1 ? 0 : a % b; }

static inline u32 fmod_u32(u32 a, u32 b) { return b == 0 ? 0 : a % b; }

static inline i32 floor_div_i32(i32 a, i32 b) {
  i32 q = div_i32(a, b), r = fmod_i32(a, b);
  return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
}

static inline i32 abs_i32(i32 x) { return x < 0 ? (i32)(0u - (u32)x) : x; }

static inline i32 sign_i32(i32 x) { return (x > 0) - (x < 0); }

static inline u32 sign_u32(u32 x) { return x != 0; }

static inline i32 max_i32(i32 a, i32 b) { return a > b ? a : b; }

static inline i32 min_i32(i32 a, i32 b) { return a < b ? a : b; }

static inline u32 max_u32(u32 a, u32 b) { return a > b ? a : b; }

static inline u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }

static inline i32 shl_i32(i32 a, i32 n) { return (i32)((u32)a << (n & 31)); }

// ---- conversions and random bits ----

// Towards zero, modulo 2^32; what is not finite gives zero. From 2^63 on every f32 is a multiple of 2^32.
static inline i32 to_i32_f32(f32 x) {
  f32 inside = __builtin_fabsf(x) < 9223372036854775808.0f ? x : 0.0f;
  return (i32)(u32)(u64)(i64)inside;
}

static inline u32 to_u32_f32(f32 x) { return (u32)to_i32_f32(x); }

static inline u32 rotate_u32(u32 x, u32 n) { return x << n | x >> (32 - n); }

// Threefry-2x32 with 20 rounds (Salmon et al., SC 2011): what the masks leave of the two output words, combined by exclusive or.
static inline u32 threefry_masked_u32(u32 k0, u32 k1, u32 c0, u32 c1, u32 first, u32 second) {
  u32 k2 = k0 ^ k1 ^ 0x1bd11bdau, x = c0 + k0, y = c1 + k1;
#define R(n) x += y; y = rotate_u32(y, n) ^ x;
  R(13) R(15) R(26) R(6) x += k1; y += k2 + 1;
  R(17) R(29) R(16) R(24) x += k2; y += k0 + 2;
  R(13) R(15) R(26) R(6) x += k0; y += k1 + 3;
  R(17) R(29) R(16) R(24) x += k1; y += k2 + 4;
  R(13) R(15) R(26) R(6) x += k2; y += k0 + 5;
#undef R
  return (x & first) ^ (y & second);
}

static inline u32 threefry_u32(u32 k0, u32 k1, u32 c0, u32 c1) { return threefry_masked_u32(k0, k1, c0, c1, ~0u, ~0u); }

static inline u32 threefry_word_u32(u32 k0, u32 k1, u32 c0, u32 c1, u32 word) {
  return threefry_masked_u32(k0, k1, c0, c1, (word & 1) - 1, 0 - (word & 1));
}

// ---- floats: comparison, sign, remainder ----

// NaN in either operand gives NaN: a comparison with it is false, which leaves the second.
// The second is often a literal: what is left then is one instruction, where a comparison more would be a branch that data decides.
static inline f32 max_f32(f32 a, f32 b) { return (b > a) | (b != b) ? b : a; }

static inline f32 min_f32(f32 a, f32 b) { return (b < a) | (b != b) ? b : a; }

#pragma omp declare reduction(reduce_max_f32 : f32 : omp_out = max_f32(omp_out, omp_in)) initializer(omp_priv = -__builtin_inff())

#pragma omp declare reduction(reduce_min_f32 : f32 : omp_out = min_f32(omp_out, omp_in)) initializer(omp_priv = __builtin_inff())

static inline f32 sign_f32(f32 x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }

// ---- floats: exponentials and logarithms ----

// 2^n for -126 <= n <= 127.
static inline f32 power_of_two_f32(i32 n) { return from_bits_f32((u32)(n + 127) << 23); }

// x * 2^n, also where 2^n is no f32.
static inline f32 scale_f32(f32 x, i32 n) { return x * power_of_two_f32(n >> 1) * power_of_two_f32(n - (n >> 1)); }

// Cephes: x = n ln 2 + r, and a polynomial for (e^r - 1 - r) / r^2. The nearest whole number is what adding 1.5 * 2^23 leaves.
static inline f32 exp_tail_f32(f32 r) {
  f32 p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  return p * r + 5.0000001201e-1f;
}

static inline f32 exp_f32(f32 x) {
  f32 c = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
  f32 t = c * 1.44269504088896341f + 12582912.0f, n = t - 12582912.0f;
  f32 r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
  return scale_f32(exp_tail_f32(r) * (r * r) + r + 1.0f, (i32)(bits_f32(t) - 0x4b400000u));
}

static inline f32 exp2_f32(f32 x) {
  f32 c = x < -150.0f ? -150.0f : x > 129.0f ? 129.0f : x;
  f32 t = c + 12582912.0f, n = t - 12582912.0f;
  f32 r = (c - n) * 0.693147180559945309f;
  return scale_f32(exp_tail_f32(r) * (r * r) + r + 1.0f, (i32)(bits_f32(t) - 0x4b400000u));
}

// As exp, with the one taken away before the scaling: 2^n (e^r - 2^-n).
static inline f32 expm1_f32(f32 x) {
  f32 c = x < -20.0f ? -20.0f : x > 89.0f ? 89.0f : x;
  f32 t = c * 1.44269504088896341f + 12582912.0f, n = t - 12582912.0f;
  f32 r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
  i32 k = (i32)(bits_f32(t) - 0x4b400000u);
  f32 one = k > 60 ? 0.0f : power_of_two_f32(-k);
  return scale_f32(exp_tail_f32(r) * (r * r) + r + (1.0f - one), k);
}

// Cephes: the mantissa between sqrt(1/2) and sqrt(2), and a polynomial in its distance from one.
static inline f32 log_f32(f32 x) {
  i32 small = x < 1.17549435e-38f;
  u32 u = bits_f32(small ? x * 8388608.0f : x);
  i32 e = (i32)(u - 0x3f3504f3u) >> 23;
  f32 f = from_bits_f32(u - ((u32)e << 23)) - 1.0f, n = (f32)(small ? e - 23 : e), z = f * f;
  f32 p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  f32 y = p * f * z - n * 2.12194440e-4f - 0.5f * z;
  f32 r = f + y + n * 0.693359375f;
  r = x == __builtin_inff() ? x : r;
  return x > 0.0f ? r : x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
}

static inline f32 log2_f32(f32 x) { return log_f32(x) * 1.44269504088896341f; }

// What 1 + x loses of x is put back: d log(u) = du / u.
static inline f32 log1p_f32(f32 x) {
  f32 u = 1.0f + x, lost = (x - (u - 1.0f)) / u;
  f32 r = log_f32(u);
  return (u > 0.0f) & (u < __builtin_inff()) ? r + lost : r;
}

// x P(x^2) / Q(x^2), as Eigen has it (MathFunctionsImpl, generic_fast_tanh_float): from 7.905 on it is one; where x^2 is lost beside
// one it is x.
static inline f32 tanh_f32(f32 x) {
  f32 c = x < -7.90531110763549805f ? -7.90531110763549805f : x > 7.90531110763549805f ? 7.90531110763549805f : x, z = c * c;
  f32 p = -2.76076847742355e-16f;
  p = p * z + 2.00018790482477e-13f;
  p = p * z - 8.60467152213735e-11f;
  p = p * z + 5.12229709037114e-08f;
  p = p * z + 1.48572235717979e-05f;
  p = p * z + 6.37261928875436e-04f;
  p = p * z + 4.89352455891786e-03f;
  f32 q = 1.19825839466702e-06f;
  q = q * z + 1.18534705686654e-04f;
  q = q * z + 2.26843463243900e-03f;
  q = q * z + 4.89352518554385e-03f;
  return z < 1.6e-7f ? x : c * p / q;
}

// e^-x is infinite or zero where it leaves the range: the quotient is zero or one.
static inline f32 sigmoid_f32(f32 x) {
  return 1.0f / (1.0f + exp_f32(-x));
}

// ---- floats: trigonometric functions ----

// 2^k * 2/pi less the nearest multiple of four, for k from 0 to 104, in units of 2^-27: 28 bits, so that products with the 24 of an f32 are
// exact; and the rest. Two tables, since GCC gathers from those of one dimension.
static const f64 turns_f64[] = {
  85445659, 170891319, -195088274, 146694364, -243482185, 49906542, 99813085, 199626169, -137618574, 261633765, -13603382, -27206764,
  -54413529, -108827058, -217654115, 101562681, 203125362, -130620188, -261240375, 14390161, 28780322, 57560644, 115121288, 230242576,
  -76385759, -152771519, 231327875, -74215163, -148430325, 240010261, -56850390, -113700779, -227401559, 82067795, 164135589,
  -208599734, 119671445, 239342890, -58185132, -116370264, -232740528, 71389856, 142779712, -251311489, 34247934, 68495868, 136991736,
  -262887439, 11096033, 22192066, 44384133, 88768266, 177536532, -181797849, 173275215, -190320483, 156229947, -224411019, 88048875,
  176097750, -184675412, 167520088, -201830736, 133209439, 266418879, -4033155, -8066310, -16132620, -32265239, -64530478, -129060956,
  -258121912, 20627088, 41254175, 82508351, 165016701, -206837509, 123195893, 246391786, -44087339, -88174678, -176349357, 184172199,
  -168526515, 199817882, -137235147, 262400618, -12069677, -24139353, -48278706, -96557412, -193114825, 150641263, -235588386,
  65694140, 131388279, 262776558, -11317796, -22635592, -45271184, -90542368, -181084735, 174701442, -187468029, 161934855};

static const f64 rest_f64[] = {
  0x1.c9c882a53f84fp-29, -0x1.b1bbead603d8bp-31, -0x1.b1bbead603d8bp-30, -0x1.b1bbead603d8bp-29, 0x1.391054a7f09d6p-30,
  0x1.391054a7f09d6p-29, -0x1.8ddf56b01ec54p-29, 0x1.c882a53f84eb0p-30, 0x1.c882a53f84eb0p-29, -0x1.bbead603d8a83p-31,
  -0x1.bbead603d8a83p-30, -0x1.bbead603d8a83p-29, 0x1.1054a7f09d5f4p-30, 0x1.1054a7f09d5f4p-29, -0x1.df56b01ec5417p-29,
  0x1.054a7f09d5f48p-31, 0x1.054a7f09d5f48p-30, 0x1.054a7f09d5f48p-29, -0x1.f56b01ec54170p-29, 0x1.529fc2757d1f5p-33,
  0x1.529fc2757d1f5p-32, 0x1.529fc2757d1f5p-31, 0x1.529fc2757d1f5p-30, 0x1.529fc2757d1f5p-29, -0x1.5ac07b1505c16p-29,
  0x1.4a7f09d5f47d5p-29, -0x1.6b01ec5417056p-29, 0x1.29fc2757d1f53p-29, -0x1.ac07b1505c159p-29, 0x1.4fe13abe8fa9ap-30,
  0x1.4fe13abe8fa9ap-29, -0x1.603d8a82e0acbp-29, 0x1.3f84eafa3ea6ap-29, -0x1.80f62a0b82b2dp-29, 0x1.fc2757d1f534ep-30,
  0x1.fc2757d1f534ep-29, -0x1.ec54170565912p-35, -0x1.ec54170565912p-34, -0x1.ec54170565912p-33, -0x1.ec54170565912p-32,
  -0x1.ec54170565912p-31, -0x1.ec54170565912p-30, -0x1.ec54170565912p-29, 0x1.3abe8fa9a6ee0p-32, 0x1.3abe8fa9a6ee0p-31,
  0x1.3abe8fa9a6ee0p-30, 0x1.3abe8fa9a6ee0p-29, -0x1.8a82e0acb223fp-29, 0x1.d5f47d4d37703p-30, 0x1.d5f47d4d37703p-29,
  -0x1.505c1596447e5p-31, -0x1.505c1596447e5p-30, -0x1.505c1596447e5p-29, 0x1.5f47d4d377037p-29, -0x1.4170565911f92p-29,
  0x1.7d1f534ddc0dbp-29, -0x1.05c1596447e49p-29, 0x1.f47d4d377036ep-29, -0x1.70565911f924fp-33, -0x1.70565911f924fp-32,
  -0x1.70565911f924fp-31, -0x1.70565911f924fp-30, -0x1.70565911f924fp-29, 0x1.1f534ddc0db63p-29, -0x1.c1596447e493bp-29,
  0x1.f534ddc0db629p-31, 0x1.f534ddc0db629p-30, 0x1.f534ddc0db629p-29, -0x1.596447e493ad5p-33, -0x1.596447e493ad5p-32,
  -0x1.596447e493ad5p-31, -0x1.596447e493ad5p-30, -0x1.596447e493ad5p-29, 0x1.4d377036d8a56p-29, -0x1.65911f924eb53p-29,
  0x1.34ddc0db6295ap-29, -0x1.96447e493ad4dp-29, 0x1.a6ee06db14acdp-30, 0x1.a6ee06db14acdp-29, -0x1.6447e493ad4cep-30,
  -0x1.6447e493ad4cep-29, 0x1.377036d8a5665p-29, -0x1.911f924eb5336p-29, 0x1.bb81b6c52b328p-30, 0x1.bb81b6c52b328p-29,
  -0x1.11f924eb53362p-30, -0x1.11f924eb53362p-29, 0x1.dc0db6295993cp-29, -0x1.1f924eb53361ep-31, -0x1.1f924eb53361ep-30,
  -0x1.1f924eb53361ep-29, 0x1.c0db6295993c4p-29, -0x1.f924eb53361dep-31, -0x1.f924eb53361dep-30, -0x1.f924eb53361dep-29,
  0x1.b6c52b3278872p-34, 0x1.b6c52b3278872p-33, 0x1.b6c52b3278872p-32, 0x1.b6c52b3278872p-31, 0x1.b6c52b3278872p-30,
  0x1.b6c52b3278872p-29, -0x1.24eb53361de38p-30, -0x1.24eb53361de38p-29, 0x1.b6295993c4390p-29, -0x1.275a99b0ef1bfp-30};

// The nearest multiple of pi/2, or one of its neighbours where they are nearly as near, and what is left of x. As M. Payne and R. Hanek,
// "Radian reduction for trigonometric functions", 1983, with the bits of 2/pi that count looked up by the exponent; without branches.
// Infinity and NaN give NaN.
static inline f64 angle_f32(f32 x, u32 *quadrant) {
  i32 k = (i32)(bits_f32(x) >> 23 & 255) - 150;
  k = k < 0 ? 0 : k > 104 ? 104 : k;
  f64 m = (f64)(x * power_of_two_f32(-k)), q = m * (turns_f64[k] * 7.450580596923828125e-9), t = q + 6755399441055744.0;
  u64 bits;
  __builtin_memcpy(&bits, &t, 8);
  *quadrant = (u32)bits;
  return (q - (t - 6755399441055744.0) + m * rest_f64[k]) * 1.57079632679489661923;
}

// Taylor series: to 0.89 the next terms are below 2^-34. What is left is rounded once, so that differences of sines keep their digits.
static inline f64 sin_core_f32(f64 r) {
  f64 z = r * r;
  return r + r * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 - z * (1.0 / 39916800)))));
}

static inline f64 cos_core_f32(f64 r) {
  f64 z = r * r;
  return 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600))))));
}

static inline f32 sin_f32(f32 x) {
  u32 q;
  f64 r = angle_f32(x, &q), s = sin_core_f32(r), c = cos_core_f32(r), v = q & 1 ? c : s;
  return (f32)(q & 2 ? -v : v);
}

static inline f32 cos_f32(f32 x) {
  u32 q;
  f64 r = angle_f32(x, &q), s = sin_core_f32(r), c = cos_core_f32(r), v = q & 1 ? s : c;
  return (f32)((q + 1) & 2 ? -v : v);
}

static inline f32 tan_f32(f32 x) {
  u32 q;
  f64 r = angle_f32(x, &q), s = sin_core_f32(r), c = cos_core_f32(r);
  return (f32)(q & 1 ? -c / s : s / c);
}

// ---- floats: special functions ----

// x P(x^2) / Q(x^2), as Eigen has it (unsupported/SpecialFunctions, generic_fast_erf_float); from 4 on it is one.
static inline f32 erf_f32(f32 x) {
  f32 c = x < -4.0f ? -4.0f : x > 4.0f ? 4.0f : x, z = c * c;
  f32 p = -2.72614225801306e-10f;
  p = p * z + 2.77068142495902e-08f;
  p = p * z - 2.10102402082508e-06f;
  p = p * z - 5.69250639462346e-05f;
  p = p * z - 7.34990630326855e-04f;
  p = p * z - 2.95459980854025e-03f;
  p = p * z - 1.60960333262415e-02f;
  f32 q = -1.45660718464996e-05f;
  q = q * z - 2.13374055278905e-04f;
  q = q * z - 1.68282697438203e-03f;
  q = q * z - 7.37332916720468e-03f;
  q = q * z - 1.42647390514189e-02f;
  return c * p / q;
}

// The standard normal distribution up to x.
static inline f32 ndtr_f32(f32 x) {
  return 0.5f + 0.5f * erf_f32(x * 0.707106781f);
}

// M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade, 2011: the single precision polynomials.
static inline f32 erfinv_f32(f32 x) {
  f32 a = __builtin_fabsf(x), w = -log1p_f32(-x * x), v = w - 2.5f, s = __builtin_sqrtf(w) - 3.0f;
  f32 p = 2.81022636e-08f;
  p = 3.43273939e-07f + p * v;
  p = -3.5233877e-06f + p * v;
  p = -4.39150654e-06f + p * v;
  p = 0.00021858087f + p * v;
  p = -0.00125372503f + p * v;
  p = -0.00417768164f + p * v;
  p = 0.246640727f + p * v;
  p = 1.50140941f + p * v;
  f32 q = -0.000200214257f;
  q = 0.000100950558f + q * s;
  q = 0.00134934322f + q * s;
  q = -0.00367342844f + q * s;
  q = 0.00573950773f + q * s;
  q = -0.0076224613f + q * s;
  q = 0.00943887047f + q * s;
  q = 1.00167406f + q * s;
  q = 2.83297682f + q * s;
  f32 r = (w < 5.0f ? p : q) * x;
  r = a == 1.0f ? __builtin_copysignf(__builtin_inff(), x) : r;
  return a <= 1.0f ? r : __builtin_nanf("");
}

extern float lgammaf_r(float, int *);

static inline f32 lgamma_f32(f32 x) { i32 sign; return lgammaf_r(x, &sign); }

// Recurrence up to 10, then the asymptotic series; reflection below zero (Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18).
static inline f32 digamma_positive_f32(f32 x) {
  f32 sum = 0.0f;
  while (x < 10.0f) {
    sum -= 1.0f / x;
    x += 1.0f;
  }
  f32 f = 1.0f / (x * x);
  return sum + log_f32(x) - 0.5f / x - f * (8.333333333333333e-2f - f * (8.333333333333333e-3f - f * 3.968253968253968e-3f));
}

static inline f32 digamma_f32(f32 x) {
  if (x != x || (x <= 0.0f && x == __builtin_floorf(x))) return __builtin_nanf("");
  if (x > 0.0f) return digamma_positive_f32(x);
  return digamma_positive_f32(1.0f - x) - 3.1415927f / tan_f32(3.1415927f * (x - __builtin_floorf(x)));
}

// ---- moving data ----

// to[i * columns + j] = from[j * stride + i], eight by eight in registers: numbers, pairs and fours of them change places. The number of
// columns is a multiple of eight.
static inline void transpose_f32(f32 *to, i64 columns, const f32 *from, i64 stride, i64 depth) {
  typedef f32 v8 __attribute__((vector_size(32), aligned(4), may_alias));
#define ROW(r) v8 a##r = *(const v8 *)(x + r * stride);
#define ONES(p, q, r, s) v8 p = __builtin_shufflevector(r, s, 0, 8, 1, 9, 4, 12, 5, 13), q = __builtin_shufflevector(r, s, 2, 10, 3, 11, 6, 14, 7, 15);
#define TWOS(p, q, r, s) v8 p = __builtin_shufflevector(r, s, 0, 1, 8, 9, 4, 5, 12, 13), q = __builtin_shufflevector(r, s, 2, 3, 10, 11, 6, 7, 14, 15);
#define FOURS(k, r, s) *(v8 *)(y + k * columns) = __builtin_shufflevector(r, s, 0, 1, 2, 3, 8, 9, 10, 11); *(v8 *)(y + (k + 4) * columns) = __builtin_shufflevector(r, s, 4, 5, 6, 7, 12, 13, 14, 15);
  i64 whole = depth & ~7ll;
  for (i64 j = 0; j < columns; j += 8) {
    for (i64 i = 0; i < whole; i += 8) {
      const f32 *x = from + j * stride + i;
      f32 *y = to + i * columns + j;
      ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)
      ONES(b0, b1, a0, a1) ONES(b2, b3, a2, a3) ONES(b4, b5, a4, a5) ONES(b6, b7, a6, a7)
      TWOS(c0, c1, b0, b2) TWOS(c2, c3, b1, b3) TWOS(c4, c5, b4, b6) TWOS(c6, c7, b5, b7)
      FOURS(0, c0, c4) FOURS(1, c1, c5) FOURS(2, c2, c6) FOURS(3, c3, c7)
    }
    for (i64 i = whole; i < depth; i += 1)
      for (i64 k = j; k < j + 8; k += 1) to[i * columns + k] = from[k * stride + i];
  }
#undef ROW
#undef ONES
#undef TWOS
#undef FOURS
}
