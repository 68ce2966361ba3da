internal import CacheBase
package import HTTPCaching
package import CacheCore
internal import EngineAPI

/// Declares the keys of a section, or reads their values: the initializer of a `ConfigurationSection` does both with one
/// call for each key.
///
/// `help` says what the key is for, in one line without a final full stop.
public struct SectionReader {
  package let section: String
  /// The eviction policies, the default first.
  let policies: [EvictionPolicy]
  /// The keys declared so far; empty while values are read.
  private(set) var keys: [ConfigurationKey] = []
  package let settings: ConfigurationSettings?
  /// The position of the next key in the table of `settings`.
  private var position: Int

  /// A reader that declares keys, and returns their defaults.
  init(declaring section: String, policies: [EvictionPolicy]) {
    (self.section, self.policies, settings, position) = (section, policies, nil, 0)
  }

  /// A reader of the values of the section whose first key is at `position` in the table of `settings`.
  init(_ section: String, of settings: ConfigurationSettings, at position: Int) {
    (self.section, self.settings, self.position) = (section, settings, position)
    policies = settings.table.policies
  }

  /// The full path of the key called `name`.
  package func path(_ name: String) -> String { section.isEmpty ? name : section + "." + name }

  /// Declares the key called `name`, or returns its value; `nil` while keys are declared, and for a key without a value.
  ///
  /// - Parameter variable: the environment variable without the program's prefix; `nil` for one that follows from the
  ///   path.
  package mutating func key(
    _ name: String, _ kind: @autoclosure () -> ConfigurationKind,
    default value: @autoclosure () -> ConfigurationValue? = nil,
    rule: @autoclosure () -> ConfigurationRule? = nil, variable: String? = nil, help: @autoclosure () -> String
  ) -> ConfigurationValue? {
    if let settings {
      defer { position += 1 }
      let (path, keys) = (path(name), settings.table.keys)
      // A section that declares other keys than before still gets the right values, after a search.
      return position < keys.count && keys[position].path == path ? settings[position] : settings[path]?.value
    }
    keys.append(
      ConfigurationKey(
        path(name), kind(), default: value(), help: help(),
        // A key outside of all objects is found by its variable alone.
        variable: variable ?? (section.isEmpty ? ConfigurationKey.upperSnakeCase(name) : nil), rule: rule()))
    return nil
  }
}

/// The kinds of keys.
extension SectionReader {
  /// Declares a choice between the cases of a type.
  @inlinable
  public mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, default value: Choice, help: @autoclosure () -> String
  ) -> Choice where Choice.RawValue == String {
    // What depends on the type is compiled with it: looking its conformances up would cost each start of a program.
    choice(name, among: Choice.allCases.map(\.rawValue), default: value.rawValue, help: help())
      .flatMap { Choice(rawValue: $0) } ?? value
  }

  /// Declares a choice between `names`; `nil` while keys are declared.
  @usableFromInline
  mutating func choice(
    _ name: String, among names: @autoclosure () -> [String], default value: @autoclosure () -> String,
    help: @autoclosure () -> String
  ) -> String? {
    key(name, .option(.choice(names())), default: .text(value()), help: help())?.text
  }

  /// Declares a duration, by default of at most ten years of 365 days.
  public mutating func duration(
    _ name: String, default value: Duration, in range: ClosedRange<Duration> = .zero ... .seconds(315_360_000),
    help: @autoclosure () -> String
  ) -> Duration {
    let read = key(
      name, .option(.duration(range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds)),
      default: .integer(value.wholeMilliseconds), help: help())
    return read?.number.map { .milliseconds($0) } ?? value
  }

  /// Declares a whole number.
  public mutating func integer(
    _ name: String, default value: Int, in range: ClosedRange<Int64>,
    help: @autoclosure () -> String
  ) -> Int {
    let read = key(name, .option(.integer(range)), default: .integer(Int64(value)), help: help())
    return read?.number.map { Int($0) } ?? value
  }

  /// Declares a number of bytes.
  public mutating func size(
    _ name: String, default value: Int, in range: ClosedRange<Int64>,
    help: @autoclosure () -> String
  ) -> Int {
    let read = key(name, .option(.size(range)), default: .integer(Int64(value)), help: help())
    return read?.number.map { Int($0) } ?? value
  }

  /// Declares a flag.
  public mutating func boolean(
    _ name: String, default value: Bool, help: @autoclosure () -> String
  ) -> Bool {
    let read = key(name, .option(.boolean), default: .option(.boolean(value)), help: help())
    if case .option(.boolean(let flag))? = read { return flag }
    return value
  }

  /// Declares a text, `nil` if it is not set.
  public mutating func optionalText(
    _ name: String, help: @autoclosure () -> String
  ) -> String? {
    key(name, .option(.text), help: help())?.text
  }

  /// Declares a path, which becomes absolute; `nil` if it is not set.
  public mutating func optionalPath(
    _ name: String, help: @autoclosure () -> String
  ) -> String? {
    key(name, .option(.path), help: help())?.text
  }

  /// Declares a secret, for which the file names an environment variable; `nil` if it is not set.
  public mutating func secret(_ name: String, help: @autoclosure () -> String) -> Secret? {
    if case .secret(let secret)? = key(name, .secret, help: help()) { return secret }
    return nil
  }

  /// Declares a list of secrets; `nil` if it is not set.
  public mutating func secrets(_ name: String, help: @autoclosure () -> String) -> [Secret]? {
    if case .secrets(let secrets)? = key(name, .secrets, help: help()) { return secrets }
    return nil
  }

  /// Declares header fields; none by default.
  public mutating func headers(_ name: String, help: @autoclosure () -> String) -> [HeaderSetting] {
    if case .headers(let headers)? = key(name, .headers, default: .headers([]), help: help()) { return headers }
    return []
  }
}

/// The keys of the section `cache` that every program has.
extension SectionReader {
  /// Declares `timeToLive`, `staleIfError` and `staleWhileRevalidate`, with the defaults in `standard`.
  package mutating func freshness(default standard: FreshnessPolicy) -> FreshnessPolicy {
    FreshnessPolicy(
      timeToLive: duration(
        "timeToLive", default: standard.timeToLive, help: "how long an entry is fresh when its origin does not say"),
      staleIfError: duration(
        "staleIfError", default: standard.staleIfError,
        help: "how long a stale entry stands in for an origin that fails"),
      staleWhileRevalidate: duration(
        "staleWhileRevalidate", default: standard.staleWhileRevalidate,
        help: "how long a stale entry is served while the origin is asked again"))
  }

  /// Declares `maxEntries`.
  package mutating func maxEntries() -> Int {
    integer(
      "maxEntries", default: StoreLimits.standard.maxEntries, in: 1...1_000_000_000,
      help: "how many entries are kept at most")
  }

  /// Declares `maxBytes`.
  package mutating func maxBytes() -> Int {
    size(
      "maxBytes", default: StoreLimits.standard.maxBytes, in: 1_024...(1 << 50),
      help: "how many bytes of payload are kept at most")
  }

  /// Declares `eviction`.
  package mutating func eviction() -> EvictionPolicy {
    let policies = policies
    let policy = key(
      "eviction", .option(.choice(policies.map(\.name))), default: policies.first.map { .text($0.name) },
      help: "which entries go first when a limit is reached")
    return policies.first { $0.name == policy?.text } ?? policies.first ?? .lru
  }

  /// Declares `shared`.
  package mutating func isShared() -> Bool {
    boolean(
      "shared", default: false, help: "whether several users share the cache, as RFC 9111 means it")
  }
}
