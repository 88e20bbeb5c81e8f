#!/usr/bin/perl
# Plants one defect into a tree, or checks that it could be planted.
#
#   apply.pl check TREE EDIT...    exit status 1 if a text of an edit is not in exactly one place
#   apply.pl plant TREE EDIT
#
# An edit is a file of hunks: `<<<<`, the text as it is, `====`, the text with the defect, `>>>>`, each mark on a line of
# its own. A hunk names no file: its text must be in exactly one place of the tree's Sources and CShims, in whole lines.
# So a file may move without its defects being told.
use strict;
use warnings;
use File::Find;

my ($action, $tree, @edits) = @ARGV;
die "usage: apply.pl check|plant TREE EDIT...\n" unless @edits && $action =~ /^(check|plant)$/;

sub contents {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$file>;
}

# The texts of the files, each with an empty line before it: so every line begins after another one.
my %text;
find(sub { $text{$File::Find::name} = "\n" . contents($_) if /\.(swift|c|h)$/ }, "$tree/Sources", "$tree/CShims");

# Where whole lines stand in a text: the offsets of all places.
sub places {
    my ($path, $lines) = @_;
    my ($from, @found) = (0);
    while ((my $at = index($text{$path}, "\n$lines", $from)) >= 0) {
        push @found, $at + 1;
        $from = $at + 1;
    }
    return @found;
}

my $failed = 0;
for my $edit (@edits) {
    my $hunks = contents($edit);
    my $count = 0;
    my %unedited;
    while ($hunks =~ /\G<<<<\n(.*?)^====\n(.*?)^>>>>\n/gcsm) {
        my ($before, $after) = ($1, $2);
        $count++;
        my @places = map { my $path = $_; map { [$path, $_] } places($path, $before) } sort keys %text;
        if (@places != 1) {
            print "$edit: the text of hunk $count is in ", scalar(@places), " places, not in one\n";
            $failed = 1;
            next;
        }
        my ($path, $at) = @{ $places[0] };
        $unedited{$path} //= $text{$path};
        substr($text{$path}, $at, length $before) = $after;
        next if $action eq 'check';
        open my $file, '>', $path or die "$path: $!\n";
        print $file substr($text{$path}, 1);
        close $file or die "$path: $!\n";
    }
    if (!$count || (pos($hunks) // 0) != length $hunks) {
        print "$edit: is no list of hunks (<<<<, ====, >>>>)\n";
        $failed = 1;
    }
    # Another edit is checked against the tree as it is, not as this one leaves it.
    %text = (%text, %unedited) if $action eq 'check';
}
exit $failed;
