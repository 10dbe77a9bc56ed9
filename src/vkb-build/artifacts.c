#include "artifacts.h"

#include "err.h"
#include "json.h"
#include "jsonfile.h"
#include "mem.h"
#include "runas.h"
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES "files" /* of a note: {KEY: {name, bytes}} */

/* Returns 0, 1 if 'from' does not exist, or -1 after reporting an error. */
static int
copy_file(const char *from, const char *to, long long *bytes)
{
	int in, out, rc = 0;

	runas_begin_files(false);
	in = open(from, O_RDONLY | O_CLOEXEC);
	runas_end_files();
	if (in < 0)
		return errno == ENOENT ? 1
				       : err_fail_sys("cannot read '%s'", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
	*bytes = out < 0 ? -1 : sink_copy(in, out);
	if (*bytes < 0 || fsync(out) < 0)
		rc = err_fail_sys("cannot write '%s'", to);
	if (out >= 0 && close(out) < 0 && rc == 0)
		rc = err_fail_sys("cannot write '%s'", to);
	close(in);
	return rc;
}

int
artifacts_put(const char *dir, const char *name, const char *from,
    struct json *note, const char *key)
{
	char *to = mem_printf("%s/%s", dir, name);
	struct json *files = json_get(note, FILES), *file;
	long long bytes = 0;
	int rc = copy_file(from, to, &bytes);

	free(to);
	if (rc != 0 || !key)
		return rc;
	if (!files) {
		files = json_object();
		json_set(note, FILES, files);
	}
	file = json_object();
	json_set_str(file, "name", name);
	json_set_num(file, "bytes", (double)bytes);
	json_set(files, key, file);
	return 0;
}

int
artifacts_write_note(const char *dir, const struct json *note)
{
	char *path = mem_printf("%s/build.json", dir);
	int rc = jsonfile_write(path, note);

	free(path);
	return rc;
}

static int
find_files(const char *dir, const struct json *files, struct json *rec)
{
	const char *name;
	struct stat st;
	char *path;
	int rc = 1;

	for (const struct json *f = json_first(files); f && rc;
	     f = json_next(f)) {
		name = json_get_str(f, "name");
		path = mem_printf("%s/%s", dir, name ? name : "");
		rc = stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    (double)st.st_size == json_get_num(f, "bytes", -1);
		if (rc)
			json_set_str(rec, json_key(f), path);
		free(path);
	}
	return rc;
}

int
artifacts_find(const char *dir, struct json *rec)
{
	char *path = mem_printf("%s/build.json", dir);
	struct json *note = NULL;
	int rc = 0;

	if (access(path, R_OK) == 0)
		note = jsonfile_read(path);
	if (note)
		utimensat(AT_FDCWD, path, NULL, 0); /* for --prune */
	free(path);
	if (json_first(json_get(note, FILES)))
		rc = find_files(dir, json_get(note, FILES), rec);
	for (const struct json *j = json_first(note); j && rc; j = json_next(j))
		if (strcmp(json_key(j), FILES) != 0)
			json_set(rec, json_key(j), json_dup(j));
	json_free(note);
	return rc;
}
