#include "entry.h"
#include "archive.h"
#include "markup.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

enum { LABEL = 100 /* bytes */ };

static const char *
get_title(const struct archive_entry *e)
{
	if (record_subject_is_dirty(e->subject))
		return "uncommitted changes";
	return e->title ? e->title : "";
}

/* Returns what is shown before the title; caller frees. */
static char *
format_id(const struct archive_entry *e)
{
	const char *commit = record_subject_commit(e->subject);

	return commit && *get_title(e) ? record_commit_brief(commit, 8)
				       : record_subject_title(e->subject);
}

void
entry_name(struct str *s, const struct archive_entry *e)
{
	char *id = format_id(e);
	const char *title = get_title(e);

	str_printf(s, "%s%s%s", id, *title ? " " : "", title);
	free(id);
}

void
entry_label(struct str *s, const struct archive_entry *e)
{
	size_t from = s->len;

	if (!isnan(e->time))
		str_printf(s, "%s ", e->day);
	entry_name(s, e);
	str_cut(s, from + LABEL);
}

void
entry_link(struct str *s, const struct archive_entry *e, const char *folder)
{
	char *id = format_id(e);

	/* Keys need no escapes: archive_read takes plain file names only. */
	str_printf(s, "<a href=\"%s%s.html\">", folder, e->key);
	markup_printf(s, "%s</a> %s", id, get_title(e));
	free(id);
}
