internal import CacheData

/// Where cities come from: the keys of `origin.cities`.
public struct CitiesSettings: Sendable, Hashable {
  /// A kind of origin.
  public enum Kind: String, Sendable, CaseIterable {
    /// The bundled sample.
    case sample
    /// A server that answers in the sample's format.
    case http
    /// ProPublica's Nonprofit Explorer.
    case propublica
  }

  /// The kind of origin.
  public let kind: Kind
  /// The address of the server; never `nil` for a kind that asks a server.
  public let baseURL: String?
  /// How requests are made.
  public let transport: Configuration.Transport
}

extension CitiesSettings: ConfigurationSection {
  /// "origin.cities".
  public static var path: String { "origin.cities" }

  /// Declares and reads the keys.
  public init(_ keys: inout SectionReader) {
    kind = keys.kind(default: .sample, outsideDevelopment: .propublica, help: "where cities come from")
    baseURL = keys.address(
      "baseURL", known: [(Kind.propublica, ProPublicaCityOrigin.address)], required: [.http],
      help: "the address of the server; kind propublica knows its own")
    transport = keys.transport()
  }
}

extension Configuration {
  /// Where cities come from.
  public var cities: CitiesSettings { section(CitiesSettings.self) }
}
