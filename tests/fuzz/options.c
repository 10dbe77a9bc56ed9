/* A command line from foreign bytes: words end with a NUL. */
#include "opt.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAXWORDS 16

struct opts {
	bool flag;
	const char *text, *choice;
	struct opt_list list;
	long long number, size;
	double real, seconds;
};

#define FIELD(f) offsetof(struct opts, f)
static const struct opt table[] = {
    {'f', "flag", OPT_FLAG, FIELD(flag), .help = "a flag"},
    {'s', "string", OPT_STR, FIELD(text), "TEXT", .help = "a text"},
    {'l', "list", OPT_LIST, FIELD(list), "TEXT", .help = "many texts"},
    {'n', "number", OPT_INT, FIELD(number), "N", .min = -5, .max = 5,
	.help = "a number"},
    {0, "real", OPT_REAL, FIELD(real), "X", .min = 0, .max = 1,
	.help = "a real number"},
    {0, "wait", OPT_DURATION, FIELD(seconds), "TIME", .help = "a duration"},
    {0, "size", OPT_SIZE, FIELD(size), "BYTES", .help = "a size"},
    {0, "choice", OPT_CHOICE, FIELD(choice), "WORD", .choices = "one|two",
	.help = "a choice"},
    {0}};
static const struct opt_prog prog = {.name = "fuzz",
    .operands = "[FILE ...]",
    .purpose = "Fuzz.",
    .table = table};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[MAXWORDS + 2] = {"fuzz"};
	struct opts o = {.choice = "one"};
	struct opt_args args;
	int argc = 1, rc;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < size && argc <= MAXWORDS;
	     i += strlen(text + i) + 1)
		argv[argc++] = text + i;
	rc = opt_parse(&prog, argc, argv, &o, &args);
	if (rc == 0 &&
	    (o.number < -5 || o.number > 5 || o.real < 0 || o.real > 1 ||
		o.size < 0 || args.n + args.nrest > (size_t)argc))
		abort();
	free(o.list.v);
	free(text);
	return 0;
}
