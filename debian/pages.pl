#!/usr/bin/perl
# Puts the pages of docs/ into a package's directory for documentation, and beside them the pages of the source that they lead to, by their
# paths with dashes. Links lead to where the pages lie; what is in no package becomes plain words.
#
#   debian/pages.pl DIRECTORY
#   debian/pages.pl --needed    prints the pages of the source, to be there
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Copy qw(copy);

# As it is compressed there.
my %placed = ('CHANGELOG.md' => 'CHANGELOG.md.gz');
my @pages = sort glob 'docs/*.md';
$placed{$_} = basename $_ for @pages, glob 'docs/*.svg docs/*.png';
for my $page (map { targets($_) } @pages) {
  next if $placed{$page} or $page !~ /\.md$/;
  push @pages, $page;
  $placed{$page} = $page =~ tr{/}{-}r;
}
if ($ARGV[0] eq '--needed') {
  print "$_\n" for grep { !m{^docs/} } sort keys %placed;
  exit;
}

my $out = shift;
for my $page (@pages) {
  my $text = contents($page);
  $text =~ s/(!?)\[([^\]]*)\]\(([^)\s]+)\)/link_to($page, $1, $2, $3)/ge;
  open my $file, '>', "$out/$placed{$page}" or die "$out/$placed{$page}: $!\n";
  print $file $text;
  close $file or die "$out/$placed{$page}: $!\n";
}
for my $picture (glob 'docs/*.svg docs/*.png') { copy $picture, $out or die "$picture: $!\n" }

# The link as it is written in the package.
sub link_to {
  my ($page, $image, $words, $target) = @_;
  return "$image\[$words]($target)" if $target =~ /^(#|https?:)/;
  my ($path, $place) = $target =~ /^([^#]*)(.*)$/;
  my $found = $placed{resolved($page, $path)};
  return $found ? "$image\[$words]($found$place)" : $words;
}

# The files that a page's links lead to.
sub targets {
  my $page = shift;
  return map { resolved($page, $_) } grep { !/^https?:/ } contents($page) =~ /\]\(([^)\s#]+)[^)\s]*\)/g;
}

# A link's target, from the source's root.
sub resolved {
  my ($page, $path) = @_;
  my @parts;
  for my $part (split m{/}, dirname($page) . "/$path") {
    next if $part eq '.';
    $part eq '..' ? pop @parts : push @parts, $part;
  }
  return join '/', @parts;
}

sub contents {
  my $page = shift;
  open my $file, '<', $page or die "$page: $!\n";
  local $/;
  return <$file>;
}
