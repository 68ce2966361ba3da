import CacheData

/// How the cases are run: for which kind of cache, and how fields that occur several times are delivered.
struct SuiteSetting: Sendable, CustomStringConvertible, CaseIterable {
  let isShared: Bool
  /// Whether several lines of one field are joined by a comma, as a URLSession under the cache delivers them.
  let joinsLines: Bool

  static let allCases = [false, true].flatMap { isShared in
    [false, true].map { SuiteSetting(isShared: isShared, joinsLines: $0) }
  }

  var description: String { "\(isShared ? "shared" : "private") cache, \(joinsLines ? "joined" : "separate") lines" }

  var cases: [SuiteCase] { SuiteCase.all.filter { $0.applies(toShared: isShared) } }

  /// How many cases the suite has for this kind of cache.
  var expectedCount: Int { isShared ? 365 : 300 }

  /// How many of them the best cache among the published results passes: a browser, and a proxy.
  var bestPublished: Int { isShared ? 262 : 207 }

  /// `fields` as they are delivered.
  func delivered(_ fields: HTTPFields) -> HTTPFields {
    guard joinsLines else { return fields }
    var joined = fields
    for name in Set(fields.lines.map { $0.name.lowercased() }) where fields.values(of: name).count > 1 {
      joined[name] = fields[name]
    }
    return joined
  }
}
