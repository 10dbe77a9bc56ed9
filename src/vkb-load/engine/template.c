#include "template.h"
#include "command.h"
#include "engine.h"
#include "err.h"
#include "mem.h"
#include "mix.h"
#include "pieces.h"
#include "rowset.h"
#include "str.h"
#include "values.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLE_MOST 10000 /* commands in a cycle */
#define BEFOREHAND                                                 \
	((size_t)256 << 20) /* bytes of rendered rows of a command \
			     */
#define PLACEHOLDER_FIELD "__field:"
#define PLACEHOLDER_INT "__int:"

static bool
is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the length of "__name__" at p, or 0. */
static size_t
placeholder_len(const char *p, const char *end)
{
	size_t left = (size_t)(end - p), prefix = strlen(PLACEHOLDER_FIELD);
	bool any =
	    (left > prefix && memcmp(p, PLACEHOLDER_FIELD, prefix) == 0) ||
	    (left > strlen(PLACEHOLDER_INT) &&
		memcmp(p, PLACEHOLDER_INT, strlen(PLACEHOLDER_INT)) == 0);
	const char *q = p + 2;

	if (left < 5 || p[0] != '_' || p[1] != '_' || *q == '_')
		return 0;
	for (; end - q >= 2 && (any || is_name_char(*q)); q++)
		if (q[0] == '_' && q[1] == '_')
			return (size_t)(q + 2 - p);
	return 0;
}

/*
 * Returns the length of a misspelled placeholder at p, or 0: __fild:NAME__,
 * __field:NAME, __rand_int_.
 */
static size_t
placeholder_misspelled_len(const char *p, const char *end)
{
	static const char *const names[] = {"field", NULL};
	const char *colon = p + 2, *q;
	char name[8] = "";
	size_t n = 0;

	if (end - p < 3 || p[0] != '_' || p[1] != '_')
		return 0;
	for (; colon < end && n < sizeof name - 1 && is_name_char(*colon);
	     colon++)
		name[n++] = (char)tolower((unsigned char)*colon);
	for (q = colon; q < end && (is_name_char(*q) || *q == ':');)
		q++;
	if (str_starts(name, "rand_"))
		return (size_t)(q - p);
	if (colon == end || *colon != ':' || !str_nearest(name, names))
		return 0;
	if (strcmp(name, "field") == 0)
		return (size_t)(q - p);
	if (end - colon < 2 || colon[1] == '_')
		return 0;
	for (q = colon + 1; end - q > 2 && is_name_char(*q); q++)
		if (q[1] == '_' && q[2] == '_')
			return (size_t)(q + 3 - p);
	return 0;
}

/* The placeholders of numbers. */
static const struct {
	const char *name;
	enum piece_kind kind;
	uint32_t which;
} numbers[] = {{"__rand_int__", PIECE_RANDOM, 0},
    {TEMPLATE_SAME, PIECE_SAME, 0}, {"__seq__", PIECE_SEQ, 0},
    {"__rand_1st__", PIECE_SHARED, 0}, {"__rand_2nd__", PIECE_SHARED, 1},
    {"__rand_3rd__", PIECE_SHARED, 2}, {"__rand_4th__", PIECE_SHARED, 3},
    {"__rand_5th__", PIECE_SHARED, 4}, {"__rand_6th__", PIECE_SHARED, 5},
    {"__rand_7th__", PIECE_SHARED, 6}, {"__rand_8th__", PIECE_SHARED, 7},
    {"__rand_9th__", PIECE_SHARED, 8}};

struct making {
	struct template *t;
	struct compiled *s;
	struct str bytes;
	const char *value; /* __data__, if constant; else NULL */
	size_t nvalue;     /* bytes; 0 if they vary */
	bool cluster;
	char *why;
};

/* A part of a word: its length in the text and its kind. */
struct part {
	enum piece_kind kind;
	uint32_t which;
	size_t n;
	const char *bytes; /* of PIECE_BYTES, nbytes long */
	size_t nbytes;
};

static struct piece *
add_piece(struct making *m, enum piece_kind kind)
{
	struct compiled *s = m->s;
	struct piece *p;

	s->pieces = mem_resize(s->pieces, s->npieces + 1, sizeof *s->pieces);
	p = &s->pieces[s->npieces++];
	*p = (struct piece){.kind = kind, .at = s->len};
	return p;
}

static void
add_bytes(struct making *m, const void *bytes, size_t n)
{
	struct compiled *s = m->s;
	struct piece *p = s->npieces ? &s->pieces[s->npieces - 1] : NULL;

	if (!p || p->kind != PIECE_BYTES)
		p = add_piece(m, PIECE_BYTES);
	if (!p->n)
		p->at = m->bytes.len;
	p->n += (uint32_t)n;
	str_addn(&m->bytes, bytes, n);
	s->len += n;
}

static uint32_t
find_field(struct template *t, const char *name, size_t n)
{
	uint32_t i;

	for (i = 0; i < t->nfields; i++)
		if (strncmp(t->fields[i], name, n) == 0 && !t->fields[i][n])
			return i;
	t->fields = mem_resize(t->fields, t->nfields + 2, sizeof *t->fields);
	t->fields[t->nfields] = mem_strn(name, n);
	t->fields[++t->nfields] = NULL;
	return i;
}

static bool
is_text(const char *s, size_t n, const char *name)
{
	return n == strlen(name) && memcmp(s, name, n) == 0;
}

static void
report_unknown(struct making *m, const char *p, size_t n)
{
	m->why = mem_printf("unknown placeholder '%.*s': use '__rand_int__', "
			    "'__rand_1st__' to '__rand_9th__', '__seq__', "
			    "'__data__', '__int:LOW:HIGH__', "
			    "'__field:NAME__', '{key}' or '{tag}'",
	    (int)n, p);
}

/* Finds or adds the range of "__int:LOW:HIGH__". Returns false if invalid. */
static bool
find_range(struct template *t, const char *p, size_t n, uint32_t *which)
{
	char *text = mem_strn(p, n), low[16], high[16];
	uint64_t last;
	struct range r;
	int end = 0;

	/* Only digits: %llu would take a sign, too. */
	if (sscanf(text, PLACEHOLDER_INT "%15[0-9]:%15[0-9]__%n", low, high,
		&end) != 2)
		end = 0;
	free(text);
	if ((size_t)end != n)
		return false;
	r.low = strtoull(low, NULL, 10);
	last = strtoull(high, NULL, 10);
	if (r.low > last)
		return false;
	r.count = last - r.low + 1;
	for (*which = 0; *which < t->nranges; ++*which)
		if (memcmp(&t->ranges[*which], &r, sizeof r) == 0)
			return true;
	t->ranges = mem_resize(t->ranges, t->nranges + 1, sizeof r);
	t->ranges[t->nranges++] = r;
	return true;
}

/* Parses the part of a word that begins at p. */
static struct part
parse_part(struct making *m, const char *p, const char *end)
{
	size_t n = placeholder_len(p, end), prefix = strlen(PLACEHOLDER_FIELD);
	uint32_t i;

	if (m->cluster && end - p >= 5 && memcmp(p, "{tag}", 5) == 0)
		return (struct part){.kind = PIECE_TAG, .n = 5};
	if (end - p >= 5 && memcmp(p, "{key}", 5) == 0)
		return (struct part){.kind = PIECE_KEY, .n = 5};
	if (!n && (n = placeholder_misspelled_len(p, end)) == 0)
		return (struct part){PIECE_BYTES, 0, 1, p, 1};
	for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (is_text(p, n, numbers[i].name) &&
		    (numbers[i].kind != PIECE_SAME || m->t->values))
			return (struct part){
			    numbers[i].kind, numbers[i].which, n, NULL, 0};
	if (is_text(p, n, "__data__") && m->value)
		return (struct part){PIECE_BYTES, 0, n, m->value, m->nvalue};
	if (is_text(p, n, "__data__"))
		return (struct part){
		    .kind = PIECE_DATA, .n = n, .nbytes = m->nvalue};
	if (find_range(m->t, p, n, &i))
		return (struct part){PIECE_INT, i, n, NULL, 0};
	if (n > prefix + 2 && memcmp(p, PLACEHOLDER_FIELD, prefix) == 0 &&
	    !memchr(p, '\0', n))
		return (struct part){.kind = PIECE_VALUE,
		    .which = find_field(m->t, p + prefix, n - prefix - 2),
		    .n = n};
	report_unknown(m, p, n);
	return (struct part){PIECE_BYTES, 0, n, p, n};
}

static size_t
get_part_width(const struct making *m, const struct part *p)
{
	if (p->kind == PIECE_BYTES || p->kind == PIECE_DATA)
		return p->nbytes;
	if (p->kind == PIECE_KEY)
		return strlen(m->cluster ? "key:{tag}:" : "key:") + DIGITS_12;
	return pieces_patch_width(p->kind) +
	    (p->kind == PIECE_TAG ? strlen("{}") : 0);
}

/* Is its length known only when a request is made? */
static bool
is_drawn(const struct part *p)
{
	return p->kind == PIECE_INT || (p->kind == PIECE_DATA && !p->nbytes);
}

static void
add_part(struct making *m, const struct part *p)
{
	struct compiled *s = m->s;
	struct piece *q;

	if (p->kind == PIECE_BYTES) {
		add_bytes(m, p->bytes, p->nbytes);
		return;
	}
	if (p->kind == PIECE_KEY) {
		add_bytes(m, "key:", 4);
		if (m->cluster) {
			add_part(m, &(struct part){.kind = PIECE_TAG});
			add_bytes(m, ":", 1);
		}
		m->t->source.line = true;
	}
	if (p->kind == PIECE_TAG)
		add_bytes(m, "{", 1);
	q = add_piece(m, p->kind);
	q->which = p->which;
	s->tagged |= p->kind == PIECE_TAG;
	s->shared |= p->kind == PIECE_SHARED;
	s->ints |= p->kind == PIECE_INT;
	s->data |= p->kind == PIECE_DATA;
	s->random += p->kind == PIECE_RANDOM;
	s->uses[CMDSOURCE_SEQ] |= p->kind == PIECE_SEQ;
	s->uses[CMDSOURCE_ROWS] |= p->kind == PIECE_VALUE;
	s->len += pieces_patch_width(p->kind);
	if (p->kind == PIECE_DATA) {
		q->n = (uint32_t)p->nbytes;
		s->len += values_mean(m->t->data);
	}
	if (p->kind == PIECE_TAG)
		add_bytes(m, "}", 1);
}

static void
add_word(struct making *m, const char *w, size_t n)
{
	const char *p, *end = w + n;
	char head[DIGITS_MOST + 8];
	size_t len = 0, values = 0, ints = 0;
	struct part a = {0};
	struct piece *q;
	bool tagged = false;

	for (p = w; p < end && !m->why; p += a.n) {
		a = parse_part(m, p, end);
		len += get_part_width(m, &a);
		values += a.kind == PIECE_VALUE || is_drawn(&a);
		ints += is_drawn(&a);
	}
	if (ints > PIECES_INTS)
		m->why = mem_printf(
		    "a word has more than %d '__int:LOW:HIGH__' and '__data__'",
		    PIECES_INTS);
	if (m->why)
		return;
	if (values == 1 && a.kind == PIECE_VALUE && a.n == n) {
		add_piece(m, PIECE_FIELD)->which = a.which;
		m->s->uses[CMDSOURCE_ROWS] = true;
		return;
	}
	if (values) {
		q = add_piece(m, PIECE_LENGTH);
		q->n = (uint32_t)len;
		q->which = (uint32_t)values;
	} else {
		add_bytes(m, head, digits_line(head, '$', len));
	}
	for (p = w; p < end; p += a.n) {
		a = parse_part(m, p, end);
		add_part(m, &a);
		tagged |= a.kind == PIECE_TAG;
		/* In a named test the key has the number. */
		m->s->keyed |= tagged && m->t->values && a.kind == PIECE_RANDOM;
	}
	add_bytes(m, "\r\n", 2);
}

/* Is the word a number? Sets *v to it, or to one that is too large as well. */
static bool
is_number(const struct str *w, uint64_t *v)
{
	*v = 0;
	for (size_t i = 0; i < w->len; i++) {
		if ((unsigned)(w->s[i] - '0') >= 10)
			return false;
		if (*v <= CYCLE_MOST)
			*v = *v * 10 + (unsigned)(w->s[i] - '0');
	}
	return w->len > 0;
}

static void
begin_shape(struct making *m)
{
	struct template *t = m->t;

	t->commands =
	    mem_resize(t->commands, t->ncommands + 1, sizeof *t->commands);
	m->s = &t->commands[t->ncommands++];
	*m->s = (struct compiled){.times = 1};
}

/*
 * In a named test on a cluster, the numbers behind that of the key are in its
 * slot; without such a key the last number decides the collection.
 */
static void
place_numbers(struct making *m)
{
	struct compiled *s = m->s;
	struct piece *p, *last = NULL;

	for (p = s->pieces; p < s->pieces + s->npieces; p++) {
		if (p->kind != PIECE_RANDOM && p->kind != PIECE_SAME)
			continue;
		if (s->keyed && last)
			p->kind = PIECE_INSLOT;
		last = p;
	}
	if (s->keyed) {
		s->random = 1;
	} else if (last && m->t->values == 1) {
		last->kind = PIECE_MEMBER;
		s->member = true;
	}
}

static void
list_patches(struct compiled *s)
{
	bool plain = true;

	s->patches = mem_array(s->npieces, sizeof *s->patches);
	for (size_t i = 0; i < s->npieces; i++)
		if (pieces_patch_width(s->pieces[i].kind)) {
			plain &= s->pieces[i].kind <= PIECE_SAME;
			s->patches[s->npatches++] = s->pieces[i];
		}
	s->plain = plain && s->npatches <= PIECES_DRAWS;
}

/* Puts "*N" in front of the words of the command. */
static void
finish_shape(struct making *m, size_t words, size_t at)
{
	struct compiled *s = m->s;
	struct piece *first = &s->pieces[0];
	char head[DIGITS_MOST + 8];
	size_t n = digits_line(head, '*', words), i;
	size_t after = m->bytes.len - at;
	char *old;

	str_addn(&m->bytes, head, n); /* makes room */
	old = m->bytes.s + at;
	memmove(old + n, old, after);
	memcpy(old, head, n);
	for (i = 0; i < s->npieces; i++)
		s->pieces[i].at += n;
	if (first->kind == PIECE_BYTES) {
		first->at -= n;
		first->n += (uint32_t)n;
	} else {
		s->pieces =
		    mem_resize(s->pieces, s->npieces + 1, sizeof *s->pieces);
		memmove(
		    s->pieces + 1, s->pieces, s->npieces++ * sizeof *s->pieces);
		s->pieces[0] = (struct piece){
		    .kind = PIECE_BYTES, .n = (uint32_t)n, .at = at};
	}
	s->len += n;
	if (!m->t->values)
		s->keyed = s->tagged && (s->random || s->shared);
	else if (s->tagged)
		place_numbers(m);
	list_patches(s);
}

/* Parses one command of *text. Returns 1; 0 if none is left; -1 with m->why. */
static int
parse_command(struct making *m, const char **text)
{
	struct str w = {0};
	size_t words = 0, at = m->bytes.len;
	const char *why = NULL;
	char first[16] = "";
	bool times = false;
	int k;

	while ((k = command_next_word(text, true, &w, &why)) > 0) {
		if (is_text(w.s ? w.s : "", w.len, ";"))
			break;
		if (!words && !times) {
			begin_shape(m);
			times = is_number(&w, &m->s->times);
			if (!times)
				m->s->times = 1;
		} else {
			times = false;
		}
		if (!times && !words)
			snprintf(first, sizeof first, "%s", w.s ? w.s : "");
		if (!times) {
			add_word(m, w.s ? w.s : "", w.len);
			words++;
		}
		if (m->why)
			break;
		str_clear(&w);
	}
	str_free(&w);
	if (k < 0)
		m->why = mem_str(why);
	if (m->why)
		return -1;
	if (!words && k == 0 && !times)
		return 0;
	if (!words || !m->s->times) {
		m->why =
		    mem_str("a command has no words, or the repeat count 0");
		return -1;
	}
	m->s->items = command_items(first, words, &m->s->zero_miss);
	finish_shape(m, words, at);
	return 1;
}

static void
add_line(struct making *m)
{
	begin_shape(m);
	add_bytes(m, "PING\r\n", strlen("PING\r\n"));
	list_patches(m->s);
}

/*
 * In a single server a {key} that comes once in one command is a random number
 * like any other, which is faster.
 */
static void
simplify_key(struct making *m, const struct piece_text *x)
{
	struct compiled *s = &m->t->commands[x->first];
	struct piece *key = NULL, *p;

	if (m->cluster || x->end - x->first != 1 || s->times != 1 ||
	    s->random || s->shared)
		return;
	for (p = s->pieces; p < s->pieces + s->npieces; p++) {
		if (p->kind == PIECE_KEY && key)
			return;
		if (p->kind == PIECE_KEY)
			key = p;
	}
	if (!key)
		return;
	key->kind = PIECE_RANDOM;
	s->random = 1;
	m->t->source.line = false;
	free(s->patches);
	s->npatches = 0;
	list_patches(s);
}

static void
compile_text(struct making *m, struct piece_text *x)
{
	struct template *t = m->t;
	const char *text = x->text;

	t->source.line = false;
	t->values = x->values;
	x->first = t->ncommands;
	if (!text)
		add_line(m);
	while (text && parse_command(m, &text) > 0)
		continue;
	x->end = t->ncommands;
	if (!m->why && x->end == x->first)
		m->why = mem_str("it has no words");
	if (!m->why)
		simplify_key(m, x);
	x->line = t->source.line;
}

/* Compiles n texts, one behind the other. Returns why one is not valid, or
 * NULL. */
static char *
compile_texts(
    struct template *t, struct piece_text *texts, size_t n, bool cluster)
{
	bool vary = values_vary(t->data), line = false;
	struct making m = {.t = t, .cluster = cluster};
	char *value = NULL;

	if (!vary)
		m.nvalue = values_mean(t->data);
	if (!vary && values_constant(t->data))
		m.value = value = command_value(m.nvalue);
	for (size_t i = 0; i < n && !m.why; i++) {
		compile_text(&m, &texts[i]);
		line |= texts[i].line;
	}
	t->source.line = line;
	free(value);
	t->nbytes = m.bytes.len;
	t->bytes = mem_resize(m.bytes.s, t->nbytes + CMDSOURCE_SLACK, 1);
	memset(t->bytes + t->nbytes, 0, CMDSOURCE_SLACK);
	return m.why;
}

/*
 * Lists the command of each turn, and what the turns before use. Returns why it
 * cannot, or NULL.
 */
static char *
make_cycle(struct template *t)
{
	struct cmdsource *o = &t->source;
	const struct compiled *s;
	uint64_t i, n = 0;
	size_t k;

	for (i = 0; i < t->ncommands; i++)
		o->cycle += t->commands[i].times;
	if (o->cycle > CYCLE_MOST)
		return mem_printf(
		    "more than %d commands in a cycle", CYCLE_MOST);
	t->cycle = mem_array(o->cycle, sizeof *t->cycle);
	for (k = 0; k < CMDSOURCE_COUNTERS; k++)
		t->before[k] = mem_array(o->cycle + 1, sizeof(uint64_t));
	for (i = 0; i < t->ncommands; i++) {
		s = &t->commands[i];
		for (uint64_t j = 0; j < s->times; j++, n++) {
			t->cycle[n] = (uint32_t)i;
			for (k = 0; k < CMDSOURCE_COUNTERS; k++)
				t->before[k][n + 1] =
				    t->before[k][n] + s->uses[k];
		}
	}
	return NULL;
}

static uint64_t
count_taken(const struct cmdsource *source, enum cmdsource_counter kind,
    const struct cursor *c, uint64_t n)
{
	const struct template *t = (const struct template *)source;
	const uint64_t *before = t->before[kind];
	uint64_t cycle = source->cycle, turn = c->turn;
	uint64_t from = turn % cycle, to = (turn + n) % cycle;
	uint64_t rounds = (turn + n) / cycle - turn / cycle;

	return t->mix ? mix_count_taken(t->mix, kind, c, n)
		      : rounds * before[cycle] + before[to] - before[from];
}

static void
free_source(struct cmdsource *source)
{
	template_free((struct template *)source);
}

/* Sets what the source of the commands is, but for their bytes. */
static void
set_source(struct template *t)
{
	struct cmdsource *o = &t->source;
	const struct compiled *s;
	uint64_t times = t->mix ? t->mix->nsteps : o->cycle;

	t->ops =
	    (struct cmdsource_ops){.takes = count_taken, .free = free_source};
	o->ops = &t->ops;
	o->mix = t->mix;
	o->together = 1;
	o->values = t->values ? t->values : 1;
	for (size_t i = 0; i < t->ncommands; i++) {
		s = &t->commands[i];
		o->tagged |= s->tagged;
		o->keyed |= s->keyed || (o->line && s->tagged);
		o->zero_miss |= s->zero_miss && t->mix;
		for (size_t k = 0; k < CMDSOURCE_COUNTERS; k++)
			o->counted[k] |= s->uses[k];
		o->len += s->len * s->times;
	}
	o->len = o->len / times + 1;
	o->constant = o->len;
	if (!t->mix && t->ncommands == 1 && t->commands[0].items) {
		o->items = t->commands[0].items;
		o->zero_miss = t->commands[0].zero_miss;
	}
	if (t->mix)
		o->cycle = 1;
}

/* Fills a template. Returns why it cannot be, or NULL. */
static char *
fill_template(struct template *t, struct piece_text *texts, size_t n,
    const struct engine_work *w, bool cluster)
{
	char *why;

	t->data = values_new(w);
	t->fields = mem_array(1, sizeof *t->fields);
	why = compile_texts(t, texts, n, cluster);
	if (!why && w->nmix)
		why = mix_fill(t, texts, w, cluster);
	else if (!why)
		why = make_cycle(t);
	if (why)
		return why;
	set_source(t);
	render_prepare(t, w);
	why = w->nmix ? NULL : mix_find_transactions(t, w, cluster);
	if (!why && !w->nmix && engine_is_ordered(w) && t->source.line &&
	    t->source.cycle > 1)
		why = mem_str(PIECES_LINE_ORDER);
	return why;
}

/* Makes the template of n texts, which are freed. NULL and *why. */
static struct template *
new_template(struct piece_text *texts, size_t n, const struct engine_work *w,
    bool cluster, char **why)
{
	struct template *t = mem_new(sizeof *t);

	*why = fill_template(t, texts, n, w, cluster);
	for (size_t i = 0; i < n; i++)
		free(texts[i].text);
	free(texts);
	if (!*why)
		return t;
	template_free(t);
	return NULL;
}

struct template *
template_new(
    const struct engine_target *target, const struct engine_work *w, char **why)
{
	const struct command_style style = {
	    target->cluster, target->prefix, TEMPLATE_SAME, &w->options};
	size_t n = engine_count_commands(w);
	struct piece_text *texts = mem_array(n, sizeof *texts);
	const char *command;

	for (size_t i = 0; i < n; i++) {
		command = engine_command(w, i);
		texts[i].values = command_known(command);
		texts[i].text = texts[i].values
		    ? command_text(command, &style)
		    : command_expand_prefix(command, target->prefix);
	}
	/* cppcheck-suppress CastIntegerToAddressAtReturn */
	return new_template(texts, n, w, target->cluster, why);
}

struct cmdsource *
template_open_seed(const struct engine_target *target,
    const struct engine_work *w, unsigned many)
{
	struct command_style style = {
	    target->cluster, target->prefix, TEMPLATE_SAME, NULL};
	struct piece_text *text = mem_new(sizeof *text);
	struct engine_work in_order = *w;
	struct template *t;
	char *why;

	in_order.keys = (struct keyspec){.kind = KEYSPEC_SEQUENTIAL};
	text->text = command_seed_text(w->command, &many, &style);
	text->values = many;
	t = new_template(text, 1, &in_order, target->cluster, &why);
	if (!t)
		err_die("'%s': %s", w->command, why);
	return &t->source;
}

void
template_free(struct template *t)
{
	size_t i;

	if (!t)
		return;
	render_free(t);
	for (i = 0; i < t->ncommands; i++) {
		free(t->commands[i].pieces);
		free(t->commands[i].patches);
	}
	for (i = 0; i < t->nfields; i++)
		free(t->fields[i]);
	for (i = 0; i < CMDSOURCE_COUNTERS; i++)
		free(t->before[i]);
	mix_free(t->mix);
	free(t->ranges);
	free(t->commands);
	free(t->fields);
	free(t->cycle);
	values_free(t->data);
	free(t->execs);
	free(t->bytes);
	free(t);
}

void
template_bind(struct template *t, const struct rowset *rows, size_t most)
{
	struct cmdsource *o = &t->source;

	t->rows = rows;
	if (rows && t->cycle)
		o->len += rowset_mean(rows) *
		    (size_t)t->before[CMDSOURCE_ROWS][o->cycle] /
		    (size_t)o->cycle;
	if (!o->end)
		o->constant = o->len;
	render_bind(t, most);
}

const char *const *
template_fields(const struct template *t)
{
	return (const char *const *)t->fields;
}

struct cmdsource *
template_source(struct template *t)
{
	return &t->source;
}

struct cmdsource *
template_open(const struct engine_target *target, const struct engine_work *w)
{
	char *why;
	struct template *t = template_new(target, w, &why);

	if (!t) {
		err_say("'%s': %s", w->command, why);
		free(why);
		return NULL;
	}
	if (*t->fields && !w->rows) {
		err_say("'%s' uses a field, but the case has no dataset",
		    w->command);
		template_free(t);
		return NULL;
	}
	if (*t->fields)
		template_bind(t, w->rows, BEFOREHAND);
	return &t->source;
}
