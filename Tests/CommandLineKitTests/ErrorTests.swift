import CommandLineKit
import Testing

/// The mistake in a command line.
private func mistake(_ line: String) throws -> CommandLineError {
  try #require(throws: CommandLineError.self) { try Tool.parseAsRoot(words(line)) }
}

@Test(
  "a mistake is named in one line with what to do about it",
  arguments: [
    ("fetch cities --ordr name", "unknown option '--ordr': did you mean '--order'? See 'tool help fetch cities'"),
    ("fetch cities --zzz", "unknown option '--zzz': see 'tool help fetch cities'"),
    ("--bakend lmdb ls", "unknown option '--bakend': did you mean '--backend'? See 'tool help'"),
    ("-z ls", "unknown option '-z': see 'tool help'"),
    ("ls -qz", "unknown option '-z' in '-qz': see 'tool help ls'"),
    ("ls -home /x", "unknown option '-h' in '-home': did you mean '--home'? See 'tool help ls'"),
    ("ls --out=json", "unknown option '--out': did you mean '--output'? See 'tool help ls'"),
    ("ls --quiet=yes", "unexpected value 'yes' for '--quiet': it takes none. See 'tool help ls'"),
    ("fetch citis", "unknown command 'fetch citis': did you mean 'cities'? See 'tool help fetch'"),
    ("ftech cities", "unknown command 'ftech': did you mean 'fetch'? See 'tool help'"),
    ("hepl", "unknown command 'hepl': did you mean 'help'? See 'tool help'"),
    ("help fetch citis", "unknown command 'fetch citis': did you mean 'cities'? See 'tool help fetch'"),
    ("fetch xyzzy", "unknown command 'fetch xyzzy': one of cities, url. See 'tool help fetch'"),
    ("''", "unknown command '': one of shift, fetch, ls, rm, backends. See 'tool help'"),
    ("fetch", "missing command after 'fetch': one of cities, url. See 'tool help fetch'"),
    ("-q", "missing command: one of shift, fetch, ls, rm, backends. See 'tool help'"),
    ("-- fetch", "missing command: one of shift, fetch, ls, rm, backends. See 'tool help'"),
    ("backends shwo", "unknown command 'backends shwo': did you mean 'show'? See 'tool help backends'"),
    (
      "fetch cities --order revenu",
      "invalid value 'revenu' for '--order': did you mean 'revenue'? "
        + "See 'tool help fetch cities'"
    ),
    (
      "fetch cities --page x",
      "invalid value 'x' for '--page': expected a whole number. See 'tool help fetch cities'"
    ),
    (
      "shift --from a --chunk 256",
      "invalid value '256' for '--chunk': expected a whole number from 0 to 255. See 'tool help shift'"
    ),
    ("ls --age soon", "invalid value 'soon' for '--age': expected a number. See 'tool help ls'"),
    (
      "fetch cities --order",
      "missing value after '--order': expected one of revenue, organizations, name. See 'tool help fetch cities'"
    ),
    (
      "fetch cities --config --quiet",
      "missing value after '--config': '--config CONFIG' is expected. See 'tool help fetch cities'"
    ),
    ("--config --quiet ls", "missing value after '--config': '--config CONFIG' is expected. See 'tool help ls'"),
    ("fetch cities -ql", "missing value after '--limit': expected a whole number. See 'tool help fetch cities'"),
    ("fetch cities Oslo", "unexpected argument 'Oslo': see 'tool help fetch cities'"),
    ("backends show a b", "unexpected argument 'b': see 'tool help backends show'"),
    ("rm", "missing argument 'KEYS...': it is required (The keys). See 'tool help rm'"),
    ("fetch url", "missing argument 'URL': it is required (The address). See 'tool help fetch url'"),
    ("shift", "missing option '--from BACKEND': it is required (The engine to read). See 'tool help shift'"),
    ("fetch cities --all --limit 3", "'--all' and '--limit' exclude each other: see 'tool help fetch cities'"),
    ("-q ls -v", "'--quiet' and '--verbose' exclude each other: see 'tool help ls'"),
    ("ls --\u{1B}[31m", "unknown option '--\\u{1B}[31m': see 'tool help ls'"),
  ])
func namesTheMistake(line: String, expected: String) throws {
  let error = try mistake(line)
  #expect(error.description == expected)
  #expect(error.exitCode == ExitCode(64))
}

@Test("a mistake has its message and its hint apart")
func messageAndHint() throws {
  let error = try mistake("fetch cities --ordr name")
  #expect(error.message == "unknown option '--ordr'")
  #expect(error.hint == "did you mean '--order'? See 'tool help fetch cities'")
}

/// A command with a property that is not declared.
private struct Undeclared: ParsableCommand {
  @Flag var quiet = false
  var count = 1
}

@Test("a property without a declaration is reported as a defect of the program")
func reportsUndeclaredProperty() throws {
  let error = try #require(throws: CommandLineError.self) { try Undeclared.parseAsRoot([]) }
  #expect(error.exitCode == ExitCode(70))
}
