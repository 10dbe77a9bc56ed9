/*
 * The files beside this one that a page is made of, as they are.
 */
#ifndef ASSETS_H
#define ASSETS_H

extern const char assets_plot_css[];
extern const char assets_page_css[];
extern const char assets_page_js[];

#endif
