#include "wikipedia.h"
#include "checksum.h"
#include "download.h"
#include "err.h"
#include "folder.h"
#include "hash.h"
#include "mem.h"
#include "str.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST (1 << 20) /* bytes that identify a dump */

char *
wikipedia_find_path(const char *where, const char *dir)
{
	const char *slash = strrchr(where, '/');

	if (!download_is_url(where))
		return mem_str(where);
	return mem_printf(
	    "%s/%.*s", dir, (int)strcspn(slash + 1, "?#"), slash + 1);
}

/* Returns the length of wiki name and date ("enwiki-latest"), 0 if none. */
static size_t
get_prefix_length(const char *name)
{
	const char *a = strchr(name, '-'), *b = a ? strchr(a + 1, '-') : NULL;

	return b ? (size_t)(b - name) : 0;
}

/* Returns whether both name the same dump, apart from the date ("latest"). */
static bool
is_same_dump(const char *name, const char *listed)
{
	size_t wiki = strcspn(name, "-") + 1;
	const char *rest = strncmp(name, listed, wiki) == 0
	    ? strchr(listed + wiki, '-')
	    : NULL;

	return rest && strcmp(name + get_prefix_length(name), rest) == 0;
}

/* Finds the SHA-1 of 'name' in lines of "HEX NAME", which it splits; false if
 * it is not listed. */
static bool
find_listed_sum(char *list, const char *name, char hex[HASH_SHA1_HEX])
{
	char *rest;

	for (char *line = strtok_r(list, "\r\n", &rest); line;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		char *file = line + strspn(line, "0123456789abcdefABCDEF");

		if (file - line != HASH_SHA1_HEX - 1 || *file != ' ')
			continue;
		*file++ = '\0';
		if (!is_same_dump(name, file + strspn(file, " *")))
			continue;
		memcpy(hex, line, HASH_SHA1_HEX);
		return true;
	}
	return false;
}

/* Wikimedia publishes enwiki-latest-sha1sums.txt beside its dumps. */
static bool
fetch_published_sum(const char *url, char hex[HASH_SHA1_HEX])
{
	const char *name = strrchr(url, '/') + 1;
	size_t n = get_prefix_length(name);
	struct str list = {0};
	bool found = false;
	char *sums;

	if (!n)
		return false;
	sums = mem_printf("%.*s-sha1sums.txt", (int)(name - url) + (int)n, url);
	if (download_text(sums, &list) == 0 && list.len)
		found = find_listed_sum(list.s, name, hex);
	free(sums);
	str_free(&list);
	return found;
}

static int
check_dump_sum(const char *url, const char *path, const char *sha1)
{
	char *part = mem_printf("%s.part", path), want[HASH_SHA1_HEX],
	     is[HASH_HEX];
	int rc = 0;

	if (sha1)
		snprintf(want, sizeof want, "%s", sha1);
	else if (!fetch_published_sum(url, want)) {
		err_say("'%s' is not checked: the server publishes no SHA-1 of "
			"it; use --sha1",
		    url);
		goto out;
	}
	if (hash_file(HASH_SHA1, part, is) < 0) {
		rc = err_fail_sys("cannot read '%s'", part);
	} else if (strcasecmp(is, want) != 0) {
		rc = err_fail("'%s' has the SHA-1 %s, not %s: the download is "
			      "deleted",
		    url, is, want);
		download_end(path, false);
	}
out:
	free(part);
	return rc;
}

char *
wikipedia_fetch_dump(
    const char *where, const char *dir, const char *sha1, struct meter *meter)
{
	char *path = wikipedia_find_path(where, dir);

	if (!download_is_url(where) || access(path, F_OK) == 0)
		return path;
	if (folder_make(dir) == 0 && download_part(where, path, meter) == 0 &&
	    check_dump_sum(where, path, sha1) == 0 &&
	    download_end(path, true) == 0)
		return path;
	free(path);
	return NULL;
}

int
wikipedia_hash_dump(const char *path, uint64_t *id)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_fail_sys("cannot read '%s'", path);
	if (checksum_file(path, FIRST, id) < 0)
		return -1;
	*id ^= (uint64_t)st.st_size;
	return 0;
}
