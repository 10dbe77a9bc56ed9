#include "demangled.h"
#include "mem.h"
#include "str.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

void
demangled_add(struct str *to, const char *s, size_t n)
{
	char *name = mem_strn(s, n);
	char *plain = *name == '_' ? cplus_demangle(name, DMGL_NO_OPTS) : NULL;

	str_add(to, plain ? plain : name);
	free(plain);
	free(name);
}
