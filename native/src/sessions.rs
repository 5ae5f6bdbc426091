//! `aludel sessions`: what a server's operator sees of it and does to it.

use crate::output::Output;
use crate::serve::operator::{self, Row, VARIABLE};
use aludel::{Error, Result};
use serde_json::json;
use std::time::Duration;

/// No server takes nearly as long to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Arguments of `aludel sessions`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// The server. On this machine its secret is found where the server left it for its user; elsewhere ALUDEL_OPERATOR_TOKEN has it.
    #[arg(long, global = true, default_value = "http://127.0.0.1:7878", value_name = "URL")]
    server: String,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    /// Show the sessions of a server.
    List,
    /// Pause sessions, which their clients may start again.
    Pause(Ids),
    /// End sessions and delete what was saved of them.
    End(Ids),
}

#[derive(clap::Args, Debug)]
struct Ids {
    /// Sessions as the list names them.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// A server, and the right to ask it.
struct Connection {
    agent: ureq::Agent,
    base: String,
    secret: String,
}

impl Connection {
    fn new(server: &str) -> Result<Connection> {
        // What the server printed may be given as it is.
        let base = server.split('#').next().unwrap_or_default().trim_end_matches('/').to_string();
        let (here, port) = operator::port_of(&base)?;
        let left = || operator::file(port).filter(|_| here).and_then(|f| std::fs::read_to_string(f).ok());
        let secret = std::env::var(VARIABLE).ok().filter(|s| !s.is_empty()).or_else(left);
        let secret = secret.ok_or_else(|| {
            Error::invalid(
                format!("--server {base}"),
                "no server of this user was started there",
                format!("set {VARIABLE} here to what it is where the server runs"),
            )
        })?;
        let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false).build();
        Ok(Connection { agent: config.new_agent(), base, secret: format!("Bearer {}", secret.trim()) })
    }

    fn answer(&self, sent: std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<String> {
        let fail = |e: String, remedy: &str| Error::invalid(format!("--server {}", self.base), e, remedy);
        let mut response = sent.map_err(|e| fail(e.to_string(), "start the server, or name another with --server"))?;
        let text = response.body_mut().read_to_string().map_err(|e| fail(e.to_string(), "try again"))?;
        match response.status().as_u16() {
            200..300 => Ok(text),
            401 => Err(fail("does not take the operator's secret".into(), "set ALUDEL_OPERATOR_TOKEN to what it is where the server runs")),
            404 => Err(fail(text.trim().into(), "`aludel sessions list` shows those that there are")),
            status => Err(fail(format!("answered {status}: {}", text.trim()), "look at its log")),
        }
    }

    fn list(&self) -> Result<Vec<Row>> {
        let url = format!("{}/api/sessions", self.base);
        let text = self.answer(self.agent.get(&url).header("Authorization", &self.secret).call())?;
        serde_json::from_str(&text).map_err(|e| Error::invalid(url, e.to_string(), "is this a companion server of this version?"))
    }

    fn act(&self, id: &str, verb: &str) -> Result<()> {
        // Part of a path.
        if !id.chars().all(|c| c.is_ascii_hexdigit()) || id.is_empty() {
            return Err(Error::invalid(id, "names no session", "`aludel sessions list` shows those that there are"));
        }
        let url = format!("{}/api/sessions/{id}/{verb}", self.base);
        self.answer(self.agent.post(&url).header("Authorization", &self.secret).send_empty()).map(|_| ())
    }
}

pub fn run(args: &Args, output: &Output) -> Result<()> {
    let server = Connection::new(&args.server)?;
    let (ids, verb, done) = match &args.what {
        None | Some(What::List) => return list(&server, output),
        Some(What::Pause(ids)) => (&ids.ids, "pause", "paused"),
        Some(What::End(ids)) => (&ids.ids, "end", "ended"),
    };
    for id in ids {
        server.act(id, verb)?;
        output.line(format!("{id} {done}"));
        output.event(done, json!({ "id": id }));
    }
    Ok(())
}

fn list(server: &Connection, output: &Output) -> Result<()> {
    let rows = server.list()?;
    if rows.is_empty() {
        output.line("no sessions");
    } else {
        output.line(format!(
            "{:<12}  {:<20}  {:<15}  {:<8}  {:<8}  {:>10}  {:<8}",
            "ID", "NAME", "CLIENT", "DEVICE", "PANE", "STEP", "STATE"
        ));
    }
    for row in rows {
        let state = match (row.running, row.attended, row.unsaved) {
            (_, _, true) => "unsaved",
            (true, true, _) => "trains",
            (true, false, _) => "trains, unattended",
            (false, true, _) => "paused",
            (false, false, _) => "paused, unattended",
        };
        // Names are their clients' own words: nothing that a terminal obeys.
        let name: String = row.name.chars().filter(|c| !c.is_control()).take(20).collect();
        output.line(format!(
            "{:<12}  {name:<20}  {:<15}  {:<8}  {:<8}  {:>10}  {state}",
            row.id,
            row.client.to_string(),
            row.device,
            row.pane,
            row.step
        ));
        output.event("session", json!(row));
    }
    Ok(())
}
