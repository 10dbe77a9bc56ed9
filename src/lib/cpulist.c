#include "cpulist.h"
#include "str.h"
#include "sysfile.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"

static const char *
parse_cpu_number(const char *s, int *v)
{
	if (!isdigit((unsigned char)*s))
		return NULL;
	for (*v = 0; isdigit((unsigned char)*s); s++)
		if (*v <= CPU_SETSIZE)
			*v = *v * 10 + (*s - '0');
	return s;
}

int
cpulist_parse(const char *s, cpu_set_t *set, const char **why)
{
	int a, b;

	CPU_ZERO(set);
	s += strspn(s, BLANKS);
	*why = "it is empty";
	if (!*s)
		return -1;
	for (;;) {
		s += strspn(s, BLANKS);
		*why = *s == ',' || !*s ? "a part between commas is empty"
		    : *s == '-'         ? "a core number is negative"
					: "a part is not a number or a range";
		s = parse_cpu_number(s, &a);
		if (!s)
			return -1;
		b = a;
		if (*s == '-') {
			*why = "a range has no end";
			s = parse_cpu_number(s + 1, &b);
			if (!s)
				return -1;
		}
		*why = "a range runs backwards";
		if (a > b)
			return -1;
		*why = "a core number is too large";
		if (b >= CPU_SETSIZE)
			return -1;
		for (; a <= b; a++)
			CPU_SET(a, set);
		s += strspn(s, BLANKS);
		if (!*s)
			return 0;
		*why = "a part is not a number or a range";
		if (*s++ != ',')
			return -1;
	}
}

bool
cpulist_read(const char *root, const char *path, cpu_set_t *set)
{
	char *line = sysfile_line(root, path);
	const char *why;
	bool read = line && cpulist_parse(line, set, &why) == 0;

	if (!read)
		CPU_ZERO(set);
	free(line);
	return read;
}

char *
cpulist_text(const cpu_set_t *set)
{
	struct str s = {0};

	for (int i = 0, j; i < CPU_SETSIZE; i = j + 1) {
		for (j = i; j < CPU_SETSIZE && CPU_ISSET(j, set); j++)
			;
		if (j == i)
			continue;
		str_printf(&s, s.len ? ",%d" : "%d", i);
		if (j - 1 > i)
			str_printf(&s, "-%d", j - 1);
	}
	return str_take(&s);
}
