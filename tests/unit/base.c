/* base and io modules: str, num, cpulist, json, tempfile, proc. */
#include "tap.h"

#include "cpulist.h"
#include "json.h"
#include "mem.h"
#include "intern.h"
#include "num.h"
#include "proc.h"
#include "rng.h"
#include "hashset.h"
#include "str.h"
#include "tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* As printf has it: the shorter of 15 and 17 digits that reads back. */
static bool
printed(double v)
{
	struct str s = {0};
	char want[64];
	bool same;

	if (v == floor(v) && fabs(v) < 0x1p53)
		snprintf(want, sizeof want, "%.0f", v == 0 ? 0. : v);
	else
		snprintf(want, sizeof want, "%.15g", v);
	if (strtod(want, NULL) != v)
		snprintf(want, sizeof want, "%.17g", v);
	num_append(&s, v);
	same = strcmp(s.s, want) == 0;
	if (!same)
		printf("# %a: %s, not %s\n", v, s.s, want);
	str_free(&s);
	return same;
}

static void
numbers_out(void)
{
	bool any = true, near = true;
	struct rng r;

	rng_seed(&r, 5, 0);
	for (int i = 0; i < 20000; i++) {
		double v =
		    ldexp(rng_unit(&r) - .5, (int)rng_below(&r, 80) - 20);

		any &= printed(v) && printed(ldexp(v, 300)) &&
		    printed(floor(v * 1e3) / 1e3);
	}
	tap_ok(any, "numbers read back, by 15 or 17 digits");
	for (int e = -20; e < 20; e++) {
		double d = pow(10, e), b = ldexp(1, 3 * e);

		for (int k = -2; k <= 2; k++) {
			near &= printed(d) && printed(b) && printed(-d);
			d = nextafter(d, k < 0 ? 0 : INFINITY);
			b = nextafter(b, k < 0 ? 0 : INFINITY);
		}
	}
	tap_ok(near && printed(0) && printed(-0.) && printed(DBL_MAX) &&
		printed(5e-324) && printed(0x1p53) && printed(0x1p53 + 2),
	    "powers of 2 and 10, their neighbours and the extremes are read "
	    "back");
}

static void
numbers(void)
{
	long long i;
	double d;
	char b[NUM_BUF];

	tap_str(num_plural(0), "s", "0 runs");
	tap_str(num_plural(1), "", "1 run");
	tap_str(num_plural(2), "s", "2 runs");
	tap_ok(num_int("42", &i) == 0 && i == 42, "an integer");
	tap_ok(num_int("+42", &i) < 0, "no plus sign");
	tap_ok(num_int(" 42", &i) < 0, "no blank");
	tap_ok(num_int("9223372036854775808", &i) < 0, "no overflow");
	tap_ok(num_real("1e999", &d) < 0, "no infinity");
	tap_ok(num_real("0x10", &d) < 0, "no hex");
	tap_ok(num_real("nan", &d) < 0, "no nan");
	tap_ok(num_duration("1.5m", &d) == 0 && d == 90, "1.5m is 90 s");
	tap_ok(num_duration("20ms", &d) == 0 && d == .02, "20ms");
	tap_ok(num_duration("3x", &d) < 0, "no such unit");
	tap_ok(num_duration("1e308d", &d) < 0, "a duration that overflows");
	tap_ok(num_size("4k", &i) == 0 && i == 4096, "4k");
	tap_ok(num_size("9999999999g", &i) < 0, "a size that overflows");
	tap_str(num_human(b, 556204), "556K", "556204 for people");
	tap_str(num_human(b, 1234567), "1.23M", "1234567 for people");
	tap_str(num_human(b, 0.8125), "0.812", "0.8125 for people");
	tap_str(num_human(b, 999700), "1.00M", "999700 for people");
	tap_str(num_amount(b, 1250, "ns"), "1.25 us", "1250 ns");
	tap_str(num_amount(b, 999.7, "us"), "1.00 ms", "999.7 us");
	tap_str(num_amount(b, .25, "ns"), "0.25 ns", "less than any unit");
	tap_str(num_amount(b, 90, "s"), "90.0 s", "more than any unit");
	tap_str(num_amount(b, 0, "ns"), "0.000", "no time");
	tap_str(num_amount(b, 1250, "req/s"), "1.25K", "no unit of time");
	tap_str(num_human(b, 0.0391), "0.0391", "three digits of small ones");
	tap_str(num_human(b, -0.0004), "-0.000400",
	    "three digits of numbers below 0.001");
	tap_str(num_human(b, 1e300), "1.00e+288T", "huge ones are not cut");
	tap_str(num_human(b, 0), "0.000", "0 for people");
	tap_str(num_seconds(b, 192), "3m12s", "192 s for people");
	tap_str(num_seconds(b, 6e20), "?", "more seconds than a long holds");
}

static void
strings(void)
{
	static const char *const names[] = {
	    "pipelines", "clients", "data_sizes", NULL};
	struct str s = {0};

	tap_str(str_nearest("piplines", names), "pipelines", "nearest name");
	tap_ok(!str_nearest("zzz", names), "no name is near");
	tap_str(str_nearest("cleints", names), "clients", "swapped letters");
	tap_ok(!str_nearest("raw", (const char *[]){"rfr", NULL}),
	    "two wrong letters of three are another word");
	tap_ok(!str_nearest("pipe", (const char *[]){"live", NULL}),
	    "a wrong first letter counts twice");
	tap_ok(str_has_part("one|two", "one", '|') &&
		str_has_part("one|two", "two", '|') &&
		!str_has_part("one|two", "tw", '|') &&
		!str_has_part("one|two", "wo", '|') &&
		!str_has_part(NULL, "one", '|'),
	    "each element of a list is a part of it");
	tap_ok(!str_has_part("one|two", "one|two", '|') &&
		!str_has_part("one|two|three", "two|three", '|'),
	    "several elements together are not a part");
	str_visible(&s,
	    "a\033[31m\xc2\x9b"
	    "b");
	tap_str(s.s, "a\\x1b[31m\\x9bb", "control characters are shown");
	str_clear(&s);
	str_visible(&s,
	    "\xc2\xad|\xcd\x8f|\xe1\x85\xa0|\xe1\xa0\x8e|\xef\xb8\x8f|"
	    "\xef\xbe\xa0|\xf3\xa0\x81\x81|\xc3\xa4\xe4\xb8\xad");
	tap_str(s.s,
	    "\\u00ad|\\u034f|\\u1160|\\u180e|\\ufe0f|\\uffa0|"
	    "\\ue0041|\xc3\xa4\xe4\xb8\xad",
	    "invisible characters are escaped, visible ones are not");
	tap_ok(str_utf8("\xc3\xa4", 2) && !str_utf8("\xc3", 1) &&
		!str_utf8("\xed\xa0\x80", 3),
	    "UTF-8: a letter, a cut one, a surrogate");
	str_free(&s);
}

static void
cpus(void)
{
	static const char *const wrong[] = {"", " ", ",1", "1,", "1,,2", "3-1",
	    "-1", "a", "1-2-3", "1-", "+1", "99999"};
	cpu_set_t set;
	const char *why;
	char *s;

	tap_ok(cpulist_parse(" 0-2 , 8,8", &set, &why) == 0, "a CPU list");
	s = cpulist_text(&set);
	tap_str(s, "0-2,8", "a list of CPUs is printed in its canonical form");
	free(s);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		tap_ok(cpulist_parse(wrong[i], &set, &why) < 0,
		    "CPU list '%s' is refused: %s", wrong[i], why);
}

static struct json *
parse(const char *s, const char **why)
{
	return json_parse(s, strlen(s), why, NULL);
}

static void
values(void)
{
	const char *why;
	struct json *j =
	    parse("{\"b\":1,\"a\":{\"d\":2,\"c\":[1,\"x\"]}}", &why);
	struct str s = {0};

	json_canonical(&s, j);
	tap_str(
	    s.s, "{\"a\":{\"c\":[1,\"x\"],\"d\":2},\"b\":1}", "sorted keys");
	tap_ok(json_num(json_path(j, "a.d"), 0) == 2, "a dotted path");
	json_set_num(j, "n", NAN);
	tap_ok(!json_get(j, "n"), "a number that is NAN is left out");
	json_free(j);
	str_free(&s);
	tap_ok(!parse("{\"a\":1,\"a\":2}", &why), "a key twice: %s", why);
	tap_ok(!parse("{\"a\":1} x", &why), "text behind the value: %s", why);
	tap_ok(!parse("{\"a\":", &why), "text that is cut off: %s", why);
	tap_ok(!parse("{\"a\":1e999}", &why), "too large: %s", why);
	tap_ok(!parse("\"a\\u0000b\"", &why), "an escaped NUL: %s", why);
	tap_ok(!parse("\"\xff\"", &why), "not UTF-8: %s", why);
	j = parse("\"a\\\\u0000b\"", &why);
	tap_str(json_str(j), "a\\u0000b",
	    "an escaped backslash before u0000 is not a NUL");
	json_free(j);
}

/* RFC 8259 to the letter; and what is refused is refused everywhere. */
static void
strict(void)
{
	static const char *const wrong[] = {"", " ", "01", "-", "-a", "1.",
	    ".5", "1e", "1e+", "+1", "0x1", "nul", "truex", "NaN", "Infinity",
	    "'a'", "\"a", "\"a\tb\"", "\"\\x41\"", "\"\\u12\"", "\"\\u12g4\"",
	    "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "[", "[1",
	    "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{", "{1:2}", "{\"a\"}",
	    "{\"a\":1,}", "{\"a\" 1}", "{,}", "{\"a\":1]",
	    "{\"\\u0061\":1,\"a\":2}", "1 2", "[1]]", "\v1"};
	static const char *const right[][2] = {{" [ 1 , 2 ]\n", "[1,2]"},
	    {"\"\\u00e9\\ud83d\\ude00\\/\"", "\"\xc3\xa9\xf0\x9f\x98\x80/\""},
	    {"\xef\xbb\xbf{}", "{}"}, {"[1,2,\"a\",[3]]", "[1,2,\"a\",[3]]"},
	    {"1.50", "1.5"}, {"-0.001", "-0.001"}, {"1E2", "100"},
	    {"0.00001", "1e-05"},
	    {"123456789012345678", "1.2345678901234568e+17"},
	    {"[0.000123,1e22,4.9e-324]",
		"[0.000123,1e+22,4.94065645841247e-324]"}};
	struct json *j;
	const char *why;
	char deep[2100], *s;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		j = parse(wrong[i], &why);
		tap_ok(!j && why, "'%s' is refused: %s", wrong[i],
		    why ? why : "no");
		json_free(j);
	}
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		j = parse(right[i][0], &why);
		s = j ? json_print(j) : mem_str(why);
		tap_str(s, right[i][1], right[i][1]);
		free(s);
		json_free(j);
	}
	for (size_t n = 1000; n <= 1001; n++) {
		memset(deep, '[', n);
		memset(deep + n, ']', n);
		deep[2 * n] = '\0';
		j = parse(deep, &why);
		tap_ok(!j == (n > 1000), "%zu arrays in each other", n);
		json_free(j);
	}
}

/* Numbers with up to 15 digits come back as they were, fast way or slow. */
static void
digits(void)
{
	struct rng r;
	size_t wrong = 0;

	rng_seed(&r, 7, 0);
	for (int i = 0; i < 20000; i++) {
		char text[40], want[40], *s;
		struct json *j;
		double v;

		snprintf(text, sizeof text, "%s%llu.%0*llu",
		    rng_next(&r) & 1 ? "-" : "",
		    (unsigned long long)(rng_next(&r) >> (i % 64)), 1 + i % 9,
		    (unsigned long long)(rng_next(&r) % 1000000));
		v = strtod(text, NULL);
		snprintf(want, sizeof want, "%.15g", v);
		if (v == floor(v) && fabs(v) < 0x1p53)
			snprintf(want, sizeof want, "%.0f", v + 0.);
		else if (strtod(want, NULL) != v)
			snprintf(want, sizeof want, "%.17g", v);
		j = parse(text, NULL);
		s = j ? json_print(j) : mem_str("refused");
		if (json_num(j, NAN) != v ||
		    strcmp(s, strcmp(want, "-0") == 0 ? "0" : want) != 0)
			printf("# %s: %s, not %s\n", text, s, want), wrong++;
		free(s);
		json_free(j);
	}
	tap_ok(!wrong, "numbers of all lengths are those of strtod and printf");
}

/* Values move between trees; each is freed once (sanitizers see to it). */
static void
moved(void)
{
	struct json *a = parse("{\"x\":{\"y\":[1,2]},\"z\":\"t\"}", NULL);
	struct json *b = parse("{\"k\":[5,6,7,8],\"e\":[]}", NULL), *x, *k;
	double *v;
	size_t n;
	char *s;

	x = json_detach(a, "x");
	json_set(b, "moved", x);
	json_set(b, "again", json_dup(x));
	json_set(json_get(b, "moved"), "z", json_detach(a, "z"));
	json_free(a);
	for (int i = 0; i < 9; i++) {
		json_push_num(json_get(b, "k"), i);
		json_push_num(json_get(b, "e"), i / 2.);
	}
	json_push_num(json_get(b, "e"), NAN);
	v = json_numbers(json_get(b, "k"), &n);
	tap_ok(n == 13 && v[0] == 5 && v[12] == 8, "numbers are one array");
	free(v);
	free(json_numbers(NULL, &n));
	tap_ok(n == 0, "a missing array has no numbers");
	json_push(json_get(b, "e"), json_string("end"));
	json_free(json_shift(json_get(b, "e")));
	k = json_detach(b, "k");
	json_set(b, "k", json_number(1));
	json_set(b, "again", json_boolean(true));
	s = json_print(b);
	tap_str(s,
	    "{\"e\":[0.5,1,1.5,2,2.5,3,3.5,4,\"end\"],"
	    "\"moved\":{\"y\":[1,2],\"z\":\"t\"},\"again\":true,\"k\":1}",
	    "members and elements are where they were put");
	free(s);
	json_free(b);
	x = json_dup(k);
	tap_ok(json_first(k) && json_equal(k, x) && json_equal(x, k) &&
		json_hash(k) == json_hash(x),
	    "a copy is the same");
	json_free(json_shift(k));
	tap_ok(json_len(k) == 12 && !json_equal(k, x),
	    "an array with an element less differs");
	json_free(k);
	json_free(x);
}

static void
hashes(void)
{
	struct hashset *s = hashset_new();
	size_t wrong = 0;

	for (int again = 0; again < 2; again++)
		for (unsigned long long i = 0; i < 5000; i++)
			wrong += hashset_add(s, i << (i % 3 * 20)) != again;
	tap_ok(wrong <= 1,
	    "a hash is new the first time only; 0 and 1 count as equal");
	hashset_free(s);
}

static void
numbered(void)
{
	struct intern *t = intern_new();
	size_t wrong = 0;
	char text[32];

	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < 1000; i++) {
			snprintf(text, sizeof text, "name %zu", i);
			wrong += intern_id(t, text) != i ||
			    strcmp(intern_text(t, i), text) != 0;
		}
	tap_ok(wrong == 0, "a text keeps its number");
	tap_ok(intern_id(t, "") == 1000, "the empty text has a number");
	intern_free(t);
	t = intern_new();
	wrong = 0;
	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < 1000; i++)
			wrong += intern_pair(t, i / 10, i % 10) != i;
	tap_ok(wrong == 0, "a pair of numbers keeps its number");
	tap_ok(intern_pair(t, 0, 1) == 1 && intern_pair(t, 1, 0) == 10,
	    "a pair in the other order has another number");
	intern_free(t);
}

/* A value that is read is printed in the same way: numbers, escapes, empty
 * arrays and objects. */
static void
written(void)
{
	static const char *const same[] = {"6800000000000001",
	    "-9007199254740991", "1000000000000000", "0.1", "1e+300",
	    "0.30000000000000004", "123456789.123", "2.5e-07",
	    "[[],{},null,true,false,\"\"]",
	    "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u000b\\u001f/\xc3\xbc\"",
	    "{\"a\\\"\\n\":{\"b\":[1,{\"c\":2}]}}"};
	const char *why;
	struct json *j, *k;
	struct str c = {0};
	char *s;

	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		j = parse(same[i], &why);
		s = json_print(j);
		tap_str(s, same[i], "a text is printed as it was read");
		str_clear(&c);
		json_canonical(&c, j);
		tap_str(c.s, same[i], "its canonical form is the same");
		free(s);
		json_free(j);
	}
	str_free(&c);
	j = parse("-0.0", &why);
	s = json_print(j);
	tap_str(s, "0", "-0 is 0");
	free(s);
	json_free(j);
	j = parse("[{\"a\":1,\"b\":{\"c\":[],\"d\":2}}]", &why);
	k = parse("[{\"b\":{\"d\":2,\"c\":[]},\"a\":1}]", &why);
	tap_ok(json_equal(j, k) && json_hash(j) == json_hash(k),
	    "the order of keys does not matter");
	json_free(k);
	k = parse("[{\"b\":{\"d\":2,\"c\":[0]},\"a\":1}]", &why);
	tap_ok(!json_equal(j, k) && !json_equal(k, j),
	    "another element makes values differ");
	json_free(k);
	k = parse("[{\"b\":{\"d\":2,\"c\":{}},\"a\":1}]", &why);
	tap_ok(!json_equal(j, k),
	    "another type of an element makes values differ");
	json_free(k);
	json_free(j);
}

static bool
whole(const char *path)
{
	struct tempfile *t = tempfile_open(path);

	if (!t)
		return false;
	fputs("one\n", tempfile_stream(t));
	return tempfile_commit(t) == 0;
}

static void
left_alone(const char *dir)
{
	char pipe[64], link[64], line[8] = "";
	struct stat st;
	FILE *f;
	int fd;

	snprintf(pipe, sizeof pipe, "%s/pipe", dir);
	snprintf(link, sizeof link, "%s/link", dir);
	fd = mkfifo(pipe, 0600) == 0 ? open(pipe, O_RDWR | O_NONBLOCK) : -1;
	tap_ok(fd >= 0 && symlink("pipe", link) == 0, "a pipe and a link");
	tap_ok(whole(pipe), "a pipe is written to");
	tap_ok(read(fd, line, sizeof line) == 4,
	    "the text arrives at the other end of the pipe");
	tap_ok(whole(link) && read(fd, line, sizeof line) == 4,
	    "a link to a pipe is written to");
	tap_ok(stat(pipe, &st) == 0 && S_ISFIFO(st.st_mode),
	    "the pipe stays a pipe");
	close(fd);
	unlink(pipe);
	f = fopen(pipe, "w");
	fclose(f);
	tap_ok(whole(link), "a link to a file is written to");
	f = fopen(pipe, "r");
	tap_ok(f && fgets(line, sizeof line, f) && strcmp(line, "one\n") == 0,
	    "the file behind the link has the text");
	fclose(f);
	tap_ok(lstat(link, &st) == 0 && S_ISLNK(st.st_mode),
	    "the link stays a link");
	unlink(pipe);
	unlink(link);
	/* One like /dev/full, which only root can make. */
	if (mknod(link, S_IFCHR | 0600, makedev(1, 7)) == 0) {
		fd = dup(STDERR_FILENO);
		if (freopen("/dev/null", "w", stderr) == NULL)
			abort();
		tap_ok(!whole(link), "a full device");
		dup2(fd, STDERR_FILENO);
		close(fd);
		tap_ok(lstat(link, &st) == 0 && S_ISCHR(st.st_mode),
		    "the device stays a device");
		unlink(link);
	}
}

static void
files(void)
{
	char dir[] = "/tmp/vkb-unit.XXXXXX", path[64], line[32] = "";
	struct tempfile *t;
	FILE *f;

	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof path, "%s/f", dir);
	t = tempfile_open(path);
	fputs("one\n", tempfile_stream(t));
	tap_ok(
	    access(path, F_OK) < 0, "a file does not exist before the commit");
	tap_ok(tempfile_commit(t) == 0, "commit");
	t = tempfile_open(path);
	fputs("two\n", tempfile_stream(t));
	tempfile_discard(t);
	f = fopen(path, "r");
	tap_ok(f && fgets(line, sizeof line, f),
	    "the file can be read after a discard");
	tap_str(line, "one\n", "a discarded file changes nothing");
	fclose(f);
	unlink(path);
	tap_ok(mkdir(path, 0700) == 0 && !whole(path) && rmdir(path) == 0,
	    "a file cannot replace a folder");
	left_alone(dir);
	tap_ok(rmdir(dir) == 0, "nothing else is left in the folder");
}

static void
processes(void)
{
	static const char *const sleeper[] = {
	    "sh", "-c", "trap '' TERM; echo; while :; do read x; done", NULL};
	static const char *const none[] = {"vkb-no-such-program", NULL};
	static const char *const three[] = {"sh", "-c", "exit 3", NULL};
	struct proc_spec spec = {.argv = three};
	struct proc *p = proc_start(&spec);
	char text[64];
	int status, ready[2];

	tap_ok(proc_wait(p, 5000, &status) == 1, "a process ends");
	tap_str(proc_ended(status, text, sizeof text), "exited with 3", "how");
	proc_free(p);
	if (freopen("/dev/null", "w", stderr) == NULL)
		abort();
	spec.argv = none;
	tap_ok(!proc_start(&spec) && errno == ENOENT, "no such program");
	if (pipe2(ready, O_CLOEXEC) < 0)
		abort();
	spec = (struct proc_spec){
	    .argv = sleeper, .group = true, .death_signal = 9, .out = ready[1]};
	p = proc_start(&spec);
	tap_ok(read(ready[0], text, 1) == 1 && proc_wait(p, 0, NULL) == 0,
	    "the process ignores its signals and runs");
	status = proc_stop(p, 50);
	tap_str(proc_ended(status, text, sizeof text),
	    "was killed by signal 9 (Killed)",
	    "a process that ignores SIGTERM is killed");
	proc_free(p);
	close(ready[0]);
	close(ready[1]);
}

int
main(void)
{
	numbers();
	numbers_out();
	strings();
	cpus();
	values();
	strict();
	digits();
	moved();
	written();
	hashes();
	numbered();
	files();
	processes();
	return tap_done();
}
