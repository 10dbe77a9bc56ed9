#include "folding.h"
#include "calltree.h"
#include "intern.h"
#include "mem.h"
#include "str.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- Names of functions of Rust. */

#define HASH 17 /* "h" and 16 digits */

static bool
has_hash(const char *s, size_t n)
{
	if (n < HASH || s[n - HASH] != 'h')
		return false;
	for (size_t i = n - HASH + 1; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

/*
 * Decodes an escape such as "$LT$", one of those of rustc-demangle's legacy.rs.
 * Returns its length, or 0 if it is not one.
 */
static size_t
decode_escape(struct str *to, const char *s, size_t n)
{
	static const char names[][5] = {
	    "$SP$", "$BP$", "$RF$", "$LT$", "$GT$", "$LP$", "$RP$", "$C$"};
	static const char meaning[] = "@*&<>(),";
	unsigned u = 0;
	size_t i = 2;

	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		size_t len = strlen(names[k]);

		if (n < len || memcmp(s, names[k], len) != 0)
			continue;
		str_addc(to, meaning[k]);
		return len;
	}
	if (n < 5 || s[1] != 'u')
		return 0;
	for (; i < n && i < 4 && isxdigit((unsigned char)s[i]); i++)
		u = u * 16 +
		    (unsigned)(s[i] <= '9' ? s[i] - '0'
					   : (s[i] | 32) - 'a' + 10);
	if (i != 4 || s[4] != '$' || u < ' ' || u > '~')
		return 0;
	str_addc(to, (char)u);
	return 5;
}

/*
 * Appends a name of Rust (legacy mangling) that was demangled as one of C++,
 * without its hash and with "$LT$" etc. decoded. Returns false and appends the
 * name unchanged if it has no such hash.
 */
static bool
add_rust_name(struct str *to, const char *s, size_t n)
{
	size_t i = 0;

	if (!has_hash(s, n)) {
		str_addn(to, s, n);
		return false;
	}
	n -= HASH;
	if (n >= 2 && memcmp(s + n - 2, "::", 2) == 0)
		n -= 2;
	if (n >= 2 && memcmp(s, "_$", 2) == 0)
		i = 1;
	while (i < n) {
		size_t k = s[i] == '$' ? decode_escape(to, s + i, n - i) : 0;

		if (k) {
			i += k;
		} else if (s[i] == '.' && i + 1 < n && s[i + 1] == '.') {
			str_add(to, "::");
			i += 2;
		} else {
			str_addc(to, s[i++]);
		}
	}
	return true;
}

struct known_symbol {
	size_t first, n; /* in 'frames' */
};

struct folding {
	struct calltree *tree;
	const struct folding_opts *o;
	size_t column;
	long samples;
	char *event;
	bool has_own; /* samples of the event */
	unsigned long long others;

	struct intern *symbols;     /* with their modules */
	struct known_symbol *known; /* the frames that each became */
	size_t nknown, capknown;
	struct str key;
	uint32_t *frames;
	size_t nframes, capframes;

	bool java;
	struct str process;
	uint32_t *stack; /* of this sample, innermost frame first */
	size_t n, cap;
	uint32_t *path,
	    *nodes; /* frames and nodes of the last sample, from the root */
	size_t npath, cappath;
};

struct folding *
folding_new(struct calltree *t, size_t column, long samples,
    const struct folding_opts *o)
{
	struct folding *f = mem_new(sizeof *f);

	f->tree = t;
	f->column = column;
	f->samples = samples;
	f->o = o;
	f->symbols = intern_new();
	f->event = mem_str(o->event);
	return f;
}

void
folding_free(struct folding *f)
{
	if (!f)
		return;
	free(f->known);
	free(f->frames);
	free(f->stack);
	free(f->path);
	free(f->nodes);
	free(f->event);
	intern_free(f->symbols);
	str_free(&f->key);
	str_free(&f->process);
	free(f);
}

unsigned long long
folding_count_others(const struct folding *f)
{
	return f->others;
}

bool
folding_has_event(const struct folding *f)
{
	return f->has_own;
}

const char *
folding_get_event(const struct folding *f)
{
	return f->event;
}

/* Returns the length without modifiers: "cycles:uH" is cycles. */
static size_t
strip_modifiers(const char *s, size_t n)
{
	size_t k = n;

	while (k > 0 && strchr("ukhGHpPSDIWeb", s[k - 1]) && s[k - 1])
		k--;
	return k > 1 && k < n && s[k - 1] == ':' ? k - 1 : n;
}

bool
folding_choose_event(struct folding *f, const char *name, size_t n)
{
	size_t have, want = strip_modifiers(name, n);

	if (!f->event)
		f->event = mem_strn(name, n);
	have = strip_modifiers(f->event, strlen(f->event));
	if (have == want && memcmp(name, f->event, want) == 0)
		return f->has_own = true;
	f->others++;
	return false;
}

static void
append_text(struct str *s, struct perfscript_text t)
{
	str_addn(s, t.s, t.n);
}

void
folding_begin(struct folding *f, struct perfscript_text comm,
    struct perfscript_text pid, struct perfscript_text tid)
{
	struct str *s = &f->process;

	f->n = 0;
	str_clear(s);
	str_addn(s, comm.s, comm.n);
	if (f->o->tid || f->o->pid) {
		str_addc(s, '-');
		if (pid.n)
			append_text(s, pid);
		else
			str_addc(s, '?');
	}
	if (f->o->tid) {
		str_addc(s, '/');
		append_text(s, tid);
	}
	for (size_t i = 0; i < s->len; i++)
		if (s->s[i] == ' ' || s->s[i] == ';')
			s->s[i] = s->s[i] == ' ' ? '_' : ':';
	f->java = s->len >= 4 && memcmp(s->s, "java", 4) == 0;
}

/* --- names of frames */

static bool
text_contains(struct perfscript_text t, const char *what)
{
	return t.n && memmem(t.s, t.n, what, strlen(what));
}

static bool
text_equals(struct perfscript_text t, const char *what)
{
	return t.n == strlen(what) && memcmp(t.s, what, t.n) == 0;
}

static bool
is_kernel_module(struct perfscript_text m)
{
	bool vmlinux = m.n >= 7 && memcmp(m.s + m.n - 7, "vmlinux", 7) == 0;

	return ((m.n && m.s[0] == '[') || vmlinux) &&
	    !text_contains(m, "unknown");
}

/* Returns true for /tmp/perf-123.map. */
static bool
is_jit_module(struct perfscript_text m)
{
	const char *p = m.n ? memmem(m.s, m.n, "/tmp/perf-", 10) : NULL;
	size_t left, k = 0;

	if (!p)
		return false;
	p += 10;
	left = m.n - (size_t)(p - m.s);
	while (k < left && p[k] >= '0' && p[k] <= '9')
		k++;
	return k && left - k >= 4 && memcmp(p + k, ".map", 4) == 0;
}

static void
append_unknown(struct str *s, struct perfscript_text pc,
    struct perfscript_text module, bool addrs)
{
	const size_t gone = strlen(" (deleted)"); /* or replaced since */
	struct perfscript_text name = {"unknown", 7};

	if (module.n && !text_equals(module, "[unknown]")) {
		const char *slash = memrchr(module.s, '/', module.n);

		name = module;
		if (slash) {
			name.s = slash + 1;
			name.n = module.n - (size_t)(name.s - module.s);
		}
	}
	if (name.n > gone &&
	    memcmp(name.s + name.n - gone, " (deleted)", gone) == 0)
		name.n -= gone;
	str_addc(s, '[');
	str_addn(s, name.s, name.n);
	if (addrs) {
		str_add(s, " <");
		str_addn(s, pc.s, pc.n);
		str_addc(s, '>');
	}
	str_addc(s, ']');
}

/* Returns true for Go's methods, "x.(*T).f". */
static bool
is_go_method(const char *s)
{
	const char *p = strstr(s, ".("), *q = p;

	while (q && (q = strstr(q + 1, ").")))
		if (q > p + 1)
			return true;
	return false;
}

/* Returns the length of the name behind "operator", such as "<<" and "()",
 * which opens no list. */
static size_t
measure_operator(const char *s)
{
	return str_starts(s, "()") ? 2 : strspn(s, "<>=!-+*/%^&|~,");
}

/* Returns the end of the brackets that open at p, or NULL if they do not end.
 */
static char *
skip_brackets(char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (*p == '(')
			depth++;
		else if (*p == ')' && --depth == 0)
			return p + 1;
	}
	return NULL;
}

/*
 * Returns where the arguments of a function of C++ begin, or the end of s.
 * Other parentheses are part of a name: "call<void (int)>(int)",
 * "(anonymous namespace)::f(int)", "f()::{lambda(int)#1}::operator()(int)".
 */
static char *
find_arguments(char *s)
{
	int depth = 0;
	char *p = s, *end;

	for (; *p; p++) {
		if (str_starts(p, "operator") &&
		    (p == s ||
			!(isalnum((unsigned char)p[-1]) || p[-1] == '_'))) {
			p += strlen("operator") - 1;
			p += measure_operator(p + 1);
		} else if (*p == '(' && depth == 0) {
			end = skip_brackets(p);
			if (!end || !str_starts(end, "::"))
				break;
			p = end;
		} else if (strchr("<{(", *p)) {
			depth++;
		} else if (strchr(">})", *p) && depth > 0) {
			depth--;
		}
	}
	return p;
}

/* Removes arguments and quotes; replaces semicolons, which separate frames. */
static void
tidy_name(struct str *s, bool java, bool rust)
{
	char *to, *p = s->s;

	for (char *c = p; *c; c++)
		if (*c == ';')
			*c = ':';
	if (!rust && !is_go_method(p))
		*find_arguments(p) = '\0';
	to = s->s;
	for (p = s->s; *p; p++)
		if (*p != '"' && *p != '\'' && *p != '\n')
			*to++ = *p;
	*to = 0;
	if (java && s->s[0] == 'L' && strchr(s->s, '/'))
		memmove(s->s, s->s + 1, (size_t)(to - s->s));
	s->len = strlen(s->s);
}

/* Returns where "->" separates two frames, not in "operator->" or " -> ". */
static size_t
find_arrow(const char *s, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		if (s[i] != '-' || s[i + 1] != '>')
			continue;
		if (i && s[i - 1] == ' ')
			continue;
		if (i >= 8 && memcmp(s + i - 8, "operator", 8) == 0)
			continue;
		return i;
	}
	return n;
}

static void
name_frame(struct folding *f, struct perfscript_text pc,
    struct perfscript_text part, struct perfscript_text module, bool inner,
    bool rust)
{
	const struct folding_opts *o = f->o;
	struct str s = {0};

	if (text_equals(part, "[unknown]"))
		append_unknown(&s, pc, module, o->addrs);
	else
		str_addn(&s, part.s, part.n);
	for (size_t i = 0; i < s.len; i++)
		if (!s.s[i])
			s.s[i] = '?';
	tidy_name(&s, f->java, rust);
	if (inner && !strstr(s.s, "_[i]"))
		str_add(&s, "_[i]");
	else if (!inner && o->kernel && is_kernel_module(module))
		str_add(&s, "_[k]");
	else if (!inner && o->jit && is_jit_module(module) &&
	    !strstr(s.s, "_[j]"))
		str_add(&s, "_[j]");
	*MEM_ADD(f->frames, f->nframes, f->capframes) =
	    calltree_frame(f->tree, s.s, s.len);
	str_free(&s);
}

/* Appends the frames of a symbol, the outermost first. */
static void
name_frames(struct folding *f, struct perfscript_text pc,
    struct perfscript_text symbol, struct perfscript_text module)
{
	struct str name = {0};
	bool inner = false, rust;

	if (!symbol.n ||
	    (symbol.s[0] == '(' && !text_contains(symbol, "namespace)")))
		return; /* the name of a process */
	rust = add_rust_name(&name, symbol.s, symbol.n);
	symbol = (struct perfscript_text){name.s, name.len};
	for (size_t at = 0; at < symbol.n; inner = true) {
		size_t k = find_arrow(symbol.s + at, symbol.n - at);

		if (k)
			name_frame(f, pc,
			    (struct perfscript_text){symbol.s + at, k}, module,
			    inner, rust);
		at += k + 2;
	}
	str_free(&name);
}

/* --- samples */

static void
push_frame(struct folding *f, uint32_t frame)
{
	*MEM_ADD(f->stack, f->n, f->cap) = frame;
}

/* Returns the length of a symbol without an offset such as "+0x1f". */
static size_t
strip_offset(struct perfscript_text s)
{
	size_t k = s.n;

	while (k &&
	    ((s.s[k - 1] >= '0' && s.s[k - 1] <= '9') ||
		(s.s[k - 1] >= 'a' && s.s[k - 1] <= 'f')))
		k--;
	return k < s.n && k >= 3 && memcmp(s.s + k - 3, "+0x", 3) == 0 ? k - 3
								       : s.n;
}

void
folding_frame(struct folding *f, struct perfscript_text pc,
    struct perfscript_text symbol, struct perfscript_text module)
{
	const struct known_symbol *k;
	size_t id;

	symbol.n = strip_offset(symbol);
	if (f->o->addrs && text_equals(symbol, "[unknown]")) {
		size_t first = f->nframes;

		name_frames(f, pc, symbol, module);
		push_frame(f, f->frames[first]);
		f->nframes = first;
		return;
	}
	str_clear(&f->key);
	str_addc(&f->key, f->java ? 'j' : ' ');
	append_text(&f->key, symbol);
	str_addc(&f->key, '\n');
	append_text(&f->key, module);
	id = intern_idn(f->symbols, f->key.s, f->key.len);
	if (id == f->nknown) {
		f->known = mem_grow(
		    f->known, f->nknown, &f->capknown, sizeof *f->known);
		f->known[f->nknown].first = f->nframes;
		name_frames(f, pc, symbol, module);
		f->known[f->nknown].n = f->nframes - f->known[id].first;
		f->nknown++;
	}
	k = &f->known[id];
	for (size_t i = k->n; i > 0; i--)
		push_frame(f, f->frames[k->first + i - 1]);
}

void
folding_end(struct folding *f, double weight)
{
	struct calltree *t = f->tree;
	uint32_t node = 0;
	size_t depth = 0;

	if (!f->process.len)
		return;
	push_frame(f, calltree_frame(t, f->process.s, f->process.len));
	if (f->n > f->cappath) {
		f->cappath = f->cap;
		f->path = mem_resize(f->path, f->cappath, sizeof *f->path);
		f->nodes = mem_resize(f->nodes, f->cappath, sizeof *f->nodes);
	}
	while (depth < f->n && depth < f->npath &&
	    f->path[depth] == f->stack[f->n - 1 - depth])
		node = f->nodes[depth++];
	for (; depth < f->n; depth++) {
		uint32_t frame = f->stack[f->n - 1 - depth];

		node = calltree_child(t, node, frame);
		f->path[depth] = frame;
		f->nodes[depth] = node;
	}
	f->npath = f->n;
	t->self[f->column][node] += weight;
	if (f->samples >= 0)
		t->self[f->samples][node]++;
}
