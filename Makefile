# SPDX-License-Identifier: MIT
# A small front for cmake: make, make install DESTDIR= PREFIX=, make test. CC and CFLAGS count when BUILD is made first.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CLANG ?= clang
CONFIGURE = cmake -S . -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
COMPILE = cmake --build

# Ninja itself takes less CPU than make, and the tests have 250 programs. A folder that make has built stays make's.
BY_NINJA = all everything test-build sanitize memory fuzz
ifneq ($(shell command -v ninja),)
$(BY_NINJA): export CMAKE_GENERATOR = Ninja
$(BY_NINJA): export NINJA_STATUS = [%p] $(empty)
endif

# Each kind of build has its own folder, so that none undoes another.
ADDRESS = $(BUILD)-address
THREAD = $(BUILD)-thread
FUZZ = $(BUILD)-fuzz
COVERAGE = $(BUILD)-coverage
MEMORY = $(BUILD)-memory
STORE = $(BUILD)-store

all:
	$(CONFIGURE) -B $(BUILD) $(if $(CFLAGS),-DCMAKE_C_FLAGS="$(CFLAGS)")
	$(COMPILE) $(BUILD) -j$(JOBS)

# With the modules of shared stores and the extensions of databases, where their headers are.
everything:
	$(CONFIGURE) -B $(BUILD) -DFIRN_EXTENSIONS=ON $(if $(CFLAGS),-DCMAKE_C_FLAGS="$(CFLAGS)")
	$(COMPILE) $(BUILD) -j$(JOBS)

install: all
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD)

uninstall:
	xargs -d '\n' rm -f < $(BUILD)/install_manifest.txt

# Everything that the tests run: warnings are errors here.
test-build:
	$(CONFIGURE) -B $(BUILD) -DFIRN_TESTS=ON -DFIRN_WERROR=ON $(if $(CFLAGS),-DCMAKE_C_FLAGS="$(CFLAGS)")
	$(COMPILE) $(BUILD) -j$(JOBS)
# Here they are not: gcc sees truncations that are none once its sanitizers have rewritten the code. SHORT=1: only the programs
# of the short tests.
sanitize:
	$(CONFIGURE) -B $(ADDRESS) -DFIRN_TESTS=ON -DFIRN_WERROR=OFF -DFIRN_SHORT=$(if $(SHORT),ON,OFF) -DFIRN_SANITIZE=address,undefined
	$(COMPILE) $(ADDRESS) -j$(JOBS)
	$(CONFIGURE) -B $(THREAD) -DFIRN_TESTS=ON -DFIRN_WERROR=OFF -DFIRN_SHORT=$(if $(SHORT),ON,OFF) -DFIRN_SANITIZE=thread
	$(COMPILE) $(THREAD) -j$(JOBS)
# For valgrind, which sees whoever uses memory that nobody has written: no flag may write it first. Optimised a little, and
# so gcc warns of what it cannot follow.
memory:
	$(CONFIGURE) -B $(MEMORY) -DCMAKE_BUILD_TYPE=Debug -DFIRN_HARDENED=OFF -DFIRN_WERROR=OFF -DCMAKE_C_FLAGS="-O1 $(CFLAGS)"
	$(COMPILE) $(MEMORY) --target firn_server module_sqlite -j$(JOBS)
fuzz:
	CC=$(CLANG) $(CONFIGURE) -B $(FUZZ) -DFIRN_FUZZ=ON -DFIRN_WERROR=ON
	$(COMPILE) $(FUZZ) -j$(JOBS)

test: test-build
	BUILD=$(BUILD) test/run-all --short
# All of it in full, with the programs that test leaves out (test/long).
test-long: test-build sanitize memory fuzz
	BUILD=$(BUILD) test/run-all

# The conformance, fault and kill tests of stores against a module of yours: docs/guides/own-store.md.
.PHONY: test-store
test-store:
	@mkdir -p $(STORE)
	@($(CONFIGURE) -B $(STORE) -DFIRN_STORE_TESTS=ON && \
		$(COMPILE) $(STORE) -j$(JOBS) --target store_test driver_test law_test closing_test module_sqlite) \
		>$(STORE)/log 2>&1 || { cat $(STORE)/log >&2; exit 1; }
	@BUILD=$(STORE) test/kit "$(MODULE)" '$(URL)' "$(BACKUP)" '$(CHECKS)'

# Well-known packages against spec/: needs the npm registry.
known-packages:
	BUILD=$(BUILD) spec/known/run

# The lines for ORMs of bindings/node/README.md with the real packages: needs the npm registry.
known-frameworks: all
	BUILD=$(BUILD) test/frameworks/run

# The core as WebAssembly: the same bytes from the same sources with Debian 12's clang-14, lld-14 and wasi-libc. The files are
# in the tree, so that nothing else needs these; a change of what they contain goes into one commit with them.
wasm:
	bindings/wasm/compile.sh bindings/wasm/firn.wasm

# The figures that `firn choose` and docs/start/choosing.md quote, from docs/study/summary.tsv: after each change of that.
.PHONY: choose-figures
choose-figures:
	common/figures.py
	$(MAKE) all
	FIRN=$(BUILD)/bin/firn common/figures.py --page docs/start/choosing.md

# The decoder page: one file, which any host can serve and any browser can open. Needs python3.
site:
	site/make.py $(BUILD)/site/index.html

# Which lines and branches the tests run: test/coverage.py; test/uncovered excuses some. Sanitizers, fuzzers and the tests of
# the build itself are left out, as are those that load the extension of PostgreSQL or link with the library. Functions are
# compiled once, not into each caller, so that a branch counts once.
coverage:
	$(CONFIGURE) -B $(COVERAGE) -DFIRN_TESTS=ON -DFIRN_WERROR=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="--coverage -fprofile-update=atomic -Dalways_inline=unused -include $(CURDIR)/test/counted.h"
	$(COMPILE) $(COVERAGE) -j$(JOBS)
	find $(COVERAGE) -name '*.gcda' -delete
	-BUILD=$(COVERAGE) test/run-all . '/|extension|surfaces|guides_sql|machine_bugs|symbols|clone|install|readme|manual|(format|tidy) |torture'
	test/coverage.py $(COVERAGE)

# The library in two files, BUILD/amalgamation/firn.c and firn.h, for a program that contains firn.
.PHONY: amalgamation
amalgamation:
	packaging/amalgamation.sh "$(BUILD)/amalgamation"

.PHONY: deb apt-repo rpm static image test-deb test-static test-image test-versions test-major release-check
# Packages of what is committed: BUILD/deb, a signed repository of them in BUILD/apt (KEY: your key), BUILD/rpm.
deb:
	BUILD=$(BUILD) packaging/deb.sh
apt-repo:
	BUILD=$(BUILD) KEY="$(KEY)" packaging/apt-repo.sh
rpm:
	BUILD=$(BUILD) packaging/rpm.sh
# The command, the laboratory and the server for any Linux, each one file, in BUILD/static/PROCESSOR.
static:
	BUILD=$(BUILD) packaging/static.sh
# An OCI image of them, from nothing, in BUILD/image (SOURCE: the URL of this repository, for its labels).
image: static
	/usr/bin/python3 packaging/image.py $(BUILD)/static $(BUILD)/image $(SOURCE)

# Not a part of test: a root of Debian's own and other processors need packages that nothing else needs.
test-bare:
	test/bare 12
	test/bare 13
test-systemd:
	test/systemd
test-several:
	test/several
test-arch:
	test/arch
test-deb:
	test/deb
test-static: all
	BUILD=$(BUILD) test/static
test-image:
	BUILD=$(BUILD) test/image
# This build and an older one from the history (OLD=COMMIT or OLD=FOLDER) on one store at the same time.
test-versions: everything
	BUILD=$(BUILD) OLD="$(OLD)" test/versions
# From one major version of PostgreSQL to another: OLD and NEW are the folders of their programs.
test-major: all
	BUILD=$(BUILD) test/major "$(OLD)" "$(NEW)"
# Everything that a release needs, with a table; as root.
release-check:
	BUILD=$(BUILD) test/release-check

# Statistics of SIZE MiB of the random generator; needs rng-tools5, ent and dieharder. 65536 takes some hours.
SIZE ?= 1024
randomness: test-build
	BUILD=$(BUILD) test/randomness $(SIZE)

# The long form of test/extension_postgres_shared.sh: extension and store issue 10^7 IDs side by side.
side-by-side: everything
	FIRN_SIDE=10000000 BUILD=$(BUILD) test/run-all '^extension_postgres_shared'

# The long form of test/torture.sh: about a quarter of an hour on two cores.
torture: test-build
	$(BUILD)/test/torture

# Each of five engines is stopped for ten minutes under 21 processes on three machines with reserves: 10^8 IDs of each
# engine, an hour in all (test/outlive/run.py). Needs 2 GB of memory and of disk.
outlive-proof: test-build
	OUTAGE=600 MACHINES=3 PROCESSES=7 BATCH=200 SERVERS=1 AFTER=60 BUILD=$(BUILD) \
		python3 test/outlive/run.py postgres mysql redis etcd zookeeper

# Shows which IDs two copies of one virtual machine repeat. Takes some ten minutes. Needs qemu-system-x86, qemu-utils,
# e2fsprogs, redis-server.
torture-clones: everything
	BUILD=$(BUILD) test/clones/run

# Four languages on one store: ten million IDs.
together: test-build
	TOGETHER=10000000 BUILD=$(BUILD) test/run-all binding_together
# A million seeds of the simulation: 20 minutes of one quiet core.
simulate: test-build
	$(BUILD)/sim/firn_sim --seeds 1..1000000 --jobs $(JOBS)
# Each branch, comparison and bound of the core changed: do the tests see it? Hours; goes on where it was interrupted.
# sim/mutants.excused lists survivors, with reasons.
mutate: test-build
	BUILD=$(BUILD) test/mutate --jobs $(JOBS)

# The vector versions of texts compared with the plain code on 10^9 random IDs of each form: 17 minutes of one core.
text-proof: test-build
	$(BUILD)/test/simd_pure_test 1000000000

# 10^8 IDs of 63 bits and 10^8 UUIDs masked and back; a minute of one core.
mask-proof: test-build
	FIRN_MASKS=100000000 $(BUILD)/test/mask_test

# The protocol, searched exhaustively; needs spin.
model:
	model/run

bench: all
	$(BUILD)/bin/firn bench
# Whether a path became slower: make bench-against OLD=FILE, with FILE the libfirn.so of an older build.
bench-against: all
	$(BUILD)/bin/firn bench --library $(BUILD)/libfirn.so --against $(OLD) --processes 10

# Measures the tables of the pages again: five and ten minutes, on a quiet machine.
.PHONY: performance scaling
performance: all
	sh bench/page.sh $(BUILD) docs/explanation/performance.md
scaling: bench-engines-build
	sh bench/page.sh $(BUILD) docs/explanation/scaling.md

# Beside real engines, which it starts and stops; needs them and their client libraries.
bench-engines-build:
	$(CONFIGURE) -B $(BUILD) -DFIRN_BENCH=ON $(if $(CFLAGS),-DCMAKE_C_FLAGS="$(CFLAGS)")
	$(COMPILE) $(BUILD) -j$(JOBS)
bench-engines: bench-engines-build
	$(BUILD)/bench/firn_bench_engines
# Beside redis-server and nginx, which it starts and stops: about five minutes.
bench-server: all
	$(COMPILE) $(BUILD) --target firn_load -j$(JOBS)
	/usr/bin/python3 bench/server/compare.py $(BUILD)
# Which key? (docs/study): about half an hour on a quiet machine. STUDY_MINUTES=25 stops earlier; the next run goes on. The small one
# has fewer cells, and its results are not in the tree. study-report makes summary.tsv, page and charts from the results,
# and what `firn choose` quotes.
.PHONY: study study-small study-report
STUDY_MINUTES ?= 600
STUDY = /usr/bin/python3 study/run.py $(BUILD)/bin/firn --minutes $(STUDY_MINUTES) $(if $(MACHINE),--machine $(MACHINE))
study: all
	$(STUDY)
	$(MAKE) study-report
study-small: all
	$(STUDY) --small --data $(BUILD)/study
	/usr/bin/python3 study/report.py --data $(BUILD)/study --out $(BUILD)/study --lenient
study-report:
	/usr/bin/python3 study/report.py
	$(MAKE) choose-figures
# A release of the commit that is checked out: tarball, list of components, checksums.
.PHONY: dist abi release
dist: everything
	packaging/dist.sh $(BUILD)
# What people install without compiling, with checksums, in BUILD/release: what dist writes, packages for languages, Debian packages
# of this release, static programs, the container image. PARTS names some of these.
PARTS ?= packages deb static image
release: everything
	packaging/release.sh $(BUILD) $(PARTS)
# Do programs linked with the library of a release, OLD=libfirn.so.0, run with this build?
abi: all
	packaging/abi.sh $(OLD) $(BUILD)/libfirn.so.0
# 40 and 200 servers on one PostgreSQL, and what their clients see when it is gone.
bench-replicas: all
	/usr/bin/python3 bench/server/replicas.py $(BUILD)/bin/firn-serve 40 200
# In the databases: real servers, some minutes.
bench-extensions: everything
	BUILD=$(BUILD) sh ext/postgres/bench.sh
	BUILD=$(BUILD) sh ext/mariadb/bench.sh
	/usr/bin/python3 ext/sqlite/bench.py $(BUILD)/libfirn_sqlite.so
	/usr/bin/python3 ext/sqlite/bench.py --rows $(BUILD)/libfirn_sqlite.so

format:
	sh test/format.sh --write

readme: all
	sh test/readme.sh --write $(BUILD)/bin/firn

# The pictures of README and docs, from real output. Needs chromium, prometheus and python3-matplotlib.
pictures: all
	python3 docs/pictures/make.py $(BUILD)/bin/firn $(BUILD)/bin/firn-serve
	docs/pictures/dashboard.py $(BUILD)/bin/firn-serve

clean:
	cmake -E rm -rf $(BUILD) $(ADDRESS) $(THREAD) $(MEMORY) $(FUZZ) $(COVERAGE) $(STORE)

docs/reference/errors.md: include/firn/firn.h common/errors.h common/errors.c common/cures.def docs/errors.awk
	sh docs/errors.sh >$@.new && mv $@.new $@

docs/reference/sql.md: ext/functions.awk ext/functions.def
	awk -v out=page -f $^ >$@

.PHONY: side-by-side outlive-proof wasm site together simulate text-proof mask-proof mutate all everything install uninstall test-build sanitize memory fuzz test test-long coverage test-bare test-systemd test-several test-arch randomness torture model bench bench-engines bench-against bench-engines-build bench-server bench-replicas bench-extensions format readme pictures clean
