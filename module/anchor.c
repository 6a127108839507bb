// SPDX-License-Identifier: GPL-2.0-only
/*
 * The anchor: a mapping of one page of the device, without access, that ties a
 * registration to its address space.  The kernel copies it at fork and drops
 * it at exec, exit, kill and munmap; each is a callback here.  Its file keeps
 * the module loaded.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mmap_lock.h>

#include "profil.h"
#include "race.h"
#include "reg.h"

/*
 * Task, under mmap_lock of the new mapping's address space: fork, where it is
 * the child's and the child does not run yet, or mremap().
 */
static void profil_anchor_open(struct vm_area_struct *vma)
{
	struct profil_reg *reg = vma->vm_private_data;

	if (!reg)
		return;
	if (reg->mm == vma->vm_mm) {
		atomic_inc(&reg->anchors);
		reg->former = reg->anchor;
		WRITE_ONCE(reg->anchor, vma->vm_start);
		return;
	}
	reg = profil_profile_inherit(reg, vma->vm_mm);
	if (reg)
		WRITE_ONCE(reg->anchor, vma->vm_start);
	vma->vm_private_data = reg;
}

/* Task, under mmap_lock or as the last user of the address space. */
static void profil_anchor_close(struct vm_area_struct *vma)
{
	struct profil_reg *reg = vma->vm_private_data;

	if (!reg)
		return;
	if (!atomic_dec_and_test(&reg->anchors)) {
		/* mremap() had no memory, and the former one stays. */
		if (reg->anchor == vma->vm_start)
			WRITE_ONCE(reg->anchor, reg->former);
		return;
	}
	/* In this order: whoever does not find it any more need not wait for anything. */
	profil_profile_end(reg);
	profil_race(PROFIL_RACE_CLOSE);
	profil_reg_unpublish(reg);
	profil_reg_put(reg);
}

static int profil_anchor_may_split(struct vm_area_struct *vma,
				   unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct profil_anchor_ops = {
	.open		= profil_anchor_open,
	.close		= profil_anchor_close,
	.may_split	= profil_anchor_may_split,
};

/*
 * The device's mmap operation.  Only profil_anchor_create() has a file that carries a
 * registration, and no descriptor of it exists, so every other mmap() fails: -EINVAL; or
 * -EEXIST if the address space has an anchor.  Under mmap_lock.
 */
int profil_anchor_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct profil_reg *reg = file->private_data;
	int err;

	if (!reg || reg->mm != vma->vm_mm)
		return -EINVAL;
	/* Before another thread's START finds it. */
	reg->anchor = vma->vm_start;
	err = profil_reg_publish(reg);
	if (err)
		return err;
	/* No page ever comes here.  PFNMAP is also what madvise() tells user space of. */
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = &profil_anchor_ops;
	vma->vm_private_data = reg;
	if (!profil_race_fails())
		return 0;
	/* As the kernel does before 6.12 if it has no memory for the mapping. */
	profil_anchor_close(vma);
	return -ENOMEM;
}

/*
 * Waits until the mapping of a registration that was found is made.  If it fails after
 * profil_anchor_mmap(), as it may before Linux 6.12, the registration is dead then.
 * Returns 0, or -EINTR on a fatal signal.
 */
int profil_anchor_wait(struct profil_reg *reg)
{
	if (mmap_read_lock_killable(reg->mm))
		return -EINTR;
	mmap_read_unlock(reg->mm);
	return 0;
}

static int profil_anchor_map(struct file *file, struct profil_reg *reg)
{
	unsigned long addr;

	file->private_data = reg;
	profil_race(PROFIL_RACE_ANCHOR);
	addr = vm_mmap(file, 0, PAGE_SIZE, PROT_NONE, MAP_SHARED, 0);
	file->private_data = NULL;
	return IS_ERR_VALUE(addr) ? (long)addr : 0;
}

/*
 * A file of its own for each anchor, so that nobody else can map it; not to be written,
 * so that its mapping does not count as shared, for remap_file_pages().  With the rights
 * of who opened the device: a program that has confined itself meanwhile can have
 * another profile, as it can end this one.
 */
static struct file *profil_anchor_file(struct file *device)
{
	const struct cred *old = override_creds(device->f_cred);
	struct file *file = dentry_open(&device->f_path, O_RDONLY, device->f_cred);

	revert_creds(old);
	return file;
}

/*
 * Registers the address space of current; @device is any file of the device.  Returns 0,
 * also if another thread was faster, or an error of the user interface.
 */
int profil_anchor_create(struct file *device)
{
	struct profil_reg *reg = profil_profile_create(current->mm);
	struct file *file;
	int err;

	if (IS_ERR(reg))
		return PTR_ERR(reg);
	file = profil_anchor_file(device);
	err = PTR_ERR_OR_ZERO(file);
	if (!err) {
		err = profil_anchor_map(file, reg);
		fput(file);
	}
	profil_reg_put(reg);
	return err == -EEXIST ? 0 : err;
}
