#include "perffile.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define HEADER 104    /* bytes, with the bits of its features */
#define PIPE 16       /* those of a file that was a pipe */
#define COMPRESSED 81 /* PERF_RECORD_COMPRESSED, of the tool */
#define COMPRESSED2 83
#define FEATURE_BUILD_ID 2 /* HEADER_BUILD_ID and on, of the tool */
#define FEATURE_EVENTS 12
#define FEATURES 256

struct piece { /* of the file */
	const unsigned char *p;
	size_t n;
};

struct event {
	struct perf_event_attr a;
	struct piece ids;
	char *name;
};

struct entry {
	uint64_t time;
	uint64_t at; /* also the order of equal times */
};

struct perffile {
	struct piece all, build_ids;
	struct event *events;
	size_t nevents;
	struct entry *entries;
	size_t n, cap, next, broken;
	char *text; /* of the last record: with a NUL */
};

/* --- bytes */

static uint64_t
u64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static uint32_t
u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static uint16_t
u16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Empty where it is outside. */
static struct piece
part(struct piece of, uint64_t at, uint64_t n)
{
	if (at > of.n || n > of.n - at)
		return (struct piece){of.p, 0};
	return (struct piece){of.p + at, n};
}

/* The next u64 of a piece, which it is cut from; false: there is none. */
static bool
take(struct piece *from, uint64_t *v)
{
	if (from->n < 8)
		return false;
	*v = u64(from->p);
	from->p += 8;
	from->n -= 8;
	return true;
}

static bool
pass(struct piece *from, uint64_t n)
{
	if (n > from->n)
		return false;
	from->p += n;
	from->n -= n;
	return true;
}

/* --- events */

static const char *
generic_name(const struct perf_event_attr *a)
{
	static const char *const hardware[] = {"cycles", "instructions",
	    "cache-references", "cache-misses", "branches", "branch-misses",
	    "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
	    "ref-cycles"};
	static const char *const software[] = {"cpu-clock", "task-clock",
	    "page-faults", "context-switches", "cpu-migrations", "minor-faults",
	    "major-faults"};

	if (a->type == PERF_TYPE_HARDWARE &&
	    a->config < sizeof hardware / sizeof *hardware)
		return hardware[a->config];
	if (a->type == PERF_TYPE_SOFTWARE &&
	    a->config < sizeof software / sizeof *software)
		return software[a->config];
	return "event";
}

static int
read_events(struct perffile *f, const char *name)
{
	uint64_t size = u64(f->all.p + 16);
	struct piece t = part(f->all, u64(f->all.p + 24), u64(f->all.p + 32));

	if (size < 64 + 16 || !t.n || t.n % size != 0)
		return err_fail(
		    "%s: no perf.data: its events are broken", name);
	f->nevents = t.n / size;
	f->events = mem_array(f->nevents, sizeof *f->events);
	for (size_t i = 0; i < f->nevents; i++) {
		const unsigned char *p = t.p + i * size;
		struct event *e = &f->events[i];
		size_t n = size - 16;

		memcpy(&e->a, p, n < sizeof e->a ? n : sizeof e->a);
		e->ids = part(f->all, u64(p + n), u64(p + n + 8));
		e->name = mem_str(generic_name(&e->a));
		if (e->a.sample_type & PERF_SAMPLE_STACK_USER)
			return err_fail("%s: it has copies of user stacks "
					"(--call-graph dwarf): pipe what 'perf "
					"script -i' prints of it into this",
			    name);
	}
	return 0;
}

/* The names that were asked for: nr, size of an attr; then of each attr, the
 * number of ids, the length of a name, the name, ids. */
static void
read_names(struct perffile *f, struct piece p)
{
	uint32_t n, size;

	if (p.n < 8)
		return;
	n = u32(p.p);
	size = u32(p.p + 4);
	pass(&p, 8);
	for (uint32_t i = 0; i < n && i < f->nevents; i++) {
		uint32_t ids, len;

		if (!pass(&p, size) || p.n < 8)
			return;
		ids = u32(p.p);
		len = u32(p.p + 4);
		pass(&p, 8);
		if (len > p.n)
			return;
		free(f->events[i].name);
		f->events[i].name = mem_strn(
		    (const char *)p.p, strnlen((const char *)p.p, len));
		if (!pass(&p, len) || !pass(&p, 8 * (uint64_t)ids))
			return;
	}
}

/* Of each feature whose bit is set there is a place behind the data. */
static void
read_features(struct perffile *f)
{
	uint64_t at = u64(f->all.p + 40) + u64(f->all.p + 48);
	const unsigned char *bits = f->all.p + 72;

	for (unsigned i = 0; i < FEATURES; i++) {
		struct piece place, p;

		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		place = part(f->all, at, 16);
		at += 16;
		if (!place.n)
			return;
		p = part(f->all, u64(place.p), u64(place.p + 8));
		if (i == FEATURE_BUILD_ID)
			f->build_ids = p;
		if (i == FEATURE_EVENTS)
			read_names(f, p);
	}
}

/* --- records */

static const struct event *
event_of(const struct perffile *f, uint64_t id)
{
	for (size_t i = 0; i < f->nevents && f->nevents > 1; i++)
		for (size_t k = 0; k + 8 <= f->events[i].ids.n; k += 8)
			if (u64(f->events[i].ids.p + k) == id)
				return &f->events[i];
	return &f->events[0];
}

/* With ids at a fixed place events may have other things in their samples. */
static const struct event *
event_at(const struct perffile *f, struct piece r, size_t at)
{
	if (!(f->events[0].a.sample_type & PERF_SAMPLE_IDENTIFIER) ||
	    at + 8 > r.n)
		return &f->events[0];
	return event_of(f, u64(r.p + at));
}

/* What stands at the end of a record that is no sample; 0: no time does. */
static uint64_t
time_behind(const struct perffile *f, struct piece r)
{
	const struct perf_event_attr *a = &event_at(f, r, r.n - 8)->a;
	uint64_t t = a->sample_type;
	size_t behind = 8;

	if (!a->sample_id_all || !(t & PERF_SAMPLE_TIME))
		return 0;
	behind += t & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	behind += t & PERF_SAMPLE_CPU ? 8 : 0;
	behind += t & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	behind += t & PERF_SAMPLE_ID ? 8 : 0;
	return r.n >= 8 + behind ? u64(r.p + r.n - behind) : 0;
}

static uint64_t
time_of_sample(const struct perffile *f, struct piece r)
{
	uint64_t t = event_at(f, r, 8)->a.sample_type, v = 0;

	if (!(t & PERF_SAMPLE_TIME))
		return 0;
	pass(&r, 8);
	pass(&r, t & PERF_SAMPLE_IDENTIFIER ? 8 : 0);
	pass(&r, t & PERF_SAMPLE_IP ? 8 : 0);
	pass(&r, t & PERF_SAMPLE_TID ? 8 : 0);
	take(&r, &v);
	return v;
}

static int
by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

static int
read_index(struct perffile *f, const char *name)
{
	uint64_t at = u64(f->all.p + 40), end = at + u64(f->all.p + 48);

	if (end < at || end > f->all.n)
		return err_fail("%s: it is cut off", name);
	while (end - at >= 8) {
		uint32_t type = u32(f->all.p + at);
		uint16_t size = u16(f->all.p + at + 6);
		struct piece r = {f->all.p + at, size};
		bool kept = type == PERF_RECORD_SAMPLE ||
		    type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 ||
		    type == PERF_RECORD_COMM || type == PERF_RECORD_FORK;

		if (size < 8 || size > end - at)
			return err_fail(
			    "%s: byte %llu: a broken record, what follows is "
			    "lost",
			    name, (unsigned long long)at);
		if (type == COMPRESSED || type == COMPRESSED2)
			return err_fail("%s: it is compressed: pipe what 'perf "
					"script -i' prints of it into this",
			    name);
		if (kept) {
			f->entries = mem_grow(
			    f->entries, f->n, &f->cap, sizeof *f->entries);
			f->entries[f->n++] = (struct entry){
			    type == PERF_RECORD_SAMPLE ? time_of_sample(f, r)
						       : time_behind(f, r),
			    at};
		}
		at += size;
	}
	if (f->n)
		qsort(f->entries, f->n, sizeof *f->entries, by_time);
	return 0;
}

struct perffile *
perffile_open(int fd, const char *name)
{
	struct perffile *f = mem_new(sizeof *f);
	struct stat st;
	void *p = MAP_FAILED;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		p = mmap(
		    NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p != MAP_FAILED)
		f->all = (struct piece){p, (size_t)st.st_size};
	if (f->all.n < HEADER || u64(f->all.p + 8) == PIPE) {
		err_say("%s: perf.data has to be a file that 'perf record -o "
			"FILE' wrote; else pipe what 'perf script' prints "
			"into this",
		    name);
		perffile_close(f);
		return NULL;
	}
	if (read_events(f, name) < 0 || read_index(f, name) < 0) {
		perffile_close(f);
		return NULL;
	}
	read_features(f);
	return f;
}

void
perffile_close(struct perffile *f)
{
	if (!f)
		return;
	if (f->all.p)
		munmap((void *)(uintptr_t)f->all.p, f->all.n);
	for (size_t i = 0; i < f->nevents; i++)
		free(f->events[i].name);
	free(f->events);
	free(f->entries);
	free(f->text);
	free(f);
}

size_t
perffile_broken(const struct perffile *f)
{
	return f->broken;
}

static const char *
text(struct perffile *f, struct piece p)
{
	free(f->text);
	f->text = mem_strn((const char *)p.p, strnlen((const char *)p.p, p.n));
	return f->text;
}

static enum perffile_mode
mode_of(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		return PERFFILE_USER;
	case PERF_RECORD_MISC_KERNEL:
		return PERFFILE_KERNEL;
	default:
		return PERFFILE_OTHER;
	}
}

/* pid, tid, start, length, offset; of the newer kind also the file, or its
 * build-id, and how it is mapped; the name. */
static bool
map(struct perffile *f, struct piece r, uint32_t type, uint16_t misc,
    struct perffile_record *to)
{
	bool newer = type == PERF_RECORD_MMAP2;
	size_t fixed = newer ? 72 : 40;

	if (r.n <= fixed)
		return false;
	to->start = u64(r.p + 16);
	to->length = u64(r.p + 24);
	to->offset = u64(r.p + 32);
	if (newer && misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		to->nid = r.p[40] < 20 ? r.p[40] : 20;
		memcpy(to->id, r.p + 44, to->nid);
	}
	to->name = text(f, part(r, fixed, r.n - fixed));
	return true;
}

/* What a counter reads: passed over. */
static bool
pass_read(struct piece *r, uint64_t format)
{
	unsigned each = 1, fixed = 0;
	uint64_t n = 1;

	fixed += format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0;
	fixed += format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0;
	each += format & PERF_FORMAT_ID ? 1 : 0;
	each += format & (1U << 4) ? 1 : 0; /* PERF_FORMAT_LOST */
	if (format & PERF_FORMAT_GROUP && !take(r, &n))
		return false;
	return n <= r->n && pass(r, 8 * (fixed + each * n));
}

static bool
sample(const struct perffile *f, struct piece r, struct perffile_record *to)
{
	const struct event *e = event_at(f, r, 8);
	uint64_t t = e->a.sample_type, v = 0, id = 0, period = 1;

	pass(&r, 8);
	if (t & PERF_SAMPLE_IDENTIFIER && !take(&r, &id))
		return false;
	if (t & PERF_SAMPLE_IP && !take(&r, &to->ip))
		return false;
	if (t & PERF_SAMPLE_TID) {
		if (r.n < 8)
			return false;
		to->pid = u32(r.p);
		to->tid = u32(r.p + 4);
		pass(&r, 8);
	}
	if ((t & PERF_SAMPLE_TIME && !take(&r, &v)) ||
	    (t & PERF_SAMPLE_ADDR && !take(&r, &v)) ||
	    (t & PERF_SAMPLE_ID && !take(&r, &id)) ||
	    (t & PERF_SAMPLE_STREAM_ID && !take(&r, &v)) ||
	    (t & PERF_SAMPLE_CPU && !take(&r, &v)) ||
	    (t & PERF_SAMPLE_PERIOD && !take(&r, &period)))
		return false;
	if (t & PERF_SAMPLE_ID)
		e = event_of(f, id);
	to->event = e->name;
	to->weight =
	    e->a.type == PERF_TYPE_TRACEPOINT || !period ? 1 : (double)period;
	if (t & PERF_SAMPLE_READ && !pass_read(&r, e->a.read_format))
		return false;
	if (!(t & PERF_SAMPLE_CALLCHAIN))
		return true;
	if (!take(&r, &v) || v > r.n / 8)
		return false;
	to->chain = r.p;
	to->nchain = v;
	return true;
}

static bool
record(struct perffile *f, struct piece r, struct perffile_record *to)
{
	uint32_t type = u32(r.p);
	uint16_t misc = u16(r.p + 4);

	*to = (struct perffile_record){.mode = mode_of(misc)};
	if (type == PERF_RECORD_SAMPLE) {
		to->kind = PERFFILE_SAMPLE;
		return sample(f, r, to);
	}
	if (r.n < 8 + 8)
		return false;
	to->pid = u32(r.p + 8);
	to->tid = u32(r.p + 12);
	switch (type) {
	case PERF_RECORD_COMM:
		to->kind = PERFFILE_COMM;
		to->name = text(f, part(r, 16, r.n - 16));
		return true;
	case PERF_RECORD_FORK: /* pid, parent, tid, parent's tid */
		to->kind = PERFFILE_FORK;
		if (r.n < 8 + 16)
			return false;
		to->parent = u32(r.p + 12);
		to->tid = u32(r.p + 16);
		to->parent_tid = u32(r.p + 20);
		return true;
	default:
		to->kind = PERFFILE_MAP;
		return map(f, r, type, misc, to);
	}
}

int
perffile_next(struct perffile *f, struct perffile_record *to)
{
	while (f->next < f->n) {
		uint64_t at = f->entries[f->next++].at;

		if (record(f, part(f->all, at, u16(f->all.p + at + 6)), to))
			return 1;
		f->broken++;
	}
	return 0;
}

/* Each: a header of 8 bytes, pid, the id and its length in 24, the name. */
size_t
perffile_build_id(
    const struct perffile *f, const char *file, unsigned char id[20])
{
	struct piece p = f->build_ids;
	size_t want = strlen(file);

	while (p.n >= 36) {
		uint16_t misc = u16(p.p + 4), size = u16(p.p + 6);
		const char *name = (const char *)p.p + 36;
		size_t n =
		    size > 36 && size <= p.n ? strnlen(name, size - 36u) : 0;

		if (!n)
			return 0;
		if (n == want && memcmp(name, file, n) == 0) {
			n = misc & (1U << 15) ? p.p[32] : 20;
			n = n < 20 ? n : 20;
			memcpy(id, p.p + 12, n);
			return n;
		}
		pass(&p, size);
	}
	return 0;
}
