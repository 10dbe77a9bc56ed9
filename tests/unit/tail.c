/* The slow requests of a run: how many took longer than each of fixed times. */
#include "hist.h"
#include "str.h"
#include "tail.h"
#include "tap.h"

#include <math.h>

static void
written(void)
{
	struct hist *h = HIST_LATENCY();
	struct str s = {0};

	tail_write(&s, h);
	tap_ok(strcmp(s.s, "[0,0]") == 0, "no requests");
	str_clear(&s);
	/* 2^10 is 1024 ns, and 2^20 is 1048576 ns. */
	hist_add(h, 1000, 997);
	hist_add(h, 1100000, 2);
	hist_add(h, 1300000, 1);
	tail_write(&s, h);
	tap_ok(strncmp(s.s, "[1000,80,3,3,3,", 15) == 0,
	    "the first time that at most half of the requests exceed");
	tap_ok(strcmp(s.s + s.len - 11, ",3,3,3,1,1]") == 0,
	    "the last time that one exceeds is 1.25 ms: 2^(162/8) ns");
	hist_add(h, INT64_C(70000000000), 1);
	str_clear(&s);
	tail_write(&s, h);
	tap_ok(strcmp(s.s + s.len - 5, ",1,1]") == 0,
	    "what is beyond the range is slow to the end");
	str_free(&s);
	hist_free(h);
}

static void
read_back(void)
{
	const double v[] = {1000, 80, 30, 20, 1};
	struct tail t;

	tap_ok(tail_read(&t, v, 5) == 0 && t.requests == 1000 &&
		tail_share(&t, 80) == .03 && tail_share(&t, 81) == .02 &&
		tail_share(&t, 82) == .001 && tail_share(&t, 83) == 0 &&
		tail_share(&t, 79) == .5,
	    "shares at the times, before them and behind them");
	tap_ok(tail_read(&t, v, 2) == 0 && tail_share(&t, 80) == 0,
	    "none is slow");
	tap_ok(tail_read(&t, v, 1) < 0 &&
		tail_read(&t, (double[]){0, 0}, 2) < 0 &&
		tail_read(&t, (double[]){9, 290}, 2) < 0 &&
		tail_read(&t, (double[]){9, -1}, 2) < 0 &&
		tail_read(&t, (double[]){9, NAN}, 2) < 0 &&
		tail_read(&t, (double[]){9, 8, 3, 4}, 4) < 0 &&
		tail_read(&t, (double[]){9, 8, 10}, 3) < 0 &&
		tail_read(&t, (double[]){9, 8, 3, 0}, 4) < 0,
	    "what cannot be a tail is refused: too short, empty, times that "
	    "there "
	    "are not, counts that rise, or are 0");
	tap_ok(tail_time(80) == 1024 && tail_time(88) == 2048,
	    "times are powers of 2, eight for each doubling");
}

int
main(void)
{
	written();
	read_back();
	return tap_done();
}
