//! What `/metrics` tells, in Prometheus' text format.

use super::server::Server;
use super::session::lock;
use aludel_protocol::Pane;
use prometheus::{Encoder, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder};

/// Counters and gauges of one server.
pub struct Metrics {
    registry: Registry,
    /// By device and pane.
    pub steps: IntCounterVec,
    pub step_seconds: HistogramVec,
    pub compile_seconds: HistogramVec,
    /// By what they do: `running`, `paused`.
    sessions: IntGaugeVec,
    pub sessions_begun: IntCounter,
    pub sessions_restored: IntCounter,
    /// Saved sessions that could not be taken up.
    pub restores_failed: IntCounter,
    pub saves_failed: IntCounter,
    unsaved: IntGauge,
    /// Workers that ended while their session wanted them.
    pub workers_lost: IntCounter,
    workers_memory: IntGauge,
    workers_memory_limit: IntGauge,
    working: IntGaugeVec,
    messages: IntGauge,
    pub connections: IntGauge,
    pub connections_accepted: IntCounter,
    /// By reason.
    pub rejected: IntCounterVec,
    memory: IntGaugeVec,
    memory_peak: IntGaugeVec,
    ready: IntGauge,
    gpu: Gpu,
}

impl Metrics {
    pub fn new() -> prometheus::Result<Metrics> {
        let registry = Registry::new();
        let r = &registry;
        let counters = |name: &str, help: &str, labels: &[&str]| -> prometheus::Result<IntCounterVec> {
            let c = IntCounterVec::new(Opts::new(name, help), labels)?;
            r.register(Box::new(c.clone()))?;
            Ok(c)
        };
        let gauges = |name: &str, help: &str, labels: &[&str]| -> prometheus::Result<IntGaugeVec> {
            let g = IntGaugeVec::new(Opts::new(name, help), labels)?;
            r.register(Box::new(g.clone()))?;
            Ok(g)
        };
        let counter = |name: &str, help: &str| -> prometheus::Result<IntCounter> {
            let c = IntCounter::new(name, help)?;
            r.register(Box::new(c.clone()))?;
            Ok(c)
        };
        let gauge = |name: &str, help: &str| -> prometheus::Result<IntGauge> {
            let g = IntGauge::new(name, help)?;
            r.register(Box::new(g.clone()))?;
            Ok(g)
        };
        let histograms = |name: &str, help: &str, labels: &[&str], buckets: Vec<f64>| -> prometheus::Result<HistogramVec> {
            let h = HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets), labels)?;
            r.register(Box::new(h.clone()))?;
            Ok(h)
        };
        // From a tiny step on a fast GPU, 20 µs, to 5 s; and from a warm cache to a large graph.
        let step_buckets = prometheus::exponential_buckets(20e-6, 2.0, 19)?;
        let compile_buckets = prometheus::exponential_buckets(1e-3, 2.0, 17)?;
        let metrics = Metrics {
            steps: counters("aludel_steps_total", "Training steps taken.", &["device", "pane"])?,
            step_seconds: histograms("aludel_step_seconds", "Time of a training step.", &["device", "pane"], step_buckets)?,
            compile_seconds: histograms(
                "aludel_compile_seconds",
                "Time from a verified graph to one that is ready to run.",
                &["device", "pane"],
                compile_buckets,
            )?,
            sessions: gauges("aludel_sessions", "Sessions by what they do.", &["state"])?,
            sessions_begun: counter("aludel_sessions_begun_total", "Sessions begun by clients.")?,
            sessions_restored: counter("aludel_sessions_restored_total", "Sessions taken up again from the state directory.")?,
            restores_failed: counter("aludel_restores_failed_total", "Saved sessions that could not be taken up again.")?,
            saves_failed: counter("aludel_saves_failed_total", "Attempts to save a session that failed.")?,
            unsaved: gauge("aludel_unsaved_sessions", "Sessions that could not be saved when that was tried last.")?,
            workers_lost: counter("aludel_workers_lost_total", "Workers that ended while their session wanted them.")?,
            workers_memory: gauge("aludel_workers_memory_bytes", "Memory of all sessions' processes.")?,
            workers_memory_limit: gauge("aludel_workers_memory_limit_bytes", "What they may have together.")?,
            working: gauges("aludel_device_working", "1 where sessions can use the device, 0 where it hangs or fails.", &["device"])?,
            messages: gauge("aludel_messages_bytes", "Memory of large messages that are on their way.")?,
            connections: gauge("aludel_connections", "Open WebSocket connections.")?,
            connections_accepted: counter("aludel_connections_accepted_total", "Network connections accepted.")?,
            rejected: counters("aludel_rejected_requests_total", "Requests refused, by reason.", &["reason"])?,
            memory: gauges("aludel_device_memory_in_use_bytes", "Memory in use by tensors and arenas.", &["device"])?,
            memory_peak: gauges("aludel_device_memory_peak_bytes", "The most memory in use at once so far.", &["device"])?,
            ready: gauge("aludel_ready", "1 when sessions of an earlier run are restored, devices can be used and sessions be saved.")?,
            gpu: Gpu::new(r)?,
            registry,
        };
        // Present from the first scrape on, so that rates have a start.
        for reason in super::limits::REASONS {
            metrics.rejected.with_label_values(&[reason]);
        }
        Ok(metrics)
    }

    /// The text of a scrape.
    pub fn text(&self, server: &Server) -> Result<String, String> {
        for (offer, (in_use, peak)) in server.offers.iter().zip(server.memory()) {
            let labels = [offer.device.id.as_str()];
            self.working.with_label_values(&labels).set(lock(&offer.trouble).is_none().into());
            self.memory.with_label_values(&labels).set(in_use as i64);
            let most = self.memory_peak.with_label_values(&labels);
            most.set(most.get().max(peak as i64));
        }
        let (running, paused) = server.census();
        self.sessions.with_label_values(&["running"]).set(running as i64);
        self.sessions.with_label_values(&["paused"]).set(paused as i64);
        self.ready.set(server.troubles().is_empty().into());
        self.unsaved.set(server.unsaved() as i64);
        self.workers_memory.set(i64::try_from(server.roster().taken()).unwrap_or(i64::MAX));
        self.workers_memory_limit.set(i64::try_from(server.roster().budget()).unwrap_or(i64::MAX));
        self.messages.set(server.budget.taken() as i64);
        self.gpu.read();
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text).map_err(|e| e.to_string())?;
        String::from_utf8(text).map_err(|e| e.to_string())
    }
}

/// The name of a pane in labels.
pub fn pane_label(pane: Pane) -> &'static str {
    match pane {
        Pane::Eager => "eager",
        Pane::Compiled => "compiled",
    }
}

/// Utilisation and memory of NVIDIA GPUs, from the driver's management library where there is one.
struct Gpu {
    utilisation: IntGaugeVec,
    used: IntGaugeVec,
    total: IntGaugeVec,
}

impl Gpu {
    fn new(registry: &Registry) -> prometheus::Result<Gpu> {
        let gauge = |name: &str, help: &str| -> prometheus::Result<IntGaugeVec> {
            let g = IntGaugeVec::new(Opts::new(name, help), &["gpu", "name"])?;
            registry.register(Box::new(g.clone()))?;
            Ok(g)
        };
        Ok(Gpu {
            utilisation: gauge("aludel_gpu_utilization_percent", "Share of time in which kernels ran, by all processes.")?,
            used: gauge("aludel_gpu_memory_used_bytes", "GPU memory in use by all processes.")?,
            total: gauge("aludel_gpu_memory_total_bytes", "GPU memory.")?,
        })
    }

    fn read(&self) {
        #[cfg(feature = "cuda")]
        for gpu in aludel_runtime::cuda::usage() {
            let labels = [gpu.index.to_string(), gpu.name];
            self.utilisation.with_label_values(&labels).set(i64::from(gpu.busy_percent));
            self.used.with_label_values(&labels).set(gpu.memory_used as i64);
            self.total.with_label_values(&labels).set(gpu.memory_total as i64);
        }
    }
}
