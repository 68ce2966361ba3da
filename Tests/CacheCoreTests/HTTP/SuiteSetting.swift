import CacheCore

/// How to run the cases: for which kind of cache, and over which connection to the origin.
struct SuiteSetting: Sendable, CustomStringConvertible, CaseIterable {
  /// The connection to the origin.
  enum Carrier: String, Sendable, CaseIterable {
    /// A call in this process, which keeps lines apart.
    case call
    /// The same, but joins several lines of one field by commas, as URLSession does.
    case joiningCall
    /// The tool's transport, to a server on the loopback interface.
    case network
  }

  let isShared: Bool
  let carrier: Carrier

  static let allCases = [false, true].flatMap { isShared in
    Carrier.allCases.map { SuiteSetting(isShared: isShared, carrier: $0) }
  }

  var description: String { "\(isShared ? "shared" : "private") cache, \(carrier)" }

  var cases: [SuiteCase] { SuiteCase.all.filter { $0.applies(toShared: isShared) } }

  /// The number of cases in the suite for this kind of cache.
  var expectedCount: Int { isShared ? 365 : 300 }

  /// How many of them the best cache in the published results passes: a browser, or a proxy.
  var bestPublished: Int { isShared ? 262 : 207 }

  /// `response` as this connection delivers it.
  func delivered(_ response: HTTPResponse) -> HTTPResponse {
    var delivered = response
    delivered.head.fields = self.delivered(response.head.fields)
    return delivered
  }

  /// `fields` as this connection delivers them.
  func delivered(_ fields: HTTPFields) -> HTTPFields {
    guard carrier == .joiningCall else { return fields }
    var joined = fields
    for name in Set(fields.lines.map { $0.name.lowercased() }) where fields.values(of: name).count > 1 {
      joined[name] = fields[name]
    }
    return joined
  }
}
