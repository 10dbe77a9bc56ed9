#include "modules.h"
#include "elffile.h"
#include "mem.h"
#include "intern.h"
#include "str.h"
#include "symbolname.h"
#include "symfiles.h"
#include "symtab.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct module {
	char *name;
	unsigned char id[ELFFILE_ID];
	size_t nid;
	bool read;
	struct elffile *elf;    /* NULL: the kernel, jit code, or no file */
	struct symtab *symbols; /* or NULL */
	bool stale;             /* the file exists, but from another build */
};

struct modules {
	struct intern *keys; /* name and build-id */
	struct module *v;
	size_t n, cap;
	uint64_t kernel_text;
};

struct modules *
modules_new(void)
{
	struct modules *m = mem_new(sizeof *m);

	m->keys = intern_new();
	return m;
}

void
modules_free(struct modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].name);
		elffile_close(m->v[i].elf);
		symtab_free(m->v[i].symbols);
	}
	free(m->v);
	intern_free(m->keys);
	free(m);
}

static void
append_id(struct str *s, const unsigned char *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_printf(s, "%02x", id[i]);
}

size_t
modules_add(
    struct modules *m, const char *name, const unsigned char *id, size_t n)
{
	struct str key = {0};
	size_t at;

	append_id(&key, id, n);
	str_printf(&key, " %s", name);
	at = intern_id(m->keys, key.s);
	str_free(&key);
	if (at < m->n)
		return at;
	m->v = mem_grow(m->v, m->n, &m->cap, sizeof *m->v);
	m->v[m->n] = (struct module){.name = mem_str(name), .nid = n};
	memcpy(m->v[m->n].id, id, n);
	m->n++;
	return at;
}

const char *
modules_name(const struct modules *m, size_t module)
{
	return m->v[module].name;
}

void
modules_set_kernel(struct modules *m, uint64_t text)
{
	m->kernel_text = text;
}

/* --- files */

static bool
is_same_build(const struct module *m, const struct elffile *e)
{
	unsigned char id[ELFFILE_ID];

	return !m->nid ||
	    (elffile_build_id(e, id) == m->nid &&
		memcmp(id, m->id, m->nid) == 0);
}

static struct elffile *
open_same_build(struct module *m, const char *path)
{
	struct elffile *e = elffile_open(path);

	if (!e || is_same_build(m, e))
		return e;
	elffile_close(e);
	m->stale = true;
	return NULL;
}

/* Opens DIR/.build-id/12/345678...END. Returns NULL without an id or a file. */
static struct elffile *
open_by_id(struct module *m, const char *dir, const char *end)
{
	struct str path = {0};
	struct elffile *e;

	if (m->nid < 2)
		return NULL;
	str_printf(&path, "%s/.build-id/%02x/", dir, m->id[0]);
	append_id(&path, m->id + 1, m->nid - 1);
	str_add(&path, end);
	e = open_same_build(m, path.s);
	str_free(&path);
	return e;
}

static struct elffile *
open_perf_copy(struct module *m, const char *end)
{
	const char *home = getenv("HOME");
	char *dir = home ? mem_printf("%s/.debug", home) : NULL;
	struct elffile *e = dir ? open_by_id(m, dir, end) : NULL;

	free(dir);
	return e;
}

/* Returns the vdso of this process; all processes have the same. */
static struct elffile *
open_own_vdso(struct module *m)
{
	const void *p = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct elffile *e = p
	    ? elffile_memory(p, (size_t)2 * (size_t)sysconf(_SC_PAGESIZE))
	    : NULL;

	if (!e || is_same_build(m, e))
		return e;
	elffile_close(e);
	return NULL;
}

static struct elffile *
open_file(struct module *m)
{
	bool vdso = strcmp(m->name, "[vdso]") == 0;
	struct elffile *e = NULL;

	if (*m->name == '/')
		e = open_same_build(m, m->name);
	if (!e && (vdso || *m->name == '/'))
		e = open_perf_copy(m, vdso ? "/vdso" : "/elf");
	return e || !vdso ? e : open_own_vdso(m);
}

static void
add_symbol(void *symbols, const struct elffile_symbol *y)
{
	struct str s = {0};

	symbolname_demangle(&s, y->name);
	symtab_add(symbols, y->at, y->size, y->bind, s.s, s.len);
	str_free(&s);
}

static void
add_stub(void *symbols, const struct elffile_symbol *y)
{
	struct str s = {0};

	symbolname_demangle(&s, y->name);
	str_add(&s, "@plt");
	symtab_add(symbols, y->at, y->size, y->bind, s.s, s.len);
	str_free(&s);
}

/* Reads the symbols of the debug file if it has a full table. */
static void
read_file(struct module *m)
{
	struct elffile *debug = NULL;
	struct symtab *t;

	m->elf = open_file(m);
	if (!m->elf)
		return;
	if (*m->name == '/') {
		m->stale = false;
		if (!m->nid)
			m->nid = elffile_build_id(m->elf, m->id);
		debug = open_by_id(m, "/usr/lib/debug", ".debug");
	}
	t = m->symbols = symtab_new();
	if (!(debug && elffile_symbols(debug, SHT_SYMTAB, add_symbol, t)) &&
	    !elffile_symbols(m->elf, SHT_SYMTAB, add_symbol, t))
		elffile_symbols(m->elf, SHT_DYNSYM, add_symbol, t);
	elffile_stubs(m->elf, add_stub, t);
	symtab_sort(t);
	elffile_close(debug);
}

/* --- the kernel */

static size_t
read_running_kernel_id(unsigned char id[ELFFILE_ID])
{
	unsigned char notes[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof notes);

	if (fd >= 0)
		close(fd);
	return n > 0 ? elffile_note_id(notes, (size_t)n, id) : 0;
}

static void
read_kernel(struct module *m)
{
	unsigned char id[ELFFILE_ID];
	size_t n = read_running_kernel_id(id);

	m->stale = m->nid && n && (n != m->nid || memcmp(id, m->id, n) != 0);
	if (!m->stale)
		m->symbols = symfiles_read_kernel("/proc/kallsyms");
}

static bool
is_kernel(const struct module *m)
{
	return strcmp(m->name, MODULES_KERNEL) == 0;
}

const char *
modules_find_symbol(
    struct modules *all, size_t module, uint64_t at, uint64_t *linked)
{
	struct module *m = &all->v[module];
	uint64_t text;

	if (linked)
		*linked = at;
	if (!m->read) {
		m->read = true;
		if (is_kernel(m))
			read_kernel(m);
		else if (str_starts(m->name, "/tmp/perf-"))
			m->symbols = symfiles_read_jit(m->name);
		else
			read_file(m);
		if (m->symbols && is_kernel(m) && all->kernel_text) {
			text = symtab_find_address(m->symbols, "_text");
			all->kernel_text = text ? all->kernel_text - text : 0;
		} else if (is_kernel(m)) {
			all->kernel_text = 0;
		}
	}
	if (is_kernel(m))
		at -= all->kernel_text;
	if (m->elf && elffile_address(m->elf, at, &at) && linked)
		*linked = at;
	return m->symbols ? symtab_find(m->symbols, at) : NULL;
}

size_t
modules_count_stale(const struct modules *m, const char **first)
{
	size_t n = 0;

	for (size_t i = m->n; i > 0; i--)
		if (m->v[i - 1].stale) {
			*first = m->v[i - 1].name;
			n++;
		}
	return n;
}
