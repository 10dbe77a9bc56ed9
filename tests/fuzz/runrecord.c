/*
 * Foreign text as lines, some of which look like those before: what is read as
 * a run without a tree is a run by record_check too, with the same values and
 * the same hash, and the other way round. What a reader saw before changes
 * nothing.
 */
#include "err.h"
#include "json.h"
#include "jsonhash.h"
#include "record.h"
#include "runrecord.h"

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
	check(!want ||
	    (t->n == strlen(json_str(want)) &&
		memcmp(t->s, json_str(want), t->n) == 0));
}

static void
same_run(const struct run_record *r, const struct json *run)
{
	same_text(&r->session, json_get(run, "session"));
	check(r->index == json_get_num(run, "index", -1));
	check(r->block == json_get_num(run, "block", -1));
	check(r->order == json_get_num(run, "order", -1));
}

static void
same_values(const struct run_record *r, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "metrics"));

	for (size_t i = 0; i < r->nmetrics; i++, j = json_next(j)) {
		check(j && jsonscan_is(&r->metrics[i].name, json_key(j)));
		check(r->metrics[i].value == json_num(j, NAN));
	}
	check(!j);
	j = json_first(json_get(rec, "hist"));
	for (size_t i = 0; i < r->nhists; i++, j = json_next(j)) {
		check(j && jsonscan_is(&r->hists[i].name, json_key(j)));
		same_text(&r->hists[i].text, json_str(j) ? j : NULL);
	}
	check(!j);
}

/* A hash of the members other than subject, config and env. */
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
same(const struct run_record *r, const struct json *rec)
{
	check(r->ok == (strcmp(json_get_str(rec, "status"), "ok") == 0));
	same_room(&r->subject, json_get(rec, "subject"));
	same_room(&r->config, json_get(rec, "config"));
	same_room(&r->env, json_get(rec, "env"));
	same_room(&r->series, json_get(rec, "series"));
	same_text(&r->bound, json_get(rec, "bound"));
	same_text(&r->error, json_get(rec, "error"));
	same_run(r, json_get(rec, "run"));
	same_values(r, rec);
	check(r->hash == hash(rec));
}

static void
check_line(struct run_record_reader *used, const char *line, size_t n)
{
	struct run_record_reader *fresh = run_record_reader_new();
	struct json *rec = json_parse(line, n, NULL, NULL);
	bool run =
	    rec && record_is(rec, "run") && record_check(rec, "line") == 0;
	struct run_record r;

	check(run_record_read(used, &r, line, n) == run);
	if (run)
		same(&r, rec);
	check(run_record_read(fresh, &r, line, n) == run);
	if (run)
		same(&r, rec);
	check(run_record_read(fresh, &r, line, n) == run); /* unchanged */
	if (run)
		same(&r, rec);
	json_free(rec);
	run_record_reader_free(fresh);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_record_reader *used = run_record_reader_new();
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
		check_line(used, line, n);
		free(line);
	}
	run_record_reader_free(used);
	return 0;
}
