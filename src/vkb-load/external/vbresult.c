#include "vbresult.h"
#include "benchcsv.h"
#include "flat.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* Reads a text, a line at a time; 'from' points to its rest. */
static int
next_line(void *from, const char **line, size_t *n)
{
	const char **rest = from;

	*line = *rest;
	*n = strcspn(*line, "\n");
	*n += (*line)[*n] == '\n';
	*rest += *n;
	return *n > 0;
}

/*
 * Replaces the title of a command, which is its words, since a quote in it
 * would end the CSV field. Caller frees.
 */
static char *
replace_title(const char *out, char *const *words)
{
	const char *at = out;
	struct str title = {0}, text = {0};

	str_addc(&title, '"');
	for (; *words; words++)
		str_printf(&title, "%s%s", title.len > 1 ? " " : "", *words);
	str_add(&title, "\",");
	while ((at = strstr(at, title.s)) && at > out && at[-1] != '\n')
		at++;
	if (!at)
		at = out + strlen(out);
	str_addn(&text, out, (size_t)(at - out));
	if (*at)
		str_printf(&text, "\"command\",%s", at + title.len);
	str_free(&title);
	return str_take(&text);
}

/* Returns true if the result is of our test; a command has only one result. */
static bool
is_ours(const char *title, const char *command, bool words)
{
	static const char *const pings[] = {"PING", "PING_MBULK", "PING_BULK"};
	char *name = flat_command(title);
	bool ours = words || strcmp(name, command) == 0;

	if (strcmp(command, pings[0]) == 0 || strcmp(command, pings[1]) == 0)
		for (size_t i = 0; i < sizeof pings / sizeof *pings; i++)
			ours = ours || strcmp(name, pings[i]) == 0;
	free(name);
	return ours;
}

/*
 * Finds our first result. Returns how many there are, or -1 if one cannot be
 * read.
 */
static int
find_result(struct benchcsv *b, const char *command, bool words,
    struct json **found, const char **why)
{
	struct json *metrics;
	const char *title;
	int got, n = 0;

	*found = NULL;
	while ((got = benchcsv_next(b, &title, &metrics, why)) > 0)
		if (is_ours(title, command, words) && n++ == 0)
			*found = metrics;
		else
			json_free(metrics);
	return got < 0 ? -1 : n;
}

struct json *
vbresult_read(const char *out, const char *command, char *const *words,
    bool *quick, struct str *why)
{
	char *text = words ? replace_title(out, words) : mem_str(out);
	const char *start = benchcsv_start(text), *rest = start, *bad = NULL;
	struct benchcsv *b = benchcsv_new(next_line, &rest, start);
	struct json *found;
	int n = find_result(b, command, words != NULL, &found, &bad);

	*quick = strstr(text, ",\"inf\"") != NULL;
	if (*quick)
		str_add(why,
		    "took less than a millisecond, the least that "
		    "it can measure");
	else if (n < 0)
		str_printf(why, "printed an invalid result: %s",
		    bad ? bad : "it cannot be read");
	else if (n != 1)
		str_printf(why,
		    "printed %d results of '%s' where there should be one", n,
		    command);
	else if (!(json_get_num(found, "rps", -1) > 0))
		str_add(why, "printed a result without a throughput");
	if (why->len) {
		json_free(found);
		found = NULL;
	}
	benchcsv_free(b);
	free(text);
	return found;
}
