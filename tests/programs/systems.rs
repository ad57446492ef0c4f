//! What is made of systems of equations, inverses and determinants.

use wharf::{Axes, DType, Device, Result, Tensor};

use super::support::{check, numbers};

/// Numbers as a list.
fn listed(numbers: &[Tensor]) -> Result<Tensor> {
    Tensor::stack(numbers, 0)
}

#[test]
fn implicit_euler() {
    check("implicit_euler", async |device| {
        // Van der Pol's oscillators, so stiff that steps ahead of time would have to be short.
        let (stiff, _) = device.upload(&[4.0f32, 8.0, 12.0], 3)?;
        let mut state = (numbers(device, [3, 2], 1)? + 1.2)?;
        let (step, eye) = (0.2f32, device.eye(2, 2, DType::F32)?);
        let (zeros, ones) = (device.zeros(3, DType::F32)?, device.ones(3, DType::F32)?);
        for _ in 0..6 {
            let before = state.clone();
            for _ in 0..6 {
                let [x, v] = state.unstack(1)?;
                let damp = ((1.0f32 - x.square()?)? * &stiff)?;
                let pull = ((&damp * &v)? - &x)?;
                let slope = Tensor::stack(&[v.clone(), pull], 1)?;
                let twist = ((((&x * &v)? * -2.0)? * &stiff)? - 1.0)?;
                let rows = [[zeros.clone(), ones.clone()], [twist, damp]].concat();
                let bend = Tensor::stack(&rows, 1)?.reshape([3, 2, 2])?;
                let off = ((&state - &before)? - (slope * step)?)?;
                let newton = (&eye - (bend * step)?)?.solve(&off)?;
                state -= newton;
            }
        }
        Ok(state)
    });
}

#[test]
fn levenberg_marquardt() {
    check("levenberg_marquardt", async |device| {
        let x = device.linspace(0.0, 4.0, 20, DType::F32)?;
        let y = ((((&x * -1.3)?.exp()? * 2.0)? + 0.5)? + (numbers(device, 20, 2)? * 0.05)?)?;
        let (mut fit, _) = device.upload(&[1.0f32, 0.5, 0.0], 3)?;
        let mut errors = Vec::new();
        for step in 0..8 {
            let [size, rate, base] = fit.unstack(0)?;
            let power = (&x * rate.neg()?)?.exp()?;
            let off = (&y - ((&power * &size)? + base)?)?;
            errors.push(off.square()?.sum(..)?);
            let by_rate = (((&x * &power)? * size)? * -1.0)?;
            let slopes = Tensor::stack(&[&power, &by_rate, &power.powers_of(1.0)?], 1)?;
            let square = slopes.t()?.matmul(&slopes)?;
            let damped = (&square + (square.diag(0)?.diag(0)? * 0.1f32.powi(step))?)?;
            fit += damped.solve(&slopes.t()?.matmul(&off)?)?;
        }
        Tensor::concat(&[fit, listed(&errors)?], 0)
    });
}

#[test]
fn discriminant() {
    check("discriminant", async |device| {
        let class = (device.arange(0, 30, 1, DType::U32)? % 3)?;
        let members = class.one_hot(3, DType::F32)?;
        let spread = (members.matmul(&numbers(device, [3, 2], 3)?)? + 1.4)?;
        let x = ((numbers(device, [30, 2], 4)? * spread)?
            + members.matmul(&numbers(device, [3, 2], 5)?)?)?;
        let count = members.sum(0)?.unsqueeze(1)?;
        let means = (members.t()?.matmul(&x)? / &count)?;
        let off = (&x - means.embedding(&class)?)?;
        let wide =
            (Tensor::einsum("nc,ni,nj->cij", &[&members, &off, &off])? / count.unsqueeze(2)?)?;
        let to_all = (x.unsqueeze(1)? - &means)?;
        let far = Tensor::einsum("nci,cij,ncj->nc", &[&to_all, &wide.inv()?, &to_all])?;
        let nats = ((far + wide.det()?.ln()?)? * -0.5)?;
        let share = nats.softmax(1)?;
        let right = share.argmax(1)?.eq(&class)?.cast(DType::F32)?.mean(..)?;
        Tensor::concat(&[share.flatten(..)?, wide.det()?, right.unsqueeze(0)?], 0)
    });
}

#[test]
fn absorbing_chain() {
    check("absorbing_chain", async |device| {
        let moves = (numbers(device, [5, 7], 6)? * 1.5)?.softmax(1)?; // five states, and two ends
        let (among, out) = (moves.at((.., ..5))?, moves.at((.., 5..))?);
        let stays = (device.eye(5, 5, DType::F32)? - &among)?;
        let visits = stays.inv()?;
        let steps = visits.sum(1)?;
        let ends = visits.matmul(&out)?;
        let spread = ((((&visits * 2.0)? - device.eye(5, 5, DType::F32)?)?.matmul(&steps)?)
            - steps.square()?)?;
        // Sent back to where it began, it has a share of its time everywhere.
        let back = (&among + (out.sum(Axes::keep(1))? * 0.2)?)?;
        let mut system = (back.t()? - device.eye(5, 5, DType::F32)?)?.contiguous()?;
        system.assign_at(4, 1.0)?;
        let share = system.solve(&device.eye(5, 5, DType::F32)?.at(4)?)?;
        Tensor::concat(&[steps, ends.flatten(..)?, spread, share], 0)
    });
}

#[test]
fn factored_once() {
    check("factored_once", async |device| {
        let a = numbers(device, [6, 6], 8)?;
        let lu = a.lu()?;
        let mut x = numbers(device, 6, 9)?;
        let mut all = Vec::new();
        for _ in 0..3 {
            let next = lu.solve(&x)?;
            let size = next.norm(..)?;
            x = (next / &size)?;
            all.push(size);
        }
        let value = x.dot(&a.matmul(&x)?)?; // of the eigenvalue that is nearest to 0
        let (sign, nats) = a.slogdet()?;
        let same = ((&sign * nats.exp()?)? / a.det()?)?;
        Tensor::concat(&[x, listed(&all)?, listed(&[value, nats, sign, same])?], 0)
    });
}

/// How a thin plate bends by its distance from where it is held.
fn plate(from: &Tensor, to: &Tensor) -> Result<Tensor> {
    let square = (from.unsqueeze(1)? - to)?.square()?.sum(-1)?;
    let bend = (&square * square.maximum(1e-30)?.ln()?)?;
    square.gt(0.0)?.choose(bend, 0.0)
}

#[test]
fn thin_plate_spline() {
    check("thin_plate_spline", async |device| {
        let held = numbers(device, [7, 2], 10)?;
        let moved = (&held + (numbers(device, [7, 2], 11)? * 0.2)?)?;
        let flat = |x: &Tensor| x.pad(&[(0, 0), (1, 0)], 1.0);
        let mut system = device.zeros([10, 10], DType::F32)?;
        system.assign_at((..7, ..7), &plate(&held, &held)?)?;
        system.assign_at((..7, 7..), &flat(&held)?)?;
        system.assign_at((7.., ..7), &flat(&held)?.t()?)?;
        let weights = system.solve(&moved.pad(&[(0, 3), (0, 0)], 0.0)?)?;
        let side = device.linspace(-0.8, 0.8, 3, DType::F32)?;
        let grid = Tensor::stack(&Tensor::meshgrid(&[&side, &side])?, -1)?.flatten(..2)?;
        let basis = Tensor::concat(&[plate(&grid, &held)?, flat(&grid)?], 1)?;
        let bent = weights.at(..7)?;
        let energy = Tensor::einsum("ni,nm,mi->i", &[&bent, &plate(&held, &held)?, &bent])?;
        Tensor::concat(&[basis.matmul(&weights)?.flatten(..)?, energy], 0)
    });
}

#[test]
fn smoothed_states() {
    check("smoothed_states", async |device| {
        let (go, _) = device.tensor([[1.0f32, 0.5], [0.0, 0.9]])?;
        let noise = (device.eye(2, 2, DType::F32)? * 0.05)?;
        let seen = numbers(device, 10, 12)?;
        let (mut x, mut p) = (device.zeros(2, DType::F32)?, device.eye(2, 2, DType::F32)?);
        let mut known = Vec::new();
        for time in 0..10 {
            let ahead = (go.matmul(&x)?, (go.matmul(&p)?.matmul(&go.t()?)? + &noise)?);
            let gain = (ahead.1.at((.., 0))? / (ahead.1.at((0, 0))? + 0.3)?)?;
            x = (&ahead.0 + (&gain * (seen.at(time)? - ahead.0.at(0)?)?)?)?;
            p = (&ahead.1 - gain.outer(&ahead.1.at(0)?)?)?;
            known.push((x.clone(), p.clone(), ahead));
        }
        // And back, from what came later: Rauch, Tung and Striebel's.
        let mut all = vec![Tensor::concat(&[x.clone(), p.diag(0)?], 0)?];
        for time in (0..9).rev() {
            let (own, spread) = (&known[time].0, &known[time].1);
            let (guess, width) = &known[time + 1].2;
            let gain = spread.matmul(&go.t()?)?.matmul(&width.inv()?)?;
            x = (own + gain.matmul(&(x - guess)?)?)?;
            p = (spread + gain.matmul(&(p - width)?)?.matmul(&gain.t()?)?)?;
            all.push(Tensor::concat(&[x.clone(), p.diag(0)?], 0)?);
        }
        Tensor::stack(&all, 0)
    });
}

#[test]
fn newton_system() {
    check("newton_system", async |device| {
        // Where x^2 + y^2 is 4 and e^x + y is 1, from several starts at once.
        let (mut at, _) = device.tensor([[1.0f32, -1.5], [-2.0, 1.0], [0.5, -2.0], [-1.0, 0.6]])?;
        let ones = device.ones(4, DType::F32)?;
        let mut lengths = Vec::new();
        for _ in 0..6 {
            let [x, y] = at.unstack(1)?;
            let circle = ((x.square()? + y.square()?)? - 4.0)?;
            let curve = ((x.exp()? + &y)? - 1.0)?;
            let off = Tensor::stack(&[circle, curve], 1)?;
            let rows = [(&x * 2.0)?, (&y * 2.0)?, x.exp()?, ones.clone()];
            let bend = Tensor::stack(&rows, 1)?.reshape([4, 2, 2])?;
            at -= Tensor::einsum("nij,nj->ni", &[&bend.inv()?, &off])?;
            lengths.push(off.norm(-1)?);
        }
        Tensor::concat(&[at.t()?, Tensor::stack(&lengths, 0)?], 0)
    });
}

#[test]
fn inside_triangles() {
    check("inside_triangles", async |device| {
        let corners = ((numbers(device, [4, 3, 2], 13)?.square()? * 3.0)? - 1.2)?;
        let points = numbers(device, [6, 2], 14)?;
        // Twice the area, above 0 counterclockwise.
        let area = |corners: &Tensor| {
            let ones = device.ones([6, 4, 3, 1], DType::F32)?;
            Tensor::concat(&[corners.clone(), ones], -1)?.det()
        };
        let all = corners.broadcast_to([6, 4, 3, 2])?;
        let whole = area(&all)?;
        let point = points.reshape([6, 1, 1, 2])?.broadcast_to([6, 4, 1, 2])?;
        let mut shares = Vec::new();
        for corner in 0..3 {
            let mut replaced = all.contiguous()?;
            replaced.assign_slice(2, corner..=corner, &point)?;
            shares.push((area(&replaced)? / &whole)?);
        }
        let shares = Tensor::stack(&shares, -1)?;
        let inside = shares.ge(0.0)?.all(-1)?;
        let heat = Tensor::einsum("ptc,tc->pt", &[&shares, &numbers(device, [4, 3], 15)?])?;
        let seen = inside.choose(heat, -9.0)?;
        Tensor::concat(&[shares.flatten(..)?, seen.flatten(..)?], 0)
    });
}

/// Powers of places, as columns.
fn powers(device: &Device, x: &Tensor, count: usize) -> Result<Tensor> {
    let exponent = device.arange(0, count, 1, DType::F32)?;
    x.unsqueeze(1)?.broadcast_to([x.dim(0)?, count])?.pow(&exponent)
}

#[test]
fn ridge_path() {
    check("ridge_path", async |device| {
        let x = device.linspace(-1.0, 1.0, 16, DType::F32)?;
        let y = ((&x * 2.5)?.sin()? + (numbers(device, 16, 16)? * 0.2)?)?;
        let basis = powers(device, &x, 4)?;
        let (weak, _) = device.upload(&[0.05f32, 0.3, 1.0, 5.0], [4, 1, 1])?;
        let square = basis.t()?.matmul(&basis)?;
        let systems = (square + (device.eye(4, 4, DType::F32)? * weak)?)?;
        let fits = systems.solve(&basis.t()?.matmul(&y)?)?;
        // What each would miss if it had not been there: by the diagonal of the hat matrix.
        let hats = basis.matmul(&systems.solve(&basis.t()?.unsqueeze(0)?)?)?;
        let own = Tensor::einsum("lnn->ln", &[&hats])?;
        let off = ((&y - fits.matmul(&basis.t()?)?)? / (1.0f32 - &own)?)?;
        let scores = off.square()?.mean(1)?;
        let best = fits.index_select(0, &scores.argmin(0)?.unsqueeze(0)?)?;
        Tensor::concat(&[fits.flatten(..)?, scores, own.sum(1)?, best.flatten(..)?], 0)
    });
}
