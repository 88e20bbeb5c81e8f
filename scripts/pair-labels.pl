#!/usr/bin/perl
# Each comment with a label of a memory-order pair (PAIR x) names its other end as Type.member, and those that name one must
# name what there is: a member of that name in a file that declares or extends the type. So a comment does not outlive what it
# is about.
#
#   pair-labels.pl TREE    prints the comments that do not, and exits with status 1 if there is one
use strict;
use warnings;
use File::Find;

my $tree = shift // '.';
my %text;
find(
    sub {
        return unless /\.swift$/;
        local $/;
        open my $file, '<', $_ or die "$_: $!\n";
        $text{$File::Find::name} = <$file>;
    },
    "$tree/Sources");

sub is_there {
    my ($type, $member) = @_;
    for my $text (values %text) {
        next unless $text =~ /\b(?:struct|class|enum|extension|protocol|actor) (?:\w+\.)*$type\b/;
        return 1 if $member eq 'init' ? $text =~ /\binit[?(<]/ : $text =~ /\b(?:func|var|let|case) $member\b/;
    }
    return 0;
}

my $failed = 0;
for my $path (sort keys %text) {
    my @lines = split /\n/, $text{$path};
    for my $index (0 .. $#lines) {
        next unless $lines[$index] =~ m{//.*\bPAIR ([a-z][a-z-]*)(.*)};
        my ($label, $rest) = ($1, $2);
        # The names may go on in the next line of the comment.
        $rest .= " $1" if ($lines[$index + 1] // '') =~ m{^\s*//+\s*(.*)};
        (my $shown = $path) =~ s{^\Q$tree\E/}{};
        my @names = $rest =~ /^\. Other end: ((?:[A-Z]\w*\.\w+(?:, | and )?)+)/ ? split(/, | and /, $1) : ();
        my @missing = grep { my ($type, $member) = split /\./; !is_there($type, $member) } @names;
        next if @names && !@missing;
        $failed = 1;
        print "$shown: PAIR $label: ", (@names ? "there is no @missing" : "names no other end (Type.member)"), "\n";
    }
}
exit $failed;
