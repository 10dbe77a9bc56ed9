/*
 * Findings as a report: text for a terminal, Markdown, the text of an issue,
 * records. Each adds to a string; equal input, equal bytes.
 */
#ifndef SHOW_H
#define SHOW_H

#include <stdbool.h>

#include "finding.h"

struct str;

void show_text(struct str *, const struct branch *, const struct findings *,
    const struct finding_rules *, bool colour);
void show_markdown(struct str *, const struct branch *, const struct findings *,
    const struct finding_rules *);
void show_jsonl(struct str *, const struct branch *, const struct findings *);

/* One change, for people who did not run this: its title, after '# ', then its
 * key. No more than GitHub takes. */
void show_issue(struct str *, const struct branch *, const struct findings *,
    const struct finding_rules *, size_t group);

/* Rows of a change that a report has. */
size_t show_room(const struct finding_group *);

/* So many of them as a table of Markdown, while the text is within a limit. */
void show_table(struct str *, const struct branch *, const struct findings *,
    size_t group, size_t most, size_t limit);

#endif
