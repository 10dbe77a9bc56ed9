/* The page: one HTML file without external resources. */
#ifndef PAGE_H
#define PAGE_H

struct figures;
struct model;
struct str;

struct page {
	const struct model *m;
	const struct figures *figures;
	const char *title;      /* NULL: made from the subjects */
	const char *commit_url; /* NULL: no links to commits */
};

void page_write(struct str *, const struct page *);

#endif
