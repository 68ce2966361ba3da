import CacheCore
import FetchVocabulary
import EngineConformance
import EngineAPI
import Synchronization

/// One piece of content from a generated origin.
struct GeneratedContent: Sendable {
  /// Its number, from 1.
  let serial: Int
  /// The request that it answered.
  let request: HTTPRequest
  /// Whether the last full statement about it answered a request with credentials.
  var isForCredentials: Bool
  let status: Int
  /// The value of `Vary`; empty for no field.
  let vary: String
  let tag: String?
  /// The last full statement about its use, and later ones in answers to HEAD, which may or may not count.
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

  func fields(_ head: GeneratedHead) -> HTTPFields {
    var fields = head.fields
    if let tag { fields.append("ETag", tag) }
    if !vary.isEmpty { fields.append("Vary", vary) }
    return fields
  }
}

/// An origin that answers at random, and remembers its answers.
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

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let now = Duration.milliseconds(clock.now.milliseconds)
    let response = state.withLock { Self.response(to: request, at: now, &$0) }
    guard let response else { throw CacheError(.originUnreachable, "the connection broke off") }
    return response
  }

  private static func response(to request: HTTPRequest, at now: Duration, _ state: inout State) -> HTTPResponse? {
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
      return HTTPResponse(HTTPResponseHead(status: 304, fields: state.contents[confirmed].fields(head)))
    }
    return content(head, for: request, &state)
  }

  private static func content(_ head: GeneratedHead, for request: HTTPRequest, _ state: inout State) -> HTTPResponse {
    let serial = state.contents.count + 1
    let content = GeneratedContent(
      serial: serial, request: request, isForCredentials: request.fields.contains("Authorization"),
      status: [200, 200, 200, 200, 200, 404, 302, 503].randomElement(using: &state.generator) ?? 200,
      vary: vary(request.url, &state.generator), tag: state.generator.happens(60) ? "\"tag-\(serial)\"" : nil,
      heads: [head])
    state.contents.append(content)
    state.events.append(content.status == 503 ? .failed : .gave(serial))
    return HTTPResponse(HTTPResponseHead(status: content.status, fields: content.fields(head)), body: content.body)
  }

  /// The head of the last content sent for the URL.
  private static func description(
    _ head: GeneratedHead, of request: HTTPRequest, _ state: inout State
  ) -> HTTPResponse {
    state.events.append(.described)
    for index in state.contents.indices where state.contents[index].request.url == request.url {
      state.contents[index].heads.append(head)
    }
    guard let last = state.contents.last(where: { $0.request.url == request.url && $0.vary != "*" }) else {
      return HTTPResponse(HTTPResponseHead(status: 200, fields: head.fields))
    }
    return HTTPResponse(HTTPResponseHead(status: last.status, fields: last.fields(head)))
  }

  private static func vary(_ url: String, _ generator: inout SeededGenerator) -> String {
    if generator.happens(5) { return "*" }
    return url.hasSuffix("plain") ? "" : url.hasSuffix("foo") ? "Foo" : "Foo, Bar"
  }
}
