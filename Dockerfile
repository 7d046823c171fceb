# syntax=docker/dockerfile:1
# The HTTP API of guard. docs/containers.md says how to build and run it.
ARG NODE_VERSION=24
ARG RUST_VERSION=1.95

FROM rust:${RUST_VERSION}-slim-bookworm AS rust

# Debian 12 in both stages, so that the addon finds the C library that it was built with.
FROM node:${NODE_VERSION}-bookworm AS build
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
WORKDIR /src
# Packages change less often than sources, so they have a layer of their own.
COPY package.json package-lock.json .npmrc ./
RUN npm install --no-save --no-audit --no-fund --ignore-scripts
COPY . .
RUN node scripts/build.mjs && node scripts/pack.mjs platform
# What the server needs of all that: its own files, the packages that it uses, and the package with the addon and ONNX Runtime.
RUN npm prune --omit=dev --omit=peer --no-audit --no-fund --ignore-scripts \
    && mkdir /app \
    && mv dist models scanners.yml package.json LICENSE node_modules /app/ \
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
# Models of the hub go to /models. Nothing else is written, so the rest of the file system may be read-only.
RUN install --directory --owner=node --group=node /models && install --directory /config
# With two heaps of the C library for all threads, a server gives back what a load took.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8000 GUARD_MODELS_DIR=/models MALLOC_ARENA_MAX=2
VOLUME /models
# The folder in which `guard serve` looks for scanners.yml.
WORKDIR /config
# The user `node` of the image, as a number because Kubernetes has to know that it is not root.
USER 1000:1000
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli/main.js"]
CMD ["serve"]
