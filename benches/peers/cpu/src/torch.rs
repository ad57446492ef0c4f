//! PyTorch on the CPU: a program in Python (`minilm.py`), which is given the weights once and runs
//! when it is told.

use std::io::{BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use peer_cases::{Model, Peer, Ran, Run, WIDTH, What, weights};

use crate::said;

/// Only the model: its products are made as by anybody else.
pub(crate) struct Torch;

/// The Python that has PyTorch.
fn python() -> Command {
    Command::new(std::env::var_os("PEER_PYTHON").unwrap_or_else(|| "python3".into()))
}

impl Torch {
    /// Fails where there is none.
    pub(crate) fn open() -> Result<Self, String> {
        let found = python().args(["-c", "import torch"]).stderr(Stdio::null()).status();
        match found.map_err(said)?.success() {
            true => Ok(Self),
            false => Err("no PyTorch; PEER_PYTHON names a Python that has it".into()),
        }
    }
}

impl Peer for Torch {
    fn hello(&self) -> String {
        "CPU".into()
    }

    fn prepare<'a>(&'a self, what: &What, inputs: &[Vec<f32>]) -> Result<Option<Run<'a>>, String> {
        let What::Model(model) = *what else { return Ok(None) };
        let mut session = Session::start(model, inputs)?;
        Ok(Some(Box::new(move |_| session.run())))
    }

    fn largest(&self, _: &[usize]) -> usize {
        0
    }
}

/// The program, with its model.
struct Session {
    process: Child,
    told: ChildStdin,
    said: BufReader<ChildStdout>,
    numbers: usize,
}

impl Session {
    fn start(Model { batch, tokens }: Model, inputs: &[Vec<f32>]) -> Result<Self, String> {
        let mut process = python()
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/minilm.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(said)?;
        let mut told = process.stdin.take().ok_or("no input")?;
        let said_by = process.stdout.take().ok_or("no output")?;
        let named = [("ids".to_owned(), vec![batch, tokens])].into_iter().chain(weights());
        let names = named.map(|(name, shape)| {
            let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("{name} {}\n", dims.join(" "))
        });
        told.write_all((names.collect::<String>() + "\n").as_bytes()).map_err(said)?;
        for numbers in inputs {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            told.write_all(&bytes).map_err(said)?;
        }
        Ok(Self { process, told, said: BufReader::new(said_by), numbers: batch * WIDTH })
    }

    /// Seconds, and the embeddings.
    fn run(&mut self) -> Ran {
        self.told.write_all(b"run\n").and_then(|()| self.told.flush()).map_err(said)?;
        let mut seconds = [0; 8];
        self.said.read_exact(&mut seconds).map_err(said)?;
        let mut bytes = vec![0; 4 * self.numbers];
        self.said.read_exact(&mut bytes).map_err(said)?;
        let number = |b: &[u8]| b.try_into().map_or(f32::NAN, f32::from_le_bytes);
        let result = bytes.chunks(4).map(number).collect();
        Ok((Duration::from_secs_f64(f64::from_le_bytes(seconds)), result))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It ends by itself where its input does.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
