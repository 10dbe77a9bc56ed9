/* Converts SVG to PNG with rsvg-convert (librsvg). */
#ifndef RASTER_H
#define RASTER_H

struct str;

/* Appends the PNG at twice the size. Returns 0, or -1 after reporting that
 * rsvg-convert is missing or failed. */
int raster_png(struct str *to, const struct str *svg);

#endif
