/* Which cases are counted, and which metrics the counts of callgrind become. */
#include "vkb-load/case/counting.h"
#include "tap.h"

#include "err.h"
#include "json.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/case/target.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

#include <stdlib.h>
#include <unistd.h>

static char dir[] = "/tmp/vkb-counting.XXXXXX";

static struct json *
parse(const char *s)
{
	return json_parse(s, strlen(s), NULL, NULL);
}

/* Returns why a case is not counted, from its record. */
static void
refuse(const char *record, const char *want)
{
	struct json *j = parse(record);
	struct bench_case c;
	char *why;

	bench_case_fill(&c, j);
	why = counting_refuse(&c);
	tap_str(why, want, want ? want : record);
	free(why);
	bench_case_free(&c);
	json_free(j);
}

static void
refusals(void)
{
	static const char follows[] =
	    "it follows other cases on one server; with 'flush_before', and "
	    "'populate_with' for its data, it can be";

	refuse("{\"config\":{\"command\":\"GET\"},\"step\":1,"
	       "\"server\":{\"io_threads\":2,\"tls\":false}}",
	    NULL);
	refuse("{\"config\":{\"command\":\"GET\",\"cluster_mode\":true}}",
	    "it has a cluster, whose nodes exchange messages at times that "
	    "differ");
	refuse("{\"config\":{\"command\":\"GET\"},\"server\":{\"tls\":true}}",
	    "it has TLS, whose library executes other instructions on each "
	    "CPU");
	refuse("{\"config\":{\"command\":\"GET\",\"engine\":"
	       "\"valkey-benchmark\"}}",
	    "its requests are made by another program");
	refuse("{\"config\":{\"command\":\"GET\"},\"step\":2}", follows);
	refuse("{\"config\":{\"command\":\"GET\"},\"before\":[{\"config\":{"
	       "\"command\":\"SET\"}}]}",
	    follows);
}

static void
loads(void)
{
	struct engine_work each[3] = {
	    {.duration_s = 1}, {.requests = 10000}, {.requests = 500}};
	struct role parts[3] = {{.first = 0}, {.first = 1}, {.first = 2}};
	struct roles r = {.v = parts, .nown = 1, .works = each};
	struct engine_work w = {.clients = 50,
	    .threads = 4,
	    .requests = 7,
	    .duration_s = 1,
	    .warmup_s = 2,
	    .rate = 3,
	    .max_lost = 4,
	    .seed = 5,
	    .pipeline = 6};

	tap_near(counting_cost(&r), 1, 1e-12,
	    "a count is expected to take a second");
	r.nown = 2;
	tap_near(counting_cost(&r), 1.5, 1e-12,
	    "each further part takes half a second more");
	r.nown = 3;
	tap_near(
	    counting_cost(&r), 1.62, 1e-12, "and one of few requests less");
	each[0].keyspacelen = 1000000;
	tap_near(counting_cost(&r), 7.62, 1e-12,
	    "a million keys take six seconds more");
	counting_adapt(&w, 9);
	tap_ok(w.clients == 1 && w.threads == 1 && w.in_turn &&
		w.requests == 7 && w.duration_s == 0 && w.warmup_s == 0 &&
		w.rate == 0 && w.max_lost == 0 && w.seed == 9 &&
		w.pipeline == 6,
	    "one connection makes the requests; other settings are not "
	    "changed");
	w.requests = 0;
	counting_adapt(&w, 9);
	tap_ok(w.requests == 10000, "without a number it makes 10000");
	w.requests = 10001;
	counting_adapt(&w, 9);
	tap_ok(w.requests == 10000, "it does not make more");
}

/*
 * main calls get, which calls malloc, which calls a function of the allocator;
 * main calls tc_memalign, and the library waits in poll.
 */
#define BODY                                                           \
	"ob=/bin/x\nfn=main\n5 20000 5000 100 200 300 10 20 40 9\n"    \
	"cfn=get\ncalls=30000 9\n5 111000 0\n"                         \
	"cob=/lib/libc.so\ncfn=tc_memalign\ncalls=3000 9\n6 700 0\n"   \
	"ob=/bin/x\nfn=get\n9 70000\n"                                 \
	"cob=/lib/libc.so\ncfn=malloc\ncalls=5000 1\n9 40100\n"        \
	"cob=/lib/libc.so\ncfn=free\ncalls=4000 1\n9 900\n"            \
	"ob=/lib/libc.so\nfn=malloc\n1 40000\n"                        \
	"cfn=je_calloc\ncalls=7000 1\n1 100\n"                         \
	"fn=je_calloc\n1 100\nfn=free\n1 900\nfn=tc_memalign\n1 700\n" \
	"ob=/y/vkb-still.so\nfn=poll\n1 300 1000\n"

static void
write_dump(int number, const char *events, const char *body)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "%s/dump.%d", dir, number);
	f = fopen(path, "w");
	fprintf(f,
	    "# callgrind format\nversion: 1\npositions: line\nevents: %s\n%s",
	    events, body);
	fclose(f);
}

/* Reports a part; the caller frees the run and the profiles. */
static int
report(size_t part, struct json **run, struct json **profiles)
{
	struct target none = {.nodes = NULL};
	char text[128];
	struct json *server;
	struct engine_job job = {.target = &none};
	struct engine_result result = {.requests = 10000, .elapsed_s = 1.5};
	int rc;

	snprintf(text, sizeof text,
	    "{\"binary\":{\"path\":\"/bin/x\"},\"count\":{\"dumps\":"
	    "\"%s/dump\"}}",
	    dir);
	job.counted = server = parse(text);
	*run = parse("{\"subject\":{\"label\":\"a\"},\"config\":{\"command\":"
		     "\"GET\"},\"run\":{\"index\":3,\"started\":\"now\"}}");
	*profiles = json_array();
	rc = counting_report(&job, part, "GET-x", &result, *run, *profiles);
	json_free(server);
	return rc;
}

static void
is_text(const struct json *j, const char *want, const char *what)
{
	char *text = j ? json_print(j) : NULL;

	tap_str(text, want, what);
	free(text);
}

static void
reports(void)
{
	struct json *run, *profiles, *p;

	write_dump(3, "Ir sysCount I1mr D1mr D1mw ILmr DLmr DLmw Bcm", BODY);
	tap_ok(report(0, &run, &profiles) == 0, "a dump is read");
	is_text(json_get(run, "metrics"),
	    "{\"instructions_per_req\":13.2,\"allocations_per_req\":0.8,"
	    "\"unfreed_allocations_per_req\":0.4,"
	    "\"syscalls_per_req\":0.5,\"l1_misses_per_req\":0.06,"
	    "\"ll_misses_per_req\":0.007}",
	    "counts are divided by 10000 requests; an allocator that calls "
	    "itself counts once, system calls of a library that waits are left "
	    "out, and counters that were not simulated are absent");
	p = json_at(profiles, 0);
	tap_ok(json_len(profiles) == 1 &&
		json_get_num(p, "requests", 0) == 10000 &&
		json_get_num(p, "duration_s", 0) == 1.5,
	    "the profile has the requests and the duration of the run");
	tap_str(json_get_str(p, "case"), "GET-x",
	    "the profile has the case of the run");
	tap_str(json_get_str(p, "mode"), "count",
	    "the mode of the profile is 'count'");
	tap_str(json_get_str(p, "started"), "now",
	    "the profile has the start of the run");
	tap_str(json_get_str(p, "status"), "ok", "the profile is ok");
	is_text(json_get(p, "target"), "{\"exe\":\"/bin/x\"}",
	    "the profile names its program");
	is_text(json_get(p, "subject"), "{\"label\":\"a\"}",
	    "the profile has the subject of the run");
	is_text(json_get(p, "config"), "{\"command\":\"GET\"}",
	    "the profile has the configuration of the run");
	is_text(json_get(p, "functions"),
	    "[{\"name\":\"get\",\"object\":\"/bin/x\",\"self\":7,"
	    "\"inclusive\":11.1,\"calls\":3},"
	    "{\"name\":\"malloc\",\"object\":\"/lib/libc.so\",\"self\":4,"
	    "\"inclusive\":4.01,\"calls\":0.5},"
	    "{\"name\":\"main\",\"object\":\"/bin/x\",\"self\":2,"
	    "\"inclusive\":13.17,\"calls\":0,\"syscalls\":0.5},"
	    "{\"name\":\"free\",\"object\":\"/lib/libc.so\",\"self\":0.09,"
	    "\"inclusive\":0.09,\"calls\":0.4},"
	    "{\"name\":\"tc_memalign\",\"object\":\"/lib/libc.so\",\"self\":"
	    "0.07,\"inclusive\":0.07,\"calls\":0.3},"
	    "{\"name\":\"poll\",\"object\":\"/y/vkb-still.so\",\"self\":0.03,"
	    "\"inclusive\":0.03,\"calls\":0},"
	    "{\"name\":\"je_calloc\",\"object\":\"/lib/libc.so\",\"self\":0.01,"
	    "\"inclusive\":0.01,\"calls\":0.7}]",
	    "functions are sorted by their own instructions");
	is_text(json_get(p, "edges"),
	    "[{\"from\":2,\"to\":0,\"calls\":3,\"inclusive\":11.1},"
	    "{\"from\":2,\"to\":4,\"calls\":0.3,\"inclusive\":0.07},"
	    "{\"from\":0,\"to\":1,\"calls\":0.5,\"inclusive\":4.01},"
	    "{\"from\":0,\"to\":3,\"calls\":0.4,\"inclusive\":0.09},"
	    "{\"from\":1,\"to\":6,\"calls\":0.7,\"inclusive\":0.01}]",
	    "edges refer to functions by their index");
	json_free(run);
	json_free(profiles);
}

static void
stripped(void)
{
	struct json *run, *profiles;

	write_dump(6, "Ir Bcm Bim",
	    "ob=/bin/x\nfn=0x10\n1 5000 7 3\nfn=main\n1 5000\n");
	tap_ok(report(1, &run, &profiles) == 0, "the second part is read");
	is_text(json_get(run, "metrics"),
	    "{\"instructions_per_req\":1,\"branch_misses_per_req\":0.001}",
	    "without the names of half of the instructions, allocations are "
	    "unknown");
	is_text(json_get(json_at(profiles, 0), "functions"),
	    "[{\"name\":\"0x10\",\"object\":\"/bin/x\",\"self\":0.5,"
	    "\"inclusive\":0.5,\"calls\":0},{\"name\":\"main\",\"object\":"
	    "\"/bin/x\",\"self\":0.5,\"inclusive\":0.5,\"calls\":0}]",
	    "functions with equal counts are sorted by name");
	json_free(run);
	json_free(profiles);
	write_dump(6, "Ir",
	    "ob=/bin/x\nfn=0x10\n1 5000\nfn=main\n1 5000\nfn=f\n1 10\n");
	report(1, &run, &profiles);
	is_text(json_get(run, "metrics"),
	    "{\"instructions_per_req\":1.001,\"allocations_per_req\":0,"
	    "\"unfreed_allocations_per_req\":0}",
	    "with the names of most of them, no calls are 0 allocations");
	json_free(run);
	json_free(profiles);
	write_dump(6, "Dr Ir", "ob=/bin/x\nfn=main\n1 5000 7\n");
	tap_ok(report(1, &run, &profiles) == -1 && !json_get(run, "metrics") &&
		json_len(profiles) == 0 &&
		strstr(err_last(),
		    "dump.6: instructions ('Ir') are not "
		    "what it has first"),
	    "instructions must be the first event");
	json_free(run);
	json_free(profiles);
	tap_ok(report(2, &run, &profiles) == -1, "a missing dump is an error");
	json_free(run);
	json_free(profiles);
}

int
main(void)
{
	char path[64];

	if (!mkdtemp(dir) || !freopen("/dev/null", "w", stderr))
		return 2;
	refusals();
	loads();
	reports();
	stripped();
	for (int i = 3; i <= 6; i += 3) {
		snprintf(path, sizeof path, "%s/dump.%d", dir, i);
		unlink(path);
	}
	rmdir(dir);
	return tap_done();
}
