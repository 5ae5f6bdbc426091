// Helper functions that take the place of those of wgsl.wgsl where PTX is printed, in the same language; see
// crates/compiler/src/codegen/ptx/helper.rs for what of it is read. Without branches: threads of a subgroup run both sides.

// e^x = 2^(x log2 e). The product's rounding error, which a large x makes large, is multiplied back in: (1 + d) 2^t. Outside
// of the range the result is 0 or infinity; a NaN passes through min and max.
fn exp_f32(x: f32) -> f32 {
  let y = max(min(x, 89.0f), -104.0f);
  let t = y * 1.4426950f;
  let d = fma(y, 1.9259630e-8f, fma(y, 1.4426950f, -t));
  return ex2_approx(t) * fma(d, 0.69314718f, 1.0f);
}

// Results below 2^-126 are zero, as WGSL allows: keeping them takes three instructions more than the one.
fn exp2_f32(x: f32) -> f32 {
  return ex2_approx_ftz(x);
}

// N. Juffa's minimax polynomial for log(1 + m) on [2/3, 4/3]: about one unit in the last place.
fn log_f32(x: f32) -> f32 {
  let small = x < 1.17549435e-38f;
  let a = select(x, x * 8388608.0f, small);
  let e = (bitcast<i32>(a) - 0x3f2aaaab) & -8388608;
  let m = bitcast<f32>(bitcast<i32>(a) - e) - 1.0f;
  let i = fma(f32(e), 1.19209290e-7f, select(0.0f, -23.0f, small));
  let s = m * m;
  let u = fma(fma(fma(-0.130310059f, s, -0.121483512f), s, -0.166846126f), s, -0.249996200f);
  let v = fma(fma(0.140869141f, s, 0.139814854f), s, 0.200120345f);
  let r = fma(fma(fma(v, m, u), m, 0.333331972f), m, -0.5f);
  let l = fma(i, 0.693147182f, fma(r, s, m));
  let special = select(select(nan_f32(), neg_inf_f32(), x == 0.0f), x + x, isnan_f32(x) || x > 0.0f);
  return select(special, l, x > 0.0f && x < inf_f32());
}

fn log2_f32(x: f32) -> f32 {
  return log_f32(x) * 1.4426950f;
}

// Below 1/2 the Taylor series to x^9: the next term is under 2^-28 of the sum.
fn expm1_f32(x: f32) -> f32 {
  let p = fma(fma(x, 2.7557319e-6f, 2.4801587e-5f), x, 1.9841270e-4f);
  let q = fma(fma(fma(fma(p, x, 1.3888889e-3f), x, 8.3333333e-3f), x, 4.1666667e-2f), x, 0.16666667f);
  let near = fma(fma(q, x, 0.5f), x * x, x);
  return select(exp_f32(x) - 1.0f, near, abs(x) < 0.5f);
}

// log(u) for u = 1 + x as rounded, plus what the rounding lost: (x - (u - 1)) / u.
fn log1p_f32(x: f32) -> f32 {
  let u = 1.0f + x;
  let lost = (x - (u - 1.0f)) * rcp_approx(u);
  let l = log_f32(u);
  return select(l, l + lost, u > 0.0f && u < 1.0e16f);
}

// One step of Newton's method brings the approximation to the last place. Of what has no reciprocal among finite numbers that are not zero
// it stays as it is: the step would make it NaN.
fn reciprocal_f32(x: f32) -> f32 {
  let r = rcp_approx(x);
  let n = fma(fma(-x, r, 1.0f), r, r);
  return select(r, n, abs(n) < 3.4e38f);
}

// Near zero a polynomial (the one that CUDA's own tanhf uses), else 1 - 2 / (e^2x + 1), which tends to 1 by itself. A NaN is not far.
fn tanh_f32(x: f32) -> f32 {
  let a = abs(x);
  let s = x * x;
  let p = fma(fma(fma(0.015739683f, s, -0.052303962f), s, 0.13315298f), s, -0.33332768f);
  let near = fma(p * s, x, x);
  let far = fma(-2.0f, rcp_approx_ftz(ex2_approx_ftz(a * 2.8853901f) + 1.0f), 1.0f);
  return select(near, copysign_f32(far, x), a >= 0.6f);
}

// N. Juffa's approximations: x + x p(x^2) near zero, 1 - 2^q(|x|) beyond. His q is to the base e; its factors are times log2(e) here. Nothing
// of the result is left of 2^q beyond 4. At most 1.15 units in the last place.
fn erf_f32(x: f32) -> f32 {
  let t = abs(x);
  let m = min(t, 4.0f);
  let n = m * m;
  let b = fma(fma(-2.49374844e-5f, m, 5.52836593e-4f), n, fma(-5.60337615e-3f, m, 3.49920227e-2f));
  let q = fma(fma(fma(b, m, -1.54047914e-1f), m, -9.15890167e-1f), m, -1.62839516f) * m;
  let far = copysign_f32(1.0f - ex2_approx_ftz(q), x);
  let s = x * x;
  let c = fma(fma(fma(-5.96761703e-4f, s, 4.99119423e-3f), s, -2.67681349e-2f), s, 1.12819925e-1f);
  let near = fma(fma(fma(c, s, -3.76125336e-1f), s, 1.28379166e-1f), x, x);
  return select(near, far, t > 0.927734375f);
}

// A sum that is infinite has the reciprocal zero.
fn sigmoid_f32(x: f32) -> f32 {
  return rcp_approx_ftz(ex2_approx_ftz(x * -1.4426950f) + 1.0f);
}

// As WGSL's, without its guard: with the factor of x^8 below zero, q runs to minus infinity and not through a NaN.
fn ndtr_f32(x: f32) -> f32 {
  let m = abs(x);
  let a = fma(fma(-8.459001605842786e-7f, m, 1.4747258319403045e-5f), m, -6.747178849764168e-5f);
  let b = fma(fma(fma(a, m, -4.2014694190584123e-4f), m, 7.416692562401295e-3f), m, -5.271971598267555e-2f);
  let e = ex2_approx_ftz(fma(fma(fma(b, m, -4.591447710990906e-1f), m, -1.1511108875274658f), m, -1.0f));
  return select(1.0f - e, e, x < 0.0f);
}
