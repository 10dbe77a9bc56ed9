/*
 * vkb-flame: profiles (what `perf script` prints, folded stacks) in; flame
 * graphs, folded stacks, tables of functions and speedscope's JSON out; two
 * sides of profiles also as their difference.
 */
#include "err.h"
#include "mem.h"
#include "opt.h"
#include "output.h"
#include "str.h"
#include "vkb-flame/calltree.h"
#include "vkb-flame/folded.h"
#include "vkb-flame/folding.h"
#include "vkb-flame/input.h"
#include "vkb-flame/svg.h"

#include <stdlib.h>

struct opts {
	struct opt_list formats;
	const char *event, *title;
	bool pid, tid, kernel, jit, all, addrs, inlined;
	bool icicle, reverse;
	long long width;
	double min_percent;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt table[] = {
    {0, "addrs", OPT_FLAG, AT(addrs),
	.help = "keep the address of a frame without a symbol"},
    {'a', "all", OPT_FLAG, AT(all), .help = "as --kernel --jit"},
    {'e', "event", OPT_STR, AT(event), "NAME",
	.help = "count this event; default the first there is"},
    {'f', "format", OPT_LIST, AT(formats), "NAME[:FILE]",
	.help = "svg (default) or folded; may be repeated"},
    {'i', "icicle", OPT_FLAG, AT(icicle),
	.help = "draw the outermost frames on top"},
    {0, "inline", OPT_FLAG, AT(inlined),
	.help = "find inlined functions by addr2line"},
    {0, "jit", OPT_FLAG, AT(jit), .help = "mark compiled-at-run-time frames"},
    {'k', "kernel", OPT_FLAG, AT(kernel), .help = "mark the kernel's frames"},
    {0, "min-percent", OPT_REAL, AT(min_percent), "N", 0, 100,
	.help = "draw no frames below N percent; default 0.05"},
    {'p', "pid", OPT_FLAG, AT(pid), .help = "tell processes by their id"},
    {'r', "reverse", OPT_FLAG, AT(reverse),
	.help = "merge the stacks from the innermost frames"},
    {0, "tid", OPT_FLAG, AT(tid), .help = "tell threads by their id"},
    {'t', "title", OPT_STR, AT(title), "TEXT",
	.help = "what is above the graph"},
    {'w', "width", OPT_INT, AT(width), "PIXELS", 200, 100000,
	.help = "of the graph; default 1200"},
    {0}};

static const struct opt_prog prog = {
    "vkb-flame", "[FILE ...]", "Flame graphs of profiles.", table};

enum format { SVG, FOLDED };
static const char *const names[] = {"svg", "folded", NULL};

static void
render(struct str *s, enum format f, const struct calltree *t,
    const struct opts *o)
{
	switch (f) {
	case SVG:
		svg_write(s, t, NULL,
		    &(struct svg_opts){.title = o->title,
			.icicle = o->icicle,
			.width = (double)o->width,
			.min_share = o->min_percent / 100});
		break;
	case FOLDED:
		folded_write(s, t, (const double *const *)t->self, 1);
		break;
	}
}

static int
flame(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const struct folding_opts fold = {.pid = o->pid,
	    .tid = o->tid,
	    .kernel = o->kernel || o->all,
	    .jit = o->jit || o->all,
	    .addrs = o->addrs,
	    .inlined = o->inlined,
	    .event = o->event};
	struct calltree *t = NULL, *turned;
	struct output *out;
	size_t n;
	int rc = 0;

	if (!args->n && opt_stdin(&prog) < 0)
		return -1;
	out = output_list(&o->formats, names, &n);
	if (!out)
		return -1;
	t = calltree_new(1);
	for (size_t i = 0; i < args->n; i++)
		rc |= input_read(args->v[i], t, 0, -1, &fold);
	if (!args->n)
		rc |= input_read("-", t, 0, -1, &fold);
	if (o->reverse) {
		turned = calltree_reverse(t);
		calltree_free(t);
		t = turned;
	}
	calltree_sum(t);
	for (size_t i = 0; i < n; i++) {
		struct str s = {0};

		render(&s, (enum format)out[i].format, t, o);
		rc |= output_write(&out[i], &s);
		str_free(&s);
	}
	calltree_free(t);
	free(out);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {.width = 1200, .min_percent = .05};

	return opt_main(&prog, argc, argv, &o, flame);
}
