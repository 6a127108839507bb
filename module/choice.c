// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "choice.h"

static int profil_choice_set(const char *value, const struct kernel_param *param)
{
	struct profil_choice *choice = param->arg;
	int i = __sysfs_match_string(choice->words, choice->nr, value), len = 0;
	char words[64];

	if (i >= 0) {
		choice->chosen = i;
		return 0;
	}
	for (i = 0; i < choice->nr; i++)
		len += scnprintf(words + len, sizeof(words) - len, "%s%s",
				 i ? ", " : "", choice->words[i]);
	pr_err("parameter %s=%s: must be one of %s\n", param->name, value, words);
	return -EINVAL;
}

static int profil_choice_get(char *buffer, const struct kernel_param *param)
{
	const struct profil_choice *choice = param->arg;

	return sysfs_emit(buffer, "%s\n", choice->words[choice->chosen]);
}

const struct kernel_param_ops profil_choice_ops = {
	.set = profil_choice_set,
	.get = profil_choice_get,
};
