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

char *
sysfile_line(const char *root, const char *path)
{
	FILE *f = sysfile_open(root, path);
	char *line = NULL, *s = NULL;
	size_t cap = 0;

	if (!f)
		return NULL;
	if (getline(&line, &cap, f) > 0) {
		s = trim_chars(line, " \t\r\n");
		s = *s ? mem_str(s) : NULL;
	}
	free(line);
	fclose(f);
	return s;
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

char *
sysfile_value(const char *root, const char *path, const char *key)
{
	FILE *f = sysfile_open(root, path);
	char *line = NULL, *v = NULL;
	size_t cap = 0;

	if (!f)
		return NULL;
	while (!v && getline(&line, &cap, f) > 0)
		if (str_starts(line, key)) {
			v = trim_chars(line + strlen(key), " \t\r\n:=\"");
			v = mem_str(v);
		}
	free(line);
	fclose(f);
	if (v && !*v) {
		free(v);
		v = NULL;
	}
	return v;
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
	if (n)
		qsort(list, n, sizeof *list, compare_versions);
	globfree(&g);
	free(whole);
	return list;
}

void
sysfile_list_free(char **list)
{
	for (char **s = list; s && *s; s++)
		free(*s);
	free(list);
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
	sysfile_list_free(list);
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
