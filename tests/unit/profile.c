/* Parts of vkb-profile that need neither perf nor a process. */
#include "json.h"
#include "tap.h"
#include "vkb-profile/access.h"
#include "vkb-profile/counters.h"
#include "vkb-profile/fold.h"
#include "vkb-profile/elffile.h"
#include "vkb-profile/sampler.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static struct fold *
folded(bool by_time, const char *text)
{
	struct fold *f = fold_new(by_time);
	char *all = strdup(text), *rest = all, *line;

	while ((line = strsep(&rest, "\n")))
		fold_line(f, line);
	fold_finish(f);
	free(all);
	return f;
}

/* Returns all stacks as lines "STACK WEIGHT". */
static char *
text_of(const struct fold *f)
{
	char *s = NULL;
	size_t n;
	FILE *out = open_memstream(&s, &n);

	fold_write(f, out);
	fclose(out);
	return s;
}

static void
is_folded(bool by_time, const char *text, const char *want, const char *what)
{
	struct fold *f = folded(by_time, text);
	char *s = text_of(f);

	if (!tap_ok(strcmp(s, want) == 0, "%s", what))
		printf("# %s\n", s);
	free(s);
	fold_free(f);
}

static void
stacks(void)
{
	const char *two = "srv    12   1.000000001:  1001001 cpu-clock:ppp: \n"
			  "\t  7f12 leaf (/lib/x.so)\n"
			  "\t  7f13 main (/bin/srv)\n"
			  "\n"
			  "a b;c 12/13 2.5: 7 cycles: \n"
			  "\t ffff [unknown] (/usr/lib/my lib.so)\n"
			  "\t ffff [unknown] ([unknown])\n"
			  "\t ffff op(int, char (*)()) (/bin/srv)\n"
			  "\t ffff a;b (/bin/srv)\n";
	struct fold *f;
	char *s;

	is_folded(false, two,
	    "srv;main;leaf 1\na_b_c;a:b;op(int, char (*)());[unknown];"
	    "[my lib.so] 1\n",
	    "stacks, with any characters in their names, and without an empty "
	    "line at the end");
	is_folded(true, two, "srv;main;leaf 1001\n",
	    "with their times in microseconds; other lines are left out");
	is_folded(false, "srv 1 1.0: 1 cycles: \n\nsrv 1 1.1: 1 cycles: \n\n",
	    "srv 2\n", "samples without a stack are left out");
	is_folded(false, "", "", "nothing");
	f = folded(false,
	    "nonsense\n PERF_RECORD_LOST lost 3\nsrv x 1.0: 1 cycles:\n# no\n"
	    "srv 1 1.0: 1 cycles\n"
	    ":-1    -1 1.000000: PERF_RECORD_LOST lost 4\n");
	s = text_of(f);
	tap_ok(fold_sum(f).unparsed == 4 && fold_sum(f).lost == 4 && !*s,
	    "unknown lines and lost records are counted");
	free(s);
	fold_free(f);
}

static void
waits(void)
{
	const char *text =
	    "srv     7 10.000000000: 1 context-switches: \n"
	    "\t 1 schedule ([kernel.kallsyms])\n\t 2 fsync (/lib/c.so)\n\n"
	    "srv     7/7     10.000001000: PERF_RECORD_SWITCH OUT \n"
	    "bio 8 10.1: 1 context-switches/period=1/: \n"
	    "\t 1 work (/bin/srv)\n\n"
	    "bio 7/8 10.1: PERF_RECORD_SWITCH OUT preempt\n"
	    "srv 7/7 10.25: PERF_RECORD_SWITCH IN \n"
	    "srv 7/7 10.26: PERF_RECORD_SWITCH IN \n"
	    "bio 7/8 10.3: PERF_RECORD_SWITCH IN \n"
	    "srv 7 10.4: 1000000 cpu-clock: \n\t 2 run (/bin/srv)\n\n"
	    "srv 7 10.5: 1 cs: \n\t 2 poll (/bin/srv)\n\n"
	    "bio 7/8 10.6: PERF_RECORD_SWITCH IN \n";
	struct fold *f = folded(true, text);
	struct fold_sum s = fold_sum(f);

	is_folded(true, text,
	    "srv;fsync;schedule 250000\nbio;work 200000\nsrv;run 1000\n"
	    "srv;poll 100000\n",
	    "a wait ends when the thread runs again, or with the profile");
	tap_ok(s.switches == 3 && s.samples == 1,
	    "switches are not counted as samples");
	tap_ok(fabs(s.blocked_s - .35) < 1e-9 &&
		fabs(s.preempted_s - .2) < 1e-9 && fabs(s.cpu_s - .001) < 1e-9,
	    "sums: %g %g %g", s.blocked_s, s.preempted_s, s.cpu_s);
	fold_free(f);
	is_folded(true,
	    "srv 7 10.0: 1 cs: \n\t 1 a (x)\n\n"
	    "srv 7 20.0: 1 cs: \n\t 1 b (x)\n\n"
	    "srv 7 21.0: PERF_RECORD_SWITCH IN\n",
	    "srv;b 1000000\n", "a wait whose end was lost is left out");
}

static void
counting(void)
{
	double shared;
	struct json *c = counters_parse("2000;;cycles:u;1000;100.00;;\n"
					"3000;;instructions:u;500;50.00;1.5;\n"
					"<not supported>;;LLC-loads;0;100.00\n"
					"<not counted>;;branches;0;0.00;;\n"
					"12.5;msec;task-clock;1;100.00;;\n"
					"0;;context-switches:u;1;100.00;;\n"
					"-1;;odd;1;1;;\n\n5;;short\n",
	    &shared);
	struct json *d = counters_derive(c);
	struct json *r = counters_per_request(c, 100, "_per_req");

	tap_ok(json_len(c) == 3 && json_get_num(c, "cycles", 0) == 2000 &&
		json_get_num(c, "task_clock_ms", 0) == 12.5,
	    "counters that are not supported are absent");
	tap_ok(shared == .5,
	    "the smallest share of the time that a counter was active");
	tap_ok(json_get_num(d, "ipc", 0) == 1.5 &&
		fabs(json_get_num(d, "ghz", 0) - .00016) < 1e-12 &&
		json_len(d) == 2,
	    "only what the counters allow is derived");
	tap_ok(json_get_num(r, "instructions_per_req", 0) == 30 &&
		json_len(r) == 3,
	    "counts are divided by the requests");
	json_free(r);
	json_free(d);
	json_free(c);
	c = counters_parse(
	    "1;;cycles:u;1;100;;\n2;;cycles:u;1;100;;\n", &shared);
	tap_ok(json_get_num(c, "cycles", 0) == 3,
	    "counts of two kinds of cores are added");
	r = counters_per_request(c, 0, "");
	tap_ok(json_len(r) == 0, "without requests no count is divided");
	json_free(r);
	json_free(c);
	c = counters_parse("4;;uops_executed.thread:u;1;100;;\n"
			   "5;;sched:sched_switch;1;100;;\n"
			   "6;;cpu/event=0x3c/pp;1;100;;\n",
	    &shared);
	tap_ok(json_get_num(c, "uops_executed_thread", 0) == 4 &&
		json_get_num(c, "sched_sched_switch", 0) == 5 &&
		json_get_num(c, "cpu_event_0x3c_pp", 0) == 6,
	    "names of events become keys");
	json_free(c);
	tap_ok(counters_check("ipc,all,") == 0 && counters_check("") < 0 &&
		counters_check("ipc,,tlb") < 0,
	    "unknown and empty names of sets are refused");
}

static void
allowed(void)
{
	struct access a = {.paranoid = 2, .own_uid = 1, .target_uid = 1};
	char *s;

	tap_ok(access_decide(&a) == ACCESS_USER,
	    "perf_event_paranoid 2: without the kernel");
	a.paranoid = 1;
	tap_ok(access_decide(&a) == ACCESS_ALL, "1: all");
	a.paranoid = 3;
	tap_ok(access_decide(&a) == ACCESS_NONE, "3: nothing");
	s = access_explain_refusal(&a);
	tap_ok(strstr(s, "perf_event_paranoid is 3") &&
		strstr(s, "sysctl kernel.perf_event_paranoid=1"),
	    "the message names the setting");
	free(s);
	a.perfmon = a.ptrace = true;
	tap_ok(access_decide(&a) == ACCESS_ALL,
	    "perf_event_paranoid 3 with the capabilities: with the kernel");
	a.target_uid = 2;
	tap_ok(access_decide(&a) == ACCESS_ALL,
	    "with the capabilities also the process of another user");
	a.perfmon = a.ptrace = false;
	a.paranoid = -1;
	s = access_explain_refusal(&a);
	tap_ok(access_decide(&a) == ACCESS_NONE && strstr(s, "to user 2"),
	    "a process of another user is refused without them");
	free(s);
	a.kptr_restrict = 1;
	tap_ok(access_explain_hidden(&a) != NULL,
	    "names of the kernel are hidden from users");
	a.own_uid = 0;
	tap_ok(access_explain_hidden(&a) == NULL,
	    "names of the kernel are not hidden from root");
	a.kptr_restrict = 2;
	tap_ok(access_explain_hidden(&a) != NULL,
	    "with kptr_restrict 2 they are hidden from root, too");
}

static void
pointers(void)
{
	unsigned char code[8000] = {0};

	tap_ok(!elffile_has_frames(code, 0) &&
		!elffile_has_frames(code, sizeof code),
	    "without a prologue there are no frame pointers");
	memcpy(code + 100, "\x55\x48\x89\xe5", 4);
	tap_ok(!elffile_has_frames(code, sizeof code),
	    "one prologue may be chance");
	for (size_t i = 0; i < sizeof code; i += 400)
		memcpy(code + i, "\x55\x48\x89\xe5", 4);
	tap_ok(elffile_has_frames(code, sizeof code),
	    "many prologues show frame pointers");
	tap_ok(!elffile_has_frames(code + sizeof code - 3, 3),
	    "a prologue that is cut off does not count");
}

/* The file of this test is used as a program with functions. */
static void
functions(void)
{
	const char *const patterns[] = {"json_fre[e]", "main", "no_such_*"};
	struct elffile_functions s = {0};
	bool is =
	    elffile_read_functions(&s, "/proc/self/exe", patterns, 3) == 0;

	tap_ok(is && s.n >= 2 && s.seen > s.n && s.v[0].offset < s.v[1].offset,
	    "functions of a program: %zu of %zu", s.n, s.seen);
	elffile_free_functions(&s);
	tap_ok(elffile_read_functions(&s, "/dev/null", patterns, 3) < 0 &&
		s.n == 0,
	    "a file that is not a program");
}

static size_t
count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* With an empty PATH there is no perf. */
static void
no_perf(void)
{
	struct sampler s = {.dir = "."};
	struct json *j = json_object();
	char *path = strdup(getenv("PATH"));
	size_t before = count_descriptors();

	setenv("PATH", "", 1);
	tap_ok(sampler_read(&s, "title", NULL, j, j) < 0,
	    "without perf stacks cannot be read");
	s.call_graph = "fp";
	tap_ok(!sampler_start(&s, getpid()),
	    "without perf stacks cannot be recorded");
	setenv("PATH", path, 1);
	tap_ok(count_descriptors() == before,
	    "a perf that cannot be started leaves no descriptor open");
	free(path);
	json_free(j);
}

int
main(void)
{
	no_perf();
	functions();
	stacks();
	waits();
	counting();
	allowed();
	pointers();
	return tap_done();
}
