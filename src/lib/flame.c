#include "flame.h"
#include "asset.h"

extern const char flame_style[], flame_script[];
ASSET(flame_style, "src/lib/flame.css");
ASSET(flame_script, "src/lib/flame.js");

const char *
flame_get_style(void)
{
	return flame_style;
}

const char *
flame_get_script(void)
{
	return flame_script;
}
