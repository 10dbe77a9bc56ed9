#include "tune.h"
#include "err.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU "/sys/devices/system/cpu/"
#define AWAKE_US 2 /* exit latency up to which an idle state may stay: C1 */

struct setting {
	const char *name;    /* NULL ends the table */
	const char *pattern; /* files; or several entries of one name */
	const char *wanted;
	const char *bad; /* only this value is changed; NULL: any other */
};

/* Shallow states may stay: with none, the CPU spins and heats up. */
static bool
is_shallow(const char *root, const char *path)
{
	char *latency = mem_printf(
	    "%.*slatency", (int)(strrchr(path, '/') + 1 - path), path);
	double us = sysfile_num(root, latency);

	free(latency);
	return isnan(us) || us <= AWAKE_US;
}

/* In the order in which they are set. SMT is first: turning it off takes half
 * of the CPUs away. */
static const struct setting setting_table[] = {
    {"smt", CPU "smt/control", "off", "on"},
    {"governor", CPU "cpu[0-9]*/cpufreq/scaling_governor", "performance", NULL},
    {"turbo", CPU "intel_pstate/no_turbo", "1", NULL},
    {"turbo", CPU "cpufreq/boost", "0", NULL},
    {"idle", CPU "cpu[0-9]*/cpuidle/state[0-9]*/disable", "1", "0"},
    {"aslr", "/proc/sys/kernel/randomize_va_space", "0", NULL},
    {"thp", "/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "always"},
    {"ksm", "/sys/kernel/mm/ksm/run", "0", NULL},
    {"numa_balancing", "/proc/sys/kernel/numa_balancing", "0", NULL},
    {"nmi_watchdog", "/proc/sys/kernel/nmi_watchdog", "0", NULL}, {0}};

/* Writes a value. Returns 0, or -1 with errno; EINVAL: it did not stay. */
static int
write_setting(const char *root, const char *path, const char *value)
{
	char *whole = mem_printf("%s%s", root, path), *now;
	size_t n = strlen(value);
	int fd = open(whole, O_WRONLY | O_CLOEXEC | O_TRUNC), error = 0;
	ssize_t put;

	free(whole);
	if (fd < 0)
		return -1;
	put = write(fd, value, n);
	if (put != (ssize_t)n)
		error = put < 0 ? errno : EIO;
	if (close(fd) < 0 && !error)
		error = errno;
	now = sysfile_chosen(root, path);
	if (!error && (!now || strcmp(now, value) != 0))
		error = EINVAL;
	free(now);
	errno = error;
	return error ? -1 : 0;
}

static void
add_edit(struct edits *c, const char *path, const char *old, const char *new,
    const char *name)
{
	*MEM_ADD(c->v, c->n, c->cap) =
	    (struct change){mem_str(path), mem_str(old), mem_str(new), name};
}

void
tune_free_edits(struct edits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].path);
		free(c->v[i].old);
		free(c->v[i].new);
	}
	free(c->v);
	*c = (struct edits){0};
}

static void
find_setting_edits(struct edits *c, const char *root, const struct setting *s)
{
	char **list = sysfile_glob(root, s->pattern), *now;

	for (char **p = list; *p; p++) {
		now = sysfile_chosen(root, *p);
		if (now && strcmp(now, s->wanted) != 0 &&
		    (!s->bad || strcmp(now, s->bad) == 0) &&
		    !(strcmp(s->name, "idle") == 0 && is_shallow(root, *p)))
			add_edit(c, *p, now, s->wanted, s->name);
		free(now);
	}
	mem_free_list(list);
}

void
tune_find(struct edits *c, const char *root, const char *name)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (!name || strcmp(s->name, name) == 0)
			find_setting_edits(c, root, s);
}

bool
tune_is_listed(const char *name)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

bool
tune_is_known(const char *root, const char *name)
{
	char *all = NULL;
	bool known;

	for (const struct setting *s = setting_table; s->name && !all; s++)
		if (strcmp(s->name, name) == 0)
			all = sysfile_all(root, s->pattern);
	known = all != NULL;
	free(all);
	return known;
}

/* Returns the name of a file's setting, or NULL: no other file is written. */
static const char *
name_setting(const char *path)
{
	for (const struct setting *s = setting_table; s->name; s++)
		if (!strstr(path, "..") &&
		    fnmatch(s->pattern, path, FNM_PATHNAME) == 0)
			return s->name;
	return NULL;
}

#define BOOT "/proc/sys/kernel/random/boot_id"

static int
save_state(const struct tune *t, const struct edits *c, pid_t pid)
{
	struct json *j = json_object(), *list = json_array(), *one;
	char *boot = sysfile_line(t->root, BOOT);
	int rc;

	json_set_str(j, "boot", boot);
	json_set_num(j, "pid", pid);
	for (size_t i = 0; i < c->n; i++) {
		one = json_object();
		json_set_str(one, "path", c->v[i].path);
		json_set_str(one, "old", c->v[i].old);
		json_set_str(one, "new", c->v[i].new);
		json_push(list, one);
	}
	json_set(j, "changes", list);
	rc = jsonfile_write(t->state, j);
	json_free(j);
	free(boot);
	return rc;
}

/* Accepts only files of known settings: others may have edited the state. */
static int
parse_state(const struct tune *t, const struct json *j, struct edits *c)
{
	const struct json *one = json_first(json_get(j, "changes"));
	const char *path, *old, *new;

	for (; one; one = json_next(one)) {
		path = json_get_str(one, "path");
		old = json_get_str(one, "old");
		new = json_get_str(one, "new");
		if (!path || !old || !new || !name_setting(path))
			return err_fail(
			    "'%s' is not a state file of vkb-env", t->state);
		add_edit(c, path, old, new, name_setting(path));
	}
	return 0;
}

/* After a reboot, the old values are lost and there is nothing to restore. */
static bool
is_of_this_boot(const struct tune *t, const struct json *j)
{
	char *boot = sysfile_line(t->root, BOOT);
	const char *then = json_get_str(j, "boot");
	bool same = !boot || !then || strcmp(boot, then) == 0;

	free(boot);
	return same;
}

static int
remove_state(const struct tune *t)
{
	if (unlink(t->state) == 0)
		return 0;
	return err_fail_sys("cannot remove '%s'", t->state);
}

/* Returns 1 if restored, 0 if it was changed since, -1 on error. */
static int
restore_setting(const struct tune *t, const struct change *c)
{
	char *now = sysfile_chosen(t->root, c->path);
	int rc = 1;

	if (!now || strcmp(now, c->old) == 0) {
		/* The CPU is offline, or the setting was not changed yet. */
	} else if (strcmp(now, c->new) != 0) {
		err_say(
		    "'%s' has been set to '%s' since and is kept; it was '%s'",
		    c->path, now, c->old);
		rc = 0;
	} else if (write_setting(t->root, c->path, c->old) < 0)
		rc = err_fail_sys("cannot set '%s' to '%s'", c->path, c->old);
	free(now);
	return rc;
}

static int
restore_settings(const struct tune *t, const struct edits *c)
{
	bool failed = false, left = false;
	int k;

	for (size_t i = c->n; i-- > 0;) {
		k = restore_setting(t, &c->v[i]);
		failed |= k < 0;
		left |= k == 0;
	}
	if (failed || remove_state(t) < 0)
		return -1;
	return left ? -1 : 0;
}

/* Keeps other vkb-env from the state file; as folder_lock. */
static int
lock_state(const struct tune *t)
{
	const char *slash = strrchr(t->state, '/');
	char *dir = !slash ? mem_str(".")
	    : slash == t->state
	    ? mem_str("/")
	    : mem_strn(t->state, (size_t)(slash - t->state));
	int fd = folder_lock(dir, true);

	free(dir);
	return fd;
}

/* With the state file locked. */
static int
restore_state(const struct tune *t)
{
	struct edits c = {0};
	struct json *j;
	int rc = -1;

	if (access(t->state, F_OK) < 0 && errno == ENOENT)
		return 0;
	j = jsonfile_read(t->state);
	if (!j)
		return -1;
	if (parse_state(t, j, &c) == 0)
		rc = is_of_this_boot(t, j) ? restore_settings(t, &c)
					   : remove_state(t);
	tune_free_edits(&c);
	json_free(j);
	return rc;
}

int
tune_restore(const struct tune *t)
{
	int lock, rc;

	if (access(t->state, F_OK) < 0 && errno == ENOENT)
		return 0;
	lock = lock_state(t);
	if (lock < 0)
		return -1;
	rc = restore_state(t);
	close(lock);
	return rc;
}

/* Restores the settings that an earlier process has left changed. Returns 0 if
 * settings can be applied now. */
static int
clear_earlier(const struct tune *t)
{
	struct json *j;
	pid_t pid;

	if (access(t->state, F_OK) < 0 && errno == ENOENT)
		return 0;
	j = jsonfile_read(t->state);
	if (!j)
		return -1;
	pid = (pid_t)json_get_num(j, "pid", 0);
	if (!is_of_this_boot(t, j))
		pid = -1;
	json_free(j);
	if (pid == 0)
		return err_fail("settings of an earlier --apply are in effect; "
				"undo them with 'vkb-env --restore'");
	if (pid > 0 && (kill(pid, 0) == 0 || errno == EPERM))
		return err_fail("process %d has applied settings, and "
				"restores them when it ends",
		    (int)pid);
	if (pid > 0)
		err_say("process %d ended without restoring its settings; "
			"restoring them now",
		    (int)pid);
	return restore_state(t);
}

static int
find_edits(const struct tune *t, char *const *names, size_t n, struct edits *c)
{
	for (size_t i = 0; i < n; i++) {
		if (!tune_is_listed(names[i]))
			return err_fail("unknown setting '%s'", names[i]);
		if (!tune_is_known(t->root, names[i]))
			return err_fail(
			    "this machine has no setting '%s'", names[i]);
		tune_find(c, t->root, names[i]);
	}
	if (!n)
		tune_find(c, t->root, NULL);
	return 0;
}

/* Reports each setting that cannot be written. Returns -1 if there is one. */
static int
check_writable(const struct tune *t, const struct edits *c)
{
	const char *last = "";
	char *path;
	int rc = 0, k;

	for (size_t i = 0; i < c->n; i++) {
		path = mem_printf("%s%s", t->root, c->v[i].path);
		k = access(path, W_OK);
		free(path);
		if (k == 0 || strcmp(last, c->v[i].name) == 0)
			continue;
		last = c->v[i].name;
		rc = err_fail_sys("cannot set %s: '%s'", last, c->v[i].path);
	}
	if (rc < 0)
		err_say("nothing is changed; name only settings that can be "
			"set, such as 'vkb-env --apply aslr'");
	return rc;
}

/* Turning SMT off removes files of the CPUs that go offline. */
static bool
is_gone(const struct tune *t, const struct change *c)
{
	char *now = sysfile_chosen(t->root, c->path);
	bool off = !now;

	free(now);
	return off;
}

static int
write_settings(const struct tune *t, const struct edits *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!is_gone(t, &c->v[i]) &&
		    write_setting(t->root, c->v[i].path, c->v[i].new) < 0)
			return err_fail_sys("cannot set %s: '%s' to '%s'",
			    c->v[i].name, c->v[i].path, c->v[i].new);
	return 0;
}

static void
report_settings(const struct edits *c)
{
	struct str s = {0};

	for (size_t i = 0; i < c->n; i++)
		if (!i || strcmp(c->v[i].name, c->v[i - 1].name) != 0)
			str_printf(&s, "%s%s", s.len ? ", " : "", c->v[i].name);
	err_say("%s%s", c->n ? "set: " : "all settings have the wanted values",
	    c->n ? s.s : "");
	str_free(&s);
}

int
tune_apply(const struct tune *t, char *const *names, size_t n, pid_t pid)
{
	struct edits c = {0};
	int rc = -1, lock = lock_state(t);

	if (lock < 0)
		return -1;
	if (clear_earlier(t) == 0 && find_edits(t, names, n, &c) == 0 &&
	    check_writable(t, &c) == 0) {
		rc = c.n ? save_state(t, &c, pid) : 0;
		if (rc == 0 && write_settings(t, &c) < 0) {
			if (restore_settings(t, &c) == 0)
				err_say("all settings are restored");
			rc = -1;
		}
		if (rc == 0 && !t->quiet)
			report_settings(&c);
	}
	close(lock);
	tune_free_edits(&c);
	return rc;
}
