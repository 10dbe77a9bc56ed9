#include "config.h"
#include "tap.h"

/* --keys: the table, for the test that compares it with vkb-config(5). */
static int
keys(void)
{
	char words[CONFIG_WORDS];

	for (const struct config_key *k = config_keys; k->name; k++)
		printf("%s.%s %s\n", k->place, k->name, config_words(k, words));
	return 0;
}

static bool
place_exists(const char *place)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (strcmp(k->place, place) == 0)
			return true;
	return strcmp(place, "any") == 0;
}

int
main(int argc, char **argv)
{
	char words[CONFIG_WORDS];

	if (argc > 1 && strcmp(argv[1], "--keys") == 0)
		return keys();
	for (const struct config_key *k = config_keys; k->name; k++) {
		tap_ok(*config_words(k, words) && *k->help,
		    "%s.%s is described", k->place, k->name);
		tap_ok(strcmp(k->applies, "core") == 0 ||
			strcmp(k->applies, "scenario") == 0 ||
			strcmp(k->applies, "both") == 0,
		    "%s.%s applies to %s", k->place, k->name, k->applies);
		if (k->rule == CONFIG_OBJECT || k->rule == CONFIG_OBJECTS)
			tap_ok(place_exists(k->inner), "%s.%s has keys",
			    k->place, k->name);
		for (const struct config_key *l = k + 1; l->name; l++)
			if (strcmp(k->place, l->place) == 0 &&
			    strcmp(k->name, l->name) == 0)
				tap_ok(false, "%s.%s is there twice", k->place,
				    k->name);
	}
	return tap_done();
}
