# SPDX-License-Identifier: GPL-2.0-only
# "make help" lists the targets.  The work is done by Kbuild, libwrap/Makefile
# and the scripts in selftests/; this file only calls them.

VERSION	:= 0.1.0

KVER	?= $(shell uname -r)
KDIR	?= /lib/modules/$(KVER)/build
PREFIX	?= /usr/local
MANDIR	?= $(PREFIX)/share/man
NATIVE	:= $(CURDIR)/build/native
PAGES	:= $(wildcard Documentation/man/*.[0-9])
MODDIR	= $(DESTDIR)/lib/modules/$(KVER)/updates

all: lib modules

help:
	@sed -n 's/^#? \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

#? Try it, in a virtual machine; nothing is loaded into this machine's kernel:
#?   make demo              where does SQLite spend its time?  PROG='…': a program of yours
#?   make vm                a shell with the module loaded
#?   make vm-run CMD='…'    a command there, in the folder DIR= of this machine
#? On your own kernel:
#?   make                   libprofil, and profil.ko for KDIR=/lib/modules/…/build
#?   make modules, lib      one of the two
#?   make install           module, library, headers, manual pages; knows PREFIX=, DESTDIR=
#?   make uninstall         the reverse
#?   make install-dkms      the module's source, for "dkms install profil/0.1.0"
#? For work on it:
#?   make quick             what an edit may have broken, in seconds; T='rate_test fork': these
#?   make check             what each change has to pass: lint, host tests, stock kernels
#?   make check-ci          debug kernels, other kernels, real programs; .ci/run is both
#?   make long              the rest, for a release: hours, and it goes on where it stopped
#?   make results           what passed, when, on which content
#?   make lint, test        checks of the source; tests that need no virtual machine
#?   make bench, bench-all  what profiling costs on 6.12; on other kernels and arm64, too
#?   make clean, distclean  remove build/; the kernels in the cache, too
#? A lane of tests that passed is not run again until something it depends on changes:
#? FRESH=1 runs all.  YES=1 installs Debian packages without asking.  For demo, vm and vm-run:
#? KERNEL=6.1 (or a version such as 6.12.107+deb12-amd64, or an image), CPUS=4, APPEND='…'.

modules: $(KDIR)/Makefile
	@mkdir -p $(NATIVE)
	@cp -pRu Kbuild module uapi $(NATIVE)
	$(MAKE) -C $(KDIR) M=$(NATIVE) modules
	@cp $(NATIVE)/profil.ko profil.ko

$(KDIR)/Makefile:
	@echo "make: the headers of kernel $(KVER) are not in $(KDIR): apt-get install linux-headers-$(KVER), or give KDIR=" >&2
	@exit 1

lib:
	$(MAKE) -C libwrap VERSION=$(VERSION)

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

results:
	@selftests/check.sh --results

bench:
	selftests/setup.sh build vm bench
	selftests/bench/bench.sh 6.12

bench-all:
	selftests/setup.sh build check vm bench
	selftests/bench/bench.sh 6.1 6.12 7.2 arm64

demo:
	selftests/setup.sh build vm demo
	selftests/demo/demo.sh

# A dollar in what the user gives is for the shell, not for make.
override CMD := $(value CMD)
override PROG := $(value PROG)
override APPEND := $(value APPEND)
export CMD PROG APPEND

# In the VM the library and the headers are where the compiler and ld.so look.
VM_ENV	= env LD_LIBRARY_PATH=$(CURDIR)/build/lib LIBRARY_PATH=$(CURDIR)/build/lib \
	  CPATH=$(CURDIR)/uapi:$(CURDIR)/libwrap

vm: vm-ready
	@echo "make: booting; your files are there, this folder is writable, exit ends it"
	@selftests/vm/run.sh --interactive --root9p --dir "$(CURDIR):rw" -- $(VM_ENV) bash --norc

vm-run: vm-ready
	@test -n "$$CMD" || { echo "make: vm-run needs a command: make vm-run DIR=path CMD='...'" >&2; exit 1; }
	@selftests/vm/run.sh --root9p --dir "$${DIR:-.}:rw" -- $(VM_ENV) sh -c "$$CMD"

vm-ready:
	@selftests/setup.sh build vm
	@$(MAKE) -s -C libwrap VERSION=$(VERSION)

install: lib
	@test -e profil.ko || { echo "make: there is no profil.ko to install; run make first, as the user who owns this folder" >&2; exit 1; }
	$(MAKE) -C libwrap install VERSION=$(VERSION) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	install -D -m 644 profil.ko $(MODDIR)/profil.ko
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man3 $(filter %.3,$(PAGES))
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man4 $(filter %.4,$(PAGES))
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man5 $(filter %.5,$(PAGES))
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man7 $(filter %.7,$(PAGES))
	test -n "$(DESTDIR)" || { depmod $(KVER); ldconfig; }

install-dkms:
	install -d $(DESTDIR)/usr/src/profil-$(VERSION)
	cp -R Kbuild module uapi dkms.conf COPYING LICENSES $(DESTDIR)/usr/src/profil-$(VERSION)

uninstall:
	$(MAKE) -C libwrap uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	rm -f $(MODDIR)/profil.ko $(foreach page,$(PAGES),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
	test -n "$(DESTDIR)" || { depmod $(KVER); ldconfig; }

clean:
	rm -rf build profil.ko

# By name: the cache may be a folder that holds more than ours.
distclean: clean
	cd "$${PROFIL_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/profil}" && \
		rm -rf apt kernels passed programs source kvm-* lock.* tmp.*

.PHONY: all help modules lib quick lint test check check-ci long results bench bench-all \
	demo vm vm-run vm-ready install install-dkms uninstall clean distclean
