public import EngineAPI

extension CacheKey {
  /// The version of the key scheme. Entries under keys of another version are never found, and expire.
  static let schemeVersion = "v1"

  /// The namespaces that no resource can have, because the cache itself uses them.
  package static let reservedNamespaces = [URLResponses.namespace, Lease.namespace]

  /// The key of the entry for `request`: `resource/version/name=value/name=value`, with parameters sorted by
  /// name, and names and values percent-encoded.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the key would be too long, `invalidKey` if the resource's
  ///   name cannot be a namespace, or two of its parameters have one name.
  public init(for request: some CacheableRequest) throws(CacheError) {
    try self.init(namespace: request.namespace, request.parameters)
  }

  /// Not generic, so that it is compiled once, for all requests.
  private init(namespace: String, _ parameters: [(name: String, value: String)]) throws(CacheError) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.usualLength)
    bytes.append(utf8: namespace)
    bytes.append(UInt8(ascii: "/"))
    bytes.append(utf8: Self.schemeVersion)
    for (name, value) in try Self.sorted(parameters, of: namespace) {
      bytes.append(UInt8(ascii: "/"))
      PercentEncoding.append(name, to: &bytes)
      bytes.append(UInt8(ascii: "="))
      PercentEncoding.append(value, to: &bytes)
    }
    guard bytes.count <= Self.maximumRequestLength else {
      throw CacheError(
        .invalidRequest, "the key of a request has at most \(Self.maximumRequestLength) bytes",
        hint: "shorten the request")
    }
    // With a slash it would be a key, but of another namespace.
    let isName = !namespace.utf8.contains(UInt8(ascii: "/"))
    guard isName, let key = try? CacheKey(bytes.span) else {
      throw CacheError(
        .invalidKey, "a resource cannot be called '\(namespace)'",
        hint: "call it by a letter, then letters and digits, all in lower case")
    }
    self = key
  }

  /// The prefix of the keys of all requests of one kind that have parameters.
  public static func prefix(of kind: (some CacheableRequest).Type) -> String {
    prefix(ofNamespace: kind.resource)
  }

  /// The prefix of the keys of all requests with parameters in `namespace`.
  package static func prefix(ofNamespace namespace: String) -> String { "\(namespace)/\(schemeVersion)/" }

  /// The longest key of a request: that of its lease has the same text and more.
  static let maximumRequestLength = maximumLength - 256

  /// The capacity that most keys need.
  private static let usualLength = 96

  /// The parameters of a request in `namespace`, by name.
  private static func sorted(
    _ parameters: [(name: String, value: String)], of namespace: String
  ) throws(CacheError) -> [(name: String, value: String)] {
    let isSorted = parameters.indices.dropFirst().allSatisfy { parameters[$0 - 1].name < parameters[$0].name }
    if isSorted { return parameters }
    let sorted = parameters.sorted { $0.name < $1.name }
    if let index = sorted.indices.dropFirst().first(where: { sorted[$0 - 1].name == sorted[$0].name }) {
      throw CacheError(
        .invalidKey, "the resource '\(namespace)' has two parameters called '\(sorted[index].name)'",
        hint: "give each parameter its own name, in the property 'parameters' of the request")
    }
    return sorted
  }
}
