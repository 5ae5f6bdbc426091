//! Short-time Fourier transforms. Complex numbers are pairs along a last dimension.

use super::fold::overlap_add;
use super::shape::constant;
use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::prim::Prim;

pub static OPS: &[OpDef] = &[
    op!(
        "stft",
        "Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, \
         str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? return_complex=None",
        "The Fourier transforms of windows of a real signal [.., L], hop_length apart (n_fft / 4 by default): complex numbers \
         [.., frequencies, windows], as pairs.",
        stft
    )
    .full(),
    op!(
        "istft",
        "Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, \
         bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False",
        "The signal whose stft is the input, complex numbers [.., frequencies, windows] as pairs: the inverse transforms added up, over the \
         sum of the squared windows.",
        istft
    )
    .full(),
];

/// Whether a bool that may be left out is set.
fn flag(b: &Builder, a: &Attrs, name: &str, default: bool) -> Result<bool> {
    match a.get(name) {
        None => Ok(default),
        Some(_) => a.bool(name).map_err(|_| b.error(format!("{name} is not a bool"), "use true or false")),
    }
}

/// The length of a transform and the distance between them.
struct Frames {
    n: i64,
    hop: i64,
}

fn frames(b: &Builder, a: &Attrs) -> Result<Frames> {
    let n = a.int("n_fft")?;
    let hop = a.opt_int("hop_length")?.unwrap_or(n / 4);
    if n < 1 || hop < 1 {
        return Err(b.error(format!("n_fft is {n}, hop_length {hop}"), "use numbers of at least 1"));
    }
    Ok(Frames { n, hop })
}

/// The window, in the middle of n elements; ones where there is none.
fn window(b: &mut Builder, x: &[ValueId], a: &Attrs, n: i64) -> Result<ValueId> {
    let length = a.opt_int("win_length")?.unwrap_or(n);
    if !(1..=n).contains(&length) {
        return Err(b.error(format!("win_length is {length} of {n}"), "use a number from 1 to n_fft"));
    }
    let dtype = b.dtype(x[0]);
    let w = match a.tensor(x, "window") {
        Some(w) if b.rank(w) == 1 && b.shape(w)[0].as_const() == Some(length) => b.cast(w, dtype)?,
        Some(w) => {
            let text = format!("the window is {} for {length} elements", b.graph.env.show_shape(&b.shape(w)));
            return Err(b.error(text, "give a vector of win_length elements"));
        }
        None => b.full(&[Dim::Const(length)], 1.0, dtype)?,
    };
    let left = (n - length) / 2;
    b.pad(w, 0, Dim::Const(left), Dim::Const(n - length - left), 0.0)
}

fn norm(normalized: bool, otherwise: &'static str) -> Attrs {
    Attrs::new().with("norm", if normalized { "ortho" } else { otherwise })
}

fn stft(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let Frames { n, hop } = frames(b, a)?;
    let mut v = b.float(x[0])?;
    let rank = b.rank(v);
    if !(1..=2).contains(&rank) {
        return Err(b.error(format!("the input has {rank} dimensions"), "give a signal [L] or a batch [B, L]"));
    }
    let window = window(b, &[&[v], &x[1..]].concat(), a, n)?;
    if rank == 1 {
        v = b.unsqueeze(v, 0)?;
    }
    if a.bool("center")? {
        let pad = Attrs::new().with("pad", vec![n / 2, n / 2]).with("mode", a.str("pad_mode")?);
        v = b.op("pad", &[v], &pad)?[0];
    }
    let have = b.shape(v)[1].clone();
    let have = constant(b, &have)?;
    if have < n {
        return Err(b.error(format!("{have} elements have no window of {n}"), "use a smaller n_fft or a longer signal"));
    }
    let v = b.prim(Prim::Unfold { dim: 1, size: n, step: hop, dilation: 1 }, &[v])?;
    let v = b.mul(v, window)?;
    let attrs = norm(a.bool("normalized")?, "backward");
    let y = if flag(b, a, "onesided", true)? {
        b.op("rfft", &[v], &attrs)?[0]
    } else {
        let zero = b.zeros_like(v)?;
        let z = b.op("complex", &[v, zero], &Attrs::new())?[0];
        b.op("fft", &[z], &attrs)?[0]
    };
    let y = b.transpose(y, 1, 2)?;
    if rank == 2 {
        return Ok(vec![y]);
    }
    let shape = b.shape(y)[1..].to_vec();
    Ok(vec![b.reshape(y, shape)?])
}

fn istft(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let Frames { n, hop } = frames(b, a)?;
    let rank = b.rank(x[0]);
    if !(3..=4).contains(&rank) || b.shape(x[0])[rank - 1].as_const() != Some(2) {
        return Err(b.error("the input is not complex numbers [.., frequencies, windows]", "give pairs along a last dimension"));
    }
    let window = window(b, x, a, n)?;
    let v = if rank == 3 { b.unsqueeze(x[0], 0)? } else { x[0] };
    let shape = b.shape(v);
    let (frequencies, count) = (constant(b, &shape[1])?, constant(b, &shape[2])?);
    let whole = a.bool("return_complex")?;
    let onesided = flag(b, a, "onesided", frequencies != n)?;
    if frequencies != if onesided { n / 2 + 1 } else { n } || count < 1 || (onesided && whole) {
        let text = format!("{frequencies} frequencies in {count} windows");
        return Err(b.error(text, format!("give {} frequencies, or all {n} and onesided false, for complex results", n / 2 + 1)));
    }
    let v = b.transpose(v, 1, 2)?;
    let attrs = norm(a.bool("normalized")?, "backward");
    let mut parts = Vec::new();
    if whole {
        let z = b.op("ifft", &[v], &attrs)?[0];
        for name in ["real", "imag"] {
            parts.push(b.op(name, &[z], &Attrs::new())?[0]);
        }
    } else {
        // A real signal is said by the first half of all frequencies.
        let v = b.narrow(v, 2, Dim::ZERO, Dim::Const(n / 2 + 1))?;
        parts.push(b.op("irfft", &[v], &attrs.with("n", n))?[0]);
    }
    let square = b.mul(window, window)?;
    let square = b.broadcast_to(square, &[Dim::ONE, Dim::Const(count), Dim::Const(n)])?;
    let envelope = overlap_add(b, square, hop)?;
    let total = n + hop * (count - 1);
    let start = if a.bool("center")? { n / 2 } else { 0 };
    let length = match a.opt_int("length")? {
        Some(l) if l >= 0 => l,
        Some(l) => return Err(b.error(format!("length is {l}"), "use zero or more")),
        None => total - 2 * start,
    };
    if length < 1 || start >= total {
        return Err(b.error(format!("{count} windows of {n} leave no signal"), "give more windows"));
    }
    let kept = length.min(total - start);
    for part in &mut parts {
        let w = b.mul(*part, window)?;
        let y = overlap_add(b, w, hop)?;
        let (y, e) = (b.narrow(y, 1, Dim::Const(start), Dim::Const(kept))?, b.narrow(envelope, 1, Dim::Const(start), Dim::Const(kept))?);
        let y = b.div(y, e)?;
        // What is asked for beyond the last window is zero.
        let y = b.pad(y, 1, Dim::ZERO, Dim::Const(length - kept), 0.0)?;
        *part = if rank == 3 { b.reshape(y, vec![Dim::Const(length)])? } else { y };
    }
    match parts[..] {
        [re, im] => b.op("complex", &[re, im], &Attrs::new()),
        _ => Ok(parts),
    }
}
