# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0

# The builder runs on the machine's own platform and cross-compiles: nothing is emulated.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
# Modules first, so that they are downloaded again only when they change.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api api
COPY engine engine
COPY internal internal
COPY controllers controllers
COPY cmd cmd
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    export CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH GOFLAGS="-trimpath -buildvcs=false" && \
    go build -ldflags "-s -w -X main.version=$VERSION" -o /out/manager ./cmd/manager && \
    go build -ldflags "-s -w -X main.version=$VERSION" -o /out/diskbench-engine ./cmd/engine

# Distroless rather than scratch for its CA certificates and time zones; it has no shell.
FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=dev
LABEL org.opencontainers.image.title="diskbench" \
      org.opencontainers.image.description="Measures Kubernetes volumes with direct I/O: the operator and its engine" \
      org.opencontainers.image.source="https://github.com/diskbench/diskbench" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
COPY --from=build /out/manager /out/diskbench-engine /
# As a number, so that runAsNonRoot can be checked.
USER 65532:65532
ENTRYPOINT ["/manager"]
