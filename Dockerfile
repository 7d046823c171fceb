# syntax=docker/dockerfile:1
# The HTTP server of guard. docs/containers.md describes how to build and run it.
ARG NODE_VERSION=24
ARG RUST_VERSION=1.95

FROM rust:${RUST_VERSION}-slim-bookworm AS rust

# Both stages use Debian 12, because the addon needs the glibc version that it was built with, or a newer one.
FROM node:${NODE_VERSION}-bookworm AS build
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
WORKDIR /src
# Packages change less often than sources, so they get a layer of their own.
COPY package.json package-lock.json .npmrc ./
COPY scripts/check-locked.mjs scripts/
RUN npm install --no-save --no-audit --no-fund --ignore-scripts && node scripts/check-locked.mjs
COPY . .
RUN node scripts/build.mjs && node scripts/pack.mjs platform
# The image gets the files of the server, its production packages, and the package with the addon and ONNX Runtime.
RUN node scripts/pack.mjs image \
    && npm prune --omit=dev --no-audit --no-fund --ignore-scripts \
    && mkdir /app \
    && mv dist models scanners.yml scanners.schema.json mcp.yml package.json LICENSE node_modules /app/ \
    && mkdir /app/native \
    && mv native/index.cjs /app/native/ \
    && for folder in npm/guard-scan-*/; do mv "$folder" /app/node_modules/; done

FROM node:${NODE_VERSION}-bookworm-slim
ARG VERSION=unknown
ARG REVISION=unknown
# https://specs.opencontainers.org/image-spec/annotations/
LABEL org.opencontainers.image.title="guard" \
      org.opencontainers.image.description="Checks what goes into and comes out of large language models" \
      org.opencontainers.image.source="https://github.com/guard-scan/guard" \
      org.opencontainers.image.documentation="https://github.com/guard-scan/guard/blob/main/docs/containers.md" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /app /app
# Downloaded models go to /models. Nothing else is written, so the file system can be read-only.
RUN install --directory --owner=node --group=node /models && install --directory /config
# With at most two malloc arenas, the server returns memory to the system after a load peak.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8000 GUARD_MODELS_DIR=/models MALLOC_ARENA_MAX=2
VOLUME /models
# `guard serve` looks for scanners.yml in this folder.
WORKDIR /config
# The user `node`, as a number, because Kubernetes must verify that it is not root.
USER 1000:1000
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli/main.js"]
CMD ["serve"]
