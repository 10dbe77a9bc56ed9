/* Which cases are profiled, in which folder, and how long their load is. */
#include "tap.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "vkb-load/case/profiles.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct json *
parse(const char *s)
{
	return json_parse(s, strlen(s), NULL, NULL);
}

static void
wanted(void)
{
	struct json *set = parse("{\"enabled\":true}");
	struct bench_case plain = {.id = "a"}, asks = {.profiling = set};
	struct profiles_opts none = {.extra = true, .time_s = 1},
			     dir = {.dir = "d"},
			     extra = {.dir = "d", .extra = true},
			     timed = {.dir = "d", .time_s = .5},
			     nodes = {.dir = "d", .nodes = true};

	tap_ok(
	    !profiles_wanted(&none, &asks), "no profile without --profile-dir");
	tap_ok(
	    !profiles_wanted(&dir, &plain) && !profiles_wanted(&nodes, &plain),
	    "a case without profiling is not profiled");
	tap_ok(
	    profiles_wanted(&dir, &asks), "a case with profiling is profiled");
	tap_ok(profiles_wanted(&extra, &plain),
	    "with --profile every case is profiled");
	tap_ok(profiles_wanted(&timed, &plain),
	    "with --profile-time every case is profiled");
	tap_ok(!profiles_replace_runs(&dir, &plain) &&
		!profiles_replace_runs(&extra, &plain),
	    "--profile does not replace the measured runs");
	tap_ok(profiles_replace_runs(&timed, &plain) &&
		profiles_replace_runs(&dir, &asks),
	    "profiling in the configuration and --profile-time replace the "
	    "measured runs");
	json_free(set);
}

/* Checks the load of a case that is extended: "requests seconds". */
static void
check_load(double time_s, const struct bench_case *c, long long requests,
    double duration_s, const char *want)
{
	struct profiles_opts o = {.dir = "d", .time_s = time_s};
	struct engine_work w[3];
	char got[99];
	bool alike;

	for (size_t i = 0; i < 3; i++)
		w[i] = (struct engine_work){
		    .requests = requests, .duration_s = duration_s};
	profiles_stretch(&o, c, w, 2);
	snprintf(got, sizeof got, "%lld %g", w[0].requests, w[0].duration_s);
	tap_str(got, want, "a load is extended");
	alike = w[1].requests == w[0].requests &&
	    fabs(w[1].duration_s - w[0].duration_s) < 1e-12;
	tap_ok(alike && w[2].requests == requests &&
		fabs(w[2].duration_s - duration_s) < 1e-12,
	    "each stream of the case is extended, and no other");
}

static void
stretched(void)
{
	struct bench_case c = {
	    .profile_reads = {.delay_s = .5, .duration_s = 7},
	    .profile_writes = {.delay_s = .25, .duration_s = 1}};

	c.load.command = "SET";
	check_load(0, &c, 10, 0, "0 5.25");
	check_load(0, &c, 1, 0, "0 5.25");
	check_load(.5, &c, 10, 0, "0 4.75");
	check_load(.5, &c, 0, 60, "0 4.75");
	check_load(0, &c, 0, 3, "0 5.25");
	check_load(0, &c, 0, 60, "0 60");
	c.load.command = "GET";
	check_load(0, &c, 10, 0, "0 11.5");
	check_load(0, &c, 0, 3, "0 6.5");
	c.load.phase = "mixed_write";
	check_load(0, &c, 10, 0, "0 5.25");
	c.load.phase = "read";
	c.load.command = "SET";
	check_load(0, &c, 10, 0, "0 11.5");
	c.load.phase = "write";
	check_load(0, &c, 10, 0, "10 0");
	check_load(.5, &c, 0, 1, "0 1");
	c.load.phase = c.load.command = NULL;
	check_load(0, &c, 10, 0, "0 5.25");
}

static char folder[] = "/tmp/vkb-profiles.XXXXXX";

/* Makes a folder with this profile.json, or without one. */
static void
put(const char *name, const char *text)
{
	char *dir = mem_printf("%s/%s", folder, name);
	char *file = mem_printf("%s/profile.json", dir);
	FILE *f;

	mkdir(dir, 0777);
	f = text ? fopen(file, "w") : NULL;
	if (f) {
		fprintf(f, "%s\n", text);
		fclose(f);
	}
	free(file);
	free(dir);
}

static void
drop(const char *name)
{
	char *dir = mem_printf("%s/%s", folder, name);
	char *file = mem_printf("%s/profile.json", dir);

	unlink(file);
	rmdir(dir);
	free(file);
	free(dir);
}

static void
existing(void)
{
	static const char whole[] = "{\"case\":\"a\"}", torn[] = "{\"v\":1}";
	struct profiles_opts one = {.dir = folder},
			     all = {.dir = folder, .nodes = true};
	struct bench_case a = {.id = "a"}, b = {.id = "b"};
	struct json *build = parse("{\"subject\":{\"label\":\"x\"}}");

	if (!mkdtemp(folder)) {
		tap_ok(false, "a folder can be made");
		return;
	}
	tap_ok(!profiles_exist(&one, &a, build, 1),
	    "without a folder there is no profile");
	put("a@x", NULL);
	tap_ok(!profiles_exist(&one, &a, build, 1),
	    "in an empty folder there is no profile");
	put("a@x", torn);
	tap_ok(!profiles_exist(&one, &a, build, 1),
	    "the folder of an interrupted session has no profile");
	put("a@x", whole);
	tap_ok(profiles_exist(&one, &a, build, 1),
	    "a folder with profile.json has a profile");
	tap_ok(!profiles_exist(&one, &b, build, 1),
	    "the profile is not of another case");
	tap_ok(!profiles_exist(&one, &a, NULL, 1),
	    "the profile is not of another build");
	tap_ok(profiles_exist(&one, &a, build, 3),
	    "the profile of one node is enough unless all are requested");
	tap_ok(!profiles_exist(&all, &a, build, 2),
	    "the profile of one node is not enough if all are requested");
	put("a@x-node2", whole);
	tap_ok(profiles_exist(&all, &a, build, 2),
	    "the profiles of two nodes are there");
	tap_ok(!profiles_exist(&all, &a, build, 3),
	    "the profile of a third node is missing");
	drop("a@x");
	tap_ok(!profiles_exist(&all, &a, build, 2),
	    "the profile of the first node is missing");
	drop("a@x-node2");
	rmdir(folder);
	json_free(build);
}

/* Checks whether a server has processes to profile: its first node, or all
 * nodes. */
static void
check_server(const char *text, bool nodes, bool want, const char *what)
{
	struct profiles_opts o = {.dir = "d", .nodes = nodes};
	struct bench_case c = {.id = "a"};
	struct json *server = parse(text), *recs = json_array();
	struct profiles *p = profiles_new(&o, &c, NULL, server, "s");

	tap_ok(want == (p != NULL), "%s", what);
	if (p)
		tap_ok(profiles_end(p, NULL, recs) < 0 &&
			strstr(err_last(),
			    "the load was over before it could be profiled"),
		    "a profile that was never begun is an error");
	profiles_free(p);
	json_free(server);
	json_free(recs);
}

static void
servers(void)
{
	check_server("{\"nodes\":[{\"pid\":1}]}", false, true, "a process");
	check_server("{\"nodes\":[{\"port\":1}]}", false, false,
	    "a node without a process");
	check_server("{\"nodes\":[{\"pid\":7},{\"port\":1}]}", false, true,
	    "by default the first node needs a process");
	check_server("{\"nodes\":[{\"pid\":7},{\"port\":1}]}", true, false,
	    "with all nodes each node needs a process");
	check_server("{\"nodes\":[{\"port\":1},{\"pid\":7}]}", true, false,
	    "with all nodes the first node needs a process, too");
	check_server("{\"nodes\":[{\"pid\":7},{\"pid\":8}]}", true, true,
	    "all nodes are processes");
}

int
main(void)
{
	wanted();
	stretched();
	existing();
	servers();
	return tap_done();
}
