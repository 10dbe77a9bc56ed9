/* Run records: what is read from a line, what is refused, and that earlier
 * lines do not change what a reader reads. A set of objects: equal objects are
 * one. */
#include "tap.h"

#include "caseset.h"
#include "json.h"
#include "jsonhash.h"
#include "record.h"
#include "rng.h"
#include "runrecord.h"
#include "str.h"

#include <stdlib.h>

#define HEAD "{\"type\":\"run\",\"v\":1,"
#define TAIL ",\"metrics\":{\"rps\":7.25,\"p\":1e3},\"status\":\"ok\"}\n"
#define A HEAD "\"subject\":{\"a\":\"}\"},\"config\":{\"c\":{}},"
#define B HEAD "\"subject\":{\"label\":\"x\"},\"config\":{\"c\":[1,{}]},"

static bool
read_line(struct run_record_reader *in, struct run_record *r, const char *line)
{
	return run_record_read(in, r, line, strlen(line));
}

static bool
text_is(const struct jsonscan_text *t, const char *want)
{
	return t->s && t->n == strlen(want) && memcmp(t->s, want, t->n) == 0;
}

static void
test_values(void)
{
	struct run_record_reader *in = run_record_reader_new();
	struct run_record r;
	struct str many = {0};

	tap_ok(read_line(in, &r,
		   B "\"run\":{\"session\":\"t\",\"index\":2,\"order\":7,"
		     "\"started\":\"2026\"},\"bound\":\"client\"" TAIL) &&
		text_is(&r.subject, "{\"label\":\"x\"}") &&
		text_is(&r.config, "{\"c\":[1,{}]}") && !r.env.s &&
		text_is(&r.session, "t") && text_is(&r.started, "2026") &&
		text_is(&r.bound, "client") && r.index == 2 && r.block == -1 &&
		r.order == 7 && r.ok,
	    "members of the record and of its run, also absent ones");
	tap_ok(r.nmetrics == 2 && text_is(&r.metrics[0].name, "rps") &&
		r.metrics[0].value == 7.25 &&
		text_is(&r.metrics[1].name, "p") &&
		r.metrics[1].value == 1000 && !r.nhists && !r.error.s,
	    "metrics in their order");
	tap_ok(read_line(in, &r,
		   A "\"run\":{\"index\":.0},"
		     "\"series\":{\"rps\":[1]}" TAIL) == false,
	    "a number without a digit before its point is refused");
	tap_ok(
	    read_line(in, &r,
		A "\"run\":{},\"hist\":{\"a\":\"zz\",\"b\":3},\"artifacts\":{},"
		  "\"errors\":{\"e\":1},"
		  "\"series\":{\"rps\":[1]}" TAIL) &&
		text_is(&r.series, "{\"rps\":[1]}") && r.nhists == 2 &&
		text_is(&r.hists[0].text, "zz") &&
		text_is(&r.hists[1].name, "b") && !r.hists[1].text.s,
	    "series and histograms; a histogram that is not a string");
	tap_ok(
	    read_line(in, &r,
		HEAD "\"subject\":{},\"config\":{},\"run\":{\"session\":"
		     "\"a\\u00e4\\n\"},\"status\":\"failed\",\"error\":"
		     "\"\\\"no\\\"\",\"metri\\u0063s\":{\"\\u0072ps\":1}}") &&
		!r.ok && text_is(&r.session, "a\xc3\xa4\n") &&
		text_is(&r.error, "\"no\"") && r.nmetrics == 1 &&
		text_is(&r.metrics[0].name, "rps"),
	    "a failed run; escapes in strings and keys are resolved");
	tap_ok(read_line(
		   in, &r, A "\"run\":{},\"session\":\"s\",\"index\":1" TAIL) &&
		!r.session.s && r.index == -1,
	    "a member is not one of the run that has its name");
	for (int i = 0; i < 2; i++)
		tap_ok(read_line(in, &r,
			   A "\"run\":{},\"metrics\":{\"\\u0072ps\":1,"
			     "\"b\\\"c\":2},\"status\":\"ok\"}") &&
			text_is(&r.metrics[0].name, "rps") &&
			text_is(&r.metrics[1].name, "b\"c"),
		    "the name of a metric with an escape, also a second time");
	tap_ok(read_line(in, &r,
		   "{\"status\":\"ok\",\"metrics\":{\"rps\":5},"
		   "\"run\":{\"index\":2,\"session\":\"s\"},"
		   "\"config\":{\"c\":{}},\"subject\":{},\"v\":1,"
		   "\"type\":\"run\"}") &&
		text_is(&r.session, "s") && r.index == 2 && r.ok,
	    "members in the reverse order");
	str_add(
	    &many, HEAD "\"subject\":{},\"config\":{},\"run\":{},\"hist\":{");
	for (int i = 0; i < 100; i++)
		str_printf(&many, "%s\"h%d_ns\":3", i ? "," : "", i);
	str_add(&many, "},\"metrics\":{");
	for (int i = 0; i < 80; i++)
		str_printf(&many, "%s\"m%d\":%d", i ? "," : "", i, i);
	str_add(&many, "},\"status\":\"ok\"}");
	tap_ok(read_line(in, &r, many.s) && r.nhists == 100 &&
		r.nmetrics == 80 && r.metrics[79].value == 79,
	    "a hundred histograms and fewer metrics");
	str_free(&many);
	run_record_reader_free(in);
}

static void
check_refused(const char *line, const char *what)
{
	struct run_record_reader *in = run_record_reader_new();
	struct run_record r;

	tap_ok(
	    read_line(in, &r,
		A "\"run\":{\"session\":\"s\",\"index\":1},\"env\":{}" TAIL) &&
		!read_line(in, &r, line) && !read_line(in, &r, line),
	    "refused, also a second time: %s", what);
	run_record_reader_free(in);
}

static void
test_refusals(void)
{
#define AND(run, env) "\"run\":{\"session\":" run "},\"env\":{" env "}" TAIL
	check_refused(
	    A AND("\"s\",\"index\":01", ""), "a number with a leading zero");
	check_refused(A AND("\"s\",\"index\":1e999", ""), "a huge number");
	check_refused(
	    A AND("\"s\",\"index\":\"1\"", ""), "a string, not number");
	check_refused(A "\"run\":{},\"metrics\":{\"rps\":\"5\"},"
			"\"status\":\"ok\"}",
	    "a metric that is a string");
	check_refused(A AND("1,\"index\":1", ""), "a number, not a string");
	check_refused(A AND("\"\t\",\"index\":1", ""), "a control character");
	check_refused(A AND("\"\xc3\",\"index\":1", ""), "not UTF-8");
	check_refused(
	    A AND("\"s\",\"index\":1,\"index\":2", ""), "a key twice");
	check_refused(
	    A AND("\"s\",\"x\":1,\"x\":2", ""), "an unknown key twice");
	check_refused(A AND("\"s\",\"index\":1,\"inde\\u0078\":2", ""),
	    "a key twice, once with an escape");
	check_refused(
	    A AND("\"s\"", "\"a\":1,\"a\":2"), "a key twice in an object");
	check_refused(A AND("\"s\"", "\"a\"}"), "a member without a value");
	check_refused(
	    A AND("\"s\"", "\"a\":{"), "an object that is not closed");
	check_refused(A AND("\"s\"", "") "x", "text behind the object");
	check_refused(HEAD
	    "\"subject\":{\"a\":{},\"config\":{}," AND("\"s\"", ""),
	    "an object within another");
	check_refused(A "\"run\":{},\"metrics\":{\"a\":1,\"a\":2},"
			"\"status\":\"ok\"}",
	    "a metric twice");
	check_refused(A "\"run\":{},\"metrics\":{\"b\":1,\"a\":1,\"b\":2},"
			"\"status\":\"ok\"}",
	    "a metric twice, with another one between");
	check_refused(A
	    "\"run\":{},\"metrics\":{\"a\":\"1\"},\"status\":\"ok\"}",
	    "a metric that is not a number");
	check_refused(
	    A "\"run\":{},\"status\":\"ok\"}", "status ok without metrics");
	check_refused(
	    A "\"metrics\":{},\"status\":\"ok\"}", "a record without run");
	check_refused(
	    HEAD "\"config\":{},\"run\":{}" TAIL, "a record without subject");
	check_refused("{\"type\":\"run\",\"v\":2,\"subject\":{},\"config\":{},"
		      "\"run\":{}" TAIL,
	    "another version");
	check_refused("{\"type\":\"runs\",\"v\":1,\"subject\":{},\"config\":{},"
		      "\"run\":{}" TAIL,
	    "another type");
}

static void
test_names(void)
{
	struct run_record_reader *in = run_record_reader_new();
	struct run_record r;

	tap_ok(read_line(in, &r,
		   A "\"run\":{},\"metrics\":{\"a\":1,\"b\":2,\"c\":3},"
		     "\"status\":\"ok\"}") &&
		read_line(in, &r,
		    A "\"run\":{},\"metrics\":{\"b\":2},\"status\":\"ok\"}") &&
		!read_line(in, &r,
		    A "\"run\":{},\"metrics\":{\"b\":1,\"b\":2},"
		      "\"status\":\"ok\"}") &&
		!read_line(in, &r,
		    A "\"run\":{},\"metrics\":{\"b\":1,\"a\":1,\"b\":2},"
		      "\"status\":\"ok\"}"),
	    "a metric that is there twice, after runs with the same names");
	run_record_reader_free(in);
}

/* With a few bytes of two lines changed, a reader reads the lines that
 * record_check accepts, and no others. */
static void
test_noise(void)
{
	static const char *const lines[] = {A
	    "\"run\":{\"session\":\"s\",\"index\":1},\"env\":{\"h\":1}" TAIL,
	    B "\"run\":{\"session\":\"t\",\"index\":-2.5},\"x\":[true]" TAIL};
	static const char bytes[] = "{}[]\",:\\ \n019.-e\xc3\xa4xu";
	struct run_record_reader *in = run_record_reader_new();
	size_t read = 0, wrong = 0;
	struct run_record r;
	struct rng g;

	/* record_check reports an error for each refused line. */
	if (!freopen("/dev/null", "w", stderr))
		exit(2);
	rng_seed(&g, 7, 0);
	for (int i = 0; i < 100000; i++) {
		struct json *rec;
		char line[300];
		size_t n;
		bool good;

		strcpy(line, lines[rng_below(&g, 2)]);
		n = strlen(line);
		for (size_t k = rng_below(&g, 3); k; k--)
			line[rng_below(&g, n)] =
			    bytes[rng_below(&g, sizeof bytes - 1)];
		n = strlen(line);
		rec = json_parse(line, n, NULL, NULL);
		good = rec && record_is(rec, "run") &&
		    json_get_num(rec, "v", 0) == 1 &&
		    record_check(rec, "# line") == 0;
		if (run_record_read(in, &r, line, n) != good)
			wrong++;
		else if (good &&
		    r.index != json_num(json_path(rec, "run.index"), -1))
			wrong++;
		read += good;
		json_free(rec);
	}
	tap_ok(wrong == 0, "noise: exactly the valid lines are read");
	tap_ok(read > 30000 && read < 90000,
	    "noise: some lines are valid, others are not");
	run_record_reader_free(in);
}

static void
test_hash(void)
{
	static const char line[] =
	    B "\"run\":{\"sess\\u0069on\":\"\\u0074\"},\"x\":{\"a\\\"b\":"
	      "[null,-0,\"\\n\"]},\"hist\":{\"h\":\"a\\u0062\"}" TAIL;
	struct run_record_reader *in = run_record_reader_new();
	struct json *rec = json_parse(line, strlen(line), NULL, NULL);
	struct caseset *set = caseset_new();
	uint64_t sum;
	struct run_record r;

	tap_ok(read_line(in, &r, line), "a line with escapes");
	sum = r.hash +
	    caseset_member_hash(
		set, caseset_add(set, r.subject.s, r.subject.n), "subject") +
	    caseset_member_hash(
		set, caseset_add(set, r.config.s, r.config.n), "config");
	tap_ok(jsonhash_object(sum) == json_hash(rec),
	    "the hash of a line is that of its tree");
	caseset_free(set);
	json_free(rec);
	run_record_reader_free(in);
}

static size_t
add(struct caseset *s, const char *text)
{
	return caseset_add(s, text, strlen(text));
}

static void
test_set(void)
{
	struct caseset *s = caseset_new();
	struct json *j;

	tap_ok(add(s, "{\"a\":1,\"b\":[2]}") == 0 &&
		add(s, "{\"a\":1,\"b\":[3]}") == 1 &&
		add(s, "{ \"b\" : [2], \"a\" : 1.0 }") == 0 &&
		add(s, "{\"\\u0061\":1,\"b\":[3]}") == 1 && add(s, "{}") == 2 &&
		caseset_count(s) == 3,
	    "equal objects are one, however they are written");
	tap_str(
	    caseset_text(s, 0), "{\"a\":1,\"b\":[2]}", "the text of an object");
	j = json_dup(caseset_tree(s, 1));
	tap_ok(json_num(json_at(json_get(j, "b"), 0), 0) == 3,
	    "the value of an object");
	tap_ok(caseset_add_value(s, j) == 1, "a value is found again");
	json_set_num(j, "c", 4);
	tap_ok(caseset_add_value(s, j) == 3 &&
		add(s, "{\"c\":4,\"b\":[3],\"a\":1}") == 3 &&
		caseset_member_hash(s, 3, "x") ==
		    jsonhash_member("x", 1, json_hash(j)),
	    "a new value has the number and the hash of its text");
	json_free(j);
	caseset_free(s);
}

int
main(void)
{
	test_values();
	test_refusals();
	test_names();
	test_hash();
	test_set();
	test_noise();
	return tap_done();
}
