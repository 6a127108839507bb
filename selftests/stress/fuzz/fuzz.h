/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzzer of /dev/profil and of the memory under it, guided by KCOV.
 *
 *	fuzz CALLS SEED [FILE]
 *
 * It runs programs, each with some threads, many of them one after the other in
 * a process, and a few processes at a time: on the kernel that this is for, a
 * new process costs as much as a hundred calls.  A program is made of genes,
 * one for each operation of a thread, and all that an operation does follows
 * from its gene.  The name of a program is what it was made from: the number
 * its first genes were drawn with, and those of the mutations since, as
 * "1f.2e.3d".  So a name replays the same operations in each thread; with a
 * FILE of names, nothing else is run.
 *
 * Nothing but the process itself is left of a program when the next one begins:
 * no profile, session, memory, descriptor, timer or thread.  All but the last of a
 * process end by that; the last one by exit, exec or SIGKILL.  A session of one
 * may count processes of others, as long as it is there.
 *
 * A program that reached code of the module which none before it did is kept,
 * and mutated later.  What runs when is the scheduler's, so which programs are
 * kept may differ between two runs with the same seed; their names do not lie.
 *
 * Nothing here can block for ever.  Userfaults are served, or let go of, by a
 * process that is not profiled; children are few and end by themselves; and a
 * program that has not ended after a count of polls is killed, with all its
 * children.  One that survives that is a bug found.
 *
 * A call is counted if it is a system call that an operation is there for.  What
 * prepares it, has it fail or tidies up is not.
 */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <linux/profil.h>

#define PAGE		4096UL
#define ARENA		0x10000000UL	/* all that programs map and unmap */
#define ARENA_PAGES	64UL
#define ARENA_BYTES	(ARENA_PAGES * PAGE)

#define SLOTS		3	/* processes at a time */
#define PROGRAMS	8	/* of a process, at most */
#define THREADS		4	/* of a program, at its beginning */
#define GENES		24	/* of a thread */
#define NAME_PARTS	8	/* of a program */
#define NAME_CHARS	(17 * NAME_PARTS)
#define CORPUS		512
#define DESCRIPTORS	4	/* of the device, in a program */
#define SESSIONS	3	/* descriptors of sessions, in a program */
#define CHILDREN	2	/* of a program */
#define MEMBERS		2	/* children of a program, for sessions */
#define BIRTHS		3	/* of threads, in a program */
#define REGIONS		4200	/* more than one START takes */

#define SEEN_BITS	20
#define COVER_WORDS	4096

#define POLL_US		20000
#define POLLS_KILL	1500	/* then a program is killed, with its process */
#define POLLS_STUCK	9000	/* then the kernel does not let it die */
#define POLLS_REPORT	500

typedef unsigned long long u64;

struct name {
	int parts;
	u64 part[NAME_PARTS];
};

struct program {
	int threads;
	int rounds;
	int genes[THREADS];
	u64 gene[THREADS][GENES];
};

struct slot {
	pid_t pid;
	unsigned int polls;
	unsigned int seen_started;	/* by who polls */
	unsigned int started;		/* programs */
	struct name name;
	unsigned int fresh;		/* code that only this program reached */
	const char *last[THREADS];	/* the operation of each thread */
	int kcov[THREADS + 1];		/* the last one is of a child */
	unsigned long *cover[THREADS + 1];
	int server;			/* takes userfaultfds, and sessions */
};

/* What should come about in a run of some length, or the fuzzer has a gap. */
enum deed {
	DEED_MACHINE,		/* a session of the machine */
	DEED_REFUSED,		/* to who has not the right */
	DEED_FOLLOWED,		/* by the next one */
	DEED_TIMER,		/* a session with a timer */
	DEED_MAPPED,		/* the table of a session */
	DEED_MOVED,		/* that mapping, with mremap() */
	DEED_JOINED,
	DEED_ATTACHED,
	DEED_OPENED,		/* the file of an object */
	DEED_POLLED,		/* that a session is over */
	DEED_STOPPED,		/* a session, by a process that it was passed to */
	DEEDS,
};

/* Shared by all processes. */
struct shared {
	unsigned long calls;
	unsigned long limit;		/* of calls */
	unsigned long faults;		/* that came about */
	unsigned long pcs;
	unsigned long deeds[DEEDS];
	unsigned int blind;		/* threads without faults, or whose code is not seen */
	unsigned int programs;
	unsigned int in_corpus;
	struct name corpus[CORPUS];
	struct slot slot[SLOTS];
	unsigned int seen[1 << (SEEN_BITS - 5)];
};

struct thread {
	u64 rng;
	int index;			/* -1: one that came later, or a child */
	int fail_nth;			/* a file */
	unsigned int nth;		/* what is to fail in this call, or 0 */
	unsigned long *cover;
	unsigned char args[2 * PAGE];
	struct profil_region region[REGIONS];
};

struct op {
	const char *name;
	unsigned int weight;
	void (*run)(struct thread *t);
};

/* main.c: what all processes know */
extern struct shared *shared;
extern struct name *listed;		/* nothing but these is run */
extern unsigned int nr_listed;
extern int kmsg, image;			/* a file that can be executed, and has no name */

/* The same in files that only root may read, and that give its rights. */
#define IMAGE_HIDDEN	"/tmp/fuzz.hidden"
#define IMAGE_SETUID	"/tmp/fuzz.setuid"

/* process.c: of the one that runs a program */
extern struct slot *slot;
extern int descriptor[DESCRIPTORS], memfd, maps;
extern int first_descriptor;		/* a program's own are not below */
extern struct stat device;
extern unsigned int children, members, births, late_threads;
extern pid_t tid[THREADS], last_child;
bool enough(void);
void run_process(u64 rng);

/* call.c */
u64 next(u64 *rng);
u64 scatter(u64 seed);
unsigned int below(struct thread *t, unsigned int limit);
bool once_in(struct thread *t, unsigned int times);
u64 wild(struct thread *t);
u64 mostly(struct thread *t, u64 value);
void *arena_page(struct thread *t);
size_t arena_len(struct thread *t, void *at);
void touch(volatile unsigned char *at, const void *from, size_t len);
void see(const unsigned long *cover);
void begin(struct thread *t);
long end(struct thread *t, long ret);
void begin_faulty(struct thread *t, unsigned int nth);
long end_faulty(struct thread *t, long ret);
void guarded(struct thread *t, void (*run)(struct thread *t));
void segv(int sig);
void no_escape(void);

#define pick(t, ...)							\
({									\
	static const u64 of[] = { __VA_ARGS__ };			\
	of[below(t, sizeof(of) / sizeof(of[0]))];			\
})

#define CALL(t, call)	(begin(t), end(t, call))

/* The same, and now and then something fails in it. */
#define FAULTY(t, call)							\
	(begin_faulty(t, once_in(t, 6) ? 1 + below(t, 24) : 0),		\
	 end_faulty(t, call))

/* deed.c */
void did(enum deed deed, bool done);
bool report_deeds(void);

/* profile.c */
int any_descriptor(struct thread *t);
long command(struct thread *t, int file, unsigned long cmd, size_t len);
void op_start(struct thread *t);
void op_other_command(struct thread *t);

/* memory.c */
unsigned long find_anchor(void);
void op_mmap(struct thread *t);
void op_munmap(struct thread *t);
void op_mprotect(struct thread *t);
void op_madvise(struct thread *t);
void op_mremap(struct thread *t);
void op_touch(struct thread *t);
void op_truncate(struct thread *t);
void op_anchor(struct thread *t);

/* descriptor.c */
bool send_file(int to, int file);
int receive_file(int from, int flags);
bool is_session(int file);
void serve(int from);
void op_descriptor(struct thread *t);
void op_pass(struct thread *t);
void op_userfault(struct thread *t);

/* time.c */
void spin(unsigned long rounds);
void move_to(unsigned int cpus);
void op_burn(struct thread *t);
void op_timer(struct thread *t);
void op_signal(struct thread *t);
void op_move(struct thread *t);

/* session.c */
extern int session[SESSIONS];
int any_session(struct thread *t);
void open_sessions(void);
void attach(struct thread *t, pid_t pid);
void op_session(struct thread *t);
void op_join(struct thread *t);
void op_object(struct thread *t);
void op_table(struct thread *t);
void op_other_of_session(struct thread *t);

/* member.c */
void op_attach(struct thread *t);
void op_member(struct thread *t);

/* child.c */
bool may(unsigned int *used, unsigned int limit);
void few(struct thread *t);
void become_child(struct thread *t);
void exec_self(void);
struct thread *make_thread(u64 seed);
void op_fork(struct thread *t);
void op_birth(struct thread *t);

/* program.c */
const struct op *op_of(u64 gene);
void make_program(struct program *p, const struct name *name);
void print_name(char *text, const struct name *name);
bool parse_name(struct name *name, const char *text);

#endif /* _FUZZ_H */
