// The names of the package swift-http-types, with which a program can use the cache.

public struct HTTPRequest {
  public var path: String

  public init(path: String) { self.path = path }
}

public struct HTTPResponse {}

public struct HTTPFields {}
