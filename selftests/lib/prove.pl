#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Runs programs that speak TAP, N at a time, with the harness that prove(1) has, and ends
# with "N passed, N failed, N skipped".  A program that dies, or gives other results than
# its plan says, or none, has failed; so has a test that is skipped, unless it is named
# "..., with 32 bits": not every kernel runs such programs.
# Usage: prove.pl N COMMAND... (each one argument, split at spaces)
use strict;
use warnings;
use TAP::Harness;

my ($jobs, @commands) = @ARGV;
my $skipped = 0;
my $harness = TAP::Harness->new({
	jobs => $jobs, failures => 1, comments => 1, color => 0, merge => 1,
	exec => sub { [split ' ', $_[1]] },
});

$harness->callback(made_parser => sub {
	$_[0]->callback(test => sub {
		my $test = shift;
		return unless $test->has_skip;
		if ($test->description =~ /, with 32 bits$/) {
			$skipped++;
		} else {
			print "not ok ", $test->description, " (skipped)\n";
		}
	});
});

# two of the same name are told apart by their folders
my %names;
$names{s,\S*/,,gr}++ for @commands;
my $all = $harness->runtests(map { my $short = s,\S*/,,gr; [$_, $names{$short} > 1 ? $_ : $short] } @commands);
# what is ok and skipped without leave is a failure
my $passed = $all->passed - $all->skipped;
my $failed = $all->total - $passed - $skipped;
$failed = 1 if !$failed && $all->has_problems;
print "$passed passed, $failed failed, $skipped skipped\n";
exit($failed > 0 || !$passed);
