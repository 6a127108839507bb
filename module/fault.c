// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making a page of a histogram present and writable.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/uaccess.h>

#include "profil.h"

static int profil_fault_check(const struct vm_area_struct *vma)
{
	if (!vma || !(vma->vm_flags & VM_WRITE))
		return -EFAULT;
	return vma->vm_flags & PROFIL_VM_DENIED ? -EACCES : 0;
}

static int profil_fault_wait(struct mm_struct *mm, unsigned long addr)
{
	bool unlocked = false;
	int err;

	/* Lets go of mmap_lock while it waits, for a userfault among others. */
	err = fixup_user_fault(mm, addr, FAULT_FLAG_WRITE, &unlocked);
	if (err == -EFAULT || err == -EHWPOISON)
		return profil_fault_check(vma_lookup(mm, addr)) ?: -EACCES;
	return err;
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
	return fault & VM_FAULT_ERROR ? -EACCES : 0;
}

/**
 * profil_fault_in - Make the memory of a counter writable
 * @mm: Address space, that of current also in a worker
 * @addr: Address of the counter, which is aligned and so in one page
 * @wait: Wait for locks, I/O and userfaults, until a fatal signal
 *
 * Without @wait neither mmap_lock nor the lock of a page or a userfault is waited
 * for; but the kernel has no fault that does not wait for memory or a file system.
 *
 * Context: Task, outside sections; may sleep.
 * Return: 0 if it is worth another try; -EFAULT if there is no mapping or not
 * a writable one, which ends the profile; -EACCES if the memory is not to be
 * written from here; -EAGAIN if it was not possible now; -ENOMEM; -EINTR on a
 * fatal signal.
 */
int profil_fault_in(struct mm_struct *mm, unsigned long addr, bool wait)
{
	struct vm_area_struct *vma;
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
	if (!err && !wait)
		return profil_fault_nowait(vma, addr);
	if (!err)
		err = profil_fault_wait(mm, addr);
	mmap_read_unlock(mm);
	return err;
}
