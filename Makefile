# GNU make. A program is src/NAME.c; everything else follows from that list.
# Workflows are shell scripts in bin.

PROGRAMS := $(basename $(notdir $(wildcard src/vkb-*.c)))
WORKFLOWS = vkb-ab vkb-bench vkb-bisect vkb-comment vkb-completion vkb-continuous vkb-dashboards vkb-needs vkb-pr vkb-publish vkb-quickstart vkb-why

# The one place: records and pages take it from the programs, the package and the
# tarball from here; a test compares NEWS.md and debian/changelog.
VERSION = 1.0
PREFIX = /usr/local
BINDIR = $(PREFIX)/bin
MANDIR = $(PREFIX)/share/man
DATADIR = $(PREFIX)/share/vkb
LIBDIR = $(PREFIX)/lib
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d

CC = gcc
CFLAGS = -O2 -g
WARN = -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wvla -Wformat=2 -Wundef
PKGS = expat libarchive libcjson libcurl libgit2 hiredis libpcap libpq openssl zlib
LIBS = -lcsv # it has no pkg-config file

# SANITIZE=address,undefined (or thread) builds in another folder, without -O2, which
# takes half the time, and the modules of programs, which compute little, without -O1,
# which takes half of that; reports still name functions and lines. A program starts in
# half the time if it loads only the libraries that it needs, and has the sanitizer in
# itself.
comma = ,
ifdef SANITIZE
BUILD = build/$(subst $(comma),-,$(SANITIZE))
BIN = $(BUILD)/bin
CFLAGS = -O1 -g1
SANFLAGS = -fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	-fno-sanitize-recover=all -static-libasan -static-libubsan -static-libtsan \
	-Wl,--as-needed
$(BUILD)/vkb-%.o: CFLAGS = -O0 -g1
else
BUILD = build
BIN = bin
endif

# Run pkg-config once; it reports a library that is missing.
PKGMK = $(BUILD)/pkg.mk
STD = -std=c11 -D_GNU_SOURCE
ALLCFLAGS = $(STD) $(WARN) $(CFLAGS) $(SANFLAGS) -Isrc -Isrc/lib -pthread \
	$(PKGCFLAGS)
ALLLIBS = $(PKGLIBS) $(LIBS) -lm -pthread

LIBOBJ = $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/lib/*.c src/judge/*.c))
LIB = $(BUILD)/libvkb.a
# vkb-report reads results of vkb-compare, and says them in the same words.
COMPARE = $(BUILD)/libcompare.a
vkb-report_USES = $(COMPARE)
PROGBIN = $(addprefix $(BIN)/,$(PROGRAMS))
UNIT = $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
BENCH = $(patsubst tests/bench/%.c,$(BUILD)/bench/%,\
	$(wildcard tests/bench/*.c))
COMPLETION = $(BUILD)/completion

# vkb-still.so is preloaded into servers whose instructions are counted. It has other
# flags than the programs, because it replaces functions of libc. The programs find it
# at ../lib/vkb, in the tree and where they are installed.
STILL = $(dir $(BIN))lib/vkb/vkb-still.so
STILLFLAGS = -std=c11 -D_GNU_SOURCE $(WARN) -O2 -g -fPIC -shared -fno-builtin

all: $(PROGBIN) $(STILL)

ifeq ($(filter clean dist html uninstall,$(MAKECMDGOALS)),)
include $(PKGMK)
endif

$(PKGMK): Makefile
	@mkdir -p $(@D)
	@pkg-config --print-errors --exists $(PKGS) || { \
	echo "'sh bin/vkb-needs build' installs what is missing" >&2; exit 1; }
	@{ echo "PKGCFLAGS = $$(pkg-config --cflags $(PKGS))"; \
	echo "PKGLIBS = $$(pkg-config --libs $(PKGS))"; } >$@.tmp
	@mv $@.tmp $@

$(LIB): $(LIBOBJ)
	@rm -f $@
	$(AR) rcsT $@ $^

$(COMPARE): $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/vkb-compare/*.c))
	@rm -f $@
	$(AR) rcsT $@ $^

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -MMD -MP -c -o $@ $<

# Only this object has the version: another one does not need a new build of all.
$(BUILD)/lib/opt.o: ALLCFLAGS += -DVKB_VERSION='"$(VERSION)"'
$(BUILD)/lib/opt.o: Makefile

$(STILL): $(wildcard src/preload/*.c)
	@mkdir -p $(@D)
	$(CC) $(STILLFLAGS) $(LDFLAGS) -o $@ $^

# These objects contain the style sheets and scripts of pages.
$(foreach o,lib/html vkb-flame vkb-history/site vkb-report/page lib/plot,\
$(BUILD)/$(o).o $(BUILD)/fuzz/obj/$(o).o): $(wildcard src/*/*.css src/*/*.js)

# A program is src/NAME.c and, if it has more than one file, src/NAME/*.c and
# src/NAME/*/*.c.
define program
$(1)_OBJ = $(BUILD)/$(1).o \
	$$(patsubst src/%.c,$(BUILD)/%.o,\
	$$(wildcard src/$(1)/*.c src/$(1)/*/*.c))
$(BIN)/$(1): $$($(1)_OBJ) $$($(1)_USES) $(LIB)
	@mkdir -p $$(@D)
	$(CC) $(ALLCFLAGS) $(LDFLAGS) -o $$@ $$^ $(ALLLIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

# Unit tests and benchmarks are also linked with the private modules of programs. With gold,
# where it is installed, that takes half the time.
GOLD := $(if $(shell command -v ld.gold 2>/dev/null),-fuse-ld=gold)
PRIVATE = $(BUILD)/libprivate.a
$(PRIVATE): $(patsubst src/%.c,$(BUILD)/%.o,\
	$(wildcard src/vkb-*/*.c src/vkb-*/*/*.c))
	@rm -f $@
	$(AR) rcsT $@ $^

$(BUILD)/unit/%: tests/unit/%.c tests/unit/tap.h $(PRIVATE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -Itests/unit $(GOLD) -MMD -MP -MF $@.d -o $@ $< \
	$(PRIVATE) $(LIB) $(ALLLIBS)

$(BUILD)/bench/%: tests/bench/%.c $(PRIVATE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) $(GOLD) -MMD -MP -MF $@.d -o $@ $< $(PRIVATE) $(LIB) \
	$(ALLLIBS)

# All fuzz targets are one program, which chooses the target by the name it is called
# by. A trial link lists the objects of the library and of private modules that the
# targets need; clang builds these again, without optimizing: that would take longer than
# the inputs of t0110 take without it.
FUZZSRC = $(filter-out tests/fuzz/main.c,$(wildcard tests/fuzz/*.c))
FUZZ = $(FUZZSRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)
FUZZCC = clang $(STD) -O0 -gline-tables-only -fno-sanitize-recover=all -Isrc \
	-Isrc/lib -pthread $(PKGCFLAGS) -MMD -MP
FUZZSAN = address,undefined

FUZZMK = $(BUILD)/fuzz/obj.mk
# It is made when the flags of packages are known: make reads its files again.
ifneq ($(and $(filter fuzz,$(MAKECMDGOALS)),$(PKGCFLAGS)),)
include $(FUZZMK)
endif
$(FUZZMK): $(FUZZSRC) $(PRIVATE) $(LIB)
	@mkdir -p $(@D)
	@$(CC) $(ALLCFLAGS) -w -O0 -Wl,-z,muldefs,--defsym=main=0,--trace \
	-o $@.bin $^ $(ALLLIBS) >$@.trace
	@sed -n 's,^$(BUILD)/\(.*\.o\)$$,FUZZOBJ += $(BUILD)/fuzz/obj/\1,p' \
	$@.trace >$@.tmp
	@rm $@.bin $@.trace
	@mv $@.tmp $@

$(BUILD)/fuzz/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(FUZZCC) -fsanitize=fuzzer-no-link,$(FUZZSAN) -c -o $@ $<

$(BUILD)/fuzz/target/%.o: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(FUZZCC) -fsanitize=fuzzer-no-link,$(FUZZSAN) \
	-DLLVMFuzzerTestOneInput=fuzz_$* -c -o $@ $<

FUZZNAME = TARGET(%)
$(BUILD)/fuzz/.all: tests/fuzz/main.c \
	$(FUZZSRC:tests/fuzz/%.c=$(BUILD)/fuzz/target/%.o) $(FUZZOBJ)
	$(FUZZCC) '-DTARGETS=$(patsubst tests/fuzz/%.c,$(FUZZNAME),$(FUZZSRC))' \
	-fsanitize=fuzzer,$(FUZZSAN) -MF $@.d -o $@ $^ $(ALLLIBS)

$(FUZZ): $(BUILD)/fuzz/.all
	@ln -f $< $@

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

unit: $(UNIT)
bench: all $(BENCH)
fuzz: $(FUZZ)

# Build what the tests named by T run, or everything; where some run with the sanitizers,
# what those need, or the others.
ifneq ($(and $(filter check needed,$(MAKECMDGOALS)),$(T)$(VKB_TEST_SANITIZE)),)
NEEDED := $(shell SANITIZE=$(SANITIZE) sh tests/check --needs $(T))
CHECKED := $(filter all,$(NEEDED)) \
	$(patsubst bin/%,$(BIN)/%,$(filter $(addprefix bin/,$(PROGRAMS)),$(NEEDED))) \
	$(addprefix $(BUILD)/,$(filter unit/% bench/%,$(NEEDED)))
endif
needed: $(if $(T)$(VKB_TEST_SANITIZE),$(CHECKED),all $(UNIT) $(BENCH))

check: needed
	VKB_BIN=$(abspath $(BIN)) VKB_BUILD=$(abspath $(BUILD)) \
	sh tests/check $(T)

lint: all
	sh tests/lint

completion: all
	sh bin/vkb-completion $(BIN) $(COMPLETION)

# All pages as HTML, linked, with a search; build/html/index.html opens from a folder.
html:
	@sh lib/html/make build/html $(VERSION)
	@echo build/html/index.html

# The files of a clone; other files in this folder were made by vkb-gendata.
DATASETS = $(addprefix datasets/,README.md recipe.json search_terms.csv \
	proximity_phrases.csv mixed_match.csv field_text.csv)

# What install copies and uninstall removes: mode, folder, files. The folders below
# configs are kept.
define places
$(call $(1),755,$(BINDIR),$(PROGBIN) bin/vkb $(addprefix bin/,$(WORKFLOWS)))
$(call $(1),644,$(LIBDIR)/vkb,$(STILL) lib/vkb/vkb-sh-setup lib/vkb/vkb-forge-setup)
$(call $(1),644,$(MANDIR)/man1,$(wildcard man/*.1))
$(call $(1),644,$(MANDIR)/man5,$(wildcard man/*.5))
$(call $(1),644,$(MANDIR)/man7,$(wildcard man/*.7))
$(foreach d,$(shell find configs -type d),$(call $(1),$(if $(filter %/slurm,$(d)),755,644),$(DATADIR)/$(d),$(shell find $(d) -maxdepth 1 -type f))$(newline))
$(call $(1),644,$(DATADIR)/datasets,$(filter-out %.md,$(DATASETS)))
$(call $(1),644,$(BASHDIR),$(addprefix $(COMPLETION)/bash/,vkb $(PROGRAMS) $(WORKFLOWS)))
$(call $(1),644,$(ZSHDIR),$(addprefix $(COMPLETION)/zsh/_,vkb $(PROGRAMS) $(WORKFLOWS)))
$(call $(1),644,$(FISHDIR),$(addprefix $(COMPLETION)/fish/,$(addsuffix .fish,vkb $(PROGRAMS) $(WORKFLOWS))))
endef
define newline


endef
put = $(if $(3),install -d $(DESTDIR)$(2) && install -m $(1) $(3) $(DESTDIR)$(2))
# Folders below PREFIX that are empty then are removed, too.
drop = rm -f $(addprefix $(DESTDIR)$(2)/,$(notdir $(3)))$(if $(filter $(PREFIX)/%,$(2)), && \
	{ [ ! -d $(DESTDIR)$(2) ] || (cd $(DESTDIR)$(PREFIX) && \
	rmdir -p --ignore-fail-on-non-empty $(2:$(PREFIX)/%=%)); })

install: all completion
	$(call places,put)

uninstall:
	$(call places,drop)
	[ ! -d $(DESTDIR)$(PREFIX) ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)

# The same files make the same tarball. In a clone these are the files that git
# tracks, in an unpacked tarball all that are not built.
DIST = vkb-$(VERSION)
dist:
	@mkdir -p build
	@if [ -e .git ]; then git ls-files -z; else find . -type f \
	! -path './build/*' ! -path './lib/vkb/*.so' ! -path './results/*' \
	\( ! -path './datasets/*' $(DATASETS:%=-o -path './%') \) \
	$(PROGRAMS:%=! -path './bin/%') -printf '%P\0'; fi \
	>build/dist.list
	@LC_ALL=C sort -z -o build/dist.list build/dist.list
	@t=$${SOURCE_DATE_EPOCH:-$$(if [ -e .git ]; then git log -1 --format=%ct; \
	else stat -c %Y Makefile; fi)} && tar -cf build/$(DIST).tar --format=gnu \
	--null -T build/dist.list --transform 's,^,$(DIST)/,' --mtime="@$$t" \
	--owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX
	@gzip -9nf build/$(DIST).tar
	@echo build/$(DIST).tar.gz

clean:
	rm -rf build lib/vkb/vkb-still.so $(addprefix bin/,$(PROGRAMS))

.PHONY: all unit bench fuzz needed check lint completion html install uninstall dist clean
.DELETE_ON_ERROR:
.SECONDARY:
