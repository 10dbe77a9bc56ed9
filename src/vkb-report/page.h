/* The page: one HTML file without external resources. */
#ifndef PAGE_H
#define PAGE_H

#include <stddef.h>

struct delta;
struct figures;
struct forest;
struct headline;
struct model;
struct str;
struct subject;

struct page {
	const struct model *m;
	const struct figures *figures;
	const char *title;      /* NULL: made from the subjects */
	const char *commit_url; /* NULL: no links to commits */
};

void page_write(struct str *, const struct page *);

/* --- sections; each appends nothing if there is nothing to show */

void page_verdict(struct str *, const struct page *);
/* The cases of a comparison that changed. */
void page_changed(struct str *, const struct page *, const struct headline *);
/* The medians of all cases, where nothing was compared. */
void page_results(struct str *, const struct page *);
void page_changes(struct str *, const struct page *);
void page_cases(struct str *, const struct page *);
void page_scaling(struct str *, const struct page *);
void page_history(struct str *, const struct page *);
void page_profiles(struct str *, const struct page *);
void page_environment(struct str *, const struct page *);
void page_failed(struct str *, const struct page *);

/* Appends the name of a subject, with a link to its commit if the URL of that
 * is known; page_subject_cell as a cell of a table. */
void page_subject(struct str *, const struct page *, const struct subject *);
void page_subject_cell(
    struct str *, const struct page *, const struct subject *);

struct kase;
/* Appends the name of a case, with a link if it is shown in detail. */
void page_case_link(struct str *, const struct kase *);

/* Returns each of the *n metrics of deltas; the caller frees the array. */
const char **page_metrics(const struct model *, size_t *n);
/* Append the answer of a row; the cell of its chart, and that of their scale.
 */
void page_badge(struct str *, const struct delta *, const char *answer);
void page_chart(struct str *, const struct forest *, const struct delta *);
void page_scale(struct str *, const struct forest *);

/* Tables of the numbers behind the plots. */
void page_numbers(struct str *, const struct page *, const struct kase *);
void page_scaling_numbers(struct str *, const struct page *);

enum {
	PAGE_CASES = 100, /* shown in detail */
	PAGE_FEW = 12     /* cases: of more, details are folded at first */
};

#endif
