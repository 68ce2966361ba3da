public import Base

extension CacheError {
  /// The error for a proxy that wants credentials for `server` and got none (status 407).
  public static func refusedByProxy(_ server: String) -> CacheError {
    CacheError(
      .originUnreachable, "the proxy for \(server) wants credentials (status 407)",
      hint: "write them into its address, as in https_proxy=http://NAME:PASSWORD@proxy:3128")
  }
}
