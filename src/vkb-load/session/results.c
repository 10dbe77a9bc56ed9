#include "results.h"
#include "appendfile.h"
#include "err.h"
#include "hash.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "record.h"
#include "redact.h"
#include "sink.h"
#include "str.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/plan/builds.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Notices that the bytes of a file are changed in place or cut off while
 * records are appended to it, as a program under test could do that runs as the
 * same user.
 */

#define PIECE 65536 /* bytes of the earlier contents that share a digest */

struct piece {
	off_t at;
	size_t n;
	unsigned char sum[32];
};

struct intact {
	int fd; /* to append; borrowed */
	int in; /* to read */
	const char *name;
	struct piece *v;
	size_t n, cap;
	struct timespec changed; /* after what was added last */
	bool reported;
};

static void
note_change_time(struct intact *f)
{
	struct stat st;

	if (fstat(f->in, &st) == 0)
		f->changed = st.st_ctim;
}

static bool
has_changed(const struct intact *f)
{
	struct stat st;

	return fstat(f->in, &st) < 0 ||
	    st.st_ctim.tv_sec != f->changed.tv_sec ||
	    st.st_ctim.tv_nsec != f->changed.tv_nsec;
}

static void
add_piece(struct intact *f, off_t at, const void *bytes, size_t n)
{
	struct piece *p;

	p = MEM_ADD(f->v, f->n, f->cap);
	p->at = at;
	p->n = n;
	hash_bytes(bytes, n, p->sum);
}

/* Reads up to n bytes. Returns their number. */
static size_t
read_bytes(int fd, char *to, size_t n, off_t at)
{
	size_t done = 0;
	ssize_t k = 1;

	while (done < n && k > 0) {
		k = pread(fd, to + done, n - done, at + (off_t)done);
		if (k < 0 && errno == EINTR)
			k = 1;
		else
			done += k > 0 ? (size_t)k : 0;
	}
	return done;
}

/*
 * Remembers the digests of what the file of 'fd' has. 'name' is for messages,
 * borrowed. Returns NULL if it is not a regular file, or cannot be read.
 */
static struct intact *
intact_open(int fd, const char *name)
{
	char path[40], buf[PIECE];
	struct intact *f;
	struct stat st;
	size_t n;
	int in;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return NULL;
	f = mem_new(sizeof *f);
	*f = (struct intact){.fd = fd, .in = in, .name = name};
	for (off_t at = 0; (n = read_bytes(in, buf, PIECE, at)) > 0;
	     at += (off_t)n)
		add_piece(f, at, buf, n);
	note_change_time(f);
	return f;
}

/* Returns 0, or -1 after reporting the first change. */
static int
check_pieces(struct intact *f)
{
	unsigned char sum[32];
	const struct piece *p;
	char *buf = NULL;
	size_t cap = 0;
	int rc = 0;

	for (size_t i = 0; i < f->n && rc == 0; i++) {
		p = &f->v[i];
		if (cap < p->n) {
			free(buf);
			buf = mem_array(cap = p->n, 1);
		}
		if (read_bytes(f->in, buf, p->n, p->at) < p->n)
			rc = err_fail("'%s' was cut off in or before its bytes "
				      "%lld to %lld while runs were appended",
			    f->name, (long long)p->at,
			    (long long)p->at + (long long)p->n);
		else {
			hash_bytes(buf, p->n, sum);
			if (memcmp(sum, p->sum, sizeof sum) != 0)
				rc = err_fail("'%s' was changed in its bytes "
					      "%lld to %lld while runs were "
					      "appended",
				    f->name, (long long)p->at,
				    (long long)p->at + (long long)p->n);
		}
	}
	free(buf);
	if (rc < 0) {
		f->reported = true;
		err_say("do not use these results: another program has written "
			"them, perhaps one under test (vkb-ci(7)); measure "
			"again into another file");
	}
	return rc;
}

/*
 * Checks the file if it has changed since the last intact_add by its time of
 * change, a clock of some milliseconds a step. Returns 0, or -1 after reporting
 * what was changed. NULL is intact.
 */
static int
intact_check(struct intact *f)
{
	return f && has_changed(f) ? check_pieces(f) : 0;
}

/* Remembers n bytes that were just written to 'fd', whose offset is their end.
 */
static void
intact_add(struct intact *f, const void *bytes, size_t n)
{
	off_t end;

	if (!f || !n)
		return;
	/* O_APPEND too moves the offset to the end of what was written. */
	end = lseek(f->fd, 0, SEEK_CUR);
	if (end >= (off_t)n)
		add_piece(f, end - (off_t)n, bytes, n);
	note_change_time(f);
}

/* Reads and checks the whole file. Returns as intact_check. Takes it. */
static int
intact_close(struct intact *f)
{
	int rc;

	if (!f)
		return 0;
	rc = f->reported ? -1 : check_pieces(f);
	close(f->in);
	free(f->v);
	free(f);
	return rc;
}

/* Appends what tells a run from others. */
static void
add_key(struct str *s, const struct json *subject, const struct json *config,
    size_t index, bool counted)
{
	builds_add_key(s, subject);
	jsonpublic_canonical(s, config);
	str_printf(s, "\n%zu%s", index, counted ? " counted" : "");
}

/* Keeps the first of equal runs. */
static void
add_finished(struct results *r, struct json *rec)
{
	const char *status = json_get_str(rec, "status");
	double index = json_num(json_path(rec, "run.index"), 0);
	const struct json *config = json_get(rec, "config");
	const char *tool =
	    json_str(json_path(rec, "env.benchmark_tool_sha256"));
	bool counted = json_get_bool(rec, "counted", false);
	bool foreign =
	    strcmp(bench_case_engine(config), BENCH_CASE_NATIVE) != 0;
	struct str key = {0};
	size_t id;

	if (!record_is(rec, r->part ? "part" : "run") ||
	    json_num(json_path(rec, "run.part.i"), 0) != r->part ||
	    strcmp(status, "ok") != 0 || !(index >= 1 && index < 1e9))
		return;
	add_key(&key, json_get(rec, "subject"), config, (size_t)index, counted);
	id = intern_id(r->keys, key.s);
	str_free(&key);
	if (id < r->n)
		return;
	*MEM_ADD(r->done, r->n, r->cap) =
	    (struct finished){.tool = tool && foreign ? mem_str(tool) : NULL,
		.metrics = json_detach(rec, "metrics")};
	if (!counted && (size_t)index > r->last)
		r->last = (size_t)index;
}

static int
read_finished(struct results *r, const char *file)
{
	struct jsonl *in = jsonl_open(&file, 1);
	struct json *rec;
	int k, rc = 0;

	r->keys = intern_new();
	while ((k = record_next(in, &rec)) != 0) {
		if (k < 0) {
			rc = -1;
			continue;
		}
		add_finished(r, rec);
		json_free(rec);
	}
	jsonl_close(in);
	return rc;
}

int
results_open(
    struct results *r, const char *output, const char *resume, unsigned part)
{
	const char *name = resume ? resume : output;

	*r = (struct results){.fd = STDOUT_FILENO, .part = part};
	if (!name) {
		r->intact = intact_open(r->fd, "standard output");
		return 0;
	}
	r->fd = appendfile_open(name, resume != NULL);
	if (r->fd < 0)
		return -1;
	r->path = name;
	if (appendfile_check_end(r->fd, name, resume != NULL) < 0)
		return -1;
	r->intact = intact_open(r->fd, name);
	return resume ? read_finished(r, resume) : 0;
}

int
results_close(struct results *r)
{
	int rc = intact_close(r->intact);

	for (size_t i = 0; i < r->n; i++) {
		free(r->done[i].tool);
		json_free(r->done[i].metrics);
	}
	free(r->done);
	intern_free(r->keys);
	if (r->path)
		close(r->fd);
	return rc;
}

const struct finished *
results_find(const struct results *r, const struct json *subject,
    const struct json *config, size_t index, bool counted)
{
	struct str key = {0};
	size_t id;

	if (!r->n)
		return NULL;
	add_key(&key, subject, config, index, counted);
	id = intern_find(r->keys, key.s, key.len);
	str_free(&key);
	return id < r->n ? &r->done[id] : NULL;
}

/* Is the file still in a folder? Records in one that was removed are lost. */
static int
check_removed(const struct results *r)
{
	struct stat st;

	if (r->path && fstat(r->fd, &st) == 0 && st.st_nlink == 0)
		return err_fail("'%s' was removed while runs were appended to "
				"it: they are lost, so measure them again",
		    r->path);
	return 0;
}

/*
 * If the reader of stdout is gone, SIGPIPE ends this program without a message;
 * its servers end with it.
 */
int
results_write_all(struct results *r, struct json *const *runs, size_t n)
{
	struct sigaction quiet = {.sa_handler = SIG_DFL}, before;
	int rc = 0, changed = intact_check(r->intact);
	struct str s = {0}, clean = {0};

	for (size_t i = 0; i < n; i++) {
		json_append_line(&s, runs[i]);
	}
	redact_add(&clean, s.s, s.len); /* 'intact' gets what the file gets */
	sigaction(SIGPIPE, &quiet, &before);
	if (sink_write(r->fd, clean.s, clean.len) < 0)
		rc = sink_fail(r->fd);
	sigaction(SIGPIPE, &before, NULL);
	if (rc == 0 && fdatasync(r->fd) < 0 && errno != EINVAL &&
	    errno != EROFS)
		rc = err_fail_sys("cannot save a record in '%s'",
		    r->path ? r->path : "stdout");
	if (rc == 0)
		intact_add(r->intact, clean.s, clean.len);
	str_free(&clean);
	str_free(&s);
	return rc < 0 || changed < 0 ? -1 : check_removed(r);
}

int
results_write(struct results *r, struct json *run)
{
	return results_write_all(r, &run, 1);
}
