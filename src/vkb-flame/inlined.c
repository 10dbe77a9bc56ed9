#include "inlined.h"
#include "elffile.h"
#include "folding.h"
#include "intern.h"
#include "mem.h"
#include "str.h"
#include "symbolname.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file {
	Dwfl *all;
	Dwfl_Module *m; /* NULL: it cannot be read */
};

struct inlined {
	struct intern *files;
	struct file *v;
	size_t n, cap;
	struct intern *asked; /* "PC MODULE" */
	char **answers;       /* NULL: no functions found */
	size_t nanswers, capanswers;
};

struct inlined *
inlined_new(void)
{
	struct inlined *x = mem_new(sizeof *x);

	x->files = intern_new();
	x->asked = intern_new();
	return x;
}

void
inlined_free(struct inlined *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->n; i++)
		dwfl_end(x->v[i].all);
	for (size_t i = 0; i < x->nanswers; i++)
		free(x->answers[i]);
	free(x->v);
	free(x->answers);
	intern_free(x->files);
	intern_free(x->asked);
	free(x);
}

/* Addresses in a file that is reported at 0 are those of its link. */
static struct file
open_file(const char *path)
{
	static const Dwfl_Callbacks callbacks = {
	    .find_elf = dwfl_build_id_find_elf,
	    .find_debuginfo = dwfl_standard_find_debuginfo};
	struct file f = {.all = dwfl_begin(&callbacks)};
	int fd = f.all ? elffile_descriptor(path) : -1;

	if (fd < 0)
		return f;
	f.m = dwfl_report_elf(f.all, path, path, fd, 0, true);
	if (!f.m)
		close(fd);
	return f;
}

static Dwfl_Module *
get_module(struct inlined *x, struct text path)
{
	size_t id = intern_idn(x->files, path.s, path.n);

	if (id == x->n) {
		x->v = mem_grow(x->v, x->n, &x->cap, sizeof *x->v);
		x->v[x->n++] = open_file(intern_text(x->files, id));
	}
	return x->v[id].m;
}

/* Finds the compilation unit of an address. Not every compiler writes an index
 * of them. */
static Dwarf_Die *
find_unit(Dwfl_Module *m, Dwarf_Addr at, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(m, at, bias);

	if (!unit)
		while ((unit = dwfl_module_nextcu(m, unit, bias)) &&
		    dwarf_haspc(unit, at - *bias) <= 0)
			;
	return unit;
}

static const char *
get_name(Dwarf_Die *d)
{
	Dwarf_Attribute a;
	const char *s =
	    dwarf_formstring(dwarf_attr_integrate(d, DW_AT_linkage_name, &a));

	return s ? s : dwarf_diename(d);
}

/* Returns the functions at an address as "outer->inner", or NULL. */
static char *
find_functions(Dwfl_Module *m, Dwarf_Addr at)
{
	Dwarf_Die *scopes = NULL, *around = NULL, *unit;
	struct str s = {0};
	Dwarf_Addr bias;
	int n = 0, outer = 0;

	unit = find_unit(m, at, &bias);
	if (unit && dwarf_getscopes(unit, at - bias, &scopes) > 0)
		n = dwarf_getscopes_die(scopes, &around);
	while (outer < n && dwarf_tag(&around[outer]) != DW_TAG_subprogram)
		outer++;
	for (int i = outer < n ? outer : -1; i >= 0; i--) {
		int tag = dwarf_tag(&around[i]);
		const char *name = get_name(&around[i]);

		if (!name ||
		    (tag != DW_TAG_subprogram &&
			tag != DW_TAG_inlined_subroutine))
			continue;
		if (s.len)
			str_add(&s, "->");
		symbolname_demangle(&s, name);
	}
	free(scopes);
	free(around);
	return s.len ? str_take(&s) : NULL;
}

static bool
may_have_code(struct text module)
{
	return module.n > 1 && module.s[0] == '/' &&
	    !memchr(module.s, 0, module.n) &&
	    !memmem(module.s, module.n, "/perf-", 6);
}

bool
inlined_find(
    struct inlined *x, struct text pc, struct text module, struct text *found)
{
	struct str key = {0};
	const char *answer;
	size_t id;

	if (!may_have_code(module) || memchr(pc.s, 0, pc.n))
		return false;
	str_addn(&key, pc.s, pc.n);
	str_addc(&key, ' ');
	str_addn(&key, module.s, module.n);
	id = intern_id(x->asked, key.s);
	if (id == x->nanswers) {
		Dwfl_Module *m = get_module(x, module);

		x->answers = mem_grow(x->answers, x->nanswers, &x->capanswers,
		    sizeof *x->answers);
		x->answers[x->nanswers++] =
		    m ? find_functions(m, strtoull(key.s, NULL, 16)) : NULL;
	}
	str_free(&key);
	answer = x->answers[id];
	*found = (struct text){answer, answer ? strlen(answer) : 0};
	return answer != NULL;
}
