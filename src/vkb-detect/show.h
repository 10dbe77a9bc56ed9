/*
 * Findings as a report: text for a terminal, Markdown, records. Each adds to a
 * string; equal input, equal bytes.
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

#endif
