#include "aof.h"
#include "bytes.h"
#include "err.h"
#include "mem.h"
#include "num.h"
#include "rdb.h"
#include "recorder.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_MOST 1024
#define CONN "aof"
#define MANIFEST ".manifest"

/* A file that is being read. */
struct reading {
	struct bytes b;
	struct recorder *r;
	long conn;
	uint64_t us;
	unsigned db;
	struct tracefile_word *words;
	size_t cap;
	struct str bytes;
};

int
aof_is_folder(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

int
aof_is(int c)
{
	return c == '*' || c == '#' || rdb_is(c);
}

/* Reads a line that ends with CR LF, without it. Returns 0 or -1. */
static int
read_line(struct bytes *b, char line[LINE_MOST])
{
	size_t n = 0;

	for (;;) {
		if (bytes_get(b, &line[n], 1) < 0)
			return -1;
		if (line[n] == '\n' && n && line[n - 1] == '\r')
			break;
		if (++n == LINE_MOST)
			return bytes_fail(b, "broken: a line is too long");
	}
	line[n - 1] = '\0';
	return 0;
}

/* Reads "*N" or "$N". Returns 0 or -1. */
static int
read_length(struct bytes *b, char mark, long long most, long long *n)
{
	char line[LINE_MOST];

	if (read_line(b, line) < 0)
		return -1;
	if (line[0] != mark || num_int(line + 1, n) < 0 || *n < 0)
		return bytes_fail(
		    b, "broken: '%c' and a length is missing", mark);
	if (*n > most)
		return bytes_fail(
		    b, "broken: the length %lld is above %lld", *n, most);
	return 0;
}

static int
read_words(struct reading *x, size_t count)
{
	char end[2];
	long long n;
	size_t at = 0;

	str_clear(&x->bytes);
	for (size_t i = 0; i < count; i++) {
		if (read_length(&x->b, '$', TRACEFILE_BYTES_MOST, &n) < 0)
			return -1;
		if (x->bytes.len + (size_t)n > TRACEFILE_COMMAND_MOST)
			return bytes_fail(&x->b,
			    "broken: a command is too "
			    "long");
		x->words = mem_grow(x->words, i, &x->cap, sizeof *x->words);
		x->words[i].n = (size_t)n;
		if (bytes_append(&x->b, &x->bytes, (uint64_t)n) < 0 ||
		    bytes_get(&x->b, end, 2) < 0)
			return -1;
		if (memcmp(end, "\r\n", 2) != 0)
			return bytes_fail(&x->b, "broken: a word has no end");
	}
	for (size_t i = 0; i < count; i++) {
		x->words[i].s = (x->bytes.s ? x->bytes.s : "") + at;
		at += x->words[i].n;
	}
	return 0;
}

/* "#TS:1700000000" is the time of the commands that follow; other notes are
 * ignored. */
static int
read_note(struct reading *x)
{
	char line[LINE_MOST];
	long long seconds;

	if (read_line(&x->b, line) < 0)
		return -1;
	if (!str_starts(line, "#TS:"))
		return 0;
	if (num_int(line + 4, &seconds) < 0 || seconds < 0 ||
	    seconds > 100000000000)
		return bytes_fail(&x->b, "broken: an invalid time");
	x->us = (uint64_t)seconds * 1000000;
	return 0;
}

static int
read_command(struct reading *x)
{
	long long n;

	if (read_length(&x->b, '*', TRACEFILE_WORDS_MOST, &n) < 0)
		return -1;
	if (!n)
		return bytes_fail(&x->b, "broken: a command without words");
	if (read_words(x, (size_t)n) < 0)
		return -1;
	if (!x->words[0].n)
		return bytes_fail(&x->b, "broken: a command without a name");
	recorder_select(x->words, (size_t)n, &x->db);
	return recorder_add(
	    x->r, x->us, x->conn, x->db, false, x->words, (size_t)n);
}

int
aof_read(struct recorder *r, FILE *in, const char *name)
{
	struct reading x = {.b = {.in = in, .name = name}, .r = r};
	int c, rc = 0;

	x.conn = recorder_find_conn(r, CONN, strlen(CONN), false);
	if (x.conn < 0)
		return -1;
	c = bytes_peek(&x.b);
	if (rdb_is(c))
		rc = rdb_skip(&x.b);
	while (rc == 0 && (c = bytes_peek(&x.b)) >= 0)
		rc = c == '#' ? read_note(&x) : read_command(&x);
	if (rc == 0 && ferror(in))
		rc = bytes_fail_short(&x.b);
	str_free(&x.bytes);
	free(x.words);
	return rc;
}

/* Returns the only manifest of a folder, or NULL after reporting an error. */
static char *
find_manifest(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char *path = NULL;
	size_t n = 0;

	if (!d) {
		err_say("cannot read '%s': %s", folder, strerror(errno));
		return NULL;
	}
	while ((e = readdir(d)))
		if (str_ends(e->d_name, MANIFEST) && n++ == 0)
			path = mem_printf("%s/%s", folder, e->d_name);
	closedir(d);
	if (n == 1)
		return path;
	err_say("%s: %s file '*" MANIFEST "' in it", folder,
	    n ? "more than one" : "no");
	free(path);
	return NULL;
}

static int
read_part(struct recorder *r, const char *folder, const char *file)
{
	char *path = mem_printf("%s/%s", folder, file);
	FILE *in = fopen(path, "re");
	int rc =
	    in ? aof_read(r, in, path) : err_fail_sys("cannot open '%s'", path);

	if (in)
		fclose(in);
	free(path);
	return rc;
}

/* Reads "file NAME seq N type b|i|h": base, increment, history. */
static int
read_entry(struct recorder *r, const char *folder, const char *manifest,
    size_t number, const char *line)
{
	char file[LINE_MOST], type;
	int n = 0;

	if (strlen(line) < LINE_MOST &&
	    sscanf(line, "file %1000s seq %*d type %c%n", file, &type, &n) ==
		2 &&
	    !line[n] && strchr("bih", type) && !strchr(file, '/') &&
	    *file != '"')
		return type == 'h' ? 0 : read_part(r, folder, file);
	return err_fail(
	    "%s:%zu: not 'file NAME seq N type b, i or h'", manifest, number);
}

int
aof_read_folder(struct recorder *r, const char *folder)
{
	char *manifest = find_manifest(folder), *line = NULL;
	FILE *in = manifest ? fopen(manifest, "re") : NULL;
	size_t cap = 0, number = 0;
	ssize_t n;
	int rc = 0;

	if (manifest && !in)
		err_say("cannot open '%s': %s", manifest, strerror(errno));
	if (!in)
		rc = -1;
	while (rc == 0 && (n = getline(&line, &cap, in)) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		rc = read_entry(r, folder, manifest, ++number, line);
	}
	if (in)
		fclose(in);
	free(line);
	free(manifest);
	return rc;
}
