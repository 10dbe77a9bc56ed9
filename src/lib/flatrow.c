#include "flatrow.h"
#include "flat.h"
#include "flatkeys.h"
#include "json.h"
#include "num.h"

#include <stddef.h>
#include <string.h>

/* Columns that describe the row, not the run. */
static const char *const row_columns[] = {"id", "created_at", "test_type",
    "vkb_session", "vkb_case", "vkb_subject", "vkb_index"};

struct json *
flatrow_to_run(struct json *row)
{
	const struct json *next;

	for (size_t i = 0; i < sizeof row_columns / sizeof *row_columns; i++)
		json_del(row, row_columns[i]);
	for (const struct json *j = json_first(row); j; j = next) {
		next = json_next(j);
		if (json_type(j) == JSON_NULL)
			json_del(row, json_key(j));
	}
	return flat_to_run(row);
}

/* Is the column a text, even if that looks like a number? */
static bool
is_text_column(const char *column)
{
	static const char *const texts[] = {
	    "command", "test_id", "test_phase", "scenario", "dataset"};
	const struct flatkeys_key *k = flatkeys_table;

	while (k->flat && strcmp(k->flat, column) != 0)
		k++;
	if (!k->flat)
		return false;
	if (k->section && strcmp(k->section, "env") == 0)
		return strcmp(k->flat, "env_cpu_freq_mhz_at_setup") != 0;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(column, texts[i]) == 0)
			return true;
	return !k->section || strcmp(k->section, "subject") == 0 ||
	    strcmp(k->section, "about") == 0;
}

struct json *
flatrow_parse(const char *column, const char *text)
{
	struct json *j = NULL;
	double v;

	if (!*text)
		return NULL;
	if (is_text_column(column))
		return json_string(text);
	if (strcmp(text, "t") == 0 || strcmp(text, "f") == 0)
		return json_boolean(*text == 't');
	if (num_real(text, &v) == 0)
		return json_number(v);
	if (*text == '{' || *text == '[')
		j = json_parse(text, strlen(text), NULL, NULL);
	return j ? j : json_string(text);
}
