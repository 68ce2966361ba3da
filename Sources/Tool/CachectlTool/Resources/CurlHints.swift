/// Hints for options that curl has and `fetch URL` has not, and for one that both have with different meanings.
enum CurlHints {
  private static let hints: [(names: [String], hint: String)] = [
    (["--output"], "--output names a format, and -o FILE writes to a file"),
    (["-r", "--range"], "send the field: -H 'Range: bytes=0-99'"),
    (["-F", "--form", "--form-string"], "cachectl sends no multipart forms: upload with curl"),
    (["-T", "--upload-file"], "send the file with -X PUT --data-binary @FILE"),
    (["--url-query"], "put data into the query with -G -d DATA"),
    (["--oauth2-bearer"], "send the field: -H 'Authorization: Bearer TOKEN'"),
    (
      ["--digest", "--ntlm", "--negotiate", "--anyauth", "--aws-sigv4"], "-u NAME:PASSWORD uses Basic, and nothing else"
    ),
    (["-n", "--netrc", "--netrc-file"], #"-u '{"env": "NAME"}' reads the name and the password from a variable"#),
    (["-c", "--cookie-jar", "-j"], "cachectl keeps no cookies: send them with -b NAME=VALUE"),
    (["-K"], "give the options on the command line; --config FILE is the configuration of cachectl"),
    (["-z", "--time-cond", "--etag-save", "--etag-compare"], "the cache revalidates by itself what it has stored"),
    (["-C", "--continue-at"], "the cache completes by itself a response that broke off"),
    (["-U", "--proxy-user"], "write it into the address: https_proxy=http://NAME:PASSWORD@HOST:PORT"),
    (["--noproxy"], "name the server in the variable no_proxy"),
    (
      ["--socks5", "--socks5-hostname", "--socks4", "--preproxy"],
      "name the proxy with -x, such as -x socks5h://HOST:PORT"
    ),
    (["--capath"], "name the directory in the variable SSL_CERT_DIR"),
    (["--resolve", "--connect-to"], "put the address into the URL, and the name into -H 'Host: NAME'"),
    (["--http1.0", "--http1.1", "--http2", "--http3"], "cachectl and the server choose the version of HTTP"),
    (["-Z", "--parallel", "-:", "--next"], "run one command for each URL, for example with xargs -P 10"),
    (["-J", "--remote-header-name", "--output-dir", "--create-dirs"], "name the file with -o FILE"),
    (
      ["--retry-delay", "--retry-max-time", "--retry-all-errors", "--retry-connrefused"],
      "--retry N waits as Retry-After says, or ever longer; -m SECONDS limits it"
    ),
    (["-#", "--progress-bar"], "progress is shown on a terminal if a fetch takes long"),
    (["--trace", "--trace-ascii"], "-v says what is done, and -i prints the header of the response"),
    (["--stderr"], "redirect it in the shell, with 2> FILE"),
  ]

  /// The advice in place of the option `name`; `nil` if it is not an option of curl that cachectl knows.
  static func hint(for name: String) -> String? { hints.first { $0.names.contains(name) }?.hint }
}
