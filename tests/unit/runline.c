/* Run lines: those that look like one before are read as all others are. */
#include "tap.h"

#include "rng.h"
#include "runline.h"

#include <stdlib.h>

#define HEAD "{\"type\":\"run\",\"v\":1,"
#define TAIL ",\"metrics\":{\"rps\":7.25,\"p\":1e3},\"status\":\"ok\"}\n"
#define A HEAD "\"subject\":{\"a\":\"}\"},\"config\":{\"c\":{}},"
#define B HEAD "\"subject\":{\"label\":\"x\"},\"config\":{\"c\":[1,{}]},"

static bool
reads(struct runlines *l, struct runline *r, const char *line)
{
	size_t n = strlen(line);

	return runline_read(l, r, line, n) && runline_rooms(r, line, n);
}

static bool
text_is(const struct jsonscan_text *t, const char *want)
{
	return t->s && jsonscan_is(t, want);
}

static void
alike(void)
{
	struct runlines *l = runlines_new();
	struct runline r;

	tap_ok(reads(l, &r, A "\"run\":{\"session\":\"s\",\"index\":1}" TAIL) &&
		!r.guessed,
	    "a line like none before");
	tap_ok(reads(l, &r, B "\"run\":{\"session\":\"t\",\"index\":2}" TAIL) &&
		r.guessed,
	    "one that looks like it");
	tap_ok(text_is(&r.subject, "{\"label\":\"x\"}") &&
		text_is(&r.config, "{\"c\":[1,{}]}") && !r.env.s &&
		text_is(&r.session, "t") && r.index == 2 && r.block == -1 &&
		r.nmetrics == 2 && text_is(&r.metrics[0].name, "rps") &&
		r.metrics[0].v == 7.25 && text_is(&r.metrics[1].name, "p") &&
		r.metrics[1].v == 1000 && !r.nhists && !r.bound.s,
	    "what it says");
	tap_ok(reads(l, &r, A "\"run\":{}" TAIL) && !r.guessed &&
		reads(l, &r, B "\"run\":{}" TAIL) && r.guessed &&
		reads(l, &r, B "\"run\":{\"session\":\"\",\"index\":0}" TAIL) &&
		r.guessed,
	    "lines of two kinds");
	for (int i = 0; i < 9; i++) {
		char line[200];

		snprintf(line, sizeof line, A "\"run\":{},\"k%d\":1" TAIL, i);
		tap_ok(reads(l, &r, line) && !r.guessed, "of many");
	}
	tap_ok(reads(l, &r, B "\"run\":{},\"k8\":[\"x\"]" TAIL) && r.guessed,
	    "the last of them is known");
	runlines_free(l);
}

static void
refused(const char *line, const char *what)
{
	struct runlines *l = runlines_new();
	struct runline r;

	tap_ok(
	    reads(l, &r,
		A "\"run\":{\"session\":\"s\",\"index\":1},\"env\":{}" TAIL) &&
		!reads(l, &r, line),
	    "refused: %s", what);
	runlines_free(l);
}

static void
unlike(void)
{
#define AND(run, env) "\"run\":{\"session\":" run "},\"env\":{" env "}" TAIL
	refused(A AND("\"s\",\"index\":01", ""), "a number that is none");
	refused(A AND("\"s\",\"index\":1e999", ""), "one that is too large");
	refused(A AND("\"s\",\"index\":\"1\"", ""), "a string for a number");
	refused(A AND("1,\"index\":1", ""), "a number for a string");
	refused(A AND("\"\\n\",\"index\":1", ""), "an escape");
	refused(A AND("\"\t\",\"index\":1", ""), "a control character");
	refused(A AND("\"\xc3\",\"index\":1", ""), "what is not UTF-8");
	refused(A AND("\"s\",\"index\":1,\"index\":2", ""), "a key twice");
	refused(A AND("\"s\",\"index\":1", "\"a\":1,\"a\":2"), "in a room");
	refused(A AND("\"s\",\"index\":1", "\"a\"}"), "no member in a room");
	refused(A AND("\"s\",\"index\":1", "\"a\":{"), "an open room");
	refused(A AND("\"s\",\"index\":1", "") "x", "what follows");
	refused(HEAD
	    "\"subject\":{\"a\":{},\"config\":{}," AND("\"s\",\"index\":1", ""),
	    "a room in another");
}

/* Few bytes of two lines changed: the same as by one who knows neither. */
static void
noise(void)
{
	static const char *const lines[] = {A
	    "\"run\":{\"session\":\"s\",\"index\":1},\"env\":{\"h\":1}" TAIL,
	    B "\"run\":{\"session\":\"t\",\"index\":-2.5},\"x\":[true]" TAIL};
	static const char bytes[] = "{}[]\",:\\ \n019.-e\xc3\xa4xu";
	struct runlines *l = runlines_new();
	struct runline r, s;
	size_t guessed = 0, read = 0;
	bool same = true;
	struct rng g;

	rng_seed(&g, 7, 0);
	for (int i = 0; i < 100000; i++) {
		struct runlines *none;
		char line[300];
		size_t n;

		strcpy(line, lines[rng_below(&g, 2)]);
		n = strlen(line);
		for (size_t k = rng_below(&g, 3); k; k--)
			line[rng_below(&g, n)] =
			    bytes[rng_below(&g, sizeof bytes - 1)];
		none = runlines_new();
		if (reads(l, &r, line)) {
			same &= reads(none, &s, line) && r.hash == s.hash &&
			    r.index == s.index && r.nmetrics == s.nmetrics &&
			    r.config.s == s.config.s &&
			    r.config.n == s.config.n && r.env.n == s.env.n;
			guessed += r.guessed;
			read++;
		}
		runlines_free(none);
	}
	tap_ok(same, "noise: what one knows changes nothing");
	tap_ok(read > 30000 && guessed > read / 2,
	    "noise: many lines are read, most by what is known");
	printf("# %zu read, %zu guessed\n", read, guessed);
	runlines_free(l);
}

int
main(void)
{
	alike();
	unlike();
	noise();
	return tap_done();
}
