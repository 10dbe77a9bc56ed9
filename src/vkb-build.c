/*
 * vkb-build: builds commits and writes build records. Each commit is built
 * once, in a tree of the cache, and kept. Exit status 2: a build failed.
 */
#include "clock.h"
#include "err.h"
#include "halt.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "opt.h"
#include "record.h"
#include "statusline.h"
#include "str.h"
#include "tarball.h"
#include "vkb-build/build.h"
#include "vkb-build/cache.h"
#include "vkb-build/flags.h"
#include "vkb-build/buildstep.h"
#include "vkb-build/modulebuild.h"
#include "vkb-build/target.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 50   /* interval of checks on other builds */
#define DRAW_MS 1000 /* interval of drawings of the progress */

struct opts {
	const char *repo, *dir, *cache, *prune;
	struct modulebuild_wanted module;
	struct opt_list worktrees;
	struct flags_wanted flags;
	long long jobs;
	bool quiet;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {'C', "directory", OPT_STR, AT(dir), "DIR",
	.help = "take commits from this local repository",
	.group = "Which commits"},
    {0, "repo", OPT_STR, AT(repo), "URL|PATH",
	.help =
	    "take commits from a mirror of this repository; default: Valkey's"},
    {0, "worktree", OPT_LIST, AT(worktrees), "[LABEL=]DIR",
	.help = "build a work tree as it is; repeatable"},
    {'j', "jobs", OPT_INT, AT(jobs), "N", .min = 1, .max = BUILD_JOBS_MAX,
	.help = "run up to N compilers at once; default: one per CPU",
	.group = "How to build"},
    {0, "tls", OPT_FLAG, AT(flags.tls), .help = "build with TLS"},
    {0, "debug-symbols", OPT_FLAG, AT(flags.debug_symbols),
	.help = "build with debug symbols, for perf and gdb"},
    {0, "frame-pointers", OPT_FLAG, AT(flags.frame_pointers),
	.help = "build with frame pointers, for call stacks"},
    {0, "cflags", OPT_STR, AT(flags.cflags), "FLAGS",
	.help = "pass more flags to the compiler"},
    {0, "allocator", OPT_CHOICE, AT(flags.allocator), "NAME",
	.choices = "libc|jemalloc|tcmalloc|tcmalloc_minimal",
	.help = "use this memory allocator"},
    {0, "make-arg", OPT_LIST, AT(flags.make_args), "NAME=VALUE",
	.help = "pass a variable to make; repeatable"},
    {0, "module-dir", OPT_STR, AT(module.dir), "DIR",
	.help = "also build the module in this work tree", .group = "A module"},
    {0, "module-build", OPT_STR, AT(module.command), "COMMAND",
	.help = "build the module with this shell command"},
    {0, "module-file", OPT_STR, AT(module.file), "FILE",
	.help = "file of the built module; default: the only *.so"},
    {0, "server", OPT_STR, AT(module.server), "REF|PATH",
	.help = "take REFs as commits of the module, for this server"},
    {0, "server-repo", OPT_STR, AT(module.server_repo), "URL|PATH",
	.help = "take that server from this repository; default: Valkey's"},
    {0, "cache", OPT_STR, AT(cache), "DIR",
	.help = "keep builds in DIR; default: ~/.cache/vkb",
	.group = "Builds and progress"},
    {0, "prune", OPT_STR, AT(prune), "AGE|SIZE",
	.help = "first remove what is unused for 30d, or down to 20g in all"},
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print no progress"}, {0}};

static const struct opt_prog prog = {.name = "vkb-build",
    .operands = "[[LABEL=]REF|ARCHIVE ...]",
    .purpose = "Build commits of Valkey and write build records to stdout.",
    .table = option_table};

enum state { WAITING, RUNNING, OK, FAILED };

struct job {
	struct build_target target;
	struct buildstep server, module;
	const struct buildstep *now; /* 'server' or 'module' */
	struct build *build;
	struct json *rec;
	bool made;     /* something was not in the cache */
	int64_t began; /* ns of clock_ns; 0: nothing was built yet */
	enum state state;
};

struct queue {
	struct job *v;
	size_t n, written, running;
	bool trouble, quiet;
	struct build_context shop;
	const struct flags *flags;
	const struct modulebuild *module; /* or NULL */
	struct statusline line;
};

static bool
is_stopped(const struct queue *q)
{
	return halt_reason(q->shop.cache->halt, NULL) != 0;
}

/* --- progress */

/* Writes "1/2 8.0.1". */
static void
write_job(struct str *s, const struct queue *q, const struct job *j)
{
	const struct build_target *t = &j->target;

	str_printf(s, "%td/%zu ", j - q->v + 1, q->n);
	str_visible(s, t->label ? t->label : t->ref);
}

/* Says that a build begins, for a log: a terminal shows what is running. */
static void
announce_job(const struct queue *q, struct job *j)
{
	struct str s = {0};

	if (j->began)
		return;
	j->began = clock_ns();
	if (q->quiet || q->line.live)
		return;
	write_job(&s, q, j);
	err_say("building %s", s.s);
	str_free(&s);
}

/* Draws "building 1/2 8.0.1 ... 42 s" for each build that runs. */
static void
draw_progress(struct queue *q)
{
	struct str s = {0};

	if (!q->running || !statusline_is_due(&q->line))
		return;
	for (size_t i = 0; i < q->n; i++) {
		const struct job *j = &q->v[i];

		if (j->state != RUNNING)
			continue;
		str_add(&s, s.len ? ", " : "building ");
		write_job(&s, q, j);
		str_printf(&s, " ... %lld s",
		    (long long)((clock_ns() - j->began) / 1000000000));
	}
	statusline_draw(s.s);
	str_free(&s);
}

/* --- jobs */

static void
fail_job(struct job *j, const char *error, const char *log)
{
	json_set_str(j->rec, "error", error);
	json_set_str(j->rec, "log", log);
	j->state = FAILED;
}

/* Fails the job and those that wait for the same build. */
static void
fail_jobs(struct queue *q, struct job *j, const char *error, const char *log)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].state == WAITING &&
		    strcmp(q->v[i].now->key, j->now->key) == 0)
			fail_job(&q->v[i], error, log);
	fail_job(j, error, log);
}

static bool
is_same_running(const struct queue *q, const struct job *j)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].state == RUNNING &&
		    strcmp(q->v[i].now->key, j->now->key) == 0)
			return true;
	return false;
}

/* Continues with the module, or ends the job: its output is in the record. */
static void
finish_stage(struct queue *q, struct job *j)
{
	if (!q->module || j->now == &j->module) {
		json_set_bool(j->rec, "cached", !j->made);
		j->state = OK;
		return;
	}
	modulebuild_make_step(
	    &j->module, q->module, &j->target, j->rec, j->server.key);
	j->state = WAITING;
	j->now = &j->module;
}

/* Starts a build unless it is cached; *busy: another program builds it. */
static int
start_job(struct queue *q, struct job *j, bool *busy)
{
	bool taken = false;
	char *error;

	while (j->state == WAITING && !is_same_running(q, j) &&
	    build_find(&q->shop, j->now, j->rec))
		finish_stage(q, j);
	if (j->state != WAITING || is_same_running(q, j))
		return 0;
	if (!build_take_job(&q->shop))
		return 0;
	j->build = build_start(&q->shop, j->now, &taken, &error);
	if (j->build) {
		j->state = RUNNING;
		q->running++;
		announce_job(q, j);
		return 0;
	}
	*busy |= taken;
	if (!taken)
		fail_job(j, error, NULL);
	free(error);
	return build_release_job(&q->shop);
}

static int
step_job(struct queue *q, struct job *j)
{
	int rc = build_step(j->build);

	if (rc == 0)
		return 0;
	j->made = true;
	if (rc > 0 && build_find(&q->shop, j->now, j->rec))
		finish_stage(q, j);
	else
		fail_jobs(q, j,
		    rc > 0 ? "the finished build has vanished from the cache"
			   : build_error(j->build),
		    build_log(j->build));
	build_free(j->build);
	j->build = NULL;
	q->running--;
	return build_release_job(&q->shop);
}

/* Writes records in the order of the command line, each as soon as possible. */
static int
write_finished(struct queue *q)
{
	for (; q->written < q->n && q->v[q->written].state >= OK;
	     q->written++) {
		struct job *j = &q->v[q->written];

		json_set_str(
		    j->rec, "status", j->state == OK ? "ok" : "failed");
		if (jsonl_write(STDOUT_FILENO, j->rec) < 0)
			return -1;
		q->trouble |= j->state == FAILED;
	}
	return 0;
}

static int
wait_for_builds(struct queue *q, bool busy)
{
	struct pollfd *p = mem_array(q->n + 1, sizeof *p);
	int rc = 0;

	p[0] = (struct pollfd){
	    .fd = halt_fd(q->shop.cache->halt), .events = POLLIN};
	for (size_t i = 0; i < q->n; i++)
		p[i + 1] = (struct pollfd){.fd = q->v[i].state == RUNNING
			? build_fd(q->v[i].build)
			: -1,
		    .events = POLLIN};
	/* A running make may also have returned a token. */
	poll(p, q->n + 1,
	    busy || q->running < q->n - q->written ? BUSY_MS
		: q->line.live                     ? DRAW_MS
						   : -1);
	if (is_stopped(q))
		rc = -1;
	for (size_t i = 0; rc == 0 && i < q->n; i++)
		if (p[i + 1].revents)
			rc = step_job(q, &q->v[i]);
	free(p);
	return rc;
}

/* Returns 0 after trying all, or -1 if stopped or after reporting an error. */
static int
run_queue(struct queue *q)
{
	for (;;) {
		bool busy = false;

		for (size_t i = 0; i < q->n; i++)
			if (start_job(q, &q->v[i], &busy) < 0)
				return -1;
		if (write_finished(q) < 0)
			return -1;
		if (q->written == q->n)
			return 0;
		draw_progress(q);
		if (wait_for_builds(q, busy) < 0)
			return -1;
	}
}

/* --- what to build */

static void
prepare_job(struct queue *q, struct job *j)
{
	const struct build_target *server =
	    q->module ? modulebuild_server(q->module, &j->target) : &j->target;

	j->rec = record_new("build");
	json_set(j->rec, "subject",
	    target_describe_subject(&j->target, server, q->flags));
	json_set_str(j->rec, "status", "failed");
	j->now = &j->server;
	if (q->module)
		modulebuild_describe(
		    q->module, &j->target, json_get(j->rec, "subject"));
	if (server)
		buildstep_make_server(&j->server, server, q->flags);
	else {
		modulebuild_add_program(q->module, j->rec, j->server.key);
		finish_stage(q, j);
	}
}

/* With a fixed server, all operands are commits of the module. */
static bool
is_archive(const struct opts *o, const char *text)
{
	return !o->module.server && tarball_named(text);
}

/* Finds all that is named before anything is built. Returns 0, or -1 if stopped
 * or after reporting each that cannot be built. */
static int
resolve_targets(struct queue *q, const struct opts *o,
    const struct opt_args *args, struct origin **origin)
{
	size_t refs = 0;
	int rc = 0;

	q->v = mem_array(args->n + o->worktrees.n + 1, sizeof *q->v);
	for (size_t i = 0; i < args->n; i++)
		refs += !is_archive(o, args->v[i]);
	if (refs &&
	    !(*origin = target_open_origin(
		  q->shop.cache, o->repo ? o->repo : TARGET_VALKEY, o->dir)))
		return -1;
	for (size_t i = 0; i < args->n && !is_stopped(q); i++) {
		struct build_target *t = &q->v[q->n++].target;

		if (is_archive(o, args->v[i]))
			rc |= target_find_archive(t, q->shop.cache, args->v[i]);
		else
			rc |= target_find_ref(t, *origin, args->v[i]);
	}
	for (size_t i = 0; i < o->worktrees.n && !is_stopped(q); i++)
		rc |= target_find_worktree(
		    &q->v[q->n++].target, q->shop.cache, o->worktrees.v[i]);
	if (rc < 0 || is_stopped(q))
		return -1;
	for (size_t i = 0; i < q->n; i++)
		prepare_job(q, &q->v[i]);
	return 0;
}

static void
close_queue(struct queue *q)
{
	for (size_t i = 0; i < q->n; i++) {
		build_free(q->v[i].build);
		json_free(q->v[i].rec);
		buildstep_free(&q->v[i].server);
		buildstep_free(&q->v[i].module);
		target_free(&q->v[i].target);
	}
	free(q->v);
}

static int
build_targets(const struct opts *o, const struct opt_args *args)
{
	const char *certificates = getenv("SSL_CERT_FILE");
	struct origin *origin = NULL;
	struct cache cache = {0};
	struct modulebuild module = {0};
	struct flags flags = {0};
	struct queue q = {.quiet = o->quiet};
	struct halt *halt = halt_open(false);
	int rc = 2;

	q.shop.cache = &cache;
	q.flags = &flags;
	if (!halt || cache_open(&cache, o->cache, halt) < 0 ||
	    (o->prune && cache_prune(&cache, o->prune) < 0))
		goto out;
	if (!args->n && !o->worktrees.n) {
		rc = 0;
		goto out;
	}
	if (flags_init(&flags, &o->flags) < 0 ||
	    build_open_jobs(&q.shop, o->jobs) < 0 ||
	    (certificates && *certificates &&
		gitrepo_certificates(certificates) < 0))
		goto out;
	if (o->module.command) {
		q.module = &module;
		if (modulebuild_open(&module, &o->module, &cache) < 0)
			goto out;
	}
	statusline_open(&q.line, o->quiet);
	if (resolve_targets(&q, o, args, &origin) == 0 && run_queue(&q) == 0)
		rc = q.trouble ? 2 : 0;
	statusline_close(&q.line);
out:
	close_queue(&q);
	modulebuild_close(&module);
	target_free_origin(origin);
	flags_free(&flags);
	cache_close(&cache);
	halt_finish(halt);
	return rc;
}

static int
run_build(void *opts, struct opt_args *args)
{
	struct opts *o = opts;
	const char *wrong = modulebuild_check(&o->module);

	if (!args->n && !o->worktrees.n && !o->prune)
		return opt_usage(&prog, "nothing to build: no REF or ARCHIVE");
	if (o->dir && o->repo)
		return opt_usage(
		    &prog, "options '-C' and '--repo' exclude each other");
	if (wrong)
		return opt_usage(&prog, wrong);
	if (o->module.server && args->n && !o->dir && !o->repo)
		return opt_usage(&prog,
		    "'--server' needs '-C' or '--repo', the repository of the "
		    "module");
	if (modulebuild_is_program(o->module.server) &&
	    (o->flags.tls || o->flags.cflags || o->flags.allocator ||
		o->flags.make_args.n))
		return opt_usage(&prog,
		    "'--tls', '--cflags', '--allocator' and '--make-arg' are "
		    "for a server that is built, and '--server' names one that "
		    "is installed");
	return build_targets(o, args);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&prog, argc, argv, &o, run_build);
}
