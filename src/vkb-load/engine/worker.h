/* The event loop of a load thread. Private to the engine, like run.h. */
#ifndef WORKER_H
#define WORKER_H

/* For pthread_create; the argument is a struct worker. */
void *worker_main(void *worker);

#endif
