#!/usr/bin/env perl
# A bot as a program, in Perl and nothing that does not come with it: JSON lines in, JSON lines out (SALVO-EXEC).
#
#     salvo play 'exec:perl program.pl' hunter
#
# It leaves its fleet to the server, and fires at cells drawn by chance that were not shot at yet, of the opponent that it
# knows least of.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # without it nobody hears of an answer
my $json = JSON::PP->new->utf8->canonical;
my ($state, $width) = (1, 10);

# Perl's own rand differs between versions; the same seed shall be the same game everywhere.
sub draw {
    my ($count) = @_;
    $state = ($state * 48271) % 2147483647;
    return $state % $count;
}

# `stays` promises that nothing is carried from one game to the next: then one process plays many, and quickly.
sub answer {
    my ($told, %said) = @_;
    print $json->encode({ id => $told->{id}, stays => JSON::PP::true, %said }), "\n";
}

while (my $line = <STDIN>) {
    my $told = $json->decode($line);
    if ($told->{type} eq 'game') {
        $state = $told->{seed} % 2147483646 + 1;
        $width = $told->{rules}{width};
    }
    elsif ($told->{type} eq 'fleet') {
        answer($told, skip => JSON::PP::true);
    }
    elsif ($told->{type} eq 'turn') {
        my %unknown = map { $_ => $told->{boards}{$_} =~ tr/.// } @{ $told->{opponents} };
        my ($target) = sort { $unknown{$b} <=> $unknown{$a} || $a cmp $b } keys %unknown;
        my @cells = split //, $told->{boards}{$target};
        my @open = grep { $cells[$_] eq '.' } 0 .. $#cells;
        my @shots;
        while (@open && @shots < $told->{shots}) {
            my ($cell) = splice @open, draw(scalar @open), 1;
            push @shots, { player => $target, x => $cell % $width + 1, y => int($cell / $width) + 1 };
        }
        answer($told, @shots ? (shots => \@shots) : (skip => JSON::PP::true));
    }
}
