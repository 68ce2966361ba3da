import CacheCore
import EngineAPI
import EngineConformance
import FetchVocabulary
import Synchronization

/// One piece of content from a generated origin.
struct GeneratedContent: Sendable {
  /// Its number, from 1.
  let serial: Int
  /// The request that it belongs to.
  let request: HTTP.Request
  /// Whether the last full statement about it was a response to a request with credentials.
  var isForCredentials: Bool
  let status: Int
  /// The value of `Vary`; empty for no field.
  let vary: String
  let tag: String?
  /// The last full statement about its use, and later ones in responses to HEAD, which may or may not count.
  var heads: [GeneratedHead]

  var body: [UInt8] { Array("content \(serial) of \(request.url)".utf8) }

  /// The one of `contents` whose body is `body`.
  static func content(of body: [UInt8], among contents: [GeneratedContent]) -> GeneratedContent? {
    let words = String(decoding: body, as: UTF8.self).split(separator: " ")
    guard words.count == 4, let serial = Int(words[1]), contents.indices.contains(serial - 1),
      contents[serial - 1].body == body
    else { return nil }
    return contents[serial - 1]
  }

  func fields(_ head: GeneratedHead) -> HTTP.Fields {
    var fields = head.fields
    if let tag { fields.append("ETag", tag) }
    if !vary.isEmpty { fields.append("Vary", vary) }
    return fields
  }
}

/// An origin that responds at random, and records its responses.
final class GeneratedOrigin: DataTransferService {
  /// The result of one request to the origin.
  enum Event: Sendable, Equatable {
    case gave(Int)
    case confirmed(Int)
    case described
    case failed
  }

  private struct State {
    var generator: SeededGenerator
    var contents: [GeneratedContent] = []
    var events: [Event] = []
  }

  private let clock: ManualClock
  private let state: Mutex<State>

  init(seed: UInt64, clock: ManualClock) {
    self.clock = clock
    state = Mutex(State(generator: SeededGenerator(seed: seed)))
  }

  /// All the content it has sent, in order.
  var contents: [GeneratedContent] { state.withLock { $0.contents } }

  /// The results of the requests since the last call.
  func takeEvents() -> [Event] {
    state.withLock { state in
      defer { state.events = [] }
      return state.events
    }
  }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let now = Duration.milliseconds(clock.now.milliseconds)
    let response = state.withLock { Self.response(to: request, at: now, &$0) }
    guard let response else { throw CacheError(.originUnreachable, "the connection broke off") }
    return response
  }

  private static func response(to request: HTTP.Request, at now: Duration, _ state: inout State) -> HTTP.Response? {
    if state.generator.happens(10) {
      state.events.append(.failed)
      return nil
    }
    let head = GeneratedHead.random(at: now, &state.generator)
    if request.method == "HEAD" { return description(head, of: request, &state) }
    if let confirmed = state.contents.firstIndex(where: { $0.tag != nil && $0.tag == request.fields["If-None-Match"] }),
      state.generator.happens(60)
    {
      state.contents[confirmed].heads = [head]
      state.contents[confirmed].isForCredentials = request.fields.contains("Authorization")
      state.events.append(.confirmed(state.contents[confirmed].serial))
      return HTTP.Response(HTTP.ResponseHead(status: 304, fields: state.contents[confirmed].fields(head)))
    }
    return content(head, for: request, &state)
  }

  private static func content(_ head: GeneratedHead, for request: HTTP.Request, _ state: inout State) -> HTTP.Response {
    let serial = state.contents.count + 1
    let content = GeneratedContent(
      serial: serial, request: request, isForCredentials: request.fields.contains("Authorization"),
      status: [200, 200, 200, 200, 200, 404, 302, 503].randomElement(using: &state.generator) ?? 200,
      vary: vary(request.url, &state.generator), tag: state.generator.happens(60) ? "\"tag-\(serial)\"" : nil,
      heads: [head])
    state.contents.append(content)
    state.events.append(content.status == 503 ? .failed : .gave(serial))
    return HTTP.Response(HTTP.ResponseHead(status: content.status, fields: content.fields(head)), body: content.body)
  }

  /// The head of the last content sent for the URL.
  private static func description(_ head: GeneratedHead, of request: HTTP.Request, _ state: inout State)
    -> HTTP.Response
  {
    state.events.append(.described)
    for index in state.contents.indices where state.contents[index].request.url == request.url {
      state.contents[index].heads.append(head)
    }
    guard let last = state.contents.last(where: { $0.request.url == request.url && $0.vary != "*" }) else {
      return HTTP.Response(HTTP.ResponseHead(status: 200, fields: head.fields))
    }
    return HTTP.Response(HTTP.ResponseHead(status: last.status, fields: last.fields(head)))
  }

  private static func vary(_ url: String, _ generator: inout SeededGenerator) -> String {
    if generator.happens(5) { return "*" }
    return url.hasSuffix("plain") ? "" : url.hasSuffix("foo") ? "Foo" : "Foo, Bar"
  }
}

/// The directives of a generated origin for a response, and their times; with the arithmetic of RFC 9111, section 4.2,
/// implemented again to check the cache.
struct GeneratedHead: Sendable {
  /// The directives, with their arguments if they have any.
  let directives: [String: Int?]
  /// The `Age`, in seconds.
  let age: Int
  /// The `Date`.
  let madeAt: Duration
  let receivedAt: Duration

  /// Directives, the probability of each in percent, and the upper bound of its argument.
  private static let choices: [(name: String, percent: Int, bound: Int?)] = [
    ("max-age", 50, 30), ("s-maxage", 15, 30), ("no-store", 8, nil), ("no-cache", 8, nil), ("private", 12, nil),
    ("public", 20, nil), ("must-revalidate", 10, nil), ("proxy-revalidate", 8, nil),
    ("stale-while-revalidate", 12, 20), ("stale-if-error", 12, 20),
  ]

  static func random(at now: Duration, _ generator: inout SeededGenerator) -> GeneratedHead {
    var directives: [String: Int?] = [:]
    for choice in choices where generator.happens(choice.percent) {
      directives[choice.name] = .some(choice.bound.map { Int.random(in: 0...$0, using: &generator) })
    }
    let skew = generator.happens(80) ? 0 : Int.random(in: -20...20, using: &generator)
    return GeneratedHead(
      directives: directives, age: generator.happens(80) ? 0 : Int.random(in: 0...20, using: &generator),
      madeAt: now + .seconds(skew), receivedAt: now)
  }

  func has(_ directive: String) -> Bool { directives.keys.contains(directive) }

  func seconds(_ directive: String) -> Duration? { directives[directive].flatMap(\.self).map { .seconds($0) } }

  /// Sends every field each time. So a confirmation replaces everything said before.
  var fields: HTTP.Fields {
    let members = directives.sorted { $0.key < $1.key }.map { name, argument in argument.map { "\(name)=\($0)" } ?? name
    }
    return [
      "Cache-Control": members.isEmpty ? "unknown" : members.joined(separator: ", "), "Age": String(age),
      "Date": HTTPDate.text(madeAt),
    ]
  }

  /// The age, by a clock that is never set back.
  func age(at now: Duration) -> Duration {
    max(receivedAt - madeAt, .seconds(age), .zero) + max(now - receivedAt, .zero)
  }

  /// How long the response stays fresh.
  func remaining(at now: Duration, _ setting: HistorySetting) -> Duration {
    let explicit = setting.isShared ? seconds("s-maxage") ?? seconds("max-age") : seconds("max-age")
    // Without Last-Modified there is no heuristic lifetime.
    return (explicit ?? .zero) - age(at: now)
  }

  /// Whether the response may never be used stale.
  func forbidsStaleness(_ setting: HistorySetting) -> Bool {
    has("must-revalidate") || has("no-cache") || setting.isShared && (has("proxy-revalidate") || has("s-maxage"))
  }

  /// Whether a cache may not store the response at all.
  func forbidsStoring(_ setting: HistorySetting) -> Bool { has("no-store") || setting.isShared && has("private") }
}

extension SeededGenerator {
  /// Returns `true` with a probability of `percent` in a hundred.
  mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// A request of a history, and its demands on responses.
struct GeneratedRequest: Sendable {
  let message: HTTP.Request
  let maxAge: Duration?
  /// How stale a response may be; `nil` if it must not be stale.
  let maxStale: Duration?
  let minFresh: Duration
  let flags: Set<String>

  private static let methods = Array(repeating: "GET", count: 16) + ["HEAD", "HEAD", "POST", "DELETE"]

  static func random(_ generator: inout SeededGenerator) -> GeneratedRequest {
    func number() -> Int { Int.random(in: 0...30, using: &generator) }
    var directives: [String] = []
    var (maxAge, maxStale, minFresh, flags) = (Int?.none, Duration?.none, 0, Set<String>())
    switch Int.random(in: 0..<10, using: &generator) {
    case 0:
      let bound = number()
      (maxAge, directives) = (bound, ["max-age=\(bound)"])
    case 1:
      let bound = number()
      (maxStale, directives) = (.seconds(bound), ["max-stale=\(bound)"])
    case 2: (maxStale, directives) = (.seconds(Int64.max / 2), ["max-stale"])
    case 3:
      minFresh = number()
      directives = ["min-fresh=\(minFresh)"]
    case 4:
      flags = [["no-cache", "no-store", "only-if-cached"].randomElement(using: &generator) ?? "no-cache"]
      directives = Array(flags)
    default: break
    }
    let message = message(directives, &generator)
    return GeneratedRequest(
      message: message, maxAge: maxAge.map { .seconds($0) }, maxStale: maxStale, minFresh: .seconds(minFresh),
      flags: flags)
  }

  private static func message(_ directives: [String], _ generator: inout SeededGenerator) -> HTTP.Request {
    var fields: HTTP.Fields = [:]
    if !directives.isEmpty { fields.append("Cache-Control", directives.joined(separator: ", ")) }
    for name in ["Foo", "Bar"] where generator.happens(70) {
      fields.append(name, String(Int.random(in: 1...2, using: &generator)))
    }
    if generator.happens(15) { fields.append("Authorization", generator.happens(50) ? "Ann" : "Bob") }
    let path = ["plain", "foo", "foo-and-bar"].randomElement(using: &generator) ?? "plain"
    return HTTP.Request(
      method: methods.randomElement(using: &generator) ?? "GET", url: "http://origin.example/\(path)", fields: fields)
  }
}
