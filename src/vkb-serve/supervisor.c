#include "supervisor.h"
#include "fleet.h"

#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "opt.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Files of a folder that '--dir' names, which can have others of the user. */
#define LOCK "vkb-serve.lock"
#define STATE "vkb-serve.json"

char *
supervisor_folder(void)
{
	return mem_printf("%s/vkb-serve-%ld", opt_tmpdir(), (long)geteuid());
}

/* Checks that we own the folder: in /tmp another user could have made it.
 * Returns 0, or -1 after reporting an error. */
static int
check_folder(const char *folder)
{
	struct stat st;

	if (lstat(folder, &st) < 0)
		return err_fail_sys("cannot use folder '%s'", folder);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_fail("'%s' is not a folder that you own", folder);
	return 0;
}

static int
open_lock(const char *folder, int flags)
{
	char *path = mem_printf("%s/" LOCK, folder);
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 && (flags & O_CREAT))
		err_fail_sys("cannot use '%s'", path);
	free(path);
	return fd;
}

/* Returns whether fd is still the lock file; a supervisor that ends removes it.
 */
static bool
is_current_lock(const char *folder, int fd)
{
	char *path = mem_printf("%s/" LOCK, folder);
	struct stat mine, there;
	bool same = fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
	    mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;

	free(path);
	return same;
}

int
supervisor_lock(const char *folder)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd;

	for (;;) {
		if (mkdir(folder, 0700) < 0 && errno != EEXIST)
			return err_fail_sys("cannot make folder '%s'", folder);
		if (check_folder(folder) < 0)
			return -1;
		fd = open_lock(folder, O_RDWR | O_CREAT);
		if (fd < 0)
			return -1;
		if (fcntl(fd, F_SETLK, &l) < 0)
			break;
		if (is_current_lock(folder, fd))
			return 0; /* fd stays open: it holds the lock */
		close(fd);
	}
	if (errno == EACCES || errno == EAGAIN)
		err_say("a server is already running in '%s'", folder);
	else
		err_fail_sys("cannot lock '%s'", folder);
	close(fd);
	return -1;
}

/* Returns the process that holds the lock, 0 if none, -1 after reporting an
 * error. */
static pid_t
find_lock_holder(const char *folder)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd, rc;

	if (access(folder, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (check_folder(folder) < 0)
		return -1;
	fd = open_lock(folder, O_RDWR);
	if (fd < 0)
		return errno == ENOENT
		    ? 0
		    : err_fail_sys("cannot use '%s/" LOCK "'", folder);
	rc = fcntl(fd, F_GETLK, &l);
	close(fd);
	if (rc < 0)
		return err_fail_sys("cannot query the lock of '%s'", folder);
	return l.l_type == F_UNLCK ? 0 : l.l_pid;
}

int
supervisor_write_state(const char *folder, const struct json *record)
{
	char *path = mem_printf("%s/" STATE, folder);
	int rc = jsonfile_write(path, record);

	free(path);
	return rc;
}

void
supervisor_remove_state(const char *folder)
{
	static const char *const names[] = {STATE, LOCK};
	char *path;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		path = mem_printf("%s/%s", folder, names[i]);
		unlink(path);
		free(path);
	}
	rmdir(folder); /* fails if it holds other files */
}

/* Returns the record in the folder (caller frees), or NULL. */
static struct json *
read_state(const char *folder)
{
	char *path = mem_printf("%s/" STATE, folder);
	const char *files[] = {path};
	struct json *rec = NULL;
	struct jsonl *in;

	if (access(path, F_OK) == 0) {
		in = jsonl_open(files, 1);
		if (record_next(in, &rec) != 1)
			rec = NULL;
		jsonl_close(in);
	}
	free(path);
	return rec;
}

static bool
is_ok(const struct json *rec)
{
	const char *s = json_get_str(rec, "status");

	return s && strcmp(s, "ok") == 0;
}

int
supervisor_status(const char *folder, bool quiet)
{
	pid_t pid = find_lock_holder(folder);
	struct json *rec;
	int rc = 1;

	if (pid < 0)
		return 2;
	rec = read_state(folder);
	/* Status ok is outdated if the supervisor has ended. */
	if (rec && (pid || !is_ok(rec))) {
		rc = jsonl_write(STDOUT_FILENO, rec) < 0 ? 2 : !is_ok(rec);
	} else if (!quiet)
		err_say("no server is running in '%s'", folder);
	json_free(rec);
	return rc;
}

/* Sends SIGTERM and waits for the end of the process. Returns 0, or -1 after
 * reporting an error. */
static int
end_process(const char *folder, pid_t pid, int timeout_ms)
{
	struct pollfd fd = {.events = POLLIN};
	int rc = 0;

	fd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd.fd < 0)
		return errno == ESRCH
		    ? 0
		    : err_fail_sys("cannot open process %ld", (long)pid);
	/* With the pidfd open, check that the pid was not reused. */
	if (find_lock_holder(folder) == pid &&
	    syscall(SYS_pidfd_send_signal, fd.fd, SIGTERM, NULL, 0) < 0 &&
	    errno != ESRCH)
		rc = err_fail_sys("cannot stop process %ld", (long)pid);
	else if (poll(&fd, 1, timeout_ms) <= 0)
		rc = err_fail("process %ld did not end", (long)pid);
	close(fd.fd);
	return rc;
}

int
supervisor_stop(const char *folder, int timeout_ms, bool quiet)
{
	pid_t pid = find_lock_holder(folder);
	struct json *rec, *out;
	int rc = 0;

	if (pid < 0)
		return 2;
	rec = read_state(folder);
	if (pid && end_process(folder, pid, timeout_ms) < 0)
		rc = 2;
	else if (rec && !is_ok(rec)) {
		err_say("server '%s' had failed", json_get_str(rec, "id"));
		supervisor_remove_state(folder);
		rc = 1;
	} else if (pid && rec) {
		out = fleet_make_stopped(json_get_str(rec, "id"));
		rc = jsonl_write(STDOUT_FILENO, out) < 0 ? 2 : 0;
		json_free(out);
	} else if (!quiet)
		err_say("no server is running in '%s'", folder);
	json_free(rec);
	return rc;
}
