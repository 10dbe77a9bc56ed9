#include "vbcaps.h"
#include "err.h"
#include "hash.h"
#include "mem.h"
#include "proc.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define ANSWER_MS 10000
#define VERSION_MOST 200

/* The first line of --version; versions before 6 do not know the option. */
static char *
read_version(const char *path)
{
	const char *const argv[] = {path, "--version", NULL};
	struct str out = {0}, s = {0};
	int status;

	if (proc_read(argv, true, ANSWER_MS, &out, &status) == 0 && out.len &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		out.s[strcspn(out.s, "\r\n")] = '\0';
		if (strlen(out.s) <= VERSION_MOST)
			str_visible(&s, out.s);
	}
	str_free(&out);
	if (s.len)
		return str_take(&s);
	str_free(&s);
	return NULL;
}

int
vbcaps_read(struct vbcaps *v, const char *path)
{
	const char *const argv[] = {path, "--help", NULL};
	char hex[HASH_HEX];
	struct str out = {0};
	int status;

	*v = (struct vbcaps){.path = mem_str(path)};
	if (proc_read(argv, true, ANSWER_MS, &out, &status) < 0) {
		str_free(&out);
		return -1;
	}
	v->help = str_take(&out);
	if (!vbcaps_has(v, "-n") || !vbcaps_has(v, "--csv"))
		return err_fail("'%s' is not valkey-benchmark: its --help does "
				"not list '-n' and '--csv'",
		    path);
	v->version = read_version(path);
	if (hash_file(HASH_SHA256, path, hex) == 0)
		v->sha256 = mem_str(hex);
	return 0;
}

void
vbcaps_free(struct vbcaps *v)
{
	free(v->path);
	free(v->version);
	free(v->sha256);
	free(v->help);
}

const char *
vbcaps_name(const struct vbcaps *v)
{
	return v->version ? v->version : v->path;
}

/*
 * Matches a whole word at the beginning of a line: "--cert" is not "--certs".
 */
bool
vbcaps_has(const struct vbcaps *v, const char *option)
{
	size_t n = strlen(option);

	for (const char *p = v->help; p; p = strchr(p, '\n')) {
		p += strspn(p, " \t\r\n");
		if (strncmp(p, option, n) == 0 &&
		    (!p[n] || strchr(" \t\r\n", p[n])))
			return true;
	}
	return false;
}

bool
vbcaps_mentions(const struct vbcaps *v, const char *word)
{
	return strstr(v->help, word) != NULL;
}

/*
 * Only if its help names the variable; the alternative would be an argument,
 * which is public.
 */
const char *
vbcaps_password(const struct vbcaps *v)
{
	static const char *const names[] = {"VALKEYCLI_AUTH", "REDISCLI_AUTH"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (vbcaps_mentions(v, names[i]))
			return names[i];
	return NULL;
}
