/* Runs the programs that make the parts of a site. */
#ifndef PROGRAM_H
#define PROGRAM_H

/* Runs a program that is installed beside this one; argv[0] is its name.
 * Returns its exit status, or -1, after reporting it, if that is above 'worst'.
 */
int program_call(const char **argv, int worst);

#endif
