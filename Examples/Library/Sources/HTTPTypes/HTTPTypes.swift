// The names of the package swift-http-types, next to which a program can use the cache.

/// A request of the other package.
public struct HTTPRequest {
  /// The path of its URL.
  public var path: String

  /// A request for `path`.
  public init(path: String) { self.path = path }
}

/// A response of the other package.
public struct HTTPResponse {}

/// Header fields of the other package.
public struct HTTPFields {}
