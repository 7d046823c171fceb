//! `fit FEATURES.bin LABELS.bin OUT.bin LABEL_COUNT EPOCHS RATE DROPOUT SMOOTHING SEED`: fits a linear model.
//!
//! `features` writes FEATURES.bin. LABELS.bin has a u32 label and an f32 weight for each row, little-endian. OUT.bin
//! gets the biases and then the weights, bucket by bucket, as f32. The model is a multinomial logistic regression. It
//! is fitted by stochastic gradient descent with a step size for each weight (AdaGrad: Duchi et al., JMLR 2011) that
//! decays to zero over the epochs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use crate::Outcome;

type Problem = Box<dyn std::error::Error>;

pub fn run(arguments: &[String]) -> Outcome {
    let [features, labels, out, count, epochs, rate, dropout, smoothing, seed] = arguments else {
        return Err("usage: guard-dev fit FEATURES LABELS OUT LABEL_COUNT EPOCHS RATE DROPOUT SMOOTHING SEED".into());
    };
    let examples = Examples::read(features, labels)?;
    let settings = Settings {
        labels: count.parse()?,
        epochs: epochs.parse()?,
        rate: rate.parse()?,
        dropout: dropout.parse()?,
        smoothing: smoothing.parse()?,
    };
    let mut model = Model::new(settings.labels, examples.buckets);
    Training::new(&settings, &examples, Random(seed.parse::<u64>()? | 1)).run(&mut model);
    let mut file = BufWriter::new(File::create(out)?);
    for number in model.biases.values.iter().chain(&model.weights.values) {
        file.write_all(&number.to_le_bytes())?;
    }
    file.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Random numbers by xorshift64 with the shifts 13, 7 and 17 (Marsaglia 2003, "Xorshift RNGs", Journal of Statistical
/// Software 8(14)).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Rows of features and their labels.
struct Examples {
    buckets: usize,
    /// For each row the start of its features, and the end of the last row.
    starts: Vec<usize>,
    /// For each feature its bucket.
    owners: Vec<u32>,
    /// For each feature its value.
    amounts: Vec<f32>,
    /// For each row its label and its weight.
    truth: Vec<(usize, f32)>,
}

impl Examples {
    fn read(features: &str, labels: &str) -> Result<Self, Problem> {
        let bytes = std::fs::read(features)?;
        let header: Vec<usize> = numbers(&bytes[..24])
            .map(|number| u64::from_le_bytes(number) as usize)
            .collect();
        let [rows, buckets, values] = header[..] else {
            return Err("the header of FEATURES is too short".into());
        };
        let (starts, rest) = bytes[24..].split_at(8 * (rows + 1));
        let (owners, amounts) = rest.split_at(4 * values);
        let starts = numbers(starts).map(|number| u64::from_le_bytes(number) as usize);
        let truth = std::fs::read(labels)?;
        let truth = numbers::<8>(&truth).map(|n| {
            let label = u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize;
            (label, f32::from_le_bytes([n[4], n[5], n[6], n[7]]))
        });
        Ok(Self {
            buckets,
            starts: starts.collect(),
            owners: numbers(owners).map(u32::from_le_bytes).collect(),
            amounts: numbers(amounts).map(f32::from_le_bytes).collect(),
            truth: truth.collect(),
        })
    }

    fn rows(&self) -> usize {
        self.starts.len() - 1
    }
}

fn numbers<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.chunks_exact(N).map(|chunk| {
        let mut number = [0; N];
        number.copy_from_slice(chunk);
        number
    })
}

/// Parameters and, for each, the sum of its squared gradients (AdaGrad).
struct Parameters {
    values: Vec<f32>,
    squares: Vec<f32>,
}

impl Parameters {
    fn new(count: usize) -> Self {
        Self {
            values: vec![0.0; count],
            squares: vec![1e-3; count],
        }
    }

    /// Moves the parameters from `start` on against their gradients.
    fn step(&mut self, start: usize, slopes: impl ExactSizeIterator<Item = f32>, rate: f32) {
        let range = start..start + slopes.len();
        let own = self.values[range.clone()].iter_mut().zip(&mut self.squares[range]);
        for ((value, square), slope) in own.zip(slopes) {
            *square += slope * slope;
            *value -= rate * slope / square.sqrt();
        }
    }
}

struct Model {
    biases: Parameters,
    weights: Parameters,
}

impl Model {
    fn new(labels: usize, buckets: usize) -> Self {
        Self {
            biases: Parameters::new(labels),
            weights: Parameters::new(buckets * labels),
        }
    }
}

struct Settings {
    labels: usize,
    epochs: usize,
    rate: f32,
    dropout: f64,
    smoothing: f32,
}

struct Training<'a> {
    settings: &'a Settings,
    examples: &'a Examples,
    random: Random,
    /// The features of the current row that dropout kept: the start of their weights, and their scaled values.
    kept: Vec<(usize, f32)>,
    /// One number for each label: first its probability, then the gradient of the loss.
    sums: Vec<f32>,
}

impl<'a> Training<'a> {
    fn new(settings: &'a Settings, examples: &'a Examples, random: Random) -> Self {
        Self {
            settings,
            examples,
            random,
            kept: Vec::new(),
            sums: vec![0.0; settings.labels],
        }
    }

    fn run(&mut self, model: &mut Model) {
        let rows = self.examples.rows();
        let epochs = self.settings.epochs;
        let mut order: Vec<usize> = (0..rows).collect();
        for epoch in 0..epochs {
            for at in (1..rows).rev() {
                order.swap(at, (self.random.next() % (at as u64 + 1)) as usize);
            }
            let mut loss = 0.0f64;
            for (step, &row) in order.iter().enumerate() {
                let done = (epoch * rows + step) as f32 / (epochs * rows) as f32;
                loss += self.step(model, row, self.settings.rate * (1.0 - done));
            }
            println!("epoch {}: loss {:.4}", epoch + 1, loss / rows as f64);
        }
    }

    /// Fits the model to one row, and returns the loss before.
    fn step(&mut self, model: &mut Model, row: usize, rate: f32) -> f64 {
        let (label, weight) = self.examples.truth[row];
        self.drop_features(row);
        self.predict(model);
        let loss = -f64::from(self.sums[label].max(1e-12).ln());
        let smoothing = self.settings.smoothing;
        let rest = smoothing / self.settings.labels as f32;
        for (at, sum) in self.sums.iter_mut().enumerate() {
            *sum = weight * (*sum - rest - if at == label { 1.0 - smoothing } else { 0.0 });
        }
        model.biases.step(0, self.sums.iter().copied(), rate);
        for &(start, amount) in &self.kept {
            let slopes = self.sums.iter().map(|slope| amount * slope);
            model.weights.step(start, slopes, rate);
        }
        loss
    }

    /// Keeps a random part of the features of a row.
    fn drop_features(&mut self, row: usize) {
        let dropout = self.settings.dropout;
        let keep = ((1.0 - dropout) * u32::MAX as f64) as u32;
        self.kept.clear();
        for at in self.examples.starts[row]..self.examples.starts[row + 1] {
            if self.random.next() as u32 <= keep {
                let start = self.examples.owners[at] as usize * self.settings.labels;
                self.kept
                    .push((start, self.examples.amounts[at] / (1.0 - dropout as f32)));
            }
        }
    }

    /// Computes the probability of each label for the kept features.
    fn predict(&mut self, model: &Model) {
        let sums = &mut self.sums;
        sums.copy_from_slice(&model.biases.values);
        for &(start, amount) in &self.kept {
            for (sum, weight) in sums.iter_mut().zip(&model.weights.values[start..]) {
                *sum += amount * weight;
            }
        }
        let top = sums.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        sums.iter_mut().for_each(|sum| *sum = (*sum - top).exp());
        let total: f32 = sums.iter().sum();
        sums.iter_mut().for_each(|sum| *sum /= total);
    }
}
