/*
 * Embeds a file, such as a style sheet, as a NUL-ended text of this module:
 *
 *	extern const char svg_style[];
 *	ASSET(svg_style, "src/vkb-flame/svg.css");
 */
#ifndef ASSET_H
#define ASSET_H

#define ASSET(name, path)                        \
	__asm__(".section .rodata\n" #name ":\n" \
		".incbin \"" path "\"\n"         \
		".byte 0\n"                      \
		".previous\n")

#endif
