#include "perfdata.h"
#include "err.h"
#include "folding.h"
#include "mappings.h"
#include "mem.h"
#include "modules.h"
#include "perffile.h"
#include "str.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct perffile *file;
	struct folding *folding;
	struct mappings *maps;
	struct modules *modules;
	size_t kernel;
	bool linked;
};

static struct text
make_text(const char *s)
{
	return (struct text){s, strlen(s)};
}

static bool
is_anonymous(const char *name)
{
	static const char *const starts[] = {"//anon", "/dev/zero",
	    "/anon_hugepage", "[stack", "/SYSV", "[heap]", NULL};

	for (size_t i = 0; starts[i]; i++)
		if (str_starts(name, starts[i]))
			return true;
	return false;
}

static size_t
get_module(
    struct reading *d, const char *name, const unsigned char *id, size_t n)
{
	unsigned char known[20] = {0};

	if (n)
		memcpy(known, id, n);
	else
		n = perffile_build_id(d->file, name, known);
	return modules_add(d->modules, name, known, n);
}

static void
add_map(struct reading *d, const struct perffile_record *r)
{
	struct mapping m = {.start = r->start,
	    .end = r->start + r->length,
	    .offset = r->offset};
	char *jit;

	if (r->mode == PERF_RECORD_MISC_KERNEL) {
		if (str_starts(r->name, MODULES_KERNEL) && r->offset)
			modules_set_kernel(d->modules, r->offset);
		return;
	}
	if (is_anonymous(r->name)) {
		jit = mem_printf("/tmp/perf-%u.map", r->pid);
		m.file = get_module(d, jit, NULL, 0);
		m.offset = m.start; /* jit symbols are by run-time address */
		free(jit);
	} else {
		m.file = get_module(d, r->name, r->id, r->nid);
	}
	mappings_add(d->maps, r->pid, m);
}

static void
add_frame(struct reading *d, const struct perffile_record *r, uint64_t ip,
    uint32_t mode, bool chained)
{
	const struct mapping *m = NULL;
	const char *symbol = NULL, *module = "[unknown]";
	uint64_t at = ip, linked;
	char pc[32];

	if (mode == PERF_RECORD_MISC_KERNEL) {
		symbol = modules_find_symbol(d->modules, d->kernel, ip, NULL);
		module = MODULES_KERNEL;
	} else if (mode == PERF_RECORD_MISC_USER) {
		m = mappings_find(d->maps, r->pid, ip);
	}
	if (m) {
		at = ip - m->start + m->offset;
		symbol = modules_find_symbol(d->modules, m->file, at, &linked);
		module = modules_name(d->modules, m->file);
		if (d->linked)
			at = linked;
		else if (!chained)
			at = ip; /* as perf script prints it */
	}
	snprintf(pc, sizeof pc, "%llx", (unsigned long long)at);
	folding_frame(d->folding, make_text(pc),
	    make_text(symbol ? symbol : "[unknown]"), make_text(module));
}

static void
add_chain(struct reading *d, const struct perffile_record *r)
{
	uint32_t mode = r->mode;

	for (size_t i = 0; i < r->nchain; i++) {
		uint64_t ip;

		memcpy(&ip, r->chain + 8 * i, sizeof ip);
		if (ip < (uint64_t)PERF_CONTEXT_MAX)
			add_frame(d, r, ip, mode, true);
		else if (ip == (uint64_t)PERF_CONTEXT_USER)
			mode = PERF_RECORD_MISC_USER;
		else if (ip == (uint64_t)PERF_CONTEXT_KERNEL)
			mode = PERF_RECORD_MISC_KERNEL;
		else if (ip == (uint64_t)PERF_CONTEXT_HV)
			mode = PERF_RECORD_MISC_HYPERVISOR;
		else
			break;
	}
}

static void
add_sample(struct reading *d, const struct perffile_record *r)
{
	const char *name = mappings_get_name(d->maps, r->tid);
	char pid[16], tid[16], none[24];

	if (!folding_choose_event(d->folding, r->event, strlen(r->event)))
		return;
	snprintf(pid, sizeof pid, "%u", r->pid);
	snprintf(tid, sizeof tid, "%u", r->tid);
	snprintf(none, sizeof none, ":%u", r->tid);
	if (!name)
		name = r->tid ? none : "swapper";
	folding_begin(
	    d->folding, make_text(name), make_text(pid), make_text(tid));
	if (r->chain)
		add_chain(d, r);
	else
		add_frame(d, r, r->ip, r->mode, false);
	folding_end(d->folding, r->weight);
}

static void
add_record(struct reading *d, const struct perffile_record *r)
{
	switch (r->type) {
	case PERF_RECORD_MMAP:
		add_map(d, r);
		break;
	case PERF_RECORD_COMM:
		mappings_set_name(d->maps, r->tid, r->name);
		break;
	case PERF_RECORD_FORK:
		mappings_fork(
		    d->maps, r->pid, r->tid, r->parent, r->parent_tid);
		break;
	default: /* a sample */
		add_sample(d, r);
		break;
	}
}

int
perfdata_read(int fd, const char *name, struct folding *f, bool linked)
{
	struct reading d = {.folding = f, .linked = linked};
	struct perffile_record r;
	const char *first = NULL;
	size_t others, broken;

	d.file = perffile_open(fd, name);
	if (!d.file)
		return -1;
	d.maps = mappings_new();
	d.modules = modules_new();
	d.kernel = get_module(&d, MODULES_KERNEL, NULL, 0);
	while (perffile_next(d.file, &r) > 0)
		add_record(&d, &r);
	broken = perffile_count_broken(d.file);
	if (broken)
		err_say("%s: %zu broken record%s ignored", name, broken,
		    broken == 1 ? " is" : "s are");
	others = modules_count_stale(d.modules, &first);
	if (others)
		err_say("%s: '%s' is not the recorded file%s; add recorded "
			"files with 'perf buildid-cache --add'",
		    name, first, others > 1 ? ", and neither are others" : "");
	mappings_free(d.maps);
	modules_free(d.modules);
	perffile_close(d.file);
	return broken ? -1 : 0;
}
