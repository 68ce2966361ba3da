import Synchronization
import TestOrigin

/// A server of pages of two cities each, whose number may change.
final class CityPages: Sendable {
  let server: TestServer
  private let content: Content

  /// The pages of the server. The server responds with HTTP status 500 to requests for broken pages.
  private final class Content: Sendable {
    struct State {
      var count: Int
      var broken: Set<Int> = []
      var held: Set<Int> = []
    }

    let state: Mutex<State>
    let directives: String
    let gate: TestGate

    init(count: Int, directives: String, gate: TestGate) {
      state = Mutex(State(count: count))
      self.directives = directives
      self.gate = gate
    }

    func answer(_ request: TestRequest) -> TestResponse {
      let page = Int(request.query["page"] ?? "") ?? 0
      let state = state.withLock { $0 }
      guard !state.broken.contains(page) else { return .html(500) }
      let fields: TestFields = [
        "Cache-Control": directives, "ETag": "\"\(page)-\(state.count)\"",
      ]
      let response = TestResponse.json(CityPages.document(page, of: state.count), fields: fields).validated(
        for: request)
      return state.held.contains(page) ? response.held(by: gate) : response
    }
  }

  init(_ count: Int, caching directives: String = "max-age=600, stale-if-error=600") throws {
    let content = Content(count: count, directives: directives, gate: try TestGate())
    self.content = content
    server = try TestServer { content.answer($0) }
  }

  /// The numbers of the requested pages, sorted.
  var requested: [Int] { server.requests.compactMap { Int($0.query["page"] ?? "") }.sorted() }

  func setCount(_ count: Int) { content.state.withLock { $0.count = count } }

  func setBroken(_ pages: some Sequence<Int>) { content.state.withLock { $0.broken = Set(pages) } }

  /// Holds the responses to these pages back until `release` is called.
  func hold(_ pages: some Sequence<Int>) { content.state.withLock { $0.held = Set(pages) } }

  func release() { content.gate.open() }

  /// The identifiers of the cities on the first `count` pages.
  static func identifiers(_ count: Int) -> [String] { (0..<count).flatMap { ["\($0)a", "\($0)b"] } }

  private static func document(_ page: Int, of count: Int) -> String {
    let items = page < count ? ["\(page)a", "\(page)b"].map { #"{"id": "\#($0)", "name": "CITY \#($0)"}"# } : []
    return """
      {"page": \(page), "totalPages": \(count), "totalItems": \(2 * count), "items": [\(items.joined(separator: ", "))]}
      """
  }
}
