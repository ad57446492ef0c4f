//! What goes on step by step: physics, epidemics, markets, automata.

use wharf::tensor::{Conv, Pad};
use wharf::{DType, Result, Tensor};

use super::support::{check, numbers};

#[test]
fn lorenz() {
    check("lorenz", async |device| {
        let mut state = ((numbers(device, [3, 4], 1)? * 5.0)? + 10.0)?; // x, y, z of four of them
        let slope = |state: &Tensor| -> Result<Tensor> {
            let [x, y, z] = state.unstack(0)?;
            let dx = ((&y - &x)? * 10.0)?;
            let dy = ((&x * (28.0f32 - &z)?)? - &y)?;
            let dz = ((&x * &y)? - (&z * (8.0 / 3.0))?)?;
            Tensor::stack(&[dx, dy, dz], 0)
        };
        let step = 0.01f32;
        for _ in 0..8 {
            let a = slope(&state)?;
            let b = slope(&a.mul_add(step / 2.0, &state)?)?;
            let c = slope(&b.mul_add(step / 2.0, &state)?)?;
            let d = slope(&c.mul_add(step, &state)?)?;
            state += (((a + d)? + ((b + c)? * 2.0)?)? * (step / 6.0))?;
        }
        Ok(state)
    });
}

#[test]
fn epidemic() {
    check("epidemic", async |device| {
        let (spread, _) = device.upload(&[0.2f32, 0.35, 0.5], 3)?;
        let mut ill = device.full(3, 0.01, DType::F32)?;
        let (mut well, mut immune) = ((1.0f32 - &ill)?, device.zeros(3, DType::F32)?);
        let mut days = Vec::new();
        for _ in 0..30 {
            let caught = ((&spread * &well)? * &ill)?;
            let healed = (&ill * 0.1)?;
            (well, immune) = ((well - &caught)?, (immune + &healed)?);
            ill += caught;
            ill -= healed;
            days.push(ill.clone());
        }
        let days = Tensor::stack(&days, 0)?;
        let (most, worst) = (days.amax(0)?, days.argmax(0)?.cast(DType::F32)?);
        Tensor::stack(&[well, immune, most, worst], 0)
    });
}

#[test]
fn reaction_diffusion() {
    check("reaction_diffusion", async |device| {
        let mut both = Tensor::stack(
            &[device.ones([8, 8], DType::F32)?, device.zeros([8, 8], DType::F32)?],
            0,
        )?;
        both.assign_at((0, 2..5, 3..6), 0.5)?;
        both.assign_at((1, 2..5, 3..6), &(numbers(device, [3, 3], 2)? * 0.1)?.abs()?)?;
        let (ring, _) =
            device.tensor([[0.05f32, 0.2, 0.05], [0.2, -1.0, 0.2], [0.05, 0.2, 0.05]])?;
        let ring = ring.broadcast_to([2, 1, 3, 3])?;
        let (speed, _) = device.upload(&[1.0f32, 0.5], [2, 1, 1])?;
        for _ in 0..12 {
            let padded = both.pad(&[(0, 0), (1, 1), (1, 1)], Pad::Wrap)?.unsqueeze(0)?;
            let flow = padded.conv2d(&ring, None, &Conv::new().groups(2))?.squeeze(0)?;
            let [u, v] = both.unstack(0)?;
            let turned = (&u * v.square()?)?;
            let fed = (((1.0f32 - &u)? * 0.055)? - &turned)?;
            let left = (turned - (&v * (0.055 + 0.062))?)?;
            both += (flow * &speed)?;
            both += Tensor::stack(&[fed, left], 0)?;
        }
        Ok(both)
    });
}

#[test]
fn waves() {
    check("waves", async |device| {
        let place = device.linspace(0.0, 1.0, 21, DType::F32)?;
        let bump = (((&place - 0.3)? / 0.1)?.square()? * -1.0)?.exp()?;
        let mut now = bump.masked_fill(&place.le(0.0)?, 0.0)?;
        now.assign_slice(0, -1.., 0.0)?;
        let mut before = now.clone();
        let mut energy = Vec::new();
        for _ in 0..20 {
            let bend =
                ((now.slice(0, 2..)? + now.slice(0, ..-2)?)? - (now.slice(0, 1..-1)? * 2.0)?)?;
            let inner = ((now.slice(0, 1..-1)? * 2.0)? - before.slice(0, 1..-1)?)?;
            let inner = (inner + (bend * 0.49)?)?; // Courant's number, 0.7, squared
            let next = inner.pad(&[(1, 1)], 0.0)?;
            energy.push((&next - &now)?.square()?.sum(..)?);
            (before, now) = (now, next);
        }
        Tensor::concat(&[now, Tensor::stack(&energy, 0)?], 0)
    });
}

#[test]
fn black_scholes() {
    check("black_scholes", async |device| {
        let strike = device.linspace(80.0, 120.0, 5, DType::F32)?;
        let (years, _) = device.upload(&[0.25f32, 1.0, 2.0], [3, 1])?;
        let (spot, rate, swing) = (100.0f32, 0.03f32, 0.2f32);
        let root = (years.sqrt()? * swing)?;
        let drift = (&years * (rate + swing * swing / 2.0))?;
        let high = (((spot / &strike)?.ln()? + drift)? / &root)?;
        let low = (&high - root)?;
        let below = |x: &Tensor| ((x / 2f32.sqrt())?.erf()? + 1.0)? / 2.0;
        let owed = (strike * (&years * -rate)?.exp()?)?;
        let call = ((below(&high)? * spot)? - (&owed * below(&low)?)?)?;
        let put = ((&call - spot)? + owed)?;
        let density = ((high.square()? / -2.0)?.exp()? / core::f32::consts::TAU.sqrt())?;
        let vega = ((density * years.sqrt()?)? * (spot / 100.0))?;
        Tensor::stack(&[(call / spot)?, (put / spot)?, below(&high)?, vega], 0)
    });
}

#[test]
fn asian_option() {
    check("asian_option", async |device| {
        let luck = numbers(device, [32, 8], 3)?;
        let luck = Tensor::concat(&[&luck, &luck.neg()?], 0)?; // antithetic
        let steps = ((luck * (0.25 * 0.125f32.sqrt()))? + (0.02 - 0.25 * 0.25 / 2.0) * 0.125)?;
        let price = (steps.cumsum(1)?.exp()? * 50.0)?;
        let by_mean = (price.mean(1)? - 50.0)?.relu()?;
        let by_product = (price.ln()?.mean(1)?.exp()? - 50.0)?.relu()?; // the control
        let knocked = price.amax(1)?.gt(56.03)?;
        let barrier = (price.at((.., -1))? - 50.0)?.relu()?.masked_fill(&knocked, 0.0)?;
        let [x, y] = [&by_mean, &by_product].map(|x| x.sub(x.mean(..)?));
        let (x, y) = (x?, y?);
        let slope = (x.dot(&y)? / y.dot(&y)?)?;
        let ends = [by_mean.mean(..)?, by_mean.std(.., 1)?, barrier.mean(..)?, slope];
        let ends = Tensor::stack(&ends, 0)?;
        Tensor::concat(&[ends, price.quantile(0, 0.05)?, price.median(0)?], 0)
    });
}

#[test]
fn drawdown() {
    check("drawdown", async |device| {
        let gains = (numbers(device, [2, 30], 4)? * 0.05)?;
        let wealth = (gains + 1.0)?.cumprod(1)?;
        let peak = wealth.cummax(1)?;
        let lost = (1.0f32 - (&wealth / &peak)?)?;
        let (worst, when) = (lost.amax(1)?, lost.argmax(1)?);
        let at_worst = wealth.gather(1, &when.unsqueeze(1)?)?.squeeze(1)?;
        let under = lost.gt(0.0)?.cast(DType::I32)?;
        // The longest time under water: how far each day is from the last one that was not.
        let day = device.arange(0, 30, 1, DType::I32)?;
        let dry = under.eq(0)?.choose(&day, -1)?.cummax(1)?;
        let longest = (day - dry)?.amax(1)?.cast(DType::F32)?;
        let span = wealth.windows(1, 5, 1)?;
        let range = (span.amax(-1)? - span.amin(-1)?)?;
        let trend = Tensor::stack(&[worst, at_worst, longest], 1)?;
        Tensor::concat(&[trend, range], 1)
    });
}

#[test]
fn automaton() {
    check("automaton", async |device| {
        let mut cells = device.zeros(16, DType::U32)?;
        cells.assign_at(13, 1)?;
        let mut rows = vec![cells.clone()];
        for _ in 0..9 {
            let place = ((cells.roll(0, 1)? << 2)? | (&cells << 1)?)? | cells.roll(0, -1)?;
            cells = (110u32 >> place?)?.bit_and(1)?;
            rows.push(cells.clone());
        }
        Tensor::stack(&rows, 0)
    });
}
