/* vkb-detect: what is read of a history, in memory and in a file. */
#include "tap.h"

#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "branch.h"
#include "reading.h"

#include <stdlib.h>
#include <unistd.h>

enum { COMMITS = 40, CASES = 3, RUNS = 5 };

static double
value(int commit, int kase, int run)
{
	return 1000 + 100 * kase + commit + (run * 7 % RUNS) * .25;
}

/* Writes a record for each run; those from commit "from" on have one metric
 * more. */
static int
history(int from)
{
	char name[] = "/tmp/vkb-unit.XXXXXX";
	int fd = mkstemp(name);
	FILE *f = fdopen(dup(fd), "w");

	unlink(name);
	for (int c = 0; c < COMMITS; c++)
		for (int k = 0; k < CASES * RUNS; k++) {
			fprintf(f,
			    "{\"type\":\"run\",\"v\":1,\"subject\":{"
			    "\"commit\":\"%040d\"},\"config\":{\"command\":"
			    "\"C%d\"},\"run\":{\"session\":\"s\",\"index\":%d}"
			    ",\"metrics\":{\"rps\":%.2f",
			    c, k % CASES, k, value(c, k % CASES, k / CASES));
			if (c >= from)
				fprintf(f, ",\"late_ms\":%d", c);
			fputs("},\"status\":\"ok\"}\n", f);
		}
	fclose(f);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Reads the history. */
static int
reading(struct branch *b, int from)
{
	struct jsonl *in = jsonl_fd(history(from), "history");
	int rc;

	branch_begin(b);
	rc = reading_add(b->reading, b, in);
	jsonl_close(in);
	branch_end(b, 10);
	return rc;
}

/* Returns whether the series hold all values that were written. */
static bool
whole(const struct branch *b, size_t i, int kase)
{
	struct branch_values v = {0};
	bool same = true;

	branch_read_values(b, &b->series[i], &v);
	for (int c = 0; same && c < COMMITS; c++) {
		same = v.first[c + 1] - v.first[c] == RUNS &&
		    v.v[c] == value(c, kase, 0) + .5;
		for (size_t k = 0; same && k < RUNS; k++)
			same = v.all[v.first[c] + k] == value(c, kase, (int)k);
	}
	same = same && v.n == COMMITS;
	branch_free_values(&v);
	return same;
}

static bool
all_whole(const struct branch *b)
{
	struct branch_values v = {0};
	bool same = b->npoints == COMMITS && b->nseries == (size_t)2 * CASES;

	for (int k = 0; same && k < CASES; k++) {
		same = strcmp(b->series[2 * k].metric, "late_ms") == 0 &&
		    strcmp(b->series[2 * k + 1].metric, "rps") == 0 &&
		    whole(b, (size_t)(2 * k + 1), k);
		branch_read_values(b, &b->series[2 * k], &v);
		for (int c = 0; same && c < COMMITS; c++)
			same = c < 10 ? isnan(v.v[c]) : v.v[c] == c;
		same = same && v.n == COMMITS - 10;
		branch_free_values(&v);
	}
	return same;
}

enum { LINE = 3 };

/* Writes commits 1 to LINE of a line and one beside it, each measured, and the
 * last also with uncommitted changes. */
static int
write_line(void)
{
	FILE *f = tmpfile();
	int fd;

	for (int c = 1; c <= LINE + 1; c++)
		fprintf(f,
		    "{\"type\":\"commit\",\"v\":1,\"commit\":\"%040d\","
		    "\"parents\":[\"%040d\"]}\n",
		    c, c > LINE ? 1 : c - 1);
	for (int c = 1; c <= LINE + 2; c++)
		fprintf(f,
		    "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":"
		    "\"%040d\"%s},\"config\":{\"command\":\"SET\"},\"run\":{},"
		    "\"metrics\":{\"rps\":1},\"status\":\"ok\"}\n",
		    c > LINE + 1 ? LINE : c,
		    c > LINE + 1 ? ",\"dirty\":true" : "");
	fflush(f);
	fd = dup(fileno(f));
	fclose(f);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Returns the point of a commit, with these members more. */
static size_t
find(const struct branch *b, int commit, const char *more)
{
	char text[128];
	struct json *subject;
	size_t at;

	snprintf(text, sizeof text, "{\"commit\":\"%040d\"%s}", commit, more);
	subject = json_parse(text, strlen(text), NULL, NULL);
	at = branch_find_point(b, subject);
	json_free(subject);
	return at;
}

static void
points(void)
{
	struct jsonl *in = jsonl_fd(write_line(), "line");
	struct branch b;

	branch_begin(&b);
	tap_ok(reading_add(b.reading, &b, in) == 0, "commits and runs");
	jsonl_close(in);
	branch_end(&b, 10);
	tap_ok(b.npoints == LINE + 1 && b.nlost == 1,
	    "the commit beside the line is lost");
	tap_ok(find(&b, 1, "") == 0 && find(&b, 2, "") == 1 &&
		find(&b, LINE, "") == LINE - 1,
	    "a subject has the point of its commit");
	tap_ok(find(&b, 2, ",\"label\":\"other\"") == 1,
	    "so has another subject of the commit");
	tap_ok(find(&b, LINE, ",\"dirty\":true") == LINE,
	    "uncommitted changes are a point of their own");
	tap_ok(find(&b, LINE + 1, "") >= b.npoints, "a lost commit has none");
	tap_ok(find(&b, 99, "") >= b.npoints &&
		find(&b, 2, ",\"dirty\":true") >= b.npoints,
	    "what was not read has none");
	tap_ok(intern_count(b.reading->keys) == LINE + 2,
	    "what is looked up is not added");
	branch_free(&b);
}

int
main(void)
{
	struct branch b;

	tap_ok(reading(&b, 10) == 0 && all_whole(&b),
	    "all values, sorted at each point, and the medians");
	branch_free(&b);
	branch_begin(&b);
	branch_end(&b, 10);
	tap_ok(b.npoints == 0 && b.nseries == 0,
	    "an empty history has no points and no series");
	branch_free(&b);
	points();
	return tap_done();
}
