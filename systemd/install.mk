# Targets `install` and `uninstall`, included by the Makefile. Respect DESTDIR and PREFIX.
#
#   make install                          into /usr/local
#   make install PREFIX=/usr DESTDIR=pkg  for a package
#
# Builds the programs first, without a dependency on Swift's runtime. An existing configuration is never overwritten.

PREFIX ?= /usr/local
DESTDIR ?=
SYSCONFDIR ?= /etc
SWIFT ?= swift
SCRATCH ?= .build
# Where the programs are, if they are built already; and the manual pages and completions, without which none are installed then.
RELEASE_DIR ?=
PAGES ?=
# Programs of the package: the daemon to sbin, the rest to bin.
BIN_PROGRAMS ?= shmctl

# Swift's runtime is in them: the host needs no toolchain. `shmd` is dynamic as to the C library, since it asks
# for users and groups by modules that only a dynamic program can load. What else it uses of Debian is in it, so that a
# minimal host needs no package: the linker looks into ARCHIVES first, which has these libraries as archives only.
#
# `shmctl` is made to start fast, which is most of what a `shmctl get` takes: everything is in it, at a fixed address, so that
# nothing is left to load and relocate; and the parser's generic types are made by calls and not from their names, which
# would look every conformance up. lld, because the other linkers warn of C library functions that ArgumentParser never calls.
ifeq ($(RELEASE_DIR),)
override RELEASE_DIR := $(SCRATCH)/programs
CC ?= cc
ARCHIVES := $(SCRATCH)/archives
archive-names := liburcu-bp.a liburcu-common.a libyaml.a libsqlite3.a
# Nothing loads symbols of the daemon: not exporting them, and folding equal functions, saves 2 of 27 MB.
USE_ARCHIVES := -Xlinker -L$(abspath $(ARCHIVES)) -Xlinker --no-export-dynamic -Xlinker --icf=safe
# Whether two accesses to a variable overlap is looked at in what the tests run; in the daemon that look is a third of what a lone
# request of a Redis client takes.
UNCHECKED := -Xswiftc -enforce-exclusivity=unchecked
build-program = $(SWIFT) build -c release --static-swift-stdlib --scratch-path $(SCRATCH)/$(1) --product $(@F) $(2) \
  && install -D -s $(SCRATCH)/$(1)/release/$(@F) $@
FAST_START := -Xswiftc -static-executable -Xswiftc -use-ld=lld \
  -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
.PHONY: $(RELEASE_DIR)/shmd $(RELEASE_DIR)/shmctl $(RELEASE_DIR)/shmd-test-worker $(ARCHIVES)
# An archive that the host does not have is looked for as a shared library, as ever.
$(ARCHIVES):
	@mkdir -p $@
	@for name in $(archive-names); do \
	  path=$$($(CC) -print-file-name=$$name) && [ "$$path" = $$name ] || ln -sf "$$path" $@/$$name; \
	done
$(RELEASE_DIR)/shmd $(RELEASE_DIR)/shmd-test-worker: $(ARCHIVES)
	$(call build-program,static,$(USE_ARCHIVES) $(UNCHECKED))
$(RELEASE_DIR)/shmctl:
	$(call build-program,static-executable,$(FAST_START))
override PAGES := $(SCRATCH)/pages
.PHONY: $(PAGES)
$(PAGES):
	scripts/man.sh $@ '$(SWIFT)' --scratch-path $(SCRATCH)
endif

# Below PREFIX: where man(1) and the shells look.
MAN := share/man
BASH_COMPLETION := share/bash-completion/completions/shmctl
ZSH_COMPLETION := share/zsh/site-functions/_shmctl
FISH_COMPLETION := share/fish/vendor_completions.d/shmctl.fish

.PHONY: install uninstall systemd-test

install: $(RELEASE_DIR)/shmd $(addprefix $(RELEASE_DIR)/,$(BIN_PROGRAMS)) $(PAGES) ## install programs, manual pages, completions, unit, sysusers, tmpfiles and configuration
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(SYSCONFDIR)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/lib/,systemd/system sysusers.d tmpfiles.d)
	install -m 755 -s $(RELEASE_DIR)/shmd $(DESTDIR)$(PREFIX)/sbin/shmd
	for program in $(BIN_PROGRAMS); do \
	  install -m 755 -s $(RELEASE_DIR)/$$program $(DESTDIR)$(PREFIX)/bin/$$program || exit 1; \
	done
	sed 's|/usr/sbin/|$(PREFIX)/sbin/|; s|/etc/shmd.yaml|$(SYSCONFDIR)/shmd.yaml|' systemd/shmd.service \
	  > $(DESTDIR)$(PREFIX)/lib/systemd/system/shmd.service
	chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/system/shmd.service
	install -m 644 systemd/shmd.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/shmd.conf
	install -m 644 systemd/shmd.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/shmd.conf
	test -e $(DESTDIR)$(SYSCONFDIR)/shmd.yaml || install -m 644 systemd/shmd.yaml $(DESTDIR)$(SYSCONFDIR)/shmd.yaml
ifneq ($(PAGES),)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/$(MAN)/man1 $(PAGES)/shmctl*.1
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/$(MAN)/man5 $(PAGES)/shmd.yaml.5
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/$(MAN)/man8 $(PAGES)/shmd.8
	install -D -m 644 $(PAGES)/shmctl.bash $(DESTDIR)$(PREFIX)/$(BASH_COMPLETION)
	install -D -m 644 $(PAGES)/_shmctl $(DESTDIR)$(PREFIX)/$(ZSH_COMPLETION)
	install -D -m 644 $(PAGES)/shmctl.fish $(DESTDIR)$(PREFIX)/$(FISH_COMPLETION)
endif
	@test -n "$(DESTDIR)" || echo "next: systemd-sysusers && systemctl daemon-reload && systemctl enable --now shmd"

# Leaves the configuration, the user and the tables. A unit cannot be disabled any more once its file is gone.
uninstall: ## remove what install put there, but for the configuration
	@if test -z "$(DESTDIR)" && { systemctl -q is-active shmd || systemctl -q is-enabled shmd; } 2>/dev/null \
	  && test "$$(systemctl show --property FragmentPath --value shmd)" -ef $(PREFIX)/lib/systemd/system/shmd.service; then \
	  echo "uninstall: the service shmd runs or is enabled; first: systemctl disable --now shmd" >&2; exit 1; \
	fi
	rm -f $(DESTDIR)$(PREFIX)/sbin/shmd $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(BIN_PROGRAMS))
	rm -f $(DESTDIR)$(PREFIX)/lib/systemd/system/shmd.service
	rm -f $(DESTDIR)$(PREFIX)/lib/sysusers.d/shmd.conf $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/shmd.conf
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/$(MAN)/,man1/shmctl.1 man1/shmctl-*.1 man5/shmd.yaml.5 man8/shmd.8)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION))
	@test -n "$(DESTDIR)" || echo "next: systemctl daemon-reload"

systemd-test: $(RELEASE_DIR)/shmd $(RELEASE_DIR)/shmctl $(RELEASE_DIR)/shmd-test-worker ## the daemon under a real systemd in a container (root)
	@scripts/setup.sh systemd-container redis-tools
	scripts/systemd-test.sh $(RELEASE_DIR)

.PHONY: deb deb-test
DEBS ?= $(SCRATCH)/deb
deb: $(RELEASE_DIR)/shmd $(RELEASE_DIR)/shmctl ## build the Debian packages shmd, shmctl and sharedtable-dev into .build/deb
	scripts/deb.sh $(DEBS) $(RELEASE_DIR) '$(SWIFT)' --scratch-path $(SCRATCH)

deb-test: deb ## install, upgrade, remove and purge the packages in a minimal Debian under its own systemd (root)
	@scripts/setup.sh debootstrap systemd-container
	scripts/deb-test.sh $(DEBS)
