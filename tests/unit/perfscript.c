/* Lines of 'perf script', with processes whose names look like what follows
 * them.
 */
#include "mem.h"
#include "perfscript.h"
#include "str.h"
#include "tap.h"

#include <stdlib.h>

/* Tests whether the line is the event "comm|pid|tid|name|period|ns"; NULL: it
 * is not an event. */
static void
is_event(const char *line, const char *want)
{
	struct perfscript_event e;
	char *got = NULL;

	if (perfscript_parse_event(line, line + strlen(line), &e))
		got = mem_printf("%.*s|%.*s|%.*s|%.*s|%.0f|%llu", (int)e.comm.n,
		    e.comm.s, (int)e.pid.n, e.pid.s, (int)e.tid.n, e.tid.s,
		    (int)(e.name.n ? e.name.n : e.record.n),
		    e.name.n ? e.name.s : e.record.s, e.period,
		    (unsigned long long)e.ns);
	tap_str(got, want, line);
	free(got);
}

static void
names(void)
{
	/* as perf 6.1 has printed them */
	is_event("12 30919 25777.605523:   10101010 cpu-clock: ",
	    "12||30919|cpu-clock|10101010|25777605523000");
	is_event("3/4 x 30920/30921 [001] 25776.382899:   1 cycles:u: ",
	    "3/4 x|30920|30921|cycles:u|1|25776382899000");
	is_event("job 7 1.5: x 30933 25776.586126123: 9 cs: ",
	    "job 7 1.5: x||30933|cs|9|25776586126123");
	is_event("7 1.234567: x 30935 25775.967644: 9 cs: ",
	    "7 1.234567: x||30935|cs|9|25775967644000");
	is_event("x 12 [000] q 30934 [001] 25777.014764: 9 cs: ",
	    "x 12 [000] q||30934|cs|9|25777014764000");
	is_event("w: 1 2.5: 30932 25776.124406: 9 cs: ",
	    "w: 1 2.5:||30932|cs|9|25776124406000");
	is_event("k/0:1H [x]     7 25775.898722: 9 cs: ",
	    "k/0:1H [x]||7|cs|9|25775898722000");
	is_event("job  1234 25775.618477: cycles: ",
	    "job||1234|cycles|1|25775618477000");
	is_event("swapper     0/0     [003]  5.000001: 9 cs: ",
	    "swapper|0|0|cs|9|5000001000");
	is_event(":-1    -1 25775.898722: PERF_RECORD_LOST lost 4",
	    ":-1||-1|LOST lost 4|1|25775898722000");
	/* without a time, or a period */
	is_event("job 7 30916 cpu-clock: ", "job 7||30916|cpu-clock|1|0");
	is_event("x 12 [000] q 30934 cs: ", "x 12 [000] q||30934|cs|1|0");
	is_event("a b 30915 [001] cs: ", "a b||30915|cs|1|0");
	is_event(
	    "a b 30915 25776.800031: cs: ", "a b||30915|cs|1|25776800031000");
	/* of another hand */
	is_event("p 1 1.5: 10 cycles:", "p||1|cycles|10|1500000000");
	is_event("p 1/2 [000] 1.5: cycles:", "p|1|2|cycles|1|1500000000");
	is_event("a;b 3 cycles:", "a;b||3|cycles|1|0");
}

static void
others(void)
{
	is_event("job 7 25775.618477: cycles: ", NULL); /* is 7 the pid? */
	is_event("job 1234 25775.618477: cycles: ", NULL);
	is_event("job 25775.618477:   10101010 cycles: ", NULL);
	is_event("67fa7 dictFind+0x67 (/usr/bin/valkey-server)", NULL);
	is_event("job x 1.000000: cycles:", NULL);
	is_event("job", NULL);
	is_event("", NULL);
	is_event("p 1", NULL);
	is_event("p 1 2", NULL);
}

/* --- samples */

static bool
begin(void *arg, const struct perfscript_event *e)
{
	if (e->record.n || (e->name.n && *e->name.s == 'o'))
		return false;
	str_printf(arg, "%.*s(", (int)e->comm.n, e->comm.s);
	return true;
}

static void
add_frame(void *arg, struct perfscript_text pc, struct perfscript_text symbol,
    struct perfscript_text module)
{
	(void)pc;
	(void)module;
	str_printf(arg, "%.*s ", (int)symbol.n, symbol.s);
}

static void
end(void *arg)
{
	str_addc(arg, ')');
}

static void
reads(const char *text, size_t bad, const char *want, const char *what)
{
	struct str got = {0};
	struct perfscript r = {.to = {begin, add_frame, end, &got}};
	char *all = mem_str(text), *rest = all, *line;
	size_t unread = 0;

	while ((line = strsep(&rest, "\n")))
		unread += !perfscript_read_line(&r, line, strlen(line));
	perfscript_finish(&r);
	tap_str(got.s ? got.s : "", want, what);
	tap_ok(unread == bad, "%s: %zu lines are neither", what, unread);
	str_free(&got);
	free(all);
}

static void
samples(void)
{
	reads("a 30931 1.000000: 9 cs: \n\t 1 f (x)\n\t 2 g (y)\n\nb 30931 "
	      "1.000000: 9 cs: \n\t 1 h (x)\n",
	    0, "a(f g )b(h )", "two stacks");
	reads(" lead 30931 1.000000: 9 cs: \n\t 1 f (x)\n\n lead 30932 "
	      "1.000000: 9 cs: \n\t 1 g (x)\n",
	    0, "lead(f )lead(g )", "a name that begins with a blank");
	reads("  a 30931 1.000000: 9 cs:  1 f (x)\n  b 30931 1.000000: 9 cs:  "
	      "2 g (x)\n",
	    0, "a(f )b(g )", "frames behind their events");
	reads("  a 30931 1.000000: 9 other:  1 f (x)\n  b 30931 1.000000: 9 "
	      "cs:  2 g (x)\n",
	    0, "b(g )", "an event that is left out, and one behind it");
	reads("a 30931 1.000000: 9 other: \n\t 1 f (x)\n\na 30931 1.000000: "
	      "PERF_RECORD_SWITCH OUT\na 30931 1.000000: 9 cs: \n\t 2 g (x)\n",
	    0, "a(g )", "a record between samples");
	reads("what\na 30931 1.000000: 9 cs: \n\t 2 g (x)\n)(\n\t 2 h (x)\n", 3,
	    "a(g )", "lines that are neither end a sample");
}

int
main(void)
{
	names();
	others();
	samples();
	return tap_done();
}
