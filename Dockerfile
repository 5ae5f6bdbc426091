# The companion server with the page, for machines with or without an NVIDIA GPU. docs/server.md says how it is run.
#
#   docker build -t aludel .
#   docker run --rm -p 127.0.0.1:7878:7878 -e ALUDEL_TOKEN=$(openssl rand -hex 16) aludel

FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
# The toolchain that rust-toolchain.toml names, with the browser's target.
RUN rustup toolchain install
# Built by its own command, and the server without Vulkan: in a container the GPU is NVIDIA's, through its driver.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo run --locked --release -p xtask -- web --out /out/site \
 && cargo build --locked --release -p aludel-native --no-default-features --features cpu,cuda \
 && install -D -s target/release/aludel /out/aludel

FROM debian:bookworm-slim
# The CPU's kernels are C, built where they run.
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home --home-dir /var/lib/aludel --shell /usr/sbin/nologin aludel \
 && install -d -m 700 -o aludel -g aludel /var/lib/aludel/state /var/lib/aludel/cache
COPY --from=build /out/aludel /usr/local/bin/aludel
COPY --from=build /out/site /usr/share/aludel/site
USER aludel
WORKDIR /var/lib/aludel
ENV ALUDEL_CACHE=/var/lib/aludel/cache \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
VOLUME ["/var/lib/aludel/state"]
EXPOSE 7878
# SIGTERM, which saves the sessions, is what docker stop sends; give it time for large ones.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7878 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '^ok' <&3"]
ENTRYPOINT ["aludel", "serve", "--bind", "0.0.0.0", "--site", "/usr/share/aludel/site", "--state-dir", "/var/lib/aludel/state", "--log-format", "json"]
