public import CacheData
public import CachedFetching
internal import FetchVocabulary
public import ResponseStorage

/// What the container of a resource is made of: the store, the services of every fetch, and its servers.
public struct ResourceContext: Sendable {
  /// The open store.
  public let store: EntryStore
  /// The configuration, with the resource's section.
  public let configuration: Configuration
  /// The caching rules, the clock, and the fetches under way, for `fetch`.
  public let services: FetchServices
  let servers: ServerFactory

  /// The server at `address`, for an origin that asks one.
  ///
  /// Its requests carry the configured headers, and `credentials` made of the configured `secret`. A secret that is not
  /// set fails the first request, not this call: until then the cache can answer.
  ///
  /// - Throws: `CacheError` if `address` is not the address of a server.
  public func server(
    at address: String, _ transport: Configuration.Transport, secret: Secret? = nil,
    credentials: (String) -> OriginCredentials = OriginCredentials.bearerToken
  ) throws(CacheError) -> OriginServer {
    let secrets = OriginSecrets(transport.headers, secret: secret, credentials: credentials)
    return try servers.makeServer(address, secrets, transport)
  }
}
