/* A summary that is read without a tree of JSON. */
#include "tap.h"

#include "caseset.h"
#include "json.h"
#include "mem.h"
#include "vkb-compare/cases.h"
#include "vkb-compare/part.h"

#include <stdlib.h>

#define REST "\"v\":1,\"subject\":{},\"config\":{},\"n\":2,\"failed\":0"

static const char good[] =
    "{\"type\":\"summary\",\"v\":1,\"subject\":{\"label\":\"x\"},"
    "\"config\":{\"duration_s\":7},\"n\":2,\"failed\":0,\"sessions\":[\"s\"],"
    "\"metrics\":{\"rps\":{\"mean\":1.5,\"values\":[1,2],\"blocks\":[3,4],"
    "\"outliers\":[{\"at\":[]}]},\"a\\\"b\":{\"v\\u0061lues\":[1,null,\"x\","
    "[2],-0.5e1]},\"seven\":7},\"hist\":{\"h\":\"t\"},"
    "\"quantiles\":{\"h\":{\"99\":[3,4],\"50\":[1,2]},\"odd\":[1]}}\n";

static struct caseset *sets[2]; /* configurations, subjects */
static struct part_reader *readers[2];

static bool
reads(struct part *p, const char *text, bool hists)
{
	struct part_reader **r = &readers[hists];

	sets[0] = sets[0] ? sets[0] : caseset_new();
	sets[1] = sets[1] ? sets[1] : caseset_new();
	*r = *r ? *r : part_reader_new(sets[0], sets[1], hists);
	return part_read(*r, p, text, strlen(text));
}

static void
lists(void)
{
	char *printed;
	const struct part_metric *m;
	struct part p, q;

	if (!tap_ok(reads(&p, good, false), "a summary is read"))
		return;
	m = part_metric(&p, "rps");
	tap_ok(m && m->runs.n == 2 && m->runs.v[1] == 2 &&
		m->runs.rounds[0].block == 3 &&
		strcmp(m->runs.rounds[1].session, "s") == 0,
	    "a metric has its values, blocks and the only session");
	m = part_metric(&p, "a\"b");
	tap_ok(m && m->runs.n == 2 && m->runs.v[0] == 1 && m->runs.v[1] == -5 &&
		isnan(m->runs.rounds[1].block),
	    "a value that is not a number is left out; names may have "
	    "escapes");
	m = part_metric(&p, "seven");
	tap_ok(m && !m->runs.n, "a metric that is not an object has no values");
	tap_ok(!part_metric(&p, "p50"),
	    "a metric that the summary does not have is not found");
	tap_ok(!json_get(p.rest, "metrics") && !json_get(p.rest, "quantiles") &&
		!json_get(p.rest, "hist") && json_get(p.rest, "sessions") &&
		!p.hists && !p.quantiles,
	    "other members are in a tree");
	tap_str(json_get_str(caseset_tree(sets[1], p.subject), "label"), "x",
	    "the subject is one");
	tap_near(json_get_num(caseset_tree(sets[0], p.config), "duration_s", 0),
	    7, 0, "and so is the configuration");
	tap_ok(reads(&q, good, false) && q.config == p.config &&
		q.rest == p.rest && q.metrics[0].name == p.metrics[0].name,
	    "what is read again is the same tree");
	part_free(&q);
	part_free(&p);
	tap_ok(reads(&p, good, true), "it is read with its histograms");
	printed = json_print(p.hists);
	tap_str(printed, "{\"h\":\"t\"}", "they are kept as they are");
	free(printed);
	printed = json_print(p.quantiles);
	tap_str(printed, "{\"h\":{\"99\":[3,4],\"50\":[1,2]},\"odd\":[1]}",
	    "and so are quantiles");
	free(printed);
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
	    {"a value", SUMMARY("\"a\":{\"values\":[2]}", ""),
		SUMMARY("\"a\":{\"values\":[3]}", ""), true},
	    {"a block",
		SUMMARY("\"a\":{\"values\":[2,2],\"blocks\":[1,2]}", ""),
		SUMMARY("\"a\":{\"values\":[2,2],\"blocks\":[1,3]}", ""),
		false},
	    {"a lost block",
		SUMMARY("\"a\":{\"values\":[2,2],\"blocks\":[1,2]}", ""),
		SUMMARY("\"a\":{\"values\":[2,2],\"blocks\":[1]}", ""), false},
	    {"a session",
		SUMMARY("\"a\":{\"values\":[2,2],\"sessions\":[0,1]}",
		    ",\"sessions\":[\"s\",\"t\"]"),
		SUMMARY("\"a\":{\"values\":[2,2],\"sessions\":[0,0]}",
		    ",\"sessions\":[\"s\",\"t\"]"),
		false},
	    {"another member", SUMMARY("\"a\":{}", ",\"x\":1"),
		SUMMARY("\"a\":{}", ",\"x\":2"), false},
	    {"a histogram", SUMMARY("", ",\"hist\":{\"h\":\"t\"}"),
		SUMMARY("", ",\"hist\":{\"h\":\"u\"}"), false},
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

		if (!tap_ok(reads(&p, pairs[i].a, true) &&
			    reads(&q, pairs[i].b, true),
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
		const char *metrics;
		double want;
	} of[] = {{"\"elapsed_s\":{\"values\":[2,4]}", 3},
	    {"\"elapsed_s\":{}", 7}, {"", 7}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		char *text = mem_printf("{\"type\":\"summary\"," REST
					",\"metrics\":{%s}}",
		    of[i].metrics);
		struct json *config = json_object();
		struct part p;

		json_set_num(config, "duration_s", 7);
		if (tap_ok(reads(&p, text, false), "read: %s", of[i].metrics))
			tap_near(cases_seconds(&(struct kase){
				     .config = config, .parts = &p}),
			    of[i].want, 0,
			    "the measured seconds, or else the requested ones");
		part_free(&p);
		json_free(config);
		free(text);
	}
}

/* The metrics of several parts of a case. */
static void
joined(void)
{
	static const char *const of[] = {"\"a\":{\"values\":[1],\"blocks\":[7]}"
					 ",\"bytes_per_key\":{\"values\":[9]}",
	    "\"a\":{\"values\":[2],\"blocks\":[8]},\"b\":{\"values\":[3]},"
	    "\"bytes_per_key\":{\"values\":[5]},"
	    "\"instructions_per_req\":{\"values\":[8]}"};
	const struct sample *s;

	for (size_t first = 0; first < 2; first++) {
		struct part p[2];
		bool read = true;

		for (size_t i = 0; i < 2; i++) {
			char *text = mem_printf("{\"type\":\"summary\"," REST
						",\"metrics\":{%s}}",
			    of[i == first]);

			read = reads(&p[i], text, false) && read;
			free(text);
		}
		if (!tap_ok(read, "two parts"))
			continue;
		part_take_metrics(readers[0], &p[0], &p[1]);
		s = &part_metric(&p[0], "a")->runs;
		tap_ok(s->n == 2 && s->v[!first] == 1 && s->v[first] == 2,
		    "a metric has the runs of both, in their order");
		tap_ok(
		    s->rounds[!first].block == 7 && s->rounds[first].block == 8,
		    "and their rounds");
		tap_ok(!part_metric(&p[0], "a")->counted &&
			part_metric(&p[0], "b")->counted,
		    "it was counted if all of its runs were");
		s = &part_metric(&p[0], "bytes_per_key")->runs;
		tap_ok(s->n == 1 && s->v[0] == 5,
		    "runs that were counted replace those that were not");
		part_free(&p[0]);
		part_free(&p[1]);
	}
}

int
main(void)
{
	different();
	seconds();
	joined();
	lists();
	refused();
	alike();
	part_reader_free(readers[0]);
	part_reader_free(readers[1]);
	caseset_free(sets[0]);
	caseset_free(sets[1]);
	return tap_done();
}
