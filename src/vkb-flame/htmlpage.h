/* An HTML page with a flame graph and its functions in a table. */
#ifndef HTMLPAGE_H
#define HTMLPAGE_H

struct functions_of;
struct str;
struct svg_opts;

void htmlpage_write(
    struct str *, const struct functions_of *, const struct svg_opts *);

#endif
