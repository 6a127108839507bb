// SPDX-License-Identifier: GPL-2.0-only
/* What clang -fsanitize-coverage=trace-pc-guard makes of a program, by hand. */
#include <stdint.h>

void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end);

static uint32_t guards[3] __attribute__((section("__sancov_guards")));

/* An object's constructors do that once for each of its files. */
__attribute__((constructor)) static void init(void)
{
	__sanitizer_cov_trace_pc_guard_init(guards, guards + 3);
	__sanitizer_cov_trace_pc_guard_init(guards, guards + 3);
}

int main(void)
{
	volatile int sum = 0;

	__sanitizer_cov_trace_pc_guard(&guards[0]);		/* once */
	for (int i = 0; i < 1234; i++) {
		__sanitizer_cov_trace_pc_guard(&guards[1]);	/* often */
		sum += i;
	}
	if (sum < 0)
		__sanitizer_cov_trace_pc_guard(&guards[2]);	/* never */
	return 0;
}
