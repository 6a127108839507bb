// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending records on many CPUs, simulated: what all CPUs do in one jiffy they do at the same
 * moment, so who takes a lock waits for all that took it in that jiffy before.  The module
 * is such that a tick waits and searches no longer however many CPUs there are, that none is
 * lost when all begin at once, and that who delivers all looks at each record once.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "kernel.h"

#define CPUS_MAX	256	/* with more there are fewer records for each */
#define static_assert	_Static_assert
#define BITS_PER_LONG	64
#define kuid_t		u32
#define PF_KTHREAD	1
#define TWA_RESUME	0
#define GFP_KERNEL_ACCOUNT 0
#define __GFP_RETRY_MAYFAIL 0
#define __GFP_NORETRY 0
#define __GFP_NOWARN 0
#define PROFIL_HAVE_TASK_WORK true
#define THIS_MODULE	NULL
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define clamp(value, low, high) clamp_t(unsigned int, value, low, high)
#define READ_ONCE(place) (place)
#define WRITE_ONCE(place, value) ((place) = (value))
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#define struct_size(ptr, array, n) (size_of_##array(n) + sizeof(*(ptr)))
#define noinline
#define ____cacheline_aligned_in_smp
#define lockdep_assert_held(lock) ((void)(lock))
#define lockdep_assert_irqs_disabled() ((void)0)
#define module_param_named(name, variable, type, mode) \
	struct param_##name { __typeof__(variable) value; type of; char at[mode]; }
#define MODULE_PARM_DESC(name, text) struct parm_##name { char unused[sizeof(text)]; }
#define DECLARE_PER_CPU(type, name) struct per_cpu_##name { type of; } name[CPUS_MAX]
/* Nobody follows it; the same in each run. */
#define this_cpu_ptr(name) ((__typeof__((*(name))[0].of) *)(0xffff88c000000000 + cpu * 0x40000UL))
/* There is one thread. */
#define smp_store_mb(place, value) ((place) = (value))
/* There is one thread. */
#define smp_store_release(place, value) (*(place) = (value))
/* There is one thread. */
#define smp_load_acquire(place) (*(place))

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

/* Records that were looked at. */
static unsigned long steps;

#define hlist_entry(ptr, type, member) (steps++, container_of(ptr, type, member))
#define hlist_for_each_entry(pos, head, member)						\
	for (struct hlist_node *__node = (head)->first;					\
	     __node && (pos = hlist_entry(__node, __typeof__(*(pos)), member), 1);	\
	     __node = __node->next)
#define hlist_for_each_entry_rcu hlist_for_each_entry
#define hlist_empty(head) (!(head)->first)

static void hlist_put(struct hlist_node *node, struct hlist_node **where)
{
	node->next = *where;
	node->pprev = where;
	if (node->next)
		node->next->pprev = &node->next;
	*where = node;
}

#define hlist_add_head(node, head) hlist_put(node, &(head)->first)
#define hlist_add_behind(node, behind) hlist_put(node, &(behind)->next)

static void hlist_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

/* Who takes it in this jiffy waits for so many. */
struct raw_spinlock {
	unsigned int jiffy, taken;
};

#define raw_spinlock_t struct raw_spinlock

static unsigned int jiffy, waited, longest;

static void raw_spin_lock(raw_spinlock_t *lock)
{
	if (lock->jiffy != jiffy)
		lock->taken = 0;
	lock->jiffy = jiffy;
	waited += lock->taken;
	longest = max(longest, lock->taken);
	lock->taken++;
}

#define raw_spin_lock_init(lock) ((void)(lock))
#define raw_spin_unlock(lock) ((void)(lock))
#define raw_spin_lock_irqsave(lock, flags) ((flags) = 0, raw_spin_lock(lock))
#define raw_spin_unlock_irqrestore(lock, flags) ((void)(flags), raw_spin_unlock(lock))

struct atomic {
	int value;
};

#define atomic_t struct atomic
#define refcount_t struct atomic

static int atomic_read(const atomic_t *atomic)
{
	return atomic->value;
}

#define refcount_inc(refs) ((refs)->value++)
#define refcount_dec(refs) ((refs)->value--)
#define atomic64_add(n, atomic) ((atomic)->value += (n))

struct callback_head {
	int unused;
};

struct mutex {
	int unused;
};

struct work_struct {
	int unused;
};

struct delayed_work {
	struct work_struct work;
};

#define to_delayed_work(work) container_of(work, struct delayed_work, work)

struct rcu_head {
	int unused;
};

typedef void (*task_work_func_t)(struct callback_head *work);

struct mm_struct {
	atomic_t mm_users;
};

struct task_struct;

static unsigned int cpu, cpus;
static struct task_struct *current;

#define num_online_cpus() cpus
#define init_task_work(work, function) ((void)(work), (void)(function))
#define jiffies 0UL
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define mutex_lock_killable(mutex) ((void)(mutex), 0)
#define mutex_trylock(mutex) ((void)(mutex), true)
#define mutex_unlock(mutex) ((void)(mutex))
#define mmget_not_zero(mm) ((void)(mm), true)
#define mmput_async(mm) ((void)(mm))
#define kthread_use_mm(mm) ((void)(mm))
#define kthread_unuse_mm(mm) ((void)(mm))
#define mem_cgroup_put(memcg) ((void)(memcg))

static int profil_task_work_add(struct task_struct *task, struct callback_head *work, int how)
{
	return 0;
}

static void __module_get(void *module)
{
}

static bool try_module_get(void *module)
{
	return true;
}

static void module_put(void *module)
{
}

static void *kvmalloc(size_t size, int flags)
{
	return calloc(1, size);
}

static struct mem_cgroup *get_mem_cgroup_from_mm(struct mm_struct *mm)
{
	return NULL;
}

static struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg)
{
	return memcg;
}

static size_t size_of_record(size_t n);
static size_t size_of_part(size_t n);

static unsigned int order_base_2(unsigned int n)
{
	return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

#include "../../module/pending.c"
#include "../../module/flush.c"
#include "tap.h"

static size_t size_of_record(size_t n)
{
	return n * sizeof(struct profil_pending);
}

static size_t size_of_part(size_t n)
{
	return n * sizeof(struct profil_part);
}

bool profil_reg_orphaned(const struct profil_reg *reg)
{
	return atomic_read(&reg->mm->mm_users) == 1;
}

void profil_reg_kick(struct profil_reg *reg, unsigned long delay)
{
}

bool profil_reg_kick_later(struct profil_reg *reg, unsigned long delay)
{
	return true;
}

void profil_reg_put(struct profil_reg *reg)
{
}

int profil_limit_charge(struct profil_user *user, enum profil_limit limit, unsigned int n)
{
	return 0;
}

void profil_limit_refund(struct profil_user *user, enum profil_limit limit, unsigned int n)
{
}

static bool ready;

bool profil_deliver(struct profil_reg *reg, const struct profil_bin_ref *bin,
		    unsigned int *n, bool wait)
{
	return ready;
}

void profil_deliver_settle(struct profil_reg *reg, enum profil_class class, unsigned int n)
{
}

static struct mm_struct memory = { .mm_users.value = 2 };

/* Nobody follows it; the same in each run, and as far from the next as in a kernel. */
static struct task_struct *task_at(unsigned int i)
{
	return (struct task_struct *)(0xffff888000000000 + i * 9024UL);
}

static struct profil_reg *begin(unsigned int num, bool by_thread)
{
	struct profil_reg *reg;

	cpus = num;
	profil_task_work = by_thread;
	reg = calloc(1, struct_size(reg, part, 1UL << profil_part_bits(cpus)));
	reg->part_bits = profil_part_bits(cpus);
	reg->secret = any(U64_MAX) | 1;
	reg->mm = &memory;
	return profil_pending_init(reg) ? NULL : reg;
}

/* As profil_deliver_own(), of all threads. */
static void deliver_own(struct profil_reg *reg)
{
	struct profil_pending *record;
	struct profil_part *part;
	unsigned int i, j;

	for (i = 0; i < 1U << reg->part_bits; i++)
		for (j = 0; j < ARRAY_SIZE(part->bucket); j++)
			while (!hlist_empty(&reg->part[i].bucket[j])) {
				part = &reg->part[i];
				record = container_of(part->bucket[j].first,
						      struct profil_pending, node);
				hlist_del(&record->node);
				part->used--;
				profil_pending_spare(record);
			}
}

#define JIFFIES		100

/*
 * All CPUs tick in the kernel: all in the same call, or each in another one, and each second
 * jiffy the threads are others.
 */
static bool ticks(unsigned int num, bool by_thread, bool same)
{
	struct profil_reg *reg = begin(num, by_thread);
	double ticks = JIFFIES * num, average;
	struct profil_bin_ref bin = { .gen = 1, .mask = 0xffff };
	unsigned int i, was[2];
	u64 lost;

	steps = 0;
	ready = true;
	for (i = 0; i < JIFFIES; i++) {
		/* The first records come from a place that all share. */
		if (i < 10) {
			waited = 0;
			longest = 0;
		}
		jiffy++;
		for (cpu = 0; cpu < num; cpu++) {
			current = task_at((cpu + i / 2 * 7) % CPUS_MAX);
			bin.addr = 0x7f0000001000 + (same ? 0 : 64 * cpu);
			profil_pending_add(reg, &bin, 1);
		}
		was[0] = waited;
		was[1] = longest;
			jiffy++;
		if (by_thread)
			deliver_own(reg);
		else if (i % PROFIL_PENDING_DELAY == PROFIL_PENDING_DELAY - 1)
			profil_flush(reg, false, false);
		waited = was[0];
		longest = was[1];
	}
	average = waited / ticks;
	lost = reg->count[PROFIL_LOST_FULL].value;
	printf("# %4u CPUs, %s, %s: a tick waits for %.2f others, for %u at most,", num,
	       by_thread ? "threads" : "worker", same ? "one counter" : "many counters",
	       average, longest);
	printf(" and looks at %.2f records; %u records, %zu bytes\n", steps / ticks,
	       reg->nr_records,
	       struct_size(reg, part, 1UL << reg->part_bits) +
	       reg->nr_records * sizeof(struct profil_pending));
	return !lost && average < 1 && longest < 16 && steps / ticks < 2.5;
}

static bool ticks_of_many_cpus_wait_no_longer(void)
{
	bool ok = true;

	for (unsigned int num = 1; num <= CPUS_MAX; num *= 2)
		for (int how = 0; how < 4; how++)
			ok = ticks(num, how & 1, how & 2) && ok;
	return ok;
}

/* Threads that sleep with a record each, and then pages that are not there. */
static bool flush_looks_at_each_record_once(void)
{
	struct profil_bin_ref bin = { .gen = 1, .mask = 0xffff };
	struct profil_reg *reg = begin(2, false);
	unsigned int i;

	for (i = 0; i < PROFIL_PENDING_MAX; i++) {
		profil_pending_grow(reg);
		bin.addr = 0x7f0000001000 + 2 * i;
		profil_pending_add(reg, &bin, 1);
	}
	if (reg->count[PROFIL_PENDING].value != PROFIL_PENDING_MAX)
		return tap_fail("%u pending", (unsigned int)reg->count[PROFIL_PENDING].value);
	printf("# %u ticks looked at %.1f records each\n", i, (double)steps / i);
	if (steps > 20UL * i)
		return false;
	steps = 0;
	ready = false;
	if (profil_flush(reg, true, false))
		return tap_fail("it says that all is delivered");
	printf("# all of them: %lu\n", steps);
	return steps == PROFIL_PENDING_MAX;
}

int main(void)
{
	tap_fork(ticks_of_many_cpus_wait_no_longer, "ticks of many CPUs wait no longer");
	tap_fork(flush_looks_at_each_record_once, "who delivers all looks at each record once");
	return tap_plan();
}
