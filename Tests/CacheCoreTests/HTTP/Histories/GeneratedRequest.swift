import CacheCore
import EngineAPI

/// A request of a history, and its demands on responses.
struct GeneratedRequest: Sendable {
  let message: HTTPRequest
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

  private static func message(_ directives: [String], _ generator: inout SeededGenerator) -> HTTPRequest {
    var fields: HTTPFields = [:]
    if !directives.isEmpty { fields.append("Cache-Control", directives.joined(separator: ", ")) }
    for name in ["Foo", "Bar"] where generator.happens(70) {
      fields.append(name, String(Int.random(in: 1...2, using: &generator)))
    }
    if generator.happens(15) { fields.append("Authorization", generator.happens(50) ? "Ann" : "Bob") }
    let path = ["plain", "foo", "foo-and-bar"].randomElement(using: &generator) ?? "plain"
    return HTTPRequest(
      method: methods.randomElement(using: &generator) ?? "GET", url: "http://origin.example/\(path)", fields: fields)
  }
}
