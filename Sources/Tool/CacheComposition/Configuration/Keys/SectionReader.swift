internal import Base
internal import StorageSPI

/// Declares the keys of a section, or reads their values: the initializer of a `ConfigurationSection` does both with one
/// call for each key.
///
/// A file found in the working folder may set a key only to what its `safety` allows, until the user trusts the file.
/// `help` says what the key is for, in one line without a final full stop.
public struct SectionReader {
  private let section: String
  /// The names of the built-in engines, the default first.
  let engines: [String]
  /// The keys declared so far; empty while values are read.
  private(set) var keys: [ConfigurationKey] = []
  let settings: ConfigurationSettings?
  /// The position of the next key in the table of `settings`.
  private var position: Int

  /// A reader that declares keys, and returns their defaults.
  init(declaring section: String, engines: [String]) {
    (self.section, self.engines, settings, position) = (section, engines, nil, 0)
  }

  /// A reader of the values of the section whose first key is at `position` in the table of `settings`.
  init(_ section: String, of settings: ConfigurationSettings, at position: Int) {
    (self.section, self.settings, self.position) = (section, settings, position)
    engines = []
  }

  /// The full path of the key called `name`.
  func path(_ name: String) -> String { section.isEmpty ? name : section + "." + name }

  /// Declares the key called `name`, or returns its value; `nil` while keys are declared, and for a key without a value.
  mutating func key(
    _ name: String, _ kind: @autoclosure () -> ConfigurationKind,
    default value: @autoclosure () -> ConfigurationValue? = nil, safety: ConfigurationSafety = .nothing,
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
        path(name), kind(), default: value(), safety: safety, help: help(), variable: variable, rule: rule()))
    return nil
  }
}

/// The kinds of keys.
extension SectionReader {
  /// Declares a choice between the cases of a type.
  public mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, default value: Choice, safety: ConfigurationSafety = .nothing, help: @autoclosure () -> String
  ) -> Choice where Choice.RawValue == String {
    choice(name, default: value, safety: safety, rule: nil, help: help())
  }

  mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, default value: Choice, safety: ConfigurationSafety, rule: ConfigurationRule?,
    variable: String? = nil, help: @autoclosure () -> String
  ) -> Choice where Choice.RawValue == String {
    let read = key(
      name, .option(.choice(Choice.allCases.map(\.rawValue))), default: .text(value.rawValue), safety: safety,
      rule: rule, variable: variable, help: help())
    return read?.text.flatMap { Choice(rawValue: $0) } ?? value
  }

  /// Declares a duration, by default of at most ten years of 365 days.
  public mutating func duration(
    _ name: String, default value: Duration, in range: ClosedRange<Duration> = .zero ... .seconds(315_360_000),
    safety: ConfigurationSafety = .upToDefault, help: @autoclosure () -> String
  ) -> Duration {
    let read = key(
      name, .option(.duration(range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds)),
      default: .integer(value.wholeMilliseconds), safety: safety, help: help())
    return read?.number.map { .milliseconds($0) } ?? value
  }

  /// Declares a whole number.
  public mutating func integer(
    _ name: String, default value: Int, in range: ClosedRange<Int64>, safety: ConfigurationSafety = .nothing,
    help: @autoclosure () -> String
  ) -> Int {
    let read = key(name, .option(.integer(range)), default: .integer(Int64(value)), safety: safety, help: help())
    return read?.number.map { Int($0) } ?? value
  }

  /// Declares a number of bytes.
  public mutating func size(
    _ name: String, default value: Int, in range: ClosedRange<Int64>, safety: ConfigurationSafety = .nothing,
    help: @autoclosure () -> String
  ) -> Int {
    let read = key(name, .option(.size(range)), default: .integer(Int64(value)), safety: safety, help: help())
    return read?.number.map { Int($0) } ?? value
  }

  /// Declares a flag.
  public mutating func boolean(
    _ name: String, default value: Bool, safety: ConfigurationSafety = .nothing, help: @autoclosure () -> String
  ) -> Bool {
    let read = key(name, .option(.boolean), default: .option(.boolean(value)), safety: safety, help: help())
    if case .option(.boolean(let flag))? = read { return flag }
    return value
  }

  /// Declares a text, `nil` if it is not set.
  public mutating func optionalText(
    _ name: String, safety: ConfigurationSafety = .nothing, help: @autoclosure () -> String
  ) -> String? {
    key(name, .option(.text), safety: safety, help: help())?.text
  }

  /// Declares a path, which becomes absolute; `nil` if it is not set.
  public mutating func optionalPath(
    _ name: String, safety: ConfigurationSafety = .nothing, help: @autoclosure () -> String
  ) -> String? {
    key(name, .option(.path), safety: safety, help: help())?.text
  }

  /// Declares a secret, for which the file names an environment variable; `nil` if it is not set.
  public mutating func secret(_ name: String, help: @autoclosure () -> String) -> Secret? {
    if case .secret(let secret)? = key(name, .secret, help: help()) { return secret }
    return nil
  }

  /// Declares header fields; none by default.
  public mutating func headers(_ name: String, help: @autoclosure () -> String) -> [HeaderSetting] {
    if case .headers(let headers)? = key(name, .headers, default: .headers([]), help: help()) { return headers }
    return []
  }
}

/// The keys that the sections of origins have in common.
extension SectionReader {
  /// Declares `kind`, which implementation of the origin is used: `value` where the key `environment` is "dev", and
  /// `outsideDevelopment` elsewhere.
  public mutating func kind<Kind: RawRepresentable & CaseIterable>(
    default value: Kind, outsideDevelopment: Kind, help: @autoclosure () -> String
  ) -> Kind where Kind.RawValue == String {
    choice(
      "kind", default: value, safety: .nothing, rule: .outsideDevelopment(outsideDevelopment.rawValue), help: help())
  }

  /// Declares the address of a server; `nil` only for a kind that asks none.
  ///
  /// - Parameters:
  ///   - known: the addresses of kinds that have one of their own.
  ///   - required: the kinds for which the user must give one.
  public mutating func address<Kind: RawRepresentable>(
    _ name: String, known: [(kind: Kind, address: String)] = [], required: [Kind] = [], help: @autoclosure () -> String
  ) -> String? where Kind.RawValue == String {
    let kind = path("kind")
    return key(
      name, .url,
      rule: .ofKind(kind, known: known.map { ($0.kind.rawValue, $0.address) }, required: required.map(\.rawValue)),
      help: help())?.text
  }

  /// Declares `timeout`, `maxResponseBytes`, `maxConcurrentRequests` and `headers`: how requests are made.
  public mutating func transport() -> Configuration.Transport {
    Configuration.Transport(
      timeout: duration(
        "timeout", default: .seconds(30), in: .milliseconds(1) ... .seconds(3_600), help: "how long a request may take"),
      maxResponseBytes: size(
        "maxResponseBytes", default: 16 << 20, in: 1...(1 << 30), safety: .upToDefault,
        help: "the largest answer that is accepted"),
      maxConcurrentRequests: integer(
        "maxConcurrentRequests", default: 4, in: 1...64, safety: .upToDefault,
        help: "how many requests may be under way at once"),
      headers: headers("headers", help: "headers that are sent with each request"),
      network: settings?.section(Configuration.Network.self) ?? Configuration.Network())
  }
}
