//! Losses, measures and the steps of optimisers.

use wharf::tensor::{Conv, Order, Pooling};
use wharf::{Axes, DType, Result, Tensor};

use super::support::{check, numbers};

/// Numbers side by side in one list.
fn listed(numbers: &[Tensor]) -> Result<Tensor> {
    Tensor::stack(numbers, 0)
}

#[test]
fn clip_loss() {
    check("clip_loss", async |device| {
        let [images, texts] = [1, 2].map(|seed| numbers(device, [5, 4], seed));
        let scale = device.full((), 1.5, DType::F32)?.exp()?;
        let scores = (images?.unit(-1)?.matmul(&texts?.unit(-1)?.t()?)? * scale)?;
        let own = device.arange(0, 5, 1, DType::I32)?;
        let (by_rows, by_columns) =
            (scores.cross_entropy(1, &own)?, scores.cross_entropy(0, &own)?);
        let loss = ((by_rows.mean(..)? + by_columns.mean(..)?)? / 2.0)?;
        let hits = scores.argmax(1)?.cast(DType::I32)?.eq(&own)?.cast(DType::F32)?.mean(..)?;
        listed(&[loss, hits])
    });
}

#[test]
fn triplet_loss() {
    check("triplet_loss", async |device| {
        let x = numbers(device, [8, 3], 3)?;
        let class = (device.arange(0, 8, 1, DType::I32)? % 3)?;
        let square = x.square()?.sum(-1)?;
        let far = ((square.unsqueeze(1)? + &square)? - (x.matmul(&x.t()?)? * 2.0)?)?;
        let far = far.maximum(1e-12)?.sqrt()?;
        let same = class.unsqueeze(1)?.eq(&class)?;
        let other = device.eye(8, 8, DType::Bool)?.not()?;
        let friend = (&same & &other)?.choose(&far, 0.0)?.amax(1)?;
        let stranger = far.masked_fill(&same, f32::INFINITY)?.amin(1)?;
        ((friend - stranger)? + 0.3)?.relu()
    });
}

#[test]
fn focal_loss() {
    check("focal_loss", async |device| {
        let scores = (numbers(device, [3, 7], 4)? * 4.0)?;
        let wanted = numbers(device, [3, 7], 5)?.gt(0.25)?.cast(DType::F32)?;
        let entropy = (scores.softplus()? - (&scores * &wanted)?)?;
        let right = entropy.neg()?.exp()?;
        let share = ((wanted * -0.5)? + 0.75)?; // 0.25 of what is wanted
        (share * (1.0f32 - right)?.square()?)? * entropy
    });
}

#[test]
fn label_smoothing() {
    check("label_smoothing", async |device| {
        let scores = (numbers(device, [6, 4], 6)? * 3.0)?;
        let class = (device.arange(0, 6, 1, DType::I32)? % 4)?;
        let wanted = ((class.one_hot(4, DType::F32)? * 0.9)? + 0.1 / 4.0)?;
        let spread = (wanted * scores.log_softmax(-1)?)?.sum(-1)?.neg()?;
        let mixed = ((scores.cross_entropy(-1, &class)? * 0.9)?
            - (scores.log_softmax(-1)?.mean(-1)? * 0.1)?)?;
        Tensor::stack(&[spread, mixed], 0)
    });
}

#[test]
fn distillation() {
    check("distillation", async |device| {
        let [teacher, student] = [7, 8].map(|seed| numbers(device, [4, 5], seed)? * 3.0);
        let [told, learned] = [&teacher?, &student?].map(|x| (x / 2.0)?.log_softmax(-1));
        let (told, learned) = (told?, learned?);
        let apart = (told.exp()? * (&told - &learned)?)?.sum(-1)?;
        let back = (learned.exp()? * (&learned - &told)?)?.sum(-1)?;
        let middle = Tensor::stack(&[&told, &learned], 0)?.logsumexp(0)?;
        let middle = (middle - 2f32.ln())?;
        let halves = [&told, &learned].map(|x| (x.exp()? * (x - &middle)?)?.sum(-1));
        let [one, other] = halves;
        Tensor::stack(&[(apart * 4.0)?, (back * 4.0)?, ((one? + other?)? / 2.0)?], 0)
    });
}

#[test]
fn dice_loss() {
    check("dice_loss", async |device| {
        let scores = (numbers(device, [2, 3, 4, 5], 9)? * 2.0)?; // [n, classes, height, width]
        let truth = ((numbers(device, [2, 4, 5], 10)? + 1.0)? * 1.4)?.cast(DType::I32)?;
        let wanted = truth.one_hot(3, DType::F32)?.move_axis(-1, 1)?;
        let (share, over) = (scores.softmax(1)?, [0, 2, 3]);
        let both = (&share * &wanted)?.sum(over)?;
        let dice = (((both * 2.0)? + 1.0)? / ((share.sum(over)? + wanted.sum(over)?)? + 1.0)?)?;
        let found = scores.argmax(1)?.one_hot(3, DType::Bool)?;
        let truth = truth.one_hot(3, DType::Bool)?;
        let [both, either] = [&found & &truth, &found | &truth];
        let counts = |x: Tensor| x.sum([0, 1, 2])?.cast(DType::F32);
        Tensor::stack(&[(1.0 - dice)?, (counts(both?)? / counts(either?)?)?], 0)
    });
}

#[test]
fn robust_losses() {
    check("robust_losses", async |device| {
        let off = ((numbers(device, 12, 11)? - numbers(device, 12, 12)?)? * 2.0)?;
        let size = off.abs()?;
        let huber = size.le(1.0)?.choose((off.square()? / 2.0)?, (&size - 0.5)?)?;
        let pinball = (&off * 0.8)?.maximum((&off * -0.2)?)?;
        let logcosh = off.cosh()?.ln()?;
        let hinge = (1.0f32 - &off)?.maximum(0.0)?;
        let tukey = (1.0f32 - (&off / 3.0)?.square()?)?.maximum(0.0)?.pow(3.0)?;
        Tensor::stack(&[huber, pinball, logcosh, hinge, tukey], 0)
    });
}

#[test]
fn confusion_matrix() {
    check("confusion_matrix", async |device| {
        let found = numbers(device, [40, 4], 13)?.square()?.argmax(-1)?;
        let truth = (device.arange(0, 40, 1, DType::U32)? % 4)?;
        let counts = ((&truth * 4)? + &found)?.bincount(16)?.reshape([4, 4])?;
        let right = counts.diag(0)?.cast(DType::F32)?;
        let precision = (&right / counts.sum(0)?.maximum(1)?.cast(DType::F32)?)?;
        let recall = (&right / counts.sum(1)?.cast(DType::F32)?)?;
        let f1 = (((&precision * &recall)? * 2.0)? / (&precision + &recall)?.maximum(1e-9)?)?;
        let accuracy = found.eq(&truth)?.count_nonzero(..)?.unsqueeze(0)?.cast(DType::F32)?;
        Tensor::concat(&[counts.cast(DType::F32)?.flatten(..)?, precision, recall, f1, accuracy], 0)
    });
}

#[test]
fn roc_curve() {
    check("roc_curve", async |device| {
        let score = numbers(device, 30, 14)?;
        let truth = (&score + numbers(device, 30, 15)?)?.gt(0.21)?;
        let order = score.argsort(0, Order::Descending)?;
        let hits = truth.take(&order)?.cast(DType::F32)?.cumsum(0)?;
        let false_alarms = (device.arange(1, 31, 1, DType::F32)? - &hits)?;
        let share = |x: &Tensor| x.div(x.at(-1)?);
        let (up, right) = (share(&hits)?, share(&false_alarms)?);
        let step = (right.slice(0, 1..)? - right.slice(0, ..-1)?)?;
        let mean = ((up.slice(0, 1..)? + up.slice(0, ..-1)?)? / 2.0)?;
        let area = (step * mean)?.sum(..)?;
        Tensor::concat(&[area.unsqueeze(0)?, up, right], 0)
    });
}

#[test]
fn adam_steps() {
    check("adam_steps", async |device| {
        let (x, truth) = (numbers(device, [20, 3], 16)?, numbers(device, 3, 17)?);
        let y = (x.matmul(&truth)? + (numbers(device, 20, 18)? * 0.1)?)?;
        let start = |number: f32| device.full(3, number, DType::F32);
        let (mut w, mut mean, mut square) = (start(0.0)?, start(0.0)?, start(0.0)?);
        for step in 1..=12 {
            let off = (x.matmul(&w)? - &y)?;
            let slope = (off.matmul(&x)? * (2.0 / 20.0))?;
            mean = slope.lerp(&mean, 0.9)?;
            square = slope.square()?.lerp(&square, 0.99)?;
            let [even, spread] =
                [(&mean, 0.9f32), (&square, 0.99)].map(|(x, b)| x / (1.0 - b.powi(step)));
            let change = (even? / (spread?.sqrt()? + 1e-8)?)?;
            w.assign((&w * (1.0 - 0.1 * 0.01))?)?; // decoupled decay of weights
            w.assign((&w - (change * 0.1)?)?)?;
        }
        Ok(w)
    });
}

#[test]
fn clipped_momentum() {
    check("clipped_momentum", async |device| {
        let x = numbers(device, [16, 4], 19)?;
        let class = numbers(device, 16, 20)?.gt(-0.1)?.cast(DType::F32)?;
        let (mut w, mut speed) = (numbers(device, 4, 21)?, device.zeros(4, DType::F32)?);
        let mut lengths = Vec::new();
        for step in 0..8 {
            let off = (x.matmul(&w)?.sigmoid()? - &class)?;
            let slope = (off.unsqueeze(1)? * &x)?.sum(0)?;
            let length = slope.norm(..)?;
            let slope = (slope * (&length + 1e-6)?.recip()?.minimum(1.0)?)?;
            speed = ((speed * 0.9)? + &slope)?;
            let rate = 0.25 * (1.0 + (step as f32 * core::f32::consts::PI / 8.0).cos());
            w -= ((slope + (&speed * 0.9)?)? * rate)?; // Nesterov's, with a cosine schedule
            lengths.push(length);
        }
        Tensor::concat(&[w, listed(&lengths)?], 0)
    });
}

#[test]
fn batch_statistics() {
    check("batch_statistics", async |device| {
        let (mut mean, mut var) = (device.zeros(3, DType::F32)?, device.ones(3, DType::F32)?);
        let (scale, bias) = (numbers(device, 3, 22)?, numbers(device, 3, 23)?);
        let mut y = None;
        for step in 0..3 {
            let x = (numbers(device, [4, 3, 2, 2], 24 + step)? * (1.0 + step as f32))?;
            let axes = [0, 2, 3];
            let (now, spread) = (x.mean(axes)?, x.var(axes, 0)?);
            y = Some(x.batch_norm(&now, &spread, Some(&scale), Some(&bias), 1e-5)?);
            mean = mean.lerp(now, 0.1)?;
            var = var.lerp(x.var(axes, 1)?, 0.1)?;
        }
        let last = y.map(|y| y.flatten(..)).transpose()?;
        Tensor::concat(&[Vec::from_iter(last), vec![mean, var]].concat(), 0)
    });
}

#[test]
fn nucleus() {
    check("nucleus", async |device| {
        let scores = (numbers(device, [4, 8], 27)? * 3.0)?;
        let share = (scores / 0.8)?.softmax(-1)?;
        let (sorted, order) = share.top_k(-1, 8)?;
        let keep = sorted.cumsum_exclusive(-1)?.lt(0.9)?; // the first that reaches it as well
        let kept = sorted.masked_fill(&keep.not()?, 0.0)?;
        let kept = (&kept / kept.sum(Axes::keep(-1))?)?;
        device.zeros([4, 8], DType::F32)?.scatter(-1, &order, &kept)
    });
}

#[test]
fn masked_perplexity() {
    check("masked_perplexity", async |device| {
        let scores = (numbers(device, [2, 5, 6], 28)? * 2.0)?;
        let (targets, _) = device.tensor([[1, 4, 0, -100, -100], [2, 2, 5, 3, -100]])?;
        let counts = targets.ge(0)?;
        let loss =
            scores.cross_entropy(-1, &targets.maximum(0)?)?.masked_fill(&counts.not()?, 0.0)?;
        let each = (loss.sum(1)? / counts.sum(1)?.cast(DType::F32)?)?;
        let all = (loss.sum(..)? / counts.count_nonzero(..)?.cast(DType::F32)?)?;
        Tensor::concat(&[each.exp()?, all.exp()?.unsqueeze(0)?], 0)
    });
}

#[test]
fn back_propagation() {
    check("back_propagation", async |device| {
        let (x, y) = (numbers(device, [10, 3], 29)?, numbers(device, [10, 2], 30)?);
        let (mut w1, mut w2) = (numbers(device, [3, 5], 31)?, numbers(device, [5, 2], 32)?);
        let (mut b1, mut losses) = (device.zeros(5, DType::F32)?, Vec::new());
        for _ in 0..6 {
            let hidden = (x.matmul(&w1)? + &b1)?.tanh()?;
            let off = (hidden.matmul(&w2)? - &y)?;
            losses.push(off.square()?.mean(..)?);
            let back = (off * (2.0 / 20.0))?;
            let slope = (back.matmul(&w2.t()?)? * (1.0f32 - hidden.square()?)?)?;
            w2 -= (hidden.t()?.matmul(&back)? * 0.3)?;
            w1 -= (x.t()?.matmul(&slope)? * 0.3)?;
            b1 -= (slope.sum(0)? * 0.3)?;
        }
        Tensor::concat(&[w1.flatten(..)?, b1, w2.flatten(..)?, listed(&losses)?], 0)
    });
}

#[test]
fn newton_logistic() {
    check("newton_logistic", async |device| {
        let place = numbers(device, 24, 33)?;
        let class = (&place + numbers(device, 24, 34)?)?.gt(0.17)?.cast(DType::F32)?;
        let x = Tensor::stack(&[&device.ones(24, DType::F32)?, &place], 1)?;
        let mut w = device.zeros(2, DType::F32)?;
        for _ in 0..4 {
            let share = x.matmul(&w)?.sigmoid()?;
            let slope = x.t()?.matmul(&(&class - &share)?)?;
            let sure = (&share * (1.0f32 - &share)?)?;
            let bend = Tensor::einsum("n,ni,nj->ij", &[&sure, &x, &x])?;
            let (a, b, d) = (bend.at((0, 0))?, bend.at((0, 1))?, bend.at((1, 1))?);
            let size = ((&a * &d)? - b.square()?)?;
            let turned = listed(&[d, b.neg()?, b.neg()?, a])?.reshape([2, 2])?;
            w += (turned.matmul(&slope)? / size)?;
        }
        Ok(w)
    });
}

/// A convolution, a pool and a row of weights: one step down the square of what is missing.
#[test]
fn convolution_step() {
    check("convolution_step", async |device| {
        let (x, target) = (numbers(device, [2, 2, 6, 6], 1)?, numbers(device, 2, 2)?);
        let (weight, row) = (numbers(device, [3, 2, 3, 3], 3)?, numbers(device, 27, 4)?);
        let (how, pool) = (Conv::new().padding([1, 1]), Pooling::new([2, 2]));
        let sums = x.conv2d(&weight, None, &how)?;
        let (most, places) = sums.relu()?.max_pool_with_indices(&pool)?;
        let pooled = most.reshape([2, 27])?;
        let missing = (pooled.matmul(&row)? - target)?;
        let arrives = missing.outer(&row)?.reshape(*most.shape())?;
        let arrives = arrives.max_pool_grad(&places, [6, 6], &pool)?;
        let arrives = (arrives * sums.gt(0.0)?.cast(DType::F32)?)?;
        let of_weight = arrives.conv_weight_grad(&x, [3, 3], &how)?;
        let of_input = arrives.conv_input_grad(&weight, [6, 6], &how)?;
        let weight = (weight - (of_weight * 0.01)?)?;
        let row = (row - (missing.matmul(&pooled)? * 0.01)?)?;
        Tensor::concat(&[weight.flatten(..)?, row, of_input.flatten(..)?], 0)
    });
}

#[test]
fn norm_gradients() {
    check("norm_gradients", async |device| {
        let (x, gain) = (numbers(device, [3, 6], 35)?, numbers(device, 6, 36)?);
        let back = numbers(device, [3, 6], 37)?;
        let (y, mean, scale) = x.layer_norm_with_stats(-1, None, None, 1e-3)?;
        let far = ((&x - &mean)? * &scale)?;
        let same = (&far - &y)?.abs()?.amax(..)?.lt(1e-5)?.cast(DType::F32)?;
        let told = (&back * &gain)?;
        let along = (&told * &y)?.mean(Axes::keep(-1))?;
        let through = (&told - told.mean(Axes::keep(-1))?)?;
        let of_x = ((through - (&y * along)?)? * &scale)?;
        let of_gain = (&back * &y)?.sum(0)?;
        let (y, scale) = x.rms_norm_with_stats(-1, None, 1e-3)?;
        let along = (&told * &y)?.mean(Axes::keep(-1))?;
        let of_rms = ((&told - (&y * along)?)? * &scale)?;
        let both = Tensor::stack(&[of_x, of_rms], 0)?.flatten(..)?;
        Tensor::concat(&[both, of_gain, mean.flatten(..)?, scale.flatten(..)?, listed(&[same])?], 0)
    });
}

#[test]
fn upsampling_step() {
    check("upsampling_step", async |device| {
        let (x, target) = (numbers(device, [2, 3, 4, 4], 38)?, numbers(device, [2, 2, 8, 8], 39)?);
        let weight = numbers(device, [3, 2, 3, 3], 40)?;
        let how = Conv::new().stride([2, 2]).padding([1, 1]).output_padding([1, 1]);
        let missing = (x.conv_transpose2d(&weight, None, &how)? - &target)?;
        let before = missing.square()?.sum(..)?.unsqueeze(0)?;
        let of_weight = missing.conv_transpose_weight_grad(&x, [3, 3], &how)?;
        let of_input = missing.conv_transpose_input_grad(&weight, &how)?;
        let weight = (weight - (of_weight * 0.01)?)?;
        let missing = (x.conv_transpose2d(&weight, None, &how)? - &target)?;
        let after = missing.square()?.sum(..)?.unsqueeze(0)?;
        Tensor::concat(&[weight.flatten(..)?, of_input.flatten(..)?, before, after], 0)
    });
}

#[test]
fn moments() {
    check("moments", async |device| {
        let mut weights = [numbers(device, [3, 2], 41)?, numbers(device, 4, 42)?.flip(0)?];
        for w in &mut weights {
            let (mut mean, mut power, mut decay) =
                (w.zeros_like()?, w.full_like(0.1)?, w.ones_like()?);
            for _ in 0..4 {
                let slope = (&*w * 2.0)?;
                mean = ((&mean * 0.9)? + (&slope * 0.1)?)?;
                power = ((&power * 0.95)? + (slope.square()? * 0.05)?)?;
                decay *= 0.9;
                let step = (&mean / &(1.0f32 - &decay)?)?;
                *w = (&*w - ((step / &power.sqrt()?)? * 0.1)?)?;
            }
        }
        Tensor::concat(&[weights[0].flatten(..)?, weights[1].clone()], 0)
    });
}
