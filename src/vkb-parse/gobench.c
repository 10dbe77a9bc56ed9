/*
 * Parses Go's benchmark format: "BenchmarkNAME/key=value-PROCS ITERATIONS VALUE
 * UNIT ..." is a run, "key: value" applies to the lines that follow. Source:
 * "Go Benchmark Data Format" (golang/proposal, design/14313-benchmark-format).
 * With -json each line is an event, and "output" has a piece of that text.
 */
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BLANK " \t"

/* Returns whether the line is "BenchmarkNAME"; NAME has no lower-case initial.
 */
static bool
is_benchmark_line(const char *line)
{
	return str_starts(line, "Benchmark") && line[9] &&
	    !islower((unsigned char)line[9]) && !strchr(BLANK, line[9]);
}

/* Returns an event of "go test -json", or NULL. Caller frees. */
static struct json *
parse_event(const char *line)
{
	struct json *j = *line == '{'
	    ? json_parse(line, strcspn(line, "\r\n"), NULL, NULL)
	    : NULL;

	if (json_get_str(j, "Action"))
		return j;
	json_free(j);
	return NULL;
}

/* Looks for a line "BenchmarkNAME ITERATIONS VALUE", or an event. */
bool
gobench_is(const char *head)
{
	struct json *event = parse_event(head);

	json_free(event);
	if (event)
		return true;
	for (const char *p = head; p; p = strchr(p, '\n')) {
		const char *q;
		size_t n;

		p += *p == '\n';
		if (!is_benchmark_line(p))
			continue;
		q = p + strcspn(p, BLANK "\n");
		q += strspn(q, BLANK);
		n = strspn(q, "0123456789");
		q += n;
		if (n && strchr(BLANK, *q) && *q &&
		    strchr("0123456789.", q[strspn(q, BLANK)]))
			return true;
	}
	return false;
}

/*
 * Returns whether the line is "key: value", and sets *n to the key's length. A
 * key begins with a lower-case letter and has no upper-case letters or blanks.
 */
static bool
is_key_line(const char *line, size_t *n)
{
	*n = strcspn(line, ": \t\r\v\fABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return islower((unsigned char)*line) && line[*n] == ':' &&
	    (!line[*n + 1] || strchr(BLANK, line[*n + 1]));
}

/* Sets the key of 'n' bytes in the line; without a value it is deleted. */
static void
set_key(struct json *keys, const char *line, size_t n)
{
	char *key = mem_strn(line, n), *value, *end;

	line += n + 1;
	value = mem_str(line + strspn(line, BLANK));
	end = value + strlen(value);
	while (end > value && strchr(BLANK, end[-1]))
		*--end = '\0';
	if (*value)
		json_set_str(keys, key, value);
	else
		json_del(keys, key);
	free(key);
	free(value);
}

/* Sets the key in the section of --columns, of 'known', or else in config. */
static void
put_key(const struct runs *runs, struct json *run, const char *key,
    const char *value)
{
	static const char *const known[][3] = {{"goos", "env", "os"},
	    {"goarch", "env", "arch"}, {"cpu", "env", "cpu_model"},
	    {"toolchain", "env", "toolchain"}, {"commit", "subject", "commit"},
	    {"branch", "subject", "ref"}};
	const struct runs_keys *columns = runs_columns(runs);
	const char *section = "config", *name = key;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i][0], key) == 0) {
			section = known[i][1];
			name = known[i][2];
		}
	for (size_t i = columns->n; i-- > 0;)
		if (strcmp(columns->v[i].text, key) == 0) {
			section = columns->v[i].section;
			name = columns->v[i].key;
		}
	json_set(json_get(run, section), name,
	    runs_parse_typed(section, name, value));
}

/* "Encode/format=json-48" sets command Encode, format json, gomaxprocs 48. */
static void
parse_benchmark_name(
    const struct runs *runs, struct json *run, const char *text)
{
	struct json *config = json_get(run, "config");
	char *all = mem_str(text), *dash = strrchr(all, '-'), *part, *rest;
	struct str command = {0};
	double procs;

	if (dash && dash[1] &&
	    strspn(dash + 1, "0123456789") == strlen(dash + 1) &&
	    num_real(dash + 1, &procs) == 0) {
		*dash = '\0';
		json_set_num(config, "gomaxprocs", procs);
	}
	for (part = strtok_r(all, "/", &rest); part;
	     part = strtok_r(NULL, "/", &rest)) {
		char *eq = command.len ? strchr(part, '=') : NULL;

		if (eq && eq > part && eq[1] &&
		    strncmp(part, "command=", 8) != 0) {
			*eq = '\0';
			put_key(runs, run, part, eq + 1);
		} else {
			str_printf(
			    &command, "%s%s", command.len ? "/" : "", part);
		}
	}
	json_set_str(config, "command", command.s ? command.s : "");
	str_free(&command);
	free(all);
}

static struct json *
make_gobench_run(
    const struct runs *runs, const struct json *keys, const char *name)
{
	struct json *run = runs_new_run(NULL);

	for (const struct json *k = json_first(keys); k; k = json_next(k))
		put_key(runs, run, json_key(k), json_str(k));
	parse_benchmark_name(runs, run, name);
	return run;
}

static int
parse_gobench_values(struct json *run, struct source *s, char **rest)
{
	char *value, *unit;
	double v;
	int rc = 0;

	while ((value = strtok_r(NULL, BLANK, rest))) {
		unit = strtok_r(NULL, BLANK, rest);
		if (!unit)
			return source_fail(s, "'%s' has no unit", value);
		if (num_real(value, &v) < 0)
			return source_fail(s,
			    "'%s' is '%s', which is not a number", unit, value);
		rc |= runs_set_value(run, "", unit, v, unit, source_where(s));
	}
	return rc;
}

static int
parse_benchmark_line(
    struct source *s, char *line, const struct json *keys, struct runs *runs)
{
	char *rest, *name = strtok_r(line + 9, BLANK, &rest);
	char *iterations = strtok_r(NULL, BLANK, &rest);
	struct json *run;
	long long n;

	if (!iterations)
		return 0; /* go test -v prints the name alone first */
	if (num_int(iterations, &n) < 0)
		return source_fail(s,
		    "'iterations' of '%s' is '%s', which is "
		    "not a whole number",
		    name, iterations);
	run = make_gobench_run(runs, keys, name);
	if (parse_gobench_values(run, s, &rest) < 0) {
		json_free(run);
		return -1;
	}
	return runs_add(runs, run, source_where(s));
}

static int
parse_gobench_line(
    struct source *s, char *line, struct json *keys, struct runs *runs)
{
	static const char failed[] = "--- FAIL: Benchmark";
	struct json *run;
	size_t n;

	if (is_benchmark_line(line))
		return parse_benchmark_line(s, line, keys, runs);
	if (is_key_line(line, &n)) {
		set_key(keys, line, n);
		return 0;
	}
	if (str_starts(line, "FAIL\t"))
		return source_fail(
		    s, "go test failed, and may lack benchmarks: %s", line + 5);
	line += strspn(line, BLANK);
	if (!str_starts(line, failed))
		return 0;
	line += strlen(failed);
	line[strcspn(line, BLANK)] = '\0';
	run = make_gobench_run(runs, keys, line);
	json_set_str(run, "status", "failed");
	json_set_str(run, "error", "the benchmark failed");
	return runs_add(runs, run, source_where(s));
}

/* Takes one line of a package's text from its pieces, or returns NULL. */
static char *
take_line(struct json *package)
{
	const char *text = json_get_str(package, "text");
	const char *end = text ? strchr(text, '\n') : NULL;
	char *line;

	if (!end)
		return NULL;
	line = mem_strn(text, (size_t)(end - text));
	json_set(package, "text", json_string(end + 1));
	return line;
}

/* Packages are tested at the same time, so each has its own text and keys. */
static int
parse_event_line(struct source *s, const char *line, struct json *packages,
    struct runs *runs)
{
	struct json *event = parse_event(line), *package;
	const char *name = json_get_str(event, "Package");
	const char *piece = json_get_str(event, "Output"), *before;
	char *text;
	int rc = 0;

	if (!line[strspn(line, BLANK)])
		return 0;
	if (!event)
		return source_fail(s, "not an event of go test -json");
	name = name ? name : "";
	package = json_get(packages, name);
	if (piece && !package) {
		json_set(packages, name, package = json_object());
		json_set(package, "keys", json_object());
	}
	if (piece) {
		before = json_get_str(package, "text");
		text = mem_printf("%s%s", before ? before : "", piece);
		json_set(package, "text", json_string(text));
		free(text);
		while ((text = take_line(package))) {
			rc |= parse_gobench_line(
			    s, text, json_get(package, "keys"), runs);
			free(text);
		}
	}
	json_free(event);
	return rc;
}

/* Reads what is left of each package: its last line, without a line break. Half
 * a line of a benchmark may lack results. */
static int
parse_last_lines(struct source *s, struct json *packages, struct runs *runs)
{
	int rc = 0;

	for (struct json *p = json_first(packages); p; p = json_next(p)) {
		const char *text = json_get_str(p, "text");
		char *line;

		if (!text)
			continue;
		if (is_benchmark_line(text)) {
			rc = source_fail(s,
			    "the output of package '%s' is cut off: '%s'",
			    json_key(p), text);
			continue;
		}
		line = mem_str(text);
		rc |= parse_gobench_line(s, line, json_get(p, "keys"), runs);
		free(line);
	}
	return rc;
}

int
gobench_parse_text(struct source *s, struct runs *runs)
{
	struct json *keys = json_object(), *packages = json_object();
	bool events = false;
	char *line;
	int rc = 0, got;

	while ((got = source_read_line(s, &line, is_benchmark_line)) != 0 &&
	    !runs_have_failed(runs)) {
		struct json *event = NULL;

		if (got > 0 && !events)
			event = parse_event(line);
		events |= event != NULL;
		json_free(event);
		if (got < 0 ||
		    (events ? parse_event_line(s, line, packages, runs)
			    : parse_gobench_line(s, line, keys, runs)) < 0)
			rc = -1;
	}
	if (!runs_have_failed(runs) && parse_last_lines(s, packages, runs) < 0)
		rc = -1;
	json_free(packages);
	json_free(keys);
	return rc;
}
