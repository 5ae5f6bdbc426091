//! Requests to a tracking server.

use aludel::{Error, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// Names as MLflow's own client has them.
const EXPERIMENT: &str = "MLFLOW_EXPERIMENT_NAME";
pub const TOKEN: &str = "MLFLOW_TRACKING_TOKEN";
const USER: &str = "MLFLOW_TRACKING_USERNAME";
pub const PASSWORD: &str = "MLFLOW_TRACKING_PASSWORD";
/// No server takes nearly as long.
const PATIENCE: Duration = Duration::from_secs(20);
/// The API takes so many metrics in one request, and parameters of so many characters.
pub const MOST: usize = 1000;
const LONGEST: usize = 500;

/// A tracking server.
#[derive(Clone)]
pub struct Api {
    agent: ureq::Agent,
    base: String,
    authorization: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub enum Status {
    Finished,
    /// Somebody interrupted it.
    Killed,
    Failed,
}

impl Api {
    /// The one at an address, asked as MLflow's variables say.
    pub fn new(url: &str) -> Api {
        use base64::Engine;
        let var = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let basic = |user: String| {
            let both = format!("{user}:{}", var(PASSWORD).unwrap_or_default());
            format!("Basic {}", base64::prelude::BASE64_STANDARD.encode(both))
        };
        let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false).build();
        let authorization = var(TOKEN).map(|t| format!("Bearer {t}")).or_else(|| var(USER).map(basic));
        Api { agent: config.new_agent(), base: format!("{}/api/2.0/mlflow", url.trim_end_matches('/')), authorization }
    }

    /// The answer to a request, by its status.
    fn post(&self, what: &str, body: &Value) -> Result<(u16, Value)> {
        let fail = |e: String| Error::invalid(format!("--mlflow {}/{what}", self.base), e, "see whether the tracking server runs there");
        let mut request = self.agent.post(format!("{}/{what}", self.base));
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let mut response = request.send_json(body).map_err(|e| fail(e.to_string()))?;
        let text = response.body_mut().read_to_string().map_err(|e| fail(e.to_string()))?;
        Ok((response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    /// The answer to a request that must go well.
    fn ask(&self, what: &str, body: &Value) -> Result<Value> {
        match self.post(what, body)? {
            (200..300, answer) => Ok(answer),
            (status, answer) => Err(refused(&format!("{}/{what}", self.base), status, &answer)),
        }
    }

    /// The experiment that MLflow's variables name, made where there is none. Errors where the server cannot be reached, or refuses.
    pub fn experiment(&self) -> Result<String> {
        let name = std::env::var(EXPERIMENT).ok().filter(|n| !n.is_empty()).unwrap_or("aludel".into());
        let found = match self.post("experiments/create", &json!({ "name": name }))? {
            (200..300, made) => made["experiment_id"].as_str().map(str::to_string),
            (_, answer) if answer["error_code"] == "RESOURCE_ALREADY_EXISTS" => {
                let filter = format!("name = '{}'", name.replace('\'', "\\'"));
                let found = self.ask("experiments/search", &json!({ "filter": filter, "max_results": 1 }))?;
                found["experiments"][0]["experiment_id"].as_str().map(str::to_string)
            }
            (status, answer) => return Err(refused(&self.base, status, &answer)),
        };
        found.ok_or_else(|| {
            Error::invalid(format!("--mlflow {}", self.base), "names no experiment in its answer", "is it an MLflow server?")
        })
    }

    /// Begins a run of an experiment with its parameters; gives its name in the API.
    pub fn begin(&self, experiment: &str, name: &str, source: &str, config: &BTreeMap<String, String>) -> Result<String> {
        let tags = [("mlflow.runName", name), ("mlflow.source.name", source), ("aludel.version", env!("CARGO_PKG_VERSION"))];
        let tags: Vec<Value> = tags.iter().map(|(k, v)| json!({ "key": k, "value": v })).collect();
        let made = self.ask("runs/create", &json!({ "experiment_id": experiment, "run_name": name, "start_time": now(), "tags": tags }))?;
        let run = made["run"]["info"]["run_id"].as_str().map(str::to_string);
        let run =
            run.ok_or_else(|| Error::invalid(format!("--mlflow {}", self.base), "names no run in its answer", "is it an MLflow server?"))?;
        let cut = |v: &String| v.chars().take(LONGEST).collect::<String>();
        let params: Vec<Value> = config.iter().map(|(k, v)| json!({ "key": k, "value": cut(v) })).collect();
        self.ask("runs/log-batch", &json!({ "run_id": run, "params": params }))?;
        Ok(run)
    }

    /// Adds [`MOST`] values at most to a run.
    pub fn log(&self, run: &str, metrics: &[Value]) -> Result<()> {
        self.ask("runs/log-batch", &json!({ "run_id": run, "metrics": metrics })).map(|_| ())
    }

    pub fn end(&self, run: &str, status: Status) -> Result<()> {
        let status = match status {
            Status::Finished => "FINISHED",
            Status::Killed => "KILLED",
            Status::Failed => "FAILED",
        };
        self.ask("runs/update", &json!({ "run_id": run, "status": status, "end_time": now() })).map(|_| ())
    }
}

/// A value of a step, now.
pub fn metric(key: &str, step: u64, value: f64) -> Value {
    // As the JSON of protocol buffers writes them.
    let value = match value {
        v if v.is_nan() => json!("NaN"),
        v if v.is_infinite() => json!(if v > 0.0 { "Infinity" } else { "-Infinity" }),
        v => json!(v),
    };
    json!({ "key": key, "value": value, "timestamp": now(), "step": step })
}

fn refused(what: &str, status: u16, answer: &Value) -> Error {
    let why = answer["message"].as_str().map_or_else(String::new, |m| format!(": {m}"));
    Error::invalid(format!("--mlflow {what}"), format!("answered {status}{why}"), "look at the tracking server's log")
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}
