/* A summary that is read without a tree of JSON. */
#include "tap.h"

#include "json.h"
#include "vkb-compare/part.h"

#define REST "\"v\":1,\"subject\":{},\"config\":{},\"n\":2,\"failed\":0"

static const char good[] =
    "{\"type\":\"summary\",\"v\":1,\"subject\":{\"label\":\"x\"},"
    "\"config\":{\"duration_s\":7},\"n\":2,\"failed\":0,\"sessions\":[\"s\"],"
    "\"metrics\":{\"rps\":{\"mean\":1.5,\"values\":[1,2],\"blocks\":[3,4],"
    "\"outliers\":[{\"at\":[]}]},\"a\\\"b\":{\"v\\u0061lues\":[1,null,\"x\","
    "[2],-0.5e1]},\"seven\":7},\"hist\":{\"h\":\"t\"},"
    "\"quantiles\":{\"h\":{\"99\":[3,4],\"50\":[1,2]},\"odd\":[1]}}\n";

static bool
reads(struct part *p, const char *text, bool hists)
{
	struct part_reader *r = part_reader_new(hists);
	bool read = part_read(r, p, text, strlen(text));

	part_reader_free(r);
	return read;
}

static void
lists(void)
{
	const struct part_metric *m;
	struct part p;

	if (!tap_ok(reads(&p, good, false), "a summary is read"))
		return;
	m = part_metric(&p, "rps");
	tap_ok(m && m->mean == 1.5 && m->values.n == 2 && m->blocks.n == 2 &&
		m->values.v[1] == 2 && m->blocks.v[0] == 3 && !m->sessions.n,
	    "a metric has its values and blocks");
	m = part_metric(&p, "a\"b");
	tap_ok(m && isnan(m->mean) && m->values.n == 5 && m->values.v[0] == 1 &&
		isnan(m->values.v[1]) && isnan(m->values.v[2]) &&
		isnan(m->values.v[3]) && m->values.v[4] == -5,
	    "a value that is not a number is NAN; names may have escapes");
	m = part_metric(&p, "seven");
	tap_ok(
	    m && !m->values.n, "a metric that is not an object has no values");
	tap_ok(!part_metric(&p, "p50"),
	    "a metric that the summary does not have is not found");
	tap_ok(p.nquantiles == 2 &&
		strcmp(p.quantiles[0].percentile, "50") == 0 &&
		p.quantiles[0].values.v[1] == 2 && p.quantiles[1].values.n == 2,
	    "quantiles are found by name");
	tap_ok(!json_get(p.rest, "metrics") && !json_get(p.rest, "quantiles") &&
		!json_get(p.rest, "hist") && json_get(p.rest, "sessions"),
	    "other members are in a tree");
	tap_near(part_seconds(&p), 7, 0,
	    "without a measured time the requested seconds are returned");
	part_free(&p);
	tap_ok(reads(&p, good, true) && json_get(p.rest, "hist"),
	    "histograms are in that tree if they are requested");
	part_free(&p);
}

static void
refused(void)
{
	static const char *const texts[] = {"", "[]", "7", "{}",
	    "{\"type\":\"run\"}", "{\"type\":\"summary\"", "{\"type\":[]}",
	    "{\"type\":\"summary\"," REST
	    ",\"metrics\":{\"a\":{\"values\":[1,}}}",
	    "{\"type\":\"summary\"," REST
	    ",\"metrics\":{\"a\":{\"values\":[1e999]}}}",
	    "{\"type\":\"summary\"," REST
	    ",\"metrics\":{\"a\":1,\"\\u0061\":2}}",
	    "{\"type\":\"summary\"," REST ",\"metrics\":{},\"n\":1}",
	    "{\"type\":\"summary\"," REST ",\"metrics\":{}} x",
	    "{\"type\":\"summary\"," REST "}",
	    "{\"type\":\"summary\"," REST ",\"metrics\":[]}",
	    "{\"type\":\"summary\"," REST ",\"metrics\":{},\"env\":1}"};
	struct part p;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		tap_ok(!reads(&p, texts[i], true), "refused: %s", texts[i]);
}

static void
alike(void)
{
	static const char other[] =
	    "{\"metrics\":{\"b\":{\"values\":[1,3]},\"a\":{}}," REST
	    ",\"type\":\"summary\"}";
	static const char same[] =
	    "{\"type\":\"summary\"," REST ","
	    "\"metrics\":{\"a\":{\"x\":1},\"b\":{\"values\":[1.0,3e0]}}}";
	static const char more[] =
	    "{\"type\":\"summary\"," REST ","
	    "\"metrics\":{\"a\":{},\"b\":{\"values\":[1,4]}}}";
	struct part p, q, r;

	if (!tap_ok(reads(&p, other, false) && reads(&q, same, false) &&
		    reads(&r, more, false),
		"three summaries"))
		return;
	tap_ok(part_compare(&p, &q) == 0, "the order of keys does not matter");
	tap_ok(part_compare(&p, &r) * part_compare(&r, &p) < 0,
	    "another value makes summaries differ, with opposite signs");
	tap_ok(part_compare_metrics(&q, &r) != 0,
	    "another value makes metrics differ");
	part_free(&p);
	part_free(&q);
	part_free(&r);
}

/* Pairs of summaries that differ in one place. */
static void
different(void)
{
#define SUMMARY(metrics, more) \
	"{\"type\":\"summary\"," REST ",\"metrics\":{" metrics "}" more "}"
	static const struct {
		const char *what, *a, *b;
		bool metrics; /* part_compare_metrics finds a difference, too */
	} pairs[] = {{"one more metric", SUMMARY("\"a\":{}", ""),
			 SUMMARY("\"a\":{},\"b\":{}", ""), true},
	    {"the name of a metric", SUMMARY("\"a\":{}", ""),
		SUMMARY("\"b\":{}", ""), true},
	    {"one more value", SUMMARY("\"a\":{\"values\":[2]}", ""),
		SUMMARY("\"a\":{\"values\":[2,2]}", ""), true},
	    {"a block", SUMMARY("\"a\":{\"blocks\":[1,2]}", ""),
		SUMMARY("\"a\":{\"blocks\":[1,3]}", ""), true},
	    {"a session", SUMMARY("\"a\":{\"sessions\":[1,2]}", ""),
		SUMMARY("\"a\":{\"sessions\":[1,1]}", ""), true},
	    {"another member", SUMMARY("\"a\":{}", ",\"x\":1"),
		SUMMARY("\"a\":{}", ",\"x\":2"), false},
	    {"one more percentile",
		SUMMARY("", ",\"quantiles\":{\"h\":{\"50\":[1]}}"),
		SUMMARY("", ",\"quantiles\":{\"h\":{\"50\":[1],\"99\":[1]}}"),
		false},
	    {"the name of a histogram",
		SUMMARY("", ",\"quantiles\":{\"h\":{\"50\":[1]}}"),
		SUMMARY("", ",\"quantiles\":{\"i\":{\"50\":[1]}}"), false},
	    {"the name of a percentile",
		SUMMARY("", ",\"quantiles\":{\"h\":{\"50\":[1]}}"),
		SUMMARY("", ",\"quantiles\":{\"h\":{\"99\":[1]}}"), false},
	    {"the value of a percentile",
		SUMMARY("", ",\"quantiles\":{\"h\":{\"50\":[1]}}"),
		SUMMARY("", ",\"quantiles\":{\"h\":{\"50\":[2]}}"), false}};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct part p, q;

		if (!tap_ok(reads(&p, pairs[i].a, false) &&
			    reads(&q, pairs[i].b, false),
			"two summaries are read: %s", pairs[i].what))
			continue;
		tap_ok(part_compare(&p, &q) * part_compare(&q, &p) < 0,
		    "part_compare finds %s", pairs[i].what);
		tap_ok((part_compare_metrics(&p, &q) != 0) == pairs[i].metrics,
		    "part_compare_metrics finds %s only if it belongs to a "
		    "metric",
		    pairs[i].what);
		part_free(&p);
		part_free(&q);
	}
}

static void
seconds(void)
{
	static const struct {
		const char *text;
		double want;
	} cases[] = {{"{\"mean\":3}", 3}, {"{\"mean\":\"x\"}", 7}, {"{}", 7}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[200];
		struct part p;

		snprintf(text, sizeof text,
		    "{\"type\":\"summary\",\"v\":1,\"subject\":{},\"config\":{"
		    "\"duration_s\":7},\"n\":2,\"failed\":0,\"metrics\":{"
		    "\"elapsed_s\":%s}}",
		    cases[i].text);
		if (!tap_ok(reads(&p, text, false), "elapsed_s is %s",
			cases[i].text))
			continue;
		tap_near(part_seconds(&p), cases[i].want, 0,
		    "the measured seconds are returned, or else the requested "
		    "ones");
		part_free(&p);
	}
}

int
main(void)
{
	different();
	seconds();
	lists();
	refused();
	alike();
	return tap_done();
}
