/* Reads vkb's own records and the flat metrics.json of the Python tool. */
#include "flat.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* Is it a record? Lines of other tools have a type, too, but no version. */
static bool
is_record(const struct json *j)
{
	return json_get_str(j, "type") && json_get(j, "v");
}

/* Returns whether the first line that is not blank is a record or a result. */
bool
records_is(const char *head)
{
	const char *p = head + strspn(head, " \t\r\n");
	size_t n = strcspn(p, "\n");
	struct json *j;
	bool is;

	if (*p != '{')
		return false;
	j = json_parse(p, n, NULL, NULL);
	/* a truncated or invalid line counts too: records_parse_text reports it
	 */
	if (j)
		is = is_record(j) || (flat_is(j) && p[n]);
	else
		is = str_starts(p, "{\"type\":\"");
	json_free(j);
	return is;
}

/* Takes over 'rec'. */
static int
write_record(struct json *rec, const char *where, struct runs *runs)
{
	if (flat_is(rec))
		rec = flat_to_run(rec);
	if (record_is(rec, "run"))
		return runs_add(runs, rec, where);
	if (record_check(rec, where) == 0)
		return runs_write_record(runs, rec);
	json_free(rec);
	return -1;
}

static int
parse_record_line(struct source *s, const char *line, struct runs *runs)
{
	const char *why;
	size_t at;
	struct json *rec = json_parse(line, strlen(line), &why, &at);

	if (!rec)
		return source_fail(s, "bad record: %s", why);
	if (json_type(rec) == JSON_OBJECT)
		return write_record(rec, source_where(s), runs);
	json_free(rec);
	return source_fail(s, "bad record: not an object");
}

int
records_parse_text(struct source *s, struct runs *runs)
{
	char *line;
	int rc = 0, got;

	while ((got = source_read_line(s, &line, NULL)) != 0 &&
	    !runs_have_failed(runs))
		if (got < 0 ||
		    (line[strspn(line, " \t\r")] &&
			parse_record_line(s, line, runs) < 0))
			rc = -1;
	return rc;
}

bool
records_is_flat(const struct json *j)
{
	if (json_type(j) == JSON_ARRAY)
		j = json_first(j);
	return j && json_type(j) == JSON_OBJECT && (flat_is(j) || is_record(j));
}

static int
parse_result(const struct json *j, struct source *s, struct runs *runs)
{
	if (json_type(j) == JSON_OBJECT && (flat_is(j) || is_record(j)))
		return write_record(json_dup(j), source_where(s), runs);
	return source_fail(
	    s, "not a result with 'command' and 'rps' or 'status'");
}

int
records_parse_flat(const struct json *j, struct source *s, struct runs *runs)
{
	size_t i = 0;
	int rc = 0;

	if (json_type(j) != JSON_ARRAY)
		return parse_result(j, s, runs);
	for (j = json_first(j); j; j = json_next(j)) {
		source_set_part(s, mem_printf("element %zu", ++i));
		rc |= parse_result(j, s, runs);
	}
	return rc;
}
