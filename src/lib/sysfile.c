#include "sysfile.h"
#include "mem.h"
#include "str.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *
sysfile_open(const char *root, const char *path)
{
	char *whole = mem_printf("%s%s", root, path);
	FILE *f = fopen(whole, "re");

	free(whole);
	return f;
}

/* Removes the characters of 'set' from both ends. */
static char *
trim_chars(char *s, const char *set)
{
	size_t n;

	s += strspn(s, set);
	n = strlen(s);
	while (n && strchr(set, s[n - 1]))
		s[--n] = '\0';
	return s;
}

/* Returns what follows 'key' in the first line that begins with it, without the
 * characters of 'blanks' around it; NULL if that is empty. */
static char *
read_value(
    const char *root, const char *path, const char *key, const char *blanks)
{
	FILE *f = sysfile_open(root, path);
	char *line = NULL, *v = NULL;
	size_t cap = 0;

	while (f && !v && getline(&line, &cap, f) > 0)
		if (str_starts(line, key))
			v = trim_chars(line + strlen(key), blanks);
	v = v && *v ? mem_str(v) : NULL;
	free(line);
	if (f)
		fclose(f);
	return v;
}

char *
sysfile_line(const char *root, const char *path)
{
	return read_value(root, path, "", " \t\r\n");
}

char *
sysfile_chosen(const char *root, const char *path)
{
	char *s = sysfile_line(root, path);
	char *open = s ? strchr(s, '[') : NULL;
	char *shut = open ? strchr(open, ']') : NULL;

	if (shut) {
		*shut = '\0';
		memmove(s, open + 1, strlen(open + 1) + 1);
	}
	return s;
}

char *
sysfile_value(const char *root, const char *path, const char *key)
{
	return read_value(root, path, key, " \t\r\n:=\"");
}

/* Returns the number that 's' begins with, or NAN. Frees 's'. */
static double
take_number(char *s)
{
	char *end;
	double v = s ? strtod(s, &end) : NAN;

	if (s && end == s)
		v = NAN;
	free(s);
	return isfinite(v) ? v : NAN;
}

double
sysfile_num(const char *root, const char *path)
{
	return take_number(sysfile_line(root, path));
}

double
sysfile_value_num(const char *root, const char *path, const char *key)
{
	return take_number(sysfile_value(root, path, key));
}

static int
compare_versions(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

char **
sysfile_glob(const char *root, const char *pattern)
{
	char *whole = mem_printf("%s%s", root, pattern), **list;
	size_t n = 0, skip = strlen(root);
	glob_t g = {0};

	if (glob(whole, GLOB_NOSORT, NULL, &g) == 0)
		n = g.gl_pathc;
	list = mem_array(n + 1, sizeof *list);
	for (size_t i = 0; i < n; i++)
		list[i] = mem_str(g.gl_pathv[i] + skip);
	mem_sort(list, n, sizeof *list, compare_versions);
	globfree(&g);
	free(whole);
	return list;
}

char *
sysfile_all(const char *root, const char *pattern)
{
	char **list = sysfile_glob(root, pattern), *line;
	struct str s = {0};

	for (char **p = list; *p; p++) {
		line = sysfile_line(root, *p);
		if (line && !str_has_part(s.s, line, ','))
			str_printf(&s, "%s%s", s.len ? "," : "", line);
		free(line);
	}
	mem_free_list(list);
	return s.len ? str_take(&s) : NULL;
}

bool
sysfile_exists(const char *root, const char *path)
{
	char *whole = mem_printf("%s%s", root, path);
	bool is = access(whole, F_OK) == 0;

	free(whole);
	return is;
}
