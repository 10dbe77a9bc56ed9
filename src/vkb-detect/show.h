/*
 * Reports of findings: text for a terminal, Markdown, the text of an issue,
 * records. Each writer appends to a string, and writes equal bytes for equal
 * input.
 */
#ifndef SHOW_H
#define SHOW_H

#include <stdbool.h>

#include "finding.h"

struct str;

/* For a terminal, or as Markdown. */
void show_report(struct str *, const struct branch *, const struct findings *,
    const struct finding_rules *, bool markdown, bool colour);
void show_jsonl(struct str *, const struct branch *, const struct findings *);

/* The text of an issue about one change: its title, after '# ', its key, and
 * what to do. It is not longer than GitHub takes. */
void show_issue(struct str *, const struct branch *, const struct findings *,
    const struct finding_rules *, size_t group);

#endif
