/* vkb-record(5) says what the tables of recordtypes.c and metric.c say. */
#include "tap.h"

#include "json.h"
#include "mem.h"
#include "metric.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

#define PAGE "man/vkb-record.5"
#define MAXROWS 512

/* The rows of one .Bl -column list, as "run: status string required". */
struct rows {
	char *row[MAXROWS];
	bool met[MAXROWS];
	size_t n;
};

static void
row_add(struct rows *r, char *row)
{
	if (r->n == MAXROWS)
		abort();
	r->row[r->n++] = row;
}

static char *
key_row(const char *section, const char *line)
{
	char type[64], key[64], kind[64];
	size_t n;

	if (sscanf(section, ".Ss %60s", type) != 1 ||
	    sscanf(line, ".It Va %60s Ta %60s Ta", key, kind) != 2)
		return mem_printf("%s %s", section, line);
	n = strcspn(kind, "*");
	return mem_printf("%s: %s %.*s %s", type, key, (int)n, kind,
	    kind[n] ? "required" : "-");
}

static char *
metric_row(const char *line)
{
	char name[64], unit[16], better[16], class[16], margin[16];

	if (sscanf(line, ".It %60s Ta %15s Ta %15s Ta %15s Ta %15s", name, unit,
		better, class, margin) != 5)
		return mem_str(line);
	return mem_printf("%s %s %s %s %s", name, unit, better, class, margin);
}

static bool
page_read(struct rows *keys, struct rows *metrics)
{
	char line[512], section[64] = "";
	bool types = false, metric = false, columns = false;
	FILE *f = fopen(PAGE, "r");

	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, ".Sh ", 4) == 0) {
			types = strcmp(line, ".Sh TYPES") == 0;
			metric = strcmp(line, ".Sh METRICS") == 0;
		}
		if (strncmp(line, ".Ss ", 4) == 0)
			snprintf(section, sizeof section, "%.63s", line);
		if (strncmp(line, ".Bl ", 4) == 0)
			columns = strncmp(line, ".Bl -column", 11) == 0;
		if (!columns || strncmp(line, ".It ", 4) != 0 ||
		    strncmp(line, ".It Sy", 6) == 0)
			continue;
		if (types)
			row_add(keys, key_row(section, line));
		if (metric)
			row_add(metrics, metric_row(line));
	}
	fclose(f);
	return true;
}

static bool
met(struct rows *r, const char *row)
{
	for (size_t i = 0; i < r->n; i++)
		if (!r->met[i] && strcmp(r->row[i], row) == 0)
			return r->met[i] = true;
	return false;
}

static void
rest(struct rows *r, const char *what)
{
	size_t left = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (!r->met[i]) {
			left++;
			printf("# only in the page: %s\n", r->row[i]);
		}
		free(r->row[i]);
	}
	tap_ok(left == 0, "all %s of the page are in the table", what);
}

static const char *
class_of(const struct metric *m)
{
	return m->gate ? "gate" : m->closed ? "closed" : "info";
}

static const char *
better(const struct metric *m)
{
	if (m->better == METRIC_NEITHER)
		return "neither";
	return m->better == METRIC_HIGHER ? "higher" : "lower";
}

/* The short form of a commit. */
static void
briefs(void)
{
	static const char *const commits[][2] = {
	    {"1f9c0ab27d5e4386b1c2d3e4f5061728394a5b6c", "1f9c0ab2"},
	    {"1f9c0ab27d5e4", "1f9c0ab2"}, {"1f9c0ab27d5e", "1f9c0ab27d5e"},
	    {"9.0.0-rc1-of-august", "9.0.0-rc1-of-august"},
	    {"1f9c0ab27d5e4386b1c2d3e4f506172839+dirty",
		"1f9c0ab27d5e4386b1c2d3e4f506172839+dirty"}};

	for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
		char *brief = record_commit_brief(commits[i][0], 8);

		tap_ok(strcmp(brief, commits[i][1]) == 0, "commit %s is '%s'",
		    commits[i][0], brief);
		free(brief);
	}
}

#define SERVER "1f9c0ab27d5e4386b1c2d3e4f5061728394a5b6c"
#define MODULE "abcd01230123012301230123012301230123abcd"

/* Which commit is that of a subject: the server's or the module's. */
static void
subjects(void)
{
	static const struct {
		const char *members, *title, *commit, *time;
		bool dirty;
	} v[] = {{"\"commit\":\"" SERVER "\",\"time\":\"s\"", "1f9c0ab2",
		     SERVER, "s", false},
	    {"\"commit\":\"" SERVER
	     "\",\"time\":\"s\",\"module_commit\":\"" MODULE
	     "\",\"module_time\":\"m\"",
		"abcd0123", MODULE, "m", false},
	    {"\"commit\":\"" SERVER
	     "\",\"time\":\"s\",\"module_commit\":\"" MODULE
	     "\",\"module_time\":\"m\",\"module_fixed\":true",
		"1f9c0ab2", SERVER, "s", false},
	    {"\"label\":\"new\",\"ref\":\"main\",\"module_commit\":\"" MODULE
	     "\",\"time\":\"s\",\"module_dirty\":true",
		"new (abcd0123)", MODULE, "s", true},
	    {"\"ref\":\"main\",\"commit\":\"" SERVER "\",\"dirty\":true",
		"main (1f9c0ab2)", SERVER, NULL, true},
	    {"\"server_version\":\"8.0.1\"", "8.0.1", NULL, NULL, false},
	    {"\"label\":\"\"", "unknown", NULL, NULL, false}};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		char *text = mem_printf("{%s}", v[i].members), *title;
		struct json *j = json_parse(text, strlen(text), NULL, NULL);

		title = record_subject_title(j);
		tap_str(title, v[i].title, "a subject has its title");
		tap_str(record_subject_commit(j), v[i].commit,
		    "its commit is that of the server or the module");
		tap_str(record_subject_time(j), v[i].time,
		    "its time is that of this commit");
		tap_ok(record_subject_is_dirty(j) == v[i].dirty,
		    "subject %zu: whether it has uncommitted changes", i);
		free(title);
		json_free(j);
		free(text);
	}
}

int
main(void)
{
	struct rows keys = {.n = 0}, metrics = {.n = 0};
	char row[256];

	subjects();
	if (!tap_ok(page_read(&keys, &metrics), "%s can be read", PAGE))
		return tap_done();
	for (const struct record_type *t = record_types; t->name; t++)
		for (const struct record_key *k = t->keys; k->path; k++) {
			snprintf(row, sizeof row, "%s: %s %s %s", t->name,
			    k->path, json_type_name(k->type),
			    k->required ? "required" : "-");
			tap_ok(met(&keys, row), "%s", row);
		}
	rest(&keys, "keys");
	for (const struct metric *m = metric_table; m->name; m++) {
		snprintf(row, sizeof row, "%s %s %s %s %g", m->name,
		    *m->unit ? m->unit : "-", better(m), class_of(m),
		    m->margin * 100);
		tap_ok(met(&metrics, row), "%s", row);
	}
	rest(&metrics, "metrics");
	briefs();
	return tap_done();
}
