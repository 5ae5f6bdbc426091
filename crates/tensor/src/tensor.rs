//! The tensor: an immutable value on a device, on the host until a kernel needs it, or a name in a trace.

use crate::autograd::modified::Overwritten;
use crate::autograd::{FREED, Grad, Leaf};
use crate::device::{Device, fresh_id};
use crate::element::Element;
use crate::host::{Fill, HostData};
use crate::random;
use crate::shape::IntoDims;
use crate::trace::{self, Slot};
use aludel_ir::prim::MAX_NUMEL;
use aludel_ir::{DType, Dim, Error, Result, TensorType};
use aludel_runtime::{Argument, Memory, Storage};
use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// A tensor. Clones share the value; no operator changes it.
#[derive(Clone)]
pub struct Tensor {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub device: Device,
    pub ty: TensorType,
    pub data: Data,
    pub grad: Option<Grad>,
    /// In a trace: derived from something that requires a gradient while none was to be recorded. Where such a value meets recording
    /// again, the graph gets a `detach`.
    pub cut: bool,
    /// Set when an object with this value was written over in place.
    pub overwritten: OnceLock<Box<Overwritten>>,
}

#[derive(Clone)]
pub(crate) enum Data {
    Host(Arc<HostData>),
    Device {
        storage: Storage,
        /// Set for a range of a state block.
        place: Option<Place>,
    },
    Traced(Arc<Slot>),
    /// On the tape, where the derivative does not read the value.
    Freed,
}

/// Which range of which state block a tensor was made for.
#[derive(Clone)]
pub(crate) struct Place {
    pub block: Arc<Block>,
    pub index: usize,
}

/// A state block. A range may be evacuated, so a tensor is in the block only while it holds the range's present handle.
pub(crate) struct Block {
    pub ranges: Mutex<Vec<Weak<dyn Memory>>>,
}

// ---- making tensors ----

impl Tensor {
    pub(crate) fn make(device: Device, ty: TensorType, data: Data, grad: Option<Grad>) -> Tensor {
        Tensor { inner: Arc::new(Inner { device, ty, data, grad, cut: false, overwritten: OnceLock::new() }) }
    }

    pub(crate) fn host(device: &Device, ty: TensorType, words: Vec<u32>) -> Tensor {
        Self::make(device.clone(), ty, Data::Host(Arc::new(HostData::given(words))), None)
    }

    // `n` values of a shape that was checked, made when they are first read.
    fn filled(device: &Device, dtype: DType, shape: Vec<Dim>, fill: Fill, n: usize) -> Tensor {
        Self::make(device.clone(), TensorType { dtype, shape }, Data::Host(Arc::new(HostData::filled(fill, n))), None)
    }

    pub(crate) fn on_device(device: &Device, ty: TensorType, storage: Storage) -> Tensor {
        Self::make(device.clone(), ty, Data::Device { storage, place: None }, None)
    }

    /// A tensor with a type and no value.
    pub(crate) fn stand_in(device: &Device, ty: TensorType) -> Tensor {
        Self::make(device.clone(), ty, Data::Freed, None)
    }

    /// A tensor of the values in row-major order.
    ///
    /// # Errors
    ///
    /// When the shape does not have as many elements as there are values, has a size that is not a number, or more elements than the device
    /// can hold.
    pub fn from_slice<T: Element>(device: &Device, values: &[T], shape: impl IntoDims) -> Result<Tensor> {
        let dims = shape.into_dims();
        let n = numel("from_slice", &dims, device)?;
        if n != values.len() {
            return Err(Error::invalid(
                "from_slice",
                format!("{} values do not fill the shape {}", values.len(), show(&dims)),
                format!("give {n} values or another shape"),
            ));
        }
        let words = values.iter().map(|v| v.to_word()).collect();
        Ok(Self::host(device, TensorType { dtype: T::DTYPE, shape: dims }, words))
    }

    /// As [`Tensor::from_slice`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::from_slice`].
    pub fn from_vec<T: Element>(device: &Device, values: Vec<T>, shape: impl IntoDims) -> Result<Tensor> {
        Self::from_slice(device, &values, shape)
    }

    /// A tensor without dimensions.
    pub fn scalar<T: Element>(device: &Device, value: T) -> Tensor {
        Self::host(device, TensorType::scalar(T::DTYPE), vec![value.to_word()])
    }

    /// A tensor of one value.
    ///
    /// # Errors
    ///
    /// When the shape has a size that is negative or no number, or more elements than the device can hold.
    pub fn full(device: &Device, shape: impl IntoDims, value: f64, dtype: DType) -> Result<Tensor> {
        let dims = shape.into_dims();
        let n = numel("full", &dims, device)?;
        let word = aludel_runtime::encode(&[value], dtype)[0];
        Ok(Self::filled(device, dtype, dims, Fill::Word(word), n))
    }

    /// Zeros of type f32.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn zeros(device: &Device, shape: impl IntoDims) -> Result<Tensor> {
        Self::full(device, shape, 0.0, DType::F32)
    }

    /// Ones of type f32.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn ones(device: &Device, shape: impl IntoDims) -> Result<Tensor> {
        Self::full(device, shape, 1.0, DType::F32)
    }

    /// f32 values spread evenly over `[0, 1)`, the same for the same seed on every device.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn rand(device: &Device, shape: impl IntoDims, seed: u64) -> Result<Tensor> {
        Self::uniform(device, shape, 0.0, 1.0, seed)
    }

    /// f32 values spread evenly over `[low, high)`, the same for the same seed on every device.
    ///
    /// # Errors
    ///
    /// When a bound is not finite or `low` is above `high`; else as [`Tensor::full`].
    pub fn uniform(device: &Device, shape: impl IntoDims, low: f64, high: f64, seed: u64) -> Result<Tensor> {
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return Err(Error::invalid("uniform", format!("no numbers from {low} to {high}"), "give a lower and an upper bound"));
        }
        let dims = shape.into_dims();
        let n = numel("rand", &dims, device)?;
        Ok(Self::filled(device, DType::F32, dims, Fill::Uniform { seed, low, high }, n))
    }

    /// f32 values of the standard normal distribution, the same for the same seed on every device.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn randn(device: &Device, shape: impl IntoDims, seed: u64) -> Result<Tensor> {
        Self::normal(device, shape, 0.0, 1.0, seed)
    }

    /// f32 values of a normal distribution, the same for the same seed on every device.
    ///
    /// # Errors
    ///
    /// When `mean` or `std` is not finite or `std` is negative; else as [`Tensor::full`].
    pub fn normal(device: &Device, shape: impl IntoDims, mean: f64, std: f64, seed: u64) -> Result<Tensor> {
        if !(mean.is_finite() && std.is_finite() && std >= 0.0) {
            let problem = format!("no normal distribution has the mean {mean} and the standard deviation {std}");
            return Err(Error::invalid("normal", problem, "give finite numbers, the deviation at least 0"));
        }
        let dims = shape.into_dims();
        let n = numel("normal", &dims, device)?;
        Ok(Self::filled(device, DType::F32, dims, Fill::Normal { seed, mean, std }, n))
    }

    /// f32 values of the normal distribution around zero without what lies beyond two standard deviations, the same for the same seed
    /// on every device.
    ///
    /// # Errors
    ///
    /// When `std` is negative or not finite; else as [`Tensor::full`].
    pub fn truncated_normal(device: &Device, shape: impl IntoDims, std: f64, seed: u64) -> Result<Tensor> {
        if !(std.is_finite() && std >= 0.0) {
            let problem = format!("no normal distribution has the standard deviation {std}");
            return Err(Error::invalid("truncated_normal", problem, "give a finite number of at least 0"));
        }
        let dims = shape.into_dims();
        let n = numel("truncated_normal", &dims, device)?;
        Ok(Self::filled(device, DType::F32, dims, Fill::TruncatedNormal { seed, std }, n))
    }

    /// The same values with zeros in one slice of the first dimension. It is for making parameters: not recorded for differentiation, and
    /// values that nobody has read yet stay unmade.
    ///
    /// # Errors
    ///
    /// When the tensor has no such row (one without dimensions has none), or is traced and has no values yet.
    pub fn with_zero_row(&self, row: usize) -> Result<Tensor> {
        let rows = self.shape().first().copied().unwrap_or(0);
        if row >= rows {
            return Err(Error::op("with_zero_row", self.to_string(), format!("there is no row {row}"), format!("give one below {rows}")));
        }
        let width = self.numel() / rows;
        let range = row * width..(row + 1) * width;
        let host = match &self.inner.data {
            Data::Host(h) => h.with_zeros(range),
            _ => HostData::given(self.words()?.to_vec()).with_zeros(range),
        };
        Ok(Self::make(self.device().clone(), self.ty().clone(), Data::Host(Arc::new(host)), None))
    }

    /// A seed for the `i`-th of several random tensors that share one seed.
    pub fn fold_seed(seed: u64, i: u64) -> u64 {
        random::fold(seed, i)
    }
}

fn show(dims: &[Dim]) -> String {
    aludel_ir::ShapeEnv::default().show_shape(dims)
}

// The number of elements of a shape that must be known.
pub(crate) fn numel(what: &str, dims: &[Dim], device: &Device) -> Result<usize> {
    let most = device.target().map_or(MAX_NUMEL, |t| MAX_NUMEL.min(i64::try_from(t.max_binding_bytes / 4).unwrap_or(MAX_NUMEL)));
    let mut n = 1i64;
    for d in dims {
        let size = d.as_const().filter(|s| *s >= 0).ok_or_else(|| {
            Error::invalid(what, format!("{} is not a shape", show(dims)), "give a size of at least 0 for every dimension")
        })?;
        n = n.checked_mul(size).filter(|n| *n <= most).ok_or_else(|| Error::Limit {
            what: format!("{what}: the number of elements of {}", show(dims)),
            value: n.checked_mul(size).map_or("more than 64 bits hold".into(), |n| n.to_string()),
            limit: format!("{most} on {device}"),
            remedy: "use a smaller shape".into(),
        })?;
    }
    Ok(n as usize)
}

// ---- properties ----

impl Tensor {
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    pub fn dtype(&self) -> DType {
        self.inner.ty.dtype
    }

    pub fn rank(&self) -> usize {
        self.inner.ty.rank()
    }

    /// The sizes, symbolic where a compiled function is traced for several sizes: what shapes are computed from.
    pub fn dims(&self) -> &[Dim] {
        &self.inner.ty.shape
    }

    /// One size, counted from the end when negative; symbolic where a compiled function is traced for several sizes.
    ///
    /// # Errors
    ///
    /// When `dim` is not between `-rank` and `rank - 1`.
    pub fn size(&self, dim: i64) -> Result<Dim> {
        let rank = self.rank() as i64;
        let at = if dim < 0 { dim + rank } else { dim };
        usize::try_from(at).ok().and_then(|i| self.dims().get(i)).cloned().ok_or_else(|| {
            Error::op("size", self.to_string(), format!("dimension {dim} is out of range"), format!("use {} to {}", -rank, rank - 1))
        })
    }

    /// The sizes as numbers. In a trace this makes the compiled function special to these sizes: where that is not wanted, compute with
    /// [`Tensor::size`].
    pub fn shape(&self) -> Vec<usize> {
        self.dims().iter().map(|d| d.as_const().unwrap_or_else(|| trace::specialize(d)).max(0) as usize).collect()
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.shape().iter().product()
    }

    pub fn ty(&self) -> &TensorType {
        &self.inner.ty
    }

    /// Whether this is a name in a trace and has no value yet.
    pub fn is_traced(&self) -> bool {
        match &self.inner.data {
            Data::Traced(slot) => slot.resolved().is_none_or(Tensor::is_traced),
            _ => false,
        }
    }

    /// Whether gradients flow to this tensor.
    pub fn is_requires_grad(&self) -> bool {
        self.inner.grad.is_some()
    }

    /// Whether two handles are of the very same value: the one is a clone of the other.
    pub fn is_same(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Whether it is a leaf of the tape: `backward()` gives a gradient for it.
    pub fn is_leaf(&self) -> bool {
        matches!(self.inner.grad, Some(Grad::Leaf(_)))
    }

    /// The number by which the tape knows a leaf; the same for all values that are this leaf.
    pub fn leaf_id(&self) -> Option<u64> {
        match &self.inner.grad {
            Some(Grad::Leaf(leaf)) => Some(leaf.id),
            _ => None,
        }
    }

    /// The operator that a tensor on the tape is a result of, and what it was told; empty for a function.
    pub fn recorded_by(&self) -> Option<(&'static str, &aludel_ir::Attrs)> {
        static NONE: aludel_ir::Attrs = aludel_ir::Attrs(Vec::new());
        match &self.inner.grad {
            Some(Grad::Node(node, _)) => Some(match &node.op {
                aludel_ir::Op::Call(def, attrs) => (def.name, attrs),
                _ => ("", &NONE),
            }),
            _ => None,
        }
    }

    /// What the operator that this is a result of was given: the edges of the tape.
    pub fn recorded_from(&self) -> Vec<Tensor> {
        match &self.inner.grad {
            Some(Grad::Node(node, _)) => node.kept().inputs.clone(),
            _ => Vec::new(),
        }
    }

    /// Whether it was computed from a leaf that the question holds of, so far as its tape is still there.
    pub fn reaches(&self, holds: impl Fn(u64) -> bool) -> bool {
        let (mut todo, mut seen) = (vec![self.inner.grad.clone()], rustc_hash::FxHashSet::default());
        while let Some(next) = todo.pop() {
            match next {
                Some(Grad::Leaf(leaf)) if holds(leaf.id) => return true,
                Some(Grad::Node(node, _)) if seen.insert(node.seq) => {
                    todo.extend(node.kept().inputs.iter().map(|t| t.inner.grad.clone()));
                }
                _ => {}
            }
        }
        false
    }

    /// The same value as the leaf that another tensor is: gradients of both are one. Where `leaf` is none, the value alone.
    pub fn requires_grad_as(&self, leaf: &Tensor) -> Tensor {
        match &leaf.inner.grad {
            Some(Grad::Leaf(leaf)) => self.with_grad(Some(Grad::Leaf(leaf.clone()))),
            _ => self.clone(),
        }
    }

    /// The values in row-major order, where they are on the host and reading them waits for nothing.
    pub fn host_values(&self) -> Option<Vec<f64>> {
        match &self.inner.data {
            Data::Host(h) => Some(h.words().iter().map(|w| f64::from_word(*w, self.dtype())).collect()),
            Data::Traced(slot) => slot.resolved()?.host_values(),
            _ => None,
        }
    }

    /// Whether reading the values waits for nothing: they are on the host, or on a device that computes there.
    pub fn is_at_once(&self) -> bool {
        match &self.inner.data {
            Data::Host(_) => true,
            Data::Device { .. } => self.device().executor().reads_at_once(),
            Data::Traced(slot) => slot.resolved().is_some_and(Tensor::is_at_once),
            Data::Freed => false,
        }
    }

    /// The values in row-major order, where [`Tensor::is_at_once`].
    pub fn values_at_once(&self) -> Option<Vec<f64>> {
        let words = self.is_at_once().then(|| self.words().ok())??;
        Some(words.iter().map(|w| f64::from_word(*w, self.dtype())).collect())
    }

    /// The least and the largest value, where they are on the host; infinite where there is none.
    pub fn host_bounds(&self) -> Option<(f64, f64)> {
        match &self.inner.data {
            Data::Host(h) => Some(h.bounds(self.dtype())),
            Data::Traced(slot) => slot.resolved()?.host_bounds(),
            _ => None,
        }
    }

    /// The same value as a leaf: `backward()` gives a gradient for it. Integers and bool have none and stay as they are.
    pub fn requires_grad(&self) -> Tensor {
        if !self.dtype().is_float() {
            return self.clone();
        }
        self.with_grad(Some(Grad::Leaf(Leaf { id: fresh_id(), held: None })))
    }

    /// The same value, cut off from the tape.
    pub fn detach(&self) -> Tensor {
        if self.inner.grad.is_none() { self.clone() } else { self.with_grad(None) }
    }

    pub(crate) fn with_grad(&self, grad: Option<Grad>) -> Tensor {
        let i = &self.inner;
        let cut = (matches!(i.data, Data::Traced(_)) || trace::is_active()) && (i.cut || i.grad.is_some());
        let (device, ty, data) = (i.device.clone(), i.ty.clone(), i.data.clone());
        Tensor { inner: Arc::new(Inner { device, ty, data, grad, cut, overwritten: OnceLock::new() }) }
    }
}

// ---- values ----

impl Tensor {
    /// What a program is given for this tensor: host words once, a device range from then on.
    pub(crate) fn argument(&self) -> Result<Argument> {
        match &self.inner.data {
            Data::Host(h) => Ok(match h.uploaded.get() {
                Some(s) => Argument::Device(s.clone()),
                None if self.device().executor().is_narrow(self.dtype()) => Argument::Host(self.device_words(h).into()),
                None => Argument::Host(h.words().clone()),
            }),
            Data::Device { storage, .. } => Ok(Argument::Device(storage.clone())),
            Data::Traced(slot) => slot.resolved().ok_or_else(|| trace::escaped(self))?.argument(),
            Data::Freed => Err(Error::op("backward", self.to_string(), FREED, "")),
        }
    }

    /// As [`Tensor::argument`], on the device: what eager operators use, since an operand is often used again.
    pub(crate) fn resident(&self) -> Result<Argument> {
        match &self.inner.data {
            Data::Host(h) => {
                if h.uploaded.get().is_none() {
                    let _ = h.uploaded.set(self.device().executor().upload(&self.device_words(h))?);
                }
                self.argument()
            }
            Data::Traced(slot) => slot.resolved().ok_or_else(|| trace::escaped(self))?.resident(),
            _ => self.argument(),
        }
    }

    fn device_words<'h>(&self, h: &'h HostData) -> Cow<'h, [u32]> {
        self.device().executor().device_words(h.words(), self.dtype())
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn words(&self) -> Result<Arc<[u32]>> {
        match &self.inner.data {
            Data::Host(h) => Ok(h.words().clone()),
            Data::Traced(slot) => slot.resolved().ok_or_else(|| trace::escaped(self))?.words(),
            _ => pollster::block_on(self.words_async()),
        }
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn words(&self) -> Result<Arc<[u32]>> {
        match &self.inner.data {
            Data::Host(h) => Ok(h.words().clone()),
            Data::Traced(slot) => slot.resolved().ok_or_else(|| trace::escaped(self))?.words(),
            _ => Err(Error::unsupported(
                "waiting for a device in the browser",
                "use to_vec_async() or item_async(), outside of a compiled function",
            )),
        }
    }

    pub(crate) async fn words_async(&self) -> Result<Arc<[u32]>> {
        match &self.inner.data {
            Data::Host(h) => Ok(h.words().clone()),
            Data::Device { storage, .. } => {
                let executor = self.device().executor();
                Ok(executor.host_words(executor.download(storage).await?, self.dtype(), self.numel()).into())
            }
            Data::Traced(slot) => match slot.resolved() {
                Some(t) => Box::pin(t.words_async()).await,
                None => Err(trace::escaped(self)),
            },
            Data::Freed => Err(trace::escaped(self)),
        }
    }

    /// The values in row-major order, converted; waits for the device. In a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// When the device failed, or the values were never computed: the tensor belongs to a trace that is over, or reading it would break the
    /// graph of a function that has to be one ([`Compiled::fullgraph`](crate::Compiled::fullgraph)).
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let dtype = self.dtype();
        let words = self.concrete("to_vec()", Location::caller())?.words()?;
        Ok(words.iter().map(|w| T::from_word(*w, dtype)).collect())
    }

    /// The values in row-major order, converted.
    ///
    /// # Errors
    ///
    /// When the device failed, or the tensor is traced: reading such a one needs [`Tensor::to_vec`].
    pub async fn to_vec_async<T: Element>(&self) -> Result<Vec<T>> {
        Ok(self.words_async().await?.iter().map(|w| T::from_word(*w, self.dtype())).collect())
    }

    /// The value of a tensor of one element; waits for the device. In a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// When the tensor does not have exactly one element; else as [`Tensor::to_vec`].
    #[track_caller]
    pub fn item(&self) -> Result<f64> {
        self.read_single("item()", Location::caller())
    }

    /// As [`Tensor::item`] for another method that needs the value, which a graph break names.
    pub(crate) fn read_single(&self, reader: &str, at: &'static Location<'static>) -> Result<f64> {
        self.check_single()?;
        self.single(&self.concrete(reader, at)?.words()?)
    }

    /// The value of a tensor of one element.
    ///
    /// # Errors
    ///
    /// When the tensor does not have exactly one element; else as [`Tensor::to_vec_async`].
    pub async fn item_async(&self) -> Result<f64> {
        self.check_single()?;
        self.single(&self.words_async().await?)
    }

    fn check_single(&self) -> Result<()> {
        if self.dims().iter().all(Dim::is_one) {
            return Ok(());
        }
        Err(Error::op("item", self.to_string(), "only a tensor of one element has one value", "reduce it first or use to_vec()"))
    }

    fn single(&self, words: &[u32]) -> Result<f64> {
        let word = words.first().ok_or_else(|| Error::device("no value came back", "report this"))?;
        Ok(f64::from_word(*word, self.dtype()))
    }

    // The value behind a name in a trace: the graph so far is run to get it.
    fn concrete(&self, reader: &str, at: &'static Location<'static>) -> Result<Tensor> {
        if self.is_traced() { trace::read(self, reader, at) } else { Ok(self.clone()) }
    }

    /// The tensor on another device; through the host.
    ///
    /// # Errors
    ///
    /// When the values cannot be read, as [`Tensor::to_vec`]. Nothing is written yet, so a device that cannot hold them says so at their
    /// first use.
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<Tensor> {
        if self.device() == device {
            return Ok(self.clone());
        }
        let words = self.concrete("to_device()", Location::caller())?.words()?;
        let t = Self::host(device, self.inner.ty.clone(), words.to_vec());
        Ok(if matches!(self.inner.grad, Some(Grad::Leaf(_))) { t.requires_grad() } else { t })
    }

    /// The same tensor, as far as differentiation goes, with its value elsewhere.
    pub(crate) fn with_data(&self, data: Data) -> Tensor {
        let i = &self.inner;
        let (device, ty, grad) = (i.device.clone(), i.ty.clone(), i.grad.clone());
        Tensor { inner: Arc::new(Inner { device, ty, data, grad, cut: i.cut, overwritten: OnceLock::new() }) }
    }

    /// Another value at this tensor's place in the differentiation; both have the same type.
    #[must_use]
    pub fn with_value_of(&self, value: &Tensor) -> Tensor {
        self.with_data(value.inner.data.clone())
    }

    /// Whether nothing goes back from here any more: it is no result on the tape, or a backward pass let go of what it came from, or of what
    /// all that it was computed from came from: two losses that were differentiated one by one, added to be shown.
    pub fn is_done(&self) -> bool {
        /// More than whoever adds losses writes down.
        const MOST: usize = 64;
        let Some(Grad::Node(node, _)) = &self.inner.grad else { return true };
        let (mut todo, mut seen, mut leaves) = (vec![node.clone()], 0, false);
        while let Some(node) = todo.pop() {
            let kept = node.kept();
            if kept.freed {
                continue;
            }
            seen += 1;
            let before = todo.len();
            for t in &kept.inputs {
                match &t.inner.grad {
                    Some(Grad::Node(node, _)) => todo.push(node.clone()),
                    Some(Grad::Leaf(_)) => leaves = true,
                    None => {}
                }
            }
            if leaves || todo.len() == before || seen > MOST {
                return false;
            }
        }
        true
    }

    /// The tensor as the tape needs it when nobody reads its value: type and place in the differentiation.
    pub fn without_value(&self) -> Tensor {
        self.with_data(Data::Freed)
    }

    /// The same value under another shape of as many elements.
    pub(crate) fn alias(&self, ty: TensorType) -> Tensor {
        let data = match &self.inner.data {
            // An alias of a state range must keep the old value when the range is updated, so it counts as another holder of the
            // range's storage; it is not itself the range.
            Data::Device { storage, .. } => Data::Device { storage: storage.clone(), place: None },
            d => d.clone(),
        };
        Self::make(self.device().clone(), ty, data, None)
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&trace::show_type(&self.inner.ty))
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_traced() { "traced" } else { "value" };
        write!(f, "Tensor({self}, {kind}, {})", self.device())
    }
}
