// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device, and the order of coming and going.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "member.h"
#include "profil.h"
#include "reg.h"
#include "table.h"

static int profil_open(struct inode *inode, struct file *file)
{
	/* It was the device; only anchor.c gives a file a registration. */
	file->private_data = NULL;
	return nonseekable_open(inode, file);
}

static const struct file_operations profil_fops = {
	.owner		= THIS_MODULE,
	.open		= profil_open,
	.mmap		= profil_anchor_mmap,
	.unlocked_ioctl	= profil_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

/* For everybody: it writes the caller's own memory, with the caller's rights. */
static struct miscdevice profil_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "profil",
	.mode	= 0666,
	.fops	= &profil_fops,
};

/* Everything that was queued has run when this returns. */
static void profil_drain(void)
{
	/* Threads that are on the last instructions of their task_work. */
	synchronize_rcu_tasks();
	profil_table_exit();
	profil_reg_exit();
}

static int __init profil_init(void)
{
	int err = profil_reg_init();

	if (err)
		return err;
	profil_member_init();
	err = profil_table_init();
	if (!err)
		err = profil_hook_init();
	if (err)
		goto err_drain;
	err = misc_register(&profil_device);
	if (!err)
		return 0;
	profil_hook_exit();
err_drain:
	profil_drain();
	return err;
}

/* The module is in use while a process is profiled, so none is now. */
static void __exit profil_exit(void)
{
	misc_deregister(&profil_device);
	profil_reg_wait();
	profil_hook_exit();
	profil_drain();
}

module_init(profil_init);
module_exit(profil_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The profil founders");
MODULE_DESCRIPTION("profil(2): a histogram of where a program runs, counted at the timer tick");
MODULE_VERSION("1.0.0");
