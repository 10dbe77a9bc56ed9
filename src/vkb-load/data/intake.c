#include "intake.h"
#include "err.h"
#include "mem.h"
#include "vkb-load/engine/rowset.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define NAMES_MOST 512          /* kept for a message */
#define VALUE_MOST (512U << 20) /* bytes; a server's limit of a bulk string */

int
intake_read_line(void *intake, const char **line, size_t *n)
{
	struct intake *in = intake;
	ssize_t k = getline(&in->line, &in->cap, in->f);

	if (k < 0 && ferror(in->f))
		return err_fail_sys("cannot read '%s'", in->want->path);
	if (k < 0)
		return 0;
	in->line_number++;
	*line = in->line;
	*n = (size_t)k;
	return 1;
}

static bool
is_name(const char *s, const char *name, size_t n)
{
	return strncmp(s, name, n) == 0 && !s[n];
}

int
intake_find_field(struct intake *in, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < in->nfields; i++)
		if (is_name(in->want->fields[i], name, n)) {
			in->seen[i] = true;
			return (int)i;
		}
	for (i = 0; i < in->nnames; i++)
		if (is_name(in->names[i], name, n))
			return -1;
	if (in->nnames < NAMES_MOST) {
		in->names =
		    mem_resize(in->names, in->nnames + 2, sizeof *in->names);
		in->names[in->nnames++] = mem_strn(name, n);
		in->names[in->nnames] = NULL;
	}
	return -1;
}

int
intake_check_fields(struct intake *in)
{
	const char *const *fields = in->want->fields, *missing = NULL;
	struct str s = {0};
	size_t i;

	for (i = in->nfields; i-- > 0;)
		if (!in->seen[i])
			missing = fields[i];
	if (!missing)
		return 0;
	for (i = 0; i < in->nfields; i++)
		if (in->seen[i])
			str_printf(&s, "%s'%s'", s.len ? ", " : "", fields[i]);
	for (i = 0; i < in->nnames; i++)
		str_printf(&s, "%s'%s'", s.len ? ", " : "", in->names[i]);
	err_say("%s: no field '%s'; %s%s", in->want->path, missing,
	    s.len ? "the fields are " : "the file has no fields",
	    s.len ? s.s : "");
	str_free(&s);
	return -1;
}

void
intake_set_field(struct intake *in, int field, const void *value, size_t n)
{
	struct intake_value *v = &in->values[field];

	if (v->given)
		return;
	*v = (struct intake_value){in->text.len, n, true};
	str_addn(&in->text, value, n);
}

int
intake_end_row(struct intake *in)
{
	struct intake_value *v;
	uint64_t n = rowset_count(in->d) + 1;

	if (in->stop && in->stop(in->arg))
		return -1;
	if (in->text.len > VALUE_MOST)
		return err_fail("%s: row %llu is larger than 512 MB",
		    in->want->path, (unsigned long long)n);
	for (size_t i = 0; i < in->nfields; i++) {
		v = &in->values[i];
		in->row[i] = (struct rowset_value){
		    v->given ? in->text.s + v->at : "", v->n};
	}
	if (rowset_add(in->d, in->row) < 0)
		return -1;
	memset(in->values, 0, in->nfields * sizeof *in->values);
	str_clear(&in->text);
	return in->want->maxdocs > 0 && n >= (uint64_t)in->want->maxdocs;
}
