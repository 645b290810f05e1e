//! The server, the processes and the narrator.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use spine_client::{Ask, Client, ClientOptions, Delivery, State};

use crate::command::Failure;
use crate::terminal::{Screen, Tone};

/// For any one thing to happen.
const WAIT: Duration = Duration::from_secs(20);
/// Settings of the person's own server are not for the play's.
const OTHERS: [&str; 5] = [
    "MEMORY_SPINE_CONFIG",
    "MEMORY_SPINE_API_KEY",
    "MEMORY_SPINE_WORKSPACE",
    "MEMORY_SPINE_AGENT",
    "MEMORY_SPINE_ENDPOINT",
];

/// Everything the play needs.
pub struct Stage {
    pub client: Client,
    pub endpoint: String,
    pub screen: Screen,
    started: Instant,
    steps: u32,
    _server: Process,
}

/// A process that does not outlive the play.
pub struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Result<Self, Failure> {
        OTHERS.iter().for_each(|name| {
            command.env_remove(name);
        });
        Ok(Self(command.spawn()?))
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// SIGKILL: nothing of it can say goodbye.
    pub fn kill(mut self) -> Result<(), Failure> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    /// Waits for its end, which must be a good one.
    pub fn finish(mut self) -> Result<(), Failure> {
        let status = self.0.wait()?;
        ensure(
            status.success(),
            &format!("process {} ends well (it ended with {status})", self.0.id()),
        )
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A statement of the play, or the end of it.
pub fn ensure(holds: bool, statement: &str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(format!("this did not happen: {statement}").into()) }
}

impl Stage {
    /// Starts a server for the play.
    pub fn open(data: &Path, listen: &str) -> Result<Self, Failure> {
        let (started, screen) = (Instant::now(), Screen::new(false));
        let (server, endpoint) = start_server(data, listen, "error")?;
        let client =
            Client::new(ClientOptions { endpoint: endpoint.clone(), ..ClientOptions::default() })?;
        let mut stage = Self { client, endpoint, screen, started, steps: 0, _server: server };
        stage.step(&format!(
            "A server is ready at {} after {} ms.",
            stage.endpoint,
            started.elapsed().as_millis()
        ));
        Ok(stage)
    }

    /// The next step, in one line.
    pub fn step(&mut self, text: &str) {
        self.steps += 1;
        let number = self.screen.paint(Tone::Strong, &format!("{:>2}", self.steps));
        self.screen.say(&format!("{number}  {text}"));
    }

    /// A line between the steps.
    pub fn say(&self, text: &str) {
        self.screen.say(text);
    }

    pub fn elapsed_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Starts an agent as a process of its own.
    pub fn agent(&self, name: &str, part: &str) -> Result<Process, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        Process::start(command.args(["demo-agent", name, part, "--endpoint", &self.endpoint]))
    }

    /// A delivery when it is so far, which it must come to be.
    pub async fn until(&self, id: &str, until: &str) -> Result<Delivery, Failure> {
        let delivery = self.client.delivery_when(id, until, WAIT).await?;
        let is_met = match until {
            "done" => delivery.state == State::Done,
            _ => matches!(delivery.state, State::Accepted | State::Done),
        };
        ensure(is_met, &format!("{id} is {until} (it is {})", delivery.state.as_str()))?;
        Ok(delivery)
    }

    /// The deliveries of an envelope.
    pub async fn deliveries_of(&self, envelope: &str) -> Result<Vec<Delivery>, Failure> {
        let ask = Ask::get(&["deliveries"]).query("envelope_id", Some(envelope));
        Ok(self.client.pages(ask, "deliveries").take(100).await?)
    }

    /// The delivery that a finished one handed on to.
    pub async fn next_of(&self, done: &Delivery) -> Result<Delivery, Failure> {
        let next =
            done.ending.as_ref().and_then(|ending| ending.more.get("next")).and_then(Value::as_str);
        let next = next.ok_or_else(|| format!("this did not happen: {} handed on", done.agent))?;
        let found = self.deliveries_of(next).await?.into_iter().next();
        found.ok_or_else(|| format!("this did not happen: {next} was sent").into())
    }
}

/// A server on a folder of its own, when it is ready.
pub fn start_server(
    data: &Path,
    listen: &str,
    log_level: &str,
) -> Result<(Process, String), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--data").arg(data).args(["serve", "--listen", listen]);
    // In its own folder, so that no file of settings nearby is read.
    command.current_dir(data).env("MEMORY_SPINE_LOG_LEVEL", log_level).stdout(Stdio::piped());
    let mut server = Process::start(&mut command)?;
    let mut line = String::new();
    if let Some(output) = server.0.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    match line.trim().strip_prefix("ready ") {
        Some(endpoint) => Ok((server, endpoint.to_owned())),
        None => Err("the server did not start: its log above says why".into()),
    }
}
