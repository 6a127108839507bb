# SPDX-License-Identifier: GPL-2.0-only
# "make help" lists the targets.  The work is done by Kbuild, libwrap/Makefile
# and the scripts in selftests/; this file only calls them.

VERSION	:= 1.0.0

KVER	?= $(shell uname -r)
KDIR	?= /lib/modules/$(KVER)/build
PREFIX	?= /usr/local
MANDIR	?= $(PREFIX)/share/man
DOCDIR	?= $(PREFIX)/share/doc/profil
NATIVE	:= $(CURDIR)/build/native
PAGES	:= $(wildcard Documentation/man/*.[0-9])
SECTIONS := $(sort $(subst .,,$(suffix $(PAGES))))

all: lib modules

help:
	@sed -n 's/^#? \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

#? Try it, in a virtual machine; nothing is loaded into this machine's kernel:
#?   make demo              profil run of SQLite: where does its time go?  PROG='…': of yours
#?   make vm                a shell with the module loaded
#?   make vm-run CMD='…'    a command there, in the folder DIR= of this machine; it has no input,
#?                          and its errors come with its output
#? On your own kernel:
#?   make                   libprofil, and profil.ko for KDIR=/lib/modules/…/build
#?   make modules, lib      one of the two
#?   make tool              the command profil; it needs what selftests/setup.sh calls command
#?   make install           the library, headers, manual pages, documents, examples; and the command
#?                          and profil.ko, if they were built, this for its kernel; knows PREFIX=, DESTDIR=
#?   make doc               Documentation/ as HTML, in build/doc
#?   make uninstall         the reverse, on all kernels
#?   make install-dkms      the module's source, for "dkms install profil/1.0.0"
#?   make deb               Debian packages of all of it, in build/deb
#? For work on it:
#?   make quick             what an edit may have broken, in seconds; T='rate_test fork': these
#?   make check             what each change has to pass: lint, host tests, Debian's 6.12
#?   make check-ci          other kernels and machines, debug kernels, real programs, tests of the
#?                          tests; .ci/run is both
#?   make long              the rest, for a release: hours, and it goes on where it stopped
#?   make dist              the source as a tar, in build; the same files give the same bytes
#?   make check-packages    as root: Debian's packages in both of its releases, installed, booted, purged
#?   make results           what passed, when, on which content
#?   make lint, test        checks of the source; tests that need no virtual machine
#?   make bench, bench-all  what profiling costs on 6.12; on other kernels and arm64, too
#?   make compare           the command beside other profilers, on the same programs
#?   make clean, distclean  remove build/; the kernels in the cache, too
#? A lane of tests that passed is not run again until something it depends on changes:
#? FRESH=1 runs all.  YES=1 installs Debian packages without asking.  For demo, vm and vm-run:
#? KERNEL=6.1 (or a version such as 6.12.107+deb12-amd64, or an image), CPUS=4, MEM=2048 (MB),
#? APPEND='…'; for demo and vm-run TIMEOUT=, after how many seconds they end (1200 and 300).

# What was built for another kernel is of no use.
modules: no-blanks $(KDIR)/Makefile
	@test "$$(cat $(NATIVE)/kdir 2>/dev/null)" = "$(KDIR)" || rm -rf $(NATIVE)
	@mkdir -p $(NATIVE)
	@echo "$(KDIR)" >$(NATIVE)/kdir
	@cp -pRu Kbuild module uapi $(NATIVE)
	$(MAKE) -C $(KDIR) M=$(NATIVE) modules
	@cp $(NATIVE)/profil.ko $(NATIVE)/profil.ko.new
	@mv $(NATIVE)/profil.ko.new profil.ko

$(KDIR)/Makefile:
	@echo "make: the headers of kernel $(KVER) are not in $(KDIR): apt-get install linux-headers-$(KVER), or give KDIR=" >&2
	@exit 1

no-blanks:
	@for path in "$(CURDIR)" "$(KDIR)" "$(PREFIX)" "$(DESTDIR)"; do \
		case $$path in *[[:space:]]*) \
			echo "make: there is a blank in \"$$path\", which make and kbuild cannot take: use a folder without one" >&2; \
			exit 1 ;; \
		esac; \
	done

lib: no-blanks
	$(MAKE) -C libwrap VERSION=$(VERSION)

tool: no-blanks
	$(MAKE) -C tools VERSION=$(VERSION)

# Which programs or tests quick runs; without any, all that it has.
T	?=

quick:
	@$(if $(T),selftests/quick.sh $(T),selftests/check.sh quick)

lint check long:
	@selftests/check.sh $@

test:
	@selftests/check.sh host

check-ci:
	@selftests/check.sh ci

check-packages:
	@selftests/check.sh packages

results:
	@selftests/check.sh --results

doc:
	@selftests/setup.sh doc
	@PYTHONDONTWRITEBYTECODE=1 sphinx-build -q -d build/doctrees Documentation build/doc
	@echo "make: the documents begin with build/doc/index.html"

bench:
	selftests/setup.sh build vm bench
	selftests/bench/bench.sh 6.12

bench-all:
	selftests/setup.sh build check vm bench
	selftests/bench/bench.sh 6.1 6.12 7.2 arm64

compare:
	selftests/setup.sh build vm tool programs compare
	selftests/compare/compare.sh

demo:
	@selftests/demo/demo.sh

# A dollar in what the user gives is for the shell, not for make.
override CMD := $(value CMD)
override PROG := $(value PROG)
override APPEND := $(value APPEND)
export CMD PROG APPEND

vm:
	@selftests/vm/shell.sh

vm-run:
	@selftests/vm/shell.sh --run

# The module goes to the kernel that it was built for, as it says itself.
install: lib
	$(MAKE) -C libwrap install VERSION=$(VERSION) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	test ! -e build/tool/profil || $(MAKE) -C tools install VERSION=$(VERSION) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	for section in $(SECTIONS); do \
		install -D -m 644 -t $(DESTDIR)$(MANDIR)/man$$section Documentation/man/*.$$section || exit; \
	done
	install -D -m 644 -t $(DESTDIR)$(DOCDIR) README.md CHANGELOG.md COPYING Documentation/*.rst Documentation/*.svg
	install -D -m 644 -t $(DESTDIR)$(DOCDIR)/userspace-api Documentation/userspace-api/*
	install -D -m 644 -t $(DESTDIR)$(DOCDIR)/examples Documentation/examples/*
	test -n "$(DESTDIR)" || ldconfig
	@test -e profil.ko || { echo "make: all but the module is installed, which was not built: for it, make modules as the user who owns this folder, then make install"; exit 0; }; \
	kernel=$$(grep -a -o 'vermagic=[^ ]*' profil.ko | cut -d = -f 2); \
	test -n "$$kernel" || { echo "make: profil.ko is no whole module and was not installed: rm profil.ko, then make modules" >&2; exit 1; }; \
	echo "install -D -m 644 profil.ko $(DESTDIR)/lib/modules/$$kernel/updates/profil.ko"; \
	install -D -m 644 profil.ko $(DESTDIR)/lib/modules/$$kernel/updates/profil.ko || exit; \
	test -n "$(DESTDIR)" || depmod $$kernel

install-dkms:
	install -d $(DESTDIR)/usr/src/profil-$(VERSION)
	cp -R Kbuild module uapi dkms.conf COPYING LICENSES $(DESTDIR)/usr/src/profil-$(VERSION)

# Of all kernels.  In DESTDIR, what is empty then goes, too; on this machine, folders that
# only we use.
EMPTY	= --ignore-fail-on-non-empty $(if $(DESTDIR),-p)

uninstall: no-blanks
	@test ! -e $(DESTDIR)/var/lib/dkms/profil || { echo "make: dkms has the module, too: dkms remove profil/$(VERSION) --all, then make uninstall" >&2; exit 1; }
	$(MAKE) -C libwrap uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	rm -rf $(DESTDIR)$(DOCDIR) $(DESTDIR)/usr/src/profil-$(VERSION)
	rm -f $(foreach page,$(PAGES),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
	cd $(or $(DESTDIR),/) && for module in lib/modules/*/updates/profil.ko; do \
		test -e $$module || continue; \
		kernel=$${module#lib/modules/}; \
		rm $$module && rmdir $(EMPTY) $${module%/*} || exit; \
		test -n "$(DESTDIR)" || depmod $${kernel%%/*} || exit; \
	done
	cd $(or $(DESTDIR),/) && for folder in $(patsubst %,$(MANDIR)/man%,$(SECTIONS)) \
			$(PREFIX)/include/linux $(PREFIX)/lib/pkgconfig $(PREFIX)/share/bash-completion/completions $(if $(DESTDIR),$(dir $(DOCDIR)) /usr/src $(PREFIX)/bin); do \
		test ! -d .$$folder || rmdir $(EMPTY) $${folder#/} || exit; \
	done
	test -n "$(DESTDIR)" || ldconfig

deb: no-blanks
	selftests/setup.sh build deb
	@packaging/deb.sh $(VERSION)

dist:
	@packaging/dist.sh $(VERSION) build/profil-$(VERSION).tar.gz

clean:
	rm -rf build profil.ko

# By name: the cache may be a folder that holds more than ours.
distclean: clean
	cd "$${PROFIL_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/profil}" && \
		rm -rf apt kernels passed programs roots source kvm-* lock.* tmp.*

.PHONY: all help no-blanks modules lib tool quick lint test check check-ci check-packages long results bench bench-all compare doc \
	demo vm vm-run install install-dkms uninstall deb dist clean distclean
