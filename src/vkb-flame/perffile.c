#include "perffile.h"
#include "err.h"
#include "mem.h"
#include "piece.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define HEADER 104    /* bytes, including the feature bits */
#define PIPE 16       /* bytes in the header of a piped file */
#define COMPRESSED 81 /* PERF_RECORD_COMPRESSED of the perf tool */
#define COMPRESSED2 83
#define FEATURE_BUILD_ID 2 /* HEADER_BUILD_ID etc. of the perf tool */
#define FEATURE_EVENTS 12
#define FEATURES 256

struct event {
	struct perf_event_attr a;
	struct piece ids;
	char *name;
};

struct entry {
	uint64_t time;
	uint64_t at; /* offset; also orders equal times */
};

struct perffile {
	struct piece all, build_ids;
	struct event *events;
	size_t nevents;
	struct entry *entries;
	size_t n, cap, next, broken;
	char *text; /* of the last record, with a NUL */
};

/* --- events */

static const char *
get_generic_name(const struct perf_event_attr *a)
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
	uint64_t size = piece_u64(f->all.p + 16);
	struct piece t = piece_part(
	    f->all, piece_u64(f->all.p + 24), piece_u64(f->all.p + 32));

	if (size < 64 + 16 || !t.n || t.n % size != 0)
		return err_fail(
		    "%s: invalid perf.data: its events are broken", name);
	f->nevents = t.n / size;
	f->events = mem_array(f->nevents, sizeof *f->events);
	for (size_t i = 0; i < f->nevents; i++) {
		const unsigned char *p = t.p + i * size;
		struct event *e = &f->events[i];
		size_t n = size - 16;

		memcpy(&e->a, p, n < sizeof e->a ? n : sizeof e->a);
		e->ids =
		    piece_part(f->all, piece_u64(p + n), piece_u64(p + n + 8));
		e->name = mem_str(get_generic_name(&e->a));
		if (e->a.sample_type & PERF_SAMPLE_STACK_USER)
			return err_fail(
			    "%s: copies of user stacks (--call-graph dwarf) "
			    "are not supported; use 'perf script -i FILE | "
			    "vkb-flame'",
			    name);
	}
	return 0;
}

/* Reads the names given by the user. Layout: number of events, size of an attr;
 * for each event an attr, number of ids, length of the name, name, ids. */
static void
read_names(struct perffile *f, struct piece p)
{
	uint32_t n, size;

	if (p.n < 8)
		return;
	n = piece_u32(p.p);
	size = piece_u32(p.p + 4);
	piece_pass(&p, 8);
	for (uint32_t i = 0; i < n && i < f->nevents; i++) {
		uint32_t ids, len;

		if (!piece_pass(&p, size) || p.n < 8)
			return;
		ids = piece_u32(p.p);
		len = piece_u32(p.p + 4);
		piece_pass(&p, 8);
		if (len > p.n)
			return;
		free(f->events[i].name);
		f->events[i].name = mem_strn(
		    (const char *)p.p, strnlen((const char *)p.p, len));
		if (!piece_pass(&p, len) || !piece_pass(&p, 8 * (uint64_t)ids))
			return;
	}
}

/* After the data, each feature whose bit is set has an offset and a size. */
static void
read_features(struct perffile *f)
{
	uint64_t at = piece_u64(f->all.p + 40) + piece_u64(f->all.p + 48);
	const unsigned char *bits = f->all.p + 72;

	for (unsigned i = 0; i < FEATURES; i++) {
		struct piece place, p;

		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		place = piece_part(f->all, at, 16);
		at += 16;
		if (!place.n)
			return;
		p = piece_part(
		    f->all, piece_u64(place.p), piece_u64(place.p + 8));
		if (i == FEATURE_BUILD_ID)
			f->build_ids = p;
		if (i == FEATURE_EVENTS)
			read_names(f, p);
	}
}

/* --- records */

static const struct event *
find_event(const struct perffile *f, uint64_t id)
{
	for (size_t i = 0; i < f->nevents && f->nevents > 1; i++)
		for (size_t k = 0; k + 8 <= f->events[i].ids.n; k += 8)
			if (piece_u64(f->events[i].ids.p + k) == id)
				return &f->events[i];
	return &f->events[0];
}

/* Returns the event of a record. Sample formats differ only with fixed ids. */
static const struct event *
find_event_at(const struct perffile *f, struct piece r, size_t at)
{
	if (!(f->events[0].a.sample_type & PERF_SAMPLE_IDENTIFIER) ||
	    at + 8 > r.n)
		return &f->events[0];
	return find_event(f, piece_u64(r.p + at));
}

/* Returns the time at the end of a record other than a sample, or 0. */
static uint64_t
read_trailing_time(const struct perffile *f, struct piece r)
{
	const struct perf_event_attr *a = &find_event_at(f, r, r.n - 8)->a;
	uint64_t t = a->sample_type;
	size_t behind = 8;

	if (!a->sample_id_all || !(t & PERF_SAMPLE_TIME))
		return 0;
	behind += t & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	behind += t & PERF_SAMPLE_CPU ? 8 : 0;
	behind += t & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	behind += t & PERF_SAMPLE_ID ? 8 : 0;
	return r.n >= 8 + behind ? piece_u64(r.p + r.n - behind) : 0;
}

/* Skips counter values. */
static bool
skip_counters(struct piece *r, uint64_t format)
{
	unsigned each = 1, fixed = 0;
	uint64_t n = 1;

	fixed += format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0;
	fixed += format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0;
	each += format & PERF_FORMAT_ID ? 1 : 0;
	each += format & (1U << 4) ? 1 : 0; /* PERF_FORMAT_LOST */
	if (format & PERF_FORMAT_GROUP && !piece_take(r, &n))
		return false;
	return n <= r->n && piece_pass(r, 8 * (fixed + each * n));
}

static bool
read_sample(
    const struct perffile *f, struct piece r, struct perffile_record *to)
{
	const struct event *e = find_event_at(f, r, 8);
	uint64_t t = e->a.sample_type, other, ids = 0, id = 0, period = 1, n;
	const struct {
		uint64_t type, *to;
	} fields[] = {{PERF_SAMPLE_IDENTIFIER, &id}, {PERF_SAMPLE_IP, &to->ip},
	    {PERF_SAMPLE_TID, &ids}, {PERF_SAMPLE_TIME, &to->time},
	    {PERF_SAMPLE_ADDR, &other}, {PERF_SAMPLE_ID, &id},
	    {PERF_SAMPLE_STREAM_ID, &other}, {PERF_SAMPLE_CPU, &other},
	    {PERF_SAMPLE_PERIOD, &period}};

	piece_pass(&r, 8);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (t & fields[i].type && !piece_take(&r, fields[i].to))
			return false;
	memcpy(&to->pid, &ids, sizeof to->pid);
	memcpy(&to->tid, (const char *)&ids + 4, sizeof to->tid);
	if (t & PERF_SAMPLE_ID)
		e = find_event(f, id);
	to->event = e->name;
	to->weight =
	    e->a.type == PERF_TYPE_TRACEPOINT || !period ? 1 : (double)period;
	if (t & PERF_SAMPLE_READ && !skip_counters(&r, e->a.read_format))
		return false;
	if (!(t & PERF_SAMPLE_CALLCHAIN))
		return true;
	if (!piece_take(&r, &n) || n > r.n / 8)
		return false;
	to->chain = r.p;
	to->nchain = n;
	return true;
}

static int
compare_by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* Returns true for types of records of the kernel, and of the perf tool. */
static bool
is_record_type(uint32_t type)
{
	return type && (type < 32 || (type >= 64 && type < 96));
}

/*
 * After a broken record, takes for the next what looks like one at a multiple
 * of 8 bytes: the kernel's records are multiples of 8 long.
 */
static int
read_index(struct perffile *f, const char *name)
{
	uint64_t at = piece_u64(f->all.p + 40),
		 end = at + piece_u64(f->all.p + 48);
	bool lost = false;

	if (end < at || end > f->all.n)
		return err_fail("%s: the file is truncated", name);
	for (uint64_t size; end - at >= 8; at += lost ? 8 : size) {
		struct piece r = {f->all.p + at, piece_u16(f->all.p + at + 6)};
		struct perffile_record sample = {.time = 0};
		uint32_t type = piece_u32(r.p);
		uint64_t time = 0;

		if (!lost && (type == COMPRESSED || type == COMPRESSED2))
			return err_fail("%s: compressed data is not supported; "
					"use 'perf script -i FILE | vkb-flame'",
			    name);
		size = r.n;
		if (size < 8 || size > end - at ||
		    (lost && (size % 8 || !is_record_type(type)))) {
			f->broken += !lost;
			lost = true;
			continue;
		}
		lost = false;
		if (type == PERF_RECORD_SAMPLE && read_sample(f, r, &sample))
			time = sample.time;
		else if (type == PERF_RECORD_MMAP ||
		    type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM ||
		    type == PERF_RECORD_FORK)
			time = read_trailing_time(f, r);
		else if (type != PERF_RECORD_SAMPLE)
			continue;
		f->entries =
		    mem_grow(f->entries, f->n, &f->cap, sizeof *f->entries);
		f->entries[f->n++] = (struct entry){time, at};
	}
	if (f->n)
		qsort(f->entries, f->n, sizeof *f->entries, compare_by_time);
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
	if (f->all.n < HEADER || piece_u64(f->all.p + 8) == PIPE) {
		err_say("%s: not a file from 'perf record -o FILE'; for other "
			"data use 'perf script | vkb-flame'",
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
perffile_count_broken(const struct perffile *f)
{
	return f->broken;
}

static const char *
keep_text(struct perffile *f, struct piece p)
{
	free(f->text);
	f->text = mem_strn((const char *)p.p, strnlen((const char *)p.p, p.n));
	return f->text;
}

/* Layout: pid, tid, start, length, offset; in MMAP2 also device and inode, or
 * build-id, and protection; name. */
static bool
read_map(struct perffile *f, struct piece r, uint32_t type, uint16_t misc,
    struct perffile_record *to)
{
	bool newer = type == PERF_RECORD_MMAP2;
	size_t fixed = newer ? 72 : 40;

	if (r.n <= fixed)
		return false;
	to->start = piece_u64(r.p + 16);
	to->length = piece_u64(r.p + 24);
	to->offset = piece_u64(r.p + 32);
	if (newer && misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		to->nid = r.p[40] < 20 ? r.p[40] : 20;
		memcpy(to->id, r.p + 44, to->nid);
	}
	to->name = keep_text(f, piece_part(r, fixed, r.n - fixed));
	return true;
}

static bool
read_record(struct perffile *f, struct piece r, struct perffile_record *to)
{
	uint32_t type = piece_u32(r.p);
	uint16_t misc = piece_u16(r.p + 4);

	*to = (struct perffile_record){
	    .type = type, .mode = misc & PERF_RECORD_MISC_CPUMODE_MASK};
	if (type == PERF_RECORD_SAMPLE)
		return read_sample(f, r, to);
	if (r.n < 8 + 8)
		return false;
	to->pid = piece_u32(r.p + 8);
	to->tid = piece_u32(r.p + 12);
	switch (type) {
	case PERF_RECORD_COMM:
		to->name = keep_text(f, piece_part(r, 16, r.n - 16));
		return true;
	case PERF_RECORD_FORK: /* pid, parent, tid, parent's tid */
		if (r.n < 8 + 16)
			return false;
		to->parent = piece_u32(r.p + 12);
		to->tid = piece_u32(r.p + 16);
		to->parent_tid = piece_u32(r.p + 20);
		return true;
	default:
		to->type = PERF_RECORD_MMAP;
		return read_map(f, r, type, misc, to);
	}
}

int
perffile_next(struct perffile *f, struct perffile_record *to)
{
	while (f->next < f->n) {
		uint64_t at = f->entries[f->next++].at;

		if (read_record(f,
			piece_part(f->all, at, piece_u16(f->all.p + at + 6)),
			to))
			return 1;
		f->broken++;
	}
	return 0;
}

/* Layout of an entry: header of 8 bytes, pid, id and its length in 24, name. */
size_t
perffile_build_id(
    const struct perffile *f, const char *file, unsigned char id[20])
{
	struct piece p = f->build_ids;
	size_t want = strlen(file);

	while (p.n >= 36) {
		uint16_t misc = piece_u16(p.p + 4), size = piece_u16(p.p + 6);
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
		piece_pass(&p, size);
	}
	return 0;
}
