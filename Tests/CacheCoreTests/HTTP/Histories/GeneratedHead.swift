import CacheCore
import EngineAPI

/// What a generated origin says about a response, and when; with the arithmetic of RFC 9111, section 4.2, implemented
/// again to check the cache.
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

  /// Sends every field each time, so that a confirmation replaces everything said before.
  var fields: HTTPFields {
    let members = directives.sorted { $0.key < $1.key }.map { name, argument in
      argument.map { "\(name)=\($0)" } ?? name
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
  func forbidsStoring(_ setting: HistorySetting) -> Bool {
    has("no-store") || setting.isShared && has("private")
  }
}

extension SeededGenerator {
  /// Returns `true` with a probability of `percent` in a hundred.
  mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
