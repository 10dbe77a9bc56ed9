#include "opt.h"
#include "err.h"
#include "mem.h"
#include "num.h"
#include "redact.h"
#include "str.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VKB_VERSION
#define VKB_VERSION "0"
#endif

enum { HELP, VERSION, BUILTINS };

static const struct opt builtin_options[] = {
    {'h', "help", OPT_FLAG, 0, .help = "print this help and exit"},
    {'V', "version", OPT_FLAG, 0, .help = "print the version and exit"}, {0}};

static const struct opt *
find_option(const struct opt *t, const char *name, size_t n, char letter)
{
	for (; t->name; t++)
		if (letter ? t->letter == letter
			   : strlen(t->name) == n &&
			    strncmp(t->name, name, n) == 0)
			return t;
	return NULL;
}

/* Of valkey-cli and others; all programs that connect to a server answer these.
 */
#define PASSWORD "set VKB_PASSWORD, as arguments can be read by all users"
static const struct opt_foreign foreign_passwords[] = {{"-a", PASSWORD},
    {"--pass", PASSWORD}, {"--password", PASSWORD}, {"--askpass", PASSWORD},
    {"--authenticate", PASSWORD}, {0}};

/* Fills 'to' with the options of all programs. Where -h is that of a host, as
 * in valkey-cli, it is help only without one. */
static void
list_builtins(const struct opt_prog *p, struct opt to[BUILTINS + 1])
{
	for (int i = 0; i <= BUILTINS; i++)
		to[i] = builtin_options[i];
	if (find_option(p->table, NULL, 0, to[HELP].letter))
		to[HELP].letter = 0;
}

/* Returns the name behind "vkb ". */
static const char *
get_short_name(const struct opt_prog *p)
{
	return p->name + (str_starts(p->name, "vkb-") ? strlen("vkb-") : 0);
}

static char *
format_synopsis(const struct opt_prog *p)
{
	return mem_printf("%s [OPTION ...]%s%s", p->name,
	    *p->operands ? " " : "", p->operands);
}

/* Prints words in columns 'indent' to 'last'; the first line begins at 'col'.
 * What is in brackets counts as one word. */
static void
print_folded(const char *s, int col, int indent, int last)
{
	while (*s) {
		int n = 0, depth = 0;

		for (; s[n] && (s[n] != ' ' || depth); n++)
			depth += (s[n] == '[') - (s[n] == ']');
		if (col > indent && col + 1 + n > last) {
			putchar('\n');
			col = 0;
		}
		if (col < indent)
			col += printf("%*s", indent - col, "");
		else if (col > indent)
			col += printf(" ");
		col += printf("%.*s", n, s);
		s += n + (s[n] == ' ');
	}
	putchar('\n');
}

static void
print_option(const struct opt *o)
{
	const int indent = 31;
	struct str s = {0};
	int col;

	col = printf("  %c%c%s --%s %s", o->letter ? '-' : ' ',
	    o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
	    o->arg ? o->arg : "");
	if (col >= indent) {
		putchar('\n');
		col = 0;
	}
	str_add(&s, o->help);
	if (o->choices)
		str_printf(&s, " (%s)", o->choices);
	print_folded(s.s, col, indent, 78);
	str_free(&s);
}

/* Does --help leave some out? */
static bool
hides_options(const struct opt_prog *p)
{
	for (const struct opt *o = p->table; o->name; o++)
		if (o->group && !*o->group)
			return true;
	return false;
}

static void
print_help(const struct opt_prog *p)
{
	char *s = format_synopsis(p);
	struct opt builtins[BUILTINS + 1];
	bool shown = true;

	print_folded(s, printf("usage: "), strlen("usage: "), 77);
	printf("\n%s\n%s", p->purpose, p->table->group ? "" : "\n");
	for (const struct opt *o = p->table; o->name; o++) {
		if (o->group && (shown = *o->group))
			printf("\n%s:\n", o->group);
		if (shown)
			print_option(o);
	}
	list_builtins(p, builtins);
	for (int i = 0; i < BUILTINS && !p->table->group; i++)
		print_option(&builtins[i]);
	if (p->examples)
		printf("\nExamples:\n%s", p->examples);
	printf("\n'vkb help %s' opens the manual%s.\n", get_short_name(p),
	    hides_options(p) ? ", which has all options" : "");
	free(s);
}

/* For tests and completion: letter, name, kind, argument, choices, help. */
static void
dump_options(const struct opt *o)
{
	static const char *const kinds[] = {"flag", "string", "list", "int",
	    "real", "duration", "size", "choice"};

	for (; o->name; o++)
		printf("%c\t%s\t%s\t%s\t%s\t%s\n", o->letter ? o->letter : '-',
		    o->name, kinds[o->kind], o->arg ? o->arg : "-",
		    o->choices ? o->choices : "-", o->help);
}

static int
flush_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 1;
	return err_fail_sys("cannot write to stdout");
}

static int
report_bad_value(const struct opt *o, const char *v, const char *want)
{
	if ((o->min != 0 || o->max != 0) && !o->choices)
		return err_fail("option '--%s': '%s' is not %s from %.16g to "
				"%.16g",
		    o->name, v, want, o->min, o->max);
	return err_fail("option '--%s': '%s' is not %s", o->name, v, want);
}

/* The command line, and where its options go. */
struct parsing {
	const struct opt_prog *p;
	int argc, i; /* the word that is parsed */
	char **argv;
	void *dst;
	struct opt_args *args;
};

static int
store_option(struct parsing *x, const struct opt *o, const char *v)
{
	const char **given = &x->args->given[o - x->p->table];
	void *field = (char *)x->dst + o->offset;
	bool bound = o->min != 0 || o->max != 0;
	struct opt_list *list;
	long long i;
	double d;

	if (o->kind == OPT_STR && !o->last && *given && strcmp(*given, v) != 0)
		return err_fail("option '--%s' is given twice: choose one of "
				"its values",
		    o->name);
	*given = v ? v : "";
	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_STR:
		*(const char **)field = v;
		return 0;
	case OPT_LIST:
		list = field;
		list->v = mem_resize(list->v, list->n + 1, sizeof *list->v);
		list->v[list->n++] = v;
		return 0;
	case OPT_INT:
	case OPT_SIZE:
		if ((o->kind == OPT_INT ? num_int : num_size)(v, &i) < 0 ||
		    (bound && ((double)i < o->min || (double)i > o->max)))
			return report_bad_value(o, v,
			    o->kind == OPT_INT ? "a whole number"
					       : "a size (16, 4k, 1m, 2g)");
		*(long long *)field = i;
		return 0;
	case OPT_REAL:
	case OPT_DURATION:
		if ((o->kind == OPT_REAL ? num_real : num_duration)(v, &d) <
			0 ||
		    (bound && (d < o->min || d > o->max)))
			return report_bad_value(o, v,
			    o->kind == OPT_REAL ? "a number"
						: "a duration (90s, 2m, 3h)");
		*(double *)field = d;
		return 0;
	case OPT_CHOICE:
		if (!str_has_part(o->choices, v, '|'))
			return err_fail("option '--%s': '%s' is not one of %s",
			    o->name, v, o->choices);
		*(const char **)field = v;
		return 0;
	}
	err_die("option '--%s' has no kind", o->name);
}

/* Returns the option of another program of that name, or the nearest one. NULL
 * if there is none. */
static const struct opt_foreign *
find_foreign(const struct opt_foreign *f, const char *option, bool near)
{
	const char *names[128];
	size_t n = 0;

	for (const struct opt_foreign *g = f; g && g->option && n < 127; g++)
		if (g->option[1] == '-')
			names[n++] = g->option + 2;
	names[n] = NULL;
	option += near ? 2 : 0;
	if (near)
		option = str_nearest(option, names);
	for (; option && f && f->option; f++)
		if (strcmp(f->option + (near ? 2 : 0), option) == 0)
			return f;
	return NULL;
}

/* The same of this program's, and of passwords where it connects to a server.
 */
static const struct opt_foreign *
find_instead(const struct opt_prog *p, const char *option, bool near)
{
	const struct opt_foreign *f = find_foreign(p->foreign, option, near);

	if (!f && find_option(p->table, NULL, 0, 'h'))
		f = find_foreign(foreign_passwords, option, near);
	return f;
}

/* Reports an option, such as "-a" or "--rps", and what to write instead. */
static int
report_unknown_option(const struct opt_prog *p, const char *option)
{
	const char *names[128], *near = NULL;
	const struct opt_foreign *f = find_instead(p, option, false);
	size_t n = 0;

	if (f)
		return err_fail("unknown option '%s'; %s", option, f->instead);
	for (const struct opt *o = p->table; o->name && n < 120; o++)
		names[n++] = o->name;
	names[n++] = "help";
	names[n++] = "version";
	names[n] = NULL;
	if (option[1] == '-')
		near = str_nearest(option + 2, names);
	if (!near && option[1] == '-')
		f = find_instead(p, option, true);
	if (f)
		return err_fail("unknown option '%s'; if '%s' is meant: %s",
		    option, f->option, f->instead);
	return err_fail("unknown option '%s'%s%s%s (see 'vkb %s %s')%s%s",
	    option, near ? ", did you mean '--" : "", near ? near : "",
	    near ? "'?" : "", hides_options(p) ? "help" : get_short_name(p),
	    hides_options(p) ? get_short_name(p) : "--help",
	    p->hint ? "; " : "", p->hint ? p->hint : "");
}

/* Parses "--name", "--name=value" or "--name value"; advances x->i. */
static int
parse_long_option(struct parsing *x)
{
	const char *name = x->argv[x->i] + 2, *eq = strchr(name, '=');
	size_t n = eq ? (size_t)(eq - name) : strlen(name);
	const struct opt *o = find_option(x->p->table, name, n, 0);
	char *word;
	int rc;

	if (!o) {
		word = mem_strn(x->argv[x->i], n + 2);
		rc = report_unknown_option(x->p, word);
		free(word);
		return rc;
	}
	if (o->kind == OPT_FLAG) {
		if (eq)
			return err_fail(
			    "option '--%s' takes no value", o->name);
		return store_option(x, o, NULL);
	}
	if (eq)
		return store_option(x, o, eq + 1);
	if (x->i + 1 >= x->argc)
		return err_fail(
		    "option '--%s' needs an argument: %s", o->name, o->arg);
	return store_option(x, o, x->argv[++x->i]);
}

/* Parses a cluster of letters; the last may have a value: -qo FILE, -oFILE. */
static int
parse_letters(struct parsing *x)
{
	for (const char *s = x->argv[x->i] + 1; *s; s++) {
		const struct opt *o = find_option(x->p->table, NULL, 0, *s);
		bool last =
		    !s[1] && (x->i + 1 >= x->argc || *x->argv[x->i + 1] == '-');

		if ((!o || (*s == 'h' && last)) &&
		    find_option(builtin_options, NULL, 0, *s))
			return *s == 'h' ? 1 : 2;
		if (!o)
			return report_unknown_option(
			    x->p, (char[]){'-', *s, 0});
		if (o->kind == OPT_FLAG) {
			store_option(x, o, NULL);
			continue;
		}
		if (s[1])
			return store_option(x, o, s + 1);
		if (x->i + 1 >= x->argc)
			return err_fail(
			    "option '-%c' needs an argument: %s", *s, o->arg);
		return store_option(x, o, x->argv[++x->i]);
	}
	return 0;
}

static int
answer_builtin(const struct opt_prog *p, int what)
{
	if (what == 1)
		print_help(p);
	else
		printf("%s %s\n", p->name, VKB_VERSION);
	return flush_stdout();
}

/* Takes the words after "--": operands, unless the program runs a command. */
static void
take_rest(const struct opt_prog *p, int n, char **v, struct opt_args *args)
{
	if (strstr(p->operands, "--")) {
		args->rest = v;
		args->nrest = (size_t)n;
		return;
	}
	for (int i = 0; i < n; i++)
		args->v[args->n++] = v[i];
}

/*
 * Replaces arguments that have a secret by copies, and the secrets in the old
 * ones by stars: all users of the machine can read those.
 */
static void
hide_secrets(int argc, char **argv)
{
	static char **copies; /* until the program ends */
	static size_t n;
	char *clean;
	bool value; /* the word is that of an option */

	copies = mem_resize(copies, n + (size_t)argc + 1, sizeof *copies);
	for (int i = 1; i < argc; i++) {
		clean = redact_copy(argv[i]);
		value = redact_is_argument(
		    (const char *const *)argv + 1, (size_t)i - 1);
		if (value || strcmp(clean, argv[i]) != 0) {
			copies[n] = mem_str(argv[i]);
			if (value)
				memset(argv[i], '*', strlen(argv[i]));
			else
				redact_text(argv[i]);
			argv[i] = copies[n++];
		}
		free(clean);
	}
}

int
opt_parse(const struct opt_prog *p, int argc, char **argv, void *dst,
    struct opt_args *args)
{
	struct parsing x = {
	    .p = p, .argc = argc, .argv = argv, .dst = dst, .args = args};
	struct opt builtins[BUILTINS + 1];
	int rc;

	hide_secrets(argc, argv);
	*args = (struct opt_args){.v = argv + 1};
	for (x.i = 1; x.i < argc; x.i++) {
		const char *a = argv[x.i];

		if (strcmp(a, "--") == 0) {
			take_rest(p, argc - x.i - 1, argv + x.i + 1, args);
			break;
		}
		if (strcmp(a, "--help") == 0 || strcmp(a, "--version") == 0)
			return answer_builtin(p, a[2] == 'h' ? 1 : 2);
		if (strcmp(a, "--dump-options") == 0) {
			dump_options(p->table);
			list_builtins(p, builtins);
			dump_options(builtins);
			return flush_stdout();
		}
		if (a[0] != '-' || !a[1]) {
			args->v[args->n++] = argv[x.i];
			continue;
		}
		rc = a[1] == '-' ? parse_long_option(&x) : parse_letters(&x);
		if (rc > 0)
			return answer_builtin(p, rc);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int
opt_main(const struct opt_prog *p, int argc, char **argv, void *dst,
    int (*run)(void *dst, struct opt_args *))
{
	struct opt_args args;
	int rc;

	err_init(argv[0]);
	rc = opt_parse(p, argc, argv, dst, &args);
	rc = rc < 0 ? 2 : rc > 0 ? 0 : run(dst, &args);
	if (rc >= 0 && rc != 2 && flush_stdout() < 0)
		rc = 2;
	for (const struct opt *o = p->table; o->name; o++)
		if (o->kind == OPT_LIST)
			free(((struct opt_list *)((char *)dst + o->offset))->v);
	return rc < 0 ? 2 : rc;
}

const char *
opt_version(void)
{
	return VKB_VERSION;
}

const char *
opt_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

const char *
opt_tmpdir(void)
{
	const char *dir = opt_variable("TMPDIR");

	return dir ? dir : "/tmp";
}

const char *
opt_password_name(void)
{
	static const char *const names[] = {
	    "VKB_PASSWORD", "VALKEYCLI_AUTH", "REDISCLI_AUTH"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (opt_variable(names[i]))
			return names[i];
	return NULL;
}

const char *
opt_password(void)
{
	const char *name = opt_password_name();

	return name ? getenv(name) : NULL;
}

bool
opt_allows_colour(void)
{
	return !opt_variable("NO_COLOR");
}

int
opt_usage(const struct opt_prog *p, const char *wrong)
{
	char *s = format_synopsis(p);
	int rc = err_fail("%s\nusage: %s", wrong, s);

	free(s);
	return rc;
}

int
opt_stdin(const struct opt_prog *p)
{
	if (!isatty(STDIN_FILENO))
		return 0;
	return opt_usage(p, "no FILE given, and stdin is a terminal");
}
