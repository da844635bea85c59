#!/usr/bin/env perl
# A bot as a program, in Perl and nothing that does not come with it: JSON lines in, JSON lines out (SALVO-EXEC).
#
#     salvo play 'exec:perl program.pl' hunter
#
# It leaves its fleet to the server, and fires at random cells of the opponent with the most unknown cells, never twice at
# the same.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # without it, an answer stays in a buffer
my $json = JSON::PP->new->utf8->canonical;
my ($state, $width) = (1, 10);

# The same seed plays the same game everywhere; Perl's own rand differs between versions.
sub draw {
    my ($count) = @_;
    $state = ($state * 48271) % 2147483647;
    return $state % $count;
}

# `stays` promises that each game starts afresh: then one process quickly plays many.
sub answer {
    my ($question, %fields) = @_;
    print $json->encode({ id => $question->{id}, stays => JSON::PP::true, %fields }), "\n";
}

while (my $line = <STDIN>) {
    my $question = $json->decode($line);
    if ($question->{type} eq 'game') {
        $state = $question->{seed} % 2147483646 + 1;
        $width = $question->{rules}{width};
    }
    elsif ($question->{type} eq 'fleet') {
        answer($question, skip => JSON::PP::true);
    }
    elsif ($question->{type} eq 'turn') {
        my %unknown = map { $_ => $question->{boards}{$_} =~ tr/.// } @{ $question->{opponents} };
        my ($target) = sort { $unknown{$b} <=> $unknown{$a} || $a cmp $b } keys %unknown;
        my @cells = split //, $question->{boards}{$target};
        my @open = grep { $cells[$_] eq '.' } 0 .. $#cells;
        my @shots;
        while (@open && @shots < $question->{shots}) {
            my ($cell) = splice @open, draw(scalar @open), 1;
            push @shots, { player => $target, x => $cell % $width + 1, y => int($cell / $width) + 1 };
        }
        answer($question, @shots ? (shots => \@shots) : (skip => JSON::PP::true));
    }
}
