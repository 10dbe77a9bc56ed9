/* Warnings about the data of a comparison: their kinds, texts and limits. */
#include "rows.h"

#include "json.h"
#include "mem.h"
#include "vkb-compare/part.h"

#include <stdlib.h>

enum { CASES = 24 };

static struct json *
parse(const char *s)
{
	return json_parse(s, strlen(s), NULL, NULL);
}

/* Compares the warnings, each as "kind: text" and a newline. */
static void
check_warnings(struct comparison *c, const char *want, const char *what)
{
	struct json *all;
	struct str s = {0};

	warnings_new(c);
	all = warnings_describe(&c->warnings);
	for (const struct json *j = json_first(all); j; j = json_next(j))
		str_printf(&s, "%s: %s\n", json_get_str(j, "kind"),
		    json_get_str(j, "text"));
	check(&s, want, what);
	json_free(all);
	warnings_free(&c->warnings);
	c->warnings = (struct warnings){0};
	str_free(&s);
}

/* Cases of which each side is a record, or NULL. */
struct world {
	struct comparison c;
	struct pairing pairs[CASES];
	struct kase kases[CASES][2];
	struct part parts[CASES][2];
};

static void
add_case(struct world *w, const char *name, const char *base, const char *other)
{
	const char *rest[] = {base, other};
	size_t i = w->c.npairs++;

	w->c.pairs = w->pairs;
	for (size_t j = 0; j < 2; j++) {
		if (!rest[j])
			continue;
		w->parts[i][j].rest = parse(rest[j]);
		w->kases[i][j] =
		    (struct kase){.parts = &w->parts[i][j], .nparts = 1};
		w->pairs[i].side[j] = &w->kases[i][j];
		w->pairs[i].name[j] = (char *)(size_t)name;
	}
}

static void
end(struct world *w)
{
	for (size_t i = 0; i < w->c.npairs; i++)
		for (size_t j = 0; j < 2; j++)
			json_free((struct json *)(size_t)w->parts[i][j].rest);
	*w = (struct world){0};
}

static void
lost(void)
{
	static const char ok[] = "{\"n\":4}";
	static const char failed[] =
	    "{\"n\":3,\"failed\":2,\"errors\":[\"it fell\",\"again\"]}";
	struct world w = {0};
	struct one_sided_gate gates[] = {{(char *)(size_t) "rps", 0, 1, false},
	    {(char *)(size_t) "p50_latency_ms", 1, 2, true}};

	add_case(&w, "SET", ok, ok);
	check_warnings(&w.c, "", "a case that both sides have");
	add_case(&w, "GET", ok, NULL);
	add_case(&w, "DEL", NULL, ok);
	add_case(&w, "INCR", failed, ok);
	add_case(&w, "LPOP", ok, failed);
	add_case(&w, "RPOP", "{\"failed\":1}", NULL);
	w.c.one_sided = gates;
	w.c.one_sided_count = 2;
	check_warnings(&w.c,
	    "unmatched: only in the baseline: GET\n"
	    "unmatched: only in the contender: DEL\n"
	    "note: 2 of 5 runs failed in the baseline: INCR: it fell\n"
	    "failed: 2 of 5 runs failed in the contender: LPOP: it fell\n"
	    "note: 1 of 1 runs failed in the baseline: RPOP\n"
	    "unmatched: only the baseline has throughput (1 case)\n"
	    "unmatched: only the contender has p50 (2 cases)\n",
	    "cases of one side, failed runs, metrics of one side");
	end(&w);
}

static void
limits(void)
{
	struct difference d[CASES];
	struct world w = {0};
	struct str s = {0};
	char names[CASES][8];

	for (size_t i = 0; i < 20; i++) {
		snprintf(names[i], sizeof names[i], "C%zu", i);
		add_case(&w, names[i], "{\"n\":1}", NULL);
		str_printf(
		    &s, "unmatched: only in the baseline: %s\n", names[i]);
	}
	check_warnings(&w.c, s.s, "twenty cases are listed");
	add_case(&w, "more", NULL, "{\"n\":1}");
	str_add(&s, "unmatched: 1 more case failed or on one side only\n");
	check_warnings(&w.c, s.s, "one more case is counted");
	add_case(&w, "again", NULL, "{\"n\":1}");
	s.s[s.len - strlen("1 more case failed or on one side only\n")] = '\0';
	s.len = strlen(s.s);
	str_add(&s, "2 more cases failed or on one side only\n");
	check_warnings(&w.c, s.s, "two more cases are counted");
	end(&w);
	str_clear(&s);
	for (size_t i = 0; i < CASES; i++)
		d[i] = (struct difference){.name = (char *)(size_t) "kernel",
		    .values = {(char *)(size_t) "6.1", (char *)(size_t) "6.2"},
		    .cases = i + 1};
	w.c.differences = d;
	for (size_t i = 0; i < 20; i++)
		str_printf(&s,
		    "environment: environment differs: kernel: 6.1 -> 6.2 "
		    "(%zu case%s)\n",
		    i + 1, i ? "s" : "");
	w.c.ndifferences = 20;
	check_warnings(&w.c, s.s, "twenty differences are listed");
	w.c.ndifferences = 23;
	str_add(&s, "environment: environment differs: 3 more\n");
	check_warnings(&w.c, s.s, "three more differences are counted");
	str_free(&s);
}

static void
notes(void)
{
	struct canary canaries[] = {{.name = "C0", .metric = "rps", .ok = true},
	    {.name = "C1", .verdict = VERDICT_INSUFFICIENT},
	    {.name = "C2", .metric = "rps", .verdict = VERDICT_INSUFFICIENT},
	    {.name = "C3", .metric = "rps", .verdict = VERDICT_REGRESSION}};
	struct rule_issue rule_issues[] = {
	    {"f: rules[0]", "unused", NULL, NULL},
	    {"f: rules[1]", "expired", "known", "2026-11-21"},
	    {"f: rules[2]", "exceeded", "known", "2026-12-31"},
	    {"f: rules[3]", "unused", "known", "2026-12-31"}};
	struct part again[3] = {{0}};
	struct world w = {0};

	add_case(&w, "SET", "{\"n\":4,\"bound\":{\"client\":1}}", "{\"n\":4}");
	add_case(&w, "GET", "{\"n\":4}", "{\"n\":4,\"bound\":{\"client\":2}}");
	add_case(&w, "DEL", "{\"n\":4,\"doubled\":1}",
	    "{\"n\":4,\"bound\":{\"server\":2},\"doubled\":3}");
	add_case(&w, "INCR", "{\"n\":4}", "{\"n\":4}");
	w.pairs[0].note = w.pairs[2].note = w.pairs[3].note =
	    (char *)(size_t) "paired by common keys";
	w.pairs[1].note = (char *)(size_t) "paired by others";
	again[0] = w.parts[1][1];
	again[1].rest = parse("{\"n\":5}");
	w.kases[1][1].parts = again;
	w.kases[1][1].nagain = 1;
	w.c.canaries = canaries;
	w.c.ncanaries = 4;
	w.c.rule_issues = rule_issues;
	w.c.nrule_issues = 4;
	w.c.short_history = 1;
	check_warnings(&w.c,
	    "failed: canary C1: it is missing: nothing here can be relied on\n"
	    "failed: canary C2: rps has too few runs: nothing here can be "
	    "relied on\n"
	    "failed: canary C3: rps changed: nothing here can be relied on\n"
	    "note: SET and 2 more: paired by common keys\n"
	    "note: GET: paired by others\n"
	    "note: 1 run given twice in the baseline: counted once\n"
	    "note: 8 runs given twice in the contender: counted once\n"
	    "note: 1 result: the history is too short for a margin (5 changes "
	    "are needed)\n"
	    "note: f: rules[0] matches nothing here\n"
	    "note: f: rules[1]: the waiver expired on 2026-11-21: known\n"
	    "note: f: rules[2]: the regression exceeds its waiver: known\n"
	    "note: f: rules[3]: there is nothing to waive: known\n"
	    "note: the client was the bottleneck in 2 cases\n",
	    "canaries, pairs, doubles, history, waivers, the client");
	w.c.short_history = 2;
	w.c.ncanaries = w.c.nrule_issues = 0;
	w.c.npairs = 1;
	check_warnings(&w.c,
	    "note: SET: paired by common keys\n"
	    "note: 2 results: the history is too short for a margin (5 changes "
	    "are needed)\n"
	    "note: the client was the bottleneck in 1 case\n",
	    "one case, two results");
	w.c.npairs = 4;
	json_free((struct json *)(size_t)again[1].rest);
	end(&w);
}

static void
recorded(void)
{
	struct json *record =
	    parse("{\"warnings\":[{\"kind\":\"failed\",\"text\":\"a\"},"
		  "{\"kind\":\"unmatched\",\"text\":\"b\"},"
		  "{\"kind\":\"environment\",\"text\":\"c\"},"
		  "{\"kind\":\"note\",\"text\":\"d\"},"
		  "{\"kind\":\"else\",\"text\":\"e\"},{\"text\":\"f\"},"
		  "{\"kind\":\"failed\"}]}");
	struct comparison c = {.record = record, .short_history = 1};

	check_warnings(&c,
	    "failed: a\nunmatched: b\nenvironment: c\nnote: d\nnote: e\n"
	    "note: f\n",
	    "the warnings of a record are copied, others are not");
	json_free(record);
}

int
main(void)
{
	lost();
	limits();
	notes();
	recorded();
	return tap_done();
}
