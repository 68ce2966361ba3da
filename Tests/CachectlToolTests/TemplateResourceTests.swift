import CacheCore
import CachePresentation
import FetchVocabulary
import ResponseCache
import Testing
@testable import CacheConfiguration
@testable import CachectlTool
@testable import CommandLineKit

struct URLTemplateTests {
  @Test(
    arguments: [
      ("https://a.example/v1?x={x}&y={y}", ["x", "y"], ["1", "2"], "https://a.example/", "/v1?x=1&y=2"),
      ("http://a.example:8080/{one}/{two}.json", ["one", "two"], ["b", "c"], "http://a.example:8080/", "/b/c.json"),
      ("HTTPS://A.example?q={user_id}", ["user_id"], ["7"], "https://a.example/", "/?q=7"),
      ("https://a.example", [], [], "https://a.example/", "/"),
      ("https://a.example/a b/%20/{c}", ["c"], ["c"], "https://a.example/", "/a%20b/%20/c"),
      ("https://a.example/{a-1}", ["a-1"], ["ü/?#&=%20 {"], "https://a.example/", "/%C3%BC%2F%3F%23%26%3D%2520%20%7B"),
      ("https://a.example/?q={q}", ["q"], [".."], "https://a.example/", "/?q=.."),
      ("https://a.example/{a}{b}", ["a", "b"], ["..", "x"], "https://a.example/", "/..x"),
    ] as [(String, [String], [String], String, String)])
  func valuesReplacePlaceholders(
    template: String, names: [String], values: [String], server: String, target: String
  ) throws {
    let url = try URLTemplate(template)
    #expect(url.names == names && url.server == server)
    #expect(try url.target(values) == target)
  }

  @Test(arguments: [
    ("https://a.example/{a}/x", "."), ("https://a.example/{a}/x", ".."), ("https://a.example/x/.{a}", "."),
  ])
  func aValueDoesNotLeaveItsFolder(template: String, value: String) throws {
    let url = try URLTemplate(template)
    let error = #expect(throws: CacheError.self) { try url.target([value]) }
    #expect(error?.code == .invalidRequest)
  }

  @Test(arguments: [
    ("", "must begin with https:// or http:// and a server"),
    ("/v1/{a}", "must begin with"), ("ftp://a.example/{a}", "must begin with"),
    ("https:///{a}", "must begin with"), ("https://{a}.example/", "must begin with"),
    ("https://user:word@a.example/{a}", "must begin with"), ("{a}", "must begin with"),
    ("https://a.{a}.example/", "without user and placeholders"),
    ("https://a.example:{port}/", "without user and placeholders"),
    ("https://a.example/{a", "has a brace without its counterpart"),
    ("https://a.example/a}", "has a brace without its counterpart"),
    ("https://a.example/{a}}", "has a brace without its counterpart"),
    ("https://a.example/{{a}", "has the placeholder {{a}"), ("https://a.example/{}", "has the placeholder {}"),
    ("https://a.example/{?a}", "has the placeholder {?a}"), ("https://a.example/{1a}", "has the placeholder {1a}"),
    ("https://a.example/{a}/{b}/{a}", "has the placeholder {a} twice"),
    ("https://a.example/{origin}", "has the placeholder {origin}: the key"),
    ("https://a.example/{a}#{b}", "has a fragment"), ("https://a.example/../{a}", "must not be '.' or '..'"),
  ])
  func aMistakeIsNamed(template: String, message: String) {
    let error = #expect(throws: CacheError.self) { try URLTemplate(template) }
    #expect(error?.message.hasPrefix("its URL '\(template)' ") == true)
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
  }
}

/// Resources of one type each, through the command line, the configuration, the cache and the view.
struct TemplateResourceTests {
  struct Rate: TemplateResource, Codable {
    static let name = "rate"
    static let abstract = "Fetch an exchange rate"
    static let url = "https://api.example.com/v1/latest?base={base}&symbols={targetSymbol}"
    static let codec = PayloadCodec<Rate>.codable

    let base: String
    let rates: [String: Double]
    let days: [Int]?

    var fields: [Field] {
      [Field("base", .string(base), "Base")] + rates.map { Field($0.key, .double($0.value), $0.key) }
    }
  }

  struct Releases: TemplateResource, PresentablePage, Codable {
    struct Release: Codable { let tag: String }

    static let name = "releases"
    static let abstract = "Fetch releases"
    static let url = "https://api.example.com/{repository}/releases"
    static let codec = PayloadCodec<Releases>.codable
    static let nouns = (singular: "release", plural: "releases")

    let items: [Release]
    var columns: [Column<Release>] { [Column("tag", .init("Tag")) { .string($0.tag) }] }

    init(from decoder: any Decoder) throws { items = try [Release](from: decoder) }
    func encode(to encoder: any Encoder) throws { try items.encode(to: encoder) }
  }

  struct Unnamed: TemplateResource, Codable {
    static let name = "Two Words"
    static let abstract = ""
    static let url = "https://api.example.com/"
    static let codec = PayloadCodec<Unnamed>.codable
    var fields: [Field] { [] }
  }

  struct Leases: TemplateResource, Codable {
    static let name = "leases"
    static let abstract = ""
    static let url = "https://api.example.com/"
    static let codec = PayloadCodec<Leases>.codable
    var fields: [Field] { [] }
  }

  struct Unbalanced: TemplateResource, Codable {
    static let name = "unbalanced"
    static let abstract = ""
    static let url = "https://api.example.com/{a"
    static let codec = PayloadCodec<Unbalanced>.codable
    var fields: [Field] { [] }
  }

  struct Root: ParsableCommand {
    static var configuration: CommandConfiguration {
      let resources = [ToolResource(Rate.self), ToolResource(Releases.self)]
      return CommandConfiguration(commandName: "cachectl", subcommands: resources.map { $0.fetch() })
    }
  }

  private static let sections = Fixtures.sections + ToolResource(Rate.self).sections
  private static let body = #"{"amount": 1.0, "base": "CHF", "rates": {"EUR": 1.0625}}"#

  /// The snapshots of a fetch with these words of a command line.
  private func fetch<Resource>(
    _ words: String..., as resource: Resource.Type = Rate.self, in container: AppDIContainer,
    _ options: FetchOptions = FetchOptions()
  ) async throws -> [Snapshot<Resource>] where Resource: TemplateResource {
    guard case .command(let command, _) = try Root.parseAsRoot([Resource.name] + words) else { return [] }
    let arguments = try #require(command as? FetchResourceCommand<TemplateOptions<Resource>>).resource
    let store = try await container.openStore()
    defer { withExtendedLifetime(store) {} }
    var snapshots: [Snapshot<Resource>] = []
    do {
      for try await snapshot in try arguments.snapshots(container.context(store), options) {
        snapshots.append(snapshot)
      }
    } catch {
      try await store.close()
      throw error
    }
    try await store.close()
    return snapshots
  }

  private func text(_ view: SnapshotView, _ format: OutputFormat) -> String {
    OutputRenderer(format, on: .file).text(view)
  }

  @Test func aResponseIsStoredUnderItsArguments() async throws {
    let (home, server) = (try TestHome(), FakeServer(body: Self.body))
    let container = try home.container(#"{"backend": "sqlite"}"#, sections: Self.sections, server: server)
    for source in [Snapshot<Rate>.Source.origin, .cache] {
      let snapshot = try #require(try await fetch("CHF", "EUR", in: container).first)
      #expect(snapshot.source == source && snapshot.warnings.isEmpty)
      #expect(snapshot.entry.key == "rate/v1/base=CHF/origin=http%40api.example.com/targetSymbol=EUR")
      #expect(snapshot.value.rates == ["EUR": 1.0625])
      let view = TemplateOptions<Rate>().view(of: snapshot, backend: "sqlite")
      #expect(text(view, .table) == "Base  CHF\nEUR   1.0625\n")
      #expect(text(view, .json).hasPrefix(#"{"resource":"rate","source":"\#(source)","#))
      #expect(text(view, .json).hasSuffix(#""base":"CHF","EUR":1.0625}\#n"#))
    }
    #expect(server.requests.map(\.url) == ["https://api.example.com/v1/latest?base=CHF&symbols=EUR"])
    #expect(server.requests.map { $0.fields["Accept"] } == ["application/json"])
    #expect(try await fetch("A&B", "é", in: container).map(\.source) == [.origin])
    #expect(server.requests.last?.url == "https://api.example.com/v1/latest?base=A%26B&symbols=%C3%A9")
  }

  @Test func theServerAndItsSecretAreSettings() async throws {
    let (home, server) = (try TestHome(), FakeServer(body: Self.body))
    let text = """
      {"backend": "memory", "origin": {"rate": {
        "baseURL": "http://127.0.0.1:8000/mock", "timeout": "7s", "headers": {"X-Key": {"env": "KEY"}}}}}
      """
    let container = try home.container(text, ["KEY": "s3cret"], sections: Self.sections, server: server)
    let snapshots = try await fetch("CHF", "EUR", in: container)
    #expect(
      snapshots.map(\.entry.key) == ["rate/v1/base=CHF/origin=http%40127.0.0.1%3A8000%2Fmock/targetSymbol=EUR"])
    #expect(server.requests.map(\.url) == ["http://127.0.0.1:8000/mock/v1/latest?base=CHF&symbols=EUR"])
    #expect(server.requests.map { $0.fields["X-Key"] } == ["s3cret"])
    #expect(server.transports.map(\.timeout) == [.seconds(7)])
  }

  @Test(arguments: [
    ("", "an empty response"), ("<html>", "a page of HTML instead of JSON"), ("{", "it is not valid JSON"),
    ("[]", "the document is not of type Dictionary"), ("{}", "'base' is missing"),
    (#"{"base": null}"#, "'base' is null"), (#"{"base": 1}"#, "'base' is not of type String"),
    (#"{"base": "CHF", "rates": {"EUR": "much"}}"#, "'rates.EUR' is not of type Double"),
    (#"{"base": "CHF", "rates": {}, "days": [1, "x"]}"#, "'days[1]' is not of type Int"),
  ])
  func aResponseOfAnotherShapeIsAnError(body: String, message: String) async throws {
    let (home, server) = (try TestHome(), FakeServer(body: body))
    let container = try home.container(#"{"backend": "memory"}"#, sections: Self.sections, server: server)
    let error = await #expect(throws: CacheError.self) { try await fetch("CHF", "EUR", in: container) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message.hasPrefix("http@api.example.com sent ") == true)
    #expect(
      error?.message.hasSuffix(message) == true || error?.message.contains("\(message)<") == true,
      "\(String(describing: error))")
  }

  @Test(arguments: [(404, CacheError.Code.notFound, "has no rate CHF EUR (404)"), (503, .originUnreachable, "(503)")])
  func aFailureNamesTheArguments(status: Int, code: CacheError.Code, message: String) async throws {
    let (home, server) = (try TestHome(), FakeServer(status: status, body: "{}"))
    let container = try home.container(#"{"backend": "memory"}"#, sections: Self.sections, server: server)
    let error = await #expect(throws: CacheError.self) { try await fetch("CHF", "EUR", in: container) }
    #expect(error?.code == code && error?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test func aListIsATable() async throws {
    let (home, server) = (try TestHome(), FakeServer(body: #"[{"tag": "1.1"}, {"tag": "1.0"}]"#))
    let container = try home.container(
      #"{"backend": "memory"}"#, sections: Fixtures.sections + ToolResource(Releases.self).sections, server: server)
    let snapshot = try #require(try await fetch("a/b", as: Releases.self, in: container).first)
    #expect(server.requests.map(\.url) == ["https://api.example.com/a%2Fb/releases"])
    let view = TemplateOptions<Releases>().view(of: snapshot, backend: "memory")
    #expect(text(view, .table) == "Tag\n1.1\n1.0\n")
    #expect(text(view, .csv) == "tag\r\n1.1\r\n1.0\r\n")
    #expect(
      text(view, .json).hasSuffix(#""page":1,"totalPages":1,"totalItems":2,"items":[{"tag":"1.1"},{"tag":"1.0"}]}\#n"#))
    #expect(view.status?.text.hasPrefix("Page 1 of 1 · 2 releases · from the origin") == true)
  }

  @Test(arguments: [
    (["rate", "CHF"], "TARGET-SYMBOL"), (["rate"], "BASE"), (["rate", "CHF", "EUR", "USD"], "'USD'"),
    (["rate", "", "EUR"], "{base} must not be empty"), (["releases", "a", "b"], "'b'"),
  ])
  func aWrongNumberOfArgumentsIsAMistake(words: [String], message: String) {
    let error = #expect(throws: CommandLineError.self) { try Root.parseAsRoot(words) }
    #expect(error?.exitCode == .validationFailure)
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test func theHelpHasTheArgumentsAndTheServer() throws {
    guard case .help(let request) = try Root.parseAsRoot(["help", "rate"]) else { throw CancellationError() }
    let text = request.text(columns: 200)
    for part in [
      "Fetch an exchange rate", "Usage: cachectl rate BASE TARGET-SYMBOL [options]", "The value of {base} in the URL",
      Rate.url, "`origin.rate.baseURL`",
    ] { #expect(text.contains(part), "\(text)") }
    #expect(Root.declarationDefects == [])
  }

  @Test func theKeysOfTheConfiguration() throws {
    let loader = ConfigurationLoader(
      engines: Fixtures.engines, sections: Self.sections, environment: ["CACHECTL_ORIGIN_RATE_BASE_URL": "http://h/"],
      workingDirectory: "/project", userHome: "/home/ada", readFile: { _ in nil })
    try loader.checkDeclarations()
    let keys = loader.declared.settings.filter { $0.section == "origin.rate" }
    #expect(keys.map(\.name) == ["baseURL", "timeout", "maxResponseBytes", "maxConcurrentRequests", "headers"])
    #expect(keys.first?.value?.text == "https://api.example.com/")
    #expect(try loader.load().section(TemplateSettings<Rate>.self).baseURL == "http://h/")
  }

  @Test func aMistakeInTheDeclarationIsFoundWhenTheResourceIsMade() {
    #expect(ToolResource(Rate.self).defect == nil && ToolResource(Releases.self).defect == nil)
    for (resource, message) in [
      (ToolResource(Unnamed.self), "the resource 'Two Words' cannot be used: a resource cannot be called 'Two Words'"),
      (ToolResource(Leases.self), "the resource 'leases' cannot be used: the cache itself uses that name"),
      (
        ToolResource(Unbalanced.self),
        "the resource 'unbalanced' cannot be used: its URL 'https://api.example.com/{a' has a brace without its counterpart"
      ),
    ] {
      #expect(resource.defect?.code == .defect && resource.defect?.message == message)
    }
  }
}
