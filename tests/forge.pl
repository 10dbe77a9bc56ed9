# A forge for tests: what vkb-comment asks of GitHub's API and of GitLab's, on a
# free port of 127.0.0.1 that is written to the file PORT. The state is in the
# file STATE (JSON), read anew and written for each request; what was asked is
# appended to the file LOG. STATE's "fail" is {"METHOD PATH": status, ...}, for
# as long as it stands there; PATH is without its query.
#	perl forge.pl PORT STATE LOG
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;

my ($port_file, $state_file, $log) = @ARGV;
my $json = JSON::PP->new->utf8->canonical;
my $state;

sub slurp { open my $f, '<:raw', $_[0] or die "$_[0]: $!"; local $/; <$f> }
sub spew {
	open my $f, '>:raw', "$_[0].new" or die "$_[0]: $!";
	print $f $_[1];
	close $f or die;
	rename "$_[0].new", $_[0] or die;
}

# A page of a list, as both forges cut it.
sub page {
	my ($list, $q) = @_;
	my $n = $q->{per_page} // 20;
	$n = 100 if $n > 100;
	my $from = $n * (($q->{page} // 1) - 1);
	my @page = splice @{[@$list]}, $from, $n;
	return (200, \@page);
}

sub one {
	my ($list, $key, $value) = @_;
	my ($found) = grep { $_->{$key} == $value } @$list;
	return $found;
}

sub edit {
	my ($list, $key, $value, $with) = @_;
	my $found = one($list, $key, $value) or return (404, {message => 'Not Found'});
	$found->{$_} = $with->{$_} for keys %$with;
	return (200, $found);
}

sub add {
	my ($list, $key, $what) = @_;
	$what->{$key} = 1000 + @$list;
	push @$list, $what;
	return (201, $what);
}

sub in_state {
	my ($issue, $q) = @_;
	return $q->{state} eq 'all' || $issue->{state} eq $q->{state};
}

sub github {
	my ($method, $path, $q, $body) = @_;
	my $me = {login => $state->{login}};
	$path =~ s|^/repos/o/r/|| or return (404, {message => 'Not Found'});
	if ($path eq 'pulls') {
		return page([grep { $_->{head}{label} eq $q->{head} &&
		    ($q->{state} eq 'all' || $_->{state} eq $q->{state}) } @{$state->{pulls}}], $q);
	} elsif ($path eq 'pulls/7') {
		# The merge is made some time after it was first asked for.
		my %pull = %{$state->{pull}};
		$pull{mergeable} = undef if $state->{asked}++ < ($state->{busy} // 0);
		return (200, \%pull);
	} elsif ($path =~ m|^collaborators/([^/]*)/permission$|) {
		my $may = $state->{may}{unquote($1)};
		return defined $may ? (200, {permission => $may}) : (404, {message => 'Not Found'});
	} elsif ($path =~ m|^issues/comments/(\d+)/reactions$| && $method eq 'POST') {
		return add($state->{reactions}, 'id', {%$body, to => $1});
	} elsif ($path =~ m|^issues/7/comments$|) {
		return page($state->{comments}, $q) if $method eq 'GET';
		return add($state->{comments}, 'id', {%$body, user => $me});
	} elsif ($path =~ m|^issues/comments/(\d+)$| && $method eq 'PATCH') {
		return edit($state->{comments}, 'id', $1, $body);
	} elsif ($path eq 'issues/7/labels' && $method eq 'POST') {
		$state->{labels}{$_} = 1 for @{$body->{labels}};
		return (200, []);
	} elsif ($path =~ m|^issues/7/labels/(.*)$| && $method eq 'DELETE') {
		for my $pull (@{$state->{pulls} // []}) {
			@{$pull->{labels}} = grep { $_->{name} ne $1 } @{$pull->{labels} // []};
		}
		return delete $state->{labels}{$1} ? (200, []) : (404, {message => 'Label does not exist'});
	} elsif ($path eq 'issues' && $method eq 'GET') {
		my $label = $q->{labels};
		return page([grep { in_state($_, $q) &&
		    grep { $_ eq $label } @{$_->{labels}} } @{$state->{issues}}], $q);
	} elsif ($path eq 'issues' && $method eq 'POST') {
		return add($state->{issues}, 'number', {%$body, user => $me, state => 'open'});
	} elsif ($path =~ m|^issues/(\d+)$| && $method eq 'PATCH') {
		return edit($state->{issues}, 'number', $1, $body);
	}
	return (404, {message => 'Not Found'});
}

sub gitlab {
	my ($method, $path, $q, $body) = @_;
	my $me = {username => $state->{login}};
	return (200, {username => $state->{login}}) if $path eq '/user';
	$path =~ s|^/projects/5/|| or return (404, {message => '404 Not found'});
	if ($path eq 'merge_requests/7/notes') {
		return page($state->{comments}, $q) if $method eq 'GET';
		return add($state->{comments}, 'id', {%$body, author => $me});
	} elsif ($path =~ m|^merge_requests/7/notes/(\d+)$| && $method eq 'PUT') {
		return edit($state->{comments}, 'id', $1, $body);
	} elsif ($path eq 'merge_requests/7' && $method eq 'PUT') {
		$state->{labels}{$body->{add_labels}} = 1 if $body->{add_labels};
		delete $state->{labels}{$body->{remove_labels}} if $body->{remove_labels};
		return (200, {});
	} elsif ($path eq 'issues' && $method eq 'GET') {
		return page([grep { in_state($_, $q) && $_->{labels} eq $q->{labels} }
		    @{$state->{issues}}], $q);
	} elsif ($path eq 'issues' && $method eq 'POST') {
		return add($state->{issues}, 'iid', {%$body, author => $me, state => 'opened'});
	} elsif ($path =~ m|^issues/(\d+)$| && $method eq 'PUT') {
		my $event = delete $body->{state_event} // '';
		delete $body->{state};
		$body->{state} = 'closed' if $event eq 'close';
		return edit($state->{issues}, 'iid', $1, $body);
	}
	return (404, {message => '404 Not found'});
}

sub unquote { my $s = shift; $s =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge; $s }

sub answer {
	my ($method, $target, $head, $text) = @_;
	my ($path, $query) = split /\?/, $target, 2;
	my %q = map { my ($k, $v) = split /=/, $_, 2; ($k, unquote($v // '')) }
	    split /&/, $query // '';
	$state = $json->decode(slurp($state_file));
	my $fail = $state->{fail}{"$method $path"};
	return ($fail, {message => "as told \e[31m"}) if $fail;
	return (200, undef) if $state->{garbage};
	my $body = eval { $text eq '' ? {} : $json->decode($text) };
	return (400, {message => 'Problems parsing JSON'}) unless $body;
	return (401, {message => 'Bad credentials'}) unless
	    ($head->{authorization} // '') eq 'Bearer secret-1' && $path =~ m|^/github/| ||
	    ($head->{'private-token'} // '') eq 'secret-1' && $path =~ m|^/gitlab/|;
	my ($code, $what) = $path =~ s|^/github/|/| ?
	    github($method, $path, \%q, $body) :
	    $path =~ s|^/gitlab/|/| ? gitlab($method, $path, \%q, $body) : (404, {});
	spew($state_file, $json->encode($state));
	return ($code, $what);
}

my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16)
    or die "listen: $!";
spew($port_file, $listener->sockport . "\n");
while (my $client = $listener->accept) {
	my $line = <$client> // next;
	my ($method, $target) = split / /, $line;
	my %head;
	while (defined($line = <$client>) && $line =~ /\S/) {
		$head{lc $1} = $2 if $line =~ /^([^:]+):\s*(.*?)\r?\n/;
	}
	my $text = '';
	read $client, $text, $head{'content-length'} if $head{'content-length'};
	open my $f, '>>', $log or die;
	print $f "$method $target\n";
	close $f;
	my ($code, $what) = answer($method, $target, \%head, $text);
	my $out = defined $what ? $json->encode($what) : '<html>not now</html>';
	print $client "HTTP/1.1 $code x\r\nContent-Type: application/json\r\n" .
	    'Content-Length: ' . length($out) . "\r\nConnection: close\r\n\r\n$out";
	close $client;
}
