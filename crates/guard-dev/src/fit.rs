//! `fit FEATURES.bin LABELS.bin OUT.bin LABEL_COUNT EPOCHS RATE DROPOUT SMOOTHING SEED`: fits a linear model.
//!
//! FEATURES.bin is what `features` writes; LABELS.bin has a u32 label and an f32 weight for each row, little-endian. OUT.bin
//! gets the biases and then the weights, bucket by bucket, as f32. The model is a multinomial logistic regression, fitted by
//! stochastic gradient descent with a step of its own for each weight (AdaGrad: Duchi et al., JMLR 2011) that falls to
//! nothing over the epochs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use crate::Outcome;

fn numbers<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.chunks_exact(N).map(|chunk| {
        let mut number = [0; N];
        number.copy_from_slice(chunk);
        number
    })
}

/// Random numbers by xorshift64 with the shifts 13, 7 and 17 (Marsaglia 2003, "Xorshift RNGs", Journal of Statistical Software
/// 8(14)).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

pub fn run(arguments: &[String]) -> Outcome {
    let [features, labels, out, count, epochs, rate, dropout, smoothing, seed] = arguments else {
        return Err("usage: guard-dev fit FEATURES LABELS OUT LABEL_COUNT EPOCHS RATE DROPOUT SMOOTHING SEED".into());
    };
    let (count, epochs): (usize, usize) = (count.parse()?, epochs.parse()?);
    let (rate, dropout, smoothing): (f32, f64, f32) = (rate.parse()?, dropout.parse()?, smoothing.parse()?);
    let mut random = Random(seed.parse::<u64>()? | 1);

    let bytes = std::fs::read(features)?;
    let header: Vec<usize> = numbers(&bytes[..24])
        .map(|number| u64::from_le_bytes(number) as usize)
        .collect();
    let [rows, buckets, values] = header[..] else {
        return Err("a short header".into());
    };
    let (starts, rest) = bytes[24..].split_at(8 * (rows + 1));
    let (owners, amounts) = rest.split_at(4 * values);
    let starts: Vec<usize> = numbers(starts)
        .map(|number| u64::from_le_bytes(number) as usize)
        .collect();
    let owners: Vec<u32> = numbers(owners).map(u32::from_le_bytes).collect();
    let amounts: Vec<f32> = numbers(amounts).map(f32::from_le_bytes).collect();
    let truth: Vec<(usize, f32)> = numbers::<8>(&std::fs::read(labels)?)
        .map(|n| {
            let label = u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize;
            (label, f32::from_le_bytes([n[4], n[5], n[6], n[7]]))
        })
        .collect();
    drop(bytes);

    let mut weights = vec![0.0f32; buckets * count];
    let mut squares = vec![1e-3f32; buckets * count];
    let (mut biases, mut bias_squares) = (vec![0.0f32; count], vec![1e-3f32; count]);
    let mut order: Vec<usize> = (0..rows).collect();
    let keep = ((1.0 - dropout) * u32::MAX as f64) as u32;
    let mut kept: Vec<(usize, f32)> = Vec::new();
    let mut sums = vec![0.0f32; count];
    for epoch in 0..epochs {
        for at in (1..rows).rev() {
            order.swap(at, (random.next() % (at as u64 + 1)) as usize);
        }
        let mut loss = 0.0f64;
        for (step, &row) in order.iter().enumerate() {
            let done = (epoch * rows + step) as f32 / (epochs * rows) as f32;
            let rate = rate * (1.0 - done);
            let (label, weight) = truth[row];
            kept.clear();
            for at in starts[row]..starts[row + 1] {
                if random.next() as u32 <= keep {
                    kept.push((owners[at] as usize * count, amounts[at] / (1.0 - dropout as f32)));
                }
            }
            sums.copy_from_slice(&biases);
            for &(start, amount) in &kept {
                for (sum, weight) in sums.iter_mut().zip(&weights[start..start + count]) {
                    *sum += amount * weight;
                }
            }
            let top = sums.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            sums.iter_mut().for_each(|sum| *sum = (*sum - top).exp());
            let total: f32 = sums.iter().sum();
            sums.iter_mut().for_each(|sum| *sum /= total);
            loss -= f64::from(sums[label].max(1e-12).ln());
            let rest = smoothing / count as f32;
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum = weight * (*sum - rest - if at == label { 1.0 - smoothing } else { 0.0 });
            }
            for ((bias, square), slope) in biases.iter_mut().zip(&mut bias_squares).zip(&sums) {
                *square += slope * slope;
                *bias -= rate * slope / square.sqrt();
            }
            for &(start, amount) in &kept {
                let own = weights[start..start + count]
                    .iter_mut()
                    .zip(&mut squares[start..start + count]);
                for ((weight, square), slope) in own.zip(&sums) {
                    let slope = amount * slope;
                    *square += slope * slope;
                    *weight -= rate * slope / square.sqrt();
                }
            }
        }
        println!("epoch {}: loss {:.4}", epoch + 1, loss / rows as f64);
    }
    let mut file = BufWriter::new(File::create(out)?);
    for number in biases.iter().chain(&weights) {
        file.write_all(&number.to_le_bytes())?;
    }
    file.flush()?;
    Ok(ExitCode::SUCCESS)
}
