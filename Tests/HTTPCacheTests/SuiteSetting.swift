import CacheData

/// How the cases are run: for which kind of cache, and what carries requests to the origin.
struct SuiteSetting: Sendable, CustomStringConvertible, CaseIterable {
  /// What carries requests to the origin, and its responses back.
  enum Carrier: String, Sendable, CaseIterable {
    /// A call in this process, which keeps lines apart.
    case call
    /// The same, but several lines of one field are joined by a comma, as URLSession delivers them.
    case joiningCall
    /// The transport of the tool, to a server on the loopback interface.
    case network
  }

  let isShared: Bool
  let carrier: Carrier

  static let allCases = [false, true].flatMap { isShared in
    Carrier.allCases.map { SuiteSetting(isShared: isShared, carrier: $0) }
  }

  var description: String { "\(isShared ? "shared" : "private") cache, \(carrier)" }

  var cases: [SuiteCase] { SuiteCase.all.filter { $0.applies(toShared: isShared) } }

  /// How many cases the suite has for this kind of cache.
  var expectedCount: Int { isShared ? 365 : 300 }

  /// How many of them the best cache among the published results passes: a browser, and a proxy.
  var bestPublished: Int { isShared ? 262 : 207 }

  /// `response` as it is delivered.
  func delivered(_ response: HTTPResponse) -> HTTPResponse {
    var delivered = response
    delivered.head.fields = self.delivered(response.head.fields)
    return delivered
  }

  /// `fields` as they are delivered.
  func delivered(_ fields: HTTPFields) -> HTTPFields {
    guard carrier == .joiningCall else { return fields }
    var joined = fields
    for name in Set(fields.lines.map { $0.name.lowercased() }) where fields.values(of: name).count > 1 {
      joined[name] = fields[name]
    }
    return joined
  }
}
