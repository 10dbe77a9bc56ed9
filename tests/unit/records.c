/* vkb-record(5) says what the tables of recordtypes.c and metric.c say. */
#include "tap.h"

#include "json.h"
#include "mem.h"
#include "metric.h"
#include "record.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define PAGE "man/vkb-record.5"
#define MAXROWS 512

/* Keys, as "run: status string required", or metrics of the page. */
struct rows {
	char *row[MAXROWS];
	bool met[MAXROWS];
	size_t n;
};

/* What the page was read into, and where it is read: a type, "" before the
 * first; the kinds of keys by name, as "status string". */
struct page {
	struct rows keys, metrics, kinds;
	char type[64];
};

static void
row_add(struct rows *r, char *row)
{
	if (r->n == MAXROWS)
		abort();
	r->row[r->n++] = row;
}

/* Returns the kind of the first key of that name, or "-". Borrowed. */
static const char *
find_kind(const struct page *p, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < p->kinds.n; i++)
		if (strncmp(p->kinds.row[i], key, n) == 0 &&
		    p->kinds.row[i][n] == ' ')
			return p->kinds.row[i] + n + 1;
	return "-";
}

/* Adds the keys of ".Va a* , b", with their kind, or NULL: as in other types.
 */
static void
keys_add(struct page *p, char *names, const char *kind)
{
	for (char *s = strtok(names, " "); s; s = strtok(NULL, " ")) {
		size_t n = strcspn(s, "*");
		bool required = s[n] == '*';

		if (*s == ',' || *s == '.')
			continue;
		s[n] = '\0';
		if (kind)
			row_add(&p->kinds, mem_printf("%s %s", s, kind));
		if (*p->type)
			row_add(&p->keys,
			    mem_printf("%s: %s %s %s", p->type, s,
				kind ? kind : find_kind(p, s),
				required ? "required" : "-"));
	}
}

/* Adds the metrics of ".It class Ta better Ta margin Ta a b". */
static void
metrics_add(struct page *p, const char *line)
{
	char better[16], class[16], margin[16], name[64];
	int n = 0, more;

	if (sscanf(line, ".It %15s Ta %15s Ta %15s Ta %n", class, better,
		margin, &n) != 3 ||
	    !n)
		row_add(&p->metrics, mem_str(line));
	for (; n && sscanf(line + n, "%63s %n", name, &more) == 1; n += more)
		row_add(&p->metrics,
		    mem_printf("%s %s %s %s", name, better, class, margin));
}

/* Adds the keys of ".It Va a* , b Pq number"; without a kind they are strings.
 */
static void
type_row_add(struct page *p, char *line)
{
	char *kind = strstr(line, " Pq ");

	if (strncmp(line, ".It Va ", 7) != 0) {
		row_add(&p->keys, mem_str(line));
		return;
	}
	if (kind)
		*kind = '\0';
	keys_add(p, line + 7, kind ? kind + 4 : "string");
}

static bool
page_read(struct page *p)
{
	char line[512];
	bool types = false, metric = false, list = false;
	FILE *f = fopen(PAGE, "r");

	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, ".Sh ", 4) == 0) {
			types = strcmp(line, ".Sh TYPES") == 0;
			metric = strcmp(line, ".Sh METRICS") == 0;
			*p->type = '\0';
		}
		if (strncmp(line, ".Ss ", 4) == 0)
			snprintf(p->type, sizeof p->type, "%.60s", line + 4);
		if (strncmp(line, ".Bl ", 4) == 0)
			list = types || strncmp(line, ".Bl -column", 11) == 0;
		if (strcmp(line, ".El") == 0)
			list = false;
		if (types && *p->type && strncmp(line, ".Va ", 4) == 0)
			keys_add(p, line + 4, NULL);
		if (!list || strncmp(line, ".It ", 4) != 0 ||
		    strncmp(line, ".It Sy", 6) == 0)
			continue;
		if (types)
			type_row_add(p, line);
		if (metric)
			metrics_add(p, line);
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

static void
errors(void)
{
	static const char *const v[][2] = {{"one", "one"}, {"", ""},
	    {"a\nb\nc", "a c"}, {"a\nb\n\n", "a b"}, {"a\n", "a"}};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		struct str s = {0};

		record_add_error(&s, v[i][0]);
		tap_str(s.s ? s.s : "", v[i][1], "an error in one line");
		str_free(&s);
	}
}

int
main(void)
{
	struct page page = {.type = ""};
	char row[256];

	subjects();
	errors();
	if (!tap_ok(page_read(&page), "%s can be read", PAGE))
		return tap_done();
	for (const struct record_type *t = record_types; t->name; t++)
		for (const struct record_key *k = t->keys; k->path; k++) {
			snprintf(row, sizeof row, "%s: %s %s %s", t->name,
			    k->path, json_type_name(k->type),
			    k->required ? "required" : "-");
			tap_ok(met(&page.keys, row), "%s", row);
		}
	rest(&page.keys, "keys");
	for (const struct metric *m = metric_table; m->name; m++) {
		snprintf(row, sizeof row, "%s %s %s %g", m->name, better(m),
		    class_of(m), m->margin * 100);
		tap_ok(met(&page.metrics, row), "%s", row);
	}
	rest(&page.metrics, "metrics");
	for (size_t i = 0; i < page.kinds.n; i++)
		free(page.kinds.row[i]);
	briefs();
	return tap_done();
}
