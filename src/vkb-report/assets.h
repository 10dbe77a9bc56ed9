/* Style sheets and the script of a report page, embedded as NUL-ended texts. */
#ifndef ASSETS_H
#define ASSETS_H

extern const char assets_plot_css[];
extern const char assets_page_css[];
extern const char assets_page_js[];

#endif
