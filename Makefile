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
#?   make demo            where does SQLite spend its time?
#?   make demo PROG='...' where does a program of yours?
#?   make check           lint, test, and the suite on stock kernels
#?   make vm              a shell with the module loaded
#?   make vm-run DIR=path CMD='...'
#?                        run a command there, in a folder of this machine
#? These fetch what they need and ask before they install Debian packages;
#? YES=1 answers.  KERNEL= takes the tags at the top of selftests/vm/kernels.sh, a Debian version
#? such as 6.12.107+deb12-amd64, or an image; CPUS= and APPEND= are for the VM.
#?
#? On your own kernel:
#?   make                 libprofil, and profil.ko for KDIR=/lib/modules/.../build
#?   make modules, lib    one of the two
#?   make install         module, header, library, manual pages
#?   make uninstall       the reverse; both know PREFIX= and DESTDIR=
#?   make install-dkms    the module's source, for "dkms install profil/0.1.0"
#?
#? For work on it:
#?   make test            tests that need no VM
#?   make lint            checks of the source
#?   make selftests       the test programs, into build/selftests
#?   make check-debug     the test suite on kernels with KASAN, lockdep, KCSAN
#?   make check-matrix    other kernels, and other ways to boot them
#?   make check-short     fuzzer, lifecycle, soak in short, faults: 10 minutes
#?   make check-programs  real programs of gcc -pg, with the C library and with ours
#?   make bench           what profiling costs, by us and by others: 4 minutes
#?   make bench-all       the same on other kernels and arm64
#?   make check-mutants, check-replay, check-lifecycle, check-soak, check-fuzz,
#?   check-coverage       one of them in its long form, up to hours
#?   make check-all       check, and these in their long forms, about five hours; goes
#?                        on where it was stopped
#?   make check-dkms      dkms.conf, in a fresh Debian root; needs to be root
#?   make clean           remove build/
#?   make distclean       and the kernels in the cache

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

selftests:
	selftests/setup.sh build test vm
	$(MAKE) -C selftests/kernel OUT=$(CURDIR)/build/selftests CC=gcc-12 \
		HARNESS=$$(selftests/vm/kernels.sh source)/tools/testing/selftests

lint:
	selftests/setup.sh build check
	selftests/lint/run.sh

test:
	selftests/setup.sh build test
	$(MAKE) -s -C selftests/lib check

check:
	selftests/check.sh stock

check-debug:
	selftests/check.sh debug

check-matrix:
	selftests/check.sh matrix

check-short:
	selftests/check.sh short

check-programs:
	selftests/check.sh programs

check-all:
	selftests/check.sh --go-on stock debug-long programs matrix-long mutants replay \
		soak lifecycle coverage fuzz

check-mutants check-replay check-lifecycle check-coverage check-soak check-fuzz:
	selftests/check.sh $(@:check-%=%)

check-dkms:
	selftests/setup.sh build dkms
	selftests/lint/dkms.sh

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
		rm -rf apt kernels programs source kvm-* lock.* tmp.*

.PHONY: all help modules lib selftests lint test check check-debug check-matrix \
	check-short check-programs check-mutants check-replay check-lifecycle check-coverage \
	check-soak check-fuzz check-all check-dkms bench bench-all demo vm vm-run vm-ready install \
	install-dkms uninstall clean distclean
