# GNU make. A program is src/NAME.c; everything else follows from that list.
# Workflows are shell scripts in bin.

PROGRAMS := $(basename $(notdir $(wildcard src/vkb-*.c)))
WORKFLOWS = vkb-ab vkb-bench vkb-bisect vkb-comment vkb-completion vkb-continuous vkb-needs vkb-pr vkb-quickstart vkb-why

VERSION = 0.1
PREFIX = /usr/local
BINDIR = $(PREFIX)/bin
MANDIR = $(PREFIX)/share/man
DATADIR = $(PREFIX)/share/vkb

CC = gcc
CFLAGS = -O2 -g
WARN = -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wvla -Wformat=2 -Wundef
PKGS = expat libarchive libcjson libcurl libgit2 hiredis libpq openssl zlib
LIBS = -lcsv -liberty # they have no pkg-config files

# SANITIZE=address,undefined (or thread) builds in a folder of its own.
comma = ,
ifdef SANITIZE
BUILD = build/$(subst $(comma),-,$(SANITIZE))
BIN = $(BUILD)/bin
SANFLAGS = -fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	-fno-sanitize-recover=all
else
BUILD = build
BIN = bin
endif

# pkg-config is asked once; a missing library is an error that names it.
PKGMK = $(BUILD)/pkg.mk
STD = -std=c11 -D_GNU_SOURCE -DVKB_VERSION='"$(VERSION)"'
ALLCFLAGS = $(STD) $(WARN) $(CFLAGS) $(SANFLAGS) -Isrc/lib -pthread \
	$(PKGCFLAGS)
ALLLIBS = $(PKGLIBS) $(LIBS) -lm -pthread

LIBOBJ = $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/lib/*.c))
LIB = $(BUILD)/libvkb.a
PROGBIN = $(addprefix $(BIN)/,$(PROGRAMS))
UNIT = $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
BENCH = $(patsubst tests/bench/%.c,$(BUILD)/bench/%,\
	$(wildcard tests/bench/*.c))
COMPLETION = $(BUILD)/completion

all: $(PROGBIN)

ifeq ($(filter clean distclean,$(MAKECMDGOALS)),)
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
	$(AR) rcs $@ $^

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -MMD -MP -c -o $@ $<

# A program is src/NAME.c, and src/NAME/*.c where it outgrew one file.
define program
$(1)_OBJ = $(BUILD)/$(1).o \
	$$(patsubst src/%.c,$(BUILD)/%.o,$$(wildcard src/$(1)/*.c))
$(BIN)/$(1): $$($(1)_OBJ) $(LIB)
	@mkdir -p $$(@D)
	$(CC) $(ALLCFLAGS) $(LDFLAGS) -o $$@ $$^ $(ALLLIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

# Unit tests and benchmarks may reach the private modules of programs as well.
PRIVATE = $(BUILD)/libprivate.a
$(PRIVATE): $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/vkb-*/*.c))
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/unit/%: tests/unit/%.c tests/unit/tap.h $(PRIVATE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -Isrc -Itests/unit -MMD -MP -MF $@.d -o $@ $< \
	$(PRIVATE) $(LIB) $(ALLLIBS)

$(BUILD)/bench/%: tests/bench/%.c $(PRIVATE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -Isrc -MMD -MP -MF $@.d -o $@ $< $(PRIVATE) $(LIB) \
	$(ALLLIBS)

# Fuzz targets are linked with the library and all private modules, built by
# clang a second time.
FUZZ = $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*.c))
FUZZOBJ = $(patsubst src/%.c,$(BUILD)/fuzz/obj/%.o,\
	$(wildcard src/lib/*.c src/vkb-*/*.c))
FUZZCC = clang $(STD) -O1 -g -fno-sanitize-recover=all -Isrc -Isrc/lib \
	-pthread $(PKGCFLAGS) -MMD -MP
FUZZSAN = address,undefined

$(BUILD)/fuzz/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(FUZZCC) -fsanitize=fuzzer-no-link,$(FUZZSAN) -c -o $@ $<

$(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZOBJ)
	@mkdir -p $(@D)
	$(FUZZCC) -fsanitize=fuzzer,$(FUZZSAN) -MF $@.d -o $@ $< $(FUZZOBJ) \
	$(ALLLIBS)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

unit: $(UNIT)
bench: all $(BENCH)
fuzz: $(FUZZ)

check: all $(UNIT) $(BENCH)
	VKB_BIN=$(abspath $(BIN)) VKB_BUILD=$(abspath $(BUILD)) \
	sh tests/check $(T)

lint: all
	sh tests/lint

completion: all
	sh bin/vkb-completion $(BIN) $(COMPLETION)

install: all completion
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 \
	$(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man7 \
	$(DESTDIR)$(DATADIR)/configs \
	$(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	$(DESTDIR)$(PREFIX)/share/zsh/site-functions
	install $(PROGBIN) $(addprefix bin/,$(WORKFLOWS)) $(DESTDIR)$(BINDIR)
	install -m 644 bin/vkb-sh-setup $(DESTDIR)$(BINDIR)
	install -m 644 man/*.1 $(DESTDIR)$(MANDIR)/man1
	install -m 644 man/*.5 $(DESTDIR)$(MANDIR)/man5
	install -m 644 man/*.7 $(DESTDIR)$(MANDIR)/man7
	install -m 644 configs/*.json $(DESTDIR)$(DATADIR)/configs
	for p in $(PROGRAMS); do \
	install -m 644 $(COMPLETION)/bash/$$p \
	$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$p && \
	install -m 644 $(COMPLETION)/zsh/_$$p \
	$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_$$p || exit 1; done

clean:
	rm -rf build $(addprefix bin/,$(PROGRAMS))

.PHONY: all unit bench fuzz check lint completion install clean
.DELETE_ON_ERROR:
.SECONDARY:
