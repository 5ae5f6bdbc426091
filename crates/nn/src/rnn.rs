//! Recurrent layers, with PyTorch's parameter names, initial values and options.
//!
//! What the inputs contribute to the gates is one product for all steps; the steps themselves are unrolled in the graph. A compiled
//! function is therefore valid for one number of steps: another length compiles anew.

use crate::call::{one, results};
use crate::dropout::Dropout;
use crate::init::{Init, check_sizes};
use aludel_tensor::{Attrs, Dim, Error, Key, Operand, Result, Static, Tensor, Tree, Visitor, cat};

/// The options of recurrent layers, with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RnnOptions {
    pub num_layers: usize,
    pub bias: bool,
    /// Whether inputs and outputs are `[batch, time, features]` rather than `[time, batch, features]`.
    pub batch_first: bool,
    /// Probability of a zero between two layers, in training.
    pub dropout: f64,
    /// Whether a second layer runs from the end to the start, its output beside the first's.
    pub bidirectional: bool,
}

impl Default for RnnOptions {
    fn default() -> Self {
        RnnOptions { num_layers: 1, bias: true, batch_first: false, dropout: 0.0, bidirectional: false }
    }
}

/// The parameters of one layer in one direction.
#[derive(Clone)]
struct Weights {
    /// `_l0`, `_l0_reverse`, ..
    suffix: String,
    /// `[gates * hidden, inputs]`
    weight_ih: Tensor,
    /// `[gates * hidden, hidden]`
    weight_hh: Tensor,
    /// `[gates * hidden]` each
    bias: Option<[Tensor; 2]>,
}

impl Tree for Weights {
    fn visit(&self, visitor: &mut dyn Visitor) {
        let mut show = |name: &str, t: &Tensor| {
            visitor.enter(Key::Name(&format!("{name}{}", self.suffix)));
            t.visit(visitor);
            visitor.exit();
        };
        show("weight_ih", &self.weight_ih);
        show("weight_hh", &self.weight_hh);
        if let Some([ih, hh]) = &self.bias {
            show("bias_ih", ih);
            show("bias_hh", hh);
        }
        visitor.value(Static::Bool(self.bias.is_some()));
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        visitor(&mut self.weight_ih);
        visitor(&mut self.weight_hh);
        self.bias.iter_mut().flatten().for_each(visitor);
    }
}

/// What the three kinds of recurrent layers share.
#[derive(Clone)]
struct Recurrent {
    /// For each layer, its direction or both.
    layers: Vec<Vec<Weights>>,
    batch_first: bool,
    dropout: Dropout,
}

impl Tree for Recurrent {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Len(self.layers.len()));
        visitor.value(Static::Len(self.layers.first().map_or(0, Vec::len)));
        visitor.value(Static::Bool(self.batch_first));
        self.layers.iter().flatten().for_each(|w| w.visit(visitor));
        self.dropout.visit(visitor);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.layers.iter_mut().flatten().for_each(|w| w.visit_mut(visitor));
    }
    fn set_training(&mut self, training: bool) {
        self.dropout.set_training(training);
    }
}

/// One layer in one direction: gates, weights and the first states to the output and the last states.
type Run<'a> = &'a dyn Fn(&Tensor, &Weights, &[Tensor], bool) -> Result<(Tensor, Vec<Tensor>)>;

impl Recurrent {
    fn new(init: &mut Init, what: &str, gates: usize, input_size: usize, hidden_size: usize, options: RnnOptions) -> Result<Recurrent> {
        let RnnOptions { num_layers, bias, batch_first, dropout, bidirectional } = options;
        check_sizes(what, &[input_size, hidden_size, num_layers])?;
        let directions = 1 + bidirectional as usize;
        let rows = gates * hidden_size;
        let mut layers = Vec::with_capacity(num_layers);
        for k in 0..num_layers {
            let inputs = if k == 0 { input_size } else { directions * hidden_size };
            let mut weights = |suffix: String| {
                let mut of = |shape: &[usize]| init.fan_in(shape, hidden_size);
                let (weight_ih, weight_hh) = (of(&[rows, inputs])?, of(&[rows, hidden_size])?);
                let bias = if bias { Some([of(&[rows])?, of(&[rows])?]) } else { None };
                Ok(Weights { suffix, weight_ih, weight_hh, bias })
            };
            let suffixes = [format!("_l{k}"), format!("_l{k}_reverse")];
            layers.push(suffixes.into_iter().take(directions).map(&mut weights).collect::<Result<Vec<_>>>()?);
        }
        Ok(Recurrent { layers, batch_first, dropout: Dropout::new(dropout)? })
    }

    /// `states` are `[layers * directions, batch, hidden]` each, those that there are at the start; gives the output and the last ones.
    #[track_caller]
    fn forward(&self, what: &str, x: &Tensor, states: &[&Tensor], run: Run) -> Result<(Tensor, Vec<Tensor>)> {
        let rank = x.rank();
        if !(2..=3).contains(&rank) {
            return Err(Error::op(
                what,
                x.to_string(),
                "the input has two or three dimensions",
                "give [time, batch, features] or [time, features]",
            ));
        }
        // From here on [time, batch, features].
        let batched = |t: &Tensor| if rank == 2 { t.unsqueeze(1) } else { Ok(t.clone()) };
        let mut x = if rank == 3 && self.batch_first { x.transpose(0, 1)? } else { batched(x)? };
        let states = states.iter().map(|s| batched(s)).collect::<Result<Vec<_>>>()?;
        if !matches!(x.dims()[0], Dim::Const(_)) {
            // Steps are unrolled: the trace becomes special to their number.
            let steps = x.shape()[0];
            x = x.narrow(0, 0, steps)?;
        }
        let directions = self.layers.first().map_or(1, Vec::len);
        let mut last: Vec<Vec<Tensor>> = Vec::new();
        for (k, layer) in self.layers.iter().enumerate() {
            if k > 0 {
                use crate::module::Module;
                x = self.dropout.forward(&x)?;
            }
            let mut outputs = Vec::with_capacity(directions);
            for (direction, weights) in layer.iter().enumerate() {
                let at = (k * directions + direction) as i64;
                let first = states.iter().map(|s| s.narrow(0, at, 1)?.squeeze(0)).collect::<Result<Vec<_>>>()?;
                let (output, ends) = run(&x, weights, &first, direction == 1)?;
                outputs.push(output);
                for (i, end) in ends.into_iter().enumerate() {
                    match last.get_mut(i) {
                        Some(list) => list.push(end.unsqueeze(0)?),
                        None => last.push(vec![end.unsqueeze(0)?]),
                    }
                }
            }
            x = match outputs.as_slice() {
                [only] => only.clone(),
                both => cat(&both.iter().collect::<Vec<_>>(), -1)?,
            };
        }
        let join = |list: Vec<Tensor>| {
            let all = match list.as_slice() {
                [only] => only.clone(),
                list => cat(&list.iter().collect::<Vec<_>>(), 0)?,
            };
            if rank == 2 { all.squeeze(1) } else { Ok(all) }
        };
        let output = match (rank, self.batch_first) {
            (2, _) => x.squeeze(1)?,
            (_, true) => x.transpose(0, 1)?,
            (_, false) => x,
        };
        Ok((output, last.into_iter().map(join).collect::<Result<_>>()?))
    }
}

/// Long short-term memory over a sequence. PyTorch: `torch.nn.LSTM` (without `proj_size`).
///
/// Parameters are `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, `weight_ih_l0_reverse`, ..; gates in the order i, f, g, o.
#[derive(Clone, Tree)]
pub struct Lstm(Recurrent);

impl Lstm {
    /// With fresh weights, spread evenly over `1 / sqrt(hidden_size)` to both sides.
    ///
    /// # Errors
    ///
    /// When a size or the number of layers is zero, the dropout is no probability, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, input_size: usize, hidden_size: usize, options: RnnOptions) -> Result<Lstm> {
        Ok(Lstm(Recurrent::new(init, "Lstm", 4, input_size, hidden_size, options)?))
    }

    /// `x` is `[time, batch, features]`, `[batch, time, features]` with `batch_first`, or `[time, features]`; the state is h and c, each
    /// `[layers * directions, batch, hidden]`, zeros where it is not given. Gives the output and the last state.
    ///
    /// Another length of sequences compiles anew.
    ///
    /// # Errors
    ///
    /// When `x` or the state does not have the shape said above; in training with dropout between layers, outside of a generator's scope.
    #[track_caller]
    pub fn forward(&self, x: &Tensor, state: Option<(&Tensor, &Tensor)>) -> Result<(Tensor, (Tensor, Tensor))> {
        let states: Vec<&Tensor> = state.into_iter().flat_map(|(h, c)| [h, c]).collect();
        let (output, last) = self.0.forward("Lstm", x, &states, &|x, w, first, reverse| {
            // Both biases add to the same sums.
            let bias = w.bias.as_ref().map(|[ih, hh]| ih.add(hh)).transpose()?;
            let gates = x.linear(&w.weight_ih, bias.as_ref())?;
            let operands: Vec<Operand> = [&gates, &w.weight_hh].into_iter().chain(first).map(Operand::from).collect();
            let [output, h, c, _, _] = results("lstm", &operands, Attrs::new().with("reverse", reverse))?;
            Ok((output, vec![h, c]))
        })?;
        let [h, c] = <[Tensor; 2]>::try_from(last).map_err(|_| Error::op("lstm", "", "not two states", "report this"))?;
        Ok((output, (h, c)))
    }
}

/// Gated recurrent units over a sequence. PyTorch: `torch.nn.GRU`.
///
/// Parameters are named as those of [`Lstm`]; gates in the order r, z, n.
#[derive(Clone, Tree)]
pub struct Gru(Recurrent);

impl Gru {
    /// With fresh weights, as [`Lstm::new`].
    ///
    /// # Errors
    ///
    /// When a size or the number of layers is zero, the dropout is no probability, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, input_size: usize, hidden_size: usize, options: RnnOptions) -> Result<Gru> {
        Ok(Gru(Recurrent::new(init, "Gru", 3, input_size, hidden_size, options)?))
    }

    /// As [`Lstm::forward`], with a state of h alone.
    ///
    /// # Errors
    ///
    /// As [`Lstm::forward`].
    #[track_caller]
    pub fn forward(&self, x: &Tensor, state: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
        let states: Vec<&Tensor> = state.into_iter().collect();
        let (output, last) = self.0.forward("Gru", x, &states, &|x, w, first, reverse| {
            let gates = x.linear(&w.weight_ih, w.bias.as_ref().map(|[ih, _]| ih))?;
            let hh = w.bias.as_ref().map(|[_, hh]| hh);
            let operands: Vec<Operand> = [&gates, &w.weight_hh].into_iter().chain(hh).chain(first).map(Operand::from).collect();
            let [output, h, _] = results("gru", &operands, Attrs::new().with("reverse", reverse))?;
            Ok((output, vec![h]))
        })?;
        single(output, last)
    }
}

/// What a simple recurrent layer applies to its sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Tree)]
pub enum Nonlinearity {
    #[default]
    Tanh,
    Relu,
}

/// A simple recurrent (Elman) layer over a sequence. PyTorch: `torch.nn.RNN`.
#[derive(Clone, Tree)]
pub struct Rnn {
    #[tree(flatten)]
    recurrent: Recurrent,
    nonlinearity: Nonlinearity,
}

impl Rnn {
    /// With tanh and fresh weights, as [`Lstm::new`].
    ///
    /// # Errors
    ///
    /// When a size or the number of layers is zero, the dropout is no probability, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, input_size: usize, hidden_size: usize, options: RnnOptions) -> Result<Rnn> {
        let recurrent = Recurrent::new(init, "Rnn", 1, input_size, hidden_size, options)?;
        Ok(Rnn { recurrent, nonlinearity: Nonlinearity::Tanh })
    }

    pub fn nonlinearity(mut self, nonlinearity: Nonlinearity) -> Self {
        self.nonlinearity = nonlinearity;
        self
    }

    /// As [`Lstm::forward`], with a state of h alone.
    ///
    /// # Errors
    ///
    /// As [`Lstm::forward`].
    #[track_caller]
    pub fn forward(&self, x: &Tensor, state: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
        let states: Vec<&Tensor> = state.into_iter().collect();
        let name = if self.nonlinearity == Nonlinearity::Relu { "relu" } else { "tanh" };
        let (output, last) = self.recurrent.forward("Rnn", x, &states, &|x, w, first, reverse| {
            let bias = w.bias.as_ref().map(|[ih, hh]| ih.add(hh)).transpose()?;
            let gates = x.linear(&w.weight_ih, bias.as_ref())?;
            let operands: Vec<Operand> = [&gates, &w.weight_hh].into_iter().chain(first).map(Operand::from).collect();
            let [output, h] = results("rnn", &operands, Attrs::new().with("reverse", reverse).with("nonlinearity", name))?;
            Ok((output, vec![h]))
        })?;
        single(output, last)
    }
}

fn single(output: Tensor, mut last: Vec<Tensor>) -> Result<(Tensor, Tensor)> {
    let h = last.pop().ok_or_else(|| Error::op("rnn", "", "no state", "report this"))?;
    Ok((output, h))
}

/// The parameters of one step.
#[derive(Clone, Tree)]
struct Cell {
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Option<Tensor>,
    bias_hh: Option<Tensor>,
}

impl Cell {
    fn new(init: &mut Init, what: &str, gates: usize, inputs: usize, hidden: usize, bias: bool) -> Result<Cell> {
        check_sizes(what, &[inputs, hidden])?;
        let rows = gates * hidden;
        let mut of = |shape: &[usize]| init.fan_in(shape, hidden);
        let (weight_ih, weight_hh) = (of(&[rows, inputs])?, of(&[rows, hidden])?);
        let mut bias = || if bias { of(&[rows]).map(Some) } else { Ok(None) };
        Ok(Cell { weight_ih, weight_hh, bias_ih: bias()?, bias_hh: bias()? })
    }

    fn operands<'a>(&'a self, first: &[&'a Tensor]) -> Vec<Operand<'a>> {
        let weights = [Some(&self.weight_ih), Some(&self.weight_hh), self.bias_ih.as_ref(), self.bias_hh.as_ref()];
        first.iter().copied().chain(weights.into_iter().flatten()).map(Operand::from).collect()
    }
}

/// One step of an LSTM. PyTorch: `torch.nn.LSTMCell`.
#[derive(Clone, Tree)]
pub struct LstmCell(Cell);

impl LstmCell {
    /// With fresh weights, as [`Lstm::new`].
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, input_size: usize, hidden_size: usize, bias: bool) -> Result<LstmCell> {
        Ok(LstmCell(Cell::new(init, "LstmCell", 4, input_size, hidden_size, bias)?))
    }

    /// `[batch, features]` and the last h and c, `[batch, hidden]`, to the new ones.
    ///
    /// # Errors
    ///
    /// When the input does not have the shape said above, and what its operators [say](aludel_tensor#when-an-operator-fails).
    #[track_caller]
    pub fn forward(&self, x: &Tensor, h: &Tensor, c: &Tensor) -> Result<(Tensor, Tensor)> {
        let [h, c] = results("lstm_cell", &self.0.operands(&[x, h, c]), Attrs::new())?;
        Ok((h, c))
    }
}

/// One step of a GRU. PyTorch: `torch.nn.GRUCell`.
#[derive(Clone, Tree)]
pub struct GruCell(Cell);

impl GruCell {
    /// With fresh weights, as [`Lstm::new`].
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, input_size: usize, hidden_size: usize, bias: bool) -> Result<GruCell> {
        Ok(GruCell(Cell::new(init, "GruCell", 3, input_size, hidden_size, bias)?))
    }

    /// `[batch, features]` and the last h, `[batch, hidden]`, to the new one.
    ///
    /// # Errors
    ///
    /// When the input does not have the shape said above, and what its operators [say](aludel_tensor#when-an-operator-fails).
    #[track_caller]
    pub fn forward(&self, x: &Tensor, h: &Tensor) -> Result<Tensor> {
        one("gru_cell", &self.0.operands(&[x, h]), Attrs::new())
    }
}
