/* Style and script that make the graph interactive, embedded in its SVG. */
#ifndef PAGE_H
#define PAGE_H

extern const char page_style[];
extern const char page_script[];

#endif
