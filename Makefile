# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0

# Tools are built from the Go modules in hack/tools, at pinned versions, and kept outside the checkout
# (${DISKBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/diskbench}). Nothing has to be installed but Go,
# make and git; the local cluster also needs root.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
IMAGE ?= ghcr.io/diskbench/diskbench:$(VERSION)
PLATFORMS ?= linux/amd64,linux/arm64
# More arguments of go test, such as TESTFLAGS='-run TestPlan -v'.
TESTFLAGS ?=

# How long each fuzz target runs.
FUZZTIME ?= 1m

# tool(module,binary) is the shell command that builds a tool and runs it.
tool = "$$($(CURDIR)/hack/tools/build.sh $(1) | tail -n 1)/$(or $(2),$(1))"

# The modules that are linted: those with more than a few lines of code.
MODULES := . hack/cluster

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: clean
clean: ## Delete what was built in the checkout. The cache stays.
	rm -rf bin dist

##@ Build

.PHONY: build
build: ## Build the static binaries bin/manager, bin/diskbench-engine and bin/kubectl-diskbench.
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/manager ./cmd/manager
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/diskbench-engine ./cmd/engine
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/kubectl-diskbench ./cmd/kubectl-diskbench

.PHONY: image
image: build ## Put the image into dist/image.tar, without docker, for the local cluster or ctr import.
	@mkdir -p dist
	hack/cluster/cluster.sh image --tag "$(IMAGE)" --out dist/image.tar bin/manager bin/diskbench-engine

.PHONY: docker-build
docker-build: ## Build the image for all platforms with docker buildx; ARGS=--push pushes it.
	docker buildx build --platform "$(PLATFORMS)" --build-arg VERSION="$(VERSION)" --tag "$(IMAGE)" $(ARGS) .

##@ Generate

.PHONY: generate
generate: ## Generate the deepcopy functions.
	$(call tool,controller-gen) object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: ## Generate the CRDs and the manager's role, and copy them into the chart.
	$(call tool,controller-gen) crd paths=./api/... output:crd:dir=config/crd/bases
	$(call tool,controller-gen) rbac:roleName=manager-role paths=./controllers/... output:rbac:dir=config/rbac
	hack/chart-sync.sh

.PHONY: docs
docs: ## Generate docs/api-reference.md.
	$(call tool,crd-ref-docs) --log-level ERROR --source-path api --config hack/api-reference/config.yaml \
		--renderer markdown --templates-dir hack/api-reference/templates --output-path docs/api-reference.md

.PHONY: catalog
catalog: ## Generate the embedded Azure catalog from internal/azure/catalog/data.
	go run ./hack/catalog

.PHONY: fmt
fmt: ## Format the Go code.
	for module in $(MODULES); do \
		(cd "$$module" && $(call tool,golangci-lint) fmt --config "$(CURDIR)/.golangci.yml"); \
	done

##@ Check

.PHONY: test
test: ## Run the unit tests and envtest. The first time, etcd and kube-apiserver are built (10 minutes).
	assets=$$(hack/tools/envtest-assets.sh) && \
	packages=$$(go list ./... | grep -v -e /test/e2e -e /test/accuracy) && \
	KUBEBUILDER_ASSETS="$$assets" go test $(TESTFLAGS) $$packages
	cd hack/cluster && go test $(TESTFLAGS) ./...

.PHONY: fuzz
fuzz: ## Run every Fuzz function for FUZZTIME, one after another, on one core at the lowest priority.
	grep --recursive --only-matching --extended-regexp --include='*_test.go' --exclude-dir=hack '^func Fuzz\w+' . | sort | \
	while IFS=: read -r file function; do \
		GOMAXPROCS=1 nice -n 19 go test -run='^$$' -fuzz="^$${function#func }$$" -fuzztime="$(FUZZTIME)" -parallel=1 \
			"$$(dirname "$$file")" </dev/null; \
	done

.PHONY: bench-engine
bench-engine: ## Compare the engine with fio: docs/benchmark.md. ARGS go to the benchmark, such as ARGS='--run zram'.
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/diskbench-engine ./cmd/engine
	go run ./test/bench $(ARGS)

.PHONY: test-accuracy
test-accuracy: ## Hold the engine's figures against known ones (root, 10 minutes): docs/accuracy.md. ARGS go to go test.
	hack/test-accuracy.sh $(ARGS)

.PHONY: lint
lint: ## Run golangci-lint with the Kubernetes API linter. The first time, it is built (10 minutes).
	for module in $(MODULES); do \
		(cd "$$module" && $(call tool,golangci-lint) run --config "$(CURDIR)/.golangci.yml" ./...); \
	done

.PHONY: verify
verify: lint ## Regenerate everything, and fail on a difference; check chart, manifests, modules and scripts.
	hack/verify.sh

##@ Local cluster (root)

.PHONY: demo
demo: ## Start a real cluster, install the operator and run a sample: hack/demo.sh.
	hack/demo.sh

.PHONY: demo-down
demo-down: ## Remove every trace of the demo.
	hack/demo.sh down

.PHONY: e2e
e2e: ## Run the tests on a real cluster; ARGS go to go test.
	hack/e2e.sh $(ARGS)

.PHONY: cluster-up
cluster-up: ## Start a local cluster for development, or say that it runs.
	hack/cluster/cluster.sh up

.PHONY: cluster-down
cluster-down: ## Remove every trace of it.
	hack/cluster/cluster.sh down
