// SPDX-License-Identifier: GPL-2.0-only
/* A program whose functions the tests look for; also what a C++ compiler would call one. */
int hot(int n);
int cold(int n);
int turn(int n) __asm__("_ZN2ns3boxIiE4turnEi");

int hot(int n)
{
	return n + 1;
}

int cold(int n)
{
	return n + 2;
}

int turn(int n)
{
	return n + 3;
}

static int __attribute__((noinline)) hidden(int n)
{
	return n + 4;
}

int main(int argc, char **argv)
{
	(void)argv;
	return hot(argc) + cold(argc) + turn(argc) + hidden(argc) > 1000;
}
