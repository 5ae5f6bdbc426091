//! What `/metrics` tells, in Prometheus' text format.

use super::worker::DeviceWorker;
use aludel_protocol::Pane;
use prometheus::{Encoder, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder};

/// Counters and gauges of one server.
pub struct Metrics {
    registry: Registry,
    /// By device and pane.
    pub steps: IntCounterVec,
    pub step_seconds: HistogramVec,
    pub compile_seconds: HistogramVec,
    /// Programs that were compiled before for an equal graph and device, and those that were not.
    pub cache: IntCounterVec,
    /// By what they do: `running`, `paused`.
    sessions: IntGaugeVec,
    pub sessions_begun: IntCounter,
    pub sessions_restored: IntCounter,
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
            cache: counters("aludel_program_cache_total", "Programs found compiled (hit) or compiled now (miss).", &["result"])?,
            sessions: gauges("aludel_sessions", "Sessions by what they do.", &["state"])?,
            sessions_begun: counter("aludel_sessions_begun_total", "Sessions begun by clients.")?,
            sessions_restored: counter("aludel_sessions_restored_total", "Sessions taken up again from the state directory.")?,
            connections: gauge("aludel_connections", "Open WebSocket connections.")?,
            connections_accepted: counter("aludel_connections_accepted_total", "Network connections accepted.")?,
            rejected: counters("aludel_rejected_requests_total", "Requests refused, by reason.", &["reason"])?,
            memory: gauges("aludel_device_memory_in_use_bytes", "Memory in use by tensors and arenas.", &["device"])?,
            memory_peak: gauges("aludel_device_memory_peak_bytes", "The most memory in use at once so far.", &["device"])?,
            ready: gauge("aludel_ready", "1 once sessions of an earlier run are restored.")?,
            gpu: Gpu::new(r)?,
            registry,
        };
        // Present from the first scrape on, so that rates have a start.
        for result in ["hit", "miss"] {
            metrics.cache.with_label_values(&[result]);
        }
        for reason in super::limits::REASONS {
            metrics.rejected.with_label_values(&[reason]);
        }
        Ok(metrics)
    }

    /// The text of a scrape.
    pub fn text(&self, workers: &[DeviceWorker], running: usize, paused: usize, ready: bool) -> Result<String, String> {
        for w in workers {
            let stats = w.device().stats();
            self.memory.with_label_values(&[w.id()]).set(stats.bytes_in_use as i64);
            self.memory_peak.with_label_values(&[w.id()]).set(stats.peak_bytes as i64);
        }
        self.sessions.with_label_values(&["running"]).set(running as i64);
        self.sessions.with_label_values(&["paused"]).set(paused as i64);
        self.ready.set(ready as i64);
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
