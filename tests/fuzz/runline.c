/*
 * Foreign text as lines, some of which look like those before: what is read as
 * a run without a tree the tree has too, the same values with the same hash.
 * What one who saw no line before reads as none is none for others as well.
 */
#include "err.h"
#include "json.h"
#include "jsonhash.h"
#include "record.h"
#include "runline.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool holds)
{
	if (!holds)
		abort();
}

static void
same_room(const struct jsonscan_text *t, const struct json *want)
{
	struct json *j = t->s ? json_parse(t->s, t->n, NULL, NULL) : NULL;

	check(!j == !want && !t->s == !want);
	check(!want || json_equal(j, want));
	json_free(j);
}

static void
same_text(const struct jsonscan_text *t, const struct json *want)
{
	check(!t->s == !want);
	check(!want || jsonscan_is(t, json_str(want)));
}

static void
same_run(const struct runline *r, const struct json *run)
{
	same_text(&r->session, json_get(run, "session"));
	check(r->index == json_get_num(run, "index", -1));
	check(r->block == json_get_num(run, "block", -1));
	check(r->order == json_get_num(run, "order", -1));
}

static void
same_values(const struct runline *r, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "metrics"));

	for (size_t i = 0; i < r->nmetrics; i++, j = json_next(j)) {
		check(j && jsonscan_is(&r->metrics[i].name, json_key(j)));
		check(r->metrics[i].v == json_num(j, NAN));
	}
	check(!j);
	j = json_first(json_get(rec, "hist"));
	for (size_t i = 0; i < r->nhists; i++, j = json_next(j)) {
		check(j && jsonscan_is(&r->hists[i].name, json_key(j)));
		same_text(&r->hists[i].text, j);
	}
	check(!j);
}

/* Of the members that are no rooms. */
static uint64_t
hash(const struct json *rec)
{
	uint64_t all = 0;

	for (const struct json *j = json_first(rec); j; j = json_next(j)) {
		const char *key = json_key(j);

		if (strcmp(key, "subject") != 0 && strcmp(key, "config") != 0 &&
		    strcmp(key, "env") != 0)
			all += jsonhash_member(key, strlen(key), json_hash(j));
	}
	return all;
}

static void
same(const struct runline *r, const char *line, size_t n)
{
	struct json *rec = json_parse(line, n, NULL, NULL);

	check(rec && record_is(rec, "run"));
	check(record_check(rec, "line") == 0);
	check(strcmp(json_get_str(rec, "status"), "ok") == 0);
	check(!json_get(rec, "series") && !json_get(rec, "error"));
	same_room(&r->subject, json_get(rec, "subject"));
	same_room(&r->config, json_get(rec, "config"));
	same_room(&r->env, json_get(rec, "env"));
	same_text(&r->bound, json_get(rec, "bound"));
	same_run(r, json_get(rec, "run"));
	same_values(r, rec);
	check(r->hash == hash(rec));
	json_free(rec);
}

static bool
is_run(struct runlines *l, const char *line, size_t n)
{
	struct runline r;

	if (!runline_read(l, &r, line, n) || !runline_rooms(&r, line, n))
		return false;
	same(&r, line, n);
	return true;
}

static void
read_both(struct runlines *l, const char *line, size_t n)
{
	struct runlines *none = runlines_new();
	bool run = is_run(none, line, n);

	check(!is_run(l, line, n) || run);
	check(!is_run(none, line, n) || run); /* the line looks like itself */
	runlines_free(none);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runlines *l = runlines_new();
	const uint8_t *end = data + size, *to;

	for (; data < end; data = to) {
		size_t n;
		char *line;

		to = memchr(data, '\n', (size_t)(end - data));
		to = to ? to + 1 : end;
		n = (size_t)(to - data);
		line = malloc(n + 1); /* so that no byte beyond may be read */
		if (!line)
			abort();
		memcpy(line, data, n);
		line[n] = '\0';
		read_both(l, line, n);
		free(line);
	}
	runlines_free(l);
	return 0;
}
