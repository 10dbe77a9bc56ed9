#include "redact.h"
#include "str.h"

#include <ctype.h>
#include <string.h>

#define STARS (sizeof REDACT_STARS - 1)
#define LOGIN_MOST 4096 /* bytes that are searched for the '@' of a login */
#define HASH_DIGITS 64
#define BACKSLASHES 64 /* before a quote, at most: texts within texts */

/*
 * What has a secret. A SETTING is one of a server: its value may follow without
 * "=" or ":". The others are how names of keys, options and variables end;
 * "-" and "_" are the same. An OPTION has a secret only behind "--". NONE is
 * the kind of an error of a server, which is a key where errors are counted.
 */
enum kind { NONE, ENDING, SETTING, OPTION, RULES };

static const struct {
	const char *name;
	size_t n;
	enum kind kind;
} table[] = {
#define NAME(name, kind)                     \
	{                                    \
		name, sizeof(name) - 1, kind \
	}
    NAME("requirepass", SETTING), NAME("masterauth", SETTING),
    NAME("primaryauth", SETTING), NAME("tls-key-file-pass", SETTING),
    NAME("tls-client-key-file-pass", SETTING), NAME("auth-pass", SETTING),
    NAME("sentinel-pass", SETTING), NAME("pass", OPTION),
    NAME("cluster-from-pass", OPTION), NAME("authenticate", OPTION),
    NAME("user", RULES), NAME("setuser", RULES), NAME("password", ENDING),
    NAME("passwd", ENDING), NAME("passphrase", ENDING), NAME("token", ENDING),
    NAME("secret", ENDING), NAME("noauth", NONE), NAME("auth", ENDING),
    NAME("authorization", ENDING), NAME("apikey", ENDING),
    NAME("api_key", ENDING), NAME("access_key", ENDING),
    NAME("private_key", ENDING), NAME("s3_key", ENDING)
#undef NAME
};

/* Programs whose option -a is a password. */
static const char *const clients[] = {"valkey-cli", "redis-cli",
    "valkey-benchmark", "redis-benchmark", "memtier_benchmark"};

/* Messages that stand behind the colon of a key, in place of its secret. */
static const char *const states[] = {"null", "true", "false", "ok", "none",
    "yes", "no", "on", "off", "required", "missing", "invalid", "failed",
    "denied", "permission denied", "no such file or directory",
    "is a directory", NULL};

/* How a sentence begins that says what is wrong with a file or an option. */
static const char *const sentences[] = {"permission", "no", "not", "is", "are",
    "was", "has", "must", "needs", "requires", "expects", "takes", "cannot",
    "invalid", "unknown", "missing", "unexpected", "expected", "bad", "too",
    "line", "error", "failed", "operation", "connection", "input/output",
    "file", "read-only", "device", "resource", NULL};

/* How the text is written: a backslash in JSON begins an escape, and "<" in
 * markup a tag. */
enum form { PLAIN, JSON, MARKUP };

/* Up to a place: does a string of JSON hold it? */
struct strings {
	size_t at;
	bool inside;
};

struct scan {
	const char *s;
	size_t n, i;
	enum form form;
	struct strings strings; /* up to about i */
	size_t rules_end;       /* the rules of a user end here */
	/* The ends that were found last, so that each is searched once: */
	size_t text_end[2]; /* of a line; of a list: see find_text_end */
	size_t url_end;     /* of a word behind "://" */
	size_t scp_end;     /* of a word that may be as with scp */
	size_t login_end; /* AUTH before it is of HELLO, MIGRATE or a client */
	unsigned login_words;
	size_t client_end; /* -a before it is of one of 'clients' */
	unsigned words;    /* that follow are secrets */
	bool listed;       /* they are elements of a list */
};

/* A secret, and the quote on both sides of its replacement, as at its key. */
struct hit {
	size_t at, n;
	size_t quote_at, quote;
};

static bool
is_same(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char x = a[i] == '-' ? '_' : (char)tolower((unsigned char)a[i]);

		if (x != (b[i] == '-' ? '_' : b[i]))
			return false;
	}
	return true;
}

/* Does a name of the table end with this? Most words do not. */
static inline bool
is_last(char c)
{
	switch (c) {
	case 'd':
	case 'e':
	case 'h':
	case 'n':
	case 'r':
	case 's':
	case 't':
	case 'y':
		return true;
	default:
		return false;
	}
}

static enum kind
find_kind(const char *name, size_t n)
{
	char last = n ? (char)tolower((unsigned char)name[n - 1]) : '\0';

	if (!is_last(last))
		return NONE;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		size_t k = table[i].n;

		if (table[i].name[k - 1] == last &&
		    (table[i].kind == ENDING ? n >= k : n == k) &&
		    is_same(name + n - k, table[i].name, k))
			return table[i].kind;
	}
	return NONE;
}

static bool
is_listed(const char *const *list, const char *text, size_t n)
{
	for (; *list; list++)
		if (strlen(*list) == n && is_same(text, *list, n))
			return true;
	return false;
}

/* Does the name of a program begin with that of a client? */
static bool
is_client(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
		size_t k = strlen(clients[i]);

		if (n >= k && is_same(name, clients[i], k))
			return true;
	}
	return false;
}

bool
redact_is_secret(const char *name)
{
	enum kind kind = find_kind(name, strlen(name));

	return kind != NONE && kind != OPTION;
}

bool
redact_is_argument(const char *const *words, size_t i)
{
	const char *before = i ? words[i - 1] : "", *name;

	if (strcmp(before, "-a") != 0)
		return before[0] == '-' && before[1] == '-' &&
		    find_kind(before + 2, strlen(before + 2)) != NONE;
	while (i--) {
		name = strrchr(words[i], '/');
		name = name ? name + 1 : words[i];
		if (is_client(name, strlen(name)))
			return true;
	}
	return false;
}

static char
char_at(const struct scan *s, size_t i)
{
	return i < s->n ? s->s[i] : '\0';
}

static bool
has_text(const struct scan *s, size_t i, const char *text)
{
	size_t k = strlen(text);

	return i + k <= s->n && memcmp(s->s + i, text, k) == 0;
}

static bool
is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Returns the length of the blank at i, or 0. */
static size_t
measure_blank(const struct scan *s, size_t i)
{
	char c = char_at(s, i), d = char_at(s, i + 1);

	if (c && strchr(" \t\r\n\v\f", c))
		return 1;
	return s->form == JSON && c == '\\' && d && strchr("nrtvf", d) ? 2 : 0;
}

static size_t
skip_blanks(const struct scan *s, size_t i)
{
	while (measure_blank(s, i))
		i += measure_blank(s, i);
	return i;
}

/* Is there a line break at i? */
static bool
is_break(const struct scan *s, size_t i)
{
	char c = char_at(s, i), d = char_at(s, i + 1);

	return c == '\n' || c == '\r' ||
	    (s->form == JSON && c == '\\' && (d == 'n' || d == 'r'));
}

/* Returns the length of the quote at i with its backslashes, or 0. */
static size_t
measure_quote(const struct scan *s, size_t i)
{
	static const char *const entities[] = {
	    "&quot;", "&#34;", "&#39;", "&apos;"};
	size_t k = i;

	for (size_t e = 0; char_at(s, i) == '&' && e < 4; e++)
		if (has_text(s, i, entities[e]))
			return strlen(entities[e]);
	while (k - i < BACKSLASHES && char_at(s, k) == '\\')
		k++;
	return char_at(s, k) && strchr("\"'`", char_at(s, k)) ? k + 1 - i : 0;
}

/* Moves to i, behind strings of JSON, which end with their line at the latest.
 */
static void
follow_strings(const struct scan *s, struct strings *p, size_t i)
{
	for (; p->at < i; p->at++)
		if (s->s[p->at] == '\n')
			p->inside = false;
		else if (s->s[p->at] == '\\' && p->inside)
			p->at++;
		else if (s->s[p->at] == '"')
			p->inside = !p->inside;
}

/* Is the quote of n bytes at i within a string of JSON, and not its end? */
static bool
is_in_string(const struct scan *s, size_t i, size_t n)
{
	struct strings p = s->strings;

	if (s->form != JSON || (n == 1 && s->s[i] == '"'))
		return false;
	follow_strings(s, &p, i);
	return p.inside;
}

/* Returns the length of the quote at i, or 0 also where it ends a string of
 * JSON. */
static size_t
measure_open(const struct scan *s, size_t i)
{
	size_t n = measure_quote(s, i);

	return n % 2 && s->s[i + n - 1] == '"' && is_in_string(s, i, 0) ? 0 : n;
}

/* Returns the length of the text from i, behind a quote of n bytes, up to the
 * same quote, to the end of the string of JSON that it stands in, or to the
 * end.
 */
static size_t
measure_quoted(const struct scan *s, size_t i, size_t n)
{
	const char *quote = s->s + i - n;
	bool entity = *quote == '&', inside = is_in_string(s, i - n, n);
	size_t k = i, run;

	for (; k < s->n; k++) {
		for (run = 0; char_at(s, k) == '\\'; run++)
			k++;
		if (entity ? k + n <= s->n && memcmp(s->s + k, quote, n) == 0
			   : char_at(s, k) == quote[n - 1] &&
			    (run == n - 1 || (n == 1 && run % 2 == 0)))
			return k - (entity || n == 1 ? 0 : run) - i;
		if (inside && char_at(s, k) == '"' && run % 2 == 0)
			return k - i;
	}
	return s->n - i;
}

/* May a quoted text have ended before i? */
static bool
is_end(const struct scan *s, size_t i)
{
	return i >= s->n || strchr(",;:.)]}<\"'`", s->s[i]) ||
	    measure_blank(s, i) || measure_quote(s, i);
}

/* Returns the length of the value at i, which has no quotes of its own. */
static size_t
measure_plain(const struct scan *s, size_t i, bool query)
{
	size_t k = i, n;
	char c;

	while ((c = char_at(s, k)) && !measure_blank(s, k)) {
		if ((query && (c == '&' || c == '#')) ||
		    (s->form == MARKUP && c == '<'))
			break;
		n = measure_quote(s, k);
		/* A quote within a word is a part of it, except in JSON. */
		if (n && s->form == JSON
			? c == '"' || (c == '\'' && is_end(s, k + 1))
			: n && is_end(s, k + n))
			break;
		k += n ? n : s->form == JSON && c == '\\' ? 2 : 1;
	}
	return (k < s->n ? k : s->n) - i;
}

/* Returns the length of the object or list at i. One that a string of JSON
 * holds ends with that at the latest. */
static size_t
measure_tree(const struct scan *s, size_t i)
{
	bool inside = is_in_string(s, i, 0);
	size_t depth = 0, k = i, n;

	for (; k < s->n; k++) {
		n = measure_quote(s, k);
		if (n) {
			if (inside && n % 2 && s->s[k + n - 1] == '"')
				return k - i;
			k += n;
			k += measure_quoted(s, k, n);
			if (inside && char_at(s, k) == '"')
				return k - i;
			k += n - 1;
		} else if (strchr("[{", s->s[k]))
			depth++;
		else if (strchr("]}", s->s[k]) && !--depth)
			return k + 1 - i;
	}
	return s->n - i;
}

/* Is the object at i one that names a variable: {"env":"NAME"}? */
static bool
is_reference(const struct scan *s, size_t i)
{
	size_t n;

	if (char_at(s, i) != '{')
		return false;
	i = skip_blanks(s, i + 1);
	n = measure_quote(s, i);
	if (!n || !has_text(s, i + n, "env") ||
	    measure_quote(s, i + n + 3) != n)
		return false;
	i = skip_blanks(s, i + 2 * n + 3);
	if (char_at(s, i) != ':')
		return false;
	i = skip_blanks(s, i + 1);
	if (measure_quote(s, i) != n)
		return false;
	i += n;
	while (is_word_char(char_at(s, i)))
		i++;
	i = measure_quote(s, i) == n ? skip_blanks(s, i + n) : i;
	return char_at(s, i) == '}';
}

/* Does a line, a quoted text, a command or a value begin at i? */
static bool
is_start(const struct scan *s, size_t i)
{
	size_t k = i;

	while (k && (s->s[k - 1] == ' ' || s->s[k - 1] == '\t'))
		k--;
	/* '>' ends the prompt of valkey-cli, and a tag. */
	if (!k || strchr("\n\r\"'`;,>", s->s[k - 1]))
		return true;
	if (k == i && strchr("=(", s->s[k - 1]))
		return true;
	return s->form == JSON && k > 1 && s->s[k - 2] == '\\' &&
	    is_break(s, k - 2);
}

/* Does a line or a quoted text begin at i? */
static bool
is_line_start(const struct scan *s, size_t i)
{
	while (i && (s->s[i - 1] == ' ' || s->s[i - 1] == '\t'))
		i--;
	return !i || strchr("\n\r\"'", s->s[i - 1]);
}

/*
 * Finds the word behind one that ends at i: behind blanks on the same line, or
 * the next element of a list or of quoted words. Returns its begin, or 0; sets
 * *quote to the length of the quote before it, or 0.
 */
static size_t
find_next_word(const struct scan *s, size_t i, size_t *quote, bool *listed)
{
	size_t n = measure_quote(s, i), k;

	*quote = 0;
	*listed = n;
	if (n) {
		k = skip_blanks(s, i + n);
		if (char_at(s, k) == ',')
			k = skip_blanks(s, k + 1);
		*quote = measure_quote(s, k);
		return *quote && k > i + n ? k + *quote : 0;
	}
	for (k = i; measure_blank(s, k); k += measure_blank(s, k))
		if (is_break(s, k))
			return 0;
	*quote = k > i ? measure_open(s, k) : 0;
	/* A quote behind blanks is the end of a text if nothing follows. */
	if (*quote && !measure_quoted(s, k + *quote, *quote))
		return 0;
	return k > i && k < s->n ? k + *quote : 0;
}

/* Returns the same, or 0 if the word is a key of an object of JSON. */
static size_t
find_value(const struct scan *s, size_t i, size_t *quote, bool *listed)
{
	size_t at = find_next_word(s, i, quote, listed), end;

	if (!at || !*listed || s->form != JSON || *quote != 1 ||
	    s->s[at - 1] != '"')
		return at;
	end = at + measure_quoted(s, at, 1) + 1;
	return char_at(s, skip_blanks(s, end)) == ':' ? 0 : at;
}

/* Is the value a secret variable of the shell, $NAME, as in a command that is
 * printed to be run? */
static bool
is_variable(const struct scan *s, size_t i, size_t n)
{
	size_t k = 1;

	while (k < n && is_word_char(s->s[i + k]))
		k++;
	return n && s->s[i] == '$' && k == n &&
	    find_kind(s->s + i + 1, n - 1) == ENDING;
}

/* Does a message about the secret of a key stand at i, in place of its value?
 * Several words are one only behind the name of a file or an option. */
static bool
is_statement(const struct scan *s, size_t i, const struct hit *key)
{
	bool named = has_text(s, key->at, "--") ||
	    (key->at && strchr("/.", s->s[key->at - 1]));
	size_t n = 0;

	while (!is_end(s, i + n))
		n++;
	if (measure_blank(s, i + n) && !is_break(s, i + n) &&
	    isalpha((unsigned char)char_at(s, skip_blanks(s, i + n))))
		return named && is_listed(sentences, s->s + i, n);
	return is_listed(states, s->s + i, n);
}

/* Makes a hit of the value at i, which follows a quote of this length. */
static bool
hit_value(struct scan *s, struct hit *h, size_t i, size_t quote, bool query)
{
	size_t n =
	    quote ? measure_quoted(s, i, quote) : measure_plain(s, i, query);

	*h = (struct hit){.at = i, .n = n};
	s->i = i + n;
	return n > 0 && !is_variable(s, i, n);
}

/* Hides the value at i of a key, behind which there is a quote. */
static bool
hit_member(struct scan *s, struct hit *h, size_t i, const struct hit *key)
{
	size_t n = measure_open(s, i);

	if (n)
		return hit_value(s, h, i + n, n, false);
	if (is_statement(s, i, key))
		return false;
	if (char_at(s, i) == '{' || char_at(s, i) == '[') {
		n = measure_tree(s, i);
		if (is_reference(s, i)) {
			s->i = i + n;
			return false;
		}
	} else
		while (i + n < s->n && !strchr(",]} \t\r\n\"\\", s->s[i + n]))
			n++;
	*h = (struct hit){i, n, key->quote_at, key->quote};
	s->i = i + n;
	return n > 0;
}

/*
 * Returns where the line or the list that the place k is in ends; up to there
 * it is the end of both. A line that ends with a backslash continues, and so
 * does each in a list of JSON.
 */
static size_t
find_end(struct scan *s, size_t k, bool listed)
{
	if (k < s->text_end[listed])
		return s->text_end[listed];
	for (; k < s->n; k++) {
		if (listed ? s->s[k] == ']'
			   : s->form == JSON && s->s[k] == '"' &&
			    s->s[k - 1] != '\\')
			break;
		if (is_break(s, k) && s->s[k - 1] != '\\' &&
		    !(listed && s->form == JSON))
			break;
	}
	return s->text_end[listed] = k;
}

/* Returns where the words of a command or a line end that follow the word of n
 * bytes at i; 0 if there are none. */
static size_t
find_text_end(struct scan *s, size_t i, size_t n)
{
	size_t quote;
	bool listed;

	return find_next_word(s, i + n, &quote, &listed)
	    ? find_end(s, i + n, listed)
	    : 0;
}

/* Returns the length of the sign of a password or a hash in a rule at i, or
 * 0. */
static size_t
measure_sign(const struct scan *s, size_t i)
{
	char c = char_at(s, i);
	size_t n = 0;

	if (i && !strchr(" \t\n\"'`(,;", s->s[i - 1]))
		return 0;
	if (c == '>' || c == '<')
		return 1;
	if (has_text(s, i, "&gt;") || has_text(s, i, "&lt;"))
		return 4;
	if (c != '#' && c != '!')
		return 0;
	while (isxdigit((unsigned char)char_at(s, i + 1 + n)))
		n++;
	return n == HASH_DIGITS || has_text(s, i + 1, REDACT_STARS);
}

/*
 * The text from i follows "://". Returns the length of the login before its
 * '@', or 0. A password may hold "/", "?" and "#": they belong to it if they
 * follow a colon that no port follows.
 */
static size_t
measure_login(struct scan *s, size_t i)
{
	size_t most = s->n - i < LOGIN_MOST ? s->n - i : LOGIN_MOST;
	const char *text = s->s + i, *at, *colon;
	size_t n = 0, port = 0;

	while (n < most && !measure_blank(s, i + n) && !strchr("/?#", text[n]))
		n++;
	at = memrchr(text, '@', n);
	colon = memchr(text, ':', n);
	if (at || !colon)
		return at ? (size_t)(at - text) : 0;
	while (colon + 1 + port < text + n &&
	    isdigit((unsigned char)colon[1 + port]))
		port++;
	if (colon + 1 + port == text + n)
		return 0;
	if (i >= s->url_end)
		for (s->url_end = i; s->url_end < s->n &&
		     !measure_blank(s, s->url_end) && s->s[s->url_end] != '"';)
			s->url_end++;
	n = s->url_end - i;
	at = memrchr(text, '@', n < most ? n : most);
	return at ? (size_t)(at - text) : 0;
}

/*
 * A word begins at i with so many bytes. Returns the length of the login of a
 * repository that is named as with scp, user:password@host:path, or 0.
 * "git@host:path" has none.
 */
static size_t
measure_scp_login(struct scan *s, size_t i, size_t word)
{
	static const char ends[] = ":@/=,;()'\" \t\r\n\v\f\\<>";
	size_t most = s->n - i < LOGIN_MOST ? s->n - i : LOGIN_MOST;
	const char *text = s->s + i, *at;
	size_t colon = word, n;

	while (colon < most && !strchr(ends, text[colon]))
		colon++;
	if (colon + 1 >= most || text[colon] != ':' || text[colon + 1] == '/')
		return 0;
	if (i >= s->scp_end)
		for (s->scp_end = i; s->scp_end < s->n &&
		     !strchr("'\" \t\r\n\v\f\\<>", s->s[s->scp_end]);)
			s->scp_end++;
	n = s->scp_end - i < most ? s->scp_end - i : most;
	at = text + n;
	while ((at = memrchr(text, '@', (size_t)(at - text)))) {
		size_t host = 0, left = (size_t)(text + n - at) - 1;

		while (
		    host < left && !strchr(":@/'\" \t\r\n\v\f", at[1 + host]))
			host++;
		if (host && host < left && at[1 + host] == ':' &&
		    at > text + colon + 1)
			return (size_t)(at - text);
	}
	return 0;
}

/* Begins to hide so many words behind the one that ends at i. */
static bool
hit_words(struct scan *s, struct hit *h, size_t i, unsigned n)
{
	size_t quote, at = find_value(s, i, &quote, &s->listed);

	s->words = at ? n - 1 : 0;
	return at && hit_value(s, h, at, quote, false);
}

static bool
hit_more_words(struct scan *s, struct hit *h)
{
	size_t quote, at;
	bool listed;

	at = find_value(s, s->i, &quote, &listed);
	if (!at || listed != s->listed) {
		s->words = 0;
		return false;
	}
	s->words--;
	return hit_value(s, h, at, quote, false);
}

/* Does the value of key=value follow the word that ends at i? Returns its
 * begin, or 0. */
static size_t
find_assigned(const struct scan *s, size_t i)
{
	size_t k = i;

	while (char_at(s, k) == ' ')
		k++;
	if (char_at(s, k) != '=')
		return 0;
	return k == i ? k + 1 : skip_blanks(s, k + 1);
}

/* Of a server that does not know AUTH, in quotes before i: hides what it says
 * of the arguments, "'AUTH', with args beginning with: 'a' 'b'". */
static bool
hit_repeated(struct scan *s, struct hit *h, size_t i)
{
	static const char before[] = ", with args beginning with:";
	size_t at, n = 0;

	if (!has_text(s, i, before))
		return false;
	at = skip_blanks(s, i + sizeof before - 1);
	while (at + n < s->n && !is_break(s, at + n) &&
	    !(s->form == MARKUP && s->s[at + n] == '<') &&
	    !(s->form == JSON && s->s[at + n] == '"' &&
		s->s[at + n - 1] != '\\'))
		n++;
	*h = (struct hit){.at = at, .n = n};
	s->i = at + n;
	return n > 0;
}

/* Handles the secret name of n bytes at i. Returns false if no secret
 * follows. */
static bool
hit_secret(struct scan *s, struct hit *h, size_t i, size_t n, enum kind kind)
{
	size_t end = i + n, quote = measure_quote(s, end), at;
	bool dashed = n > 2 && has_text(s, i, "--"), listed;
	bool query = i && strchr("?&", s->s[i - 1]);

	at = skip_blanks(s, end + quote);
	if (quote && char_at(s, at) == ':')
		return hit_member(s, h, skip_blanks(s, at + 1),
		    &(struct hit){i, n, end, quote});
	at = find_assigned(s, end);
	if (at) {
		quote = measure_open(s, at);
		/* The quote may be the end of the text. */
		if (quote && !is_word_char(char_at(s, at + quote)) &&
		    measure_quoted(s, at + quote, quote) == s->n - at - quote)
			return false;
		return hit_value(s, h, at + quote, quote, query);
	}
	if (char_at(s, end) == ':' && measure_blank(s, end + 1) &&
	    !is_break(s, end + 1) && is_line_start(s, i)) {
		at = skip_blanks(s, end + 1);
		for (n = 0; at + n < s->n && !is_break(s, at + n) &&
		     !measure_quote(s, at + n);)
			n++;
		*h = (struct hit){.at = at, .n = n};
		s->i = at + n;
		return n > 0 && !is_listed(states, s->s + at, n);
	}
	if (n == 4 && is_same(s->s + i, "auth", 4)) {
		if (quote && hit_repeated(s, h, end + quote))
			return true;
		if (has_text(s, end, " failed: ")) /* says valkey-cli */
			return false;
		if (i < s->login_end)
			return hit_words(s, h, end, s->login_words);
		return is_start(s, i) && hit_words(s, h, end, 2);
	}
	if (kind != SETTING && !dashed)
		return false;
	if (n == 9 && is_same(s->s + i, "auth-pass", 9)) /* of a master */
		return hit_words(s, h, end, 2);
	at = find_value(s, end, &quote, &listed);
	return at && hit_value(s, h, at, quote, false);
}

/* Handles -a of a client, whose value may follow without a blank. */
static bool
hit_letter(struct scan *s, struct hit *h, size_t i, size_t n)
{
	size_t value = i + 2 + (char_at(s, i + 2) == '=');
	size_t quote = measure_open(s, value);
	bool quoted = i && strchr("\"'`;", s->s[i - 1]);

	if (n > 2 || value > i + 2 || (quote && !quoted))
		return hit_value(s, h, value + quote, quote, false);
	return hit_words(s, h, i + n, 1);
}

/* Handles the word of n bytes at i. Returns false if no secret follows. */
static bool
hit_after_word(struct scan *s, struct hit *h, size_t i, size_t n)
{
	size_t dashes = has_text(s, i, "--") ? 2 : 0, quote, at;
	const char *name = s->s + i + dashes;
	bool listed;
	enum kind kind;

	s->i = i + n;
	/* Most words of a record are numbers, which no name begins and ends
	 * with. */
	if (isdigit((unsigned char)s->s[i]) &&
	    isdigit((unsigned char)s->s[i + n - 1]))
		return false;
	kind = find_kind(name, n - dashes);
	if (i < s->client_end && n > 1 && has_text(s, i, "-a"))
		return hit_letter(s, h, i, n);
	if (kind == OPTION && !dashes)
		return false;
	if (kind == RULES) {
		quote = measure_quote(s, s->i);
		at = skip_blanks(s, s->i + quote);
		if (quote && char_at(s, at) == ':') {
			at = skip_blanks(s, at + 1);
			quote = measure_quote(s, at);
			if (quote)
				s->rules_end = at + quote +
				    measure_quoted(s, at + quote, quote);
			else if (at >= s->rules_end)
				s->rules_end = at + measure_tree(s, at);
		} else if (char_at(s, s->i) == '=') {
			if (s->i < s->rules_end)
				return false;
			for (s->rules_end = s->i;
			     s->rules_end < s->n && !is_break(s, s->rules_end);)
				s->rules_end++;
		} else if (dashes || n == 7 || is_start(s, i))
			s->rules_end = find_text_end(s, i, n);
		return false;
	}
	if (kind != NONE)
		return hit_secret(s, h, i, n, kind);
	if ((n == 5 && is_same(name, "hello", 5)) ||
	    (n == 7 && is_same(name, "migrate", 7))) {
		s->login_words = n == 5 ? 2 : 1;
		s->login_end = find_text_end(s, i, n);
	} else if (is_client(name, n)) {
		at = find_next_word(s, s->i, &quote, &listed);
		s->login_words = 2;
		s->client_end = find_end(s, s->i, at && listed);
		s->login_end = s->client_end;
	} else if (n == 5 && i < s->login_end && is_same(name, "auth2", 5))
		return hit_words(s, h, s->i, 2);
	return false;
}

/* Finds the next secret, and moves behind it. */
static bool
find_secret(struct scan *s, struct hit *h)
{
	size_t n;

	if (s->words && hit_more_words(s, h))
		return true;
	while (s->i < s->n) {
		size_t i = s->i;
		char c = s->s[i];

		follow_strings(s, &s->strings, i);
		if (c == ':' && has_text(s, i, "://")) {
			s->i = i + 3;
			n = measure_login(s, s->i);
			*h = (struct hit){.at = s->i, .n = n};
			s->i += n;
			if (n)
				return true;
			continue;
		}
		if (i < s->rules_end && (n = measure_sign(s, i)) &&
		    hit_value(s, h, i + n, 0, false))
			return true;
		if (!is_word_char(c)) {
			s->i = i + 1;
			continue;
		}
		for (n = 1; is_word_char(char_at(s, i + n));)
			n++;
		if (hit_after_word(s, h, i, n))
			return true;
		if (s->i != i + n)
			continue;
		if (i && !strchr("=,;('\" \t\r\n\v\f", s->s[i - 1]))
			continue;
		n = measure_scp_login(s, i, n);
		if (n) {
			*h = (struct hit){.at = i, .n = n};
			s->i = i + n;
			return true;
		}
	}
	return false;
}

static struct scan
begin_scan(const char *text, size_t n)
{
	struct scan s = {.s = text, .n = n};
	size_t at = skip_blanks(&s, 0);
	char c = char_at(&s, at), next = char_at(&s, skip_blanks(&s, at + 1));

	/* A line of a log may begin with "[", too. */
	if (next &&
	    ((c == '{' && strchr("\"}", next)) ||
		(c == '[' && strchr("\"[{]", next))))
		s.form = JSON;
	else if (c == '<')
		s.form = MARKUP;
	return s;
}

void
redact_add(struct str *to, const char *text, size_t n)
{
	struct scan s = begin_scan(text, n);
	struct hit h;
	size_t done = 0;

	while (find_secret(&s, &h)) {
		str_addn(to, text + done, h.at - done);
		str_addn(to, text + h.quote_at, h.quote);
		str_add(to, REDACT_STARS);
		str_addn(to, text + h.quote_at, h.quote);
		done = h.at + h.n;
	}
	str_addn(to, text + done, n - done);
}

bool
redact_is_hidden(const char *text)
{
	struct scan s = begin_scan(text, strlen(text));
	struct hit h;

	while (find_secret(&s, &h))
		if (h.n == STARS &&
		    memcmp(text + h.at, REDACT_STARS, STARS) == 0)
			return true;
	return strcmp(text, REDACT_STARS) == 0;
}

char *
redact_copy(const char *text)
{
	struct str s = {0};

	if (!text)
		return NULL;
	str_add(&s, "");
	redact_add(&s, text, strlen(text));
	return str_take(&s);
}

void
redact_text(char *text)
{
	struct scan s = begin_scan(text, strlen(text));
	size_t done = 0, put = 0, stars;
	struct hit h;

	/* What is written lies before what is still to be read. */
	while (find_secret(&s, &h)) {
		follow_strings(&s, &s.strings, s.i);
		memmove(text + put, text + done, h.at - done);
		put += h.at - done;
		stars = h.n < STARS ? h.n : STARS;
		memset(text + put, '*', stars);
		put += stars;
		done = h.at + h.n;
	}
	memmove(text + put, text + done, s.n - done + 1);
}
