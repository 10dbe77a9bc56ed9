/*
 * Any allocation of json may fail: the program then ends with status 2 and a
 * message. The allocator of cJSON is replaced.
 */
#include "tap.h"

#include "err.h"
#include "json.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int left; /* how many more allocations succeed */

static void *
allocate_some(size_t n)
{
	return left-- > 0 ? malloc(n) : NULL;
}

/* Ends the child with a status that says that no allocation failed. */
_Noreturn static void
end(bool good, struct json *j)
{
	json_free(j);
	exit(good ? 0 : 1);
}

static void
set_new_key(void)
{
	struct json *obj = json_object();

	json_set(obj, "key", json_number(1));
	end(json_get(obj, "key"), obj);
}

static void
set_old_key(void)
{
	struct json *obj = json_object();

	json_set(obj, "key", json_number(1));
	json_set(obj, "key", json_string("two"));
	end(json_get_str(obj, "key"), obj);
}

static void
push(void)
{
	struct json *arr = json_array();

	json_push(arr, json_string("text"));
	json_push_num(arr, 2);
	end(json_len(arr) == 2, arr);
}

static void
duplicate(void)
{
	struct json *obj = json_object(), *copy;
	bool same;

	json_set_str(obj, "a", "text");
	json_set(obj, "b", json_pair(1, 2));
	copy = json_dup(obj);
	same = json_equal(obj, copy);
	json_free(copy);
	end(same, obj);
}

static void
parse(void)
{
	static const char text[] = "{\"a\":[1,\"b\",{\"c\":null}]}";

	struct json *obj = json_parse(text, sizeof text - 1, NULL, NULL);

	end(obj != NULL, obj);
}

/* Returns the exit status of a child whose allocation number 'n', from 0,
 * fails. */
static int
status_of(void (*work)(void), int n)
{
	cJSON_Hooks hooks = {allocate_some, free};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		close(STDERR_FILENO);
		left = n;
		cJSON_InitHooks(&hooks);
		work();
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Lets each allocation of a function fail, one at a time. */
static void
fails_at_each(void (*work)(void), const char *name)
{
	int n = 0, status;

	fflush(stdout);
	while ((status = status_of(work, n)) == 2)
		n++;
	tap_ok(status == 0 && n > 1,
	    "%s: status 2 where any of its %d allocations fails", name, n);
	if (status)
		printf("# status %d when allocation %d failed\n", status, n);
}

int
main(int argc, char **argv)
{
	err_init(argc ? argv[0] : "oom");
	fails_at_each(set_new_key, "json_set, a new key");
	fails_at_each(set_old_key, "json_set, a key that is there");
	fails_at_each(push, "json_push");
	fails_at_each(duplicate, "json_dup");
	fails_at_each(parse, "json_parse");
	return tap_done();
}
