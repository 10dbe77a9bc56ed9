/* SVG to PNG, by rsvg-convert of librsvg. */
#ifndef RASTER_H
#define RASTER_H

struct str;

/* Adds the PNG, of twice the size; 0, or -1 and said: the program is not there,
 * or cannot. */
int raster_png(struct str *to, const struct str *svg);

#endif
