internal import CacheBase
public import FetchVocabulary
internal import Synchronization

/// Decides which requests can reuse one of several responses to the same URL (RFC 9111, section 4.1). It compares the
/// request header fields that the response's `Vary` names, the credentials, even if `Vary` does not name them, and the
/// server that got the request, if `Host` named another one.
///
/// It keeps only a digest of the values. If one of them is a secret, the digest is made with a key.
public struct VariantSelector: Sendable, Hashable {
  /// The field names, sorted and in lower case, with a `*` if credentials do not matter.
  public let names: [String]
  /// A digest of the compared values; empty if there are none.
  public let digest: String

  /// The selector of a response that is used for every request for its URL.
  public static let always = VariantSelector(names: [], digest: "")

  /// Recreates a stored selector.
  public init(names: [String], digest: String) {
    self.names = names
    self.digest = digest
  }

  /// The name that means "with any credentials". It is not a valid field name.
  private static let anybody = "*"

  /// Fields whose values are case-insensitive (RFC 9110, sections 12.5.2 to 12.5.4).
  private static let caseInsensitive: Set = ["accept-charset", "accept-encoding", "accept-language"]

  /// The selector of the response with the header fields `response` to `request`; `nil` for `Vary: *`, which matches no
  /// further request.
  ///
  /// - Parameters:
  ///   - isShared: whether the cache is shared. A shared cache stores a response to a request with credentials only if
  ///     the origin allows it for all users (RFC 9111, section 3.5).
  ///   - key: the key of digests of secrets.
  public init?(response: HTTP.Fields, request: HTTP.Request, isShared: Bool = false, key: CredentialKey) {
    var names = Set(response.names(in: "vary"))
    guard !names.contains("*") else { return nil }
    // The responses of another host are under another URL.
    names.remove("host")
    if isShared, request.hasCredentials { names.insert(Self.anybody) }
    self.init(names: names.sorted(), request: request, key: key)
  }

  /// The selector of the response to `request`, with those names.
  init(names: [String], request: HTTP.Request, key: CredentialKey) {
    let isForAnybody = names.contains(Self.anybody)
    let hasCredentials = !isForAnybody && request.hasCredentials
    let detour = request.detour
    guard !names.isEmpty || hasCredentials || detour != nil else {
      self.init(names: names, digest: "")
      return
    }
    let fields = names.filter { $0 != Self.anybody }
    // The labels have spaces, and so are not field names.
    var parts = detour.map { ["the server\0\($0)\0\(URLReference(request.target)?.server ?? "")"] } ?? []
    if hasCredentials { parts += Self.credentials(request) }
    parts += fields.map { "\($0)\0\(Self.value(of: $0, in: request.fields))" }
    let bytes = Array(parts.map { "\($0)\0" }.joined().utf8)
    let isSecret = hasCredentials || fields.contains { request.isSecret($0) && request.fields.contains($0) }
    self.init(names: names, digest: key.digest(bytes, isSecret: isSecret))
  }

  private static func credentials(_ request: HTTP.Request) -> [String] {
    let names = Set(request.fields.lines.filter { request.isSecret($0.name) }.map { $0.name.lowercased() })
    let fields = names.sorted().map { name in
      // Of a secret every character counts.
      let values = request.fields.values(of: name)
      return "the secret \(name)\0\(name == "cookie" ? cookies(values) : values.joined(separator: "\0"))"
    }
    let parameters = request.secretParameters.lines.map { "the parameter \($0.name)\0\($0.value)" }
    return fields + parameters + (request.shownIdentity.map { ["client certificate\0\($0)"] } ?? [])
  }

  /// The value of a field, so that equal texts mean the same; no field can have the value of one that is missing.
  private static func value(of name: String, in request: HTTP.Fields) -> String {
    guard request.contains(name) else { return "\0" }
    if name == "cookie" { return cookies(request.values(of: name)) }
    // White space, and how a list is spread over lines, do not change the value.
    let value = FieldList.members(request.values(of: name).joined(separator: ",")).joined(separator: ",")
    return caseInsensitive.contains(name) ? value.lowercased() : value
  }

  /// Cookies by their names, because clients send them in any order. Those of one name keep theirs, which has a meaning
  /// (RFC 6265, section 5.4).
  private static func cookies(_ values: [String]) -> String {
    let pairs = values.flatMap { $0.split(separator: ";") }.map(FieldList.trimmed).filter { !$0.isEmpty }
    let named = pairs.enumerated().map { (name: String($1.prefix { $0 != "=" }), place: $0, pair: $1) }
    return named.sorted { ($0.name, $0.place) < ($1.name, $1.place) }.map(\.pair).joined(separator: "; ")
  }
}

/// Telling requests apart by their credentials.
extension HTTPCacheRules {
  /// The selector of a response with those names that can be used for `request`.
  package func selector(_ names: [String], of request: HTTP.Request) -> VariantSelector {
    VariantSelector(names: names, request: request, key: credentialKey)
  }

  /// Those of `selectors` whose responses can be used for `request`. Cost: a digest for each list of names.
  package func selected(_ selectors: [VariantSelector], by request: HTTP.Request) -> [VariantSelector] {
    var own: VariantSelector?
    return selectors.filter { stored in
      // A URL can have many variants for other cookies, all with the same names.
      let selector = own?.names == stored.names ? own : selector(stored.names, of: request)
      own = selector
      return selector == stored
    }
  }

  /// Whether the response with `selector` can be used for `request`.
  package func selects(_ selector: VariantSelector, _ request: HTTP.Request) -> Bool {
    self.selector(selector.names, of: request) == selector
  }

  /// A digest of `text`, which says what `request` is, for the names of coalesced requests.
  package func fingerprint(_ text: String, of request: HTTP.Request) -> String {
    credentialKey.digest(Array(text.utf8), isSecret: request.hasCredentials)
  }

  /// A digest of the credentials of `request`, and of the server that it goes to if Host names another one; empty if
  /// there is neither.
  package func party(of request: HTTP.Request) -> String {
    VariantSelector(names: [], request: request, key: credentialKey).digest
  }

  /// Makes sure that responses to `request` can be told from those with other credentials.
  ///
  /// - Throws: `CacheError`: the key cannot be loaded.
  package func requireCredentialKey(for request: HTTP.Request) throws(CacheError) {
    if request.hasCredentials { try credentialKey.require() }
  }
}

/// The parts of a request that identify its client.
extension HTTP.Request {
  /// The fields whose values are always secrets.
  private static let credentialFields = ["authorization", "cookie", "proxy-authorization"]

  /// Whether the value of the field `name` is a secret.
  package func isSecret(_ name: String) -> Bool {
    Self.credentialFields.contains { HTTP.Fields.isSame($0, name) }
      || secretFields.contains { HTTP.Fields.isSame($0, name) }
  }

  /// Whether the request identifies the client.
  public var hasCredentials: Bool {
    shownIdentity != nil || !secretParameters.lines.isEmpty || fields.lines.contains { isSecret($0.name) }
  }

  /// The names of the secrets in the request, for people; none of their values.
  package var credentialNames: [String] {
    var names: [String] = []
    for field in fields.lines
    where isSecret(field.name) && !names.contains(where: { HTTP.Fields.isSame($0, field.name) }) {
      names.append(field.name)
    }
    names += secretParameters.lines.map { "the parameter \($0.name)" }
    return shownIdentity == nil ? names : names + ["the client certificate"]
  }

  /// Whether the request has at most one field Host, and that names a server.
  package var hasValidHost: Bool {
    let hosts = fields.values(of: "host")
    return hosts.isEmpty || hosts.count == 1 && HTTPSyntax.isHost(hosts[0])
  }
}

/// The secret key of the digests that stand for credentials in a store. Who sees a store, or a key of an entry, cannot
/// find a password by trying many without it.
public final class CredentialKey: Sendable {
  private let load: @Sendable () throws(CacheError) -> [UInt8]
  private let loaded = Mutex<Result<[UInt8], CacheError>?>(nil)

  /// A key that `load` returns, which is called for requests with credentials until it succeeds.
  public init(_ load: @escaping @Sendable () throws(CacheError) -> [UInt8]) {
    self.load = load
  }

  /// A random key that ends with the process. No later process can reuse a response stored with it.
  public static let ofProcess = CredentialKey { () throws(CacheError) in random() }

  /// The number of bytes of a key.
  package static let length = 32

  /// A new key.
  package static func random() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// Loads the key, if it is not loaded yet.
  ///
  /// - Throws: `CacheError`: it cannot be loaded. Digests are then made with `ofProcess`.
  package func require() throws(CacheError) { _ = try result.get() }

  /// The digest of `bytes`, as 64 hexadecimal digits: with the key only if they hold a secret, so that all holders of a
  /// store find the other entries.
  func digest(_ bytes: [UInt8], isSecret: Bool) -> String {
    guard isSecret else {
      var digest = SHA256()
      digest.update(bytes)
      return digest.hexText
    }
    guard case .success(let key) = result else { return Self.ofProcess.digest(bytes, isSecret: true) }
    return SHA256.keyedHexText(bytes, key: key)
  }

  private var result: Result<[UInt8], CacheError> {
    loaded.withLock { loaded in
      if let loaded { return loaded }
      let result: Result<[UInt8], CacheError>
      do throws(CacheError) { result = .success(try load()) } catch { result = .failure(error) }
      // The cause of a failure, such as a full disk, might be gone the next time.
      if case .success = result { loaded = result }
      return result
    }
  }
}
