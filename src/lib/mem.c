#include "mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *
mem_new(size_t size)
{
	return mem_array(1, size);
}

void *
mem_array(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		err_die("out of memory (%zu x %zu bytes)", n, size);
	return p;
}

void *
mem_resize(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		err_die("out of memory (%zu x %zu bytes)", n, size);
	p = realloc(p, n && size ? n * size : 1);
	if (!p)
		err_die("out of memory (%zu x %zu bytes)", n, size);
	return p;
}

void *
mem_grow(void *p, size_t n, size_t *cap, size_t size)
{
	if (p && n < *cap)
		return p;
	*cap = *cap > n ? *cap : n;
	*cap = *cap < 8 ? 8 : *cap * 2;
	return mem_resize(p, *cap, size);
}

void
mem_sort(
    void *p, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n)
		qsort(p, n, size, compare);
}

char *
mem_str(const char *s)
{
	return s ? mem_strn(s, strlen(s)) : NULL;
}

char *
mem_strn(const char *s, size_t n)
{
	char *p = mem_resize(NULL, n + 1, 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

void
mem_free_list(char **list)
{
	for (char **s = list; s && *s; s++)
		free(*s);
	free(list);
}

char *
mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		err_die("out of memory");
	return s;
}
