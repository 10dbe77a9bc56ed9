#include "sidecar.h"
#include "err.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "sink.h"
#include "str.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEX 20
#define TIME 48

static char *
format_hex(char buf[HEX], uint64_t v)
{
	snprintf(buf, HEX, "%016llx", (unsigned long long)v);
	return buf;
}

static char *
format_mtime(char buf[TIME], const struct stat *st)
{
	snprintf(buf, TIME, "%lld.%09ld", (long long)st->st_mtim.tv_sec,
	    st->st_mtim.tv_nsec);
	return buf;
}

static bool
has_text(const struct json *j, const char *key, const char *want)
{
	const char *s = json_get_str(j, key);

	return s && strcmp(s, want) == 0;
}

/* Returns the sidecar, NULL if it is missing or broken. Caller frees. */
static struct json *
load_sidecar(const char *path)
{
	char *name = mem_printf("%s.spec", path);
	FILE *f = fopen(name, "r");
	char buf[1024];
	size_t n = f ? fread(buf, 1, sizeof buf, f) : 0;

	if (f)
		fclose(f);
	free(name);
	return n < sizeof buf ? json_parse(buf, n, NULL, NULL) : NULL;
}

/* Returns 1 if the file is unchanged, 0 if changed, or -1 (error reported). */
static int
is_unchanged(const char *path, const struct json *j, const struct stat *st)
{
	char t[TIME], sum[HASH_HEX];

	if (json_get_num(j, "bytes", -1) != (double)st->st_size)
		return 0;
	if (has_text(j, "written", format_mtime(t, st)))
		return 1;
	if (hash_file(HASH_SHA256, path, sum) < 0)
		return err_fail_sys("cannot read '%s'", path);
	return has_text(j, "content", sum);
}

int
sidecar_find_state(const char *path, uint64_t recipe)
{
	struct json *j;
	struct stat st;
	char h[HEX];
	int rc;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? (int)SIDECAR_MISSING
				       : err_fail_sys("cannot read '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_fail("'%s' is a folder", path);
	j = load_sidecar(path);
	if (!j)
		return SIDECAR_FOREIGN;
	rc = is_unchanged(path, j, &st);
	if (rc == 0)
		rc = SIDECAR_CHANGED;
	else if (rc > 0)
		rc = has_text(j, "recipe", format_hex(h, recipe))
		    ? SIDECAR_CURRENT
		    : SIDECAR_STALE;
	json_free(j);
	return rc;
}

int
sidecar_append(struct sidecar_content *c, const struct str *s)
{
	if (sink_write(c->fd, s->s, s->len) < 0)
		return err_fail_sys("cannot write '%s'", c->name);
	hash_add(c->hash, s->s, s->len);
	c->bytes += s->len;
	return 0;
}

int
sidecar_write(
    const char *path, uint64_t recipe, struct sidecar_content *content)
{
	struct json *j;
	char *name, buf[TIME], sum[HASH_HEX];
	struct stat st;
	int rc;

	hash_end(content->hash, sum);
	if (stat(path, &st) < 0)
		return err_fail_sys("cannot read '%s'", path);
	j = json_object();
	json_set_str(j, "recipe", format_hex(buf, recipe));
	json_set_str(j, "content", sum);
	json_set_num(j, "bytes", (double)content->bytes);
	json_set_str(j, "written", format_mtime(buf, &st));
	name = mem_printf("%s.spec", path);
	rc = jsonfile_write(name, j);
	json_free(j);
	free(name);
	return rc;
}
