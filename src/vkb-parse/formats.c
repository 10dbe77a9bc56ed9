#include "formats.h"
#include "benchcsv.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 65536

const struct format formats[] = {
    {"records", "run records of vkb", .text_is = records_is,
	.text = records_text},
    {"flat", "metrics.json of the Python tool", .json_is = records_is_flat,
	.json = records_flat_json},
    {"valkey-csv", "valkey-benchmark --csv", .text_is = benchcsv_is,
	.text = benchcsv_text},
    {"valkey-text", "what valkey-benchmark prints", .text_is = benchtext_is,
	.text = benchtext_text},
    {"memtier", "memtier_benchmark --json-out-file", .json_is = memtier_is,
	.json = memtier_json},
    {"gbench", "Google Benchmark, JSON", .json_is = gbench_is,
	.json = gbench_json},
    {"criterion", "criterion, estimates.json or sample.json",
	.json_is = criterion_is, .json = criterion_json},
    {"hyperfine", "hyperfine --export-json", .json_is = hyperfine_is,
	.json = hyperfine_json},
    {"regression", "{\"metrics\":{NAME:{\"value\":V,\"unit\":U}}}",
	.json_is = regression_is, .json = regression_json},
    {"perf-stat", "perf stat -x,", .text_is = perfstat_is,
	.text = perfstat_text},
    {"hdr-log", "HdrHistogram interval log", .text_is = hdrlog_is,
	.text = hdrlog_text},
    {"go-bench", "go test -bench", .maps = true, .text_is = gobench_is,
	.text = gobench_text},
    {"columns", "any CSV, with --columns", .maps = true, .text = columns_text},
    {0}};

const struct format *
formats_find(const char *name)
{
	for (const struct format *f = formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

char *
formats_names(void)
{
	struct str s = {0};

	for (const struct format *f = formats; f->name; f++)
		str_printf(&s, "%s%s", f == formats ? "" : ", ", f->name);
	return str_take(&s);
}

/* Returns the only format that 'is' accepts; NULL if none or many (error). */
static const struct format *
detect_format(const struct source *s,
    bool (*is)(const struct format *, const void *), const void *what,
    const char *begin)
{
	const struct format *found = NULL;
	char *names = formats_names(), *shown;

	for (const struct format *f = formats; f->name; f++) {
		if (!is(f, what))
			continue;
		if (found) {
			err_say("%s: the format may be %s or %s; choose with "
				"--from",
			    source_name(s), found->name, f->name);
			goto out;
		}
		found = f;
	}
	if (found)
		goto done;
	shown = mem_strn(begin, strnlen(begin, 40));
	shown[strcspn(shown, "\r\n")] = '\0';
	err_say("%s: unknown format: the input begins with '%s'; the formats "
		"for --from are %s",
	    source_name(s), shown, names);
	free(shown);
out:
	found = NULL;
done:
	free(names);
	return found;
}

static bool
is_text_format(const struct format *f, const void *head)
{
	return f->text_is && f->text_is(head);
}

static bool
is_json_format(const struct format *f, const void *j)
{
	return f->json_is && f->json_is(j);
}

static int
write_raw_record(struct source *s, const struct format *f, const char *text,
    size_t n, struct runs *runs)
{
	return runs_write_record(
	    runs, record_raw(f->name, source_name(s), text, n));
}

static int
read_json_format(struct source *s, const struct format *f, const char *head,
    const char *all, size_t n, struct runs *runs)
{
	struct json *j = source_parse_json(s);
	int rc = -1;

	if (!j)
		return -1;
	if (!f)
		f = detect_format(s, is_json_format, j, head);
	if (!f || (all && write_raw_record(s, f, all, n, runs) < 0))
		goto out;
	if (!f->json_is(j))
		err_say("%s: the input is not in the format '%s' (%s)",
		    source_name(s), f->name, f->what);
	else
		rc = f->json(j, source_name(s), runs);
out:
	json_free(j);
	return rc;
}

int
formats_read(
    struct source *s, const struct format *f, bool raw, struct runs *runs)
{
	size_t n, columns, before = runs_count(runs);
	const char *p = source_peek(s, raw ? SIZE_MAX : HEAD, &n);
	char *all, *head;
	int rc = -1;

	if (!p)
		return -1;
	if (!n && (!f || f->json))
		return err_fail("%s: the input is empty", source_name(s));
	all = raw ? mem_strn(p, n) : NULL;
	head = mem_strn(p, n < HEAD ? n : HEAD);
	p = head + (str_starts(head, "\xef\xbb\xbf") ? 3 : 0);
	p += strspn(p, " \t\r\n");
	runs_columns(runs, &columns);
	if (!f && records_is(p))
		f = formats_find("records");
	if (columns && f && !f->maps) {
		err_say("%s: --columns does not apply to the format '%s'",
		    source_name(s), f->name);
		goto out;
	}
	if ((f && f->json) || (!f && !columns && (*p == '{' || *p == '['))) {
		rc = read_json_format(s, f, p, all, n, runs);
		goto out;
	}
	if (!f && columns)
		f = formats_find(gobench_is(p) ? "go-bench" : "columns");
	if (!f)
		f = detect_format(s, is_text_format, p, p);
	if (!f || (raw && write_raw_record(s, f, all, n, runs) < 0))
		goto out;
	rc = f->text(s, runs);
	if (rc == 0 && runs_count(runs) == before &&
	    strcmp(f->name, "records") != 0)
		rc = err_fail("%s: there are no results", source_name(s));
out:
	free(all);
	free(head);
	return rc;
}
