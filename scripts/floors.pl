#!/usr/bin/perl
# A module whose DESIGN.md has a chapter "Floors" keeps to it: the chapter's table lists the module's folders from the bottom up,
# and a file names types of its own folder and of those below only. A type counts if it is declared at the left margin; comments
# and text in quotes do not count. "Exception: `File.swift` names `Type`" in the chapter permits one.
#
#   floors.pl TREE    prints what does not keep to it, and exits with status 1 if there is anything
use strict;
use warnings;
use File::Find;

my $tree = shift // '.';
my $failed = 0;

sub complain { $failed = 1; print "@_\n" }

sub content {
    my ($path) = @_;
    local $/;
    open my $file, '<', $path or die "$path: $!\n";
    return scalar <$file>;
}

# The chapter's folders, and its exceptions as "File.swift Type".
sub plan {
    my ($design) = @_;
    my ($chapter) = $design =~ /^## Floors\n(.*?)(?=^## |\z)/ms or return;
    my @folders = $chapter =~ /^\| `(\w+)\/` \|/mg;
    my %excepted = map { $_ => 1 } map { join ' ', @$_ } pairs($chapter =~ /Exception: `([^`]+)` names `([^`]+)`/g);
    return (\@folders, \%excepted);
}

sub pairs { my @pairs; while (my ($first, $second) = splice @_, 0, 2) { push @pairs, [$first, $second] } return @pairs }

# The code of each file of a module without comments and quoted text, by its path.
sub code {
    my ($module) = @_;
    my %code;
    find(
        sub {
            return unless /\.swift$/;
            my $text = content($_);
            $text =~ s{/\*.*?\*/|//[^\n]*|"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"}{}gs;
            $code{$File::Find::name} = $text;
        },
        $module);
    return \%code;
}

sub check {
    my ($module, $folders, $excepted) = @_;
    my %floor = map { $folders->[$_] => $_ } 0 .. $#$folders;
    my $code = code($module);
    my (%home, %folder);
    for my $path (sort keys %$code) {
        my ($folder) = $path =~ m{^\Q$module\E/([^/]+)/};
        next unless defined $folder;
        $folder{$path} = $folder;
        if (!exists $floor{$folder}) { complain("$path: the folder $folder is not in the table of $module/DESIGN.md"); next }
        $home{$_} = $folder for $code->{$path} =~ /^(?:[\@\w]+(?:\([^)]*\))? )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/mg;
    }
    for my $path (sort keys %folder) {
        my $own = $floor{ $folder{$path} } // next;
        my ($file) = $path =~ m{([^/]+)$};
        my %named = map { $_ => 1 } $code->{$path} =~ /\b([A-Z]\w*)\b/g;
        for my $type (sort keys %named) {
            next unless exists $home{$type} && $floor{ $home{$type} } > $own;
            next if delete $excepted->{"$file $type"};
            complain("$path: $folder{$path}/ may not name $type, which is of $home{$type}/ above it");
        }
    }
    complain("$module/DESIGN.md: the exception $_ is none") for sort keys %$excepted;
}

for my $design (glob "$tree/Sources/*/DESIGN.md") {
    my ($folders, $excepted) = plan(content($design)) or next;
    (my $module = $design) =~ s{/DESIGN\.md$}{};
    check($module, $folders, $excepted) if $folders;
}
exit $failed;
