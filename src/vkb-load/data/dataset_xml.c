#include "err.h"
#include "intake.h"
#include "str.h"

#include <expat.h>
#include <string.h>

#define PIECE 65536

struct reader {
	struct intake *in;
	XML_Parser p;
	struct str text;
	int field;      /* being read, or -1 */
	unsigned depth; /* open elements, from the row on; 0: no row */
	unsigned at;    /* the depth of the field */
	int rc;         /* result of intake_end_row */
};

static void XMLCALL
on_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct reader *r = arg;
	const char *row = r->in->want->xml_element;
	int field;

	(void)attributes;
	if (r->depth == 0) {
		r->depth = strcmp(name, row ? row : "doc") == 0;
		return;
	}
	r->depth++;
	if (r->field >= 0)
		return;
	field = intake_find_field(r->in, name, strlen(name));
	if (field < 0 || r->in->values[field].given)
		return;
	r->field = field;
	r->at = r->depth;
	str_clear(&r->text);
}

static void XMLCALL
on_end(void *arg, const XML_Char *name)
{
	struct reader *r = arg;

	(void)name;
	if (r->depth == 0)
		return;
	if (r->field >= 0 && r->depth == r->at) {
		intake_set_field(
		    r->in, r->field, r->text.len ? r->text.s : "", r->text.len);
		r->field = -1;
	}
	if (--r->depth)
		return;
	r->rc = intake_end_row(r->in);
	if (r->rc != 0)
		XML_StopParser(r->p, XML_FALSE);
}

static void XMLCALL
on_text(void *arg, const XML_Char *s, int n)
{
	struct reader *r = arg;

	if (r->field >= 0)
		str_addn(&r->text, s, (size_t)n);
}

static int
parse_xml(struct reader *r)
{
	const char *name = r->in->want->path;
	bool end = false;
	size_t n;
	char *buf;

	while (!end) {
		buf = XML_GetBuffer(r->p, PIECE);
		if (!buf)
			err_die("out of memory");
		n = fread(buf, 1, PIECE, r->in->f);
		if (ferror(r->in->f))
			return err_fail_sys("cannot read '%s'", name);
		end = n < PIECE;
		if (XML_ParseBuffer(r->p, (int)n, end) == XML_STATUS_OK)
			continue;
		if (r->rc != 0)
			break;
		return err_fail("%s:%lu: bad XML: %s", name,
		    (unsigned long)XML_GetCurrentLineNumber(r->p),
		    XML_ErrorString(XML_GetErrorCode(r->p)));
	}
	return r->rc < 0 ? -1 : 0;
}

int
dataset_xml(struct intake *in)
{
	struct reader r = {.in = in, .field = -1};
	int rc;

	r.p = XML_ParserCreate(NULL);
	if (!r.p)
		err_die("out of memory");
	XML_SetUserData(r.p, &r);
	XML_SetElementHandler(r.p, on_start, on_end);
	XML_SetCharacterDataHandler(r.p, on_text);
	rc = parse_xml(&r);
	if (rc == 0)
		rc = intake_check_fields(in);
	XML_ParserFree(r.p);
	str_free(&r.text);
	return rc;
}
