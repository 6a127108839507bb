// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of one pending record, in task context: makes its counter writable and adds
 * to it, or finds out why that is not possible.  A thread delivers its own records when
 * it returns to user mode, and may sleep for it; flush.c delivers for others.
 */
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "bump.h"
#include "profil.h"
#include "race.h"
#include "reg.h"
#include "section.h"
#include "set.h"

/* Tries of one delivery: each saw the page go away or the word change. */
#define PROFIL_DELIVER_TRIES	64

static int profil_fault_check(const struct vm_area_struct *vma)
{
	if (!vma || !(vma->vm_flags & VM_WRITE))
		return -EFAULT;
	return vma->vm_flags & PROFIL_VM_DENIED ? -EACCES : 0;
}

/* Returns with mmap_lock released. */
static int profil_fault_nowait(struct vm_area_struct *vma, unsigned long addr)
{
	struct mm_struct *mm = vma->vm_mm;
	vm_fault_t fault;

	fault = handle_mm_fault(vma, addr & PAGE_MASK,
				FAULT_FLAG_WRITE | FAULT_FLAG_ALLOW_RETRY |
				FAULT_FLAG_RETRY_NOWAIT, NULL);
	if (fault & VM_FAULT_COMPLETED)
		return 0;
	mmap_read_unlock(mm);
	if (fault & (VM_FAULT_RETRY | VM_FAULT_OOM))
		return -EAGAIN;
	/* The file has ended before, there is no huge page, the disk is full or broken. */
	if (fault & VM_FAULT_SIGBUS)
		return -ENXIO;
	return fault & VM_FAULT_ERROR ? -EACCES : 0;
}

/*
 * Makes the page of a counter writable.  With @wait it waits for locks, I/O and
 * userfaults, until a fatal signal.  Without, it waits neither for mmap_lock nor for the
 * lock of a page or a userfault; but the kernel has no fault that does not wait for
 * memory or for a file system.
 *
 * Returns 0 if it is worth another try; -EFAULT if there is no mapping or not a writable
 * one, which ends the profile; -EACCES if the memory is not to be written from here;
 * -ENXIO if there is no page; -EAGAIN if it was not possible now; -ENOMEM; -EINTR on a
 * fatal signal.
 */
static int profil_fault_in(struct mm_struct *mm, unsigned long addr, bool wait)
{
	struct vm_area_struct *vma;
	bool unlocked = false;
	int err = 0;

	if (wait)
		err = mmap_read_lock_killable(mm);
	else if (!mmap_read_trylock(mm))
		err = -EAGAIN;
	if (err)
		return err;

	addr = untagged_addr(addr);
	vma = vma_lookup(mm, addr);
	err = profil_fault_check(vma);
	if (!err && wait) {
		/* Lets go of mmap_lock while it waits, for a userfault among others. */
		err = fixup_user_fault(mm, addr, FAULT_FLAG_WRITE, &unlocked);
		if (err != -EFAULT && err != -EHWPOISON)
			goto out;
		/* Another look tells why. */
		vma = vma_lookup(mm, addr);
		err = profil_fault_check(vma);
	}
	if (!err)
		return profil_fault_nowait(vma, addr);
out:
	mmap_read_unlock(mm);
	return err;
}

/* Moves pending ticks to the class where they ended. */
void profil_deliver_settle(struct profil_reg *reg, enum profil_class class,
			   unsigned int n)
{
	unsigned long flags;

	if (!n)
		return;
	raw_spin_lock_irqsave(&reg->lock, flags);
	atomic64_sub(n, &reg->count[PROFIL_PENDING]);
	atomic64_add(n, &reg->count[class]);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
}

static enum profil_class profil_deliver_class(long err)
{
	switch (err) {
	case -ESTALE:
		return PROFIL_LOST_STOPPED;
	case -ESRCH:
	case -EINTR:
		return PROFIL_LOST_EXIT;
	case -EACCES:
		return PROFIL_LOST_DENIED;
	case -ENOMEM:
	case -ENXIO:
		return PROFIL_LOST_UNREADY;
	default:
		return PROFIL_LOST_CONTENDED;
	}
}

/*
 * One exchange, and the account of all @n; or an error, with nothing counted: -ESTALE
 * if the generation is over.
 */
static long profil_deliver_once(struct profil_reg *reg,
				const struct profil_bin_ref *bin, unsigned int n)
{
	struct profil_section *section;
	struct profil_run *run;
	unsigned long flags;
	long ret = -ESTALE;

	local_irq_save(flags);
	section = this_cpu_ptr(&profil_section);
	profil_section_enter(section, reg);
	run = smp_load_acquire(&reg->now);	/* (E) */
	if (run->set && run->set->gen == bin->gen) {
		pagefault_disable();
		ret = profil_bump(bin->addr, bin->mask, n);
		pagefault_enable();
	}
	profil_race(PROFIL_RACE_ACCOUNT);
	if (ret >= 0) {
		raw_spin_lock(&reg->lock);
		atomic64_sub(n, &reg->count[PROFIL_PENDING]);
		profil_race(PROFIL_RACE_MOVE);
		atomic64_add(ret, &reg->count[PROFIL_IN_RANGE]);
		atomic64_add(n - ret, &reg->count[PROFIL_SATURATED]);
		raw_spin_unlock(&reg->lock);
	}
	profil_section_leave(section);
	local_irq_restore(flags);
	return ret;
}

/* Returns 0 to go on if ticks are left in @n.  A counter ends no later profile. */
static int profil_deliver_fault(struct profil_reg *reg,
				const struct profil_bin_ref *bin,
				unsigned int *n, bool wait)
{
	int err;

	profil_race(PROFIL_RACE_FAULT);
	err = profil_reg_orphaned(reg) ? -ESRCH : profil_fault_in(reg->mm, bin->addr, wait);
	if (err != -EFAULT)
		return err;
	if (!profil_reg_end(reg, bin, *n))
		return -ESTALE;
	*n = 0;
	return 0;
}

/*
 * Counts @n pending ticks, or settles why not; what is left pending is written back.
 * Returns false if ticks are still pending because the page is not ready, which is never
 * so with @wait.  Task context, outside sections; may sleep.
 */
bool profil_deliver(struct profil_reg *reg, const struct profil_bin_ref *bin,
		    unsigned int *n, bool wait)
{
	/* Exit and exec drop the address space before they deliver, or leave it to us. */
	long err = current->mm == reg->mm && !profil_reg_orphaned(reg) ? 0 : -ESRCH;
	int tries;

	for (tries = 0; *n && !err && tries < PROFIL_DELIVER_TRIES; tries++) {
		cond_resched();
		err = profil_deliver_once(reg, bin, *n);
		if (err >= 0) {
			*n = 0;
		} else if (err == -EAGAIN) {
			err = 0;
		} else if (err == -EFAULT) {
			err = profil_deliver_fault(reg, bin, n, wait);
			if (err == -EAGAIN && !wait)
				return false;
			if (err == -EAGAIN)
				err = 0;
		}
	}
	profil_deliver_settle(reg, profil_deliver_class(err), *n);
	*n = 0;
	return true;
}

/*
 * Delivers a record of the thread that runs this, which is about to return to user mode
 * or exits; may sleep.
 */
void profil_deliver_own(struct callback_head *work)
{
	struct profil_pending *record = container_of(work, struct profil_pending, work);
	struct profil_part *part = record->part;
	struct profil_reg *reg = part->reg;
	struct profil_bin_ref bin;
	unsigned long flags;
	unsigned int n;

	profil_race(PROFIL_RACE_DELIVER);
	raw_spin_lock_irqsave(&part->lock, flags);
	hlist_del(&record->node);
	part->used--;
	bin = record->bin;
	n = record->count;
	raw_spin_unlock_irqrestore(&part->lock, flags);

	if (n)	/* else somebody delivered on our behalf */
		profil_deliver(reg, &bin, &n, true);

	raw_spin_lock_irqsave(&part->lock, flags);
	profil_pending_spare(record);
	raw_spin_unlock_irqrestore(&part->lock, flags);
	profil_reg_put(reg);
	/* Module exit waits for the instructions after this one. */
	module_put(THIS_MODULE);
	profil_race(PROFIL_RACE_GONE);
}
