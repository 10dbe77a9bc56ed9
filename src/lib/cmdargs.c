#include "cmdargs.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS "it blocks"
#define SUBSCRIBES "its replies come later"
#define CONNECTION "it changes the connection"
#define ADMIN "it administers the server"
#define EMPTIES "it deletes all data"

/*
 * The words after the name, one letter each:
 *
 *	k  a key              v  a value
 *	.  syntax; what is neither a number nor an option is CMDARGS_OTHER
 *	o  CMDARGS_OTHER
 *	?  any number of options without values
 *	N  a number, and so many keys
 *	K  keys up to the last word
 *	S  everything up to STREAMS; the first half of the rest are keys
 *	X  the options of XADD, and the ID
 *	O  syntax, where the word after STORE or STOREDIST is a key
 *	*  what follows is repeated until the end
 *
 * Behind the last letter all is syntax.
 */
#define WITH_KEYS "kNKS" /* the letters of a command that has keys */
static const struct command {
	const char *name, *args, *refuse;
} commands[] = {{"ACL", "", ADMIN}, {"APPEND", "kv", NULL},
    {"ASKING", "", CONNECTION}, {"AUTH", "", CONNECTION},
    {"BGREWRITEAOF", "", ADMIN}, {"BGSAVE", "", ADMIN}, {"BITCOUNT", "k", NULL},
    {"BITFIELD", "k", NULL}, {"BITFIELD_RO", "k", NULL}, {"BITOP", ".*k", NULL},
    {"BITPOS", "k", NULL}, {"BLMOVE", "kk", BLOCKS}, {"BLMPOP", ".N", BLOCKS},
    {"BLPOP", "K", BLOCKS}, {"BRPOP", "K", BLOCKS},
    {"BRPOPLPUSH", "kk", BLOCKS}, {"BZMPOP", ".N", BLOCKS},
    {"BZPOPMAX", "K", BLOCKS}, {"BZPOPMIN", "K", BLOCKS},
    {"CLIENT", "", CONNECTION}, {"CLUSTER", "", ADMIN}, {"COMMAND", "", ADMIN},
    {"COMMANDLOG", "", ADMIN}, {"CONFIG", "", ADMIN}, {"COPY", "kk", NULL},
    {"DBSIZE", "", NULL}, {"DEBUG", "", ADMIN}, {"DECR", "k", NULL},
    {"DECRBY", "k.", NULL}, {"DEL", "*k", NULL}, {"DELIFEQ", "kv", NULL},
    {"DISCARD", "", NULL}, {"DUMP", "k", NULL}, {"ECHO", "v", NULL},
    {"EVAL", "vN*v", NULL}, {"EVALSHA", ".N*v", NULL},
    {"EVALSHA_RO", ".N*v", NULL}, {"EVAL_RO", "vN*v", NULL}, {"EXEC", "", NULL},
    {"EXISTS", "*k", NULL}, {"EXPIRE", "k", NULL}, {"EXPIREAT", "k", NULL},
    {"EXPIRETIME", "k", NULL}, {"FAILOVER", "", ADMIN}, {"FCALL", ".N*v", NULL},
    {"FCALL_RO", ".N*v", NULL}, {"FLUSHALL", "", EMPTIES},
    {"FLUSHDB", "", EMPTIES}, {"FUNCTION", "?*v", NULL},
    {"GEOADD", "k?*..v", NULL}, {"GEODIST", "kvv.", NULL},
    {"GEOHASH", "k*v", NULL}, {"GEOPOS", "k*v", NULL},
    {"GEORADIUS", "kO", NULL}, {"GEORADIUSBYMEMBER", "kvO", NULL},
    {"GEORADIUSBYMEMBER_RO", "kv", NULL}, {"GEORADIUS_RO", "k", NULL},
    {"GEOSEARCH", "k", NULL}, {"GEOSEARCHSTORE", "kk", NULL},
    {"GET", "k", NULL}, {"GETBIT", "k", NULL}, {"GETDEL", "k", NULL},
    {"GETEX", "k", NULL}, {"GETRANGE", "k", NULL}, {"GETSET", "kv", NULL},
    {"HDEL", "k*v", NULL}, {"HELLO", "", CONNECTION}, {"HEXISTS", "kv", NULL},
    {"HEXPIRE", "k", NULL}, {"HEXPIREAT", "k", NULL},
    {"HEXPIRETIME", "k", NULL}, {"HGET", "kv", NULL}, {"HGETALL", "k", NULL},
    {"HGETEX", "k", NULL}, {"HINCRBY", "kv.", NULL},
    {"HINCRBYFLOAT", "kv.", NULL}, {"HKEYS", "k", NULL}, {"HLEN", "k", NULL},
    {"HMGET", "k*v", NULL}, {"HMSET", "k*v", NULL}, {"HPERSIST", "k", NULL},
    {"HPEXPIRE", "k", NULL}, {"HPEXPIREAT", "k", NULL},
    {"HPEXPIRETIME", "k", NULL}, {"HPTTL", "k", NULL},
    {"HRANDFIELD", "k", NULL}, {"HSCAN", "k.", NULL}, {"HSET", "k*v", NULL},
    {"HSETEX", "k", NULL}, {"HSETNX", "kvv", NULL}, {"HSTRLEN", "kv", NULL},
    {"HTTL", "k", NULL}, {"HVALS", "k", NULL}, {"INCR", "k", NULL},
    {"INCRBY", "k.", NULL}, {"INCRBYFLOAT", "k.", NULL}, {"INFO", "?", NULL},
    {"KEYS", "o", NULL}, {"LASTSAVE", "", ADMIN}, {"LATENCY", "", ADMIN},
    {"LCS", "kk", NULL}, {"LINDEX", "k", NULL}, {"LINSERT", "k.vv", NULL},
    {"LLEN", "k", NULL}, {"LMOVE", "kk", NULL}, {"LMPOP", "N", NULL},
    {"LOLWUT", "", ADMIN}, {"LPOP", "k", NULL}, {"LPOS", "kv", NULL},
    {"LPUSH", "k*v", NULL}, {"LPUSHX", "k*v", NULL}, {"LRANGE", "k", NULL},
    {"LREM", "k.v", NULL}, {"LSET", "k.v", NULL}, {"LTRIM", "k", NULL},
    {"MEMORY", ".k", NULL}, {"MGET", "*k", NULL}, {"MIGRATE", "", ADMIN},
    {"MODULE", "", ADMIN}, {"MONITOR", "", SUBSCRIBES}, {"MOVE", "k", NULL},
    {"MSET", "*kv", NULL}, {"MSETNX", "*kv", NULL}, {"MULTI", "", NULL},
    {"OBJECT", ".k", NULL}, {"PERSIST", "k", NULL}, {"PEXPIRE", "k", NULL},
    {"PEXPIREAT", "k", NULL}, {"PEXPIRETIME", "k", NULL},
    {"PFADD", "k*v", NULL}, {"PFCOUNT", "*k", NULL}, {"PFDEBUG", "", ADMIN},
    {"PFMERGE", "*k", NULL}, {"PFSELFTEST", "", ADMIN}, {"PING", "v", NULL},
    {"PSETEX", "k.v", NULL}, {"PSUBSCRIBE", "", SUBSCRIBES},
    {"PSYNC", "", SUBSCRIBES}, {"PTTL", "k", NULL}, {"PUBLISH", "vv", NULL},
    {"PUBSUB", ".*v", NULL}, {"PUNSUBSCRIBE", "", SUBSCRIBES},
    {"QUIT", "", CONNECTION}, {"RANDOMKEY", "", NULL},
    {"READONLY", "", CONNECTION}, {"READWRITE", "", CONNECTION},
    {"RENAME", "kk", NULL}, {"RENAMENX", "kk", NULL}, {"REPLCONF", "", ADMIN},
    {"REPLICAOF", "", ADMIN}, {"RESET", "", CONNECTION},
    {"RESTORE", "k.v", NULL}, {"RESTORE-ASKING", "", ADMIN},
    {"ROLE", "", ADMIN}, {"RPOP", "k", NULL}, {"RPOPLPUSH", "kk", NULL},
    {"RPUSH", "k*v", NULL}, {"RPUSHX", "k*v", NULL}, {"SADD", "k*v", NULL},
    {"SAVE", "", ADMIN}, {"SCAN", ".", NULL}, {"SCARD", "k", NULL},
    {"SCRIPT", "?*v", NULL}, {"SDIFF", "*k", NULL}, {"SDIFFSTORE", "*k", NULL},
    {"SELECT", "", NULL}, {"SET", "kv", NULL}, {"SETBIT", "k", NULL},
    {"SETEX", "k.v", NULL}, {"SETNX", "kv", NULL}, {"SETRANGE", "k.v", NULL},
    {"SHUTDOWN", "", ADMIN}, {"SINTER", "*k", NULL}, {"SINTERCARD", "N", NULL},
    {"SINTERSTORE", "*k", NULL}, {"SISMEMBER", "kv", NULL},
    {"SLAVEOF", "", ADMIN}, {"SLOWLOG", "", ADMIN}, {"SMEMBERS", "k", NULL},
    {"SMISMEMBER", "k*v", NULL}, {"SMOVE", "kkv", NULL}, {"SORT", "kO", NULL},
    {"SORT_RO", "k", NULL}, {"SPOP", "k", NULL}, {"SPUBLISH", "kv", NULL},
    {"SRANDMEMBER", "k", NULL}, {"SREM", "k*v", NULL}, {"SSCAN", "k.", NULL},
    {"SSUBSCRIBE", "", SUBSCRIBES}, {"STRLEN", "k", NULL},
    {"SUBSCRIBE", "", SUBSCRIBES}, {"SUBSTR", "k", NULL},
    {"SUNION", "*k", NULL}, {"SUNIONSTORE", "*k", NULL},
    {"SUNSUBSCRIBE", "", SUBSCRIBES}, {"SWAPDB", "..", NULL},
    {"SYNC", "", SUBSCRIBES}, {"TIME", "", NULL}, {"TOUCH", "*k", NULL},
    {"TTL", "k", NULL}, {"TYPE", "k", NULL}, {"UNLINK", "*k", NULL},
    {"UNSUBSCRIBE", "", SUBSCRIBES}, {"UNWATCH", "", NULL},
    {"WAIT", "", BLOCKS}, {"WAITAOF", "", BLOCKS}, {"WATCH", "*k", NULL},
    {"XACK", "kv*.", NULL}, {"XADD", "kX*v", NULL}, {"XAUTOCLAIM", "kvv", NULL},
    {"XCLAIM", "kvv", NULL}, {"XDEL", "k", NULL}, {"XGROUP", ".k.", NULL},
    {"XINFO", ".k.", NULL}, {"XLEN", "k", NULL}, {"XPENDING", "kv", NULL},
    {"XRANGE", "k", NULL}, {"XREAD", "S", NULL}, {"XREADGROUP", ".vvS", NULL},
    {"XREVRANGE", "k", NULL}, {"XSETID", "k", NULL}, {"XTRIM", "k", NULL},
    {"ZADD", "k?*.v", NULL}, {"ZCARD", "k", NULL}, {"ZCOUNT", "k", NULL},
    {"ZDIFF", "N", NULL}, {"ZDIFFSTORE", "kN", NULL}, {"ZINCRBY", "k.v", NULL},
    {"ZINTER", "N", NULL}, {"ZINTERCARD", "N", NULL},
    {"ZINTERSTORE", "kN", NULL}, {"ZLEXCOUNT", "k", NULL}, {"ZMPOP", "N", NULL},
    {"ZMSCORE", "k*v", NULL}, {"ZPOPMAX", "k", NULL}, {"ZPOPMIN", "k", NULL},
    {"ZRANDMEMBER", "k", NULL}, {"ZRANGE", "k", NULL},
    {"ZRANGEBYLEX", "k", NULL}, {"ZRANGEBYSCORE", "k", NULL},
    {"ZRANGESTORE", "kk", NULL}, {"ZRANK", "kv", NULL}, {"ZREM", "k*v", NULL},
    {"ZREMRANGEBYLEX", "k", NULL}, {"ZREMRANGEBYRANK", "k", NULL},
    {"ZREMRANGEBYSCORE", "k", NULL}, {"ZREVRANGE", "k", NULL},
    {"ZREVRANGEBYLEX", "k", NULL}, {"ZREVRANGEBYSCORE", "k", NULL},
    {"ZREVRANK", "kv", NULL}, {"ZSCAN", "k.", NULL}, {"ZSCORE", "kv", NULL},
    {"ZUNION", "N", NULL}, {"ZUNIONSTORE", "kN", NULL}};

/* Those of modules with several keys, only for cmdargs_keys: a record and a
 * replay take no command of a module apart, so that its keys look alike. */
static const struct command modules[] = {{"JSON.MGET", "K", NULL},
    {"JSON.MSET", "*koo", NULL}, {"TS.CREATERULE", "kk", NULL},
    {"TS.MADD", "*koo", NULL}};

/* The words of options, in order. */
static const char *const options[] = {"ABSTTL", "AFTER", "AGGREGATE", "ALL",
    "ALPHA", "AND", "ANY", "ASC", "ASYNC", "BEFORE", "BIT", "BLOCK", "BY",
    "BYBOX", "BYLEX", "BYRADIUS", "BYSCORE", "BYTE", "CH", "CHANNELS",
    "CONSUMERS", "COPY", "COUNT", "CREATE", "CREATECONSUMER", "DB", "DEFAULT",
    "DELCONSUMER", "DELETE", "DESC", "DESTROY", "DUMP", "ENCODING",
    "ENTRIESADDED", "ENTRIESREAD", "EVERYTHING", "EX", "EXAT", "EXISTS", "FAIL",
    "FIELDS", "FLUSH", "FNX", "FORCE", "FREQ", "FROMLONLAT", "FROMMEMBER", "FT",
    "FULL", "FXX", "GET", "GROUP", "GROUPS", "GT", "HELP", "IDLE", "IDLETIME",
    "IDX", "IFEQ", "INCR", "JUSTID", "KEEPTTL", "KILL", "KM", "LASTID", "LEFT",
    "LEN", "LIMIT", "LIST", "LOAD", "LT", "M", "MATCH", "MAX", "MAXLEN", "MI",
    "MIN", "MINID", "MINMATCHLEN", "MKSTREAM", "NOACK", "NOMKSTREAM",
    "NOSCORES", "NOT", "NOVALUES", "NUMPAT", "NUMSUB", "NX", "OR", "OVERFLOW",
    "PERSIST", "PX", "PXAT", "RANK", "REFCOUNT", "REPLACE", "RESTORE",
    "RETRYCOUNT", "REV", "RIGHT", "SAMPLES", "SAT", "SET", "SETID",
    "SHARDCHANNELS", "SHARDNUMSUB", "STATS", "STORE", "STOREDIST", "STREAM",
    "STREAMS", "SUM", "SYNC", "TIME", "TYPE", "USAGE", "WEIGHTS", "WITHCODE",
    "WITHCOORD", "WITHDIST", "WITHHASH", "WITHMATCHLEN", "WITHSCORE",
    "WITHSCORES", "WITHVALUES", "WRAP", "XOR", "XX"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static unsigned char
to_upper(char c)
{
	return (unsigned char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

/* Compares a word in capitals with a text. */
static inline int
compare_word(const struct tracefile_word *w, const char *upper)
{
	size_t i;

	for (i = 0; i < w->n && upper[i]; i++)
		if (to_upper(w->s[i]) != (unsigned char)upper[i])
			return to_upper(w->s[i]) - (unsigned char)upper[i];
	return i < w->n ? 1 : upper[i] ? -1 : 0;
}

struct tracefile_word *
cmdargs_words(char *const *list, size_t n)
{
	struct tracefile_word *w = mem_array(n, sizeof *w);

	for (size_t i = 0; i < n; i++)
		w[i] = (struct tracefile_word){list[i], strlen(list[i])};
	return w;
}

bool
cmdargs_is(const struct tracefile_word *w, const char *upper)
{
	return compare_word(w, upper) == 0;
}

/* Compares a word with a text, or with the first member of a command. */
static int
compare_to_name(const void *word, const void *name)
{
	return compare_word(word, *(const char *const *)name);
}

static const struct command *
find_command(const struct tracefile_word *w)
{
	return bsearch(
	    w, commands, COUNT(commands), sizeof *commands, compare_to_name);
}

static bool
is_option(const struct tracefile_word *w)
{
	return bsearch(
	    w, options, COUNT(options), sizeof *options, compare_to_name);
}

int
cmdargs_needs_words(const char *name)
{
	struct tracefile_word w = {name, strlen(name)};
	const struct command *c = find_command(&w);

	/* Nothing is known of the arguments of what is not sent again. */
	return c && !c->refuse ? *c->args && *c->args != '?' : -1;
}

/*
 * Is it a number, an option, a limit of a range, an ID of a stream, or the type
 * and offset of BITFIELD? Then it holds no private data.
 */
static bool
is_syntax(const struct tracefile_word *w)
{
	static const char *const marks[] = {"", "-", "+", "$", "*", ">", "=",
	    "~", "(-INF", "(+INF", "-INF", "+INF", "INF", "#"};
	size_t i = 0, digits = 0;

	for (size_t k = 0; k < COUNT(marks); k++)
		if (cmdargs_is(w, marks[k]))
			return true;
	if (is_option(w))
		return true;
	if (w->n > 40)
		return false;
	if (w->s[0] == '(' || w->s[0] == '-' || w->s[0] == '+' ||
	    w->s[0] == '#' || w->s[0] == 'i' || w->s[0] == 'u')
		i = 1;
	if (i && i < w->n && w->s[0] == '(' && w->s[i] == '-')
		i++;
	for (; i < w->n; i++)
		if (w->s[i] >= '0' && w->s[i] <= '9')
			digits++;
		else if (digits && i + 2 == w->n && w->s[i] == '-' &&
		    w->s[i + 1] == '*') /* an ID of a stream */
			return true;
		else if (!digits || !w->s[i] || !strchr(".-eE", w->s[i]) ||
		    i + 1 == w->n)
			return false;
	return digits > 0;
}

/* Reads a number of keys. Returns at most 'most', also if it is not a number,
 * such as a placeholder: all words behind it may be keys. */
static size_t
read_count(const struct tracefile_word *w, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->s[i] < '0' || w->s[i] > '9')
			return most;
		n = n * 10 + (size_t)(w->s[i] - '0');
		if (n > most)
			return most;
	}
	return w->n ? n : most;
}

/* The words of a command, while their roles are set. */
struct role_state {
	const struct tracefile_word *w;
	size_t n, at;
	bool lacks_keys;
	enum cmdargs_role *roles;
};

static void
give_role(struct role_state *g, enum cmdargs_role role)
{
	if (g->at < g->n)
		g->roles[g->at++] = role;
}

static void
give_syntax(struct role_state *g)
{
	if (g->at < g->n)
		give_role(g,
		    is_syntax(&g->w[g->at]) ? CMDARGS_SYNTAX : CMDARGS_OTHER);
}

static void
give_keys(struct role_state *g, size_t n)
{
	g->lacks_keys |= n == 0 || n > g->n - g->at;
	while (n-- && g->at < g->n)
		give_role(g, CMDARGS_KEY);
}

static void
give_options(struct role_state *g)
{
	while (g->at < g->n && is_option(&g->w[g->at]))
		give_role(g, CMDARGS_SYNTAX);
}

static void
give_streams(struct role_state *g)
{
	while (g->at < g->n && !cmdargs_is(&g->w[g->at], "STREAMS"))
		give_syntax(g);
	give_role(g, CMDARGS_SYNTAX);
	give_keys(g, (g->n - g->at) / 2);
}

/* XADD key [NOMKSTREAM] [MAXLEN|MINID [=|~] n [LIMIT n]] id ... */
static void
give_xadd(struct role_state *g)
{
	bool trim;

	while (g->at < g->n && is_option(&g->w[g->at])) {
		trim = !cmdargs_is(&g->w[g->at], "NOMKSTREAM");
		give_syntax(g);
		if (g->at < g->n &&
		    (cmdargs_is(&g->w[g->at], "=") ||
			cmdargs_is(&g->w[g->at], "~")))
			give_syntax(g);
		if (trim)
			give_syntax(g);
	}
	give_syntax(g);
}

static void
give_stores(struct role_state *g)
{
	bool store = false;

	while (g->at < g->n) {
		if (store)
			give_role(g, CMDARGS_KEY);
		else
			give_syntax(g);
		store = g->roles[g->at - 1] == CMDARGS_SYNTAX &&
		    (cmdargs_is(&g->w[g->at - 1], "STORE") ||
			cmdargs_is(&g->w[g->at - 1], "STOREDIST"));
	}
	g->lacks_keys |= store;
}

static void
give_letter(struct role_state *g, char letter)
{
	size_t n;

	switch (letter) {
	case 'k':
		give_role(g, CMDARGS_KEY);
		break;
	case 'v':
		give_role(g, CMDARGS_VALUE);
		break;
	case 'o':
		give_role(g, CMDARGS_OTHER);
		break;
	case '?':
		give_options(g);
		break;
	case 'N':
		n = g->at < g->n ? read_count(&g->w[g->at], g->n) : 0;
		give_syntax(g);
		give_keys(g, n);
		break;
	case 'K':
		give_keys(g, g->n - g->at - 1);
		break;
	case 'S':
		give_streams(g);
		break;
	case 'X':
		give_xadd(g);
		break;
	case 'O':
		give_stores(g);
		break;
	default:
		give_syntax(g);
	}
}

/* Returns whether the words have all keys. */
static bool
give_all(const char *p, const struct tracefile_word *w, size_t n,
    enum cmdargs_role *roles)
{
	struct role_state g = {.w = w, .n = n, .at = 1, .roles = roles};
	const char *again = NULL;

	roles[0] = CMDARGS_SYNTAX;
	while (g.at < n) {
		if (*p == '*')
			again = ++p;
		if (*p)
			give_letter(&g, *p++);
		else if (again)
			p = again;
		else
			give_syntax(&g);
	}
	return !g.lacks_keys && (again || !strpbrk(p, WITH_KEYS));
}

bool
cmdargs_roles(
    const struct tracefile_word *w, size_t n, enum cmdargs_role *roles)
{
	const struct command *c = find_command(w);

	give_all(c ? c->args : "*o", w, n, roles);
	return c != NULL;
}

bool
cmdargs_keys(const struct tracefile_word *w, size_t n, enum cmdargs_role *roles)
{
	const struct command *c = find_command(w);

	for (size_t i = 0; i < COUNT(modules) && !c; i++)
		if (cmdargs_is(w, modules[i].name))
			c = &modules[i];
	return give_all(
	    c && strpbrk(c->args, WITH_KEYS) ? c->args : "k", w, n, roles);
}

/* Is it an XREAD or XREADGROUP that waits? */
static bool
is_blocking_read(const struct tracefile_word *w, size_t n)
{
	if (!cmdargs_is(w, "XREAD") && !cmdargs_is(w, "XREADGROUP"))
		return false;
	for (size_t i = 1; i < n && !cmdargs_is(&w[i], "STREAMS"); i++)
		if (cmdargs_is(&w[i], "BLOCK"))
			return true;
	return false;
}

const char *
cmdargs_refuse(const struct tracefile_word *w, size_t n)
{
	const struct command *c = find_command(w);

	if (!c)
		return memchr(w->s, '.', w->n) ? NULL : "it is not known";
	if (c->refuse)
		return c->refuse;
	if (is_blocking_read(w, n))
		return BLOCKS;
	if (cmdargs_is(w, "FUNCTION") || cmdargs_is(w, "SCRIPT")) {
		if (n > 1 &&
		    (cmdargs_is(&w[1], "KILL") || cmdargs_is(&w[1], "FLUSH") ||
			cmdargs_is(&w[1], "DEBUG")))
			return ADMIN;
	}
	return NULL;
}

bool
cmdargs_is_sealed(const struct tracefile_word *w)
{
	static const char *const names[] = {"EVAL", "EVALSHA", "EVAL_RO",
	    "EVALSHA_RO", "FCALL", "FCALL_RO", "FUNCTION", "SCRIPT", "RESTORE"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (cmdargs_is(w, names[i]))
			return true;
	return false;
}

bool
cmdargs_is_data(const struct tracefile_word *w)
{
	static const char *const names[] = {"INFO", "KEYS", "MEMORY", "PUBSUB",
	    "SELECT", "SORT", "SORT_RO", "SWAPDB"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (cmdargs_is(w, names[i]))
			return false;
	return find_command(w) && !cmdargs_is_sealed(w);
}

static bool
has_subcommands(const struct tracefile_word *w)
{
	static const char *const names[] = {"ACL", "CLIENT", "CLUSTER",
	    "COMMAND", "CONFIG", "DEBUG", "FUNCTION", "LATENCY", "MEMORY",
	    "MODULE", "OBJECT", "PUBSUB", "SCRIPT", "SLOWLOG", "XGROUP",
	    "XINFO"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (cmdargs_is(w, names[i]))
			return true;
	return false;
}

static size_t
add_name(const struct tracefile_word *w, char *name, size_t at)
{
	unsigned char c;

	for (size_t i = 0; i < w->n && at < CMDARGS_NAME - 1; i++) {
		c = to_upper(w->s[i]);
		name[at++] = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			(c && strchr("._-|", c))
		    ? (char)c
		    : '?';
	}
	name[at] = '\0';
	return at;
}

void
cmdargs_name(const struct tracefile_word *w, size_t n, char name[CMDARGS_NAME])
{
	static const struct tracefile_word block = {"BLOCK", 5};
	size_t at = add_name(w, name, 0);
	bool blocks = is_blocking_read(w, n);

	if (n < 2 || !(blocks || has_subcommands(w)) || at + 1 >= CMDARGS_NAME)
		return;
	name[at++] = ' ';
	add_name(blocks ? &block : &w[1], name, at);
}
