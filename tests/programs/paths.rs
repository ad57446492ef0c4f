//! Ways through sequences and graphs, and what is found by words and bits.

use wharf::{Axes, DType, Device, Result, Tensor};

use super::support::{check, numbers};

/// Lengths of the edges of a graph, infinite where there is none.
fn lengths(device: &Device, count: usize, seed: usize) -> Result<Tensor> {
    let length = (numbers(device, [count, count], seed)? + 1.1)?;
    let none = length.gt(1.1)?.xor(&device.eye(count, count, DType::Bool)?)?;
    let length = length.masked_fill(&none, f32::INFINITY)?;
    length.masked_fill(&device.eye(count, count, DType::Bool)?, 0.0)
}

#[test]
fn edit_distance() {
    check("edit_distance", async |device| {
        let word = |text: &str| device.upload(text.as_bytes(), text.len());
        let ((one, _), (other, _)) = (word("intention to go")?, word("execution of two")?);
        let differs = one.unsqueeze(1)?.ne(&other)?.cast(DType::I32)?;
        let place = device.arange(0, other.dim(0)? + 1, 1, DType::I32)?;
        let mut row = place.clone();
        for i in 0..one.dim(0)? {
            let changed = (row.slice(0, ..-1)? + differs.at(i)?)?;
            let shorter = (&row + 1)?;
            let best = shorter.slice(0, 1..)?.minimum(&changed)?;
            let best = Tensor::concat(&[shorter.slice(0, ..1)?, best], 0)?;
            row = ((best - &place)?.cummin(0)? + &place)?; // and what is longer
        }
        Ok(row)
    });
}

#[test]
fn time_warping() {
    check("time_warping", async |device| {
        let (x, y) = (numbers(device, 7, 1)?.cumsum(0)?, numbers(device, 9, 2)?.cumsum(0)?);
        let far = (x.unsqueeze(1)? - y)?.abs()?;
        let mut row = device.full(9, f32::INFINITY, DType::F32)?;
        for i in 0..7 {
            let begin = if i == 0 { 0.0 } else { f32::INFINITY };
            let before = row.pad(&[(1, 0)], begin)?;
            let best = before.slice(0, ..-1)?.minimum(before.slice(0, 1..)?)?;
            let so_far = far.at(i)?.cumsum(0)?;
            row = ((best - (&so_far - far.at(i)?)?)?.cummin(0)? + so_far)?;
        }
        Ok(row)
    });
}

#[test]
fn hidden_posterior() {
    check("hidden_posterior", async |device| {
        let moves = (numbers(device, [3, 3], 3)? * 1.5)?.log_softmax(-1)?;
        let shows = (numbers(device, [3, 4], 4)? * 1.5)?.log_softmax(-1)?;
        let (seen, _) = device.upload(&[0, 3, 1, 1, 2, 0], 6)?;
        let told = shows.index_select(1, &seen)?.t()?; // [times, states]
        let mut ahead = vec![(told.at(0)? - 3f32.ln())?];
        for time in 1..6 {
            let before = ahead[time - 1].unsqueeze(1)?;
            ahead.push(((before + &moves)?.logsumexp(0)? + told.at(time)?)?);
        }
        let mut back = vec![device.zeros(3, DType::F32)?];
        for time in (1..6).rev() {
            let after = (told.at(time)? + &back[5 - time])?;
            back.push((&moves + after)?.logsumexp(1)?);
        }
        back.reverse();
        let all = ahead[5].logsumexp(..)?;
        let both = ((Tensor::stack(&ahead, 0)? + Tensor::stack(&back, 0)?)? - &all)?.exp()?;
        Tensor::concat(&[both.flatten(..)?, all.flatten(..)?], 0)
    });
}

#[test]
fn all_shortest_paths() {
    check("all_shortest_paths", async |device| {
        let mut far = lengths(device, 7, 5)?;
        let none = device.arange(0, 7, 1, DType::U32)?.broadcast_to([7, 7])?;
        let mut next = none.contiguous()?;
        for k in 0..7 {
            let through = (far.at((.., k..=k))? + far.at(k)?)?;
            let shorter = through.lt(&far)?;
            next = next.masked_fill(&shorter, &next.at((.., k..=k))?)?;
            far = far.minimum(&through)?;
        }
        // From 0 to everybody at once, one edge after the other.
        let to = device.arange(0, 7, 1, DType::U32)?;
        let (mut at, mut edges) = (device.zeros(7, DType::U32)?, device.zeros(7, DType::U32)?);
        for _ in 0..7 {
            edges += at.ne(&to)?.cast(DType::U32)?;
            at = next.take(&((&at * 7)? + &to)?)?;
        }
        Tensor::concat(&[far.flatten(..)?, edges.cast(DType::F32)?], 0)
    });
}

#[test]
fn relaxed_edges() {
    check("relaxed_edges", async |device| {
        let lengths = lengths(device, 8, 10)?;
        let edges = lengths.is_finite()?.nonzero().await?;
        let [from, to] = edges.unstack(1)?;
        let length = lengths.gather_nd(&edges)?;
        let mut far = device.full(8, f32::INFINITY, DType::F32)?;
        far.assign_at(2, 0.0)?;
        for _ in 0..7 {
            far = far.scatter_min(0, &to, &(far.take(&from)? + &length)?)?;
        }
        Ok(far)
    });
}

#[test]
fn graph_attention() {
    check("graph_attention", async |device| {
        let x = numbers(device, [5, 3], 7)?.linear(&numbers(device, [4, 3], 8)?, None)?;
        let (edges, _) = device.tensor([[0, 1, 2, 3, 4, 0, 2, 1], [1, 2, 0, 1, 3, 2, 1, 3]])?;
        let [from, to] = edges.unstack(0)?;
        let own = device.arange(0, 5, 1, DType::I32)?;
        let (from, to) = (Tensor::concat(&[&from, &own], 0)?, Tensor::concat(&[&to, &own], 0)?);
        let (sent, heard) =
            (x.matmul(&numbers(device, 4, 9)?)?, x.matmul(&numbers(device, 4, 10)?)?);
        let score = (sent.take(&from)? + heard.take(&to)?)?.leaky_relu(0.2)?;
        let most = device.full(5, f32::NEG_INFINITY, DType::F32)?.scatter_max(0, &to, &score)?;
        let power = (score - most.take(&to)?)?.exp()?;
        let sum = device.zeros(5, DType::F32)?.scatter_add(0, &to, &power)?;
        let share = (power / sum.take(&to)?)?;
        let told = (x.index_select(0, &from)? * share.unsqueeze(1)?)?;
        device.zeros([5, 4], DType::F32)?.index_add(0, &to, &told)?.elu(1.0)
    });
}

#[test]
fn levels_of_a_graph() {
    check("levels_of_a_graph", async |device| {
        let beside = lengths(device, 9, 11)?.is_finite()?;
        let beside = (&beside | beside.t()?)?;
        let mut reached = device.arange(0, 9, 1, DType::I32)?.eq(4)?;
        let mut level = reached.choose_as(0, -1, DType::I32)?;
        for step in 1..5 {
            let next = (&beside & reached.unsqueeze(1)?)?.any(0)?;
            level = (&next & level.lt(0)?)?.choose(step, &level)?;
            reached = next;
        }
        let edges = (beside ^ device.eye(9, 9, DType::Bool)?)?.cast(DType::I32)?;
        let triangles = edges.matmul(&edges)?.matmul(&edges)?.diag(0)?;
        Tensor::concat(&[level, (triangles / 2)?, edges.sum(0)?], 0)
    });
}

#[test]
fn optimal_transport() {
    check("optimal_transport", async |device| {
        let (x, y) = (numbers(device, [5, 2], 12)?, numbers(device, [4, 2], 13)?);
        let cost = (x.unsqueeze(1)? - &y)?.square()?.sum(-1)?;
        let (here, there) = (-(5f32.ln()), -(4f32.ln()));
        let nats = (&cost / -0.5)?;
        let (mut f, mut g) = (device.zeros([5, 1], DType::F32)?, device.zeros([1, 4], DType::F32)?);
        for _ in 0..25 {
            f = (here - (&nats + &g)?.logsumexp(Axes::keep(1))?)?;
            g = (there - (&nats + &f)?.logsumexp(Axes::keep(0))?)?;
        }
        let plan = ((nats + f)? + g)?.exp()?;
        let price = (&plan * cost)?.sum(..)?;
        Tensor::concat(&[plan.flatten(..)?, price.flatten(..)?], 0)
    });
}

#[test]
fn found_words() {
    check("found_words", async |device| {
        let text = "the cat that sat on the other cat's hat thought of the thing";
        let (text, _) = device.upload(text.as_bytes(), text.len())?;
        let (word, _) = device.upload(b"the", 3)?;
        let places = text.windows(0, 3, 1)?.eq(&word)?.all(-1)?.nonzero().await?;
        let letter = (text.ge(b'a')? & text.le(b'z')?)?;
        let begins = letter.slice(0, 1..)?.and(letter.slice(0, ..-1)?.not()?)?;
        let words = (begins.count_nonzero(..)? + 1)?;
        let letters = (text.masked_select(&letter).await? - b'a')?.bincount(26)?;
        Tensor::concat(&[places.flatten(..)?, words.flatten(..)?, letters], 0)
    });
}

#[test]
fn bloom_filter() {
    check("bloom_filter", async |device| {
        // The last steps of MurmurHash3, three times, and 64 bits in two words.
        let hashed = |keys: &Tensor, seed: u32| -> Result<Tensor> {
            let x = (keys ^ seed)?;
            let x = ((&x ^ (&x >> 16)?)? * 0x85eb_ca6bu32)?;
            let x = ((&x ^ (&x >> 13)?)? * 0xc2b2_ae35u32)?;
            &x ^ (&x >> 16)?
        };
        let bits = |keys: &Tensor| -> Result<Tensor> {
            let places = [1, 22, 333].map(|seed| hashed(keys, seed)? % 64);
            let [a, b, c] = places;
            Tensor::stack(&[a?, b?, c?], 1)
        };
        let keys = (device.arange(0, 8, 1, DType::U32)? * 97)?;
        let set = bits(&keys)?.flatten(..)?.bincount(64)?.gt(0)?;
        let words = set.reshape([2, 32])?.cast(DType::U32)?;
        let words = (words << device.arange(0, 32, 1, DType::U32)?)?.sum(1)?;
        let asked = (device.arange(0, 24, 1, DType::U32)? * 97)?;
        let place = bits(&asked)?;
        let word = words.take(&(&place / 32)?)?;
        let known = ((word >> (place % 32)?)? & 1)?.ne(0)?.all(-1)?;
        let halves = Tensor::concat(&[(&words & 0xffff)?, (&words >> 16)?], 0)?; // f32 has 24 bits
        Tensor::concat(&[known.cast(DType::U32)?, halves], 0)
    });
}

#[test]
fn calendar() {
    check("calendar", async |device| {
        // Days since 1970 as years, months and days, by Hinnant's algorithm, with days of the week.
        let (days, _) =
            device.upload(&[0, 59, 789, 11016, 19782, 20454, -1, -25567, -141427], 9)?;
        let shifted = (&days + 719_468)?;
        let era = ((&shifted - shifted.rem_floor(146_097)?)? / 146_097)?;
        let day = shifted.rem_floor(146_097)?;
        let leaps = (((&day / 1460)? - (&day / 36_524)?)? + (&day / 146_096)?)?;
        let year = ((&day - leaps)? / 365)?;
        let so_far = (((&year * 365)? + (&year / 4)?)? - (&year / 100)?)?;
        let day = (day - so_far)?;
        let month = (((&day * 5)? + 2)? / 153)?;
        let day = ((day - (((&month * 153)? + 2)? / 5)?)? + 1)?;
        let is_late = month.ge(10)?;
        let year = (((year + (era * 400)?)?) + is_late.cast(DType::I32)?)?;
        let month = (month + is_late.choose_as(-9, 3, DType::I32)?)?;
        let weekday = (days + 4)?.rem_floor(7)?;
        Tensor::stack(&[year, month, day, weekday], 1)
    });
}

#[test]
fn most_likely_states() {
    check("most_likely_states", async |device| {
        let moves = (numbers(device, [4, 4], 14)? * 2.0)?.log_softmax(-1)?;
        let shows = (numbers(device, [4, 3], 15)? * 2.0)?.log_softmax(-1)?;
        let (seen, _) = device.upload(&[0, 2, 1, 1, 0, 2, 2, 0, 1], 9)?;
        let told = shows.t()?.embedding(&seen)?; // [times, states]
        let mut best = told.at(0)?;
        let mut from = Vec::new();
        for time in 1..9 {
            let all = (best.unsqueeze(1)? + &moves)?;
            best = (all.amax(0)? + told.at(time)?)?;
            from.push(all.argmax(0)?);
        }
        // Back along where each came from.
        let mut state = best.argmax(Axes::keep(0))?;
        let mut way = vec![state.clone()];
        for before in from.iter().rev() {
            state = before.take(&state)?;
            way.push(state.clone());
        }
        way.reverse();
        let way = Tensor::concat(&way, 0)?.cast(DType::F32)?;
        Tensor::concat(&[way, best.sub(best.amax(0)?)?, best], 0)
    });
}
