# Two commands matter to a newcomer: make demo and make test.
GO      ?= go
BIN     := bin/gostap
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X github.com/gostap/gostap/cmd/internal/cli.Version=$(VERSION) \
	-X github.com/gostap/gostap/cmd/internal/fleet/chart.Version=$(VERSION)

# What the tests run beside Go: C compiler, object tools, the peer for comparisons, npm for
# regenerating the parser, and qemu with a busybox for kernels other than this one.
TEST_PACKAGES := gcc g++ clang gdb libc6-dev binutils llvm bpftool bpftrace util-linux procps make nodejs npm sqlite3 \
	qemu-system-x86 busybox-static zstd xz-utils sparse dwz dwarves libc6-dbg systemtap-doc systemtap-common openssh-client \
	dropbear-bin chromium babeltrace2 protobuf-compiler php-cli postgresql debootstrap
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: all build demo test unit oracle fleet check arm64 bench generate man man-fleet completions packages
.PHONY: deps install clean

all: build

build: $(BIN) $(BIN)-export

# Without cgo the command is one file that runs on any distribution, and starts in 1 ms less.
$(BIN) $(BIN)-export $(BIN)-fleet: FORCE
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $@ ./cmd/$(@F)

FORCE:

# Traces a real, optimised Go program: arguments, results, latency by goroutine.
demo: $(BIN)
	@mkdir -p bin
	$(GO) build -o bin/demo-shop ./tests/fixtures/demo
	@tests/demo.sh

# Everything: formatting, vet, static checks, unit tests, whole-program tests. The three packages that take longest go
# first.
# No limit is one of the clock on the wall: bin/supervise ends a package that hangs, and removes what it leaves in /tmp.
# Guests and traced programs often wait, so one package more than there are processors is tested at a time. All of it
# has been vetted before. What is tested is compiled without cgo, as what is released is, so that nothing is compiled
# twice; what the tests build themselves is built as anybody builds it. With GOGC=400 compiling takes a fifth less of
# the processors, and staticcheck a quarter less, for some hundred MB more.
test: deps check bin/supervise
	CGO_ENABLED=0 GOGC=400 $(GO) test -p $$(($$(nproc) + 1)) -vet=off -count=1 -timeout 0 \
	    -exec 'env -u CGO_ENABLED -u GOGC $(CURDIR)/bin/supervise' ./tests/vm ./tests ./tests/oracle ./...

# Quick: every package but the whole-program tests. Installs nothing, boots nothing. Where gcc is missing, the packages whose tests
# build C programs are left out, and named.
unit:
	@list="$$($(GO) list ./... | grep -v -E '/tests($$|/)')"; \
	if ! command -v gcc >/dev/null; then \
	    c="$$(grep -rlE --include=*_test.go '"gcc"|CGO_ENABLED=1|withcgo|cgocalls|linkmode=external' backend-bpf backend-kmod compiler | xargs -n1 dirname | sort -u) compiler"; \
	    echo "left out, since there is no gcc: $$c"; \
	    for d in $$c; do list="$$(echo "$$list" | grep -v "/$$d\$$")"; done; \
	fi; \
	$(GO) test -count=1 -timeout 0 $$list

bin/supervise: FORCE
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -o $@ ./tests/patience/supervise

check: export CGO_ENABLED := 0
check: export GOGC := 400
check:
	@fmt=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$fmt" ]; then echo "gofmt would change:"; echo "$$fmt"; exit 1; fi
	GOBIN=$(CURDIR)/bin $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.8.2
	$(GO) vet ./...
	bin/staticcheck $$($(GO) list ./... | grep -v /stapparse)
	@# With cgo those alone that have C in them.
	export CGO_ENABLED=1; c=$$($(GO) list -f '{{if .CgoFiles}}{{.ImportPath}}{{end}}' ./...); \
	    $(GO) vet $$c && bin/staticcheck $$c

# The code that is no machine's own compiles for another one. Not in make test: it compiles the standard library anew.
arm64:
	GOARCH=arm64 $(GO) vet ./...

# What gostap prints about whole programs against debuggers, the runtime and the programs themselves: hours.
# go test ./... runs a small form of it.
oracle: deps
	GOSTAP_ORACLE=full $(GO) test -count=1 -timeout 0 -v ./tests/oracle/... ./compiler/debuginfo/dwexpr
	GOSTAP_EXAMPLES=full $(GO) test -count=1 -timeout 0 -v ./tests/examples

# Pods, agents and controllers in a real cluster of two nodes, of tests/kubelab, whose programs are built first if they
# are not there: 16 minutes of CPU time. CLUSTER is another command that has one: "up --nodes 2", "env" (prints PATH and
# KUBECONFIG), "load-image NAME PATH [ENTRY...]". With GOSTAP_CLUSTER set to one make test runs the same.
fleet: TEST_PACKAGES += libseccomp-dev pkg-config
fleet: deps
	@cluster='$(CLUSTER)'; \
	if [ -z "$$cluster" ]; then \
	    mkdir -p bin && CGO_ENABLED=0 $(GO) build -o bin/kubelab ./tests/kubelab && bin/kubelab build || exit 1; \
	    cluster='$(CURDIR)/bin/kubelab'; trap 'bin/kubelab down' EXIT; trap 'exit 1' INT TERM; \
	    "$$cluster" up --nodes 2 || exit 1; \
	fi; \
	GOSTAP_CLUSTER="$$cluster" $(GO) test -count=1 -timeout 0 -v -run '^(TestCluster|TestFleet)' ./tests

# Ratios against the peer and against bare programs, in one run each.
bench: build
	$(GO) test -count=1 -timeout 30m -run '^$$' -bench . -benchtime 1x ./tests/bench

generate:
	sh grammar/generate.sh
	$(GO) generate ./...

# Installs what is missing of TEST_PACKAGES (Debian), without asking.
deps:
	@miss=""; for p in $(TEST_PACKAGES); do \
	    case $$p in \
	    nodejs) command -v node >/dev/null || miss="$$miss $$p";; \
	    npm) command -v npm >/dev/null || miss="$$miss $$p";; \
	    *) dpkg -s $$p >/dev/null 2>&1 || miss="$$miss $$p";; \
	    esac; done; \
	if [ -n "$$miss" ]; then echo "installing$$miss"; \
	    $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$miss >/dev/null; fi

# Manual pages, made of the documents.
man: build
	@rm -rf bin/man && GO=$(GO) docs/man.sh $(BIN) bin/man

man-fleet: $(BIN)-fleet
	@rm -rf bin/man-fleet && GO=$(GO) docs/man.sh $(BIN)-fleet bin/man-fleet

completions: build
	for s in bash zsh fish; do $(BIN) completion $$s >bin/completion.$$s || exit 1; done

# What is released, in bin/packages: equal bytes for equal commits. Needs no root; docs/packages.md. nfpm is the last
# release whose modules all come from the module proxy.
NFPM := $(GO) run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0
# Where the files will be: RELEASES is written into the manifest for Krew.
RELEASES ?= https://releases.example/gostap
packages: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
packages: build man man-fleet completions
	$(GO) run ./cmd/internal/packaging -version '$(VERSION)' -nfpm '$(NFPM)' -url '$(RELEASES)'
	@ls -l bin/packages

# gostap-fleet is installed, too, where it has been built (make bin/gostap-fleet): it takes longer than the others
# together, has more bytes than gostap, and is for those alone who administer a cluster.
FLEET := $(if $(wildcard $(BIN)-fleet),yes)
install: build man completions $(if $(FLEET),man-fleet)
	install -D -m 755 $(BIN) $(DESTDIR)/usr/local/bin/gostap
	install -D -m 755 $(BIN)-export $(DESTDIR)/usr/local/bin/gostap-export
	$(if $(FLEET),install -D -m 755 $(BIN)-fleet $(DESTDIR)/usr/local/bin/gostap-fleet)
	for f in bin/man/* $(if $(FLEET),bin/man-fleet/*); do install -D -m 644 $$f $(DESTDIR)/usr/local/share/man/man$${f##*.}/$${f##*/}; done
	install -D -m 644 bin/completion.bash $(DESTDIR)/usr/local/share/bash-completion/completions/gostap
	install -D -m 644 bin/completion.zsh $(DESTDIR)/usr/local/share/zsh/site-functions/_gostap
	install -D -m 644 bin/completion.fish $(DESTDIR)/usr/local/share/fish/vendor_completions.d/gostap.fish

clean:
	rm -rf bin
