/* Scenes: which cases follow each other on one server, and in which order. */
#include "tap.h"

#include "json.h"
#include "vkb-load/plan/plan.h"
#include "vkb-load/plan/scene.h"

#include <stdlib.h>

static struct json *
parse(const char *text)
{
	return json_parse(text, strlen(text), NULL, NULL);
}

static bool
holds(bool (*fn)(const struct json *), const char *config)
{
	struct json *cas = json_object();
	bool yes;

	json_set(cas, "config", parse(config));
	yes = fn(cas);
	json_free(cas);
	return yes;
}

static void
traces(void)
{
	tap_ok(holds(scene_resets_server, "{\"flush_before\":true}"),
	    "a case that flushes resets the server");
	tap_ok(holds(scene_resets_server, "{\"restart_before\":true}"),
	    "a case that restarts the server resets it");
	tap_ok(!holds(scene_resets_server, "{}") &&
		!holds(scene_resets_server, "{\"flush_before\":false}"),
	    "other cases keep the data");
	tap_ok(!holds(scene_changes_server, "{\"test_phase\":\"read\"}"),
	    "a read does not change the server");
	tap_ok(holds(scene_changes_server, "{\"test_phase\":\"write\"}") &&
		holds(scene_changes_server, "{}"),
	    "a case that is not a read changes the server");
	tap_ok(holds(scene_changes_server,
		   "{\"test_phase\":\"read\",\"flush_before\":true}") &&
		holds(scene_changes_server,
		    "{\"test_phase\":\"read\",\"setup_commands\":[\"a\"]}") &&
		holds(scene_changes_server,
		    "{\"test_phase\":\"read\","
		    "\"teardown_commands\":[\"a\"]}") &&
		holds(scene_changes_server,
		    "{\"test_phase\":\"read\",\"populate_with\":\"a\"}"),
	    "a read that flushes, sets up, tears down or populates changes the "
	    "server");
}

/* Six cases: scene b out of order, a in two places, two without a scene. */
static void
grouped(void)
{
	static const char *const texts[] = {"{\"scene\":\"b\",\"step\":2}",
	    "{}", "{\"scene\":\"a\",\"step\":1}",
	    "{\"scene\":\"b\",\"step\":1}", "{}",
	    "{\"scene\":\"a\",\"step\":1}"};
	static const size_t of[] = {0, 1, 2, 0, 3, 2};
	static const size_t all[] = {3, 0, 1, 2, 5, 4};
	static const size_t sizes[] = {2, 1, 2, 1};
	struct json *cases[6];
	struct scenes s;
	bool good;

	for (size_t i = 0; i < 6; i++)
		cases[i] = parse(texts[i]);
	scenes_make(&s, cases, 6);
	tap_ok(s.n == 4, "there are two scenes, and two cases without one");
	good = s.n == 4;
	for (size_t i = 0, at = 0; good && i < 4; i++) {
		good = s.v[i].n == sizes[i] && s.v[i].v == &s.all[at];
		at += sizes[i];
	}
	tap_ok(good, "scenes are in the order of their first cases");
	good = true;
	for (size_t i = 0; i < 6; i++)
		good &= s.of[i] == of[i] && s.all[i] == all[i];
	tap_ok(good,
	    "the cases of a scene are sorted by step, then by their order");
	scenes_free(&s);
	tap_ok(!s.v && !s.n, "scenes that were freed are empty");
	scenes_make(&s, cases, 0);
	tap_ok(s.n == 0, "without cases there are no scenes");
	scenes_free(&s);
	for (size_t i = 0; i < 6; i++)
		json_free(cases[i]);
}

static bool
named(const struct plan_axes *x, const char *group, size_t i, const char *want)
{
	char *name = scene_name(x, group, i);
	bool good = strncmp(name, want, strlen(want)) == 0 &&
	    strlen(name) == strlen(want) + 12;

	free(name);
	return good;
}

static void
names(void)
{
	struct json *cfg = parse("{\"a\":1}"), *other = parse("{\"a\":2}");
	struct plan_axes axes[] = {{.cfg = cfg}, {.cfg = other},
	    {.cfg = cfg, .cluster = true}, {.cfg = cfg, .tls = true},
	    {.cfg = cfg, .io_threads = 1}, {.cfg = cfg, .set = cfg},
	    {.cfg = cfg, .profiling = cfg}};
	size_t n = sizeof axes / sizeof *axes;
	char *v[8];
	bool good = true;

	tap_ok(named(&axes[0], "g", 0, "g-"),
	    "the name of a scene begins with its group");
	for (size_t i = 0; i < n; i++)
		v[i] = scene_name(&axes[i], "g", 0);
	v[n] = scene_name(&axes[0], "g", 1);
	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k < i; k++)
			good &= strcmp(v[i], v[k]) != 0;
	tap_ok(good, "every difference between groups gives another name");
	for (size_t i = 0; i <= n; i++)
		free(v[i]);
	json_free(cfg);
	json_free(other);
}

int
main(void)
{
	traces();
	grouped();
	names();
	return tap_done();
}
