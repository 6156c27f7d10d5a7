# The module as an image that Istio and Envoy Gateway pull: `npm run build`, then
#   docker build --build-arg VERSION=X.Y.Z -t REGISTRY/attempt-router:X.Y.Z .
# The module that holds answers is a target of its own: --target hold -t REGISTRY/attempt-router-hold:X.Y.Z
# `npm run image` writes the same content with the same digest on every machine, without a container engine.
FROM scratch AS hold
ARG VERSION
ARG ENVOY_VERSIONS
LABEL org.opencontainers.image.title="attempt-router-hold" \
      org.opencontainers.image.description="Holds answers until their first content, for hold_response of attempt-router: a proxy-wasm module" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/attempt-router/attempt-router" \
      org.opencontainers.image.version="$VERSION" \
      attempt-router.envoy-versions="$ENVOY_VERSIONS"
COPY build/attempt-router-hold.wasm /plugin.wasm

FROM scratch
ARG VERSION
ARG ENVOY_VERSIONS
LABEL org.opencontainers.image.title="attempt-router" \
      org.opencontainers.image.description="Attempt-aware routing across clusters for stock Envoy: a proxy-wasm module and the command line that lowers native config to it" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/attempt-router/attempt-router" \
      org.opencontainers.image.version="$VERSION" \
      attempt-router.envoy-versions="$ENVOY_VERSIONS"
COPY build/attempt-router.wasm /plugin.wasm
