/*
 * Embeds a file, such as a style sheet, as a NUL-ended text of this module:
 *
 *	extern const char html_style[];
 *	ASSET(html_style, "src/lib/html.css");
 */
#ifndef ASSET_H
#define ASSET_H

#define ASSET(name, path)                        \
	__asm__(".section .rodata\n" #name ":\n" \
		".incbin \"" path "\"\n"         \
		".byte 0\n"                      \
		".previous\n")

#endif
