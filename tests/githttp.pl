# A git server for tests, on a free port of 127.0.0.1 that is written to the file
# PORT: the repositories below ROOT by HTTP (git http-backend), for the user and
# the password of LOGIN (USER:PASSWORD) alone.
#	perl githttp.pl PORT ROOT LOGIN
use strict;
use warnings;
use IO::Socket::INET;
use IPC::Open2;
use MIME::Base64;

my ($port_file, $root, $login) = @ARGV;
my $want = 'Basic ' . encode_base64($login, '');
chomp(my $backend = `git --exec-path`);
$backend .= '/git-http-backend';
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die;
open my $f, '>', "$port_file.new" or die;
print $f $server->sockport;
close $f or die;
rename "$port_file.new", $port_file or die;

sub serve {
	my ($c) = @_;
	my ($method, $target) = (<$c> // '') =~ m{^(\w+) (\S+) } or return;
	my %h;
	while (defined(my $l = <$c>)) {
		last if $l =~ /^\r?\n$/;
		$h{lc $1} = $2 if $l =~ /^([^:]+):\s*(.*?)\r?\n$/;
	}
	if (($h{authorization} // '') ne $want) {
		print $c "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n",
		    "WWW-Authenticate: Basic realm=\"git\"\r\n",
		    "Content-Length: 0\r\n\r\n";
		return;
	}
	my $body = '';
	if (($h{'transfer-encoding'} // '') eq 'chunked') {
		while (my $n = hex(<$c> // 0)) {
			read $c, my $part, $n;
			$body .= $part;
			<$c>;
		}
	} else {
		read $c, $body, $h{'content-length'} // 0;
	}
	my ($path, $query) = split /\?/, $target, 2;
	local %ENV = (PATH => $ENV{PATH}, GIT_PROJECT_ROOT => $root,
	    GIT_HTTP_EXPORT_ALL => 1, PATH_INFO => $path,
	    QUERY_STRING => $query // '', REQUEST_METHOD => $method,
	    CONTENT_TYPE => $h{'content-type'} // '',
	    CONTENT_LENGTH => length $body, REMOTE_USER => 'u',
	    HTTP_CONTENT_ENCODING => $h{'content-encoding'} // '',
	    GIT_CONFIG_COUNT => 1, GIT_CONFIG_KEY_0 => 'safe.directory',
	    GIT_CONFIG_VALUE_0 => '*');
	my $pid = open2(my $out, my $in, $backend);
	print $in $body;
	close $in;
	my $answer = do { local $/; <$out> };
	waitpid $pid, 0;
	my $status = $answer =~ s/^Status: (.*?)\r\n// ? $1 : '200 OK';
	print $c "HTTP/1.1 $status\r\nConnection: close\r\n$answer";
}

$SIG{PIPE} = 'IGNORE';
while (my $c = $server->accept) {
	serve($c);
	close $c;
}
