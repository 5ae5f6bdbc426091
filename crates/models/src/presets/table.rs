//! A preset's data as tables, with the order in which steps take their rows: for a machine that has the step's graph and no source.

use super::source::{Source, Target, stacked};
use aludel_tensor::{Device, Result, Tensor};
use std::collections::HashMap;

/// Examples of many steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Inputs and targets; row `i` of one belongs to row `i` of the other.
    pub columns: [Column; 2],
    /// The rows that each step takes, step after step.
    pub order: Vec<u32>,
    /// How many rows a step takes.
    pub batch: usize,
}

/// A tensor with an example in each row of its first dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub shape: Vec<usize>,
    pub values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    F32(Vec<f32>),
    I32(Vec<i32>),
}

impl Table {
    /// How many steps it lasts.
    pub fn steps(&self) -> u64 {
        (self.order.len() / self.batch.max(1)) as u64
    }
}

impl Source {
    /// The batches of the first steps: as many whole steps as take at most `places` rows, of which at most `distinct` differ; at
    /// least one. Steps are those of [`Source::batch`].
    ///
    /// # Errors
    ///
    /// When the device, which draws the noise of a preset that takes some, cannot hold a step's.
    pub async fn table(&mut self, places: usize, distinct: usize, device: &Device) -> Result<Table> {
        Ok(match self {
            // What differs at every step is kept for every step.
            Source::Rows { data, sampler, shape, target: Target::Noise { width, seed } } => {
                let batch = sampler.indices(0).len();
                let steps = (places.min(distinct) / batch.max(1)).max(1);
                let (mut x, mut y) = (Vec::new(), Vec::new());
                for step in 0..steps as u64 {
                    x.extend(data.select(sampler.indices(step)).x);
                    y.extend(Tensor::randn(device, [batch, *width], Tensor::fold_seed(*seed, step))?.to_vec_async::<f32>().await?);
                }
                let n = steps * batch;
                let column = |shape, values| Column { shape, values: Values::F32(values) };
                let columns = [column(stacked(n, shape), x), column(vec![n, *width], y)];
                Table { columns, order: (0..n as u32).collect(), batch }
            }
            Source::Rows { data, sampler, shape, target } => {
                let batch = sampler.indices(0).len();
                let steps = (places / batch.max(1)).max(1);
                let mut order = Vec::with_capacity(steps * batch);
                for step in 0..steps {
                    order.extend(sampler.indices(step as u64).iter().map(|i| *i as u32));
                }
                let n = data.rows();
                let x = Column { shape: stacked(n, shape), values: Values::F32(data.x.clone()) };
                let same = matches!(target, Target::Same);
                let y = if same { x.clone() } else { Column { shape: vec![n], values: Values::I32(data.y.clone()) } };
                Table { columns: [x, y], order, batch }
            }
            Source::Addition { problems, batch } => {
                // Few digits make few problems: each is kept once, however often it is drawn.
                let mut known: HashMap<Vec<i32>, u32> = HashMap::new();
                let (mut x, mut y, mut order) = (Vec::new(), Vec::new(), Vec::new());
                let (batch, width) = (*batch, problems.context);
                for step in 0.. {
                    if step > 0 && (order.len() + batch > places || known.len() + batch > distinct) {
                        break;
                    }
                    let rows = problems.batch(batch, step);
                    for (question, answer) in rows.x.chunks(width).zip(rows.y.chunks(width)) {
                        let next = known.len() as u32;
                        let row = *known.entry(question.to_vec()).or_insert_with(|| {
                            x.extend(question);
                            y.extend(answer);
                            next
                        });
                        order.push(row);
                    }
                }
                let column = |values| Column { shape: vec![known.len(), width], values: Values::I32(values) };
                Table { columns: [column(x), column(y)], order, batch }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Preset};
    use super::*;

    fn row<T: Copy>(values: &[T], shape: &[usize], i: u32) -> Vec<T> {
        let width: usize = shape[1..].iter().product();
        values[i as usize * width..][..width].to_vec()
    }

    fn gathered(column: &Column, rows: &[u32]) -> Vec<f64> {
        rows.iter()
            .flat_map(|i| match &column.values {
                Values::F32(v) => row(v, &column.shape, *i).into_iter().map(f64::from).collect::<Vec<_>>(),
                Values::I32(v) => row(v, &column.shape, *i).into_iter().map(f64::from).collect(),
            })
            .collect()
    }

    /// Step by step, the rows that a table names are the batches that the source gives.
    #[test]
    fn a_table_is_its_source() {
        let device = Device::interpreter();
        for &preset in Preset::ALL {
            let config = Config::from_fields(preset, &[("batch".into(), "32".into())]).unwrap();
            let table = pollster::block_on(Source::new(&config).table(3000, 1500, &device)).unwrap();
            assert!(table.steps() > 30 && table.order.len() <= 3000 && table.columns[0].shape[0] <= 1500, "{preset:?}");
            let mut source = Source::new(&config);
            for step in [0, 1, table.steps() - 1] {
                let (x, y) = source.batch(step, &device).unwrap();
                let rows = &table.order[step as usize * table.batch..][..table.batch];
                // Tokens and classes are small whole numbers, exact as floats.
                let [x, y] = [x, y].map(|t| t.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect::<Vec<_>>());
                assert_eq!(gathered(&table.columns[0], rows), x, "{preset:?} step {step}");
                assert_eq!(gathered(&table.columns[1], rows), y, "{preset:?} step {step}");
            }
        }
    }

    #[test]
    fn problems_are_kept_once() {
        let device = Device::interpreter();
        let config = Config::from_fields(Preset::Addition, &[("digits".into(), "1".into()), ("context".into(), "6".into())]).unwrap();
        let table = pollster::block_on(Source::new(&config).table(10_000, 1000, &device)).unwrap();
        assert!(table.columns[0].shape[0] <= 100 && table.order.len() > 9000);
        // The least there is: one whole step.
        assert_eq!(pollster::block_on(Source::new(&config).table(0, 0, &device)).unwrap().steps(), 1);
    }
}
