# `make help` says what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

# Where `make deps` puts a Go toolchain if the host's is too old.
export PATH := $(CURDIR)/.cache/go/bin:$(PATH)
export CGO_ENABLED := 0

# Both are the same in every clean checkout of a commit, so the packages are too.
VERSION ?= $(shell sed -n '/^\#\# \[\([0-9][^]]*\)\].*/ {s//\1/p; q}' CHANGELOG.md)
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)

NFPM := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

prefix := /usr
bindir := $(prefix)/bin
mandir := $(prefix)/share/man
docdir := $(prefix)/share/doc/sitelet
licensedir := $(prefix)/share/licenses/sitelet
bashdir := $(prefix)/share/bash-completion/completions
zshdir := $(prefix)/share/zsh/site-functions
fishdir := $(prefix)/share/fish/vendor_completions.d
# Where systemd looks, whatever the prefix is.
systemddir := /usr/lib/systemd
tmpfilesdir := /usr/lib/tmpfiles.d
sysconfdir := /etc

# Where there can be no machine, the tests that need one are skipped, unless SITELET_E2E=required. Quadlet comes with it.
define test_env
test "$$(id -u)" = 0 || echo 'not root: the tests on booted machines are skipped' >&2; \
export SITELET_DEB=$(CURDIR)/dist/sitelet_$(VERSION)_$$(go env GOARCH).deb; \
quadlet=$$(go run ./test/machine/cmd/quadlet-path) || test "$${SITELET_E2E:-}" != required; \
export SITELET_TEST_QUADLET=$$quadlet
endef

.PHONY: build
build: ## make bin/sitelet and bin/sitelet-generator: static, and the same bytes wherever they are built
	go build -trimpath -buildvcs=false -ldflags '-s -w -buildid= -X github.com/sitelet/sitelet/internal/build.Version=$(VERSION)' -o bin/ ./cmd/...

.PHONY: test
test: deps lint package ## run all tests, after installing what they need; as root on a booted Debian 13 too
	@echo 'test: everything; the first time, a Debian 13 is made for it'
	@$(test_env); go test -timeout 60m ./...

.PHONY: e2e
e2e: deps package ## run the tests that install the packages on a booted Debian 13 (root)
	@$(test_env); go test -timeout 60m -count 1 ./test/... ./packaging

.PHONY: lint
lint: ## check the form of code, scripts and manual pages
	@echo 'lint: gofmt, go vet, staticcheck, shellcheck, mandoc'
	@badly=$$(gofmt -l $$(find . -path ./.cache -prune -o -name '*.go' -print)); test -z "$$badly" || { echo "run gofmt -w on: $$badly" >&2; exit 1; }
	@go vet ./...
	@go run $(STATICCHECK) ./...
	@shellcheck $$(find . -path ./.cache -prune -o -name '*.sh' -print) .ci/run
	@mandoc -T lint -W warning man/*.[1-8]

.PHONY: bench
bench: deps package ## measure generator, updates and live changes against the plain tools (root)
	@$(test_env); go test -timeout 60m -run '^$$' -bench . ./test/bench

.PHONY: demo
demo: deps package ## boot a Debian 13, install the package and show what sitelet does (root)
	@$(test_env); go run ./test/demo

.PHONY: package
package: DESTDIR := dist/root
package: ## make a DEB and an RPM in dist/, for GOARCH=amd64 or arm64
	@echo 'package: a DEB and an RPM'
	@rm -rf $(DESTDIR)
	@$(MAKE) -s install DESTDIR=$(DESTDIR)
	@maintainer=$$(sed -n 's/^maintainer: //p' packaging/nfpm.yaml); note='See CHANGELOG.md in this directory.'; \
	printf 'sitelet (%s) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' \
		'$(VERSION)' "$$note" "$$maintainer" "$$(date -uRd @$(SOURCE_DATE_EPOCH))" | gzip -9n >dist/changelog.gz; \
	printf -- '- {semver: %s-1, date: %s, packager: "%s", changes: [{note: "%s"}]}\n' \
		'$(VERSION)' "$$(date -ud @$(SOURCE_DATE_EPOCH) +%FT%TZ)" "$$maintainer" "$$note" >dist/changelog.yaml
	@for packager in deb rpm; do \
		packaging/nfpm.sh $$packager >dist/nfpm.yaml; \
		ARCH=$$(go env GOARCH) VERSION=$(VERSION) env -u GOARCH go run $(NFPM) package -f dist/nfpm.yaml -p $$packager -t dist/; \
	done

# The one list of what goes where: the packages are made from what this installs.
.PHONY: install
install: build ## install below DESTDIR
	install -D -m 755 -t $(DESTDIR)$(bindir) bin/sitelet
	install -D -m 755 -t $(DESTDIR)$(systemddir)/system-generators bin/sitelet-generator
	install -d $(DESTDIR)$(systemddir)/user-generators
	ln -sf ../system-generators/sitelet-generator $(DESTDIR)$(systemddir)/user-generators/sitelet-generator
	install -D -m 644 -t $(DESTDIR)$(systemddir)/system $(wildcard units/*.service units/*.path units/*.timer)
	install -D -m 644 -t $(DESTDIR)$(systemddir)/user $(wildcard units/user/*.service units/user/*.path units/user/*.timer)
	$(foreach dir,$(wildcard units/*.wants),cp -a $(dir) $(DESTDIR)$(systemddir)/system/;)
	$(foreach dir,$(wildcard units/user/*.wants),cp -a $(dir) $(DESTDIR)$(systemddir)/user/;)
	install -D -m 644 packaging/90-sitelet.preset $(DESTDIR)$(systemddir)/system-preset/90-sitelet.preset
	install -D -m 644 packaging/90-sitelet.preset $(DESTDIR)$(systemddir)/user-preset/90-sitelet.preset
	install -D -m 644 packaging/tmpfiles.conf $(DESTDIR)$(tmpfilesdir)/sitelet.conf
	test -e $(DESTDIR)$(sysconfdir)/sitelet/sitelet.toml || install -D -m 644 packaging/sitelet.toml $(DESTDIR)$(sysconfdir)/sitelet/sitelet.toml
	install -d $(DESTDIR)$(sysconfdir)/sitelet/sitelet.toml.d $(DESTDIR)$(sysconfdir)/sitelet/containers
	for page in man/*.[1-8]; do \
		dir=$(DESTDIR)$(mandir)/man$${page##*.}; \
		install -d $$dir; \
		gzip -9nc $$page >$$dir/$${page##*/}.gz; \
		chmod 644 $$dir/$${page##*/}.gz; \
	done
	install -D -m 644 -t $(DESTDIR)$(docdir) README.md CHANGELOG.md $(wildcard docs/*.md)
	install -d $(DESTDIR)$(bashdir) $(DESTDIR)$(zshdir) $(DESTDIR)$(fishdir)
	env -u GOARCH go run ./cmd/sitelet completion bash >$(DESTDIR)$(bashdir)/sitelet
	env -u GOARCH go run ./cmd/sitelet completion zsh >$(DESTDIR)$(zshdir)/_sitelet
	env -u GOARCH go run ./cmd/sitelet completion fish >$(DESTDIR)$(fishdir)/sitelet.fish
	chmod 644 $(DESTDIR)$(bashdir)/sitelet $(DESTDIR)$(zshdir)/_sitelet $(DESTDIR)$(fishdir)/sitelet.fish
	packaging/licenses.sh >$(DESTDIR)$(docdir)/copyright
	chmod 644 $(DESTDIR)$(docdir)/copyright
	install -D -m 644 -t $(DESTDIR)$(licensedir) LICENSE

.PHONY: reproducible
reproducible: ## build everything in two directories and compare the bytes
	packaging/reproducible.sh

.PHONY: deps
deps: ## install what build and tests need: Debian packages (root) and, if the host's is too old, Go in .cache
	@packaging/deps.sh

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist .cache

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
