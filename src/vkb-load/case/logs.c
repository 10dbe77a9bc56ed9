#include "logs.h"
#include "err.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "record.h"
#include "sink.h"
#include "str.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY "vkb-logs."

enum { KEPT = 5 }; /* such folders */

/* The log of one node; the offset of 'fd' is behind what was copied already. */
struct log {
	int fd;
	char *path; /* of the copy */
	bool failed;
};

struct logs {
	char *dir; /* NULL: a folder in TMPDIR, made when needed */
	bool all;
	int text; /* logs.txt, or -1 */
	int lock; /* the folder, which is ours alone; -1: not made yet */
};

struct server_logs {
	struct logs *logs;
	struct log *v;
	size_t n;
	char *name; /* of the copies in the folder, without ".log" */
};

static int
open_text(struct logs *l)
{
	char *path = mem_printf("%s/logs.txt", l->dir);

	l->text = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (l->text < 0)
		err_fail_sys("cannot write '%s'", path);
	free(path);
	err_copy(l->text);
	return l->text < 0 ? -1 : 0;
}

/*
 * Makes and locks the folder: logs of two programs in one file could not be
 * told apart. If another program has that of FILE, which they may share, takes
 * FILE.logs-2, and so on.
 */
static int
take_folder(struct logs *l)
{
	char *first = mem_str(l->dir);
	int rc;

	for (unsigned n = 2;; n++) {
		rc = folder_make(l->dir);
		if (rc < 0)
			break;
		l->lock = folder_lock(l->dir, false);
		if (l->lock >= 0)
			break;
		if (l->lock == -2 && l->all)
			err_say("another vkb-load writes its logs to '%s': "
				"name another folder",
			    l->dir);
		if (l->lock != -2 || l->all) {
			rc = -1;
			break;
		}
		free(l->dir);
		l->dir = mem_printf("%s-%u", first, n);
	}
	free(first);
	return rc;
}

struct logs *
logs_open(const char *dir, const char *file)
{
	struct logs *l = mem_new(sizeof *l);
	struct stat st;

	*l = (struct logs){.all = dir != NULL, .text = -1, .lock = -1};
	if (dir) {
		l->dir = mem_str(dir);
		if (take_folder(l) < 0 || open_text(l) < 0) {
			logs_close(l);
			return NULL;
		}
	} else if (file && lstat(file, &st) == 0 && S_ISREG(st.st_mode))
		l->dir = mem_printf("%s.logs", file);
	return l;
}

void
logs_forget_server(struct server_logs *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].fd >= 0)
			close(l->v[i].fd);
		free(l->v[i].path);
	}
	free(l->v);
	free(l->name);
	free(l);
}

void
logs_close(struct logs *l)
{
	if (!l)
		return;
	if (l->text >= 0) {
		err_copy(-1);
		close(l->text);
	}
	if (l->lock >= 0)
		close(l->lock);
	free(l->dir);
	free(l);
}

void
logs_add_folder(struct str *s, const char *id, const struct json *subject)
{
	char *who = json_len(subject) ? record_subject_name(subject) : NULL;

	folder_add_part(s, id);
	if (who) {
		str_addc(s, '@');
		folder_add_part(s, who);
	}
	free(who);
}

struct server_logs *
logs_begin_server(struct logs *logs, const struct json *server, const char *id,
    const struct json *subject, const char *run)
{
	const struct json *nodes = json_get(server, "nodes");
	struct server_logs *l = mem_new(sizeof *l);
	struct str s = {0};
	const char *path;

	logs_add_folder(&s, id, subject);
	str_printf(&s, "/%s", run);
	l->logs = logs;
	l->name = str_take(&s);
	l->v = mem_array(json_len(nodes) + 1, sizeof *l->v);
	for (const struct json *j = json_first(nodes); j; j = json_next(j)) {
		path = json_get_str(j, "log");
		l->v[l->n++] = (struct log){
		    .fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1};
	}
	return l;
}

/* Makes the folder of this case. */
static int
make_folder(const struct server_logs *l)
{
	struct logs *all = l->logs;
	char *dir;
	int rc;

	if (!all->dir) {
		folder_keep_newest(opt_tmpdir(), TEMPORARY, KEPT - 1);
		all->dir = mem_printf("%s/" TEMPORARY "XXXXXX", opt_tmpdir());
		if (!mkdtemp(all->dir)) {
			err_fail_sys("cannot make the folder '%s'", all->dir);
			free(all->dir);
			all->dir = NULL;
			return -1;
		}
	}
	if (all->lock < 0 && take_folder(all) < 0)
		return -1;
	dir = mem_printf("%s/%s", all->dir, l->name);
	*strrchr(dir, '/') = '\0';
	rc = folder_make(dir);
	free(dir);
	return rc;
}

/* Appends, since a run may have a second server. */
static int
copy_log(struct log *log)
{
	int out = open(log->path,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
	long long n = out < 0 ? -1 : sink_copy(log->fd, out);

	if (n < 0)
		err_fail_sys("cannot keep a server's log in '%s'", log->path);
	if (out >= 0)
		close(out);
	log->failed = n < 0;
	return n < 0 ? -1 : 0;
}

/* Copies what the logs hold so far. Returns the path of the first node's copy,
 * borrowed; NULL if there is no log, or after reporting that it could not be
 * copied. */
static const char *
keep_logs(struct server_logs *l)
{
	struct log *log;
	int rc = 0;

	if (!l || !l->n || make_folder(l) < 0)
		return NULL;
	for (size_t i = 0; i < l->n; i++) {
		log = &l->v[i];
		if (log->fd < 0 || log->failed)
			continue;
		if (!log->path)
			log->path = i
			    ? mem_printf("%s/%s-node%zu.log", l->logs->dir,
				  l->name, i + 1)
			    : mem_printf("%s/%s.log", l->logs->dir, l->name);
		if (copy_log(log) < 0)
			rc = -1;
	}
	return rc < 0 || l->v[0].failed ? NULL : l->v[0].path;
}

void
logs_report(struct server_logs *l, const char *id, char *what)
{
	const char *log = keep_logs(l);

	err_say("%s: %s%s%s%s", id, what,
	    log ? "; the log of its server is kept in '" : "", log ? log : "",
	    log ? "'" : "");
	free(what);
}

void
logs_end_server(struct server_logs *l)
{
	bool kept = false;

	for (size_t i = 0; i < l->n; i++)
		kept = kept || l->v[i].path;
	if (l->logs->all || kept)
		keep_logs(l);
}
