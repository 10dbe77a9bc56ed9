#include "vocabulary.h"
#include "intern.h"
#include "mem.h"
#include "rng.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N VOCABULARY_WORDS
#define ROOM VOCABULARY_ROOM
#define LONGEST (ROOM - 2)
#define SEED 20260302

struct draw {
	uint32_t chance; /* probability of the rank itself, times 2^32 */
	uint32_t alias;
};

struct vocabulary {
	char (*words)[ROOM]; /* the last byte is the length */
	uint32_t *stems;     /* ranks of the words that a stemmer changes */
	size_t nstems;
	/*
	 * Alias method: Vose, "A Linear Algorithm for Generating Random Numbers
	 * with a Given Distribution", 1991.
	 */
	struct draw *draws;
};

/* Common English words, the most frequent first, separated by single blanks. */
static const char common_words[] =
    "the of and in to a is was for as on with by he that at from his it an "
    "were are which this also be had first or their has its after one but "
    "who not they have her she two been other when there all into more time "
    "during may can some only over many between such these where under most "
    "used than through year about would out then so part later new up while "
    "known three if no both because being made could until around however "
    "before them war him second same several any since early use large city "
    "against well state name century former work several high four group "
    "became world often including along well place number small people "
    "south north west east life area old day family back long death end "
    "each series system house another line form public school service home "
    "member order local side major general order century power village land "
    "river water company town country national history music film book "
    "album song game team player season league club goal match final road "
    "street station train bridge island sea coast lake mountain valley hill "
    "forest park garden church castle tower wall gate king queen prince "
    "lord bishop army battle attack soldier officer captain ship fleet "
    "harbour port trade market money price bank tax law court judge right "
    "party vote election government president minister council office "
    "member leader movement union worker labour factory machine engine "
    "steam iron steel copper gold silver stone wood paper glass cloth "
    "cotton wool silk leather colour red blue green white black brown "
    "yellow light dark sun moon star planet earth sky cloud rain snow wind "
    "storm ice fire heat cold summer winter spring autumn month week hour "
    "morning evening night science theory method experiment result measure "
    "degree energy force mass speed field wave sound signal radio "
    "television telephone computer network software program data code file "
    "memory screen image picture painting artist sculpture style design "
    "building architect roof floor window door room kitchen table chair "
    "bread rice wheat corn sugar salt milk meat fish fruit apple grape wine "
    "beer tea coffee farm farmer field crop seed plant tree leaf root "
    "flower grass animal horse cattle sheep goat dog cat bird eagle snake "
    "insect species genus habitat region climate desert jungle ocean "
    "current wave beach cliff cave mine coal oil gas fuel car truck driver "
    "race track wheel road highway airport aircraft pilot flight wing "
    "rocket satellite orbit space mission crew doctor nurse hospital "
    "medicine disease fever virus cell blood heart brain bone skin eye hand "
    "foot head hair voice word language letter alphabet poem poet novel "
    "story chapter page author editor publisher newspaper journal article "
    "report letter student teacher college university professor degree "
    "exam library museum theatre stage actor scene play dance ballet opera "
    "orchestra piano violin guitar drum singer band concert tour record "
    "label chart prize award medal champion cup tournament stadium coach "
    "manager training injury score point record draw defeat victory "
    "winner loser rival crowd fan ticket holiday festival tradition custom "
    "religion temple mosque monk priest saint prayer faith god spirit soul "
    "dream idea thought mind reason truth justice freedom peace treaty "
    "border province district county parish municipality population "
    "census household child mother father son daughter brother sister "
    "wife husband marriage birth childhood youth age career job business "
    "industry product customer shop store brand model version feature "
    "engine design patent invention discovery research laboratory "
    "chemistry physics biology geology mathematics number equation proof "
    "theorem function graph circle square triangle angle surface volume "
    "weight length width depth height distance direction compass map "
    "traveller journey voyage expedition camp tent trail path tunnel canal "
    "dam reservoir pump pipe valve switch circuit battery motor tool "
    "hammer knife sword shield bow arrow gun cannon bomb tank submarine "
    "navy marine regiment division brigade general colonel sergeant "
    "prison guard police crime thief murder trial witness evidence "
    "sentence punishment pardon exile return arrival departure";

static bool
has_vowel(const char *s, size_t n)
{
	return strcspn(s, "aeiouy") < n;
}

/*
 * Returns whether step 1a or 1b of the Snowball stemmer of English removes -s,
 * -ed or -ing from the word.
 */
static bool
is_stemmable(const char *w)
{
	size_t n = strlen(w);

	if (n > 5 && str_ends(w, "ing") && !str_ends(w, "eeing"))
		return has_vowel(w, n - 3);
	if (n > 4 && str_ends(w, "ed") && !str_ends(w, "eed"))
		return has_vowel(w, n - 2);
	if (n > 3 && w[n - 1] == 's' && !strchr("su'", w[n - 2]))
		return has_vowel(w, n - 2);
	return false;
}

/* Adds the word unless it is there already or too long. */
static void
add_vocabulary_word(
    struct vocabulary *v, struct intern *known, const char *w, size_t len)
{
	size_t n = intern_count(known);

	if (len > LONGEST || intern_idn(known, w, len) < n)
		return;
	memcpy(v->words[n], w, len);
	v->words[n][ROOM - 1] = (char)len;
}

static void
add_common_words(struct vocabulary *v, struct intern *known)
{
	for (const char *p = common_words; *p;) {
		size_t len = strcspn(p, " ");

		add_vocabulary_word(v, known, p, len);
		p += len + (p[len] == ' ');
	}
}

static void
append_syllable(struct str *s, struct rng *r, bool last)
{
	static const char *const onsets[] = {"b", "br", "c", "ch", "cl", "d",
	    "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl",
	    "pr", "r", "s", "sh", "st", "t", "th", "tr", "v", "w", "z"};
	static const char *const vowels[] = {
	    "a", "e", "i", "o", "u", "ai", "ea", "ou"};
	static const char *const codas[] = {
	    "n", "r", "l", "t", "m", "nd", "ck", "rt", "st", "p"};

	str_add(s, onsets[rng_below(r, sizeof onsets / sizeof *onsets)]);
	str_add(s, vowels[rng_below(r, sizeof vowels / sizeof *vowels)]);
	if (last || rng_below(r, 4) == 0)
		str_add(s, codas[rng_below(r, sizeof codas / sizeof *codas)]);
}

/* Adds a made-up stem with some of its forms, next to each other in rank. */
static void
add_family(struct vocabulary *v, struct intern *known, struct rng *r)
{
	static const char *const ends[] = {
	    "", "s", "ed", "ing", "er", "ly", "ness", "ation"};
	struct str s = {0};
	size_t n = 1 + rng_below(r, 2), stem;

	for (size_t i = 0; i <= n; i++)
		append_syllable(&s, r, i == n);
	stem = s.len;
	for (size_t i = 0;
	     i < sizeof ends / sizeof *ends && intern_count(known) < N; i++) {
		if (i && rng_below(r, 3) == 0)
			continue;
		s.len = stem;
		str_add(&s, ends[i]);
		add_vocabulary_word(v, known, s.s, s.len);
	}
	str_free(&s);
}

/* Returns the frequency of each rank, with a mean of 1. Caller frees. */
static double *
compute_frequencies(void)
{
	double *p = mem_array(N, sizeof *p), sum = 0;

	for (size_t i = 0; i < N; i++) {
		p[i] =
		    pow((double)(i + 1) + VOCABULARY_SHIFT, -VOCABULARY_POWER);
		sum += p[i];
	}
	for (size_t i = 0; i < N; i++)
		p[i] *= N / sum;
	return p;
}

/*
 * Builds the alias table. Ranks with a frequency of 1 or more come first; the
 * last of them that still exceeds 1 fills up each rank below 1.
 */
static void
build_aliases(struct vocabulary *v)
{
	double *p = compute_frequencies();
	size_t rich = 0, poor;
	uint32_t *todo = mem_array(N, sizeof *todo);
	size_t n = 0;

	while (rich < N && p[rich] >= 1)
		rich++;
	for (poor = N; poor > rich; poor--)
		todo[n++] = (uint32_t)(poor - 1);
	for (size_t i = 0; i < N; i++)
		v->draws[i] = (struct draw){UINT32_MAX, (uint32_t)i};
	while (n && rich) {
		uint32_t i = todo[--n];

		v->draws[i] = (struct draw){
		    (uint32_t)(p[i] * UINT32_MAX), (uint32_t)(rich - 1)};
		p[rich - 1] -= 1 - p[i];
		if (p[rich - 1] < 1)
			todo[n++] = (uint32_t)--rich;
	}
	free(todo);
	free(p);
}

struct vocabulary *
vocabulary_new(void)
{
	struct vocabulary *v = mem_new(sizeof *v);
	struct intern *known = intern_new();
	struct rng r;

	v->words = mem_array(N, sizeof *v->words);
	v->stems = mem_array(N, sizeof *v->stems);
	v->draws = mem_array(N, sizeof *v->draws);
	rng_seed(&r, SEED, 0);
	add_common_words(v, known);
	while (intern_count(known) < N)
		add_family(v, known, &r);
	intern_free(known);
	for (size_t i = 0; i < N; i++)
		if (is_stemmable(v->words[i]))
			v->stems[v->nstems++] = (uint32_t)i;
	build_aliases(v);
	return v;
}

void
vocabulary_free(struct vocabulary *v)
{
	if (!v)
		return;
	free(v->words);
	free(v->stems);
	free(v->draws);
	free(v);
}

const char *
vocabulary_get_word(const struct vocabulary *v, size_t i, size_t *len)
{
	*len = (size_t)v->words[i][ROOM - 1];
	return v->words[i];
}

size_t
vocabulary_draw_rank(const struct vocabulary *v, struct rng *r)
{
	uint64_t x = rng_next(r);
	size_t i = (size_t)((x >> 32) * N >> 32);

	return (uint32_t)x <= v->draws[i].chance ? i : v->draws[i].alias;
}

size_t
vocabulary_count_stemmable(const struct vocabulary *v)
{
	return v->nstems;
}

const char *
vocabulary_get_stemmable(const struct vocabulary *v, size_t i, size_t *len)
{
	return vocabulary_get_word(v, v->stems[i], len);
}

#define SHORTEST_SENTENCE 4 /* words of the shortest sentence */
#define LONGEST_SENTENCE 28
#define COMMA 12 /* one word in COMMA is followed by a comma */

/* Draws a nearly normal number: the sum of 12 uniform ones, minus 6. */
static double
draw_normal(struct rng *r)
{
	double z = -6;

	for (int i = 0; i < 12; i++)
		z += rng_unit(r);
	return z;
}

void
vocabulary_append_text(struct str *s, const struct vocabulary *v, struct rng *r,
    double median, size_t size)
{
	double words = median * exp(VOCABULARY_SIGMA * draw_normal(r));
	size_t end = s->len + size, left = 0, len;

	for (double i = 0; i < words; i++) {
		const char *w =
		    vocabulary_get_word(v, vocabulary_draw_rank(v, r), &len);
		bool first = left == 0;

		if (s->len + len + 2 > end)
			break;
		if (first)
			left = SHORTEST_SENTENCE +
			    rng_below(
				r, LONGEST_SENTENCE - SHORTEST_SENTENCE + 1);
		if (i > 0)
			str_addc(s, ' ');
		str_addn(s, w, len);
		if (first)
			s->s[s->len - len] -= 'a' - 'A';
		if (--left == 0)
			str_addc(s, '.');
		else if (rng_below(r, COMMA) == 0)
			str_addc(s, ',');
	}
	str_add(s, "");
}
