#include "demangled.h"
#include "str.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

void
demangled_add(struct str *to, const char *name)
{
	char *plain = *name == '_' ? cplus_demangle(name, DMGL_NO_OPTS) : NULL;

	str_add(to, plain ? plain : name);
	free(plain);
}
