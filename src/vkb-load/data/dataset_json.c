#include "err.h"
#include "intake.h"
#include "jsonscan.h"
#include "jsontext.h"
#include "str.h"

#include <string.h>

static void
read_json_value(
    struct intake *in, struct jsonscan *c, int field, struct str *buf)
{
	struct jsonscan_text t;

	if (jsonscan_peek(c) == '"') {
		if (!jsonscan_string(c, &t))
			return;
		str_clear(buf);
		jsontext_resolve(buf, &t);
		intake_set_field(in, field, buf->s, buf->len);
	} else if (jsonscan_value(c, &t, NULL)) {
		intake_set_field(in, field, t.s, t.n);
	}
}

/* 0, or -1, error reported. */
static int
read_json_line(struct intake *in, const char *line, size_t n, struct str *buf)
{
	struct jsonscan_keys keys;
	struct jsonscan_text key;
	struct jsonscan c;
	const char *why;
	size_t at;
	int field;

	jsonscan_begin(&c, line, n);
	if (jsonscan_peek(&c) != '{')
		return err_fail("%s:%llu: bad row: not a JSON object",
		    in->want->path, in->line_number);
	if (jsonscan_object(&c, &keys))
		while (jsonscan_member(&c, &keys, &key)) {
			str_clear(buf);
			jsontext_resolve(buf, &key);
			field = intake_find_field(
			    in, buf->s ? buf->s : "", buf->len);
			if (field >= 0)
				read_json_value(in, &c, field, buf);
			else
				jsonscan_value(&c, NULL, NULL);
		}
	if (jsonscan_end(&c, &why, &at) < 0)
		return err_fail("%s:%llu:%zu: bad row: %s", in->want->path,
		    in->line_number, at + 1, why);
	return 0;
}

int
dataset_json(struct intake *in)
{
	struct str buf = {0};
	const char *line;
	int k, row = 0;
	size_t n;

	while (row == 0 && (k = intake_read_line(in, &line, &n)) > 0) {
		while (n && strchr(" \t\r\n", line[n - 1]) && line[n - 1])
			n--;
		in->line[n] = '\0';
		if (n)
			row = read_json_line(in, line, n, &buf) < 0
			    ? -1
			    : intake_end_row(in);
	}
	str_free(&buf);
	return row < 0 || k < 0 ? -1 : intake_check_fields(in);
}
