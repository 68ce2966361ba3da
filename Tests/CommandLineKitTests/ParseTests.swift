import CommandLineKit
import Testing

/// The meaning of a command line, as a text to compare.
private func meaning(_ line: String) throws -> String {
  switch try Tool.parseAsRoot(words(line)) {
  case .help(let request): return "help: \(request.commandPath.joined(separator: " "))"
  case .version(let version): return "version: \(version)"
  case .command(let command, let path):
    return ([path.dropFirst().joined(separator: " ")] + values(of: command)).joined(separator: "; ")
  }
}

/// The words of a line; `''` is an empty word.
func words(_ line: String) -> [String] { line.split(separator: " ").map { $0 == "''" ? "" : String($0) } }

private func values(of command: any ParsableCommand) -> [String] {
  switch command {
  case let it as FetchCities:
    let own = "\(it.order.rawValue) \(it.page) \(it.limit.map(String.init) ?? "-") \(it.all)"
    return [own] + values(of: it.globals)
  case let it as FetchURL: return ["\(it.url) \(it.headers) \(it.method) \(it.data ?? "-")"] + values(of: it.globals)
  case let it as List: return ["\(it.age ?? 0) \(it.files)"] + values(of: it.globals)
  case let it as Remove: return ["\(it.keys)"] + values(of: it.globals)
  case let it as ListBackends: return values(of: it.globals)
  case let it as ShowBackend: return [it.name] + values(of: it.globals)
  case let it as Shift: return ["\(it.from) \(it.chunk) \(it.isDry)"] + values(of: it.globals)
  default: return ["unexpected command"]
  }
}

/// The global options that differ from their defaults.
private func values(of globals: GlobalOptions) -> [String] {
  var result: [String] = []
  if let config = globals.config { result.append("config=\(config)") }
  if let backend = globals.backend { result.append("backend=\(backend)") }
  if let home = globals.home { result.append("home=\(home)") }
  if globals.output != .table { result.append("output=\(globals.output.rawValue)") }
  if globals.quiet { result.append("quiet") }
  if globals.verbose { result.append("verbose") }
  if globals.noColor { result.append("noColor") }
  return result
}

@Test(
  "a command line gives a command with its values",
  arguments: [
    ("fetch cities", "fetch cities; revenue 0 - false"),
    ("fetch cities --order name --limit 5", "fetch cities; name 0 5 false"),
    ("fetch cities --order=name --limit=5", "fetch cities; name 0 5 false"),
    ("fetch cities -o name -l 5", "fetch cities; name 0 5 false"),
    ("fetch cities -oname -l=5 -q", "fetch cities; name 0 5 false; quiet"),
    ("fetch cities -aqoname", "fetch cities; name 0 - true; quiet"),
    ("--backend lmdb fetch cities --order name", "fetch cities; name 0 - false; backend=lmdb"),
    ("--backend=lmdb -q fetch --order name cities", "fetch cities; name 0 - false; backend=lmdb; quiet"),
    ("--no-color fetch cities --no-color -q", "fetch cities; revenue 0 - false; quiet; noColor"),
    ("fetch cities --order name --order revenue", "fetch cities; revenue 0 - false"),
    ("--order name fetch cities --order organizations", "fetch cities; organizations 0 - false"),
    ("fetch cities --page -3", "fetch cities; revenue -3 - false"),
    ("fetch cities -ql3 --page 1", "fetch cities; revenue 1 3 false; quiet"),
    ("fetch url http://a --header A:1 --header B:2", "fetch url; http://a [\"A:1\", \"B:2\"] GET -"),
    ("fetch url --data - http://a --method -5", "fetch url; http://a [] -5 -"),
    ("fetch url -d@file http://a --method PUT", "fetch url; http://a [] PUT @file"),
    ("fetch url --data=--x -- --y", "fetch url; --y [] GET --x"),
    ("fetch url --data= ''", "fetch url;  [] GET "),
    ("fetch url --data a=b=c x", "fetch url; x [] GET a=b=c"),
    ("ls", "ls; 0.0 []"),
    ("ls - -1 -.5 --age -.5", "ls; -0.5 [\"-\", \"-1\", \"-.5\"]"),
    ("ls a --quiet b -- -c --", "ls; 0.0 [\"a\", \"b\", \"-c\", \"--\"]; quiet"),
    ("ls help", "ls; 0.0 [\"help\"]"),
    ("rm a b --home /h", "rm; [\"a\", \"b\"]; home=/h"),
    ("backends", "backends list"),
    ("backends list --output json", "backends list; output=json"),
    ("backends --output json", "backends list; output=json"),
    ("backends show lmdb", "backends show; lmdb"),
    ("shift --from plist --chunk 255 --dry-run", "shift; plist 255 true"),
    ("--version", "version: tool 1.2.3"),
    ("ls --version", "version: tool 1.2.3"),
    ("", "help: tool"),
    ("-h", "help: tool"),
    ("--help fetch cities", "help: tool fetch cities"),
    ("fetch --help", "help: tool fetch"),
    ("fetch cities --bogus --help", "help: tool fetch cities"),
    ("backends --help", "help: tool backends"),
    ("help", "help: tool"),
    ("help fetch cities", "help: tool fetch cities"),
    ("--quiet help fetch", "help: tool fetch"),
    ("ls -- --help", "ls; 0.0 [\"--help\"]"),
  ])
func parses(line: String, expected: String) throws {
  #expect(try meaning(line) == expected)
}

@Test("a command is a value: changing a copy leaves the original alone")
func commandsAreValues() throws {
  guard case .command(let parsed as List, _) = try Tool.parseAsRoot(["ls", "a"]) else {
    Issue.record("'ls' is not read as a command")
    return
  }
  var copy = parsed
  copy.files.append("b")
  #expect(parsed.files == ["a"] && copy.files == ["a", "b"])
}

@Test("running to the end runs synchronous and asynchronous commands", arguments: ["ls", "fetch cities"])
func runsToEnd(line: String) async throws {
  guard case .command(var command, _) = try Tool.parseAsRoot(words(line)) else {
    Issue.record("'\(line)' is not read as a command")
    return
  }
  try await command.runToEnd()
  #expect((command as? List)?.age == 7 || (command as? FetchCities)?.limit == 42)
}

@Test("a command that only has subcommands refuses to run")
func groupsRefuseToRun() async {
  var group = Fetch()
  await #expect(throws: ValidationError.self) { try await group.runToEnd() }
}
