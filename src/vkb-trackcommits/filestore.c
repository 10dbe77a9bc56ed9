#include "store.h"
#include "footprint.h"

#include "clock.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "record.h"
#include "str.h"
#include "tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A process locks the file, reads all of it, and replaces it by a new file of
 * the same name. So a lock is valid only while its file still has the name.
 */
struct filestore {
	struct store store;
	const char *path;
	int fd; /* locked; -1: not open */
	struct line *v;
	size_t n, cap;
	size_t *configs; /* indexes of 'track_config' lines */
	size_t nconfigs, configs_cap;
	bool changed;
};

struct line {
	struct json *rec;        /* NULL: dropped */
	struct row row;          /* of a 'track' record; else sha is NULL */
	struct footprint config; /* of a 'track_config'; computed on demand */
};

static void
file_close(struct store *s)
{
	struct filestore *f = (struct filestore *)s;

	for (size_t i = 0; i < f->n; i++) {
		json_free(f->v[i].rec);
		rules_free_row(&f->v[i].row);
		footprint_free(&f->v[i].config);
	}
	if (f->fd >= 0)
		close(f->fd);
	free(f->v);
	free(f->configs);
	free(f);
}

/* --- reading */

static int
lock_file(struct filestore *f, bool make)
{
	int flags = O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0);
	struct stat mine, named;

	for (;;) {
		f->fd = open(f->path, flags, 0666);
		if (f->fd < 0)
			return err_fail_sys("cannot open '%s'", f->path);
		while (flock(f->fd, LOCK_EX) < 0)
			if (errno != EINTR)
				return err_fail_sys(
				    "cannot lock '%s'", f->path);
		if (fstat(f->fd, &mine) < 0 || !S_ISREG(mine.st_mode))
			return err_fail("'%s' is not a regular file", f->path);
		if (stat(f->path, &named) == 0 && mine.st_dev == named.st_dev &&
		    mine.st_ino == named.st_ino)
			break;
		close(f->fd);
	}
	return 0;
}

static int
parse_time(
    const struct json *rec, const char *key, const char *where, double *v)
{
	const char *s = json_get_str(rec, key);

	if (!s || clock_seconds(s, v) == 0)
		return 0;
	return err_fail("%s: '%s' is '%s', not a time like "
			"2026-03-02T08:00:00.123Z",
	    where, key, s);
}

static int
parse_row(const struct json *rec, const char *where, struct row *r)
{
	double attempts = json_get_num(rec, "attempts", 0);

	r->sha = mem_str(json_get_str(rec, "commit"));
	r->config_hash = mem_str(json_get_str(rec, "config_hash"));
	r->architecture = mem_str(json_get_str(rec, "architecture"));
	r->owner = mem_str(json_get_str(rec, "owner"));
	r->reason = mem_str(json_get_str(rec, "reason"));
	if (!(attempts >= 0 && attempts <= INT_MAX))
		return err_fail("%s: 'attempts' is not a count", where);
	r->attempts = (long long)attempts;
	r->status = rules_find_status(json_get_str(rec, "status"));
	if (!r->status)
		return err_fail("%s: 'status' is '%s', not in_progress, "
				"complete or failed",
		    where, json_get_str(rec, "status"));
	if (parse_time(rec, "time", where, &r->time) < 0 ||
	    parse_time(rec, "lease_until", where, &r->lease_until) < 0 ||
	    parse_time(rec, "created", where, &r->created) < 0 ||
	    parse_time(rec, "updated", where, &r->updated) < 0)
		return -1;
	return 0;
}

static struct line *
add_line(struct filestore *f, struct json *rec)
{
	f->v = mem_grow(f->v, f->n, &f->cap, sizeof *f->v);
	f->v[f->n] = (struct line){.rec = rec};
	if (record_is(rec, "track_config"))
		*MEM_ADD(f->configs, f->nconfigs, f->configs_cap) = f->n;
	return &f->v[f->n++];
}

/* Reads all lines. A bad line is an error: rewriting the file would lose it. */
static int
load_lines(struct filestore *f)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC), rc;
	struct jsonl *in;
	struct json *rec;
	struct line *l;

	if (fd < 0)
		return err_fail_sys("cannot open '%s'", f->path);
	in = jsonl_fd(fd, f->path);
	while ((rc = jsonl_next(in, &rec)) > 0) {
		l = add_line(f, rec);
		rc = record_check(rec, jsonl_where(in));
		if (rc == 0 && record_is(rec, "track")) {
			rc = parse_row(rec, jsonl_where(in), &l->row);
			l->row.id = (long long)f->n;
		}
		if (rc < 0)
			break;
	}
	jsonl_close(in);
	return rc;
}

static int
file_begin(struct store *s, bool alone, bool make, double *now)
{
	struct filestore *f = (struct filestore *)s;

	(void)alone;
	if (lock_file(f, make) < 0 || load_lines(f) < 0)
		return -1;
	*now = clock_now();
	return 0;
}

/* --- rows */

static struct line *
find_config_line(struct filestore *f, const char *hash)
{
	for (size_t i = 0; i < f->nconfigs; i++) {
		struct line *l = &f->v[f->configs[i]];

		if (strcmp(json_get_str(l->rec, "config_hash"), hash) == 0)
			return l;
	}
	return NULL;
}

static bool
is_covered(
    struct filestore *f, const struct footprint *ours, const struct row *r)
{
	struct line *l;

	if (r->status != RULES_COMPLETE ||
	    !(l = find_config_line(f, r->config_hash)) ||
	    !json_get(l->rec, "config"))
		return false;
	if (!l->config.config)
		footprint_make(
		    &l->config, json_dup(json_get(l->rec, "config")));
	return footprint_is_within(ours, &l->config);
}

static bool
matches_text(const char *wanted, const char *s)
{
	return !wanted || (s && strcmp(wanted, s) == 0);
}

static bool
matches_row(struct filestore *f, const struct wanted *w, const struct row *r)
{
	if (!matches_text(w->architecture, r->architecture) ||
	    !matches_text(w->owner, r->owner) ||
	    !matches_text(w->sha, r->sha) ||
	    (w->status && r->status != w->status))
		return false;
	return !w->config || matches_text(w->config->hash, r->config_hash) ||
	    (w->covered && is_covered(f, w->config, r));
}

static int
compare_newest_first(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->time < b->time || a->time > b->time)
		return a->time < b->time ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

static int
file_read(struct store *s, const struct wanted *w, struct rowlist *out)
{
	struct filestore *f = (struct filestore *)s;

	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].rec && f->v[i].row.sha &&
		    matches_row(f, w, &f->v[i].row))
			rules_copy_row(
			    MEM_ADD(out->v, out->n, out->cap), &f->v[i].row);
	mem_sort(out->v, out->n, sizeof *out->v, compare_newest_first);
	return 0;
}

static int
file_take(struct store *s, struct row *r, bool wait)
{
	const struct line *l = &((struct filestore *)s)->v[r->id - 1];

	(void)wait;
	if (!l->rec)
		return 0;
	rules_free_row(r);
	rules_copy_row(r, &l->row);
	return 1;
}

/* --- changes */

static int
file_update(struct store *s, const struct row *r)
{
	struct filestore *f = (struct filestore *)s;
	struct line *l = &f->v[r->id - 1];

	rules_free_row(&l->row);
	rules_copy_row(&l->row, r);
	store_fill_record(l->rec, r);
	f->changed = true;
	return 0;
}

static int
file_drop(struct store *s, const struct row *r)
{
	struct filestore *f = (struct filestore *)s;
	struct line *l = &f->v[r->id - 1];

	json_free(l->rec);
	l->rec = NULL;
	f->changed = true;
	return 0;
}

static int
file_insert(
    struct store *s, const struct footprint *config, const struct row *r)
{
	struct filestore *f = (struct filestore *)s;
	struct json *rec;
	struct line *l;

	if (!find_config_line(f, config->hash)) {
		rec = record_new("track_config");
		json_set_str(rec, "config_hash", config->hash);
		json_set(rec, "config", json_dup(config->config));
		add_line(f, rec);
	}
	l = add_line(f, record_new("track"));
	rules_copy_row(&l->row, r);
	l->row.id = (long long)f->n;
	store_fill_record(l->rec, r);
	f->changed = true;
	return 1;
}

static int
write_lines(struct filestore *f)
{
	struct tempfile *t = tempfile_open(f->path);
	struct stat st;
	struct str s = {0};

	if (!t)
		return -1;
	if (fstat(f->fd, &st) == 0)
		fchmod(fileno(tempfile_stream(t)), st.st_mode & 07777);
	for (size_t i = 0; i < f->n; i++) {
		if (!f->v[i].rec)
			continue;
		str_clear(&s);
		jsonpublic_append(&s, f->v[i].rec);
		fprintf(tempfile_stream(t), "%s\n", s.s);
	}
	str_free(&s);
	return tempfile_commit(t);
}

static int
file_commit(struct store *s)
{
	struct filestore *f = (struct filestore *)s;

	return f->changed ? write_lines(f) : 0;
}

static struct config *
get_config(struct configs *c, const char *hash)
{
	struct config *new;

	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].hash, hash) == 0)
			return &c->v[i];
	new = MEM_ADD(c->v, c->n, c->cap);
	*new = (struct config){.hash = mem_str(hash)};
	return new;
}

static int
compare_by_hash(const void *x, const void *y)
{
	const struct config *a = x, *b = y;

	return strcmp(a->hash, b->hash);
}

static int
file_configs(struct store *s, struct configs *out)
{
	struct filestore *f = (struct filestore *)s;

	for (size_t i = 0; i < f->n; i++) {
		const struct row *r = &f->v[i].row;

		if (f->v[i].rec && r->sha)
			get_config(out, r->config_hash)->counts[r->status]++;
	}
	for (size_t i = 0; i < out->n; i++) {
		struct line *l = find_config_line(f, out->v[i].hash);
		struct json *config = l ? json_get(l->rec, "config") : NULL;

		out->v[i].text = config ? json_print(config) : NULL;
	}
	mem_sort(out->v, out->n, sizeof *out->v, compare_by_hash);
	return 0;
}

struct store *
store_open_file(const char *path)
{
	static const struct store_ops ops = {file_close, file_begin,
	    file_commit, file_read, file_take, file_update, file_drop,
	    file_insert, file_configs};
	struct filestore *f = mem_new(sizeof *f);

	f->store.ops = &ops;
	f->path = path;
	f->fd = -1;
	return &f->store;
}
