#!/usr/bin/perl
# The Swift that a page of the documentation shows is in the file of the page's name that is compiled.
#
#   scripts/snippets.pl PAGES COMPILED    for each PAGES/NAME.md: COMPILED/NAME.swift
#
# Prints every block that is not there, line for line; its place may be indented as a whole.
use strict;
use warnings;

my ($pages, $compiled) = @ARGV;
for my $page (glob "$pages/*.md") {
  my ($name) = $page =~ m{([^/]+)\.md$};
  my @blocks = blocks($page) or next;
  my @lines = -e "$compiled/$name.swift" ? lines("$compiled/$name.swift") : ();
  for my $block (@blocks) {
    my ($number, @block) = @$block;
    print "$page:$number: this Swift is not in $compiled/$name.swift\n" unless shows(\@lines, \@block);
  }
}

sub lines {
  open my $file, '<', $_[0] or die "$_[0]: $!\n";
  chomp(my @lines = <$file>);
  return @lines;
}

# Each block's first line's number, and its lines.
sub blocks {
  my ($number, $block, @blocks) = (0);
  for (lines(@_)) {
    $number++;
    if (/^```swift$/) { $block = [$number + 1] }
    elsif (/^```$/ && $block) { push @blocks, $block; undef $block }
    elsif ($block) { push @$block, $_ }
  }
  return @blocks;
}

# Whether the block's lines follow each other somewhere.
sub shows {
  my ($lines, $block) = @_;
  for my $first (0 .. @$lines - @$block) {
    next unless $lines->[$first] =~ /^( *)\Q$block->[0]\E$/;
    my $indent = $1;
    return 1 unless grep { $lines->[$first + $_] ne ($block->[$_] eq '' ? '' : $indent . $block->[$_]) } 1 .. $#$block;
  }
  return 0;
}
