/*
 * Profiles of callgrind: what functions count, the compressed names, several
 * parts, and what is not one. With a file as argument it prints its functions,
 * so that a script can compare them with those of callgrind_annotate.
 */
#include "callgrind.h"
#include "err.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int
read_text(struct callgrind *g, const char *text)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int rc = callgrind_read(g, in, "text", 0);

	fclose(in);
	return rc;
}

static const struct callgrind_function *
find(const struct callgrind *g, const char *object, const char *name)
{
	for (size_t i = 0; i < g->nfunctions; i++)
		if (strcmp(g->functions[i].name, name) == 0 &&
		    strcmp(g->functions[i].object, object) == 0)
			return &g->functions[i];
	return NULL;
}

/* main calls get 3 times and itself once; get calls malloc of libc. */
static const char PROFILE[] = "# callgrind format\n"
			      "version: 1\n"
			      "cmd:  ./x --events: 3\n"
			      "part: 1\n"
			      "positions: instr line\n"
			      "events: Ir Dr\n"
			      "summary: 1 1\n"
			      "\n"
			      "ob=(1) /bin/x\n"
			      "fl=(1) x.c\n"
			      "fn=(1) main\n"
			      "0x10 5 10 4\n"
			      "+4 +1 2\n"
			      "cfi=(2) y.c\n"
			      "cfn=(2) get\n"
			      "calls=3 0x40 9\n"
			      "* * 600 7\n"
			      "cfn=(1)\n"
			      "calls=1 0x10 5\n"
			      "* -1 50\n"
			      "\n"
			      "fn=(2)\n"
			      "0x40 9 30 3\n"
			      "jcnd=1/2 0x44 10\n"
			      "* *\n"
			      "cob=(2) /lib/libc.so\n"
			      "cfn=(3) malloc\n"
			      "calls=6 0x90 0\n"
			      "* * 570 4\n"
			      "+2 +1 5\n";

static const char SECOND_PART[] = "part: 2\n"
				  "positions: line\n"
				  "events: Ir Dr\n"
				  "ob=(2)\n"
				  "fn=(3)\n"
				  "7 100 1\n"
				  "ob=(1)\n"
				  "fn=(1)\n"
				  "5 1 0\n"
				  "cfn=(2)\n"
				  "calls=1 9\n"
				  "5 40\n"
				  "totals: 101 1\n";

static void
test_functions(void)
{
	const struct callgrind_function *f;
	struct callgrind g;

	tap_ok(read_text(&g, PROFILE) == 0, "a profile is read");
	tap_ok(g.nevents == 2 && strcmp(g.events[1], "Dr") == 0,
	    "its events have names");
	tap_ok(g.nfunctions == 3, "it has three functions");
	f = find(&g, "/bin/x", "main");
	tap_ok(f && f->self[0] == 12 && f->self[1] == 4,
	    "the cost of a function itself is the sum of its lines");
	tap_ok(f && f->inclusive == 612,
	    "the calls of other functions are added, recursive calls are not");
	tap_ok(f && f->calls == 1, "a recursive call is counted as a call");
	f = find(&g, "/bin/x", "get");
	tap_ok(f && f->self[0] == 35 && f->inclusive == 605 && f->calls == 3,
	    "the line after 'calls=' is the cost of the call, not of the "
	    "caller");
	f = find(&g, "/lib/libc.so", "malloc");
	tap_ok(f && f->calls == 6 && f->self[0] == 0,
	    "a function of another object that counted nothing has its calls");
	tap_ok(g.total[0] == 47 && g.total[1] == 7,
	    "the total is the sum of what all functions counted themselves");
	tap_ok(g.ncalls == 3, "each pair of functions is one call");
	callgrind_free(&g);
}

static void
test_parts(void)
{
	const struct callgrind_function *f;
	char both[sizeof PROFILE + sizeof SECOND_PART];
	struct callgrind g;

	snprintf(both, sizeof both, "%s%s", PROFILE, SECOND_PART);
	tap_ok(read_text(&g, both) == 0, "a second part is read");
	f = find(&g, "/lib/libc.so", "malloc");
	tap_ok(f && f->self[0] == 100,
	    "it uses the numbers of names of the first part");
	f = find(&g, "/bin/x", "main");
	tap_ok(f && f->inclusive == 653 && g.total[0] == 148,
	    "its costs are added to those of the first part");
	f = find(&g, "/bin/x", "get");
	tap_ok(f && f->calls == 4, "its calls are added too");
	callgrind_free(&g);
}

static void
test_bad(void)
{
	static const struct {
		const char *text, *why, *what;
	} bad[] = {
	    {"", "text: not a callgrind profile: it has no 'events:'",
		"an empty text is not a profile"},
	    {"events: Ir\n", "text: callgrind counted nothing",
		"a profile without costs"},
	    {"hello\n", "text:1: not a callgrind profile: this line is unknown",
		"a foreign line is refused by its number"},
	    {"fn=f\n3 4\n",
		"text:2: not a callgrind profile: costs come before 'events:'",
		"costs need events"},
	    {"events: Ir\n3 4\n",
		"text:2: not a callgrind profile: costs come before 'fn='",
		"costs need a function"},
	    {"events: Ir\nfn=(1)\n",
		"text:2: not a callgrind profile: a number has no name yet",
		"a number without a name is refused"},
	    {"events: Ir\nfn=f\n3 4 5\n",
		"text:3: not a callgrind profile: there are more costs than "
		"events",
		"more costs than events"},
	    {"events: Ir\nfn=f\n3 -4\n",
		"text:3: not a callgrind profile: a number is expected",
		"a negative cost is refused"},
	    {"events: Ir\nfn=f\n3 18446744073709551616\n",
		"text:3: not a callgrind profile: a number is too large",
		"a number of more than 64 bits is refused"},
	    {"events: Ir\nfn=f\n1 18446744073709551615\n2 1\n",
		"text:4: not a callgrind profile: the sum is too large",
		"a sum of more than 64 bits is refused"},
	    {"events: Ir\nfn=f\ncalls=1 2\n",
		"text:3: not a callgrind profile: 'calls=' lacks its functions",
		"'calls=' needs a function"},
	    {"events: Ir\nfn=f\ncfn=g\ncalls=1 2\nfn=h\n",
		"text:5: not a callgrind profile: the costs of a call are "
		"missing",
		"'calls=' needs a line of costs"},
	    {"events: Ir\nfn=f\ncfn=g\ncalls=1 2\n",
		"text:4: not a callgrind profile: it ends within a call",
		"a file that is cut off within a call"},
	    {"events: Ir\nfn=f\n1 23",
		"text:3: not a callgrind profile: it is cut off within this "
		"line",
		"a file that is cut off within a number"},
	    {"creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 2\n",
		"text:4: not a callgrind profile: it is cut off: 'totals:' is "
		"missing",
		"a file that is cut off at the end of a line"},
	    {"creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 2\ntotals: 2\n"
	     "events: Ir\nfn=f\n1 2\n",
		"text:8: not a callgrind profile: it is cut off: 'totals:' is "
		"missing",
		"a file whose last part is cut off"},
	    {"events: Ir Dr\nfn=f\n1 2\nevents: Ir\n",
		"text:4: not a callgrind profile: an event is missing",
		"a part with fewer events than the first"},
	    {"events: Ir\nfn=f\n1 2\nevents: Ir Dr\n",
		"text:4: not a callgrind profile: its parts have other events",
		"a part with more events than the first"},
	};
	struct callgrind g;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		FILE *in = *bad[i].text
		    ? fmemopen((void *)(uintptr_t)bad[i].text,
			  strlen(bad[i].text), "r")
		    : fopen("/dev/null", "r");

		tap_ok(callgrind_read(&g, in, "text", 0) == -1 &&
			strcmp(err_last(), bad[i].why) == 0,
		    "%s", bad[i].what);
		if (strcmp(err_last(), bad[i].why) != 0)
			printf("# %s\n", err_last());
		fclose(in);
		callgrind_free(&g);
	}
}

static int
print_file(const char *path)
{
	const struct callgrind_function *f;
	struct callgrind g;

	if (callgrind_open(&g, path) < 0)
		return 2;
	printf("%" PRIu64 " TOTAL\n", g.total[0]);
	for (size_t i = 0; i < g.nfunctions; i++) {
		f = &g.functions[i];
		printf("%" PRIu64 " %s [%s]\n", f->self[0], f->name, f->object);
	}
	callgrind_free(&g);
	return 0;
}

int
main(int argc, char **argv)
{
	err_init(argv[0]);
	if (argc > 1)
		return print_file(argv[1]);
	test_functions();
	test_parts();
	test_bad();
	return tap_done();
}
