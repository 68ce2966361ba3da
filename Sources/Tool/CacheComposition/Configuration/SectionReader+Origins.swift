internal import StorageSPI

/// The keys that the sections of origins have in common.
extension SectionReader {
  /// Declares `kind`, which implementation of the origin is used: `value` where the key `environment` is "dev", and
  /// `outsideDevelopment` elsewhere.
  public mutating func kind<Kind: RawRepresentable & CaseIterable>(
    default value: Kind, outsideDevelopment: Kind, help: @autoclosure () -> String
  ) -> Kind where Kind.RawValue == String {
    let read = key(
      "kind", .option(.choice(Kind.allCases.map(\.rawValue))), default: .text(value.rawValue),
      rule: .unless(
        "environment", is: Configuration.Environment.dev.rawValue, text: outsideDevelopment.rawValue), help: help())
    return read?.text.flatMap { Kind(rawValue: $0) } ?? value
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
        "maxResponseBytes", default: 16 << 20, in: 1...(1 << 30),
        help: "the largest answer that is accepted"),
      maxConcurrentRequests: integer(
        "maxConcurrentRequests", default: 4, in: 1...64,
        help: "how many requests may be under way at once"),
      headers: headers("headers", help: "headers that are sent with each request"),
      network: settings?.section(Configuration.Network.self) ?? Configuration.Network(), section: section)
  }
}
