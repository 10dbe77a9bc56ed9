#include "tune.h"
#include "err.h"
#include "folder.h"
#include "json.h"
#include "jsonfile.h"
#include "mem.h"
#include "setting.h"
#include "str.h"
#include "sysfile.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		if (!path || !old || !new || !setting_name(path))
			return err_fail(
			    "'%s' is not a state file of vkb-env", t->state);
		setting_edits_add(c, path, old, new, setting_name(path));
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
	} else if (setting_write(t->root, c->path, c->old) < 0)
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
	int fd = folder_lock(dir);

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
	setting_edits_free(&c);
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
		if (!setting_listed(names[i]))
			return err_fail("unknown setting '%s'", names[i]);
		if (!setting_known(t->root, names[i]))
			return err_fail(
			    "this machine has no setting '%s'", names[i]);
		setting_find(c, t->root, names[i]);
	}
	if (!n)
		setting_find(c, t->root, NULL);
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
		    setting_write(t->root, c->v[i].path, c->v[i].new) < 0)
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
	setting_edits_free(&c);
	return rc;
}
