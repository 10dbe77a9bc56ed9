#include "assets.h"

/* The assembler embeds a file under the given symbol and appends a NUL. */
#define ASSET(name, file)                               \
	__asm__(".section .rodata\n"                    \
		".global " #name "\n" #name ":\n"       \
		".incbin \"src/vkb-report/" file "\"\n" \
		".byte 0\n"                             \
		".previous\n")

ASSET(assets_plot_css, "plot.css");
ASSET(assets_page_css, "page.css");
ASSET(assets_page_js, "page.js");
